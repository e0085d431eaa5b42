//===- MathBuilder.h - Formulas in LLVM IR ----------------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_TARGET_NVPTX_MATHBUILDER_H
#define DESPINA_LIB_TARGET_NVPTX_MATHBUILDER_H

#include "llvm/IR/IRBuilder.h"

#include <bit>
#include <cmath>
#include <cstdint>

namespace despina::nvptx {

/// Short names for the operations that the expansions are written in, for one type. The code generator may
/// fuse a product with the sum it goes into, so no formula relies on a product being rounded.
class MathBuilder {
public:
  using Value = llvm::Value *;

  MathBuilder(llvm::IRBuilder<> &b, llvm::Type *type)
      : b(b), type(type), isDouble(type->isDoubleTy()), intType(b.getIntNTy(isDouble ? 64 : 32)) {}

  Value constant(double v) const { return llvm::ConstantFP::get(type, v); }
  Value integer(uint64_t v) const { return llvm::ConstantInt::get(intType, v); }
  /// The constant of the type at hand.
  double pick(double single, double twice) const { return isDouble ? twice : single; }
  int mantissaBits() const { return isDouble ? 52 : 23; }
  int exponentBias() const { return isDouble ? 1023 : 127; }
  /// 1.5 * 2^mantissaBits(): adding it leaves the rounded integer in the low bits.
  double roundingMagic() const { return pick(12582912.0, 6755399441055744.0); }
  /// Of a constant.
  uint64_t bitsOf(double v) const {
    return isDouble ? std::bit_cast<uint64_t>(v) : std::bit_cast<uint32_t>(static_cast<float>(v));
  }

  Value add(Value x, Value y) { return b.CreateFAdd(x, y); }
  Value sub(Value x, Value y) { return b.CreateFSub(x, y); }
  Value mul(Value x, Value y) { return b.CreateFMul(x, y); }
  Value div(Value x, Value y) { return b.CreateFDiv(x, y); }
  Value negate(Value x) { return b.CreateFNeg(x); }
  Value fma(Value x, Value y, Value z) { return b.CreateIntrinsic(llvm::Intrinsic::fma, type, {x, y, z}); }
  Value fma(Value x, double y, Value z) { return fma(x, constant(y), z); }
  Value abs(Value x) { return b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x); }
  Value copySign(Value magnitude, Value sign) {
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, magnitude, sign);
  }
  Value less(Value x, Value y) { return b.CreateFCmpOLT(x, y); }
  Value equal(Value x, Value y) { return b.CreateFCmpOEQ(x, y); }
  Value select(Value c, Value x, Value y) { return b.CreateSelect(c, x, y); }
  Value toInt(Value x) { return b.CreateBitCast(x, intType); }
  Value toFloat(Value x) { return b.CreateBitCast(x, type); }

  /// Limits x to [low, high]; NaN stays NaN.
  Value clamp(Value x, double low, double high) {
    x = select(less(x, constant(low)), constant(low), x);
    return select(less(constant(high), x), constant(high), x);
  }
  /// c[0] + x * (c[1] + x * (...)).
  Value polynomial(Value x, llvm::ArrayRef<double> c) {
    Value result = constant(c.back());
    for (double coefficient : llvm::reverse(c.drop_back()))
      result = fma(result, x, constant(coefficient));
    return result;
  }
  /// The table of the type at hand.
  Value polynomial(Value x, llvm::ArrayRef<double> single, llvm::ArrayRef<double> twice) {
    return polynomial(x, isDouble ? twice : single);
  }
  /// p * 2^n, with subnormal and infinite results; `t` = n + roundingMagic(). Two factors, since 2^n itself
  /// may be out of range where p * 2^n is not.
  Value scale(Value p, Value t) {
    Value n = b.CreateSub(toInt(t), integer(bitsOf(roundingMagic())));
    Value half = b.CreateAShr(n, 1), rest = b.CreateSub(n, half);
    return mul(mul(p, powerOfTwo(half)), powerOfTwo(rest));
  }
  /// 2^n for an integer n of the normal range.
  Value powerOfTwo(Value n) {
    return toFloat(b.CreateShl(b.CreateAdd(n, integer(exponentBias())), mantissaBits()));
  }

  llvm::IRBuilder<> &b;
  llvm::Type *type;
  bool isDouble;
  llvm::IntegerType *intType;
};

} // namespace despina::nvptx

#endif // DESPINA_LIB_TARGET_NVPTX_MATHBUILDER_H
