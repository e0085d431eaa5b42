//===- CPUPipeline.cpp - From tile IR to the LLVM dialect -----------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "despina/Target/CPU/CPUPipeline.h"

#include "Lowering.h"
#include "TileEmitter.h"

#include "despina/Target/CPU/Passes.h"
#include "despina/Transforms/Passes.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;

namespace despina::cpu {

void registerLoweringDialects(DialectRegistry &registry) {
  registry.insert<LLVM::LLVMDialect, vector::VectorDialect, cf::ControlFlowDialect, amx::AMXDialect,
                  x86vector::X86VectorDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect,
                  ub::UBDialect>();
}

static void loadDialects(MLIRContext &context) {
  context.loadDialect<LLVM::LLVMDialect, vector::VectorDialect, cf::ControlFlowDialect, amx::AMXDialect,
                      x86vector::X86VectorDialect>();
}

std::optional<LoweredKernel> lowerTiles(ModuleOp module, const CPUOptions &options) {
  loadDialects(*module.getContext());
  tt::FuncOp kernel;
  for (tt::FuncOp candidate : module.getOps<tt::FuncOp>()) {
    bool isPublic = !candidate.isExternal() && candidate.getVisibility() == SymbolTable::Visibility::Public;
    if (!isPublic)
      continue;
    if (kernel) {
      candidate.emitError("a module for the CPU target has one kernel; this is the second");
      return std::nullopt;
    }
    kernel = candidate;
  }
  if (!kernel) {
    module.emitError("the module has no kernel");
    return std::nullopt;
  }
  if (!kernel.getBody().hasOneBlock() || kernel.getFunctionType().getNumResults()) {
    kernel.emitError("a kernel with several blocks or with results is not supported on the CPU target yet");
    return std::nullopt;
  }
  if (failed(checkSupported(module)))
    return std::nullopt;
  // A module of its own while the kernel still exists: both have the same name.
  OpBuilder b(module.getContext());
  OwningOpRef<ModuleOp> output = ModuleOp::create(b, module.getLoc());
  TileEmitter emitter(kernel, options);
  if (failed(emitter.run(*output)))
    return std::nullopt;
  LoweredKernel result{emitter.symbol(), size_t(emitter.scratchBytes())};
  module.getBody()->clear();
  module.getBody()->getOperations().splice(module.getBody()->end(), output->getBody()->getOperations());
  return result;
}

namespace {

/// LLVM has no intrinsic for erf: a scalar one is a call of the C library's.
struct ErfToLibrary : ConvertOpToLLVMPattern<math::ErfOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(math::ErfOp op, OpAdaptor adaptor, ConversionPatternRewriter &b) const final {
    Type type = adaptor.getOperand().getType();
    if (!type.isF32() && !type.isF64())
      return failure();
    auto module = op->getParentOfType<ModuleOp>();
    FailureOr<LLVM::LLVMFuncOp> callee =
        LLVM::lookupOrCreateFn(b, module, type.isF64() ? "erf" : "erff", {type}, type);
    if (failed(callee))
      return failure();
    b.replaceOpWithNewOp<LLVM::CallOp>(op, *callee, adaptor.getOperand());
    return success();
  }
};

} // namespace

LogicalResult convertToLLVMDialect(ModuleOp module) {
  MLIRContext &context = *module.getContext();
  {
    RewritePatternSet patterns(&context);
    populateSCFToControlFlowConversionPatterns(patterns);
    ConversionTarget target(context);
    target.addIllegalOp<scf::ForOp, scf::IfOp, scf::WhileOp>();
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    if (failed(applyPartialConversion(module, target, std::move(patterns))))
      return failure();
  }
  LLVMTypeConverter converter(&context);
  RewritePatternSet patterns(&context);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  ub::populateUBToLLVMConversionPatterns(converter, patterns);
  populateMathToLLVMConversionPatterns(converter, patterns);
  patterns.add<ErfToLibrary>(converter);
  populateVectorToLLVMConversionPatterns(converter, patterns);
  ConversionTarget target(context);
  target.addLegalDialect<LLVM::LLVMDialect>();
  target.addLegalOp<ModuleOp>();
  target.markUnknownOpDynamicallyLegal(
      [](Operation *op) { return isa<amx::AMXDialect, x86vector::X86VectorDialect>(op->getDialect()); });
  return applyPartialConversion(module, target, std::move(patterns));
}

