//===- LayoutConstructorsImpl.h - Pieces of the named layouts ---*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_ANALYSIS_LAYOUTCONSTRUCTORSIMPL_H
#define DESPINA_LIB_ANALYSIS_LAYOUTCONSTRUCTORSIMPL_H

#include "despina/Analysis/LayoutConstructors.h"

namespace despina::layout_detail {

/// No tile, and no set of threads, comes near this; twice it fits a matrix.
inline constexpr unsigned maxLayoutBits = 30;

bool isPowerOfTwo(int64_t x);
/// Of a power of two.
unsigned log2Of(int64_t x);
bool areExtents(llvm::ArrayRef<int64_t> extents, unsigned rank);
bool isOrder(llvm::ArrayRef<unsigned> order, unsigned rank);
/// Whether a layout over all these extents, powers of two, has a sane number of bits.
bool fits(llvm::ArrayRef<llvm::ArrayRef<int64_t>> lists);

/// The bits of \p in go along the axes of a box, in \p order.
LinearLayout identityND(LayoutDim in, llvm::ArrayRef<int64_t> extents, llvm::ArrayRef<unsigned> order);
/// The part of a shape that one block has. Nothing if \p cluster does not make sense.
std::optional<LayoutExtents> shapePerBlock(LayoutShape shape, const ClusterSplit &cluster);
/// Above the layout of one block, the blocks.
LinearLayout addBlocks(const LinearLayout &perBlock, LayoutShape shape, const ClusterSplit &cluster);
/// Repeats a tile in registers along axes in the given order, and cuts it where it is larger than the shape.
LinearLayout fitToShape(LinearLayout tile, LayoutShape shape, llvm::ArrayRef<unsigned> repeatOrder);
/// Outputs as layouts of tiles list them: last axis first.
LinearLayout inStandardOrder(const LinearLayout &layout, unsigned rank);
/// A tile of registers, lanes and warps over a shape and the blocks of a cluster.
std::optional<LinearLayout> distribute(const LinearLayout &tile, LayoutShape shape,
                                       llvm::ArrayRef<unsigned> repeatOrder, const ClusterSplit &cluster);

} // namespace despina::layout_detail

#endif // DESPINA_LIB_ANALYSIS_LAYOUTCONSTRUCTORSIMPL_H
