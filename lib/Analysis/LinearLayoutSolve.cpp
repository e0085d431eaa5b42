//===- LinearLayoutSolve.cpp - Equations between linear layouts -----------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Composition, inverses, and what is free or contiguous.
//
//===----------------------------------------------------------------------===//
#include "despina/Analysis/LinearLayout.h"

#include "llvm/ADT/STLExtras.h"

namespace despina {

using DimBits = LinearLayout::DimBits;

std::optional<LinearLayout> LinearLayout::compose(const LinearLayout &outer) const {
  std::optional<LinearLayout> inner = transposeOuts(outer.inNames());
  if (!inner)
    return std::nullopt;
  for (const DimBits &dim : outer.inDims) {
    if (inner->outBits(dim.dim) > dim.bits)
      return std::nullopt;
    LinearLayout grown = inner->resizeOut(dim.dim, dim.bits);
    *inner = grown;
  }
  LinearLayout result = *inner;
  result.outDims = outer.outDims;
  for (uint64_t &column : result.columns)
    column = outer.applyFlat(column);
  return result;
}

std::optional<LinearLayout> LinearLayout::invert() const {
  if (totalInBits() != totalOutBits())
    return std::nullopt;
  std::optional<f2::Vectors> columns = f2::inverse(matrix());
  if (!columns)
    return std::nullopt;
  return fromColumns(outDims, inDims, *columns);
}

std::optional<LinearLayout> LinearLayout::pseudoInvert() const {
  f2::Space space(matrix());
  f2::Vectors places;
  for (unsigned i = 0; i < totalOutBits(); ++i) {
    auto [rest, tags] = space.reduce(uint64_t(1) << i);
    if (rest)
      return std::nullopt;
    places.push_back(tags);
  }
  return fromColumns(outDims, inDims, places);
}

namespace {

/// Solves for places of a layout, preferring few of its leading dimensions.
class PlaceSolver {
public:
  explicit PlaceSolver(const LinearLayout &outer) : outer(outer) {
    f2::Space space;
    spaces.push_back(space);
    unsigned column = 0;
    for (const DimBits &dim : outer.ins()) {
      for (unsigned i = 0; i < dim.bits; ++i, ++column)
        space.insert(outer.matrix()[column], uint64_t(1) << column);
      spaces.push_back(space);
    }
  }

  /// The place of \p element, near the place whose only set bit is bit \p bit of \p dim.
  std::optional<uint64_t> solve(uint64_t element, LayoutDim dim, unsigned bit) const {
    bool same = bit < outer.inBits(dim);
    unsigned own = outer.inShift(dim) + bit;
    uint64_t unit = same ? uint64_t(1) << own : 0;
    uint64_t there = same ? outer.matrix()[own] : 0;
    unsigned position = 0;
    while (same && outer.ins()[position].dim != dim)
      ++position;
    for (unsigned k = 0; k < spaces.size(); ++k) {
      // Beyond its own dimension the unit vector is one of the unknowns like others.
      bool keep = same && k <= position;
      auto [rest, tags] = spaces[k].reduce(keep ? element ^ there : element);
      if (!rest)
        return keep ? tags ^ unit : tags;
    }
    return std::nullopt;
  }

private:
  const LinearLayout &outer;
  /// spaces[k] is spanned by the first k input dimensions.
  llvm::SmallVector<f2::Space, 5> spaces;
};

} // namespace

std::optional<LinearLayout> LinearLayout::invertAndCompose(const LinearLayout &outer) const {
  std::optional<LinearLayout> inner = transposeOuts(outer.outNames());
  if (!inner)
    return std::nullopt;
  LinearLayout target = outer;
  for (const DimBits &dim : outer.outDims) {
    unsigned bits = std::max(dim.bits, inner->outBits(dim.dim));
    LinearLayout grownInner = inner->resizeOut(dim.dim, bits), grownOuter = target.resizeOut(dim.dim, bits);
    *inner = grownInner;
    target = grownOuter;
  }
  PlaceSolver solver(target);
  f2::Vectors places;
  unsigned column = 0;
  for (const DimBits &dim : inDims) {
    for (unsigned i = 0; i < dim.bits; ++i, ++column) {
      std::optional<uint64_t> place = solver.solve(inner->columns[column], dim.dim, i);
      if (!place)
        return std::nullopt;
      places.push_back(*place);
    }
  }
  return fromColumns(inDims, outer.inDims, places);
}

uint64_t LinearLayout::freeVariableMask(LayoutDim in) const {
  return (f2::freeVariables(columns) >> (inBits(in) ? inShift(in) : 0)) & f2::lowMask(inBits(in));
}

uint64_t LinearLayout::numConsecutiveInOut() const {
  if (inDims.empty())
    return 1;
  unsigned n = 0;
  while (n < inDims.front().bits && columns[n] == uint64_t(1) << n)
    ++n;
  // Every other vector must be a multiple of the run.
  for (; n; --n) {
    uint64_t low = f2::lowMask(n);
    if (llvm::none_of(llvm::ArrayRef<uint64_t>(columns).drop_front(n), [&](uint64_t c) { return c & low; }))
      break;
  }
  return uint64_t(1) << n;
}

//===----------------------------------------------------------------------===//
// BitSelection
//===----------------------------------------------------------------------===//

BitSelection BitSelection::withoutCopies(const LinearLayout &layout, LayoutDim dim) {
  llvm::ArrayRef<uint64_t> columns = layout.columnsOf(dim);
  f2::Space space;
  llvm::SmallVector<unsigned, 8> kept;
  for (unsigned i = 0; i < columns.size(); ++i)
    if (space.insert(columns[i]))
      kept.push_back(i);
  return BitSelection(dim, columns.size(), kept);
}

bool BitSelection::isIdentity() const {
  if (kept.size() != oldBits)
    return false;
  for (unsigned i = 0; i < kept.size(); ++i)
    if (kept[i] != i)
      return false;
  return true;
}

unsigned BitSelection::oldIndex(unsigned index) const {
  unsigned result = 0;
  for (unsigned i = 0; i < kept.size(); ++i)
    if (index >> i & 1)
      result |= 1u << kept[i];
  return result;
}

std::optional<LinearLayout> BitSelection::apply(const LinearLayout &layout) const {
  if (!layout.hasIn(dim) || layout.inBits(dim) != oldBits)
    return std::nullopt;
  LinearLayout::Dims ins;
  f2::Vectors columns;
  for (const DimBits &in : layout.ins()) {
    llvm::ArrayRef<uint64_t> old = layout.columnsOf(in.dim);
    if (in.dim != dim) {
      ins.push_back(in);
      llvm::append_range(columns, old);
      continue;
    }
    ins.push_back({dim, static_cast<unsigned>(kept.size())});
    for (unsigned bit : kept) {
      if (bit >= old.size())
        return std::nullopt;
      columns.push_back(old[bit]);
    }
  }
  return LinearLayout::fromColumns(ins, layout.outs(), columns);
}

} // namespace despina
