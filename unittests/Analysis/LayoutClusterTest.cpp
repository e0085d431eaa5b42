//===- LayoutClusterTest.cpp - How blocks share tiles ---------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "despina/Analysis/LayoutCluster.h"

#include "gtest/gtest.h"

using namespace despina;
using enum LayoutDim;

namespace {

TEST(LayoutCluster, PiecesAlongTheFirstAxes) {
  ClusterSplit rows = spreadOverBlocks({64, 64}, 4, 128);
  EXPECT_EQ(rows.split, (LayoutExtents{4, 1}));
  EXPECT_EQ(rows.blocks, (LayoutExtents{4, 1}));
  ClusterSplit both = spreadOverBlocks({2, 1024}, 8, 128);
  EXPECT_EQ(both.split, (LayoutExtents{2, 4}));
  // Threads of a block have something to do, or there are copies.
  ClusterSplit copies = spreadOverBlocks({16, 16}, 8, 128);
  EXPECT_EQ(copies.split, (LayoutExtents{2, 1}));
  EXPECT_EQ(copies.blocks, (LayoutExtents{2, 4}));
  EXPECT_EQ(spreadOverBlocks({64}, 4, 128).split, LayoutExtents{1});
  EXPECT_EQ(spreadOverBlocks({64, 64}, 1, 128), ClusterSplit());
}

TEST(LayoutCluster, BlocksOfProducts) {
  // Rows for groups of warps, as long as there are enough; then columns; then smaller pieces of both.
  EXPECT_EQ(ProductSplits({256, 128}, 4).c.split, (LayoutExtents{4, 1}));
  EXPECT_EQ(ProductSplits({128, 128}, 4).c.split, (LayoutExtents{2, 2}));
  EXPECT_EQ(ProductSplits({64, 128}, 2).c.split, (LayoutExtents{1, 2}));
  EXPECT_EQ(ProductSplits({64, 64}, 2).c.split, (LayoutExtents{2, 1}));
  EXPECT_EQ(ProductSplits({16, 16}, 2).c.split, (LayoutExtents{1, 1}));
  EXPECT_EQ(ProductSplits({16, 16}, 2).c.blocks, (LayoutExtents{1, 2}));
  EXPECT_EQ(ProductSplits({2, 64, 64}, 4).c.split, (LayoutExtents{2, 2, 1}));
  ProductSplits product({128, 128}, 4);
  EXPECT_EQ(product.a.split, (LayoutExtents{2, 1}));
  EXPECT_EQ(product.b.split, (LayoutExtents{1, 2}));
  EXPECT_EQ(product.a.blocks, product.c.blocks);
  EXPECT_EQ(extentsPerBlock({128, 64}, product.a), (LayoutExtents{64, 64}));
}

/// The same bits of block numbers tell rows, and columns, of all three tiles.
TEST(LayoutCluster, FactorsFollowTheResult) {
  for (unsigned blocks : {2, 4, 8})
    for (int64_t m : {16, 64, 256})
      for (int64_t n : {16, 64, 256}) {
        ProductSplits product({m, n}, blocks);
        auto layout = [&](LayoutShape shape, const ClusterSplit &split) {
          return blockedLayout(shape, filledParams(shape, 4, {1, 0}, 32, 4, split)).value();
        };
        LinearLayout a = layout({m, 32}, product.a), b = layout({32, n}, product.b),
                     c = layout({m, n}, product.c);
        for (unsigned bit = 0; bit < c.inBits(Block); ++bit) {
          EXPECT_EQ(a.basis(Block, bit, tensorDim(0)), c.basis(Block, bit, tensorDim(0)));
          EXPECT_EQ(b.basis(Block, bit, tensorDim(1)), c.basis(Block, bit, tensorDim(1)));
          EXPECT_EQ(a.basis(Block, bit, tensorDim(1)), 0u);
          EXPECT_EQ(b.basis(Block, bit, tensorDim(0)), 0u);
        }
        for (const LinearLayout *tile : {&a, &b, &c}) {
          EXPECT_TRUE(tile->isSurjective());
          EXPECT_EQ(tile->inBits(Block), static_cast<unsigned>(__builtin_ctz(blocks)));
        }
        EXPECT_EQ(clusterSplitOf(c).split, product.c.split);
      }
}

TEST(LayoutCluster, LayoutsWithBlocks) {
  LinearLayout::DimBits outs[] = {{tensorDim(1), 4}, {tensorDim(0), 3}};
  // The first block bit is a column and a row at once, the second makes copies.
  LinearLayout layout = layoutWithBlocks(outs, {0x18, 0}, {1, 0}, 1, 3, 1).value();
  EXPECT_EQ(layout.toString(),
            "{register: (0,1) (4,0); lane: (0,2) (0,4) (0,8); warp: (2,0); block: (1,8) (0,0)} -> "
            "(dim0: 8, dim1: 16)");
  EXPECT_TRUE(layout.isSurjective());
  // Fewer elements than threads.
  LinearLayout small = layoutWithBlocks(outs, {0x40}, {0, 1}, 0, 5, 2).value();
  EXPECT_EQ(small.toString(),
            "{register:; lane: (1,0) (2,0) (0,1) (0,2) (0,4); warp: (0,8) (0,0); block: (4,0)} -> "
            "(dim0: 8, dim1: 16)");
}

TEST(LayoutCluster, OrderOfAxes) {
  EXPECT_EQ(axisOrderOf(blockedLayout({16, 32}, filledParams({16, 32}, 4, {0, 1}, 32, 1)).value()),
            (LayoutOrder{0, 1}));
  EXPECT_EQ(axisOrderOf(blockedLayout({16, 32}, filledParams({16, 32}, 4, {1, 0}, 32, 1)).value()),
            (LayoutOrder{1, 0}));
}

} // namespace
