//===- LLVMGuard.h - LLVM's errors as values --------------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// LLVM answers what it cannot do in three ways: with a diagnostic (its own handler ends the process), with a
// fatal error (which ends the process), and with undefined behaviour. The targets check what they hand over,
// so that the last two do not happen; this is the net below.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_TARGET_LLVMGUARD_H
#define DESPINA_TARGET_LLVMGUARD_H

#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>

namespace llvm {
class LLVMContext;
}

namespace despina {

/// Calls `work`; false, with the reason, where LLVM found itself unable to go on ("Cannot select", ...). What
/// it had allocated is lost, which is better than the process.
bool runGuarded(llvm::function_ref<void()> work, std::string &reason);

/// Diagnostics of severity error, of anything in `context`, are appended to `errors`, which must outlive it.
void collectErrors(llvm::LLVMContext &context, std::string &errors);

} // namespace despina

#endif // DESPINA_TARGET_LLVMGUARD_H
