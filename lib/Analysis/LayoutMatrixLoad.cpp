//===- LayoutMatrixLoad.cpp - ldmatrix and stmatrix by layout -------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "despina/Analysis/LayoutMatrixLoad.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <bit>

namespace despina {

using enum LayoutDim;

namespace {

/// Places to offsets, taken apart.
struct Offsets {
  llvm::ArrayRef<uint64_t> registers, lanes, warps, blocks;
};

/// Whether \p along are the lowest offset bits in order, and nothing else touches these.
bool isRow(const Offsets &offsets, llvm::ArrayRef<uint64_t> along, llvm::ArrayRef<uint64_t> others) {
  for (unsigned bit = 0; bit < along.size(); ++bit)
    if (along[bit] != uint64_t(1) << bit)
      return false;
  uint64_t low = f2::lowMask(along.size());
  for (llvm::ArrayRef<uint64_t> list : {others, offsets.warps, offsets.blocks})
    if (llvm::any_of(list, [&](uint64_t column) { return (column & low) != 0; }))
      return false;
  return true;
}

void fillInstructions(MatrixLoad &load, const Offsets &offsets, llvm::ArrayRef<uint64_t> rows,
                      unsigned wordBits) {
  llvm::ArrayRef<uint64_t> words = offsets.registers.drop_front(wordBits);
  unsigned matrixBits = std::min<size_t>(2, words.size());
  load.matrices = 1u << matrixBits;
  load.perWord = 1u << wordBits;
  load.address.lane.assign(rows.begin(), rows.end());
  for (unsigned bit = 0; bit < 2; ++bit)
    load.address.lane.push_back(bit < matrixBits ? words[bit] : 0);
  load.address.warp.assign(offsets.warps.begin(), offsets.warps.end());
  load.address.block.assign(offsets.blocks.begin(), offsets.blocks.end());
  for (uint64_t word = 0; word < uint64_t(1) << words.size(); word += load.matrices) {
    load.firstWord.push_back(word);
    load.instruction.push_back(f2::multiply(words, word));
  }
}

} // namespace

std::optional<MatrixLoad> matchMatrixLoad(const LinearLayout &memory, const LinearLayout &layout,
                                          unsigned elementBits) {
  if (!std::has_single_bit(elementBits) || elementBits < 8 || elementBits > 32 || layout.inBits(Lane) != 5)
    return std::nullopt;
  std::optional<LinearLayout> places = layout.invertAndCompose(memory);
  if (!places || !places->hasOut(Offset) || (places->hasOut(Block) && !places->preserves(Block)))
    return std::nullopt;
  LinearLayout toOffset = places->sublayout(places->inNames(), {Offset});
  Offsets offsets = {toOffset.columnsOf(Register), toOffset.columnsOf(Lane), toOffset.columnsOf(Warp),
                     toOffset.columnsOf(Block)};
  unsigned wordBits = std::countr_zero(32 / elementBits);
  if (offsets.registers.size() < wordBits)
    return std::nullopt;
  llvm::ArrayRef<uint64_t> word = offsets.registers.take_front(wordBits),
                           rest = offsets.registers.drop_front(wordBits);
  llvm::ArrayRef<uint64_t> low = offsets.lanes.take_front(2), high = offsets.lanes.drop_front(2);
  auto join = [](llvm::ArrayRef<uint64_t> a, llvm::ArrayRef<uint64_t> b) {
    f2::Vectors result(a);
    llvm::append_range(result, b);
    return result;
  };
  MatrixLoad load;
  if (isRow(offsets, join(word, low), join(rest, high))) {
    fillInstructions(load, offsets, high, wordBits);
    return load;
  }
  if (elementBits == 16 && isRow(offsets, high, join(offsets.registers, low))) {
    load.isTransposed = true;
    fillInstructions(load, offsets, join(word, low), wordBits);
    return load;
  }
  return std::nullopt;
}

} // namespace despina
