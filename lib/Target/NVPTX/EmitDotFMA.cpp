//===- EmitDotFMA.cpp - Matrix products by multiply-adds ------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Both factors go to shared memory, whatever their layouts, with the axis that is summed over as the slow
// one. Each thread then walks along that axis, some steps at a time, and reads of both what its elements of
// the result need. f16 and bf16 are multiplied and added as f32, also where the result is f16.
//
//===----------------------------------------------------------------------===//
#include "EmitBuffer.h"
#include "EmitDot.h"

#include "despina/Analysis/LayoutBuffer.h"
#include "despina/Analysis/LayoutConstructors.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace despina::nvptx {

namespace {

/// About how many multiply-adds are written out.
constexpr unsigned unrolledProducts = 512;
constexpr unsigned maxSteps = 16;

/// One of the factors in scratch memory.
struct Factor {
  RankedTensorType tile;
  unsigned kAxis;
  LinearLayout memory; ///< of the factor
  LinearLayout read;   ///< of what a thread reads in one round
  BufferAccess access; ///< the reads
  std::optional<RegisterMap> map;
  Value address; ///< of the round in hand

  unsigned bits() const { return ttg::memoryBits(tile.getElementType()); }
  uint64_t bytes() const { return static_cast<uint64_t>(tile.getNumElements()) * bits() / 8; }
  /// Elements between neighbours along K.
  int64_t stride() const {
    unsigned rank = static_cast<unsigned>(tile.getRank());
    return tile.getShape()[rank - 2] * tile.getShape()[rank - 1] / tile.getShape()[kAxis];
  }
};

uint64_t alignedBytes(Type factor) {
  auto tile = cast<RankedTensorType>(factor);
  return llvm::alignTo(
      static_cast<uint64_t>(tile.getNumElements()) * ttg::memoryBits(tile.getElementType()) / 8, 16);
}

class DotEmitter {
public:
  DotEmitter(ThreadEmitter &e, tt::DotOp op)
      : e(e), op(op), type(cast<RankedTensorType>(op.getType())), rank(static_cast<unsigned>(type.getRank())),
        layout(ttg::layoutOf(type)), mapC(layout), sums(e.get(op.getC())) {
    sumType = type.getElementType().isF16() ? e.b.getF32Type() : type.getElementType();
    k = cast<RankedTensorType>(op.getA().getType()).getShape()[rank - 1];
    steps = std::min<int64_t>(
        k, std::clamp<int64_t>(unrolledProducts / llvm::PowerOf2Ceil(sums.size()), 1, maxSteps));
  }

  LogicalResult run() {
    std::optional<int64_t> scratch = ThreadEmitter::sharedOffset(op);
    if (!scratch)
      return op.emitOpError("has no place in shared memory");
    a.tile = cast<RankedTensorType>(op.getA().getType());
    b.tile = cast<RankedTensorType>(op.getB().getType());
    a.kAxis = rank - 1;
    b.kAxis = rank - 2;
    if (failed(prepare(a)) || failed(prepare(b)))
      return op.emitOpError("has a factor whose parts other blocks of the cluster have");
    a.address = e.sharedPointer(*scratch);
    b.address = e.sharedPointer(*scratch + static_cast<int64_t>(alignedBytes(a.tile)));
    if (failed(store(a, op.getA())) || failed(store(b, op.getB())))
      return failure();
    e.barrier();
    for (Value &sum : sums)
      sum = widened(sum, type.getElementType());
    multiplyAll();
    if (sumType != type.getElementType())
      for (Value &sum : sums)
        sum = e.make<LLVM::FPTruncOp>(type.getElementType(), sum);
    e.set(op.getResult(), Registers(sums));
    return success();
  }

private:
  /// Lays a factor out in memory and plans the reads: the elements of the result that a thread has, projected
  /// onto the axes of the factor, for `steps` neighbours along K.
  LogicalResult prepare(Factor &factor) {
    unsigned otherAxis = factor.kAxis == rank - 1 ? rank - 2 : rank - 1;
    LayoutOrder order = {otherAxis, factor.kAxis};
    if (rank == 3)
      order.push_back(0);
    SwizzledParams plain;
    plain.order = order;
    std::optional<LinearLayout> memory = swizzledSharedLayout(factor.tile.getShape(), plain);
    if (!memory)
      return failure();
    unsigned blocks = layout.inBits(LayoutDim::Block);
    factor.memory = *memory * LinearLayout::zeros1D(uint64_t(1) << blocks, LayoutDim::Block, tensorDim(0));
    SmallVector<LayoutDim> kept = {tensorDim(otherAxis)};
    if (rank == 3)
      kept.push_back(tensorDim(0));
    LinearLayout held = layout.sublayout(layout.inNames(), kept).removeZeroBases(LayoutDim::Register);
    held *=
        LinearLayout::identity1D(static_cast<uint64_t>(steps), LayoutDim::Register, tensorDim(factor.kAxis));
    std::optional<LinearLayout> read = held.transposeOuts(layout.outNames());
    std::optional<BufferAccess> access =
        read ? planBufferAccess(factor.memory, *read, factor.bits()) : std::nullopt;
    if (!access)
      return failure();
    factor.read = *read;
    factor.access = *access;
    factor.map.emplace(*read);
    return success();
  }

