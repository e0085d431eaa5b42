//===- ASTDump.h - Syntax trees as text, for tests --------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_UNITTESTS_LANG_ASTDUMP_H
#define DESPINA_UNITTESTS_LANG_ASTDUMP_H

#include "despina/Lang/AST.h"

#include <string>

namespace despina::test {

/// One s-expression a statement, on a line of its own. With `ranges`, each node says `@begin-end` (in bytes).
std::string dump(const ast::Module &module, bool ranges = false);
std::string dump(const ast::Node *node, bool ranges = false);

} // namespace despina::test

#endif // DESPINA_UNITTESTS_LANG_ASTDUMP_H
