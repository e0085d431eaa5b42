//===- Coalesce.cpp - Layouts for wide accesses to memory -----------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// In: ttg IR. Out: every operation that accesses memory through a tile of pointers has a blocked layout in
// which each thread takes as many neighbours in memory as one access can move, and the lanes of a warp follow
// each other. Conversions stand around the operation; ttg-remove-layout-conversions takes most of them away.
//
// Operations between which values flow without a change of shape agree on how many neighbours a thread takes,
// so that nothing need be converted between them: as many as the widest access among them, but no more than
// 128 bits of what is stored, since a store of every other 16 bytes fills half of each memory sector.
//
//===----------------------------------------------------------------------===//
#include "despina/Transforms/Passes.h"

#include "ClusterPlan.h"
#include "LayoutRewrite.h"

#include "despina/Analysis/AxisInfo.h"
#include "despina/Analysis/LayoutCluster.h"
#include "despina/Analysis/LayoutInference.h"

#include "mlir/IR/Builders.h"

#include <map>

using namespace mlir;
using namespace despina;
using ttg::LayoutAttr;

namespace despina {
#define GEN_PASS_DEF_TTGCOALESCE
#include "despina/Transforms/Passes.h.inc"
} // namespace despina

namespace {

constexpr unsigned maxAccessBits = 128;

/// Accesses that should take equally many neighbours.
struct Group {
  int64_t width = 1;
  /// What a store may take at most.
  int64_t cap = maxAccessBits;
};

/// One operation and the layout that it wants.
struct Access {
  Operation *op;
  RankedTensorType tile;
  LayoutOrder order;
  /// Neighbours along order.front() that one access may take.
  int64_t width;
  unsigned elementBits;
  bool writes;
  /// Of the values that flow into it.
  const void *leader = nullptr;
  /// What it agrees with others on.
  Group *group = nullptr;
};

/// The tile of pointers, or null.
Value pointersOf(Operation *op) {
  if (!isa<tt::LoadOp, tt::StoreOp, tt::AtomicRMWOp, tt::AtomicCASOp, ttg::AsyncCopyGlobalToLocalOp>(op))
    return {};
  Value pointers = op->getOperand(0);
  return layoutAttrOf(pointers) ? pointers : Value();
}

Value maskOf(Operation *op) {
  if (auto load = dyn_cast<tt::LoadOp>(op))
    return load.getMask();
  if (auto store = dyn_cast<tt::StoreOp>(op))
    return store.getMask();
  if (auto atomic = dyn_cast<tt::AtomicRMWOp>(op))
    return atomic.getMask();
  if (auto copy = dyn_cast<ttg::AsyncCopyGlobalToLocalOp>(op))
    return copy.getMask();
  return {};
}

/// The tile that a descriptor moves, or null. Its rows are contiguous.
Value blockOf(Operation *op) {
  if (isa<tt::DescriptorLoadOp, tt::DescriptorGatherOp>(op))
    return op->getResult(0);
  if (auto store = dyn_cast<tt::DescriptorStoreOp>(op))
    return store.getSrc();
  if (auto reduce = dyn_cast<tt::DescriptorReduceOp>(op))
    return reduce.getSrc();
  if (auto scatter = dyn_cast<tt::DescriptorScatterOp>(op))
    return scatter.getSrc();
  return {};
}

class Coalescing {
public:
  explicit Coalescing(Operation *root)
      : root(root), facts(root), flow(root), plan(root, flow), warps(ttg::numWarps(root)),
        lanes(ttg::threadsPerWarp(root)), blocks(ttg::numCTAs(root)) {}

  void run() {
    root->walk([&](Operation *op) {
      if (Value pointers = pointersOf(op))
        accesses.push_back(accessThrough(op, pointers));
      else if (Value block = blockOf(op); block && layoutAttrOf(block))
        accesses.push_back(accessOfBlock(op, block));
    });
    for (Access &access : accesses)
      join(access);
    for (Access &access : accesses)
      if (LayoutAttr layout = layoutFor(access))
        setUniformLayout(access.op, layout);
  }

private:
  Access accessThrough(Operation *op, Value pointers) {
    auto tile = cast<RankedTensorType>(pointers.getType());
    AxisInfo info = facts.lookup(pointers);
    LayoutOrder order = rowMajorOrder(tile.getRank());
    // Where no axis is contiguous, the last one is as good as any.
    llvm::sort(order, [&](unsigned lhs, unsigned rhs) {
      return std::pair(info.contiguity[lhs], lhs) > std::pair(info.contiguity[rhs], rhs);
    });
    int64_t width = facts.accessWidth(pointers, order.front());
    if (Value mask = maskOf(op))
      width = std::min(width, facts.maskAlignment(mask, order.front()));
    unsigned bits = ttg::memoryBits(cast<tt::PointerType>(tile.getElementType()).getPointeeType());
    return finished({op, tile, order, width, bits, !isa<tt::LoadOp, ttg::AsyncCopyGlobalToLocalOp>(op)});
  }

  Access accessOfBlock(Operation *op, Value block) {
    auto tile = cast<RankedTensorType>(block.getType());
    unsigned bits = ttg::memoryBits(tile.getElementType());
    return finished(
        {op, tile, rowMajorOrder(tile.getRank()), maxAccessBits / bits, bits, op->getNumResults() == 0});
  }

  Access finished(Access access) const {
    access.width = std::clamp<int64_t>(access.width, 1, std::max(1u, maxAccessBits / access.elementBits));
    return access;
  }

  /// The group of values that flow into each other and of the order of axes.
  void join(Access &access) {
    Value block = blockOf(access.op);
    access.leader = flow.leader(block ? block : access.op->getOperand(0));
    access.group = &groups[{access.leader, access.order}];
    access.group->width = std::max(access.group->width, access.width);
    if (access.writes)
      access.group->cap =
          std::min<int64_t>(access.group->cap, std::max(1u, maxAccessBits / access.elementBits));
  }

  LayoutAttr layoutFor(const Access &access) const {
    unsigned threads = warps * lanes;
    ClusterSplit cluster =
        plan.of(access.leader).value_or(spreadOverBlocks(access.tile.getShape(), blocks, threads));
    int64_t elements = 1;
    for (int64_t extent : extentsPerBlock(access.tile.getShape(), cluster))
      elements *= extent;
    int64_t perThread = std::max<int64_t>(1, elements / threads);
    int64_t width = std::min({access.group->width, access.group->cap, perThread});
    BlockedParams params = filledParams(access.tile.getShape(), width, access.order, lanes, warps, cluster);
    std::optional<LinearLayout> layout = blockedLayout(access.tile.getShape(), params);
    return layout ? LayoutAttr::get(access.op->getContext(), *layout) : LayoutAttr();
  }

  Operation *root;
  AxisInfoAnalysis facts;
  FlowClasses flow;
  ClusterPlan plan;
  unsigned warps, lanes, blocks;
  SmallVector<Access> accesses;
  std::map<std::pair<const void *, LayoutOrder>, Group> groups;
};

class TTGCoalescePass : public despina::impl::TTGCoalesceBase<TTGCoalescePass> {
public:
  void runOnOperation() override { Coalescing(getOperation()).run(); }
};

} // namespace
