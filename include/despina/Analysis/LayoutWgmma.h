//===- LayoutWgmma.h - Shared memory as wgmma describes it ------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// wgmma finds an operand in shared memory by a descriptor: how it is swizzled, and the distances between its
// atoms, which are 8 rows of S bytes (16 without swizzle). Whether a layout can be described, and by what, is
// a division: the layout must be an atom times a rest, and the distances are where the rest takes its first
// steps.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_ANALYSIS_LAYOUTWGMMA_H
#define DESPINA_ANALYSIS_LAYOUTWGMMA_H

#include "despina/Analysis/LinearLayout.h"

namespace despina {

struct WgmmaSharedOperand {
  /// 0, 32, 64 or 128.
  unsigned swizzleBytes = 0;
  /// The contiguous axis is not the one that is summed over (16-bit elements only).
  bool isMNContiguous = false;
  /// Fields of the descriptor, in bytes. Where there is only one atom in a direction, the distance does not
  /// matter and is 16.
  uint64_t leadingBytes = 16;
  uint64_t strideBytes = 16;
};

/// Matches the layout (offset, block) -> (dim1, dim0) of a matrix. \p kAxis is the axis that is summed over.
std::optional<WgmmaSharedOperand> matchWgmmaOperand(const LinearLayout &memory, unsigned elementBits,
                                                    unsigned kAxis);

/// The descriptor of an operand that starts at \p address (18 bits, a multiple of 16). For address 0 it is
/// the part that does not change: address >> 4 is added to it.
uint64_t wgmmaDescriptor(const WgmmaSharedOperand &operand, uint64_t address);

} // namespace despina

#endif // DESPINA_ANALYSIS_LAYOUTWGMMA_H
