//===- LICM.cpp - Moves loop-invariant code out of loops ------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// In and out: tile IR. Upstream's motion of pure operations, plus loads where nothing can tell the
// difference.
//
//===----------------------------------------------------------------------===//
#include "despina/Transforms/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

using namespace mlir;
using namespace despina;

namespace despina {
#define GEN_PASS_DEF_TTLICM
#include "despina/Transforms/Passes.h.inc"
} // namespace despina

namespace {

/// Whether constant bounds tell that the loop makes at least one iteration.
bool surelyRuns(scf::ForOp loop) {
  APInt lower, upper;
  if (!matchPattern(loop.getLowerBound(), m_ConstantInt(&lower)) ||
      !matchPattern(loop.getUpperBound(), m_ConstantInt(&upper)))
    return false;
  return loop.getUnsignedCmp() ? lower.ult(upper) : lower.slt(upper);
}

/// Whether anything in the loop, calls included, may do more than read memory.
bool mayWrite(scf::ForOp loop) {
  auto writes = [](Operation *op) {
    if (op->hasTrait<OpTrait::HasRecursiveMemoryEffects>())
      return WalkResult::advance(); // its operations are visited themselves
    auto effects = dyn_cast<MemoryEffectOpInterface>(op);
    bool readsOnly =
        effects ? (effects.hasNoEffect() || effects.onlyHasEffect<MemoryEffects::Read>()) : isPure(op);
    return readsOnly ? WalkResult::advance() : WalkResult::interrupt();
  };
  return loop.getBody()->walk(writes).wasInterrupted();
}

/// Moves loads of the loop's own block. A load that is not reached, or not reached in the first iteration,
/// must stay: its pointers may be valid only then.
bool moveLoads(scf::ForOp loop) {
  SmallVector<tt::LoadOp> loads;
  for (auto load : loop.getBody()->getOps<tt::LoadOp>())
    if (!load.getIsVolatile() && llvm::all_of(load->getOperands(), [&](Value operand) {
          return loop.isDefinedOutsideOfLoop(operand);
        }))
      loads.push_back(load);
  if (loads.empty() || !surelyRuns(loop) || mayWrite(loop))
    return false;
  for (tt::LoadOp load : loads)
    loop.moveOutOfLoop(load);
  return true;
}

class TTLICMPass : public despina::impl::TTLICMBase<TTLICMPass> {
public:
  void runOnOperation() override {
    // Inner loops first, so that code climbs as far as it may.
    getOperation().walk([](LoopLikeOpInterface loop) {
      if (loop->hasAttr("tt.disable_licm"))
        return;
      moveLoopInvariantCode(loop);
      auto forLoop = dyn_cast<scf::ForOp>(*loop);
      // What a moved load feeds may follow it.
      while (forLoop && moveLoads(forLoop))
        moveLoopInvariantCode(loop);
    });
  }
};

} // namespace
