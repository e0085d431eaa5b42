//===- ElementwiseTest.cpp - Arithmetic on simulated threads --------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "RandomLayouts.h"
#include "TileKernel.h"

#include "llvm/ADT/APFloat.h"

#include <cmath>

using namespace despina;
using namespace despina::test;

namespace {

using llvm::APFloat;

struct Halves {
  const char *element;
  const llvm::fltSemantics &semantics;
  uint16_t infinity;

  APFloat number(uint16_t bits) const { return APFloat(semantics, llvm::APInt(16, bits)); }
  uint16_t random(Random &random) const {
    uint16_t bits = static_cast<uint16_t>(random());
    return (bits & infinity) == infinity ? bits & 0x83ff : bits; // no NaN: its bits are nobody's business
  }
};

/// One operation on three tiles of 16-bit floats, of which pairs of registers are computed together.
void checkOperation(Random &random, const Halves &type, const LinearLayout &layout,
                    const std::string &operation, APFloat (*compute)(APFloat, APFloat, APFloat),
                    unsigned capability) {
  size_t size = size_t(1) << layout.totalOutBits();
  std::vector<uint16_t> inputs[3], expected;
  for (std::vector<uint16_t> &input : inputs)
    for (size_t i = 0; i < size; ++i)
      input.push_back(type.random(random));
  for (size_t i = 0; i < size; ++i) {
    APFloat result = compute(type.number(inputs[0][i]), type.number(inputs[1][i]), type.number(inputs[2][i]));
    if (result.isNaN()) { // inf - inf
      inputs[0][i] = inputs[1][i] = inputs[2][i] = 0;
      result = compute(type.number(0), type.number(0), type.number(0));
    }
    expected.push_back(static_cast<uint16_t>(result.bitcastToAPInt().getZExtValue()));
  }
  std::string tile = tileType(layout, type.element);
  std::string body;
  for (int i = 0; i < 3; ++i)
    body += "%x" + std::to_string(i) + " = builtin.unrealized_conversion_cast %p" + std::to_string(i) +
            " : !tt.ptr<i8> to " + tile + "\n";
  body += "%y = " + operation + " : " + tile +
          "\n%done = builtin.unrealized_conversion_cast %y, %p3 : " + tile + ", !tt.ptr<i8> to i1\n";
  DumpedTile<uint16_t> result(layout);
  if (runTileKernel("!tt.ptr<i8>;!tt.ptr<i8>;!tt.ptr<i8>;!tt.ptr<i8>", body,
                    {argument(inputs[0].data()), argument(inputs[1].data()), argument(inputs[2].data()),
                     result.argument()},
                    {.capability = capability}))
    result.expect(expected);
}

TEST(Elementwise, PairsOfHalves) {
  constexpr auto nearest = llvm::RoundingMode::NearestTiesToEven;
  Random random(141);
  for (int round = 0; round < 3 && !HasFailure(); ++round) {
    LinearLayout layout = randomDistributed(random, {{tensorDim(1), 5}, {tensorDim(0), 5}}, 5, 2, 0,
                                            below(random, 3), random() % 2);
    unsigned capability = std::array{75u, 80u, 90u}[round % 3];
    for (const Halves &type :
         {Halves{"f16", APFloat::IEEEhalf(), 0x7c00}, Halves{"bf16", APFloat::BFloat(), 0x7f80}}) {
      auto check = [&](const char *operation, APFloat (*compute)(APFloat, APFloat, APFloat)) {
        checkOperation(random, type, layout, operation, compute, capability);
      };
      check("arith.addf %x0, %x1", [](APFloat x, APFloat y, APFloat) { return x.add(y, nearest), x; });
      check("arith.subf %x0, %x1", [](APFloat x, APFloat y, APFloat) { return x.subtract(y, nearest), x; });
      check("arith.mulf %x0, %x1", [](APFloat x, APFloat y, APFloat) { return x.multiply(y, nearest), x; });
      check("arith.addf %x0, %x0", [](APFloat x, APFloat, APFloat) { return x.add(x, nearest), x; });
      check("arith.maximumf %x0, %x1", [](APFloat x, APFloat y, APFloat) { return llvm::maximum(x, y); });
      check("arith.minimumf %x0, %x1", [](APFloat x, APFloat y, APFloat) { return llvm::minimum(x, y); });
    }
  }
}

/// A double next to, or at, the middle of two neighbours in a type, by less than f32 can tell.
double nearMiddle(Random &random, const llvm::fltSemantics &type) {
  bool isInexact = false;
  unsigned bits = APFloat::semanticsSizeInBits(type);
  APFloat low(type, llvm::APInt(bits, random() & ((1u << (bits - 1)) - 1)));
  APFloat high = low;
  if (!low.isFinite() || high.next(/*nextDown=*/false) != APFloat::opOK || !high.isFinite())
    low = high = APFloat::getLargest(type);
  low.convert(APFloat::IEEEdouble(), llvm::RoundingMode::NearestTiesToEven, &isInexact);
  high.convert(APFloat::IEEEdouble(), llvm::RoundingMode::NearestTiesToEven, &isInexact);
  double middle = (low.convertToDouble() + high.convertToDouble()) / 2;
  double offset = (static_cast<double>(below(random, 3)) - 1) * 0x1p-40;
  return (random() % 2 ? 1 : -1) * middle * (1 + offset);
}

double randomDouble(Random &random, const llvm::fltSemantics &type) {
  if (random() % 4)
    return nearMiddle(random, type);
  int exponent = static_cast<int>(below(random, 320)) - 160;
  return std::ldexp(static_cast<double>(random()) * 0x1p-32 - 0.5, exponent);
}

template <typename Bits>
void checkNarrowing(Random &random, const std::string &element, const llvm::fltSemantics &type,
                    const LinearLayout &layout, unsigned capability) {
  std::vector<double> input;
  std::vector<Bits> expected;
  for (size_t i = 0, size = size_t(1) << layout.totalOutBits(); i < size; ++i) {
    input.push_back(randomDouble(random, type));
    APFloat result(input.back());
    bool isInexact = false;
    result.convert(type, llvm::RoundingMode::NearestTiesToEven, &isInexact);
    if (sizeof(Bits) == 1 && !result.isFinite()) // 8 bits saturate
      result = APFloat::getLargest(type, std::signbit(input.back()));
    expected.push_back(static_cast<Bits>(result.bitcastToAPInt().getZExtValue()));
  }
  std::string from = tileType(layout, "f64"), to = tileType(layout, element);
  std::string operation = sizeof(Bits) == 1 ? "tt.fp_to_fp %x, rounding = rtne : " + from + " -> " + to
                                            : "arith.truncf %x : " + from + " to " + to;
  DumpedTile<Bits> result(layout);
  if (runTileKernel(
          "!tt.ptr<i8>;!tt.ptr<i8>",
          "%x = builtin.unrealized_conversion_cast %p0 : !tt.ptr<i8> to " + from + "\n%y = " + operation +
              "\n%done = builtin.unrealized_conversion_cast %y, %p1 : " + to + ", !tt.ptr<i8> to i1\n",
          {argument(input.data()), result.argument()}, {.capability = capability}))
    result.expect(expected);
}

TEST(Elementwise, DoublesAreRoundedOnce) {
  Random random(227);
  for (unsigned capability : {75u, 80u, 90u}) {
    LinearLayout layout = randomDistributed(random, {{tensorDim(1), 5}, {tensorDim(0), 5}}, 5, 2, 0,
                                            below(random, 3), random() % 2);
    checkNarrowing<uint16_t>(random, "f16", APFloat::IEEEhalf(), layout, capability);
    checkNarrowing<uint16_t>(random, "bf16", APFloat::BFloat(), layout, capability);
    checkNarrowing<uint8_t>(random, "f8E5M2", APFloat::Float8E5M2(), layout, capability);
    checkNarrowing<uint8_t>(random, "f8E4M3FN", APFloat::Float8E4M3FN(), layout, capability);
  }
}

} // namespace
