//===- MemoryPasses.h - The last steps on ttg IR ----------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_TARGET_NVPTX_MEMORYPASSES_H
#define DESPINA_LIB_TARGET_NVPTX_MEMORYPASSES_H

#include "despina/Transforms/AllocateSharedMemory.h"

namespace despina::nvptx {

/// Fences before operations that reach shared memory another way than threads do (FenceInsertion.cpp).
void insertFences(mlir::ModuleOp module, const ScratchSize &scratchSize);

} // namespace despina::nvptx

#endif // DESPINA_LIB_TARGET_NVPTX_MEMORYPASSES_H
