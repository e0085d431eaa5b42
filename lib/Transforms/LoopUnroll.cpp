//===- LoopUnroll.cpp - Unrolls loops marked with tt.loop_unroll_factor ---===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// In and out: tile IR. Own code rather than the utility of scf, which asks for non-negative, non-empty
// bounds.
//
//===----------------------------------------------------------------------===//
#include "despina/Transforms/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace despina;

namespace despina {
#define GEN_PASS_DEF_TTLOOPUNROLL
#include "despina/Transforms/Passes.h.inc"
} // namespace despina

namespace {

constexpr StringLiteral factorName = "tt.loop_unroll_factor";
constexpr StringLiteral stagesName = "tt.num_stages";
/// A wish for more operations than this is not granted: no machine gains from it.
constexpr uint64_t maxOperations = 1 << 16;

bool isTooLarge(scf::ForOp loop, uint64_t factor) {
  uint64_t operations = 0;
  loop.getBody()->walk([&](Operation *) { ++operations; });
  return operations > maxOperations / factor;
}

/// The constant step, if `factor` steps fit the type of the bounds.
std::optional<APInt> stepThatFits(scf::ForOp loop, uint64_t factor) {
  APInt step;
  if (!matchPattern(loop.getStep(), m_ConstantInt(&step)) || !step.isStrictlyPositive())
    return std::nullopt;
  APInt wide(step.getBitWidth(), factor, /*isSigned=*/false, /*implicitTrunc=*/true);
  bool overflow = wide.getZExtValue() != factor;
  (void)wide.smul_ov(step, overflow);
  return overflow || wide.getZExtValue() != factor || wide.isNegative() ? std::nullopt : std::optional(step);
}

/// Where the main loop ends: before the last `trips % factor` steps.
Value makeMainEnd(scf::ForOp loop, const APInt &step, uint64_t factor, OpBuilder &builder) {
  Location loc = loop.getLoc();
  Value lower = loop.getLowerBound(), upper = loop.getUpperBound();
  Type type = lower.getType();
  auto constant = [&](const APInt &value) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, value));
  };
  APInt one(step.getBitWidth(), 1), zero(step.getBitWidth(), 0);
  auto less = loop.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
  Value runs = arith::CmpIOp::create(builder, loc, less, lower, upper);
  // trips = runs ? (upper - lower - 1) / step + 1 : 0, unsigned: the difference of signed bounds may need the
  // highest bit.
  Value span =
      arith::SubIOp::create(builder, loc, arith::SubIOp::create(builder, loc, upper, lower), constant(one));
  Value trips = arith::AddIOp::create(
      builder, loc, arith::DivUIOp::create(builder, loc, span, constant(step)), constant(one));
  trips = arith::SelectOp::create(builder, loc, runs, trips, constant(zero));
  Value left = arith::RemUIOp::create(builder, loc, trips, constant(APInt(step.getBitWidth(), factor)));
  Value steps = arith::SubIOp::create(builder, loc, trips, left);
  Value end =
      arith::AddIOp::create(builder, loc, lower, arith::MulIOp::create(builder, loc, steps, constant(step)));
  // Without steps left over, lower + trips * step might wrap, and the upper bound itself is right.
  Value exact = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, left, constant(zero));
  return arith::SelectOp::create(builder, loc, exact, upper, end);
}

/// Copies the body of `loop` into that of `main` `factor` times, each on the results of the copy before.
void fillMainLoop(scf::ForOp loop, scf::ForOp main, const APInt &step, uint64_t factor) {
  Block *body = main.getBody();
  body->clear();
  OpBuilder builder = OpBuilder::atBlockEnd(body);
  SmallVector<Value> carried(main.getRegionIterArgs());
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  for (uint64_t copy = 0; copy < factor; ++copy) {
    Value induction = main.getInductionVar();
    if (copy != 0) {
      auto offset = builder.getIntegerAttr(induction.getType(), step * copy);
      induction = arith::AddIOp::create(builder, loop.getLoc(), induction,
                                        arith::ConstantOp::create(builder, loop.getLoc(), offset));
    }
    IRMapping mapping;
    mapping.map(loop.getInductionVar(), induction);
    mapping.map(loop.getRegionIterArgs(), carried);
    for (Operation &op : loop.getBody()->without_terminator())
      builder.clone(op, mapping);
    for (auto [value, result] : llvm::zip(carried, yield.getOperands()))
      value = mapping.lookupOrDefault(result);
  }
  scf::YieldOp::create(builder, yield.getLoc(), carried);
}

void unroll(scf::ForOp loop) {
  auto factorAttr = dyn_cast<IntegerAttr>(loop->getDiscardableAttr(factorName));
  if (!factorAttr || factorAttr.getInt() <= 1)
    return;
  uint64_t factor = factorAttr.getInt();
  if (isTooLarge(loop, factor))
    return;
  std::optional<APInt> step = stepThatFits(loop, factor);
  if (!step)
    return;

  OpBuilder builder(loop);
  Value end = makeMainEnd(loop, *step, factor, builder);
  Value wideStep = arith::ConstantOp::create(
      builder, loop.getLoc(), builder.getIntegerAttr(loop.getStep().getType(), *step * factor));
  auto main =
      scf::ForOp::create(builder, loop.getLoc(), loop.getLowerBound(), end, wideStep, loop.getInitArgs(),
                         /*bodyBuilder=*/nullptr, loop.getUnsignedCmp());
  main->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  main->removeDiscardableAttr(factorName);
  fillMainLoop(loop, main, *step, factor);

  // The loop itself makes the steps left over: few of them, so no pipeline.
  loop->removeDiscardableAttr(factorName);
  loop->removeDiscardableAttr(stagesName);
  loop.setLowerBound(end);
  loop.getInitArgsMutable().assign(main.getResults());
}

class TTLoopUnrollPass : public despina::impl::TTLoopUnrollBase<TTLoopUnrollPass> {
public:
  void runOnOperation() override {
    // Inner loops first, so that the copies an outer one makes are unrolled already.
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) {
      if (loop->hasAttr(factorName))
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops)
      unroll(loop);
    if (loops.empty())
      markAllAnalysesPreserved();
  }
};

} // namespace
