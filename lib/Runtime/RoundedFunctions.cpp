//===- RoundedFunctions.cpp - Arithmetic in each rounding mode ------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// The processor rounds as its control register says. Operands and results are volatile, so that the compiler
// computes between the two changes of that register.
//
//===----------------------------------------------------------------------===//
#include "DeviceFunctionsImpl.h"

#include <cfenv>
#include <cmath>
#include <limits>

namespace despina::cpu {

namespace {

class RoundingScope {
public:
  explicit RoundingScope(int mode) : before_(std::fegetround()) { std::fesetround(mode); }
  ~RoundingScope() { std::fesetround(before_); }
  RoundingScope(const RoundingScope &) = delete;
  RoundingScope &operator=(const RoundingScope &) = delete;

private:
  int before_;
};

template <typename T> T unknown(T x) {
  volatile T hidden = x;
  return hidden;
}

/// Without an object for modes and operations: the table holds plain functions.
template <int mode, typename Operation, typename Result, typename... Args> Result rounded(Args... args) {
  RoundingScope scope(mode);
  volatile Result result = Operation()(unknown(args)...);
  return result;
}

struct Add {
  template <typename T> T operator()(T x, T y) const { return x + y; }
};
struct Subtract {
  template <typename T> T operator()(T x, T y) const { return x - y; }
};
struct Multiply {
  template <typename T> T operator()(T x, T y) const { return x * y; }
};
struct Divide {
  template <typename T> T operator()(T x, T y) const { return x / y; }
};
struct Invert {
  template <typename T> T operator()(T x) const { return 1 / x; }
};
struct Root {
  template <typename T> T operator()(T x) const { return std::sqrt(x); }
};
struct FusedMultiplyAdd {
  template <typename T> T operator()(T x, T y, T z) const { return std::fma(x, y, z); }
};
template <typename To> struct Convert {
  template <typename T> To operator()(T x) const { return static_cast<To>(x); }
};

/// To an integer: NaN gives 0, what is out of range the nearest number.
template <int mode, typename Result, typename T> Result toInteger(T x) {
  switch (mode) {
  case FE_TOWARDZERO: x = std::trunc(x); break;
  case FE_DOWNWARD: x = std::floor(x); break;
  case FE_UPWARD: x = std::ceil(x); break;
  default: x = std::nearbyint(x); break;
  }
  using Limits = std::numeric_limits<Result>;
  constexpr Result half = Limits::max() / 2 + 1; // a power of two
  constexpr T beyond = static_cast<T>(half) * 2;
  if (std::isnan(x))
    return 0;
  if (x >= beyond)
    return Limits::max();
  return x < static_cast<T>(Limits::min()) ? Limits::min() : static_cast<Result>(x);
}

template <int mode, typename Operation, typename T>
void addBinary(DeviceFunctionTable &table, const std::string &name) {
  table.add(name, rounded<mode, Operation, T, T, T>);
}

template <int mode, typename T>
void addArithmetic(DeviceFunctionTable &table, const std::string &suffix, const std::string &letter) {
  addBinary<mode, Add, T>(table, letter + "add" + suffix);
  addBinary<mode, Subtract, T>(table, letter + "sub" + suffix);
  addBinary<mode, Multiply, T>(table, letter + "mul" + suffix);
  addBinary<mode, Divide, T>(table, letter + "div" + suffix);
  table.add(letter + "rcp" + suffix, rounded<mode, Invert, T, T>);
  table.add(letter + "sqrt" + suffix, rounded<mode, Root, T, T>);
  table.add((letter == "f" ? "fmaf" : "fma") + suffix, rounded<mode, FusedMultiplyAdd, T, T, T, T>);
}

template <int mode, typename From>
void addToIntegers(DeviceFunctionTable &table, const std::string &suffix, const std::string &name) {
  table.add(name + "2int" + suffix, toInteger<mode, int32_t, From>);
  table.add(name + "2uint" + suffix, toInteger<mode, uint32_t, From>);
  table.add(name + "2ll" + suffix, toInteger<mode, int64_t, From>);
  table.add(name + "2ull" + suffix, toInteger<mode, uint64_t, From>);
}

template <int mode, typename To, typename From>
void addConversion(DeviceFunctionTable &table, const std::string &name) {
  table.add(name, rounded<mode, Convert<To>, To, From>);
}

template <int mode> void addMode(DeviceFunctionTable &table, const std::string &suffix) {
  addArithmetic<mode, float>(table, suffix, "f");
  addArithmetic<mode, double>(table, suffix, "d");
  addToIntegers<mode, float>(table, suffix, "float");
  addToIntegers<mode, double>(table, suffix, "double");
  addConversion<mode, float, double>(table, "double2float" + suffix);
  addConversion<mode, float, int32_t>(table, "int2float" + suffix);
  addConversion<mode, float, uint32_t>(table, "uint2float" + suffix);
  addConversion<mode, float, int64_t>(table, "ll2float" + suffix);
  addConversion<mode, float, uint64_t>(table, "ull2float" + suffix);
  addConversion<mode, double, int64_t>(table, "ll2double" + suffix);
  addConversion<mode, double, uint64_t>(table, "ull2double" + suffix);
}

} // namespace

void addRoundedFunctions(DeviceFunctionTable &table) {
  addMode<FE_TONEAREST>(table, "_rn");
  addMode<FE_TOWARDZERO>(table, "_rz");
  addMode<FE_DOWNWARD>(table, "_rd");
  addMode<FE_UPWARD>(table, "_ru");
}

} // namespace despina::cpu
