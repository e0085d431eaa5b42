//===- TTTraits.h - Traits of tile operations -------------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_IR_TTTRAITS_H
#define DESPINA_IR_TTTRAITS_H

#include "mlir/IR/OpDefinition.h"

namespace despina::tt {

/// The most elements a tile may have.
inline constexpr int64_t maxTileElements = int64_t(1) << 20;

/// Checks every tile among the operands and results.
mlir::LogicalResult verifyTiles(mlir::Operation *op);

/// Every tile has at least one dimension, static power-of-two extents and at most `maxTileElements` elements.
template <typename ConcreteType>
class ValidTiles : public mlir::OpTrait::TraitBase<ConcreteType, ValidTiles> {
public:
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) { return verifyTiles(op); }
};

} // namespace despina::tt

#endif // DESPINA_IR_TTTRAITS_H
