//===- RemainderExpansion.h - fmod without libdevice ------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_TARGET_NVPTX_REMAINDEREXPANSION_H
#define DESPINA_LIB_TARGET_NVPTX_REMAINDEREXPANSION_H

#include "MathBuilder.h"

namespace despina::nvptx {

/// C's fmod(x, y): exact, with the sign of x.
llvm::Value *emitRemainder(MathBuilder &m, llvm::Value *x, llvm::Value *y);

} // namespace despina::nvptx

#endif // DESPINA_LIB_TARGET_NVPTX_REMAINDEREXPANSION_H
