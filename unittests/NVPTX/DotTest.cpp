//===- DotTest.cpp - Matrix products on simulated threads -----------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// From tt.dot through the passes to code, with factors in all kinds of layouts. Elements are small whole
// numbers, so that every product and sum is exact in every type: any difference is an error.
//
//===----------------------------------------------------------------------===//
#include "DotPasses.h"
#include "RandomLayouts.h"
#include "TileKernel.h"

#include "despina/Analysis/LayoutConstructors.h"

#include "mlir/Pass/PassManager.h"

#include "llvm/ADT/APFloat.h"

using namespace despina;
using namespace despina::test;
using enum LayoutDim;

namespace {

/// An element type of the IR with its numbers.
struct ElementType {
  std::string name;
  unsigned bits;
  const llvm::fltSemantics *semantics; ///< null: integer

  uint64_t encode(int64_t number) const {
    if (!semantics)
      return static_cast<uint64_t>(number);
    llvm::APFloat value(static_cast<double>(number));
    bool inexact = false;
    value.convert(*semantics, llvm::APFloat::rmNearestTiesToEven, &inexact);
    EXPECT_FALSE(inexact);
    return value.bitcastToAPInt().getZExtValue();
  }
};

const ElementType f16{"f16", 16, &llvm::APFloat::IEEEhalf()}, bf16{"bf16", 16, &llvm::APFloat::BFloat()},
    f32{"f32", 32, &llvm::APFloat::IEEEsingle()}, f64{"f64", 64, &llvm::APFloat::IEEEdouble()},
    e4m3{"f8E4M3FN", 8, &llvm::APFloat::Float8E4M3FN()}, e5m2{"f8E5M2", 8, &llvm::APFloat::Float8E5M2()},
    i8{"i8", 8, nullptr}, i32{"i32", 32, nullptr};

struct Product {
  ElementType a, b, c;
  int64_t m, n, k;
  int64_t batch = 0;
  unsigned numWarps = 4;
  nvptx::Architecture arch{80, 0};
  std::string precision = "ieee";
  bool isZero = false;        ///< the accumulator is
  bool isAColumnMajor = false; ///< neighbours of a lie along M
  bool isBColumnMajor = false; ///< neighbours of b lie along K
  bool isAComputed = false;    ///< a is the sum of a tile with itself
  int64_t limit = 0;
};

using Bytes = std::vector<uint8_t>;

void put(Bytes &memory, unsigned bits, size_t index, uint64_t value) {
  std::memcpy(&memory[index * bits / 8], &value, bits / 8);
}

class Runner {
public:
  Runner(const Product &product, Random &random) : p(product), random(random) {}

  void run() {
    LayoutExtents a = shape(p.m, p.k), b = shape(p.k, p.n), c = shape(p.m, p.n);
    std::vector<int64_t> left = numbers(a), right = numbers(b), sum = numbers(c);
    Bytes memoryA = encoded(p.a, left), memoryB = encoded(p.b, right), memoryC = encoded(p.c, sum);
    LinearLayout result = layoutOf(c, false);
    Bytes dumped((size_t(1) << result.totalInBits()) * p.c.bits / 8);
    std::string typeA = tileType(layoutOf(a, p.isAColumnMajor), p.a.name),
                typeB = tileType(layoutOf(b, p.isBColumnMajor), p.b.name), typeC = tileType(result, p.c.name);
    std::string body = input("%x", 0, typeA) + input("%b", 1, typeB);
    body += p.isAComputed ? "%a = arith.addf %x, %x : " + typeA + "\n" : "";
    body += p.isZero ? "%c = arith.constant dense<" + std::string(p.c.semantics ? "0.0" : "0") + "> : " + typeC + "\n"
                     : input("%c", 2, typeC);
    body += "%d = tt.dot " + std::string(p.isAComputed ? "%a" : "%x") + ", %b, %c, inputPrecision = " + p.precision +
            " {maxNumImpreciseAcc = " + std::to_string(p.limit) + " : i32} : " + typeA + " * " + typeB + " -> " +
            typeC + "\n%done = builtin.unrealized_conversion_cast %d, %p3 : " + typeC + ", !tt.ptr<i8> to i1\n";
    TileKernelOptions options;
    options.numWarps = p.numWarps;
    options.capability = p.arch.number;
    options.passes = [&](mlir::OpPassManager &manager) {
      mlir::OpPassManager &nested = manager.nest<tt::FuncOp>();
      nested.addPass(nvptx::createF32DotTCPass(p.arch));
      nested.addPass(nvptx::createAccelerateMatmulPass(p.arch));
      nested.addPass(nvptx::createOptimizeDotOperandsPass());
      nested.addPass(nvptx::createReduceDataDuplicationPass());
    };
    if (!runTileKernel("!tt.ptr<i8>; !tt.ptr<i8>; !tt.ptr<i8>; !tt.ptr<i8>", body,
                       {argument(memoryA.data()), argument(memoryB.data()), argument(memoryC.data()),
                        argument(dumped.data())},
                       options))
      return;
    check(result, dumped, left, right, sum);
  }

private:
  LayoutExtents shape(int64_t rows, int64_t columns) const {
    return p.batch ? LayoutExtents{p.batch, rows, columns} : LayoutExtents{rows, columns};
  }

