//===- MathExpansions.h - Elementary functions without libdevice *- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Bodies in LLVM IR for exp, exp2, log, log2, sin, cos, erf, tanh, rsqrt and fmod, in f32 and f64. They use
// nothing of the target, so tests run the same code on the host.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_TARGET_NVPTX_MATHEXPANSIONS_H
#define DESPINA_LIB_TARGET_NVPTX_MATHEXPANSIONS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/IRBuilder.h"

namespace despina::nvptx {

/// Gives the declaration `__nv_expf` (or another of these) its body. False, and nothing done, where there is
/// no expansion of that name and type.
bool expandDeviceFunction(llvm::Function &function);

/// Gives a declaration the body that `emit` writes into an empty block, as a function of this module alone.
/// False, and nothing done, where that is null or of another type.
bool giveBody(llvm::Function &function, llvm::function_ref<llvm::Value *(llvm::IRBuilder<> &)> emit);

} // namespace despina::nvptx

#endif // DESPINA_LIB_TARGET_NVPTX_MATHEXPANSIONS_H
