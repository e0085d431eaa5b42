//===- AllocateSharedMemory.h - Places buffers in shared memory -*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Both steps depend on how much scratch memory a target's code takes, so a target makes passes of them
// (lib/Target/NVPTX/Passes.cpp).
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_TRANSFORMS_ALLOCATESHAREDMEMORY_H
#define DESPINA_TRANSFORMS_ALLOCATESHAREDMEMORY_H

#include "despina/Analysis/SharedBuffers.h"

#include "mlir/IR/BuiltinOps.h"

namespace despina {

struct SharedPlacement {
  llvm::SmallVector<uint64_t, 8> offsets; ///< in bytes, one for each buffer
  uint64_t bytes = 0;
};
/// Offsets so that buffers that are in use at the same time share no byte.
SharedPlacement placeBuffers(llvm::ArrayRef<SharedBuffer> buffers);

/// Sets `ttg.offset` of the operations that own buffers, and `ttg.shared` of the module.
void allocateSharedMemory(mlir::ModuleOp module, const ScratchSize &scratchSize);

/// Inserts barriers (tt.barrier) so that no thread reads what another has not yet written, or overwrites what
/// another has not yet read. Offsets are set.
void insertBarriers(mlir::ModuleOp module, const ScratchSize &scratchSize);

} // namespace despina

#endif // DESPINA_TRANSFORMS_ALLOCATESHAREDMEMORY_H
