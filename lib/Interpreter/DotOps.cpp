//===- DotOps.cpp - Matrix products ---------------------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Products of floats add up in fp32, of fp64 in fp64. The operands of tf32 lose their low bits first.
//
//===----------------------------------------------------------------------===//
#include "Floats.h"
#include "despina/Interpreter/EagerBuilder.h"

#include <cstring>

#if defined(__x86_64__) && defined(__clang__) && !__has_feature(address_sanitizer) &&                        \
    !__has_feature(thread_sanitizer)
#define DESPINA_VECTOR_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define DESPINA_VECTOR_CLONES
#endif

namespace despina::interpreter {

DESPINA_VECTOR_CLONES static void addProduct(float *to, float a, const float *row, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    to[i] += a * row[i];
}
DESPINA_VECTOR_CLONES static void addProduct(double *to, double a, const double *row, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    to[i] += a * row[i];
}
static void addProduct(uint32_t *to, uint32_t a, const uint32_t *row, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    to[i] += a * row[i];
}

namespace {

struct ProductShape {
  int64_t batch, m, n, k;
};

template <typename T> void multiply(const ProductShape &shape, const T *a, const T *b, T *acc) {
  for (int64_t batch = 0; batch < shape.batch; ++batch)
    for (int64_t i = 0; i < shape.m; ++i) {
      T *to = acc + (batch * shape.m + i) * shape.n;
      const T *left = a + (batch * shape.m + i) * shape.k, *right = b + batch * shape.k * shape.n;
      for (int64_t k = 0; k < shape.k; ++k)
        addProduct(to, left[k], right + k * shape.n, shape.n);
    }
}

template <typename T> std::vector<T> denseReals(const Tile &tile) { return realsOf<T>(*tile.dense()); }

template <typename T>
TileRef floatProduct(const ProductShape &shape, const Tile &a, const Tile &b, const Tile &acc, bool asTF32) {
  std::vector<T> x = denseReals<T>(a), y = denseReals<T>(b), sum = denseReals<T>(acc);
  if (asTF32)
    for (std::vector<T> *factor : {&x, &y})
      for (T &value : *factor)
        value = toTF32(float(value));
  multiply(shape, x.data(), y.data(), sum.data());
  TileRef like = Tile::make(acc.element, acc.shape);
  return tileOfReals(sum.data(), like->stored(), *like, acc.element);
}

/// int8 factors, wrapping sums.
TileRef integerProduct(const ProductShape &shape, const Tile &a, const Tile &b, const Tile &acc) {
  auto widened = [](const Tile &tile) {
    std::vector<uint32_t> values;
    values.reserve(static_cast<size_t>(tile.size));
    for (int64_t i = 0; i < tile.size; ++i)
      values.push_back(uint32_t(integerAt(tile, i)));
    return values;
  };
  std::vector<uint32_t> x = widened(a), y = widened(b);
  TileRef sum = acc.dense();
  multiply(shape, x.data(), y.data(), sum->data<uint32_t>());
  return sum;
}

} // namespace

TileRef computeDot(const Tile &a, const Tile &b, const Tile &acc, DotPrecision precision) {
  size_t rank = acc.shape.size();
  ProductShape shape{rank == 3 ? acc.shape[0] : 1, acc.shape[rank - 2], acc.shape[rank - 1],
                     a.shape[rank - 1]};
  if (!isFloat(a.storage))
    return integerProduct(shape, a, b, acc);
  if (acc.storage == Storage::F64)
    return floatProduct<double>(shape, a, b, acc, false);
  return floatProduct<float>(shape, a, b, acc, precision == DotPrecision::TF32);
}

Handle EagerBuilder::dot(Handle a, Handle b, Handle acc, DotPrecision precision, int32_t) {
  if (isDead() || refusesLanes())
    return placeholder();
  return keep(computeDot(*tileOf(a), *tileOf(b), *tileOf(acc), precision));
}

} // namespace despina::interpreter
