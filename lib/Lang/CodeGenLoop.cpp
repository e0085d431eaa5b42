//===- CodeGenLoop.cpp - `for` and `while` ----------------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// A loop body is visited once. What it may assign is read off the syntax: those of the names that live before
// the loop are carried, and one that ends up unchanged is a carried value the canonicaliser removes.
//
//===----------------------------------------------------------------------===//
#include "ASTWalk.h"
#include "CodeGenImpl.h"

#include "llvm/ADT/SmallPtrSet.h"

using namespace despina;
using namespace despina::codegen;

/// More iterations than this are a mistake: the expanded code would not compile in reasonable time.
static constexpr int64_t kMaxStaticIterations = 100000;

//===----------------------------------------------------------------------===//
// What a body assigns and what is used later
//===----------------------------------------------------------------------===//

static void collectTargets(const ast::Expr *target, NameSet &names) {
  ast::walk({target}, [&](const ast::Node *node) {
    if (const auto *name = llvm::dyn_cast<ast::Name>(node))
      names.insert(name->id);
    return llvm::isa<ast::Tuple, ast::List, ast::Starred>(node);
  });
}

static bool collectNode(const ast::Node *node, NameSet &names) {
  if (const auto *assign = llvm::dyn_cast<ast::Assign>(node))
    for (const ast::Expr *target : assign->targets)
      collectTargets(target, names);
  else if (const auto *augmented = llvm::dyn_cast<ast::AugAssign>(node))
    collectTargets(augmented->target, names);
  else if (const auto *annotated = llvm::dyn_cast<ast::AnnAssign>(node))
    collectTargets(annotated->target, names);
  else if (const auto *loop = llvm::dyn_cast<ast::For>(node))
    collectTargets(loop->target, names);
  else if (const auto *with = llvm::dyn_cast<ast::With>(node)) {
    for (const ast::WithItem &item : with->items)
      if (item.target)
        collectTargets(item.target, names);
  } else if (const auto *named = llvm::dyn_cast<ast::NamedExpr>(node))
    names.insert(named->target->id);
  return !llvm::isa<ast::FunctionDef, ast::Lambda>(node);
}

void codegen::collectAssigned(ast::StmtList body, NameSet &names) {
  llvm::SmallVector<const ast::Node *> roots(body.begin(), body.end());
  ast::walk(roots, [&](const ast::Node *node) { return collectNode(node, names); });
}

void codegen::collectAssigned(const ast::Expr *expr, NameSet &names) {
  ast::walk({expr}, [&](const ast::Node *node) { return collectNode(node, names); });
}

static bool contains(const ast::Node *outer, const ast::Node *inner) {
  return outer->range().begin <= inner->range().begin && inner->range().end <= outer->range().end;
}

/// True if the value that the loop leaves in its target may be read: by text behind the loop, or by any text
/// of a loop around it, in the next iteration. Other loops over the same name set it before they read it.
static bool isTargetReadLater(const ast::FunctionDef *def, const ast::For *loop, llvm::StringRef target) {
  bool found = false;
  uint32_t readFrom = loop->range().end;
  llvm::SmallPtrSet<const ast::Node *, 4> targets;
  llvm::SmallVector<const ast::Node *> roots(def->body.begin(), def->body.end());
  ast::walk(roots, [&](const ast::Node *node) {
    if (found || node == loop)
      return false;
    const auto *other = llvm::dyn_cast<ast::For>(node);
    if (other || llvm::isa<ast::While>(node)) {
      if (contains(node, loop))
        readFrom = std::min(readFrom, node->range().begin);
    }
    if (other) {
      const auto *name = llvm::dyn_cast<ast::Name>(other->target);
      if (name && name->id == target) {
        targets.insert(name);
        if (!contains(other, loop))
          return false;
      }
    }
    const auto *name = llvm::dyn_cast<ast::Name>(node);
    found |= name && name->id == target && !targets.contains(name) && name->range().begin >= readFrom;
    return true;
  });
  return found;
}

//===----------------------------------------------------------------------===//
// Carried values
//===----------------------------------------------------------------------===//

