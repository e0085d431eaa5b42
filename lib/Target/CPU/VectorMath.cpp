//===- VectorMath.cpp - Elementary functions as vector code ---------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Each function reduces its argument to a short interval and evaluates a near-minimax polynomial there
// (ElementaryCoefficients.h). Special values follow C's libm.
//
//===----------------------------------------------------------------------===//
#include "VectorMath.h"

#include "despina/Target/ElementaryCoefficients.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace despina::cpu {
namespace {

namespace co = coefficients;

/// Short names for the few operations the expansions are written in.
class Emitter {
public:
  Emitter(OpBuilder &b, Location loc, Type type, const CPUOptions &options)
      : b(b), loc(loc), type(type), options(options), element(getElementTypeOrSelf(type)),
        isDouble(element.isF64()) {
    Type integer = b.getIntegerType(isDouble ? 64 : 32);
    intType = withElement(integer);
  }

  Type withElement(Type e) const {
    if (auto vector = dyn_cast<VectorType>(type))
      return VectorType::get(vector.getShape(), e);
    return e;
  }
  Value splat(TypedAttr scalar, Type to) {
    if (auto vector = dyn_cast<VectorType>(to))
      return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(vector, Attribute(scalar)));
    return arith::ConstantOp::create(b, loc, scalar);
  }
  Value constant(double v) { return splat(b.getFloatAttr(element, v), type); }
  Value integer(int64_t v) { return splat(b.getIntegerAttr(getElementTypeOrSelf(intType), v), intType); }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, loc, x, y); }
  Value div(Value x, Value y) { return arith::DivFOp::create(b, loc, x, y); }
  Value negate(Value x) { return arith::NegFOp::create(b, loc, x); }
  Value fma(Value x, Value y, Value z) { return math::FmaOp::create(b, loc, x, y, z); }
  Value fma(Value x, double y, Value z) { return fma(x, constant(y), z); }
  Value abs(Value x) { return math::AbsFOp::create(b, loc, x); }
  Value copySign(Value magnitude, Value sign) { return math::CopySignOp::create(b, loc, magnitude, sign); }
  Value less(Value x, Value y) { return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, x, y); }
  Value equal(Value x, Value y) { return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, x, y); }
  Value unordered(Value x, Value y) { return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ULT, x, y); }
  Value select(Value c, Value x, Value y) { return arith::SelectOp::create(b, loc, c, x, y); }
  /// Results below the smallest subnormal start from 0: the processor takes 100 cycles and more for an
  /// operation that underflows, and masked lanes are full of exp(-inf).
  Value zeroWhere(Value condition, Value x) { return select(condition, constant(0), x); }
  Value toInt(Value x) { return arith::BitcastOp::create(b, loc, intType, x); }
  Value toFloat(Value x) { return arith::BitcastOp::create(b, loc, type, x); }
  Value addI(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  Value subI(Value x, Value y) { return arith::SubIOp::create(b, loc, x, y); }
  Value andI(Value x, Value y) { return arith::AndIOp::create(b, loc, x, y); }
  Value shl(Value x, int64_t n) { return arith::ShLIOp::create(b, loc, x, integer(n)); }
  Value sar(Value x, int64_t n) { return arith::ShRSIOp::create(b, loc, x, integer(n)); }

  /// Limits x to [low, high]; NaN stays NaN.
  Value clamp(Value x, double low, double high) {
    Value lowest = constant(low), highest = constant(high);
    x = select(less(x, lowest), lowest, x);
    return select(less(highest, x), highest, x);
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
  int mantissaBits() const { return isDouble ? 52 : 23; }
  int64_t exponentBias() const { return isDouble ? 1023 : 127; }
  /// 1.5 * 2^mantissa: adding it leaves the rounded integer in the low bits.
  double roundingMagic() const { return isDouble ? 6755399441055744.0 : 12582912.0; }

  /// p * 2^n by AVX-512's instruction for it, `lanes` lanes at a time; wider vectors are halved.
  Value scaleByInstruction(Value p, Value n, int64_t count, int64_t lanes) {
    if (count > lanes) {
      auto half = [&](Value v, int64_t start) -> Value {
        SmallVector<int64_t> taken(llvm::to_vector(llvm::seq(start, start + count / 2)));
        return vector::ShuffleOp::create(b, loc, v, v, taken);
      };
      Value low = scaleByInstruction(half(p, 0), half(n, 0), count / 2, lanes);
      Value high = scaleByInstruction(half(p, count / 2), half(n, count / 2), count / 2, lanes);
      return vector::ShuffleOp::create(b, loc, low, high, llvm::to_vector(llvm::seq<int64_t>(0, count)));
    }
    Value mask = arith::ConstantOp::create(b, loc, b.getIntegerAttr(b.getIntegerType(lanes), -1));
    Value rounding = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(4)); // current mode
    const char *name = isDouble ? "llvm.x86.avx512.mask.scalef.pd.512" : "llvm.x86.avx512.mask.scalef.ps.512";
    return LLVM::CallIntrinsicOp::create(b, loc, VectorType::get({lanes}, element), b.getStringAttr(name),
                                         ValueRange{p, n, p, mask, rounding})
        .getResult(0);
  }

  /// p * 2^n, with subnormal and infinite results; `t` = n + roundingMagic().
  Value scale(Value p, Value n, Value t) {
    auto vector = dyn_cast<VectorType>(type);
    int64_t lanes = isDouble ? 8 : 16;
    if (options.features.avx512 && vector && vector.getNumElements() >= lanes)
      return scaleByInstruction(p, n, vector.getNumElements(), lanes);
    // Two factors, since 2^n itself may be out of range where p * 2^n is not.
    Value i = subI(toInt(t), integer(std::bit_cast<int64_t>(6755399441055744.0) * isDouble +
                                     int64_t(std::bit_cast<int32_t>(12582912.0f)) * !isDouble));
    Value half = sar(i, 1), rest = subI(i, half);
    Value bias = integer(exponentBias());
    p = mul(p, toFloat(shl(addI(half, bias), mantissaBits())));
    return mul(p, toFloat(shl(addI(rest, bias), mantissaBits())));
  }

  OpBuilder &b;
  Location loc;
  Type type;
  const CPUOptions &options;
  Type element, intType;
  bool isDouble;
};

