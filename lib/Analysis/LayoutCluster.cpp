//===- LayoutCluster.cpp - How blocks of a cluster share tiles ------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "despina/Analysis/LayoutCluster.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace despina {

using enum LayoutDim;

namespace {

/// The rows of an instruction of wgmma; columns are cut alike, so that the factors keep their swizzle.
constexpr int64_t groupRows = 64;
/// The smallest piece that mma.sync makes without copies.
constexpr int64_t warpRows = 16;

/// All axes whole, in the order in which the bits of block numbers go along them.
ClusterSplit wholeTile(unsigned rank) {
  ClusterSplit split{LayoutExtents(rank, 1), LayoutExtents(rank, 1), {}};
  for (unsigned axis = 0; axis < rank; ++axis)
    split.order.push_back(axis);
  return split;
}

/// Cuts along an axis until pieces would be shorter than `least`, or no block is left.
void cut(ClusterSplit &split, unsigned axis, int64_t extent, int64_t least, int64_t &blocks) {
  while (blocks > 1 && extent / split.split[axis] >= 2 * least) {
    split.split[axis] *= 2;
    split.blocks[axis] *= 2;
    blocks /= 2;
  }
}

} // namespace

ClusterSplit spreadOverBlocks(LayoutShape shape, unsigned blocks, unsigned threadsPerBlock) {
  if (blocks <= 1)
    return {};
  int64_t elements = 1;
  for (int64_t extent : shape)
    elements *= extent;
  ClusterSplit split = wholeTile(shape.size());
  int64_t pieces = std::clamp<int64_t>(elements / threadsPerBlock, 1, blocks);
  int64_t copies = blocks / pieces;
  for (unsigned axis = 0; axis < shape.size(); ++axis)
    cut(split, axis, shape[axis], 1, pieces);
  split.blocks.back() *= pieces * copies;
  return split;
}

ProductSplits::ProductSplits(LayoutShape result, unsigned blocks) {
  if (blocks <= 1)
    return;
  unsigned rank = result.size(), row = rank - 2, column = rank - 1;
  int64_t left = blocks;
  c = wholeTile(rank);
  for (unsigned batch = 0; batch < row; ++batch)
    cut(c, batch, result[batch], 1, left);
  for (int64_t least : {groupRows, warpRows})
    for (unsigned axis : {row, column})
      cut(c, axis, result[axis], least, left);
  c.blocks[column] *= left;
  a = wholeAlong(c, column);
  b = wholeAlong(c, row);
}

ClusterSplit wholeAlong(ClusterSplit split, unsigned axis) {
  if (axis < split.split.size())
    split.split[axis] = 1;
  return split;
}

ClusterSplit clusterSplitOf(const LinearLayout &layout) {
  unsigned rank = layout.outs().size();
  if (layout.inBits(Block) == 0 || rank == 0)
    return {};
  ClusterSplit split = wholeTile(rank);
  for (unsigned bit = 0; bit < layout.inBits(Block); ++bit) {
    unsigned axis = 0;
    while (axis + 1 < rank && layout.basis(Block, bit, tensorDim(axis)) == 0)
      ++axis;
    split.blocks[axis] *= 2;
    if (layout.basis(Block, bit, tensorDim(axis)) != 0)
      split.split[axis] *= 2;
  }
  return split;
}

std::optional<LinearLayout> layoutWithBlocks(llvm::ArrayRef<LinearLayout::DimBits> outs,
                                             llvm::ArrayRef<uint64_t> blocks, const LayoutOrder &order,
                                             unsigned registerBits, unsigned laneBits, unsigned warpBits) {
  f2::Space covered(blocks);
  f2::Vectors rest;
  for (unsigned axis : order) {
    unsigned shift = 0;
    for (const LinearLayout::DimBits &out : outs) {
      for (unsigned bit = 0; out.dim == tensorDim(axis) && bit < out.bits; ++bit)
        if (covered.insert(uint64_t(1) << (shift + bit)))
          rest.push_back(uint64_t(1) << (shift + bit));
      shift += out.bits;
    }
  }
  llvm::ArrayRef<uint64_t> left = rest;
  auto take = [&](unsigned count) {
    f2::Vectors taken(left.take_front(std::min<size_t>(count, left.size())));
    left = left.drop_front(taken.size());
    return taken;
  };
  f2::Vectors registers = take(registerBits), lanes = take(laneBits), warps = take(warpBits);
  lanes.resize(laneBits, 0);
  warps.resize(warpBits, 0);
  llvm::append_range(registers, left);
  f2::Vectors columns = registers;
  for (llvm::ArrayRef<uint64_t> list :
       {llvm::ArrayRef<uint64_t>(lanes), llvm::ArrayRef<uint64_t>(warps), blocks})
    llvm::append_range(columns, list);
  return LinearLayout::fromColumns({{Register, static_cast<unsigned>(registers.size())},
                                    {Lane, laneBits},
                                    {Warp, warpBits},
                                    {Block, static_cast<unsigned>(blocks.size())}},
                                   outs, columns);
}

LayoutExtents extentsPerBlock(LayoutShape shape, const ClusterSplit &split) {
  LayoutExtents result(shape.begin(), shape.end());
  for (unsigned axis = 0; axis < split.split.size(); ++axis)
    result[axis] = std::max<int64_t>(1, result[axis] / split.split[axis]);
  return result;
}

LayoutOrder axisOrderOf(const LinearLayout &layout) {
  LayoutOrder order;
  for (uint64_t column : layout.matrix())
    for (LinearLayout::DimBits out : layout.outs())
      if (out.bits && column == uint64_t(1) << layout.outShift(out.dim) &&
          !llvm::is_contained(order, tensorAxis(out.dim)))
        order.push_back(tensorAxis(out.dim));
  for (unsigned axis : rowMajorOrder(layout.outs().size()))
    if (!llvm::is_contained(order, axis))
      order.push_back(axis);
  return order;
}

} // namespace despina
