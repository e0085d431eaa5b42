//===- LayoutPropagation.cpp - One layout for what belongs together -------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "LayoutPropagation.h"

#include "despina/Analysis/LayoutInference.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace despina;
using ttg::LayoutAttr;

namespace {

using Layouts = SmallVector<LayoutAttr, 2>;

/// More would be no use: one is chosen.
constexpr unsigned maxCandidates = 6;
constexpr unsigned maxRounds = 4;

class Propagation {
public:
  Propagation(Operation *root, bool fromConversions) : root(root), fromConversions(fromConversions) {}

  void run() {
    collectAnchors();
    while (!worklist.empty())
      propagate(worklist.pop_back_val());
    if (candidates.empty())
      return;
    decideAll();
    retypeAll();
    fixOperands();
  }

private:
  //===--------------------------------------------------------------------===//
  // Candidates
  //===--------------------------------------------------------------------===//

  void add(Value value, LayoutAttr layout) {
    if (!layout || !layoutAttrOf(value))
      return;
    Layouts &known = candidates[value];
    if (llvm::is_contained(known, layout) || known.size() == maxCandidates)
      return;
    known.push_back(layout);
    worklist.push_back({value, layout});
  }

  void collectAnchors() {
    root->walk([&](Operation *op) {
      forEachFlow(op, [&](OpOperand &from, Value to) { classes.unionSets(key(from.get()), key(to)); });
      // Conversions that are there say nothing: new ones come where they are needed.
      if (isa<ttg::ConvertLayoutOp>(op)) {
        classes.unionSets(key(op->getOperand(0)), key(op->getResult(0)));
        if (fromConversions)
          add(op->getResult(0), layoutAttrOf(op->getOperand(0)));
      }
      if (!hasFixedLayouts(op)) {
        // All tiles that one operation gives follow the same operands.
        if (!isControlFlow(op))
          for (Value result : op->getResults().drop_front(op->getNumResults() ? 1 : 0))
            classes.unionSets(key(op->getResult(0)), key(result));
        return;
      }
      for (OpOperand &operand : op->getOpOperands())
        if (LayoutAttr layout = layoutAttrOf(operand.get()); layout && !takesAnyLayout(operand))
          fixedOperands.push_back({&operand, layout});
      for (OpResult result : op->getResults())
        if (LayoutAttr layout = layoutAttrOf(result)) {
          fixedResults.insert(result);
          add(result, layout);
        }
    });
    // Another function may look at the type of an argument.
    root->walk([&](tt::FuncOp func) {
      if (!func.isExternal())
        for (Value argument : func.getArguments())
          if (LayoutAttr layout = layoutAttrOf(argument)) {
            fixedResults.insert(argument);
            add(argument, layout);
          }
    });
  }

  void propagate(std::pair<Value, LayoutAttr> item) {
    auto [value, layout] = item;
    for (OpOperand &use : value.getUses()) {
      Operation *op = use.getOwner();
      forEachFlowOf(use, [&, layout = layout](Value to) { add(to, layout); });
      if (auto convert = dyn_cast<ttg::ConvertLayoutOp>(op))
        add(convert.getResult(), layout);
      else if (!isControlFlow(op) && !hasFixedLayouts(op))
        for (OpResult result : op->getResults())
          add(result, inferResultLayout(use, layout, result).get());
    }
  }

  //===--------------------------------------------------------------------===//
  // Decisions
  //===--------------------------------------------------------------------===//

  /// Values that control flow ties are decided on together, where the first of them stands. Then all choices
  /// are looked at again with the others made, until none changes.
  void decideAll() {
    SmallVector<Value> leaders;
    DenseSet<Value> seen;
    auto consider = [&](Value value) {
      if (!candidates.contains(value) || seen.contains(value))
        return;
      leaders.push_back(value);
      for (Value member : membersOf(value))
        seen.insert(member);
    };
    root->walk<WalkOrder::PreOrder>([&](Operation *op) {
      llvm::for_each(op->getResults(), consider);
      for (Region &region : op->getRegions())
        for (Block &block : region)
          llvm::for_each(block.getArguments(), consider);
    });
    bool changed = true;
    for (unsigned round = 0; changed && round < maxRounds; ++round) {
      changed = false;
      for (Value leader : leaders)
        changed |= decide(leader);
    }
  }

