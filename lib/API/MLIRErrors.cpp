//===- MLIRErrors.cpp - What MLIR reports during a compile ----------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "MLIRErrors.h"

#include "Errors.h"

#include "mlir/IR/Location.h"

namespace despina {

void MLIRErrors::handle(mlir::Diagnostic &diagnostic) {
  if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error || !message_.empty())
    return;
  message_ = diagnostic.str();
  diagnostic.getLocation()->walk([&](mlir::Location location) {
    auto position = llvm::dyn_cast<mlir::FileLineColLoc>(location);
    if (!position)
      return mlir::WalkResult::advance();
    file_ = position.getFilename().str();
    line_ = position.getLine();
    column_ = position.getColumn();
    return mlir::WalkResult::interrupt();
  });
}

Error MLIRErrors::asError(const char *fallback) const {
  Error error = plainError("CompilationError", message_.empty() ? fallback : message_);
  error.causeKind = "NotImplementedError";
  error.file = file_;
  error.line = line_;
  error.column = column_;
  if (!file_.empty())
    error.rendered =
        file_ + ":" + std::to_string(line_) + ":" + std::to_string(column_) + ": " + error.rendered;
  return error;
}

} // namespace despina
