//===- LayoutConstructors.cpp - The named distributed layouts -------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "LayoutConstructorsImpl.h"

#include "despina/Analysis/LayoutCluster.h"

#include "llvm/ADT/STLExtras.h"

#include <bit>
#include <utility>

namespace despina {

using enum LayoutDim;

namespace layout_detail {

bool isPowerOfTwo(int64_t x) { return x > 0 && std::has_single_bit(static_cast<uint64_t>(x)); }

unsigned log2Of(int64_t x) { return 63 - std::countl_zero(static_cast<uint64_t>(x)); }

bool areExtents(llvm::ArrayRef<int64_t> extents, unsigned rank) {
  return extents.size() == rank && llvm::all_of(extents, isPowerOfTwo);
}

bool isOrder(llvm::ArrayRef<unsigned> order, unsigned rank) {
  if (order.size() != rank)
    return false;
  for (unsigned axis = 0; axis < rank; ++axis)
    if (!llvm::is_contained(order, axis))
      return false;
  return true;
}

bool fits(llvm::ArrayRef<llvm::ArrayRef<int64_t>> lists) {
  unsigned bits = 0;
  for (llvm::ArrayRef<int64_t> list : lists)
    for (int64_t extent : list)
      bits += log2Of(extent);
  return bits <= maxLayoutBits;
}

LinearLayout identityND(LayoutDim in, llvm::ArrayRef<int64_t> extents, llvm::ArrayRef<unsigned> order) {
  LinearLayout result;
  for (unsigned axis : order)
    result *= LinearLayout::identity1D(extents[axis], in, tensorDim(axis));
  return result;
}

std::optional<LayoutExtents> shapePerBlock(LayoutShape shape, const ClusterSplit &cluster) {
  LayoutExtents result(shape.begin(), shape.end());
  if (cluster.blocks.empty() && cluster.split.empty() && cluster.order.empty())
    return result;
  if (!areExtents(cluster.blocks, shape.size()) || !areExtents(cluster.split, shape.size()) ||
      !isOrder(cluster.order, shape.size()) || !fits({cluster.blocks}))
    return std::nullopt;
  for (unsigned axis = 0; axis < shape.size(); ++axis) {
    if (cluster.split[axis] > cluster.blocks[axis])
      return std::nullopt;
    result[axis] = std::max<int64_t>(1, shape[axis] / cluster.split[axis]);
  }
  return result;
}

LinearLayout addBlocks(const LinearLayout &perBlock, LayoutShape shape, const ClusterSplit &cluster) {
  LinearLayout result = perBlock * LinearLayout::zeros1D(1, Block, tensorDim(0));
  for (unsigned axis : cluster.order) {
    LayoutDim out = tensorDim(axis);
    // More pieces than elements: some blocks hold copies.
    int64_t pieces = std::min(cluster.split[axis], shape[axis]);
    result *= LinearLayout::identity1D(pieces, Block, out);
    result *= LinearLayout::zeros1D(cluster.blocks[axis] / pieces, Block, out);
  }
  return result;
}

LinearLayout fitToShape(LinearLayout tile, LayoutShape shape, llvm::ArrayRef<unsigned> repeatOrder) {
  for (unsigned axis : repeatOrder) {
    LayoutDim out = tensorDim(axis);
    unsigned bits = log2Of(shape[axis]);
    if (tile.outBits(out) > bits)
      tile = tile.resizeOut(out, bits);
    else
      tile *= LinearLayout::identity1D(int64_t(1) << (bits - tile.outBits(out)), Register, out);
  }
  return tile;
}

LinearLayout inStandardOrder(const LinearLayout &layout, unsigned rank) {
  llvm::SmallVector<LayoutDim, 4> outs;
  for (unsigned axis = rank; axis-- > 0;)
    outs.push_back(tensorDim(axis));
  LinearLayout result = layout;
  for (LayoutDim out : outs)
    if (!result.hasOut(out))
      result *= LinearLayout::zeros1D(1, Register, out);
  return result.transposeOuts(outs).value_or(result);
}

std::optional<LinearLayout> distribute(const LinearLayout &tile, LayoutShape shape,
                                       llvm::ArrayRef<unsigned> repeatOrder, const ClusterSplit &cluster) {
  std::optional<LayoutExtents> perBlock = shapePerBlock(shape, cluster);
  if (!perBlock)
    return std::nullopt;
  LinearLayout places;
  for (LayoutDim in : {Register, Lane, Warp})
    places *= LinearLayout::zeros1D(1, in, tensorDim(0));
  LinearLayout result = addBlocks(fitToShape(places * tile, *perBlock, repeatOrder), shape, cluster);
  return inStandardOrder(result, shape.size());
}

} // namespace layout_detail

using namespace layout_detail;

LayoutOrder rowMajorOrder(unsigned rank) {
  LayoutOrder order;
  for (unsigned axis = rank; axis-- > 0;)
    order.push_back(axis);
  return order;
}

std::optional<LinearLayout::Dims> tensorDims(LayoutShape shape) {
  if (!areExtents(shape, shape.size()) || shape.size() > 32 || !fits({shape}))
    return std::nullopt;
  LinearLayout::Dims dims;
  for (unsigned axis = shape.size(); axis-- > 0;)
    dims.push_back({tensorDim(axis), log2Of(shape[axis])});
  return dims;
}

std::optional<LinearLayout> blockedLayout(LayoutShape shape, const BlockedParams &params) {
  unsigned rank = shape.size();
  if (!rank || !tensorDims(shape) || !areExtents(params.sizePerThread, rank) ||
      !areExtents(params.threadsPerWarp, rank) || !areExtents(params.warpsPerBlock, rank) ||
      !isOrder(params.order, rank) ||
      !fits({params.sizePerThread, params.threadsPerWarp, params.warpsPerBlock}))
    return std::nullopt;
  LinearLayout tile = identityND(Register, params.sizePerThread, params.order) *
                      identityND(Lane, params.threadsPerWarp, params.order) *
                      identityND(Warp, params.warpsPerBlock, params.order);
  return distribute(tile, shape, params.order, params.cluster);
}

BlockedParams filledParams(LayoutShape shape, int64_t sizePerThread, const LayoutOrder &order, unsigned lanes,
                           unsigned warps, const ClusterSplit &cluster) {
  LayoutExtents left = extentsPerBlock(shape, cluster), ones(shape.size(), 1);
  BlockedParams params{ones, ones, ones, order, cluster};
  auto fill = [&](LayoutExtents &extents, int64_t count) {
    for (unsigned axis : order) {
      extents[axis] = std::min(count, left[axis]);
      count /= extents[axis];
      left[axis] /= extents[axis];
    }
    extents[order.back()] *= count;
  };
  params.sizePerThread[order.front()] = std::min(sizePerThread, left[order.front()]);
  left[order.front()] /= params.sizePerThread[order.front()];
  fill(params.threadsPerWarp, lanes);
  fill(params.warpsPerBlock, warps);
  return params;
}

std::optional<LinearLayout> sliceLayout(const LinearLayout &parent, unsigned axis) {
  if (!parent.hasOut(tensorDim(axis)))
    return std::nullopt;
  llvm::SmallVector<LayoutDim, 4> kept;
  for (LayoutDim out : parent.outNames())
    if (out != tensorDim(axis))
      kept.push_back(out);
  LinearLayout result = parent.sublayout(parent.inNames(), kept).removeZeroBases(Register);
  for (unsigned later = axis + 1; later < parent.outs().size(); ++later)
    result = result.renameOut(tensorDim(later), tensorDim(later - 1));
  return result;
}

namespace {

/// The 8 x 4 threads of a fragment: \p perThread elements of axis \p fast each, four threads along it, then
/// eight along \p slow.
LinearLayout fragment(int64_t perThread, LayoutDim fast, LayoutDim slow) {
  return LinearLayout::identity1D(perThread, Register, fast) * LinearLayout::identity1D(4, Lane, fast) *
         LinearLayout::identity1D(8, Lane, slow);
}

/// A batch of dots has leading axes, over which warps are spread above the last two.
LinearLayout withBatchWarps(LinearLayout tile, llvm::ArrayRef<int64_t> warps) {
  for (unsigned axis = warps.size() - 2; axis-- > 0;)
    tile *= LinearLayout::identity1D(warps[axis], Warp, tensorDim(axis));
  return tile;
}

bool isDotShape(LayoutShape shape, llvm::ArrayRef<int64_t> warps) {
  return shape.size() >= 2 && tensorDims(shape) && areExtents(warps, shape.size()) && fits({shape, warps});
}

/// An operand: \p warpsAlong of the axes of the result in the order in which warps go along them.
std::optional<LinearLayout> operandLayout(LayoutShape shape, DotOperand operand, unsigned kWidth,
                                          llvm::ArrayRef<int64_t> warps, bool warpsDownFirst,
                                          const ClusterSplit &cluster) {
  if (!isDotShape(shape, warps) || !isPowerOfTwo(kWidth) || kWidth > 64)
    return std::nullopt;
  unsigned rank = shape.size();
  bool isA = operand == DotOperand::A;
  unsigned kAxis = isA ? rank - 1 : rank - 2, otherAxis = isA ? rank - 2 : rank - 1;
  LayoutDim k = tensorDim(kAxis), other = tensorDim(otherAxis);
  LinearLayout tile = fragment(kWidth, k, other);
  if (isA)
    tile *= LinearLayout::identity1D(2, Register, other);
  tile *= LinearLayout::identity1D(2, Register, k);
  // Warps follow the result, whose last two axes are M and N; those along the axis that this operand lacks
  // hold copies.
  LinearLayout rows = isA ? LinearLayout::identity1D(warps[rank - 2], Warp, other)
                          : LinearLayout::zeros1D(warps[rank - 2], Warp, other);
  LinearLayout columns = isA ? LinearLayout::zeros1D(warps[rank - 1], Warp, other)
                             : LinearLayout::identity1D(warps[rank - 1], Warp, other);
  tile *= warpsDownFirst ? rows * columns : columns * rows;
  LayoutOrder repeats = {kAxis, otherAxis};
  for (unsigned axis = rank - 2; axis-- > 0;)
    repeats.push_back(axis);
  return distribute(withBatchWarps(tile, warps), shape, repeats, cluster);
}

} // namespace

std::optional<LinearLayout> mmaAccumulatorLayout(LayoutShape shape, LayoutExtents warpsPerBlock,
                                                 const ClusterSplit &cluster) {
  if (!isDotShape(shape, warpsPerBlock))
    return std::nullopt;
  unsigned rank = shape.size();
  LayoutDim m = tensorDim(rank - 2), n = tensorDim(rank - 1);
  LinearLayout tile = fragment(2, n, m) * LinearLayout::identity1D(2, Register, m) *
                      LinearLayout::identity1D(warpsPerBlock[rank - 1], Warp, n) *
                      LinearLayout::identity1D(warpsPerBlock[rank - 2], Warp, m);
  return distribute(withBatchWarps(tile, warpsPerBlock), shape, rowMajorOrder(rank), cluster);
}

std::optional<LinearLayout> mmaOperandLayout(LayoutShape shape, DotOperand operand, unsigned kWidth,
                                             LayoutExtents warpsPerBlock, const ClusterSplit &cluster) {
  return operandLayout(shape, operand, kWidth, warpsPerBlock, /*warpsDownFirst=*/false, cluster);
}

std::optional<LinearLayout> wgmmaAccumulatorLayout(LayoutShape shape, unsigned instructionN,
                                                   LayoutExtents warpsPerBlock, const ClusterSplit &cluster) {
  if (!isDotShape(shape, warpsPerBlock) || !isPowerOfTwo(instructionN) || instructionN < 8 ||
      instructionN > 256)
    return std::nullopt;
  unsigned rank = shape.size();
  if (warpsPerBlock[rank - 2] % 4)
    return std::nullopt;
  LayoutDim m = tensorDim(rank - 2), n = tensorDim(rank - 1);
  LinearLayout tile = fragment(2, n, m) * LinearLayout::identity1D(2, Register, m) *
                      LinearLayout::identity1D(instructionN / 8, Register, n) *
                      LinearLayout::identity1D(warpsPerBlock[rank - 2], Warp, m) *
                      LinearLayout::identity1D(warpsPerBlock[rank - 1], Warp, n);
  return distribute(withBatchWarps(tile, warpsPerBlock), shape, rowMajorOrder(rank), cluster);
}

std::optional<LinearLayout> wgmmaOperandLayout(LayoutShape shape, unsigned elementBits,
                                               LayoutExtents warpsPerBlock, const ClusterSplit &cluster) {
  if (!isPowerOfTwo(elementBits) || elementBits < 8 || elementBits > 32 || warpsPerBlock.size() < 2 ||
      warpsPerBlock[warpsPerBlock.size() - 2] % 4)
    return std::nullopt;
  return operandLayout(shape, DotOperand::A, 32 / elementBits, warpsPerBlock, /*warpsDownFirst=*/true,
                       cluster);
}

} // namespace despina