  SmallVector<Value> membersOf(Value value) const {
    SmallVector<Value> members;
    for (const void *member : classes.members(key(value)))
      members.push_back(Value::getFromOpaquePointer(member));
    if (members.empty())
      members.push_back(value);
    return members;
  }

  /// Whether the choice has changed.
  bool decide(Value value) {
    SmallVector<Value> members = membersOf(value);
    Layouts choices;
    for (Value member : members)
      for (LayoutAttr layout : candidates.lookup(member))
        if (!llvm::is_contained(choices, layout))
          choices.push_back(layout);
    if (fromConversions && !llvm::is_contained(choices, layoutAttrOf(value)))
      choices.push_back(layoutAttrOf(value));
    LayoutAttr best = choices.front();
    int64_t least = std::numeric_limits<int64_t>::max();
    for (LayoutAttr layout : choices) {
      if (choices.size() == 1)
        break;
      int64_t cost = 0;
      for (Value member : members)
        cost += costOf(member, layout);
      if (cost < least) {
        least = cost;
        best = layout;
      }
    }
    bool changed = false;
    for (Value member : members) {
      if (!layoutAttrOf(member))
        continue;
      LayoutAttr choice = fixedResults.contains(member) ? layoutAttrOf(member) : best;
      changed |= std::exchange(decisions[member], choice) != choice;
    }
    return changed;
  }

  /// What must be converted around `value` if it gets this layout.
  int64_t costOf(Value value, LayoutAttr layout) {
    int64_t cost = 0;
    Type element = getElementTypeOrSelf(value);
    if (fixedResults.contains(value))
      cost += costs.conversion(element, layoutAttrOf(value), layout) *
              LayoutCosts::weight(value.getParentBlock());
    else if (auto result = dyn_cast<OpResult>(value); result && !isControlFlow(result.getOwner()))
      for (OpOperand &operand : result.getOwner()->getOpOperands())
        cost += costOfOperand(result, layout, operand);
    for (OpOperand &use : value.getUses())
      cost += costs.conversion(element, layout, layoutOfUse(use, layout)) *
              LayoutCosts::weight(use.getOwner()->getBlock());
    return cost;
  }

  int64_t costOfOperand(OpResult result, LayoutAttr layout, OpOperand &operand) {
    Value source = operand.get();
    LayoutAttr now = decisions.lookup(source);
    if (!now) {
      // What no anchor has reached can be computed in any layout, it is hoped; later one knows.
      bool isFree = !fromConversions || !layoutAttrOf(source) || source.getDefiningOp<tt::SplatOp>() ||
                    source.getDefiningOp<tt::MakeRangeOp>() || source.getDefiningOp<arith::ConstantOp>();
      auto found = candidates.find(source);
      if (found == candidates.end() && isFree)
        return 0;
      now = found == candidates.end() ? layoutAttrOf(source) : found->second.front();
    }
    int64_t weight = LayoutCosts::weight(result.getOwner()->getBlock());
    LayoutAttr needed = inferOperandLayout(result, layout, operand).get();
    if (needed)
      return costs.conversion(getElementTypeOrSelf(source), now, needed) * weight;
    LayoutAttr given = inferResultLayout(operand, now, result).get();
    return given ? costs.conversion(getElementTypeOrSelf(result), given, layout) * weight : 0;
  }

  /// The layout in which a use wants a value that has `layout`.
  LayoutAttr layoutOfUse(OpOperand &use, LayoutAttr layout) {
    Operation *op = use.getOwner();
    if (takesAnyLayout(use))
      return layout;
    if (hasFixedLayouts(op))
      return layoutAttrOf(use.get());
    for (OpResult result : op->getResults()) {
      if (isControlFlow(op) || !candidates.contains(result))
        continue;
      LayoutAttr given = inferResultLayout(use, layout, result).get();
      LayoutAttr wanted = decisions.lookup(result);
      const Layouts &possible = candidates.find(result)->second;
      if (!given || given == wanted || (!wanted && llvm::is_contained(possible, given)))
        continue;
      LayoutAttr needed = inferOperandLayout(result, wanted ? wanted : possible.front(), use).get();
      return needed ? needed : layout;
    }
    return layout;
  }

