//===- AngleReduction.h - Angles modulo pi/2 --------------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_TARGET_NVPTX_ANGLEREDUCTION_H
#define DESPINA_LIB_TARGET_NVPTX_ANGLEREDUCTION_H

#include "MathBuilder.h"

namespace despina::nvptx {

/// x = quadrant * pi/2 + rest modulo 2 pi, |rest| <= pi/4 or hardly more. Only the low two bits of
/// `quadrant`, an integer as wide as x, mean something. `rest` is NaN for infinity and NaN.
struct ReducedAngle {
  llvm::Value *rest, *quadrant;
};

/// Ends the builder's block where the angle's size decides the way.
ReducedAngle reduceAngle(MathBuilder &m, llvm::Value *x);

} // namespace despina::nvptx

#endif // DESPINA_LIB_TARGET_NVPTX_ANGLEREDUCTION_H
