//===- LLVMPipeline.h - What runs of LLVM's passes share --------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_TARGET_LLVMPIPELINE_H
#define DESPINA_TARGET_LLVMPIPELINE_H

#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/Passes/PassBuilder.h"

#include <chrono>

namespace despina {

inline double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The analyses of all levels, each knowing the others. The order of the members is that in which LLVM wants
/// them to end, backwards.
struct LLVMAnalyses {
  explicit LLVMAnalyses(llvm::PassBuilder &builder) {
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(callGraph);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, callGraph, modules);
  }

  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
};

} // namespace despina

#endif // DESPINA_TARGET_LLVMPIPELINE_H
