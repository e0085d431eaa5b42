//===- HostEvalStmt.cpp - Python functions on constants ----------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "HostEval.h"
#include "HostObjects.h"

#include "llvm/ADT/STLExtras.h"

using namespace despina;

/// Functions that run longer than this, all together, do not end in reasonable time.
static constexpr uint64_t kMaxSteps = 500'000;

bool HostEvaluator::spendStep(const ast::Node *node) {
  if (++steps_ <= kMaxSteps)
    return true;
  fail(node, ErrorKind::Runtime,
       "compile-time evaluation takes more than " + std::to_string(kMaxSteps) + " steps");
  return false;
}

bool HostEvaluator::bind(const FunctionInfo &function, llvm::ArrayRef<Value> args,
                         llvm::ArrayRef<std::pair<std::string, Value>> keywords) {
  using Kind = ast::Parameter::Kind;
  size_t next = 0;
  const ast::FunctionDef *def = function.def;
  for (const ast::Parameter &param : def->params) {
    if (param.kind == Kind::VarPositional) {
      Value rest = Value::tuple(std::vector<Value>(args.begin() + next, args.end()));
      if (rest.isTooLarge()) {
        fail(def, ErrorKind::Overflow, function.name + "() got too many arguments");
        return false;
      }
      locals_[param.name] = rest;
      next = args.size();
    } else if (param.kind == Kind::VarKeyword) {
      needsPython(def, "`**` parameters are not supported without it");
      return false;
    } else if (param.kind != Kind::KeywordOnly && next < args.size()) {
      locals_[param.name] = args[next++];
    }
  }
  if (next < args.size()) {
    fail(def, ErrorKind::Type,
         function.name + "() takes " + std::to_string(next) + " positional arguments but " +
             std::to_string(args.size()) + " were given");
    return false;
  }
  for (const auto &[name, value] : keywords) {
    const bool exists = llvm::any_of(def->params, [&](const ast::Parameter &param) {
      return param.name == name && (param.kind == Kind::Positional || param.kind == Kind::KeywordOnly);
    });
    if (!exists || locals_.contains(name)) {
      fail(def, ErrorKind::Type,
           function.name + "() got " + (exists ? "multiple values for" : "an unexpected keyword") +
               " argument '" + name + "'");
      return false;
    }
    locals_[name] = value;
  }
  for (const ast::Parameter &param : def->params) {
    if (locals_.contains(param.name))
      continue;
    if (!param.defaultValue) {
      fail(def, ErrorKind::Type,
           function.name + "() missing a required argument: '" + param.name.str() + "'");
      return false;
    }
    Value value = visit(param.defaultValue);
    if (!value)
      return false;
    locals_[param.name] = value;
  }
  return true;
}

Resolution HostEvaluator::call(const FunctionInfo &function, llvm::ArrayRef<Value> args,
                               llvm::ArrayRef<std::pair<std::string, Value>> keywords) {
  llvm::SmallVector<TensorValue, 1> leaves;
  for (const Value &arg : args)
    flatten(arg, leaves);
  for (const auto &keyword : keywords)
    flatten(keyword.second, leaves);
  if (!leaves.empty())
    return finish(fail(function.def, ErrorKind::Type,
                       "constexpr_function `" + function.name +
                           "` takes compile-time values, but got a value of type " +
                           leaves.front().type.str()));
  if (stack_.exhausted())
    return finish(fail(function.def, ErrorKind::Runtime, "maximum recursion depth exceeded"));
  if (!bind(function, args, keywords))
    return finish({});
  const Exit exit = run(function.def->body);
  if (exit == Exit::Failed)
    return finish({});
  return finish(exit == Exit::Return ? result_ : Value::none());
}

HostEvaluator::Exit HostEvaluator::run(ast::StmtList body) {
  for (const ast::Stmt *stmt : body)
    if (Exit exit = run(stmt); exit != Exit::Next)
      return exit;
  return Exit::Next;
}

