//===- Parser.h - From text to syntax tree ----------------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LANG_PARSER_H
#define DESPINA_LANG_PARSER_H

#include "despina/Lang/AST.h"
#include "despina/Lang/Diagnostics.h"

namespace despina {

/// Fixed limits, so that no input exhausts the stack: brackets and indents as in CPython, and the depth of
/// the tree, where each operand of a left-associative chain counts one.
struct ParserLimits {
  static constexpr unsigned maxBrackets = 200;
  static constexpr unsigned maxIndents = 100;
  static constexpr unsigned maxTreeDepth = 1000;
  static constexpr size_t maxFileBytes = size_t(64) << 20;
};

/// Parses a module. Returns null after reporting the first syntax error to `diags` (ErrorKind::Syntax).
/// Needs at most 512 KB of stack whatever the input.
std::unique_ptr<ast::Module> parseModule(std::shared_ptr<const SourceFile> file, Diagnostics &diags);

} // namespace despina

#endif // DESPINA_LANG_PARSER_H
