//===- TTNGDotOps.cpp - Matrix units --------------------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "despina/Target/NVPTX/TTNG.h"

#include "despina/Analysis/LayoutConstructors.h"
#include "despina/Analysis/LayoutWgmma.h"

using namespace mlir;
using namespace despina;
using namespace despina::ttng;

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

static ArrayRef<int64_t> shapeOf(Type type) {
  if (auto buffer = dyn_cast<ttg::MemDescType>(type))
    return buffer.getShape();
  return cast<RankedTensorType>(type).getShape();
}

static LogicalResult verifyShapes(Operation *op, Type a, Type b, Type c, ArrayRef<int32_t> instruction) {
  ArrayRef<int64_t> left = shapeOf(a), right = shapeOf(b), sum = shapeOf(c);
  size_t rank = sum.size();
  if (instruction.size() != 3 || llvm::any_of(instruction, [](int32_t extent) { return extent <= 0; }))
    return op->emitOpError("needs the extents M, N and K of an instruction");
  if ((rank != 2 && rank != 3) || left.size() != rank || right.size() != rank)
    return op->emitOpError() << "needs matrices, or batches of them, of one rank, not " << a << ", " << b
                             << " and " << c;
  if (left.drop_back(2) != sum.drop_back(2) || right.drop_back(2) != sum.drop_back(2) ||
      left[rank - 1] != right[rank - 2] || left[rank - 2] != sum[rank - 2] ||
      right[rank - 1] != sum[rank - 1])
    return op->emitOpError() << "multiplies " << a << " and " << b << " into " << c;
  if (left[rank - 1] % instruction[2] != 0)
    return op->emitOpError() << "has " << left[rank - 1] << " elements along K for instructions of "
                             << instruction[2];
  return success();
}

//===----------------------------------------------------------------------===//
// MmaOp
//===----------------------------------------------------------------------===//

namespace {

/// What one bit of a place adds to one coordinate.
struct Bit {
  const LinearLayout &layout;
  LayoutDim in;
  unsigned bit;
  uint64_t along(unsigned axis) const { return layout.basis(in, bit, tensorDim(axis)); }
};

/// Whether the places of threads move the tiles of an mma as the instruction has it.
class MmaPlaces {
public:
  MmaPlaces(const LinearLayout &a, const LinearLayout &b, const LinearLayout &c)
      : a(a), b(b), c(c), rank(static_cast<unsigned>(c.outs().size())), row(rank - 2), column(rank - 1) {}

  bool areRight() const {
    for (const LinearLayout *layout : {&a, &b, &c})
      if (layout->inBits(LayoutDim::Lane) != 5)
        return false;
    for (unsigned lane = 0; lane < 5; ++lane)
      if (lane < 2 ? !isAcross(lane) : !isDown(lane))
        return false;
    for (LayoutDim in : {LayoutDim::Warp, LayoutDim::Block}) {
      if (a.inBits(in) != c.inBits(in) || b.inBits(in) != c.inBits(in))
        return false;
      for (unsigned bit = 0; bit < c.inBits(in); ++bit)
        if (!movesAlike(in, bit))
          return false;
    }
    return true;
  }

private:
  bool batchIs(const Bit &bit, uint64_t value) const { return rank == 2 || bit.along(0) == value; }

  /// Lanes 1 and 2: along K in the factors, along the columns of the result, which are those of b's lanes 8
  /// and 16; its lane 4 is the next column, which the result has in a register.
  bool isAcross(unsigned lane) const {
    Bit inA{a, LayoutDim::Lane, lane}, inB{b, LayoutDim::Lane, lane}, inC{c, LayoutDim::Lane, lane},
        columnB{b, LayoutDim::Lane, lane + 3};
    return batchIs(inA, 0) && batchIs(inB, 0) && batchIs(inC, 0) && inA.along(row) == 0 &&
           inB.along(column) == 0 && inC.along(row) == 0 && inA.along(column) == inB.along(row) &&
           inC.along(column) == columnB.along(column);
  }

  /// Lanes 4, 8 and 16: along the rows of a and of the result, along the columns of b.
  bool isDown(unsigned lane) const {
    Bit inA{a, LayoutDim::Lane, lane}, inB{b, LayoutDim::Lane, lane}, inC{c, LayoutDim::Lane, lane};
    uint64_t nextColumn = c.outBits(tensorDim(column)) ? 1 : 0;
    return batchIs(inA, 0) && batchIs(inB, 0) && batchIs(inC, 0) && inA.along(column) == 0 &&
           inB.along(row) == 0 && inC.along(column) == 0 && inA.along(row) == inC.along(row) &&
           (lane != 2 || inB.along(column) == nextColumn);
  }

