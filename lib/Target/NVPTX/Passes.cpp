//===- Passes.cpp - Passes of the NVIDIA target ---------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "despina/Target/NVPTX/Passes.h"

#include "despina/Target/NVPTX/NVPTXPipeline.h"

#include "DotPasses.h"
#include "MemoryPasses.h"
#include "ThreadEmitter.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace despina::nvptx {

namespace {

struct EmitThreadsPass : PassWrapper<EmitThreadsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(EmitThreadsPass)
  EmitThreadsPass() = default;
  EmitThreadsPass(const EmitThreadsPass &other) : PassWrapper(other) {}
  StringRef getArgument() const final { return "nvptx-emit-threads"; }
  StringRef getDescription() const final { return "Writes what one thread of the kernel does"; }
  void getDependentDialects(DialectRegistry &registry) const final { registerLoweringDialects(registry); }
  Option<std::string> arch{*this, "arch", llvm::cl::desc("Architecture"), llvm::cl::init("sm_90a")};
  Option<bool> fpFusion{*this, "fp-fusion", llvm::cl::desc("Products and sums may become one operation"),
                        llvm::cl::init(true)};
  Option<unsigned> maxRegisters{*this, "maxnreg", llvm::cl::desc("Registers of a thread (0: no limit)"),
                                llvm::cl::init(0)};
  Option<bool> debug{*this, "debug", llvm::cl::desc("Assertions are active"), llvm::cl::init(false)};
  void runOnOperation() final {
    NVPTXOptions options;
    std::string error;
    std::optional<Architecture> parsed = Architecture::parse(arch.getValue(), error);
    if (!parsed) {
      getOperation().emitError(error);
      return signalPassFailure();
    }
    options.arch = *parsed;
    options.enableFPFusion = fpFusion;
    options.maxRegisters = maxRegisters;
    options.debug = debug;
    if (!emitThreads(getOperation(), options))
      signalPassFailure();
  }
};

} // namespace

void registerNVPTXPasses() {
  PassRegistration<EmitThreadsPass>();
  registerDotPasses();
  registerMemoryPasses();
}

} // namespace despina::nvptx
