//===- Gather.cpp - Picking and counting elements ---------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Both go element by element: where an element comes from, or is counted, is known at run time only.
//
//===----------------------------------------------------------------------===//
#include "TileEmitter.h"

using namespace mlir;

namespace despina::cpu {

/// The dialect's integers have no sign; what may be negative is out of range anyway.
Value TileEmitter::widenPosition(Value position) {
  Type wide = b.getI64Type();
  return position.getType() == wide ? position : Value(arith::ExtUIOp::create(b, loc, wide, position));
}

void TileEmitter::emitGather(tt::GatherOp op) {
  materialise(op.getSrc());
  materialiseLoads(op.getIndices());
  emitted.insert(op);
  auto source = cast<RankedTensorType>(op.getSrc().getType()), type = cast<RankedTensorType>(op.getType());
  Type element = type.getElementType();
  Buffer *target = newBuffer(storageType(element), type.getNumElements());
  // An index out of range gives any element, but never memory beyond the tile.
  int64_t lastPosition = source.getDimSize(op.getAxis()) - 1;
  forEachElement(type.getShape(), [&] {
    Value index = evaluate(op.getIndices(), nest.index).value;
    loc = op.getLoc();
    at(level());
    Value position = arith::AndIOp::create(b, loc, widenPosition(index), i64(lastPosition));
    TileIndex from(nest.index);
    from[op.getAxis()] = LaneIndex{position, 0, 0, {}, level()};
    LaneValue value = evaluate(op.getSrc(), from);
    loc = op.getLoc();
    storeBuffer(element, target, nest.index, nest.shape, value);
  });
  bind(op.getResult(), target);
  release(target);
  freeDeadBuffers();
}

void TileEmitter::emitHistogram(tt::HistogramOp op) {
  materialiseLoads(op->getOperands());
  emitted.insert(op);
  auto type = cast<RankedTensorType>(op.getType());
  Type element = type.getElementType();
  Buffer *target = newBuffer(storageType(element), type.getNumElements());
  loc = op.getLoc();
  forEachElement(type.getShape(), [&] {
    at(level());
    storeBuffer(element, target, nest.index, nest.shape, uniform(intConstant(element, 0), level()));
  });
  forEachElement(cast<RankedTensorType>(op.getSrc().getType()).getShape(), [&] {
    Value counted = evaluate(op.getSrc(), nest.index).value;
    Value mask = op.getMask() ? evaluate(op.getMask(), nest.index).value : Value();
    loc = op.getLoc();
    at(level());
    Value bin = widenPosition(counted);
    Value counts = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, bin, i64(type.getNumElements()));
    if (mask)
      counts = arith::AndIOp::create(b, loc, counts, mask);
    auto branch = scf::IfOp::create(b, loc, counts, /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
    Value place = elementPointer(target->pointer, element, bin);
    Value sum = LLVM::LoadOp::create(b, loc, element, place);
    sum = arith::AddIOp::create(b, loc, sum, intConstant(element, 1));
    LLVM::StoreOp::create(b, loc, sum, place);
  });
  bind(op.getResult(), target);
  release(target);
  freeDeadBuffers();
}

} // namespace despina::cpu
