//===- MathExpansions.cpp - Elementary functions without libdevice --------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Each function reduces its argument to a short interval and evaluates a near-minimax polynomial there.
// Special values follow C's libm. Largest errors measured (unittests/Target/NVPTX/MathExpansionsTest.cpp): 2
// ulp.
//
//===----------------------------------------------------------------------===//
#include "MathExpansions.h"

#include "AngleReduction.h"
#include "MathBuilder.h"
#include "RemainderExpansion.h"

#include "despina/Target/ElementaryCoefficients.h"

#include "llvm/IR/Function.h"

#include <limits>

namespace despina::nvptx {

namespace {

using Value = llvm::Value *;
namespace co = coefficients;

constexpr double infinity = std::numeric_limits<double>::infinity();

Value emitExp(MathBuilder &m, Value x) {
  x = m.isDouble ? m.clamp(x, -746, 710) : m.clamp(x, -104.5, 89.5);
  Value magic = m.constant(m.roundingMagic());
  Value t = m.fma(x, co::log2e, magic);
  Value n = m.sub(t, magic);
  const co::Ln2 ln2 = m.isDouble ? co::ln2Twice : co::ln2Single;
  Value r = m.fma(n, -ln2.low, m.fma(n, -ln2.high, x));
  Value p = m.fma(m.mul(r, r), m.polynomial(r, co::expSingle, co::expTwice), r);
  return m.scale(m.add(p, m.constant(1)), t);
}

Value emitExp2(MathBuilder &m, Value x) {
  x = m.isDouble ? m.clamp(x, -1080, 1030) : m.clamp(x, -155, 130);
  Value magic = m.constant(m.roundingMagic());
  Value t = m.add(x, magic);
  Value r = m.sub(x, m.sub(t, magic));
  return m.scale(m.fma(r, m.polynomial(r, co::exp2Single, co::exp2Twice), m.constant(1)), t);
}

/// x = (1 + fraction) * 2^exponent, 1 + fraction in [sqrt(1/2), sqrt(2)); for positive finite x.
struct SplitNumber {
  Value fraction, exponent;
};
SplitNumber split(MathBuilder &m, Value x) {
  const double smallest = m.pick(std::numeric_limits<float>::min(), std::numeric_limits<double>::min());
  // Subnormal numbers are scaled up first.
  Value isTiny = m.less(x, m.constant(smallest));
  const int shift = m.mantissaBits() + 1;
  Value scaled = m.select(isTiny, m.mul(x, m.constant(std::ldexp(1.0, shift))), x);
  Value bits = m.toInt(scaled);
  Value exponent =
      m.b.CreateAShr(m.b.CreateSub(bits, m.integer(m.bitsOf(0.70710678118654752440))), m.mantissaBits());
  Value mantissa = m.toFloat(m.b.CreateSub(bits, m.b.CreateShl(exponent, m.mantissaBits())));
  Value asFloat = m.b.CreateSIToFP(exponent, m.type);
  asFloat = m.sub(asFloat, m.select(isTiny, m.constant(shift), m.constant(0)));
  return {m.sub(mantissa, m.constant(1)), asFloat};
}

/// log(x), or log2(x).
Value emitLog(MathBuilder &m, Value x, bool base2) {
  const auto [f, k] = split(m, x);
  Value s = m.div(f, m.add(f, m.constant(2)));
  Value z = m.mul(s, s);
  Value rest = m.mul(z, m.polynomial(z, co::logSingle, co::logTwice));
  Value half = m.mul(m.mul(f, f), m.constant(0.5));
  // log(1 + f) = f + (tail - half).
  Value tail = m.mul(s, m.add(half, rest));
  Value result;
  if (base2) {
    const double residue = m.pick(co::log2e - static_cast<float>(co::log2e), 2.0355273740931033e-17);
    Value low = m.fma(f, residue, m.mul(m.sub(tail, half), m.constant(co::log2e)));
    result = m.add(k, m.fma(f, co::log2e, low));
  } else {
    const co::Ln2 ln2 = m.isDouble ? co::ln2Twice : co::ln2Single;
    Value low = m.fma(k, ln2.low, tail);
    result = m.fma(k, ln2.high, m.sub(f, m.sub(half, low)));
  }
  result = m.select(m.equal(x, m.constant(infinity)), x, result);
  result = m.select(m.equal(x, m.constant(0)), m.constant(-infinity), result);
  return m.select(m.b.CreateFCmpULT(x, m.constant(0)), m.constant(std::numeric_limits<double>::quiet_NaN()),
                  result);
}

/// sin or cos of a reduced angle in `quadrant` of the circle.
Value emitSinCos(MathBuilder &m, Value x, bool isCos) {
  auto [r, quadrant] = reduceAngle(m, x);
  if (isCos)
    quadrant = m.b.CreateAdd(quadrant, m.integer(1));
  Value z = m.mul(r, r);
  Value s = m.fma(m.mul(r, z), m.polynomial(z, co::sinSingle, co::sinTwice), r);
  Value c = m.fma(m.mul(z, z), m.polynomial(z, co::cosSingle, co::cosTwice), m.fma(z, -0.5, m.constant(1)));
  auto bitSet = [&](uint64_t bit) {
    return m.b.CreateICmpNE(m.b.CreateAnd(quadrant, m.integer(bit)), m.integer(0));
  };
  Value result = m.select(bitSet(1), c, s);
  result = m.select(bitSet(2), m.negate(result), result);
  // The reduction loses the sign of zero.
  return isCos ? result : m.select(m.equal(x, m.constant(0)), x, result);
}

/// erf(x) = x + x P(x^2) up to 1; 1 - exp(-G(|x|)) beyond.
Value emitErf(MathBuilder &m, Value x) {
  Value magnitude = m.abs(x);
  Value near = m.fma(x, m.polynomial(m.mul(x, x), co::erfNearSingle, co::erfNearTwice), x);
  Value limited = m.clamp(magnitude, 0, m.pick(4, 6));
  Value exponent;
  if (m.isDouble)
    exponent = m.select(m.less(limited, m.constant(2.5)), m.polynomial(limited, co::erfMiddleTwice),
                        m.polynomial(limited, co::erfFarTwice));
  else
    exponent = m.polynomial(limited, co::erfFarSingle);
  Value far = m.sub(m.constant(1), emitExp(m, m.negate(exponent)));
  return m.select(m.less(magnitude, m.constant(1)), near, m.copySign(far, x));
}

/// tanh(x) = x + x^3 P(x^2) up to 0.6; 1 - 2 / (exp(2 |x|) + 1) beyond.
Value emitTanh(MathBuilder &m, Value x) {
  Value magnitude = m.abs(x);
  Value z = m.mul(x, x);
  Value near = m.fma(m.mul(x, z), m.polynomial(z, co::tanhSingle, co::tanhTwice), x);
  Value power = emitExp(m, m.add(magnitude, magnitude));
  Value far = m.sub(m.constant(1), m.div(m.constant(2), m.add(power, m.constant(1))));
  // Near -0, too, the sum must not lose the sign.
  return m.copySign(m.select(m.less(magnitude, m.constant(0.6)), near, far), x);
}

Value emitBody(MathBuilder &m, llvm::StringRef name, Value x) {
  if (name == "exp")
    return emitExp(m, x);
  if (name == "exp2")
    return emitExp2(m, x);
  if (name == "log" || name == "log2")
    return emitLog(m, x, /*base2=*/name == "log2");
  if (name == "sin" || name == "cos")
    return emitSinCos(m, x, /*isCos=*/name == "cos");
  if (name == "erf")
    return emitErf(m, x);
  if (name == "rsqrt")
    return m.div(m.constant(1), m.b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x));
  return name == "tanh" ? emitTanh(m, x) : nullptr;
}

} // namespace

