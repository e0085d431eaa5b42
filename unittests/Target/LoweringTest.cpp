//===- LoweringTest.cpp - Tile IR compiled and run against references -----===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "EmitHarness.h"

#include "despina/IR/Context.h"
#include "despina/Target/CPU/CPUPipeline.h"
#include "despina/Target/CPU/JIT.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

#include <random>

using namespace despina::cpu;

namespace {

/// A kernel compiled from tile IR.
class TileKernel {
public:
  TileKernel(llvm::StringRef text, const CPUOptions &options) { compile(text, options); }

  void compile(llvm::StringRef text, const CPUOptions &options) {
    mlir::DialectRegistry registry;
    despina::registerTileDialects(registry);
    registerLoweringDialects(registry);
    registerTranslations(registry);
    mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    std::optional<LoweredKernel> lowered = lowerToLLVMDialect(*module, options);
    ASSERT_TRUE(lowered);
    std::string error;
    auto emitted = emitCode(*module, options, {}, error);
    ASSERT_TRUE(emitted) << error;
    code_ = LoadedCode::load(llvm::StringRef(emitted->object.data(), emitted->object.size()), lowered->entry,
                             error);
    ASSERT_TRUE(code_) << error;
    scratch_.assign(lowered->scratchBytes + 64, char(0xA5));
  }

  void operator()(std::vector<uint64_t> args, uint32_t programs = 1) {
    ASSERT_TRUE(code_);
    uint32_t grid[3] = {programs, 1, 1};
    uintptr_t scratch = (reinterpret_cast<uintptr_t>(scratch_.data()) + 63) / 64 * 64;
    code_->entry()(args.data(), grid, 0, programs, reinterpret_cast<void *>(scratch));
  }

private:
  std::unique_ptr<LoadedCode> code_;
  std::vector<char> scratch_;
};

template <typename T> uint64_t slot(std::vector<T> &data) { return reinterpret_cast<uint64_t>(data.data()); }

std::vector<int32_t> randomInts(size_t count, int32_t low, int32_t high) {
  static std::mt19937 random(7);
  std::uniform_int_distribution<int32_t> pick(low, high);
  std::vector<int32_t> result(count);
  for (int32_t &x : result)
    x = pick(random);
  return result;
}

/// `name`: a tile of pointers to elements 0, 1, ... of `base`.
std::string pointers(llvm::StringRef name, llvm::StringRef base, int64_t count,
                     llvm::StringRef type = "i32") {
  return llvm::formatv(R"(
  %{0}.r = tt.make_range {{start = 0 : i32, end = {2} : i32} : tensor<{2}xi32>
  %{0}.s = tt.splat %{1} : !tt.ptr<{3}> -> tensor<{2}x!tt.ptr<{3}>>
  %{0} = tt.addptr %{0}.s, %{0}.r : tensor<{2}x!tt.ptr<{3}>>, tensor<{2}xi32>)",
                       name, base, count, type)
      .str();
}

class Lowering : public testing::TestWithParam<CPUOptions> {};

TEST_P(Lowering, MaskedLanesTouchNoMemory) {
  TileKernel kernel(R"(
tt.func public @k(%x: !tt.ptr<i32>, %out: !tt.ptr<i32>, %n: i32) {)" +
                        pointers("p", "x", 64) + pointers("q", "out", 64) + R"(
  %ns = tt.splat %n : i32 -> tensor<64xi32>
  %mask = arith.cmpi slt, %p.r, %ns : tensor<64xi32>
  %other = arith.constant dense<-3> : tensor<64xi32>
  %v = tt.load %p, %mask, %other : tensor<64x!tt.ptr<i32>>
  tt.store %q, %v : tensor<64x!tt.ptr<i32>>
  tt.store %p, %v, %mask : tensor<64x!tt.ptr<i32>>
  tt.return
})",
                    GetParam());
  std::vector<int32_t> out(64, 99);
  kernel({0, slot(out), 0}); // the null pointer
  EXPECT_EQ(out, std::vector<int32_t>(64, -3));
  for (int32_t n : {1, 37, 64, 1000}) {
    std::vector<int32_t> x = randomInts(64, -100, 100), expected = x;
    for (int i = std::min(n, 64); i < 64; ++i)
      expected[i] = -3;
    kernel({slot(x), slot(out), uint64_t(n)});
    EXPECT_EQ(out, expected) << n;
  }
}

