//===- TensorMaps.h - Tensor maps and the copies through them ---*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_TARGET_NVPTX_TENSORMAPS_H
#define DESPINA_LIB_TARGET_NVPTX_TENSORMAPS_H

#include "despina/Analysis/LayoutCluster.h"
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
};
/// None where bulk copies cannot move such a block of a tile: less than 16 bytes in a row, more than five
/// axes. Where so many blocks of a cluster share the tile along its first axis, boxes are no larger than what
/// one of them has.
std::optional<TensorMapBox> tensorMapBox(llvm::ArrayRef<int64_t> block, unsigned elementBytes,
                                         unsigned clusterBlocks = 1);
/// A buffer that such boxes fill, each in one piece: (offset, block) to the axes. None if blocks that share
/// the tile this way would have parts of boxes.
std::optional<LinearLayout> tensorMapBuffer(llvm::ArrayRef<int64_t> block, unsigned elementBytes,
                                            const TensorMapBox &box, const ClusterSplit &split);

/// The recipes of a kernel, as the module's attribute `ttng.tensor_maps`.
void setTensorMaps(mlir::ModuleOp module, llvm::ArrayRef<TensorMapRecipe> recipes);
std::vector<TensorMapRecipe> getTensorMaps(mlir::ModuleOp module);

/// Copies of tiles become copies of buffers with barriers, and maps that programs make get a place in scratch
/// memory (LowerTensorMaps.cpp).
void lowerTensorMaps(mlir::ModuleOp module);

} // namespace despina::nvptx

#endif // DESPINA_LIB_TARGET_NVPTX_TENSORMAPS_H
