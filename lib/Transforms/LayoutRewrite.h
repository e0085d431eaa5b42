//===- LayoutRewrite.h - What layout passes share ---------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_TRANSFORMS_LAYOUTREWRITE_H
#define DESPINA_LIB_TRANSFORMS_LAYOUTREWRITE_H

#include "despina/IR/TTG.h"

#include "mlir/IR/Builders.h"

namespace despina {

/// forEachValueFlow of the tiles alone.
void forEachFlow(mlir::Operation *op, llvm::function_ref<void(mlir::OpOperand &from, mlir::Value to)> visit);
/// The flows of one operand, if it is such.
void forEachFlowOf(mlir::OpOperand &operand, llvm::function_ref<void(mlir::Value to)> visit);
/// Whether the operation hands tiles on.
bool isControlFlow(mlir::Operation *op);

/// The value in another layout: itself if it has it, else a conversion at the builder's position.
mlir::Value convertedTo(mlir::Value value, ttg::LayoutAttr layout, mlir::OpBuilder &builder,
                        mlir::Location loc);
/// Gives the tile another layout, whatever uses it. A constant's value follows.
void retype(mlir::Value value, ttg::LayoutAttr layout);

/// Gives all tiles of an operation that have the layout's shape this layout, with conversions of its operands
/// before it and of its results after it.
void setUniformLayout(mlir::Operation *op, ttg::LayoutAttr layout);

/// Whether the operation needs its tiles in the layouts that they have: memory is accessed in the order that
/// ttg-coalesce has chosen, matrix units read certain layouts, and nothing is known of other dialects. Loads
/// and stores with fewer elements than there are threads may be laid out anew.
bool hasFixedLayouts(mlir::Operation *op);
/// Whether an operand may have any layout, independent of all other tiles of its operation.
bool takesAnyLayout(mlir::OpOperand &operand);

/// Estimated cycles of a warp, for comparing ways to get a tile. What stands in loops counts several times.
class LayoutCosts {
public:
  /// Moving a tile of these elements between layouts, once.
  int64_t conversion(mlir::Type element, ttg::LayoutAttr from, ttg::LayoutAttr to);
  /// Running the operation with its results in this layout, once.
  int64_t computation(mlir::Operation *op, ttg::LayoutAttr layout);
  /// How often a block runs, compared with the function.
  static int64_t weight(mlir::Block *block);

private:
  enum class Means { Nothing, Registers, Shuffle, SharedMemory, OtherBlocks };
  Means meansBetween(ttg::LayoutAttr from, ttg::LayoutAttr to);
  llvm::DenseMap<std::pair<mlir::Attribute, mlir::Attribute>, Means> known;
};

} // namespace despina

#endif // DESPINA_LIB_TRANSFORMS_LAYOUTREWRITE_H
