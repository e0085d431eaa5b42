//===- ReorderInstructions.cpp - Shorter lives of registers ---------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// In and out: ttg IR. The order of tile operations is mostly the order of the machine's instructions, and
// what a tile of registers lives across counts. Conversions and reads of shared memory move down to their
// first use; tiles that go to shared memory go there right after they have been made.
//
//===----------------------------------------------------------------------===//
#include "despina/Transforms/Passes.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace despina;

namespace despina {
#define GEN_PASS_DEF_TTGREORDERINSTRUCTIONS
#include "despina/Transforms/Passes.h.inc"
} // namespace despina

namespace {

/// The first operation of the block that uses a result, in a region of its own or directly. Null if none
/// does.
Operation *firstUserInBlock(Operation *op) {
  Operation *first = nullptr;
  for (Operation *user : op->getUsers()) {
    Operation *here = op->getBlock()->findAncestorOpInBlock(*user);
    if (here && (!first || here->isBeforeInBlock(first)))
      first = here;
  }
  return first;
}

/// Whether `op` may change what a read of shared memory finds, or order it.
bool mayTouchShared(Operation *op) {
  if (isPure(op))
    return false;
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  if (!effects || op->getNumRegions())
    return true;
  SmallVector<MemoryEffects::EffectInstance> found;
  effects.getEffects(found);
  return llvm::any_of(found, [](const MemoryEffects::EffectInstance &effect) {
    // Global memory has operands that point to it; barriers have none.
    bool isGlobal =
        effect.getResource()->getResourceID() != ttg::SharedMemory::getResourceID() && effect.getValue();
    return !isa<MemoryEffects::Read>(effect.getEffect()) && !isGlobal;
  });
}

/// To right before the first use.
void sink(Operation *op) {
  Operation *user = firstUserInBlock(op);
  if (!user)
    return;
  if (isa<ttg::LocalLoadOp>(op))
    for (Operation *next = op->getNextNode(); next != user; next = next->getNextNode())
      if (mayTouchShared(next)) {
        user = next;
        break;
      }
  if (op->getNextNode() != user)
    op->moveBefore(user);
}

/// To right after the tile that fills it.
void hoist(ttg::LocalAllocOp alloc) {
  Operation *def = alloc.getSrc() ? alloc.getSrc().getDefiningOp() : nullptr;
  if (def && def->getBlock() == alloc->getBlock())
    alloc->moveAfter(def);
}

class TTGReorderInstructionsPass
    : public despina::impl::TTGReorderInstructionsBase<TTGReorderInstructionsPass> {
public:
  void runOnOperation() override {
    SmallVector<Operation *> sinking;
    SmallVector<ttg::LocalAllocOp> allocs;
    getOperation().walk([&](Operation *op) {
      if (isa<ttg::ConvertLayoutOp, ttg::LocalLoadOp>(op))
        sinking.push_back(op);
      else if (auto alloc = dyn_cast<ttg::LocalAllocOp>(op))
        allocs.push_back(alloc);
    });
    for (ttg::LocalAllocOp alloc : allocs)
      hoist(alloc);
    // The last first: a conversion of a conversion follows it.
    for (Operation *op : llvm::reverse(sinking))
      sink(op);
  }
};

} // namespace
