//===- FloatConversion.h - From one float format to another -----*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_TARGET_NVPTX_FLOATCONVERSION_H
#define DESPINA_LIB_TARGET_NVPTX_FLOATCONVERSION_H

#include "ThreadEmitter.h"

namespace despina::nvptx {

inline bool isFloat8(mlir::Type type) {
  return mlir::isa<mlir::FloatType>(type) && type.getIntOrFloatBitWidth() == 8;
}

/// Converts values between any two of f64, f32, f16, bf16 and the fp8 formats, correctly rounded: to nearest,
/// ties to even, or towards zero. fp8 values are held as i8. Values that are too large for an fp8 format, and
/// infinities, become its largest number. Neighbours are converted in pairs where the architecture can.
///
/// Float8E4M3B11FNUZ stands for the language's fp8e4b15, which has bias 15 and neither infinities nor NaN; it
/// is reached from f16 (towards zero), with ties away from zero.
Registers convertFloats(ThreadEmitter &e, llvm::ArrayRef<mlir::Value> values, mlir::Type from, mlir::Type to,
                        bool towardZero = false);
inline mlir::Value convertFloat(ThreadEmitter &e, mlir::Value value, mlir::Type from, mlir::Type to,
                                bool towardZero = false) {
  return convertFloats(e, value, from, to, towardZero).front();
}

} // namespace despina::nvptx

#endif // DESPINA_LIB_TARGET_NVPTX_FLOATCONVERSION_H
