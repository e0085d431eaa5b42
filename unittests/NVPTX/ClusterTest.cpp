//===- ClusterTest.cpp - Products on the blocks of a cluster --------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Whole kernels of tile IR on simulated clusters: what each block loads, which parts of the result it makes,
// and what moves between blocks.
//
//===----------------------------------------------------------------------===//
#include "TileKernel.h"

#include <random>

using namespace despina::test;

namespace {

/// Names a tile of pointers, %name, to a row-major matrix at %base.
std::string pointers(const std::string &name, const std::string &base, int rows, int columns,
                     const std::string &element) {
  auto tile = [](int r, int c, const std::string &type) {
    return "tensor<" + std::to_string(r) + "x" + std::to_string(c) + "x" + type + ">";
  };
  auto range = [&](const std::string &suffix, int extent, int axis, const std::string &type) {
    std::string line = "tensor<" + std::to_string(extent) + "xi32>", x = "%" + name + suffix;
    return x + "0 = tt.make_range {start = 0 : i32, end = " + std::to_string(extent) + " : i32} : " + line +
           "\n" + x + "1 = tt.expand_dims " + x + "0 {axis = " + std::to_string(axis) + " : i32} : " + line +
           " -> " + type + "\n";
  };
  std::string down = tile(rows, 1, "i32"), across = tile(1, columns, "i32"), all = tile(rows, columns, "i32"),
              pointer = tile(rows, columns, "!tt.ptr<" + element + ">"), n = "%" + name;
  return range("r", rows, 1, down) + range("c", columns, 0, across) + n + "s = arith.constant dense<" +
         std::to_string(columns) + "> : " + down + "\n" + n + "m = arith.muli " + n + "r1, " + n +
         "s : " + down + "\n" + n + "x = tt.broadcast " + n + "m : " + down + " -> " + all + "\n" + n +
         "y = tt.broadcast " + n + "c1 : " + across + " -> " + all + "\n" + n + "z = arith.addi " + n +
         "x, " + n + "y : " + all + "\n" + n + "b = tt.splat " + base + " : !tt.ptr<" + element + "> -> " +
         pointer + "\n" + n + " = tt.addptr " + n + "b, " + n + "z : " + pointer + ", " + all + "\n";
}

std::string matrix(int rows, int columns, const std::string &type) {
  return "tensor<" + std::to_string(rows) + "x" + std::to_string(columns) + "x" + type + ">";
}

struct Shape {
  int m, n, k;
};

/// Where the second factor comes from: its own matrix; the first factor, transposed; a tile of one axis,
/// whose blocks have rows.
enum class Second { Loaded, Transposed, Flat };

std::string flatTile(const std::string &count, const std::string &factor, const std::string &type) {
  std::string line = "tensor<" + count + "x", pointer = "!tt.ptr<" + factor + ">",
              tile = line + pointer + ">";
  return "%fr = tt.make_range {start = 0 : i32, end = " + count + " : i32} : " + line +
         "i32>\n%fb = tt.splat %q : " + pointer + " -> " + tile + "\n%fp = tt.addptr %fb, %fr : " + tile +
         ", " + line + "i32>\n%f = tt.load %fp : " + tile + "\n%b = tt.reshape %f : " + line + factor +
         "> -> " + type + "\n";
}

std::string productKernel(const Shape &s, const std::string &factor, const std::string &sum, Second second) {
  std::string pointer = "!tt.ptr<" + factor + ">", a = matrix(s.m, s.k, factor), b = matrix(s.k, s.n, factor),
              c = matrix(s.m, s.n, sum), zero = sum == "f32" ? "0.0" : "0";
  std::string text = "tt.func public @kernel(%p: " + pointer + ", %q: " + pointer + ", %o: !tt.ptr<" + sum +
                     ">) {\n" + pointers("pa", "%p", s.m, s.k, factor) +
                     "%a = tt.load %pa : " + matrix(s.m, s.k, pointer) + "\n";
  if (second == Second::Flat)
    text += flatTile(std::to_string(s.k * s.n), factor, b);
  else if (second == Second::Transposed)
    text += "%b = tt.trans %a {order = array<i32: 1, 0>} : " + a + " -> " + b + "\n";
  else
    text += pointers("pb", "%q", s.k, s.n, factor) + "%b = tt.load %pb : " + matrix(s.k, s.n, pointer) + "\n";
  return "module {\n" + text + "%z = arith.constant dense<" + zero + "> : " + c +
         "\n%c = tt.dot %a, %b, %z : " + a + " * " + b + " -> " + c + "\n" +
         pointers("pc", "%o", s.m, s.n, sum) +
         "tt.store %pc, %c : " + matrix(s.m, s.n, "!tt.ptr<" + sum + ">") + "\ntt.return\n}\n}\n";
}

/// Small integers, whose products and sums are exact in all types.
template <typename Factor, typename Sum>
void checkProduct(const Shape &s, const std::string &factor, const std::string &sum, Factor (*make)(int),
                  const TileKernelOptions &options, Second second = Second::Loaded) {
  std::mt19937 random(static_cast<unsigned>(s.m * 7 + s.n * 3 + s.k));
  std::vector<int> a(size_t(s.m) * s.k), b(size_t(s.k) * s.n);
  for (std::vector<int> *values : {&a, &b})
    for (int &value : *values)
      value = static_cast<int>(random() % 9) - 4;
  if (second == Second::Transposed)
    for (int row = 0; row < s.k; ++row)
      for (int column = 0; column < s.n; ++column)
        b[row * s.n + column] = a[column * s.k + row];
  std::vector<Factor> left, right;
  for (int value : a)
    left.push_back(make(value));
  for (int value : b)
    right.push_back(make(value));
  std::vector<Sum> result(size_t(s.m) * s.n, Sum(77777));
  std::string text = productKernel(s, factor, sum, second);
  if (!runKernel(text, {1, 1, 1}, {argument(left.data()), argument(right.data()), argument(result.data())},
                 options))
    return;
  size_t wrong = 0;
  for (int row = 0; row < s.m; ++row)
    for (int column = 0; column < s.n; ++column) {
      int expected = 0;
      for (int k = 0; k < s.k; ++k)
        expected += a[row * s.k + k] * b[k * s.n + column];
      wrong += result[row * s.n + column] != Sum(expected);
    }
  EXPECT_EQ(wrong, 0u) << "of " << s.m << " x " << s.n << " x " << s.k << ", " << factor << ", "
                       << options.numCTAs << " blocks of " << options.numWarps << " warps";
}

uint16_t half(int value) {
  if (value == 0)
    return 0;
  unsigned magnitude = static_cast<unsigned>(std::abs(value)), exponent = 31 - __builtin_clz(magnitude);
  unsigned fraction = (magnitude << (10 - exponent)) & 0x3ff;
  return static_cast<uint16_t>((value < 0 ? 0x8000 : 0) | (exponent + 15) << 10 | fraction);
}
float single(int value) { return static_cast<float>(value); }
int8_t byte(int value) { return static_cast<int8_t>(value); }

const Shape shapes[] = {{16, 16, 32}, {64, 64, 32}, {128, 32, 32}, {64, 128, 32}, {32, 16, 64}};

TEST(ClusterProduct, WarpGroups) {
  for (unsigned blocks : {2u, 4u})
    for (const Shape &shape : shapes)
      checkProduct<uint16_t, float>(shape, "f16", "f32", half, {.numCTAs = blocks});
}

TEST(ClusterProduct, Warps) {
  for (unsigned blocks : {2u, 4u})
    for (const Shape &shape : shapes) {
      checkProduct<uint16_t, float>(shape, "f16", "f32", half,
                                    {.numWarps = 2, .numCTAs = blocks, .capability = 100});
      checkProduct<int8_t, int32_t>(shape, "i8", "i32", byte, {.numWarps = 2, .numCTAs = blocks});
    }
}

TEST(ClusterProduct, MultiplyAdds) {
  for (unsigned blocks : {2u, 4u})
    for (const Shape &shape : {Shape{16, 16, 16}, Shape{64, 32, 8}, Shape{8, 64, 16}, Shape{2, 2, 4}})
      checkProduct<float, float>(shape, "f32", "f32", single, {.numWarps = 2, .numCTAs = blocks});
}

/// Rows of a tile and columns of its transpose: the tile is whole in each block.
TEST(ClusterProduct, OfATileWithItself) {
  for (unsigned blocks : {2u, 4u})
    for (int size : {32, 128})
      checkProduct<uint16_t, float>({size, size, 32}, "f16", "f32", half, {.numCTAs = blocks},
                                    Second::Transposed);
}

/// Each block's memory must have all of the second factor, of which its threads have loaded some rows.
TEST(ClusterProduct, OfATileThatBlocksShareInAnotherWay) {
  for (unsigned blocks : {2u, 4u})
    for (const Shape &shape : {Shape{128, 64, 32}, Shape{32, 32, 64}}) {
      checkProduct<uint16_t, float>(shape, "f16", "f32", half, {.numCTAs = blocks}, Second::Flat);
      checkProduct<uint16_t, float>(shape, "f16", "f32", half, {.numCTAs = blocks, .capability = 100},
                                    Second::Flat);
      checkProduct<float, float>(shape, "f32", "f32", single, {.numCTAs = blocks}, Second::Flat);
    }
}

} // namespace
