//===- TensorMapTest.cpp - Bulk copies on simulated threads ---------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernels whose programs make tensor maps for themselves.
//
//===----------------------------------------------------------------------===//
#include "RandomLayouts.h"
#include "TileKernel.h"

#include <cmath>

using namespace despina;
using namespace despina::test;

namespace {

constexpr size_t mapBytes = 128;

/// Elements at a multiple of 16 bytes.
template <typename T> class Memory {
public:
  explicit Memory(size_t count) : raw(count + 16), start(0) {
    while (reinterpret_cast<uintptr_t>(raw.data() + start) % 16 != 0)
      ++start;
    size = count;
  }
  Memory(Random &random, size_t count) : Memory(count) {
    for (size_t i = 0; i < count; ++i)
      (*this)[i] = static_cast<T>(random() % 199 - 99);
  }
  T &operator[](size_t index) { return raw[start + index]; }
  SimulatedArgument argument() { return test::argument(raw.data() + start); }
  std::vector<T> elements() const { return {raw.begin() + start, raw.begin() + start + size}; }

  size_t size;

private:
  std::vector<T> raw;
  ptrdiff_t start;
};

/// Common constants, then the body of a kernel.
std::string kernelText(const std::string &parameters, const std::string &body) {
  std::string constants;
  for (int value : {0, 1, 2, 4, 8, 16, 32, 64})
    constants += "%c" + std::to_string(value) + " = arith.constant " + std::to_string(value) + " : i32\n";
  return "module {\ntt.func public @kernel(" + parameters + ") {\n" + constants +
         "%one = arith.constant 1 : i64\n" + body + "tt.return\n}\n}\n";
}

std::string descriptor(const std::string &name, const std::string &base, const std::string &element,
                       const std::string &block, const std::string &attributes = "") {
  return name + " = tt.make_tensor_descriptor " + base + ", [%rows, %columns], [%stride, %one] " +
         attributes + " : <" + element + ">, <tensor<" + block + "x" + element + ">>\n";
}

/// Programs copy a tensor of their own each, block by block.
template <typename T> void checkCopies(Random &random, const std::string &element, int64_t width) {
  std::string block = "8x" + std::to_string(width), tile = "tensor<" + block + "x" + element + ">";
  int64_t perChunk = std::max<int64_t>(1, 16 / int64_t(sizeof(T)));
  int64_t stride = 96 + int64_t(below(random, 4)) * perChunk, size = 20 * stride;
  // The last blocks go over both edges.
  int64_t rows = 1 + int64_t(below(random, 20)), columns = 1 + int64_t(below(random, 96));
  std::string body = R"(
    %id = tt.get_program_id x : i32
    %row = tt.get_program_id y : i32
    %programs = tt.get_num_programs x : i32
    %before = arith.muli %row, %programs : i32
    %program = arith.addi %before, %id : i32
    %first = arith.muli %program, %size {tt.divisibility = 16 : i32} : i32
    %p = tt.addptr %in, %first : !tt.ptr<ELEMENT>, i32
    %q = tt.addptr %out, %first : !tt.ptr<ELEMENT>, i32
)" + descriptor("%x", "%p", "ELEMENT", block) +
                     descriptor("%y", "%q", "ELEMENT", block) + R"(
    %width = arith.constant WIDTH : i32
    scf.for %i = %c0 to %c4 step %c1 : i32 {
      %r = arith.muli %i, %c8 : i32
      scf.for %j = %c0 to %c2 step %c1 : i32 {
        %c = arith.muli %j, %width : i32
        %v = tt.descriptor_load %x[%r, %c] : !tt.tensordesc<TILE> -> TILE
        tt.descriptor_store %y[%r, %c], %v : !tt.tensordesc<TILE>, TILE
      }
    }
)";
  auto replace = [&](const std::string &what, const std::string &with) {
    for (size_t at; (at = body.find(what)) != std::string::npos;)
      body.replace(at, what.size(), with);
  };
  replace("TILE", tile), replace("ELEMENT", element), replace("WIDTH", std::to_string(width));
  std::string text = kernelText("%in: !tt.ptr<" + element + ">, %out: !tt.ptr<" + element +
                                    ">, %rows: i32, %columns: i32, %stride: i64, %size: i32",
                                body);
  constexpr unsigned programs = 6;
  Memory<T> in(random, size_t(size) * programs), out(random, size_t(size) * programs);
  std::vector<T> expected = out.elements();
  for (int64_t program = 0; program < programs; ++program)
    for (int64_t r = 0; r < std::min<int64_t>(rows, 32); ++r)
      for (int64_t c = 0; c < std::min<int64_t>(columns, 2 * width); ++c)
        expected[size_t(program * size + r * stride + c)] = in[size_t(program * size + r * stride + c)];
  if (runKernel(text, {2, 3, 1},
                {in.argument(), out.argument(), argument(rows), argument(columns), argument(stride),
                 argument(size)},
                {.globalScratchBytes = 2 * mapBytes}))
    EXPECT_EQ(out.elements(), expected) << rows << " x " << columns;
}

