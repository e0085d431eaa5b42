//===- SupportTest.cpp - Functions that kernels call ----------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "despina/Runtime/Support.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"

#include "gtest/gtest.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <string>

using namespace despina::cpu;

namespace {

template <typename Function> Function *symbol(const char *name) {
  size_t count = 0;
  const RuntimeSymbol *symbols = runtimeSymbols(count);
  for (size_t i = 0; i < count; ++i)
    if (std::strcmp(symbols[i].name, name) == 0)
      return reinterpret_cast<Function *>(symbols[i].address);
  ADD_FAILURE() << "no symbol " << name;
  return nullptr;
}

std::string printed(PrintKind kind, int32_t bits, const void *data, bool hex = false, int32_t operands = 1) {
  testing::internal::CaptureStdout();
  despina_rt_print(1, 2, 3, "x", hex, 0, operands, static_cast<int32_t>(kind), bits, 0, nullptr, data);
  return testing::internal::GetCapturedStdout();
}

TEST(Print, ShowsScalarsByTheirType) {
  int8_t byte = -5;
  uint64_t big = ~uint64_t(0);
  float single = 1.5f;
  double real = -2.25;
  uint16_t half = 0x3e00, bfloat = 0x3fc0, smallest = 0x0001;
  EXPECT_EQ(printed(PrintKind::Signed, 8, &byte), "pid (1, 2, 3) x: -5\n");
  EXPECT_EQ(printed(PrintKind::Unsigned, 8, &byte), "pid (1, 2, 3) x: 251\n");
  EXPECT_EQ(printed(PrintKind::Unsigned, 64, &big), "pid (1, 2, 3) x: 18446744073709551615\n");
  EXPECT_EQ(printed(PrintKind::Signed, 64, &big), "pid (1, 2, 3) x: -1\n");
  EXPECT_EQ(printed(PrintKind::Float, 32, &single), "pid (1, 2, 3) x: 1.500000\n");
  EXPECT_EQ(printed(PrintKind::Float, 64, &real), "pid (1, 2, 3) x: -2.250000\n");
  EXPECT_EQ(printed(PrintKind::Float, 16, &half), "pid (1, 2, 3) x: 1.500000\n");
  EXPECT_EQ(printed(PrintKind::BFloat, 16, &bfloat), "pid (1, 2, 3) x: 1.500000\n");
  EXPECT_EQ(printed(PrintKind::Float, 16, &smallest), "pid (1, 2, 3) x: 0.000000\n");
  EXPECT_EQ(printed(PrintKind::Unsigned, 32, &single, true), "pid (1, 2, 3) x: 0x3fc00000\n");
  EXPECT_EQ(printed(PrintKind::Signed, 8, &byte, true), "pid (1, 2, 3) x: 0xfb\n");
}

TEST(Print, ShowsThePrefixAlone) {
  EXPECT_EQ(printed(PrintKind::Signed, 8, nullptr, false, 0), "pid (1, 2, 3) x\n");
}

TEST(Print, ShowsTilesWithIndices) {
  int32_t tile[] = {10, 11, 12, 13};
  int64_t shape[] = {2, 2};
  testing::internal::CaptureStdout();
  despina_rt_print(0, 0, 0, " t: ", 0, 1, 2, static_cast<int32_t>(PrintKind::Signed), 32, 2, shape, tile);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "pid (0, 0, 0) idx (0, 0) t: (operand 1) 10\n"
                                                    "pid (0, 0, 0) idx (0, 1) t: (operand 1) 11\n"
                                                    "pid (0, 0, 0) idx (1, 0) t: (operand 1) 12\n"
                                                    "pid (0, 0, 0) idx (1, 1) t: (operand 1) 13\n");
}

/// Bits of `value` in the format, rounded to nearest even.
uint16_t reference(llvm::APFloat value, const llvm::fltSemantics &format) {
  bool lossy = false;
  value.convert(format, llvm::APFloat::rmNearestTiesToEven, &lossy);
  return static_cast<uint16_t>(value.bitcastToAPInt().getZExtValue());
}

bool isNaN16(uint16_t bits, unsigned mantissaBits) {
  unsigned mask = (1u << mantissaBits) - 1;
  return ((bits & 0x7fff) >> mantissaBits) == (0x7fffu >> mantissaBits) && (bits & mask) != 0;
}

void expectSame(uint16_t got, uint16_t want, unsigned mantissaBits, double input) {
  if (isNaN16(want, mantissaBits)) {
    ASSERT_TRUE(isNaN16(got, mantissaBits)) << input;
    return;
  }
  ASSERT_EQ(got, want) << std::hexfloat << input;
}

/// Floats near everything that rounds in a special way, and random ones.
std::vector<double> interestingValues() {
  std::mt19937_64 random(20251129);
  std::vector<double> values{0.0,     -0.0,    INFINITY,  -INFINITY, NAN,    65504.0,
                             65519.0, 65520.0, 65519.999, 1e300,     3.4e38, 3.5e38};
  for (int exponent = -160; exponent <= 130; ++exponent)
    for (double factor : {1.0, 1.5, 1.0 + 0x1p-8, 1.0 + 0x1p-11, 1.0 + 3 * 0x1p-11, 1.0 + 0x1p-11 + 0x1p-40,
                          1.0 + 0x1p-8 - 0x1p-40})
      for (double sign : {1.0, -1.0})
        values.push_back(sign * std::ldexp(factor, exponent));
  for (int i = 0; i < 20000; ++i) {
    values.push_back(std::bit_cast<float>(static_cast<uint32_t>(random())));
    values.push_back(std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 60) - 90));
  }
  return values;
}

TEST(Conversions, RoundOnceToNearestEven) {
  auto *floatToHalf = symbol<_Float16(float)>("__truncsfhf2");
  auto *doubleToHalf = symbol<_Float16(double)>("__truncdfhf2");
  auto *floatToBFloat = symbol<_Float16(float)>("__truncsfbf2");
  auto *doubleToBFloat = symbol<_Float16(double)>("__truncdfbf2");
  for (double value : interestingValues()) {
    float single = static_cast<float>(value);
    const auto &half = llvm::APFloat::IEEEhalf(), &bfloat = llvm::APFloat::BFloat();
    expectSame(std::bit_cast<uint16_t>(doubleToHalf(value)), reference(llvm::APFloat(value), half), 10,
               value);
    expectSame(std::bit_cast<uint16_t>(floatToHalf(single)), reference(llvm::APFloat(single), half), 10,
               single);
    expectSame(std::bit_cast<uint16_t>(doubleToBFloat(value)), reference(llvm::APFloat(value), bfloat), 7,
               value);
    expectSame(std::bit_cast<uint16_t>(floatToBFloat(single)), reference(llvm::APFloat(single), bfloat), 7,
               single);
  }
}

TEST(Conversions, ExtendEveryHalf) {
  auto *extend = symbol<float(_Float16)>("__extendhfsf2");
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    float got = extend(std::bit_cast<_Float16>(static_cast<uint16_t>(bits)));
    llvm::APFloat want(llvm::APFloat::IEEEhalf(), llvm::APInt(16, bits));
    bool lossy = false;
    want.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven, &lossy);
    if (std::isnan(want.convertToFloat()))
      ASSERT_TRUE(std::isnan(got)) << bits;
    else
      ASSERT_EQ(std::bit_cast<uint32_t>(got), std::bit_cast<uint32_t>(want.convertToFloat())) << bits;
  }
}

} // namespace
