//===- Plans.cpp - How operations move tiles ------------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "Plans.h"

#include "Scratch.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace despina::nvptx {

static ConversionOptions optionsFor(Type tile) {
  ConversionOptions options;
  options.elementBits = ttg::memoryBits(getElementTypeOrSelf(tile));
  return options;
}

std::optional<ConversionPlan> planOf(ttg::ConvertLayoutOp op) {
  return planConversion(ttg::layoutOf(op.getSrc()), ttg::layoutOf(op.getResult()), optionsFor(op.getType()));
}

/// A plan for each operand of an operation whose tiles have one layout.
template <typename Plan, typename Op>
static std::optional<SmallVector<Plan, 2>> planEach(Op op,
                                                    std::optional<Plan> plan(const LinearLayout &, unsigned,
                                                                             const ConversionOptions &)) {
  SmallVector<Plan, 2> plans;
  const LinearLayout &layout = ttg::layoutOf(op.getSrcs().front());
  for (Value operand : op.getSrcs()) {
    std::optional<Plan> one = plan(layout, op.getAxis(), optionsFor(operand.getType()));
    if (!one || ttg::layoutOf(operand) != layout)
      return std::nullopt;
    plans.push_back(std::move(*one));
  }
  return plans;
}

std::optional<SmallVector<ReducePlan, 2>> planOf(tt::ReduceOp op) {
  return planEach<ReducePlan>(op, &planReduce);
}

std::optional<SmallVector<ScanPlan, 2>> planOf(tt::ScanOp op) { return planEach<ScanPlan>(op, &planScan); }

SmallVector<ConversionGroup> conversionsOf(ArrayRef<ReducePlan> plans) {
  SmallVector<ConversionGroup> groups;
  for (size_t stage = 0; stage < plans.front().stages.size(); ++stage) {
    if (!plans.front().stages[stage].conversion)
      continue;
    ConversionGroup &group = groups.emplace_back();
    for (const ReducePlan &plan : plans)
      group.push_back(&*plan.stages[stage].conversion);
  }
  ConversionGroup &finish = groups.emplace_back();
  for (const ReducePlan &plan : plans)
    finish.push_back(&plan.finish);
  return groups;
}

SmallVector<ConversionGroup> conversionsOf(ArrayRef<ScanPlan> plans) {
  SmallVector<ConversionGroup> groups;
  for (size_t step = 0; step < plans.front().steps.size(); ++step) {
    if (!plans.front().steps[step].conversion)
      continue;
    ConversionGroup &group = groups.emplace_back();
    for (const ScanPlan &plan : plans)
      group.push_back(&*plan.steps[step].conversion);
  }
  return groups;
}

//===----------------------------------------------------------------------===//
// Scratch memory
//===----------------------------------------------------------------------===//

static uint64_t bytesOf(ttg::ConvertLayoutOp op) {
  std::optional<ConversionPlan> plan = planOf(op);
  return plan ? ScratchHalves({ConversionGroup{&*plan}}).total() : 0;
}

template <typename Op> static uint64_t bytesOfCombine(Op op) {
  auto plans = planOf(op);
  return plans ? ScratchHalves(conversionsOf(*plans)).total() : 0;
}
static uint64_t bytesOf(tt::ReduceOp op) { return bytesOfCombine(op); }
static uint64_t bytesOf(tt::ScanOp op) { return bytesOfCombine(op); }

static uint64_t bytesOf(tt::GatherOp op) {
  auto source = cast<RankedTensorType>(op.getSrc().getType());
  return source.getNumElements() * ttg::memoryBits(source.getElementType()) / 8;
}

static uint64_t bytesOf(tt::HistogramOp op) {
  return cast<RankedTensorType>(op.getType()).getNumElements() * 4;
}

uint64_t tileScratchBytes(Operation *op) {
  return llvm::TypeSwitch<Operation *, uint64_t>(op)
      .Case<ttg::ConvertLayoutOp, tt::ReduceOp, tt::ScanOp, tt::GatherOp, tt::HistogramOp>(
          [](auto concrete) { return bytesOf(concrete); })
      .Default([](Operation *) { return 0; });
}

} // namespace despina::nvptx
