//===- Compile.h - From a function to a kernel ------------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_API_COMPILE_H
#define DESPINA_API_COMPILE_H

#include "BackEnd.h"

#include "despina/Lang/CodeGen.h"

namespace despina {

/// What is compiled, and how the host hears of it.
struct CompileRequest {
  std::shared_ptr<const FunctionInfo> function;
  std::vector<KernelArgument> arguments;
  std::vector<std::string> keep;                    ///< stages
  std::function<void(llvm::StringRef)> staticPrint; ///< null: standard output
  std::function<void(const Diagnostic &)> warn;     ///< null: warnings are dropped
  bool sanitizeOverflow = false;
  double parseSeconds = 0; ///< spent by the caller on reading the source
};

/// "language.load" alone, or with a type of its data: "language.load:float32". Sorted.
std::vector<std::string> namesAndTypes(const NamesUsed &used);

/// The target's part of a compilation; an error for a target or option that this build cannot serve.
BackEndOr makeBackEnd(const Target &target, const CompileOptions &options);

/// Compiles, and makes the code ready to run.
Expected<Kernel> compileKernel(const CompileRequest &request, const std::shared_ptr<const BackEnd> &backEnd);

} // namespace despina

#endif // DESPINA_API_COMPILE_H
