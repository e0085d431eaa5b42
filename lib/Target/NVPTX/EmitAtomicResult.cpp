//===- EmitAtomicResult.cpp - The old values that atomics give ------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// One thread did each element's atomic; here the others that hold the element get to know the old value: by
// shuffle within a warp, else through scratch memory.
//
//===----------------------------------------------------------------------===//
#include "EmitAtomic.h"

#include "Scratch.h"
#include "ThreadData.h"

using namespace mlir;

namespace despina::nvptx {

namespace {

/// How the scratch memory is used: in rounds of some registers each, one slot for each thread that acts.
struct ScratchPlan {
  uint64_t slots, elementBytes, registersPerRound;
  uint64_t bytes() const { return slots * elementBytes * registersPerRound; }
};

constexpr uint64_t maxScratchBytes = 8192;

ScratchPlan planScratch(Type type, const Copies &copies, unsigned numWarps) {
  ScratchPlan plan;
  plan.slots = uint64_t(32) * numWarps >> (llvm::popcount(copies.lane) + llvm::popcount(copies.warp));
  plan.elementBytes = ttg::memoryBits(getElementTypeOrSelf(type)) / 8;
  uint64_t fitting = std::max<uint64_t>(1, maxScratchBytes / (plan.slots * plan.elementBytes));
  plan.registersPerRound = std::min<uint64_t>(copies.distinct().size(), fitting);
  return plan;
}

/// The number that the bits of a place outside of `copies` make, put together.
ThreadTerms slotTerms(const Copies &copies, unsigned numWarps) {
  ThreadTerms terms;
  uint64_t next = 1;
  auto fill = [&](auto &list, uint64_t count, uint64_t without) {
    for (uint64_t bit = 1; bit < count; bit <<= 1) {
      list.push_back(without & bit ? 0 : next);
      next <<= without & bit ? 0 : 1;
    }
  };
  fill(terms.lane, 32, copies.lane);
  fill(terms.warp, numWarps, copies.warp);
  return terms;
}

class ScratchSharing {
public:
  ScratchSharing(ThreadEmitter &e, Operation *op, int64_t offset, const Copies &copies)
      : e(e), copies(copies), plan(planScratch(op->getResult(0).getType(), copies, e.numWarps())),
        slots(e, e.sharedPointer(offset), static_cast<unsigned>(plan.elementBytes * 8),
              slotTerms(copies, e.numWarps())),
        acts(e.isCanonical(copies.lane, copies.warp, copies.block)) {}

  void run(Registers &values) {
    SmallVector<unsigned, 8> distinct = copies.distinct();
    for (size_t start = 0; start < distinct.size(); start += plan.registersPerRound) {
      if (start > 0)
        wait(); // for those that still read the round before
      ArrayRef<unsigned> round = ArrayRef(distinct).drop_front(start);
      round = round.take_front(std::min<size_t>(plan.registersPerRound, round.size()));
      Registers addresses;
      for (size_t i = 0; i < round.size(); ++i)
        addresses.push_back(slots.at(i * plan.slots));
      e.ifThen(acts, [&] {
        for (auto [address, reg] : llvm::zip(addresses, round))
          storeShared(e, address, toBits(e, values[reg]));
      });
      wait();
      for (auto [address, reg] : llvm::zip(addresses, round))
        values[reg] = read(address, values[reg].getType());
    }
    // A block must not end, or write anew, while another one of its cluster reads.
    if (copies.block)
      wait();
  }

private:
  void wait() {
    if (!copies.block)
      return e.barrier();
    e.make<NVVM::ClusterArriveOp>(e.b.getUnitAttr());
    e.make<NVVM::ClusterWaitOp>(e.b.getUnitAttr());
  }
  Value read(Value address, Type type) {
    if (copies.block) {
      Value block = e.bitAnd(e.block(), e.i32(~copies.block & (e.numCTAs() - 1)));
      auto inCluster = LLVM::LLVMPointerType::get(
          e.b.getContext(), static_cast<unsigned>(NVVM::NVVMMemorySpace::SharedCluster));
      address = e.make<NVVM::MapaOp>(inCluster, address, block);
    }
    unsigned width = static_cast<unsigned>(plan.elementBytes * 8);
    return fromBits(e, loadShared(e, address, width, 1).front(), type);
  }

  ThreadEmitter &e;
  const Copies &copies;
  ScratchPlan plan;
  SharedAddresses slots;
  Value acts;
};

} // namespace

uint64_t atomicScratchBytes(Operation *op) {
  Value result = op->getResult(0);
  unsigned numWarps = ttg::numWarps(op);
  Copies copies = copiesOf(result.getType(), numWarps, ttg::numCTAs(op));
  if (result.use_empty() || (copies.warp == 0 && copies.block == 0))
    return 0;
  return planScratch(result.getType(), copies, numWarps).bytes();
}

LogicalResult shareAtomicResult(ThreadEmitter &e, Operation *op, Registers values, const Copies &copies) {
  if (copies.warp || copies.block) {
    std::optional<int64_t> offset = ThreadEmitter::sharedOffset(op);
    if (!offset)
      return op->emitOpError("has no scratch memory for its result");
    ScratchSharing(e, op, *offset, copies).run(values);
  } else if (copies.lane) {
    Value source = e.bitAnd(e.lane(), e.i32(~copies.lane & 31));
    for (unsigned reg : copies.distinct())
      values[reg] = shuffleValue(e, values[reg], {0, source});
  }
  for (auto [reg, first] : llvm::enumerate(copies.first))
    values[reg] = values[first];
  e.set(op->getResult(0), std::move(values));
  return success();
}

} // namespace despina::nvptx
