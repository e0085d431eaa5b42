//===- DotScaledOps.cpp - Matrix products with scales ---------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// As compiled kernels do it (docs/numerics.md): elements become bf16, are multiplied by their scales and
// rounded to bf16 again, and the products of these add up in fp32.
//
//===----------------------------------------------------------------------===//
#include "Floats.h"
#include "despina/Interpreter/EagerBuilder.h"

#include <cmath>
#include <limits>

namespace despina::interpreter {

namespace {

/// One side of the product, with extents in elements.
class ScaledSide {
public:
  ScaledSide(const Builder::ScaledOperand &operand, bool isRight, bool asHalf, bool fastMath)
      : value_(*tileOf(operand.value)), scale_(operand.scale ? tileOf(operand.scale) : nullptr),
        format_(operand.format), isRight_(isRight), asHalf_(asHalf), fastMath_(fastMath),
        pairsAreColumns_(operand.packedAlongK != isRight) {
    shape_.assign(value_.shape.begin(), value_.shape.end());
    if (format_ == ScaledFormat::E2M1)
      shape_[shape_.size() - (pairsAreColumns_ ? 1 : 2)] *= 2;
    rows_ = shape_[shape_.size() - 2];
    columns_ = shape_.back();
    if (scale_)
      groups_ = scale_->shape.back();
  }

  TileRef factor() const {
    Type type(ScalarKind::FP32);
    TileRef like = Tile::make(type, shape_);
    std::vector<float> values(static_cast<size_t>(like->size));
    for (int64_t at = 0; at < like->size; ++at)
      values[static_cast<size_t>(at)] =
          elementAt(at / (rows_ * columns_), at / columns_ % rows_, at % columns_);
    return tileOfReals(values.data(), like->stored(), *like, type);
  }

private:
  static float asBF16(float x) { return fromBFloat(toBFloat(x)); }

  float elementAt(int64_t batch, int64_t row, int64_t column) const {
    auto x = static_cast<float>(numberAt(batch, row, column));
    if (asHalf_)
      return x;
    x = asBF16(x);
    return scale_ ? asBF16(x * scaleAt(batch, row, column)) : x;
  }

  double numberAt(int64_t batch, int64_t row, int64_t column) const {
    int64_t at = (batch * rows_ + row) * columns_ + column;
    if (format_ == ScaledFormat::E2M1)
      return pairElementAt(batch, row, column);
    // fp8 may come as bytes.
    if (value_.storage == Storage::I8)
      return fp8Values(format_ == ScaledFormat::E4M3 ? ScalarKind::FP8E4NV
                                                     : ScalarKind::FP8E5)[bitsAt(value_, at)];
    return realAt(value_, at);
  }

  double pairElementAt(int64_t batch, int64_t row, int64_t column) const {
    static constexpr double magnitudes[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
    int64_t at = pairsAreColumns_ ? (batch * rows_ + row) * (columns_ / 2) + column / 2
                                  : (batch * (rows_ / 2) + row / 2) * columns_ + column;
    uint64_t code = bitsAt(value_, at) >> (((pairsAreColumns_ ? column : row) & 1) * 4);
    double magnitude = magnitudes[code & 7];
    return code & 8 ? -magnitude : magnitude;
  }

  float scaleAt(int64_t batch, int64_t row, int64_t column) const {
    int64_t outer = isRight_ ? column : row, k = isRight_ ? row : column;
    int64_t outerExtent = isRight_ ? columns_ : rows_, kExtent = isRight_ ? rows_ : columns_;
    int64_t at = (batch * outerExtent + outer) * groups_ + k / (kExtent / groups_);
    if (scale_->storage != Storage::I8)
      return static_cast<float>(realAt(*scale_, at));
    auto exponent = static_cast<int>(bitsAt(*scale_, at));
    if (exponent == 255)
      return fastMath_ ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
    return std::ldexp(1.0F, exponent - 127);
  }

  const Tile &value_;
  const Tile *scale_;
  ScaledFormat format_;
  bool isRight_, asHalf_, fastMath_;
  bool pairsAreColumns_; ///< of e2m1: two neighbours in a row share a byte
  Extents shape_;
  int64_t rows_ = 0, columns_ = 0, groups_ = 0;
};

} // namespace

Handle EagerBuilder::dotScaled(const ScaledOperand &a, const ScaledOperand &b, Handle acc, bool fastMath) {
  if (isDead() || refusesLanes())
    return placeholder();
  auto any = [&](ScaledFormat format) { return a.format == format || b.format == format; };
  bool asHalf = any(ScaledFormat::FP16) && !any(ScaledFormat::BF16) && !a.scale && !b.scale;
  TileRef left = ScaledSide(a, /*isRight=*/false, asHalf, fastMath).factor();
  TileRef right = ScaledSide(b, /*isRight=*/true, asHalf, fastMath).factor();
  return keep(computeDot(*left, *right, *tileOf(acc), DotPrecision::IEEE));
}

} // namespace despina::interpreter
