//===- NVPTXPipeline.h - From tile IR to the LLVM dialect -------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// tt --tile passes--> tt --convert-to-ttg--> ttg --layout, dot and memory passes--> ttg --ThreadEmitter-->
// llvm
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_TARGET_NVPTX_NVPTXPIPELINE_H
#define DESPINA_TARGET_NVPTX_NVPTXPIPELINE_H

#include "despina/Target/NVPTX/LoweredKernel.h"
#include "despina/Target/NVPTX/NVPTXTarget.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

#include <functional>
#include <optional>

namespace mlir {
class DialectRegistry;
}

namespace despina::nvptx {

/// The dialects that lowering makes, in a registry; lowering loads them as it needs them.
void registerLoweringDialects(mlir::DialectRegistry &registry);

/// The passes from tt to ttg with shared memory laid out and barriers in place.
void buildTTGPipeline(mlir::OpPassManager &manager, const NVPTXOptions &options);

/// Runs the whole pipeline. None after reporting through the context's diagnostics (with the location of the
/// operation that cannot be lowered). `afterTTG`, if any, sees the module as the thread emitter gets it.
std::optional<LoweredKernel> lowerToLLVMDialect(mlir::ModuleOp module, const NVPTXOptions &options,
                                                const std::function<void(mlir::ModuleOp)> &afterTTG = {});

} // namespace despina::nvptx

#endif // DESPINA_TARGET_NVPTX_NVPTXPIPELINE_H
