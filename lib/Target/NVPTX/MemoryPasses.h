//===- MemoryPasses.h - The last steps on ttg IR ----------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_TARGET_NVPTX_MEMORYPASSES_H
#define DESPINA_LIB_TARGET_NVPTX_MEMORYPASSES_H

#include "despina/Target/NVPTX/NVPTXTarget.h"
#include "despina/Transforms/AllocateSharedMemory.h"

#include "mlir/Pass/PassManager.h"

namespace despina::nvptx {

/// Fences before operations that reach shared memory another way than threads do (FenceInsertion.cpp).
void insertFences(mlir::ModuleOp module, const ScratchSize &scratchSize);

/// On tile IR: accesses through descriptors become bulk copies where the hardware can follow
/// (SelectTensorMaps.cpp).
std::unique_ptr<mlir::Pass> createSelectTensorMaps(const Architecture &arch = {90, 'a'});
/// On ttg IR: bulk copies of tiles go through buffers (LowerTensorMaps.cpp).
std::unique_ptr<mlir::Pass> createLowerTensorMaps();
/// The last ones: fences, offsets, barriers.
void addMemoryPasses(mlir::OpPassManager &manager);
/// For despina-opt.
void registerMemoryPasses();

} // namespace despina::nvptx

#endif // DESPINA_LIB_TARGET_NVPTX_MEMORYPASSES_H
