//===- SimulatedPTX.h - Inline PTX as LLVM IR -------------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_UNITTESTS_NVPTX_SIMULATEDPTX_H
#define DESPINA_UNITTESTS_NVPTX_SIMULATEDPTX_H

#include "llvm/IR/IRBuilder.h"

#include <string>

namespace despina::test {

/// Replaces a call of inline PTX by code that does the same on the host. False and an error for what is not
/// known.
bool expandPTX(llvm::IRBuilder<> &b, llvm::CallInst &call, std::string &error);

} // namespace despina::test

#endif // DESPINA_UNITTESTS_NVPTX_SIMULATEDPTX_H
