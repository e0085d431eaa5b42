//===- LLVMGuard.cpp - LLVM's errors as values ----------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "despina/Target/LLVMGuard.h"

#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

#include <csetjmp>
#include <mutex>

namespace despina {

namespace {

/// Where a fatal error of LLVM leads on this thread.
struct RecoveryPoint {
  std::jmp_buf jump;
  std::string reason;
};
thread_local RecoveryPoint *recoveryPoint = nullptr;

void onFatalError(void *, const char *reason, bool) {
  if (RecoveryPoint *point = recoveryPoint) {
    point->reason = reason;
    std::longjmp(point->jump, 1);
  }
}

/// Collects errors. LLVM's own handler would end the process.
class CollectErrors : public llvm::DiagnosticHandler {
public:
  explicit CollectErrors(std::string &errors) : errors_(errors) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() != llvm::DS_Error)
      return true;
    llvm::raw_string_ostream out(errors_);
    llvm::DiagnosticPrinterRawOStream printer(out);
    out << (errors_.empty() ? "" : "\n");
    info.print(printer);
    return true;
  }

private:
  std::string &errors_;
};

} // namespace

bool runGuarded(llvm::function_ref<void()> work, std::string &reason) {
  static std::once_flag once;
  std::call_once(once, [] { llvm::install_fatal_error_handler(onFatalError); });
  RecoveryPoint point;
  RecoveryPoint *outer = recoveryPoint;
  recoveryPoint = &point;
  bool finished = setjmp(point.jump) == 0;
  if (finished)
    work();
  recoveryPoint = outer;
  if (!finished)
    reason = point.reason;
  return finished;
}

void collectErrors(llvm::LLVMContext &context, std::string &errors) {
  context.setDiagnosticHandler(std::make_unique<CollectErrors>(errors));
}

} // namespace despina
