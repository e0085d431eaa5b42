//===- DecomposeDotScaled.h - Scaled products without units -----*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_TRANSFORMS_DECOMPOSEDOTSCALED_H
#define DESPINA_TRANSFORMS_DECOMPOSEDOTSCALED_H

#include "mlir/Pass/Pass.h"

namespace despina {

/// `tt-decompose-dot-scaled`, on functions of tile IR: tt.dot_scaled becomes conversions, products with the
/// scales, and tt.dot.
std::unique_ptr<mlir::Pass> createTTDecomposeDotScaled();

} // namespace despina

#endif // DESPINA_TRANSFORMS_DECOMPOSEDOTSCALED_H
