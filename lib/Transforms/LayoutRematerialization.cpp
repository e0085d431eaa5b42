//===- LayoutRematerialization.cpp - Computing rather than converting -----===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// A tile of one layout in another, called a version here, can be had by a conversion right after its
// definition or by computing it from versions of the operands. The costs of both are compared recursively,
// with a memo; a loop counts what enters it and what one iteration computes, taking the carried version
// itself as there.
//
//===----------------------------------------------------------------------===//
#include "LayoutRematerialization.h"

#include "despina/Analysis/LayoutInference.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace despina;
using ttg::LayoutAttr;

namespace {

using Version = std::pair<Value, LayoutAttr>;

/// Where to stop looking: the slice of one conversion, and how deep recursion goes.
constexpr unsigned maxVersions = 512, maxRecursion = 256;

/// A tile that a loop carries: its index, and the loop.
struct Carried {
  scf::ForOp loop;
  unsigned index;

  static std::optional<Carried> of(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
      unsigned first = loop ? loop.getNumInductionVars() : 0;
      if (loop && argument.getArgNumber() >= first)
        return Carried{loop, argument.getArgNumber() - first};
      return std::nullopt;
    }
    auto loop = value.getDefiningOp<scf::ForOp>();
    return loop ? std::optional(Carried{loop, cast<OpResult>(value).getResultNumber()}) : std::nullopt;
  }

  Value init() { return loop.getInitArgs()[index]; }
  Value argument() { return loop.getRegionIterArg(index); }
  Value result() { return loop.getResult(index); }
  Value yielded() { return loop.getBody()->getTerminator()->getOperand(index); }
};

class Rematerializer {
public:
  explicit Rematerializer(Operation *root) : root(root) {}

  void run() {
    SmallVector<ttg::ConvertLayoutOp> conversions;
    root->walk([&](ttg::ConvertLayoutOp op) { conversions.push_back(op); });
    for (ttg::ConvertLayoutOp op : conversions)
      replace(op);
    for (Operation *op : gone)
      op->destroy();
  }

private:
  struct Choice {
    int64_t cost = 0;
    bool computes = false;
  };

  void replace(ttg::ConvertLayoutOp op) {
    Version wanted(op.getSrc(), layoutAttrOf(op.getResult()));
    choices.clear();
    order.clear();
    int64_t asIs = conversionCost(wanted) * LayoutCosts::weight(op->getBlock());
    if (evaluate(wanted, nullptr, 0) >= asIs)
      return;
    Value version = make(wanted);
    op.replaceAllUsesWith(version);
    bury(op);
  }

  /// Takes an operation out of the IR. It is not freed yet: what is remembered goes by addresses.
  void bury(Operation *op) {
    op->dropAllReferences();
    op->remove();
    gone.push_back(op);
  }

  //===--------------------------------------------------------------------===//
  // Costs
  //===--------------------------------------------------------------------===//

  int64_t conversionCost(Version version) {
    return costs.conversion(getElementTypeOrSelf(version.first), layoutAttrOf(version.first), version.second);
  }

  bool isThere(Version version) const {
    return layoutAttrOf(version.first) == version.second || made.contains(version);
  }

  /// The least cost of a version, whose choice is remembered. `mover` is an operation that will not need the
  /// old version any more once it has this one.
  int64_t evaluate(Version version, Operation *mover, unsigned depth) {
    if (isThere(version))
      return 0;
    if (auto known = choices.find(version); known != choices.end())
      return known->second.cost;
    int64_t direct = conversionCost(version) * LayoutCosts::weight(version.first.getParentBlock());
    if (depth > maxRecursion || choices.size() > maxVersions)
      return direct;
    // What comes back here, around a loop, finds the version there.
    size_t before = order.size();
    choices[version] = {0, true};
    order.push_back(version);
    std::optional<int64_t> computed = computationCost(version, direct, mover, depth + 1);
    if (computed && *computed < direct) {
      choices[version] = {*computed, true};
      return *computed;
    }
    // What relied on it has been evaluated wrongly.
    for (const Version &late : ArrayRef(order).drop_front(before))
      choices.erase(late);
    order.truncate(before);
    choices[version] = {direct, false};
    order.push_back(version);
    return direct;
  }

