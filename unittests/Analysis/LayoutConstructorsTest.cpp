//===- LayoutConstructorsTest.cpp - Named layouts against formulas --------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// The formulas here are written from the definitions (for fragments: the tables of the PTX manual), in plain
// arithmetic and with no use of bases.
//
//===----------------------------------------------------------------------===//
#include "despina/Analysis/LayoutConstructors.h"
#include "despina/Analysis/LayoutWgmma.h"

#include "gtest/gtest.h"

#include <set>

using namespace despina;
using enum LayoutDim;

namespace {

struct Position {
  uint64_t row, column;
  bool operator==(const Position &) const = default;
};
void PrintTo(Position p, std::ostream *os) { *os << "(" << p.row << ", " << p.column << ")"; }

Position at(const LinearLayout &layout, uint64_t reg, uint64_t lane, uint64_t warp = 0, uint64_t block = 0) {
  LinearLayout::Point place = {{Register, reg}, {Lane, lane}, {Warp, warp}, {Block, block}};
  return {layout.apply(place, tensorDim(0)), layout.apply(place, tensorDim(1))};
}

TEST(NamedLayouts, BlockedRowMajor) {
  // Thread tiles of 1 x 4, warps of 4 x 8 threads, 2 x 2 warps: 8 x 64, repeated to 16 x 128.
  LinearLayout layout = blockedLayout({16, 128}, {{1, 4}, {4, 8}, {2, 2}, {1, 0}, {}}).value();
  ASSERT_EQ(layout.inSize(Register), 16u);
  for (uint64_t warp = 0; warp < 4; ++warp)
    for (uint64_t lane = 0; lane < 32; ++lane)
      for (uint64_t reg = 0; reg < 16; ++reg) {
        uint64_t row = lane / 8 + 4 * (warp / 2), column = reg % 4 + 4 * (lane % 8) + 32 * (warp % 2);
        column += 64 * (reg / 4 % 2);
        row += 8 * (reg / 8);
        EXPECT_EQ(at(layout, reg, lane, warp), (Position{row, column}));
      }
  EXPECT_TRUE(layout.isPermutation());
  EXPECT_EQ(layout.numConsecutiveInOut(), 4u);
}

TEST(NamedLayouts, BlockedColumnMajorAndCopies) {
  // 64 x 1 threads over 16 x 4: rows wrap, and what is beyond holds copies.
  LinearLayout layout = blockedLayout({16, 4}, {{2, 1}, {32, 1}, {2, 2}, {0, 1}, {}}).value();
  ASSERT_EQ(layout.inSize(Register), 4u);
  for (uint64_t warp = 0; warp < 4; ++warp)
    for (uint64_t lane = 0; lane < 32; ++lane)
      for (uint64_t reg = 0; reg < 4; ++reg) {
        uint64_t row = (reg % 2 + 2 * lane) % 16, column = warp / 2 + 2 * (reg / 2);
        EXPECT_EQ(at(layout, reg, lane, warp), (Position{row, column}));
      }
  EXPECT_EQ(layout.freeVariableMask(Lane), 24u);
  EXPECT_EQ(layout.freeVariableMask(Warp), 1u);
}

TEST(NamedLayouts, BlockedOverACluster) {
  ClusterSplit cluster = {{2, 2}, {2, 1}, {0, 1}};
  LinearLayout layout = blockedLayout({64, 32}, {{1, 1}, {1, 32}, {4, 1}, {1, 0}, cluster}).value();
  for (uint64_t block = 0; block < 4; ++block)
    EXPECT_EQ(at(layout, 1, 3, 2, block), (Position{2 + 4 + 32 * (block % 2), 3}));
  EXPECT_EQ(layout.freeVariableMask(Block), 2u);
}

TEST(NamedLayouts, Slice) {
  LinearLayout parent = blockedLayout({16, 128}, {{2, 4}, {4, 8}, {2, 2}, {1, 0}, {}}).value();
  LinearLayout rows = sliceLayout(parent, 1).value(), columns = sliceLayout(parent, 0).value();
  EXPECT_EQ(rows.outs().size(), 1u);
  EXPECT_EQ(rows.inSize(Register), 2u);
  for (uint64_t warp = 0; warp < 4; ++warp)
    for (uint64_t lane = 0; lane < 32; ++lane) {
      for (uint64_t reg = 0; reg < 2; ++reg)
        EXPECT_EQ(rows.apply({{Register, reg}, {Lane, lane}, {Warp, warp}}, tensorDim(0)),
                  reg + 2 * (lane / 8) + 8 * (warp / 2));
      for (uint64_t reg = 0; reg < 8; ++reg)
        EXPECT_EQ(columns.apply({{Register, reg}, {Lane, lane}, {Warp, warp}}, tensorDim(0)),
                  reg % 4 + 4 * (lane % 8) + 32 * (warp % 2) + 64 * (reg / 4));
    }
  EXPECT_FALSE(sliceLayout(rows, 1));
}

/// PTX: c_i of m16n8 is at row lane / 4 (+ 8 for i >= 2), column (lane % 4) * 2 + i % 2.
Position accumulator(uint64_t i, uint64_t lane) {
  return {lane / 4 + (i >= 2 ? 8 : 0), lane % 4 * 2 + i % 2};
}

TEST(NamedLayouts, MmaAccumulator) {
  LinearLayout layout = mmaAccumulatorLayout({64, 64}, {2, 2}).value();
  ASSERT_EQ(layout.inSize(Register), 32u);
  for (uint64_t warp = 0; warp < 4; ++warp)
    for (uint64_t lane = 0; lane < 32; ++lane)
      for (uint64_t reg = 0; reg < 32; ++reg) {
        Position tile = accumulator(reg % 4, lane);
        uint64_t repeatN = reg / 4 % 4, repeatM = reg / 16;
        EXPECT_EQ(at(layout, reg, lane, warp), (Position{tile.row + 16 * (warp / 2) + 32 * repeatM,
                                                         tile.column + 8 * (warp % 2) + 16 * repeatN}));
      }
}

/// PTX's tables for A (16 x k) by element width: m16n8k8 .tf32, m16n8k16 .f16, m16n8k32 .u8.
Position fragmentA(unsigned bits, uint64_t i, uint64_t lane) {
  uint64_t group = lane / 4, thread = lane % 4;
  if (bits == 32)
    return {i == 0 || i == 2 ? group : group + 8, i < 2 ? thread : thread + 4};
  if (bits == 16) {
    uint64_t row = (i < 2 || (i >= 4 && i < 6)) ? group : group + 8;
    return {row, thread * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
  }
  uint64_t row = (i < 4 || (i >= 8 && i < 12)) ? group : group + 8;
  return {row, thread * 4 + (i & 3) + (i >= 8 ? 16 : 0)};
}

/// The same for B (k x 8).
Position fragmentB(unsigned bits, uint64_t i, uint64_t lane) {
  uint64_t group = lane / 4, thread = lane % 4;
  if (bits == 32)
    return {i == 0 ? thread : thread + 4, group};
  if (bits == 16)
    return {thread * 2 + (i & 1) + (i >= 2 ? 8 : 0), group};
  return {thread * 4 + (i & 3) + (i >= 4 ? 16 : 0), group};
}

TEST(NamedLayouts, MmaOperands) {
  for (unsigned bits : {8, 16, 32}) {
    unsigned width = 32 / bits, k = 8 * width;
    LinearLayout a = mmaOperandLayout({64, 2 * k}, DotOperand::A, width, {2, 2}).value();
    LinearLayout b = mmaOperandLayout({2 * k, 32}, DotOperand::B, width, {2, 2}).value();
    unsigned perA = 4 * width, perB = 2 * width;
    ASSERT_EQ(a.inSize(Register), 4u * perA);
    ASSERT_EQ(b.inSize(Register), 4u * perB);
    for (uint64_t warp = 0; warp < 4; ++warp)
      for (uint64_t lane = 0; lane < 32; ++lane) {
        for (uint64_t reg = 0; reg < 4 * perA; ++reg) {
          Position tile = fragmentA(bits, reg % perA, lane);
          uint64_t repeatK = reg / perA % 2, repeatM = reg / perA / 2;
          EXPECT_EQ(at(a, reg, lane, warp),
                    (Position{tile.row + 16 * (warp / 2) + 32 * repeatM, tile.column + k * repeatK}));
        }
        for (uint64_t reg = 0; reg < 4 * perB; ++reg) {
          Position tile = fragmentB(bits, reg % perB, lane);
          uint64_t repeatK = reg / perB % 2, repeatN = reg / perB / 2;
          EXPECT_EQ(at(b, reg, lane, warp),
                    (Position{tile.row + k * repeatK, tile.column + 8 * (warp % 2) + 16 * repeatN}));
        }
      }
  }
}

TEST(NamedLayouts, Wgmma) {
  // PTX, m64nNk16: d_i at row 16 * warp + lane / 4 + 8 * (i / 2 % 2), column 8 * (i / 4) + lane % 4 * 2 + i
  // % 2.
  LinearLayout d = wgmmaAccumulatorLayout({128, 128}, 64, {4, 2}).value();
  ASSERT_EQ(d.inSize(Register), 64u);
  LinearLayout a = wgmmaOperandLayout({64, 32}, 16, {4, 2}).value();
  for (uint64_t warp = 0; warp < 8; ++warp)
    for (uint64_t lane = 0; lane < 32; ++lane) {
      for (uint64_t reg = 0; reg < 64; ++reg) {
        uint64_t i = reg % 32, row = 16 * (warp % 4) + lane / 4 + 8 * (i / 2 % 2),
                 column = 8 * (i / 4) + lane % 4 * 2 + i % 2;
        EXPECT_EQ(at(d, reg, lane, warp), (Position{row + 64 * (reg / 32), column + 64 * (warp / 4)}));
      }
      for (uint64_t reg = 0; reg < 16; ++reg) {
        Position tile = fragmentA(16, reg % 8, lane);
        EXPECT_EQ(at(a, reg, lane, warp),
                  (Position{tile.row + 16 * (warp % 4), tile.column + 16 * (reg / 8)}));
      }
    }
  EXPECT_FALSE(wgmmaAccumulatorLayout({128, 128}, 64, {2, 2}));
  EXPECT_FALSE(wgmmaAccumulatorLayout({128, 128}, 4, {4, 1}));
}

/// An offset of a shared layout, in (row, column).
Position atOffset(const LinearLayout &layout, uint64_t offset) {
  return {layout.apply({{Offset, offset}}, tensorDim(0)), layout.apply({{Offset, offset}}, tensorDim(1))};
}

TEST(NamedLayouts, Swizzled) {
  for (unsigned vec : {1, 4, 8})
    for (unsigned perPhase : {1, 2})
      for (unsigned maxPhase : {1, 2, 8, 32}) {
        SwizzledParams params = {vec, perPhase, maxPhase, {1, 0}, {}};
        LinearLayout layout = swizzledSharedLayout({16, 64}, params).value();
        params.order = {0, 1};
        LinearLayout turned = swizzledSharedLayout({64, 16}, params).value();
        for (uint64_t row = 0; row < 16; ++row)
          for (uint64_t column = 0; column < 64; ++column) {
            uint64_t offset = row * 64 + (column ^ (vec * ((row / perPhase) % maxPhase)) % 64);
            EXPECT_EQ(atOffset(layout, offset), (Position{row, column}));
            EXPECT_EQ(atOffset(turned, offset), (Position{column, row}));
          }
      }
}

TEST(NamedLayouts, DotOperandSwizzle) {
  // 64 halves are a line of 128 bytes: 8 rows take turns with 8 pieces of 16 bytes.
  SwizzledParams a = dotOperandSwizzle({128, 64}, {1, 0}, 1, 16, 2).value();
  EXPECT_EQ(a.vec, 8u);
  EXPECT_EQ(a.perPhase, 1u);
  EXPECT_EQ(a.maxPhase, 8u);
  // 32 halves: two rows in a line.
  SwizzledParams narrow = dotOperandSwizzle({128, 32}, {1, 0}, 1, 16, 2).value();
  EXPECT_EQ(narrow.perPhase, 2u);
  EXPECT_EQ(narrow.maxPhase, 4u);
}

TEST(NamedLayouts, NvmmaSharedIsTheHardwareXor) {
  for (unsigned bits : {8, 16, 32})
    for (unsigned swizzle : {0, 32, 64, 128})
      for (bool transposed : {false, true}) {
        unsigned bytes = bits / 8, rows = 32, columns = 256 / bytes, blockBytes = std::max(16u, swizzle);
        LayoutExtents shape = transposed ? LayoutExtents{columns, rows} : LayoutExtents{rows, columns};
        LinearLayout layout = nvmmaSharedLayout(shape, {swizzle, bits, transposed, {}}).value();
        ASSERT_EQ(layout.inSize(Offset), uint64_t(rows) * columns);
        for (uint64_t row = 0; row < rows; ++row)
          for (uint64_t column = 0; column < columns; ++column) {
            uint64_t inRow = column * bytes;
            uint64_t address = inRow / blockBytes * blockBytes * rows + row * blockBytes + inRow % blockBytes;
            if (swizzle == 128)
              address ^= (address >> 7 & 7) << 4;
            if (swizzle == 64)
              address ^= (address >> 7 & 3) << 4;
            if (swizzle == 32)
              address ^= (address >> 7 & 1) << 4;
            Position expected = transposed ? Position{column, row} : Position{row, column};
            EXPECT_EQ(atOffset(layout, address / bytes), expected);
          }
      }
  EXPECT_EQ(nvmmaSwizzleBytes(64, 64, 16), 128u);
  EXPECT_EQ(nvmmaSwizzleBytes(16, 64, 16), 32u);
  EXPECT_EQ(nvmmaSwizzleBytes(64, 4, 16), 0u);
  EXPECT_EQ(nvmmaAlignment(128), 1024u);
}

TEST(NamedLayouts, BatchOfRowsIsMoreRows) {
  LinearLayout three = nvmmaSharedLayout({4, 8, 64}, {128, 16, false, {}}).value();
  LinearLayout two = nvmmaSharedLayout({32, 64}, {128, 16, false, {}}).value();
  EXPECT_EQ(three.flattenOuts(tensorDim(0)), two.flattenOuts(tensorDim(0)));
}

TEST(NamedLayouts, EveryFragmentCoversItsTile) {
  for (int64_t m : {16, 32, 128})
    for (int64_t n : {8, 16, 256})
      for (LayoutExtents warps : {LayoutExtents{1, 1}, LayoutExtents{4, 1}, LayoutExtents{2, 4}}) {
        EXPECT_TRUE(mmaAccumulatorLayout({m, n}, warps)->isSurjective());
        for (unsigned width : {1, 2, 4}) {
          EXPECT_TRUE(mmaOperandLayout({m, n}, DotOperand::A, width, warps)->isSurjective());
          EXPECT_TRUE(mmaOperandLayout({n, m}, DotOperand::B, width, warps)->isSurjective());
        }
        EXPECT_TRUE(mmaAccumulatorLayout({4, m, n}, {2, warps[0], warps[1]})->isSurjective());
      }
}

TEST(LayoutConstructors, FilledParams) {
  // Lanes along the row, then down; warps down.
  BlockedParams params = filledParams({32, 64}, 4, {1, 0}, 32, 4);
  EXPECT_EQ(params.sizePerThread, (LayoutExtents{1, 4}));
  EXPECT_EQ(params.threadsPerWarp, (LayoutExtents{2, 16}));
  EXPECT_EQ(params.warpsPerBlock, (LayoutExtents{4, 1}));
  // Columns first; fewer elements than a thread may have.
  params = filledParams({2, 64}, 8, {0, 1}, 32, 4);
  EXPECT_EQ(params.sizePerThread, (LayoutExtents{2, 1}));
  EXPECT_EQ(params.threadsPerWarp, (LayoutExtents{1, 32}));
  EXPECT_EQ(params.warpsPerBlock, (LayoutExtents{1, 4}));
  // Each block of a cluster fills its part.
  params = filledParams({32, 64}, 4, {1, 0}, 32, 4, {{2, 1}, {2, 1}, {0, 1}});
  EXPECT_EQ(params.threadsPerWarp, (LayoutExtents{2, 16}));
  EXPECT_EQ(params.warpsPerBlock, (LayoutExtents{4, 1}));
  EXPECT_EQ(params.cluster.split, (LayoutExtents{2, 1}));
  // Threads that are left over hold copies, and so do the other blocks of a cluster here.
  LinearLayout layout = blockedLayout({16}, filledParams({16}, 1, {0}, 32, 4, {{2}, {1}, {0}})).value();
  EXPECT_EQ(layout.toString(),
            "{register:; lane: (1) (2) (4) (8) (0); warp: (0) (0); block: (0)} -> (dim0: 16)");
}

TEST(NamedLayouts, RejectWhatIsNone) {
  EXPECT_FALSE(blockedLayout({16, 24}, {{1, 1}, {4, 8}, {1, 1}, {1, 0}, {}}));
  EXPECT_FALSE(blockedLayout({16, 32}, {{1, 3}, {4, 8}, {1, 1}, {1, 0}, {}}));
  EXPECT_FALSE(blockedLayout({16, 32}, {{1, 1}, {4, 8}, {1, 1}, {1, 1}, {}}));
  EXPECT_FALSE(blockedLayout({16, 32}, {{1}, {4, 8}, {1, 1}, {1, 0}, {}}));
  EXPECT_FALSE(blockedLayout({16, 32}, {{1, 1}, {4, 8}, {1, 1}, {1, 0}, {{2, 1}, {4, 1}, {0, 1}}}));
  EXPECT_FALSE(blockedLayout({int64_t(1) << 20, int64_t(1) << 20}, {{1, 1}, {4, 8}, {1, 1}, {1, 0}, {}}));
  EXPECT_FALSE(blockedLayout({}, {}));
  EXPECT_FALSE(blockedLayout({0}, {{1}, {32}, {1}, {0}, {}}));
  EXPECT_FALSE(mmaOperandLayout({16}, DotOperand::A, 2, {1}));
  EXPECT_FALSE(nvmmaSharedLayout({16, 4}, {128, 16, false, {}}));
  EXPECT_FALSE(nvmmaSharedLayout({16, 64}, {48, 16, false, {}}));
  EXPECT_FALSE(swizzledSharedLayout({16, 64}, {3, 1, 1, {1, 0}, {}}));
}

TEST(WgmmaOperand, StridesOfTheAtoms) {
  for (unsigned swizzle : {32, 64, 128}) {
    // Rows of K: 8 rows of an atom, then the next 8; the next block of S bytes comes after all rows.
    LinearLayout k = nvmmaSharedLayout({128, 256}, {swizzle, 16, false, {}}).value();
    WgmmaSharedOperand operand = matchWgmmaOperand(k, 16, 1).value();
    EXPECT_EQ(operand.swizzleBytes, swizzle);
    EXPECT_FALSE(operand.isMNContiguous);
    EXPECT_EQ(operand.strideBytes, 8u * swizzle);
    EXPECT_EQ(operand.leadingBytes, 128u * swizzle);
    // The same memory read with the other axis as K.
    operand = matchWgmmaOperand(k, 16, 0).value();
    EXPECT_TRUE(operand.isMNContiguous);
    EXPECT_EQ(operand.leadingBytes, 128u * swizzle);
    EXPECT_EQ(operand.strideBytes, 8u * swizzle);
    EXPECT_FALSE(matchWgmmaOperand(nvmmaSharedLayout({128, 256}, {swizzle, 8, false, {}}).value(), 8, 0));
  }
  LinearLayout oneBlock = nvmmaSharedLayout({64, 64}, {128, 16, true, {}}).value();
  WgmmaSharedOperand operand = matchWgmmaOperand(oneBlock, 16, 0).value();
  EXPECT_FALSE(operand.isMNContiguous);
  EXPECT_EQ(operand.leadingBytes, 16u);
  EXPECT_EQ(operand.strideBytes, 1024u);
  // Another swizzle, or none of blocks of columns, is not what the hardware reads.
  EXPECT_FALSE(matchWgmmaOperand(swizzledSharedLayout({64, 64}, {4, 1, 8, {1, 0}, {}}).value(), 16, 1));
  // But rows of 128 bytes, swizzled by 16 bytes for 8 rows, are the very same thing.
  EXPECT_EQ(
      matchWgmmaOperand(swizzledSharedLayout({64, 64}, {8, 1, 8, {1, 0}, {}}).value(), 16, 1)->swizzleBytes,
      128u);
}

TEST(WgmmaOperand, Descriptor) {
  WgmmaSharedOperand operand = {128, false, 16, 1024};
  EXPECT_EQ(wgmmaDescriptor(operand, 0x12340),
            uint64_t(1) << 62 | uint64_t(64) << 32 | uint64_t(1) << 16 | 0x1234);
  operand.swizzleBytes = 32;
  EXPECT_EQ(wgmmaDescriptor(operand, 0) >> 62, 3u);
}

} // namespace