  std::vector<int64_t> numbers(const LayoutExtents &extents) {
    size_t count = 1;
    for (int64_t extent : extents)
      count *= static_cast<size_t>(extent);
    std::vector<int64_t> result(count);
    for (int64_t &number : result)
      number = static_cast<int64_t>(random() % 5) - 2;
    return result;
  }

  static Bytes encoded(const ElementType &type, const std::vector<int64_t> &numbers) {
    Bytes memory(numbers.size() * type.bits / 8);
    for (size_t i = 0; i < numbers.size(); ++i)
      put(memory, type.bits, i, type.encode(numbers[i]));
    return memory;
  }

  LinearLayout layoutOf(const LayoutExtents &extents, bool columnMajor) {
    unsigned rank = static_cast<unsigned>(extents.size());
    BlockedParams params;
    params.order = rowMajorOrder(rank);
    if (columnMajor)
      std::swap(params.order[0], params.order[1]);
    params.sizePerThread.assign(rank, 1);
    params.threadsPerWarp.assign(rank, 1);
    params.warpsPerBlock.assign(rank, 1);
    params.sizePerThread[params.order[0]] = int64_t(1) << below(random, 3);
    int64_t fastLanes = int64_t(1) << below(random, 5);
    params.threadsPerWarp[params.order[0]] = fastLanes;
    params.threadsPerWarp[params.order[1]] = 32 / fastLanes;
    params.warpsPerBlock[params.order[1]] = p.numWarps;
    return blockedLayout(extents, params).value();
  }

  static std::string input(const std::string &name, int parameter, const std::string &type) {
    return name + " = builtin.unrealized_conversion_cast %p" + std::to_string(parameter) +
           " : !tt.ptr<i8> to " + type + "\n";
  }

  void check(const LinearLayout &layout, const Bytes &dumped, const std::vector<int64_t> &left,
             const std::vector<int64_t> &right, const std::vector<int64_t> &sum) const {
    std::vector<uint64_t> expected(sum.size());
    for (int64_t batch = 0; batch < std::max<int64_t>(1, p.batch); ++batch)
      for (int64_t row = 0; row < p.m; ++row)
        for (int64_t column = 0; column < p.n; ++column) {
          size_t at = static_cast<size_t>((batch * p.m + row) * p.n + column);
          int64_t total = p.isZero ? 0 : sum[at];
          for (int64_t k = 0; k < p.k; ++k)
            total += left[static_cast<size_t>((batch * p.m + row) * p.k + k)] *
                     right[static_cast<size_t>((batch * p.k + k) * p.n + column)] * (p.isAComputed ? 2 : 1);
          expected[at] = p.c.encode(total);
        }
    size_t wrong = 0;
    for (size_t place = 0; place < size_t(1) << layout.totalInBits(); ++place)
      wrong += std::memcmp(&dumped[place * p.c.bits / 8], &expected[layout.applyFlat(place)], p.c.bits / 8) != 0;
    EXPECT_EQ(wrong, 0u) << p.a.name << " * " << p.b.name << " + " << p.c.name << ", " << p.m << "x" << p.n << "x"
                         << p.k << ", batch " << p.batch << ", " << p.numWarps << " warps, " << p.arch.name() << ", "
                         << p.precision;
  }

