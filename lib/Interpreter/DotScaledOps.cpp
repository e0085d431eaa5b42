//===- DotScaledOps.cpp - Matrix products with scales ---------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// As the targets without hardware for it multiply: elements times factors in bf16, or elements in fp16 where
// fp16 meets anything but bf16 and nothing has scales (lib/Transforms/DecomposeDotScaled.cpp).
//
//===----------------------------------------------------------------------===//
#include "Floats.h"
#include "despina/Interpreter/EagerBuilder.h"

#include <limits>

namespace despina::interpreter {

namespace {

float fromE2M1(uint64_t code) {
  constexpr float magnitudes[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  float magnitude = magnitudes[code & 7];
  return code & 8 ? -magnitude : magnitude;
}

/// One side as reals: rows x columns for each batch, after the factors.
class ScaledFactor {
public:
  ScaledFactor(const Builder::ScaledOperand &side, bool isRight, bool asHalf, bool fastMath)
      : side(side), value(*tileOf(side.value)), isRight(isRight), asHalf(asHalf), fastMath(fastMath) {
    size_t rank = value.shape.size();
    rows = value.shape[rank - 2], columns = value.shape[rank - 1];
    if (side.format == ScaledFormat::E2M1)
      (packsRows() ? rows : columns) *= 2;
  }

  TileRef tile() const {
    Extents shape = value.shape;
    shape[shape.size() - 2] = rows, shape.back() = columns;
    TileRef result = Tile::make(Type(asHalf ? ScalarKind::FP16 : ScalarKind::BF16), shape);
    auto *bits = result->data<uint16_t>();
    for (int64_t i = 0; i < result->size; ++i)
      bits[i] = elementBits(i / (rows * columns), i / columns % rows, i % columns);
    return result;
  }

private:
  bool packsRows() const { return side.packedAlongK == isRight; }

  float element(int64_t batch, int64_t row, int64_t column) const {
    if (side.format == ScaledFormat::E2M1) {
      int64_t at = packsRows() ? (batch * (rows / 2) + row / 2) * columns + column
                               : (batch * rows + row) * (columns / 2) + column / 2;
      int64_t inPair = packsRows() ? row % 2 : column % 2;
      return fromE2M1(bitsAt(value, at) >> (4 * inPair));
    }
    uint64_t bits = bitsAt(value, (batch * rows + row) * columns + column);
    switch (side.format) {
    case ScaledFormat::E4M3: return fp8Values(ScalarKind::FP8E4NV)[bits & 0xff];
    case ScaledFormat::E5M2: return fp8Values(ScalarKind::FP8E5)[bits & 0xff];
    case ScaledFormat::FP16: return fromHalf(uint16_t(bits));
    default: return fromBFloat(uint16_t(bits));
    }
  }

  float factor(int64_t batch, int64_t row, int64_t column) const {
    const Tile &scale = *tileOf(side.scale);
    int64_t groups = scale.shape.back(), k = isRight ? rows : columns, others = isRight ? columns : rows;
    int64_t alongK = isRight ? row : column, other = isRight ? column : row;
    uint64_t bits = bitsAt(scale, (batch * others + other) * groups + alongK / (k / groups));
    if (scale.storage == Storage::FP8)
      return fp8Values(ScalarKind::FP8E4NV)[bits & 0xff];
    bits &= 0xff;
    if (bits == 0xff)
      return fastMath ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
    return bits ? std::bit_cast<float>(uint32_t(bits) << 23) : 0x1p-127f;
  }

  uint16_t elementBits(int64_t batch, int64_t row, int64_t column) const {
    float real = element(batch, row, column);
    if (asHalf)
      return toHalf(real);
    uint16_t bits = toBFloat(real);
    return side.scale ? toBFloat(fromBFloat(bits) * factor(batch, row, column)) : bits;
  }

  const Builder::ScaledOperand &side;
  const Tile &value;
  bool isRight, asHalf, fastMath;
  int64_t rows = 0, columns = 0;
};

} // namespace

Handle EagerBuilder::dotScaled(const ScaledOperand &a, const ScaledOperand &b, Handle acc, bool fastMath) {
  if (isDead() || refusesLanes())
    return placeholder();
  auto any = [&](ScaledFormat format) { return a.format == format || b.format == format; };
  bool asHalf = any(ScaledFormat::FP16) && !any(ScaledFormat::BF16) && !a.scale && !b.scale;
  TileRef left = ScaledFactor(a, false, asHalf, fastMath).tile();
  TileRef right = ScaledFactor(b, true, asHalf, fastMath).tile();
  return keep(computeDot(*left, *right, *tileOf(acc), DotPrecision::IEEE));
}

} // namespace despina::interpreter
