//===- NVPTXPipeline.cpp - From tile IR to the LLVM dialect ---------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "despina/Target/NVPTX/NVPTXPipeline.h"

#include "DotPasses.h"
#include "MemoryPasses.h"
#include "ThreadEmitter.h"

#include "despina/Transforms/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace despina::nvptx {

void registerLoweringDialects(DialectRegistry &registry) {
  registry.insert<ttg::TTGDialect, ttng::TTNGDialect, LLVM::LLVMDialect, NVVM::NVVMDialect,
                  arith::ArithDialect, math::MathDialect, scf::SCFDialect, ub::UBDialect>();
}

void buildTTGPipeline(OpPassManager &manager, const NVPTXOptions &options) {
  ConvertToTTGOptions layouts;
  layouts.numWarps = options.numWarps;
  layouts.numCTAs = options.numCTAs;
  layouts.target = "cuda:" + std::to_string(options.arch.number);
  manager.addPass(createConvertToTTG(layouts));
  OpPassManager &functions = manager.nest<tt::FuncOp>();
  // In the order of the path: accesses, matrix units, clean-up, memory, order of threads.
  functions.addPass(createTTGCoalesce());
  functions.addPass(createF32DotTCPass(options.arch));
  functions.addPass(createTTGRemoveLayoutConversions());
  functions.addPass(createTTGOptimizeThreadLocality());
  functions.addPass(createAccelerateMatmulPass(options.arch));
  functions.addPass(createTTGRemoveLayoutConversions());
  functions.addPass(createOptimizeDotOperandsPass());
  functions.addPass(createReduceDataDuplicationPass());
  functions.addPass(createTTGReorderInstructions());
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createCSEPass());
  manager.addPass(createLowerTensorMaps());
  manager.addNestedPass<tt::FuncOp>(createLocalizeBlocksPass());
  addMemoryPasses(manager);
}

/// The module's one kernel; null after an error.
static tt::FuncOp findKernel(ModuleOp module) {
  tt::FuncOp kernel;
  for (tt::FuncOp candidate : module.getOps<tt::FuncOp>()) {
    if (candidate.isExternal() || candidate.getVisibility() != SymbolTable::Visibility::Public)
      continue;
    if (kernel) {
      candidate.emitError("a module for CUDA has one kernel; this is the second");
      return {};
    }
    kernel = candidate;
  }
  if (!kernel)
    module.emitError("the module has no kernel");
  else if (!kernel.getBody().hasOneBlock() || kernel.getFunctionType().getNumResults())
    return kernel.emitError("a kernel with several blocks or with results is not supported on CUDA"),
           tt::FuncOp();
  return kernel;
}

std::optional<LoweredKernel> emitThreads(ModuleOp module, const NVPTXOptions &options) {
  tt::FuncOp kernel = findKernel(module);
  if (!kernel)
    return std::nullopt;
  // A module of its own while the kernel still exists: both have the same name.
  OpBuilder b(module.getContext());
  OwningOpRef<ModuleOp> output = ModuleOp::create(b, module.getLoc());
  std::optional<LoweredKernel> result = ThreadEmitter(kernel, options).run(*output);
  if (!result)
    return std::nullopt;
  module.getBody()->clear();
  module.getBody()->getOperations().splice(module.getBody()->end(), output->getBody()->getOperations());
  return result;
}

std::optional<LoweredKernel> lowerToLLVMDialect(ModuleOp module, const NVPTXOptions &options,
                                                const std::function<void(ModuleOp)> &afterTTG) {
  MLIRContext *context = module.getContext();
  context->loadDialect<ttg::TTGDialect, ttng::TTNGDialect, LLVM::LLVMDialect, NVVM::NVVMDialect>();
  PassManager manager(context);
  manager.enableVerifier(false);
  manager.addPass(createDespinaInline());
  if (options.arch.number >= 90) {
    module->setAttr(ttg::numCTAsName,
                    Builder(context).getI32IntegerAttr(static_cast<int32_t>(options.numCTAs)));
    manager.addPass(createSelectTensorMaps(options.arch));
  }
  TTPipelineOptions tiles;
  tiles.inlineCalls = false;
  tiles.rewriteDescriptors = true;
  buildTTPipeline(manager, tiles);
  buildTTGPipeline(manager, options);
  if (failed(manager.run(module)))
    return std::nullopt;
  if (afterTTG)
    afterTTG(module);
  return emitThreads(module, options);
}

} // namespace despina::nvptx
