//===- BigStack.h - Enough stack for a compile ------------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_API_BIGSTACK_H
#define DESPINA_API_BIGSTACK_H

#include "llvm/ADT/STLFunctionalExtras.h"

namespace despina {

/// Calls `work` where at least 4 MB of stack are left, which the passes of MLIR and LLVM need for large
/// kernels: here if this thread has them, else on a thread made for the purpose (about 50 us).
void runOnBigStack(llvm::function_ref<void()> work);

} // namespace despina

#endif // DESPINA_API_BIGSTACK_H
