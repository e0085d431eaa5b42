//===- ExternOps.cpp - Functions of mathematics libraries -----------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// `__nv_NAMEf` and `__nv_NAME` of `tl.extra.libdevice`, where the C library has the function.
//
//===----------------------------------------------------------------------===//
#include "despina/Interpreter/EagerBuilder.h"

#include "llvm/ADT/StringMap.h"

#include <cmath>

namespace despina::interpreter {

namespace {

using Function1 = double (*)(double);
using Function2 = double (*)(double, double);

double cbrtReciprocal(double x) { return 1 / std::cbrt(x); }
double hypotReciprocal(double x, double y) { return 1 / std::hypot(x, y); }
double power10(double x) { return std::pow(10.0, x); }
double cosOfPi(double x) { return std::cos(M_PI * std::fmod(x, 2)); }
double sinOfPi(double x) { return std::sin(M_PI * std::fmod(x, 2)); }
double normalDistribution(double x) { return std::erfc(-x / M_SQRT2) / 2; }
double reciprocalRoot(double x) { return 1 / std::sqrt(x); }

/// In double for both types: the results of fp32 are rounded once more.
Function1 unaryFunction(llvm::StringRef name) {
  static const llvm::StringMap<Function1> table = {{"acos", std::acos},
                                                   {"acosh", std::acosh},
                                                   {"asin", std::asin},
                                                   {"asinh", std::asinh},
                                                   {"atan", std::atan},
                                                   {"atanh", std::atanh},
                                                   {"cbrt", std::cbrt},
                                                   {"ceil", std::ceil},
                                                   {"cos", std::cos},
                                                   {"cosh", std::cosh},
                                                   {"cospi", cosOfPi},
                                                   {"erf", std::erf},
                                                   {"erfc", std::erfc},
                                                   {"exp", std::exp},
                                                   {"exp10", power10},
                                                   {"exp2", std::exp2},
                                                   {"expm1", std::expm1},
                                                   {"floor", std::floor},
                                                   {"j0", ::j0},
                                                   {"j1", ::j1},
                                                   {"log", std::log},
                                                   {"log10", std::log10},
                                                   {"log1p", std::log1p},
                                                   {"log2", std::log2},
                                                   {"logb", std::logb},
                                                   {"lgamma", std::lgamma},
                                                   {"nearbyint", std::nearbyint},
                                                   {"normcdf", normalDistribution},
                                                   {"rint", std::rint},
                                                   {"round", std::round},
                                                   {"rcbrt", cbrtReciprocal},
                                                   {"rsqrt", reciprocalRoot},
                                                   {"sin", std::sin},
                                                   {"sinh", std::sinh},
                                                   {"sinpi", sinOfPi},
                                                   {"sqrt", std::sqrt},
                                                   {"tan", std::tan},
                                                   {"tanh", std::tanh},
                                                   {"tgamma", std::tgamma},
                                                   {"trunc", std::trunc},
                                                   {"fabs", std::fabs},
                                                   {"y0", ::y0},
                                                   {"y1", ::y1}};
  return table.lookup(name);
}

Function2 binaryFunction(llvm::StringRef name) {
  static const llvm::StringMap<Function2> table = {
      {"atan2", std::atan2},         {"copysign", std::copysign}, {"fdim", std::fdim},
      {"fmod", std::fmod},           {"hypot", std::hypot},       {"pow", std::pow},
      {"remainder", std::remainder}, {"rhypot", hypotReciprocal}};
  return table.lookup(name);
}

} // namespace

TileRef computeExtern(llvm::StringRef symbol, llvm::ArrayRef<Tile *> args, const Type &result) {
  symbol.consume_front("__nv_");
  bool isSingle = !result.isFloating() || result.bits() == 32;
  Function1 unary = args.size() == 1 ? unaryFunction(symbol) : nullptr;
  Function2 binary = args.size() == 2 ? binaryFunction(symbol) : nullptr;
  llvm::StringRef shortened = symbol;
  if (isSingle && shortened.consume_back("f")) {
    unary = unary || args.size() != 1 ? unary : unaryFunction(shortened);
    binary = binary || args.size() != 2 ? binary : binaryFunction(shortened);
  }
  if ((!unary && !binary) || !result.isFloating())
    return nullptr;
  std::vector<double> values;
  for (int64_t i = 0; i < args[0]->size; ++i)
    values.push_back(unary ? unary(realAt(*args[0], i)) : binary(realAt(*args[0], i), realAt(*args[1], i)));
  TileRef like = Tile::make(result.scalar(), result.shape());
  return tileOfReals(values.data(), like->stored(), *like, result.scalar());
}

} // namespace despina::interpreter
