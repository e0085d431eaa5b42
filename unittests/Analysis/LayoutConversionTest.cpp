//===- LayoutConversionTest.cpp - Conversion plans, executed --------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Plans run on simulated warps, blocks and clusters whose registers hold the numbers of their elements.
// Afterwards each register must hold the number that enumerating the destination gives.
//
//===----------------------------------------------------------------------===//
#include "RandomLayouts.h"
#include "SimulatedCluster.h"

#include "despina/Analysis/LayoutConstructors.h"

#include "gtest/gtest.h"

#include <map>

using namespace despina;
using namespace despina::test;
using enum LayoutDim;

namespace {

const LayoutDim dim0 = tensorDim(0), dim1 = tensorDim(1);

std::optional<ConversionPlan> check(const LinearLayout &from, const LinearLayout &to,
                                    const ConversionOptions &options = {}) {
  std::optional<ConversionPlan> plan = planConversion(from, to, options);
  if (!plan) {
    ADD_FAILURE() << "no plan: " << from.toString() << " to " << to.toString();
    return plan;
  }
  SharedErrors errors;
  Cluster result = execute(*plan, Cluster::holding(from), options.elementBits, errors);
  EXPECT_TRUE(result.threads == Cluster::holding(to).threads) << "kind " << int(plan->kind) << "\n"
                                                              << from.toString() << "\n"
                                                              << to.toString();
  EXPECT_EQ(errors.sum(), 0u) << errors.unaligned << " unaligned, " << errors.outOfBounds
                              << " out of bounds, " << errors.overwritten << " overwritten, "
                              << errors.foreign << " foreign, " << errors.wrongCount << " wrong counts\n"
                              << from.toString() << "\n"
                              << to.toString();
  return plan;
}

/// Whether each place's element is in the same thread (warp, block), by looking everywhere.
ConversionKind nearest(const LinearLayout &from, const LinearLayout &to) {
  Cluster source = Cluster::holding(from), wanted = Cluster::holding(to);
  std::vector<std::vector<bool>> warps(source.warps * source.blocks), blocks(source.blocks);
  size_t elements = size_t(1) << from.totalOutBits();
  for (auto *sets : {&warps, &blocks})
    for (std::vector<bool> &set : *sets)
      set.resize(elements);
  source.forEach([&](unsigned, unsigned warp, unsigned block, Registers &registers) {
    for (uint64_t element : registers)
      warps[warp + source.warps * block][element] = blocks[block][element] = true;
  });
  bool inThread = true, inWarp = true, inBlock = true;
  wanted.forEach([&](unsigned lane, unsigned warp, unsigned block, Registers &registers) {
    for (uint64_t element : registers) {
      inThread = inThread && llvm::is_contained(source.thread(lane, warp, block), element);
      inWarp &= warps[warp + source.warps * block][element];
      inBlock &= blocks[block][element];
    }
  });
  if (inThread)
    return ConversionKind::Registers;
  if (inWarp)
    return ConversionKind::Shuffle;
  return inBlock ? ConversionKind::SharedMemory : ConversionKind::ClusterSharedMemory;
}

struct Sweep {
  unsigned laneBits, warpBits, blockBits, maxElements;
  int rounds;
};

/// Random pairs of layouts; every kind that comes out must be the nearest there is.
std::map<ConversionKind, int> sweep(const Sweep &sweep, bool allowShuffle, uint64_t seed) {
  Random random(seed);
  std::map<ConversionKind, int> kinds;
  for (int i = 0; i < sweep.rounds; ++i) {
    unsigned bits = below(random, sweep.maxElements + 1), columns = below(random, bits + 1);
    LinearLayout::Dims outs = {{dim1, columns}, {dim0, bits - columns}};
    bool mixed = random() % 2;
    auto layout = [&] {
      return randomDistributed(random, outs, sweep.laneBits, sweep.warpBits, sweep.blockBits,
                               below(random, 2), mixed);
    };
    LinearLayout from = layout(), to = layout();
    if (i % 3 == 0) {
      // The same threads, but for a change of a few bits: more of what stays near.
      f2::Vectors changed(from.matrix());
      for (int swaps = 1 + below(random, 3); swaps-- && changed.size() > 1;)
        std::swap(changed[below(random, sweep.laneBits + from.inBits(Register))],
                  changed[below(random, sweep.laneBits + from.inBits(Register))]);
      to = LinearLayout::fromColumns(from.ins(), from.outs(), changed).value();
    }
    ConversionOptions options;
    options.elementBits = 1u << (3 + below(random, 4));
    options.allowShuffle = allowShuffle;
    options.shuffleAdvantage = random() % 2 ? 1e9 : 1.0;
    options.maxScratchBytes = random() % 2 ? 64 * 1024 : 256;
    std::optional<ConversionPlan> plan = check(from, to, options);
    if (!plan || ::testing::Test::HasFailure())
      return kinds;
    ++kinds[plan->kind];
    ConversionKind expected = nearest(from, to);
    ConversionKind kind = plan->kind == ConversionKind::None ? ConversionKind::Registers : plan->kind;
    bool isInstead = expected == ConversionKind::Shuffle && kind == ConversionKind::SharedMemory;
    EXPECT_TRUE(kind == expected || isInstead) << from.toString() << "\n" << to.toString();
  }
  return kinds;
}

TEST(LayoutConversion, RandomLayoutsOfAWarp) {
  std::map<ConversionKind, int> kinds = sweep({5, 0, 0, 9, 400}, true, 1);
  EXPECT_GT(kinds[ConversionKind::Shuffle], 50);
  EXPECT_GT(kinds[ConversionKind::SharedMemory], 20);
  EXPECT_GT(kinds[ConversionKind::Registers] + kinds[ConversionKind::None], 10);
}

TEST(LayoutConversion, RandomLayoutsOfABlock) {
  std::map<ConversionKind, int> kinds = sweep({5, 2, 0, 11, 250}, true, 2);
  EXPECT_GT(kinds[ConversionKind::SharedMemory], 50);
  EXPECT_GT(kinds[ConversionKind::Shuffle], 10);
}

TEST(LayoutConversion, RandomLayoutsWithoutShuffles) {
  EXPECT_GT(sweep({5, 1, 0, 12, 150}, false, 3)[ConversionKind::SharedMemory], 50);
}

TEST(LayoutConversion, RandomLayoutsOfACluster) {
  EXPECT_GT(sweep({3, 1, 2, 9, 250}, true, 4)[ConversionKind::ClusterSharedMemory], 50);
}

TEST(LayoutConversion, ShufflesServeEveryPermutationOfAWarp) {
  // With a bijection between places there is always one pass of shuffles, each value moving once.
  Random random(5);
  for (int i = 0; i < 200; ++i) {
    unsigned registers = below(random, 5);
    auto layout = [&] {
      return LinearLayout::fromColumns({{Register, registers}, {Lane, 5}}, {{dim0, registers + 5}},
                                       randomBasis(random, registers + 5, i % 2))
          .value();
    };
    ConversionOptions options;
    options.shuffleAdvantage = 1e9;
    std::optional<ConversionPlan> plan = check(layout(), layout(), options);
    ASSERT_TRUE(plan && plan->kind != ConversionKind::SharedMemory);
    EXPECT_LE(plan->shuffle.shuffles, 1u << registers);
  }
}

TEST(LayoutConversion, TranspositionsOfBitsAreButterflies) {
  // m register bits change places with m lane bits: (1 - 2^-m) of the values move, and selects take m per
  // value on either side.
  for (unsigned m = 0; m <= 4; ++m) {
    f2::Vectors from, to;
    for (unsigned bit = 0; bit < 9; ++bit)
      from.push_back(uint64_t(1) << bit);
    to = from;
    for (unsigned bit = 0; bit < m; ++bit)
      std::swap(to[bit], to[4 + bit]);
    auto layout = [&](const f2::Vectors &columns) {
      return LinearLayout::fromColumns({{Register, 4}, {Lane, 5}}, {{dim0, 9}}, columns).value();
    };
    ConversionOptions options;
    options.shuffleAdvantage = 1e9;
    std::optional<ConversionPlan> plan = check(layout(from), layout(to), options);
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->shuffle.shuffles, 16u - (16u >> m));
    EXPECT_TRUE(plan->shuffle.isButterfly);
    EXPECT_EQ(plan->shuffle.selects, m * 32);
    options.elementBits = 8;
    plan = check(layout(from), layout(to), options);
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->shuffle.shuffles, m <= 2 ? (16u - (16u >> m)) / 4 : (16u - (16u >> m)) / (16u >> m))
        << "four bytes that go the same way share a word";
  }
}

