//===- PTXEmitTest.cpp - From the LLVM dialect to PTX ---------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "despina/Target/NVPTX/PTXEmit.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <thread>

using namespace despina::nvptx;

namespace {

constexpr const char *sine = R"(
llvm.func @__nv_sinf(f32) -> f32
llvm.func @__nv_log2(f64) -> f64
llvm.func @sine(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {nvvm.kernel} {
  %x = llvm.load %p : !llvm.ptr<1> -> f32
  %y = llvm.call @__nv_sinf(%x) : (f32) -> f32
  llvm.store %y, %p : f32, !llvm.ptr<1>
  %z = llvm.load %q : !llvm.ptr<1> -> f64
  %r = llvm.call @__nv_log2(%z) : (f64) -> f64
  llvm.store %r, %q : f64, !llvm.ptr<1>
  llvm.return
})";

struct Outcome {
  std::optional<EmittedPTX> result;
  std::string error;
};

Outcome emit(const std::string &text, bool useLibdevice = true, bool keepLLVM = false) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::LLVM::LLVMDialect, mlir::NVVM::NVVMDialect>();
  registerTranslations(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module)
    return {std::nullopt, "the test's module is not well-formed"};
  NVPTXOptions options;
  options.useLibdevice = useLibdevice;
  Outcome outcome;
  outcome.result = emitPTX(*module, options, keepLLVM, outcome.error);
  return outcome;
}

TEST(PTXEmit, SameBytesFromManyThreads) {
  for (bool useLibdevice : {true, false}) {
    Outcome first = emit(sine, useLibdevice, /*keepLLVM=*/true);
    ASSERT_TRUE(first.result) << first.error;
    std::vector<Outcome> others(4);
    std::vector<std::thread> threads;
    for (Outcome &outcome : others)
      threads.emplace_back([&] { outcome = emit(sine, useLibdevice, /*keepLLVM=*/true); });
    for (std::thread &thread : threads)
      thread.join();
    for (const Outcome &outcome : others) {
      ASSERT_TRUE(outcome.result) << outcome.error;
      EXPECT_EQ(outcome.result->ptx, first.result->ptx);
      EXPECT_EQ(outcome.result->llvm, first.result->llvm);
    }
  }
}

TEST(PTXEmit, LLVMIsKeptOnlyWhenAskedFor) {
  Outcome outcome = emit(sine);
  ASSERT_TRUE(outcome.result) << outcome.error;
  EXPECT_EQ(outcome.result->llvm, "");
  EXPECT_THAT(outcome.result->ptx, testing::HasSubstr(".visible .entry sine("));
  EXPECT_GT(outcome.result->codegenSeconds, 0);
}

TEST(PTXEmit, LLVMsErrorsAreValues) {
  Outcome outcome = emit(R"(
llvm.func @kernel(%p: !llvm.ptr<1>) attributes {nvvm.kernel} {
  %x = llvm.inline_asm "mov.b32 $0, 1;", "={nonsense}" : () -> i32
  llvm.store %x, %p : i32, !llvm.ptr<1>
  llvm.return
})");
  EXPECT_FALSE(outcome.result);
  EXPECT_THAT(outcome.error, testing::HasSubstr("nonsense"));
  // The process goes on.
  EXPECT_TRUE(emit(sine).result);
}

TEST(PTXEmit, ModulesOfOtherDialects) {
  Outcome outcome = emit("module { module { } }");
  EXPECT_FALSE(outcome.result);
  EXPECT_EQ(outcome.error, "the module cannot be compiled for sm_90a");
}

} // namespace
