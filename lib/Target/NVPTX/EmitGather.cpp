//===- EmitGather.cpp - Gathers and histograms ----------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Both go through scratch memory in row-major order.
//
//===----------------------------------------------------------------------===//
#include "EmitBuffer.h"
#include "EmitCombine.h"
#include "ThreadData.h"
#include "TileIndex.h"

using namespace mlir;

namespace despina::nvptx {

namespace {

/// Shared memory that holds a tile in row-major order, all of it in each block.
LinearLayout rowMajorMemory(const LinearLayout &tile) {
  f2::Vectors columns;
  for (unsigned bit = 0; bit < tile.totalOutBits(); ++bit)
    columns.push_back(uint64_t(1) << bit);
  LinearLayout::DimBits ins[] = {{LayoutDim::Offset, tile.totalOutBits()}, {LayoutDim::Block, 0}};
  return LinearLayout::fromColumns(ins, tile.outs(), columns).value_or(LinearLayout());
}

std::optional<int64_t> scratchOf(Operation *op) {
  std::optional<int64_t> offset = ThreadEmitter::sharedOffset(op);
  if (!offset)
    op->emitOpError("has no scratch memory although it needs it");
  return offset;
}

/// Tiles that blocks of a cluster share cannot be read by one of them.
LogicalResult checkOneBlock(ThreadEmitter &e, Operation *op) {
  if (e.lowered().numCTAs == 1)
    return success();
  return op->emitOpError("is not supported on CUDA yet with num_ctas > 1");
}

std::optional<BufferAccess> planRowMajor(Operation *op, Type tile) {
  const LinearLayout &layout = ttg::layoutOf(tile);
  std::optional<BufferAccess> plan =
      planBufferAccess(rowMajorMemory(layout), layout, ttg::memoryBits(getElementTypeOrSelf(tile)));
  if (!plan)
    op->emitOpError("has a layout that cannot be written to shared memory");
  return plan;
}

/// An index as i32 in [0, extent): what is out of range becomes some element.
Value wrapIndex(ThreadEmitter &e, Value index, int64_t extent) {
  unsigned width = index.getType().getIntOrFloatBitWidth();
  if (width < 32)
    index = e.make<LLVM::ZExtOp>(e.b.getI32Type(), index);
  else if (width > 32)
    index = e.make<LLVM::TruncOp>(e.b.getI32Type(), index);
  return e.bitAnd(index, e.i32(extent - 1));
}

} // namespace

LogicalResult emitGather(ThreadEmitter &e, tt::GatherOp op) {
  auto source = cast<RankedTensorType>(op.getSrc().getType());
  const LinearLayout &indices = ttg::layoutOf(op.getIndices());
  std::optional<int64_t> offset = scratchOf(op);
  std::optional<BufferAccess> plan = planRowMajor(op, source);
  if (!offset || !plan || failed(checkOneBlock(e, op)))
    return failure();
  if (!indices.sameMap(ttg::layoutOf(op.getResult())))
    return op.emitOpError("has indices and a result of different layouts");
  Value base = e.sharedPointer(*offset);
  storeRegisters(e, *plan, e.get(op.getSrc()), base);
  e.barrier();

  // Where each register's element is but for the axis, in the row-major order of the source.
  SmallVector<uint64_t> weights(indices.totalOutBits(), 0);
  uint64_t stride = 1, axisStride = 1;
  for (unsigned axis = source.getRank(); axis-- > 0; stride *= source.getDimSize(axis)) {
    if (axis == op.getAxis()) {
      axisStride = stride;
      continue;
    }
    for (unsigned bit = 0; bit < indices.outBits(tensorDim(axis)); ++bit)
      weights[indices.outShift(tensorDim(axis)) + bit] = stride << bit;
  }
  Registers rows = placeValues(e, placeTerms(indices, weights), indices.inSize(LayoutDim::Register));
  unsigned width = ttg::memoryBits(source.getElementType());
  Type element = e.b.getIntegerType(width);
  Registers results;
  for (auto [row, index] : llvm::zip(rows, e.get(op.getIndices()))) {
    Value along = e.mul(wrapIndex(e, index, source.getDimSize(op.getAxis())), e.i32(axisStride));
    Value address = e.elementPointer(base, element, e.add(row, along));
    results.push_back(fromBits(e, loadShared(e, address, width, 1).front(), e.llvmType(source)));
  }
  e.set(op.getResult(), std::move(results));
  return success();
}

namespace {

/// Each thread clears every n-th counter.
void clearCounters(ThreadEmitter &e, Value base, int64_t bins) {
  int64_t threads = 32 * e.numWarps();
  Value counter = e.elementPointer(base, e.b.getI32Type(), e.thread());
  auto clear = [&](int64_t first) {
    e.make<LLVM::StoreOp>(e.i32(0), e.elementPointer(counter, e.b.getI32Type(), first));
  };
  if (bins < threads)
    e.ifThen(e.make<LLVM::ICmpOp>(LLVM::ICmpPredicate::ult, e.thread(), e.i32(bins)), [&] { clear(0); });
  for (int64_t first = 0; first + threads <= bins; first += threads)
    clear(first);
}

} // namespace

LogicalResult emitHistogram(ThreadEmitter &e, tt::HistogramOp op) {
  const LinearLayout &layout = ttg::layoutOf(op.getSrc());
  int64_t bins = cast<RankedTensorType>(op.getType()).getNumElements();
  std::optional<int64_t> offset = scratchOf(op);
  std::optional<BufferAccess> plan = planRowMajor(op, op.getType());
  if (!offset || !plan || failed(checkOneBlock(e, op)))
    return failure();
  if (op.getMask() && !layout.sameMap(ttg::layoutOf(op.getMask())))
    return op.emitOpError("has a tile and a mask of different layouts");
  Value base = e.sharedPointer(*offset);
  clearCounters(e, base, bins);
  e.barrier();

  Value acts =
      e.isCanonical(layout.freeVariableMask(LayoutDim::Lane), layout.freeVariableMask(LayoutDim::Warp));
  uint64_t copies = layout.freeVariableMask(LayoutDim::Register);
  for (auto [i, value] : llvm::enumerate(e.get(op.getSrc()))) {
    if (i & copies)
      continue;
    Type type = value.getType();
    Value counts;
    if (unsigned width = type.getIntOrFloatBitWidth(); width >= 63 || bins < int64_t(1) << width)
      counts = e.make<LLVM::ICmpOp>(LLVM::ICmpPredicate::ult, value, e.constant(type, bins));
    for (Value other : {acts, op.getMask() ? e.get(op.getMask())[i] : Value()})
      if (other)
        counts = counts ? e.bitAnd(counts, other) : other;
    auto count = [&] {
      Value address = e.elementPointer(base, e.b.getI32Type(), wrapIndex(e, value, bins));
      e.make<LLVM::AtomicRMWOp>(LLVM::AtomicBinOp::add, address, e.i32(1), LLVM::AtomicOrdering::monotonic);
    };
    counts ? e.ifThen(counts, count) : count();
  }
  e.barrier();
  e.set(op.getResult(), loadRegisters(e, *plan, e.b.getI32Type(), base));
  return success();
}

} // namespace despina::nvptx
