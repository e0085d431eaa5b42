//===- EmitElementwiseCast.cpp - Conversions, pointers --------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Conversions to integers cut off the fraction; what is out of range becomes the nearest number, NaN becomes
// 0.
//
//===----------------------------------------------------------------------===//
#include "EmitElementwise.h"

using namespace mlir;

namespace despina::nvptx {

namespace {

using Operands = ArrayRef<Value>;

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

template <typename Op> LogicalResult emitFloatToFloat(ThreadEmitter &e, Op op) {
  bool towardZero = false;
  if constexpr (std::is_same_v<Op, tt::FpToFpOp>)
    towardZero = op.getRounding() == tt::RoundingMode::RTZ;
  if constexpr (std::is_same_v<Op, arith::TruncFOp>)
    towardZero = op.getRoundingmode() == arith::RoundingMode::toward_zero;
  return mapList(e, op, [&](Operands values) {
    return convertFloats(e, values, elementOf(op.getOperand()), elementOf(op), towardZero);
  });
}

/// A number of 32 or 64 bits as f32 with an odd last bit where it is inexact: rounding that to bf16 gives
/// what one rounding would.
Value integerToOddFloat(ThreadEmitter &e, Value x, bool isSigned) {
  bool isLong = x.getType().isInteger(64);
  StringRef to = isLong ? (isSigned ? "llvm.nvvm.ll2f.rz" : "llvm.nvvm.ull2f.rz")
                        : (isSigned ? "llvm.nvvm.i2f.rz" : "llvm.nvvm.ui2f.rz");
  StringRef back = isLong ? (isSigned ? "llvm.nvvm.f2ll.rz" : "llvm.nvvm.f2ull.rz")
                          : (isSigned ? "llvm.nvvm.f2i.rz" : "llvm.nvvm.f2ui.rz");
  Type f32 = e.b.getF32Type(), i32 = e.b.getI32Type();
  Value cut = callIntrinsic(e, to, f32, x);
  Value again = callIntrinsic(e, back, x.getType(), cut);
  Value isInexact = e.make<LLVM::ICmpOp>(LLVM::ICmpPredicate::ne, again, x);
  Value odd = e.make<LLVM::OrOp>(e.bitcast(cut, i32), e.make<LLVM::ZExtOp>(i32, isInexact));
  return e.bitcast(odd, f32);
}

template <typename Op, typename Convert, bool isSigned>
Value emitIntegerToFloat(ThreadEmitter &e, Op op, Operands operands) {
  Value x = operands[0];
  Type to = elementOf(op), f32 = e.b.getF32Type();
  using Extend = std::conditional_t<isSigned, LLVM::SExtOp, LLVM::ZExtOp>;
  if (unsigned width = x.getType().getIntOrFloatBitWidth(); width < 32)
    x = e.make<Extend>(e.b.getI32Type(), x);
  if (to.isF32() || to.isF64())
    return e.make<Convert>(to, x);
  // f16 overflows before f32 is inexact; bf16 does not.
  bool mayBeInexact = !to.isF16() && elementOf(op.getIn()).getIntOrFloatBitWidth() > 16;
  Value wide = mayBeInexact ? integerToOddFloat(e, x, isSigned) : e.make<Convert>(f32, x).getResult();
  return convertFloat(e, wide, f32, to);
}

/// The assembler's conversions saturate; those that give no 0 for NaN are corrected.
Value saturate(ThreadEmitter &e, Value x, bool isLong, bool isSigned) {
  bool isDouble = x.getType().isF64();
  std::string name = std::string("llvm.nvvm.") + (isDouble ? "d2" : "f2") + (isSigned ? "" : "u") +
                     (isLong ? "ll" : "i") + ".rz";
  Type type = isLong ? e.b.getI64Type() : e.b.getI32Type();
  Value result = callIntrinsic(e, name, type, x);
  if (!isDouble && !isLong)
    return result;
  return e.select(e.make<LLVM::FCmpOp>(LLVM::FCmpPredicate::uno, x, x), e.zero(type), result);
}

template <typename Op, bool isSigned> Value emitFloatToInteger(ThreadEmitter &e, Op op, Operands operands) {
  Type from = elementOf(op.getIn()), to = elementOf(op);
  Value x = from.isF64() ? operands[0] : convertFloat(e, operands[0], from, e.b.getF32Type());
  unsigned width = to.getIntOrFloatBitWidth();
  Value result = saturate(e, x, width > 32, isSigned);
  if (width >= 32)
    return result;
  Type i32 = e.b.getI32Type();
  if (isSigned) {
    int64_t limit = int64_t(1) << (width - 1);
    result = e.make<LLVM::SMinOp>(e.make<LLVM::SMaxOp>(result, e.constant(i32, -limit)),
                                  e.constant(i32, limit - 1));
  } else {
    result = e.make<LLVM::UMinOp>(result, e.constant(i32, (int64_t(1) << width) - 1));
  }
  return e.make<LLVM::TruncOp>(to, result);
}

//===----------------------------------------------------------------------===//
// Bits and pointers
//===----------------------------------------------------------------------===//

template <typename Op> Value emitBitcast(ThreadEmitter &e, Op op, Operands operands) {
  return e.bitcast(operands[0], e.llvmType(op.getType()));
}

template <typename Op, typename Extend> Value emitIndexCast(ThreadEmitter &e, Op op, Operands operands) {
  Type to = e.llvmType(op.getType()), from = operands[0].getType();
  if (to == from)
    return operands[0];
  if (to.getIntOrFloatBitWidth() < from.getIntOrFloatBitWidth())
    return e.make<LLVM::TruncOp>(to, operands[0]);
  return e.make<Extend>(to, operands[0]);
}

Value emitAddPointer(ThreadEmitter &e, tt::AddPtrOp op, Operands operands) {
  Type pointee = cast<tt::PointerType>(elementOf(op)).getPointeeType();
  // i1 takes a byte in memory.
  Type element = pointee.isInteger(1) ? e.b.getI8Type() : e.llvmType(pointee);
  if (std::optional<APInt> known = knownInteger(operands[1]); known && known->isZero())
    return operands[0];
  return e.elementPointer(operands[0], element, operands[1]);
}

} // namespace

void addCastEmitters(EmitterTable &table) {
  table.add<arith::ExtFOp, emitFloatToFloat<arith::ExtFOp>>();
  table.add<arith::TruncFOp, emitFloatToFloat<arith::TruncFOp>>();
  table.add<tt::FpToFpOp, emitFloatToFloat<tt::FpToFpOp>>();
  addElements<arith::SIToFPOp, emitIntegerToFloat<arith::SIToFPOp, LLVM::SIToFPOp, true>>(table);
  addElements<arith::UIToFPOp, emitIntegerToFloat<arith::UIToFPOp, LLVM::UIToFPOp, false>>(table);
  addElements<arith::FPToSIOp, emitFloatToInteger<arith::FPToSIOp, true>>(table);
  addElements<arith::FPToUIOp, emitFloatToInteger<arith::FPToUIOp, false>>(table);
  addElements<arith::ExtSIOp, sameInLLVM<arith::ExtSIOp, LLVM::SExtOp>>(table);
  addElements<arith::ExtUIOp, sameInLLVM<arith::ExtUIOp, LLVM::ZExtOp>>(table);
  addElements<arith::TruncIOp, sameInLLVM<arith::TruncIOp, LLVM::TruncOp>>(table);
  addElements<arith::IndexCastOp, emitIndexCast<arith::IndexCastOp, LLVM::SExtOp>>(table);
  addElements<arith::IndexCastUIOp, emitIndexCast<arith::IndexCastUIOp, LLVM::ZExtOp>>(table);
  addElements<arith::BitcastOp, emitBitcast<arith::BitcastOp>>(table);
  addElements<tt::BitcastOp, emitBitcast<tt::BitcastOp>>(table);
  addElements<tt::IntToPtrOp, emitBitcast<tt::IntToPtrOp>>(table);
  addElements<tt::PtrToIntOp, emitBitcast<tt::PtrToIntOp>>(table);
  addElements<tt::AddPtrOp, emitAddPointer>(table);
}

} // namespace despina::nvptx
