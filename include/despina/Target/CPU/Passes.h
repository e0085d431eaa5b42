//===- Passes.h - Passes of the CPU target ----------------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_TARGET_CPU_PASSES_H
#define DESPINA_TARGET_CPU_PASSES_H

namespace despina::cpu {

/// For despina-opt: `cpu-uniform-carries`, `cpu-lower-tiles` and `cpu-convert-to-llvm`.
void registerCPUPasses();

} // namespace despina::cpu

#endif // DESPINA_TARGET_CPU_PASSES_H
