//===- MicroKernelTest.cpp - Matrix products against double precision -----===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "MicroKernel.h"
#include "EmitHarness.h"

#include "mlir/IR/BuiltinTypes.h"

#include "llvm/ADT/APFloat.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <random>

using namespace despina::cpu;

namespace {

enum class Element { F32, F64, BF16, F16, I8, I32 };

unsigned bytesOf(Element e) {
  switch (e) {
  case Element::F64: return 8;
  case Element::F32:
  case Element::I32: return 4;
  case Element::BF16:
  case Element::F16: return 2;
  case Element::I8: return 1;
  }
  return 0;
}

mlir::Type typeOf(mlir::OpBuilder &b, Element e) {
  switch (e) {
  case Element::F32: return b.getF32Type();
  case Element::F64: return b.getF64Type();
  case Element::BF16: return b.getBF16Type();
  case Element::F16: return b.getF16Type();
  case Element::I8: return b.getI8Type();
  case Element::I32: return b.getI32Type();
  }
  return {};
}

/// A row-major matrix of any element type, 64-byte aligned, read and written as double.
class Matrix {
public:
  Matrix(Element element, int64_t rows, int64_t cols) : element(element), rows(rows), cols(cols) {
    storage.resize(rows * cols * bytesOf(element) + 64);
    data = storage.data() + (64 - reinterpret_cast<uintptr_t>(storage.data()) % 64) % 64;
  }
  double get(int64_t i) const {
    switch (element) {
    case Element::F32: return read<float>(i);
    case Element::F64: return read<double>(i);
    case Element::I8: return read<int8_t>(i);
    case Element::I32: return read<int32_t>(i);
    case Element::BF16: return small(i, llvm::APFloat::BFloat());
    case Element::F16: return small(i, llvm::APFloat::IEEEhalf());
    }
    return 0;
  }
  void set(int64_t i, double v) {
    switch (element) {
    case Element::F32: return write(i, float(v));
    case Element::F64: return write(i, v);
    case Element::I8: return write(i, int8_t(v));
    case Element::I32: return write(i, int32_t(v));
    case Element::BF16: return setSmall(i, v, llvm::APFloat::BFloat());
    case Element::F16: return setSmall(i, v, llvm::APFloat::IEEEhalf());
    }
  }
  void fillRandom(std::mt19937 &random) {
    std::normal_distribution<double> normal;
    std::uniform_int_distribution<int> integer(-128, 127);
    for (int64_t i = 0; i < rows * cols; ++i)
      set(i, element == Element::I8 || element == Element::I32 ? integer(random) : normal(random));
  }

  Element element;
  int64_t rows, cols;
  unsigned char *data;

private:
  template <typename T> double read(int64_t i) const {
    T v;
    std::memcpy(&v, data + i * sizeof(T), sizeof(T));
    return double(v);
  }
  template <typename T> void write(int64_t i, T v) { std::memcpy(data + i * sizeof(T), &v, sizeof(T)); }
  double small(int64_t i, const llvm::fltSemantics &semantics) const {
    uint16_t bits;
    std::memcpy(&bits, data + i * 2, 2);
    return llvm::APFloat(semantics, llvm::APInt(16, bits)).convertToDouble();
  }
  void setSmall(int64_t i, double v, const llvm::fltSemantics &semantics) {
    llvm::APFloat value(v);
    bool lost;
    value.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &lost);
    write(i, uint16_t(value.bitcastToAPInt().getZExtValue()));
  }
  std::vector<unsigned char> storage;
};

void checkDot(Element operand, Element accumulator, int64_t m, int64_t n, int64_t k, double epsilon,
              const CPUOptions &options) {
  SCOPED_TRACE(testing::Message() << "elements " << int(operand) << ", " << m << "x" << n << "x" << k << ", "
                                  << options.features.vectorBytes << " bytes");
  std::mt19937 random(unsigned(m * 31 + n * 7 + k));
  Matrix a(operand, m, k), b(operand, k, n), c(accumulator, m, n);
  a.fillRandom(random), b.fillRandom(random), c.fillRandom(random);
  std::vector<double> expected(m * n), magnitude(m * n);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = c.get(i * n + j), size = std::abs(sum);
      for (int64_t l = 0; l < k; ++l) {
        double product = a.get(i * k + l) * b.get(l * n + j);
        sum += product, size += std::abs(product);
      }
      expected[i * n + j] = sum, magnitude[i * n + j] = size;
    }
  int64_t scratchBytes = 0;
  EmittedFunction function(
      3, options, [&](mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange p, mlir::Value scratch) {
        mlir::Type e = typeOf(builder, operand), r = typeOf(builder, accumulator);
        EXPECT_TRUE(dotSupported(e, e, r));
        scratchBytes = dotScratchBytes(e, r, m, n, k, options);
        emitDot(builder, loc, {p[0], e, m, k, {}}, {p[1], e, k, n, {}}, {p[2], r, m, n, {}}, scratch,
                options);
      });
  ASSERT_TRUE(function);
  // Guard bytes behind the scratch memory show a size that was computed too small.
  Matrix scratch(Element::I8, 1, scratchBytes + 64);
  std::memset(scratch.data, 0xCD, scratchBytes + 64);
  function({a.data, b.data, c.data}, scratch.data);
  for (int64_t i = 0; i < 64; ++i)
    ASSERT_EQ(scratch.data[scratchBytes + i], 0xCD);
  for (int64_t i = 0; i < m * n; ++i)
    ASSERT_LE(std::abs(c.get(i) - expected[i]), epsilon * magnitude[i])
        << "element " << i << ": " << c.get(i);
}

TEST(MicroKernel, AgreesWithDoublePrecision) {
  const double single = std::ldexp(1.0, -21), twice = std::ldexp(1.0, -50), half = std::ldexp(1.0, -9);
  for (const CPUOptions &options : testedOptions()) {
    for (auto [m, n, k] : {std::array<int64_t, 3>{64, 64, 32},
                           {16, 16, 16},
                           {1, 1, 1},
                           {2, 4, 8},
                           {1, 64, 256},
                           {128, 8, 2},
                           {32, 128, 64}}) {
      checkDot(Element::F32, Element::F32, m, n, k, single, options);
      checkDot(Element::F64, Element::F64, m, n, k, twice, options);
      checkDot(Element::F16, Element::F16, m, n, k, half, options);
    }
    for (auto [m, n, k] :
         {std::array<int64_t, 3>{32, 32, 64}, {16, 64, 512}, {64, 16, 32}, {8, 16, 16}, {16, 16, 1024}}) {
      checkDot(Element::BF16, Element::F32, m, n, k, single, options);
      checkDot(Element::F16, Element::F32, m, n, k, single, options);
      checkDot(Element::I8, Element::I32, m, n, k, 0, options);
    }
    checkDot(Element::I8, Element::I32, 16, 16, 4096, 0, options);
  }
}

TEST(MicroKernel, RefusesMixedTypes) {
  mlir::MLIRContext context;
  mlir::OpBuilder b(&context);
  EXPECT_FALSE(dotSupported(b.getF32Type(), b.getF16Type(), b.getF32Type()));
  EXPECT_FALSE(dotSupported(b.getI8Type(), b.getI8Type(), b.getF32Type()));
  EXPECT_FALSE(dotSupported(b.getF64Type(), b.getF64Type(), b.getF32Type()));
}

} // namespace
