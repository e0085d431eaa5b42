//===- AllocateSharedMemory.cpp - Places buffers in shared memory ---------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// In: a ttg kernel. Out: the same, each ttg.local_alloc and each operation that needs scratch memory with its
// `ttg.offset`, and the module with `ttg.shared`, the bytes of a block. Buffers that are never in use at the
// same time share bytes.
//
// The size that is needed is found by placing buffers one after the other at the lowest offset that is free.
// Any optimum is reached by some order: few buffers are tried in all orders, many in those that do well.
//
//===----------------------------------------------------------------------===//
#include "despina/Transforms/AllocateSharedMemory.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <numeric>

using namespace mlir;

namespace despina {

namespace {

using Order = llvm::SmallVector<unsigned, 8>;

SharedPlacement placeInOrder(ArrayRef<SharedBuffer> buffers, ArrayRef<unsigned> order) {
  SharedPlacement result;
  result.offsets.resize(buffers.size());
  Order placed;
  for (unsigned index : order) {
    const SharedBuffer &buffer = buffers[index];
    uint64_t offset = 0;
    // Behind each one in the way; from the lowest upwards, so that no gap is missed.
    llvm::sort(placed, [&](unsigned a, unsigned b) { return result.offsets[a] < result.offsets[b]; });
    for (unsigned other : placed) {
      bool inTheWay = buffer.overlaps(buffers[other]) && result.offsets[other] < offset + buffer.bytes &&
                      offset < result.offsets[other] + buffers[other].bytes;
      if (inTheWay)
        offset = llvm::alignTo(result.offsets[other] + buffers[other].bytes, buffer.alignment);
    }
    result.offsets[index] = offset;
    result.bytes = std::max(result.bytes, offset + buffer.bytes);
    placed.push_back(index);
  }
  return result;
}

constexpr unsigned maxForAllOrders = 6;

} // namespace

SharedPlacement placeBuffers(ArrayRef<SharedBuffer> buffers) {
  Order order(buffers.size());
  std::iota(order.begin(), order.end(), 0u);
  SharedPlacement best = placeInOrder(buffers, order);
  auto consider = [&](ArrayRef<unsigned> candidate) {
    SharedPlacement placement = placeInOrder(buffers, candidate);
    if (placement.bytes < best.bytes)
      best = std::move(placement);
  };
  if (buffers.size() <= maxForAllOrders) {
    while (std::next_permutation(order.begin(), order.end()))
      consider(order);
    return best;
  }
  auto considerBy = [&](auto &&key) {
    llvm::sort(order, [&](unsigned a, unsigned b) {
      return std::pair(key(buffers[b]), a) < std::pair(key(buffers[a]), b);
    });
    consider(order);
  };
  considerBy([](const SharedBuffer &buffer) { return buffer.bytes; });
  considerBy([](const SharedBuffer &buffer) { return buffer.last - buffer.first; });
  return best;
}

void allocateSharedMemory(ModuleOp module, const ScratchSize &scratchSize) {
  uint64_t bytes = 0;
  Builder b(module.getContext());
  for (tt::FuncOp function : module.getOps<tt::FuncOp>()) {
    SharedBuffers buffers(function, scratchSize);
    SharedPlacement placement = placeBuffers(buffers.all());
    for (auto [buffer, offset] : llvm::zip(buffers.all(), placement.offsets))
      buffer.owner->setAttr(ttg::offsetName, b.getI32IntegerAttr(static_cast<int32_t>(offset)));
    bytes = std::max(bytes, placement.bytes);
  }
  module->setAttr(ttg::sharedBytesName, b.getI32IntegerAttr(static_cast<int32_t>(bytes)));
}

} // namespace despina
