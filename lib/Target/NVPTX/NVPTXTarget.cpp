//===- NVPTXTarget.cpp - What the language must know of the target --------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "despina/Target/NVPTX/NVPTXTarget.h"

#include "despina/Lang/Semantic.h"

#include <cstdlib>
#include <string_view>

namespace despina::nvptx {

namespace {

constexpr unsigned firstWithE4M3 = 89; ///< conversions of fp8e4nv are instructions from here on
constexpr int warpSize = 32;

/// The depth of the smallest matrix instruction.
std::array<int, 3> minDotSize(unsigned bits) {
  switch (bits) {
  case 8: return {1, 1, 32};
  case 16: return {1, 1, 16};
  case 32: return {1, 1, 8};
  case 64: return {1, 1, 4};
  default: return {1, 1, 1};
  }
}

/// TRITON_F32_DEFAULT, where it names a precision.
DotPrecision defaultPrecision() {
  std::optional<TwinVariable> variable = twinVariable("F32_DEFAULT");
  std::string_view name = variable ? std::string_view(variable->value) : "tf32";
  if (name == "tf32x3")
    return DotPrecision::TF32x3;
  if (name == "ieee")
    return DotPrecision::IEEE;
  if (name == "bf16x3")
    return DotPrecision::BF16x3;
  if (name == "bf16x6")
    return DotPrecision::BF16x6;
  return DotPrecision::TF32;
}

} // namespace

LanguageTarget languageTarget(const NVPTXOptions &options) {
  LanguageTarget target;
  target.backend = "cuda";
  target.arch = static_cast<int>(options.arch.number);
  target.warpSize = warpSize;
  target.numWarps = static_cast<int>(options.numWarps);
  target.fp8Types = {ScalarKind::FP8E4B15, ScalarKind::FP8E5};
  if (options.arch.number >= firstWithE4M3)
    target.fp8Types = {ScalarKind::FP8E4B15, ScalarKind::FP8E4NV, ScalarKind::FP8E5};
  target.defaultPrecision = defaultPrecision();
  target.minDotSize = minDotSize;
  target.dotTakesFP8 = true;
  target.debug = options.debug;
  return target;
}

} // namespace despina::nvptx
