//===- Classify.cpp - Which tiles stay expressions --------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "TileEmitter.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace despina::cpu {

bool TileEmitter::isElementwise(Operation *op) {
  if (isa<tt::IntToPtrOp, tt::PtrToIntOp, tt::BitcastOp, tt::FpToFpOp, tt::ClampFOp, tt::PreciseSqrtOp,
          tt::PreciseDivFOp, tt::MulhiUIOp, tt::AddPtrOp, tt::ExternElementwiseOp>(op))
    return true;
  StringRef dialect = op->getName().getDialectNamespace();
  return (dialect == "arith" || dialect == "math") && !isa<arith::ConstantOp>(op);
}

bool TileEmitter::isLazy(Operation *op) {
  if (op->getNumResults() == 0 || !isTile(op->getResult(0)))
    return false;
  return isElementwise(op) ||
         isa<arith::ConstantOp, ub::PoisonOp, tt::LoadOp, tt::MakeRangeOp, tt::SplatOp, tt::ExpandDimsOp,
             tt::BroadcastOp, tt::ReshapeOp, tt::TransOp, tt::CatOp, tt::JoinOp, tt::SplitOp>(op);
}

unsigned TileEmitter::weight(Value v) {
  Operation *op = v.getDefiningOp();
  if (!op || !isTile(v) || buffers.contains(v) || !isLazy(op))
    return 1;
  auto known = weights.find(v);
  if (known != weights.end())
    return known->second;

  unsigned own = 1;
  if (auto load = dyn_cast<tt::LoadOp>(op)) {
    auto type = cast<RankedTensorType>(v.getType());
    int last = type.getRank() - 1;
    while (last > 0 && type.getDimSize(last) == 1)
      --last;
    std::optional<int64_t> step = stepAlong(load.getPtr(), last);
    bool cheap = step && (*step == 0 || *step == 1) && !load.getIsVolatile();
    own = cheap ? 2 : heavyWeight;
    weights[v] = own;
    return own;
  }
  if (isa<tt::SplatOp, arith::ConstantOp, tt::MakeRangeOp>(op))
    return weights[v] = 0;
  if (op->getName().getDialectNamespace() == "math"
          ? !isa<math::AbsFOp, math::AbsIOp, math::FmaOp>(op)
          : isa<arith::DivFOp, arith::DivSIOp, arith::DivUIOp, arith::RemFOp, tt::PreciseDivFOp,
                tt::PreciseSqrtOp, tt::ExternElementwiseOp>(op))
    own = heavyWeight;
  else if (!isElementwise(op))
    own = 0;
  for (Value operand : op->getOperands())
    own += weight(operand);
  return weights[v] = std::min(own, maxWeight);
}

namespace {
/// The value of a tile whose elements are all one known integer.
std::optional<int64_t> constantElement(Value v) {
  if (auto splat = v.getDefiningOp<tt::SplatOp>())
    v = splat.getSrc();
  APInt value;
  if (matchPattern(v, m_ConstantInt(&value)) && value.getSignificantBits() <= 64)
    return value.getSExtValue();
  return std::nullopt;
}
} // namespace

std::optional<int64_t> TileEmitter::stepAlong(Value v, unsigned dim, unsigned depth) {
  auto type = dyn_cast<RankedTensorType>(v.getType());
  if (!type || type.getDimSize(dim) == 1)
    return 0;
  if (auto known = steps.find({v, dim}); known != steps.end())
    return known->second;
  std::optional<int64_t> step = findStepAlong(v, dim, depth);
  steps[{v, dim}] = step;
  return step;
}

