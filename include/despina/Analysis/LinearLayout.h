//===- LinearLayout.h - Layouts as linear maps over F2 ----------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Where the elements of a tile live. All extents are powers of two, so a position is a string of bits: a
// place (register 5 of lane 3 of warp 0) as well as an element (row 2, column 9). A layout is a map from
// places to elements that is linear over F2, the field of two elements in which addition is XOR:
//
//   L(x ^ y) = L(x) ^ L(y)
//
// It is given by the images of the unit vectors, its bases. The whole of blocked, sliced, tensor-core,
// swizzled and broadcast layouts are such maps, and every question about them (does it cover the tile, which
// threads hold copies, who has the element that I need) is a system of linear equations.
//
// A layout is kept as one bit matrix. Dimensions have names, and their order tells how their bits lie in
// the matrix: the first dimension, of the inputs as of the outputs, has the lowest bits. The outputs of a
// layout of a tile are listed last axis first (dim1, dim0), so that the output bits read as one number are
// the row-major index. The text form lists outputs the way shapes are written, dim0 first.
//
// A layout has at most 64 input bits and 64 output bits. Operations that can be asked for something that does
// not exist return nothing then.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_ANALYSIS_LINEARLAYOUT_H
#define DESPINA_ANALYSIS_LINEARLAYOUT_H

#include "despina/Analysis/LinearLayoutF2.h"

#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <utility>

namespace despina {

/// The name of a dimension.
enum class LayoutDim : uint8_t {
  // Places of distributed layouts.
  Register,
  Lane,
  Warp,
  Block,
  // Places of shared memory. Offset counts elements; the others are its parts, see LayoutConversion.h.
  Offset,
  Vector,
  Bank,
  Segment,
  Iteration,
  /// Axis 0 of a tile; axis i is tensorDim(i).
  Tensor0 = 32,
};

constexpr LayoutDim tensorDim(unsigned axis) {
  return static_cast<LayoutDim>(static_cast<unsigned>(LayoutDim::Tensor0) + axis);
}
constexpr bool isTensorDim(LayoutDim dim) { return dim >= LayoutDim::Tensor0; }
constexpr unsigned tensorAxis(LayoutDim dim) {
  return static_cast<unsigned>(dim) - static_cast<unsigned>(LayoutDim::Tensor0);
}
/// The text form of a name: register, lane, ..., dim0, dim1.
std::string layoutDimName(LayoutDim dim);
std::optional<LayoutDim> parseLayoutDim(llvm::StringRef name);

class LinearLayout {
public:
  /// A dimension and the number of its bits.
  struct DimBits {
    LayoutDim dim;
    unsigned bits;
    bool operator==(const DimBits &) const = default;
  };
  using Dims = llvm::SmallVector<DimBits, 4>;
  using Point = llvm::SmallVector<std::pair<LayoutDim, uint64_t>, 4>;
  using DimList = llvm::ArrayRef<LayoutDim>;

  /// No inputs, no outputs.
  LinearLayout() = default;

  /// x -> x for x < \p size, a power of two.
  static LinearLayout identity1D(uint64_t size, LayoutDim in, LayoutDim out);
  /// x -> 0 for x < \p size: copies. The output has \p outSize.
  static LinearLayout zeros1D(uint64_t size, LayoutDim in, LayoutDim out, uint64_t outSize = 1);
  /// x -> stride * x for x < \p size.
  static LinearLayout strided1D(uint64_t size, uint64_t stride, LayoutDim in, LayoutDim out);

  /// From the matrix: one column per input bit, output bits as \p outs lays them out. Nothing when a name
  /// stands twice, there are too many bits, or columns do not fit.
  static std::optional<LinearLayout> fromColumns(llvm::ArrayRef<DimBits> ins, llvm::ArrayRef<DimBits> outs,
                                                 llvm::ArrayRef<uint64_t> columns);
  /// From the images of unit vectors: for each input dimension, for each of its bits, one coordinate per
  /// output dimension, in the order of \p outs.
  struct InBases {
    LayoutDim dim;
    llvm::SmallVector<llvm::SmallVector<uint64_t, 4>, 6> images;
  };
  static std::optional<LinearLayout> fromBases(llvm::ArrayRef<InBases> ins, llvm::ArrayRef<DimBits> outs);

