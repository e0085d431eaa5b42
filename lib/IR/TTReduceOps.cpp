//===- TTReduceOps.cpp - Reductions, scans and dots -----------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "despina/IR/TT.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace despina::tt;

//===----------------------------------------------------------------------===//
// ReduceOp, ScanOp
//===----------------------------------------------------------------------===//

static SmallVector<RankedTensorType> tilesOf(ValueRange values) {
  return llvm::map_to_vector(values.getTypes(), [](Type type) { return cast<RankedTensorType>(type); });
}

static SmallVector<Type> elementsOf(ValueRange values) {
  return llvm::map_to_vector(values.getTypes(), [](Type type) { return getElementTypeOrSelf(type); });
}

SmallVector<RankedTensorType> ReduceOp::getInputTypes() { return tilesOf(getSrcs()); }
SmallVector<Type> ReduceOp::getElementTypes() { return elementsOf(getSrcs()); }
SmallVector<RankedTensorType> ScanOp::getInputTypes() { return tilesOf(getSrcs()); }
SmallVector<Type> ScanOp::getElementTypes() { return elementsOf(getSrcs()); }

/// The tile without `axis`; the element type where nothing is left.
static Type withoutAxis(RankedTensorType tile, unsigned axis) {
  SmallVector<int64_t> shape(tile.getShape());
  if (axis < shape.size())
    shape.erase(shape.begin() + axis);
  return shape.empty() ? tile.getElementType() : Type(tile.clone(shape));
}

static Type withoutLayout(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile ? RankedTensorType::get(tile.getShape(), tile.getElementType()) : type;
}

void ReduceOp::build(OpBuilder &builder, OperationState &state, ValueRange srcs, unsigned axis) {
  SmallVector<Type> results;
  for (RankedTensorType tile : tilesOf(srcs))
    results.push_back(withoutAxis(tile, axis));
  build(builder, state, results, srcs, axis);
}

void ScanOp::build(OpBuilder &builder, OperationState &state, ValueRange srcs, unsigned axis, bool reverse) {
  build(builder, state, srcs.getTypes(), srcs, axis, reverse);
}

/// Inputs of one shape, an axis inside it, and one result of the expected type for each input.
static LogicalResult verifyCombineTypes(Operation *op, uint32_t axis,
                                        function_ref<Type(RankedTensorType)> resultType) {
  if (op->getNumOperands() == 0)
    return op->emitOpError() << "needs at least one tile";
  auto first = cast<RankedTensorType>(op->getOperand(0).getType());
  if (axis >= first.getRank())
    return op->emitOpError() << "axis " << int32_t(axis) << " is outside 0 to " << first.getRank() - 1;
  if (op->getNumResults() != op->getNumOperands())
    return op->emitOpError() << "has " << op->getNumOperands() << " tiles but " << op->getNumResults()
                             << " results";
  for (auto [index, operand, result] : llvm::enumerate(op->getOperandTypes(), op->getResultTypes())) {
    auto tile = cast<RankedTensorType>(operand);
    if (tile.getShape() != first.getShape())
      return op->emitOpError() << "needs tiles of one shape, but has " << first << " and " << tile;
    // Layouts of a tile and its reduction differ: LayoutInference.h ties them.
    if (Type expected = resultType(tile); withoutLayout(result) != withoutLayout(expected))
      return op->emitOpError() << "result " << index << " is " << result << ", expected " << expected;
  }
  return success();
}

/// The region takes the elements twice and ends with one value of each.
static LogicalResult verifyCombineRegion(Operation *op, ArrayRef<Type> elements, StringRef terminator) {
  Block &block = op->getRegion(0).front();
  SmallVector<Type> expected(elements);
  llvm::append_range(expected, elements);
  if (block.getArgumentTypes() != TypeRange(expected))
    return op->emitOpError() << "has a region of arguments (" << block.getArgumentTypes() << "), expected ("
                             << TypeRange(expected) << ")";
  if (!block.mightHaveTerminator() || block.getTerminator()->getName().getStringRef() != terminator)
    return op->emitOpError() << "has a region that does not end with '" << terminator << "'";
  if (TypeRange types = block.getTerminator()->getOperandTypes(); types != TypeRange(elements))
    return op->emitOpError() << "has a region that gives (" << types << "), expected (" << TypeRange(elements)
                             << ")";
  return success();
}

LogicalResult ReduceOp::verify() {
  return verifyCombineTypes(*this, getAxis(),
                            [&](RankedTensorType tile) { return withoutAxis(tile, getAxis()); });
}

LogicalResult ReduceOp::verifyRegions() {
  return verifyCombineRegion(*this, getElementTypes(), ReduceReturnOp::getOperationName());
}

LogicalResult ScanOp::verify() {
  return verifyCombineTypes(*this, getAxis(), [](RankedTensorType tile) -> Type { return tile; });
}

LogicalResult ScanOp::verifyRegions() {
  return verifyCombineRegion(*this, getElementTypes(), ScanReturnOp::getOperationName());
}

//===----------------------------------------------------------------------===//
// DotOp
//===----------------------------------------------------------------------===//

static LogicalResult verifyDotShapes(DotOp op, RankedTensorType a, RankedTensorType b, RankedTensorType c) {
  int64_t rank = a.getRank();
  if (rank != 2 && rank != 3)
    return op.emitOpError() << "needs matrices or batches of them, not " << a;
  if (b.getRank() != rank || c.getRank() != rank)
    return op.emitOpError() << "needs operands of one rank, but has " << a << ", " << b << " and " << c;
  if (rank == 3 && (a.getDimSize(0) != b.getDimSize(0) || a.getDimSize(0) != c.getDimSize(0)))
    return op.emitOpError() << "needs one batch extent, but has " << a.getDimSize(0) << ", "
                            << b.getDimSize(0) << " and " << c.getDimSize(0);
  if (a.getDimSize(rank - 1) != b.getDimSize(rank - 2))
    return op.emitOpError() << "multiplies " << a.getDimSize(rank - 1) << " columns of a with "
                            << b.getDimSize(rank - 2) << " rows of b";
  if (c.getDimSize(rank - 2) != a.getDimSize(rank - 2) || c.getDimSize(rank - 1) != b.getDimSize(rank - 1))
    return op.emitOpError() << "accumulates a " << a.getDimSize(rank - 2) << "x" << b.getDimSize(rank - 1)
                            << " product into " << c;
  return success();
}

LogicalResult DotOp::verify() {
  auto a = cast<RankedTensorType>(getA().getType()), b = cast<RankedTensorType>(getB().getType());
  auto c = cast<RankedTensorType>(getC().getType());
  if (failed(verifyDotShapes(*this, a, b, c)))
    return failure();
  Type lhs = a.getElementType(), rhs = b.getElementType(), acc = c.getElementType();
  // Different fp8 formats may meet; anything else has one type.
  bool bothFP8 = isa<FloatType>(lhs) && isa<FloatType>(rhs) && lhs.getIntOrFloatBitWidth() == 8 &&
                 rhs.getIntOrFloatBitWidth() == 8;
  if (lhs != rhs && !bothFP8)
    return emitOpError() << "needs a and b of one element type, but has " << lhs << " and " << rhs;
  if (isa<FloatType>(lhs) != isa<FloatType>(acc) || isa<PointerType>(lhs) || isa<PointerType>(acc))
    return emitOpError() << "cannot accumulate products of " << lhs << " in " << acc;
  if (acc.getIntOrFloatBitWidth() < lhs.getIntOrFloatBitWidth())
    return emitOpError() << "accumulates products of " << lhs << " in the narrower " << acc;
  return success();
}
