//===- MemoryTest.cpp - Loads and stores on simulated threads -------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "RandomLayouts.h"
#include "TileKernel.h"

#include <numeric>

using namespace despina;
using namespace despina::test;
using enum LayoutDim;

namespace {

/// Copies a tile of integers from %p0 to %p1 where %mask holds and shows what was read in %p2. The body makes
/// %offsets (i32) and %mask.
template <typename T> struct CopyTest {
  CopyTest(const LinearLayout &layout) : layout(layout) {}

  void run(Random &random, const std::string &body, const std::vector<int32_t> &offsets, size_t limit) {
    std::string element = "i" + std::to_string(8 * sizeof(T)), pointer = "!tt.ptr<" + element + ">";
    std::string tile = tileType(layout, element), pointers = tileType(layout, pointer);
    std::vector<T> from(offsets.size()), to(offsets.size()), shown(offsets.size());
    for (size_t i = 0; i < from.size(); ++i) {
      from[i] = static_cast<T>(random());
      to[i] = static_cast<T>(random());
    }
    std::vector<T> expected = to;
    for (size_t i = 0; i < offsets.size(); ++i) {
      bool isRead = i < limit;
      shown[i] = isRead ? from[static_cast<size_t>(offsets[i])] : T(hasOther ? 7 : 0);
      if (isRead)
        expected[static_cast<size_t>(offsets[i])] = shown[i];
    }
    std::string mask = isMasked ? ", %mask" : "", other = hasOther ? ", %other" : "";
    DumpedTile<T> dump(layout);
    std::string text =
        body + "%other = arith.constant dense<7> : " + tile + "\n%froms = tt.splat %p0 : " + pointer +
        " -> " + pointers + "\n%from = tt.addptr %froms, %offsets : " + pointers + ", " +
        tileType(layout, "i32") + "\n%tos = tt.splat %p1 : " + pointer + " -> " + pointers +
        "\n%to = tt.addptr %tos, %offsets : " + pointers + ", " + tileType(layout, "i32") +
        "\n%x = tt.load %from" + mask + other + hints + " : " + pointers + "\ntt.store %to, %x" + mask +
        " : " + pointers + "\n%done = builtin.unrealized_conversion_cast %x, %p2 : " + tile + ", " + pointer +
        " to i1\n";
    std::string aligned = pointer + " {tt.divisibility = 16 : i32}";
    if (!runTileKernel(aligned + ";" + aligned + ";" + pointer + ";!tt.ptr<i32>;i32", text,
                       {argument(from.data()), argument(to.data()), dump.argument(), argument(offsets.data()),
                        argument(static_cast<int64_t>(limit))}))
      return;
    dump.expect(shown);
    EXPECT_EQ(to, expected) << layout.toString();
  }

  LinearLayout layout;
  bool isMasked = true, hasOther = true;
  std::string hints;
};

std::string maskOf(const LinearLayout &layout, const std::string &positions) {
  std::string tile = tileType(layout, "i32");
  return "%limit = tt.splat %p4 : i32 -> " + tile + "\n%mask = arith.cmpi slt, " + positions +
         ", %limit : " + tile + "\n";
}

template <typename T> void checkRange(Random &random, const LinearLayout &layout) {
  size_t size = size_t(1) << layout.totalOutBits();
  std::string tile = tileType(layout, "i32");
  std::vector<int32_t> offsets(size);
  std::iota(offsets.begin(), offsets.end(), 0);
  std::string body = "%offsets = tt.make_range {start = 0 : i32, end = " + std::to_string(size) +
                     " : i32} : " + tile + "\n" + maskOf(layout, "%offsets");
  CopyTest<T> test(layout);
  test.hasOther = random() % 2;
  test.run(random, body, offsets, random() % (size + 1));
  test.isMasked = test.hasOther = false;
  test.run(random, body, offsets, size);
}

const char *const rangeLayouts[] = {
    "{register: (1) (2); lane: (4) (8) (16) (32) (64); warp: (128) (256); block: } -> (dim0: 512)",
    "{register: (512) (1) (2) (4); lane: (8) (16) (32) (64) (128); warp: (256) (1024); block: } -> (dim0: "
    "2048)",
    "{register: (1) (0) (2); lane: (4) (8) (16) (32) (64); warp: (0) (0); block: } -> (dim0: 128)",
    "{register: (1); lane: (2) (4) (0) (0) (8); warp: (0) (16); block: } -> (dim0: 32)",
    "{register: ; lane: (1) (2) (0) (0) (0); warp: (0) (0); block: } -> (dim0: 4)",
    "{register: (2) (1); lane: (4) (8) (16) (1) (2); warp: (4) (32); block: } -> (dim0: 64)",
    "{register: (64) (32); lane: (1) (2) (4) (8) (16); warp: (128) (256); block: } -> (dim0: 512)",
};

TEST(Memory, Ranges) {
  Random random(71);
  for (const char *text : rangeLayouts) {
    LinearLayout layout = LinearLayout::parse(text).value();
    checkRange<uint8_t>(random, layout);
    checkRange<uint16_t>(random, layout);
    checkRange<uint32_t>(random, layout);
    checkRange<uint64_t>(random, layout);
  }
}

/// Nothing is known about these offsets, and layouts are of any kind.
TEST(Memory, ScatteredOffsets) {
  Random random(72);
  for (int round = 0; round < 12; ++round) {
    LinearLayout layout =
        randomDistributed(random, {{tensorDim(1), below(random, 5)}, {tensorDim(0), below(random, 5)}}, 5, 2,
                          0, below(random, 2), random() % 2);
    std::vector<int32_t> offsets(size_t(1) << layout.totalOutBits());
    std::iota(offsets.begin(), offsets.end(), 0);
    std::shuffle(offsets.begin(), offsets.end(), random);
    std::string tile = tileType(layout, "i32");
    CopyTest<uint32_t> test(layout);
    test.isMasked = test.hasOther = false;
    test.hints = round % 2 ? " cacheModifier = cg" : " evictionPolicy = evict_first";
    test.run(random, "%offsets = builtin.unrealized_conversion_cast %p3 : !tt.ptr<i32> to " + tile + "\n",
             offsets, offsets.size());
  }
}

/// Adds 1 to a counter for each element, of which there are `counters`; the old values differ, and all copies
/// of an element have the same.
void checkCounting(const LinearLayout &layout, size_t counters) {
  std::string tile = tileType(layout, "i32"), pointers = tileType(layout, "!tt.ptr<i32>");
  size_t size = size_t(1) << layout.totalOutBits();
  std::vector<int32_t> memory(counters, 1000);
  DumpedTile<int32_t> dump(layout);
  std::string body =
      "%r = tt.make_range {start = 0 : i32, end = " + std::to_string(size) + " : i32} : " + tile +
      "\n%n = arith.constant dense<" + std::to_string(counters) + "> : " + tile +
      "\n%i = arith.remsi %r, %n : " + tile + "\n%one = arith.constant dense<1> : " + tile +
      "\n%s = tt.splat %p0 : !tt.ptr<i32> -> " + pointers + "\n%a = tt.addptr %s, %i : " + pointers + ", " +
      tile + "\n%x = tt.atomic_rmw add, acq_rel, gpu, %a, %one : (" + pointers + ", " + tile + ") -> " +
      tile + "\n%done = builtin.unrealized_conversion_cast %x, %p1 : " + tile + ", !tt.ptr<i32> to i1\n";
  ASSERT_TRUE(runTileKernel("!tt.ptr<i32>;!tt.ptr<i32>", body, {argument(memory.data()), dump.argument()}));
  EXPECT_EQ(memory, std::vector<int32_t>(counters, static_cast<int32_t>(1000 + size / counters)));
  std::vector<int32_t> old(size, -1);
  for (size_t place = 0; place < dump.values.size(); ++place)
    old[layout.applyFlat(place)] = dump.values[place];
  dump.expect(old);
  for (size_t counter = 0; counter < counters; ++counter) {
    std::vector<int32_t> seen;
    for (size_t i = counter; i < size; i += counters)
      seen.push_back(old[i]);
    std::sort(seen.begin(), seen.end());
    std::vector<int32_t> all(size / counters);
    std::iota(all.begin(), all.end(), 1000);
    EXPECT_EQ(seen, all) << layout.toString();
  }
}

TEST(Memory, AtomicsCountEachElementOnce) {
  for (const char *text : rangeLayouts)
    checkCounting(LinearLayout::parse(text).value(), 4);
}

TEST(Memory, ScalarAtomicsRunOnce) {
  LinearLayout one =
      LinearLayout::parse("{register: ; lane: (0) (0) (0) (0) (0); warp: (0) (0); block: } -> (dim0: 1)")
          .value();
  std::vector<int32_t> memory{5, 0};
  DumpedTile<int32_t> dump(one);
  std::string body = "%c = arith.constant 5 : i32\n%v = arith.constant 9 : i32\n"
                     "%x = tt.atomic_cas acq_rel, gpu, %p0, %c, %v : (!tt.ptr<i32>, i32, i32) -> i32\n"
                     "%y = tt.atomic_rmw exch, release, sys, %p0, %x : (!tt.ptr<i32>, i32) -> i32\n"
                     "%t = tt.splat %y : i32 -> " +
                     tileType(one, "i32") +
                     "\n%done = builtin.unrealized_conversion_cast %t, %p1 : " + tileType(one, "i32") +
                     ", !tt.ptr<i32> to i1\n";
  ASSERT_TRUE(runTileKernel("!tt.ptr<i32>;!tt.ptr<i32>", body, {argument(memory.data()), dump.argument()}));
  EXPECT_EQ(memory[0], 5);
  dump.expect({9});
}

} // namespace
