//===- TTShapeOps.cpp - Operations that make or reshape tiles -------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "despina/IR/TT.h"

#include "mlir/IR/Builders.h"

#include <numeric>

using namespace mlir;
using namespace despina::tt;

static RankedTensorType tileOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// A splat constant under another shape; null for anything else.
static OpFoldResult reshapeSplat(Attribute constant, Type type) {
  auto splat = dyn_cast_or_null<SplatElementsAttr>(constant);
  return splat ? OpFoldResult(splat.resizeSplat(cast<ShapedType>(type))) : OpFoldResult();
}

static LogicalResult verifyElementType(Operation *op, Type actual, Type expected) {
  if (actual == expected)
    return success();
  return op->emitOpError() << "has elements of type " << actual << " in its result, but " << expected
                           << " in its operand";
}

static LogicalResult verifyShape(Operation *op, RankedTensorType actual, ArrayRef<int64_t> expected) {
  if (actual.getShape() == expected)
    return success();
  auto wanted = RankedTensorType::get(expected, actual.getElementType());
  return op->emitOpError() << "gives " << wanted << ", not " << actual;
}

namespace {

/// A splat under any shape operation is a splat of the result's type.
template <typename Op> struct MoveThroughSplat : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    auto splat = op.getSrc().template getDefiningOp<SplatOp>();
    if (!splat)
      return failure();
    rewriter.replaceOpWithNewOp<SplatOp>(op, op.getType(), splat.getSrc());
    return success();
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// MakeRangeOp
//===----------------------------------------------------------------------===//

void MakeRangeOp::build(OpBuilder &builder, OperationState &state, int32_t start, int32_t end) {
  // Unsigned, so that a range the verifier rejects does not overflow here.
  int64_t count = int64_t(end) - int64_t(start);
  build(builder, state, RankedTensorType::get({count}, builder.getI32Type()), uint32_t(start), uint32_t(end));
}

LogicalResult MakeRangeOp::verify() {
  int64_t start = int32_t(getStart()), end = int32_t(getEnd());
  auto type = cast<RankedTensorType>(getType());
  if (type.getRank() != 1 || !type.getElementType().isInteger(32))
    return emitOpError() << "gives a tile of one dimension of i32, not " << type;
  if (end <= start)
    return emitOpError() << "needs an end after its start, but they are " << end << " and " << start;
  if (type.getDimSize(0) != end - start)
    return emitOpError() << "has " << end - start << " elements, not " << type.getDimSize(0);
  return success();
}

OpFoldResult MakeRangeOp::fold(FoldAdaptor) {
  int32_t start = int32_t(getStart());
  if (int64_t(int32_t(getEnd())) - start != 1)
    return {};
  return DenseElementsAttr::get(cast<ShapedType>(getType()), APInt(32, uint32_t(start)));
}

//===----------------------------------------------------------------------===//
// SplatOp, UnsplatOp
//===----------------------------------------------------------------------===//

LogicalResult SplatOp::verify() {
  return verifyElementType(*this, getElementTypeOrSelf(getType()), getSrc().getType());
}

OpFoldResult SplatOp::fold(FoldAdaptor adaptor) {
  if (!isa_and_nonnull<IntegerAttr, FloatAttr>(adaptor.getSrc()))
    return {};
  return DenseElementsAttr::get(cast<ShapedType>(getType()), adaptor.getSrc());
}

LogicalResult UnsplatOp::verify() {
  if (tileOf(getSrc()).getNumElements() != 1)
    return emitOpError() << "needs a tile of one element, not " << getSrc().getType();
  return success();
}

OpFoldResult UnsplatOp::fold(FoldAdaptor adaptor) {
  if (auto constant = dyn_cast_or_null<DenseElementsAttr>(adaptor.getSrc()))
    return constant.isSplat() ? OpFoldResult(constant.getSplatValue<Attribute>()) : OpFoldResult();
  if (auto splat = getSrc().getDefiningOp<SplatOp>())
    return splat.getSrc();
  return {};
}

//===----------------------------------------------------------------------===//
// ExpandDimsOp
//===----------------------------------------------------------------------===//

void ExpandDimsOp::build(OpBuilder &builder, OperationState &state, Value src, unsigned axis) {
  auto type = tileOf(src);
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin() + std::min<size_t>(axis, shape.size()), 1);
  build(builder, state, type.clone(shape), src, axis);
}

