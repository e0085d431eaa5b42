//===- BackEnd.h - What a target adds to the compile driver -----*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_API_BACKEND_H
#define DESPINA_API_BACKEND_H

#include "KernelImpl.h"
#include "MLIRErrors.h"

#include "despina/Lang/Semantic.h"

#include "mlir/IR/BuiltinOps.h"

#include <chrono>

namespace despina {

/// Measures stages one after another.
class StageClock {
public:
  explicit StageClock(std::vector<StageTime> &times) : times_(times) {}
  void finish(const char *stage) {
    auto now = std::chrono::steady_clock::now();
    times_.push_back({stage, std::chrono::duration<double>(now - start_).count()});
    start_ = now;
  }
  /// Stages that measured themselves, and whose time has just passed.
  void add(std::vector<StageTime> stages) {
    times_.insert(times_.end(), stages.begin(), stages.end());
    start_ = std::chrono::steady_clock::now();
  }

private:
  std::vector<StageTime> &times_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// A target with its options, checked; it stays with the kernels it made.
class BackEnd {
public:
  explicit BackEnd(Target target) : target_(std::move(target)) {}
  virtual ~BackEnd() = default;

  /// With the architecture filled in.
  const Target &target() const { return target_; }
  /// The stages that follow "tt", in order.
  virtual llvm::ArrayRef<const char *> stages() const = 0;
  virtual LanguageTarget languageTarget() const = 0;
  virtual void registerDialects(mlir::DialectRegistry &registry) const = 0;
  /// Takes a module of tile IR to code; the texts of the stages in `wanted` go into the kernel. `errors`
  /// hears what MLIR reports meanwhile.
  virtual std::optional<Error> emit(mlir::ModuleOp module, llvm::ArrayRef<std::string> wanted,
                                    const MLIRErrors &errors, KernelImpl &kernel) const = 0;

private:
  Target target_;
};

using BackEndOr = Expected<std::shared_ptr<const BackEnd>>;
/// An error for options that the target cannot serve.
BackEndOr makeCPUBackEnd(const Target &target, const CompileOptions &options);
BackEndOr makeCUDABackEnd(const Target &target, const CompileOptions &options);

std::string moduleText(mlir::ModuleOp module);

} // namespace despina

#endif // DESPINA_API_BACKEND_H
