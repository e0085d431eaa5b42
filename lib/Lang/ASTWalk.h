//===- ASTWalk.h - Visits a tree without recursion --------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_LANG_ASTWALK_H
#define DESPINA_LIB_LANG_ASTWALK_H

#include "despina/Lang/AST.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace despina::ast {

/// Appends the children of a node in source order.
void appendChildren(const Node *node, llvm::SmallVectorImpl<const Node *> &children);

/// Visits the nodes below and including `roots` in source order. `visit` says whether to go on below the
/// node. Uses no stack of its own, so it is safe at any depth.
void walk(llvm::ArrayRef<const Node *> roots, llvm::function_ref<bool(const Node *)> visit);

} // namespace despina::ast

#endif // DESPINA_LIB_LANG_ASTWALK_H
