//===- MatrixUnits.h - What the matrix units can multiply -------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_TARGET_NVPTX_MATRIXUNITS_H
#define DESPINA_LIB_TARGET_NVPTX_MATRIXUNITS_H

#include "despina/IR/TT.h"

namespace despina::nvptx {

/// The element types of a product a * b + c.
struct MatrixTypes {
  mlir::Type a, b, c;
  tt::InputPrecision precision = tt::InputPrecision::IEEE;

  MatrixTypes(mlir::Type a, mlir::Type b, mlir::Type c, tt::InputPrecision precision)
      : a(mlir::getElementTypeOrSelf(a)), b(mlir::getElementTypeOrSelf(b)), c(mlir::getElementTypeOrSelf(c)),
        precision(precision) {}
  explicit MatrixTypes(tt::DotOp op)
      : MatrixTypes(op.getA().getType(), op.getB().getType(), op.getC().getType(), op.getInputPrecision()) {}
};

/// The depth K of the instruction mma.sync m16n8 (f64: m8n8, twice) on a chip; 0 if it has none for these.
unsigned mmaDepth(const MatrixTypes &types, unsigned capability);
/// The depth of wgmma; 0 if it has none for these.
unsigned wgmmaDepth(const MatrixTypes &types);

/// How PTX names the type of factors: "f16", "tf32", "e4m3".
llvm::StringRef factorName(mlir::Type type);
/// The same for accumulators: "f32", "s32".
llvm::StringRef accumulatorName(mlir::Type type);

} // namespace despina::nvptx

#endif // DESPINA_LIB_TARGET_NVPTX_MATRIXUNITS_H
