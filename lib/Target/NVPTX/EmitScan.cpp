//===- EmitScan.cpp - Scans -----------------------------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// The steps of a ScanPlan. A reversed scan exchanges the halves of each block of positions: what comes first
// is the upper one.
//
//===----------------------------------------------------------------------===//
#include "EmitCombine.h"

#include "ThreadData.h"

#include "llvm/ADT/MapVector.h"

#include <bit>
#include <map>

using namespace mlir;

namespace despina::nvptx {

namespace {

class ScanEmitter {
public:
  ScanEmitter(ThreadEmitter &e, tt::ScanOp op, ArrayRef<ScanPlan> plans)
      : e(e), op(op), plans(plans), combiner(e, op.getCombineOp()), groups(conversionsOf(plans)),
        mover(e, op, groups) {}

  LogicalResult run() {
    for (Value operand : op.getSrcs()) {
      Registers &start = prefixes.emplace_back();
      for (unsigned index : plans.front().values)
        start.push_back(e.get(operand)[index]);
    }
    totals = prefixes;
    size_t nextGroup = 0;
    for (const ScanStep &step : plans.front().steps) {
      const ConversionGroup *group = step.conversion ? &groups[nextGroup++] : nullptr;
      if (failed(doubleBlocks(step, group)))
        return failure();
    }
    for (auto [result, prefix] : llvm::zip(op->getResults(), prefixes)) {
      Registers registers;
      for (unsigned index : plans.front().finalIndex)
        registers.push_back(prefix[index]);
      e.set(result, std::move(registers));
    }
    return success();
  }

private:
  /// The totals of the other halves: others[h] has those of values whose own half is the upper one iff h.
  std::optional<std::array<OperandTiles, 2>> otherTotals(const ScanStep &step, const ConversionGroup *group) {
    OperandTiles others;
    if (!group) {
      others = totals;
      for (Registers &tile : others) {
        Registers old = tile;
        for (size_t i = 0; i < tile.size(); ++i)
          tile[i] = old[i ^ step.registerMask];
        if (step.laneMask)
          shuffleOnce(tile, step.laneMask);
      }
      return std::array{others, others};
    }
    std::optional<OperandTiles> moved = moveTiles(mover, *group, totals);
    if (!moved)
      return std::nullopt;
    std::array<OperandTiles, 2> result;
    for (const Registers &tile : *moved)
      for (unsigned half : {0, 1}) {
        Registers &part = result[half].emplace_back();
        for (size_t i = 0; i < tile.size() / 2; ++i)
          part.push_back(tile[2 * i + (1 - half)]);
      }
    return result;
  }

  /// Values of one block have one total: it travels once.
  void shuffleOnce(Registers &tile, uint64_t laneMask) {
    llvm::MapVector<Value, Value> moved;
    for (Value value : tile)
      moved[value] = {};
    Registers different;
    for (auto &entry : moved)
      different.push_back(entry.first);
    for (auto [entry, value] : llvm::zip(moved, shuffleValues(e, different, {laneMask, {}})))
      entry.second = value;
    for (Value &value : tile)
      value = moved[value];
  }

  LogicalResult doubleBlocks(const ScanStep &step, const ConversionGroup *group) {
    std::optional<std::array<OperandTiles, 2>> others = otherTotals(step, group);
    if (!others)
      return failure();
    Value threadIsUpper = parity(e, step.upper.lane, step.upper.warp, step.upper.block);
    bool isLast = &step == &plans.front().steps.back();
    OperandTiles oldTotals = totals;
    sums.clear();
    for (size_t i = 0; i < prefixes.front().size(); ++i) {
      bool registerIsUpper = std::popcount(i & step.upper.registers) % 2;
      Element own = elementAt(oldTotals, i), prefix = elementAt(prefixes, i);
      bool isDone = threadIsUpper
                        ? doubleInSome(threadIsUpper, registerIsUpper, *others, i, own, prefix, isLast)
                        : doubleInAll(registerIsUpper, (*others)[registerIsUpper], i, own, prefix, isLast);
      if (!isDone)
        return failure();
      for (size_t operand = 0; operand < prefixes.size(); ++operand) {
        prefixes[operand][i] = prefix[operand];
        totals[operand][i] = own[operand];
      }
    }
    return success();
  }

  /// Where all threads have the value in the same half.
  bool doubleInAll(bool isUpper, const OperandTiles &others, size_t i, Element &own, Element &prefix,
                   bool isLast) {
    Element other = elementAt(others, i);
    bool comesSecond = isUpper != op.getReverse();
    if (comesSecond)
      prefix = combiner.combine(other, prefix);
    if (!isLast)
      own = comesSecond ? combineOnce(other, own) : combineOnce(own, other);
    return !own.empty() && !prefix.empty();
  }

  bool doubleInSome(Value threadIsUpper, bool registerIsUpper, const std::array<OperandTiles, 2> &others,
                    size_t i, Element &own, Element &prefix, bool isLast) {
    Value isUpper = registerIsUpper ? e.bitXor(threadIsUpper, e.i1(true)) : threadIsUpper;
    Value comesSecond = op.getReverse() ? e.bitXor(isUpper, e.i1(true)) : isUpper;
    Element other = selectElement(e, isUpper, elementAt(others[1], i), elementAt(others[0], i));
    Element longer = combiner.combine(other, prefix);
    if (longer.empty())
      return false;
    prefix = selectElement(e, comesSecond, longer, prefix);
    if (isLast)
      return true;
    // One operand may stand for several places of the axis, in different halves.
    Key key = keyOf(own, other);
    if (registerIsUpper)
      key.push_back(nullptr);
    Element &sum = sums[key];
    if (sum.empty() && combiner.isCommutative())
      sum = combiner.combine(own, other);
    else if (sum.empty())
      sum = combiner.combine(selectElement(e, comesSecond, other, own),
                             selectElement(e, comesSecond, own, other));
    own = sum;
    return !own.empty();
  }

  using Key = std::vector<const void *>;
  static Key keyOf(ArrayRef<Value> first, ArrayRef<Value> second) {
    Key key;
    for (ArrayRef<Value> list : {first, second})
      for (Value value : list)
        key.push_back(value.getAsOpaquePointer());
    return key;
  }

  /// Both halves of a block get the same total.
  Element combineOnce(ArrayRef<Value> first, ArrayRef<Value> second) {
    Element &sum = sums[keyOf(first, second)];
    if (sum.empty())
      sum = combiner.combine(first, second);
    return sum;
  }

  ThreadEmitter &e;
  tt::ScanOp op;
  ArrayRef<ScanPlan> plans;
  Combiner combiner;
  SmallVector<ConversionGroup> groups;
  TileMover mover;
  OperandTiles prefixes, totals;
  /// Totals of the step in hand, by what they are made of.
  std::map<Key, Element> sums;
};

} // namespace

LogicalResult emitScan(ThreadEmitter &e, tt::ScanOp op) {
  auto plans = planOf(op);
  if (!plans)
    return op.emitOpError() << "has operands of different layouts, or cannot be planned for "
                            << op.getSrcs().front().getType();
  return ScanEmitter(e, op, *plans).run();
}

} // namespace despina::nvptx