  /// Nothing if the version cannot be computed, or not below `limit`.
  std::optional<int64_t> computationCost(Version version, int64_t limit, Operation *mover, unsigned depth) {
    auto [value, layout] = version;
    if (std::optional<Carried> carried = Carried::of(value)) {
      if (value == carried->argument())
        return carriedCost(*carried, layout, mover, limit, depth);
      Version inLoop(carried->argument(), layout);
      int64_t cost = evaluate(inLoop, mover, depth);
      return isThere(inLoop) || choices.lookup(inLoop).computes ? std::optional(cost) : std::nullopt;
    }
    Operation *op = value.getDefiningOp();
    if (!op)
      return std::nullopt;
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      unsigned index = cast<OpResult>(value).getResultNumber();
      int64_t cost = evaluate({branch.thenYield().getOperand(index), layout}, nullptr, depth);
      return cost < limit ? cost + evaluate({branch.elseYield().getOperand(index), layout}, nullptr, depth)
                          : cost;
    }
    if (!canRepeat(op))
      return std::nullopt;
    bool moves = isMoved(value, layout, mover);
    int64_t cost = moves ? 0 : costs.computation(op, layout) * LayoutCosts::weight(op->getBlock());
    for (OpOperand &operand : op->getOpOperands()) {
      std::optional<LayoutAttr> needed = neededBy(cast<OpResult>(value), layout, operand);
      if (!needed)
        return std::nullopt;
      if (*needed && cost < limit)
        cost += evaluate({operand.get(), *needed}, moves ? op : nullptr, depth);
    }
    return cost;
  }

  std::optional<int64_t> carriedCost(Carried carried, LayoutAttr layout, Operation *mover, int64_t limit,
                                     unsigned depth) {
    Operation *yield = carried.loop.getBody()->getTerminator();
    bool moves = isOnlyFor(carried.result(), layout, mover) &&
                 llvm::all_of(carried.argument().getUsers(), [&](Operation *user) {
                   return user == mover || becomes(user, layout) || user == carried.yielded().getDefiningOp();
                 });
    int64_t cost = evaluate({carried.init(), layout}, moves ? carried.loop.getOperation() : nullptr, depth);
    if (cost < limit)
      cost += evaluate({carried.yielded(), layout}, moves ? yield : nullptr, depth);
    return cost;
  }

  /// Operations that give the same when run again in the same place.
  static bool canRepeat(Operation *op) {
    if (op->getNumRegions() || hasFixedLayouts(op) || isa<tt::GatherOp, tt::HistogramOp>(op))
      return false;
    if (auto load = dyn_cast<tt::LoadOp>(op))
      return !load.getIsVolatile();
    return isPure(op);
  }

  /// The layout of an operand for a version of a result: null if any will do, nothing if there is none.
  static std::optional<LayoutAttr> neededBy(OpResult result, LayoutAttr layout, OpOperand &operand) {
    if (!layoutAttrOf(operand.get()))
      return LayoutAttr();
    if (isa<ttg::ConvertLayoutOp>(result.getOwner()))
      return layout;
    InferredLayout needed = inferOperandLayout(result, layout, operand);
    if (needed.isAny())
      return LayoutAttr();
    return needed.get() ? std::optional(needed.get()) : std::nullopt;
  }

  static bool becomes(Operation *user, LayoutAttr layout) {
    return isa<ttg::ConvertLayoutOp>(user) && layoutAttrOf(user->getResult(0)) == layout;
  }

  static bool isOnlyFor(Value value, LayoutAttr layout, Operation *mover) {
    return llvm::all_of(value.getUsers(),
                        [&](Operation *user) { return user == mover || becomes(user, layout); });
  }

  /// Whether nothing will use the old version.
  static bool isMoved(Value value, LayoutAttr layout, Operation *mover) {
    return llvm::all_of(value.getDefiningOp()->getResults(),
                        [&](Value result) { return isOnlyFor(result, layout, mover); });
  }

  //===--------------------------------------------------------------------===//
  // Versions
  //===--------------------------------------------------------------------===//

  Value make(Version version) {
    auto [value, layout] = version;
    if (layoutAttrOf(value) == layout)
      return value;
    if (Value there = made.lookup(version))
      return there;
    std::optional<Carried> carried = Carried::of(value);
    if (!choices.lookup(version).computes)
      makeConversion(version);
    else if (carried)
      makeCarried(*carried, layout);
    else if (auto branch = value.getDefiningOp<scf::IfOp>())
      makeBranch(branch, cast<OpResult>(value).getResultNumber(), layout);
    else if (auto convert = value.getDefiningOp<ttg::ConvertLayoutOp>())
      made[version] = make({convert.getSrc(), layout});
    else
      makeCopy(cast<OpResult>(value), layout);
    // Loops and branches are replaced on the way: what stands in the memo is what there is now.
    return made.lookup({current(value), layout});
  }

  void makeConversion(Version version) {
    auto [value, layout] = version;
    OpBuilder builder(root->getContext());
    builder.setInsertionPointAfterValue(value);
    made[version] = convertedTo(value, layout, builder, value.getLoc());
  }

  void makeCopy(OpResult result, LayoutAttr layout) {
    Operation *op = result.getOwner();
    SmallVector<Value> operands(op->getOperands());
    for (OpOperand &operand : op->getOpOperands())
      if (LayoutAttr needed = neededBy(result, layout, operand).value_or(LayoutAttr()))
        operands[operand.getOperandNumber()] = make({operand.get(), needed});
    for (Value &operand : operands)
      operand = current(operand);
    OpBuilder builder(op);
    Operation *copy = builder.clone(*op);
    copy->setOperands(operands);
    for (auto [old, version] : llvm::zip(op->getResults(), copy->getResults()))
      if (layoutAttrOf(old)) {
        retype(version, layout);
        made[{old, layout}] = version;
      }
  }

  void makeCarried(Carried carried, LayoutAttr layout) {
    Block *body = carried.loop.getBody();
    unsigned index = carried.index;
    Value init = make({carried.init(), layout});
    // Making the version may have replaced the loop, but its body moves along.
    auto loop = cast<scf::ForOp>(body->getParentOp());
    SmallVector<Value> inits(loop.getInitArgs());
    inits.push_back(init);
    OpBuilder builder(loop);
    auto wider = scf::ForOp::create(builder, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(),
                                    loop.getStep(), inits, nullptr, loop.getUnsignedCmp());
    wider->setAttrs(loop->getAttrDictionary());
    wider.getRegion().takeBody(loop.getRegion());
    Value argument = body->addArgument(init.getType(), loop.getLoc());
    Operation *yield = body->getTerminator();
    yield->insertOperands(yield->getNumOperands(), argument); // for the time being
    replaceResults(loop, wider);
    made[{argumentOf(body, index), layout}] = argument;
    made[{wider.getResult(index), layout}] = wider.getResults().back();
    unsigned last = yield->getNumOperands() - 1;
    Value next = make({yield->getOperand(index), layout});
    body->getTerminator()->setOperand(last, next);
  }

  static Value argumentOf(Block *body, unsigned index) {
    return cast<scf::ForOp>(body->getParentOp()).getRegionIterArg(index);
  }

  void makeBranch(scf::IfOp branch, unsigned index, LayoutAttr layout) {
    Block *thenBlock = branch.thenBlock(), *elseBlock = branch.elseBlock();
    Value thenVersion = make({thenBlock->getTerminator()->getOperand(index), layout});
    Value elseVersion = make({elseBlock->getTerminator()->getOperand(index), layout});
    thenVersion = current(thenVersion);
    branch = cast<scf::IfOp>(thenBlock->getParentOp());
    SmallVector<Type> types(branch.getResultTypes());
    types.push_back(thenVersion.getType());
    OpBuilder builder(branch);
    auto wider = scf::IfOp::create(builder, branch.getLoc(), types, branch.getCondition());
    wider->setDiscardableAttrs(branch->getDiscardableAttrDictionary());
    wider.getThenRegion().takeBody(branch.getThenRegion());
    wider.getElseRegion().takeBody(branch.getElseRegion());
    for (auto [block, version] : {std::pair(thenBlock, thenVersion), {elseBlock, elseVersion}})
      block->getTerminator()->insertOperands(block->getTerminator()->getNumOperands(), version);
    replaceResults(branch, wider);
    made[{wider.getResult(index), layout}] = wider.getResults().back();
  }

  /// The results of `op` become the first ones of `wider`, also in what is remembered.
  void replaceResults(Operation *op, Operation *wider) {
    for (auto [old, now] : llvm::zip(op->getResults(), wider->getResults())) {
      old.replaceAllUsesWith(now);
      replaced[old] = now;
    }
    DenseMap<Version, Value> nowMade;
    for (auto [version, value] : made)
      nowMade[{current(version.first), version.second}] = current(value);
    made = std::move(nowMade);
    DenseMap<Version, Choice> nowChosen;
    for (auto [version, choice] : choices)
      nowChosen[{current(version.first), version.second}] = choice;
    choices = std::move(nowChosen);
    bury(op);
  }

  /// What has become of a value.
  Value current(Value value) const {
    while (Value next = replaced.lookup(value))
      value = next;
    return value;
  }

  Operation *root;
  LayoutCosts costs;
  /// For the conversion at hand.
  DenseMap<Version, Choice> choices;
  SmallVector<Version> order;
  /// Versions that there are.
  DenseMap<Version, Value> made;
  /// Results of loops and branches that have been replaced.
  DenseMap<Value, Value> replaced;
  SmallVector<Operation *> gone;
};

} // namespace

void despina::rematerialize(Operation *root) { Rematerializer(root).run(); }
