//===- LayoutBuffer.cpp - Tiles to and from shared buffers ----------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "despina/Analysis/LayoutBuffer.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <bit>

namespace despina {

using enum LayoutDim;

std::optional<LinearLayout> tileInBuffer(const LinearLayout &memory, const LinearLayout &tile) {
  if (memory.outs().size() != tile.outs().size())
    return std::nullopt;
  LinearLayout result = tile;
  for (const LinearLayout::DimBits &out : memory.outs()) {
    if (!tile.hasOut(out.dim) || tile.outBits(out.dim) > out.bits)
      return std::nullopt;
    result = result.resizeOut(out.dim, out.bits);
  }
  return result.transposeOuts(memory.outNames());
}

uint64_t windowOffsetBits(const LinearLayout &memory, const LinearLayout &tile) {
  std::optional<LinearLayout> inverse = memory.pseudoInvert();
  uint64_t bits = 0;
  if (!inverse)
    return ~uint64_t(0);
  for (const LinearLayout::DimBits &out : memory.outs())
    for (unsigned bit = tile.outBits(out.dim); bit < out.bits; ++bit)
      bits |= inverse->basis(out.dim, bit, Offset);
  return bits;
}

uint64_t bufferOffset(const LinearLayout &memory, llvm::ArrayRef<int64_t> coordinates) {
  std::optional<LinearLayout> inverse = memory.pseudoInvert();
  LinearLayout::Point point;
  for (unsigned axis = 0; axis < coordinates.size(); ++axis)
    point.push_back({tensorDim(axis), static_cast<uint64_t>(coordinates[axis])});
  return inverse ? inverse->apply(point, Offset) : 0;
}

namespace {

/// Splits registers into those of one access and the rest.
class AccessBuilder {
public:
  /// \p columns: what register bits add to offsets. \p others: what else does.
  AccessBuilder(llvm::ArrayRef<uint64_t> columns, uint64_t others) : columns(columns), others(others) {}

  /// Whether 2^bits consecutive elements are in the registers of each thread.
  bool fits(unsigned bits) {
    along.clear();
    if (others & f2::lowMask(bits))
      return false;
    for (unsigned bit = 0; bit < bits; ++bit) {
      std::optional<uint64_t> mask = f2::solve(columns, uint64_t(1) << bit);
      if (!mask)
        return false;
      along.push_back(*mask);
    }
    return true;
  }

  /// The accesses for the number of bits that fits.
  void build(const BitSelection &selection, llvm::SmallVectorImpl<SharedAccess> &accesses) const {
    f2::Space space(along);
    f2::Vectors rest;
    for (unsigned bit = 0; bit < columns.size(); ++bit) {
      if (!space.insert(uint64_t(1) << bit))
        continue;
      // Moved along the access to where that starts.
      uint64_t start = columns[bit] & f2::lowMask(along.size());
      rest.push_back(uint64_t(1) << bit ^ f2::multiply(along, start));
    }
    for (uint64_t i = 0; i < uint64_t(1) << rest.size(); ++i) {
      uint64_t first = f2::multiply(rest, i);
      SharedAccess &access = accesses.emplace_back();
      access.offset = f2::multiply(columns, first);
      for (uint64_t j = 0; j < uint64_t(1) << along.size(); ++j)
        access.registers.push_back(selection.oldIndex(first ^ f2::multiply(along, j)));
    }
  }

private:
  llvm::ArrayRef<uint64_t> columns;
  uint64_t others;
  /// For each bit within an access, the registers that change it alone.
  f2::Vectors along;
};

void assignTerms(const LinearLayout &offsets, ThreadTerms &terms) {
  auto fill = [&](auto &list, LayoutDim dim) {
    list.assign(offsets.columnsOf(dim).begin(), offsets.columnsOf(dim).end());
  };
  fill(terms.lane, Lane);
  fill(terms.warp, Warp);
  fill(terms.block, Block);
}

uint64_t unionOf(llvm::ArrayRef<uint64_t> columns) {
  uint64_t bits = 0;
  for (uint64_t column : columns)
    bits |= column;
  return bits;
}

} // namespace

std::optional<BufferAccess> planBufferAccess(const LinearLayout &memory, const LinearLayout &tile,
                                             unsigned elementBits, unsigned maxVectorBits) {
  std::optional<LinearLayout> wide = tileInBuffer(memory, tile);
  if (!wide || !std::has_single_bit(elementBits) || tile.inBits(Register) > 20)
    return std::nullopt;
  BitSelection selection = BitSelection::withoutCopies(*wide, Register);
  std::optional<LinearLayout> canonical = selection.apply(*wide);
  std::optional<LinearLayout> places = canonical ? canonical->invertAndCompose(memory) : std::nullopt;
  if (!places || !places->hasOut(Offset) ||
      (places->hasOut(Block) && places->outBits(Block) && !places->preserves(Block)))
    return std::nullopt;
  LinearLayout offsets = places->sublayout(places->inNames(), {Offset});

  BufferAccess result;
  assignTerms(offsets, result.offset);
  uint64_t others = windowOffsetBits(memory, tile);
  for (LayoutDim dim : {Lane, Warp, Block})
    others |= unionOf(offsets.columnsOf(dim));
  AccessBuilder builder(offsets.columnsOf(Register), others);
  unsigned bits = std::bit_width(std::max(1u, maxVectorBits / std::max(8u, elementBits))) - 1;
  while (!builder.fits(bits))
    --bits;
  result.vector = 1u << bits;
  builder.build(selection, result.accesses);

  f2::Space space(canonical->columnsOf(Register));
  for (uint64_t i = 0; i < wide->inSize(Register); ++i) {
    uint64_t same = space.reduce(f2::multiply(wide->columnsOf(Register), i)).tags;
    result.finalIndex.push_back(selection.oldIndex(same));
  }
  result.copyLanes = wide->freeVariableMask(Lane);
  result.copyWarps = wide->freeVariableMask(Warp);
  result.copyBlocks = wide->freeVariableMask(Block);
  return result;
}

} // namespace despina
