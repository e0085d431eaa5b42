//===- EmitControl.cpp - Control flow, programs, functions ----------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Conditions and trip counts are scalars, which all threads of a block have alike: a branch never splits a
// warp, and barriers inside are reached by all.
//
//===----------------------------------------------------------------------===//
#include "EmitControl.h"

#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;

namespace despina::nvptx {

namespace {

/// The registers of several values, one after the other.
Registers flatten(ThreadEmitter &e, ValueRange values) {
  Registers result;
  for (Value value : values)
    llvm::append_range(result, e.get(value));
  return result;
}

/// Adds block arguments for values of these types and binds them.
void addArguments(ThreadEmitter &e, Block *block, ValueRange values) {
  for (Value value : values) {
    Registers registers;
    for (Type type : e.registerTypes(value.getType()))
      registers.push_back(block->addArgument(type, e.loc));
    e.set(value, std::move(registers));
  }
}

/// A new block behind the one that is being written.
Block *createBlock(ThreadEmitter &e) {
  OpBuilder::InsertionGuard guard(e.b);
  return e.b.createBlock(e.b.getBlock()->getParent(), std::next(e.b.getBlock()->getIterator()));
}

/// Moves a block behind the one that is being written, to keep the order of the source.
void continueIn(ThreadEmitter &e, Block *block) {
  if (Block *current = e.b.getBlock(); std::next(current->getIterator()) != block->getIterator())
    block->moveBefore(current->getParent(), std::next(current->getIterator()));
  e.b.setInsertionPointToEnd(block);
}

LogicalResult emitFor(ThreadEmitter &e, scf::ForOp op) {
  Value lower = e.scalar(op.getLowerBound()), upper = e.scalar(op.getUpperBound());
  Value step = e.scalar(op.getStep());
  Registers start{lower};
  llvm::append_range(start, flatten(e, op.getInitArgs()));
  Block *exit = createBlock(e), *body = createBlock(e), *header = createBlock(e);
  e.make<LLVM::BrOp>(start, header);

  e.b.setInsertionPointToEnd(header);
  addArguments(e, header, op.getRegion().getArguments());
  auto predicate = op.getUnsignedCmp() ? LLVM::ICmpPredicate::ult : LLVM::ICmpPredicate::slt;
  Value runs = e.make<LLVM::ICmpOp>(predicate, e.scalar(op.getInductionVar()), upper);
  e.make<LLVM::CondBrOp>(runs, body, ValueRange(), exit, ValueRange());

  e.b.setInsertionPointToEnd(body);
  if (failed(e.emitBlock(*op.getBody())))
    return failure();
  Registers next{e.add(e.scalar(op.getInductionVar()), step)};
  llvm::append_range(next, flatten(e, op.getBody()->getTerminator()->getOperands()));
  e.make<LLVM::BrOp>(next, header);

  continueIn(e, exit);
  for (auto [result, argument] : llvm::zip(op.getResults(), op.getRegionIterArgs()))
    e.set(result, Registers(e.get(argument)));
  return success();
}

LogicalResult emitWhile(ThreadEmitter &e, scf::WhileOp op) {
  Block *exit = createBlock(e), *body = createBlock(e), *header = createBlock(e);
  e.make<LLVM::BrOp>(flatten(e, op.getInits()), header);

  e.b.setInsertionPointToEnd(header);
  addArguments(e, header, op.getBefore().getArguments());
  if (failed(e.emitBlock(*op.getBeforeBody())))
    return failure();
  scf::ConditionOp condition = op.getConditionOp();
  e.make<LLVM::CondBrOp>(e.scalar(condition.getCondition()), body, ValueRange(), exit, ValueRange());
  for (auto [argument, result, value] :
       llvm::zip(op.getAfterArguments(), op.getResults(), condition.getArgs())) {
    e.set(argument, Registers(e.get(value)));
    e.set(result, Registers(e.get(value)));
  }

  continueIn(e, body);
  if (failed(e.emitBlock(*op.getAfterBody())))
    return failure();
  e.make<LLVM::BrOp>(flatten(e, op.getAfterBody()->getTerminator()->getOperands()), header);
  continueIn(e, exit);
  return success();
}

LogicalResult emitIf(ThreadEmitter &e, scf::IfOp op) {
  bool hasElse = !op.getElseRegion().empty();
  Block *exit = createBlock(e), *otherwise = hasElse ? createBlock(e) : exit, *then = createBlock(e);
  e.make<LLVM::CondBrOp>(e.scalar(op.getCondition()), then, ValueRange(), otherwise, ValueRange());
  addArguments(e, exit, op.getResults());
  for (auto [block, region] :
       {std::pair(then, &op.getThenRegion()), std::pair(otherwise, &op.getElseRegion())}) {
    if (block == exit)
      continue;
    continueIn(e, block);
    if (failed(e.emitBlock(region->front())))
      return failure();
    e.make<LLVM::BrOp>(flatten(e, region->front().getTerminator()->getOperands()), exit);
  }
  continueIn(e, exit);
  return success();
}

/// Terminators of structured control flow are read by what they end.
template <typename Op> LogicalResult emitNothing(ThreadEmitter &, Op) { return success(); }

LogicalResult emitReturn(ThreadEmitter &e, tt::ReturnOp op) {
  if (op->getNumOperands() != 0)
    return op.emitOpError("gives a result, which a kernel cannot");
  e.make<LLVM::ReturnOp>(ValueRange());
  return success();
}

/// One of three special registers of the grid.
template <typename X, typename Y, typename Z> Value readGrid(ThreadEmitter &e, tt::ProgramIDDim axis) {
  switch (axis) {
  case tt::ProgramIDDim::X: return e.make<X>(e.b.getI32Type());
  case tt::ProgramIDDim::Y: return e.make<Y>(e.b.getI32Type());
  case tt::ProgramIDDim::Z: break;
  }
  return e.make<Z>(e.b.getI32Type());
}

/// The blocks of a cluster lie along x and are one program.
Value perProgram(ThreadEmitter &e, Value blocks, tt::ProgramIDDim axis) {
  unsigned count = e.lowered().numCTAs;
  return axis == tt::ProgramIDDim::X && count > 1 ? e.make<LLVM::UDivOp>(blocks, e.i32(count)).getResult()
                                                  : blocks;
}

LogicalResult emitProgramId(ThreadEmitter &e, tt::GetProgramIdOp op) {
  e.set(op.getResult(), {programId(e, op.getAxis())});
  return success();
}

LogicalResult emitNumPrograms(ThreadEmitter &e, tt::GetNumProgramsOp op) {
  Value count = readGrid<NVVM::GridDimXOp, NVVM::GridDimYOp, NVVM::GridDimZOp>(e, op.getAxis());
  e.set(op.getResult(), {perProgram(e, count, op.getAxis())});
  return success();
}

LogicalResult emitAssume(ThreadEmitter &e, tt::AssumeOp op) {
  e.make<LLVM::AssumeOp>(e.scalar(op.getCondition()));
  return success();
}

LogicalResult emitBarrier(ThreadEmitter &e, tt::BarrierOp) {
  e.barrier();
  return success();
}

LogicalResult emitWarpBarrier(ThreadEmitter &e, ttg::WarpBarrierOp) {
  e.warpBarrier();
  return success();
}

LogicalResult emitWarpId(ThreadEmitter &e, ttg::WarpIdOp op) {
  e.set(op.getResult(), {e.warp()});
  return success();
}

LogicalResult emitClusterBarrier(ThreadEmitter &e, ttng::ClusterBarrierOp) {
  e.clusterBarrier();
  return success();
}

LogicalResult emitPoison(ThreadEmitter &e, ub::PoisonOp op) {
  Registers registers;
  for (Type type : e.registerTypes(op.getType()))
    registers.push_back(e.make<LLVM::PoisonOp>(type));
  e.set(op.getResult(), std::move(registers));
  return success();
}

} // namespace

Value programId(ThreadEmitter &e, tt::ProgramIDDim axis) {
  Value id = readGrid<NVVM::BlockIdXOp, NVVM::BlockIdYOp, NVVM::BlockIdZOp>(e, axis);
  return perProgram(e, id, axis);
}

void addControlEmitters(EmitterTable &table) {
  table.add<scf::ForOp, emitFor>();
  table.add<scf::WhileOp, emitWhile>();
  table.add<scf::IfOp, emitIf>();
  table.add<scf::YieldOp, emitNothing<scf::YieldOp>>();
  table.add<scf::ConditionOp, emitNothing<scf::ConditionOp>>();
  table.add<tt::ReturnOp, emitReturn>();
  table.add<tt::GetProgramIdOp, emitProgramId>();
  table.add<tt::GetNumProgramsOp, emitNumPrograms>();
  table.add<tt::AssumeOp, emitAssume>();
  table.add<tt::BarrierOp, emitBarrier>();
  table.add<ttg::WarpBarrierOp, emitWarpBarrier>();
  table.add<ttg::WarpIdOp, emitWarpId>();
  table.add<ttng::ClusterBarrierOp, emitClusterBarrier>();
  table.add<ub::PoisonOp, emitPoison>();
}

} // namespace despina::nvptx
