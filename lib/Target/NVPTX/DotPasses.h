//===- DotPasses.h - Passes that prepare matrix products --------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Between ttg with tt.dot and ttg with the operations of the matrix units. What stays a tt.dot is computed
// by plain multiply-adds (EmitDotFMA.cpp).
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_TARGET_NVPTX_DOTPASSES_H
#define DESPINA_LIB_TARGET_NVPTX_DOTPASSES_H

#include "despina/Target/NVPTX/NVPTXTarget.h"

#include "mlir/Pass/Pass.h"

namespace despina::nvptx {

/// Products of f32 of more precision than tf32, as sums of products that the matrix units have.
std::unique_ptr<mlir::Pass> createF32DotTCPass(const Architecture &arch = {90, 'a'});
/// tt.dot to ttng.mma and ttng.warp_group_dot.
std::unique_ptr<mlir::Pass> createAccelerateMatmulPass(const Architecture &arch = {90, 'a'});
/// Transposes between memory and a matrix unit become other views of the buffer.
std::unique_ptr<mlir::Pass> createOptimizeDotOperandsPass();
/// Conversions to the layouts that mma.sync reads go through a buffer that ldmatrix reads.
std::unique_ptr<mlir::Pass> createReduceDataDuplicationPass();
/// With several blocks per program: what a block keeps in its memory, its threads have.
std::unique_ptr<mlir::Pass> createLocalizeBlocksPass();

/// For despina-opt: nvptx-f32-dot-tc, nvptx-accelerate-matmul, nvptx-optimize-dot-operands,
/// nvptx-reduce-data-duplication, nvptx-localize-blocks.
void registerDotPasses();

} // namespace despina::nvptx

#endif // DESPINA_LIB_TARGET_NVPTX_DOTPASSES_H