TEST_P(Lowering, LoadsComeBeforeTheStoreInProgramOrder) {
  TileKernel kernel(R"(
tt.func public @k(%x: !tt.ptr<i32>) {)" +
                        pointers("p", "x", 64) + R"(
  %one = arith.constant dense<1> : tensor<64xi32>
  %q = tt.addptr %p, %one : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  %v = tt.load %p : tensor<64x!tt.ptr<i32>>
  tt.store %q, %v : tensor<64x!tt.ptr<i32>>
  %w = tt.load %p : tensor<64x!tt.ptr<i32>>
  %sum = arith.addi %v, %w : tensor<64xi32>
  tt.store %p, %sum : tensor<64x!tt.ptr<i32>>
  tt.return
})",
                    GetParam());
  std::vector<int32_t> x = randomInts(65, -100, 100), expected = x;
  for (int i = 64; i > 0; --i)
    expected[i] = expected[i - 1];
  for (int i = 0; i < 64; ++i)
    expected[i] += x[i];
  kernel({slot(x)});
  EXPECT_EQ(x, expected);
}

TEST_P(Lowering, CarriedTilesAreAssignedAtOnce) {
  TileKernel kernel(R"(
tt.func public @k(%x: !tt.ptr<i32>, %y: !tt.ptr<i32>, %n: i32) {)" +
                        pointers("p", "x", 64) + pointers("q", "y", 64) + R"(
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %v = tt.load %p : tensor<64x!tt.ptr<i32>>
  %w = tt.load %q : tensor<64x!tt.ptr<i32>>
  %r:2 = scf.for %i = %zero to %n step %one iter_args(%a = %v, %b = %w) -> (tensor<64xi32>, tensor<64xi32>) : i32 {
    %m = tt.reshape %a : tensor<64xi32> -> tensor<8x8xi32>
    %t = tt.trans %m {order = array<i32: 1, 0>} : tensor<8x8xi32> -> tensor<8x8xi32>
    %c = tt.reshape %t : tensor<8x8xi32> -> tensor<64xi32>
    scf.yield %b, %c : tensor<64xi32>, tensor<64xi32>
  }
  tt.store %p, %r#0 : tensor<64x!tt.ptr<i32>>
  tt.store %q, %r#1 : tensor<64x!tt.ptr<i32>>
  tt.return
})",
                    GetParam());
  for (int n : {0, 1, 2, 5}) {
    std::vector<int32_t> x = randomInts(64, -100, 100), y = randomInts(64, -100, 100), a = x, b = y;
    for (int step = 0; step < n; ++step) {
      std::vector<int32_t> c(64);
      for (int i = 0; i < 64; ++i)
        c[i] = a[i % 8 * 8 + i / 8];
      a = b;
      b = c;
    }
    kernel({slot(x), slot(y), uint64_t(n)});
    EXPECT_EQ(x, a) << n;
    EXPECT_EQ(y, b) << n;
  }
}

