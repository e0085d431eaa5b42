//===- EmitBuffer.h - Tiles to and from shared buffers ----------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_TARGET_NVPTX_EMITBUFFER_H
#define DESPINA_LIB_TARGET_NVPTX_EMITBUFFER_H

#include "ThreadEmitter.h"

#include "despina/Analysis/LayoutBuffer.h"
#include "despina/Analysis/LayoutMatrixLoad.h"

namespace despina::nvptx {

/// How a tile and a buffer meet. None after an error was reported at `op`.
std::optional<BufferAccess> planAccess(mlir::Operation *op, ttg::MemDescType buffer,
                                       mlir::RankedTensorType tile, unsigned maxVectorBits = 128);
/// Whether ldmatrix (stmatrix) can move it.
std::optional<MatrixLoad> planMatrixAccess(ttg::MemDescType buffer, mlir::RankedTensorType tile);

/// The registers of a tile that is read from a buffer, by ldmatrix if that fits. None after an error was
/// reported at `op`.
std::optional<Registers> loadBuffer(ThreadEmitter &e, mlir::Operation *op,
                                    mlir::TypedValue<ttg::MemDescType> buffer, mlir::RankedTensorType tile);
/// Writes the registers of a tile.
mlir::LogicalResult storeBuffer(ThreadEmitter &e, mlir::Operation *op, llvm::ArrayRef<mlir::Value> registers,
                                mlir::RankedTensorType tile, mlir::TypedValue<ttg::MemDescType> buffer);

/// Stores and loads along a plan; `base` and `window` as buffers have them (null: no window).
void storeRegisters(ThreadEmitter &e, const BufferAccess &plan, llvm::ArrayRef<mlir::Value> registers,
                    mlir::Value base, mlir::Value window = {});
Registers loadRegisters(ThreadEmitter &e, const BufferAccess &plan, mlir::Type type, mlir::Value base,
                        mlir::Value window = {});

} // namespace despina::nvptx

#endif // DESPINA_LIB_TARGET_NVPTX_EMITBUFFER_H