TEST(LayoutConversion, NothingToDo) {
  LinearLayout layout = mmaAccumulatorLayout({64, 64}, {2, 2}).value();
  EXPECT_EQ(check(layout, layout)->kind, ConversionKind::None);
  // One row of a broadcast: each register is there already.
  LinearLayout wide = blockedLayout({4, 128}, {{4, 1}, {1, 32}, {1, 4}, {1, 0}, {}}).value();
  LinearLayout slice = sliceLayout(wide, 0).value();
  EXPECT_EQ(check(slice, slice)->kind, ConversionKind::None);
}

TEST(LayoutConversion, AccumulatorToOperandStaysInRegisters) {
  // The product of one dot as operand A of the next, 16 bits wide: known to need no exchange at all.
  LinearLayout product = mmaAccumulatorLayout({64, 64}, {4, 1}).value();
  LinearLayout operand = mmaOperandLayout({64, 64}, DotOperand::A, 2, {4, 1}).value();
  ConversionKind kind = check(product, operand, {.elementBits = 16})->kind;
  EXPECT_TRUE(kind == ConversionKind::None || kind == ConversionKind::Registers);
  LinearLayout wgmma = wgmmaAccumulatorLayout({64, 64}, 64, {4, 1}).value();
  kind = check(wgmma, wgmmaOperandLayout({64, 64}, 16, {4, 1}).value(), {.elementBits = 16})->kind;
  EXPECT_TRUE(kind == ConversionKind::None || kind == ConversionKind::Registers);
}

