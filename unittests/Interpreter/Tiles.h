//===- Tiles.h - Random tiles and what is in them ---------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_UNITTESTS_INTERPRETER_TILES_H
#define DESPINA_UNITTESTS_INTERPRETER_TILES_H

#include "despina/Interpreter/EagerBuilder.h"

#include <gtest/gtest.h>

#include <random>

namespace despina::interpreter::test {

/// Random numbers from a seed of this run, which a failure shows.
struct Random {
  unsigned seed = std::random_device()();
  std::mt19937_64 engine{seed};
  testing::ScopedTrace trace{__FILE__, __LINE__, "seed " + std::to_string(seed)};

  uint64_t bits() { return engine(); }
  int64_t below(int64_t limit) { return int64_t(engine() % uint64_t(limit)); }
  /// Integers with many small and extreme ones among them.
  uint64_t integer(unsigned width) {
    switch (below(4)) {
    case 0: return uint64_t(below(7) - 3);
    case 1: return (uint64_t(1) << (width - 1)) - uint64_t(below(3));
    default: return bits();
    }
  }
};

inline Tile &fill(Tile &tile, Random &random) {
  auto *bytes = tile.data<uint8_t>();
  unsigned width = bytesOf(tile.storage);
  for (int64_t i = 0; i < tile.stored(); ++i) {
    uint64_t bits = random.integer(8 * width);
    if (tile.storage == Storage::Bool)
      bits &= 1;
    std::memcpy(bytes + i * width, &bits, width);
  }
  return tile;
}

inline TileRef randomTile(Random &random, const Type &element, llvm::ArrayRef<int64_t> shape) {
  TileRef tile = Tile::make(element, shape, random.below(4) == 0);
  fill(*tile, random);
  return tile;
}

/// A tile of these numbers.
template <typename T>
TileRef tileOfValues(const Type &element, llvm::ArrayRef<int64_t> shape, std::vector<T> values) {
  TileRef tile = Tile::make(element, shape);
  EXPECT_EQ(sizeof(T), bytesOf(tile->storage));
  EXPECT_EQ(int64_t(values.size()), tile->size);
  std::memcpy(tile->data<char>(), values.data(), values.size() * sizeof(T));
  return tile;
}

} // namespace despina::interpreter::test

#endif // DESPINA_UNITTESTS_INTERPRETER_TILES_H
