//===- AngleReduction.cpp - Angles modulo pi/2 ----------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Small angles: x - n * pi/2 with pi/2 in three parts and fused operations, the first of which is exact.
//
// Large angles (Payne and Hanek): x = m * 2^s with an integer m. Of 2/pi, the bits that give whole circles
// when multiplied with x are skipped, and those far behind the point do not matter: a window of two or three
// words is multiplied with m in integers. The top two bits are the quadrant, the others a fraction of it.
//
//===----------------------------------------------------------------------===//
#include "AngleReduction.h"

#include "despina/Target/ElementaryCoefficients.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/Module.h"

namespace despina::nvptx {

namespace {

using Value = llvm::Value *;
namespace co = coefficients;

/// 2/pi in binary, after one word of zeros. As many bits as the largest f64 needs.
constexpr uint64_t twoOverPiBits[] = {
    0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
    0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41,
    0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d, 0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab};

llvm::Constant *twoOverPiTable(MathBuilder &m) {
  llvm::Module &module = *m.b.GetInsertBlock()->getModule();
  constexpr const char *name = "despina_two_over_pi";
  if (llvm::GlobalVariable *known = module.getNamedGlobal(name))
    return known;
  llvm::Constant *words = llvm::ConstantDataArray::get(module.getContext(), twoOverPiBits);
  return new llvm::GlobalVariable(module, words->getType(), /*isConstant=*/true,
                                  llvm::GlobalValue::InternalLinkage, words, name);
}

ReducedAngle reduceSmall(MathBuilder &m, Value x) {
  Value magic = m.constant(m.roundingMagic());
  Value t = m.fma(x, co::twoOverPi, magic);
  Value n = m.sub(t, magic);
  Value rest = x;
  for (int part : {0, 1, 2})
    rest = m.fma(n, -m.pick(co::halfPiSingle[part], co::halfPiTwice[part]), rest);
  return {rest, m.toInt(t)};
}

/// Words of 2/pi from bit `offset` of the table on.
llvm::SmallVector<Value> window(MathBuilder &m, Value offset, unsigned count) {
  llvm::IRBuilder<> &b = m.b;
  llvm::Type *word = b.getInt64Ty();
  Value first = b.CreateLShr(offset, 6), shift = b.CreateAnd(offset, b.getInt64(63));
  llvm::SmallVector<Value> words;
  for (unsigned i = 0; i <= count; ++i) {
    Value address = b.CreateGEP(word, twoOverPiTable(m), b.CreateAdd(first, b.getInt64(i)));
    words.push_back(b.CreateLoad(word, address));
  }
  for (unsigned i = 0; i < count; ++i)
    words[i] = b.CreateIntrinsic(llvm::Intrinsic::fshl, word, {words[i], words[i + 1], shift});
  words.pop_back();
  return words;
}

/// The 64 high bits of a product of two words.
Value highProduct(MathBuilder &m, Value x, Value y) {
  llvm::Type *twoWords = m.b.getInt128Ty();
  Value product = m.b.CreateMul(m.b.CreateZExt(x, twoWords), m.b.CreateZExt(y, twoWords));
  return m.b.CreateTrunc(m.b.CreateLShr(product, 64), m.b.getInt64Ty());
}

/// The angle in parts of a circle: an integer of 64 bits for f32, of 128 for f64.
Value circleFraction(MathBuilder &m, Value magnitude) {
  llvm::IRBuilder<> &b = m.b;
  Value bits = b.CreateZExt(m.toInt(magnitude), b.getInt64Ty());
  Value exponent = b.CreateLShr(bits, m.mantissaBits());
  const uint64_t one = uint64_t(1) << m.mantissaBits();
  Value mantissa = b.CreateOr(b.CreateAnd(bits, b.getInt64(one - 1)), b.getInt64(one));
  // magnitude = mantissa * 2^s with s = exponent - bias - mantissaBits; the first s - 2 bits give circles.
  Value offset = b.CreateAdd(exponent, b.getInt64(64 - 2 - m.exponentBias() - m.mantissaBits()));
  if (!m.isDouble) {
    auto words = window(m, offset, 2);
    return b.CreateAdd(b.CreateMul(mantissa, words[0]), highProduct(m, mantissa, words[1]));
  }
  auto words = window(m, offset, 3);
  llvm::Type *wide = b.getInt128Ty();
  Value high = b.CreateShl(b.CreateZExt(b.CreateMul(mantissa, words[0]), wide), 64);
  Value middle = b.CreateMul(b.CreateZExt(mantissa, wide), b.CreateZExt(words[1], wide));
  return b.CreateAdd(b.CreateAdd(high, middle), b.CreateZExt(highProduct(m, mantissa, words[2]), wide));
}

/// A signed fraction of a quadrant, as an integer, to an angle.
Value toAngle(MathBuilder &m, Value fraction) {
  llvm::IRBuilder<> &b = m.b;
  constexpr double quadrantUnit = 1.5707963267948966 * 0x1p-64;
  if (!m.isDouble) {
    Value exact = b.CreateSIToFP(fraction, b.getDoubleTy());
    return b.CreateFPTrunc(b.CreateFMul(exact, llvm::ConstantFP::get(b.getDoubleTy(), quadrantUnit)), m.type);
  }
  // The highest 64 bits that are not sign.
  llvm::Type *wide = fraction->getType();
  Value isNegative = b.CreateICmpSLT(fraction, llvm::ConstantInt::get(wide, 0));
  Value magnitude = b.CreateSelect(isNegative, b.CreateNeg(fraction), fraction);
  // No f64 but 0 is that close to a multiple of pi/2 that all bits were 0; the 1 makes it certain.
  magnitude = b.CreateOr(magnitude, llvm::ConstantInt::get(wide, 1));
  Value zeros = b.CreateIntrinsic(llvm::Intrinsic::ctlz, wide, {magnitude, b.getTrue()});
  Value top = b.CreateTrunc(b.CreateLShr(b.CreateShl(magnitude, zeros), 64), b.getInt64Ty());
  Value angle = m.mul(b.CreateUIToFP(top, m.type), m.constant(quadrantUnit));
  angle = m.mul(angle, m.powerOfTwo(b.CreateNeg(b.CreateTrunc(zeros, m.intType))));
  return m.select(isNegative, m.negate(angle), angle);
}

ReducedAngle reduceLarge(MathBuilder &m, Value x) {
  llvm::IRBuilder<> &b = m.b;
  Value circle = circleFraction(m, m.abs(x));
  llvm::Type *type = circle->getType();
  const unsigned width = type->getIntegerBitWidth();
  // Rounded to the nearest quadrant, so that the signed rest is at most half of one.
  Value rounded = b.CreateAdd(circle, b.CreateShl(llvm::ConstantInt::get(type, 1), width - 3));
  Value quadrant = b.CreateZExtOrTrunc(b.CreateLShr(rounded, width - 2), m.intType);
  Value rest = toAngle(m, b.CreateShl(circle, 2));
  Value isNegative = m.less(x, m.constant(0));
  rest = m.select(isNegative, m.negate(rest), rest);
  quadrant = m.select(isNegative, b.CreateNeg(quadrant), quadrant);
  // x - x is 0, or NaN for infinity and NaN.
  return {m.add(rest, m.sub(x, x)), quadrant};
}

} // namespace

ReducedAngle reduceAngle(MathBuilder &m, Value x) {
  llvm::IRBuilder<> &b = m.b;
  llvm::LLVMContext &context = b.getContext();
  llvm::Function *function = b.GetInsertBlock()->getParent();
  auto *small = llvm::BasicBlock::Create(context, "small", function);
  auto *large = llvm::BasicBlock::Create(context, "large", function);
  auto *join = llvm::BasicBlock::Create(context, "reduced", function);
  b.CreateCondBr(b.CreateFCmpOLE(m.abs(x), m.constant(m.pick(71000, 0x1p29))), small, large);
  b.SetInsertPoint(small);
  const ReducedAngle ofSmall = reduceSmall(m, x);
  b.CreateBr(join);
  b.SetInsertPoint(large);
  const ReducedAngle ofLarge = reduceLarge(m, x);
  b.CreateBr(join);
  b.SetInsertPoint(join);
  auto merge = [&](Value first, Value second) {
    llvm::PHINode *phi = b.CreatePHI(first->getType(), 2);
    phi->addIncoming(first, small);
    phi->addIncoming(second, large);
    return phi;
  };
  return {merge(ofSmall.rest, ofLarge.rest), merge(ofSmall.quadrant, ofLarge.quadrant)};
}

} // namespace despina::nvptx
