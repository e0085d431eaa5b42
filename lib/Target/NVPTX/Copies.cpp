//===- Copies.cpp - Which threads and registers hold copies ---------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "Copies.h"

#include "despina/IR/TTG.h"

using namespace mlir;

namespace despina::nvptx {

SmallVector<unsigned, 8> Copies::distinct() const {
  SmallVector<unsigned, 8> result;
  for (unsigned reg = 0; reg < first.size(); ++reg)
    if (isFirst(reg))
      result.push_back(reg);
  return result;
}

Copies copiesOf(Type type, unsigned numWarps, unsigned numCTAs) {
  Copies copies;
  if (!isa<RankedTensorType>(type)) {
    copies.lane = 31;
    copies.warp = numWarps - 1;
    copies.block = numCTAs - 1;
    copies.first.push_back(0);
    return copies;
  }
  const LinearLayout &layout = ttg::layoutOf(type);
  // Bits that the layout does not have do not matter either.
  auto freeBits = [&](LayoutDim dim, uint64_t count) {
    uint64_t mask = (layout.freeVariableMask(dim) | ~(layout.inSize(dim) - 1)) & (count - 1);
    for (auto [bit, column] : llvm::enumerate(layout.columnsOf(dim)))
      copies.inSameRegisters &= column == 0 || (mask >> bit & 1) == 0;
    return mask;
  };
  copies.lane = freeBits(LayoutDim::Lane, 32);
  copies.warp = freeBits(LayoutDim::Warp, numWarps);
  copies.block = freeBits(LayoutDim::Block, numCTAs);
  uint64_t registers = layout.freeVariableMask(LayoutDim::Register);
  // The one with the same element and no bit that does not matter; the lowest of them all.
  llvm::SmallDenseMap<uint64_t, unsigned> holders;
  for (unsigned reg = 0; reg < layout.inSize(LayoutDim::Register); ++reg) {
    if ((reg & registers) == 0)
      holders[layout.applyFlat(reg)] = reg;
    copies.first.push_back(holders.lookup(layout.applyFlat(reg)));
  }
  return copies;
}

} // namespace despina::nvptx
