//===- CodeGenBranch.cpp - `if`, early return, the ternary ------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// The IR has structured control flow only. An early return therefore moves what follows the `if` into the arm
// that did not return; where both arms may go on, a flag and the returned values leave the `if`, and the rest
// is guarded by the flag. The rest is visited once either way.
//
//===----------------------------------------------------------------------===//
#include "ASTWalk.h"
#include "CodeGenImpl.h"

using namespace despina;
using namespace despina::codegen;

//===----------------------------------------------------------------------===//
// Syntactic questions
//===----------------------------------------------------------------------===//

bool codegen::containsReturn(ast::StmtList body) {
  bool found = false;
  llvm::SmallVector<const ast::Node *> roots(body.begin(), body.end());
  ast::walk(roots, [&](const ast::Node *node) {
    found |= llvm::isa<ast::Return>(node);
    return !found && llvm::isa<ast::Stmt>(node) && !llvm::isa<ast::FunctionDef>(node);
  });
  return found;
}

bool codegen::alwaysReturns(ast::StmtList body) {
  // An `elif` chain is walked in a loop: its depth is the user's.
  while (true) {
    const ast::If *last = nullptr;
    for (const ast::Stmt *stmt : body) {
      if (llvm::isa<ast::Return>(stmt))
        return true;
      const auto *branch = llvm::dyn_cast<ast::If>(stmt);
      if (branch && !branch->orelse.empty() && stmt == body.back())
        last = branch;
    }
    if (!last || last->body.empty() || !llvm::isa<ast::Return>(last->body.back()))
      return false;
    body = last->orelse;
  }
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

std::optional<bool> CodeGenerator::constantCondition(const ast::Node *node, const Value &value) {
  if (value.isConstant()) {
    const Constant &constant = value.constant();
    if (constant.isIntLike() || constant.isNone())
      return constant.truthy();
  }
  error(node, ErrorKind::UnsupportedConstruct,
        "`if` conditionals can only accept values of type {bool, int, NoneType}, not objects of type " +
            className(value));
  return std::nullopt;
}

Flow CodeGenerator::visitIf(const ast::If *stmt, const Sequence &rest, bool functionLevel,
                            bool &consumedRest) {
  Value test = visit(stmt->test);
  if (!test)
    return Flow::failed();
  const bool hasReturn = containsReturn(stmt->body) || containsReturn(stmt->orelse);
  if (!test.isTensor()) {
    std::optional<bool> truth = constantCondition(stmt->test, test);
    if (!truth)
      return Flow::failed();
    const ast::StmtList live = *truth ? stmt->body : stmt->orelse;
    if (!hasReturn)
      return visitSequence(Sequence{live}, false);
    consumedRest = true;
    return visitSequence(Sequence{live, &rest}, functionLevel);
  }

  if (hasReturn && frame_->runtimeLoops)
    return fail(stmt, ErrorKind::UnsupportedConstruct,
                "Cannot have `return` statements inside `while` or `for` statements in triton.",
                "set a variable in the loop and return it after the loop");
  at(stmt->test);
  Value condition = semantic_.toCondition(test);
  if (!condition)
    return Flow::failed();
  const bool restLeft = hasReturn && !rest.empty();
  const bool restInThen = restLeft && alwaysReturns(stmt->orelse) && !alwaysReturns(stmt->body);
  const bool tail = functionLevel && hasReturn;
  consumedRest = restInThen;
  return branch(
      stmt, condition, hasReturn,
      [&] {
        return visitSequence(Sequence{stmt->body, restInThen ? &rest : nullptr},
                             tail && (!restLeft || restInThen));
      },
      [&](const Flow &thenFlow) {
        const bool restInElse = restLeft && !restInThen && thenFlow.kind == Flow::Kind::Return;
        consumedRest |= restInElse;
        return visitSequence(Sequence{stmt->orelse, restInElse ? &rest : nullptr},
                             tail && (!restLeft || restInElse));
      });
}

Flow CodeGenerator::guardByFlag(const ast::Node *node, const Flow &flow, llvm::function_ref<Flow()> rest) {
  return branch(
      node, flow.flag, /*needsFlag=*/true, [&] { return Flow::returned(flow.result); },
      [&](const Flow &) { return rest(); });
}

//===----------------------------------------------------------------------===//
// Arms and merging
//===----------------------------------------------------------------------===//

Value CodeGenerator::promoteNumbers(const Value &value) {
  if (value.isConstant() && value.constant().isNumber()) {
    Value tensor = semantic_.toTensor(value, /*quiet=*/true);
    return tensor ? tensor : value;
  }
  // Named tuples of ours (block pointers) hold constants that must stay constants.
  if (!value.isTuple() || !value.tuple().typeName.empty())
    return value;
  std::vector<Value> elements;
  for (const Value &element : value.tuple().elements)
    elements.push_back(promoteNumbers(element));
  return Value::tuple(std::move(elements), value.tuple().fields);
}

/// Ends an arm: takes its scope, and makes inside it what a merge may need, since the merge itself can no
/// longer add to the arm.
Arm CodeGenerator::endArm(Flow flow, const Scope &base, bool needsFlag) {
  Arm arm;
  arm.scope = std::move(scope());
  if (flow.mayReturn())
    arm.promotedResult = promoteNumbers(flow.result);
  if (flow.mayFall())
    for (const auto &[name, value] : arm.scope)
      if (value.isTuple()) {
        auto it = base.find(name);
        if (it == base.end() || !it->second.identical(value))
          arm.promoted[name] = promoteNumbers(value);
      }
  if (needsFlag)
    arm.flag = flow.kind == Flow::Kind::Mixed
                   ? flow.flag.handle()
                   : builder_.constantInt(Type(ScalarKind::Int1), flow.kind == Flow::Kind::Return);
  arm.flow = std::move(flow);
  return arm;
}

Flow CodeGenerator::branch(const ast::Node *node, const Value &condition, bool needsFlag,
                           llvm::function_ref<Flow()> thenBody,
                           llvm::function_ref<Flow(const Flow &)> elseBody) {
  if (exceedsLimits(node))
    return Flow::failed();
  builder_.beginIf(condition.handle());
  const Scope base = scope();
  // Each arm may bind a name that was only annotated so far.
  const NameSet pendingConstexpr = frame_->pendingConstexpr;
  Flow flow = thenBody();
  if (flow.isFailed()) {
    builder_.abandon();
    return flow;
  }
  at(node);
  const Arm thenArm = endArm(std::move(flow), base, needsFlag);
  scope() = base;
  frame_->pendingConstexpr = pendingConstexpr;
  builder_.beginElse();
  flow = elseBody(thenArm.flow);
  if (flow.isFailed()) {
    builder_.abandon();
    return flow;
  }
  at(node);
  const Arm elseArm = endArm(std::move(flow), base, needsFlag);
  Merge merge;
  if (!mergeVariables(node, base, thenArm, elseArm, merge) || !mergeReturns(node, thenArm, elseArm, merge)) {
    builder_.abandon();
    return Flow::failed();
  }
  const Handles results = builder_.endIf(merge.thenYields, merge.elseYields, merge.types);
  llvm::ArrayRef<Handle> left = results;
  scope() = std::move(merge.scope);
  for (const auto &[name, pattern] : merge.variables)
    scope()[name] = unflatten(pattern, left);
  if (merge.flow.mayReturn())
    merge.flow.result = unflatten(merge.flow.result, left);
  if (merge.flow.kind == Flow::Kind::Mixed)
    merge.flow.flag = unflatten(merge.flow.flag, left);
  return merge.flow;
}

bool CodeGenerator::mergeValue(const Value &ifThen, const Value &promoted, const Value &ifElse, Merge &merge,
                               Value &pattern) {
  if (ifThen.isAggregate() && ifThen.kind() == ifElse.kind()) {
    const TupleValue &thenTuple = ifThen.tuple(), &elseTuple = ifElse.tuple();
    if (thenTuple.elements.size() != elseTuple.elements.size() || thenTuple.fields != elseTuple.fields)
      return false;
    std::vector<Value> elements(thenTuple.elements.size());
    for (size_t i = 0; i < elements.size(); ++i)
      if (!mergeValue(thenTuple.elements[i], promoted.tuple().elements[i], elseTuple.elements[i], merge,
                      elements[i]))
        return false;
    pattern = ifThen.withElements(std::move(elements));
    return true;
  }
  if (!ifThen.isTensor() && ifThen.identical(ifElse)) {
    pattern = ifThen;
    return true;
  }
  const Value &thenTensor = ifThen.isTensor() ? ifThen : promoted;
  const Value elseTensor = promoteNumbers(ifElse);
  if (!thenTensor.isTensor() || !elseTensor.isTensor() || thenTensor.type() != elseTensor.type())
    return false;
  pattern = merge.leaf(thenTensor.type(), thenTensor.handle(), elseTensor.handle());
  return true;
}

/// True if a live variable may hold `now` after it held `initial`. Inside tuples a number may have become the
/// runtime scalar of its type.
bool CodeGenerator::keepsType(const Value &initial, const Value &now, bool nested) {
  if (initial.isTensor() && now.isTensor())
    return initial.type() == now.type();
  if (initial.isAggregate() && initial.kind() == now.kind()) {
    const TupleValue &a = initial.tuple(), &b = now.tuple();
    if (a.elements.size() != b.elements.size() || a.fields != b.fields || a.typeName != b.typeName)
      return false;
    for (size_t i = 0; i < a.elements.size(); ++i)
      if (!keepsType(a.elements[i], b.elements[i], true))
        return false;
    return true;
  }
  if (initial.identical(now))
    return true;
  const bool numbers = (initial.isTensor() || (initial.isConstant() && initial.constant().isNumber())) &&
                       (now.isTensor() || (now.isConstant() && now.constant().isNumber()));
  if (!nested || !numbers)
    return false;
  const Value a = promoteNumbers(initial), b = promoteNumbers(now);
  return a.isTensor() && b.isTensor() && a.type() == b.type();
}

bool CodeGenerator::mergeVariables(const ast::Node *node, const Scope &base, const Arm &thenArm,
                                   const Arm &elseArm, Merge &merge) {
  const bool thenFalls = thenArm.flow.mayFall(), elseFalls = elseArm.flow.mayFall();
  if (!thenFalls && !elseFalls)
    return true;
  if (!thenFalls || !elseFalls) {
    // The other arm returned: its yields are never read.
    for (const auto &[name, value] : (thenFalls ? thenArm : elseArm).scope) {
      merge.scope[name] = value;
      auto it = base.find(name);
      llvm::SmallVector<TensorValue, 4> leaves;
      flatten(value, leaves);
      if (leaves.empty() || (it != base.end() && it->second.identical(value)))
        continue;
      for (const TensorValue &leaf : leaves)
        merge.leaf(leaf.type, thenFalls ? leaf.handle : Handle(), thenFalls ? Handle() : leaf.handle);
      merge.variables.emplace_back(name, value);
    }
    return true;
  }
  for (const auto &[name, ifThen] : thenArm.scope) {
    auto elseIt = elseArm.scope.find(name);
    if (elseIt == elseArm.scope.end())
      continue; // bound in one arm only: not visible afterwards
    const Value &ifElse = elseIt->second;
    if (ifThen.identical(ifElse)) {
      merge.scope[name] = ifThen;
      continue;
    }
    auto baseIt = base.find(name);
    if (baseIt != base.end()) {
      const bool thenKeeps = keepsType(baseIt->second, ifThen);
      if (!thenKeeps || !keepsType(baseIt->second, ifElse)) {
        error(node, ErrorKind::Assertion,
              ("initial value for `" + name + "` is of type ").str() + describeType(baseIt->second) +
                  ", but the " + (thenKeeps ? "else" : "then") + " block redefines it as " +
                  describeType(thenKeeps ? ifElse : ifThen),
              "give it one type in all branches, for example with .to(...)");
        return false;
      }
    } else if (ifThen.isConstant() && ifElse.isConstant()) {
      continue; // different constants: local to their branches
    }
    auto promoted = thenArm.promoted.find(name);
    Value pattern;
    if (!mergeValue(ifThen, promoted != thenArm.promoted.end() ? promoted->second : ifThen, ifElse, merge,
                    pattern)) {
      error(node, ErrorKind::Assertion,
            ("Mismatched type for " + name + " between then block (").str() + describeType(ifThen) +
                ") and else block (" + describeType(ifElse) + ")",
            "give it one type in both, for example with .to(...)");
      return false;
    }
    merge.scope[name] = pattern;
    merge.variables.emplace_back(name, pattern);
  }
  return true;
}

bool CodeGenerator::mergeReturns(const ast::Node *node, const Arm &thenArm, const Arm &elseArm,
                                 Merge &merge) {
  const Flow &thenFlow = thenArm.flow, &elseFlow = elseArm.flow;
  if (!thenFlow.mayReturn() && !elseFlow.mayReturn())
    return true;
  const bool both = thenFlow.mayReturn() && elseFlow.mayReturn();
  merge.flow.kind =
      both && !thenFlow.mayFall() && !elseFlow.mayFall() ? Flow::Kind::Return : Flow::Kind::Mixed;
  if (frame_->isKernel) {
    // A kernel has no result: nothing to carry.
    merge.flow.result = Value::none();
  } else if (both) {
    if (!mergeValue(thenFlow.result, thenArm.promotedResult, elseFlow.result, merge, merge.flow.result)) {
      std::string all;
      for (const std::string &type : frame_->returnTypes)
        all += (all.empty() ? "" : ", ") + type;
      error(node, ErrorKind::Type,
            "Return type mismatch: " + describeType(thenFlow.result) + " and " +
                describeType(elseFlow.result) + ". Note all return types were: [" + all + "]");
      return false;
    }
  } else {
    const bool inThen = thenFlow.mayReturn();
    merge.flow.result = inThen ? thenFlow.result : elseFlow.result;
    llvm::SmallVector<TensorValue, 4> leaves;
    flatten(merge.flow.result, leaves);
    for (const TensorValue &leaf : leaves)
      merge.leaf(leaf.type, inThen ? leaf.handle : Handle(), inThen ? Handle() : leaf.handle);
  }
  if (merge.flow.kind == Flow::Kind::Mixed)
    merge.flow.flag = merge.leaf(Type(ScalarKind::Int1), thenArm.flag, elseArm.flag);
  return true;
}

//===----------------------------------------------------------------------===//
// The ternary
//===----------------------------------------------------------------------===//

Value CodeGenerator::visitIfExp(const ast::IfExp *expr) {
  Value test = visit(expr->test);
  if (!test)
    return {};
  if (!test.isTensor()) {
    std::optional<bool> truth = constantCondition(expr->test, test);
    return truth ? visit(*truth ? expr->body : expr->orelse) : Value();
  }
  NameSet assigned;
  collectAssigned(expr->body, assigned);
  collectAssigned(expr->orelse, assigned);
  if (!assigned.empty())
    return error(expr, ErrorKind::UnsupportedConstruct,
                 "`:=` in an arm of a ternary with a run-time condition is not supported",
                 "use an `if` statement");
  at(expr->test);
  Value condition = semantic_.toCondition(test);
  if (!condition)
    return {};
  builder_.beginIf(condition.handle());
  Value arms[2];
  for (unsigned i = 0; i < 2; ++i) {
    if (i == 1)
      builder_.beginElse();
    const ast::Expr *arm = i == 0 ? expr->body : expr->orelse;
    Value value = visit(arm);
    if (value) {
      at(arm);
      arms[i] = semantic_.toTensor(value);
    }
    if (!arms[i]) {
      builder_.abandon();
      return {};
    }
  }
  if (arms[0].type() != arms[1].type()) {
    builder_.abandon();
    return error(expr, ErrorKind::UnsupportedConstruct,
                 "Ternary expression with dynamic condition has inconsistent types " + arms[0].type().str() +
                     " and " + arms[1].type().str());
  }
  at(expr);
  const Handles results = builder_.endIf({arms[0].handle()}, {arms[1].handle()}, {arms[0].type()});
  return results.size() == 1 ? Value::tensor(arms[0].type(), results[0]) : Value();
}
