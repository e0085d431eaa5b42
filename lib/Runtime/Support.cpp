//===- Support.cpp - Functions that compiled kernels call -----------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "despina/Runtime/Support.h"

#include "ThreadPool.h"

#include <bit>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

using namespace despina::cpu;

namespace {

std::string programText(uint32_t x, uint32_t y, uint32_t z) {
  return "pid (" + std::to_string(x) + ", " + std::to_string(y) + ", " + std::to_string(z) + ")";
}

/// IEEE half precision to single.
float halfToFloat(uint16_t half) {
  uint32_t sign = uint32_t(half & 0x8000) << 16, exponent = (half >> 10) & 31, fraction = half & 0x3ff;
  if (exponent == 31)
    return std::bit_cast<float>(sign | 0x7f800000 | fraction << 13);
  if (exponent != 0)
    return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  float magnitude = std::ldexp(float(fraction), -24);
  return sign ? -magnitude : magnitude;
}

/// Single precision to bfloat16, to nearest even.
uint16_t floatToBFloat(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value))
    return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

/// Double precision to single with rounding to odd: rounding the result again gives what rounding once would.
float toOddFloat(double value) {
  float rounded = static_cast<float>(value);
  if (std::isnan(value) || std::isinf(rounded) || double(rounded) == value) {
    // Past the largest float, the neighbour below infinity is the odd one.
    if (std::isinf(rounded) && std::isfinite(value))
      return std::copysign(std::bit_cast<float>(0x7f7fffffu), rounded);
    return rounded;
  }
  if ((std::bit_cast<uint32_t>(rounded) & 1) == 0)
    rounded = std::nextafter(rounded, double(rounded) < value ? INFINITY : -INFINITY);
  return rounded;
}

struct Element {
  PrintKind kind;
  unsigned bits;
  bool hex;

  unsigned bytes() const { return (bits + 7) / 8; }
  std::string text(const void *data) const {
    uint64_t raw = 0;
    std::memcpy(&raw, data, bytes());
    if (bits < 64)
      raw &= (uint64_t(1) << bits) - 1;
    char buffer[64];
    if (hex)
      std::snprintf(buffer, sizeof buffer, "0x%0*" PRIx64, static_cast<int>((bits + 3) / 4), raw);
    else if (kind == PrintKind::Pointer)
      std::snprintf(buffer, sizeof buffer, "%p", reinterpret_cast<void *>(raw));
    else if (kind == PrintKind::Unsigned)
      std::snprintf(buffer, sizeof buffer, "%" PRIu64, raw);
    else if (kind == PrintKind::Signed)
      std::snprintf(buffer, sizeof buffer, "%" PRId64, signExtend(raw));
    else
      return floatText(raw);
    return buffer;
  }

private:
  int64_t signExtend(uint64_t raw) const {
    unsigned shift = 64 - bits;
    return static_cast<int64_t>(raw << shift) >> shift;
  }
  std::string floatText(uint64_t raw) const {
    double value = 0;
    if (kind == PrintKind::BFloat)
      value = std::bit_cast<float>(static_cast<uint32_t>(raw << 16));
    else if (bits == 16)
      value = halfToFloat(static_cast<uint16_t>(raw));
    else if (bits == 32)
      value = std::bit_cast<float>(static_cast<uint32_t>(raw));
    else
      value = std::bit_cast<double>(raw);
    std::vector<char> buffer(400);
    std::snprintf(buffer.data(), buffer.size(), "%f", value);
    return buffer.data();
  }
};

std::string indexText(int64_t linear, int32_t rank, const int64_t *shape) {
  std::vector<int64_t> index(static_cast<size_t>(rank));
  for (int32_t d = rank; d-- > 0;) {
    index[static_cast<size_t>(d)] = linear % shape[d];
    linear /= shape[d];
  }
  std::string text = " idx (";
  for (int32_t d = 0; d < rank; ++d)
    text += (d ? ", " : "") + std::to_string(index[static_cast<size_t>(d)]);
  return text + ")";
}

} // namespace

