//===- Lowering.h - The steps of the CPU pipeline ---------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_TARGET_CPU_LOWERING_H
#define DESPINA_LIB_TARGET_CPU_LOWERING_H

#include "despina/Target/CPU/CPUPipeline.h"

namespace despina::cpu {

/// Loop-carried tiles that only ever grow by a uniform amount (`pointers += BLOCK * stride`) become a carried
/// scalar: the tile is then an expression again and its addresses stay contiguous.
void carryUniformSteps(mlir::ModuleOp module);

/// 8-bit floats become bytes; operations on their values compute in wider types.
mlir::LogicalResult replaceSmallFloats(mlir::ModuleOp module);

/// Whether a tt.extern_elementwise calls a function that the runtime has, with its types.
bool isDeviceFunction(mlir::Operation *call);

/// Reports operations and element types that the CPU target does not have yet.
mlir::LogicalResult checkSupported(mlir::ModuleOp module);

/// The one kernel's tiles become loops over vectors (TileEmitter.h); the tile function disappears.
std::optional<LoweredKernel> lowerTiles(mlir::ModuleOp module, const CPUOptions &options);

/// What `lowerTiles` leaves (scf, arith, vector) becomes the LLVM dialect.
mlir::LogicalResult convertToLLVMDialect(mlir::ModuleOp module);

} // namespace despina::cpu

#endif // DESPINA_LIB_TARGET_CPU_LOWERING_H
