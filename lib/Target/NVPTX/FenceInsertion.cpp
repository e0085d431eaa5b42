//===- FenceInsertion.cpp - Fences between ways to shared memory ----------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// In: a ttg kernel without barriers. Out: the same with ttng.fence_async_shared.
//
// Matrix units and bulk copies reach shared memory by another way (the asynchronous proxy) than loads and
// stores of threads. What threads did is seen there only after a fence of the threads that did it, followed
// by a barrier. The fence goes before the operation that needs it; the barrier pass, which runs later, puts
// its barrier between the two. One walk keeps whether threads may have touched shared memory since the last
// fence. It does not ask which bytes: they are shared by buffers that have nothing to do with each other.
//
//===----------------------------------------------------------------------===//
#include "MemoryPasses.h"

#include "despina/Target/NVPTX/TTNG.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace despina::nvptx {

namespace {

bool usesAsyncProxy(Operation *op) {
  return isa<ttng::WarpGroupDotOp, ttng::AsyncTMACopyGlobalToLocalOp, ttng::AsyncTMACopyLocalToGlobalOp,
             ttng::AsyncTMAReduceOp>(op);
}

class FenceInsertion {
public:
  explicit FenceInsertion(const ScratchSize &scratchSize) : scratchSize_(scratchSize) {}

  /// Gives whether threads may have touched memory since the last fence, at the end of the block.
  bool walk(Block &block, bool isDirty) {
    for (Operation &op : llvm::make_early_inc_range(block))
      isDirty = visit(&op, isDirty);
    return isDirty;
  }

private:
  bool touchesMemory(Operation *op) const {
    if (auto alloc = dyn_cast<ttg::LocalAllocOp>(op))
      return static_cast<bool>(alloc.getSrc());
    // A copy may write up to where it is waited for.
    return isa<ttg::LocalStoreOp, ttg::LocalLoadOp, ttg::AsyncCopyGlobalToLocalOp, ttg::AsyncWaitOp>(op) ||
           scratchSize_(op) != 0;
  }

  static void insertFence(Operation *op) {
    OpBuilder b(op);
    ttng::FenceAsyncSharedOp::create(b, op->getLoc());
  }

  bool visit(Operation *op, bool isDirty) {
    if (isa<ttng::FenceAsyncSharedOp>(op))
      return false;
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      bool then = walk(*branch.thenBlock(), isDirty);
      bool otherwise = branch.elseBlock() ? walk(*branch.elseBlock(), isDirty) : isDirty;
      return then || otherwise;
    }
    if (isa<scf::ForOp, scf::WhileOp>(op))
      return visitLoop(op, isDirty);
    if (touchesMemory(op))
      return true;
    if (!usesAsyncProxy(op) || !isDirty)
      return isDirty;
    insertFence(op);
    return false;
  }

  bool visitLoop(Operation *op, bool isDirty) {
    bool touchesInside = false, usesInside = false;
    op->walk([&](Operation *inner) {
      touchesInside |= inner != op && touchesMemory(inner);
      usesInside |= usesAsyncProxy(inner);
    });
    if (!usesInside)
      return isDirty || touchesInside;
    // Nothing in the loop asks for another fence: one before it will do.
    if (isDirty && !touchesInside) {
      insertFence(op);
      return false;
    }
    // Whatever the first iteration starts with, the second starts with what the first has left.
    bool dirtyAtStart = isDirty || touchesInside;
    // Both kinds of loop end behind their first region.
    bool dirtyAtEnd = walk(op->getRegion(0).front(), dirtyAtStart);
    if (isa<scf::WhileOp>(op))
      (void)walk(op->getRegion(1).front(), dirtyAtEnd);
    return dirtyAtEnd || isDirty;
  }

  const ScratchSize &scratchSize_;
};

} // namespace

void insertFences(ModuleOp module, const ScratchSize &scratchSize) {
  for (tt::FuncOp function : module.getOps<tt::FuncOp>())
    // Kernels that ran before on this multiprocessor do not count: their memory is not ours.
    (void)FenceInsertion(scratchSize).walk(function.getBody().front(), /*isDirty=*/false);
}

} // namespace despina::nvptx
