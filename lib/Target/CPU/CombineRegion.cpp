//===- CombineRegion.cpp - Functions of scalars on vectors ------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Combine regions are evaluated on whole vectors, operation by operation, and of a branch both arms. A region
// with loops, whose lanes would take different numbers of turns, is evaluated on scalars.
//
//===----------------------------------------------------------------------===//
#include "TileEmitter.h"

using namespace mlir;

namespace despina::cpu {

namespace {
bool holdsLoop(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return isa<scf::ForOp, scf::WhileOp>(inner) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}
} // namespace

bool TileEmitter::hasLoops(Region &region) {
  return llvm::any_of(region.front(), [](Operation &op) { return holdsLoop(&op); });
}

/// Evaluates the operations of a combine region on `count` lanes.
class TileEmitter::RegionEvaluator {
public:
  RegionEvaluator(TileEmitter &emitter, int64_t count) : e(emitter), b(emitter.b), count(count) {}

  void bind(ValueRange values, ValueRange known) {
    for (auto [value, lane] : llvm::zip(values, known))
      local[value] = lane;
  }
  Value get(Value v) {
    if (Value known = local.lookup(v))
      return known;
    return e.splat(e.scalar(v), count);
  }
  SmallVector<Value> getAll(ValueRange values) {
    return llvm::map_to_vector(values, [&](Value v) { return get(v); });
  }
  void evaluate(Block &block) {
    for (Operation &op : block.without_terminator())
      evaluate(&op);
  }

private:
  void evaluate(Operation *op) {
    e.loc = op->getLoc();
    if (auto constantOp = dyn_cast<arith::ConstantOp>(op)) {
      Value constant = arith::ConstantOp::create(b, e.loc, constantOp.getValue());
      local[op->getResult(0)] = e.splat(constant, count);
    } else if (isa<ub::PoisonOp>(op)) {
      // Nobody reads it; a known number keeps LLVM from drawing conclusions.
      Type type = e.scalarType(op->getResult(0).getType());
      Value zero = isa<LLVM::LLVMPointerType>(type)
                       ? Value(LLVM::ZeroOp::create(b, e.loc, type))
                       : Value(arith::ConstantOp::create(b, e.loc, b.getZeroAttr(type)));
      local[op->getResult(0)] = e.splat(zero, count);
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      holdsLoop(op) ? emitBranch(branch) : chooseArm(branch);
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      emitLoop(loop);
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      emitLoop(loop);
    } else {
      local[op->getResult(0)] = e.emitElementwise(op, getAll(op->getOperands()), count);
    }
  }

  /// Lanes may go different ways: both arms are evaluated, which none of their operations minds.
  void chooseArm(scf::IfOp branch) {
    if (branch.getNumResults() == 0)
      return;
    Value condition = get(branch.getCondition());
    evaluate(*branch.thenBlock());
    evaluate(*branch.elseBlock());
    auto thenValues = branch.thenYield().getOperands(), elseValues = branch.elseYield().getOperands();
    for (auto [result, p, q] : llvm::zip(branch.getResults(), thenValues, elseValues))
      local[result] = e.choose(condition, get(p), get(q));
  }

  SmallVector<Type> scalarTypes(TypeRange types) {
    return llvm::map_to_vector(types, [&](Type type) { return e.scalarType(type); });
  }

  /// `source` at the end of `block`, ended by what its terminator hands on.
  void emitInto(Block *block, Block &source) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(block);
    evaluate(source);
    Operation *end = source.getTerminator();
    if (auto condition = dyn_cast<scf::ConditionOp>(end))
      scf::ConditionOp::create(b, end->getLoc(), get(condition.getCondition()), getAll(condition.getArgs()));
    else
      scf::YieldOp::create(b, end->getLoc(), getAll(end->getOperands()));
  }

  void emitBranch(scf::IfOp op) {
    bool hasElse = !op.getElseRegion().empty();
    auto branch = scf::IfOp::create(b, e.loc, scalarTypes(op.getResultTypes()), get(op.getCondition()),
                                    /*addThenBlock=*/true, hasElse);
    emitInto(branch.thenBlock(), *op.thenBlock());
    if (hasElse)
      emitInto(branch.elseBlock(), *op.elseBlock());
    bind(op.getResults(), branch.getResults());
  }

  void emitLoop(scf::ForOp op) {
    auto loop = scf::ForOp::create(b, e.loc, get(op.getLowerBound()), get(op.getUpperBound()),
                                   get(op.getStep()), getAll(op.getInitArgs()), nullptr, op.getUnsignedCmp());
    if (!loop.getBody()->empty())
      loop.getBody()->back().erase();
    bind(op.getBody()->getArguments(), loop.getBody()->getArguments());
    emitInto(loop.getBody(), *op.getBody());
    bind(op.getResults(), loop.getResults());
  }

  void emitLoop(scf::WhileOp op) {
    auto loop = scf::WhileOp::create(b, e.loc, scalarTypes(op.getResultTypes()), getAll(op.getInits()));
    for (auto [target, source] :
         {std::pair(&loop.getBefore(), op.getBeforeBody()), std::pair(&loop.getAfter(), op.getAfterBody())}) {
      OpBuilder::InsertionGuard guard(b);
      SmallVector<Type> types = scalarTypes(source->getArgumentTypes());
      Block *block = b.createBlock(target, {}, types, SmallVector<Location>(types.size(), e.loc));
      bind(source->getArguments(), block->getArguments());
      emitInto(block, *source);
    }
    bind(op.getResults(), loop.getResults());
  }

  TileEmitter &e;
  OpBuilder &b;
  int64_t count;
  llvm::DenseMap<Value, Value> local;
};

void TileEmitter::combine(Region &region, MutableArrayRef<Value> accumulated, ArrayRef<Value> values,
                          int64_t count) {
  Block &block = region.front();
  RegionEvaluator evaluator(*this, count);
  evaluator.bind(block.getArguments().take_front(accumulated.size()), ArrayRef<Value>(accumulated));
  evaluator.bind(block.getArguments().drop_front(accumulated.size()), values);
  evaluator.evaluate(block);
  llvm::copy(evaluator.getAll(block.getTerminator()->getOperands()), accumulated.begin());
}

} // namespace despina::cpu
