//===- DescriptorGroups.cpp - Which descriptors meet ----------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "DescriptorGroups.h"

#include "despina/Analysis/ValueFlow.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;

namespace despina::nvptx {

namespace {

bool isDescriptor(Value value) { return isa<tt::TensorDescType>(value.getType()); }

bool handsOn(Operation *op) {
  return isa<scf::ForOp, scf::WhileOp, scf::IfOp, scf::YieldOp, scf::ConditionOp, arith::SelectOp>(op);
}

class Grouping {
public:
  explicit Grouping(ModuleOp module) {
    module.walk<WalkOrder::PreOrder>([&](Operation *op) {
      for (Value result : op->getResults())
        add(result);
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (Value argument : block.getArguments())
            add(argument);
    });
    module.walk([&](Operation *op) {
      forEachValueFlow(op, [&](OpOperand &from, Value to) { join(from.get(), to); });
      if (auto select = dyn_cast<arith::SelectOp>(op))
        for (Value choice : {select.getTrueValue(), select.getFalseValue()})
          join(choice, select.getResult());
    });
  }

  std::vector<DescriptorGroup> groups() {
    std::vector<DescriptorGroup> result;
    DenseMap<const void *, size_t> known;
    for (Value value : values_) {
      auto [entry, isNew] = known.try_emplace(classes_.getLeaderValue(key(value)), result.size());
      if (isNew)
        result.emplace_back();
      addTo(result[entry->second], value);
    }
    return result;
  }

private:
  static const void *key(Value value) { return value.getAsOpaquePointer(); }

  void add(Value value) {
    if (!isDescriptor(value))
      return;
    values_.push_back(value);
    classes_.insert(key(value));
  }

  void join(Value from, Value to) {
    if (isDescriptor(to))
      classes_.unionSets(key(from), key(to));
  }

  static void addTo(DescriptorGroup &group, Value value) {
    group.values.push_back(value);
    Operation *source = value.getDefiningOp();
    if (auto maker = dyn_cast_or_null<tt::MakeTensorDescOp>(source))
      group.makers.push_back(maker);
    else if (!source)
      group.isClosed &= handsOn(cast<BlockArgument>(value).getOwner()->getParentOp());
    else
      group.isClosed &= handsOn(source) || isa<ub::PoisonOp>(source);
    for (Operation *user : value.getUsers())
      if (!handsOn(user) && !llvm::is_contained(group.users, user))
        group.users.push_back(user);
  }

  SmallVector<Value> values_;
  llvm::EquivalenceClasses<const void *> classes_;
};

} // namespace

bool DescriptorGroup::outlivesIteration() const {
  return llvm::any_of(values, [&](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    Operation *loop = argument ? argument.getOwner()->getParentOp() : nullptr;
    return isa_and_nonnull<LoopLikeOpInterface>(loop) &&
           llvm::any_of(makers, [&](tt::MakeTensorDescOp maker) { return loop->isProperAncestor(maker); });
  });
}

std::vector<DescriptorGroup> findDescriptorGroups(ModuleOp module) { return Grouping(module).groups(); }

} // namespace despina::nvptx
