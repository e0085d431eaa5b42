//===- EmitTensorMap.cpp - Barriers in memory, bulk copies ----------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Thread 0 of the block starts copies and arrives; PTX sections "mbarrier" and "cp.async.bulk.tensor".
//
//===----------------------------------------------------------------------===//
#include "TensorMaps.h"
#include "ThreadEmitter.h"

using namespace mlir;

namespace despina::nvptx {

namespace {

Value isLeader(ThreadEmitter &e) { return e.isZero(e.thread()); }

/// The address of a buffer of one element.
Value barrierAddress(ThreadEmitter &e, Value barrier) {
  ArrayRef<Value> registers = e.get(barrier);
  return e.elementPointer(registers[0], e.b.getI64Type(), registers[1]);
}

LogicalResult emitFence(ThreadEmitter &e, ttng::FenceAsyncSharedOp) {
  e.inlinePTX("fence.proxy.async.shared::cta;", "~{memory}", Type(), {}, true);
  return success();
}

LogicalResult emitGlobalFence(ThreadEmitter &e, ttng::FenceAsyncGlobalOp) {
  e.inlinePTX("fence.proxy.async.global;", "~{memory}", Type(), {}, true);
  return success();
}

/// The leader does something with a barrier, $0, and perhaps a constant, $1.
void leaderOn(ThreadEmitter &e, Value barrier, StringRef text, std::optional<uint32_t> constant = {}) {
  SmallVector<Value, 2> operands{barrierAddress(e, barrier)};
  e.ifThen(isLeader(e), [&] {
    if (constant)
      operands.push_back(e.i32(*constant));
    e.inlinePTX(text, constant ? "r,n,~{memory}" : "r,~{memory}", Type(), operands, true);
  });
}

LogicalResult emitInit(ThreadEmitter &e, ttng::InitBarrierOp op) {
  Value address = barrierAddress(e, op.getBarrier());
  e.ifThen(isLeader(e), [&] {
    e.inlinePTX("mbarrier.init.shared::cta.b64 [$0], $1;", "r,n,~{memory}", Type(),
                {address, e.i32(op.getCount())}, true);
    // The unit that copies must see it too.
    e.inlinePTX("fence.proxy.async.shared::cta;", "~{memory}", Type(), {}, true);
  });
  return success();
}

LogicalResult emitInval(ThreadEmitter &e, ttng::InvalBarrierOp op) {
  leaderOn(e, op.getBarrier(), "mbarrier.inval.shared::cta.b64 [$0];");
  return success();
}

LogicalResult emitExpect(ThreadEmitter &e, ttng::BarrierExpectOp op) {
  leaderOn(e, op.getBarrier(), "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", op.getBytes());
  return success();
}

LogicalResult emitArrive(ThreadEmitter &e, ttng::ArriveBarrierOp op) {
  leaderOn(e, op.getBarrier(), "mbarrier.arrive.shared::cta.b64 _, [$0], $1;", op.getCount());
  return success();
}

/// The parity of the phase; where the operation has none, a counter in a variable of the thread, which LLVM
/// turns into a register.
Value takePhase(ThreadEmitter &e, ttng::WaitBarrierOp op) {
  if (op.getPhase())
    return e.scalar(op.getPhase());
  Type type = e.b.getI32Type();
  Value counter = e.entryVariable(type, 0);
  Value phase = e.make<LLVM::LoadOp>(type, counter);
  e.make<LLVM::StoreOp>(e.bitXor(phase, e.i32(1)), counter);
  return phase;
}

LogicalResult emitWait(ThreadEmitter &e, ttng::WaitBarrierOp op) {
  Value address = barrierAddress(e, op.getBarrier());
  e.inlinePTX("{\n.reg .pred complete;\nwait:\nmbarrier.try_wait.parity.shared::cta.b64 complete, [$0], $1;\n"
              "@!complete bra.uni wait;\n}",
              "r,r,~{memory}", Type(), {address, takePhase(e, op)}, true);
  return success();
}

LogicalResult emitArgument(ThreadEmitter &e, ttng::TensorMapArgumentOp op) {
  e.set(op.getResult(), {e.tensorMap(op.getIndex())});
  return success();
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// How far the part of a tile that the own block of the cluster has is from the start, along an axis; null:
/// nothing.
Value startOfBlock(ThreadEmitter &e, const LinearLayout &memory, unsigned axis) {
  ThreadTerms terms;
  for (unsigned bit = 0; bit < memory.inBits(LayoutDim::Block); ++bit)
    terms.block.push_back(memory.basis(LayoutDim::Block, bit, tensorDim(axis)));
  return terms.isZero() ? Value() : e.place(terms);
}

/// Calls `copy` for each box of what a block has of a tile, with its address in shared memory and its
/// coordinates, innermost first.
void forEachBox(ThreadEmitter &e, ttg::MemDescType type, Value buffer, OperandRange coords,
                function_ref<void(Value, ArrayRef<Value>)> copy) {
  const LinearLayout &memory = ttg::layoutOf(type);
  LayoutExtents block = extentsPerBlock(type.getShape(), clusterSplitOf(memory));
  unsigned elementBytes = ttg::memoryBits(type.getElementType()) / 8;
  TensorMapBox box = *tensorMapBox(type.getShape(), elementBytes, e.numCTAs());
  std::optional<LinearLayout> offsets = memory.pseudoInvert();
  ArrayRef<Value> registers = e.get(buffer);
  SmallVector<Value, 5> starts;
  for (auto [axis, coord] : llvm::enumerate(coords)) {
    Value own = startOfBlock(e, memory, static_cast<unsigned>(axis));
    starts.push_back(own ? e.add(e.scalar(coord), own) : e.scalar(coord));
  }
  int64_t boxes = 1;
  for (auto [extent, boxExtent] : llvm::zip(block, box.extents))
    boxes *= extent / boxExtent;
  for (int64_t index = 0; index < boxes; ++index) {
    LinearLayout::Point place;
    SmallVector<Value, 5> at(block.size());
    int64_t rest = index;
    for (size_t axis = block.size(); axis-- > 0;) {
      int64_t count = block[axis] / box.extents[axis], start = rest % count * box.extents[axis];
      rest /= count;
      place.emplace_back(tensorDim(axis), start);
      at[block.size() - 1 - axis] = start == 0 ? starts[axis] : e.add(starts[axis], e.i32(start));
    }
    int64_t offset = static_cast<int64_t>(offsets->apply(place, LayoutDim::Offset)) * elementBytes;
    copy(e.elementPointer(registers[0], e.b.getI8Type(), offset), at);
  }
}

/// "{$2, $3}" for two coordinates that are operands from $2 on.
std::string coordinateText(size_t count, size_t first) {
  std::string text = "{";
  for (size_t i = 0; i < count; ++i)
    text += (i ? ", $" : "$") + std::to_string(first + i);
  return text + "}";
}

std::string constraintText(StringRef before, size_t coordinates) {
  std::string text = before.str();
  for (size_t i = 0; i < coordinates; ++i)
    text += ",r";
  return text + ",~{memory}";
}

LogicalResult emitLoad(ThreadEmitter &e, ttng::AsyncTMACopyGlobalToLocalOp op) {
  Value barrier = barrierAddress(e, op.getBarrier()), map = e.scalar(op.getMap());
  size_t rank = op.getCoords().size();
  std::string text = "cp.async.bulk.tensor." + std::to_string(rank) +
                     "d.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1, " +
                     coordinateText(rank, 3) + "], [$2];";
  e.ifThen(isLeader(e), [&] {
    forEachBox(e, op.getDst().getType(), op.getDst(), op.getCoords(),
               [&](Value address, ArrayRef<Value> coords) {
                 SmallVector<Value, 8> operands{address, map, barrier};
                 llvm::append_range(operands, coords);
                 e.inlinePTX(text, constraintText("r,l,r", rank), Type(), operands, true);
               });
  });
  return success();
}

/// Starts copies out of a buffer; they form a group of their own.
void emitWrite(ThreadEmitter &e, StringRef instruction, Value map, OperandRange coords, Value buffer) {
  size_t rank = coords.size();
  std::string text = (instruction + " [$1, " + coordinateText(rank, 2) + "], [$0];").str();
  auto type = cast<ttg::MemDescType>(buffer.getType());
  Value acts = isLeader(e);
  // Of blocks that have the same, one writes.
  if (Value isFirst = e.isCanonical(0, 0, ttg::layoutOf(type).freeVariableMask(LayoutDim::Block)))
    acts = e.bitAnd(acts, isFirst);
  e.ifThen(acts, [&] {
    forEachBox(e, type, buffer, coords, [&](Value address, ArrayRef<Value> at) {
      SmallVector<Value, 8> operands{address, map};
      llvm::append_range(operands, at);
      e.inlinePTX(text, constraintText("r,l", rank), Type(), operands, true);
    });
    e.inlinePTX("cp.async.bulk.commit_group;", "~{memory}", Type(), {}, true);
  });
}

LogicalResult emitStore(ThreadEmitter &e, ttng::AsyncTMACopyLocalToGlobalOp op) {
  std::string text =
      "cp.async.bulk.tensor." + std::to_string(op.getCoords().size()) + "d.global.shared::cta.bulk_group";
  emitWrite(e, text, e.scalar(op.getMap()), op.getCoords(), op.getSrc());
  return success();
}

LogicalResult emitReduce(ThreadEmitter &e, ttng::AsyncTMAReduceOp op) {
  std::string text = "cp.reduce.async.bulk.tensor." + std::to_string(op.getCoords().size()) +
                     "d.global.shared::cta." + tt::stringifyDescriptorReduceKind(op.getKind()).str() +
                     ".tile.bulk_group";
  emitWrite(e, text, e.scalar(op.getMap()), op.getCoords(), op.getSrc());
  return success();
}

LogicalResult emitStoreWait(ThreadEmitter &e, ttng::AsyncTMAStoreWaitOp op) {
  // Only the thread that has started copies has any to wait for.
  e.inlinePTX("cp.async.bulk.wait_group $0;", "n,~{memory}", Type(), {e.i32(op.getPendings())}, true);
  return success();
}

} // namespace

void addTensorMapEmitters(EmitterTable &table) {
  table.add<ttng::FenceAsyncSharedOp, emitFence>();
  table.add<ttng::FenceAsyncGlobalOp, emitGlobalFence>();
  table.add<ttng::InitBarrierOp, emitInit>();
  table.add<ttng::InvalBarrierOp, emitInval>();
  table.add<ttng::BarrierExpectOp, emitExpect>();
  table.add<ttng::ArriveBarrierOp, emitArrive>();
  table.add<ttng::WaitBarrierOp, emitWait>();
  table.add<ttng::TensorMapArgumentOp, emitArgument>();
  table.add<ttng::AsyncTMACopyGlobalToLocalOp, emitLoad>();
  table.add<ttng::AsyncTMACopyLocalToGlobalOp, emitStore>();
  table.add<ttng::AsyncTMAReduceOp, emitReduce>();
  table.add<ttng::AsyncTMAStoreWaitOp, emitStoreWait>();
}

} // namespace despina::nvptx
