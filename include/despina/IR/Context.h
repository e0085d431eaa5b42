//===- Context.h - MLIR contexts for compilation ----------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_IR_CONTEXT_H
#define DESPINA_IR_CONTEXT_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"

#include <functional>
#include <memory>

namespace despina {

/// Registers the dialects that tile IR is made of, for tools that parse files.
void registerTileDialects(mlir::DialectRegistry &registry);

/// Makes a context for one compiling thread: exactly the dialects of tile IR are loaded, and it starts no
/// threads. Targets load what they lower to. `onDiagnostic` gets everything that MLIR reports; without it
/// diagnostics go to standard error.
std::unique_ptr<mlir::MLIRContext> createContext(
    std::function<void(mlir::Diagnostic &)> onDiagnostic = nullptr);

} // namespace despina

#endif // DESPINA_IR_CONTEXT_H
