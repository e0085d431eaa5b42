//===- TTElementwiseOps.cpp - Casts, pointer arithmetic, debugging ---------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "despina/IR/TT.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace despina::tt;

//===----------------------------------------------------------------------===//
// BitcastOp
//===----------------------------------------------------------------------===//

LogicalResult BitcastOp::verify() {
  Type from = getElementTypeOrSelf(getSrc().getType()), to = getElementTypeOrSelf(getType());
  auto fromPtr = dyn_cast<PointerType>(from), toPtr = dyn_cast<PointerType>(to);
  if (fromPtr && toPtr) {
    if (fromPtr.getAddressSpace() != toPtr.getAddressSpace())
      return emitOpError() << "cannot move a pointer between address spaces " << fromPtr.getAddressSpace()
                           << " and " << toPtr.getAddressSpace();
    return success();
  }
  if (fromPtr || toPtr)
    return emitOpError() << "cannot mix " << from << " and " << to << "; use tt.int_to_ptr or tt.ptr_to_int";
  if (from.getIntOrFloatBitWidth() != to.getIntOrFloatBitWidth())
    return emitOpError() << "cannot reinterpret " << from << " as " << to << ": the widths differ";
  return success();
}

/// The bits of an integer or float attribute under another element type of the same width.
static Attribute reinterpret(Attribute value, Type to) {
  std::optional<APInt> bits;
  if (auto integer = dyn_cast<IntegerAttr>(value))
    bits = integer.getValue();
  else if (auto real = dyn_cast<FloatAttr>(value))
    bits = real.getValue().bitcastToAPInt();
  if (!bits)
    return {};
  if (auto floatType = dyn_cast<FloatType>(to))
    return FloatAttr::get(to, APFloat(floatType.getFloatSemantics(), *bits));
  return to.isSignlessInteger() ? IntegerAttr::get(to, *bits) : Attribute();
}

OpFoldResult BitcastOp::fold(FoldAdaptor adaptor) {
  if (getSrc().getType() == getType())
    return getSrc();
  if (auto inner = getSrc().getDefiningOp<BitcastOp>()) {
    if (inner.getSrc().getType() == getType())
      return inner.getSrc();
    getSrcMutable().assign(inner.getSrc());
    return getResult();
  }
  if (auto splat = dyn_cast_or_null<SplatElementsAttr>(adaptor.getSrc())) {
    Attribute element = reinterpret(splat.getSplatValue<Attribute>(), getElementTypeOrSelf(getType()));
    return element ? DenseElementsAttr::get(cast<ShapedType>(getType()), element) : OpFoldResult();
  }
  return adaptor.getSrc() ? reinterpret(adaptor.getSrc(), getType()) : OpFoldResult();
}

//===----------------------------------------------------------------------===//
// FpToFpOp
//===----------------------------------------------------------------------===//

LogicalResult FpToFpOp::verify() {
  auto from = cast<FloatType>(getElementTypeOrSelf(getSrc().getType()));
  auto to = cast<FloatType>(getElementTypeOrSelf(getType()));
  if (to.getWidth() < from.getWidth() && !getRounding())
    return emitOpError() << "from " << from << " to " << to << " narrows, so it needs a rounding";
  return success();
}

OpFoldResult FpToFpOp::fold(FoldAdaptor) {
  return getSrc().getType() == getType() ? OpFoldResult(getSrc()) : OpFoldResult();
}

//===----------------------------------------------------------------------===//
// AddPtrOp
//===----------------------------------------------------------------------===//

OpFoldResult AddPtrOp::fold(FoldAdaptor adaptor) {
  return matchPattern(adaptor.getOffset(), m_Zero()) ? OpFoldResult(getPtr()) : OpFoldResult();
}

//===----------------------------------------------------------------------===//
// ElementwiseInlineAsmOp, ExternElementwiseOp
//===----------------------------------------------------------------------===//

/// Every operand and result is a scalar, or a tile of one shape.
static LogicalResult verifyOneShape(Operation *op) {
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  auto shapeOf = [](Type type) {
    auto tile = dyn_cast<RankedTensorType>(type);
    return tile ? tile.getShape() : ArrayRef<int64_t>();
  };
  for (Type type : types)
    if (shapeOf(type) != shapeOf(types.front()))
      return op->emitOpError() << "needs operands and results of one shape, but has " << types.front()
                               << " and " << type;
  return success();
}

/// What is not pure may do anything to memory.
static void addForeignEffects(bool isPure,
                              SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  if (isPure)
    return;
  effects.emplace_back(MemoryEffects::Read::get());
  effects.emplace_back(MemoryEffects::Write::get());
}

LogicalResult ElementwiseInlineAsmOp::verify() {
  if (getNumResults() == 0)
    return emitOpError() << "needs at least one result";
  int32_t packed = int32_t(getPackedElement());
  if (packed < 1)
    return emitOpError() << "packs " << packed << " elements; at least 1 is needed";
  if (failed(verifyOneShape(*this)))
    return failure();
  auto tile = dyn_cast<RankedTensorType>(getResult().front().getType());
  if (int64_t elements = tile ? tile.getNumElements() : 1; elements % packed != 0 && tile)
    return emitOpError() << "packs " << packed << " elements, which do not divide the " << elements << " of "
                         << tile;
  return success();
}

void ElementwiseInlineAsmOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  addForeignEffects(getPure(), effects);
}

LogicalResult ExternElementwiseOp::verify() {
  if (getSymbol().empty())
    return emitOpError() << "needs the symbol of a function";
  return verifyOneShape(*this);
}

void ExternElementwiseOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  addForeignEffects(getPure(), effects);
}

//===----------------------------------------------------------------------===//
// PrintOp
//===----------------------------------------------------------------------===//

LogicalResult PrintOp::verify() {
  if (getArgs().size() != getIsSigned().size())
    return emitOpError() << "prints " << getArgs().size() << " values but has signs for "
                         << getIsSigned().size();
  return success();
}