TEST(TensorMap, Copies) {
  Random random(71);
  for (int64_t width : {16, 32, 64, 128}) {
    checkCopies<uint8_t>(random, "i8", width);
    checkCopies<uint16_t>(random, "f16", width);
    checkCopies<float>(random, "f32", width);
    checkCopies<uint64_t>(random, "i64", width);
  }
}

/// Adds blocks of 8 x 32 in a loop; the result goes out through plain pointers.
std::string sumText(const std::string &padding) {
  return kernelText(
      "%in: !tt.ptr<f32>, %out: !tt.ptr<f32>, %rows: i32, %columns: i32, %stride: i64, %skip: i32",
      "%p = tt.addptr %in, %skip : !tt.ptr<f32>, i32\n" + descriptor("%x", "%p", "f32", "8x32", padding) + R"(
    %none = arith.constant dense<0.0> : tensor<8x32xf32>
    %sum = scf.for %i = %c0 to %c2 step %c1 iter_args(%s = %none) -> (tensor<8x32xf32>) : i32 {
      %r = arith.muli %i, %c8 : i32
      %v = tt.descriptor_load %x[%r, %c0] : !tt.tensordesc<tensor<8x32xf32>> -> tensor<8x32xf32>
      %t = arith.addf %s, %v : tensor<8x32xf32>
      scf.yield %t : tensor<8x32xf32>
    }
    %range = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
    %base = tt.splat %out : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
    %places = tt.addptr %base, %range : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
    %flat = tt.reshape %sum : tensor<8x32xf32> -> tensor<256xf32>
    tt.store %places, %flat : tensor<256x!tt.ptr<f32>>
)");
}

TEST(TensorMap, OutOfBounds) {
  Random random(72);
  // Also of no elements: an extent of 0, or one that is negative.
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>{11, 19}, {0, 32}, {16, 0}, {-3, 32}, {16, 32}})
    for (bool isNaN : {false, true}) {
      Memory<float> in(random, 64 * 32), out(random, 256);
      std::vector<float> expected(256);
      for (int64_t i = 0; i < 16 * 32; ++i) {
        bool inside = i / 32 < rows && i % 32 < columns;
        expected[size_t(i % 256)] += inside ? in[size_t(i + 8)] : isNaN ? NAN : 0;
      }
      if (!runKernel(sumText(isNaN ? "{padding = 2 : i32}" : ""), {1, 1, 1},
                     {in.argument(), out.argument(), argument(rows), argument(columns), argument(int64_t(32)),
                      argument(int64_t(8))},
                     {.globalScratchBytes = mapBytes}))
        continue;
      for (size_t i = 0; i < 256; ++i)
        EXPECT_TRUE(out[i] == expected[i] || (std::isnan(out[i]) && std::isnan(expected[i])))
            << i << " of " << rows << " x " << columns << ": " << out[i] << ", not " << expected[i];
    }
}

