//===- EmitAtomic.h - Parts of the emitter of atomics -----------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_TARGET_NVPTX_EMITATOMIC_H
#define DESPINA_LIB_TARGET_NVPTX_EMITATOMIC_H

#include "Copies.h"
#include "ThreadEmitter.h"

namespace despina::nvptx {} // namespace despina::nvptx

#endif // DESPINA_LIB_TARGET_NVPTX_EMITATOMIC_H
