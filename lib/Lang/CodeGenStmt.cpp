//===- CodeGenStmt.cpp - Statements ----------------------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Statement lists, assignments and the small statements (spec triton_language 2.2).
//
//===----------------------------------------------------------------------===//
#include "CodeGenImpl.h"

using namespace despina;
using namespace despina::codegen;

Flow CodeGenerator::visitSequence(const Sequence &sequence, bool functionLevel) {
  for (const Sequence *part = &sequence; part; part = part->next) {
    for (size_t i = 0; i < part->statements.size(); ++i) {
      const ast::Stmt *stmt = part->statements[i];
      const Sequence rest{part->statements.drop_front(i + 1), part->next};
      bool consumedRest = false;
      Flow flow = visitStatement(stmt, rest, functionLevel, consumedRest);
      if (flow.kind == Flow::Kind::Fall && !consumedRest)
        continue;
      if (flow.kind != Flow::Kind::Mixed || consumedRest || (rest.empty() && !functionLevel))
        return flow;
      return guardByFlag(stmt, flow, [&] { return visitSequence(rest, functionLevel); });
    }
  }
  return functionLevel ? Flow::returned(Value::none()) : Flow::fall();
}

static Flow fallIf(bool succeeded) { return succeeded ? Flow::fall() : Flow::failed(); }

static const char *const kNestedFunction = "nested function definitions are not allowed inside a @triton.jit "
                                           "kernel. Move the helper function to module "
                                           "level and decorate it with @triton.jit.";

static std::string loopControlHelp(const ast::Stmt *stmt) {
  if (stmt->kind() == ast::NodeKind::Break)
    return "a loop runs to its end: mask the work of iterations that should do nothing, or use `while` with "
           "the "
           "condition that ends it";
  if (stmt->kind() == ast::NodeKind::Continue)
    return "put the rest of the body under an `if`";
  return {};
}

/// What only Python runs, in a kernel that Python runs: `print(...)`, `breakpoint()`, `pdb.anything(...)` and
/// the import of pdb.
static bool isForDebugging(const ast::Stmt *stmt) {
  if (const auto *import = llvm::dyn_cast<ast::Import>(stmt))
    return llvm::all_of(import->names, [](const ast::Alias &alias) { return alias.name == "pdb"; });
  const auto *statement = llvm::dyn_cast<ast::ExprStmt>(stmt);
  const auto *call = statement ? llvm::dyn_cast<ast::Call>(statement->value) : nullptr;
  if (!call)
    return false;
  if (const auto *name = llvm::dyn_cast<ast::Name>(call->func))
    return name->id == "print" || name->id == "breakpoint";
  const auto *attribute = llvm::dyn_cast<ast::Attribute>(call->func);
  const auto *module = attribute ? llvm::dyn_cast<ast::Name>(attribute->value) : nullptr;
  return module && module->id == "pdb";
}

Flow CodeGenerator::visitStatement(const ast::Stmt *stmt, const Sequence &rest, bool functionLevel,
                                   bool &consumedRest) {
  if (exceedsLimits(stmt))
    return Flow::failed();
  if (options_.allowDebugging && isForDebugging(stmt))
    return Flow::fall();
  switch (stmt->kind()) {
  case ast::NodeKind::ExprStmt: return fallIf(visitExpressionStatement(llvm::cast<ast::ExprStmt>(stmt)));
  case ast::NodeKind::Assign: return fallIf(visitAssign(llvm::cast<ast::Assign>(stmt)));
  case ast::NodeKind::AugAssign: return fallIf(visitAugAssign(llvm::cast<ast::AugAssign>(stmt)));
  case ast::NodeKind::AnnAssign: return fallIf(visitAnnAssign(llvm::cast<ast::AnnAssign>(stmt)));
  case ast::NodeKind::Assert: return fallIf(visitAssert(llvm::cast<ast::Assert>(stmt)));
  case ast::NodeKind::Pass: return Flow::fall();
  case ast::NodeKind::Return: return visitReturn(llvm::cast<ast::Return>(stmt));
  case ast::NodeKind::If: return visitIf(llvm::cast<ast::If>(stmt), rest, functionLevel, consumedRest);
  case ast::NodeKind::For: return visitFor(llvm::cast<ast::For>(stmt));
  case ast::NodeKind::While: return fallIf(visitWhile(llvm::cast<ast::While>(stmt)));
  case ast::NodeKind::With:
  case ast::NodeKind::AsyncWith: return visitWith(llvm::cast<ast::With>(stmt));
  case ast::NodeKind::FunctionDef: return fail(stmt, ErrorKind::UnsupportedConstruct, kNestedFunction);
  default: unsupported(stmt, loopControlHelp(stmt)); return Flow::failed();
  }
}