extern "C" void despina_rt_print(uint32_t x, uint32_t y, uint32_t z, const char *prefix, int32_t hex,
                                 int32_t operand, int32_t numOperands, int32_t kind, int32_t bits,
                                 int32_t rank, const int64_t *shape, const void *data) {
  std::string lead = programText(x, y, z), label = despina::printLabel(prefix, numOperands != 0), text;
  if (numOperands == 0) {
    text = lead + label + "\n";
  } else {
    if (numOperands > 1)
      label += "(operand " + std::to_string(operand) + ") ";
    Element element{static_cast<PrintKind>(kind), static_cast<unsigned>(bits), hex != 0};
    int64_t count = 1;
    for (int32_t d = 0; d < rank; ++d)
      count *= shape[d];
    const char *bytes = static_cast<const char *>(data);
    for (int64_t i = 0; i < count; ++i)
      text += lead + (rank ? indexText(i, rank, shape) : "") + label +
              element.text(bytes + i * element.bytes()) + "\n";
  }
  // One call, so that programs do not cut each other's lines.
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

extern "C" void despina_rt_assert(uint32_t x, uint32_t y, uint32_t z, const char *message) {
  Job *job = currentJob();
  if (!job)
    return;
  std::lock_guard lock(job->failureMutex);
  if (job->failed)
    return;
  job->failed = true;
  job->failure = programText(x, y, z) + ": " + message;
  job->stop.store(true, std::memory_order_relaxed);
}

namespace {

// Conversions that compilers call where the processor has no instruction. Values of half width travel in the
// low bits of a vector register, as _Float16 does.
_Float16 truncFloatToBFloat(float x) { return std::bit_cast<_Float16>(floatToBFloat(x)); }
_Float16 truncDoubleToBFloat(double x) { return std::bit_cast<_Float16>(floatToBFloat(toOddFloat(x))); }
float extendHalfToFloat(_Float16 x) { return halfToFloat(std::bit_cast<uint16_t>(x)); }

/// IEEE single to half precision, to nearest even. The float must have been rounded to odd or be exact.
_Float16 truncFloatToHalf(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000);
  uint32_t magnitude = bits & 0x7fffffff;
  uint16_t half;
  if (magnitude > 0x7f800000)
    half = static_cast<uint16_t>(0x7e00 | ((magnitude >> 13) & 0x3ff));
  else if (magnitude >= 0x477ff000) // rounds to 65536 or more
    half = 0x7c00;
  else if (magnitude >= 0x38800000) // normal
    half = static_cast<uint16_t>((magnitude - 0x38000000 + 0xfff + ((magnitude >> 13) & 1)) >> 13);
  else // a multiple of 2^-24; nearbyint rounds to nearest even
    half = static_cast<uint16_t>(std::nearbyint(std::ldexp(std::bit_cast<float>(magnitude), 24)));
  return std::bit_cast<_Float16>(static_cast<uint16_t>(sign | half));
}
_Float16 truncDoubleToHalf(double x) { return truncFloatToHalf(toOddFloat(x)); }

template <typename T> void *address(T *function) { return reinterpret_cast<void *>(function); }

using F1 = float (*)(float);
using F2 = float (*)(float, float);
using D1 = double (*)(double);
using D2 = double (*)(double, double);

#define DESPINA_MATH1(NAME)                                                                                  \
  {#NAME, address(static_cast<D1>(::NAME))}, { #NAME "f", address(static_cast<F1>(::NAME##f)) }
#define DESPINA_MATH2(NAME)                                                                                  \
  {#NAME, address(static_cast<D2>(::NAME))}, { #NAME "f", address(static_cast<F2>(::NAME##f)) }

const RuntimeSymbol symbols[] = {
    {"despina_rt_print", address(despina_rt_print)},
    {"despina_rt_assert", address(despina_rt_assert)},
    {"memcpy", address(static_cast<void *(*)(void *, const void *, size_t)>(std::memcpy))},
    {"memmove", address(static_cast<void *(*)(void *, const void *, size_t)>(std::memmove))},
    {"memset", address(static_cast<void *(*)(void *, int, size_t)>(std::memset))},
    {"memcmp", address(static_cast<int (*)(const void *, const void *, size_t)>(std::memcmp))},
    {"__truncsfbf2", address(truncFloatToBFloat)},
    {"__truncdfbf2", address(truncDoubleToBFloat)},
    {"__truncsfhf2", address(truncFloatToHalf)},
    {"__truncdfhf2", address(truncDoubleToHalf)},
    {"__extendhfsf2", address(extendHalfToFloat)},
    DESPINA_MATH1(acos),
    DESPINA_MATH1(acosh),
    DESPINA_MATH1(asin),
    DESPINA_MATH1(asinh),
    DESPINA_MATH1(atan),
    DESPINA_MATH1(atanh),
    DESPINA_MATH1(cbrt),
    DESPINA_MATH1(ceil),
    DESPINA_MATH1(cos),
    DESPINA_MATH1(cosh),
    DESPINA_MATH1(erf),
    DESPINA_MATH1(erfc),
    DESPINA_MATH1(exp),
    DESPINA_MATH1(exp2),
    DESPINA_MATH1(expm1),
    DESPINA_MATH1(fabs),
    DESPINA_MATH1(floor),
    DESPINA_MATH1(lgamma),
    DESPINA_MATH1(log),
    DESPINA_MATH1(log10),
    DESPINA_MATH1(log1p),
    DESPINA_MATH1(log2),
    DESPINA_MATH1(nearbyint),
    DESPINA_MATH1(rint),
    DESPINA_MATH1(round),
    DESPINA_MATH1(roundeven),
    DESPINA_MATH1(sin),
    DESPINA_MATH1(sinh),
    DESPINA_MATH1(sqrt),
    DESPINA_MATH1(tan),
    DESPINA_MATH1(tanh),
    DESPINA_MATH1(tgamma),
    DESPINA_MATH1(trunc),
    DESPINA_MATH2(atan2),
    DESPINA_MATH2(copysign),
    DESPINA_MATH2(fdim),
    DESPINA_MATH2(fmax),
    DESPINA_MATH2(fmin),
    DESPINA_MATH2(fmod),
    DESPINA_MATH2(hypot),
    DESPINA_MATH2(nextafter),
    DESPINA_MATH2(pow),
    DESPINA_MATH2(remainder),
    // LLVM makes these of a sine and a cosine of one value, and of powers of ten.
    {"sincos", address(static_cast<void (*)(double, double *, double *)>(::sincos))},
    {"sincosf", address(static_cast<void (*)(float, float *, float *)>(::sincosf))},
    {"exp10", address(static_cast<double (*)(double)>(::exp10))},
    {"exp10f", address(static_cast<float (*)(float)>(::exp10f))},
    {"fma", address(static_cast<double (*)(double, double, double)>(::fma))},
    {"fmaf", address(static_cast<float (*)(float, float, float)>(::fmaf))},
    {"ldexp", address(static_cast<double (*)(double, int)>(::ldexp))},
    {"ldexpf", address(static_cast<float (*)(float, int)>(::ldexpf))},
};

} // namespace

const RuntimeSymbol *despina::cpu::runtimeSymbols(size_t &count) {
  count = std::size(symbols);
  return symbols;
}
