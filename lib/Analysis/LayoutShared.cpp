//===- LayoutShared.cpp - The named layouts of shared memory --------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "LayoutConstructorsImpl.h"

#include <algorithm>

namespace despina {

using enum LayoutDim;
using namespace layout_detail;

namespace {

/// A buffer of rows in which row bit i also moves the column by columnOfRowBit[i].
std::optional<LinearLayout> swizzledRows(unsigned rowBits, unsigned columnBits, LayoutDim row,
                                         LayoutDim column, llvm::ArrayRef<uint64_t> columnOfRowBit) {
  f2::Vectors columns;
  for (unsigned i = 0; i < columnBits; ++i)
    columns.push_back(uint64_t(1) << i);
  for (unsigned i = 0; i < rowBits; ++i)
    columns.push_back((columnOfRowBit[i] & f2::lowMask(columnBits)) | uint64_t(1) << (columnBits + i));
  return LinearLayout::fromColumns({{Offset, rowBits + columnBits}}, {{column, columnBits}, {row, rowBits}},
                                   columns);
}

/// What a phase of swizzling adds to the column, for each bit of the row.
f2::Vectors phases(unsigned rowBits, uint64_t vec, uint64_t perPhase, uint64_t maxPhase) {
  f2::Vectors result;
  for (unsigned i = 0; i < rowBits; ++i)
    result.push_back(vec * (((uint64_t(1) << i) / perPhase) % maxPhase));
  return result;
}

} // namespace

std::optional<LinearLayout> swizzledSharedLayout(LayoutShape shape, const SwizzledParams &params) {
  unsigned rank = shape.size();
  if (!rank || !tensorDims(shape) || !isOrder(params.order, rank) || !isPowerOfTwo(params.vec) ||
      !isPowerOfTwo(params.perPhase) || !isPowerOfTwo(params.maxPhase))
    return std::nullopt;
  std::optional<LayoutExtents> perBlock = shapePerBlock(shape, params.cluster);
  if (!perBlock)
    return std::nullopt;
  LinearLayout buffer;
  if (rank == 1) {
    buffer = LinearLayout::identity1D((*perBlock)[0], Offset, tensorDim(0));
  } else {
    unsigned column = params.order[0], row = params.order[1];
    unsigned rowBits = log2Of((*perBlock)[row]);
    std::optional<LinearLayout> plane =
        swizzledRows(rowBits, log2Of((*perBlock)[column]), tensorDim(row), tensorDim(column),
                     phases(rowBits, params.vec, params.perPhase, params.maxPhase));
    if (!plane)
      return std::nullopt;
    buffer = *plane;
  }
  for (unsigned i = 2; i < rank; ++i)
    buffer *= LinearLayout::identity1D((*perBlock)[params.order[i]], Offset, tensorDim(params.order[i]));
  return inStandardOrder(addBlocks(buffer, shape, params.cluster), rank);
}

std::optional<SwizzledParams> dotOperandSwizzle(LayoutShape shape, const LayoutOrder &order, unsigned kAxis,
                                                unsigned elementBits, unsigned kWidth) {
  unsigned rank = shape.size();
  if (rank < 2 || !tensorDims(shape) || !isOrder(order, rank) || kAxis >= rank ||
      !isPowerOfTwo(elementBits) || !isPowerOfTwo(kWidth))
    return std::nullopt;
  SwizzledParams params;
  params.order = order;
  uint64_t rowBits = elementBits * static_cast<uint64_t>(shape[order[0]]);
  params.perPhase = std::max<uint64_t>(1, 1024 / rowBits);
  // A matrix of ldmatrix is 8 rows of 4 * kWidth elements along K. Where K is not contiguous it is read
  // transposed, 8 contiguous elements at a time, and 4 * kWidth rows of these.
  bool kContiguous = order[0] == kAxis;
  uint64_t vec = kContiguous ? 4ull * kWidth : 8;
  uint64_t rows = kContiguous ? 8 : 4ull * kWidth;
  params.vec = static_cast<unsigned>(vec);
  uint64_t pieces = std::min(rows, std::max<uint64_t>(1, 1024 / (vec * elementBits)));
  params.maxPhase = std::max<uint64_t>(1, pieces / params.perPhase);
  return params;
}

unsigned nvmmaSwizzleBytes(int64_t contiguous, int64_t rows, unsigned elementBits) {
  if (rows < 8)
    return 0;
  for (unsigned bytes : {128u, 64u, 32u})
    if (contiguous * elementBits % (bytes * 8) == 0 && contiguous > 0)
      return bytes;
  return 0;
}

unsigned nvmmaAlignment(unsigned swizzleBytes) { return swizzleBytes ? swizzleBytes * 8 : 128; }

std::optional<LinearLayout> nvmmaSharedLayout(LayoutShape shape, const NvmmaSharedParams &params) {
  unsigned rank = shape.size(), swizzle = params.swizzleBytes;
  if (rank < 2 || !tensorDims(shape) || !isPowerOfTwo(params.elementBits) || params.elementBits < 4 ||
      params.elementBits > 64 || (swizzle != 0 && swizzle != 32 && swizzle != 64 && swizzle != 128))
    return std::nullopt;
  std::optional<LayoutExtents> perBlock = shapePerBlock(shape, params.cluster);
  if (!perBlock)
    return std::nullopt;
  unsigned fastAxis = params.transposed ? rank - 2 : rank - 1;
  unsigned fastBits = log2Of((*perBlock)[fastAxis]), rowBits = 0;
  LinearLayout::Dims flat, axes;
  LayoutOrder order = {fastAxis, params.transposed ? rank - 1 : rank - 2};
  for (unsigned axis = rank - 2; axis-- > 0;)
    order.push_back(axis);
  for (unsigned axis : order)
    axes.push_back({tensorDim(axis), log2Of((*perBlock)[axis])});
  for (unsigned axis : llvm::ArrayRef<unsigned>(order).drop_front())
    rowBits += log2Of((*perBlock)[axis]);

  unsigned blockBytes = std::max(16u, swizzle);
  unsigned blockBits = log2Of(int64_t(blockBytes) * 8 / params.elementBits);
  if (blockBits > fastBits)
    return std::nullopt;
  uint64_t vec = 128 / params.elementBits;
  f2::Vectors turns = swizzle ? phases(rowBits, vec, 128 / swizzle, swizzle / 16) : phases(rowBits, 1, 1, 1);
  LayoutDim fast = tensorDim(0), rows = tensorDim(1);
  std::optional<LinearLayout> columnBlock = swizzledRows(rowBits, blockBits, rows, fast, turns);
  if (!columnBlock)
    return std::nullopt;
  LinearLayout plane =
      *columnBlock * LinearLayout::identity1D(int64_t(1) << (fastBits - blockBits), Offset, fast);
  std::optional<LinearLayout> buffer = plane.reshapeOuts(axes);
  if (!buffer)
    return std::nullopt;
  return inStandardOrder(addBlocks(*buffer, shape, params.cluster), rank);
}

} // namespace despina
