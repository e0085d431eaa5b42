//===- JIT.h - From an LLVM-dialect module to running code ------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_TARGET_CPU_JIT_H
#define DESPINA_TARGET_CPU_JIT_H

#include "despina/Runtime/Launch.h"
#include "despina/Target/CPU/CPUTarget.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <memory>
#include <optional>
#include <string>

namespace mlir {
class DialectRegistry;
class ModuleOp;
} // namespace mlir

namespace despina::cpu {

/// Which texts to keep beside the object.
struct EmitRequest {
  bool llvm = false;
  bool assembly = false;
};

/// What code emission gives.
struct EmittedCode {
  llvm::SmallVector<char, 0> object; ///< ELF
  std::string llvm;                  ///< optimised LLVM IR, when asked for
  std::string assembly;              ///< when asked for
  /// Seconds: to LLVM IR, LLVM's optimiser, LLVM's code generator.
  double translateSeconds = 0, optimizeSeconds = 0, codegenSeconds = 0;
};

/// Translates a module of the LLVM dialect, optimises it and makes an object for the features of `options`.
/// Anything LLVM reports as an error (bad inline assembly, say) ends up in `error`, and the answer is none.
/// The same module and options give the same bytes.
std::optional<EmittedCode> emitCode(mlir::ModuleOp module, const CPUOptions &options,
                                    const EmitRequest &request, std::string &error);

/// Adds what `emitCode` needs in the module's context.
void registerTranslations(mlir::DialectRegistry &registry);

/// An object loaded into this process; the code is freed with it.
class LoadedCode {
public:
  /// Null after setting `error`: an object with no `entry`, or one that calls a function not in the table of
  /// despina/Runtime/Support.h.
  static std::unique_ptr<LoadedCode> load(llvm::StringRef object, llvm::StringRef entry, std::string &error);
  ~LoadedCode();
  KernelEntry entry() const { return entry_; }

private:
  struct Session;
  LoadedCode();
  std::unique_ptr<Session> session_;
  KernelEntry entry_ = nullptr;
};

} // namespace despina::cpu

#endif // DESPINA_TARGET_CPU_JIT_H
