//===- EmitShape.cpp - Operations that make and reshape tiles -------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Nothing moves between threads here but in layout conversions: registers get new names. Results are brought
// into the order of their layout by comparing it with the one in which the operation leaves its operand.
//
//===----------------------------------------------------------------------===//
#include "Plans.h"
#include "TileIndex.h"

using namespace mlir;

namespace despina::nvptx {

namespace {

/// Binds a result whose registers are known in some layout of its tile.
LogicalResult bindResult(ThreadEmitter &e, OpResult result, ArrayRef<Value> registers,
                         const std::optional<LinearLayout> &layout) {
  std::optional<Registers> ordered;
  if (layout)
    ordered = reorderRegisters(registers, *layout, ttg::layoutOf(result));
  if (!ordered)
    return result.getOwner()->emitOpError()
           << "has a result layout in which threads lack elements that they had in the operand's: "
           << result.getType();
  e.set(result, std::move(*ordered));
  return success();
}

LogicalResult emitMakeRange(ThreadEmitter &e, tt::MakeRangeOp op) {
  e.set(op.getResult(),
        axisIndices(e, ttg::layoutOf(op.getResult()), 0, static_cast<int32_t>(op.getStart())));
  return success();
}

LogicalResult emitSplat(ThreadEmitter &e, tt::SplatOp op) {
  e.set(op.getResult(), Registers(ThreadEmitter::numRegisters(op.getType()), e.scalar(op.getSrc())));
  return success();
}

LogicalResult emitUnsplat(ThreadEmitter &e, tt::UnsplatOp op) {
  e.set(op.getResult(), {e.scalar(op.getSrc())});
  return success();
}

LogicalResult emitExpandDims(ThreadEmitter &e, tt::ExpandDimsOp op) {
  return bindResult(e, op->getResult(0), e.get(op.getSrc()),
                    expandDimsLayout(ttg::layoutOf(op.getSrc()), op.getAxis()));
}

LogicalResult emitBroadcast(ThreadEmitter &e, tt::BroadcastOp op) {
  return bindResult(e, op->getResult(0), e.get(op.getSrc()), ttg::layoutOf(op.getSrc()));
}

LogicalResult emitReshape(ThreadEmitter &e, tt::ReshapeOp op) {
  const LinearLayout &source = ttg::layoutOf(op.getSrc()), &result = ttg::layoutOf(op.getResult());
  // Where the order is free, equal numbers of copies everywhere are enough.
  auto sameCopies = [&](LayoutDim dim) {
    return source.inBits(dim) == result.inBits(dim) &&
           source.freeVariableMask(dim) == result.freeVariableMask(dim);
  };
  if (op.getAllowReorder() && llvm::all_of(source.inNames(), sameCopies)) {
    e.set(op.getResult(), Registers(e.get(op.getSrc())));
    return success();
  }
  auto type = cast<RankedTensorType>(op.getType());
  return bindResult(e, op->getResult(0), e.get(op.getSrc()), reshapeLayout(source, type.getShape()));
}

LogicalResult emitTrans(ThreadEmitter &e, tt::TransOp op) {
  SmallVector<unsigned> order(op.getOrder().begin(), op.getOrder().end());
  return bindResult(e, op->getResult(0), e.get(op.getSrc()),
                    transposeLayout(ttg::layoutOf(op.getSrc()), order));
}

LogicalResult emitJoin(ThreadEmitter &e, tt::JoinOp op) {
  Registers both;
  for (auto [first, second] : llvm::zip(e.get(op.getLhs()), e.get(op.getRhs())))
    both.append({first, second});
  return bindResult(e, op->getResult(0), both, joinLayout(ttg::layoutOf(op.getLhs())));
}

LogicalResult emitSplit(ThreadEmitter &e, tt::SplitOp op) {
  std::optional<SplitLayout> split = splitLayout(ttg::layoutOf(op.getSrc()));
  if (!split)
    return op.emitOpError("needs a layout that has both halves of the last axis in each thread");
  for (OpResult result : op->getResults()) {
    Registers half;
    for (unsigned index : split->sources[result.getResultNumber()])
      half.push_back(e.get(op.getSrc())[index]);
    if (failed(bindResult(e, result, half, split->layout)))
      return failure();
  }
  return success();
}

/// In the layout that is inferred, the highest bit of axis 0 is the highest one of registers.
LogicalResult emitCat(ThreadEmitter &e, tt::CatOp op) {
  Registers both(e.get(op.getLhs()));
  llvm::append_range(both, e.get(op.getRhs()));
  LinearLayout half = ttg::layoutOf(op.getLhs());
  return bindResult(e, op->getResult(0), both,
                    half * LinearLayout::identity1D(2, LayoutDim::Register, tensorDim(0)));
}

LogicalResult emitConvert(ThreadEmitter &e, ttg::ConvertLayoutOp op) {
  std::optional<ConversionPlan> plan = planOf(op);
  if (!plan)
    return op.emitOpError() << "has layouts between which no conversion is known: " << op.getSrc().getType()
                            << " and " << op.getType();
  ConversionGroup group = {&*plan};
  SmallVector<Registers, 2> moved = TileMover(e, op, group).move(group, e.get(op.getSrc()));
  if (moved.empty())
    return failure();
  e.set(op.getResult(), std::move(moved.front()));
  return success();
}

} // namespace

void addShapeEmitters(EmitterTable &table) {
  table.add<tt::MakeRangeOp, emitMakeRange>();
  table.add<tt::SplatOp, emitSplat>();
  table.add<tt::UnsplatOp, emitUnsplat>();
  table.add<tt::ExpandDimsOp, emitExpandDims>();
  table.add<tt::BroadcastOp, emitBroadcast>();
  table.add<tt::ReshapeOp, emitReshape>();
  table.add<tt::TransOp, emitTrans>();
  table.add<tt::JoinOp, emitJoin>();
  table.add<tt::SplitOp, emitSplit>();
  table.add<tt::CatOp, emitCat>();
  table.add<ttg::ConvertLayoutOp, emitConvert>();
}

} // namespace despina::nvptx
