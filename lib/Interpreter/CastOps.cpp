//===- CastOps.cpp - Conversions between element types --------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Everything is rounded once. Floats out of an integer's range become its nearest number, NaN becomes 0
// (docs/numerics.md, Conversions).
//
//===----------------------------------------------------------------------===//
#include "Floats.h"
#include "despina/Interpreter/EagerBuilder.h"

#include <cmath>
#include <limits>

namespace despina::interpreter {

namespace {

TileRef castTarget(const Tile &x, const Type &to) {
  return Tile::make(to.scalar(), x.shape, x.uniform, x.size);
}

void putBits(Tile &tile, int64_t position, uint64_t bits) {
  switch (bytesOf(tile.storage)) {
  case 1: tile.data<uint8_t>()[position] = uint8_t(bits); break;
  case 2: tile.data<uint16_t>()[position] = uint16_t(bits); break;
  case 4: tile.data<uint32_t>()[position] = uint32_t(bits); break;
  default: tile.data<uint64_t>()[position] = bits;
  }
}

TileRef resizeInteger(const Tile &x, const Type &to, bool isSigned) {
  TileRef out = castTarget(x, to);
  bool toBool = out->storage == Storage::Bool;
  bool fromSignedBool = isSigned && x.storage == Storage::Bool;
  auto put = [&]<typename T>(T *target) {
    for (int64_t i = 0, count = out->stored(); i < count; ++i) {
      uint64_t bits = isSigned ? uint64_t(integerAt(x, i)) : bitsAt(x, i);
      target[i] = T(fromSignedBool ? 0 - bits : toBool ? bits & 1 : bits);
    }
  };
  switch (bytesOf(out->storage)) {
  case 1: put(out->data<uint8_t>()); break;
  case 2: put(out->data<uint16_t>()); break;
  case 4: put(out->data<uint32_t>()); break;
  default: put(out->data<uint64_t>());
  }
  return out;
}

/// A 64-bit integer as a double that rounds as the integer does to anything narrower: what a double cannot
/// hold leaves a mark in the last place.
double oddDouble(bool negative, uint64_t magnitude) {
  constexpr uint64_t exact = uint64_t(1) << 53;
  if (magnitude >= exact) {
    unsigned excess = 64 - unsigned(__builtin_clzll(magnitude)) - 53;
    uint64_t lost = magnitude & ((uint64_t(1) << excess) - 1);
    magnitude = ((magnitude >> excess) | (lost ? 1 : 0)) << excess;
  }
  return negative ? -double(magnitude) : double(magnitude);
}

TileRef integerToFloat(const Tile &x, const Type &to, bool isSigned) {
  TileRef out = castTarget(x, to);
  int64_t count = out->stored();
  if (out->storage == Storage::F32 || out->storage == Storage::F64) {
    auto put = [&]<typename T>(T *target) {
      for (int64_t i = 0; i < count; ++i)
        target[i] = isSigned ? T(integerAt(x, i)) : T(bitsAt(x, i));
    };
    if (out->storage == Storage::F32)
      put(out->data<float>());
    else
      put(out->data<double>());
    return out;
  }
  std::vector<double> values(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    int64_t number = integerAt(x, i);
    bool negative = isSigned && number < 0;
    values[size_t(i)] = oddDouble(negative, negative ? 0 - uint64_t(number) : bitsAt(x, i));
  }
  return tileOfReals(values.data(), count, *out, out->element);
}

template <typename I> I saturate(double x) {
  if (x != x)
    return 0;
  // The bounds as doubles: the upper one is a power of two, the first number that does not fit.
  constexpr double low = double(std::numeric_limits<I>::min());
  const double high = std::ldexp(1.0, std::numeric_limits<I>::digits);
  return x <= low ? std::numeric_limits<I>::min() : x >= high ? std::numeric_limits<I>::max() : I(x);
}

TileRef floatToInteger(const Tile &x, const Type &to, bool isSigned) {
  TileRef out = castTarget(x, to);
  auto put = [&]<typename I>(I *target) {
    for (int64_t i = 0, count = out->stored(); i < count; ++i)
      target[i] = saturate<I>(realAt(x, i));
  };
  auto choose = [&]<typename S, typename U>(S *asSigned, U *asUnsigned) {
    if (isSigned)
      put(asSigned);
    else
      put(asUnsigned);
  };
  switch (bytesOf(out->storage)) {
  case 1: choose(out->data<int8_t>(), out->data<uint8_t>()); break;
  case 2: choose(out->data<int16_t>(), out->data<uint16_t>()); break;
  case 4: choose(out->data<int32_t>(), out->data<uint32_t>()); break;
  default: choose(out->data<int64_t>(), out->data<uint64_t>());
  }
  return out;
}

/// Doubles to fp32, cut off.
float truncated(double x) {
  float nearest = float(x);
  if (std::isinf(nearest) && !std::isinf(x))
    return std::copysign(std::numeric_limits<float>::max(), nearest);
  return std::fabs(double(nearest)) > std::fabs(x) ? std::nextafter(nearest, 0.0f) : nearest;
}

TileRef floatToFloat(const Tile &x, const Type &to, RoundingKind rounding) {
  TileRef out = castTarget(x, to);
  int64_t count = out->stored();
  if (rounding != RoundingKind::RTZ) {
    if (x.storage == Storage::F64) {
      std::vector<double> values = realsOf<double>(x);
      return tileOfReals(values.data(), count, *out, out->element);
    }
    if (x.storage == Storage::F32)
      return tileOfReals(x.data<float>(), count, *out, out->element);
    std::vector<float> values = realsOf<float>(x);
    return tileOfReals(values.data(), count, *out, out->element);
  }
  ScalarKind kind = to.scalar().scalarKind();
  for (int64_t i = 0; i < count; ++i) {
    double value = realAt(x, i);
    switch (out->storage) {
    case Storage::F64: out->data<double>()[i] = value; break;
    case Storage::F32: out->data<float>()[i] = truncated(value); break;
    case Storage::FP8: out->data<uint8_t>()[i] = toFP8(kind, value, true); break;
    default: putBits(*out, i, encodeFloat(formatOf(kind), value, true));
    }
  }
  return out;
}

} // namespace

TileRef computeCast(CastKind kind, const Tile &x, const Type &to, RoundingKind rounding) {
  switch (kind) {
  case CastKind::SIToFP: return integerToFloat(x, to, true);
  case CastKind::UIToFP: return integerToFloat(x, to, false);
  case CastKind::FPToSI: return floatToInteger(x, to, true);
  case CastKind::FPToUI: return floatToInteger(x, to, false);
  case CastKind::ExtSI: return resizeInteger(x, to, true);
  case CastKind::ExtUI:
  case CastKind::TruncI: return resizeInteger(x, to, false);
  case CastKind::ExtF:
  case CastKind::TruncF:
  case CastKind::FPToFP: return floatToFloat(x, to, rounding);
  case CastKind::Bitcast:
  case CastKind::IntToPtr:
  case CastKind::PtrToInt: return x.view(to.scalar(), x.shape);
  }
  return nullptr;
}

} // namespace despina::interpreter
