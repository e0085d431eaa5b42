//===- EmitCombine.cpp - Reductions ---------------------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "EmitCombine.h"

#include "ThreadData.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include "llvm/ADT/TypeSwitch.h"

#include <bit>

using namespace mlir;

namespace despina::nvptx {

//===----------------------------------------------------------------------===//
// Regions and elements
//===----------------------------------------------------------------------===//

Element Combiner::combine(ArrayRef<Value> first, ArrayRef<Value> second) {
  SmallVector<Value> arguments(first);
  llvm::append_range(arguments, second);
  return Element(e.emitRegion(region, arguments));
}

Operation *Combiner::onlyOperation() const {
  Block &block = region.front();
  if (block.getNumArguments() != 2 || !llvm::hasNItems(block, 2))
    return nullptr;
  Operation &only = block.front();
  bool isResult = only.getNumResults() == 1 && block.getTerminator()->getOperand(0) == only.getResult(0);
  Value a = block.getArgument(0), b = block.getArgument(1);
  bool takesBoth = only.getNumOperands() == 2 && ((only.getOperand(0) == a && only.getOperand(1) == b) ||
                                                  (only.getOperand(0) == b && only.getOperand(1) == a));
  return isResult && takesBoth ? &only : nullptr;
}

bool Combiner::isCommutative() const {
  Operation *only = onlyOperation();
  return only && only->hasTrait<OpTrait::IsCommutative>();
}

Element elementAt(const OperandTiles &tiles, size_t index) {
  Element element;
  for (const Registers &tile : tiles)
    element.push_back(tile[index]);
  return element;
}

Element selectElement(ThreadEmitter &e, Value condition, ArrayRef<Value> ifTrue, ArrayRef<Value> ifFalse) {
  Element element;
  for (auto [x, y] : llvm::zip(ifTrue, ifFalse))
    element.push_back(x == y ? x : e.select(condition, x, y));
  return element;
}

std::optional<OperandTiles> moveTiles(TileMover &mover, const ConversionGroup &group,
                                      const OperandTiles &tiles) {
  SmallVector<ArrayRef<Value>> sources(tiles.begin(), tiles.end());
  OperandTiles moved = mover.move(group, sources);
  return moved.empty() ? std::nullopt : std::optional(std::move(moved));
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

namespace {

/// The kind of redux.sync that does what an operation on i32 does.
std::optional<NVVM::ReduxKind> reduxKind(Operation *op) {
  if (!op || !op->getResult(0).getType().isInteger(32))
    return std::nullopt;
  return llvm::TypeSwitch<Operation *, std::optional<NVVM::ReduxKind>>(op)
      .Case<arith::AddIOp>([](auto) { return NVVM::ReduxKind::ADD; })
      .Case<arith::AndIOp>([](auto) { return NVVM::ReduxKind::AND; })
      .Case<arith::OrIOp>([](auto) { return NVVM::ReduxKind::OR; })
      .Case<arith::XOrIOp>([](auto) { return NVVM::ReduxKind::XOR; })
      .Case<arith::MaxSIOp>([](auto) { return NVVM::ReduxKind::MAX; })
      .Case<arith::MinSIOp>([](auto) { return NVVM::ReduxKind::MIN; })
      .Case<arith::MaxUIOp>([](auto) { return NVVM::ReduxKind::UMAX; })
      .Case<arith::MinUIOp>([](auto) { return NVVM::ReduxKind::UMIN; })
      .Default([](auto) { return std::nullopt; });
}

class ReduceEmitter {
public:
  ReduceEmitter(ThreadEmitter &e, tt::ReduceOp op, ArrayRef<ReducePlan> plans)
      : e(e), op(op), plans(plans), combiner(e, op.getCombineOp()), groups(conversionsOf(plans)),
        mover(e, op, groups) {
    if (e.capability() >= 80)
      redux = reduxKind(combiner.onlyOperation());
  }

  LogicalResult run() {
    OperandTiles tiles;
    for (Value operand : op.getSrcs())
      tiles.emplace_back(e.get(operand));
    ArrayRef<ConversionGroup> next = groups;
    for (const ReduceStage &stage : plans.front().stages) {
      if (stage.conversion) {
        std::optional<OperandTiles> moved = moveTiles(mover, next.front(), tiles);
        next = next.drop_front();
        if (!moved)
          return failure();
        tiles = std::move(*moved);
      }
      if (failed(combineRegisters(stage, tiles)) || failed(combineLanes(stage, tiles)))
        return failure();
    }
    std::optional<OperandTiles> finished = moveTiles(mover, next.front(), tiles);
    return finished ? setResults(*finished) : failure();
  }

private:
  /// A balanced tree over neighbours, which keeps their order.
  Element combineAll(const OperandTiles &tiles, ArrayRef<unsigned> registers) {
    if (registers.size() == 1)
      return elementAt(tiles, registers.front());
    size_t half = registers.size() / 2;
    Element first = combineAll(tiles, registers.take_front(half));
    Element second = combineAll(tiles, registers.drop_front(half));
    return first.empty() || second.empty() ? Element() : combiner.combine(first, second);
  }

  static void append(OperandTiles &tiles, const Element &element) {
    for (auto [tile, value] : llvm::zip(tiles, element))
      tile.push_back(value);
  }

  LogicalResult combineRegisters(const ReduceStage &stage, OperandTiles &tiles) {
    OperandTiles results(tiles.size());
    for (const auto &group : stage.groups) {
      Element element = combineAll(tiles, group);
      if (element.empty())
        return failure();
      append(results, element);
    }
    tiles = std::move(results);
    return success();
  }

  LogicalResult combineLanes(const ReduceStage &stage, OperandTiles &tiles) {
    auto staysInRegister = [](const ReduceStage::LaneStep &step) { return step.registerMask == 0; };
    // The steps are independent of each other: five of them reach all lanes.
    if (redux && stage.laneSteps.size() == 5 && llvm::all_of(stage.laneSteps, staysInRegister)) {
      for (Value &value : tiles.front())
        value = e.make<NVVM::ReduxOp>(value.getType(), value, *redux, e.i32(-1));
      return success();
    }
    for (const ReduceStage::LaneStep &step : stage.laneSteps)
      if (failed(combineLanes(step, tiles)))
        return failure();
    return success();
  }

  LogicalResult combineLanes(const ReduceStage::LaneStep &step, OperandTiles &tiles) {
    OperandTiles others = tiles, results(tiles.size());
    for (Registers &tile : others)
      tile = shuffleValues(e, tile, {step.laneMask, {}});
    // Both lanes of a pair combine in the same order, so that they agree on the result: that of the bit of
    // the lane that no other step has.
    Value isSecond;
    if (!combiner.isCommutative())
      isSecond = parity(e, std::bit_floor(step.laneMask), 0);
    for (size_t i = 0; i < tiles.front().size(); ++i) {
      Element own = elementAt(tiles, i), other = elementAt(others, i ^ step.registerMask);
      Element first = isSecond ? selectElement(e, isSecond, other, own) : own;
      Element second = isSecond ? selectElement(e, isSecond, own, other) : other;
      Element element = combiner.combine(first, second);
      if (element.empty())
        return failure();
      append(results, element);
    }
    tiles = std::move(results);
    return success();
  }

  LogicalResult setResults(const OperandTiles &tiles) {
    for (auto [result, plan, tile] : llvm::zip(op->getResults(), plans, tiles)) {
      if (!isa<RankedTensorType>(result.getType())) {
        e.set(result, {tile.front()});
        continue;
      }
      std::optional<Registers> ordered = reorderRegisters(tile, plan.result, ttg::layoutOf(result));
      if (!ordered)
        return op.emitOpError() << "has a result layout that is not its operand's without the axis: "
                                << result.getType();
      e.set(result, std::move(*ordered));
    }
    return success();
  }

  ThreadEmitter &e;
  tt::ReduceOp op;
  ArrayRef<ReducePlan> plans;
  Combiner combiner;
  SmallVector<ConversionGroup> groups;
  TileMover mover;
  std::optional<NVVM::ReduxKind> redux;
};

LogicalResult emitReduce(ThreadEmitter &e, tt::ReduceOp op) {
  auto plans = planOf(op);
  if (!plans)
    return op.emitOpError() << "has operands of different layouts, or cannot be planned for "
                            << op.getSrcs().front().getType();
  return ReduceEmitter(e, op, *plans).run();
}

} // namespace

void addCombineEmitters(EmitterTable &table) {
  table.add<tt::ReduceOp, emitReduce>();
  table.add<tt::ScanOp, emitScan>();
  table.add<tt::GatherOp, emitGather>();
  table.add<tt::HistogramOp, emitHistogram>();
}

} // namespace despina::nvptx