  llvm::ArrayRef<DimBits> ins() const { return inDims; }
  llvm::ArrayRef<DimBits> outs() const { return outDims; }
  llvm::SmallVector<LayoutDim, 4> inNames() const;
  llvm::SmallVector<LayoutDim, 4> outNames() const;
  bool hasIn(LayoutDim dim) const;
  bool hasOut(LayoutDim dim) const;
  /// Bits of a dimension; 0 when there is none of that name.
  unsigned inBits(LayoutDim dim) const;
  unsigned outBits(LayoutDim dim) const;
  uint64_t inSize(LayoutDim dim) const { return uint64_t(1) << inBits(dim); }
  uint64_t outSize(LayoutDim dim) const { return uint64_t(1) << outBits(dim); }
  unsigned totalInBits() const { return columns.size(); }
  unsigned totalOutBits() const;
  /// The lowest bit of a dimension in the matrix.
  unsigned inShift(LayoutDim dim) const;
  unsigned outShift(LayoutDim dim) const;

  /// The matrix, one column per input bit.
  llvm::ArrayRef<uint64_t> matrix() const { return columns; }
  /// The columns of one input dimension.
  llvm::ArrayRef<uint64_t> columnsOf(LayoutDim in) const;
  /// What bit \p bit of \p in adds to coordinate \p out.
  uint64_t basis(LayoutDim in, unsigned bit, LayoutDim out) const;

  /// All input bits to all output bits.
  uint64_t applyFlat(uint64_t x) const { return f2::multiply(columns, x); }
  /// Coordinates that \p x does not name are 0.
  Point apply(llvm::ArrayRef<std::pair<LayoutDim, uint64_t>> x) const;
  /// One coordinate of the image.
  uint64_t apply(llvm::ArrayRef<std::pair<LayoutDim, uint64_t>> x, LayoutDim out) const;

  /// The direct sum: where both have a dimension, the bits of \p high sit above those of this. Tiles repeat a
  /// layout this way. Nothing beyond 64 bits.
  std::optional<LinearLayout> product(const LinearLayout &high) const;
  /// The product; the caller knows that it has no more than 64 bits.
  LinearLayout operator*(const LinearLayout &high) const;
  LinearLayout &operator*=(const LinearLayout &high) { return *this = *this * high; }

  /// x -> outer(this(x)). The outputs of this are the inputs of \p outer, in any order, and not larger.
  std::optional<LinearLayout> compose(const LinearLayout &outer) const;
  /// The inverse of a permutation; its inputs and outputs are the outputs and inputs of this.
  std::optional<LinearLayout> invert() const;
  /// A right inverse of a surjective layout: for each element the lowest place that has it.
  std::optional<LinearLayout> pseudoInvert() const;
  /// A C with this(x) = outer(C(x)): the place of \p outer with the element at place x of this. Outputs of
  /// both are the same, in any order. Among the solutions, a place keeps as many coordinates as it can:
  /// registers move before lanes do, lanes before warps (see below). Nothing when \p outer lacks an element.
  ///
  /// Each unit vector e of dimension d is solved for on its own. The candidates are e + y, y ranging over the
  /// first k input dimensions of outer, for the least k that has a solution, and y alone if d is below k:
  /// so a copy (a zero column in both) maps to itself, and what differs in registers stays in its thread.
  std::optional<LinearLayout> invertAndCompose(const LinearLayout &outer) const;

  /// The R with this = tile * R: the low bits of this are exactly \p tile.
  std::optional<LinearLayout> divideLeft(const LinearLayout &tile) const;
  /// The R with this = R * tile: the high bits of this are exactly \p tile.
  std::optional<LinearLayout> divideRight(const LinearLayout &tile) const;
  /// Without \p dims, on each of which this is the identity from input to output of that name and which
  /// mix with no other dimension.
  std::optional<LinearLayout> quotient(DimList dims) const;
  /// Whether quotient({dim}) exists.
  bool isTrivialOver(LayoutDim dim) const;
  /// Whether the output of that name is always the input of that name; unlike above, the input may also reach
  /// other outputs.
  bool preserves(LayoutDim dim) const;