  const Product &p;
  Random &random;
};

void check(Random &random, const Product &product) { Runner(product, random).run(); }

constexpr nvptx::Architecture sm75{75, 0}, sm80{80, 0}, sm89{89, 0}, sm90a{90, 'a'};

TEST(Dot, MultiplyAdds) {
  Random random(201);
  for (unsigned warps : {1u, 4u}) {
    check(random, {.a = f32, .b = f32, .c = f32, .m = 16, .n = 32, .k = 8, .numWarps = warps});
    check(random, {.a = f32, .b = f32, .c = f32, .m = 64, .n = 32, .k = 64, .numWarps = warps});
    check(random, {.a = f16, .b = f16, .c = f32, .m = 32, .n = 16, .k = 32, .numWarps = warps, .arch = {70, 0}});
    check(random, {.a = f16, .b = f16, .c = f16, .m = 16, .n = 16, .k = 16, .numWarps = warps, .arch = {70, 0}});
    check(random, {.a = bf16, .b = bf16, .c = f32, .m = 16, .n = 16, .k = 16, .numWarps = warps, .arch = sm75});
    check(random, {.a = i8, .b = i8, .c = i32, .m = 16, .n = 16, .k = 32, .numWarps = warps, .arch = sm75});
    check(random, {.a = f64, .b = f64, .c = f64, .m = 16, .n = 16, .k = 4, .numWarps = warps, .arch = sm75});
    check(random, {.a = f32, .b = f32, .c = f32, .m = 8, .n = 16, .k = 16, .batch = 4, .numWarps = warps});
    check(random, {.a = f32, .b = f32, .c = f32, .m = 1, .n = 1, .k = 8, .numWarps = warps, .isZero = true});
  }
}

TEST(Dot, MatrixInstructions) {
  Random random(202);
  for (unsigned warps : {1u, 2u, 8u})
    for (bool turned : {false, true}) {
      auto with = [&](Product product) {
        product.numWarps = warps;
        product.isAColumnMajor = turned;
        product.isBColumnMajor = !turned;
        check(random, product);
      };
      with({.a = f16, .b = f16, .c = f32, .m = 64, .n = 32, .k = 64});
      with({.a = f16, .b = f16, .c = f16, .m = 16, .n = 64, .k = 16, .isZero = true});
      with({.a = f16, .b = f16, .c = f32, .m = 32, .n = 16, .k = 16, .arch = sm75});
      with({.a = bf16, .b = bf16, .c = f32, .m = 16, .n = 16, .k = 32});
      with({.a = f32, .b = f32, .c = f32, .m = 32, .n = 32, .k = 16, .precision = "tf32"});
      with({.a = i8, .b = i8, .c = i32, .m = 32, .n = 16, .k = 64});
      with({.a = f64, .b = f64, .c = f64, .m = 16, .n = 32, .k = 8});
      with({.a = e4m3, .b = e5m2, .c = f32, .m = 32, .n = 32, .k = 64, .arch = sm89});
      with({.a = e5m2, .b = e5m2, .c = f32, .m = 16, .n = 16, .k = 64, .arch = sm89, .limit = 32});
      with({.a = e4m3, .b = e4m3, .c = f16, .m = 16, .n = 16, .k = 32, .arch = sm80});
    }
}

TEST(Dot, SmallAndBatched) {
  Random random(203);
  for (int64_t m : {1, 2, 8, 16})
    for (int64_t n : {1, 4, 8, 16}) {
      check(random, {.a = f16, .b = f16, .c = f32, .m = m, .n = n, .k = 16});
      check(random, {.a = f16, .b = f16, .c = f32, .m = m, .n = n, .k = 32, .batch = 2, .numWarps = 2});
    }
  check(random, {.a = f64, .b = f64, .c = f64, .m = 4, .n = 4, .k = 4});
  check(random, {.a = f32, .b = f32, .c = f32, .m = 16, .n = 16, .k = 8, .batch = 8, .precision = "tf32"});
}

TEST(Dot, Decomposed) {
  Random random(204);
  for (std::string precision : {"tf32x3", "bf16x3", "bf16x6"})
    check(random, {.a = f32, .b = f32, .c = f32, .m = 32, .n = 16, .k = 32, .precision = precision});
}

TEST(Dot, WarpGroups) {
  Random random(205);
  for (bool turnedA : {false, true})
    for (bool turnedB : {false, true}) {
      auto with = [&](Product product) {
        product.arch = sm90a;
        product.isAColumnMajor = turnedA;
        product.isBColumnMajor = turnedB;
        check(random, product);
      };
      with({.a = f16, .b = f16, .c = f32, .m = 64, .n = 64, .k = 64});
      with({.a = f16, .b = f16, .c = f32, .m = 128, .n = 16, .k = 32, .isZero = true});
      with({.a = bf16, .b = bf16, .c = f32, .m = 64, .n = 128, .k = 16, .numWarps = 8});
      with({.a = f16, .b = f16, .c = f16, .m = 256, .n = 8, .k = 128, .numWarps = 8});
      with({.a = f32, .b = f32, .c = f32, .m = 64, .n = 32, .k = 64, .precision = "tf32"});
      with({.a = e4m3, .b = e5m2, .c = f32, .m = 64, .n = 32, .k = 128});
      with({.a = e5m2, .b = e4m3, .c = f32, .m = 64, .n = 16, .k = 128, .limit = 64});
      with({.a = i8, .b = i8, .c = i32, .m = 128, .n = 64, .k = 32});
      with({.a = f16, .b = f16, .c = f32, .m = 64, .n = 32, .k = 64, .isAComputed = true});
      with({.a = f32, .b = f32, .c = f32, .m = 128, .n = 16, .k = 16, .precision = "tf32", .isAComputed = true});
    }
  check(random, {.a = f16, .b = f16, .c = f32, .m = 64, .n = 256, .k = 16, .arch = sm90a});
  check(random, {.a = f16, .b = f16, .c = f32, .m = 64, .n = 8, .k = 16, .numWarps = 16, .arch = sm90a});
}

} // namespace
