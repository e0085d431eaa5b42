//===- LinearLayoutF2.cpp - Vectors and spaces over F2 --------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "despina/Analysis/LinearLayoutF2.h"

#include <bit>

namespace despina::f2 {

Vector multiply(llvm::ArrayRef<Vector> columns, Vector x) {
  Vector sum = 0;
  for (Vector rest = x; rest; rest &= rest - 1) {
    unsigned bit = std::countr_zero(rest);
    if (bit >= columns.size())
      break;
    sum ^= columns[bit];
  }
  return sum;
}

Space::Space(llvm::ArrayRef<Vector> vectors) {
  for (unsigned i = 0; i < vectors.size(); ++i)
    insert(vectors[i], i < 64 ? Vector(1) << i : 0);
}

Space::Reduced Space::reduce(Vector v) const {
  Vector tags = 0;
  Vector rest = v;
  // Bits without a row stay; each step clears one bit and touches only lower ones.
  for (Vector todo = rest; todo;) {
    unsigned lead = 63 - std::countl_zero(todo);
    if (rows[lead]) {
      rest ^= rows[lead];
      tags ^= rowTags[lead];
    }
    todo = rest & lowMask(lead);
  }
  return {rest, tags};
}

bool Space::insert(Vector v, Vector tag) {
  auto [rest, tags] = reduce(v);
  if (!rest)
    return false;
  unsigned lead = 63 - std::countl_zero(rest);
  rows[lead] = rest;
  rowTags[lead] = tags ^ tag;
  ++count;
  return true;
}

unsigned rank(llvm::ArrayRef<Vector> columns) { return Space(columns).dimension(); }

std::optional<Vector> solve(llvm::ArrayRef<Vector> columns, Vector b) {
  auto [rest, tags] = Space(columns).reduce(b);
  if (rest)
    return std::nullopt;
  return tags;
}

Vectors kernel(llvm::ArrayRef<Vector> columns) {
  Space space;
  Vectors result;
  for (unsigned i = 0; i < columns.size(); ++i) {
    Vector tag = Vector(1) << i;
    if (!space.insert(columns[i], tag))
      result.push_back(space.reduce(columns[i]).tags ^ tag);
  }
  return result;
}

Vector freeVariables(llvm::ArrayRef<Vector> columns) {
  Space space;
  Vector mask = 0;
  for (unsigned i = 0; i < columns.size(); ++i)
    if (!space.insert(columns[i]))
      mask |= Vector(1) << i;
  return mask;
}

std::optional<Vectors> inverse(llvm::ArrayRef<Vector> columns) {
  Space space(columns);
  if (space.dimension() != columns.size())
    return std::nullopt;
  Vectors result;
  for (unsigned i = 0; i < columns.size(); ++i) {
    auto [rest, tags] = space.reduce(Vector(1) << i);
    if (rest)
      return std::nullopt;
    result.push_back(tags);
  }
  return result;
}

Vectors intersection(llvm::ArrayRef<Vector> a, llvm::ArrayRef<Vector> b) {
  Space spaceA(a), spaceB(b), found;
  Vectors result;
  auto take = [&](Vector v) {
    if (v && found.insert(v))
      result.push_back(v);
  };
  for (Vector v : a)
    if (spaceB.contains(v))
      take(v);
  for (Vector v : b)
    if (spaceA.contains(v))
      take(v);
  // A vector of b that is, modulo a, a sum of earlier ones of b differs from that sum by a vector of a, which
  // is then in both. The tags name vectors of b only.
  Space sum;
  for (Vector v : a)
    sum.insert(v, 0);
  for (unsigned i = 0; i < b.size() && i < 64; ++i) {
    auto [rest, tags] = sum.reduce(b[i]);
    if (rest)
      sum.insert(b[i], Vector(1) << i);
    else
      take(multiply(b, tags) ^ b[i]);
  }
  return result;
}

} // namespace despina::f2
