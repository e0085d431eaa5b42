//===- DecomposeDotScaled.cpp - Scaled products on units without scales ---===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// In: tt.dot_scaled. Out: tt.dot of bf16, whose range holds every element times every factor that f32 has:
// elements are converted exactly (those of fp16 are rounded), then multiplied by their group's factor, which
// is exact unless the result leaves bf16's range. Where fp16 meets anything but bf16 and there are no scales,
// the product is one of fp16, which has all elements exactly.
//
//===----------------------------------------------------------------------===//
#include "despina/Transforms/DecomposeDotScaled.h"

#include "despina/IR/DotScaled.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace despina;

namespace {

using Format = tt::ScaleDotElemType;

/// One side of the product.
struct Side {
  Value value, scale;
  Format format;
  bool packedAlongK, isRight;
};

class Decomposition {
public:
  explicit Decomposition(tt::DotScaledOp op)
      : op(op), b(op), loc(op.getLoc()), rank(cast<RankedTensorType>(op.getC().getType()).getRank()),
        k(op.reductionSize()), type(computeType()),
        mantissa(static_cast<unsigned>(type.getFPMantissaWidth()) - 1), i16(b.getI16Type()) {}

  void run() {
    Value left = factor({op.getA(), op.getAScale(), op.getAElemType(), op.getLhsKPack(), false});
    Value right = factor({op.getB(), op.getBScale(), op.getBElemType(), op.getRhsKPack(), true});
    op.replaceAllUsesWith(tt::DotOp::create(b, loc, op.getType(), left, right, op.getC(),
                                            tt::InputPrecision::IEEE, /*maxNumImpreciseAcc=*/0)
                              .getResult());
    op.erase();
  }

private:
  static RankedTensorType tileOf(Value x) { return cast<RankedTensorType>(x.getType()); }

  FloatType computeType() {
    auto any = [&](Format format) { return op.getAElemType() == format || op.getBElemType() == format; };
    bool isHalf = any(Format::FP16) && !any(Format::BF16) && !op.getAScale() && !op.getBScale();
    return isHalf ? FloatType(b.getF16Type()) : FloatType(b.getBF16Type());
  }

