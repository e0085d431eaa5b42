//===- Membar.cpp - Barriers between threads that share memory ------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// In: a ttg kernel with offsets. Out: the same with tt.barrier wherever an access to shared memory must wait
// for one before it: a read for a write, a write for a read or a write, of bytes in common. A forward walk
// keeps the accesses since the last barrier; control flow is structured, so loops are walked until nothing is
// added, and branches are joined.
//
// A copy that runs beside the program counts as a write where it is started, and each wait for copies has a
// barrier behind it: what the wait is for is then there for all threads.
//
// An operation with scratch memory writes it, has a barrier inside, and reads it. It counts as both, and as
// no barrier: it may get by with one of a warp.
//
//===----------------------------------------------------------------------===//
#include "despina/Transforms/AllocateSharedMemory.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace despina {

namespace {

/// Bytes [begin, end) that were, or will be, accessed.
struct Access {
  uint64_t begin, end;
  bool isWrite;
  bool operator==(const Access &) const = default;
  bool mustWaitFor(const Access &earlier) const {
    return begin < earlier.end && earlier.begin < end && (isWrite || earlier.isWrite);
  }
};

/// The accesses since the last barrier.
class Pending {
public:
  void add(const Access &access) {
    if (!llvm::is_contained(accesses_, access))
      accesses_.push_back(access);
  }
  void add(const Pending &other) {
    for (const Access &access : other.accesses_)
      add(access);
  }
  void clear() { accesses_.clear(); }
  bool mustWait(const Access &access) const {
    return llvm::any_of(accesses_, [&](const Access &earlier) { return access.mustWaitFor(earlier); });
  }
  size_t size() const { return accesses_.size(); }

private:
  llvm::SmallVector<Access, 8> accesses_;
};

class BarrierInsertion {
public:
  BarrierInsertion(tt::FuncOp function, const ScratchSize &scratchSize)
      : function_(function), buffers_(function, scratchSize) {}

  void run() {
    Pending pending;
    walk(function_.getBody().front(), pending);
  }

private:
  Access bytesOf(unsigned index, bool isWrite) const {
    const SharedBuffer &buffer = buffers_.all()[index];
    auto offset = buffer.owner->getAttrOfType<IntegerAttr>(ttg::offsetName);
    uint64_t begin = offset ? static_cast<uint64_t>(offset.getInt()) : 0;
    return {begin, begin + buffer.bytes, isWrite};
  }

  void addBuffers(Value value, bool isWrite, SmallVectorImpl<Access> &accesses) const {
    for (unsigned index : buffers_.of(value))
      accesses.push_back(bytesOf(index, isWrite));
  }

  /// What an operation does to shared memory: its effects on the memdescs among its operands and results.
  SmallVector<Access, 4> accessesOf(Operation *op) const {
    SmallVector<Access, 4> accesses;
    if (std::optional<unsigned> scratch = buffers_.scratchOf(op))
      for (bool isWrite : {true, false})
        accesses.push_back(bytesOf(*scratch, isWrite));
    auto interface = dyn_cast<MemoryEffectOpInterface>(op);
    if (!interface || op->getNumRegions() != 0)
      return accesses;
    SmallVector<MemoryEffects::EffectInstance> effects;
    interface.getEffects(effects);
    for (const MemoryEffects::EffectInstance &effect : effects) {
      bool isWrite = isa<MemoryEffects::Write>(effect.getEffect());
      if (effect.getResource() != ttg::SharedMemory::get() ||
          (!isWrite && !isa<MemoryEffects::Read>(effect.getEffect())))
        continue;
      if (Value value = effect.getValue())
        addBuffers(value, isWrite, accesses);
      else
        for (Value operand : op->getOperands())
          if (isa<ttg::MemDescType>(operand.getType()))
            addBuffers(operand, isWrite, accesses);
    }
    return accesses;
  }

  void walk(Block &block, Pending &pending) {
    // Barriers are inserted before the operation in hand.
    for (Operation &op : llvm::make_early_inc_range(block))
      visit(&op, pending);
  }

  void visit(Operation *op, Pending &pending) {
    if (isa<tt::BarrierOp>(op))
      return pending.clear();
    if (isa<ttg::AsyncWaitOp>(op))
      return visitWait(op, pending);
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return repeat(pending, [&](Pending &inside) { walk(*loop.getBody(), inside); });
    if (auto loop = dyn_cast<scf::WhileOp>(op))
      return visitWhile(loop, pending);
    if (auto branch = dyn_cast<scf::IfOp>(op))
      return visitIf(branch, pending);
    SmallVector<Access, 4> accesses = accessesOf(op);
    if (llvm::any_of(accesses, [&](const Access &access) { return pending.mustWait(access); })) {
      OpBuilder b(op);
      tt::BarrierOp::create(b, op->getLoc());
      pending.clear();
    }
    for (const Access &access : accesses)
      pending.add(access);
  }

  /// A thread has waited for its own copies only.
  void visitWait(Operation *op, Pending &pending) {
    if (!isa_and_nonnull<tt::BarrierOp>(op->getNextNode())) {
      OpBuilder b(op->getContext());
      b.setInsertionPointAfter(op);
      tt::BarrierOp::create(b, op->getLoc());
    }
    pending.clear();
  }

  /// A body that runs any number of times: what is pending at its end is so at its beginning.
  void repeat(Pending &pending, function_ref<void(Pending &)> body) {
    while (true) {
      Pending end = pending;
      body(end);
      size_t before = pending.size();
      pending.add(end);
      if (pending.size() == before)
        return;
    }
  }

  void visitWhile(scf::WhileOp loop, Pending &pending) {
    // It ends behind the first region; what the second leaves comes into the first.
    Pending atEnd;
    repeat(pending, [&](Pending &inside) {
      walk(*loop.getBeforeBody(), inside);
      atEnd = inside;
      walk(*loop.getAfterBody(), inside);
    });
    pending = atEnd;
  }

  void visitIf(scf::IfOp branch, Pending &pending) {
    Pending otherwise = pending;
    walk(*branch.thenBlock(), pending);
    if (branch.elseBlock())
      walk(*branch.elseBlock(), otherwise);
    pending.add(otherwise);
  }

  tt::FuncOp function_;
  SharedBuffers buffers_;
};

} // namespace

void insertBarriers(ModuleOp module, const ScratchSize &scratchSize) {
  for (tt::FuncOp function : module.getOps<tt::FuncOp>())
    BarrierInsertion(function, scratchSize).run();
}

} // namespace despina