  LogicalResult store(Factor &factor, Value value) {
    const LinearLayout &tile = ttg::layoutOf(value);
    std::optional<BufferAccess> access = planBufferAccess(factor.memory, tile, factor.bits());
    if (!access || !hasWhatIsRead(factor, tile))
      return op.emitOpError("has a factor that other blocks of the cluster have");
    storeRegisters(e, *access, e.get(value), factor.address);
    return success();
  }

  /// Whether each block holds the part that its part of the result needs: all of K, and along the other axes
  /// what the result has there.
  bool hasWhatIsRead(const Factor &factor, const LinearLayout &tile) const {
    for (unsigned bit = 0; bit < tile.inBits(LayoutDim::Block); ++bit)
      for (unsigned axis = 0; axis < rank; ++axis) {
        uint64_t read = axis == factor.kAxis ? 0 : layout.basis(LayoutDim::Block, bit, tensorDim(axis));
        if (tile.basis(LayoutDim::Block, bit, tensorDim(axis)) != read)
          return false;
      }
    return true;
  }

  /// All of K: a loop, unless one round does it.
  void multiplyAll() {
    if (steps == k) {
      sums = multiplyRound(sums);
      return;
    }
    Region *region = e.b.getBlock()->getParent();
    Block *before = e.b.getBlock();
    Block *body = e.b.createBlock(region, std::next(before->getIterator()));
    Block *after = e.b.createBlock(region, std::next(body->getIterator()));
    e.b.setInsertionPointToEnd(before);
    Registers initial = {e.i32(0)};
    llvm::append_range(initial, sums);
    e.make<LLVM::BrOp>(initial, body);
    for (Value value : initial)
      body->addArgument(value.getType(), e.loc);
    e.b.setInsertionPointToEnd(body);
    Value step = body->getArgument(0);
    for (Factor *factor : {&a, &b})
      factor->address = e.elementPointer(factor->address, e.b.getIntegerType(factor->bits()),
                                         e.mul(step, e.i32(factor->stride())));
    Registers next = {e.add(step, e.i32(steps))};
    llvm::append_range(next, multiplyRound(Registers(body->args_begin() + 1, body->args_end())));
    Value more = e.make<LLVM::ICmpOp>(LLVM::ICmpPredicate::slt, next.front(), e.i32(k));
    for (Value value : sums)
      after->addArgument(value.getType(), e.loc);
    e.make<LLVM::CondBrOp>(more, body, next, after, ArrayRef<Value>(next).drop_front());
    e.b.setInsertionPointToEnd(after);
    sums.assign(after->args_begin(), after->args_end());
  }

  Registers multiplyRound(Registers values) {
    Registers left = read(a), right = read(b);
    for (int64_t step = 0; step < steps; ++step)
      for (unsigned index = 0; index < values.size(); ++index) {
        if (mapC.first(index) != index)
          continue;
        LinearLayout::Point at = layout.apply({{LayoutDim::Register, index}});
        values[index] = multiplyAdd(left[find(a, at, step)], right[find(b, at, step)], values[index]);
      }
    for (unsigned index = 0; index < values.size(); ++index)
      values[index] = values[mapC.first(index)];
    return values;
  }

  Registers read(const Factor &factor) {
    Registers values = loadRegisters(e, factor.access, e.llvmType(factor.tile), factor.address);
    for (Value &value : values)
      value = widened(value, factor.tile.getElementType());
    return values;
  }

  /// The register of what was read for an element of the result.
  unsigned find(const Factor &factor, const LinearLayout::Point &at, int64_t step) const {
    SmallVector<int64_t> coordinates(rank);
    for (auto [dim, coordinate] : at)
      coordinates[tensorAxis(dim)] = static_cast<int64_t>(coordinate);
    coordinates[factor.kAxis] = step;
    return factor.map->at(coordinates).value_or(0);
  }

  Value widened(Value value, Type from) {
    if (from.isBF16()) {
      Value bits = e.make<LLVM::ZExtOp>(e.b.getI32Type(), e.bitcast(value, e.b.getI16Type()));
      return e.bitcast(e.make<LLVM::ShlOp>(bits, e.i32(16)), e.b.getF32Type());
    }
    if (from.isF16())
      return e.make<LLVM::FPExtOp>(e.b.getF32Type(), value);
    if (from.isInteger() && from != sumType)
      return e.make<LLVM::SExtOp>(sumType, value);
    return value;
  }

  Value multiplyAdd(Value x, Value y, Value sum) {
    if (sumType.isInteger())
      return e.add(e.mul(x, y), sum);
    return e.make<LLVM::FMAOp>(x, y, sum);
  }

  ThreadEmitter &e;
  tt::DotOp op;
  RankedTensorType type;
  unsigned rank;
  const LinearLayout &layout;
  RegisterMap mapC;
  Registers sums;
  Type sumType;
  int64_t k, steps;
  Factor a, b;
};

} // namespace

LogicalResult emitDot(ThreadEmitter &e, tt::DotOp op) { return DotEmitter(e, op).run(); }

uint64_t dotScratchBytes(tt::DotOp op) {
  return alignedBytes(op.getA().getType()) + alignedBytes(op.getB().getType());
}

} // namespace despina::nvptx
