//===- DeviceFunctions.cpp - A device's math library on the CPU -----------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// What the C library has. Functions of float are computed in double and rounded; those of double in long
// double where the C library's own are worse than 2 ulp.
//
//===----------------------------------------------------------------------===//
#include "DeviceFunctionsImpl.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <unordered_map>

namespace despina::cpu {

namespace {

/// A function of one argument under its C name, float through double. NAME is overloaded.
#define DESPINA_UNARY(NAME)                                                                                  \
  table.addBoth(                                                                                             \
      #NAME, +[](float x) { return static_cast<float>(std::NAME(static_cast<double>(x))); },                 \
      +[](double x) { return std::NAME(x); })
/// The same with double through long double.
#define DESPINA_UNARY_WIDE(NAME)                                                                             \
  table.addBoth(                                                                                             \
      #NAME, +[](float x) { return static_cast<float>(std::NAME(static_cast<double>(x))); },                 \
      +[](double x) { return static_cast<double>(std::NAME(static_cast<long double>(x))); })
/// Results that are exact in each type.
#define DESPINA_EXACT(NAME)                                                                                  \
  table.addBoth(#NAME, +[](float x) { return std::NAME(x); }, +[](double x) { return std::NAME(x); })
#define DESPINA_EXACT2(NAME)                                                                                 \
  table.addBoth(                                                                                             \
      #NAME, +[](float x, float y) { return std::NAME(x, y); },                                              \
      +[](double x, double y) { return std::NAME(x, y); })

void addUnary(DeviceFunctionTable &table) {
  DESPINA_UNARY(acos);
  DESPINA_UNARY(acosh);
  DESPINA_UNARY(asin);
  DESPINA_UNARY(asinh);
  DESPINA_UNARY(atan);
  DESPINA_UNARY(atanh);
  DESPINA_UNARY_WIDE(cbrt);
  DESPINA_UNARY(cos);
  DESPINA_UNARY(cosh);
  DESPINA_UNARY_WIDE(erf);
  DESPINA_UNARY_WIDE(erfc);
  DESPINA_UNARY(exp);
  DESPINA_UNARY(exp2);
  DESPINA_UNARY(expm1);
  DESPINA_UNARY(log);
  DESPINA_UNARY(log10);
  DESPINA_UNARY(log1p);
  DESPINA_UNARY(log2);
  DESPINA_UNARY(sin);
  DESPINA_UNARY(sinh);
  DESPINA_UNARY(tan);
  DESPINA_UNARY(tanh);
  DESPINA_UNARY_WIDE(tgamma);
  DESPINA_EXACT(ceil);
  DESPINA_EXACT(fabs);
  DESPINA_EXACT(floor);
  DESPINA_EXACT(logb);
  DESPINA_EXACT(nearbyint);
  DESPINA_EXACT(rint);
  DESPINA_EXACT(round);
  DESPINA_EXACT(sqrt);
  DESPINA_EXACT(trunc);
  table.addBoth(
      "rsqrt", +[](float x) { return static_cast<float>(1 / std::sqrt(static_cast<double>(x))); },
      +[](double x) { return static_cast<double>(1 / std::sqrt(static_cast<long double>(x))); });
  table.add(
      "frsqrt_rn", +[](float x) { return static_cast<float>(1 / std::sqrt(static_cast<long double>(x))); });
  table.add(
      "rcp64h", +[](double x) { // the upper half of an approximation
        return std::bit_cast<double>(std::bit_cast<uint64_t>(1 / x) & ~uint64_t(0xffffffff));
      });
  table.add("saturatef", +[](float x) { return x > 0 ? std::min(x, 1.0F) : 0.0F; });
}

/// NaN gives 0, what is out of range the nearest number.
int64_t toInt64(double x) {
  constexpr double limit = 9223372036854775808.0;
  if (std::isnan(x))
    return 0;
  if (x >= limit)
    return std::numeric_limits<int64_t>::max();
  return x < -limit ? std::numeric_limits<int64_t>::min() : static_cast<int64_t>(x);
}

void addClassification(DeviceFunctionTable &table) {
  table.add("isnanf", +[](float x) { return int32_t(std::isnan(x)); });
  table.add("isnand", +[](double x) { return int32_t(std::isnan(x)); });
  table.add("isinff", +[](float x) { return int32_t(std::isinf(x)); });
  table.add("isinfd", +[](double x) { return int32_t(std::isinf(x)); });
  table.add("finitef", +[](float x) { return int32_t(std::isfinite(x)); });
  table.add("isfinited", +[](double x) { return int32_t(std::isfinite(x)); });
  table.add("signbitf", +[](float x) { return int32_t(std::signbit(x)); });
  table.add("signbitd", +[](double x) { return int32_t(std::signbit(x)); });
  table.addBoth(
      "ilogb", +[](float x) { return int32_t(std::ilogb(x)); },
      +[](double x) { return int32_t(std::ilogb(x)); });
  table.addBoth(
      "llrint", +[](float x) { return toInt64(std::nearbyint(x)); },
      +[](double x) { return toInt64(std::nearbyint(x)); });
  table.addBoth(
      "llround", +[](float x) { return toInt64(std::round(x)); },
      +[](double x) { return toInt64(std::round(x)); });
}

float powf(float x, float y) {
  return static_cast<float>(std::pow(static_cast<double>(x), static_cast<double>(y)));
}

/// The length of a vector; infinite parts make it so whatever the others are.
template <typename Wide, typename T, typename... Rest> Wide length(T first, Rest... rest) {
  if ((std::isinf(first) || ... || std::isinf(rest)))
    return std::numeric_limits<Wide>::infinity();
  auto square = [](Wide x) { return x * x; };
  return std::sqrt((square(first) + ... + square(rest)));
}

template <typename... Args> struct Lengths {
  static float single(Args... x) { return static_cast<float>(length<double>(static_cast<float>(x)...)); }
  static float singleInverse(Args... x) {
    return static_cast<float>(1 / length<double>(static_cast<float>(x)...));
  }
  static double twice(Args... x) { return static_cast<double>(length<long double>(x...)); }
  static double twiceInverse(Args... x) { return static_cast<double>(1 / length<long double>(x...)); }
};

void addLengths(DeviceFunctionTable &table) {
  using F2 = Lengths<float, float>;
  using F3 = Lengths<float, float, float>;
  using F4 = Lengths<float, float, float, float>;
  using D2 = Lengths<double, double>;
  using D3 = Lengths<double, double, double>;
  using D4 = Lengths<double, double, double, double>;
  table.addBoth("hypot", F2::single, D2::twice);
  table.addBoth("rhypot", F2::singleInverse, D2::twiceInverse);
  table.addBoth("norm3d", F3::single, D3::twice);
  table.addBoth("rnorm3d", F3::singleInverse, D3::twiceInverse);
  table.addBoth("norm4d", F4::single, D4::twice);
  table.addBoth("rnorm4d", F4::singleInverse, D4::twiceInverse);
}

void addOthers(DeviceFunctionTable &table) {
  DESPINA_EXACT2(copysign);
  DESPINA_EXACT2(fdim);
  DESPINA_EXACT2(fmod);
  DESPINA_EXACT2(nextafter);
  DESPINA_EXACT2(remainder);
  table.addBoth(
      "atan2",
      +[](float y, float x) {
        return static_cast<float>(std::atan2(static_cast<double>(y), static_cast<double>(x)));
      },
      +[](double y, double x) { return std::atan2(y, x); });
  table.addBoth("pow", powf, +[](double x, double y) { return std::pow(x, y); });
  table.addBoth(
      "powi", +[](float x, int32_t n) { return static_cast<float>(std::pow(static_cast<double>(x), n)); },
      +[](double x, int32_t n) { return std::pow(x, static_cast<double>(n)); });
  table.addBoth(
      "fma", +[](float x, float y, float z) { return std::fma(x, y, z); },
      +[](double x, double y, double z) { return std::fma(x, y, z); });
  for (const char *name : {"ldexp", "scalbn"})
    table.addBoth(
        name, +[](float x, int32_t n) { return std::ldexp(x, n); },
        +[](double x, int32_t n) { return std::ldexp(x, n); });
}

/// Fast only on a GPU.
void addFast(DeviceFunctionTable &table) {
#define DESPINA_FAST(NAME)                                                                                   \
  table.add("fast_" #NAME "f", +[](float x) { return static_cast<float>(std::NAME(static_cast<double>(x))); })
  DESPINA_FAST(cos);
  DESPINA_FAST(sin);
  DESPINA_FAST(tan);
  DESPINA_FAST(exp);
  DESPINA_FAST(log);
  DESPINA_FAST(log2);
  DESPINA_FAST(log10);
  table.add("fast_exp10f", +[](float x) { return static_cast<float>(std::pow(10.0, x)); });
  table.add("fast_powf", powf);
  table.add("fast_fdividef", +[](float x, float y) { return x / y; });
}

} // namespace

void addElementaryFunctions(DeviceFunctionTable &table) {
  addUnary(table);
  addClassification(table);
  addLengths(table);
  addOthers(table);
  addFast(table);
}

const std::vector<DeviceFunction> &allDeviceFunctions() {
  static const std::vector<DeviceFunction> functions = [] {
    DeviceFunctionTable table;
    addElementaryFunctions(table);
    addSpecialFunctions(table);
    addRoundedFunctions(table);
    addIntegerFunctions(table);
    return std::move(table.functions);
  }();
  return functions;
}

const DeviceFunction *findDeviceFunction(std::string_view symbol) {
  using Index = std::unordered_map<std::string_view, const DeviceFunction *>;
  static const Index index = [] {
    Index result;
    for (const DeviceFunction &function : allDeviceFunctions())
      result[function.symbol] = &function;
    return result;
  }();
  auto found = index.find(symbol);
  return found == index.end() ? nullptr : found->second;
}

} // namespace despina::cpu
