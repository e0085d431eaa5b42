//===- Compile.h - From a function to a kernel ------------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_API_COMPILE_H
#define DESPINA_API_COMPILE_H

#include "KernelImpl.h"

#include "despina/Lang/CodeGen.h"

namespace despina {

/// What is compiled, and how the host hears of it.
struct CompileRequest {
  std::shared_ptr<const FunctionInfo> function;
  std::vector<KernelArgument> arguments;
  CompileOptions options;
  std::function<void(llvm::StringRef)> staticPrint; ///< null: standard output
  std::function<void(const Diagnostic &)> warn;     ///< null: warnings are dropped
  double parseSeconds = 0;                          ///< spent by the caller on reading the source
};

/// Options of the CPU target; an error for a target or option that this build cannot serve.
Expected<cpu::CPUOptions> checkTarget(const Target &target, const CompileOptions &options);

/// Compiles for the CPU and loads the code.
Expected<Kernel> compileKernel(const CompileRequest &request, const cpu::CPUOptions &options);

} // namespace despina

#endif // DESPINA_API_COMPILE_H