TEST(LayoutConversion, TransposesHaveNoConflicts) {
  for (unsigned bits : {8, 16, 32, 64}) {
    unsigned run = 128 / bits;
    LinearLayout rows = blockedLayout({128, 128}, {{1, run}, {4, 8}, {4, 1}, {1, 0}, {}}).value();
    LinearLayout columns = blockedLayout({128, 128}, {{run, 1}, {8, 4}, {1, 4}, {0, 1}, {}}).value();
    ConversionOptions options;
    options.elementBits = bits;
    options.maxScratchBytes = 1 << 20;
    std::optional<ConversionPlan> plan = check(rows, columns, options);
    ASSERT_TRUE(plan && plan->kind == ConversionKind::SharedMemory);
    for (const SharedSide *side : {&plan->shared.store, &plan->shared.load})
      EXPECT_EQ(side->wavefrontsPerAccess, side->idealWavefronts) << bits;
  }
}

TEST(LayoutConversion, WideAccessesWhereBothSidesHaveRuns) {
  LinearLayout rows = blockedLayout({64, 64}, {{1, 8}, {4, 8}, {4, 1}, {1, 0}, {}}).value();
  LinearLayout other = blockedLayout({64, 64}, {{2, 8}, {8, 4}, {2, 2}, {1, 0}, {}}).value();
  std::optional<ConversionPlan> plan = check(rows, other, {.elementBits = 16});
  ASSERT_TRUE(plan && plan->kind == ConversionKind::SharedMemory);
  EXPECT_EQ(plan->shared.store.vector, 8u);
  EXPECT_EQ(plan->shared.load.vector, 8u);
  EXPECT_EQ(plan->shared.store.wavefrontsPerAccess, 4u);
  EXPECT_EQ(plan->shared.load.wavefrontsPerAccess, 4u);
}

