//===- Passes.h - Passes of the NVIDIA target -------------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_TARGET_NVPTX_PASSES_H
#define DESPINA_TARGET_NVPTX_PASSES_H

namespace despina::nvptx {

/// For despina-opt: `nvptx-emit-threads`.
void registerNVPTXPasses();

} // namespace despina::nvptx

#endif // DESPINA_TARGET_NVPTX_PASSES_H
