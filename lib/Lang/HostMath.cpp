//===- HostMath.cpp - Python's module `math` on constants --------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "HostObjects.h"
#include "PyNumber.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

using namespace despina;

namespace {

struct RealFunction {
  const char *name;
  double (*evaluate)(double);
};
struct RealPairFunction {
  const char *name;
  double (*evaluate)(double, double);
};

constexpr RealFunction realFunctions[] = {
    {"sqrt", std::sqrt},
    {"cbrt", std::cbrt},
    {"exp", std::exp},
    {"exp2", std::exp2},
    {"expm1", std::expm1},
    {"log2", std::log2},
    {"log10", std::log10},
    {"log1p", std::log1p},
    {"sin", std::sin},
    {"cos", std::cos},
    {"tan", std::tan},
    {"asin", std::asin},
    {"acos", std::acos},
    {"atan", std::atan},
    {"sinh", std::sinh},
    {"cosh", std::cosh},
    {"tanh", std::tanh},
    {"asinh", std::asinh},
    {"acosh", std::acosh},
    {"atanh", std::atanh},
    {"erf", std::erf},
    {"erfc", std::erfc},
    {"fabs", std::fabs},
    {"radians", [](double x) { return x * (std::numbers::pi / 180); }},
    {"degrees", [](double x) { return x * (180 / std::numbers::pi); }},
};
constexpr RealPairFunction pairFunctions[] = {{"pow", std::pow},
                                              {"fmod", std::fmod},
                                              {"atan2", std::atan2},
                                              {"hypot", std::hypot},
                                              {"copysign", std::copysign}};
constexpr const char *otherFunctions[] = {"floor", "ceil",  "trunc", "log",     "gcd",
                                          "isqrt", "isnan", "isinf", "isfinite"};

Resolution found(Constant value) {
  return {Resolution::Status::Found, Value::constant(std::move(value)), {}};
}
Resolution failed(ErrorKind kind, std::string message) {
  return {Resolution::Status::Failed, {}, std::move(message), kind};
}

/// What Python answers for the result of C's function: domain and range errors are exceptions.
Resolution checked(double result, llvm::ArrayRef<double> args) {
  const bool finiteArgs = llvm::all_of(args, [](double x) { return std::isfinite(x); });
  if (std::isnan(result) && llvm::none_of(args, [](double x) { return std::isnan(x); }))
    return failed(ErrorKind::Value, "math domain error");
  if (std::isinf(result) && finiteArgs)
    return result < 0 ? failed(ErrorKind::Value, "math domain error")
                      : failed(ErrorKind::Overflow, "math range error");
  return found(result);
}

class MathFunction final : public HostItem {
public:
  explicit MathFunction(std::string name) : name_(std::move(name)) {}

  Resolution call(llvm::ArrayRef<Value> args, HostKeywords keywords) const override {
    if (!keywords.empty())
      return failed(ErrorKind::Type, "math." + name_ + "() takes no keyword arguments");
    std::vector<double> reals;
    for (const Value &arg : args) {
      if (!arg.isConstant() || !arg.constant().isNumber())
        return failed(ErrorKind::Type, "must be real number, not " + arg.typeName());
      reals.push_back(arg.constant().asDouble());
      if (std::isinf(reals.back()) && arg.constant().isIntLike())
        return failed(ErrorKind::Overflow, "int too large to convert to float");
    }
    for (const RealFunction &function : realFunctions)
      if (name_ == function.name)
        return args.size() == 1 ? checked(function.evaluate(reals[0]), reals)
                                : wrongCount("one argument", args);
    for (const RealPairFunction &function : pairFunctions)
      if (name_ == function.name)
        return args.size() == 2 ? checked(function.evaluate(reals[0], reals[1]), reals)
                                : wrongCount("2 arguments", args);
    if (name_ == "log")
      return logarithm(args, reals);
    if (name_ == "gcd")
      return greatestDivisor(args);
    return args.size() == 1 ? unary(args[0].constant(), reals[0]) : wrongCount("one argument", args);
  }

private:
  Resolution wrongCount(const char *expected, llvm::ArrayRef<Value> args) const {
    return failed(ErrorKind::Type, "math." + name_ + "() takes exactly " + expected + " (" +
                                       std::to_string(args.size()) + " given)");
  }

