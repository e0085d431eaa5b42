//===- LayoutInference.cpp - How operations tie layouts together ----------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "despina/Analysis/LayoutInference.h"

#include "despina/Analysis/LayoutConstructors.h"
#include "despina/Analysis/LayoutShapes.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace despina;
using ttg::LayoutAttr;

LayoutAttr despina::layoutAttrOf(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile ? dyn_cast_or_null<LayoutAttr>(tile.getEncoding()) : LayoutAttr();
}

namespace {

//===----------------------------------------------------------------------===//
// Which tiles are tied
//===----------------------------------------------------------------------===//

/// Tiles in one group have one layout. Between groups of an operation there is a map, from that of the
/// operands to that of the results.
enum class Group { Untied, Operands, Results };

bool isReshaping(Operation *op) {
  return isa<tt::ExpandDimsOp, tt::BroadcastOp, tt::TransOp, tt::ReshapeOp, tt::JoinOp, tt::SplitOp,
             tt::CatOp, tt::ReduceOp>(op);
}

/// Operations all of whose tiles have one layout.
bool isUniform(Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>() ||
         isa<tt::LoadOp, tt::StoreOp, tt::AtomicRMWOp, tt::AtomicCASOp, tt::ScanOp,
             tt::ElementwiseInlineAsmOp, tt::ExternElementwiseOp, ttg::AsyncCopyGlobalToLocalOp>(op);
}

Group groupOf(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (!isa<RankedTensorType>(operand.get().getType()))
    return Group::Untied;
  if (isUniform(op) || isReshaping(op))
    return Group::Operands;
  // One operand shares the result's layout.
  if (auto dot = dyn_cast<tt::DotOp>(op))
    return operand == dot.getCMutable() ? Group::Results : Group::Untied;
  if (auto gather = dyn_cast<tt::GatherOp>(op))
    return operand == gather.getIndicesMutable() ? Group::Results : Group::Untied;
  // Source and mask, but not the result.
  return isa<tt::HistogramOp>(op) ? Group::Operands : Group::Untied;
}

Group groupOf(OpResult result) {
  Operation *op = result.getOwner();
  if (!isa<RankedTensorType>(result.getType()))
    return Group::Untied;
  if (isUniform(op))
    return Group::Operands;
  return isReshaping(op) || isa<tt::DotOp, tt::GatherOp>(op) ? Group::Results : Group::Untied;
}

//===----------------------------------------------------------------------===//
// Maps
//===----------------------------------------------------------------------===//

using MaybeLayout = std::optional<LinearLayout>;

SmallVector<unsigned, 4> orderOf(tt::TransOp op) { return {op.getOrder().begin(), op.getOrder().end()}; }

SmallVector<unsigned, 4> inverseOrderOf(tt::TransOp op) {
  SmallVector<unsigned, 4> inverse(op.getOrder().size());
  for (auto [axis, from] : llvm::enumerate(op.getOrder()))
    inverse[from] = axis;
  return inverse;
}

ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

MaybeLayout splitHalfLayout(const LinearLayout &layout) {
  std::optional<SplitLayout> split = splitLayout(layout);
  return split ? MaybeLayout(split->layout) : std::nullopt;
}

MaybeLayout resultsOf(Operation *op, const LinearLayout &operand) {
  return llvm::TypeSwitch<Operation *, MaybeLayout>(op)
      .Case([&](tt::ExpandDimsOp op) { return expandDimsLayout(operand, op.getAxis()); })
      .Case([&](tt::TransOp op) { return transposeLayout(operand, orderOf(op)); })
      .Case([&](tt::ReshapeOp op) { return reshapeLayout(operand, shapeOf(op.getResult())); })
      .Case([&](tt::JoinOp) { return joinLayout(operand); })
      .Case([&](tt::SplitOp) { return splitHalfLayout(operand); })
      .Case([&](tt::CatOp) { return catLayout(operand); })
      .Case([&](tt::ReduceOp op) { return sliceLayout(operand, op.getAxis()); })
      .Default([](Operation *) { return std::nullopt; });
}

/// The result's slices along the axes that the broadcast makes longer, with those axes back.
MaybeLayout broadcastOperand(tt::BroadcastOp op, const LinearLayout &result) {
  MaybeLayout operand = result;
  for (auto [axis, from, to] : llvm::enumerate(shapeOf(op.getSrc()), shapeOf(op.getResult()))) {
    if (from == to || !operand)
      continue;
    operand = sliceLayout(*operand, axis);
    if (operand)
      operand = expandDimsLayout(*operand, axis);
  }
  return operand;
}

/// A join may take only what it gives back: other orders of the halves would rename registers.
MaybeLayout joinOperand(const LinearLayout &result) {
  MaybeLayout half = splitHalfLayout(result);
  return half && joinLayout(*half) == result ? half : std::nullopt;
}

MaybeLayout operandsOf(Operation *op, const LinearLayout &result) {
  return llvm::TypeSwitch<Operation *, MaybeLayout>(op)
      .Case([&](tt::ExpandDimsOp op) { return dropUnitAxis(result, op.getAxis()); })
      .Case([&](tt::BroadcastOp op) { return broadcastOperand(op, result); })
      .Case([&](tt::TransOp op) { return transposeLayout(result, inverseOrderOf(op)); })
      .Case([&](tt::ReshapeOp op) { return reshapeLayout(result, shapeOf(op.getSrc())); })
      .Case([&](tt::JoinOp) { return joinOperand(result); })
      .Case([&](tt::SplitOp) { return joinLayout(result); })
      .Case([&](tt::CatOp) { return catOperandLayout(result); })
      .Default([](Operation *) { return std::nullopt; });
}

InferredLayout follow(Operation *op, Group from, LayoutAttr layout, Group to) {
  if (from == Group::Untied || to == Group::Untied)
    return InferredLayout::any();
  if (from == to)
    return InferredLayout::known(layout);
  MaybeLayout other =
      from == Group::Operands ? resultsOf(op, layout.getLayout()) : operandsOf(op, layout.getLayout());
  return other ? InferredLayout::known(LayoutAttr::get(op->getContext(), *other)) : InferredLayout::none();
}

} // namespace