TEST_P(Lowering, DivisionNeverTraps) {
  TileKernel kernel(R"(
tt.func public @k(%x: !tt.ptr<i32>, %y: !tt.ptr<i32>, %out: !tt.ptr<i32>) {)" +
                        pointers("p", "x", 16) + pointers("q", "y", 16) + pointers("o", "out", 16) + R"(
  %v = tt.load %p : tensor<16x!tt.ptr<i32>>
  %w = tt.load %q : tensor<16x!tt.ptr<i32>>
  %d = arith.divsi %v, %w : tensor<16xi32>
  %m = arith.remui %v, %w : tensor<16xi32>
  %s = arith.addi %d, %m : tensor<16xi32>
  tt.store %o, %s : tensor<16x!tt.ptr<i32>>
  tt.return
})",
                    GetParam());
  std::vector<int32_t> x = randomInts(16, -100, 100), y = randomInts(16, 1, 9), out(16, 77);
  y[3] = 0;
  x[5] = INT32_MIN;
  y[5] = -1;
  kernel({slot(x), slot(y), slot(out)});
  for (int i = 0; i < 16; ++i)
    if (i != 3 && i != 5)
      EXPECT_EQ(out[i], x[i] / y[i] + int32_t(uint32_t(x[i]) % uint32_t(y[i]))) << i;
}

