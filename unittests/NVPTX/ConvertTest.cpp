//===- ConvertTest.cpp - Layout conversions on simulated threads ----------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "RandomLayouts.h"
#include "TileKernel.h"

#include "despina/Analysis/LayoutConstructors.h"
#include "despina/Analysis/LayoutConversion.h"

#include <map>

using namespace despina;
using namespace despina::test;

namespace {

LinearLayout::Dims randomShape(Random &random, unsigned maxBits) {
  unsigned rank = 1 + below(random, 3);
  LinearLayout::Dims outs;
  for (unsigned axis = rank; axis-- > 0;)
    outs.push_back({tensorDim(axis), below(random, maxBits / rank + 1)});
  return outs;
}

template <typename T> std::vector<T> randomElements(Random &random, const LinearLayout &layout) {
  std::vector<T> elements(size_t(1) << layout.totalOutBits());
  for (T &element : elements)
    element = static_cast<T>(random());
  return elements;
}

template <typename T>
void checkConvert(Random &random, const LinearLayout &from, const LinearLayout &to,
                  const std::string &element, uint64_t mask = ~uint64_t(0)) {
  std::vector<T> elements = randomElements<T>(random, from);
  for (T &value : elements)
    value &= static_cast<T>(mask);
  DumpedTile<T> result(to);
  std::string source = tileType(from, element), target = tileType(to, element);
  std::string body = "%x = builtin.unrealized_conversion_cast %p0 : !tt.ptr<i8> to " + source + "\n" +
                     "%y = ttg.convert_layout %x : " + source + " -> " + target + "\n" +
                     "%d = builtin.unrealized_conversion_cast %y, %p1 : " + target + ", !tt.ptr<i8> to i1\n";
  TileKernelOptions options{.numWarps = static_cast<unsigned>(from.inSize(LayoutDim::Warp)),
                            .numCTAs = static_cast<unsigned>(from.inSize(LayoutDim::Block))};
  if (runTileKernel("!tt.ptr<i8>; !tt.ptr<i8>", body, {argument(elements.data()), result.argument()},
                    options))
    result.expect(elements);
}

TEST(Convert, RandomLayouts) {
  Random random(61);
  std::map<ConversionKind, int> kinds;
  for (int i = 0; i < 40 && !HasFailure(); ++i) {
    LinearLayout::Dims outs = randomShape(random, 10);
    auto make = [&] { return randomDistributed(random, outs, 5, 2, 0, below(random, 2), random() % 2); };
    LinearLayout from = make(), to = make();
    switch (i % 6) {
    case 0: checkConvert<uint8_t>(random, from, to, "i1", 1); break;
    case 1: checkConvert<uint8_t>(random, from, to, "i8"); break;
    case 2: checkConvert<uint16_t>(random, from, to, "f16"); break;
    case 3: checkConvert<uint32_t>(random, from, to, "f32"); break;
    case 4: checkConvert<uint64_t>(random, from, to, "f64"); break;
    default: checkConvert<uint64_t>(random, from, to, "!tt.ptr<f32>"); break;
    }
    ++kinds[planConversion(from, to, {.elementBits = 32})->kind];
  }
  EXPECT_GT(kinds[ConversionKind::SharedMemory], 5);
}

TEST(Convert, WithinThreadsAndWarps) {
  Random random(62);
  std::map<ConversionKind, int> kinds;
  for (int i = 0; i < 40 && !HasFailure(); ++i) {
    // The same warps hold the same elements: registers and lanes change places.
    LinearLayout::Dims outs = randomShape(random, 12);
    LinearLayout from = randomDistributed(random, outs, 5, 2, 0, below(random, 2), random() % 2);
    unsigned movable = from.inBits(LayoutDim::Register) + (i % 2 ? 5 : 0);
    f2::Vectors columns(from.matrix());
    std::shuffle(columns.begin(), columns.begin() + movable, random);
    LinearLayout to = LinearLayout::fromColumns(from.ins(), from.outs(), columns).value();
    switch (i % 3) {
    case 0: checkConvert<uint8_t>(random, from, to, "i8"); break;
    case 1: checkConvert<uint16_t>(random, from, to, "f16"); break;
    default: checkConvert<uint64_t>(random, from, to, "i64"); break;
    }
    ++kinds[planConversion(from, to, {.elementBits = i % 3 == 2 ? 64u : 8u})->kind];
  }
  EXPECT_GT(kinds[ConversionKind::Registers], 2);
  EXPECT_GT(kinds[ConversionKind::Shuffle], 3);
}

TEST(Convert, BlocksOfAClusterExchangeElements) {
  Random random(64);
  std::map<ConversionKind, int> kinds;
  for (int i = 0; i < 40 && !HasFailure(); ++i) {
    LinearLayout::Dims outs = randomShape(random, 10);
    unsigned blockBits = 1 + i % 3;
    auto make = [&] {
      return randomDistributed(random, outs, 5, 1, blockBits, below(random, 2), random() % 2);
    };
    LinearLayout from = make(), to = make();
    switch (i % 3) {
    case 0: checkConvert<uint8_t>(random, from, to, "i8"); break;
    case 1: checkConvert<uint32_t>(random, from, to, "f32"); break;
    default: checkConvert<uint64_t>(random, from, to, "i64"); break;
    }
    ++kinds[planConversion(from, to, {.elementBits = 32})->kind];
  }
  EXPECT_GT(kinds[ConversionKind::ClusterSharedMemory], 20);
  // In several iterations.
  ClusterSplit rows{{2, 1}, {2, 1}, {0, 1}}, columns{{1, 2}, {1, 2}, {0, 1}};
  LinearLayout large = blockedLayout({256, 256}, {{1, 4}, {1, 32}, {4, 1}, {1, 0}, rows}).value();
  LinearLayout turned = blockedLayout({256, 256}, {{4, 1}, {32, 1}, {1, 4}, {0, 1}, columns}).value();
  checkConvert<uint32_t>(random, large, turned, "f32");
}

TEST(Convert, NamedLayouts) {
  Random random(63);
  LinearLayout rows = blockedLayout({64, 64}, {{1, 8}, {4, 8}, {4, 1}, {1, 0}, {}}).value();
  LinearLayout columns = blockedLayout({64, 64}, {{8, 1}, {8, 4}, {1, 4}, {0, 1}, {}}).value();
  LinearLayout product = mmaAccumulatorLayout({64, 64}, {2, 2}).value();
  LinearLayout operand = mmaOperandLayout({64, 64}, DotOperand::A, 2, {2, 2}).value();
  checkConvert<uint32_t>(random, rows, columns, "f32");
  checkConvert<uint16_t>(random, rows, columns, "f16");
  checkConvert<uint32_t>(random, product, rows, "f32");
  checkConvert<uint16_t>(random, product, operand, "f16");
  // More than scratch memory may take at once.
  LinearLayout large = blockedLayout({256, 128}, {{1, 4}, {1, 32}, {4, 1}, {1, 0}, {}}).value();
  LinearLayout turned = blockedLayout({256, 128}, {{4, 1}, {32, 1}, {1, 4}, {0, 1}, {}}).value();
  checkConvert<uint32_t>(random, large, turned, "f32");
}

} // namespace
