//===- Combine.cpp - Merges operations that one operation expresses -------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// In and out: tile IR. Each rule removes an operation that a target would otherwise have to recognise again:
// accumulation belongs to the dot, offsets to one addptr, the value of masked lanes to the load.
//
//===----------------------------------------------------------------------===//
#include "despina/Transforms/Passes.h"

#include "Rewrite.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace despina;

namespace despina {
#define GEN_PASS_DEF_TTCOMBINE
#include "despina/Transforms/Passes.h.inc"
} // namespace despina

namespace {

bool isZero(Value value) {
  if (auto splat = value.getDefiningOp<tt::SplatOp>())
    value = splat.getSrc();
  return matchPattern(value, m_Zero()) || matchPattern(value, m_AnyZeroFloat());
}

/// Whether `value` may be used right before `op`.
bool isAvailableAt(Value value, Operation *op) {
  Operation *def = value.getDefiningOp();
  if (value.getParentBlock() == op->getBlock())
    return !def || def->isBeforeInBlock(op);
  return value.getParentRegion()->isProperAncestor(op->getParentRegion());
}

/// dot(a, b, 0) + c -> dot(a, b, c), if nothing else needs the product.
template <typename AddOp> struct AddToDot : OpRewritePattern<AddOp> {
  using OpRewritePattern<AddOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(AddOp add, PatternRewriter &rewriter) const override {
    for (auto [product, addend] :
         {std::pair(add.getLhs(), add.getRhs()), std::pair(add.getRhs(), add.getLhs())}) {
      auto dot = product.template getDefiningOp<tt::DotOp>();
      // Not into a loop: there it would be computed again and again.
      if (!dot || !dot->hasOneUse() || dot->getBlock() != add->getBlock() || !isZero(dot.getC()))
        continue;
      rewriter.replaceOpWithNewOp<tt::DotOp>(add, add.getType(), dot.getA(), dot.getB(), addend,
                                             dot.getInputPrecision(), dot.getMaxNumImpreciseAcc());
      return success();
    }
    return failure();
  }
};

/// addptr(addptr(p, i), j) -> addptr(p, i + j). Offsets are signed, and pointers have 64 bits: a sum of
/// narrower offsets may wrap where the two steps do not, so those merge only if both are constants with a sum
/// that fits.
struct MergeAddPtr : OpRewritePattern<tt::AddPtrOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tt::AddPtrOp outer, PatternRewriter &rewriter) const override {
    auto inner = outer.getPtr().getDefiningOp<tt::AddPtrOp>();
    // A hint on the inner pointer would be lost.
    if (!inner || !inner->getDiscardableAttrs().empty() ||
        inner.getOffset().getType() != outer.getOffset().getType())
      return failure();
    if (!getElementTypeOrSelf(outer.getOffset()).isInteger(64) &&
        !sumFits(inner.getOffset(), outer.getOffset()))
      return failure();
    Value offset = arith::AddIOp::create(rewriter, outer.getLoc(), inner.getOffset(), outer.getOffset());
    rewriter.modifyOpInPlace(outer, [&] {
      outer.getPtrMutable().assign(inner.getPtr());
      outer.getOffsetMutable().assign(offset);
    });
    return success();
  }

private:
  static bool sumFits(Value lhs, Value rhs) {
    APInt x, y;
    if (!matchPattern(lhs, m_ConstantInt(&x)) || !matchPattern(rhs, m_ConstantInt(&y)))
      return false;
    bool overflow = false;
    (void)x.sadd_ov(y, overflow);
    return !overflow;
  }
};

/// select(m, load(p, m, other), x) -> load(p, m, x): both arms of the load's lanes are decided by its mask.
struct SelectOfLoad : OpRewritePattern<arith::SelectOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::SelectOp select, PatternRewriter &rewriter) const override {
    auto load = select.getTrueValue().getDefiningOp<tt::LoadOp>();
    if (!load || !load->hasOneUse() || load.getIsVolatile() || !load.getMask() ||
        !isSameMask(load.getMask(), select.getCondition()) || !isAvailableAt(select.getFalseValue(), load))
      return failure();
    rewriter.modifyOpInPlace(load, [&] { load.getOtherMutable().assign(select.getFalseValue()); });
    rewriter.replaceOp(select, load);
    return success();
  }

private:
  static bool isSameMask(Value mask, Value condition) {
    if (mask == condition)
      return true;
    auto splat = mask.getDefiningOp<tt::SplatOp>();
    return splat && splat.getSrc() == condition;
  }
};

class TTCombinePass : public despina::impl::TTCombineBase<TTCombinePass> {
public:
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    set.add<AddToDot<arith::AddFOp>, AddToDot<arith::AddIOp>, MergeAddPtr, SelectOfLoad>(context);
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
