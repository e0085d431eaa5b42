//===- TTDescriptorOps.cpp - Tensor descriptors ---------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "despina/IR/TT.h"

using namespace mlir;
using namespace despina::tt;

using Effects = SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

static TensorDescType descTypeOf(Value desc) { return cast<TensorDescType>(desc.getType()); }

//===----------------------------------------------------------------------===//
// MakeTensorDescOp
//===----------------------------------------------------------------------===//

LogicalResult MakeTensorDescOp::verify() {
  TensorDescType type = getType();
  // Both lists together: each has half of the operands that follow the base, whatever was written.
  int64_t rank = type.getBlockType().getRank(), given = getNumOperands() - 1;
  if (given != 2 * rank)
    return emitOpError() << "needs " << rank << " extents and " << rank << " strides for " << type
                         << ", but has " << given << " in all";
  Type element = type.getSignlessBlockType().getElementType();
  if (getBase().getType().getPointeeType() != element)
    return emitOpError() << "describes " << element << ", but has a base of type " << getBase().getType();
  if (getBase().getType().getAddressSpace() != 1)
    return emitOpError() << "describes global memory, but has a base of type " << getBase().getType();
  if (getPadding() == PaddingOption::PAD_NAN && !isa<FloatType>(element))
    return emitOpError() << "cannot pad " << element << " with NaN";
  return success();
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// One index for each dimension, and a tile that has the descriptor's block.
static LogicalResult verifyBlock(Operation *op, TensorDescType desc, Type tile, OperandRange indices) {
  RankedTensorType block = desc.getSignlessBlockType();
  if (int64_t(indices.size()) != block.getRank())
    return op->emitOpError() << "needs " << block.getRank() << " indices for " << desc << ", but has "
                             << indices.size();
  auto actual = cast<RankedTensorType>(tile);
  bool matches = actual.getElementType() == block.getElementType() && actual.getShape() == block.getShape();
  if (!matches)
    return op->emitOpError() << "moves a block of type " << actual << ", but " << desc
                             << " has blocks of type " << block;
  return success();
}

LogicalResult DescriptorLoadOp::verify() {
  return verifyBlock(*this, descTypeOf(getDesc()), getType(), getIndices());
}

void DescriptorLoadOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getDescMutable());
}

LogicalResult DescriptorStoreOp::verify() {
  return verifyBlock(*this, descTypeOf(getDesc()), getSrc().getType(), getIndices());
}

void DescriptorStoreOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Write::get(), &getDescMutable());
}

static bool isBitwise(DescriptorReduceKind kind) {
  return kind == DescriptorReduceKind::AND || kind == DescriptorReduceKind::OR ||
         kind == DescriptorReduceKind::XOR;
}

LogicalResult DescriptorReduceOp::verify() {
  TensorDescType type = descTypeOf(getDesc());
  if (isBitwise(getKind()) && isa<FloatType>(type.getBlockType().getElementType()))
    return emitOpError() << "'" << stringifyDescriptorReduceKind(getKind()) << "' works on integers, not on "
                         << type.getBlockType().getElementType();
  return verifyBlock(*this, type, getSrc().getType(), getIndices());
}

void DescriptorReduceOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getDescMutable());
  effects.emplace_back(MemoryEffects::Write::get(), &getDescMutable());
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Rows of a descriptor whose block is one row: one offset for each row of the tile.
static LogicalResult verifyRows(Operation *op, TensorDescType desc, Type tileType, Type offsetsType) {
  RankedTensorType block = desc.getSignlessBlockType();
  if (block.getRank() != 2 || block.getDimSize(0) != 1)
    return op->emitOpError() << "needs a descriptor of single rows, not " << desc;
  auto offsets = cast<RankedTensorType>(offsetsType), tile = cast<RankedTensorType>(tileType);
  if (offsets.getRank() != 1 ||
      !(offsets.getElementType().isInteger(32) || offsets.getElementType().isInteger(16)))
    return op->emitOpError() << "needs a tile of one dimension of i32 or i16 as row offsets, not " << offsets;
  const int64_t expected[] = {offsets.getDimSize(0), block.getDimSize(1)};
  if (tile.getElementType() != block.getElementType() || tile.getShape() != ArrayRef<int64_t>(expected))
    return op->emitOpError() << "moves " << tile << ", but the descriptor and the row offsets ask for "
                             << block.clone(expected);
  return success();
}

LogicalResult DescriptorGatherOp::verify() {
  return verifyRows(*this, descTypeOf(getDesc()), getType(), getXOffsets().getType());
}

void DescriptorGatherOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getDescMutable());
}

LogicalResult DescriptorScatterOp::verify() {
  return verifyRows(*this, descTypeOf(getDesc()), getSrc().getType(), getXOffsets().getType());
}

void DescriptorScatterOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Write::get(), &getDescMutable());
}