TEST_P(Lowering, ReductionsWithIndexOnEveryAxis) {
  for (int axis : {0, 1}) {
    int kept = axis == 0 ? 32 : 16;
    std::string text = R"(
tt.func public @k(%x: !tt.ptr<i32>, %max: !tt.ptr<i32>, %arg: !tt.ptr<i32>) {)" +
                       pointers("p", "x", 512) + pointers("o", "max", kept) + pointers("q", "arg", kept);
    text += llvm::formatv(R"(
  %flat = tt.load %p : tensor<512x!tt.ptr<i32>>
  %v = tt.reshape %flat : tensor<512xi32> -> tensor<16x32xi32>
  %range = tt.make_range {{start = 0 : i32, end = {0} : i32} : tensor<{0}xi32>
  %e = tt.expand_dims %range {{axis = {1} : i32} : tensor<{0}xi32> -> tensor<{2}xi32>
  %i = tt.broadcast %e : tensor<{2}xi32> -> tensor<16x32xi32>
  %r:2 = "tt.reduce"(%v, %i) <{{axis = {3} : i32}> ({{
  ^bb0(%a: i32, %ai: i32, %b: i32, %bi: i32):
    %more = arith.cmpi sgt, %a, %b : i32
    %same = arith.cmpi eq, %a, %b : i32
    %before = arith.cmpi slt, %ai, %bi : i32
    %tie = arith.andi %same, %before : i1
    %first = arith.ori %more, %tie : i1
    %c:2 = scf.if %first -> (i32, i32) {{
      scf.yield %a, %ai : i32, i32
    } else {{
      scf.yield %b, %bi : i32, i32
    }
    tt.reduce.return %c#0, %c#1 : i32, i32
  }) : (tensor<16x32xi32>, tensor<16x32xi32>) -> (tensor<{4}xi32>, tensor<{4}xi32>)
  tt.store %o, %r#0 : tensor<{4}x!tt.ptr<i32>>
  tt.store %q, %r#1 : tensor<{4}x!tt.ptr<i32>>
  tt.return
})",
                          axis == 0 ? 16 : 32, axis == 0 ? 1 : 0, axis == 0 ? "16x1" : "1x32", axis, kept)
                .str();
    TileKernel kernel(text, GetParam());
    std::vector<int32_t> x = randomInts(512, -9, 9), max(kept, 77), arg(kept, 77);
    kernel({slot(x), slot(max), slot(arg)});
    for (int k = 0; k < kept; ++k) {
      auto at = [&](int i) { return axis == 0 ? x[i * 32 + k] : x[k * 32 + i]; };
      int best = 0;
      for (int i = 1; i < 512 / kept; ++i)
        if (at(i) > at(best))
          best = i;
      EXPECT_EQ(max[k], at(best)) << axis << " " << k;
      EXPECT_EQ(arg[k], best) << axis << " " << k;
    }
  }
}

TEST_P(Lowering, ScansKeepTheOrder) {
  // Composition of the maps t -> a * t + b does not commute.
  for (int axis : {0, 1})
    for (bool reverse : {false, true}) {
      std::string text = R"(
tt.func public @k(%x: !tt.ptr<i32>, %y: !tt.ptr<i32>) {)" +
                         pointers("p", "x", 256) + pointers("q", "y", 256);
      text += llvm::formatv(R"(
  %fx = tt.load %p : tensor<256x!tt.ptr<i32>>
  %fy = tt.load %q : tensor<256x!tt.ptr<i32>>
  %vx = tt.reshape %fx : tensor<256xi32> -> tensor<8x32xi32>
  %vy = tt.reshape %fy : tensor<256xi32> -> tensor<8x32xi32>
  %r:2 = "tt.scan"(%vx, %vy) <{{axis = {0} : i32, reverse = {1}}> ({{
  ^bb0(%a: i32, %b: i32, %c: i32, %d: i32):
    %e = arith.muli %a, %c : i32
    %f = arith.muli %b, %c : i32
    %g = arith.addi %f, %d : i32
    tt.scan.return %e, %g : i32, i32
  }) : (tensor<8x32xi32>, tensor<8x32xi32>) -> (tensor<8x32xi32>, tensor<8x32xi32>)
  %rx = tt.reshape %r#0 : tensor<8x32xi32> -> tensor<256xi32>
  %ry = tt.reshape %r#1 : tensor<8x32xi32> -> tensor<256xi32>
  tt.store %p, %rx : tensor<256x!tt.ptr<i32>>
  tt.store %q, %ry : tensor<256x!tt.ptr<i32>>
  tt.return
})",
                            axis, reverse ? "true" : "false")
                  .str();
      TileKernel kernel(text, GetParam());
      std::vector<int32_t> x = randomInts(256, -3, 3), y = randomInts(256, -3, 3), ex = x, ey = y;
      int lines = axis == 0 ? 32 : 8, length = 256 / lines;
      for (int line = 0; line < lines; ++line)
        for (int step = 1; step < length; ++step) {
          auto at = [&](int i) {
            int position = reverse ? length - 1 - i : i;
            return axis == 0 ? position * 32 + line : line * 32 + position;
          };
          int last = at(step - 1), now = at(step);
          uint32_t a = ex[last], b = ey[last], c = ex[now], d = ey[now];
          ex[now] = int32_t(a * c);
          ey[now] = int32_t(b * c + d);
        }
      kernel({slot(x), slot(y)});
      EXPECT_EQ(x, ex) << axis << reverse;
      EXPECT_EQ(y, ey) << axis << reverse;
    }
}

TEST_P(Lowering, ProgramsOfOneCallShareNoState) {
  TileKernel kernel(R"(
tt.func public @k(%x: !tt.ptr<i32>) {
  %pid = tt.get_program_id x : i32
  %c16 = arith.constant 16 : i32
  %start = arith.muli %pid, %c16 : i32
  %base = tt.addptr %x, %start : !tt.ptr<i32>, i32)" +
                        pointers("p", "base", 16) + R"(
  %v = tt.load %p : tensor<16x!tt.ptr<i32>>
  %s = "tt.scan"(%v) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a: i32, %b: i32):
    %c = arith.addi %a, %b : i32
    tt.scan.return %c : i32
  }) : (tensor<16xi32>) -> tensor<16xi32>
  tt.store %p, %s : tensor<16x!tt.ptr<i32>>
  tt.return
})",
                    GetParam());
  std::vector<int32_t> x = randomInts(16 * 5, -100, 100), expected = x;
  for (int i = 0; i < 80; ++i)
    if (i % 16)
      expected[i] += expected[i - 1];
  kernel({slot(x)}, 5);
  EXPECT_EQ(x, expected);
}

INSTANTIATE_TEST_SUITE_P(Widths, Lowering, testing::ValuesIn(testedOptions()), [](const auto &info) {
  return "Bytes" + std::to_string(info.param.features.vectorBytes);
});

} // namespace
