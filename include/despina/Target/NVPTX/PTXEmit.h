//===- PTXEmit.h - From an LLVM-dialect module to PTX -----------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_TARGET_NVPTX_PTXEMIT_H
#define DESPINA_TARGET_NVPTX_PTXEMIT_H

#include "despina/Target/NVPTX/NVPTXTarget.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>
#include <string>

namespace mlir {
class DialectRegistry;
}

namespace despina::nvptx {

struct EmittedPTX {
  std::string ptx;
  std::string llvm; ///< optimised LLVM IR, when asked for
  /// Seconds: to LLVM IR, LLVM's optimiser, LLVM's code generator.
  double translateSeconds = 0, optimizeSeconds = 0, codegenSeconds = 0;
};

/// Translates a module of the LLVM and NVVM dialects, links what it calls of libdevice (names `__nv_*`), or
/// our own expansions where there is no libdevice, optimises it and writes PTX. None after an error:
/// operations that the architecture lacks are reported where they are, through the context's diagnostics, and
/// `error` sums up; whatever LLVM finds wrong is in `error` alone. Sets triple and data layout of the module.
/// The same module and options give the same bytes.
std::optional<EmittedPTX> emitPTX(mlir::ModuleOp module, const NVPTXOptions &options, bool keepLLVM,
                                  std::string &error);

/// Adds what `emitPTX` needs in the module's context.
void registerTranslations(mlir::DialectRegistry &registry);

} // namespace despina::nvptx

#endif // DESPINA_TARGET_NVPTX_PTXEMIT_H
