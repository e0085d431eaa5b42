//===- RemainderExpansion.cpp - fmod without libdevice --------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// |x| = a * 2^s and |y| = b * 2^t with integers a and b. Where s > t, the remainder of a * 2^(s - t) by b is
// taken in integers, as many bits of the power at a time as a register has room for; the result is exact.
//
//===----------------------------------------------------------------------===//
#include "RemainderExpansion.h"

#include <limits>

namespace despina::nvptx {

namespace {

using Value = llvm::Value *;

/// magnitude = mantissa * 2^(exponent - bias - mantissaBits), exponent >= 1; a 64-bit and an integer as wide
/// as the type.
struct Parts {
  Value mantissa, exponent;
};

Parts takeApart(MathBuilder &m, Value magnitude) {
  Value bits = m.toInt(magnitude);
  Value exponent = m.b.CreateLShr(bits, m.mantissaBits());
  const uint64_t one = uint64_t(1) << m.mantissaBits();
  Value fraction = m.b.CreateAnd(bits, m.integer(one - 1));
  Value isSubnormal = m.b.CreateICmpEQ(exponent, m.integer(0));
  Value mantissa = m.select(isSubnormal, fraction, m.b.CreateOr(fraction, m.integer(one)));
  return {m.b.CreateZExt(mantissa, m.b.getInt64Ty()), m.select(isSubnormal, m.integer(1), exponent)};
}

/// remainder * 2^(exponent - bias - mantissaBits), where 0 <= remainder < 2^(mantissaBits + 1).
Value putTogether(MathBuilder &m, Value remainder, Value exponent) {
  Value wide = m.b.CreateUIToFP(remainder, m.type); // exact
  // Two factors, both in range: the first takes the mantissa's bits off.
  Value scale = m.b.CreateSub(exponent, m.integer(m.exponentBias()));
  Value half = m.b.CreateAShr(scale, 1), rest = m.b.CreateSub(scale, half);
  Value result = m.mul(m.mul(wide, m.powerOfTwo(rest)), m.constant(std::ldexp(1.0, -m.mantissaBits())));
  return m.mul(result, m.powerOfTwo(half));
}

/// remainder * 2^count modulo divisor, by a loop.
Value shiftModulo(MathBuilder &m, Value remainder, Value count, Value divisor) {
  llvm::IRBuilder<> &b = m.b;
  llvm::LLVMContext &context = b.getContext();
  llvm::BasicBlock *before = b.GetInsertBlock();
  auto *header = llvm::BasicBlock::Create(context, "header", before->getParent());
  auto *body = llvm::BasicBlock::Create(context, "body", before->getParent());
  auto *after = llvm::BasicBlock::Create(context, "after", before->getParent());
  b.CreateBr(header);
  b.SetInsertPoint(header);
  llvm::PHINode *current = b.CreatePHI(remainder->getType(), 2), *left = b.CreatePHI(count->getType(), 2);
  b.CreateCondBr(b.CreateICmpSGT(left, m.integer(0)), body, after);
  b.SetInsertPoint(body);
  Value step = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, left, m.integer(63 - m.mantissaBits()));
  Value next = b.CreateURem(b.CreateShl(current, b.CreateZExt(step, b.getInt64Ty())), divisor);
  Value nextLeft = b.CreateSub(left, step);
  b.CreateBr(header);
  current->addIncoming(remainder, before);
  current->addIncoming(next, body);
  left->addIncoming(count, before);
  left->addIncoming(nextLeft, body);
  b.SetInsertPoint(after);
  return current;
}

} // namespace

Value emitRemainder(MathBuilder &m, Value x, Value y) {
  Value a = m.abs(x), c = m.abs(y);
  const Parts dividend = takeApart(m, a), divisor = takeApart(m, c);
  // Zero would divide by zero; its result is replaced below.
  Value one = llvm::ConstantInt::get(divisor.mantissa->getType(), 1);
  Value safe = m.b.CreateBinaryIntrinsic(llvm::Intrinsic::umax, divisor.mantissa, one);
  Value count = m.b.CreateSub(dividend.exponent, divisor.exponent);
  Value start = m.b.CreateURem(dividend.mantissa, safe);
  Value remainder = shiftModulo(m, start, count, safe);
  Value result = putTogether(m, remainder, divisor.exponent);
  result = m.select(m.less(a, c), a, result);
  Value infinity = m.constant(std::numeric_limits<double>::infinity());
  // NaN unless x is finite and y is a number other than 0.
  Value isDefined = m.b.CreateAnd(m.less(a, infinity), m.b.CreateFCmpOGT(c, m.constant(0)));
  result = m.select(isDefined, result, m.constant(std::numeric_limits<double>::quiet_NaN()));
  return m.copySign(result, x);
}

} // namespace despina::nvptx
