//===- F32DotTC.cpp - Products of f32 on units of less precision ----------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// In: tt.dot of f32 with tf32x3, bf16x3 or bf16x6. Out: several products whose factors are parts of the
// operands:
//
//   x = x0 + x1 (+ x2), each part as many bits as the unit has
//   a * b = a0 * b0 + a0 * b1 + a1 * b0 (+ a1 * b1 + a0 * b2 + a2 * b0)
//
// The smallest come first. Where x is infinite, x0 is and the other parts are not numbers; what the small
// products have then is left out, and a0 * b0 alone says what the result is.
//
//===----------------------------------------------------------------------===//
#include "ArchitecturePass.h"
#include "DotPasses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace despina::nvptx {

namespace {

class Decomposition {
public:
  explicit Decomposition(tt::DotOp op) : op(op), b(op), loc(op.getLoc()) {
    toBF16 = op.getInputPrecision() != tt::InputPrecision::TF32x3;
    numParts = op.getInputPrecision() == tt::InputPrecision::BF16x6 ? 3 : 2;
  }

  void run() {
    SmallVector<Value, 3> left = parts(op.getA()), right = parts(op.getB());
    Value sum = zeros(op.getC().getType());
    for (unsigned order = numParts - 1; order > 0; --order)
      for (unsigned i = 0; i <= order; ++i)
        sum = product(left[i], right[order - i], sum);
    Value isNumber = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ORD, sum, sum);
    sum = arith::SelectOp::create(b, loc, isNumber, sum, zeros(sum.getType()));
    sum = arith::AddFOp::create(b, loc, op.getC(), sum);
    op.replaceAllUsesWith(product(left[0], right[0], sum));
    op.erase();
  }

private:
  Value zeros(Type type) { return arith::ConstantOp::create(b, loc, b.getZeroAttr(type)); }

  Value product(Value x, Value y, Value sum) {
    auto precision = toBF16 ? tt::InputPrecision::IEEE : tt::InputPrecision::TF32;
    return tt::DotOp::create(b, loc, sum.getType(), x, y, sum, precision, 0);
  }

  SmallVector<Value, 3> parts(Value x) {
    auto type = cast<RankedTensorType>(x.getType());
    SmallVector<Value, 3> result;
    for (unsigned i = 0; i < numParts; ++i) {
      bool isLast = i + 1 == numParts;
      if (!toBF16) {
        // The unit ignores the low bits itself.
        result.push_back(isLast ? x : highBits(x, type, tf32Mask));
        if (!isLast)
          x = arith::SubFOp::create(b, loc, x, result.back());
        continue;
      }
      result.push_back(
          arith::TruncFOp::create(b, loc, type.clone(b.getBF16Type()), i == 0 ? belowInfinity(x, type) : x));
      if (!isLast)
        x = arith::SubFOp::create(b, loc, x, arith::ExtFOp::create(b, loc, type, result.back()));
    }
    return result;
  }

  static constexpr int64_t tf32Mask = 0xFFFFE000, bf16Mask = 0xFFFF0000;

  Value integers(RankedTensorType type, int64_t value) {
    auto element = b.getI32IntegerAttr(static_cast<int32_t>(value));
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type.clone(b.getI32Type()), element));
  }
  Value bitsOf(Value x, RankedTensorType type) {
    return tt::BitcastOp::create(b, loc, type.clone(b.getI32Type()), x);
  }

  /// What is left of x's mantissa under a mask; an infinity stays one.
  Value highBits(Value x, RankedTensorType type, int64_t mask) {
    Value masked = arith::AndIOp::create(b, loc, bitsOf(x, type), integers(type, mask));
    return tt::BitcastOp::create(b, loc, type, masked);
  }

  /// x, but cut where rounding to bf16 would make a number an infinity: the next part has the rest.
  Value belowInfinity(Value x, RankedTensorType type) {
    constexpr int64_t firstThatOverflows = 0x7F7F8000, infinity = 0x7F800000;
    Value magnitude = arith::AndIOp::create(b, loc, bitsOf(x, type), integers(type, 0x7FFFFFFF));
    Value above = arith::SubIOp::create(b, loc, magnitude, integers(type, firstThatOverflows));
    Value overflows = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, above,
                                            integers(type, infinity - firstThatOverflows));
    return arith::SelectOp::create(b, loc, overflows, highBits(x, type, bf16Mask), x);
  }

  tt::DotOp op;
  OpBuilder b;
  Location loc;
  bool toBF16;
  unsigned numParts;
};

class F32DotTCPass : public ArchitecturePass<F32DotTCPass> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(F32DotTCPass)
  using ArchitecturePass::ArchitecturePass;
  StringRef getArgument() const final { return "nvptx-f32-dot-tc"; }
  StringRef getDescription() const final { return "Products of f32 on units of less precision"; }
  void getDependentDialects(DialectRegistry &registry) const final { registry.insert<arith::ArithDialect>(); }

  LogicalResult run(tt::FuncOp function, const Architecture &arch) {
    if (arch.number < 80) // no unit has tf32 or bf16
      return success();
    SmallVector<tt::DotOp> dots;
    function.walk([&](tt::DotOp op) {
      switch (op.getInputPrecision()) {
      case tt::InputPrecision::TF32x3:
      case tt::InputPrecision::BF16x3:
      case tt::InputPrecision::BF16x6:
        if (getElementTypeOrSelf(op.getA()).isF32())
          dots.push_back(op);
        break;
      default: break;
      }
    });
    for (tt::DotOp op : dots)
      Decomposition(op).run();
    return success();
  }
};

} // namespace

std::unique_ptr<Pass> createF32DotTCPass(const Architecture &arch) {
  return std::make_unique<F32DotTCPass>(arch);
}

} // namespace despina::nvptx
