//===- LayoutBufferTest.cpp - Tiles to and from shared buffers ------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Every access of every thread is looked up in the layout of the buffer.
//
//===----------------------------------------------------------------------===//
#include "RandomLayouts.h"

#include "despina/Analysis/LayoutBuffer.h"
#include "despina/Analysis/LayoutConstructors.h"

#include "gtest/gtest.h"

using namespace despina;
using namespace despina::test;
using enum LayoutDim;

namespace {

struct Case {
  LinearLayout memory, tile;
  std::vector<int64_t> start;
};

/// Any buffer of 16 x 32, and a tile that is a window of it.
Case randomCase(Random &random) {
  Case result;
  LinearLayout::DimBits outs[] = {{tensorDim(1), 5}, {tensorDim(0), 4}};
  f2::Vectors columns = randomBasis(random, 9, random() % 2);
  if (random() % 2)
    result.memory =
        swizzledSharedLayout({16, 32}, {1u << below(random, 4), 1, 1u << below(random, 4), {1, 0}, {}})
            .value();
  else
    result.memory = LinearLayout::fromColumns({{Offset, 9}, {Block, 0}}, outs, columns).value();
  unsigned rowBits = below(random, 5), columnBits = below(random, 6);
  LinearLayout::DimBits window[] = {{tensorDim(1), columnBits}, {tensorDim(0), rowBits}};
  result.tile = randomDistributed(random, window, 3, 2, 0, below(random, 2), random() % 2);
  result.start = {static_cast<int64_t>(below(random, 16u >> rowBits)) << rowBits,
                  static_cast<int64_t>(below(random, 32u >> columnBits)) << columnBits};
  return result;
}

TEST(LayoutBuffer, EveryAccess) {
  Random random(51);
  unsigned vectors = 0;
  for (int i = 0; i < 300 && !HasFailure(); ++i) {
    Case test = randomCase(random);
    std::optional<BufferAccess> plan = planBufferAccess(test.memory, test.tile, 16);
    ASSERT_TRUE(plan);
    vectors += plan->vector > 1;
    uint64_t window = bufferOffset(test.memory, test.start);
    EXPECT_EQ(window & ~windowOffsetBits(test.memory, test.tile), 0u);
    std::vector<unsigned> stores(size_t(1) << test.tile.totalOutBits());
    for (uint64_t warp = 0; warp < 4; ++warp)
      for (uint64_t lane = 0; lane < 8; ++lane)
        for (const SharedAccess &access : plan->accesses) {
          ASSERT_EQ(access.registers.size(), plan->vector);
          uint64_t offset = access.offset ^ plan->offset.value(lane, warp, 0) ^ window;
          EXPECT_EQ(offset % plan->vector, 0u);
          for (unsigned j = 0; j < plan->vector; ++j) {
            std::pair<LayoutDim, uint64_t> place[] = {
                {Register, access.registers[j]}, {Lane, lane}, {Warp, warp}};
            std::pair<LayoutDim, uint64_t> at[] = {{Offset, offset + j}};
            for (unsigned axis : {0u, 1u})
              EXPECT_EQ(test.memory.apply(at, tensorDim(axis)),
                        test.tile.apply(place, tensorDim(axis)) + test.start[axis]);
            bool isCopy = (lane & plan->copyLanes) || (warp & plan->copyWarps);
            uint64_t element = test.tile.apply(place, tensorDim(0)) << test.tile.outBits(tensorDim(1)) |
                               test.tile.apply(place, tensorDim(1));
            stores[element] += !isCopy;
          }
        }
    // Each element is stored by one thread, once.
    EXPECT_TRUE(llvm::all_of(stores, [](unsigned count) { return count == 1; })) << test.tile.toString();
    for (unsigned reg = 0; reg < plan->finalIndex.size(); ++reg)
      EXPECT_EQ(test.tile.apply({{Register, reg}}), test.tile.apply({{Register, plan->finalIndex[reg]}}));
  }
  EXPECT_GT(vectors, 10u);
}

TEST(LayoutBuffer, WidestAccess) {
  LinearLayout memory = swizzledSharedLayout({64, 64}, {8, 1, 8, {1, 0}, {}}).value();
  LinearLayout rows = blockedLayout({64, 64}, {{1, 8}, {4, 8}, {4, 1}, {1, 0}, {}}).value();
  LinearLayout columns = blockedLayout({64, 64}, {{8, 1}, {8, 4}, {1, 4}, {0, 1}, {}}).value();
  EXPECT_EQ(planBufferAccess(memory, rows, 16)->vector, 8u);
  EXPECT_EQ(planBufferAccess(memory, rows, 32)->vector, 4u);
  EXPECT_EQ(planBufferAccess(memory, rows, 16, 64)->vector, 4u);
  EXPECT_EQ(planBufferAccess(memory, columns, 16)->vector, 1u);
  EXPECT_FALSE(planBufferAccess(memory, LinearLayout::identity1D(4, Register, tensorDim(0)), 16));
}

} // namespace
