//===- VectorMath.h - Elementary functions as vector code -------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// The CPU target expands exp, log, sin and friends in place, so that they vectorise and inline; a call to a
// library costs several times the polynomial. Largest errors, over all fp32 inputs: 1 ULP for exp, exp2, log,
// log2, 2 ULP for sin, cos and erf; fp64 sin, cos and erf are calls to libm.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_TARGET_CPU_VECTORMATH_H
#define DESPINA_LIB_TARGET_CPU_VECTORMATH_H

#include "despina/Target/CPU/CPUTarget.h"

#include "mlir/IR/Builders.h"

namespace despina::cpu {

enum class MathFunction { Exp, Exp2, Log, Log2, Sin, Cos, Sqrt, Rsqrt, Erf, Floor, Ceil };

/// `x` is a scalar or vector of f32 or f64; the result has its type.
mlir::Value emitMath(mlir::OpBuilder &b, mlir::Location loc, MathFunction function, mlir::Value x,
                     const CPUOptions &options);

} // namespace despina::cpu

#endif // DESPINA_LIB_TARGET_CPU_VECTORMATH_H
