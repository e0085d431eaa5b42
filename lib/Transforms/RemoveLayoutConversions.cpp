//===- RemoveLayoutConversions.cpp - Fewer moves between layouts ----------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// In: ttg IR in which operations with fixed layouts (accesses to memory, dots) stand between conversions.
// Out: the same with the conversions that are worth their cost. Layouts are carried forward from the fixed
// ones first (LayoutPropagation.h); what is still converted then is computed in the wanted layout instead, or
// converted earlier, where that is cheaper (LayoutRematerialization.h).
//
//===----------------------------------------------------------------------===//
#include "despina/Transforms/Passes.h"

#include "LayoutPropagation.h"
#include "LayoutRematerialization.h"
#include "Rewrite.h"

using namespace mlir;
using namespace despina;

namespace despina {
#define GEN_PASS_DEF_TTGREMOVELAYOUTCONVERSIONS
#include "despina/Transforms/Passes.h.inc"
} // namespace despina

namespace {

class TTGRemoveLayoutConversionsPass
    : public despina::impl::TTGRemoveLayoutConversionsBase<TTGRemoveLayoutConversionsPass> {
public:
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    ttg::ConvertLayoutOp::getCanonicalizationPatterns(set, context);
    scf::ForOp::getCanonicalizationPatterns(set, context);
    patterns = std::move(set);
    return success();
  }

  void runOnOperation() override {
    Operation *root = getOperation();
    propagateLayouts(root);
    rematerialize(root);
    bool converts = root->walk([](ttg::ConvertLayoutOp) { return WalkResult::interrupt(); }).wasInterrupted();
    if (converts) {
      removeDeadFlow(root);
      propagateLayouts(root, /*fromConversions=*/true);
      rematerialize(root);
    }
    removeDeadFlow(root);
    if (failed(applyPatternsGreedily(root, patterns, tileRewriteConfig())))
      signalPassFailure();
  }

private:
  FrozenRewritePatternSet patterns;
};

} // namespace
