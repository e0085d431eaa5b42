//===- EmitGather.cpp - Gathers and histograms ----------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Both go through scratch memory in row-major order. Where the blocks of a cluster share the tile, each has
// what it holds itself at its place in its own memory, and reads the rest there.
//
//===----------------------------------------------------------------------===//
#include "EmitBuffer.h"
#include "EmitCombine.h"
#include "ThreadData.h"
#include "TileIndex.h"

#include "llvm/Support/MathExtras.h"

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

/// Whether the blocks of a cluster hold different parts of a tile.
bool isShared(const LinearLayout &layout) {
  return llvm::any_of(layout.columnsOf(LayoutDim::Block), [](uint64_t column) { return column != 0; });
}

/// For each bit of the row-major index of an element, what it adds to the block that holds the element.
SmallVector<uint64_t> ownerBits(const LinearLayout &layout) {
  SmallVector<uint64_t> bits;
  std::optional<LinearLayout> places = layout.pseudoInvert();
  for (const LinearLayout::DimBits &out : layout.outs())
    for (unsigned bit = 0; bit < out.bits; ++bit)
      bits.push_back(places ? places->basis(out.dim, bit, LayoutDim::Block) : 0);
  return bits;
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

namespace {

class GatherEmitter {
public:
  GatherEmitter(ThreadEmitter &e, tt::GatherOp op, Value base)
      : e(e), op(op), source(cast<RankedTensorType>(op.getSrc().getType())),
        indices(ttg::layoutOf(op.getIndices())), base(base), owners(ownerBits(ttg::layoutOf(source))),
        isOfCluster(isShared(ttg::layoutOf(source))) {}

  void run(const BufferAccess &plan) {
    storeRegisters(e, plan, e.get(op.getSrc()), base);
    wait();
    // What the row-major index of the source, and the block that has it, owe to the other axes.
    SmallVector<uint64_t> rowWeights(indices.totalOutBits(), 0), blockWeights(rowWeights);
    uint64_t stride = 1, axisStride = 1;
    for (unsigned axis = source.getRank(); axis-- > 0; stride *= source.getDimSize(axis)) {
      if (axis == op.getAxis())
        axisStride = stride;
      for (unsigned bit = 0; axis != op.getAxis() && bit < indices.outBits(tensorDim(axis)); ++bit) {
        rowWeights[indices.outShift(tensorDim(axis)) + bit] = stride << bit;
        blockWeights[indices.outShift(tensorDim(axis)) + bit] = owners[llvm::Log2_64(stride) + bit];
      }
    }
    uint64_t count = indices.inSize(LayoutDim::Register);
    Registers rows = placeValues(e, placeTerms(indices, rowWeights), count), blocks;
    if (isOfCluster)
      blocks = placeValues(e, placeTerms(indices, blockWeights), count);
    Registers results;
    for (auto [i, value] : llvm::enumerate(e.get(op.getIndices()))) {
      Value index = wrapIndex(e, value, source.getDimSize(op.getAxis()));
      Value block = isOfCluster ? ownerOf(index, blocks[i], llvm::Log2_64(axisStride)) : Value();
      results.push_back(read(e.add(rows[i], e.mul(index, e.i32(axisStride))), block));
    }
    if (isOfCluster)
      wait();
    e.set(op.getResult(), std::move(results));
  }

private:
  void wait() { isOfCluster ? e.clusterBarrier() : e.barrier(); }

  /// The block that has the element at `index` of the axis, whose bits begin at `shift` of the whole index.
  Value ownerOf(Value index, Value block, unsigned shift) {
    for (unsigned bit = 0; bit < llvm::Log2_64(source.getDimSize(op.getAxis())); ++bit)
      if (uint64_t owner = owners[shift + bit]) {
        Value isSet = e.bitAnd(e.make<LLVM::LShrOp>(index, e.i32(bit)), e.i32(1));
        block = e.bitXor(block, e.mul(isSet, e.i32(static_cast<int64_t>(owner))));
      }
    return block;
  }

  Value read(Value element, Value block) {
    unsigned width = ttg::memoryBits(source.getElementType());
    Value address = e.elementPointer(base, e.b.getIntegerType(width), element);
    if (block)
      address = e.inBlock(address, block);
    return fromBits(e, loadShared(e, address, width, 1).front(), e.llvmType(source));
  }

  ThreadEmitter &e;
  tt::GatherOp op;
  RankedTensorType source;
  const LinearLayout &indices;
  Value base;
  SmallVector<uint64_t> owners;
  bool isOfCluster;
};

} // namespace

LogicalResult emitGather(ThreadEmitter &e, tt::GatherOp op) {
  std::optional<int64_t> offset = scratchOf(op);
  std::optional<BufferAccess> plan = planRowMajor(op, op.getSrc().getType());
  if (!offset || !plan)
    return failure();
  if (!ttg::layoutOf(op.getIndices()).sameMap(ttg::layoutOf(op.getResult())))
    return op.emitOpError("has indices and a result of different layouts");
  GatherEmitter(e, op, e.sharedPointer(*offset)).run(*plan);
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

/// The counters that a block needs for its registers of the result, over all blocks that have counted.
Registers sumCounters(ThreadEmitter &e, const BufferAccess &plan, Value base, bool isOfCluster) {
  Type type = e.b.getI32Type();
  if (!isOfCluster)
    return loadRegisters(e, plan, type, base);
  Registers sums;
  for (unsigned block = 0; block < e.numCTAs(); ++block) {
    Registers counts = loadRegisters(e, plan, type, e.inBlock(base, e.i32(block)));
    for (auto [i, count] : llvm::enumerate(counts))
      block ? void(sums[i] = e.add(sums[i], count)) : sums.push_back(count);
  }
  return sums;
}

} // namespace

LogicalResult emitHistogram(ThreadEmitter &e, tt::HistogramOp op) {
  const LinearLayout &layout = ttg::layoutOf(op.getSrc());
  int64_t bins = cast<RankedTensorType>(op.getType()).getNumElements();
  std::optional<int64_t> offset = scratchOf(op);
  std::optional<BufferAccess> plan = planRowMajor(op, op.getType());
  if (!offset || !plan)
    return failure();
  if (op.getMask() && !layout.sameMap(ttg::layoutOf(op.getMask())))
    return op.emitOpError("has a tile and a mask of different layouts");
  Value base = e.sharedPointer(*offset);
  clearCounters(e, base, bins);
  e.barrier();

  // Blocks that hold the same count the same.
  bool isOfCluster = isShared(layout);
  Value acts =
      e.isCanonical(layout.freeVariableMask(LayoutDim::Lane), layout.freeVariableMask(LayoutDim::Warp),
                    isOfCluster ? layout.freeVariableMask(LayoutDim::Block) : 0);
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
  isOfCluster ? e.clusterBarrier() : e.barrier();
  e.set(op.getResult(), sumCounters(e, *plan, base, isOfCluster));
  if (isOfCluster)
    e.clusterBarrier();
  return success();
}

} // namespace despina::nvptx