InferredLayout despina::inferResultLayout(OpOperand &operand, LayoutAttr layout, OpResult result) {
  return follow(result.getOwner(), groupOf(operand), layout, groupOf(result));
}

InferredLayout despina::inferOperandLayout(OpResult result, LayoutAttr layout, OpOperand &operand) {
  return follow(result.getOwner(), groupOf(result), layout, groupOf(operand));
}

InferredLayout despina::inferOtherOperandLayout(OpOperand &operand, LayoutAttr layout, OpOperand &other) {
  return follow(operand.getOwner(), groupOf(operand), layout, groupOf(other));
}

bool despina::makesAnyLayout(Operation *op) {
  return isa<tt::MakeRangeOp, tt::SplatOp, arith::ConstantOp>(op) &&
         isa<RankedTensorType>(op->getResult(0).getType());
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

namespace {

class Verifier {
public:
  explicit Verifier(Operation *root)
      : lanes(ttg::threadsPerWarp(root)), warps(ttg::numWarps(root)), blocks(ttg::numCTAs(root)) {}

  LogicalResult check(Operation *op) {
    for (Value value : op->getOperands())
      if (failed(checkPlaces(op, value)))
        return failure();
    for (Value value : op->getResults())
      if (failed(checkPlaces(op, value)))
        return failure();
    return checkTies(op);
  }

private:
  LogicalResult checkPlaces(Operation *op, Value value) {
    auto tile = dyn_cast<RankedTensorType>(value.getType());
    if (!tile)
      return success();
    LayoutAttr layout = layoutAttrOf(tile);
    if (!layout)
      return op->emitOpError() << "has a tile without a layout, " << tile;
    const LinearLayout &map = layout.getLayout();
    // Partitions have warps of their own.
    bool isPartition = op->getParentOfType<ttg::WarpSpecializeOp>() != nullptr;
    if (map.inSize(LayoutDim::Lane) == lanes && map.inSize(LayoutDim::Block) == blocks &&
        (isPartition || map.inSize(LayoutDim::Warp) == warps))
      return success();
    return op->emitOpError() << "has a tile over other threads than the " << lanes << " lanes of " << warps
                             << " warps of " << blocks << " blocks that the module has: " << tile;
  }

  static LogicalResult mismatch(Operation *op, StringRef what, LayoutAttr actual, InferredLayout wanted) {
    InFlightDiagnostic diagnostic = op->emitOpError() << "has " << what << " in layout " << actual;
    if (wanted.get())
      diagnostic << ", where its rule asks for " << wanted.get();
    else
      diagnostic << ", for which its rule has no answer";
    return diagnostic;
  }

  LogicalResult checkTies(Operation *op) {
    if (op->getNumOperands() == 0)
      return success();
    if (auto broadcast = dyn_cast<tt::BroadcastOp>(op))
      return checkBroadcast(broadcast);
    for (OpOperand &operand : op->getOpOperands()) {
      LayoutAttr layout = layoutAttrOf(operand.get());
      if (!layout)
        continue;
      for (OpOperand &other : op->getOpOperands().drop_front(operand.getOperandNumber() + 1))
        if (InferredLayout wanted = inferOtherOperandLayout(operand, layout, other);
            !wanted.allows(layoutAttrOf(other.get())))
          return mismatch(op, "an operand", layoutAttrOf(other.get()), wanted);
      for (OpResult result : op->getResults())
        if (InferredLayout wanted = inferResultLayout(operand, layout, result);
            !wanted.allows(layoutAttrOf(result)))
          return mismatch(op, "a result", layoutAttrOf(result), wanted);
    }
    return success();
  }

  static LogicalResult checkBroadcast(tt::BroadcastOp op) {
    if (broadcastRegisters(ttg::layoutOf(op.getSrc()), ttg::layoutOf(op.getResult())))
      return success();
    return op.emitOpError() << "has an operand in layout " << layoutAttrOf(op.getSrc())
                            << ", whose elements are not in the threads of the result's "
                            << layoutAttrOf(op.getResult());
  }

  uint64_t lanes, warps, blocks;
};

} // namespace

LogicalResult despina::verifyLayouts(Operation *root) {
  Verifier verifier(root);
  LogicalResult result = success();
  root->walk([&](Operation *op) {
    if (failed(verifier.check(op)))
      result = failure();
  });
  return result;
}
