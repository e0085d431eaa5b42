//===- ClusterPlan.cpp - Which block of a cluster loads what --------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "ClusterPlan.h"

#include "LayoutRewrite.h"

#include "despina/Analysis/LayoutInference.h"

using namespace mlir;

namespace despina {

//===----------------------------------------------------------------------===//
// FlowClasses
//===----------------------------------------------------------------------===//

static const void *keyOf(Value value) { return value.getAsOpaquePointer(); }

static bool sameShape(Value lhs, Value rhs) {
  return cast<RankedTensorType>(lhs.getType()).getShape() == cast<RankedTensorType>(rhs.getType()).getShape();
}

FlowClasses::FlowClasses(Operation *root) {
  root->walk([&](Operation *op) {
    if (isa<ttg::ConvertLayoutOp>(op))
      classes.unionSets(keyOf(op->getOperand(0)), keyOf(op->getResult(0)));
    SmallVector<Value, 4> tied;
    for (OpOperand &operand : op->getOpOperands())
      if (ttg::LayoutAttr layout = layoutAttrOf(operand.get())) {
        if (inferOtherOperandLayout(op->getOpOperand(0), layout, operand).get() == layout)
          tied.push_back(operand.get());
        for (OpResult result : op->getResults())
          if (inferResultLayout(operand, layout, result).get() == layout && sameShape(operand.get(), result))
            tied.push_back(result);
      }
    for (Value value : tied)
      classes.unionSets(keyOf(tied.front()), keyOf(value));
    forEachFlow(op, [&](OpOperand &from, Value to) { classes.unionSets(keyOf(from.get()), keyOf(to)); });
  });
}

const void *FlowClasses::leader(Value value) const {
  auto found = classes.findLeader(keyOf(value));
  return found == classes.member_end() ? keyOf(value) : *found;
}

//===----------------------------------------------------------------------===//
// ClusterPlan
//===----------------------------------------------------------------------===//

ClusterPlan::ClusterPlan(Operation *root, const FlowClasses &flow) : flow(flow) {
  unsigned blocks = ttg::numCTAs(root);
  if (blocks == 1)
    return;
  SmallVector<tt::TransOp> transposes;
  root->walk([&](Operation *op) {
    if (auto trans = dyn_cast<tt::TransOp>(op))
      transposes.push_back(trans);
    auto dot = dyn_cast<tt::DotOp>(op);
    if (!dot)
      return;
    ProductSplits product(cast<RankedTensorType>(dot.getType()).getShape(), blocks);
    ask(dot.getA(), product.a);
    ask(dot.getB(), product.b);
    ask(dot.getResult(), product.c);
  });
  // What is asked of a transposed tile is asked of the tile.
  for (bool changed = true; changed;) {
    changed = false;
    for (tt::TransOp trans : transposes)
      if (std::optional<ClusterSplit> wanted = of(flow.leader(trans.getResult()))) {
        ClusterSplit split = *wanted;
        for (auto [to, from] : llvm::enumerate(trans.getOrder())) {
          split.blocks[from] = wanted->blocks[to];
          split.split[from] = wanted->split[to];
        }
        for (unsigned &axis : split.order)
          axis = static_cast<unsigned>(trans.getOrder()[axis]);
        changed |= ask(trans.getSrc(), split);
      }
  }
}

std::optional<ClusterSplit> ClusterPlan::of(const void *leader) const {
  auto found = splits.find(leader);
  return found == splits.end() ? std::nullopt : std::optional(found->second);
}

bool ClusterPlan::ask(Value value, const ClusterSplit &split) {
  auto [entry, isNew] = splits.try_emplace(flow.leader(value), split);
  if (isNew || entry->second == split)
    return isNew;
  ClusterSplit &known = entry->second;
  LayoutExtents whole(known.split.size(), 1);
  bool changed = known.split != whole;
  known.split = whole;
  return changed;
}

} // namespace despina
