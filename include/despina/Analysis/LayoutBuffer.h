//===- LayoutBuffer.h - Tiles to and from shared buffers --------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// A tile, or a window of a buffer as large as a tile, is read and written at offsets that are a linear
// function of the place: the inverse of the buffer's layout at the tile's coordinates.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_ANALYSIS_LAYOUTBUFFER_H
#define DESPINA_ANALYSIS_LAYOUTBUFFER_H

#include "despina/Analysis/LayoutConversion.h"

namespace despina {

struct BufferAccess {
  /// Elements per access: consecutive, starting at a multiple of this.
  unsigned vector = 1;
  /// What the place of a thread adds (by XOR) to offsets, in elements.
  ThreadTerms offset;
  /// One for each access; registers with copies of what others hold do not occur.
  llvm::SmallVector<SharedAccess, 8> accesses;
  /// Register i holds the element of register finalIndex[i], which occurs.
  llvm::SmallVector<unsigned, 16> finalIndex;
  /// Threads with any of these bits set hold copies of what another one has; they need not store.
  uint64_t copyLanes = 0;
  uint64_t copyWarps = 0;
  uint64_t copyBlocks = 0;
};

/// How the registers of \p tile, (register, lane, warp, block) to the axes, meet \p memory, (offset, block)
/// to the same axes. Where the tile is shorter along an axis it is a window that starts at a multiple of its
/// extent: the offset of its first element is XORed to the offsets here. Nothing when blocks would have to
/// reach into each other's memory, or the axes do not match.
std::optional<BufferAccess> planBufferAccess(const LinearLayout &memory, const LinearLayout &tile,
                                             unsigned elementBits, unsigned maxVectorBits = 128);

/// The tile with the extents that \p memory has, nothing reaching beyond those it had; nothing where it is
/// the larger one.
std::optional<LinearLayout> tileInBuffer(const LinearLayout &memory, const LinearLayout &tile);

/// The bits of offsets that the start of such a window may have.
uint64_t windowOffsetBits(const LinearLayout &memory, const LinearLayout &tile);

/// The offset of an element, given by its coordinates.
uint64_t bufferOffset(const LinearLayout &memory, llvm::ArrayRef<int64_t> coordinates);

} // namespace despina

#endif // DESPINA_ANALYSIS_LAYOUTBUFFER_H
