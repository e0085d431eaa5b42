//===- LayoutWgmma.cpp - Shared memory as wgmma describes it --------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "despina/Analysis/LayoutWgmma.h"

#include "despina/Analysis/LayoutConstructors.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace despina {

using enum LayoutDim;

namespace {

/// The offset in bytes at which \p rest, above an atom of \p atomBits offset bits, takes its first step along
/// an axis: 16 if it takes none in a block, nothing if that step is none of a single offset bit.
std::optional<uint64_t> firstStep(const LinearLayout &rest, LayoutDim axis, unsigned atomBits,
                                  unsigned elementBits) {
  llvm::ArrayRef<uint64_t> columns = rest.columnsOf(Offset);
  uint64_t mask = f2::lowMask(rest.outBits(axis)) << rest.outShift(axis);
  if (llvm::all_of(columns, [&](uint64_t column) { return (column & mask) == 0; }))
    return 16;
  uint64_t step = uint64_t(1) << rest.outShift(axis);
  for (unsigned bit = 0; bit < columns.size(); ++bit)
    if (columns[bit] == step)
      return (uint64_t(1) << (bit + atomBits)) * elementBits / 8;
  return std::nullopt;
}

std::optional<WgmmaSharedOperand> matchAtom(const LinearLayout &memory, unsigned elementBits, unsigned kAxis,
                                            unsigned swizzleBytes, bool isFirstAxisContiguous) {
  int64_t across = std::max(16u, swizzleBytes) * 8 / elementBits;
  LayoutExtents shape = isFirstAxisContiguous ? LayoutExtents{across, 8} : LayoutExtents{8, across};
  std::optional<LinearLayout> atom =
      nvmmaSharedLayout(shape, {swizzleBytes, elementBits, isFirstAxisContiguous, {}});
  std::optional<LinearLayout> rest = atom ? memory.divideLeft(*atom) : std::nullopt;
  if (!rest)
    return std::nullopt;
  LayoutDim fast = tensorDim(isFirstAxisContiguous ? 0 : 1), slow = tensorDim(isFirstAxisContiguous ? 1 : 0);
  unsigned atomBits = atom->inBits(Offset);
  std::optional<uint64_t> alongFast = firstStep(*rest, fast, atomBits, elementBits);
  std::optional<uint64_t> alongSlow = firstStep(*rest, slow, atomBits, elementBits);
  if (!alongFast || !alongSlow)
    return std::nullopt;
  WgmmaSharedOperand result;
  result.swizzleBytes = swizzleBytes;
  result.isMNContiguous = fast != tensorDim(kAxis);
  if (result.isMNContiguous && elementBits != 16)
    return std::nullopt;
  result.leadingBytes = *alongFast;
  result.strideBytes = *alongSlow;
  // Without a swizzle, the two fields change places for this orientation.
  if (result.isMNContiguous && swizzleBytes == 0)
    std::swap(result.leadingBytes, result.strideBytes);
  return result;
}

} // namespace

std::optional<WgmmaSharedOperand> matchWgmmaOperand(const LinearLayout &memory, unsigned elementBits,
                                                    unsigned kAxis) {
  if (memory.outs().size() != 2 || kAxis > 1 || !std::has_single_bit(elementBits) || elementBits < 8 ||
      elementBits > 32)
    return std::nullopt;
  LinearLayout standard = memory;
  if (!standard.hasIn(Block))
    standard *= LinearLayout::zeros1D(1, Block, standard.outs().front().dim);
  for (unsigned swizzleBytes : {128u, 64u, 32u, 0u})
    for (bool isFirstAxisContiguous : {false, true})
      if (auto match = matchAtom(standard, elementBits, kAxis, swizzleBytes, isFirstAxisContiguous))
        return match;
  return std::nullopt;
}

uint64_t wgmmaDescriptor(const WgmmaSharedOperand &operand, uint64_t address) {
  // 128 bytes is 1, 32 bytes is 3: the reverse of how TMA counts.
  uint64_t mode = operand.swizzleBytes == 128  ? 1
                  : operand.swizzleBytes == 64 ? 2
                  : operand.swizzleBytes == 32 ? 3
                                               : 0;
  uint64_t field = f2::lowMask(14);
  return (address >> 4 & field) | (operand.leadingBytes >> 4 & field) << 16 |
         (operand.strideBytes >> 4 & field) << 32 | mode << 62;
}

} // namespace despina