bool giveBody(llvm::Function &function, llvm::function_ref<Value(llvm::IRBuilder<> &)> emit) {
  auto *entry = llvm::BasicBlock::Create(function.getContext(), "", &function);
  llvm::IRBuilder<> b(entry);
  Value result = emit(b);
  if (!result || result->getType() != function.getReturnType()) {
    entry->eraseFromParent();
    return false;
  }
  b.CreateRet(result);
  function.setLinkage(llvm::GlobalValue::InternalLinkage);
  function.setDoesNotThrow();
  return true;
}

bool expandDeviceFunction(llvm::Function &function) {
  llvm::StringRef name = function.getName();
  llvm::Type *type = function.getReturnType();
  // A kernel may declare the name with any type.
  auto isOfType = [&](const llvm::Argument &argument) { return argument.getType() == type; };
  if (!name.consume_front("__nv_") || !function.isDeclaration() || function.isVarArg() ||
      !llvm::all_of(function.args(), isOfType))
    return false;
  if (type->isFloatTy() ? !name.consume_back("f") : !type->isDoubleTy())
    return false;
  return giveBody(function, [&](llvm::IRBuilder<> &b) -> Value {
    MathBuilder m(b, type);
    if (function.arg_size() == 1)
      return emitBody(m, name, function.getArg(0));
    bool isRemainder = function.arg_size() == 2 && name == "fmod";
    return isRemainder ? emitRemainder(m, function.getArg(0), function.getArg(1)) : nullptr;
  });
}

} // namespace despina::nvptx
