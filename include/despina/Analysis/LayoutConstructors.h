//===- LayoutConstructors.h - The named layouts -----------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// The layouts that have names are functions that return a linear layout. Distributed ones map (register,
// lane, warp, block) to the axes of a tile, shared ones (offset, block), offset counting elements.
// All return nothing for parameters that describe no layout: extents that are no powers of two, lists of
// different lengths, an order that is no permutation.
//
// A distributed layout is a small tile that is repeated or cut to fit the shape. Along an axis where the tile
// is shorter than the shape, register bits are added. Where it is longer, its highest bits become 0: the
// threads there hold copies.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_ANALYSIS_LAYOUTCONSTRUCTORS_H
#define DESPINA_ANALYSIS_LAYOUTCONSTRUCTORS_H

#include "despina/Analysis/LinearLayout.h"

namespace despina {

using LayoutShape = llvm::ArrayRef<int64_t>;
using LayoutExtents = llvm::SmallVector<int64_t, 4>;
/// Axes, the fastest one first.
using LayoutOrder = llvm::SmallVector<unsigned, 4>;

/// How the blocks of a cluster share a tile. Along axis i there are blocks[i] of them; they cut it into
/// split[i] pieces and hold copies beyond that. Empty lists: one block.
struct ClusterSplit {
  LayoutExtents blocks;
  LayoutExtents split;
  LayoutOrder order;
  bool operator==(const ClusterSplit &) const = default;
};

/// Rank - 1, ..., 0: rows of a row-major tile are contiguous.
LayoutOrder rowMajorOrder(unsigned rank);

/// The dimensions of a tile as layouts list them: last axis first.
std::optional<LinearLayout::Dims> tensorDims(LayoutShape shape);

struct BlockedParams {
  LayoutExtents sizePerThread;
  LayoutExtents threadsPerWarp;
  LayoutExtents warpsPerBlock;
  LayoutOrder order;
  ClusterSplit cluster;
};
/// Each thread has a small box, the threads of a warp a box of these, the warps a box of those.
std::optional<LinearLayout> blockedLayout(LayoutShape shape, const BlockedParams &params);

/// Boxes of \p sizePerThread elements along the first axis of \p order, with the lanes, then the warps
/// filling the axes of a block's part in that order; what is left over goes to the last one.
BlockedParams filledParams(LayoutShape shape, int64_t sizePerThread, const LayoutOrder &order, unsigned lanes,
                           unsigned warps, const ClusterSplit &cluster = {});

/// What is left of \p parent when \p axis is reduced away: registers that differ only along it fall
/// together, lanes and warps that do hold copies. Later axes move down by one.
std::optional<LinearLayout> sliceLayout(const LinearLayout &parent, unsigned axis);

/// Results of mma.sync m16n8. In the 16 x 8 tile, (row, column): registers (0,1) (8,0); lanes (0,2) (0,4)
/// (1,0) (2,0) (4,0). Warps are laid out row-major; repeats go along columns, then rows. Leading axes of a
/// batch are spread over warps.
std::optional<LinearLayout> mmaAccumulatorLayout(LayoutShape shape, LayoutExtents warpsPerBlock,
                                                 const ClusterSplit &cluster = {});

enum class DotOperand { A, B };
/// Operands of mma.sync: operand A of shape (M, K), B of shape (K, N), of elements that an instruction reads
/// \p kWidth at a time (32 bits / their width, at least 1): along K, kWidth registers; lanes kWidth, 2
/// kWidth; and one more register 4 kWidth. Along M (N): lanes 1, 2, 4; for A a register 8. Warps that lie
/// along the other axis of the result hold copies.
std::optional<LinearLayout> mmaOperandLayout(LayoutShape shape, DotOperand operand, unsigned kWidth,
                                             LayoutExtents warpsPerBlock, const ClusterSplit &cluster = {});

/// Results of wgmma m64nN: four warps, 16 rows each, of the 16 x 8 tile repeated N / 8 times along columns.
/// Warps go down the rows first; warpsPerBlock[0] is a multiple of 4.
std::optional<LinearLayout> wgmmaAccumulatorLayout(LayoutShape shape, unsigned instructionN,
                                                   LayoutExtents warpsPerBlock,
                                                   const ClusterSplit &cluster = {});
/// Operand A of wgmma in registers, shape (M, K).
std::optional<LinearLayout> wgmmaOperandLayout(LayoutShape shape, unsigned elementBits,
                                               LayoutExtents warpsPerBlock, const ClusterSplit &cluster = {});

struct SwizzledParams {
  unsigned vec = 1;
  unsigned perPhase = 1;
  unsigned maxPhase = 1;
  LayoutOrder order;
  ClusterSplit cluster;
};
/// Element (r, c) of a buffer of C columns lies at offset r * C + (c ^ (vec * ((r / perPhase) mod
/// maxPhase))), the swizzle taken modulo C: rows that would meet in the same banks are turned against each
/// other.
std::optional<LinearLayout> swizzledSharedLayout(LayoutShape shape, const SwizzledParams &params);

/// The swizzle with which ldmatrix reads operands of mma.sync without bank conflicts. \p order is that of the
/// buffer; \p kAxis is the axis that is summed over.
std::optional<SwizzledParams> dotOperandSwizzle(LayoutShape shape, const LayoutOrder &order, unsigned kAxis,
                                                unsigned elementBits, unsigned kWidth);

struct NvmmaSharedParams {
  /// 0, 32, 64 or 128.
  unsigned swizzleBytes = 128;
  unsigned elementBits = 16;
  /// The last axis but one is contiguous rather than the last.
  bool transposed = false;
  ClusterSplit cluster;
};
/// What TMA writes and wgmma reads. The contiguous axis is cut into blocks of S = swizzleBytes (16 if that is
/// 0), the slowest; in a block, rows of S bytes, and the 16-byte pieces of a row exchanged by XOR with
/// the number of the row: in a byte address, 128: bits 4-6 ^= 7-9; 64: bits 4-5 ^= 7-8; 32: bit 4 ^= 7. Axes
/// before the last two are more rows.
std::optional<LinearLayout> nvmmaSharedLayout(LayoutShape shape, const NvmmaSharedParams &params);

/// The widest swizzle for a buffer with \p contiguous elements per row and \p rows rows: the largest of 128,
/// 64, 32 that divides the row in bytes; 0 if there are fewer than 8 rows or none divides.
unsigned nvmmaSwizzleBytes(int64_t contiguous, int64_t rows, unsigned elementBits);
/// Bytes to which such a buffer must be aligned.
unsigned nvmmaAlignment(unsigned swizzleBytes);

} // namespace despina

#endif // DESPINA_ANALYSIS_LAYOUTCONSTRUCTORS_H