void CodeGenerator::openCarried(const NameSet &names, CarriedList &carried, Handles &inits) {
  for (llvm::StringRef name : names) {
    auto it = scope().find(name);
    if (it == scope().end())
      continue;
    Value initial = it->second.isTuple() ? promoteNumbers(it->second) : it->second;
    llvm::SmallVector<TensorValue, 4> leaves;
    flatten(initial, leaves);
    for (const TensorValue &leaf : leaves)
      inits.push_back(leaf.handle);
    carried.push_back({name, initial, {}, false});
  }
}

void CodeGenerator::bindCarried(CarriedList &carried, llvm::ArrayRef<Handle> handles) {
  for (Carried &item : carried) {
    item.entry = unflatten(item.initial, handles);
    scope()[item.name] = item.entry;
  }
}

bool CodeGenerator::matchCarried(const ast::Node *loop, llvm::StringRef name, const Value &initial,
                                 const Value &now, Handles &yields) {
  if (initial.isTensor()) {
    const Value tensor = now.isConstant() ? promoteNumbers(now) : now;
    if (!tensor.isTensor()) {
      error(loop, ErrorKind::Assertion,
            ("Loop carried variable " + name + " changed type, was ").str() + classText(initial) +
                " but is now " + classText(now));
      return false;
    }
    if (tensor.type() != initial.type()) {
      error(loop, ErrorKind::Assertion,
            ("Loop-carried variable " + name + " has initial type ").str() + initial.type().str() +
                " but is re-assigned to " + tensor.type().str() +
                " in loop! Please make sure that the type stays consistent.",
            "give it that type before the loop, or convert with .to(...) in it");
      return false;
    }
    yields.push_back(tensor.handle());
    return true;
  }
  if (initial.isAggregate() && initial.kind() == now.kind()) {
    const TupleValue &before = initial.tuple(), &after = now.tuple();
    if (before.elements.size() != after.elements.size() || before.fields != after.fields ||
        before.typeName != after.typeName) {
      error(loop, ErrorKind::Assertion,
            ("Loop-carried variable " + name + " has initial type ").str() + describeType(initial) +
                " but is re-assigned to " + describeType(now) +
                " in loop! Please make sure that the type stays consistent.",
            "give it that type before the loop, or convert with .to(...) in it");
      return false;
    }
    for (size_t i = 0; i < before.elements.size(); ++i)
      if (!matchCarried(loop, name, before.elements[i], after.elements[i], yields))
        return false;
    return true;
  }
  if (initial.identical(now))
    return true;
  const bool isNumber = initial.isConstant() && !initial.isNone();
  if (isNumber || initial.isAggregate()) {
    error(loop, ErrorKind::Assertion,
          ("Loop carried variable " + name + " changed type, was ").str() + classText(initial) +
              " but is now " + classText(now),
          isNumber ? "it is a compile-time constant before the loop: assign it to another name first" : "");
    return false;
  }
  error(loop, ErrorKind::Assertion, ("Loop carried variable " + name + " is not a triton value").str());
  return false;
}

bool CodeGenerator::yieldCarried(const ast::Node *loop, CarriedList &carried, Handles &yields) {
  for (Carried &item : carried) {
    auto it = scope().find(item.name);
    // The target of a loop inside is not visible after it: nothing reads the yield.
    item.dropped = it == scope().end();
    const Value now = item.dropped ? item.entry : it->second;
    if (!matchCarried(loop, item.name, item.initial, now, yields))
      return false;
  }
  return true;
}

void CodeGenerator::closeCarried(const CarriedList &carried, llvm::ArrayRef<Handle> results) {
  for (const Carried &item : carried) {
    Value value = unflatten(item.initial, results);
    if (item.dropped)
      scope().erase(item.name);
    else
      scope()[item.name] = value;
  }
}

//===----------------------------------------------------------------------===//
// for
//===----------------------------------------------------------------------===//

