//===- EmitElementwiseInteger.cpp - Arithmetic on integers ----------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// What LLVM leaves undefined has a meaning, the same as on the CPU: x / 0 = x, x % 0 = 0, the least number by
// -1 is itself, and a shift by the width or more leaves no bit (of a signed number: its sign).
//
//===----------------------------------------------------------------------===//
#include "EmitElementwise.h"

using namespace mlir;

namespace despina::nvptx {

namespace {

using Operands = ArrayRef<Value>;

Value compare(ThreadEmitter &e, LLVM::ICmpPredicate predicate, Value x, Value y) {
  return e.make<LLVM::ICmpOp>(predicate, x, y);
}

/// The divisor, or 1 where LLVM has no quotient.
Value safeDivisor(ThreadEmitter &e, Value x, Value y, bool isSigned) {
  std::optional<APInt> known = knownInteger(y);
  if (known && !known->isZero() && !(isSigned && known->isAllOnes()))
    return y;
  Type type = y.getType();
  Value bad = e.isZero(y);
  if (isSigned) {
    auto least = APInt::getSignedMinValue(type.getIntOrFloatBitWidth()).getSExtValue();
    Value overflows = e.bitAnd(compare(e, LLVM::ICmpPredicate::eq, y, e.constant(type, -1)),
                               compare(e, LLVM::ICmpPredicate::eq, x, e.constant(type, least)));
    bad = e.make<LLVM::OrOp>(bad, overflows);
  }
  return e.select(bad, e.constant(type, 1), y);
}

template <typename From, typename To, bool isSigned> Value divide(ThreadEmitter &e, From, Operands operands) {
  return e.make<To>(operands[0], safeDivisor(e, operands[0], operands[1], isSigned));
}

template <typename From, typename To> Value shift(ThreadEmitter &e, From, Operands operands) {
  Value x = operands[0], amount = operands[1];
  Type type = x.getType();
  unsigned width = type.getIntOrFloatBitWidth();
  if (std::optional<APInt> known = knownInteger(amount); known && known->ult(width))
    return e.make<To>(x, amount);
  constexpr bool isArithmetic = std::is_same_v<To, LLVM::AShrOp>;
  if (width == 1) // A shift by 1 is one by the width.
    return isArithmetic ? x : e.bitAnd(x, e.bitXor(amount, e.i1(true)));
  Value last = e.constant(type, width - 1);
  Value shifted = e.make<To>(x, e.make<LLVM::UMinOp>(amount, last));
  if (isArithmetic)
    return shifted;
  return e.select(compare(e, LLVM::ICmpPredicate::ule, amount, last), shifted, e.zero(type));
}

Value emitCompare(ThreadEmitter &e, arith::CmpIOp op, Operands operands) {
  // The two enumerations have the same order.
  return compare(e, static_cast<LLVM::ICmpPredicate>(op.getPredicate()), operands[0], operands[1]);
}

Value emitSelect(ThreadEmitter &e, arith::SelectOp, Operands operands) {
  return e.select(operands[0], operands[1], operands[2]);
}

Value emitAbs(ThreadEmitter &e, math::AbsIOp, Operands operands) {
  Value x = operands[0];
  return e.make<LLVM::SMaxOp>(x, e.make<LLVM::SubOp>(e.zero(x.getType()), x));
}

template <typename Extend> Registers multiplyWide(ThreadEmitter &e, Operands operands) {
  Type type = operands[0].getType();
  unsigned width = type.getIntOrFloatBitWidth();
  // No narrower than a byte: LLVM has no i2 on this target.
  Type wide = e.b.getIntegerType(std::max(8u, 2 * width));
  Value product = e.mul(e.make<Extend>(wide, operands[0]), e.make<Extend>(wide, operands[1]));
  Value high = e.make<LLVM::LShrOp>(product, e.constant(wide, width));
  return {e.make<LLVM::TruncOp>(type, product), e.make<LLVM::TruncOp>(type, high)};
}

/// The high half of a product; the assembler has it for 32 and 64 bits.
template <bool isSigned> Value multiplyHigh(ThreadEmitter &e, Operands operands) {
  Type type = operands[0].getType();
  if (type.isInteger(32))
    return callIntrinsic(e, isSigned ? "llvm.nvvm.mulhi.i" : "llvm.nvvm.mulhi.ui", type, operands);
  if (type.isInteger(64))
    return callIntrinsic(e, isSigned ? "llvm.nvvm.mulhi.ll" : "llvm.nvvm.mulhi.ull", type, operands);
  using Extend = std::conditional_t<isSigned, LLVM::SExtOp, LLVM::ZExtOp>;
  return multiplyWide<Extend>(e, operands)[1];
}

Value emitMulhi(ThreadEmitter &e, tt::MulhiUIOp, Operands operands) {
  return multiplyHigh<false>(e, operands);
}

template <typename Op, bool isSigned> LogicalResult emitMulExtended(ThreadEmitter &e, Op op) {
  return mapElements(e, op, [&](Operands operands) {
    return Registers{e.mul(operands[0], operands[1]), multiplyHigh<isSigned>(e, operands)};
  });
}

LogicalResult emitAddExtended(ThreadEmitter &e, arith::AddUIExtendedOp op) {
  return mapElements(e, op, [&](Operands operands) {
    Value sum = e.add(operands[0], operands[1]);
    return Registers{sum, compare(e, LLVM::ICmpPredicate::ult, sum, operands[0])};
  });
}

template <typename From, typename To> void addSame(EmitterTable &table) {
  addElements<From, sameInLLVM<From, To>>(table);
}

} // namespace

void addIntegerEmitters(EmitterTable &table) {
  addSame<arith::AddIOp, LLVM::AddOp>(table);
  addSame<arith::SubIOp, LLVM::SubOp>(table);
  addSame<arith::MulIOp, LLVM::MulOp>(table);
  addSame<arith::AndIOp, LLVM::AndOp>(table);
  addSame<arith::OrIOp, LLVM::OrOp>(table);
  addSame<arith::XOrIOp, LLVM::XOrOp>(table);
  addSame<arith::MinSIOp, LLVM::SMinOp>(table);
  addSame<arith::MaxSIOp, LLVM::SMaxOp>(table);
  addSame<arith::MinUIOp, LLVM::UMinOp>(table);
  addSame<arith::MaxUIOp, LLVM::UMaxOp>(table);
  addElements<arith::DivSIOp, divide<arith::DivSIOp, LLVM::SDivOp, true>>(table);
  addElements<arith::DivUIOp, divide<arith::DivUIOp, LLVM::UDivOp, false>>(table);
  addElements<arith::RemSIOp, divide<arith::RemSIOp, LLVM::SRemOp, true>>(table);
  addElements<arith::RemUIOp, divide<arith::RemUIOp, LLVM::URemOp, false>>(table);
  addElements<arith::ShLIOp, shift<arith::ShLIOp, LLVM::ShlOp>>(table);
  addElements<arith::ShRSIOp, shift<arith::ShRSIOp, LLVM::AShrOp>>(table);
  addElements<arith::ShRUIOp, shift<arith::ShRUIOp, LLVM::LShrOp>>(table);
  addElements<arith::CmpIOp, emitCompare>(table);
  addElements<arith::SelectOp, emitSelect>(table);
  addElements<math::AbsIOp, emitAbs>(table);
  addElements<tt::MulhiUIOp, emitMulhi>(table);
  table.add<arith::MulUIExtendedOp, emitMulExtended<arith::MulUIExtendedOp, false>>();
  table.add<arith::MulSIExtendedOp, emitMulExtended<arith::MulSIExtendedOp, true>>();
  table.add<arith::AddUIExtendedOp, emitAddExtended>();
}

} // namespace despina::nvptx
