//===- ParserTestUtils.h - Parsing in tests ---------------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_UNITTESTS_LANG_PARSERTESTUTILS_H
#define DESPINA_UNITTESTS_LANG_PARSERTESTUTILS_H

#include "ASTDump.h"

#include "despina/Lang/Parser.h"

#include <gtest/gtest.h>

namespace despina::test {

struct Parsed {
  std::shared_ptr<const SourceFile> file;
  Diagnostics diags;
  std::unique_ptr<ast::Module> module;
};

inline Parsed parseText(std::string text) {
  Parsed parsed;
  parsed.file = std::make_shared<SourceFile>("test.py", std::move(text));
  parsed.module = parseModule(parsed.file, parsed.diags);
  return parsed;
}

/// The tree as text without the last line end; "error: ..." when there is none.
inline std::string parseToText(std::string text, bool ranges = false) {
  Parsed parsed = parseText(std::move(text));
  if (!parsed.module)
    return "error: " + (parsed.diags.firstError() ? parsed.diags.firstError()->message : "(none reported)");
  std::string result = dump(*parsed.module, ranges);
  if (!result.empty())
    result.pop_back();
  return result;
}

/// "LINE:COLUMN: message" of the only error, with the column 0-based; "(none)" when the text parses.
inline std::string parseError(std::string text) {
  Parsed parsed = parseText(std::move(text));
  EXPECT_EQ(parsed.module == nullptr, parsed.diags.hasErrors());
  if (parsed.module)
    return "(none)";
  EXPECT_EQ(parsed.diags.all().size(), 1u) << "the first error only";
  const Diagnostic *error = parsed.diags.firstError();
  if (!error)
    return "(none reported)";
  EXPECT_EQ(error->kind, ErrorKind::Syntax);
  EXPECT_EQ(error->range.file, parsed.file.get());
  EXPECT_LE(error->range.begin, error->range.end);
  EXPECT_LE(error->range.end, parsed.file->text().size());
  LineColumn at = parsed.file->lineColumn(error->range.begin);
  return std::to_string(at.line) + ":" + std::to_string(at.column) + ": " + error->message;
}

} // namespace despina::test

#endif // DESPINA_UNITTESTS_LANG_PARSERTESTUTILS_H