  /// The same map with dimensions in another order; \p order names all of them.
  std::optional<LinearLayout> transposeIns(DimList order) const;
  std::optional<LinearLayout> transposeOuts(DimList order) const;
  /// All input (output) bits, cut anew; the total number of bits stays.
  std::optional<LinearLayout> reshapeIns(llvm::ArrayRef<DimBits> dims) const;
  std::optional<LinearLayout> reshapeOuts(llvm::ArrayRef<DimBits> dims) const;
  LinearLayout flattenIns(LayoutDim dim) const;
  LinearLayout flattenOuts(LayoutDim dim) const;
  /// Only these dimensions; the other inputs are 0, the other outputs dropped. Names that are not there are
  /// ignored.
  LinearLayout sublayout(DimList ins, DimList outs) const;
  bool sublayoutIsZero(DimList ins, DimList outs) const;
  /// An output dimension (input dimension) cut to \p bits, or grown with bits that nothing reaches
  /// (that are 0). Bits of bases above a cut output are lost.
  LinearLayout resizeOut(LayoutDim dim, unsigned bits) const;
  LinearLayout resizeIn(LayoutDim dim, unsigned bits) const;
  /// Another name, which is not there yet. Unchanged if \p from is not there.
  LinearLayout renameIn(LayoutDim from, LayoutDim to) const;
  LinearLayout renameOut(LayoutDim from, LayoutDim to) const;
  /// Without the zero columns of one input dimension.
  LinearLayout removeZeroBases(LayoutDim in) const;

  unsigned rank() const { return f2::rank(columns); }
  bool isSurjective() const { return rank() == totalOutBits(); }
  bool isInjective() const { return rank() == totalInBits(); }
  bool isPermutation() const { return isSurjective() && isInjective(); }

  /// For an input dimension, the bits that do not matter given the earlier ones: x and x ^ bit hold the same
  /// element up to a change of earlier bits. Canonical places have all of them 0, and hold each element once.
  uint64_t freeVariableMask(LayoutDim in) const;
  /// The largest n so that places that agree above the low log2(n) bits of the first input dimension hold n
  /// consecutive elements (in the flattened output), starting at a multiple of n and in order.
  uint64_t numConsecutiveInOut() const;

  bool operator==(const LinearLayout &) const = default;
  /// Equality of maps: the order of dimensions does not count.
  bool sameMap(const LinearLayout &other) const;

  /// {register: (0,1) (8,0); lane: (0,2)} -> (dim0: 16, dim1: 4)
  std::string toString() const;
  static std::optional<LinearLayout> parse(llvm::StringRef text);

  friend llvm::hash_code hash_value(const LinearLayout &layout);

private:
  Dims inDims;
  Dims outDims;
  f2::Vectors columns;
};

/// A choice of basis vectors of one input dimension: bit i of the new dimension is bit kept[i] of the old.
/// It acts on layouts and on lists of values (registers) alike, so that what is done to the one is done to
/// the other.
class BitSelection {
public:
  BitSelection(LayoutDim dim, unsigned oldBits, llvm::ArrayRef<unsigned> kept)
      : dim(dim), oldBits(oldBits), kept(kept) {}
  /// All bits but those with a zero column, or only copies of what lower bits give.
  static BitSelection withoutCopies(const LinearLayout &layout, LayoutDim dim);

  bool isIdentity() const;
  llvm::ArrayRef<unsigned> bits() const { return kept; }
  unsigned oldSize() const { return 1u << oldBits; }
  /// The old index that has new index \p index.
  unsigned oldIndex(unsigned index) const;
  std::optional<LinearLayout> apply(const LinearLayout &layout) const;
  /// The values at new indices. \p values has one for each old index.
  template <typename T> llvm::SmallVector<T> apply(llvm::ArrayRef<T> values) const {
    llvm::SmallVector<T> result;
    for (unsigned i = 0; i < 1u << kept.size(); ++i)
      if (oldIndex(i) < values.size())
        result.push_back(values[oldIndex(i)]);
    return result;
  }

private:
  LayoutDim dim;
  unsigned oldBits;
  llvm::SmallVector<unsigned, 8> kept;
};

} // namespace despina

#endif // DESPINA_ANALYSIS_LINEARLAYOUT_H
