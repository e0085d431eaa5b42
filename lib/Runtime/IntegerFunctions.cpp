//===- IntegerFunctions.cpp - Functions of bits ---------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "DeviceFunctionsImpl.h"

#include <bit>

namespace despina::cpu {

namespace {

template <typename T> T reversed(T x) {
  using Bits = std::make_unsigned_t<T>;
  Bits bits = static_cast<Bits>(x), result = 0;
  for (unsigned i = 0; i < sizeof(T) * 8; ++i, bits >>= 1)
    result = static_cast<Bits>(result << 1 | (bits & 1));
  return static_cast<T>(result);
}

void addCounts(DeviceFunctionTable &table) {
  using U = uint32_t;
  using UL = uint64_t;
  table.add("clz", +[](int32_t x) { return int32_t(std::countl_zero(U(x))); });
  table.add("clzll", +[](int64_t x) { return int32_t(std::countl_zero(UL(x))); });
  table.add("popc", +[](int32_t x) { return int32_t(std::popcount(U(x))); });
  table.add("popcll", +[](int64_t x) { return int32_t(std::popcount(UL(x))); });
  table.add("ffs", +[](int32_t x) { return x ? int32_t(std::countr_zero(U(x))) + 1 : 0; });
  table.add("ffsll", +[](int64_t x) { return x ? int32_t(std::countr_zero(UL(x))) + 1 : 0; });
  table.add("brev", reversed<int32_t>);
  table.add("brevll", reversed<int64_t>);
}

/// Four of the eight bytes of y:x, as the low three bits of each half byte of the selector say.
int32_t permuteBytes(int32_t x, int32_t y, int32_t selector) {
  uint64_t bytes = uint64_t(uint32_t(y)) << 32 | uint32_t(x);
  uint32_t result = 0;
  for (unsigned i = 0; i < 4; ++i)
    result |= uint32_t(bytes >> (8 * ((uint32_t(selector) >> (4 * i)) & 7)) & 0xff) << (8 * i);
  return static_cast<int32_t>(result);
}

/// The low 24 bits, with their sign.
int32_t low24(int32_t x) { return static_cast<int32_t>(uint32_t(x) << 8) >> 8; }

void addProducts(DeviceFunctionTable &table) {
  table.add("mulhi", +[](int32_t x, int32_t y) { return int32_t(int64_t(x) * y >> 32); });
  table.add("umulhi", +[](uint32_t x, uint32_t y) { return uint32_t(uint64_t(x) * y >> 32); });
  table.add("mul64hi", +[](int64_t x, int64_t y) { return int64_t(__int128(x) * y >> 64); });
  table.add(
      "umul64hi",
      +[](uint64_t x, uint64_t y) { return uint64_t(static_cast<unsigned __int128>(x) * y >> 64); });
  table.add("mul24", +[](int32_t x, int32_t y) { return int32_t(uint32_t(low24(x)) * uint32_t(low24(y))); });
  table.add("umul24", +[](uint32_t x, uint32_t y) { return (x & 0xffffff) * (y & 0xffffff); });
}

void addSums(DeviceFunctionTable &table) {
  table.add("abs", +[](int32_t x) { return x < 0 ? int32_t(0 - uint32_t(x)) : x; });
  table.add("llabs", +[](int64_t x) { return x < 0 ? int64_t(0 - uint64_t(x)) : x; });
  table.add(
      "sad", +[](int32_t x, int32_t y, uint32_t z) {
        uint32_t difference = x < y ? uint32_t(y) - uint32_t(x) : uint32_t(x) - uint32_t(y);
        return int32_t(difference + z);
      });
  table.add("usad", +[](uint32_t x, uint32_t y, uint32_t z) { return (x < y ? y - x : x - y) + z; });
  table.add("hadd", +[](int32_t x, int32_t y) { return int32_t((int64_t(x) + y) >> 1); });
  table.add("uhadd", +[](uint32_t x, uint32_t y) { return uint32_t((uint64_t(x) + y) >> 1); });
  table.add("rhadd", +[](int32_t x, int32_t y) { return int32_t((int64_t(x) + y + 1) >> 1); });
  table.add("urhadd", +[](uint32_t x, uint32_t y) { return uint32_t((uint64_t(x) + y + 1) >> 1); });
}

template <typename To, typename From> To reinterpret(From x) { return std::bit_cast<To>(x); }

void addReinterpretations(DeviceFunctionTable &table) {
  table.add("float_as_int", reinterpret<int32_t, float>);
  table.add("float_as_uint", reinterpret<uint32_t, float>);
  table.add("int_as_float", reinterpret<float, int32_t>);
  table.add("uint_as_float", reinterpret<float, uint32_t>);
  table.add("double_as_longlong", reinterpret<int64_t, double>);
  table.add("longlong_as_double", reinterpret<double, int64_t>);
  table.add("double2hiint", +[](double x) { return int32_t(std::bit_cast<uint64_t>(x) >> 32); });
  table.add("double2loint", +[](double x) { return int32_t(std::bit_cast<uint64_t>(x)); });
  table.add(
      "hiloint2double", +[](int32_t high, int32_t low) {
        return std::bit_cast<double>(uint64_t(uint32_t(high)) << 32 | uint32_t(low));
      });
  table.add("int2double_rn", +[](int32_t x) { return static_cast<double>(x); });
  table.add("uint2double_rn", +[](uint32_t x) { return static_cast<double>(x); });
}

} // namespace

void addIntegerFunctions(DeviceFunctionTable &table) {
  addCounts(table);
  table.add("byte_perm", permuteBytes);
  addProducts(table);
  addSums(table);
  addReinterpretations(table);
}

} // namespace despina::cpu
