//===- ASTWalk.cpp - Visits a tree without recursion ----------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "ASTWalk.h"

#include <algorithm>

using namespace despina;
using namespace despina::ast;

namespace {

using Children = llvm::SmallVectorImpl<const Node *>;

void add(Children &out, const Node *node) {
  if (node)
    out.push_back(node);
}
template <typename T> void add(Children &out, llvm::ArrayRef<T *> nodes) {
  for (const Node *node : nodes)
    add(out, node);
}
void add(Children &out, llvm::ArrayRef<Comprehension> generators) {
  for (const Comprehension &generator : generators) {
    add(out, generator.target);
    add(out, generator.iter);
    add(out, generator.ifs);
  }
}
void add(Children &out, llvm::ArrayRef<Keyword> keywords) {
  for (const Keyword &keyword : keywords)
    add(out, keyword.value);
}
void add(Children &out, llvm::ArrayRef<Parameter> params) {
  for (const Parameter &param : params) {
    add(out, param.annotation);
    add(out, param.defaultValue);
  }
}
template <typename... Items> void addAll(Children &out, const Items &...items) { (add(out, items), ...); }

void expressionChildren(const Node *node, Children &out) {
  switch (node->kind()) {
  case NodeKind::BinOp: {
    auto *n = llvm::cast<BinOp>(node);
    return addAll(out, n->left, n->right);
  }
  case NodeKind::UnaryOp: return add(out, llvm::cast<UnaryOp>(node)->operand);
  case NodeKind::BoolOp: return add(out, llvm::cast<BoolOp>(node)->values);
  case NodeKind::Compare: {
    auto *n = llvm::cast<Compare>(node);
    return addAll(out, n->left, n->comparators);
  }
  case NodeKind::IfExp: {
    auto *n = llvm::cast<IfExp>(node);
    return addAll(out, n->test, n->body, n->orelse);
  }
  case NodeKind::Call: {
    auto *n = llvm::cast<Call>(node);
    return addAll(out, n->func, n->args, n->keywords);
  }
  case NodeKind::Attribute: return add(out, llvm::cast<Attribute>(node)->value);
  case NodeKind::Subscript: {
    auto *n = llvm::cast<Subscript>(node);
    return addAll(out, n->value, n->index);
  }
  case NodeKind::Starred: return add(out, llvm::cast<Starred>(node)->value);
  case NodeKind::Tuple: return add(out, llvm::cast<Tuple>(node)->elts);
  case NodeKind::List: return add(out, llvm::cast<List>(node)->elts);
  case NodeKind::Dict: {
    auto *n = llvm::cast<Dict>(node);
    return addAll(out, n->keys, n->values);
  }
  case NodeKind::Set: return add(out, llvm::cast<Set>(node)->elts);
  case NodeKind::ListComp: {
    auto *n = llvm::cast<ListComp>(node);
    return addAll(out, n->elt, n->generators);
  }
  case NodeKind::SetComp: {
    auto *n = llvm::cast<SetComp>(node);
    return addAll(out, n->elt, n->generators);
  }
  case NodeKind::DictComp: {
    auto *n = llvm::cast<DictComp>(node);
    return addAll(out, n->key, n->value, n->generators);
  }
  case NodeKind::GeneratorExp: {
    auto *n = llvm::cast<GeneratorExp>(node);
    return addAll(out, n->elt, n->generators);
  }
  case NodeKind::Slice: {
    auto *n = llvm::cast<Slice>(node);
    return addAll(out, n->lower, n->upper, n->step);
  }
  case NodeKind::JoinedStr: return add(out, llvm::cast<JoinedStr>(node)->values);
  case NodeKind::FormattedValue: {
    auto *n = llvm::cast<FormattedValue>(node);
    return addAll(out, n->value, static_cast<const Node *>(n->formatSpec));
  }
  case NodeKind::Lambda: {
    auto *n = llvm::cast<Lambda>(node);
    return addAll(out, n->params, n->body);
  }
  case NodeKind::NamedExpr: {
    auto *n = llvm::cast<NamedExpr>(node);
    return addAll(out, static_cast<const Node *>(n->target), n->value);
  }
  case NodeKind::Await: return add(out, llvm::cast<Await>(node)->value);
  case NodeKind::Yield: return add(out, llvm::cast<Yield>(node)->value);
  case NodeKind::YieldFrom: return add(out, llvm::cast<YieldFrom>(node)->value);
  default: return;
  }
}

void compoundChildren(const Node *node, Children &out) {
  switch (node->kind()) {
  case NodeKind::FunctionDef:
  case NodeKind::AsyncFunctionDef: {
    auto *n = llvm::cast<FunctionDef>(node);
    return addAll(out, n->decorators, n->params, n->returns, n->body);
  }
  case NodeKind::ClassDef: {
    auto *n = llvm::cast<ClassDef>(node);
    return addAll(out, n->decorators, n->bases, n->keywords, n->body);
  }
  case NodeKind::For:
  case NodeKind::AsyncFor: {
    auto *n = llvm::cast<For>(node);
    return addAll(out, n->target, n->iter, n->body, n->orelse);
  }
  case NodeKind::While: {
    auto *n = llvm::cast<While>(node);
    return addAll(out, n->test, n->body, n->orelse);
  }
  case NodeKind::If: {
    auto *n = llvm::cast<If>(node);
    return addAll(out, n->test, n->body, n->orelse);
  }
  case NodeKind::With:
  case NodeKind::AsyncWith: {
    auto *n = llvm::cast<With>(node);
    for (const WithItem &item : n->items)
      addAll(out, item.context, item.target);
    return add(out, n->body);
  }
  case NodeKind::Match: {
    auto *n = llvm::cast<Match>(node);
    add(out, n->subject);
    for (StmtList body : n->bodies)
      add(out, body);
    return;
  }
  case NodeKind::Try: {
    auto *n = llvm::cast<Try>(node);
    add(out, n->body);
    for (const ExceptHandler &handler : n->handlers)
      addAll(out, handler.type, handler.body);
    return addAll(out, n->orelse, n->finalbody);
  }
  default: return;
  }
}

void simpleChildren(const Node *node, Children &out) {
  switch (node->kind()) {
  case NodeKind::Return: return add(out, llvm::cast<Return>(node)->value);
  case NodeKind::Delete: return add(out, llvm::cast<Delete>(node)->targets);
  case NodeKind::Assign: {
    auto *n = llvm::cast<Assign>(node);
    return addAll(out, n->targets, n->value);
  }
  case NodeKind::AugAssign: {
    auto *n = llvm::cast<AugAssign>(node);
    return addAll(out, n->target, n->value);
  }
  case NodeKind::AnnAssign: {
    auto *n = llvm::cast<AnnAssign>(node);
    return addAll(out, n->target, n->annotation, n->value);
  }
  case NodeKind::Raise: {
    auto *n = llvm::cast<Raise>(node);
    return addAll(out, n->exc, n->cause);
  }
  case NodeKind::Assert: {
    auto *n = llvm::cast<Assert>(node);
    return addAll(out, n->test, n->msg);
  }
  case NodeKind::ExprStmt: return add(out, llvm::cast<ExprStmt>(node)->value);
  case NodeKind::TypeAlias: return add(out, llvm::cast<TypeAlias>(node)->value);
  default: return;
  }
}

} // namespace

void ast::appendChildren(const Node *node, llvm::SmallVectorImpl<const Node *> &children) {
  expressionChildren(node, children);
  compoundChildren(node, children);
  simpleChildren(node, children);
}

void ast::walk(llvm::ArrayRef<const Node *> roots, llvm::function_ref<bool(const Node *)> visit) {
  llvm::SmallVector<const Node *, 32> pending(roots.rbegin(), roots.rend());
  while (!pending.empty()) {
    const Node *node = pending.pop_back_val();
    if (!visit(node))
      continue;
    const size_t first = pending.size();
    appendChildren(node, pending);
    std::reverse(pending.begin() + first, pending.end());
  }
}
