//===- IRBuilderRegions.cpp - Functions and structured control flow -------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "despina/IR/IRBuilder.h"
#include "despina/IR/TT.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Matchers.h"

using namespace despina;
namespace scf = mlir::scf;

static llvm::SmallVector<mlir::Value> toValues(llvm::ArrayRef<Handle> handles) {
  return llvm::map_to_vector(handles, [](Handle handle) { return IRBuilder::toValue(handle); });
}

static Handles toHandles(mlir::ValueRange values) {
  Handles handles;
  for (mlir::Value value : values)
    handles.push_back(IRBuilder::toHandle(value));
  return handles;
}

//===----------------------------------------------------------------------===//
// Scopes
//===----------------------------------------------------------------------===//

void IRBuilder::open(ScopeKind kind, mlir::Operation *op) {
  scopes_.push_back({kind, op, builder_.saveInsertionPoint(), functionDepth_});
}

mlir::Operation *IRBuilder::innermost(ScopeKind kind) const {
  return !scopes_.empty() && scopes_.back().kind == kind ? scopes_.back().op : nullptr;
}

mlir::Operation *IRBuilder::close(ScopeKind kind) {
  mlir::Operation *op = innermost(kind);
  if (!op)
    return nullptr;
  Scope scope = scopes_.pop_back_val();
  builder_.restoreInsertionPoint(scope.after);
  functionDepth_ = scope.outerDepth;
  location_ = {};
  return op;
}

void IRBuilder::dropScopes(size_t depth) {
  while (scopes_.size() > depth)
    abandon();
}

