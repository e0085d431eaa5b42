//===- SimulatedConversions.cpp - Narrower floats on simulated threads ----===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// cvt between floats. Those of two numbers take that of the upper half first.
//
//===----------------------------------------------------------------------===//
#include "ThreadBlock.h"

#include "llvm/ADT/APFloat.h"

namespace despina::test {

namespace {

using llvm::APFloat;
using Calls = llvm::MutableArrayRef<ThreadCall>;

/// The operand that begins at a word.
APFloat operand(const ThreadCall &call, unsigned word, const llvm::fltSemantics &type) {
  unsigned bits = APFloat::semanticsSizeInBits(type);
  uint64_t value = call.operands[word];
  if (bits > 32)
    value |= uint64_t(call.operands[word + 1]) << 32;
  return APFloat(type, llvm::APInt(bits, value));
}

uint32_t rounded(APFloat value, const llvm::fltSemantics &to, llvm::RoundingMode mode, bool saturates) {
  bool isNumber = !value.isNaN(), isNegative = value.isNegative(), isInexact = false;
  value.convert(to, mode, &isInexact);
  if (saturates && isNumber && !value.isFinite())
    value = APFloat::getLargest(to, isNegative);
  return static_cast<uint32_t>(value.bitcastToAPInt().getZExtValue());
}

ThreadOperation convertsPairs(std::string name, const llvm::fltSemantics &to, llvm::RoundingMode mode,
                              bool saturates = false) {
  return {"llvm.nvvm." + name, ThreadOperation::Scope::Thread, [=, &to](BlockState &, Calls calls) {
            ThreadCall &call = calls.front();
            auto half = [&](unsigned word) {
              return rounded(operand(call, word, APFloat::IEEEsingle()), to, mode, saturates);
            };
            call.results[0] = half(0) << APFloat::semanticsSizeInBits(to) | half(1);
          }};
}

void cutDouble(BlockState &, Calls calls) {
  calls[0].results[0] = rounded(operand(calls[0], 0, APFloat::IEEEdouble()), APFloat::IEEEsingle(),
                                llvm::RoundingMode::TowardZero, /*saturates=*/false);
}

} // namespace

std::vector<ThreadOperation> conversionOperations() {
  constexpr auto nearest = llvm::RoundingMode::NearestTiesToEven, zero = llvm::RoundingMode::TowardZero;
  return {{"llvm.nvvm.d2f.rz", ThreadOperation::Scope::Thread, cutDouble},
          convertsPairs("ff2f16x2.rn", APFloat::IEEEhalf(), nearest),
          convertsPairs("ff2f16x2.rz", APFloat::IEEEhalf(), zero),
          convertsPairs("ff2bf16x2.rn", APFloat::BFloat(), nearest),
          convertsPairs("ff2bf16x2.rz", APFloat::BFloat(), zero),
          convertsPairs("ff.to.e5m2x2.rn", APFloat::Float8E5M2(), nearest, /*saturates=*/true),
          convertsPairs("ff.to.e4m3x2.rn", APFloat::Float8E4M3FN(), nearest, /*saturates=*/true)};
}

} // namespace despina::test
