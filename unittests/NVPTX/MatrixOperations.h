//===- MatrixOperations.h - Matrix units on the host ------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_UNITTESTS_NVPTX_MATRIXOPERATIONS_H
#define DESPINA_UNITTESTS_NVPTX_MATRIXOPERATIONS_H

#include "ThreadBlock.h"

namespace despina::test {

/// mma.sync and wgmma.mma_async, by the opcode in PTX; "registers." before it where a wgmma has its first
/// factor in registers.
std::vector<ThreadOperation> matrixOperations();

} // namespace despina::test

#endif // DESPINA_UNITTESTS_NVPTX_MATRIXOPERATIONS_H
