//===- EmitAtomic.h - Parts of the emitter of atomics -----------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_TARGET_NVPTX_EMITATOMIC_H
#define DESPINA_LIB_TARGET_NVPTX_EMITATOMIC_H

#include "Copies.h"
#include "ThreadEmitter.h"

namespace despina::nvptx {

/// Gives every thread the result of an atomic operation from what the threads that acted have: `values` has
/// one value for each register that is no copy, null at the others. Sets the registers of the result.
mlir::LogicalResult shareAtomicResult(ThreadEmitter &e, mlir::Operation *op, Registers values,
                                      const Copies &copies);

} // namespace despina::nvptx

#endif // DESPINA_LIB_TARGET_NVPTX_EMITATOMIC_H