std::optional<LoweredKernel> lowerToLLVMDialect(ModuleOp module, const CPUOptions &options) {
  PassManager manager(module.getContext());
  manager.enableVerifier(false);
  TTPipelineOptions pipeline;
  pipeline.rewriteDescriptors = true;
  buildTTPipeline(manager, pipeline);
  if (failed(manager.run(module)) || failed(replaceSmallFloats(module)))
    return std::nullopt;
  carryUniformSteps(module);
  std::optional<LoweredKernel> result = lowerTiles(module, options);
  if (!result || failed(convertToLLVMDialect(module)))
    return std::nullopt;
  return result;
}

namespace {

struct UniformCarriesPass : PassWrapper<UniformCarriesPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(UniformCarriesPass)
  StringRef getArgument() const final { return "cpu-uniform-carries"; }
  StringRef getDescription() const final {
    return "Carries a scalar where a tile only grows by a uniform amount";
  }
  void runOnOperation() final { carryUniformSteps(getOperation()); }
};

struct SmallFloatsPass : PassWrapper<SmallFloatsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SmallFloatsPass)
  StringRef getArgument() const final { return "cpu-small-floats"; }
  StringRef getDescription() const final { return "Replaces 8-bit floats by bytes"; }
  void runOnOperation() final {
    if (failed(replaceSmallFloats(getOperation())))
      signalPassFailure();
  }
};

struct LowerTilesPass : PassWrapper<LowerTilesPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerTilesPass)
  LowerTilesPass() = default;
  LowerTilesPass(const LowerTilesPass &other) : PassWrapper(other) {}
  StringRef getArgument() const final { return "cpu-lower-tiles"; }
  StringRef getDescription() const final { return "Turns the kernel's tiles into loops over vectors"; }
  void getDependentDialects(DialectRegistry &registry) const final { registerLoweringDialects(registry); }
  Option<unsigned> vectorBytes{*this, "vector-bytes",
                               llvm::cl::desc("Native vector width in bytes (0: this machine's)"),
                               llvm::cl::init(0)};
  Option<bool> amx{*this, "amx", llvm::cl::desc("With vector-bytes: the machine has AMX for bf16 and int8"),
                   llvm::cl::init(false)};
  void runOnOperation() final {
    CPUOptions options;
    if (vectorBytes) {
      // Tests ask for the same code on every machine.
      options.features = CPUFeatures();
      options.features.vectorBytes = vectorBytes;
      options.features.vectorRegisters = vectorBytes == 64 ? 32 : 16;
      options.features.amxTile = options.features.amxBF16 = options.features.amxInt8 = amx;
    }
    if (!lowerTiles(getOperation(), options))
      signalPassFailure();
  }
};

struct ConvertToLLVMPass : PassWrapper<ConvertToLLVMPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ConvertToLLVMPass)
  StringRef getArgument() const final { return "cpu-convert-to-llvm"; }
  StringRef getDescription() const final { return "Turns loops over vectors into the LLVM dialect"; }
  void getDependentDialects(DialectRegistry &registry) const final { registerLoweringDialects(registry); }
  void runOnOperation() final {
    if (failed(convertToLLVMDialect(getOperation())))
      signalPassFailure();
  }
};

} // namespace

void registerCPUPasses() {
  PassRegistration<UniformCarriesPass>();
  PassRegistration<SmallFloatsPass>();
  PassRegistration<LowerTilesPass>();
  PassRegistration<ConvertToLLVMPass>();
}

} // namespace despina::cpu
