//===- VectorMath.h - Elementary functions as vector code -------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// The CPU target expands exp, log, sin and friends in place, so that they vectorise and inline; a call to a
// library costs several times the polynomial. Largest errors in fp32: 1 ULP for exp, exp2 and log, 1.2 for
// log2, 2 for sin, cos, erf and tanh; in fp64 1.2 for exp, exp2, log and log2, 3 for tanh, and libm is called
// for the rest.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_TARGET_CPU_VECTORMATH_H
#define DESPINA_LIB_TARGET_CPU_VECTORMATH_H

#include "despina/Target/CPU/CPUTarget.h"

#include "mlir/IR/Builders.h"

namespace despina::cpu {

enum class MathFunction { Exp, Exp2, Log, Log2, Sin, Cos, Sqrt, Rsqrt, Erf, Tanh, Floor, Ceil };

/// `x` is a scalar or vector of f32 or f64; the result has its type.
mlir::Value emitMath(mlir::OpBuilder &b, mlir::Location loc, MathFunction function, mlir::Value x,
                     const CPUOptions &options);

} // namespace despina::cpu

#endif // DESPINA_LIB_TARGET_CPU_VECTORMATH_H
