//===- LinearLayoutF2.h - Vectors and spaces over F2 ------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// The linear algebra behind linear layouts. A vector of F2^64 is a uint64_t, addition is XOR, and a matrix is
// the list of its columns: M x is the XOR of the columns at the set bits of x.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_ANALYSIS_LINEARLAYOUTF2_H
#define DESPINA_ANALYSIS_LINEARLAYOUTF2_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <array>
#include <cstdint>
#include <optional>

namespace despina::f2 {

using Vector = uint64_t;
using Vectors = llvm::SmallVector<Vector, 16>;

/// Bits 0 to n - 1.
inline Vector lowMask(unsigned n) { return n >= 64 ? ~Vector(0) : (Vector(1) << n) - 1; }

/// The product of a matrix (its columns) and a vector.
Vector multiply(llvm::ArrayRef<Vector> columns, Vector x);

/// A subspace that grows one vector at a time, in echelon form: no two of its rows have the same leading bit.
/// Each row remembers which of the inserted vectors it is a sum of, so reduction also solves equations.
class Space {
public:
  Space() = default;
  /// The span of \p vectors; the i-th of them has tag 1 << i.
  explicit Space(llvm::ArrayRef<Vector> vectors);

  /// Adds \p v, known as \p tag in solutions. False when it was in the space already: then nothing changes.
  bool insert(Vector v, Vector tag = 0);

  /// What is left of a vector when rows are subtracted from it, and the sum of the tags of these.
  struct Reduced {
    Vector rest;
    Vector tags;
  };
  Reduced reduce(Vector v) const;

  bool contains(Vector v) const { return reduce(v).rest == 0; }
  unsigned dimension() const { return count; }

private:
  std::array<Vector, 64> rows{};
  std::array<Vector, 64> rowTags{};
  unsigned count = 0;
};

unsigned rank(llvm::ArrayRef<Vector> columns);

/// The x with M x = b whose free variables are 0, a variable being free when its column is a sum of earlier
/// ones. Nothing when b is not in the image. At most 64 columns.
std::optional<Vector> solve(llvm::ArrayRef<Vector> columns, Vector b);

/// A basis of { x | M x = 0 }: one vector for each free variable, with that variable 1 and the other free
/// ones 0. At most 64 columns.
Vectors kernel(llvm::ArrayRef<Vector> columns);

/// The free variables, as a mask.
Vector freeVariables(llvm::ArrayRef<Vector> columns);

/// The inverse of a square matrix of full rank, else nothing.
std::optional<Vectors> inverse(llvm::ArrayRef<Vector> columns);

/// A basis of the intersection of two spans. Generators of one side that lie in the other come first, so that
/// the basis is made of given vectors as far as that is possible.
Vectors intersection(llvm::ArrayRef<Vector> a, llvm::ArrayRef<Vector> b);

} // namespace despina::f2

#endif // DESPINA_ANALYSIS_LINEARLAYOUTF2_H
