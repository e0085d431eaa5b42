//===- ValueFlow.h - What control flow hands on -----------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_ANALYSIS_VALUEFLOW_H
#define DESPINA_ANALYSIS_VALUEFLOW_H

#include "mlir/IR/Operation.h"

namespace despina {

/// Calls `visit(from, to)` for each operand that the structured control flow of `op` hands on, and what gets
/// it: operands of loops and of the terminators of their regions, arguments of regions, results. Both have
/// one type.
void forEachValueFlow(mlir::Operation *op,
                      llvm::function_ref<void(mlir::OpOperand &from, mlir::Value to)> visit);

} // namespace despina

#endif // DESPINA_ANALYSIS_VALUEFLOW_H
