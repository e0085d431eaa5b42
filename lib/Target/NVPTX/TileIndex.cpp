//===- TileIndex.cpp - Where a thread's registers are in a tile -----------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "TileIndex.h"

using namespace mlir;

namespace despina::nvptx {

uint64_t bitsOf(const ThreadTerms &terms) {
  uint64_t bits = 0;
  for (uint64_t term : terms.lane)
    bits |= term;
  for (uint64_t term : terms.warp)
    bits |= term;
  for (uint64_t term : terms.block)
    bits |= term;
  return bits;
}

PlaceTerms placeTerms(const LinearLayout &layout, ArrayRef<uint64_t> weights) {
  PlaceTerms terms;
  auto fill = [&](auto &list, LayoutDim dim) {
    for (uint64_t column : layout.columnsOf(dim))
      list.push_back(f2::multiply(weights, column));
  };
  fill(terms.registers, LayoutDim::Register);
  fill(terms.thread.lane, LayoutDim::Lane);
  fill(terms.thread.warp, LayoutDim::Warp);
  fill(terms.thread.block, LayoutDim::Block);
  return terms;
}

Registers placeValues(ThreadEmitter &e, const PlaceTerms &terms, uint64_t numRegisters, int64_t plus) {
  Value thread = e.place(terms.thread);
  uint64_t threadBits = bitsOf(terms.thread);
  llvm::DenseMap<uint64_t, Value> bases;
  Registers values;
  for (uint64_t i = 0; i < numRegisters; ++i) {
    uint64_t own = terms.ofRegister(i), meeting = own & threadBits;
    Value &base = bases[meeting];
    if (!base)
      base = meeting ? e.bitXor(thread, e.i32(meeting)) : thread;
    int64_t constant = static_cast<int64_t>(own ^ meeting) + plus;
    // Coordinates fit into i32: the addition does not wrap, which matters when it is extended.
    auto flags = plus < 0 ? LLVM::IntegerOverflowFlags::nsw
                          : LLVM::IntegerOverflowFlags::nsw | LLVM::IntegerOverflowFlags::nuw;
    values.push_back(constant == 0 ? base : e.make<LLVM::AddOp>(base, e.i32(constant), flags).getResult());
  }
  return values;
}

Registers axisIndices(ThreadEmitter &e, const LinearLayout &layout, unsigned axis, int64_t start) {
  SmallVector<uint64_t> weights(layout.totalOutBits(), 0);
  for (unsigned bit = 0; bit < layout.outBits(tensorDim(axis)); ++bit)
    weights[layout.outShift(tensorDim(axis)) + bit] = uint64_t(1) << bit;
  return placeValues(e, placeTerms(layout, weights), layout.inSize(LayoutDim::Register), start);
}

} // namespace despina::nvptx
