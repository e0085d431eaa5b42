//===- ElementwiseTest.cpp - Arithmetic on simulated threads --------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "RandomLayouts.h"
#include "TileKernel.h"

#include "llvm/ADT/APFloat.h"

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

} // namespace
