//===- EmitControl.h - What others need to know of programs -----*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_TARGET_NVPTX_EMITCONTROL_H
#define DESPINA_LIB_TARGET_NVPTX_EMITCONTROL_H

#include "ThreadEmitter.h"

namespace despina::nvptx {

/// The program along an axis of the grid, i32.
mlir::Value programId(ThreadEmitter &e, tt::ProgramIDDim axis);

} // namespace despina::nvptx

#endif // DESPINA_LIB_TARGET_NVPTX_EMITCONTROL_H