Flow CodeGenerator::visitFor(const ast::For *stmt) {
  if (stmt->kind() == ast::NodeKind::AsyncFor) {
    unsupported(stmt);
    return Flow::failed();
  }
  if (!stmt->orelse.empty())
    return fail(stmt->orelse.front(), ErrorKind::UnsupportedConstruct,
                "`else` of a `for` loop is not supported",
                "a loop has no `break`, so put the statements after the loop");
  const auto *call = llvm::dyn_cast<ast::Call>(stmt->iter);
  Value callee = call ? visit(call->func) : Value();
  if (call && !callee)
    return Flow::failed();
  const bool isStatic = isBuiltin(callee, "language.static_range");
  const bool isHinted = isBuiltin(callee, "language.range");
  if (!isStatic && !isHinted && !isBuiltin(callee, "builtins.range"))
    return fail(stmt->iter, ErrorKind::Runtime,
                "Only `range` and `static_range` iterators are currently supported",
                "to visit the elements of a tuple, index it: for i in tl.static_range(len(t))");
  const auto *target = llvm::dyn_cast<ast::Name>(stmt->target);
  if (!target)
    return fail(stmt->target, ErrorKind::UnsupportedConstruct,
                "the target of a `for` loop must be a plain name");
  ValueList bounds;
  RegionBuilder::ForHints hints;
  if (!splitRangeArguments(call, isStatic ? "static_range" : "range", bounds, hints))
    return Flow::failed();
  if (isStatic)
    return visitStaticRange(stmt, target->id, bounds);
  return visitRange(stmt, target->id, bounds, hints) ? Flow::fall() : Flow::failed();
}

/// Sets the hint that a keyword of `tl.range` names; false if there is none of that name or the value does
/// not fit.
static bool setHint(llvm::StringRef name, const Value &value, RegionBuilder::ForHints &hints) {
  if (!value.isConstant())
    return false;
  const Constant &constant = value.constant();
  if (name == "num_stages" || name == "loop_unroll_factor") {
    std::optional<int64_t> &slot = name == "num_stages" ? hints.numStages : hints.unrollFactor;
    slot = constant.isIntLike() ? constant.asInt64() : std::nullopt;
    return constant.isNone() || slot.has_value();
  }
  bool *flag = name == "flatten"                     ? &hints.flatten
               : name == "warp_specialize"           ? &hints.warpSpecialize
               : name == "disallow_acc_multi_buffer" ? &hints.disallowAccMultiBuffer
               : name == "disable_licm"              ? &hints.disableLICM
                                                     : nullptr;
  if (flag)
    *flag = constant.truthy();
  return flag != nullptr;
}

bool CodeGenerator::splitRangeArguments(const ast::Call *call, llvm::StringRef callee, ValueList &bounds,
                                        RegionBuilder::ForHints &hints) {
  ValueList args;
  KeywordList keywords;
  if (!visitArguments(call, args, keywords))
    return false;
  static const char *const names[] = {"arg1", "arg2", "step"};
  bounds.assign(3, Value());
  for (size_t i = 0; i < args.size() && i < 3; ++i)
    bounds[i] = args[i];
  for (const auto &[name, value] : keywords) {
    const auto *slot = llvm::find(names, name);
    if (slot != std::end(names)) {
      bounds[slot - names] = value;
    } else if (!setHint(name, value, hints)) {
      error(call, ErrorKind::Type,
            (callee + "() got an unexpected keyword argument or value: '" + name + "'").str(),
            "hints are compile-time constants: num_stages, loop_unroll_factor, disallow_acc_multi_buffer, "
            "flatten, "
            "warp_specialize, disable_licm");
      return false;
    }
  }
  if (args.size() > 3 || !bounds[0]) {
    error(call, ErrorKind::Type,
          (callee + " expected at " + (bounds[0] ? "most 3 arguments" : "least 1 argument") + ", got " +
           llvm::Twine(args.size()))
              .str());
    return false;
  }
  if (!bounds[1] || bounds[1].isNone())
    bounds = {Value::constant(0), bounds[0], bounds[2]};
  if (!bounds[2] || bounds[2].isNone())
    bounds[2] = Value::constant(1);
  return true;
}