Value emitExp(Emitter &e, Value x) {
  Value vanishes = e.less(x, e.constant(e.isDouble ? -745.14 : -103.98));
  x = e.isDouble ? e.clamp(x, -746, 710) : e.clamp(x, -104.5, 89.5);
  Value magic = e.constant(e.roundingMagic());
  Value t = e.fma(x, co::log2e, magic);
  Value n = e.sub(t, magic);
  const co::Ln2 ln2 = e.isDouble ? co::ln2Twice : co::ln2Single;
  Value r = e.fma(n, -ln2.high, x);
  r = e.fma(n, -ln2.low, r);
  Value p = e.polynomial(r, co::expSingle, co::expTwice);
  p = e.fma(e.mul(r, r), p, r);
  return e.scale(e.zeroWhere(vanishes, e.add(p, e.constant(1))), n, t);
}

Value emitExp2(Emitter &e, Value x) {
  Value vanishes = e.less(x, e.constant(e.isDouble ? -1075 : -150));
  x = e.isDouble ? e.clamp(x, -1080, 1030) : e.clamp(x, -155, 130);
  Value magic = e.constant(e.roundingMagic());
  Value t = e.add(x, magic);
  Value n = e.sub(t, magic);
  Value r = e.sub(x, n);
  Value p = e.polynomial(r, co::exp2Single, co::exp2Twice);
  return e.scale(e.zeroWhere(vanishes, e.fma(r, p, e.constant(1))), n, t);
}

