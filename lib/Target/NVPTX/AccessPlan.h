//===- AccessPlan.h - Which elements a thread accesses together -*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Registers that hold neighbours in memory are moved by one instruction, if the pointers are known to be
// neighbours too (AxisInfo.h), aligned, and masked alike.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_TARGET_NVPTX_ACCESSPLAN_H
#define DESPINA_LIB_TARGET_NVPTX_ACCESSPLAN_H

#include "Copies.h"
#include "ThreadEmitter.h"

namespace despina::nvptx {

/// One access.
struct MemoryAccess {
  /// Registers of the tile, in the order of memory; a power of two.
  llvm::SmallVector<unsigned, 8> registers;
  /// The place: where the pointer in this register points, plus elements. Registers whose pointers have known
  /// distances share one, so that addresses are one number and constants.
  unsigned base = 0;
  int64_t offset = 0;
};

struct AccessPlan {
  /// Each element that the thread holds, once.
  llvm::SmallVector<MemoryAccess, 8> accesses;
  Copies copies;
};

/// For a scalar or a tile of pointers; `mask` may be null.
AccessPlan planAccess(const ThreadEmitter &e, mlir::Value pointers, mlir::Value mask, uint64_t maxElements);

} // namespace despina::nvptx

#endif // DESPINA_LIB_TARGET_NVPTX_ACCESSPLAN_H
