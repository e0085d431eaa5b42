//===- Legality.cpp - What the CPU target can lower -------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// LLVM reports some of what it cannot do by ending the process, so nothing unknown gets that far.
//
//===----------------------------------------------------------------------===//
#include "Lowering.h"

#include "despina/IR/TT.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;

namespace despina::cpu {

namespace {

bool isKnownOp(Operation *op) {
  if (isa<arith::ArithDialect>(op->getDialect()))
    return isa<arith::ConstantOp, arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::DivSIOp, arith::DivUIOp,
               arith::RemSIOp, arith::RemUIOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::ShLIOp,
               arith::ShRSIOp, arith::ShRUIOp, arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp,
               arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::RemFOp, arith::NegFOp,
               arith::MinNumFOp, arith::MaxNumFOp, arith::MinimumFOp, arith::MaximumFOp>(op) ||
           isa<arith::CmpIOp, arith::CmpFOp, arith::SelectOp, arith::SIToFPOp, arith::UIToFPOp,
               arith::FPToSIOp, arith::FPToUIOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp,
               arith::ExtFOp, arith::TruncFOp, arith::BitcastOp>(op);
  if (isa<math::MathDialect>(op->getDialect()))
    return isa<math::ExpOp, math::Exp2Op, math::LogOp, math::Log2Op, math::SinOp, math::CosOp, math::SqrtOp,
               math::RsqrtOp, math::ErfOp, math::FloorOp, math::CeilOp, math::AbsFOp, math::AbsIOp,
               math::FmaOp>(op);
  if (isa<scf::SCFDialect>(op->getDialect()))
    return isa<scf::ForOp, scf::IfOp, scf::WhileOp, scf::YieldOp, scf::ConditionOp>(op);
  if (isa<tt::TTDialect>(op->getDialect()))
    return !isa<tt::CallOp>(op);
  return isa<ub::PoisonOp, ModuleOp>(op);
}

bool isKnownElement(Type type) {
  if (auto pointer = dyn_cast<tt::PointerType>(type))
    return isKnownElement(pointer.getPointeeType());
  if (type.isF16() || type.isBF16() || type.isF32() || type.isF64())
    return true;
  return type.isInteger(1) || type.isInteger(8) || type.isInteger(16) || type.isInteger(32) ||
         type.isInteger(64);
}

/// The element type a reader thinks of: what pointers point to.
Type valueElement(Type type) {
  type = getElementTypeOrSelf(type);
  while (auto pointer = dyn_cast<tt::PointerType>(type))
    type = pointer.getPointeeType();
  return type;
}

Operation *enclosingCombine(Operation *op) {
  for (op = op->getParentOp(); op; op = op->getParentOp())
    if (isa<tt::ReduceOp, tt::ScanOp>(op))
      return op;
  return nullptr;
}

/// Combine regions compute: they neither touch memory nor print.
bool isCombinable(Operation *op) {
  return isa<arith::ArithDialect, math::MathDialect, scf::SCFDialect, ub::UBDialect>(op->getDialect()) ||
         isa<tt::ReduceReturnOp, tt::ScanReturnOp, tt::BitcastOp, tt::FpToFpOp, tt::ClampFOp,
             tt::PreciseSqrtOp, tt::PreciseDivFOp, tt::MulhiUIOp, tt::ExternElementwiseOp>(op);
}

LogicalResult checkOp(Operation *op) {
  if (isa<tt::FuncOp, tt::ReturnOp, ModuleOp>(op))
    return success();
  if (!isKnownOp(op))
    return op->emitOpError("is not supported on the CPU target yet");
  if (auto call = dyn_cast<tt::ExternElementwiseOp>(op); call && !isDeviceFunction(call))
    return op->emitError() << "the function '" << call.getSymbol()
                           << "' of a math library is not available on the CPU target";
  if (isa<tt::ElementwiseInlineAsmOp>(op))
    return op->emitError("inline assembly is not available on the CPU target");
  for (TypeRange types : {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    for (Type type : types)
      if (!isKnownElement(getElementTypeOrSelf(type)))
        return op->emitOpError("on ") << valueElement(type) << " is not supported on the CPU target yet";
  if (Operation *combine = enclosingCombine(op); combine && !isCombinable(op))
    return op->emitOpError("inside a combine function is not supported on the CPU target yet");
  if (isa<tt::AtomicRMWOp, tt::AtomicCASOp>(op) &&
      getElementTypeOrSelf(op->getResult(0).getType()).isInteger(1))
    return op->emitOpError("on i1 is not supported on the CPU target yet");
  return success();
}

} // namespace

LogicalResult checkSupported(ModuleOp module) {
  WalkResult result = module.walk(
      [](Operation *op) { return succeeded(checkOp(op)) ? WalkResult::advance() : WalkResult::interrupt(); });
  return failure(result.wasInterrupted());
}

} // namespace despina::cpu
