//===- Floats.cpp - Narrow floats as fp32 and back ------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "Floats.h"

#include <array>
#include <cmath>
#include <limits>

namespace despina::interpreter {

const FloatFormat &formatOf(ScalarKind kind) {
  static const FloatFormat e4nv{4, 3, 7, 0x7e, false, false, false}, e4b8{4, 3, 8, 0x7f, false, true, false},
      e5{5, 2, 15, 0x7b, true, false, false}, e5b16{5, 2, 16, 0x7f, false, true, false},
      half{5, 10, 15, 0x7bff, true, false, true}, bfloat{8, 7, 127, 0x7f7f, true, false, true},
      single{8, 23, 127, 0x7f7fffff, true, false, true};
  switch (kind) {
  case ScalarKind::FP8E4NV: return e4nv;
  case ScalarKind::FP8E4B8: return e4b8;
  case ScalarKind::FP8E5: return e5;
  case ScalarKind::FP8E5B16: return e5b16;
  case ScalarKind::FP16: return half;
  case ScalarKind::BF16: return bfloat;
  default: return single;
  }
}

/// fp8e4b15 has no NaN and no infinity, and ends at 1.75.
static double decodeE4B15(uint32_t bits) {
  uint32_t magnitude = std::min<uint32_t>(bits & 0x7f, 0x7e);
  int exponent = int(magnitude >> 3);
  double mantissa = double(magnitude & 7) / 8;
  double value = exponent ? std::ldexp(1 + mantissa, exponent - 15) : std::ldexp(mantissa, -14);
  return bits & 0x80 ? -value : value;
}

double decodeFloat(const FloatFormat &format, uint32_t bits) {
  unsigned width = format.exponentBits + format.mantissaBits;
  uint32_t magnitude = bits & ((1u << width) - 1);
  bool negative = bits >> width & 1;
  if (format.unsignedZero && negative && magnitude == 0)
    return std::numeric_limits<double>::quiet_NaN();
  if (magnitude > format.largestFinite)
    return format.hasInfinity && magnitude == format.largestFinite + 1
               ? (negative ? -1 : 1) * std::numeric_limits<double>::infinity()
               : std::numeric_limits<double>::quiet_NaN();
  int exponent = int(magnitude >> format.mantissaBits);
  double fraction =
      std::ldexp(double(magnitude & ((1u << format.mantissaBits) - 1)), -int(format.mantissaBits));
  double value =
      exponent ? std::ldexp(1 + fraction, exponent - format.bias) : std::ldexp(fraction, 1 - format.bias);
  return negative ? -value : value;
}

/// How many units of the last place `scaled` is, rounded.
static double roundUnits(double scaled, bool towardZero) {
  if (towardZero)
    return std::trunc(scaled);
  double low = std::floor(scaled), rest = scaled - low;
  bool up = rest > 0.5 || (rest == 0.5 && std::fmod(low, 2) != 0);
  return up ? low + 1 : low;
}

uint32_t encodeFloat(const FloatFormat &format, double real, bool towardZero) {
  unsigned width = format.exponentBits + format.mantissaBits;
  uint32_t sign = std::signbit(real) ? 1u << width : 0;
  if (std::isnan(real)) {
    if (format.unsignedZero)
      return 1u << width;
    uint32_t quiet = format.hasInfinity ? format.largestFinite + 1 + (1u << (format.mantissaBits - 1)) : 0;
    return format.overflowsToInfinity ? quiet | sign : ((1u << width) - 1) | sign;
  }
  double magnitude = std::fabs(real);
  if (std::isinf(magnitude))
    return (format.overflowsToInfinity ? format.largestFinite + 1 : format.largestFinite) | sign;
  int exponent = magnitude > 0 ? std::max(std::ilogb(magnitude), 1 - format.bias) : 1 - format.bias;
  // Units of the last place at this exponent; a carry into the next exponent comes out right by itself.
  double units = roundUnits(std::ldexp(magnitude, int(format.mantissaBits) - exponent), towardZero);
  double code = units + std::ldexp(double(exponent + format.bias - 1), int(format.mantissaBits));
  uint32_t limit = format.largestFinite;
  uint32_t bits =
      code > limit ? (format.overflowsToInfinity && !towardZero ? limit + 1 : limit) : uint32_t(code);
  return bits == 0 && format.unsignedZero ? 0 : bits | sign;
}

const float *fp8Values(ScalarKind kind) {
  static const auto tables = [] {
    std::array<std::array<float, 256>, 5> made{};
    for (unsigned k = 0; k < made.size(); ++k)
      for (unsigned bits = 0; bits < 256; ++bits) {
        auto scalar = static_cast<ScalarKind>(unsigned(ScalarKind::FP8E4B15) + k);
        made[k][bits] =
            float(scalar == ScalarKind::FP8E4B15 ? decodeE4B15(bits) : decodeFloat(formatOf(scalar), bits));
      }
    return made;
  }();
  return tables[unsigned(kind) - unsigned(ScalarKind::FP8E4B15)].data();
}

/// Through f16, cut off, then rounded with ties away from zero (docs/numerics.md).
static uint8_t toE4B15(double real) {
  uint32_t half = encodeFloat(formatOf(ScalarKind::FP16), real, /*towardZero=*/true);
  uint32_t magnitude = std::min<uint32_t>(half & 0x7fff, 0x3f00); // 1.75
  // Both have bias 15: the mantissa loses seven bits, and the exponent its highest.
  uint32_t code = std::min<uint32_t>((magnitude + 0x40) >> 7, 0x7e);
  return uint8_t(code | (half >> 8 & 0x80));
}

uint8_t toFP8(ScalarKind kind, double real, bool towardZero) {
  return kind == ScalarKind::FP8E4B15 ? toE4B15(real)
                                      : uint8_t(encodeFloat(formatOf(kind), real, towardZero));
}

} // namespace despina::interpreter
