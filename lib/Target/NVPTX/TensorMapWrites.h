//===- TensorMapWrites.h - When bulk copies may write -----------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// What a bulk copy to global memory does at the edges of a tensor is less than the language says (seen on an
// H200): a negative coordinate is an illegal instruction, and the innermost axis ends at the next multiple of
// 16 bytes only. Reads know neither limit.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_TARGET_NVPTX_TENSORMAPWRITES_H
#define DESPINA_LIB_TARGET_NVPTX_TENSORMAPWRITES_H

#include "despina/Analysis/AxisInfo.h"
#include "despina/IR/TT.h"

namespace despina::nvptx {

/// Whether all writes at these indices are right, whatever the arguments of the kernel are.
bool isAlwaysWritable(mlir::ValueRange indices, tt::MakeTensorDescOp desc, const AxisInfoAnalysis &axisInfo);

/// Whether a write at these indices is right; null where it always is.
mlir::Value isWritable(mlir::OpBuilder &b, mlir::Location loc, mlir::ValueRange indices,
                       tt::MakeTensorDescOp desc, const AxisInfoAnalysis &axisInfo);

/// What a minimum or maximum takes in, with elements beyond the row replaced by such as change nothing.
mlir::Value maskedBeyondRow(mlir::OpBuilder &b, tt::DescriptorReduceOp reduce, tt::MakeTensorDescOp desc,
                            const AxisInfoAnalysis &axisInfo);

} // namespace despina::nvptx

#endif // DESPINA_LIB_TARGET_NVPTX_TENSORMAPWRITES_H
