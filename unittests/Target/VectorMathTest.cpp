//===- VectorMathTest.cpp - Elementary functions against long double ------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "VectorMath.h"
#include "EmitHarness.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <random>

using namespace despina::cpu;

namespace {

struct Case {
  const char *name;
  MathFunction function;
  long double (*reference)(long double);
  double ulpsSingle, ulpsDouble;
  double low, high; ///< random inputs; negative `low` with logarithmic spread is not needed
  bool logarithmic; ///< inputs are exp(uniform)
};

const Case cases[] = {
    {"exp", MathFunction::Exp, [](long double x) { return std::exp(x); }, 1.0, 1.2, -110, 95, false},
    {"exp2", MathFunction::Exp2, [](long double x) { return std::exp2(x); }, 1.0, 1.2, -155, 130, false},
    {"log", MathFunction::Log, [](long double x) { return std::log(x); }, 1.0, 1.2, -100, 88, true},
    {"log near 1", MathFunction::Log, [](long double x) { return std::log(x); }, 1.0, 1.2, 0.6, 1.6, false},
    {"log2", MathFunction::Log2, [](long double x) { return std::log2(x); }, 1.2, 1.2, -100, 88, true},
    {"log2 near 1", MathFunction::Log2, [](long double x) { return std::log2(x); }, 1.2, 1.2, 0.6, 1.6,
     false},
    {"sin", MathFunction::Sin, [](long double x) { return std::sin(x); }, 2.0, 1.0, -70000, 70000, false},
    {"sin huge", MathFunction::Sin, [](long double x) { return std::sin(x); }, 1.0, 1.0, 1e5, 1e7, false},
    {"cos", MathFunction::Cos, [](long double x) { return std::cos(x); }, 2.0, 1.0, -70000, 70000, false},
    {"sqrt", MathFunction::Sqrt, [](long double x) { return std::sqrt(x); }, 0.51, 0.51, -100, 88, true},
    {"rsqrt", MathFunction::Rsqrt, [](long double x) { return 1 / std::sqrt(x); }, 1.51, 1.51, -80, 80, true},
    {"erf", MathFunction::Erf, [](long double x) { return std::erf(x); }, 2.0, 1.1, -5, 5, false},
    {"tanh", MathFunction::Tanh, [](long double x) { return std::tanh(x); }, 2.0, 3.0, -20, 20, false},
    {"tanh near 0", MathFunction::Tanh, [](long double x) { return std::tanh(x); }, 2.0, 3.0, -1, 1, false},
    {"floor", MathFunction::Floor, [](long double x) { return std::floor(x); }, 0, 0, -1000, 1000, false},
    {"ceil", MathFunction::Ceil, [](long double x) { return std::ceil(x); }, 0, 0, -1000, 1000, false},
};

/// Distance in units of the last place of the correctly rounded result.
template <typename T> double ulpsBetween(T got, long double exact) {
  T rounded = static_cast<T>(exact);
  if (std::isnan(exact))
    return std::isnan(got) ? 0 : std::numeric_limits<double>::infinity();
  if (got == rounded)
    return 0;
  if (!std::isfinite(got) || std::isinf(rounded))
    return std::numeric_limits<double>::infinity();
  T next = std::nextafter(std::abs(rounded), std::numeric_limits<T>::infinity());
  long double unit = std::isinf(next) ? std::numeric_limits<T>::max() * std::numeric_limits<T>::epsilon()
                                      : static_cast<long double>(next) - std::abs(rounded);
  return static_cast<double>(std::abs(static_cast<long double>(got) - exact) / unit);
}

template <typename T> std::vector<T> inputsFor(const Case &c) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  std::vector<T> x = {0,
                      T(-0.0),
                      infinity,
                      -infinity,
                      std::numeric_limits<T>::quiet_NaN(),
                      -1,
                      1,
                      2,
                      T(-1e-8),
                      std::numeric_limits<T>::denorm_min(),
                      std::numeric_limits<T>::min(),
                      T(1e-40),
                      T(88.8),
                      T(710),
                      T(-87.4),
                      T(0.5)};
  std::mt19937 random(12345);
  std::uniform_real_distribution<double> uniform(c.low, c.high);
  while (x.size() < 8192)
    x.push_back(static_cast<T>(c.logarithmic ? std::exp(uniform(random)) : uniform(random)));
  return x;
}

/// `vectors`: how many native vectors are computed at once; 0 for scalars.
EmittedFunction emitLoop(MathFunction function, bool isDouble, int vectors, const CPUOptions &options,
                         int64_t count) {
  return EmittedFunction(
      2, options, [&](mlir::OpBuilder &b, mlir::Location loc, mlir::ValueRange p, mlir::Value) {
        mlir::Type element = isDouble ? mlir::Type(b.getF64Type()) : mlir::Type(b.getF32Type());
        int64_t lanes = vectors ? vectors * options.features.vectorBytes / (isDouble ? 8 : 4) : 1;
        mlir::Type type = vectors ? mlir::Type(mlir::VectorType::get({lanes}, element)) : element;
        auto constant = [&](int64_t v) -> mlir::Value {
          return mlir::arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(v));
        };
        auto loop = mlir::scf::ForOp::create(b, loc, constant(0), constant(count), constant(lanes));
        mlir::OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(loop.getBody());
        auto at = [&](mlir::Value base) -> mlir::Value {
          return mlir::LLVM::GEPOp::create(b, loc, base.getType(), element, base,
                                           mlir::ValueRange{loop.getInductionVar()});
        };
        mlir::Value x = mlir::LLVM::LoadOp::create(b, loc, type, at(p[0]), 4);
        mlir::LLVM::StoreOp::create(b, loc, emitMath(b, loc, function, x, options), at(p[1]), 4);
      });
}

template <typename T> void check(const Case &c, double limit, int vectors, const CPUOptions &options) {
  std::vector<T> x = inputsFor<T>(c), y(x.size(), T(12345.6789));
  EmittedFunction function = emitLoop(c.function, sizeof(T) == 8, vectors, options, x.size());
  ASSERT_TRUE(function);
  function({x.data(), y.data()});
  double worst = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    double ulps = ulpsBetween(y[i], c.reference(x[i]));
    ASSERT_LE(ulps, limit) << c.name << "(" << x[i] << ") gave " << y[i] << ", vector bytes "
                           << options.features.vectorBytes << ", vectors " << vectors;
    worst = std::max(worst, ulps);
  }
  if (limit > 0.6) {
    EXPECT_GT(worst, 0.0) << "a bound that nothing comes near is no test";
  }
}

TEST(VectorMath, AgreesWithLongDouble) {
  for (const CPUOptions &options : testedOptions())
    for (const Case &c : cases)
      for (int vectors : {0, 1, 4}) {
        check<float>(c, c.ulpsSingle, vectors, options);
        check<double>(c, c.ulpsDouble, vectors, options);
      }
}

} // namespace