/// The text after "is not being used.", if the callee's result must be used.
static std::optional<std::string> mustUse(const Value &callee) {
  switch (callee.kind()) {
  case Value::Kind::Function: return callee.function()->mustUseResult;
  case Value::Kind::Builtin: {
    if (!callee.builtin()->mustUseResult)
      return std::nullopt;
    std::string name = "tl." + callee.builtin()->name().str();
    return "Note that " + name +
           " does not have any side effects. To use its result, you need to assign the result of " + name +
           " to a variable.";
  }
  case Value::Kind::BoundMethod: return mustUse(callee.boundMethod().callee);
  default: return std::nullopt;
  }
}

static std::string calleeName(const Value &callee) {
  switch (callee.kind()) {
  case Value::Kind::Function: return callee.function()->name;
  case Value::Kind::Builtin: return "tl." + callee.builtin()->name().str();
  case Value::Kind::BoundMethod: return calleeName(callee.boundMethod().callee);
  default: return className(callee);
  }
}

bool CodeGenerator::visitExpressionStatement(const ast::ExprStmt *stmt) {
  const auto *call = llvm::dyn_cast<ast::Call>(stmt->value);
  if (!call)
    return bool(visit(stmt->value));
  Value callee = visit(call->func);
  if (!callee)
    return false;
  if (std::optional<std::string> text = mustUse(callee)) {
    std::string message = "The result of " + calleeName(callee) + " is not being used.";
    if (!text->empty())
      message += " " + *text;
    error(stmt, ErrorKind::Compilation, std::move(message),
          "assign the result to a name, or remove the call");
    return false;
  }
  ValueList args;
  KeywordList keywords;
  return visitArguments(call, args, keywords) && callValue(call, callee, args, keywords);
}

Flow CodeGenerator::visitReturn(const ast::Return *stmt) {
  if (frame_->runtimeLoops)
    return fail(stmt, ErrorKind::UnsupportedConstruct,
                "Cannot have `return` statements inside `while` or `for` statements in triton.",
                "set a variable in the loop and return it after the loop");
  Value result = stmt->value ? visit(stmt->value) : Value::none();
  if (!result)
    return Flow::failed();
  frame_->returnTypes.push_back(describeType(result));
  return Flow::returned(result);
}

//===----------------------------------------------------------------------===//
// Assignments
//===----------------------------------------------------------------------===//

Value CodeGenerator::decay(const Value &value) {
  if (!value.isConstant() || value.isNone())
    return value;
  return semantic_.toTensor(value);
}

bool CodeGenerator::visitAssign(const ast::Assign *stmt) {
  if (stmt->targets.size() != 1) {
    error(stmt, ErrorKind::Type, "Simultaneous multiple assignment is not supported.",
          "write one assignment for each target");
    return false;
  }
  Value value = visit(stmt->value);
  if (!value)
    return false;
  at(stmt);
  return assignTarget(stmt->targets.front(), value);
}

bool CodeGenerator::assignTarget(const ast::Expr *target, const Value &value) {
  switch (target->kind()) {
  case ast::NodeKind::Name: {
    llvm::StringRef name = llvm::cast<ast::Name>(target)->id;
    if (frame_->pendingConstexpr.contains(name)) {
      frame_->pendingConstexpr.remove(name);
      return bindConstexpr(target, name, value);
    }
    Value kept = decay(value);
    if (!kept)
      return false;
    scope()[name] = kept.withRange(target->range());
    frame_->constexprNodes.erase(name);
    return true;
  }
  case ast::NodeKind::Tuple: return assignUnpacked(target, llvm::cast<ast::Tuple>(target)->elts, value);
  case ast::NodeKind::List: return assignUnpacked(target, llvm::cast<ast::List>(target)->elts, value);
  case ast::NodeKind::Attribute: return assignField(llvm::cast<ast::Attribute>(target), value);
  case ast::NodeKind::Subscript:
    error(target, ErrorKind::NotImplemented, "__setitem__ is not supported in triton",
          "values are immutable: build a new tensor with tl.where, or write through a pointer with tl.store");
    return false;
  default: unsupported(target); return false;
  }
}

