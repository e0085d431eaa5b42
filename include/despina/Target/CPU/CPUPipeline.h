//===- CPUPipeline.h - From tile IR to the LLVM dialect ---------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_TARGET_CPU_CPUPIPELINE_H
#define DESPINA_TARGET_CPU_CPUPIPELINE_H

#include "despina/Target/CPU/CPUTarget.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>
#include <string>

namespace mlir {
class DialectRegistry;
}

namespace despina::cpu {

/// What a launch must know of a lowered kernel.
struct LoweredKernel {
  std::string entry;       ///< symbol of the one entry point (Runtime/Launch.h)
  size_t scratchBytes = 0; ///< per thread
};

/// The dialects that lowering makes, in a registry; `lowerToLLVMDialect` loads them as it needs them.
void registerLoweringDialects(mlir::DialectRegistry &registry);

/// Runs the whole pipeline: tile passes, tiles to loops, everything to the LLVM dialect. None after reporting
/// through the context's diagnostics (with the location of the operation that cannot be lowered).
std::optional<LoweredKernel> lowerToLLVMDialect(mlir::ModuleOp module, const CPUOptions &options);

} // namespace despina::cpu

#endif // DESPINA_TARGET_CPU_CPUPIPELINE_H
