//===- Scratch.h - Scratch memory of operations -----------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_TARGET_NVPTX_SCRATCH_H
#define DESPINA_LIB_TARGET_NVPTX_SCRATCH_H

#include "mlir/IR/Operation.h"

#include <cstdint>

namespace despina::nvptx {

/// Bytes of shared memory, aligned to 16, that the thread emitter's code for an operation uses while it runs;
/// 0 for most. `capability` is 90 for sm_90a. Allocation gives the operation an offset; the code has the
/// barriers between its own writes and reads.
uint64_t scratchBytes(mlir::Operation *op, unsigned capability);

// One for each family.
uint64_t atomicScratchBytes(mlir::Operation *op); // EmitAtomicResult.cpp
uint64_t tileScratchBytes(mlir::Operation *op);   // Plans.cpp: conversions, reductions, scans, gathers
/// Of ttng.make_tensor_map (EmitMakeTensorMap.cpp): a map, which is aligned to its size there.
inline constexpr uint64_t makeTensorMapScratchBytes = 128 + 112;

} // namespace despina::nvptx

#endif // DESPINA_LIB_TARGET_NVPTX_SCRATCH_H
