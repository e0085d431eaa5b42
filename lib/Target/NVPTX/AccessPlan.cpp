//===- AccessPlan.cpp - Which elements a thread accesses together ---------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "AccessPlan.h"

using namespace mlir;

namespace despina::nvptx {

namespace {

/// The bits of register indices that give the low bits of a coordinate.
using RunBits = SmallVector<unsigned, 4>;

class Planner {
public:
  Planner(const LinearLayout &layout, AccessPlan &plan) : layout(layout), plan(plan) {
    uint64_t copies = layout.freeVariableMask(LayoutDim::Register);
    for (auto [bit, column] : llvm::enumerate(layout.columnsOf(LayoutDim::Register)))
      if (!(copies >> bit & 1)) {
        registerBits.push_back({static_cast<unsigned>(bit), column});
        registerReach |= column;
      }
    for (LayoutDim dim : {LayoutDim::Lane, LayoutDim::Warp, LayoutDim::Block})
      for (uint64_t column : layout.columnsOf(dim))
        threadReach |= column;
  }

  /// The longest run of at most `limit` elements along an axis that registers hold, starting at multiples of
  /// its length.
  RunBits findRun(unsigned axis, uint64_t limit) const {
    RunBits run;
    unsigned shift = layout.outShift(tensorDim(axis));
    while (uint64_t(2) << run.size() <= limit) {
      std::optional<unsigned> bit = soleBit(uint64_t(1) << (shift + run.size()));
      if (!bit)
        break;
      run.push_back(*bit);
    }
    return run;
  }

  /// Cuts the registers into runs.
  void addAccesses(const RunBits &run) {
    uint64_t runMask = 0;
    for (unsigned bit : run)
      runMask |= uint64_t(1) << bit;
    for (unsigned start : plan.copies.distinct()) {
      if (start & runMask)
        continue;
      MemoryAccess &access = plan.accesses.emplace_back();
      access.base = start;
      for (unsigned i = 0; i < 1u << run.size(); ++i) {
        unsigned reg = start;
        for (auto [position, bit] : llvm::enumerate(run))
          reg |= (i >> position & 1) << bit;
        access.registers.push_back(reg);
      }
    }
  }

  /// Lets accesses in one run of `contiguity` pointers along an axis start from one pointer.
  void shareBases(unsigned axis, uint64_t contiguity) {
    unsigned shift = layout.outShift(tensorDim(axis));
    uint64_t inRun = (std::min(contiguity, layout.outSize(tensorDim(axis))) - 1) << shift;
    // The coordinate is the XOR of both parts; it is their sum where they have no bit in common.
    if (registerReach & threadReach & inRun)
      return;
    llvm::SmallDenseMap<uint64_t, unsigned> bases;
    for (MemoryAccess &access : plan.accesses) {
      uint64_t element = layout.applyFlat(access.base);
      access.base = bases.try_emplace(element & ~inRun, access.base).first->second;
      auto coordinate = [&](uint64_t flat) { return static_cast<int64_t>((flat & inRun) >> shift); };
      access.offset = coordinate(element) - coordinate(layout.applyFlat(access.base));
    }
  }

private:
  /// The register bit that gives this bit of the element and no other, if nothing else reaches it.
  std::optional<unsigned> soleBit(uint64_t elementBit) const {
    std::optional<unsigned> found;
    for (auto [bit, column] : registerBits) {
      if (!(column & elementBit))
        continue;
      if (found || column != elementBit)
        return std::nullopt;
      found = bit;
    }
    return threadReach & elementBit ? std::nullopt : found;
  }

  const LinearLayout &layout;
  AccessPlan &plan;
  /// Those that matter, with their columns.
  SmallVector<std::pair<unsigned, uint64_t>, 8> registerBits;
  /// Bits of elements that differ among the registers of a thread, and among threads.
  uint64_t registerReach = 0, threadReach = 0;
};

} // namespace

AccessPlan planAccess(const ThreadEmitter &e, Value pointers, Value mask, uint64_t maxElements) {
  AccessPlan plan;
  plan.copies = copiesOf(pointers.getType(), e.numWarps(), e.numCTAs());
  auto type = dyn_cast<RankedTensorType>(pointers.getType());
  if (!type) {
    plan.accesses.push_back({{0}, 0, 0});
    return plan;
  }
  Planner planner(ttg::layoutOf(type), plan);
  const AxisInfoAnalysis &info = e.axisInfo();
  RunBits best;
  for (unsigned axis = 0; axis < type.getRank(); ++axis) {
    int64_t limit = std::min<int64_t>(info.accessWidth(pointers, axis), static_cast<int64_t>(maxElements));
    if (mask)
      limit = std::min(limit, info.maskAlignment(mask, axis));
    RunBits run = planner.findRun(axis, static_cast<uint64_t>(limit));
    if (run.size() > best.size())
      best = std::move(run);
  }
  planner.addAccesses(best);
  AxisInfo::Figures contiguity = info.lookup(pointers).contiguity;
  if (auto longest = llvm::max_element(contiguity); longest != contiguity.end())
    planner.shareBases(static_cast<unsigned>(longest - contiguity.begin()), static_cast<uint64_t>(*longest));
  return plan;
}

} // namespace despina::nvptx
