//===- Copies.h - Which threads and registers hold copies -------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// A small tile, or one that was broadcast, is held several times over. Loads and arithmetic may be done for
// every copy; a store or an atomic is done once, by the copy whose bits named here are all 0.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_TARGET_NVPTX_COPIES_H
#define DESPINA_LIB_TARGET_NVPTX_COPIES_H

#include "mlir/IR/Types.h"

#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace despina::nvptx {

struct Copies {
  // Bits of the place of a thread that do not matter: the thread with them cleared has the same elements.
  uint64_t lane = 0, warp = 0, block = 0;
  /// And has them in the same registers.
  bool inSameRegisters = true;
  /// For each register, the first one of the same thread that holds the same element.
  llvm::SmallVector<unsigned, 8> first;

  bool isFirst(unsigned reg) const { return first[reg] == reg; }
  /// The registers that are not copies.
  llvm::SmallVector<unsigned, 8> distinct() const;
};

/// Of a tile in its layout, or of a scalar, which every thread of a program holds.
Copies copiesOf(mlir::Type type, unsigned numWarps, unsigned numCTAs);

} // namespace despina::nvptx

#endif // DESPINA_LIB_TARGET_NVPTX_COPIES_H
