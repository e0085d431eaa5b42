//===- TensorMapWrites.cpp - When bulk copies may write -------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "TensorMapWrites.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace despina::nvptx {

namespace {

constexpr int64_t writeUnit = 16; // bytes
/// Elements in the unit that ends a row.
int64_t elementsPerUnit(tt::MakeTensorDescOp desc) {
  Type element = desc.getType().getBlockType().getElementType();
  return writeUnit / std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8);
}

bool endsWithUnit(tt::MakeTensorDescOp desc, const AxisInfoAnalysis &axisInfo) {
  return axisInfo.lookup(desc.getShape().back()).divisorOfAll() % elementsPerUnit(desc) == 0;
}

/// Whether a row ends with a unit, or the block before the row does.
Value keepsToRow(OpBuilder &b, Location loc, Value start, tt::MakeTensorDescOp desc) {
  Value extent = desc.getShape().back();
  auto constant = [&](int64_t value) { return arith::ConstantIntOp::create(b, loc, value, 32); };
  auto compared = [&](arith::CmpIPredicate how, Value lhs, Value rhs) {
    return arith::CmpIOp::create(b, loc, how, lhs, rhs);
  };
  Value rest = arith::AndIOp::create(b, loc, extent, constant(elementsPerUnit(desc) - 1));
  Value last =
      arith::SubIOp::create(b, loc, extent, constant(desc.getType().getBlockType().getShape().back()));
  return arith::OrIOp::create(b, loc, compared(arith::CmpIPredicate::eq, rest, constant(0)),
                              compared(arith::CmpIPredicate::sle, start, last));
}

} // namespace

bool isAlwaysWritable(ValueRange indices, tt::MakeTensorDescOp desc, const AxisInfoAnalysis &axisInfo) {
  return endsWithUnit(desc, axisInfo) &&
         llvm::all_of(indices, [&](Value index) { return axisInfo.lookup(index).nonNegative; });
}

Value isWritable(OpBuilder &b, Location loc, ValueRange indices, tt::MakeTensorDescOp desc,
                 const AxisInfoAnalysis &axisInfo) {
  Value result;
  auto require = [&](Value condition) {
    result = result ? Value(arith::AndIOp::create(b, loc, result, condition)) : condition;
  };
  for (Value index : indices)
    if (!axisInfo.lookup(index).nonNegative)
      require(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, index,
                                    arith::ConstantIntOp::create(b, loc, 0, 32)));
  if (!endsWithUnit(desc, axisInfo))
    require(keepsToRow(b, loc, indices.back(), desc));
  return result;
}

Value maskedBeyondRow(OpBuilder &b, tt::DescriptorReduceOp reduce, tt::MakeTensorDescOp desc,
                      const AxisInfoAnalysis &axisInfo) {
  if (endsWithUnit(desc, axisInfo))
    return reduce.getSrc();
  Location loc = reduce.getLoc();
  auto tile = cast<RankedTensorType>(reduce.getSrc().getType());
  auto columns = static_cast<int32_t>(tile.getShape().back());
  Value places =
      tt::MakeRangeOp::create(b, loc, RankedTensorType::get({columns}, b.getI32Type()), 0, columns);
  for (int64_t axis = 1; axis < tile.getRank(); ++axis)
    places = tt::ExpandDimsOp::create(b, loc, places, 0);
  RankedTensorType indexTile = tile.clone(b.getI32Type());
  if (places.getType() != indexTile)
    places = tt::BroadcastOp::create(b, loc, indexTile, places);
  Value rest = arith::SubIOp::create(b, loc, desc.getShape().back(), reduce.getIndices().back());
  Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, places,
                                       tt::SplatOp::create(b, loc, indexTile, rest));
  auto element = cast<FloatType>(tile.getElementType());
  bool isMax = reduce.getKind() == tt::DescriptorReduceKind::MAX;
  auto neutral = DenseElementsAttr::get(tile, APFloat::getInf(element.getFloatSemantics(), isMax));
  return arith::SelectOp::create(b, loc, inside, reduce.getSrc(), arith::ConstantOp::create(b, loc, neutral));
}

} // namespace despina::nvptx
