//===- SpecialFunctions.cpp - Functions the C library lacks ---------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// In long double, by series and iterations that need no tables; the result is rounded once. Functions of
// float are those of double, rounded.
//
//===----------------------------------------------------------------------===//
#include "DeviceFunctionsImpl.h"

#include <cmath>
#include <limits>

namespace despina::cpu {

namespace {

using Wide = long double;
constexpr Wide pi = 3.14159265358979323846264338327950288L;
constexpr Wide rootPi = 1.77245385090551602729816748334114518L;
constexpr Wide rootTwo = 1.41421356237309504880168872420969808L;
constexpr Wide infinity = std::numeric_limits<Wide>::infinity();
constexpr Wide nan = std::numeric_limits<Wide>::quiet_NaN();

//===----------------------------------------------------------------------===//
// Error function and what is made of it
//===----------------------------------------------------------------------===//

/// exp(x^2) with the square exact: x has at most 53 bits, halves of it have 32 and 21.
Wide expOfSquare(Wide x) {
  Wide high = std::ldexp(std::nearbyint(std::ldexp(x, 24)), -24), low = x - high;
  Wide square = high * high, rest = low * (high + x);
  return std::exp(square) * (1 + std::expm1(rest));
}

/// exp(x^2) erfc(x).
Wide scaledErfc(double argument) {
  const Wide x = argument;
  if (std::isnan(x))
    return x;
  if (x < -27)
    return infinity;
  if (x < 10)
    return expOfSquare(x) * std::erfc(x);
  if (std::isinf(x))
    return 0;
  // Terms shrink until their number is x^2, far beyond what the type can tell apart.
  Wide sum = 1, term = 1, factor = -1 / (2 * x * x);
  for (int i = 1; i < 60 && std::fabs(term) > 1e-21L; ++i) {
    term *= static_cast<Wide>(2 * i - 1) * factor;
    sum += term;
  }
  return sum / (x * rootPi);
}

/// Where erf or erfc has a value, good to some percent.
Wide inverseErfGuess(Wide logOfProduct) {
  constexpr Wide a = 0.147L;
  Wide half = 2 / (pi * a) + logOfProduct / 2;
  return std::sqrt(std::sqrt(half * half - logOfProduct / a) - half);
}

/// erfc(x) = q for 0 < q < 1/2, by Newton's method on the logarithm.
Wide inverseErfcSmall(Wide q) {
  Wide x = inverseErfGuess(std::log(q) + std::log(2 - q));
  for (int i = 0; i < 6; ++i) {
    Wide value = std::erfc(x);
    x += std::log1p((value - q) / q) * value * rootPi / 2 * std::exp(x * x);
  }
  return x;
}

Wide inverseErf(Wide y) {
  Wide magnitude = std::fabs(y);
  if (!(magnitude <= 1))
    return nan;
  if (magnitude == 1)
    return std::copysign(infinity, y);
  if (magnitude > 0.5L)
    return std::copysign(inverseErfcSmall(1 - magnitude), y);
  if (magnitude < 1e-12L)
    return y * rootPi / 2;
  Wide x = inverseErfGuess(std::log1p(-magnitude * magnitude));
  for (int i = 0; i < 5; ++i)
    x -= (std::erf(x) - magnitude) * rootPi / 2 * std::exp(x * x);
  return std::copysign(x, y);
}

Wide inverseErfc(Wide q) {
  if (!(q >= 0 && q <= 2))
    return nan;
  if (q == 0 || q == 2)
    return q == 0 ? infinity : -infinity;
  if (q < 0.5L)
    return inverseErfcSmall(q);
  return q > 1.5L ? -inverseErfcSmall(2 - q) : inverseErf(1 - q);
}

//===----------------------------------------------------------------------===//
// Angles in half turns
//===----------------------------------------------------------------------===//

/// sin(pi x), or cos(pi x). Reductions are exact.
Wide ofHalfTurns(double x, bool isCos) {
  if (!std::isfinite(x))
    return nan;
  Wide r = std::remainder(static_cast<Wide>(x), 2.0L); // [-1, 1]
  Wide quarters = std::nearbyint(r * 2);
  Wide angle = (r - quarters / 2) * pi;
  int quadrant = (static_cast<int>(quarters) + (isCos ? 1 : 0)) & 3;
  Wide result = quadrant & 1 ? std::cos(angle) : std::sin(angle);
  if (quadrant & 2)
    result = -result;
  return result == 0 && !isCos ? std::copysign(0.0L, static_cast<Wide>(x)) : result;
}

//===----------------------------------------------------------------------===//
// Bessel functions
//===----------------------------------------------------------------------===//

/// The modified function of the first kind, of order 0 or 1.
Wide besselI(int order, double argument) {
  const Wide x = std::fabs(static_cast<Wide>(argument));
  const Wide sign = order == 1 && argument < 0 ? -1 : 1;
  if (std::isnan(x) || x > 720)
    return std::isnan(x) ? x : sign * infinity;
  if (x < 40) {
    // All terms have one sign.
    Wide quarter = x * x / 4, term = order == 1 ? x / 2 : 1, sum = term;
    for (int i = 1; term > sum * 1e-21L; ++i) {
      term *= quarter / (static_cast<Wide>(i) * (i + order));
      sum += term;
    }
    return sign * sum;
  }
  Wide sum = 1, term = 1, fourSquares = order == 1 ? 4 : 0;
  for (int i = 1; i < 60 && std::fabs(term) > 1e-21L; ++i) {
    Wide odd = 2 * i - 1;
    term *= (odd * odd - fourSquares) / (8 * i * x);
    sum += term;
  }
  return sign * std::exp(x) / std::sqrt(2 * pi * x) * sum;
}

Wide lgammaOf(double x) {
  int sign = 0; // lgamma itself writes a global
  return ::lgammal_r(x, &sign);
}

/// WIDE of a double, rounded to both types.
#define DESPINA_SPECIAL(NAME, WIDE)                                                                          \
  table.addBoth(                                                                                             \
      NAME, +[](float x) { return static_cast<float>(WIDE); },                                               \
      +[](double x) { return static_cast<double>(WIDE); })

} // namespace

void addSpecialFunctions(DeviceFunctionTable &table) {
  DESPINA_SPECIAL("erfcx", scaledErfc(x));
  DESPINA_SPECIAL("erfinv", inverseErf(x));
  DESPINA_SPECIAL("erfcinv", inverseErfc(x));
  DESPINA_SPECIAL("normcdf", std::erfc(-x / rootTwo) / 2);
  DESPINA_SPECIAL("normcdfinv", -rootTwo * inverseErfc(2 * static_cast<Wide>(x)));
  DESPINA_SPECIAL("sinpi", ofHalfTurns(x, /*isCos=*/false));
  DESPINA_SPECIAL("cospi", ofHalfTurns(x, /*isCos=*/true));
  DESPINA_SPECIAL("cyl_bessel_i0", besselI(0, x));
  DESPINA_SPECIAL("cyl_bessel_i1", besselI(1, x));
  DESPINA_SPECIAL("exp10", ::exp10l(x));
  DESPINA_SPECIAL("rcbrt", 1 / std::cbrt(static_cast<Wide>(x)));
  DESPINA_SPECIAL("lgamma", lgammaOf(x));
  DESPINA_SPECIAL("j0", ::j0l(x));
  DESPINA_SPECIAL("j1", ::j1l(x));
  DESPINA_SPECIAL("y0", ::y0l(x));
  DESPINA_SPECIAL("y1", ::y1l(x));
  table.addBoth(
      "jn", +[](int32_t n, float x) { return static_cast<float>(::jnl(n, x)); },
      +[](int32_t n, double x) { return static_cast<double>(::jnl(n, x)); });
  table.addBoth(
      "yn", +[](int32_t n, float x) { return static_cast<float>(::ynl(n, x)); },
      +[](int32_t n, double x) { return static_cast<double>(::ynl(n, x)); });
}

} // namespace despina::cpu
