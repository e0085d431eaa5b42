//===- RandomLayouts.h - Layouts to test with -------------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_UNITTESTS_ANALYSIS_RANDOMLAYOUTS_H
#define DESPINA_UNITTESTS_ANALYSIS_RANDOMLAYOUTS_H

#include "despina/Analysis/LinearLayout.h"

#include <algorithm>
#include <random>

namespace despina::test {

using DimBits = LinearLayout::DimBits;
using Random = std::mt19937_64;

inline unsigned below(Random &random, unsigned n) { return n ? random() % n : 0; }

/// Any linear map between the given dimensions.
inline LinearLayout randomMap(Random &random, llvm::ArrayRef<DimBits> ins, llvm::ArrayRef<DimBits> outs) {
  unsigned inBits = 0, outBits = 0;
  for (const DimBits &dim : ins)
    inBits += dim.bits;
  for (const DimBits &dim : outs)
    outBits += dim.bits;
  f2::Vectors columns;
  for (unsigned i = 0; i < inBits; ++i)
    columns.push_back(random() & f2::lowMask(outBits));
  return LinearLayout::fromColumns(ins, outs, columns).value();
}

/// A basis of F2^n: unit vectors in any order, or mixed.
inline f2::Vectors randomBasis(Random &random, unsigned n, bool mixed) {
  f2::Vectors basis;
  for (unsigned i = 0; i < n; ++i)
    basis.push_back(uint64_t(1) << i);
  std::shuffle(basis.begin(), basis.end(), random);
  if (mixed && n > 1) {
    for (unsigned i = 0; i < 3 * n; ++i) {
      unsigned a = below(random, n), b = below(random, n);
      if (a != b)
        basis[a] ^= basis[b];
    }
  }
  return basis;
}

/// A layout of a whole tile of 2^(sum of outs) elements: a basis in any order over the places, with zero
/// columns or columns that repeat others for the places that are left. Registers are added when there are too
/// few places.
inline LinearLayout randomDistributed(Random &random, llvm::ArrayRef<DimBits> outs, unsigned laneBits,
                                      unsigned warpBits, unsigned blockBits, unsigned extraRegisters,
                                      bool mixed) {
  unsigned elements = 0;
  for (const DimBits &dim : outs)
    elements += dim.bits;
  unsigned threads = laneBits + warpBits + blockBits;
  unsigned zeroThreads = below(random, 3) == 0 ? below(random, threads + 1) : 0;
  unsigned useful = threads - zeroThreads;
  unsigned registers = (elements > useful ? elements - useful : 0) + extraRegisters;
  f2::Vectors columns = randomBasis(random, elements, mixed);
  while (columns.size() < registers + threads)
    columns.push_back(mixed && below(random, 2) ? random() & f2::lowMask(elements) : 0);
  std::shuffle(columns.begin(), columns.end(), random);
  return LinearLayout::fromColumns({{LayoutDim::Register, registers},
                                    {LayoutDim::Lane, laneBits},
                                    {LayoutDim::Warp, warpBits},
                                    {LayoutDim::Block, blockBits}},
                                   outs, columns)
      .value();
}

} // namespace despina::test

#endif // DESPINA_UNITTESTS_ANALYSIS_RANDOMLAYOUTS_H
