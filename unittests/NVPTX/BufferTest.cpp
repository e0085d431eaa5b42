//===- BufferTest.cpp - Shared buffers on simulated threads ---------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "RandomLayouts.h"
#include "TileKernel.h"

#include "despina/Analysis/LayoutConstructors.h"
#include "despina/Analysis/LayoutMatrixLoad.h"

using namespace despina;
using namespace despina::test;
using enum LayoutDim;

namespace {

constexpr int64_t rows = 32, columns = 64;

LinearLayout randomTile(Random &random, unsigned rowBits, unsigned columnBits) {
  LinearLayout::DimBits outs[] = {{tensorDim(1), columnBits}, {tensorDim(0), rowBits}};
  return randomDistributed(random, outs, 5, 2, 0, below(random, 2), random() % 2);
}

/// (offset, block) to a tile of 32 x 64.
LinearLayout randomMemory(Random &random) {
  if (random() % 2) {
    SwizzledParams params;
    params.vec = 1u << below(random, 4);
    params.perPhase = 1u << below(random, 2);
    params.maxPhase = 1u << below(random, 4);
    params.order = random() % 2 ? LayoutOrder{1, 0} : LayoutOrder{0, 1};
    return swizzledSharedLayout({rows, columns}, params).value();
  }
  NvmmaSharedParams params;
  params.swizzleBytes = 32u << below(random, 2);
  params.transposed = random() % 2;
  return nvmmaSharedLayout({rows, columns}, params).value();
}

std::string bufferType(const std::string &shape, const LinearLayout &memory, const std::string &element,
                       const std::string &allocShape = "") {
  return "!ttg.memdesc<" + shape + "x" + element + ", #ttg.layout<\"" + memory.toString() + "\">, mutable" +
         (allocShape.empty() ? "" : ", " + allocShape) + ">";
}

std::string input(const std::string &name, int parameter, const std::string &type) {
  return name + " = builtin.unrealized_conversion_cast %p" + std::to_string(parameter) +
         " : !tt.ptr<i8> to " + type + "\n";
}
std::string output(const std::string &name, int parameter, const std::string &type) {
  return "%d" + std::to_string(parameter) + " = builtin.unrealized_conversion_cast " + name + ", %p" +
         std::to_string(parameter) + " : " + type + ", !tt.ptr<i8> to i1\n";
}

template <typename T> std::vector<T> randomElements(Random &random, size_t count) {
  std::vector<T> elements(count);
  for (T &element : elements)
    element = static_cast<T>(random());
  return elements;
}

/// Stores a tile and loads it in another layout.
template <typename T>
void checkRoundTrip(Random &random, const LinearLayout &memory, const LinearLayout &from,
                    const LinearLayout &to, const std::string &element, unsigned capability = 90) {
  std::vector<T> elements = randomElements<T>(random, rows * columns);
  DumpedTile<T> result(to);
  std::string source = tileType(from, element), target = tileType(to, element),
              buffer = bufferType("32x64", memory, element);
  std::string body = input("%x", 0, source) + "%b = ttg.local_alloc %x : (" + source + ") -> " + buffer +
                     "\n%y = ttg.local_load %b : " + buffer + " -> " + target + "\n" +
                     output("%y", 1, target);
  if (runTileKernel("!tt.ptr<i8>; !tt.ptr<i8>", body, {argument(elements.data()), result.argument()},
                    {.capability = capability}))
    result.expect(elements);
}

TEST(Buffer, RandomLayouts) {
  Random random(91);
  for (int i = 0; i < 24 && !HasFailure(); ++i) {
    LinearLayout from = randomTile(random, 5, 6), to = randomTile(random, 5, 6);
    LinearLayout memory = randomMemory(random);
    switch (i % 3) {
    case 0: checkRoundTrip<uint16_t>(random, memory, from, to, "f16"); break;
    case 1: checkRoundTrip<uint8_t>(random, memory, from, to, "i8"); break;
    default: checkRoundTrip<uint64_t>(random, memory, from, to, "i64"); break;
    }
  }
}

TEST(Buffer, Matrices) {
  Random random(92);
  LinearLayout a = mmaOperandLayout({rows, columns}, DotOperand::A, 2, {2, 2}).value();
  LinearLayout b = mmaOperandLayout({rows, columns}, DotOperand::B, 2, {2, 2}).value();
  LinearLayout product = mmaAccumulatorLayout({rows, columns}, {2, 2}).value();
  for (bool transposed : {false, true}) {
    LayoutOrder order = transposed ? LayoutOrder{0, 1} : LayoutOrder{1, 0};
    LinearLayout memory = swizzledSharedLayout({rows, columns}, {8, 1, 4, order, {}}).value();
    EXPECT_TRUE(matchMatrixLoad(memory, a, 16));
    EXPECT_TRUE(matchMatrixLoad(memory, b, 16));
    for (unsigned capability : {70u, 80u, 90u}) {
      checkRoundTrip<uint16_t>(random, memory, a, b, "i16", capability);
      checkRoundTrip<uint16_t>(random, memory, product, a, "i16", capability);
    }
  }
}

TEST(Buffer, WindowsOfRings) {
  Random random(93);
  for (int i = 0; i < 12 && !HasFailure(); ++i) {
    LinearLayout memory = randomMemory(random);
    LinearLayout whole = randomTile(random, 5, 6), part = randomTile(random, 3, 4);
    std::vector<uint16_t> first = randomElements<uint16_t>(random, rows * columns);
    std::vector<uint16_t> second = randomElements<uint16_t>(random, rows * columns), expected;
    uint64_t row = random() % 4 * 8, column = random() % 4 * 16;
    for (uint64_t r = 0; r < 8; ++r)
      for (uint64_t c = 0; c < 16; ++c)
        expected.push_back(second[(row + r) * columns + column + c]);
    std::string ring = bufferType("3x32x64", memory, "f16"), slice = bufferType("32x64", memory, "f16"),
                window = bufferType("8x16", memory, "f16", "32x64"), tile = tileType(whole, "f16"),
                small = tileType(part, "f16");
    std::string body = input("%x", 0, tile) + input("%y", 1, tile) + input("%i", 4, "i32") +
                       "%ring = ttg.local_alloc : () -> " + ring +
                       "\n%c1 = builtin.unrealized_conversion_cast %p5 : !tt.ptr<i8> to i32\n" +
                       "%b0 = ttg.memdesc_index %ring[%c1] : " + ring + " -> " + slice + "\n" +
                       "%b1 = ttg.memdesc_index %ring[%i] : " + ring + " -> " + slice + "\n" +
                       "ttg.local_store %x, %b0 : " + tile + " -> " + slice + "\n" +
                       "ttg.local_store %y, %b1 : " + tile + " -> " + slice + "\n" +
                       "%w = ttg.memdesc_subslice %b1 [" + std::to_string(row) + ", " +
                       std::to_string(column) + "] : " + slice + " -> " + window + "\n" +
                       "%z = ttg.local_load %w : " + window + " -> " + small + "\n" +
                       "%all = ttg.local_load %b0 : " + slice + " -> " + tile + "\n" +
                       output("%z", 2, small) + output("%all", 3, tile);
    DumpedTile<uint16_t> some(part), all(whole);
    int32_t index = 2, other = 1;
    if (!runTileKernel("!tt.ptr<i8>; !tt.ptr<i8>; !tt.ptr<i8>; !tt.ptr<i8>; !tt.ptr<i8>; !tt.ptr<i8>", body,
                       {argument(first.data()), argument(second.data()), some.argument(), all.argument(),
                        argument(&index), argument(&other)}))
      return;
    some.expect(expected);
    all.expect(first);
  }
}

TEST(Buffer, Transposed) {
  Random random(94);
  for (int i = 0; i < 6 && !HasFailure(); ++i) {
    LinearLayout memory = randomMemory(random), from = randomTile(random, 5, 6),
                 to = randomTile(random, 6, 5);
    LinearLayout turned = memory.renameOut(tensorDim(0), tensorDim(7))
                              .renameOut(tensorDim(1), tensorDim(0))
                              .renameOut(tensorDim(7), tensorDim(1));
    LayoutDim names[] = {tensorDim(1), tensorDim(0)};
    turned = turned.transposeOuts(names).value();
    std::vector<uint32_t> elements = randomElements<uint32_t>(random, rows * columns), expected;
    for (int64_t column = 0; column < columns; ++column)
      for (int64_t row = 0; row < rows; ++row)
        expected.push_back(elements[row * columns + column]);
    std::string source = tileType(from, "i32"), target = tileType(to, "i32"),
                buffer = bufferType("32x64", memory, "i32"), view = bufferType("64x32", turned, "i32");
    std::string body = input("%x", 0, source) + "%b = ttg.local_alloc %x : (" + source + ") -> " + buffer +
                       "\n%t = ttg.memdesc_trans %b [1, 0] : " + buffer + " -> " + view +
                       "\n%y = ttg.local_load %t : " + view + " -> " + target + "\n" +
                       output("%y", 1, target);
    DumpedTile<uint32_t> result(to);
    if (runTileKernel("!tt.ptr<i8>; !tt.ptr<i8>", body, {argument(elements.data()), result.argument()}))
      result.expect(expected);
  }
}

} // namespace
