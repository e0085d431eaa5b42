//===- LayoutRewrite.cpp - What layout passes share -----------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "LayoutRewrite.h"

#include "despina/Analysis/LayoutInference.h"
#include "despina/Analysis/ValueFlow.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace despina;
using ttg::LayoutAttr;

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

void despina::forEachFlow(Operation *op, function_ref<void(OpOperand &, Value)> visit) {
  forEachValueFlow(op, [&](OpOperand &from, Value to) {
    if (isa<RankedTensorType>(to.getType()))
      visit(from, to);
  });
}

void despina::forEachFlowOf(OpOperand &operand, function_ref<void(Value)> visit) {
  Operation *op = operand.getOwner();
  auto visitOwn = [&](OpOperand &from, Value to) {
    if (&from == &operand)
      visit(to);
  };
  forEachFlow(op, visitOwn);
  if (isa<scf::YieldOp, scf::ConditionOp>(op))
    forEachFlow(op->getParentOp(), visitOwn);
}

bool despina::isControlFlow(Operation *op) {
  return isa<scf::ForOp, scf::IfOp, scf::WhileOp, scf::YieldOp, scf::ConditionOp>(op);
}

//===----------------------------------------------------------------------===//
// Layouts of values
//===----------------------------------------------------------------------===//

Value despina::convertedTo(Value value, LayoutAttr layout, OpBuilder &builder, Location loc) {
  if (layoutAttrOf(value) == layout)
    return value;
  auto tile = cast<RankedTensorType>(value.getType()).cloneWithEncoding(layout);
  return ttg::ConvertLayoutOp::create(builder, loc, tile, value);
}

void despina::retype(Value value, LayoutAttr layout) {
  auto tile = cast<RankedTensorType>(value.getType()).cloneWithEncoding(layout);
  value.setType(tile);
  if (auto constant = value.getDefiningOp<arith::ConstantOp>())
    if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue()))
      constant.setValueAttr(dense.reshape(tile));
}

/// Whether the tile has a layout, and could have this one.
static bool fits(Value value, LayoutAttr layout) {
  auto tile = dyn_cast<RankedTensorType>(value.getType());
  if (!tile || !tile.getEncoding() ||
      tile.getRank() != static_cast<int64_t>(layout.getLayout().outs().size()))
    return false;
  for (auto [axis, extent] : llvm::enumerate(tile.getShape()))
    if (extent != static_cast<int64_t>(layout.getLayout().outSize(tensorDim(axis))))
      return false;
  return true;
}

void despina::setUniformLayout(Operation *op, LayoutAttr layout) {
  OpBuilder builder(op);
  for (OpOperand &operand : op->getOpOperands())
    if (fits(operand.get(), layout))
      operand.set(convertedTo(operand.get(), layout, builder, op->getLoc()));
  builder.setInsertionPointAfter(op);
  for (OpResult result : op->getResults()) {
    LayoutAttr old = layoutAttrOf(result);
    if (!fits(result, layout) || old == layout)
      continue;
    retype(result, layout);
    Value back = convertedTo(result, old, builder, op->getLoc());
    result.replaceAllUsesExcept(back, back.getDefiningOp());
  }
}

//===----------------------------------------------------------------------===//
// What may change
//===----------------------------------------------------------------------===//

static bool isSmall(Operation *op) {
  auto tile = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  return !tile || tile.getNumElements() < int64_t(ttg::numWarps(op)) * ttg::threadsPerWarp(op);
}

bool despina::hasFixedLayouts(Operation *op) {
  if (isa<tt::LoadOp, tt::StoreOp>(op))
    return !isSmall(op);
  if (auto gather = dyn_cast<tt::GatherOp>(op))
    return gather.getEfficientLayout();
  if (isa<tt::AtomicRMWOp, tt::AtomicCASOp, tt::DotOp, ttg::AsyncCopyGlobalToLocalOp>(op))
    return true;
  bool isKnown = isControlFlow(op) || op->hasTrait<OpTrait::Elementwise>() || makesAnyLayout(op) ||
                 isa<tt::ElementwiseInlineAsmOp, tt::ExternElementwiseOp, tt::ExpandDimsOp, tt::BroadcastOp,
                     tt::TransOp, tt::ReshapeOp, tt::JoinOp, tt::SplitOp, tt::CatOp, tt::ReduceOp, tt::ScanOp,
                     tt::HistogramOp, tt::UnsplatOp, tt::PrintOp, tt::AssertOp, ttg::ConvertLayoutOp,
                     ttg::LocalAllocOp, ttg::LocalStoreOp, tt::DescriptorStoreOp, tt::DescriptorReduceOp>(op);
  return !isKnown;
}