TEST(LayoutConversion, NamedLayoutsIntoEachOther) {
  LayoutExtents warps = {2, 2};
  std::vector<LinearLayout> layouts = {blockedLayout({64, 64}, {{1, 4}, {4, 8}, warps, {1, 0}, {}}).value(),
                                       blockedLayout({64, 64}, {{4, 1}, {8, 4}, warps, {0, 1}, {}}).value(),
                                       blockedLayout({64, 64}, {{1, 1}, {1, 32}, {4, 1}, {1, 0}, {}}).value(),
                                       blockedLayout({64, 64}, {{1, 8}, {32, 1}, {4, 1}, {1, 0}, {}}).value(),
                                       mmaAccumulatorLayout({64, 64}, warps).value(),
                                       mmaOperandLayout({64, 64}, DotOperand::A, 2, warps).value(),
                                       mmaOperandLayout({64, 64}, DotOperand::B, 2, warps).value(),
                                       wgmmaAccumulatorLayout({64, 64}, 64, {4, 1}).value()};
  for (unsigned bits : {1, 8, 16, 32, 64})
    for (const LinearLayout &from : layouts)
      for (const LinearLayout &to : layouts) {
        std::optional<ConversionPlan> plan = check(from, to, {.elementBits = bits});
        ASSERT_TRUE(plan);
        if (plan->kind == ConversionKind::SharedMemory && bits >= 16) {
          EXPECT_EQ(plan->shared.store.wavefrontsPerAccess, plan->shared.store.idealWavefronts);
          EXPECT_LE(plan->shared.load.wavefrontsPerAccess, plan->shared.load.idealWavefronts);
        }
      }
}

TEST(LayoutConversion, SmallScratchMeansIterations) {
  LinearLayout rows = blockedLayout({128, 128}, {{1, 4}, {4, 8}, {4, 1}, {1, 0}, {}}).value();
  LinearLayout columns = blockedLayout({128, 128}, {{4, 1}, {8, 4}, {1, 4}, {0, 1}, {}}).value();
  ConversionOptions options;
  options.maxScratchBytes = 16 * 1024;
  std::optional<ConversionPlan> plan = check(rows, columns, options);
  ASSERT_TRUE(plan);
  EXPECT_LE(plan->shared.bytes, options.maxScratchBytes);
  EXPECT_EQ(plan->shared.store.iterations.size(), 4u);
}

TEST(LayoutConversion, RefusesWhatHasNoMeaning) {
  LinearLayout a = blockedLayout({64}, {{1}, {32}, {2}, {0}, {}}).value();
  LinearLayout moreWarps = blockedLayout({64}, {{1}, {32}, {4}, {0}, {}}).value();
  LinearLayout larger = blockedLayout({128}, {{1}, {32}, {2}, {0}, {}}).value();
  LinearLayout plane = blockedLayout({64, 1}, {{1, 1}, {32, 1}, {2, 1}, {0, 1}, {}}).value();
  LinearLayout partial = LinearLayout::zeros1D(32, Lane, dim0, 64) * LinearLayout::zeros1D(2, Warp, dim0);
  EXPECT_FALSE(planConversion(a, moreWarps));
  EXPECT_FALSE(planConversion(a, larger));
  EXPECT_FALSE(planConversion(a, plane));
  EXPECT_FALSE(planConversion(partial, a));
  EXPECT_FALSE(planConversion(a, a, {.elementBits = 24}));
}

TEST(BankWavefronts, AgainstEnumeration) {
  Random random(11);
  for (int i = 0; i < 400; ++i) {
    unsigned bits = 8u << below(random, 4);
    unsigned maxVector = 128 / bits, vector = 1;
    while (vector < maxVector && random() % 2)
      vector *= 2;
    f2::Vectors lanes;
    for (unsigned bit = 0; bit < 5; ++bit)
      lanes.push_back((random() & 4095) / vector * vector);
    std::vector<uint64_t> offsets;
    for (uint64_t lane = 0; lane < 32; ++lane)
      offsets.push_back(f2::multiply(lanes, lane));
    EXPECT_EQ(bankWavefronts(lanes, vector, bits), countWavefronts(offsets, vector, bits / 8));
  }
}

} // namespace