  //===--------------------------------------------------------------------===//
  // Rewriting
  //===--------------------------------------------------------------------===//

  void retypeDecided(Value value) {
    if (LayoutAttr layout = decisions.lookup(value); layout && layout != layoutAttrOf(value))
      retype(value, layout);
  }

  /// Arguments and results of control flow first: what their terminators give is converted to it.
  void retypeAll() {
    root->walk([&](Operation *op) {
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (Value argument : block.getArguments())
            retypeDecided(argument);
      if (isControlFlow(op))
        for (Value result : op->getResults())
          retypeDecided(result);
    });
    root->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isControlFlow(op) || hasFixedLayouts(op))
        return;
      for (OpResult result : op->getResults()) {
        retypeDecided(result);
        followOperand(op, result);
      }
    });
  }

  /// Where no operand can be found for the layout of the result, the result has what the operand gives.
  static void followOperand(Operation *op, OpResult result) {
    LayoutAttr layout = layoutAttrOf(result);
    if (!layout || isa<ttg::ConvertLayoutOp>(op))
      return;
    for (OpOperand &operand : op->getOpOperands()) {
      LayoutAttr source = layoutAttrOf(operand.get());
      if (!source || inferOperandLayout(result, layout, operand).get())
        continue;
      if (LayoutAttr given = inferResultLayout(operand, source, result).get())
        return retype(result, given);
    }
  }

  static void convert(OpOperand &operand, LayoutAttr layout) {
    OpBuilder builder(operand.getOwner());
    operand.set(convertedTo(operand.get(), layout, builder, operand.getOwner()->getLoc()));
  }

  void fixOperands() {
    for (auto [operand, layout] : fixedOperands)
      convert(*operand, layout);
    SmallVector<Operation *> all;
    root->walk([&](Operation *op) { all.push_back(op); });
    for (Operation *op : all) {
      forEachFlow(op, [&](OpOperand &from, Value to) { convert(from, layoutAttrOf(to)); });
      if (auto same = dyn_cast<ttg::ConvertLayoutOp>(op); same && same.getSrc().getType() == same.getType()) {
        same.replaceAllUsesWith(same.getSrc());
        same.erase();
      } else if (!isControlFlow(op) && !hasFixedLayouts(op)) {
        fixTiedOperands(op);
      }
    }
  }

  void fixTiedOperands(Operation *op) {
    if (isa<tt::StoreOp>(op))
      return fixSmallStore(op);
    for (OpOperand &operand : op->getOpOperands()) {
      if (!layoutAttrOf(operand.get()) || takesAnyLayout(operand))
        continue;
      InferredLayout wanted = InferredLayout::any();
      for (OpResult result : op->getResults())
        if (wanted.isAny() && layoutAttrOf(result))
          wanted = inferOperandLayout(result, layoutAttrOf(result), operand);
      // Without a result to follow, or one that follows the operand: the first one leads.
      OpOperand &first = op->getOpOperand(0);
      if (!wanted.get() && layoutAttrOf(first.get()))
        wanted = inferOtherOperandLayout(first, layoutAttrOf(first.get()), operand);
      if (wanted.get())
        convert(operand, wanted.get());
    }
  }

  /// The value has been computed somewhere; pointers and mask are cheap to make anew.
  void fixSmallStore(Operation *op) {
    LayoutAttr layout = layoutAttrOf(cast<tt::StoreOp>(op).getValue());
    for (OpOperand &operand : op->getOpOperands())
      if (layoutAttrOf(operand.get()))
        convert(operand, layout);
  }

  static const void *key(Value value) { return value.getAsOpaquePointer(); }

  Operation *root;
  /// Whether sources of conversions are carried forward as well. What a value has is a candidate then.
  bool fromConversions;
  LayoutCosts costs;
  llvm::EquivalenceClasses<const void *> classes;
  SmallVector<std::pair<OpOperand *, LayoutAttr>> fixedOperands;
  DenseSet<Value> fixedResults;
  DenseMap<Value, Layouts> candidates;
  SmallVector<std::pair<Value, LayoutAttr>> worklist;
  DenseMap<Value, LayoutAttr> decisions;
};

} // namespace

void despina::propagateLayouts(Operation *root, bool fromConversions) {
  Propagation(root, fromConversions).run();
}
