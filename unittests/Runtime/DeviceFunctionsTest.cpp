//===- DeviceFunctionsTest.cpp - The table of a device's math library -----===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Numbers are tested from Python, against more digits (python/tests/test_libdevice_numbers.py).
//
//===----------------------------------------------------------------------===//
#include "despina/Runtime/DeviceFunctions.h"

#include "gtest/gtest.h"

#include <cfenv>
#include <cmath>
#include <limits>
#include <set>

using namespace despina::cpu;

namespace {

template <typename Result, typename... Args> Result call(const char *symbol, Args... args) {
  const DeviceFunction *function = findDeviceFunction(symbol);
  EXPECT_TRUE(function) << symbol;
  return function ? reinterpret_cast<Result (*)(Args...)>(function->address)(args...) : Result();
}

TEST(DeviceFunctions, EachSymbolStandsOnce) {
  std::set<std::string> symbols;
  for (const DeviceFunction &function : allDeviceFunctions()) {
    EXPECT_TRUE(symbols.insert(function.symbol).second) << function.symbol;
    EXPECT_EQ(function.symbol.rfind("__nv_", 0), 0U);
    EXPECT_EQ(findDeviceFunction(function.symbol), &function);
  }
  EXPECT_EQ(findDeviceFunction("__nv_magic"), nullptr);
  EXPECT_EQ(findDeviceFunction(""), nullptr);
}

TEST(DeviceFunctions, TypesAreReadOffTheFunctions) {
  EXPECT_EQ(findDeviceFunction("__nv_powif")->types, "fi:f");
  EXPECT_EQ(findDeviceFunction("__nv_ull2double_rz")->types, "L:d");
  EXPECT_EQ(findDeviceFunction("__nv_norm4d")->types, "dddd:d");
  EXPECT_EQ(findDeviceFunction("__nv_usad")->types, "uuu:u");
  EXPECT_EQ(findDeviceFunction("__nv_llrintf")->types, "f:l");
}

TEST(DeviceFunctions, TheModeOfRoundingIsTheCallersAgain) {
  const int before = std::fegetround();
  EXPECT_EQ(call<float>("__nv_fadd_ru", 1.0F, 1e-30F), std::nextafter(1.0F, 2.0F));
  EXPECT_EQ(std::fegetround(), before);
  EXPECT_EQ(call<float>("__nv_fadd_rd", 1.0F, -1e-30F), std::nextafter(1.0F, 0.0F));
  EXPECT_EQ(call<float>("__nv_fadd_rn", 1.0F, 1e-30F), 1.0F);
  EXPECT_EQ(std::fegetround(), before);
}

TEST(DeviceFunctions, SpecialValues) {
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::nan("");
  EXPECT_EQ(call<double>("__nv_erfinv", 1.0), infinity);
  EXPECT_EQ(call<double>("__nv_erfcinv", 2.0), -infinity);
  EXPECT_TRUE(std::isnan(call<double>("__nv_erfinv", 1.5)));
  EXPECT_EQ(call<double>("__nv_normcdfinv", 0.0), -infinity);
  EXPECT_EQ(call<double>("__nv_erfcx", infinity), 0);
  EXPECT_EQ(call<double>("__nv_erfcx", -30.0), infinity);
  EXPECT_EQ(call<double>("__nv_cyl_bessel_i1", -1000.0), -infinity);
  EXPECT_TRUE(std::isnan(call<double>("__nv_cyl_bessel_i0", nan)));
  EXPECT_EQ(call<double>("__nv_hypot", infinity, nan), infinity);
  EXPECT_EQ(call<double>("__nv_rhypot", -infinity, 1.0), 0);
  EXPECT_TRUE(std::isnan(call<double>("__nv_sinpi", infinity)));
  EXPECT_EQ(call<double>("__nv_sinpi", 1e300), 0);
  EXPECT_EQ(call<double>("__nv_cospi", 0.5), 0);
  EXPECT_EQ(call<float>("__nv_saturatef", static_cast<float>(nan)), 0);
  EXPECT_EQ(call<int32_t>("__nv_float2int_rn", static_cast<float>(nan)), 0);
  EXPECT_EQ(call<uint64_t>("__nv_double2ull_rz", 1e300), std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(call<uint32_t>("__nv_float2uint_rz", -5.0F), 0U);
  EXPECT_EQ(call<int64_t>("__nv_llround", -infinity), std::numeric_limits<int64_t>::min());
}

} // namespace
