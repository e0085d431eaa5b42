//===- EmitHarness.cpp - Runs a few operations emitted by a test ----------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "EmitHarness.h"

#include "despina/Target/CPU/JIT.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

#include "gtest/gtest.h"

using namespace mlir;

namespace despina::cpu {

static OwningOpRef<ModuleOp> buildModule(MLIRContext &context, unsigned numPointers,
                                         const EmittedFunction::Body &body) {
  OpBuilder b(&context);
  Location loc = b.getUnknownLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  b.setInsertionPointToEnd(module->getBody());
  auto pointer = LLVM::LLVMPointerType::get(&context);
  auto i64 = b.getI64Type();
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(&context), {pointer, pointer, i64, i64, pointer});
  auto function = LLVM::LLVMFuncOp::create(b, loc, "entry", type);
  Block *block = function.addEntryBlock(b);
  b.setInsertionPointToStart(block);
  SmallVector<mlir::Value> pointers;
  for (unsigned i = 0; i < numPointers; ++i) {
    mlir::Value slot =
        LLVM::GEPOp::create(b, loc, pointer, i64, block->getArgument(0), ArrayRef<LLVM::GEPArg>{int32_t(i)});
    pointers.push_back(LLVM::LoadOp::create(b, loc, pointer, slot));
  }
  body(b, loc, pointers, block->getArgument(4));
  LLVM::ReturnOp::create(b, loc, ValueRange{});
  return module;
}

EmittedFunction::EmittedFunction(unsigned numPointers, const CPUOptions &options, const Body &body) {
  compile(numPointers, options, body);
}

void EmittedFunction::compile(unsigned numPointers, const CPUOptions &options, const Body &body) {
  DialectRegistry registry;
  registerTranslations(registry);
  MLIRContext context(registry);
  context.loadDialect<arith::ArithDialect, LLVM::LLVMDialect, math::MathDialect, scf::SCFDialect,
                      vector::VectorDialect>();
  OwningOpRef<ModuleOp> module = buildModule(context, numPointers, body);
  PassManager passes(&context);
  passes.addPass(createConvertVectorToLLVMPass());
  passes.addPass(createSCFToControlFlowPass());
  passes.addPass(createConvertMathToLLVMPass());
  passes.addPass(createConvertMathToLibmPass());
  passes.addPass(createArithToLLVMConversionPass());
  passes.addPass(createConvertFuncToLLVMPass());
  passes.addPass(createConvertControlFlowToLLVMPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
  ASSERT_TRUE(succeeded(passes.run(*module)));
  std::string error;
  auto emitted = emitCode(*module, options, {}, error);
  ASSERT_TRUE(emitted.has_value()) << error;
  code_ = LoadedCode::load(llvm::StringRef(emitted->object.data(), emitted->object.size()), "entry", error);
  ASSERT_TRUE(code_) << error;
}

EmittedFunction::~EmittedFunction() = default;

void EmittedFunction::operator()(std::vector<const void *> pointers, void *scratch) const {
  std::vector<uint64_t> slots;
  for (const void *p : pointers)
    slots.push_back(reinterpret_cast<uint64_t>(p));
  uint32_t grid[3] = {1, 1, 1};
  code_->entry()(slots.data(), grid, 0, 1, scratch);
}

std::vector<CPUOptions> testedOptions() {
  CPUOptions host;
  std::vector<CPUOptions> all = {host};
  CPUOptions narrow = host;
  narrow.features.amxTile = narrow.features.amxBF16 = narrow.features.amxInt8 = narrow.features.avx512 =
      false;
  narrow.features.vectorRegisters = 16;
  for (unsigned bytes : {32u, 16u})
    if (bytes < host.features.vectorBytes) {
      narrow.features.vectorBytes = bytes;
      all.push_back(narrow);
    }
  return all;
}

} // namespace despina::cpu
