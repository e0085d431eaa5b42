//===- Floats.h - Narrow floats as fp32 and back ----------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Conversions round once, to nearest with ties to even or towards zero. To fp8, what is too large becomes the
// largest number (docs/numerics.md, Conversions).
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_INTERPRETER_FLOATS_H
#define DESPINA_LIB_INTERPRETER_FLOATS_H

#include "despina/Lang/Type.h"

#include <bit>

namespace despina::interpreter {

inline float fromHalf(uint16_t half) {
  // The exponent gets fp32's bias by a product, which makes denormals normal too.
  constexpr float bias = 0x1p112f;
  uint32_t magnitude = half & 0x7fffu, sign = uint32_t(half & 0x8000u) << 16;
  float scaled = std::bit_cast<float>(magnitude << 13) * bias;
  uint32_t bits = std::bit_cast<uint32_t>(scaled);
  bits = magnitude >= 0x7c00u ? (magnitude << 13) + 0x70000000u : bits;
  return std::bit_cast<float>(bits | sign);
}

inline uint16_t toHalf(float real) {
  uint32_t bits = std::bit_cast<uint32_t>(real), magnitude = bits & 0x7fffffffu,
           sign = (bits >> 16) & 0x8000u;
  // Adding this number leaves as many mantissa bits as a denormal half has.
  constexpr uint32_t denormalMagic = (127 - 15 + 23 - 10 + 1) << 23;
  float magic = std::bit_cast<float>(denormalMagic);
  uint32_t denormal = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + magic) - denormalMagic;
  uint32_t rounded = (magnitude + 0xfffu + ((magnitude >> 13) & 1)) - (uint32_t(127 - 15) << 23);
  uint32_t normal = rounded >> 13;
  uint32_t code = magnitude < (113u << 23) ? denormal : normal;
  code = magnitude >= 0x477ff000u ? 0x7c00u : code; // 65520 and more round to infinity
  code = magnitude > 0x7f800000u ? 0x7e00u : code;
  return uint16_t(code | sign);
}

inline float fromBFloat(uint16_t bits) { return std::bit_cast<float>(uint32_t(bits) << 16); }

inline uint16_t toBFloat(float real) {
  uint32_t bits = std::bit_cast<uint32_t>(real);
  uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1)) >> 16;
  bool isNaN = (bits & 0x7fffffffu) > 0x7f800000u;
  return uint16_t(isNaN ? (bits >> 16) | 0x40u : rounded);
}

/// fp32 with the mantissa of tf32, ties away from zero, as the units that multiply it take their operands.
inline float toTF32(float real) {
  uint32_t bits = std::bit_cast<uint32_t>(real);
  bool isFinite = (bits & 0x7f800000u) != 0x7f800000u;
  return isFinite ? std::bit_cast<float>((bits + 0x1000u) & ~0x1fffu) : real;
}

/// How a narrow float lays out its bits.
struct FloatFormat {
  unsigned exponentBits = 0, mantissaBits = 0;
  int bias = 0;
  /// Magnitudes above are infinite or NaN.
  uint32_t largestFinite = 0;
  bool hasInfinity = false;
  /// The only NaN is the pattern of -0, and there is no -0.
  bool unsignedZero = false;
  /// What is too large becomes infinity instead of the largest number.
  bool overflowsToInfinity = false;
};
const FloatFormat &formatOf(ScalarKind kind);

double decodeFloat(const FloatFormat &format, uint32_t bits);
/// Rounds once.
uint32_t encodeFloat(const FloatFormat &format, double real, bool towardZero);

/// The values of an 8-bit float by its bits.
const float *fp8Values(ScalarKind kind);
uint8_t toFP8(ScalarKind kind, double real, bool towardZero);

} // namespace despina::interpreter

#endif // DESPINA_LIB_INTERPRETER_FLOATS_H