  Resolution unary(const Constant &arg, double real) const {
    if (name_ == "isnan" || name_ == "isinf" || name_ == "isfinite")
      return found(name_ == "isnan"   ? std::isnan(real)
                   : name_ == "isinf" ? std::isinf(real)
                                      : std::isfinite(real));
    if (name_ == "isqrt")
      return squareRoot(arg);
    if (arg.isIntLike())
      return found(arg.integer());
    PyResult result = pyToInt(name_ == "floor" ? std::floor(real) : name_ == "ceil" ? std::ceil(real) : real);
    if (const auto *error = std::get_if<PyError>(&result))
      return failed(error->kind, error->message);
    return found(std::get<Constant>(result));
  }

  static Resolution squareRoot(const Constant &arg) {
    const std::optional<int64_t> number = arg.isIntLike() ? arg.asInt64() : std::nullopt;
    if (!number)
      return failed(ErrorKind::Type, "math.isqrt() needs a 64-bit integer here");
    if (*number < 0)
      return failed(ErrorKind::Value, "isqrt() argument must be nonnegative");
    auto root = static_cast<int64_t>(std::sqrt(static_cast<double>(*number)));
    while (static_cast<__int128>(root) * root > *number)
      --root;
    while (static_cast<__int128>(root + 1) * (root + 1) <= *number)
      ++root;
    return found(root);
  }

  Resolution logarithm(llvm::ArrayRef<Value> args, llvm::ArrayRef<double> reals) const {
    if (args.empty() || args.size() > 2)
      return failed(ErrorKind::Type, "log expected 1 or 2 arguments, got " + std::to_string(args.size()));
    for (double real : reals)
      if (real <= 0)
        return failed(ErrorKind::Value, "math domain error");
    if (args.size() == 1)
      return found(std::log(reals[0]));
    if (reals[1] == 1)
      return failed(ErrorKind::ZeroDivision, "float division by zero");
    return found(std::log(reals[0]) / std::log(reals[1]));
  }

  static Resolution greatestDivisor(llvm::ArrayRef<Value> args) {
    int64_t result = 0;
    for (const Value &arg : args) {
      const std::optional<int64_t> number =
          arg.constant().isIntLike() ? arg.constant().asInt64() : std::nullopt;
      if (!number || *number == std::numeric_limits<int64_t>::min())
        return failed(ErrorKind::Type, "math.gcd() needs 64-bit integers here");
      result = std::gcd(result, *number);
    }
    return found(result);
  }

  std::string name_;
};

} // namespace

Resolution despina::mathMember(SymbolResolver &resolver, llvm::StringRef name) {
  if (name == "pi" || name == "e" || name == "tau")
    return found(name == "pi" ? std::numbers::pi : name == "e" ? std::numbers::e : 2 * std::numbers::pi);
  if (name == "inf" || name == "nan")
    return found(name == "inf" ? std::numeric_limits<double>::infinity()
                               : std::numeric_limits<double>::quiet_NaN());
  const auto named = [&](const auto &function) { return name == function.name; };
  if (llvm::none_of(realFunctions, named) && llvm::none_of(pairFunctions, named) &&
      !llvm::is_contained(otherFunctions, name))
    return {};
  HostObject object{std::shared_ptr<HostItem>(std::make_shared<MathFunction>(name.str())), &resolver,
                    "<built-in function " + name.str() + ">", "builtin_function_or_method",
                    /*callable=*/true};
  return {Resolution::Status::Found, Value::host(std::move(object)), {}};
}
