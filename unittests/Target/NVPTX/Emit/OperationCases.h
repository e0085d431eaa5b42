//===- OperationCases.h - A kernel for each operation and type --*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_UNITTESTS_TARGET_NVPTX_OPERATIONCASES_H
#define DESPINA_UNITTESTS_TARGET_NVPTX_OPERATIONCASES_H

#include <string>
#include <vector>

namespace despina::nvptx {

struct OperationCase {
  std::string name; ///< "llvm.fadd f32"
  std::string text; ///< a function of the LLVM dialect; its own name is unique
};

/// Each group holds one operation. Not all cases are legal, or even well-formed.
std::vector<std::vector<OperationCase>> operationCases();

} // namespace despina::nvptx

#endif // DESPINA_UNITTESTS_TARGET_NVPTX_OPERATIONCASES_H
