//===- EmitMemory.h - Loads of global memory --------------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_TARGET_NVPTX_EMITMEMORY_H
#define DESPINA_LIB_TARGET_NVPTX_EMITMEMORY_H

#include "AccessPlan.h"
#include "InlinePTX.h"

namespace despina::nvptx {

/// What is read from global memory: a tile, or a scalar.
struct GlobalRead {
  mlir::Value pointers;
  mlir::Value mask;  ///< null: everything
  mlir::Value other; ///< where the mask is false; null: 0
  CacheHints hints;
};

/// The registers of what is read. None after an error was reported at `op`.
std::optional<Registers> readGlobal(ThreadEmitter &e, mlir::Operation *op, const GlobalRead &read);

/// Reports pointers through which no instruction of ours reads or writes.
mlir::LogicalResult checkAccess(mlir::Operation *op, mlir::Type pointers);

/// Where an access goes, with the mask as its predicate.
GlobalPlace placeOf(ThreadEmitter &e, mlir::Value pointers, mlir::Value mask, const MemoryAccess &access);

/// The values of some registers.
Registers pick(llvm::ArrayRef<mlir::Value> registers, llvm::ArrayRef<unsigned> indices);

} // namespace despina::nvptx

#endif // DESPINA_LIB_TARGET_NVPTX_EMITMEMORY_H
