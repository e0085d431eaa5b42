//===- MatrixUnits.cpp - What the matrix units can multiply ---------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "MatrixUnits.h"

using namespace mlir;

namespace despina::nvptx {

/// The fp8 formats that chips have.
static bool isHardwareFloat8(Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); }

unsigned mmaDepth(const MatrixTypes &types, unsigned capability) {
  auto since = [&](unsigned first, unsigned depth) { return capability >= first ? depth : 0; };
  if (types.a.isF16() && (types.c.isF32() || types.c.isF16()))
    return capability >= 80 ? 16 : since(75, 8);
  if (types.a.isBF16() && types.c.isF32())
    return since(80, 16);
  if (types.a.isF32() && types.c.isF32() && types.precision == tt::InputPrecision::TF32)
    return since(80, 8);
  if (isHardwareFloat8(types.a) && isHardwareFloat8(types.b) && types.c.isF32())
    return since(89, 32);
  if (types.a.isInteger(8) && types.c.isInteger(32))
    return since(80, 32);
  if (types.a.isF64() && types.c.isF64())
    return since(80, 4);
  return 0;
}

unsigned wgmmaDepth(const MatrixTypes &types) {
  if (types.a.isF16() && (types.c.isF32() || types.c.isF16()))
    return 16;
  if (types.a.isBF16() && types.c.isF32())
    return 16;
  if (types.a.isF32() && types.c.isF32() && types.precision == tt::InputPrecision::TF32)
    return 8;
  if (isHardwareFloat8(types.a) && isHardwareFloat8(types.b) && (types.c.isF32() || types.c.isF16()))
    return 32;
  if (types.a.isInteger(8) && types.c.isInteger(32))
    return 32;
  return 0;
}

StringRef factorName(Type type) {
  if (type.isF32())
    return "tf32";
  if (type.isF16())
    return "f16";
  if (type.isBF16())
    return "bf16";
  if (isa<Float8E4M3FNType>(type))
    return "e4m3";
  if (isa<Float8E5M2Type>(type))
    return "e5m2";
  return type.isF64() ? "f64" : "s8";
}

StringRef accumulatorName(Type type) {
  if (type.isF32())
    return "f32";
  if (type.isF16())
    return "f16";
  return type.isF64() ? "f64" : "s32";
}

} // namespace despina::nvptx
