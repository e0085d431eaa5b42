//===- UniformCarries.cpp - Tiles that grow by a scalar ---------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// In:   scf.for iter_args(%p = %init) { ... yield addptr(%p, splat %step) }     (also addi, subi)
// Out:  scf.for iter_args(%s = 0)     { %p = addptr(%init, splat %s) ... yield %s + %step }
// Why:  a carried tile is a buffer, and pointers read from a buffer are gathered from one by one.
//
//===----------------------------------------------------------------------===//
#include "Lowering.h"

#include "despina/IR/TT.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace despina::cpu {

namespace {

/// The scalar all elements of a tile equal, made at the builder's place if need be; null if they differ.
Value uniformElement(OpBuilder &b, Value tile, unsigned depth = 0) {
  Operation *op = tile.getDefiningOp();
  if (!op || depth > 8)
    return {};
  Type element = getElementTypeOrSelf(tile.getType());
  if (auto splat = dyn_cast<tt::SplatOp>(op))
    return splat.getSrc();
  if (isa<tt::BroadcastOp, tt::ExpandDimsOp, tt::ReshapeOp, tt::TransOp>(op))
    return uniformElement(b, op->getOperand(0), depth + 1);
  if (auto constantOp = dyn_cast<arith::ConstantOp>(op)) {
    auto dense = dyn_cast<SplatElementsAttr>(constantOp.getValue());
    if (!dense)
      return {};
    return arith::ConstantOp::create(b, op->getLoc(), cast<TypedAttr>(dense.getSplatValue<Attribute>()));
  }
  if (isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::ExtSIOp>(op)) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      Value x = uniformElement(b, operand, depth + 1);
      if (!x)
        return {};
      operands.push_back(x);
    }
    OperationState state(op->getLoc(), op->getName(), operands, {element}, {});
    return b.create(state)->getResult(0);
  }
  return {};
}

/// How the carried value `i` changes in an iteration.
struct Step {
  unsigned index;
  Operation *update;
  Value amount; ///< scalar
  bool pointer;
};

std::optional<Step> findStep(scf::ForOp loop, unsigned index) {
  Value carried = loop.getRegionIterArg(index), yielded = loop.getYieldedValues()[index];
  Operation *op = yielded.getDefiningOp();
  if (!isa<RankedTensorType>(carried.getType()) || !op || op->getBlock() != loop.getBody())
    return std::nullopt;
  bool pointer = isa<tt::AddPtrOp>(op);
  if (!pointer && !isa<arith::AddIOp, arith::SubIOp>(op))
    return std::nullopt;
  bool first = op->getOperand(0) == carried;
  if (!first && !(isa<arith::AddIOp>(op) && op->getOperand(1) == carried))
    return std::nullopt;
  OpBuilder b(op);
  Value amount = uniformElement(b, op->getOperand(first ? 1 : 0));
  if (!amount)
    return std::nullopt;
  if (pointer && !amount.getType().isInteger(64))
    amount = arith::ExtSIOp::create(b, op->getLoc(), b.getI64Type(), amount);
  if (isa<arith::SubIOp>(op))
    amount = arith::SubIOp::create(
        b, op->getLoc(), arith::ConstantOp::create(b, op->getLoc(), b.getZeroAttr(amount.getType())), amount);
  return Step{index, op, amount, pointer};
}

Value applyStep(OpBuilder &b, Location loc, Value init, Value offset, bool pointer) {
  auto type = cast<RankedTensorType>(init.getType());
  Value tile = tt::SplatOp::create(b, loc, type.clone(offset.getType()), offset);
  if (pointer)
    return tt::AddPtrOp::create(b, loc, type, init, tile);
  return arith::AddIOp::create(b, loc, init, tile);
}

void rewriteLoop(scf::ForOp loop) {
  SmallVector<Step> steps;
  for (unsigned i = 0; i < loop.getNumRegionIterArgs(); ++i)
    if (auto step = findStep(loop, i))
      steps.push_back(*step);
  if (steps.empty())
    return;
  OpBuilder b(loop);
  Location loc = loop.getLoc();
  SmallVector<Value> inits(loop.getInitArgs());
  SmallVector<Value> oldInits = inits;
  for (const Step &step : steps)
    inits[step.index] = arith::ConstantOp::create(b, loc, b.getZeroAttr(step.amount.getType()));
  auto result = scf::ForOp::create(b, loc, loop.getLowerBound(), loop.getUpperBound(), loop.getStep(), inits,
                                   nullptr, loop.getUnsignedCmp());
  for (NamedAttribute attribute : loop->getDiscardableAttrs())
    result->setDiscardableAttr(attribute.getName(), attribute.getValue());
  Block *body = result.getBody();
  if (!body->empty())
    body->back().erase();
  SmallVector<Value> replacements(body->getArguments().begin(), body->getArguments().end());
  b.setInsertionPointToStart(body);
  for (const Step &step : steps)
    replacements[step.index + 1] =
        applyStep(b, loc, oldInits[step.index], result.getRegionIterArg(step.index), step.pointer);
  for (auto [old, fresh] : llvm::zip(loop.getBody()->getArguments(), replacements))
    old.replaceAllUsesWith(fresh);
  body->getOperations().splice(body->end(), loop.getBody()->getOperations());
  Operation *yield = body->getTerminator();
  b.setInsertionPoint(yield);
  for (const Step &step : steps)
    yield->setOperand(step.index,
                      arith::AddIOp::create(b, loc, result.getRegionIterArg(step.index), step.amount));
  b.setInsertionPointAfter(result);
  for (auto [i, old] : llvm::enumerate(loop.getResults())) {
    Value fresh = result.getResult(i);
    const Step *step = llvm::find_if(steps, [&, i = i](const Step &s) { return s.index == i; });
    if (step != steps.end() && !old.use_empty())
      fresh = applyStep(b, loc, oldInits[i], fresh, step->pointer);
    old.replaceAllUsesWith(fresh);
  }
  loop.erase();
  // The old updates only fed the yield.
  for (const Step &step : steps)
    if (step.update->use_empty())
      step.update->erase();
}

} // namespace

void carryUniformSteps(ModuleOp module) {
  SmallVector<scf::ForOp> loops;
  module.walk([&](scf::ForOp loop) { loops.push_back(loop); });
  for (scf::ForOp loop : loops)
    rewriteLoop(loop);
}

} // namespace despina::cpu