HostEvaluator::Exit HostEvaluator::run(const ast::Stmt *stmt) {
  if (stack_.exhausted()) {
    fail(stmt, ErrorKind::Runtime, "statements too deeply nested");
    return Exit::Failed;
  }
  if (!spendStep(stmt))
    return Exit::Failed;
  const auto next = [](bool succeeded) { return succeeded ? Exit::Next : Exit::Failed; };
  switch (stmt->kind()) {
  case ast::NodeKind::Pass: return Exit::Next;
  case ast::NodeKind::Break: return Exit::Break;
  case ast::NodeKind::Continue: return Exit::Continue;
  case ast::NodeKind::ExprStmt: return next(bool(visit(llvm::cast<ast::ExprStmt>(stmt)->value)));
  case ast::NodeKind::Return: {
    const auto *statement = llvm::cast<ast::Return>(stmt);
    result_ = statement->value ? visit(statement->value) : Value::none();
    return result_ ? Exit::Return : Exit::Failed;
  }
  case ast::NodeKind::Assign: {
    const auto *statement = llvm::cast<ast::Assign>(stmt);
    Value value = visit(statement->value);
    return next(value && llvm::all_of(statement->targets,
                                      [&](const ast::Expr *target) { return assign(target, value); }));
  }
  case ast::NodeKind::AnnAssign: {
    const auto *statement = llvm::cast<ast::AnnAssign>(stmt);
    if (!statement->value)
      return Exit::Next;
    Value value = visit(statement->value);
    return next(value && assign(statement->target, value));
  }
  case ast::NodeKind::AugAssign: {
    const auto *statement = llvm::cast<ast::AugAssign>(stmt);
    Value current = visit(statement->target);
    Value operand = current ? visit(statement->value) : Value();
    semantic_.setPosition(stmt->range(), stmt->range(), {});
    Value value = operand ? semantic_.binaryOperator(statement->op, current, operand) : Value();
    return next(value && assign(statement->target, value));
  }
  case ast::NodeKind::Assert: {
    const auto *statement = llvm::cast<ast::Assert>(stmt);
    Value test = visit(statement->test);
    if (!test || hostTruth(test))
      return next(bool(test));
    Value message = statement->msg ? visit(statement->msg) : Value::constant("assertion failed");
    if (message)
      fail(stmt, ErrorKind::Assertion, message.isConstant() ? message.constant().str() : message.str());
    return Exit::Failed;
  }
  case ast::NodeKind::If: {
    const auto *statement = llvm::cast<ast::If>(stmt);
    Value test = visit(statement->test);
    return test ? run(hostTruth(test) ? statement->body : statement->orelse) : Exit::Failed;
  }
  case ast::NodeKind::For: return runFor(llvm::cast<ast::For>(stmt));
  case ast::NodeKind::While: return runWhile(llvm::cast<ast::While>(stmt));
  default:
    needsPython(stmt, std::string("a ") + ast::nodeKindName(stmt->kind()) +
                          " statement is not executed without it");
    return Exit::Failed;
  }
}

std::optional<std::vector<Value>> HostEvaluator::iterate(const ast::Expr *expr) {
  const auto *call = llvm::dyn_cast<ast::Call>(expr);
  const auto *name = call ? llvm::dyn_cast<ast::Name>(call->func) : nullptr;
  if (!name || name->id != "range" || locals_.contains("range")) {
    Value value = visit(expr);
    if (const HostItem *item = hostItem(value); item && item->keys())
      return *item->keys();
    if (value && !value.isTuple())
      needsPython(expr, "only ranges, tuples and lists are iterated without it");
    return value && value.isTuple() ? std::optional(value.tuple().elements) : std::nullopt;
  }
  int64_t bounds[3] = {0, 0, 1};
  const size_t count = call->args.size();
  if (count < 1 || count > 3 || !call->keywords.empty()) {
    fail(expr, ErrorKind::Type, "range expected 1 to 3 arguments, got " + std::to_string(count));
    return std::nullopt;
  }
  for (size_t i = 0; i < count; ++i) {
    Value value = visit(call->args[i]);
    if (!value)
      return std::nullopt;
    std::optional<int64_t> number =
        value.isConstant() && value.constant().isIntLike() ? value.constant().asInt64() : std::nullopt;
    if (!number) {
      fail(call->args[i], ErrorKind::Type, "range() needs 64-bit integers");
      return std::nullopt;
    }
    bounds[count == 1 ? 1 : i] = *number;
  }
  const auto [start, stop, step] = bounds;
  if (step == 0) {
    fail(expr, ErrorKind::Value, "range() arg 3 must not be zero");
    return std::nullopt;
  }
  std::vector<Value> items;
  for (__int128 i = start; step > 0 ? i < stop : i > stop; i += step) {
    if (!spendStep(expr))
      return std::nullopt;
    items.push_back(Value::constant(static_cast<int64_t>(i)));
  }
  return items;
}

HostEvaluator::Exit HostEvaluator::runFor(const ast::For *stmt) {
  std::optional<std::vector<Value>> items = iterate(stmt->iter);
  if (!items)
    return Exit::Failed;
  for (const Value &item : *items) {
    if (!assign(stmt->target, item))
      return Exit::Failed;
    const Exit exit = run(stmt->body);
    if (exit == Exit::Break)
      return Exit::Next;
    if (exit == Exit::Return || exit == Exit::Failed)
      return exit;
  }
  return run(stmt->orelse);
}

HostEvaluator::Exit HostEvaluator::runWhile(const ast::While *stmt) {
  while (spendStep(stmt)) {
    Value test = visit(stmt->test);
    if (!test)
      return Exit::Failed;
    if (!hostTruth(test))
      return run(stmt->orelse);
    const Exit exit = run(stmt->body);
    if (exit == Exit::Break)
      return Exit::Next;
    if (exit == Exit::Return || exit == Exit::Failed)
      return exit;
  }
  return Exit::Failed;
}

bool HostEvaluator::assign(const ast::Expr *target, const Value &value) {
  if (const auto *name = llvm::dyn_cast<ast::Name>(target)) {
    locals_[name->id] = value;
    return true;
  }
  ast::ExprList targets;
  if (const auto *tuple = llvm::dyn_cast<ast::Tuple>(target))
    targets = tuple->elts;
  else if (const auto *list = llvm::dyn_cast<ast::List>(target))
    targets = list->elts;
  if (targets.empty()) {
    needsPython(target, "only names and tuples of names are assigned without it");
    return false;
  }
  if (!value.isTuple() || value.tuple().elements.size() != targets.size()) {
    fail(target, ErrorKind::Value,
         "cannot unpack the value into " + std::to_string(targets.size()) + " names");
    return false;
  }
  for (auto [element, item] : llvm::zip_equal(targets, value.tuple().elements))
    if (!assign(element, item))
      return false;
  return true;
}