LogicalResult ExpandDimsOp::verify() {
  auto src = tileOf(getSrc()), result = cast<RankedTensorType>(getType());
  if (failed(verifyElementType(*this, result.getElementType(), src.getElementType())))
    return failure();
  if (getAxis() > src.getRank())
    return emitOpError() << "axis " << int32_t(getAxis()) << " is outside 0 to " << src.getRank();
  SmallVector<int64_t> expected(src.getShape());
  expected.insert(expected.begin() + getAxis(), 1);
  return verifyShape(*this, result, expected);
}

OpFoldResult ExpandDimsOp::fold(FoldAdaptor adaptor) {
  if (auto constant = dyn_cast_or_null<DenseElementsAttr>(adaptor.getSrc()))
    return constant.reshape(cast<ShapedType>(getType()));
  return {};
}

void ExpandDimsOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<MoveThroughSplat<ExpandDimsOp>>(context);
}

//===----------------------------------------------------------------------===//
// BroadcastOp
//===----------------------------------------------------------------------===//

LogicalResult BroadcastOp::verify() {
  auto src = tileOf(getSrc()), result = cast<RankedTensorType>(getType());
  if (src.getRank() != result.getRank())
    return emitOpError() << "keeps the number of dimensions, but has " << src << " and " << result;
  for (auto [dim, from, to] : llvm::enumerate(src.getShape(), result.getShape()))
    if (from != to && from != 1)
      return emitOpError() << "cannot repeat dimension " << dim << " from " << from << " to " << to
                           << ": only an extent of 1 repeats";
  return success();
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getSrc().getType() == getType())
    return getSrc();
  if (auto inner = getSrc().getDefiningOp<BroadcastOp>()) {
    getSrcMutable().assign(inner.getSrc());
    return getResult();
  }
  return reshapeSplat(adaptor.getSrc(), getType());
}

void BroadcastOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<MoveThroughSplat<BroadcastOp>>(context);
}

//===----------------------------------------------------------------------===//
// ReshapeOp
//===----------------------------------------------------------------------===//

LogicalResult ReshapeOp::verify() {
  auto src = tileOf(getSrc()), result = cast<RankedTensorType>(getType());
  if (src.getNumElements() != result.getNumElements())
    return emitOpError() << "keeps the number of elements, but has " << src.getNumElements() << " and "
                         << result.getNumElements();
  return success();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getSrc().getType() == getType() && !getAllowReorder())
    return getSrc();
  if (auto constant = dyn_cast_or_null<DenseElementsAttr>(adaptor.getSrc()))
    return constant.reshape(cast<ShapedType>(getType()));
  return {};
}

namespace {

/// The inner reshape is not needed. The result may be reordered if either of the two may.
struct MergeReshapes : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getSrc().getDefiningOp<ReshapeOp>();
    if (!inner)
      return failure();
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), inner.getSrc(),
                                           op.getAllowReorder() || inner.getAllowReorder());
    return success();
  }
};

} // namespace

void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<MergeReshapes, MoveThroughSplat<ReshapeOp>>(context);
}

//===----------------------------------------------------------------------===//
// TransOp
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> permuted(ArrayRef<int64_t> shape, ArrayRef<int32_t> order) {
  SmallVector<int64_t> result;
  for (int32_t dim : order)
    result.push_back(dim >= 0 && size_t(dim) < shape.size() ? shape[dim] : 1);
  return result;
}

void TransOp::build(OpBuilder &builder, OperationState &state, Value src, ArrayRef<int32_t> order) {
  auto type = tileOf(src);
  build(builder, state, type.clone(permuted(type.getShape(), order)), src, order);
}

LogicalResult TransOp::verify() {
  auto src = tileOf(getSrc()), result = cast<RankedTensorType>(getType());
  ArrayRef<int32_t> order = getOrder();
  SmallVector<int32_t> sorted(order);
  llvm::sort(sorted);
  SmallVector<int32_t> dims(src.getRank());
  std::iota(dims.begin(), dims.end(), 0);
  if (sorted != dims)
    return emitOpError() << "order [" << order << "] is no permutation of the " << src.getRank()
                         << " dimensions";
  return verifyShape(*this, result, permuted(src.getShape(), order));
}

