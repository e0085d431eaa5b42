//===- ThreadCalls.h - Writes calls of thread operations --------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_UNITTESTS_NVPTX_THREADCALLS_H
#define DESPINA_UNITTESTS_NVPTX_THREADCALLS_H

#include "llvm/IR/IRBuilder.h"

namespace despina::test {

/// The name under which code knows callOperation.
inline constexpr const char *threadCallName = "despina_simulated_operation";
/// And sharedMemory.
inline constexpr const char *sharedMemoryName = "despina_simulated_shared_memory";

/// Calls operation number `operation` (ThreadBlock.h) with these operands. A value of `type` comes back;
/// where it is void, nothing that may be used.
llvm::Value *callThreads(llvm::IRBuilder<> &b, unsigned operation, llvm::ArrayRef<llvm::Value *> operands,
                         llvm::Type *type);

} // namespace despina::test

#endif // DESPINA_UNITTESTS_NVPTX_THREADCALLS_H
