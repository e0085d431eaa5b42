//===- Source.cpp - Source text, positions and ranges ---------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "despina/Lang/Source.h"

#include <algorithm>

namespace despina {

SourceFile::SourceFile(std::string path, std::string text, uint32_t firstLine, uint32_t indent)
    : path_(std::move(path)), text_(std::move(text)), firstLine_(firstLine), indent_(indent) {
  // A byte order mark is no part of the text: columns count from behind it.
  if (text_.starts_with("\xEF\xBB\xBF"))
    text_.erase(0, 3);
  lineStarts_.push_back(0);
  for (size_t i = 0; i < text_.size(); ++i)
    if (text_[i] == '\n' || (text_[i] == '\r' && (i + 1 == text_.size() || text_[i + 1] != '\n')))
      lineStarts_.push_back(static_cast<uint32_t>(i + 1));
}

LineColumn SourceFile::localLineColumn(uint32_t offset) const {
  auto next = std::upper_bound(lineStarts_.begin(), lineStarts_.end(), offset);
  auto index = static_cast<uint32_t>(next - lineStarts_.begin() - 1);
  return {index + 1, offset - lineStarts_[index]};
}

LineColumn SourceFile::lineColumn(uint32_t offset) const {
  LineColumn local = localLineColumn(offset);
  return {local.line + firstLine_ - 1, local.column + indent_};
}

std::string_view SourceFile::line(uint32_t localLine) const {
  if (localLine == 0 || localLine > lineStarts_.size())
    return {};
  size_t begin = lineStarts_[localLine - 1];
  size_t end = localLine < lineStarts_.size() ? lineStarts_[localLine] : text_.size();
  while (end > begin && (text_[end - 1] == '\n' || text_[end - 1] == '\r'))
    --end;
  return std::string_view(text_).substr(begin, end - begin);
}

} // namespace despina
