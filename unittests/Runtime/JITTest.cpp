//===- JITTest.cpp - Code emission and loading ----------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "despina/Target/CPU/JIT.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>
#include <thread>

using namespace despina::cpu;
using testing::HasSubstr;
using testing::Not;

namespace {

/// Wraps the body of an entry point; the values are %args, %grid, %begin, %end, %scratch.
std::string entryPoint(const std::string &body, const std::string &declarations = "") {
  return declarations +
         "\nllvm.func @entry(%args: !llvm.ptr, %grid: !llvm.ptr, %begin: i64, %end: i64, %scratch: "
         "!llvm.ptr) {\n" +
         body + "\nllvm.return\n}\n";
}

class JIT : public testing::Test {
protected:
  JIT() {
    mlir::DialectRegistry registry;
    registerTranslations(registry);
    context.appendDialectRegistry(registry);
    context.loadDialect<mlir::LLVM::LLVMDialect>();
  }

  std::optional<EmittedCode> emit(const std::string &text, const EmitRequest &request = {}) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    if (!module) {
      ADD_FAILURE() << "the test's module is wrong";
      return std::nullopt;
    }
    return emitCode(*module, options, request, error);
  }

  std::unique_ptr<LoadedCode> load(const std::string &text) {
    std::optional<EmittedCode> code = emit(text);
    if (!code)
      return nullptr;
    return LoadedCode::load({code->object.data(), code->object.size()}, "entry", error);
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  CPUOptions options;
  std::string error;
};

/// Adds 1 to the number that argument 0 points to.
const std::string increment = entryPoint(R"(
  %p = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %x = llvm.load %p : !llvm.ptr -> i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %y = llvm.add %x, %one : i64
  llvm.store %y, %p : i64, !llvm.ptr)");

TEST_F(JIT, RunsWhatItCompiles) {
  std::unique_ptr<LoadedCode> code = load(increment);
  ASSERT_TRUE(code) << error;
  int64_t value = 41;
  uint64_t args[] = {reinterpret_cast<uint64_t>(&value)};
  const uint32_t grid[3] = {1, 1, 1};
  EXPECT_EQ(launch(code->entry(), args, grid, 0), LaunchStatus::Ok);
  EXPECT_EQ(value, 42);
}

TEST_F(JIT, KnowsTheMathLibrary) {
  std::unique_ptr<LoadedCode> code = load(entryPoint(R"(
  %p = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %x = llvm.load %p : !llvm.ptr -> f64
  %y = llvm.mlir.constant(2.5 : f64) : f64
  %z = llvm.frem %x, %y : f64
  %w = llvm.call @lgamma(%z) : (f64) -> f64
  llvm.store %w, %p : f64, !llvm.ptr)",
                                                     "llvm.func @lgamma(f64) -> f64"));
  ASSERT_TRUE(code) << error;
  double value = 29.75;
  uint64_t args[] = {reinterpret_cast<uint64_t>(&value)};
  const uint32_t grid[3] = {1, 1, 1};
  launch(code->entry(), args, grid, 0);
  EXPECT_EQ(value, std::lgamma(std::fmod(29.75, 2.5)));
}

TEST_F(JIT, GivesTheTextsOfStages) {
  std::optional<EmittedCode> code = emit(increment, {true, true});
  ASSERT_TRUE(code) << error;
  EXPECT_THAT(code->llvm, HasSubstr("define void @entry("));
  EXPECT_THAT(code->assembly, HasSubstr("entry:"));
  EXPECT_GT(code->object.size(), 100u);
  EXPECT_EQ(std::string(code->object.data() + 1, 3), "ELF");
}

TEST_F(JIT, GivesTheSameBytesAgain) {
  std::optional<EmittedCode> first = emit(increment, {true, true}), second = emit(increment);
  ASSERT_TRUE(first && second) << error;
  EXPECT_EQ(first->object, second->object) << "asking for texts must not change the code";
}

TEST_F(JIT, BadInlineAssemblyIsAnError) {
  std::optional<EmittedCode> code =
      emit(entryPoint(R"(llvm.inline_asm has_side_effects "nosuchinstruction", "" : () -> ())"));
  EXPECT_FALSE(code);
  EXPECT_THAT(error, HasSubstr("invalid instruction mnemonic"));
}