/// log(x) for base e, or log2(x).
Value emitLog(Emitter &e, Value x, bool base2) {
  double smallest = e.isDouble ? std::numeric_limits<double>::min() : std::numeric_limits<float>::min();
  // Subnormal numbers are scaled up first.
  Value isTiny = e.less(x, e.constant(smallest));
  Value scaled = e.select(isTiny, e.mul(x, e.constant(std::ldexp(1.0, e.mantissaBits() + 1))), x);
  // Split into m in [sqrt(1/2), sqrt(2)) and the exponent k.
  int64_t halfRoot = e.isDouble ? std::bit_cast<int64_t>(0.70710678118654752440)
                                : int64_t(std::bit_cast<int32_t>(0.70710678118654752440f));
  Value bits = e.toInt(scaled);
  Value k = e.sar(e.subI(bits, e.integer(halfRoot)), e.mantissaBits());
  Value m = e.toFloat(e.subI(bits, e.shl(k, e.mantissaBits())));
  Value kf = arith::SIToFPOp::create(e.b, e.loc, e.type, k);
  kf = e.sub(kf, e.select(isTiny, e.constant(e.mantissaBits() + 1), e.constant(0)));
  // log(1 + f) = f - (f^2/2 - s (f^2/2 + R)), s = f / (2 + f).
  Value f = e.sub(m, e.constant(1));
  Value s = e.div(f, e.add(f, e.constant(2)));
  Value z = e.mul(s, s);
  Value rest = e.mul(z, e.polynomial(z, co::logSingle, co::logTwice));
  Value half = e.mul(e.mul(f, f), e.constant(0.5));
  Value tail = e.mul(s, e.add(half, rest));
  Value result;
  if (base2) {
    // f/ln 2 in two parts keeps the leading product exact to the last bit.
    Value low = e.sub(tail, half);
    Value product = e.mul(f, e.constant(co::log2e));
    Value error = e.fma(f, co::log2e, e.negate(product));
    double residue = e.isDouble ? 2.0355273740931033e-17 : co::log2e - double(float(co::log2e));
    error = e.fma(f, residue, error);
    result = e.add(kf, e.add(product, e.fma(low, co::log2e, error)));
  } else {
    const co::Ln2 ln2 = e.isDouble ? co::ln2Twice : co::ln2Single;
    Value low = e.fma(kf, ln2.low, tail);
    result = e.sub(e.mul(kf, e.constant(ln2.high)), e.sub(e.sub(half, low), f));
  }
  // +inf stays, 0 gives -inf, negative numbers and NaN give NaN.
  double infinity = std::numeric_limits<double>::infinity();
  result = e.select(e.equal(x, e.constant(infinity)), x, result);
  result = e.select(e.equal(x, e.constant(0)), e.constant(-infinity), result);
  return e.select(e.unordered(x, e.constant(0)), e.constant(std::numeric_limits<double>::quiet_NaN()),
                  result);
}

/// Calls a libm function for a scalar, or for each lane of a vector.
Value emitLibraryCall(Emitter &e, MathFunction function, Value x) {
  auto scalar = [&](OpBuilder &b, Value v) -> Value {
    switch (function) {
    case MathFunction::Sin: return math::SinOp::create(b, e.loc, v);
    case MathFunction::Cos: return math::CosOp::create(b, e.loc, v);
    default: return math::ErfOp::create(b, e.loc, v);
    }
  };
  auto vector = dyn_cast<VectorType>(e.type);
  if (!vector)
    return scalar(e.b, x);
  Value zero = arith::ConstantIndexOp::create(e.b, e.loc, 0);
  Value one = arith::ConstantIndexOp::create(e.b, e.loc, 1);
  Value count = arith::ConstantIndexOp::create(e.b, e.loc, vector.getNumElements());
  auto loop = scf::ForOp::create(e.b, e.loc, zero, count, one, ValueRange{x});
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(loop.getBody());
  Value lane = loop.getInductionVar(), current = loop.getRegionIterArg(0);
  Value result = scalar(e.b, vector::ExtractOp::create(e.b, e.loc, current, OpFoldResult(lane)));
  Value inserted = vector::InsertOp::create(e.b, e.loc, result, current, OpFoldResult(lane));
  scf::YieldOp::create(e.b, e.loc, inserted);
  return loop.getResult(0);
}