void IRBuilder::abandon() {
  if (scopes_.empty())
    return;
  if (mlir::Operation *op = close(scopes_.back().kind))
    op->erase();
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

Handles IRBuilder::beginFunction(const FunctionSpec &spec) {
  mlir::Location loc = location();
  auto inputs = convert(spec.argTypes);
  llvm::SmallVector<mlir::DictionaryAttr> argAttrs(inputs.size(), builder_.getDictionaryAttr({}));
  for (auto [attrs, divisibility] : llvm::zip(argAttrs, spec.divisibility))
    if (divisibility > 1)
      attrs = builder_.getDictionaryAttr(builder_.getNamedAttr(
          "tt.divisibility", builder_.getI32IntegerAttr(static_cast<int32_t>(divisibility))));
  llvm::SmallVector<mlir::NamedAttribute> attrs = {
      builder_.getNamedAttr("noinline", builder_.getBoolAttr(spec.noinline)),
      builder_.getNamedAttr(mlir::SymbolTable::getVisibilityAttrName(),
                            builder_.getStringAttr(spec.isKernel ? "public" : "private"))};

  unsigned depth = scopes_.empty() ? 0 : static_cast<unsigned>(callSites_.size()) + 1;
  auto after = builder_.saveInsertionPoint();
  builder_.setInsertionPointToEnd(module_->getBody());
  auto func =
      tt::FuncOp::create(builder_, loc, spec.name, builder_.getFunctionType(inputs, {}), attrs, argAttrs);
  builder_.restoreInsertionPoint(after);
  open(ScopeKind::Function, func);
  functionDepth_ = depth;
  location_ = {};

  mlir::Block &entry = func.getBody().emplaceBlock();
  for (auto [index, type] : llvm::enumerate(inputs)) {
    bool named = index < spec.argNames.size() && !spec.argNames[index].empty();
    entry.addArgument(type,
                      named ? mlir::NameLoc::get(builder_.getStringAttr(spec.argNames[index]), loc) : loc);
  }
  builder_.setInsertionPointToEnd(&entry);
  return toHandles(entry.getArguments());
}

void IRBuilder::endFunction(llvm::ArrayRef<Handle> results, llvm::ArrayRef<Type> resultTypes) {
  auto func = llvm::dyn_cast_or_null<tt::FuncOp>(innermost(ScopeKind::Function));
  if (!func)
    return;
  tt::ReturnOp::create(builder_, location(), toValues(results));
  func.setFunctionType(builder_.getFunctionType(func.getArgumentTypes(), convert(resultTypes)));
  close(ScopeKind::Function);
}

Handles IRBuilder::call(llvm::StringRef symbol, llvm::ArrayRef<Handle> args,
                        llvm::ArrayRef<Type> resultTypes) {
  auto callee = mlir::FlatSymbolRefAttr::get(builder_.getContext(), symbol);
  auto op = tt::CallOp::create(builder_, location(), convert(resultTypes), callee, toValues(args),
                               /*arg_attrs=*/nullptr, /*res_attrs=*/nullptr);
  return toHandles(op.getResults());
}

//===----------------------------------------------------------------------===//
// Combine regions
//===----------------------------------------------------------------------===//

bool IRBuilder::buildCombineRegion(mlir::Operation *op, llvm::ArrayRef<mlir::Type> elements,
                                   Combine combine) {
  open(ScopeKind::Combine, op);
  size_t depth = scopes_.size();
  mlir::Block &block = op->getRegion(0).emplaceBlock();
  for (int side = 0; side < 2; ++side)
    for (mlir::Type element : elements)
      block.addArgument(element, location());
  builder_.setInsertionPointToEnd(&block);
  std::optional<Handles> results = combine(toHandles(block.getArguments()));
  // The callback may have failed half-way and left scopes open, or dropped ours.
  if (scopes_.size() < depth)
    return false;
  if (!results || scopes_.size() != depth) {
    dropScopes(depth - 1);
    return false;
  }
  if (llvm::isa<tt::ReduceOp>(op))
    tt::ReduceReturnOp::create(builder_, location(), toValues(*results));
  else
    tt::ScanReturnOp::create(builder_, location(), toValues(*results));
  close(ScopeKind::Combine);
  return true;
}

std::optional<Handles> IRBuilder::reduce(llvm::ArrayRef<Handle> inputs, unsigned axis,
                                         llvm::ArrayRef<Type> resultTypes, Combine combine) {
  auto op = tt::ReduceOp::create(builder_, location(), convert(resultTypes), toValues(inputs), axis);
  if (!buildCombineRegion(op, op.getElementTypes(), combine))
    return std::nullopt;
  return toHandles(op.getResults());
}

std::optional<Handles> IRBuilder::scan(llvm::ArrayRef<Handle> inputs, unsigned axis, bool reverse,
                                       Combine combine) {
  auto op = tt::ScanOp::create(builder_, location(), toValues(inputs), axis, reverse);
  if (!buildCombineRegion(op, op.getElementTypes(), combine))
    return std::nullopt;
  return toHandles(op.getResults());
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

void IRBuilder::beginIf(Handle condition) {
  // Its results are known only at the end, which makes the final operation.
  auto op =
      scf::IfOp::create(builder_, location(), mlir::TypeRange(), toValue(condition), /*addThenBlock=*/true,
                        /*addElseBlock=*/true);
  open(ScopeKind::If, op);
  builder_.setInsertionPointToEnd(&op.getThenRegion().front());
}

void IRBuilder::beginElse() {
  if (auto op = llvm::dyn_cast_or_null<scf::IfOp>(innermost(ScopeKind::If)))
    builder_.setInsertionPointToEnd(&op.getElseRegion().front());
}

Handles IRBuilder::endIf(llvm::ArrayRef<Handle> thenYields, llvm::ArrayRef<Handle> elseYields,
                         llvm::ArrayRef<Type> types) {
  auto draft = llvm::dyn_cast_or_null<scf::IfOp>(close(ScopeKind::If));
  if (!draft)
    return {};
  mlir::OpBuilder::InsertionGuard guard(builder_);
  auto finish = [&](mlir::Region &region, llvm::ArrayRef<Handle> yields) {
    builder_.setInsertionPointToEnd(&region.front());
    llvm::SmallVector<mlir::Value> values = toValues(yields);
    // An arm that returned has no values to give: nobody reads its yields.
    for (auto [value, type] : llvm::zip_equal(values, types))
      if (!value)
        value = mlir::ub::PoisonOp::create(builder_, draft.getLoc(), convert(type));
    scf::YieldOp::create(builder_, draft.getLoc(), values);
  };
  if (types.empty() && draft.getElseRegion().front().empty())
    draft.getElseRegion().getBlocks().clear();
  else
    finish(draft.getElseRegion(), elseYields);
  finish(draft.getThenRegion(), thenYields);
  if (types.empty())
    return {};

  builder_.setInsertionPoint(draft);
  auto op = scf::IfOp::create(builder_, draft.getLoc(), convert(types), draft.getCondition(),
                              /*addThenBlock=*/false,
                              /*addElseBlock=*/false);
  op.getThenRegion().takeBody(draft.getThenRegion());
  op.getElseRegion().takeBody(draft.getElseRegion());
  draft.erase();
  return toHandles(op.getResults());
}

void IRBuilder::setLoopHints(mlir::Operation *loop, const ForHints &hints) {
  auto setInt = [&](llvm::StringRef name, std::optional<int64_t> value) {
    if (value)
      loop->setDiscardableAttr(name, builder_.getI32IntegerAttr(static_cast<int32_t>(*value)));
  };
  auto setFlag = [&](llvm::StringRef name, bool value) {
    if (value)
      loop->setDiscardableAttr(name, builder_.getUnitAttr());
  };
  setInt("tt.num_stages", hints.numStages);
  setInt("tt.loop_unroll_factor", hints.unrollFactor);
  setFlag("tt.flatten", hints.flatten);
  setFlag("tt.warp_specialize", hints.warpSpecialize);
  setFlag("tt.disallow_acc_multi_buffer", hints.disallowAccMultiBuffer);
  setFlag("tt.disable_licm", hints.disableLICM);
}

void IRBuilder::widenBounds(mlir::Value &lower, mlir::Value &upper, mlir::Value &step, bool isUnsigned) {
  // Canonicalisation of scf.for subtracts constant bounds in their own type, and drops a loop as empty if
  // that overflows. i64 holds the difference of any narrower ones.
  llvm::APInt first, last;
  if (lower.getType().isInteger(64) || !matchPattern(lower, mlir::m_ConstantInt(&first)) ||
      !matchPattern(upper, mlir::m_ConstantInt(&last)))
    return;
  bool overflow = isUnsigned ? first.isNegative() != last.isNegative() : false;
  if (!isUnsigned)
    (void)last.ssub_ov(first, overflow);
  if (!overflow)
    return;
  for (mlir::Value *bound : {&lower, &upper, &step})
    *bound =
        isUnsigned
            ? mlir::Value(mlir::arith::ExtUIOp::create(builder_, location(), builder_.getI64Type(), *bound))
            : mlir::Value(mlir::arith::ExtSIOp::create(builder_, location(), builder_.getI64Type(), *bound));
}

RegionBuilder::ForLoop IRBuilder::beginFor(Handle lower, Handle upper, Handle step, bool isUnsigned,
                                           llvm::ArrayRef<Handle> inits, const ForHints &hints) {
  mlir::Value first = toValue(lower), last = toValue(upper), by = toValue(step);
  mlir::Type type = first.getType();
  widenBounds(first, last, by, isUnsigned);
  auto op = scf::ForOp::create(builder_, location(), first, last, by, toValues(inits),
                               /*bodyBuilder=*/nullptr, isUnsigned);
  setLoopHints(op, hints);
  open(ScopeKind::For, op);
  mlir::Block *body = op.getBody();
  body->clear(); // without carried values a terminator is there already
  builder_.setInsertionPointToEnd(body);
  mlir::Value induction = op.getInductionVar();
  if (induction.getType() != type)
    induction = mlir::arith::TruncIOp::create(builder_, location(), type, induction);
  return {toHandle(induction), toHandles(op.getRegionIterArgs())};
}

Handles IRBuilder::endFor(llvm::ArrayRef<Handle> yields) {
  if (!innermost(ScopeKind::For))
    return {};
  scf::YieldOp::create(builder_, location(), toValues(yields));
  return toHandles(close(ScopeKind::For)->getResults());
}

Handles IRBuilder::beginWhile(llvm::ArrayRef<Handle> inits) {
  auto values = toValues(inits);
  auto op = scf::WhileOp::create(builder_, location(), mlir::ValueRange(values).getTypes(), values);
  open(ScopeKind::While, op);
  for (mlir::Region *region : {&op.getBefore(), &op.getAfter()}) {
    mlir::Block &block = region->emplaceBlock();
    for (mlir::Value value : values)
      block.addArgument(value.getType(), location());
  }
  builder_.setInsertionPointToEnd(op.getBeforeBody());
  return toHandles(op.getBeforeArguments());
}

Handles IRBuilder::beginWhileBody(Handle condition, llvm::ArrayRef<Handle> carried) {
  auto op = llvm::dyn_cast_or_null<scf::WhileOp>(innermost(ScopeKind::While));
  if (!op)
    return {};
  scf::ConditionOp::create(builder_, location(), toValue(condition), toValues(carried));
  builder_.setInsertionPointToEnd(op.getAfterBody());
  return toHandles(op.getAfterArguments());
}

Handles IRBuilder::endWhile(llvm::ArrayRef<Handle> yields) {
  if (!innermost(ScopeKind::While))
    return {};
  scf::YieldOp::create(builder_, location(), toValues(yields));
  return toHandles(close(ScopeKind::While)->getResults());
}
