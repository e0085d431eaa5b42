//===- ReorderBroadcast.cpp - Computes before repeating -------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// In and out: tile IR. The front end repeats operands before it computes; computing on the scalar or the
// small tile first does less work and shows targets which values are uniform.
//
//===----------------------------------------------------------------------===//
#include "despina/Transforms/Passes.h"

#include "Rewrite.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace despina;

namespace despina {
#define GEN_PASS_DEF_TTREORDERBROADCAST
#include "despina/Transforms/Passes.h.inc"
} // namespace despina

namespace {

/// A pure element-wise operation on tiles without hints (they would be about the repeated value).
bool canShrink(Operation *op) {
  return op->getNumResults() == 1 && op->getNumOperands() != 0 &&
         isa<RankedTensorType>(op->getResult(0).getType()) && op->hasTrait<OpTrait::Elementwise>() &&
         isPure(op) && op->getNumRegions() == 0 && op->getDiscardableAttrs().empty();
}

/// The value of every element, if that is known to be one attribute.
Attribute uniformConstant(Value value) {
  DenseElementsAttr constant;
  if (matchPattern(value, m_Constant(&constant)) && constant.isSplat())
    return constant.getSplatValue<Attribute>();
  return {};
}

/// The same operation on other operands, with a result of another type.
Value cloneOn(Operation *op, ValueRange operands, Type resultType, PatternRewriter &rewriter) {
  OperationState state(op->getLoc(), op->getName(), operands, resultType, op->getAttrs());
  return rewriter.create(state)->getResult(0);
}

/// op(splat(a), splat(b), constant) -> splat(op(a, b, constant)).
struct MoveSplat : RewritePattern {
  explicit MoveSplat(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!canShrink(op))
      return failure();
    SmallVector<Value, 3> scalars;
    SmallVector<std::pair<unsigned, TypedAttr>, 2> constants;
    bool anySplat = false;
    for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
      scalars.push_back(operand);
      if (!isa<RankedTensorType>(operand.getType()))
        continue; // the scalar condition of a select
      if (auto splat = operand.getDefiningOp<tt::SplatOp>()) {
        scalars.back() = splat.getSrc();
        anySplat = true;
      } else if (auto constant = dyn_cast_or_null<TypedAttr>(uniformConstant(operand))) {
        constants.emplace_back(index, constant);
      } else {
        return failure();
      }
    }
    if (!anySplat)
      return failure(); // constants fold by themselves
    for (auto [index, constant] : constants)
      scalars[index] = arith::ConstantOp::create(rewriter, op->getLoc(), constant);
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    Value scalar = cloneOn(op, scalars, type.getElementType(), rewriter);
    rewriter.replaceOpWithNewOp<tt::SplatOp>(op, type, scalar);
    return success();
  }
};

/// op(broadcast(a), broadcast(b), splat, constant) -> broadcast(op(a, b, splat, constant)) for a and b of one
/// shape.
struct MoveBroadcast : RewritePattern {
  explicit MoveBroadcast(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!canShrink(op))
      return failure();
    std::optional<ArrayRef<int64_t>> shape = commonSourceShape(op);
    if (!shape)
      return failure();
    SmallVector<Value, 3> operands;
    for (Value operand : op->getOperands())
      operands.push_back(shrink(operand, *shape, op->getLoc(), rewriter));
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    Value small = cloneOn(op, operands, type.clone(*shape), rewriter);
    rewriter.replaceOpWithNewOp<tt::BroadcastOp>(op, type, small);
    return success();
  }

private:
  /// The shape that all broadcasts among the operands start from; none if they differ, if there is none, or
  /// if another operand cannot shrink.
  static std::optional<ArrayRef<int64_t>> commonSourceShape(Operation *op) {
    std::optional<ArrayRef<int64_t>> shape;
    for (Value operand : op->getOperands()) {
      if (auto broadcast = operand.getDefiningOp<tt::BroadcastOp>()) {
        ArrayRef<int64_t> source = cast<RankedTensorType>(broadcast.getSrc().getType()).getShape();
        if (shape && *shape != source)
          return std::nullopt;
        shape = source;
      } else if (isa<RankedTensorType>(operand.getType()) && !operand.getDefiningOp<tt::SplatOp>() &&
                 !uniformConstant(operand)) {
        return std::nullopt;
      }
    }
    return shape;
  }

  static Value shrink(Value operand, ArrayRef<int64_t> shape, Location loc, PatternRewriter &rewriter) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type)
      return operand;
    if (auto broadcast = operand.getDefiningOp<tt::BroadcastOp>())
      return broadcast.getSrc();
    RankedTensorType small = type.clone(shape);
    if (auto splat = operand.getDefiningOp<tt::SplatOp>())
      return tt::SplatOp::create(rewriter, loc, small, splat.getSrc());
    return arith::ConstantOp::create(rewriter, loc, DenseElementsAttr::get(small, uniformConstant(operand)));
  }
};

class TTReorderBroadcastPass : public despina::impl::TTReorderBroadcastBase<TTReorderBroadcastPass> {
public:
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    set.add<MoveSplat, MoveBroadcast>(context);
    // Splats move through shape operations only with these.
    tt::ExpandDimsOp::getCanonicalizationPatterns(set, context);
    tt::BroadcastOp::getCanonicalizationPatterns(set, context);
    patterns = std::move(set);
    return success();
  }

  void runOnOperation() override {
    if (failed(applyPatternsGreedily(getOperation(), patterns, tileRewriteConfig())))
      signalPassFailure();
  }

private:
  FrozenRewritePatternSet patterns;
};

} // namespace
