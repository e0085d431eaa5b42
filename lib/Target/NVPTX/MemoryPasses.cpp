//===- MemoryPasses.cpp - Steps on whole modules as passes ----------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// The steps are functions, since some depend on how much scratch memory the thread emitter takes. Here they
// become passes.
//
//===----------------------------------------------------------------------===//
#include "MemoryPasses.h"

#include "Scratch.h"
#include "TensorMaps.h"

#include "despina/Target/NVPTX/NVPTXPipeline.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace despina::nvptx {

namespace {

struct Step {
  const char *name;
  const char *summary;
  void (*run)(ModuleOp module);
};

ScratchSize scratchOf(ModuleOp module) {
  unsigned capability = ttg::computeCapability(module);
  return [capability](Operation *op) { return scratchBytes(op, capability); };
}

constexpr Step lowerMaps{"nvptx-lower-tensor-maps", "Bulk copies of tiles go through buffers with barriers",
                         lowerTensorMaps};
constexpr Step fences{"nvptx-insert-fences", "Fences between threads and asynchronous units",
                      [](ModuleOp module) { insertFences(module, scratchOf(module)); }};
constexpr Step allocation{"nvptx-allocate-shared-memory", "Offsets in shared memory",
                          [](ModuleOp module) { allocateSharedMemory(module, scratchOf(module)); }};
constexpr Step barriers{"nvptx-insert-barriers", "Barriers between threads that share memory",
                        [](ModuleOp module) { insertBarriers(module, scratchOf(module)); }};

class StepPass : public PassWrapper<StepPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(StepPass)
  explicit StepPass(const Step &step) : step_(step) {}
  StringRef getArgument() const final { return step_.name; }
  StringRef getDescription() const final { return step_.summary; }
  StringRef getName() const final { return step_.name; }
  void getDependentDialects(DialectRegistry &registry) const final { registerLoweringDialects(registry); }
  void runOnOperation() final { step_.run(getOperation()); }

private:
  const Step &step_;
};

} // namespace

std::unique_ptr<Pass> createLowerTensorMaps() { return std::make_unique<StepPass>(lowerMaps); }

void addMemoryPasses(OpPassManager &manager) {
  for (const Step *step : {&fences, &allocation, &barriers})
    manager.addPass(std::make_unique<StepPass>(*step));
}

void registerMemoryPasses() {
  registerPass([] { return createSelectTensorMaps(); });
  static constexpr const Step *all[] = {&lowerMaps, &fences, &allocation, &barriers};
  for (const Step *step : all)
    registerPass([step] { return std::make_unique<StepPass>(*step); });
}

} // namespace despina::nvptx