  bool movesAlike(LayoutDim in, unsigned bit) const {
    Bit inA{a, in, bit}, inB{b, in, bit}, inC{c, in, bit};
    uint64_t batch = rank == 3 ? inC.along(0) : 0;
    return batchIs(inA, batch) && batchIs(inB, batch) && inA.along(column) == 0 && inB.along(row) == 0 &&
           inA.along(row) == inC.along(row) && inB.along(column) == inC.along(column);
  }

  const LinearLayout &a, &b, &c;
  unsigned rank, row, column;
};

} // namespace

LogicalResult MmaOp::verify() {
  Type a = getA().getType(), b = getB().getType(), c = getC().getType();
  if (failed(verifyShapes(*this, a, b, c, getInstrShape())))
    return failure();
  for (Type type : {a, b, c})
    if (!ttg::hasLayout(type))
      return emitOpError() << "needs tiles with layouts, not " << type;
  if (!MmaPlaces(ttg::layoutOf(a), ttg::layoutOf(b), ttg::layoutOf(c)).areRight())
    return emitOpError("needs operands and an accumulator in layouts of mma.sync that belong together");
  return success();
}

//===----------------------------------------------------------------------===//
// WarpGroupDotOp
//===----------------------------------------------------------------------===//

void WarpGroupDotOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  if (isa<ttg::MemDescType>(getA().getType()))
    effects.emplace_back(MemoryEffects::Read::get(), &getAMutable(), ttg::SharedMemory::get());
  effects.emplace_back(MemoryEffects::Read::get(), &getBMutable(), ttg::SharedMemory::get());
}

/// Whether lanes 1 and 2 move along columns by `step` and twice that, and the others and the four warps along
/// rows.
static bool isGroupTile(const LinearLayout &layout, uint64_t step) {
  if (layout.outs().size() != 2 || layout.inBits(LayoutDim::Lane) != 5 || layout.inBits(LayoutDim::Warp) < 2)
    return false;
  const std::pair<uint64_t, uint64_t> lanes[] = {{0, step}, {0, 2 * step}, {1, 0}, {2, 0}, {4, 0}},
                                      warps[] = {{16, 0}, {32, 0}};
  auto agrees = [&](LayoutDim in, ArrayRef<std::pair<uint64_t, uint64_t>> expected) {
    for (auto [bit, at] : llvm::enumerate(expected))
      if (layout.basis(in, static_cast<unsigned>(bit), tensorDim(0)) != at.first ||
          layout.basis(in, static_cast<unsigned>(bit), tensorDim(1)) != at.second)
        return false;
    return true;
  };
  return agrees(LayoutDim::Lane, lanes) && agrees(LayoutDim::Warp, warps);
}

/// Whether warps beyond the first four, and blocks, move along the rows of both alike.
static bool movesRowsAlike(const LinearLayout &a, const LinearLayout &c) {
  for (LayoutDim in : {LayoutDim::Warp, LayoutDim::Block})
    for (unsigned bit = 0; bit < c.inBits(in); ++bit)
      if (a.inBits(in) != c.inBits(in) || a.basis(in, bit, tensorDim(1)) != 0 ||
          a.basis(in, bit, tensorDim(0)) != c.basis(in, bit, tensorDim(0)))
        return false;
  return true;
}

static bool isDescribable(Type type, unsigned kAxis) {
  auto buffer = cast<ttg::MemDescType>(type);
  return matchWgmmaOperand(ttg::layoutOf(buffer), ttg::memoryBits(buffer.getElementType()), kAxis)
      .has_value();
}

LogicalResult WarpGroupDotOp::verify() {
  Type a = getA().getType(), b = getB().getType(), c = getC().getType();
  if (failed(verifyShapes(*this, a, b, c, getInstrShape())))
    return failure();
  if (!ttg::hasLayout(c) || !isGroupTile(ttg::layoutOf(c), 2))
    return emitOpError() << "needs an accumulator in the layout of wgmma, not " << c;
  if (!isDescribable(b, 0))
    return emitOpError() << "has buffer " << b << " for b, which wgmma cannot read";
  if (isa<ttg::MemDescType>(a))
    return isDescribable(a, 1) ? success()
                               : emitOpError() << "has buffer " << a << " for a, which wgmma cannot read";
  unsigned bits = getElementTypeOrSelf(a).getIntOrFloatBitWidth();
  if (!ttg::hasLayout(a) || bits > 32 || !isGroupTile(ttg::layoutOf(a), 32 / bits) ||
      !movesRowsAlike(ttg::layoutOf(a), ttg::layoutOf(c)))
    return emitOpError() << "needs a in registers in the layout of wgmma, not " << a;
  return success();
}