Value emitSinCosSmall(Emitter &e, Value x, bool isCos) {
  Value magic = e.constant(e.roundingMagic());
  Value t = e.fma(x, co::twoOverPi, magic);
  Value n = e.sub(t, magic);
  Value r = x;
  for (double part : co::halfPiSingle)
    r = e.fma(n, -part, r);
  Value quadrant = e.toInt(t);
  if (isCos)
    quadrant = e.addI(quadrant, e.integer(1));
  Value z = e.mul(r, r);
  Value s = e.fma(e.mul(r, z), e.polynomial(z, co::sinSingle), r);
  Value c = e.fma(e.mul(z, z), e.polynomial(z, co::cosSingle), e.fma(z, -0.5, e.constant(1)));
  auto bitSet = [&](int64_t bit) -> Value {
    return arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ne, e.andI(quadrant, e.integer(bit)),
                                 e.integer(0));
  };
  Value result = e.select(bitSet(1), c, s);
  return e.select(bitSet(2), e.negate(result), result);
}

/// The reduction by three parts of pi/2 holds up to about 70,000; beyond, libm takes all lanes.
Value emitSinCos(Emitter &e, MathFunction function, Value x) {
  if (e.isDouble)
    return emitLibraryCall(e, function, x);
  Value large = arith::CmpFOp::create(e.b, e.loc, arith::CmpFPredicate::OGT, e.abs(x), e.constant(71000));
  if (isa<VectorType>(e.type))
    large = vector::ReductionOp::create(e.b, e.loc, vector::CombiningKind::OR, large);
  auto branch =
      scf::IfOp::create(e.b, e.loc, TypeRange{e.type}, large, /*addThenBlock=*/true, /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(e.b, e.loc, emitLibraryCall(e, function, x));
  e.b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(e.b, e.loc, emitSinCosSmall(e, x, function == MathFunction::Cos));
  return branch.getResult(0);
}

Value emitErf(Emitter &e, Value x) {
  // erf(x) = x + x P(x^2) near 0; 1 - exp(-G(|x|)) beyond 1.
  if (e.isDouble)
    return emitLibraryCall(e, MathFunction::Erf, x);
  Value magnitude = e.abs(x);
  Value inner = e.fma(x, e.polynomial(e.mul(x, x), co::erfNearSingle), x);
  Value limited = e.clamp(magnitude, 0, 4);
  Value outer = e.sub(e.constant(1), emitExp(e, e.negate(e.polynomial(limited, co::erfFarSingle))));
  return e.select(e.less(magnitude, e.constant(1)), inner, e.copySign(outer, x));
}

/// tanh(x) = x + x^3 P(x^2) up to 0.6; 1 - 2 / (exp(2 |x|) + 1) beyond.
Value emitTanh(Emitter &e, Value x) {
  Value magnitude = e.abs(x), z = e.mul(x, x);
  Value near = e.fma(e.mul(x, z), e.polynomial(z, co::tanhSingle, co::tanhTwice), x);
  Value power = emitExp(e, e.add(magnitude, magnitude));
  Value far = e.sub(e.constant(1), e.div(e.constant(2), e.add(power, e.constant(1))));
  // Near -0, too, the sum must not lose the sign.
  return e.copySign(e.select(e.less(magnitude, e.constant(0.6)), near, far), x);
}

} // namespace

Value emitMath(OpBuilder &b, Location loc, MathFunction function, Value x, const CPUOptions &options) {
  Emitter e(b, loc, x.getType(), options);
  switch (function) {
  case MathFunction::Exp: return emitExp(e, x);
  case MathFunction::Exp2: return emitExp2(e, x);
  case MathFunction::Log: return emitLog(e, x, /*base2=*/false);
  case MathFunction::Log2: return emitLog(e, x, /*base2=*/true);
  case MathFunction::Sin:
  case MathFunction::Cos: return emitSinCos(e, function, x);
  case MathFunction::Sqrt: return math::SqrtOp::create(b, loc, x);
  case MathFunction::Rsqrt: return e.div(e.constant(1), math::SqrtOp::create(b, loc, x));
  case MathFunction::Erf: return emitErf(e, x);
  case MathFunction::Tanh: return emitTanh(e, x);
  case MathFunction::Floor: return math::FloorOp::create(b, loc, x);
  case MathFunction::Ceil: return math::CeilOp::create(b, loc, x);
  }
  return x;
}

} // namespace despina::cpu