TEST_F(JIT, ImpossibleAssemblyConstraintsAreAnError) {
  std::optional<EmittedCode> code = emit(entryPoint(R"(
  %x = llvm.mlir.constant(1.0 : f64) : f64
  llvm.inline_asm has_side_effects "# $0", "{nosuchregister}" %x : (f64) -> ())"));
  EXPECT_FALSE(code);
  EXPECT_THAT(error, HasSubstr("constraint"));
}

TEST_F(JIT, WhatTheProcessorCannotDoIsAnError) {
  for (int i = 0; i < 3; ++i) {
    std::optional<EmittedCode> code = emit(entryPoint(R"(
  %p = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %x = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.tid.x"() : () -> i32
  llvm.store %x, %p : i32, !llvm.ptr)"));
    EXPECT_FALSE(code);
    EXPECT_THAT(error, HasSubstr("Cannot select"));
    error.clear();
  }
  EXPECT_TRUE(emit(increment)) << error;
}

TEST_F(JIT, AFunctionNobodyHasIsAnError) {
  EXPECT_FALSE(load(entryPoint("llvm.call @nobody_has_this() : () -> ()", "llvm.func @nobody_has_this()")));
  EXPECT_THAT(error, HasSubstr("nobody_has_this"));
}

TEST_F(JIT, AMissingEntryPointIsAnError) {
  EXPECT_FALSE(load("llvm.func @other() { llvm.return }"));
  EXPECT_THAT(error, HasSubstr("entry"));
}

TEST_F(JIT, BrokenObjectsAreErrors) {
  EXPECT_FALSE(LoadedCode::load("not an object", "entry", error));
  EXPECT_FALSE(error.empty());
}

std::string multiplyAdd(const std::string &flags) {
  return entryPoint(R"(
  %p = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %x = llvm.load %p : !llvm.ptr -> f64
  %y = llvm.fmul %x, %x )" +
                    flags + R"( : f64
  %z = llvm.fadd %y, %x )" +
                    flags + R"( : f64
  llvm.store %z, %p : f64, !llvm.ptr)");
}

TEST_F(JIT, FusesOnlyWhatIsMarked) {
  if (!options.features.fma)
    GTEST_SKIP() << "this machine has no fused multiply-add";
  std::optional<EmittedCode> marked =
      emit(multiplyAdd("{fastmathFlags = #llvm.fastmath<contract>}"), {false, true});
  std::optional<EmittedCode> plain = emit(multiplyAdd(""), {false, true});
  ASSERT_TRUE(marked && plain) << error;
  EXPECT_THAT(marked->assembly, HasSubstr("vfmadd"));
  EXPECT_THAT(plain->assembly, Not(HasSubstr("vfmadd")));
}

TEST_F(JIT, UsesTheWholeVectorWidth) {
  if (options.features.vectorBytes != 64)
    GTEST_SKIP() << "this machine has no 512-bit vectors";
  std::optional<EmittedCode> code = emit(entryPoint(R"(
  %p = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %x = llvm.load %p : !llvm.ptr -> vector<16xf32>
  %y = llvm.fadd %x, %x : vector<16xf32>
  llvm.store %y, %p : vector<16xf32>, !llvm.ptr)"),
                                         {false, true});
  ASSERT_TRUE(code) << error;
  EXPECT_THAT(code->assembly, HasSubstr("zmm"));
}

TEST_F(JIT, LoadsInManyThreads) {
  std::optional<EmittedCode> emitted = emit(increment);
  ASSERT_TRUE(emitted) << error;
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        std::string failure;
        auto code = LoadedCode::load({emitted->object.data(), emitted->object.size()}, "entry", failure);
        int64_t value = i;
        uint64_t args[] = {reinterpret_cast<uint64_t>(&value)};
        const uint32_t grid[3] = {1, 1, 1};
        if (code && launch(code->entry(), args, grid, 0) == LaunchStatus::Ok && value == i + 1)
          ++good;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(good.load(), 160);
}

TEST_F(JIT, PrintsItsTimes) {
  for (int i = 0; i < 3; ++i) {
    auto start = std::chrono::steady_clock::now();
    std::optional<EmittedCode> code = emit(increment);
    ASSERT_TRUE(code) << error;
    auto middle = std::chrono::steady_clock::now();
    std::unique_ptr<LoadedCode> loaded =
        LoadedCode::load({code->object.data(), code->object.size()}, "entry", error);
    ASSERT_TRUE(loaded) << error;
    auto end = std::chrono::steady_clock::now();
    std::printf(
        "translate %.2f ms, optimise %.2f ms, generate code %.2f ms; all of emission %.2f ms, load %.2f ms\n",
        code->translateSeconds * 1e3, code->optimizeSeconds * 1e3, code->codegenSeconds * 1e3,
        std::chrono::duration<double>(middle - start).count() * 1e3,
        std::chrono::duration<double>(end - middle).count() * 1e3);
  }
}

} // namespace
