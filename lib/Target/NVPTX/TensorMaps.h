//===- TensorMaps.h - Tensor maps and the copies through them ---*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_TARGET_NVPTX_TENSORMAPS_H
#define DESPINA_LIB_TARGET_NVPTX_TENSORMAPS_H

#include "despina/Analysis/LinearLayout.h"
#include "despina/Target/NVPTX/LoweredKernel.h"

#include "mlir/IR/BuiltinOps.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace despina::nvptx {

/// The size of a CUtensorMap, and the alignment of one in memory.
inline constexpr unsigned tensorMapBytes = 128;
/// Attribute of modules: bytes of global scratch memory that each program needs, in tensor maps; i32.
inline constexpr llvm::StringLiteral globalScratchName = "ttg.global_scratch_memory_size";

/// What one copy moves: a block of a tile is cut into boxes.
struct TensorMapBox {
  llvm::SmallVector<int64_t, 5> extents; ///< in the order of the axes
  unsigned swizzleBytes = 0;
  /// Of a buffer for the whole block: (offset, block) to the axes. In it, each box lies in one piece.
  LinearLayout layout;
};
/// None where bulk copies cannot move such a block: less than 16 bytes in a row, more than five axes.
std::optional<TensorMapBox> tensorMapBox(llvm::ArrayRef<int64_t> block, unsigned elementBytes);

/// The recipes of a kernel, as the module's attribute `ttng.tensor_maps`.
void setTensorMaps(mlir::ModuleOp module, llvm::ArrayRef<TensorMapRecipe> recipes);
std::vector<TensorMapRecipe> getTensorMaps(mlir::ModuleOp module);

/// Copies of tiles become copies of buffers with barriers, and maps that programs make get a place in scratch
/// memory (LowerTensorMaps.cpp).
void lowerTensorMaps(mlir::ModuleOp module);

} // namespace despina::nvptx

#endif // DESPINA_LIB_TARGET_NVPTX_TENSORMAPS_H
