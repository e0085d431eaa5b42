//===- CodeGenWith.cpp - `with` ---------------------------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// The context managers are objects of the host, entered and left while the kernel is compiled.
//
//===----------------------------------------------------------------------===//
#include "CodeGenImpl.h"

using namespace despina;
using namespace despina::codegen;

/// Calls `__enter__` or `__exit__`; null after an error.
Value CodeGenerator::callContext(const ast::Node *node, const Value &manager, llvm::StringRef method,
                                 llvm::ArrayRef<Value> args) {
  SymbolResolver *resolver = manager.kind() == Value::Kind::Host ? manager.host().resolver : nullptr;
  const Resolution found = resolver ? resolver->attribute(manager, method) : Resolution();
  if (found.status != Resolution::Status::Found)
    return error(node, ErrorKind::Type,
                 "'" + className(manager) + "' object does not support the context manager protocol");
  return callHost(node, found.value, resolver, args, {});
}

Flow CodeGenerator::visitWith(const ast::With *stmt) {
  if (stmt->kind() == ast::NodeKind::AsyncWith) {
    unsupported(stmt);
    return Flow::failed();
  }
  if (containsReturn(stmt->body))
    return fail(stmt, ErrorKind::UnsupportedConstruct,
                "Cannot have `return` statements inside `with` statements in triton ",
                "set a variable inside and return it behind");
  ValueList entered;
  for (const ast::WithItem &item : stmt->items) {
    if (!llvm::isa<ast::Call>(item.context))
      return fail(item.context, ErrorKind::UnsupportedConstruct,
                  "`with` takes calls that make context managers");
    Value manager = visit(item.context);
    Value value = manager ? callContext(item.context, manager, "__enter__", {}) : Value();
    if (!value || (item.target && !assignTarget(item.target, value)))
      return Flow::failed();
    entered.push_back(manager);
  }
  Flow flow = visitSequence(Sequence{stmt->body}, /*functionLevel=*/false);
  if (flow.isFailed())
    return flow;
  const Value none[] = {Value::none(), Value::none(), Value::none()};
  for (size_t i = entered.size(); i-- > 0;)
    if (!callContext(stmt->items[i].context, entered[i], "__exit__", none))
      return Flow::failed();
  return flow;
}
