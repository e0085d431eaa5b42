//===- ValueFlow.cpp - What control flow hands on -------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "despina/Analysis/ValueFlow.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

void despina::forEachValueFlow(Operation *op, function_ref<void(OpOperand &, Value)> visit) {
  auto pairs = [&](auto from, auto &&to) {
    for (auto [operand, target] : llvm::zip(from, to))
      visit(operand, target);
  };
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    MutableArrayRef<OpOperand> yielded = loop.getBody()->getTerminator()->getOpOperands();
    MutableArrayRef<OpOperand> inits = loop.getInitArgsMutable();
    for (MutableArrayRef<OpOperand> operands : {inits, yielded}) {
      pairs(operands, loop.getRegionIterArgs());
      pairs(operands, loop.getResults());
    }
  } else if (auto branch = dyn_cast<scf::IfOp>(op); branch && branch.getNumResults()) {
    pairs(branch.thenYield()->getOpOperands(), branch.getResults());
    pairs(branch.elseYield()->getOpOperands(), branch.getResults());
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    pairs(loop->getOpOperands(), loop.getBeforeArguments());
    pairs(loop.getYieldOp()->getOpOperands(), loop.getBeforeArguments());
    MutableArrayRef<OpOperand> passed = loop.getConditionOp().getArgsMutable();
    pairs(passed, loop.getAfterArguments());
    pairs(passed, loop.getResults());
  }
}
