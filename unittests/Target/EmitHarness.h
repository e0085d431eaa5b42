//===- EmitHarness.h - Runs a few operations emitted by a test --*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_UNITTESTS_TARGET_EMITHARNESS_H
#define DESPINA_UNITTESTS_TARGET_EMITHARNESS_H

#include "despina/Target/CPU/CPUTarget.h"

#include "mlir/IR/Builders.h"

#include <functional>
#include <memory>
#include <vector>

namespace despina::cpu {

class LoadedCode;

/// A function made of whatever `body` emits. It gets the values of `numPointers` pointers and the scratch
/// pointer.
class EmittedFunction {
public:
  using Body =
      std::function<void(mlir::OpBuilder &, mlir::Location, mlir::ValueRange pointers, mlir::Value scratch)>;
  /// Fails the running test and leaves the function empty when compiling fails.
  EmittedFunction(unsigned numPointers, const CPUOptions &options, const Body &body);
  ~EmittedFunction();
  explicit operator bool() const { return code_ != nullptr; }
  void operator()(std::vector<const void *> pointers, void *scratch = nullptr) const;

private:
  void compile(unsigned numPointers, const CPUOptions &options, const Body &body);
  std::unique_ptr<LoadedCode> code_;
};

/// The feature sets that every emitter test runs with: the host's own, and narrower ones it can execute.
std::vector<CPUOptions> testedOptions();

} // namespace despina::cpu

#endif // DESPINA_UNITTESTS_TARGET_EMITHARNESS_H
