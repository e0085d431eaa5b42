//===- Source.h - Source text, positions and ranges -------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// A SourceFile owns the text that the lexer reads. Every token, AST node, value and diagnostic refers to it
// by byte offsets; lines and columns are computed only when a person reads them.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LANG_SOURCE_H
#define DESPINA_LANG_SOURCE_H

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace despina {

/// A line (1-based) and a column (0-based, in bytes), as Python counts them.
struct LineColumn {
  uint32_t line = 1;
  uint32_t column = 0;
};

/// Immutable source text with a name. `firstLine` is the line number of the text's first line in the file on
/// disk, for functions whose source Python cut out of a larger file; `indent` is the number of leading blanks
/// that were removed from each line (added back to the columns people see).
class SourceFile {
public:
  SourceFile(std::string path, std::string text, uint32_t firstLine = 1, uint32_t indent = 0);

  const std::string &path() const { return path_; }
  std::string_view text() const { return text_; }
  uint32_t firstLine() const { return firstLine_; }
  uint32_t indent() const { return indent_; }

  /// The position of a byte offset, with `firstLine` and `indent` applied.
  LineColumn lineColumn(uint32_t offset) const;
  /// The position of a byte offset inside `text()`: the first line is line 1 and no indent is added.
  LineColumn localLineColumn(uint32_t offset) const;
  /// The text of a line (1-based, local numbering) without its line end.
  std::string_view line(uint32_t localLine) const;
  uint32_t numLines() const { return static_cast<uint32_t>(lineStarts_.size()); }

private:
  std::string path_;
  std::string text_;
  uint32_t firstLine_;
  uint32_t indent_;
  std::vector<uint32_t> lineStarts_;
};

/// A half-open range of bytes in a source file. A null file marks "no position".
struct SourceRange {
  const SourceFile *file = nullptr;
  uint32_t begin = 0;
  uint32_t end = 0;

  explicit operator bool() const { return file != nullptr; }
};

} // namespace despina

#endif // DESPINA_LANG_SOURCE_H