  Value constant(RankedTensorType tile, int64_t value) {
    Attribute element = b.getIntegerAttr(tile.getElementType(), value);
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(tile, element));
  }
  Value masked(Value x, int64_t mask) { return arith::AndIOp::create(b, loc, x, constant(tileOf(x), mask)); }
  Value shiftedLeft(Value x, int64_t bits) {
    return arith::ShLIOp::create(b, loc, x, constant(tileOf(x), bits));
  }
  Value equals(Value x, int64_t value) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, constant(tileOf(x), value));
  }
  Value widened(Value bytes) { return arith::ExtUIOp::create(b, loc, tileOf(bytes).clone(i16), bytes); }
  Value asFloat(Value bits, Type element) {
    return arith::BitcastOp::create(b, loc, tileOf(bits).clone(element), bits);
  }
  Value swapped(Value x, unsigned first, unsigned second) {
    auto order = llvm::to_vector(llvm::seq<int32_t>(0, static_cast<int32_t>(tileOf(x).getRank())));
    std::swap(order[first], order[second]);
    return tt::TransOp::create(b, loc, x, order);
  }
  Value reshaped(Value x, ArrayRef<int64_t> shape) {
    return tt::ReshapeOp::create(b, loc, tileOf(x).clone(shape), x, /*allow_reorder=*/false);
  }

  /// Codes of four bits from pairs of them along a dimension, the lower bits first.
  Value unpacked(Value pairs, unsigned dim) {
    SmallVector<int64_t> shape(tileOf(pairs).getShape());
    shape[dim] *= 2;
    Value high = arith::ShRUIOp::create(b, loc, pairs, constant(tileOf(pairs), 4));
    Value both = tt::JoinOp::create(b, loc, masked(pairs, 0xf), high);
    for (unsigned at = rank; at != dim + 1; --at)
      both = swapped(both, at, at - 1);
    return reshaped(both, shape);
  }

  /// A sign, two bits of exponent with bias 1, one of mantissa.
  Value fromE2M1(Value codes) {
    const int64_t half = static_cast<int64_t>(bias() - 1) << mantissa;
    Value bits = widened(codes);
    Value magnitude = masked(bits, 7);
    RankedTensorType tile = tileOf(bits);
    Value normal = arith::AddIOp::create(b, loc, shiftedLeft(magnitude, mantissa - 1), constant(tile, half));
    // The only number without a leading one.
    Value value = arith::SelectOp::create(b, loc, equals(magnitude, 1), constant(tile, half), normal);
    value = arith::SelectOp::create(b, loc, equals(magnitude, 0), constant(tile, 0), value);
    Value sign = shiftedLeft(masked(bits, 8), 12);
    return asFloat(arith::OrIOp::create(b, loc, value, sign), type);
  }

  int bias() const { return type.isF16() ? 15 : 127; }

  Value converted(Value x, Type small) {
    if (tileOf(x).getElementType() != small)
      x = asFloat(x, small);
    return tt::FpToFpOp::create(b, loc, tileOf(x).clone(type), x, tt::RoundingModeAttr());
  }

  Value elements(const Side &side) {
    switch (side.format) {
    case Format::E2M1:
      return fromE2M1(unpacked(side.value, side.packedAlongK == side.isRight ? rank - 2 : rank - 1));
    case Format::E4M3: return converted(side.value, Float8E4M3FNType::get(b.getContext()));
    case Format::E5M2: return converted(side.value, Float8E5M2Type::get(b.getContext()));
    default: break;
    }
    if (tileOf(side.value).getElementType() == type)
      return side.value;
    Value wide = arith::ExtFOp::create(b, loc, tileOf(side.value).clone(b.getF32Type()), side.value);
    return arith::TruncFOp::create(b, loc, tileOf(side.value).clone(type), wide);
  }

  /// The factors, one for each group.
  Value factors(Value scale) {
    if (!tileOf(scale).getElementType().isInteger(8))
      return converted(scale, tileOf(scale).getElementType());
    // The exponent of bf16 has the same bias; 0 stands for 2^-127, which has no leading one there.
    Value exponent = widened(scale);
    RankedTensorType tile = tileOf(exponent);
    Value bits = arith::MaxUIOp::create(b, loc, shiftedLeft(exponent, 7), constant(tile, 0x40));
    if (!op.getFastMath())
      bits = arith::SelectOp::create(b, loc, equals(exponent, 255), constant(tile, 0x7fc0), bits);
    return asFloat(bits, b.getBF16Type());
  }

  Value factor(const Side &side) {
    Value x = elements(side);
    if (!side.scale)
      return x;
    Value perGroup = factors(side.scale);
    SmallVector<int64_t> shape(tileOf(perGroup).getShape());
    shape.push_back(k / shape.back());
    Value repeated = tt::ExpandDimsOp::create(b, loc, perGroup, static_cast<unsigned>(rank));
    repeated = tt::BroadcastOp::create(b, loc, tileOf(repeated).clone(shape), repeated);
    shape.pop_back();
    shape.back() = k;
    repeated = reshaped(repeated, shape);
    if (side.isRight)
      repeated = swapped(repeated, rank - 2, rank - 1);
    return arith::MulFOp::create(b, loc, x, repeated);
  }

  tt::DotScaledOp op;
  OpBuilder b;
  Location loc;
  unsigned rank;
  int64_t k;
  FloatType type;
  unsigned mantissa;
  Type i16;
};

class DecomposeDotScaledPass : public PassWrapper<DecomposeDotScaledPass, OperationPass<tt::FuncOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DecomposeDotScaledPass)
  StringRef getArgument() const final { return "tt-decompose-dot-scaled"; }
  StringRef getDescription() const final { return "Multiplies by scales before products that have none"; }
  void getDependentDialects(DialectRegistry &registry) const final { registry.insert<arith::ArithDialect>(); }

  void runOnOperation() final {
    SmallVector<tt::DotScaledOp> products;
    getOperation().walk([&](tt::DotScaledOp op) { products.push_back(op); });
    for (tt::DotScaledOp op : products)
      Decomposition(op).run();
    if (products.empty())
      markAllAnalysesPreserved();
  }
};

} // namespace

std::unique_ptr<Pass> despina::createTTDecomposeDotScaled() {
  return std::make_unique<DecomposeDotScaledPass>();
}