OpFoldResult TransOp::fold(FoldAdaptor adaptor) {
  SmallVector<int32_t> dims(getOrder().size());
  std::iota(dims.begin(), dims.end(), 0);
  if (ArrayRef<int32_t>(dims) == getOrder())
    return getSrc();
  return reshapeSplat(adaptor.getSrc(), getType());
}

namespace {

/// Two permutations after each other are one.
struct MergeTranspositions : OpRewritePattern<TransOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(TransOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getSrc().getDefiningOp<TransOp>();
    if (!inner)
      return failure();
    SmallVector<int32_t> order;
    for (int32_t dim : op.getOrder())
      order.push_back(inner.getOrder()[dim]);
    rewriter.replaceOpWithNewOp<TransOp>(op, op.getType(), inner.getSrc(), order);
    return success();
  }
};

} // namespace

void TransOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<MergeTranspositions, MoveThroughSplat<TransOp>>(context);
}

//===----------------------------------------------------------------------===//
// CatOp, JoinOp, SplitOp
//===----------------------------------------------------------------------===//

LogicalResult CatOp::verify() {
  auto src = tileOf(getLhs()), result = cast<RankedTensorType>(getType());
  if (failed(verifyElementType(*this, result.getElementType(), src.getElementType())))
    return failure();
  SmallVector<int64_t> expected(src.getShape());
  expected.front() *= 2;
  return verifyShape(*this, result, expected);
}

void JoinOp::build(OpBuilder &builder, OperationState &state, Value lhs, Value rhs) {
  auto type = tileOf(lhs);
  SmallVector<int64_t> shape(type.getShape());
  shape.push_back(2);
  build(builder, state, type.clone(shape), lhs, rhs);
}

LogicalResult JoinOp::verify() {
  auto src = tileOf(getLhs()), result = cast<RankedTensorType>(getType());
  if (failed(verifyElementType(*this, result.getElementType(), src.getElementType())))
    return failure();
  SmallVector<int64_t> expected(src.getShape());
  expected.push_back(2);
  return verifyShape(*this, result, expected);
}

void SplitOp::build(OpBuilder &builder, OperationState &state, Value src) {
  auto type = tileOf(src);
  Type half = type.clone(type.getShape().drop_back());
  build(builder, state, half, half, src);
}

LogicalResult SplitOp::verify() {
  auto src = tileOf(getSrc()), result = cast<RankedTensorType>(getOutLHS().getType());
  if (failed(verifyElementType(*this, result.getElementType(), src.getElementType())))
    return failure();
  if (src.getRank() < 2 || src.getShape().back() != 2)
    return emitOpError() << "needs at least two dimensions, the last of extent 2, not " << src;
  return verifyShape(*this, result, src.getShape().drop_back());
}

//===----------------------------------------------------------------------===//
// GatherOp, HistogramOp
//===----------------------------------------------------------------------===//

void GatherOp::build(OpBuilder &builder, OperationState &state, Value src, Value indices, unsigned axis) {
  build(builder, state, tileOf(indices).clone(tileOf(src).getElementType()), src, indices, axis);
}

LogicalResult GatherOp::verify() {
  auto src = tileOf(getSrc()), indices = tileOf(getIndices()), result = cast<RankedTensorType>(getType());
  if (failed(verifyElementType(*this, result.getElementType(), src.getElementType())))
    return failure();
  if (getAxis() >= src.getRank())
    return emitOpError() << "axis " << int32_t(getAxis()) << " is outside 0 to " << src.getRank() - 1;
  if (indices.getRank() != src.getRank())
    return emitOpError() << "needs indices of the source's rank, but has " << src << " and " << indices;
  for (int64_t dim = 0; dim < src.getRank(); ++dim)
    if (dim != getAxis() && indices.getDimSize(dim) != src.getDimSize(dim))
      return emitOpError() << "has " << src.getDimSize(dim) << " source elements but "
                           << indices.getDimSize(dim) << " indices along dimension " << dim
                           << ", which is not the axis";
  return verifyShape(*this, result, indices.getShape());
}

LogicalResult HistogramOp::verify() {
  auto src = tileOf(getSrc()), result = cast<RankedTensorType>(getType());
  if (src.getRank() != 1 || result.getRank() != 1)
    return emitOpError() << "counts a tile of one dimension into another, but has " << src << " and "
                         << result;
  if (!result.getElementType().isInteger(32))
    return emitOpError() << "counts in i32, not in " << result.getElementType();
  return success();
}
