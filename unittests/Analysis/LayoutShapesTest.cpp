//===- LayoutShapesTest.cpp - Reshaped and reduced tiles ------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Layouts of results are compared with where row-major enumeration puts each element; reductions run on a
// simulated cluster and are compared with sums in plain arithmetic. A sum notices what is counted twice.
//
//===----------------------------------------------------------------------===//
#include "RandomLayouts.h"
#include "SimulatedCluster.h"

#include "despina/Analysis/LayoutConstructors.h"
#include "despina/Analysis/LayoutShapes.h"

#include "gtest/gtest.h"

#include <map>

using namespace despina;
using namespace despina::test;
using enum LayoutDim;

namespace {

/// A random layout of a tile of up to three axes.
LinearLayout randomTile(Random &random, unsigned rank, unsigned maxBits, unsigned blockBits = 0) {
  LinearLayout::Dims outs;
  for (unsigned axis = rank; axis-- > 0;)
    outs.push_back({tensorDim(axis), below(random, maxBits / rank + 1)});
  return randomDistributed(random, outs, 5 - blockBits, 2, blockBits, below(random, 2), random() % 2);
}

/// Row-major index to coordinates, axis 0 first.
std::vector<uint64_t> coordinates(const LinearLayout &layout, uint64_t element) {
  std::vector<uint64_t> result;
  for (unsigned axis = 0; axis < layout.outs().size(); ++axis)
    result.push_back(element >> layout.outShift(tensorDim(axis)) & (layout.outSize(tensorDim(axis)) - 1));
  return result;
}

TEST(LayoutShapes, TransposeReshapeExpand) {
  Random random(21);
  for (int i = 0; i < 50; ++i) {
    LinearLayout layout = randomTile(random, 3, 9);
    LinearLayout turned = transposeLayout(layout, {2, 0, 1}).value();
    LinearLayout wider = expandDimsLayout(layout, 1).value();
    int64_t total = int64_t(1) << layout.totalOutBits();
    LinearLayout line = reshapeLayout(layout, {total}).value();
    for (uint64_t x = 0; x < uint64_t(1) << layout.totalInBits(); ++x) {
      std::vector<uint64_t> at = coordinates(layout, layout.applyFlat(x));
      EXPECT_EQ(coordinates(turned, turned.applyFlat(x)), (std::vector<uint64_t>{at[2], at[0], at[1]}));
      EXPECT_EQ(coordinates(wider, wider.applyFlat(x)), (std::vector<uint64_t>{at[0], 0, at[1], at[2]}));
      uint64_t index = (at[0] * layout.outSize(tensorDim(1)) + at[1]) * layout.outSize(tensorDim(2)) + at[2];
      EXPECT_EQ(line.applyFlat(x), index);
    }
    EXPECT_EQ(dropUnitAxis(wider, 1).value(), layout);
    EXPECT_FALSE(reshapeLayout(layout, {2 * total}));
    EXPECT_FALSE(transposeLayout(layout, {0, 0, 1}));
  }
}

TEST(LayoutShapes, JoinAndSplit) {
  Random random(22);
  for (int i = 0; i < 50; ++i) {
    LinearLayout layout = randomTile(random, 2, 9);
    LinearLayout joined = joinLayout(layout).value();
    Cluster before = Cluster::holding(layout), after = Cluster::holding(joined);
    for (size_t thread = 0; thread < before.threads.size(); ++thread)
      for (size_t reg = 0; reg < before.threads[thread].size(); ++reg)
        for (uint64_t half = 0; half < 2; ++half)
          EXPECT_EQ(after.threads[thread][2 * reg + half], 2 * before.threads[thread][reg] + half);
    // Registers in any order: the halves are found all the same.
    f2::Vectors columns(joined.matrix());
    std::shuffle(columns.begin(), columns.begin() + joined.inBits(Register), random);
    if (i % 2 && joined.inBits(Register) > 1)
      columns[0] ^= columns[1];
    LinearLayout mixed = LinearLayout::fromColumns(joined.ins(), joined.outs(), columns).value();
    std::optional<SplitLayout> split = splitLayout(mixed);
    ASSERT_TRUE(split);
    Cluster whole = Cluster::holding(mixed), halves = Cluster::holding(split->layout);
    for (size_t thread = 0; thread < whole.threads.size(); ++thread)
      for (uint64_t half = 0; half < 2; ++half)
        for (size_t reg = 0; reg < halves.threads[thread].size(); ++reg)
          EXPECT_EQ(whole.threads[thread][split->sources[half][reg]], 2 * halves.threads[thread][reg] + half);
  }
  LinearLayout acrossLanes = LinearLayout::identity1D(2, Lane, tensorDim(0));
  EXPECT_FALSE(splitLayout(acrossLanes));
}

TEST(LayoutShapes, Cat) {
  Random random(25);
  for (int i = 0; i < 50; ++i) {
    LinearLayout layout = randomTile(random, 2, 9);
    LinearLayout both = catLayout(layout).value();
    uint64_t elements = uint64_t(1) << layout.totalOutBits();
    Cluster before = Cluster::holding(layout), after = Cluster::holding(both);
    for (size_t thread = 0; thread < before.threads.size(); ++thread) {
      size_t registers = before.threads[thread].size();
      ASSERT_EQ(after.threads[thread].size(), 2 * registers);
      for (size_t reg = 0; reg < 2 * registers; ++reg)
        EXPECT_EQ(after.threads[thread][reg],
                  before.threads[thread][reg % registers] + (reg < registers ? 0 : elements));
    }
    EXPECT_EQ(both.outSize(tensorDim(0)), 2 * layout.outSize(tensorDim(0)));
    EXPECT_EQ(catOperandLayout(both).value(), layout);
  }
  // The halves of axis 0 are in different threads.
  EXPECT_FALSE(catOperandLayout(blockedLayout({32, 2}, {{1, 2}, {32, 1}, {1, 1}, {1, 0}, {}}).value()));
}

TEST(LayoutShapes, Broadcast) {
  Random random(23);
  for (int i = 0; i < 50; ++i) {
    LinearLayout result = randomTile(random, 2, 9);
    unsigned axis = random() % 2;
    LinearLayout operand = expandDimsLayout(sliceLayout(result, axis).value(), axis).value();
    std::optional<llvm::SmallVector<unsigned, 16>> from = broadcastRegisters(operand, result);
    ASSERT_TRUE(from) << result.toString();
    Cluster narrow = Cluster::holding(operand), wide = Cluster::holding(result);
    for (size_t thread = 0; thread < wide.threads.size(); ++thread)
      for (size_t reg = 0; reg < from->size(); ++reg) {
        std::vector<uint64_t> expected = coordinates(result, wide.threads[thread][reg]);
        expected[axis] = 0;
        EXPECT_EQ(coordinates(operand, narrow.threads[thread][(*from)[reg]]), expected);
      }
  }
}

/// Runs a reduction by addition.
Cluster runReduce(const ReducePlan &plan, Cluster values, SharedErrors &errors) {
  for (const ReduceStage &stage : plan.stages) {
    if (stage.conversion)
      values = execute(*stage.conversion, values, 32, errors);
    Cluster sums(values.lanes, values.warps, values.blocks, stage.groups.size());
    for (size_t thread = 0; thread < sums.threads.size(); ++thread)
      for (size_t i = 0; i < stage.groups.size(); ++i) {
        sums.threads[thread][i] = 0;
        for (unsigned reg : stage.groups[i])
          sums.threads[thread][i] += values.threads[thread][reg];
      }
    for (ReduceStage::LaneStep step : stage.laneSteps) {
      Cluster old = sums;
      sums.forEach([&](unsigned lane, unsigned warp, unsigned block, Registers &registers) {
        for (size_t i = 0; i < registers.size(); ++i)
          registers[i] += old.thread(lane ^ step.laneMask, warp, block)[i ^ step.registerMask];
      });
    }
    values = sums;
  }
  return execute(plan.finish, values, 32, errors);
}

/// Checks a reduction of random numbers; the number of stages.
size_t checkReduce(Random &random, const LinearLayout &layout, unsigned axis) {
  std::optional<ReducePlan> plan = planReduce(layout, axis);
  if (!plan) {
    ADD_FAILURE() << "no plan: " << layout.toString();
    return 0;
  }
  std::vector<uint64_t> elements(size_t(1) << layout.totalOutBits());
  std::map<std::vector<uint64_t>, uint64_t> sums;
  for (uint64_t element = 0; element < elements.size(); ++element) {
    elements[element] = random();
    std::vector<uint64_t> at = coordinates(layout, element);
    at.erase(at.begin() + axis);
    sums[at] += elements[element];
  }
  Cluster values = Cluster::holding(layout);
  for (Registers &registers : values.threads)
    for (uint64_t &value : registers)
      value = elements[value];
  SharedErrors errors;
  Cluster result = runReduce(*plan, values, errors), where = Cluster::holding(plan->result);
  EXPECT_EQ(errors.sum(), 0u);
  EXPECT_EQ(plan->result, sliceLayout(layout, axis).value());
  bool same = true;
  for (size_t thread = 0; thread < where.threads.size(); ++thread)
    for (size_t reg = 0; reg < where.threads[thread].size(); ++reg)
      same &= result.threads[thread][reg] == sums[coordinates(plan->result, where.threads[thread][reg])];
  EXPECT_TRUE(same) << layout.toString() << " along " << axis;
  return plan->stages.size();
}

TEST(LayoutReduce, RandomLayouts) {
  Random random(31);
  std::map<size_t, int> stages;
  for (int i = 0; i < 300 && !HasFailure(); ++i) {
    unsigned rank = 1 + below(random, 3);
    ++stages[checkReduce(random, randomTile(random, rank, 10, i % 3 == 0 ? 1 : 0), below(random, rank))];
  }
  EXPECT_GT(stages[1], 30);
  EXPECT_GT(stages[2], 30);
}

TEST(LayoutReduce, NamedLayouts) {
  Random random(32);
  LinearLayout rows = blockedLayout({16, 256}, {{1, 4}, {1, 32}, {4, 1}, {1, 0}, {}}).value();
  // Warps along the rows: a row is in one warp.
  EXPECT_EQ(checkReduce(random, rows, 1), 1u);
  EXPECT_EQ(checkReduce(random, rows, 0), 2u);
  std::optional<ReducePlan> plan = planReduce(rows, 1);
  EXPECT_EQ(plan->stages[0].groups.size(), 4u);
  EXPECT_EQ(plan->stages[0].groups[0].size(), 8u);
  EXPECT_EQ(plan->stages[0].laneSteps.size(), 5u);
  EXPECT_EQ(plan->finish.kind, ConversionKind::None);

  LinearLayout product = mmaAccumulatorLayout({64, 64}, {4, 1}).value();
  EXPECT_EQ(checkReduce(random, product, 1), 1u);
  EXPECT_EQ(planReduce(product, 1)->stages[0].laneSteps.size(), 2u);
  EXPECT_EQ(checkReduce(random, product, 0), 2u);
  // 64 partial results do not fit into the lanes of a warp.
  LinearLayout line = blockedLayout({4096}, {{1}, {2}, {64}, {0}, {}}).value();
  EXPECT_EQ(checkReduce(random, line, 0), 2u);
  EXPECT_FALSE(planReduce(product, 2));
}

/// Functions x -> m x + c modulo 2^32, first one, then the other: associative, not commutative.
uint64_t combine(uint64_t first, uint64_t second) {
  uint32_t m1 = first >> 32, c1 = first, m2 = second >> 32, c2 = second;
  return uint64_t(m1 * m2) << 32 | static_cast<uint32_t>(c1 * m2 + c2);
}

Cluster runScan(const ScanPlan &plan, const Cluster &operand, SharedErrors &errors) {
  Cluster prefix(operand.lanes, operand.warps, operand.blocks, plan.values.size());
  for (size_t thread = 0; thread < prefix.threads.size(); ++thread)
    for (size_t i = 0; i < plan.values.size(); ++i)
      prefix.threads[thread][i] = operand.threads[thread][plan.values[i]];
  Cluster total = prefix;
  for (const ScanStep &step : plan.steps) {
    Cluster old = total, halves = total;
    if (step.conversion)
      halves = execute(*step.conversion, total, 64, errors);
    prefix.forEach([&](unsigned lane, unsigned warp, unsigned block, Registers &registers) {
      for (size_t i = 0; i < registers.size(); ++i) {
        bool upper = (std::popcount(i & step.upper.registers) + std::popcount(lane & step.upper.lane) +
                      std::popcount(warp & step.upper.warp) + std::popcount(block & step.upper.block)) %
                     2;
        uint64_t other = step.conversion
                             ? halves.thread(lane, warp, block)[2 * i + !upper]
                             : old.thread(lane ^ step.laneMask, warp, block)[i ^ step.registerMask];
        uint64_t &own = total.thread(lane, warp, block)[i];
        if (upper)
          registers[i] = combine(other, registers[i]);
        own = upper ? combine(other, own) : combine(own, other);
      }
    });
  }
  Cluster result(operand.lanes, operand.warps, operand.blocks, plan.finalIndex.size());
  for (size_t thread = 0; thread < result.threads.size(); ++thread)
    for (size_t i = 0; i < plan.finalIndex.size(); ++i)
      result.threads[thread][i] = prefix.threads[thread][plan.finalIndex[i]];
  return result;
}

TEST(LayoutScan, RandomLayouts) {
  Random random(41);
  int withExchange = 0;
  for (int i = 0; i < 300 && !HasFailure(); ++i) {
    unsigned rank = 1 + below(random, 3), axis = below(random, rank);
    LinearLayout layout = randomTile(random, rank, 10, i % 3 == 0 ? 1 : 0);
    std::optional<ScanPlan> plan = planScan(layout, axis, {.elementBits = 64});
    ASSERT_TRUE(plan);
    std::vector<uint64_t> elements(size_t(1) << layout.totalOutBits()), prefixes;
    for (uint64_t &element : elements)
      element = random();
    // Row-major order visits positions along the axis in order.
    uint64_t stride = uint64_t(1) << layout.outShift(tensorDim(axis));
    for (uint64_t element = 0; element < elements.size(); ++element) {
      bool first = element / stride % layout.outSize(tensorDim(axis)) == 0;
      prefixes.push_back(first ? elements[element] : combine(prefixes[element - stride], elements[element]));
    }
    Cluster operand = Cluster::holding(layout), expected = operand;
    for (size_t thread = 0; thread < operand.threads.size(); ++thread)
      for (size_t reg = 0; reg < operand.threads[thread].size(); ++reg) {
        expected.threads[thread][reg] = prefixes[operand.threads[thread][reg]];
        operand.threads[thread][reg] = elements[operand.threads[thread][reg]];
      }
    SharedErrors errors;
    Cluster result = runScan(*plan, operand, errors);
    EXPECT_TRUE(result.threads == expected.threads) << layout.toString() << " along " << axis;
    EXPECT_EQ(errors.sum(), 0u);
    withExchange +=
        llvm::any_of(plan->steps, [](const ScanStep &step) { return step.conversion.has_value(); });
  }
  EXPECT_GT(withExchange, 30);
}

TEST(LayoutScan, StaysInTheWarpWhereTheAxisDoes) {
  LinearLayout rows = blockedLayout({16, 256}, {{1, 4}, {1, 32}, {4, 1}, {1, 0}, {}}).value();
  std::optional<ScanPlan> plan = planScan(rows, 1);
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->steps.size(), 8u);
  for (unsigned bit = 0; bit < 8; ++bit) {
    EXPECT_FALSE(plan->steps[bit].conversion);
    EXPECT_EQ(plan->steps[bit].laneMask, bit >= 2 && bit < 7 ? 1u << (bit - 2) : 0u);
  }
}

} // namespace
