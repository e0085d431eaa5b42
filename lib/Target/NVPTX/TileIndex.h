//===- TileIndex.h - Where a thread's registers are in a tile ---*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_TARGET_NVPTX_TILEINDEX_H
#define DESPINA_LIB_TARGET_NVPTX_TILEINDEX_H

#include "ThreadEmitter.h"

namespace despina::nvptx {

/// A linear function of a place, taken apart: the XOR of what the register and where the thread is give.
struct PlaceTerms {
  llvm::SmallVector<uint64_t, 8> registers; ///< for each bit of the register index
  ThreadTerms thread;

  uint64_t ofRegister(uint64_t index) const { return f2::multiply(registers, index); }
};

/// The bits that may differ between threads.
uint64_t bitsOf(const ThreadTerms &terms);

/// The terms that a layout from (register, lane, warp, block) gives to outputs: each output bit of \p layout
/// contributes weights[bit], 0 to leave it out.
PlaceTerms placeTerms(const LinearLayout &layout, llvm::ArrayRef<uint64_t> weights);

/// For each register of a tile, its coordinate along an axis plus `start`, i32.
Registers axisIndices(ThreadEmitter &e, const LinearLayout &layout, unsigned axis, int64_t start = 0);

/// For each register, what the terms say, i32. `plus` is added.
Registers placeValues(ThreadEmitter &e, const PlaceTerms &terms, uint64_t numRegisters, int64_t plus = 0);

} // namespace despina::nvptx

#endif // DESPINA_LIB_TARGET_NVPTX_TILEINDEX_H
