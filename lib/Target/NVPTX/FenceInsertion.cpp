//===- FenceInsertion.cpp - Fences between ways to shared memory ----------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// In: a ttg kernel without barriers. Out: the same with ttng.fence_async_shared and ttng.fence_async_global.
//
// Matrix units and bulk copies reach memory by another way (the asynchronous proxy) than loads and stores of
// threads. What threads did is seen there only after a fence of the threads that did it, followed by a
// barrier. The fence goes before the operation that needs it. One walk for each kind of memory keeps whether
// threads may have touched it since the last fence; it does not ask which bytes.
//
// Shared memory: bytes are shared by buffers that have nothing to do with each other. The barrier pass, which
// runs later, puts its barrier behind the fence. Global memory: what threads wrote, or may have learned from
// other programs by an atomic operation. Its barrier comes with the fence.
//
//===----------------------------------------------------------------------===//
#include "MemoryPasses.h"

#include "despina/Target/NVPTX/TTNG.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace despina::nvptx {

namespace {

bool isBulkCopy(Operation *op) {
  return isa<ttng::AsyncTMACopyGlobalToLocalOp, ttng::AsyncTMACopyLocalToGlobalOp, ttng::AsyncTMAReduceOp>(
      op);
}

/// One kind of memory.
struct Memory {
  /// Whether threads touch it so that the asynchronous proxy must know.
  std::function<bool(Operation *)> touches;
  /// Whether the operation reaches it by the asynchronous proxy.
  bool (*isAsync)(Operation *op);
  bool (*isFence)(Operation *op);
  void (*createFence)(OpBuilder &b, Location loc);
};

bool touchesShared(Operation *op, const ScratchSize &scratchSize) {
  if (auto alloc = dyn_cast<ttg::LocalAllocOp>(op))
    return static_cast<bool>(alloc.getSrc());
  // A copy may write up to where it is waited for.
  return isa<ttg::LocalStoreOp, ttg::LocalLoadOp, ttg::AsyncCopyGlobalToLocalOp, ttg::AsyncWaitOp>(op) ||
         scratchSize(op) != 0;
}

Memory sharedMemory(const ScratchSize &scratchSize) {
  return {[&](Operation *op) { return touchesShared(op, scratchSize); },
          [](Operation *op) { return isa<ttng::WarpGroupDotOp>(op) || isBulkCopy(op); },
          [](Operation *op) { return isa<ttng::FenceAsyncSharedOp>(op); },
          [](OpBuilder &b, Location loc) { ttng::FenceAsyncSharedOp::create(b, loc); }};
}

bool touchesGlobal(Operation *op) {
  if (auto load = dyn_cast<tt::LoadOp>(op))
    return load.getIsVolatile(); // it may wait for another program
  if (isa<tt::ElementwiseInlineAsmOp>(op))
    return !isPure(op);
  return isa<tt::StoreOp, tt::AtomicRMWOp, tt::AtomicCASOp>(op);
}

Memory globalMemory() {
  return {touchesGlobal, isBulkCopy, [](Operation *op) { return isa<ttng::FenceAsyncGlobalOp>(op); },
          [](OpBuilder &b, Location loc) {
            ttng::FenceAsyncGlobalOp::create(b, loc);
            // Other blocks of the cluster may have written what this one reads.
            if (ttg::numCTAs(b.getInsertionBlock()->getParentOp()) > 1)
              ttng::ClusterBarrierOp::create(b, loc);
            else
              tt::BarrierOp::create(b, loc);
          }};
}

class FenceInsertion {
public:
  explicit FenceInsertion(Memory memory) : memory_(std::move(memory)) {}

  /// Gives whether threads may have touched memory since the last fence, at the end of the block.
  bool walk(Block &block, bool isDirty) {
    for (Operation &op : llvm::make_early_inc_range(block))
      isDirty = visit(&op, isDirty);
    return isDirty;
  }

private:
  void insertFence(Operation *op) {
    OpBuilder b(op);
    memory_.createFence(b, op->getLoc());
  }

  bool visit(Operation *op, bool isDirty) {
    if (memory_.isFence(op))
      return false;
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      bool then = walk(*branch.thenBlock(), isDirty);
      bool otherwise = branch.elseBlock() ? walk(*branch.elseBlock(), isDirty) : isDirty;
      return then || otherwise;
    }
    if (isa<scf::ForOp, scf::WhileOp>(op))
      return visitLoop(op, isDirty);
    if (memory_.touches(op))
      return true;
    if (!memory_.isAsync(op) || !isDirty)
      return isDirty;
    insertFence(op);
    return false;
  }

  bool visitLoop(Operation *op, bool isDirty) {
    bool touchesInside = false, usesInside = false;
    op->walk([&](Operation *inner) {
      touchesInside |= inner != op && memory_.touches(inner);
      usesInside |= memory_.isAsync(inner);
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

  Memory memory_;
};

} // namespace

void insertFences(ModuleOp module, const ScratchSize &scratchSize) {
  // Kernels that ran before do not count: their shared memory is not ours, and they have ended. Global memory
  // comes second, so that its barrier stands behind both fences.
  for (tt::FuncOp function : module.getOps<tt::FuncOp>())
    for (const Memory &memory : {sharedMemory(scratchSize), globalMemory()})
      (void)FenceInsertion(memory).walk(function.getBody().front(), /*isDirty=*/false);
}

} // namespace despina::nvptx
