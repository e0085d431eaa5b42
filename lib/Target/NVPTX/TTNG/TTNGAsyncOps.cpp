//===- TTNGAsyncOps.cpp - Barriers, fences, tensor maps -------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "despina/Target/NVPTX/TTNG.h"

using namespace mlir;
using namespace despina;
using namespace despina::ttng;

using Effects = SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

static LogicalResult verifyBarrier(Operation *op, Value barrier) {
  auto type = cast<ttg::MemDescType>(barrier.getType());
  if (type.getElementType().isInteger(64) && type.getShape() == ArrayRef<int64_t>{1} &&
      type.getMutableMemory())
    return success();
  return op->emitOpError() << "needs a barrier, a mutable buffer of one i64, not " << type;
}

/// A barrier that counts arrivals, and how many.
static LogicalResult verifyArrivals(Operation *op, Value barrier, uint32_t count) {
  if (count == 0 || count >= 1u << 20)
    return op->emitOpError() << "counts " << count << " arrivals; barriers have 1 to 1048575";
  return verifyBarrier(op, barrier);
}

LogicalResult InitBarrierOp::verify() { return verifyArrivals(*this, getBarrier(), getCount()); }
LogicalResult InvalBarrierOp::verify() { return verifyBarrier(*this, getBarrier()); }
LogicalResult BarrierExpectOp::verify() {
  if (getBytes() >= 1u << 20)
    return emitOpError() << "expects " << getBytes() << " bytes; a phase counts at most 1048575";
  return verifyBarrier(*this, getBarrier());
}
LogicalResult ArriveBarrierOp::verify() { return verifyArrivals(*this, getBarrier(), getCount()); }
LogicalResult WaitBarrierOp::verify() { return verifyBarrier(*this, getBarrier()); }

//===----------------------------------------------------------------------===//
// Tensor maps
//===----------------------------------------------------------------------===//

LogicalResult MakeTensorMapOp::verify() {
  size_t rank = getExtents().size();
  if (rank == 0 || rank > 5)
    return emitOpError() << "has " << rank << " extents; tensor maps have 1 to 5 axes";
  if (getStrides().size() != rank - 1)
    return emitOpError() << "has " << getStrides().size() << " strides for " << rank
                         << " axes; all but the innermost have one";
  if (getBox().size() != rank)
    return emitOpError() << "has a box of " << getBox().size() << " axes in a tensor of " << rank;
  return success();
}

static LogicalResult verifyCoordinates(Operation *op, OperandRange coords, ArrayRef<int64_t> shape) {
  if (shape.empty() || shape.size() > 5)
    return op->emitOpError() << "moves a block of " << shape.size() << " axes; tensor maps have 1 to 5";
  if (coords.size() != shape.size())
    return op->emitOpError() << "has " << coords.size() << " coordinates for a block of " << shape.size()
                             << " axes";
  return success();
}

static ArrayRef<int64_t> shapeOf(Value tileOrBuffer) {
  if (auto buffer = dyn_cast<ttg::MemDescType>(tileOrBuffer.getType()))
    return buffer.getShape();
  return cast<RankedTensorType>(tileOrBuffer.getType()).getShape();
}

LogicalResult TMALoadOp::verify() { return verifyCoordinates(*this, getCoords(), shapeOf(getResult())); }
LogicalResult TMAStoreOp::verify() { return verifyCoordinates(*this, getCoords(), shapeOf(getSrc())); }
LogicalResult TMAReduceOp::verify() { return verifyCoordinates(*this, getCoords(), shapeOf(getSrc())); }

LogicalResult AsyncTMACopyGlobalToLocalOp::verify() {
  if (!getDst().getType().getMutableMemory())
    return emitOpError("writes a buffer that is not mutable");
  if (failed(verifyBarrier(*this, getBarrier())))
    return failure();
  return verifyCoordinates(*this, getCoords(), shapeOf(getDst()));
}
LogicalResult AsyncTMACopyLocalToGlobalOp::verify() {
  return verifyCoordinates(*this, getCoords(), shapeOf(getSrc()));
}
LogicalResult AsyncTMAReduceOp::verify() { return verifyCoordinates(*this, getCoords(), shapeOf(getSrc())); }

void AsyncTMACopyGlobalToLocalOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Read::get());
  effects.emplace_back(MemoryEffects::Write::get(), &getDstMutable(), ttg::SharedMemory::get());
}
void AsyncTMACopyLocalToGlobalOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getSrcMutable(), ttg::SharedMemory::get());
  effects.emplace_back(MemoryEffects::Write::get());
}
void AsyncTMAReduceOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getSrcMutable(), ttg::SharedMemory::get());
  effects.emplace_back(MemoryEffects::Read::get());
  effects.emplace_back(MemoryEffects::Write::get());
}
