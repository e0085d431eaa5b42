//===- Inline.cpp - Moves functions into their callers --------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// In: a module of tt.func with tt.call. Out: the same without calls, or with calls of `noinline` functions
// only. Tile operations are lowered within one function, so a call is a wall for every later pass.
//
//===----------------------------------------------------------------------===//
#include "despina/Transforms/Passes.h"

#include "mlir/Transforms/Inliner.h"

using namespace mlir;
using namespace despina;

namespace despina {
#define GEN_PASS_DEF_DESPINAINLINE
#include "despina/Transforms/Passes.h.inc"
} // namespace despina

namespace {

constexpr uint64_t maxOperations = 1 << 20;

/// Counts what functions grow to when every call in them is inlined.
class ExpandedSize {
public:
  explicit ExpandedSize(ModuleOp module) : symbols(module) {}

  /// Stops counting above `maxOperations`; a function that calls itself is not inlined and counts once.
  uint64_t of(tt::FuncOp func) {
    auto [known, isNew] = sizes.try_emplace(func, 1);
    if (!isNew)
      return known->second;
    uint64_t size = 0;
    func.walk([&](Operation *op) {
      ++size;
      if (auto call = dyn_cast<tt::CallOp>(op))
        if (auto callee = symbols.lookup<tt::FuncOp>(call.getCallee()))
          size += of(callee);
      size = std::min(size, maxOperations + 1);
    });
    return sizes[func] = size;
  }

private:
  SymbolTable symbols;
  DenseMap<Operation *, uint64_t> sizes;
};

class DespinaInlinePass : public despina::impl::DespinaInlineBase<DespinaInlinePass> {
public:
  using DespinaInlineBase::DespinaInlineBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    // Most kernels call nothing: then there is no call graph to make.
    bool hasCalls = module.walk([](tt::CallOp) { return WalkResult::interrupt(); }).wasInterrupted();
    if (!hasCalls)
      return markAllAnalysesPreserved();

    ExpandedSize expanded(module);
    for (auto func : module.getOps<tt::FuncOp>())
      if (expanded.of(func) > maxOperations) {
        func.emitError("has over ") << maxOperations << " operations with its calls inlined";
        return signalPassFailure();
      }

    auto shouldInline = [this](const Inliner::ResolvedCall &call) {
      auto func = call.targetNode->getCallableRegion()->getParentOfType<tt::FuncOp>();
      return func && !(keepNoInline && func.isNoInline());
    };
    auto runNested = [](Pass &, OpPassManager &, Operation *) { return success(); };
    InlinerConfig config({}, /*maxInliningIterations=*/4);
    Inliner inliner(module, getAnalysis<CallGraph>(), *this, getAnalysisManager(), runNested, config,
                    shouldInline);
    if (failed(inliner.doInlining()))
      signalPassFailure();
  }
};

} // namespace