Flow CodeGenerator::visitStaticRange(const ast::For *stmt, llvm::StringRef target,
                                     llvm::ArrayRef<Value> bounds) {
  int64_t limits[3] = {};
  for (size_t i = 0; i < 3; ++i) {
    std::optional<int64_t> number;
    if (bounds[i].isConstant() && bounds[i].constant().isIntLike())
      number = bounds[i].constant().asInt64();
    if (!number)
      return fail(stmt->iter, ErrorKind::Assertion,
                  "tl.static_range needs compile-time integers, got " + describeType(bounds[i]),
                  "use tl.range for bounds that are only known at run time");
    limits[i] = *number;
  }
  const auto [start, stop, step] = limits;
  if (step == 0)
    return fail(stmt->iter, ErrorKind::Value, "range() arg 3 must not be zero");
  // In 128 bits: the distance of two 64-bit numbers does not fit in 64.
  const __int128 distance = step > 0 ? __int128(stop) - start : __int128(start) - stop;
  const __int128 stride = step > 0 ? __int128(step) : -__int128(step);
  const __int128 count = distance > 0 ? (distance + stride - 1) / stride : 0;
  if (count > kMaxStaticIterations)
    return fail(stmt->iter, ErrorKind::UnsupportedConstruct,
                "tl.static_range expands at most " + std::to_string(kMaxStaticIterations) + " iterations",
                "use tl.range, perhaps with loop_unroll_factor");
  return staticIterations(stmt, target, start, step, static_cast<int64_t>(count));
}

Flow CodeGenerator::staticIterations(const ast::For *stmt, llvm::StringRef target, int64_t value,
                                     int64_t step, int64_t count) {
  for (; count > 0; --count, value += step) {
    scope()[target] = Value::constant(value).withRange(stmt->target->range());
    Flow flow = visitSequence(Sequence{stmt->body}, /*functionLevel=*/false);
    if (flow.kind == Flow::Kind::Mixed && count > 1)
      return guardByFlag(stmt, flow,
                         [&] { return staticIterations(stmt, target, value + step, step, count - 1); });
    if (flow.kind != Flow::Kind::Fall)
      return flow;
  }
  return Flow::fall();
}

/// C's promotion of two integer types.
static Type promoteIntegers(const Type &a, const Type &b) {
  if (a.isUnsigned() == b.isUnsigned())
    return a.bits() >= b.bits() ? a : b;
  const Type &unsignedType = a.isUnsigned() ? a : b;
  const Type &signedType = a.isUnsigned() ? b : a;
  return unsignedType.bits() >= signedType.bits() ? unsignedType : signedType;
}

bool CodeGenerator::rangeBounds(const ast::For *stmt, llvm::ArrayRef<Value> bounds, RangeBounds &result) {
  Value values[3] = {bounds[0], bounds[1], bounds[2]};
  const Value &step = values[2];
  if (step.isConstant() && step.constant().isIntLike()) {
    const llvm::DynamicAPInt number = step.constant().integer();
    if (number == 0) {
      error(stmt->iter, ErrorKind::Value, "range() arg 3 must not be zero");
      return false;
    }
    if (number < 0) {
      values[2] = Value::constant(Constant(-number));
      std::swap(values[0], values[1]);
      result.mirrored = true;
    }
  }
  std::string types;
  bool allIntegers = true;
  for (Value &value : values) {
    Value tensor = promoteNumbers(value);
    types += (types.empty() ? "" : ", ") +
             (tensor.isTensor() ? tensor.type().scalar().str() : describeType(value));
    allIntegers &= tensor.isTensor() && !tensor.type().scalar().isPointer() && tensor.type().scalar().isInt();
    value = tensor;
  }
  if (!allIntegers) {
    error(stmt->iter, ErrorKind::Type, "For loop bounds and step must all be ints, are (" + types + ")");
    return false;
  }
  static const char *const names[] = {"lower bound", "upper bound", "step"};
  for (size_t i = 0; i < 3; ++i)
    if (values[i].type().isBlock()) {
      error(stmt->iter, ErrorKind::Type,
            std::string("For ") + names[i] + " must be a scalar, got " + values[i].type().str());
      return false;
    }
  const Type type = promoteIntegers(promoteIntegers(values[0].type(), values[1].type()), values[2].type());
  for (Value &value : values) {
    value = semantic_.cast(value, type);
    if (!value)
      return false;
  }
  result.lower = values[0];
  result.upper = values[1];
  result.step = values[2];
  return true;
}

