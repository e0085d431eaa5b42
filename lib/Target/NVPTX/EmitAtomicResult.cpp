//===- EmitAtomicResult.cpp - The old values that atomics give ------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// One thread did each element's atomic; here the others that hold the element get to know the old value: by
// shuffle within a warp, else through scratch memory.
//
//===----------------------------------------------------------------------===//
#include "EmitAtomic.h"

#include "Copies.h"
#include "Scratch.h"

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

} // namespace

uint64_t atomicScratchBytes(Operation *op) {
  Value result = op->getResult(0);
  unsigned numWarps = ttg::numWarps(op);
  Copies copies = copiesOf(result.getType(), numWarps, ttg::numCTAs(op));
  if (result.use_empty() || (copies.warp == 0 && copies.block == 0))
    return 0;
  return planScratch(result.getType(), copies, numWarps).bytes();
}

} // namespace despina::nvptx