bool CodeGenerator::assignUnpacked(const ast::Expr *target, ast::ExprList targets, const Value &value) {
  if (exceedsLimits(target))
    return false;
  if (!value.isTuple()) {
    error(target, ErrorKind::Type, "cannot unpack non-iterable " + className(value) + " object");
    return false;
  }
  const std::vector<Value> elements = value.tuple().elements;
  if (elements.size() < targets.size()) {
    error(target, ErrorKind::Value,
          "not enough values to unpack (expected " + std::to_string(targets.size()) + ", got " +
              std::to_string(elements.size()) + ")");
    return false;
  }
  if (elements.size() > targets.size()) {
    error(target, ErrorKind::Value,
          "too many values to unpack (expected " + std::to_string(targets.size()) + ")");
    return false;
  }
  for (size_t i = 0; i < targets.size(); ++i)
    if (!assignTarget(targets[i], elements[i]))
      return false;
  return true;
}

bool CodeGenerator::visitAugAssign(const ast::AugAssign *stmt) {
  const auto *name = llvm::dyn_cast<ast::Name>(stmt->target);
  if (!name)
    return assignTarget(stmt->target, Value::none()); // reports: only names can be updated
  Value current = lookup(name->id, name);
  if (!current)
    return false;
  Value operand = visit(stmt->value);
  if (!operand)
    return false;
  at(stmt);
  Value value = semantic_.binaryOperator(stmt->op, current, operand);
  return value && assignTarget(name, value);
}

bool CodeGenerator::bindConstexpr(const ast::Node *node, llvm::StringRef name, const Value &value) {
  // The same annotation may bind again, as in the body of an expanded loop.
  const bool boundHere = frame_->constexprNodes.lookup(name) == node;
  if (scope().contains(name) && !boundHere) {
    error(node, ErrorKind::Value, (name + " is already defined. constexpr cannot be reassigned.").str());
    return false;
  }
  llvm::SmallVector<TensorValue, 2> leaves;
  flatten(value, leaves);
  if (!leaves.empty()) {
    error(node, ErrorKind::Type,
          ("`" + name + "` is annotated tl.constexpr, but its value of type " + describeType(value) +
           " is only known at run time")
              .str(),
          "remove the annotation");
    return false;
  }
  scope()[name] = value.withRange(node->range());
  frame_->constexprNodes[name] = node;
  return true;
}

bool CodeGenerator::visitAnnAssign(const ast::AnnAssign *stmt) {
  const auto *name = llvm::dyn_cast<ast::Name>(stmt->target);
  const bool isConstexpr = isConstexprAnnotation(stmt->annotation);
  if (!stmt->value) {
    if (name && isConstexpr)
      frame_->pendingConstexpr.insert(name->id);
    return true;
  }
  Value value = visit(stmt->value);
  if (!value)
    return false;
  at(stmt);
  noteAnnotation(stmt->annotation);
  if (isConstexpr && name)
    return bindConstexpr(stmt, name->id, value);
  return assignTarget(stmt->target, value);
}

bool CodeGenerator::visitAssert(const ast::Assert *stmt) {
  const BuiltinDef *deviceAssert = findBuiltin("language.device_assert");
  if (!deviceAssert) {
    unsupported(stmt);
    return false;
  }
  ValueList args;
  for (const ast::Expr *expr : {stmt->test, stmt->msg}) {
    if (!expr)
      continue;
    Value value = visit(expr);
    if (!value)
      return false;
    args.push_back(value);
  }
  return bool(callValue(stmt, Value::builtin(deviceAssert), args, {}));
}
