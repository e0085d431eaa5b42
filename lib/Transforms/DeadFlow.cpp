//===- DeadFlow.cpp - Removes what only loops still compute with ----------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "LayoutRematerialization.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace despina;

namespace {

/// Which values something with an effect needs in the end.
class Liveness {
public:
  explicit Liveness(Operation *root) {
    root->walk([&](Operation *op) {
      forEachFlow(op, [&](OpOperand &from, Value to) {
        sources[to].push_back(from.get());
        carried.insert(&from);
      });
    });
    // What control flow does not hand on as a tile counts as needed: bounds, conditions, scalars.
    root->walk([&](Operation *op) {
      if (isControlFlow(op) || !isPure(op) || op->hasTrait<OpTrait::IsTerminator>() || op->getNumRegions())
        for (OpOperand &operand : op->getOpOperands())
          if (!carried.contains(&operand))
            mark(operand.get());
    });
    while (!worklist.empty())
      visit(worklist.pop_back_val());
  }

  bool isLive(Value value) const { return live.contains(value); }

private:
  void mark(Value value) {
    if (live.insert(value).second)
      worklist.push_back(value);
  }

  void visit(Value value) {
    for (Value source : sources.lookup(value))
      mark(source);
    Operation *op = value.getDefiningOp();
    if (op && !isControlFlow(op))
      for (Value operand : op->getOperands())
        mark(operand);
  }

  DenseMap<Value, SmallVector<Value, 4>> sources;
  DenseSet<OpOperand *> carried;
  DenseSet<Value> live;
  SmallVector<Value> worklist;
};

} // namespace

void despina::removeDeadFlow(Operation *root) {
  Liveness liveness(root);
  // Carried in place, a tile can be folded away by the canonicalization of loops: it equals what enters.
  root->walk([&](scf::ForOp loop) {
    Operation *yield = loop.getBody()->getTerminator();
    for (auto [index, argument] : llvm::enumerate(loop.getRegionIterArgs()))
      if (isa<RankedTensorType>(argument.getType()) && !liveness.isLive(argument) &&
          !liveness.isLive(loop.getResult(index)))
        yield->setOperand(index, argument);
  });
  // Users come after what they use, so one walk backwards takes whole chains.
  SmallVector<Operation *> all;
  root->walk([&](Operation *op) { all.push_back(op); });
  for (Operation *op : llvm::reverse(all))
    if (op->getNumRegions() == 0 && isOpTriviallyDead(op))
      op->erase();
}
