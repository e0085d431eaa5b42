//===- TTTypes.cpp - Types of the tile dialect ----------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "despina/IR/TT.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace despina::tt;

#define GET_TYPEDEF_CLASSES
#include "despina/IR/TTTypes.cpp.inc"

void TTDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "despina/IR/TTTypes.cpp.inc"
      >();
}

LogicalResult PointerType::verify(function_ref<InFlightDiagnostic()> emitError, Type pointee,
                                  int addressSpace) {
  if (!pointee.isSignlessInteger() && !isa<FloatType, PointerType>(pointee))
    return emitError() << "a pointer points to a float, a signless integer or a pointer, not to " << pointee;
  if (addressSpace < 0)
    return emitError() << "address space " << addressSpace << " is negative";
  return success();
}

LogicalResult TensorDescType::verify(function_ref<InFlightDiagnostic()> emitError, RankedTensorType block) {
  constexpr int64_t maxRank = 5;
  if (!block.getElementType().isIntOrFloat())
    return emitError() << "a descriptor describes floats or integers, not " << block.getElementType();
  if (block.getRank() < 1 || block.getRank() > maxRank)
    return emitError() << "a descriptor has 1 to " << maxRank << " dimensions, not " << block.getRank();
  if (!block.hasStaticShape())
    return emitError() << "a descriptor has a block of known extents, not " << block;
  int64_t elements = 1;
  for (int64_t extent : block.getShape()) {
    if (!llvm::isPowerOf2_64(static_cast<uint64_t>(extent)))
      return emitError() << "a descriptor has a block of power-of-two extents, not " << block;
    if (extent > maxTileElements / elements)
      return emitError() << "a descriptor has a block of at most " << maxTileElements << " elements, not "
                         << block;
    elements *= extent;
  }
  return success();
}

RankedTensorType TensorDescType::getSignlessBlockType() const {
  auto integer = dyn_cast<IntegerType>(getBlockType().getElementType());
  if (!integer || integer.isSignless())
    return getBlockType();
  return getBlockType().clone(IntegerType::get(getContext(), integer.getWidth()));
}

static LogicalResult verifyTile(Operation *op, RankedTensorType tile) {
  if (!tile.hasStaticShape())
    return op->emitOpError() << "has a tile of unknown extents: " << tile;
  if (tile.getRank() == 0)
    return op->emitOpError() << "has a tile without dimensions: " << tile << "; use the scalar type";
  int64_t elements = 1;
  for (int64_t extent : tile.getShape()) {
    if (!llvm::isPowerOf2_64(static_cast<uint64_t>(extent)))
      return op->emitOpError() << "has a tile whose extent " << extent << " is no power of two: " << tile;
    // Checked at each step, so that the product cannot overflow.
    if (extent > maxTileElements / elements)
      return op->emitOpError() << "has a tile of more than " << maxTileElements << " elements: " << tile;
    elements *= extent;
  }
  return success();
}

LogicalResult despina::tt::verifyTiles(Operation *op) {
  for (TypeRange types : {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    for (Type type : types)
      if (auto tile = dyn_cast<RankedTensorType>(type))
        if (failed(verifyTile(op, tile)))
          return failure();
  return success();
}