std::optional<int64_t> TileEmitter::findStepAlong(Value v, unsigned dim, unsigned depth) {
  Operation *op = v.getDefiningOp();
  if (!op || depth > 64)
    return std::nullopt;
  auto next = [&](Value operand, unsigned d) { return stepAlong(operand, d, depth + 1); };
  if (isa<tt::SplatOp>(op) || (isa<arith::ConstantOp>(op) && constantElement(v)))
    return 0;
  if (isa<tt::MakeRangeOp>(op))
    return 1;
  if (isa<arith::AddIOp, tt::AddPtrOp, arith::SubIOp>(op)) {
    auto x = next(op->getOperand(0), dim), y = next(op->getOperand(1), dim);
    int64_t step = 0;
    if (!x || !y ||
        (isa<arith::SubIOp>(op) ? llvm::SubOverflow(*x, *y, step) : llvm::AddOverflow(*x, *y, step)))
      return std::nullopt;
    return step;
  }
  if (isa<arith::MulIOp>(op)) {
    auto x = next(op->getOperand(0), dim), y = next(op->getOperand(1), dim);
    if (x && y && *x == 0 && *y == 0)
      return 0;
    int64_t step = 0;
    for (unsigned i : {0u, 1u})
      if (auto factor = constantElement(op->getOperand(i));
          factor && (i ? x : y) && !llvm::MulOverflow(*factor, *(i ? x : y), step))
        return step;
    return std::nullopt;
  }
  if (isa<arith::ExtSIOp, arith::ExtUIOp, tt::BroadcastOp, tt::BitcastOp>(op))
    return next(op->getOperand(0), dim);
  // Taken as in the versions of a nest that its guards make true.
  if (isa<arith::RemSIOp, arith::RemUIOp>(op))
    return next(op->getOperand(0), dim);
  if (auto expand = dyn_cast<tt::ExpandDimsOp>(op))
    return next(expand.getSrc(), dim > expand.getAxis() ? dim - 1 : dim);
  if (auto trans = dyn_cast<tt::TransOp>(op))
    return next(trans.getSrc(), trans.getOrder()[dim]);
  bool allZero = isElementwise(op);
  for (Value operand : op->getOperands()) {
    if (!allZero)
      break;
    allZero = isTile(operand) && next(operand, dim) == std::optional<int64_t>(0);
  }
  return allZero ? std::optional<int64_t>(0) : std::nullopt;
}

bool TileEmitter::stillNeeded(Value v, const llvm::DenseSet<Operation *> &besides) {
  SmallVector<Value> work{v};
  llvm::SmallDenseSet<Value, 16> seen;
  while (!work.empty()) {
    Value current = work.pop_back_val();
    if (!seen.insert(current).second)
      continue;
    for (Operation *user : current.getUsers()) {
      if (!isLazy(user)) {
        if (!emitted.contains(user) && !besides.contains(user))
          return true;
        continue;
      }
      for (Value result : user->getResults())
        if (!buffers.contains(result) && !beingMaterialised.contains(result))
          work.push_back(result);
    }
  }
  return false;
}

Value TileEmitter::baseOf(Value pointer) {
  while (Operation *op = pointer.getDefiningOp()) {
    if (!isa<tt::AddPtrOp, tt::SplatOp, tt::BroadcastOp, tt::ExpandDimsOp, tt::ReshapeOp, tt::TransOp,
             tt::BitcastOp>(op))
      return {};
    pointer = op->getOperand(0);
  }
  auto argument = dyn_cast<BlockArgument>(pointer);
  return argument && isa<tt::FuncOp>(argument.getOwner()->getParentOp()) ? pointer : Value();
}

void TileEmitter::reach(Value v, bool identity, Reached &out) {
  auto known = out.values.find(v);
  if (known != out.values.end() && (identity || !known->second))
    return;
  Operation *op = v.getDefiningOp();
  if (isTile(v) && op && isLazy(op) && !buffers.contains(v)) {
    bool below = identity && (isElementwise(op) || isa<tt::LoadOp>(op));
    for (Value operand : op->getOperands())
      reach(operand, below, out);
  }
  auto [it, inserted] = out.values.insert({v, identity});
  if (!inserted)
    it->second = it->second && identity;
}

void TileEmitter::reachRoot(const Root &root, Reached &out) {
  if (root.kind == Root::Materialise)
    return reach(root.value, true, out);
  for (Value operand : root.op->getOperands())
    reach(operand, true, out);
}

} // namespace despina::cpu
