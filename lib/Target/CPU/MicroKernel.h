//===- MicroKernel.h - Matrix products on tiles in memory -------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// `tt.dot` on the CPU: both operands and the accumulator are row-major buffers that fit the inner caches. The
// accumulator is cut into register blocks; each block runs over the whole inner dimension before it is
// stored. bf16 and int8 take AMX tiles where the host has them; other narrow types are widened to fp32 first.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_TARGET_CPU_MICROKERNEL_H
#define DESPINA_LIB_TARGET_CPU_MICROKERNEL_H

#include "despina/Target/CPU/CPUTarget.h"

#include "mlir/IR/Builders.h"

namespace despina::cpu {

/// A row-major matrix in memory.
struct MatrixRef {
  mlir::Value pointer; ///< !llvm.ptr to element (0, 0)
  mlir::Type element;
  int64_t rows = 0, cols = 0;
  mlir::Value leadingDim; ///< i64: elements between rows; null means `cols`
};

/// Emits c += a * bm. Accumulators: fp32 for fp32, bf16 and fp16 (fp16 accumulators are allowed too), fp64
/// for fp64, int32 for int8. `scratch` (64-byte aligned) has at least `dotScratchBytes` bytes.
void emitDot(mlir::OpBuilder &b, mlir::Location loc, const MatrixRef &a, const MatrixRef &bm,
             const MatrixRef &c, mlir::Value scratch, const CPUOptions &options);

/// Bytes of scratch memory `emitDot` needs for packed operands.
int64_t dotScratchBytes(mlir::Type aElement, mlir::Type cElement, int64_t m, int64_t n, int64_t k,
                        const CPUOptions &options);

/// True when `emitDot` can multiply operands of these types.
bool dotSupported(mlir::Type aElement, mlir::Type bElement, mlir::Type cElement);

} // namespace despina::cpu

#endif // DESPINA_LIB_TARGET_CPU_MICROKERNEL_H
