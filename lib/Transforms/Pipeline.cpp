//===- Pipeline.cpp - The passes every target starts with -----------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "despina/Transforms/DecomposeDotScaled.h"
#include "despina/Transforms/Passes.h"

#include "Rewrite.h"

#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace despina;

static std::unique_ptr<Pass> createFastCanonicalizer() {
  return createCanonicalizerPass(tileRewriteConfig());
}

void despina::buildTTPipeline(OpPassManager &manager, const TTPipelineOptions &options) {
  if (options.inlineCalls)
    manager.addPass(createDespinaInline());
  if (options.rewriteDescriptors)
    manager.addPass(createTTRewriteDescriptors());
  OpPassManager &functions = manager.nest<tt::FuncOp>();
  functions.addPass(createTTDecomposeDotScaled());
  functions.addPass(createFastCanonicalizer());
  functions.addPass(createTTReorderBroadcast());
  functions.addPass(createTTCombine());
  functions.addPass(createCSEPass());
  functions.addPass(createTTLICM());
  functions.addPass(createTTLoopUnroll());
  functions.addPass(createFastCanonicalizer());
  functions.addPass(createCSEPass());
  manager.addPass(createSymbolDCEPass());
}

void despina::registerTTPipeline() {
  registerPass([] { return createTTDecomposeDotScaled(); });
  PassPipelineRegistration<TTPipelineOptions>(
      "tt-pipeline", "The passes on tile IR that every target starts with", buildTTPipeline);
}
