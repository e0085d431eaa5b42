//===- TTDotScaledOp.cpp - Products with scales ---------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "despina/IR/DotScaled.h"

using namespace mlir;
using namespace despina::tt;

#include "despina/IR/TTDotScaledEnums.cpp.inc"
#define GET_OP_CLASSES
#include "despina/IR/TTDotScaled.cpp.inc"

namespace {

/// One side of a scaled dot, with M or N in the place of `outer`.
struct ScaledSide {
  StringRef name;
  RankedTensorType value, scale; ///< no scale: null
  ScaleDotElemType format;
  bool packedAlongK, isRight;

  bool isPacked() const { return format == ScaleDotElemType::E2M1; }
  int64_t extent(unsigned fromEnd, bool packed) const {
    return value.getDimSize(value.getRank() - fromEnd) * (isPacked() && packed ? 2 : 1);
  }
  int64_t k() const { return extent(isRight ? 2 : 1, packedAlongK); }
  int64_t outer() const { return extent(isRight ? 1 : 2, !packedAlongK); }
};

} // namespace

static ScaledSide sideOf(DotScaledOp op, bool isRight) {
  auto tile = [](Value v) { return v ? cast<RankedTensorType>(v.getType()) : RankedTensorType(); };
  return isRight
             ? ScaledSide{"b", tile(op.getB()), tile(op.getBScale()), op.getBElemType(), op.getRhsKPack(),
                          true}
             : ScaledSide{"a",  tile(op.getA()), tile(op.getAScale()), op.getAElemType(), op.getLhsKPack(),
                          false};
}

/// Whether elements of a format may be held in this type: as themselves or, those of 8 bits, as bytes.
static bool holdsFormat(Type element, ScaleDotElemType format) {
  switch (format) {
  case ScaleDotElemType::E2M1: return element.isInteger(8);
  case ScaleDotElemType::E4M3: return isa<Float8E4M3FNType>(element) || element.isInteger(8);
  case ScaleDotElemType::E5M2: return isa<Float8E5M2Type>(element) || element.isInteger(8);
  case ScaleDotElemType::BF16: return element.isBF16();
  case ScaleDotElemType::FP16: return element.isF16();
  default: return false;
  }
}

static RankedTensorType accumulatorOf(DotScaledOp op) { return cast<RankedTensorType>(op.getC().getType()); }

static LogicalResult verifyScaledSide(DotScaledOp op, const ScaledSide &side) {
  int64_t rank = accumulatorOf(op).getRank();
  if (side.value.getRank() != rank)
    return op.emitOpError() << "needs operands of one rank, but has " << side.value << " and "
                            << accumulatorOf(op);
  if (!holdsFormat(side.value.getElementType(), side.format))
    return op.emitOpError() << "has elements of the format " << stringifyScaleDotElemType(side.format)
                            << " in " << side.value;
  if (!side.packedAlongK && !side.isPacked())
    return op.emitOpError() << "packs " << side.name
                            << " along another dimension than K, which is for e2m1, not "
                            << stringifyScaleDotElemType(side.format);
  if (!side.scale)
    return success();
  Type element = side.scale.getElementType();
  if (!element.isInteger(8) && !isa<Float8E4M3FNType>(element))
    return op.emitOpError() << "needs scales of i8 or f8E4M3FN, not " << side.scale;
  bool fits =
      side.scale.getRank() == rank && (rank == 2 || side.scale.getDimSize(0) == side.value.getDimSize(0)) &&
      side.scale.getDimSize(rank - 2) == side.outer() && side.k() % side.scale.getDimSize(rank - 1) == 0;
  if (!fits)
    return op.emitOpError() << "needs a scale for each of " << side.outer()
                            << (side.isRight ? " columns of " : " rows of ") << side.name
                            << " and a number of groups that divides " << side.k() << ", but has "
                            << side.scale;
  return success();
}

int64_t DotScaledOp::reductionSize() { return sideOf(*this, /*isRight=*/false).k(); }

LogicalResult DotScaledOp::verify() {
  ScaledSide a = sideOf(*this, /*isRight=*/false), b = sideOf(*this, /*isRight=*/true);
  RankedTensorType c = accumulatorOf(*this);
  int64_t rank = c.getRank();
  if (rank != 2 && rank != 3)
    return emitOpError() << "needs matrices or batches of them, not " << c;
  if (failed(verifyScaledSide(*this, a)) || failed(verifyScaledSide(*this, b)))
    return failure();
  if (!c.getElementType().isF32())
    return emitOpError() << "accumulates in f32, not in " << c;
  if (a.k() != b.k())
    return emitOpError() << "multiplies " << a.k() << " columns of a with " << b.k() << " rows of b";
  bool batchesFit =
      rank == 2 || (a.value.getDimSize(0) == c.getDimSize(0) && b.value.getDimSize(0) == c.getDimSize(0));
  if (!batchesFit || c.getDimSize(rank - 2) != a.outer() || c.getDimSize(rank - 1) != b.outer())
    return emitOpError() << "accumulates a " << a.outer() << "x" << b.outer() << " product into " << c;
  if (a.scale && b.scale && a.scale.getShape().back() != b.scale.getShape().back())
    return emitOpError() << "needs as many groups in a as in b, but has " << a.scale << " and " << b.scale;
  return success();
}
