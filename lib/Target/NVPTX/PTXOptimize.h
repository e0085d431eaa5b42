//===- PTXOptimize.h - LLVM's optimiser for kernels -------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_TARGET_NVPTX_PTXOPTIMIZE_H
#define DESPINA_LIB_TARGET_NVPTX_PTXOPTIMIZE_H

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace despina::nvptx {

/// Makes all but the kernels internal, and marks what must not move between threads.
void prepareModule(llvm::Module &module);

void optimizeModule(llvm::Module &module, llvm::TargetMachine &machine);

} // namespace despina::nvptx

#endif // DESPINA_LIB_TARGET_NVPTX_PTXOPTIMIZE_H
