//===- MLIRErrors.h - What MLIR reports during a compile --------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_API_MLIRERRORS_H
#define DESPINA_API_MLIRERRORS_H

#include "despina/despina.h"

#include "mlir/IR/Diagnostics.h"

namespace despina {

/// The first error that MLIR reports, with its place.
class MLIRErrors {
public:
  void handle(mlir::Diagnostic &diagnostic);
  /// What a user sees when a target cannot do what a kernel asks.
  Error asError(const char *fallback) const;
  const std::string &message() const { return message_; }

private:
  std::string message_, file_;
  unsigned line_ = 0, column_ = 0;
};

} // namespace despina

#endif // DESPINA_API_MLIRERRORS_H
