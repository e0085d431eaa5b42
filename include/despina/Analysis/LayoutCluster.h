//===- LayoutCluster.h - How blocks of a cluster share tiles ----*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// The blocks of a cluster run one program. Each has a part of a tile, or they have copies. What all tiles of
// one shape agree on needs no exchange between blocks; products decide for what they multiply, so that each
// block has what its part of the result needs.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_ANALYSIS_LAYOUTCLUSTER_H
#define DESPINA_ANALYSIS_LAYOUTCLUSTER_H

#include "despina/Analysis/LayoutConstructors.h"

namespace despina {

/// For a tile of which nothing is known: pieces along the first axes, as many as there are blocks, but none
/// so small that threads of a block have nothing. Blocks that are left over hold copies.
ClusterSplit spreadOverBlocks(LayoutShape shape, unsigned blocks, unsigned threadsPerBlock);

/// The same for the tiles of a product (..., M, K) x (..., K, N) = (..., M, N). The blocks share batches,
/// then rows, then columns of the result: first pieces that wgmma can make, then smaller ones. Of the factors
/// each block has what it multiplies.
struct ProductSplits {
  ClusterSplit a, b, c;
  ProductSplits(LayoutShape result, unsigned blocks);
};

/// A split with one axis whole in each block: of a factor, given the split of the result and the axis that is
/// summed over.
ClusterSplit wholeAlong(ClusterSplit split, unsigned axis);

/// How the blocks of a layout cut a tile, as far as each bit of their number cuts one axis.
ClusterSplit clusterSplitOf(const LinearLayout &layout);

/// A distributed layout in which blocks have these columns; what they leave of the tile goes, along the axes
/// in this order, to so many registers next to each other, to lanes, to warps and to more registers.
std::optional<LinearLayout> layoutWithBlocks(llvm::ArrayRef<LinearLayout::DimBits> outs,
                                             llvm::ArrayRef<uint64_t> blocks, const LayoutOrder &order,
                                             unsigned registerBits, unsigned laneBits, unsigned warpBits);

/// The extents that one block has.
LayoutExtents extentsPerBlock(LayoutShape shape, const ClusterSplit &split);

/// Axes of a tile, those along which neighbours lie in a thread or in neighbouring lanes first.
LayoutOrder axisOrderOf(const LinearLayout &layout);

} // namespace despina

#endif // DESPINA_ANALYSIS_LAYOUTCLUSTER_H
