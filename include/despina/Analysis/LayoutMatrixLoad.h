//===- LayoutMatrixLoad.h - ldmatrix and stmatrix by layout -----*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// ldmatrix (and stmatrix) moves matrices of 8 rows of 16 bytes. Lane l has 4 bytes of each: those at byte 4
// (l mod 4) of row l / 4; or, transposed and for 16-bit elements, column l / 4 of rows 2 (l mod 4) and the
// next. The addresses of the rows of matrix i come from lanes 8 i to 8 i + 7. A pair of layouts allows it
// when, from places to offsets, the low bits are just these.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_ANALYSIS_LAYOUTMATRIXLOAD_H
#define DESPINA_ANALYSIS_LAYOUTMATRIXLOAD_H

#include "despina/Analysis/LayoutConversion.h"

namespace despina {

struct MatrixLoad {
  bool isTransposed = false;
  /// Matrices per instruction: 1, 2 or 4.
  unsigned matrices = 1;
  /// Registers of 4 bytes: word i is packed from registers i * perWord, ..., in this order.
  unsigned perWord = 2;
  /// For each instruction, where its first word is; its further words follow.
  llvm::SmallVector<unsigned, 8> firstWord;
  /// The offset, in elements, that a lane supplies: instruction[i] ^ terms.
  llvm::SmallVector<uint64_t, 8> instruction;
  ThreadTerms address;
};

/// Whether the registers of \p layout can be loaded from (stored to) \p memory, (offset, block) -> tile, so.
/// The lowest register bits make a word. Nothing when not, or when blocks would have to read from each other.
std::optional<MatrixLoad> matchMatrixLoad(const LinearLayout &memory, const LinearLayout &layout,
                                          unsigned elementBits);

} // namespace despina

#endif // DESPINA_ANALYSIS_LAYOUTMATRIXLOAD_H
