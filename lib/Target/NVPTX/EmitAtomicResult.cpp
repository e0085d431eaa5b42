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
#include "TileIndex.h"

using namespace mlir;

namespace despina::nvptx {

namespace {

/// Whether the lanes of a warp can tell each other.
bool isWithinWarp(const Copies &copies) {
  return copies.warp == 0 && copies.block == 0 && copies.inSameRegisters;
}

/// Where the elements of a thread are in scratch memory, in elements: at their row-major index.
PlaceTerms slotTerms(Type type) {
  if (!isa<RankedTensorType>(type))
    return {};
  const LinearLayout &layout = ttg::layoutOf(type);
  SmallVector<uint64_t> weights;
  for (unsigned bit = 0; bit < layout.totalOutBits(); ++bit)
    weights.push_back(uint64_t(1) << bit);
  return placeTerms(layout, weights);
}

unsigned elementBits(Type type) { return ttg::memoryBits(getElementTypeOrSelf(type)); }

class ScratchSharing {
public:
  ScratchSharing(ThreadEmitter &e, Type type, int64_t offset, const Copies &copies)
      : e(e), copies(copies), width(elementBits(type)), terms(slotTerms(type)),
        slots(e, e.sharedPointer(offset), width, terms.thread),
        acts(e.isCanonical(copies.lane, copies.warp, copies.block)) {}

  void run(Registers &values) {
    SmallVector<unsigned, 8> distinct = copies.distinct();
    // Outside of the branch, so that the addresses serve the reads too.
    Registers addresses;
    for (unsigned reg : distinct)
      addresses.push_back(slots.at(terms.ofRegister(reg)));
    e.ifThen(acts, [&] {
      for (auto [address, reg] : llvm::zip(addresses, distinct))
        storeShared(e, address, toBits(e, values[reg]));
    });
    wait();
    for (auto [address, reg] : llvm::zip(addresses, distinct))
      values[reg] = read(address, values[reg].getType());
    // A block must not end, or write anew, while another one of its cluster reads.
    if (copies.block)
      wait();
  }

private:
  void wait() { copies.block ? e.clusterBarrier() : e.barrier(); }
  Value read(Value address, Type type) {
    if (copies.block)
      address = e.inBlock(address, e.bitAnd(e.block(), e.i32(~copies.block & (e.numCTAs() - 1))));
    return fromBits(e, loadShared(e, address, width, 1).front(), type);
  }

  ThreadEmitter &e;
  const Copies &copies;
  unsigned width;
  PlaceTerms terms;
  SharedAddresses slots;
  Value acts;
};

} // namespace

uint64_t atomicScratchBytes(Operation *op) {
  Value result = op->getResult(0);
  Copies copies = copiesOf(result.getType(), ttg::numWarps(op), ttg::numCTAs(op));
  if (result.use_empty() || isWithinWarp(copies))
    return 0;
  auto tile = dyn_cast<RankedTensorType>(result.getType());
  uint64_t elements = tile ? static_cast<uint64_t>(tile.getNumElements()) : 1;
  return elements * elementBits(result.getType()) / 8;
}

LogicalResult shareAtomicResult(ThreadEmitter &e, Operation *op, Registers values, const Copies &copies) {
  if (!isWithinWarp(copies)) {
    std::optional<int64_t> offset = ThreadEmitter::sharedOffset(op);
    if (!offset)
      return op->emitOpError("has no scratch memory for its result");
    ScratchSharing(e, op->getResult(0).getType(), *offset, copies).run(values);
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