TEST(TensorMap, NoElementsAreWritten) {
  Random random(73);
  std::string text = kernelText("%out: !tt.ptr<i32>, %rows: i32, %columns: i32, %stride: i64, %skip: i32",
                                "%p = tt.addptr %out, %skip : !tt.ptr<i32>, i32\n" +
                                    descriptor("%x", "%p", "i32", "8x32") + R"(
    %v = arith.constant dense<7> : tensor<8x32xi32>
    scf.for %i = %c0 to %c2 step %c1 : i32 {
      tt.descriptor_store %x[%i, %c0], %v : !tt.tensordesc<tensor<8x32xi32>>, tensor<8x32xi32>
      tt.descriptor_reduce add, %x[%i, %c0], %v : !tt.tensordesc<tensor<8x32xi32>>, tensor<8x32xi32>
    }
)");
  for (int64_t rows : {0, 4}) {
    Memory<int32_t> out(random, 64 * 32);
    std::vector<int32_t> expected = out.elements();
    // Each row is stored, then added to; the second time from one row further down.
    for (int64_t r = 0; r < rows; ++r)
      std::fill_n(expected.begin() + r * 32, 32, 14);
    if (runKernel(text, {1, 1, 1},
                  {out.argument(), argument(rows), argument(int64_t(32)), argument(int64_t(32)),
                   argument(int64_t(0))},
                  {.globalScratchBytes = mapBytes}))
      EXPECT_EQ(out.elements(), expected) << rows;
  }
}

/// Groups with tensors of their own: maps are made again for each, and accessed in a loop.
TEST(TensorMap, MadeAgain) {
  Random random(74);
  std::string text =
      kernelText("%in: !tt.ptr<f16>, %out: !tt.ptr<f16>, %extents: !tt.ptr<i32>, %groups: i32", R"(
    %stride = arith.constant 64 : i64
    %columns = arith.constant 64 : i32
    %each = arith.constant 2048 : i32
    scf.for %g = %c0 to %groups step %c1 : i32 {
      %place = tt.addptr %extents, %g : !tt.ptr<i32>, i32
      %rows = tt.load %place : !tt.ptr<i32>
      %first = arith.muli %g, %each : i32
      %p = tt.addptr %in, %first : !tt.ptr<f16>, i32
      %q = tt.addptr %out, %first : !tt.ptr<f16>, i32
)" + descriptor("%x", "%p", "f16", "8x64") + descriptor("%y", "%q", "f16", "8x64") + R"(
      scf.for %r = %c0 to %c32 step %c8 : i32 {
        %v = tt.descriptor_load %x[%r, %c0] : !tt.tensordesc<tensor<8x64xf16>> -> tensor<8x64xf16>
        tt.descriptor_store %y[%r, %c0], %v : !tt.tensordesc<tensor<8x64xf16>>, tensor<8x64xf16>
      }
    }
)");
  Memory<uint16_t> in(random, 5 * 2048), out(random, 5 * 2048);
  std::vector<int32_t> extents{32, 0, 13, 1, 27};
  std::vector<uint16_t> expected = out.elements();
  for (size_t g = 0; g < extents.size(); ++g)
    for (size_t i = 0; i < size_t(extents[g]) * 64; ++i)
      expected[g * 2048 + i] = in[g * 2048 + i];
  if (runKernel(text, {1, 1, 1},
                {in.argument(), out.argument(), argument(extents.data()), argument(int64_t(extents.size()))},
                {.globalScratchBytes = 2 * mapBytes}))
    EXPECT_EQ(out.elements(), expected);
}

