//===- LineInfo.h - Lines of the program in the code ------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_TARGET_NVPTX_LINEINFO_H
#define DESPINA_LIB_TARGET_NVPTX_LINEINFO_H

#include "mlir/IR/BuiltinOps.h"

namespace despina::nvptx {

/// Gives the functions of a module of the LLVM dialect what LLVM needs to write .loc lines, for profilers and
/// debuggers. Operations keep their line, but not who called the function that it is in.
void addLineInfo(mlir::ModuleOp module);

} // namespace despina::nvptx

#endif // DESPINA_LIB_TARGET_NVPTX_LINEINFO_H
