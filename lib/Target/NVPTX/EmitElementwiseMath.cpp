//===- EmitElementwiseMath.cpp - Elementary functions ---------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// exp, exp2, sqrt and rsqrt of f32 are the hardware's fast ones; the others, and all but sqrt of f64, are
// calls by the names of libdevice. Narrower types are computed in f32 and rounded. docs/numerics.md has the
// bounds.
//
//===----------------------------------------------------------------------===//
#include "DeviceMath.h"
#include "EmitElementwise.h"

using namespace mlir;

namespace despina::nvptx {

namespace {

using Operands = ArrayRef<Value>;

/// Computes narrow types in f32, f32 and f64 as they are.
Value inWideType(ThreadEmitter &e, Type element, Operands operands, function_ref<Value(Operands)> function) {
  return element.isF64() ? function(operands) : computeInFloat32(e, element, operands, function);
}

template <typename Op> Value emitCall(ThreadEmitter &e, Op op, Operands operands) {
  return inWideType(e, elementOf(op), operands, [&](Operands values) -> Value {
    Type type = values[0].getType();
    std::optional<std::string> name = deviceFunctionName(op->getName().getStringRef(), type);
    return callDeviceFunction(e.b, e.loc, *name, type, values);
  });
}

/// f32 by the hardware's function, f64 by a call.
template <typename Op, FastMath function> Value emitFast(ThreadEmitter &e, Op op, Operands operands) {
  if (elementOf(op).isF64())
    return emitCall(e, op, operands);
  return computeInFloat32(e, elementOf(op), operands,
                          [&](Operands values) { return emitFastMath(e.b, e.loc, function, values[0]); });
}

Value emitSqrt(ThreadEmitter &e, math::SqrtOp op, Operands operands) {
  if (elementOf(op).isF64())
    return e.make<LLVM::SqrtOp>(operands[0]);
  return emitFast<math::SqrtOp, FastMath::Sqrt>(e, op, operands);
}

Value emitPreciseSqrt(ThreadEmitter &e, tt::PreciseSqrtOp op, Operands operands) {
  if (elementOf(op).isF64())
    return e.make<LLVM::SqrtOp>(operands[0]);
  return computeInFloat32(e, elementOf(op), operands, [&](Operands values) {
    return callIntrinsic(e, "llvm.nvvm.sqrt.rn.f", e.b.getF32Type(), values);
  });
}

/// What LLVM has as an instruction for f32 and f64.
template <typename From, typename To> Value emitInstruction(ThreadEmitter &e, From op, Operands operands) {
  return inWideType(e, elementOf(op), operands,
                    [&](Operands values) -> Value { return e.make<To>(values[0].getType(), values); });
}

template <typename... Ops> void addCalls(EmitterTable &table) {
  (addElements<Ops, emitCall<Ops>>(table), ...);
}
template <typename Op, FastMath function> void addFast(EmitterTable &table) {
  addElements<Op, emitFast<Op, function>>(table);
}
template <typename From, typename To> void addInstruction(EmitterTable &table) {
  addElements<From, emitInstruction<From, To>>(table);
}

} // namespace

void addMathEmitters(EmitterTable &table) {
  addFast<math::ExpOp, FastMath::Exp>(table);
  addFast<math::Exp2Op, FastMath::Exp2>(table);
  addFast<math::RsqrtOp, FastMath::Rsqrt>(table);
  addElements<math::SqrtOp, emitSqrt>(table);
  addElements<tt::PreciseSqrtOp, emitPreciseSqrt>(table);
  addInstruction<math::FloorOp, LLVM::FFloorOp>(table);
  addInstruction<math::CeilOp, LLVM::FCeilOp>(table);
  addInstruction<math::TruncOp, LLVM::FTruncOp>(table);
  addInstruction<math::RoundEvenOp, LLVM::RoundEvenOp>(table);
  addInstruction<math::CopySignOp, LLVM::CopySignOp>(table);
  addCalls<math::LogOp, math::Log2Op, math::Log10Op, math::Log1pOp, math::ExpM1Op, math::SinOp, math::CosOp,
           math::TanOp, math::SinhOp, math::CoshOp, math::TanhOp, math::AsinOp, math::AcosOp, math::AtanOp,
           math::AsinhOp, math::AcoshOp, math::AtanhOp, math::Atan2Op, math::ErfOp, math::ErfcOp,
           math::CbrtOp, math::PowFOp>(table);
}

} // namespace despina::nvptx
