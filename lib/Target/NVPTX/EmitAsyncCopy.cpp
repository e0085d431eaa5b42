//===- EmitAsyncCopy.cpp - Copies that run beside the program -------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// PTX section "cp.async": each thread starts copies of 4, 8 or 16 bytes, from one run of global memory to one
// of shared memory. What is narrower than that, and everything before sm_80, is read and stored at once; the
// program is the same, since it waits for its copies and then for the block.
//
//===----------------------------------------------------------------------===//
#include "EmitBuffer.h"
#include "EmitMemory.h"
#include "ThreadData.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace despina::nvptx {

namespace {

constexpr unsigned firstWithCopies = 80, narrowestBits = 32, widestBits = 128;

/// How a thread reads its elements, and where each access goes.
struct CopyPlan {
  AccessPlan read;
  BufferAccess write;
  /// For each access of `read`, the offset of the one of `write` with the same elements.
  SmallVector<uint64_t, 8> offsets;
};

/// Pairs accesses of the same elements in the same order. False if there is one without.
bool pairAccesses(const LinearLayout &layout, CopyPlan &plan) {
  llvm::SmallDenseMap<uint64_t, const SharedAccess *> byFirst;
  for (const SharedAccess &access : plan.write.accesses)
    byFirst[layout.applyFlat(access.registers.front())] = &access;
  for (const MemoryAccess &access : plan.read.accesses) {
    const SharedAccess *found = byFirst.lookup(layout.applyFlat(access.registers.front()));
    if (!found || !llvm::equal(access.registers, found->registers, [&](unsigned lhs, unsigned rhs) {
          return layout.applyFlat(lhs) == layout.applyFlat(rhs);
        }))
      return false;
    plan.offsets.push_back(found->offset);
  }
  return true;
}

/// The widest copies that memory on both sides allows; none where they would be too narrow.
std::optional<CopyPlan> planCopies(ThreadEmitter &e, ttg::AsyncCopyGlobalToLocalOp op) {
  auto type = cast<RankedTensorType>(op.getSrc().getType());
  ttg::MemDescType buffer = op.getDst().getType();
  const LinearLayout &layout = ttg::layoutOf(type);
  unsigned bits = ttg::memoryBits(buffer.getElementType());
  for (unsigned width = widestBits; width >= std::max(bits, narrowestBits); width /= 2) {
    CopyPlan plan;
    plan.read = planAccess(e, op.getSrc(), op.getMask(), width / bits);
    if (plan.read.accesses.front().registers.size() != width / bits)
      continue;
    std::optional<BufferAccess> write = planBufferAccess(ttg::layoutOf(buffer), layout, bits, width);
    if (!write)
      return std::nullopt;
    plan.write = std::move(*write);
    if (plan.write.vector == width / bits && pairAccesses(layout, plan))
      return plan;
  }
  return std::nullopt;
}

/// Whether all bits of a tile are known to be 0, or there is none.
bool isZeroTile(Value tile) {
  DenseElementsAttr elements;
  if (!tile || !matchPattern(tile, m_Constant(&elements)))
    return !tile;
  if (!elements.isSplat())
    return false;
  if (isa<FloatType>(elements.getElementType()))
    return elements.getSplatValue<APFloat>().bitcastToAPInt().isZero();
  return isa<IntegerType>(elements.getElementType()) && elements.getSplatValue<APInt>().isZero();
}

Value both(ThreadEmitter &e, Value lhs, Value rhs) {
  return lhs && rhs ? e.bitAnd(lhs, rhs) : lhs ? lhs : rhs;
}

void startCopies(ThreadEmitter &e, ttg::AsyncCopyGlobalToLocalOp op, const CopyPlan &plan) {
  unsigned bits = ttg::memoryBits(op.getDst().getType().getElementType());
  ArrayRef<Value> buffer = e.get(op.getDst());
  SharedAddresses addresses(e, buffer[0], bits, plan.write.offset, buffer[1]);
  CacheHints hints{op.getCache(), op.getEvict()};
  Value acts = e.isCanonical(plan.write.copyLanes, plan.write.copyWarps);
  bool writesOther = op.getMask() && !isZeroTile(op.getOther());
  for (auto [access, offset] : llvm::zip(plan.read.accesses, plan.offsets)) {
    GlobalPlace place = placeOf(e, op.getSrc(), op.getMask(), access);
    Value isRead = place.predicate, shared = addresses.at(offset);
    place.predicate = writesOther ? both(e, isRead, acts) : acts;
    copyAsync(e, shared, place, bits / 8 * access.registers.size(), writesOther ? Value() : isRead, hints);
    if (!writesOther)
      continue;
    Registers words;
    for (Value value : pick(e.get(op.getOther()), access.registers))
      words.push_back(toBits(e, value));
    e.ifThen(both(e, e.bitXor(isRead, e.i1(true)), acts), [&] { storeShared(e, shared, words); });
  }
}

LogicalResult emitCopy(ThreadEmitter &e, ttg::AsyncCopyGlobalToLocalOp op) {
  if (failed(checkAccess(op, op.getSrc().getType())))
    return failure();
  e.set(op.getToken(), {});
  // A byte of global memory may be any for true, one of a buffer is 0 or 1.
  bool isPlain = op.getCache() == tt::CacheModifier::CV || e.capability() < firstWithCopies ||
                 op.getDst().getType().getElementType().isInteger(1);
  if (std::optional<CopyPlan> plan = isPlain ? std::nullopt : planCopies(e, op)) {
    startCopies(e, op, *plan);
    return success();
  }
  std::optional<Registers> registers =
      readGlobal(e, op, {op.getSrc(), op.getMask(), op.getOther(), {op.getCache(), op.getEvict()}});
  if (!registers)
    return failure();
  auto pointers = cast<RankedTensorType>(op.getSrc().getType());
  return storeBuffer(e, op, *registers, pointers.clone(op.getDst().getType().getElementType()), op.getDst());
}

LogicalResult emitCommit(ThreadEmitter &e, ttg::AsyncCommitGroupOp op) {
  e.set(op.getToken(), {});
  if (e.capability() >= firstWithCopies)
    e.inlinePTX("cp.async.commit_group;", "~{memory}", Type(), {}, true);
  return success();
}

LogicalResult emitWait(ThreadEmitter &e, ttg::AsyncWaitOp op) {
  e.set(op.getToken(), {});
  if (e.capability() >= firstWithCopies)
    e.inlinePTX("cp.async.wait_group $0;", "n,~{memory}", Type(), {e.i32(op.getNum())}, true);
  return success();
}

} // namespace

void addAsyncCopyEmitters(EmitterTable &table) {
  table.add<ttg::AsyncCopyGlobalToLocalOp, emitCopy>();
  table.add<ttg::AsyncCommitGroupOp, emitCommit>();
  table.add<ttg::AsyncWaitOp, emitWait>();
}

} // namespace despina::nvptx
