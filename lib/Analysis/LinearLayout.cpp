//===- LinearLayout.cpp - Layouts as linear maps over F2 ------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Construction, access, products and the operations on dimensions. Equations are in LinearLayoutSolve.cpp,
// text in LinearLayoutText.cpp.
//
//===----------------------------------------------------------------------===//
#include "despina/Analysis/LinearLayout.h"

#include "llvm/ADT/STLExtras.h"

#include <bit>

namespace despina {

using DimBits = LinearLayout::DimBits;
using Dims = LinearLayout::Dims;

namespace {

/// A shift that may be by 64: a dimension of no bits can start there.
uint64_t shiftLeft(uint64_t x, unsigned n) { return n >= 64 ? 0 : x << n; }
uint64_t shiftRight(uint64_t x, unsigned n) { return n >= 64 ? 0 : x >> n; }
uint64_t field(uint64_t x, unsigned shift, unsigned bits) { return shiftRight(x, shift) & f2::lowMask(bits); }

unsigned totalBits(llvm::ArrayRef<DimBits> dims) {
  uint64_t sum = 0;
  for (const DimBits &dim : dims)
    sum += dim.bits;
  return std::min<uint64_t>(sum, 1000);
}

unsigned bitsOf(llvm::ArrayRef<DimBits> dims, LayoutDim name) {
  for (const DimBits &dim : dims)
    if (dim.dim == name)
      return dim.bits;
  return 0;
}

unsigned shiftOf(llvm::ArrayRef<DimBits> dims, LayoutDim name) {
  unsigned shift = 0;
  for (const DimBits &dim : dims) {
    if (dim.dim == name)
      return shift;
    shift += dim.bits;
  }
  return shift;
}

bool hasDim(llvm::ArrayRef<DimBits> dims, LayoutDim name) {
  return llvm::any_of(dims, [&](const DimBits &dim) { return dim.dim == name; });
}

bool namesAreUnique(llvm::ArrayRef<DimBits> dims) {
  for (unsigned i = 0; i < dims.size(); ++i)
    if (hasDim(dims.drop_front(i + 1), dims[i].dim))
      return false;
  return true;
}

/// The dimensions of both, bits added.
Dims mergeDims(llvm::ArrayRef<DimBits> low, llvm::ArrayRef<DimBits> high) {
  Dims result(low);
  for (const DimBits &dim : high) {
    auto *it = llvm::find_if(result, [&](const DimBits &other) { return other.dim == dim.dim; });
    if (it == result.end())
      result.push_back(dim);
    else
      it->bits += dim.bits;
  }
  return result;
}

/// Moves the fields of an output vector from one arrangement of dimensions to another; within each dimension
/// they are shifted up by the bits that \p below has of it.
uint64_t repack(uint64_t x, llvm::ArrayRef<DimBits> from, llvm::ArrayRef<DimBits> to,
                llvm::ArrayRef<DimBits> below = {}) {
  uint64_t result = 0;
  unsigned shift = 0;
  for (const DimBits &dim : from) {
    uint64_t value = field(x, shift, dim.bits);
    shift += dim.bits;
    if (value)
      result |= shiftLeft(value, shiftOf(to, dim.dim) + bitsOf(below, dim.dim));
  }
  return result;
}

/// \p dims in the order of \p order, or nothing when that is not a permutation of their names.
std::optional<Dims> permuted(llvm::ArrayRef<DimBits> dims, LinearLayout::DimList order) {
  if (order.size() != dims.size())
    return std::nullopt;
  Dims result;
  for (LayoutDim name : order) {
    if (!hasDim(dims, name))
      return std::nullopt;
    result.push_back({name, bitsOf(dims, name)});
  }
  if (!namesAreUnique(result))
    return std::nullopt;
  return result;
}

unsigned log2Of(uint64_t size) { return size ? 63 - std::countl_zero(size) : 0; }

} // namespace

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

LinearLayout LinearLayout::identity1D(uint64_t size, LayoutDim in, LayoutDim out) {
  return strided1D(size, 1, in, out);
}

LinearLayout LinearLayout::zeros1D(uint64_t size, LayoutDim in, LayoutDim out, uint64_t outSize) {
  LinearLayout result;
  result.inDims.push_back({in, log2Of(size)});
  result.outDims.push_back({out, log2Of(outSize)});
  result.columns.assign(log2Of(size), 0);
  return result;
}

LinearLayout LinearLayout::strided1D(uint64_t size, uint64_t stride, LayoutDim in, LayoutDim out) {
  LinearLayout result;
  unsigned bits = log2Of(size), low = log2Of(stride);
  result.inDims.push_back({in, bits});
  result.outDims.push_back({out, bits + low});
  for (unsigned i = 0; i < bits; ++i)
    result.columns.push_back(shiftLeft(1, i + low));
  return result;
}

std::optional<LinearLayout> LinearLayout::fromColumns(llvm::ArrayRef<DimBits> ins,
                                                      llvm::ArrayRef<DimBits> outs,
                                                      llvm::ArrayRef<uint64_t> columns) {
  unsigned outBits = totalBits(outs);
  if (outBits > 64 || columns.size() > 64 || totalBits(ins) != columns.size() || !namesAreUnique(ins) ||
      !namesAreUnique(outs))
    return std::nullopt;
  if (llvm::any_of(columns, [&](uint64_t column) { return column & ~f2::lowMask(outBits); }))
    return std::nullopt;
  LinearLayout result;
  result.inDims.assign(ins.begin(), ins.end());
  result.outDims.assign(outs.begin(), outs.end());
  result.columns.assign(columns.begin(), columns.end());
  return result;
}

std::optional<LinearLayout> LinearLayout::fromBases(llvm::ArrayRef<InBases> ins,
                                                    llvm::ArrayRef<DimBits> outs) {
  Dims inDims;
  f2::Vectors columns;
  for (const InBases &in : ins) {
    inDims.push_back({in.dim, static_cast<unsigned>(in.images.size())});
    for (const auto &image : in.images) {
      if (image.size() != outs.size())
        return std::nullopt;
      uint64_t column = 0;
      unsigned shift = 0;
      for (unsigned i = 0; i < outs.size(); ++i) {
        if (image[i] & ~f2::lowMask(outs[i].bits))
          return std::nullopt;
        column |= shiftLeft(image[i], shift);
        shift += outs[i].bits;
      }
      columns.push_back(column);
    }
  }
  return fromColumns(inDims, outs, columns);
}

//===----------------------------------------------------------------------===//
// Access
//===----------------------------------------------------------------------===//

llvm::SmallVector<LayoutDim, 4> LinearLayout::inNames() const {
  return llvm::to_vector<4>(llvm::map_range(inDims, [](const DimBits &dim) { return dim.dim; }));
}
llvm::SmallVector<LayoutDim, 4> LinearLayout::outNames() const {
  return llvm::to_vector<4>(llvm::map_range(outDims, [](const DimBits &dim) { return dim.dim; }));
}
bool LinearLayout::hasIn(LayoutDim dim) const { return hasDim(inDims, dim); }
bool LinearLayout::hasOut(LayoutDim dim) const { return hasDim(outDims, dim); }
unsigned LinearLayout::inBits(LayoutDim dim) const { return bitsOf(inDims, dim); }
unsigned LinearLayout::outBits(LayoutDim dim) const { return bitsOf(outDims, dim); }
unsigned LinearLayout::totalOutBits() const { return totalBits(outDims); }
unsigned LinearLayout::inShift(LayoutDim dim) const { return shiftOf(inDims, dim); }
unsigned LinearLayout::outShift(LayoutDim dim) const { return shiftOf(outDims, dim); }

llvm::ArrayRef<uint64_t> LinearLayout::columnsOf(LayoutDim in) const {
  return llvm::ArrayRef<uint64_t>(columns).slice(inShift(in), inBits(in));
}

uint64_t LinearLayout::basis(LayoutDim in, unsigned bit, LayoutDim out) const {
  if (bit >= inBits(in))
    return 0;
  return field(columns[inShift(in) + bit], outShift(out), outBits(out));
}

LinearLayout::Point LinearLayout::apply(llvm::ArrayRef<std::pair<LayoutDim, uint64_t>> x) const {
  uint64_t flat = 0;
  for (auto [dim, value] : x)
    flat |= shiftLeft(value & f2::lowMask(inBits(dim)), inShift(dim));
  uint64_t image = applyFlat(flat);
  Point result;
  for (const DimBits &dim : outDims)
    result.push_back({dim.dim, field(image, outShift(dim.dim), dim.bits)});
  return result;
}

uint64_t LinearLayout::apply(llvm::ArrayRef<std::pair<LayoutDim, uint64_t>> x, LayoutDim out) const {
  for (auto [dim, value] : apply(x))
    if (dim == out)
      return value;
  return 0;
}

//===----------------------------------------------------------------------===//
// Products and quotients
//===----------------------------------------------------------------------===//

std::optional<LinearLayout> LinearLayout::product(const LinearLayout &high) const {
  LinearLayout result;
  result.inDims = mergeDims(inDims, high.inDims);
  result.outDims = mergeDims(outDims, high.outDims);
  if (totalBits(result.inDims) > 64 || totalBits(result.outDims) > 64)
    return std::nullopt;
  for (const DimBits &dim : result.inDims) {
    for (uint64_t column : columnsOf(dim.dim))
      result.columns.push_back(repack(column, outDims, result.outDims));
    for (uint64_t column : high.columnsOf(dim.dim))
      result.columns.push_back(repack(column, high.outDims, result.outDims, outDims));
  }
  return result;
}

LinearLayout LinearLayout::operator*(const LinearLayout &high) const {
  return product(high).value_or(LinearLayout());
}

std::optional<LinearLayout> LinearLayout::divideLeft(const LinearLayout &tile) const {
  LinearLayout result;
  for (const DimBits &dim : outDims) {
    if (tile.outBits(dim.dim) > dim.bits)
      return std::nullopt;
    result.outDims.push_back({dim.dim, dim.bits - tile.outBits(dim.dim)});
  }
  for (const DimBits &dim : inDims) {
    if (tile.inBits(dim.dim) > dim.bits)
      return std::nullopt;
    result.inDims.push_back({dim.dim, dim.bits - tile.inBits(dim.dim)});
    for (uint64_t column : columnsOf(dim.dim).drop_front(tile.inBits(dim.dim))) {
      uint64_t rest = 0;
      for (const DimBits &out : outDims) {
        uint64_t high = shiftRight(field(column, outShift(out.dim), out.bits), tile.outBits(out.dim));
        rest |= shiftLeft(high, result.outShift(out.dim));
      }
      result.columns.push_back(rest);
    }
  }
  // What was cut off must be the tile, and nothing else may reach into it.
  if (!tile.product(result) || !tile.product(result)->sameMap(*this))
    return std::nullopt;
  return result;
}

std::optional<LinearLayout> LinearLayout::divideRight(const LinearLayout &tile) const {
  LinearLayout result;
  for (const DimBits &dim : outDims) {
    if (tile.outBits(dim.dim) > dim.bits)
      return std::nullopt;
    result.outDims.push_back({dim.dim, dim.bits - tile.outBits(dim.dim)});
  }
  for (const DimBits &dim : inDims) {
    if (tile.inBits(dim.dim) > dim.bits)
      return std::nullopt;
    result.inDims.push_back({dim.dim, dim.bits - tile.inBits(dim.dim)});
    for (uint64_t column : columnsOf(dim.dim).drop_back(tile.inBits(dim.dim))) {
      uint64_t rest = 0;
      for (const DimBits &out : result.outDims)
        rest |= shiftLeft(field(column, outShift(out.dim), out.bits), result.outShift(out.dim));
      result.columns.push_back(rest);
    }
  }
  if (!result.product(tile) || !result.product(tile)->sameMap(*this))
    return std::nullopt;
  return result;
}

bool LinearLayout::isTrivialOver(LayoutDim dim) const {
  unsigned bits = inBits(dim), shift = outShift(dim), first = inShift(dim);
  if (bits != outBits(dim) || hasIn(dim) != hasOut(dim))
    return false;
  uint64_t mask = shiftLeft(f2::lowMask(bits), shift);
  for (unsigned i = 0; i < columns.size(); ++i) {
    bool own = i >= first && i < first + bits;
    if (own ? columns[i] != shiftLeft(1, shift + i - first) : (columns[i] & mask) != 0)
      return false;
  }
  return true;
}

bool LinearLayout::preserves(LayoutDim dim) const {
  unsigned bits = inBits(dim), shift = outShift(dim), first = inShift(dim);
  if (bits != outBits(dim) || hasIn(dim) != hasOut(dim))
    return false;
  for (unsigned i = 0; i < columns.size(); ++i) {
    bool own = i >= first && i < first + bits;
    if (field(columns[i], shift, bits) != (own ? uint64_t(1) << (i - first) : 0))
      return false;
  }
  return true;
}

std::optional<LinearLayout> LinearLayout::quotient(DimList dims) const {
  llvm::SmallVector<LayoutDim, 4> ins, outs;
  for (LayoutDim dim : dims)
    if (!isTrivialOver(dim))
      return std::nullopt;
  for (LayoutDim dim : inNames())
    if (!llvm::is_contained(dims, dim))
      ins.push_back(dim);
  for (LayoutDim dim : outNames())
    if (!llvm::is_contained(dims, dim))
      outs.push_back(dim);
  return sublayout(ins, outs);
}

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

std::optional<LinearLayout> LinearLayout::transposeIns(DimList order) const {
  std::optional<Dims> dims = permuted(inDims, order);
  if (!dims)
    return std::nullopt;
  LinearLayout result = *this;
  result.inDims = *dims;
  result.columns.clear();
  for (LayoutDim dim : order)
    llvm::append_range(result.columns, columnsOf(dim));
  return result;
}

std::optional<LinearLayout> LinearLayout::transposeOuts(DimList order) const {
  std::optional<Dims> dims = permuted(outDims, order);
  if (!dims)
    return std::nullopt;
  LinearLayout result = *this;
  result.outDims = *dims;
  for (uint64_t &column : result.columns)
    column = repack(column, outDims, *dims);
  return result;
}

std::optional<LinearLayout> LinearLayout::reshapeIns(llvm::ArrayRef<DimBits> dims) const {
  return fromColumns(dims, outDims, columns);
}

std::optional<LinearLayout> LinearLayout::reshapeOuts(llvm::ArrayRef<DimBits> dims) const {
  if (totalBits(dims) != totalOutBits())
    return std::nullopt;
  return fromColumns(inDims, dims, columns);
}

LinearLayout LinearLayout::flattenIns(LayoutDim dim) const {
  LinearLayout result = *this;
  result.inDims = {{dim, totalInBits()}};
  return result;
}

LinearLayout LinearLayout::flattenOuts(LayoutDim dim) const {
  LinearLayout result = *this;
  result.outDims = {{dim, totalOutBits()}};
  return result;
}

LinearLayout LinearLayout::sublayout(DimList ins, DimList outs) const {
  LinearLayout result;
  for (const DimBits &dim : outDims)
    if (llvm::is_contained(outs, dim.dim))
      result.outDims.push_back(dim);
  for (const DimBits &dim : inDims) {
    if (!llvm::is_contained(ins, dim.dim))
      continue;
    result.inDims.push_back(dim);
    for (uint64_t column : columnsOf(dim.dim)) {
      uint64_t kept = 0;
      for (const DimBits &out : result.outDims)
        kept |= shiftLeft(field(column, outShift(out.dim), out.bits), result.outShift(out.dim));
      result.columns.push_back(kept);
    }
  }
  return result;
}

bool LinearLayout::sublayoutIsZero(DimList ins, DimList outs) const {
  return llvm::all_of(sublayout(ins, outs).columns, [](uint64_t column) { return column == 0; });
}

LinearLayout LinearLayout::resizeOut(LayoutDim dim, unsigned bits) const {
  LinearLayout result = *this;
  for (DimBits &out : result.outDims)
    if (out.dim == dim)
      out.bits = std::min(bits, 64 - (totalOutBits() - out.bits));
  for (uint64_t &column : result.columns) {
    uint64_t moved = 0;
    for (const DimBits &out : outDims) {
      uint64_t value = field(column, outShift(out.dim), out.bits) & f2::lowMask(result.outBits(out.dim));
      moved |= shiftLeft(value, result.outShift(out.dim));
    }
    column = moved;
  }
  return result;
}

LinearLayout LinearLayout::resizeIn(LayoutDim dim, unsigned bits) const {
  LinearLayout result = *this;
  result.columns.clear();
  for (DimBits &in : result.inDims) {
    llvm::ArrayRef<uint64_t> old = columnsOf(in.dim);
    if (in.dim == dim)
      in.bits = std::min(bits, 64 - (totalInBits() - in.bits));
    llvm::append_range(result.columns, old.take_front(in.bits));
    if (in.bits > old.size())
      result.columns.append(in.bits - old.size(), 0);
  }
  return result;
}

LinearLayout LinearLayout::renameIn(LayoutDim from, LayoutDim to) const {
  LinearLayout result = *this;
  for (DimBits &dim : result.inDims)
    if (dim.dim == from && !hasIn(to))
      dim.dim = to;
  return result;
}

LinearLayout LinearLayout::renameOut(LayoutDim from, LayoutDim to) const {
  LinearLayout result = *this;
  for (DimBits &dim : result.outDims)
    if (dim.dim == from && !hasOut(to))
      dim.dim = to;
  return result;
}

LinearLayout LinearLayout::removeZeroBases(LayoutDim in) const {
  LinearLayout result = *this;
  result.columns.clear();
  for (DimBits &dim : result.inDims) {
    unsigned before = result.columns.size();
    for (uint64_t column : columnsOf(dim.dim))
      if (column || dim.dim != in)
        result.columns.push_back(column);
    dim.bits = result.columns.size() - before;
  }
  return result;
}

bool LinearLayout::sameMap(const LinearLayout &other) const {
  std::optional<LinearLayout> reordered = other.transposeIns(inNames());
  if (!reordered)
    return false;
  reordered = reordered->transposeOuts(outNames());
  return reordered && *reordered == *this;
}

llvm::hash_code hash_value(const LinearLayout &layout) {
  llvm::hash_code hash = llvm::hash_combine_range(layout.columns.begin(), layout.columns.end());
  for (const Dims *dims : {&layout.inDims, &layout.outDims})
    for (const DimBits &dim : *dims)
      hash = llvm::hash_combine(hash, static_cast<uint8_t>(dim.dim), dim.bits);
  return llvm::hash_combine(hash, layout.inDims.size());
}

} // namespace despina