bool CodeGenerator::visitRange(const ast::For *stmt, llvm::StringRef target, llvm::ArrayRef<Value> bounds,
                               const RegionBuilder::ForHints &hints) {
  at(stmt->iter);
  RangeBounds range;
  if (!rangeBounds(stmt, bounds, range))
    return false;
  const Scope base = scope();
  // A target that is read after the loop is carried, so that it holds the last value as in Python.
  const bool carryTarget = isTargetReadLater(frame_->info->def, stmt, target);
  if (carryTarget) {
    auto it = scope().find(target);
    const bool fits = it != scope().end() && it->second.isTensor() && it->second.type() == range.lower.type();
    if (!fits)
      scope()[target] = range.lower;
  } else {
    scope().erase(target);
  }
  NameSet names;
  if (carryTarget)
    names.insert(target);
  collectAssigned(stmt->body, names);
  if (!carryTarget)
    names.remove(target);

  CarriedList carried;
  Handles inits;
  openCarried(names, carried, inits);
  at(stmt);
  const Type type = range.lower.type();
  const RegionBuilder::ForLoop loop = builder_.beginFor(range.lower.handle(), range.upper.handle(),
                                                        range.step.handle(), type.isUnsigned(), inits, hints);
  bindCarried(carried, loop.carried);
  Value induction = Value::tensor(type, loop.induction);
  if (range.mirrored) {
    Handle sum = builder_.binary(BinaryKind::AddI, range.lower.handle(), range.upper.handle());
    induction = Value::tensor(type, builder_.binary(BinaryKind::SubI, sum, loop.induction));
  }
  scope()[target] = induction.withRange(stmt->target->range());
  ++frame_->runtimeLoops;
  Flow flow = visitSequence(Sequence{stmt->body}, /*functionLevel=*/false);
  --frame_->runtimeLoops;
  Handles yields;
  at(stmt);
  if (flow.isFailed() || !yieldCarried(stmt, carried, yields)) {
    builder_.abandon();
    return false;
  }
  const Handles results = builder_.endFor(yields);
  scope() = base;
  scope().erase(target);
  closeCarried(carried, results);
  return true;
}

//===----------------------------------------------------------------------===//
// while
//===----------------------------------------------------------------------===//

Value CodeGenerator::whileCondition(const ast::While *stmt) {
  const ast::Expr *test = stmt->test;
  if (const auto *call = llvm::dyn_cast<ast::Call>(test)) {
    Value callee = visit(call->func);
    if (!callee)
      return {};
    if (isBuiltin(callee, "language.condition")) {
      if (call->args.size() != 1)
        return error(call, ErrorKind::Type, "tl.condition takes one condition");
      test = call->args.front();
    }
  }
  Value value = visit(test);
  if (!value)
    return {};
  at(test);
  if (value.isTensor())
    return semantic_.toCondition(value);
  return error(
      test, ErrorKind::UnsupportedConstruct,
      "the condition of `while` must be a run-time scalar, but it is the constant " + describeType(value),
      "a condition that never changes makes an endless loop or none: use `if`, or a variable that the body "
      "assigns");
}

bool CodeGenerator::visitWhile(const ast::While *stmt) {
  if (!stmt->orelse.empty()) {
    error(stmt->orelse.front(), ErrorKind::UnsupportedConstruct, "`else` of a `while` loop is not supported",
          "a loop has no `break`, so put the statements after the loop");
    return false;
  }
  const Scope base = scope();
  NameSet names;
  collectAssigned(stmt->test, names);
  collectAssigned(stmt->body, names);
  CarriedList carried;
  Handles inits;
  openCarried(names, carried, inits);
  at(stmt);
  const Handles before = builder_.beginWhile(inits);
  bindCarried(carried, before);
  ++frame_->runtimeLoops;
  Value condition = whileCondition(stmt);
  Handles passed;
  at(stmt);
  if (!condition || !yieldCarried(stmt, carried, passed)) {
    --frame_->runtimeLoops;
    builder_.abandon();
    return false;
  }
  // Names the condition binds belong to its region.
  scope() = base;
  at(stmt);
  bindCarried(carried, builder_.beginWhileBody(condition.handle(), passed));
  Flow flow = visitSequence(Sequence{stmt->body}, /*functionLevel=*/false);
  --frame_->runtimeLoops;
  Handles yields;
  at(stmt);
  if (flow.isFailed() || !yieldCarried(stmt, carried, yields)) {
    builder_.abandon();
    return false;
  }
  const Handles results = builder_.endWhile(yields);
  scope() = base;
  closeCarried(carried, results);
  return true;
}