bool despina::takesAnyLayout(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (auto dot = dyn_cast<tt::DotOp>(op))
    return operand.getOperandNumber() < 2;
  if (auto gather = dyn_cast<tt::GatherOp>(op))
    return operand == gather.getSrcMutable();
  if (isa<tt::HistogramOp>(op))
    return op->getNumOperands() == 1;
  return isa<tt::UnsplatOp, tt::PrintOp, tt::AssertOp, ttg::ConvertLayoutOp, ttg::LocalAllocOp,
             ttg::LocalStoreOp, tt::DescriptorStoreOp, tt::DescriptorReduceOp>(op);
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

namespace {

constexpr int64_t shuffleCost = 8, sharedCost = 32, barrierCost = 64;
/// Through the memory of other blocks of a cluster, which is farther away, with two barriers of all of them.
constexpr int64_t clusterCost = 128, clusterBarrierCost = 512;
constexpr int64_t expensiveCost = 8, loadCost = 16;
/// A loop is taken to run so often.
constexpr int64_t iterations = 8;
constexpr unsigned maxDepth = 3;

/// Words of 32 bits that a thread has of a tile. Narrow elements are packed when they move.
int64_t wordsOf(Type element, LayoutAttr layout) {
  int64_t bits = ttg::memoryBits(element) << layout.getLayout().inBits(LayoutDim::Register);
  return std::max<int64_t>(1, bits / 32);
}

bool isExpensive(Operation *op) {
  if (isa<arith::DivFOp, arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::RemFOp,
          tt::PreciseDivFOp, tt::PreciseSqrtOp, tt::ExternElementwiseOp, tt::ElementwiseInlineAsmOp>(op))
    return true;
  return isa_and_nonnull<math::MathDialect>(op->getDialect()) &&
         !isa<math::FmaOp, math::AbsFOp, math::AbsIOp>(op);
}

} // namespace

LayoutCosts::Means LayoutCosts::meansBetween(LayoutAttr from, LayoutAttr to) {
  if (from == to)
    return Means::Nothing;
  auto [entry, isNew] = known.try_emplace({from, to}, Means::SharedMemory);
  if (!isNew)
    return entry->second;
  std::optional<LinearLayout> places = to.getLayout().invertAndCompose(from.getLayout());
  if (places && !places->preserves(LayoutDim::Block))
    entry->second = Means::OtherBlocks;
  else if (places->isTrivialOver(LayoutDim::Block) && places->isTrivialOver(LayoutDim::Warp))
    entry->second = places->isTrivialOver(LayoutDim::Lane) ? Means::Registers : Means::Shuffle;
  return entry->second;
}

int64_t LayoutCosts::conversion(Type element, LayoutAttr from, LayoutAttr to) {
  int64_t words = std::max(wordsOf(element, from), wordsOf(element, to));
  switch (meansBetween(from, to)) {
  case Means::Nothing: return 0;
  case Means::Registers: return 1;
  case Means::Shuffle: return shuffleCost * words;
  case Means::SharedMemory: return barrierCost + sharedCost * words;
  case Means::OtherBlocks: return clusterBarrierCost + clusterCost * words;
  }
  return 0;
}

int64_t LayoutCosts::computation(Operation *op, LayoutAttr layout) {
  // Constants are immediates, and other shapes are other names of registers.
  if (isa<arith::ConstantOp, tt::SplatOp, tt::ExpandDimsOp, tt::BroadcastOp, tt::TransOp, tt::ReshapeOp,
          tt::JoinOp, tt::SplitOp, tt::CatOp, ttg::ConvertLayoutOp>(op))
    return 0;
  Type element = getElementTypeOrSelf(op->getResult(0));
  int64_t words = (ttg::memoryBits(element) > 32 ? 2 : 1) *
                  (int64_t(1) << layout.getLayout().inBits(LayoutDim::Register));
  if (isa<tt::LoadOp>(op))
    return loadCost * words;
  return isExpensive(op) ? expensiveCost * words : words;
}

int64_t LayoutCosts::weight(Block *block) {
  int64_t weight = 1;
  unsigned depth = 0;
  for (Operation *op = block->getParentOp(); op && depth < maxDepth; op = op->getParentOp())
    if (isa<LoopLikeOpInterface>(op)) {
      weight *= iterations;
      ++depth;
    }
  return weight;
}