/// A branch chooses, a loop swaps two of them.
TEST(TensorMap, HandedOn) {
  Random random(75);
  std::string desc = "!tt.tensordesc<tensor<8x32xf32>>";
  std::string text = kernelText(
      "%in: !tt.ptr<f32>, %out: !tt.ptr<f32>, %rows: i32, %columns: i32, %stride: i64, %skip: i32, %flag: "
      "i32",
      "%p = tt.addptr %in, %skip : !tt.ptr<f32>, i32\n%q = tt.addptr %p, %skip : !tt.ptr<f32>, i32\n" +
          descriptor("%a", "%p", "f32", "8x32") + R"(
    %isSet = arith.cmpi ne, %flag, %c0 : i32
    %b = scf.if %isSet -> ()" +
          desc + R"() {
)" + descriptor("%m", "%q", "f32", "8x32") +
          "scf.yield %m : " + desc + R"(
    } else {
      %none = tt.make_tensor_descriptor %q, [%c0, %columns], [%stride, %one] : <f32>, <tensor<8x32xf32>>
      scf.yield %none : )" +
          desc + R"(
    }
    %range = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
    scf.for %i = %c0 to %c4 step %c1 iter_args(%x = %a, %y = %b) -> ()" +
          desc + ", " + desc + R"() : i32 {
      %v = tt.descriptor_load %x[%i, %c0] : )" +
          desc + R"( -> tensor<8x32xf32>
      %flat = tt.reshape %v : tensor<8x32xf32> -> tensor<256xf32>
      %c256 = arith.constant 256 : i32
      %first = arith.muli %i, %c256 : i32
      %to = tt.addptr %out, %first : !tt.ptr<f32>, i32
      %base = tt.splat %to : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
      %places = tt.addptr %base, %range : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
      tt.store %places, %flat : tensor<256x!tt.ptr<f32>>
      scf.yield %y, %x : )" +
          desc + ", " + desc + R"(
    }
)");
  for (int64_t flag : {0, 1}) {
    Memory<float> in(random, 4096), out(random, 1024);
    constexpr int64_t skip = 512, rows = 10;
    std::vector<float> expected(1024);
    for (int64_t i = 0; i < 4; ++i)
      for (int64_t e = 0; e < 256; ++e) {
        int64_t row = i + e / 32, extent = i % 2 == 0 ? rows : flag ? rows : 0;
        int64_t first = i % 2 == 0 ? skip : 2 * skip;
        expected[size_t(i * 256 + e)] = row < extent ? in[size_t(first + row * 32 + e % 32)] : 0;
      }
    if (runKernel(text, {1, 1, 1},
                  {in.argument(), out.argument(), argument(rows), argument(int64_t(32)),
                   argument(int64_t(32)), argument(skip), argument(flag)},
                  {.globalScratchBytes = 3 * mapBytes}))
      EXPECT_EQ(out.elements(), expected) << flag;
  }
}

/// Blocks are read that the program's threads have just written.
TEST(TensorMap, AfterPlainStores) {
  Random random(76);
  std::string text = kernelText(
      "%mem: !tt.ptr<i32>, %out: !tt.ptr<i32>, %rows: i32, %columns: i32, %stride: i64, %skip: i32",
      "%p = tt.addptr %mem, %skip : !tt.ptr<i32>, i32\n" + descriptor("%x", "%p", "i32", "8x32") + R"(
    %range = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
    %base = tt.splat %p : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
    %places = tt.addptr %base, %range : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
    %target = tt.splat %out : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
    %to = tt.addptr %target, %range : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
    scf.for %i = %c0 to %c4 step %c1 : i32 {
      %old = tt.descriptor_load %x[%c0, %c0] : !tt.tensordesc<tensor<8x32xi32>> -> tensor<8x32xi32>
      %doubled = arith.addi %old, %old : tensor<8x32xi32>
      %flat = tt.reshape %doubled : tensor<8x32xi32> -> tensor<256xi32>
      tt.store %places, %flat : tensor<256x!tt.ptr<i32>>
    }
    %last = tt.descriptor_load %x[%c0, %c0] : !tt.tensordesc<tensor<8x32xi32>> -> tensor<8x32xi32>
    %line = tt.reshape %last : tensor<8x32xi32> -> tensor<256xi32>
    tt.store %to, %line : tensor<256x!tt.ptr<i32>>
)");
  Memory<int32_t> memory(random, 512), out(random, 256);
  std::vector<int32_t> expected;
  for (size_t i = 0; i < 256; ++i)
    expected.push_back(memory[i + 16] * 16);
  if (runKernel(text, {1, 1, 1},
                {memory.argument(), out.argument(), argument(int64_t(8)), argument(int64_t(32)),
                 argument(int64_t(32)), argument(int64_t(16))},
                {.globalScratchBytes = mapBytes}))
    EXPECT_EQ(out.elements(), expected);
}

} // namespace
