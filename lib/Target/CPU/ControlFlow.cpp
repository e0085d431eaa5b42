//===- ControlFlow.cpp - Blocks, loops and branches -------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Tiles that cross a loop or branch live in buffers: one per carried value, updated in place where the new
// value only reads the old one element by element.
//
//===----------------------------------------------------------------------===//
#include "TileEmitter.h"

#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;

namespace despina::cpu {

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

Value TileEmitter::scalar(Value v) {
  if (Value known = scalars.lookup(v))
    return known;
  if (isPendingResult(v)) {
    OpBuilder::InsertionGuard guard(b);
    flush();
    if (Value known = scalars.lookup(v))
      return known;
  }
  fail(v.getDefiningOp() ? v.getDefiningOp() : kernel.getOperation(),
       "a value is used before it is known (internal error)");
  return ub::PoisonOp::create(b, loc, scalarType(v.getType()));
}

void TileEmitter::fail(Operation *op, const Twine &message) {
  if (!failed)
    op->emitOpError(message);
  failed = true;
}

void TileEmitter::pushScope() { scopes.emplace_back(); }

void TileEmitter::popScope() {
  for (Value v : scopes.back())
    unbind(v);
  scopes.pop_back();
}

void TileEmitter::emitBlock(Block &block) {
  for (Operation &op : block.without_terminator()) {
    if (failed)
      return;
    emitOp(&op);
  }
  flush();
}

void TileEmitter::emitOp(Operation *op) {
  b.setInsertionPointToEnd(current);
  loc = op->getLoc();
  if (isLazy(op))
    return noteLazy(op);
  if (auto store = dyn_cast<tt::StoreOp>(op))
    return isTile(store.getPtr()) ? addRoot({Root::Store, op, {}, nullptr}) : emitScalarStore(store);
  if (isa<tt::ReduceOp>(op))
    return addRoot({Root::Reduce, op, {}, nullptr});
  if (auto scan = dyn_cast<tt::ScanOp>(op))
    return emitScan(scan);
  if (auto gather = dyn_cast<tt::GatherOp>(op))
    return emitGather(gather);
  if (auto histogram = dyn_cast<tt::HistogramOp>(op))
    return emitHistogram(histogram);
  if (auto dot = dyn_cast<tt::DotOp>(op))
    return emitDotOp(dot);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return emitFor(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return emitIf(branch);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return emitWhile(loop);
  if (isa<tt::AtomicRMWOp, tt::AtomicCASOp>(op))
    return emitAtomics(op);
  if (auto print = dyn_cast<tt::PrintOp>(op))
    return emitPrint(print);
  if (auto assertion = dyn_cast<tt::AssertOp>(op))
    return emitAssert(assertion);
  if (auto unsplat = dyn_cast<tt::UnsplatOp>(op))
    return emitUnsplat(unsplat);
  if (isa<tt::AssumeOp, tt::BarrierOp>(op)) {
    emitted.insert(op);
    return;
  }
  emitScalarOp(op);
}

/// Halves and merges tiles or reorders their elements, so that what is below is read at other indices, and
/// possibly at several.
static bool movesElements(Operation *op) {
  return isa<tt::SplitOp, tt::JoinOp, tt::CatOp, tt::ReshapeOp, tt::TransOp>(op);
}

void TileEmitter::noteLazy(Operation *op) {
  // An expression is evaluated once for each index it is read at. Both limits keep that bounded: a network of
  // splits and joins would otherwise read its input at exponentially many.
  constexpr unsigned maxDepth = 200, maxMoves = 8;
  unsigned depth = 0, moved = 0;
  for (Value operand : op->getOperands()) {
    depth = std::max(depth, depths.lookup(operand));
    moved = std::max(moved, moves.lookup(operand));
  }
  moved += movesElements(op);
  bool isVolatile = false;
  if (auto load = dyn_cast<tt::LoadOp>(op)) {
    // Stores before it have to happen first.
    if (llvm::any_of(pending, [](const Root &root) { return root.kind == Root::Store; }))
      flush();
    liveLoads.push_back(load.getResult());
    isVolatile = load.getIsVolatile();
  }
  for (Value result : op->getResults()) {
    depths[result] = depth + 1;
    moves[result] = moved;
    if (isVolatile || depth + 1 >= maxDepth || moved >= maxMoves) {
      materialise(result);
      flush();
      depths[result] = moves[result] = 0;
    }
  }
}

void TileEmitter::emitScalarOp(Operation *op) {
  if (op->getNumResults() != 1 || isTile(op->getResult(0)))
    return fail(op, "is not supported on the CPU target yet");
  Value result;
  if (auto id = dyn_cast<tt::GetProgramIdOp>(op)) {
    result = programId[unsigned(id.getAxis())];
  } else if (auto count = dyn_cast<tt::GetNumProgramsOp>(op)) {
    result = gridSize[unsigned(count.getAxis())];
  } else if (auto constantOp = dyn_cast<arith::ConstantOp>(op)) {
    result = arith::ConstantOp::create(b, loc, constantOp.getValue());
  } else if (isa<ub::PoisonOp>(op)) {
    Type type = scalarType(op->getResult(0).getType());
    result = isa<LLVM::LLVMPointerType>(type) ? Value(LLVM::ZeroOp::create(b, loc, type))
                                              : Value(arith::ConstantOp::create(b, loc, b.getZeroAttr(type)));
  } else {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(scalar(operand));
    b.setInsertionPointToEnd(current);
    if (auto load = dyn_cast<tt::LoadOp>(op)) {
      // Stores before it have to happen first.
      flush();
      b.setInsertionPointToEnd(current);
      loc = op->getLoc();
      result = emitScalarLoad(load);
    } else if (auto addPointer = dyn_cast<tt::AddPtrOp>(op)) {
      Value offset = operands[1];
      if (!offset.getType().isInteger(64))
        offset = arith::ExtSIOp::create(b, loc, b.getI64Type(), offset);
      Type pointee = cast<tt::PointerType>(addPointer.getType()).getPointeeType();
      result = elementPointer(operands[0], pointee, offset);
    } else if (isElementwise(op)) {
      result = emitElementwise(op, operands, 1);
    } else {
      return fail(op, "is not supported on the CPU target yet");
    }
  }
  scalars[op->getResult(0)] = result;
}

Value TileEmitter::emitScalarLoad(tt::LoadOp load) {
  Type element = load.getType(), storage = movedType(element);
  Value pointer = scalar(load.getPtr());
  if (!load.getMask()) {
    Value x = LLVM::LoadOp::create(b, loc, storage, pointer, storageBytes(storage), load.getIsVolatile());
    return fromStorage(x, element, storage, 1);
  }
  startLevels(current);
  Value other = load.getOther() ? scalar(load.getOther()) : Value();
  LaneValue x = maskedScalarLoad(pointer, scalar(load.getMask()), other, element, 0);
  b.setInsertionPointToEnd(current);
  return x.value;
}

void TileEmitter::emitScalarStore(tt::StoreOp store) {
  Value pointer = scalar(store.getPtr()), value = scalar(store.getValue());
  Value mask = store.getMask() ? scalar(store.getMask()) : Value();
  flush();
  prepareWrites(store);
  startLevels(current);
  loc = store.getLoc();
  lanes = 1;
  LaneValue maskValue = uniform(mask, 0);
  emitStore(store, uniform(pointer, 0), uniform(value, 0), mask ? &maskValue : nullptr);
  b.setInsertionPointToEnd(current);
  emitted.insert(store);
}

void TileEmitter::prepareWrites(Operation *op) {
  // Loads that are still to be evaluated must not see what `op` writes.
  SmallVector<Value> needed;
  for (Value v : liveLoads)
    if (!buffers.contains(v) && stillNeeded(v))
      needed.push_back(v);
  for (Value v : needed)
    materialise(v);
  flush();
  liveLoads.clear();
  b.setInsertionPointToEnd(current);
}

void TileEmitter::emitUnsplat(tt::UnsplatOp op) {
  Value source = op.getSrc();
  Reached reached;
  reach(source, false, reached);
  if (llvm::any_of(reached.values, [&](auto &entry) { return isPendingResult(entry.first); }))
    flush();
  flush();
  startLevels(current);
  lanes = 1;
  TileIndex index(cast<RankedTensorType>(source.getType()).getRank(), LaneIndex());
  scalars[op.getResult()] = evaluate(source, index).value;
  b.setInsertionPointToEnd(current);
  emitted.insert(op);
}

//===----------------------------------------------------------------------===//
// Values that cross regions
//===----------------------------------------------------------------------===//

void TileEmitter::prepareCapture(Value v, llvm::DenseSet<Value> &seen) {
  Operation *op = v.getDefiningOp();
  if (!isTile(v) || buffers.contains(v) || !op || !isLazy(op) || !seen.insert(v).second)
    return;
  if (isa<tt::LoadOp>(op))
    return materialise(v);
  if (isElementwise(op)) {
    Reached reached;
    reach(v, true, reached);
    bool own = isHeavy(v);
    bool expensive = llvm::any_of(reached.values, [&](auto &entry) {
      Operation *inner = entry.first.getDefiningOp();
      return entry.second && isTile(entry.first) && !buffers.contains(entry.first) && inner &&
             (isa<tt::LoadOp>(inner) || (own && isElementwise(inner) && isHeavy(entry.first)));
    });
    if (expensive)
      return materialise(v);
  }
  for (Value operand : op->getOperands())
    prepareCapture(operand, seen);
}

void TileEmitter::prepareRegion(Operation *op) {
  SetVector<Value> captured;
  bool writes = false;
  op->walk([&](Operation *inner) {
    writes |= isa<tt::StoreOp, tt::AtomicRMWOp, tt::AtomicCASOp>(inner);
    if (inner == op)
      return;
    for (Value operand : inner->getOperands()) {
      Operation *defining = operand.getDefiningOp();
      if (defining && !op->isProperAncestor(defining))
        captured.insert(operand);
    }
  });
  llvm::DenseSet<Value> seen;
  for (Value v : captured)
    prepareCapture(v, seen);
  flush();
  if (writes)
    prepareWrites(op);
}

bool TileEmitter::mayReuse(Value v, Operation *user) {
  return v.getParentBlock() == user->getBlock() && !stillNeeded(v, {user});
}

Buffer *TileEmitter::ownedCopy(Value v, Operation *user, Type storage, ArrayRef<Buffer *> avoid) {
  int64_t count = cast<RankedTensorType>(v.getType()).getNumElements();
  flush();
  if (Buffer *own = buffers.lookup(v);
      own && own->storage == storage && !llvm::is_contained(avoid, own) && mayReuse(v, user)) {
    ++own->references;
    return own;
  }
  Reached reached;
  reach(v, true, reached);
  Buffer *target = nullptr;
  for (auto &[w, identity] : reached.values) {
    Buffer *candidate = buffers.lookup(w);
    if (!candidate || w == v || candidate->storage != storage || candidate->numElements != count ||
        llvm::is_contained(avoid, candidate))
      continue;
    // Every read of the buffer, under whatever name, has to be at the element written.
    bool alone = llvm::all_of(reached.values, [&](auto &entry) {
      return buffers.lookup(entry.first) != candidate || entry.second;
    });
    if (alone && identity && mayReuse(w, user)) {
      target = candidate;
      ++target->references;
      break;
    }
  }
  if (!target)
    target = newBuffer(storage, count);
  addRoot({Root::Materialise, user, v, target});
  flush();
  return target;
}

SmallVector<Buffer *> TileEmitter::ownedCopies(ValueRange inits, Operation *user) {
  flush();
  SmallVector<Buffer *> homes;
  for (auto [position, init] : llvm::enumerate(inits)) {
    if (!isTile(init)) {
      homes.push_back(nullptr);
      continue;
    }
    // Each value gets a home of its own, and none in a buffer that a value still to be copied reads.
    SmallVector<Buffer *> avoid(homes);
    Reached later;
    for (Value other : inits.drop_front(position + 1))
      if (isTile(other))
        reach(other, false, later);
    for (auto &entry : later.values)
      if (Buffer *buffer = buffers.lookup(entry.first))
        avoid.push_back(buffer);
    homes.push_back(ownedCopy(init, user, storageType(getElementTypeOrSelf(init.getType())), avoid));
  }
  return homes;
}

void TileEmitter::assignAll(ValueRange values, ArrayRef<Buffer *> targets, Operation *terminator) {
  flush();
  struct Assignment {
    Value value;
    Buffer *target, *temporary = nullptr;
    Reached reached;
  };
  SmallVector<Assignment> open;
  for (auto [value, target] : llvm::zip(values, targets))
    if (target && buffers.lookup(value) != target) {
      open.push_back({value, target, nullptr, {}});
      reach(value, true, open.back().reached);
    }
  auto shape = [](const Assignment &a) { return cast<RankedTensorType>(a.value.getType()).getShape(); };
  for (Assignment &a : open) {
    bool hazard = llvm::any_of(open, [&](const Assignment &other) {
      bool together = shape(a) == shape(other);
      return llvm::any_of(other.reached.values, [&](auto &entry) {
        return buffers.lookup(entry.first) == a.target && (!together || !entry.second);
      });
    });
    if (hazard)
      a.temporary = newBuffer(a.target->storage, a.target->numElements);
  }
  llvm::SmallVector<bool> done(open.size(), false);
  for (size_t i = 0; i < open.size(); ++i) {
    if (done[i])
      continue;
    for (size_t j = i; j < open.size(); ++j)
      if (!done[j] && shape(open[i]) == shape(open[j])) {
        done[j] = true;
        Buffer *target = open[j].temporary ? open[j].temporary : open[j].target;
        pending.push_back({Root::Materialise, terminator, open[j].value, target});
      }
    flush();
  }
  b.setInsertionPointToEnd(current);
  for (Assignment &a : open)
    if (a.temporary) {
      int64_t bytes = a.target->numElements * storageBytes(a.target->storage);
      LLVM::MemcpyOp::create(b, loc, a.target->pointer, a.temporary->pointer, i64(bytes),
                             /*isVolatile=*/false);
      release(a.temporary);
    }
}

//===----------------------------------------------------------------------===//
// Loops and branches
//===----------------------------------------------------------------------===//

SmallVector<Value> TileEmitter::scalarsOf(ValueRange values) {
  SmallVector<Value> result;
  for (Value v : values)
    if (!isTile(v))
      result.push_back(scalar(v));
  b.setInsertionPointToEnd(current);
  return result;
}

void TileEmitter::bindResults(ValueRange values, ValueRange scalarValues, ArrayRef<Buffer *> homes) {
  auto next = scalarValues.begin();
  for (auto [v, home] : llvm::zip(values, homes)) {
    if (home)
      bind(v, home);
    else
      scalars[v] = *next++;
  }
}

void TileEmitter::emitFor(scf::ForOp op) {
  flush();
  prepareRegion(op);
  SmallVector<Buffer *> homes = ownedCopies(op.getInitArgs(), op);
  SmallVector<Value> bounds = scalarsOf({op.getLowerBound(), op.getUpperBound(), op.getStep()});
  SmallVector<Value> inits = scalarsOf(op.getInitArgs());
  loc = op.getLoc();
  auto loop =
      scf::ForOp::create(b, loc, bounds[0], bounds[1], bounds[2], inits, nullptr, op.getUnsignedCmp());
  Block *body = loop.getBody(), *outside = current;
  if (!body->empty())
    body->back().erase();
  pushScope();
  current = body;
  scalars[op.getInductionVar()] = loop.getInductionVar();
  bindResults(op.getRegionIterArgs(), loop.getRegionIterArgs(), homes);
  emitBlock(*op.getBody());
  finishRegion(op.getBody()->getTerminator(), op.getYieldedValues(), homes);
  popScope();
  current = outside;
  b.setInsertionPointToEnd(current);
  bindResults(op.getResults(), loop.getResults(), homes);
  for (Buffer *home : homes)
    if (home)
      release(home);
  emitted.insert(op);
  freeDeadBuffers();
}

void TileEmitter::finishRegion(Operation *terminator, ValueRange values, ArrayRef<Buffer *> homes) {
  assignAll(values, homes, terminator);
  SmallVector<Value> yields = scalarsOf(values);
  b.setInsertionPointToEnd(current);
  scf::YieldOp::create(b, terminator->getLoc(), yields);
  emitted.insert(terminator);
}

void TileEmitter::emitIf(scf::IfOp op) {
  flush();
  prepareRegion(op);
  Value condition = scalar(op.getCondition());
  SmallVector<Buffer *> homes;
  SmallVector<Type> types;
  for (Value result : op.getResults()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    homes.push_back(type ? newBuffer(storageType(type.getElementType()), type.getNumElements()) : nullptr);
    if (!type)
      types.push_back(scalarType(result.getType()));
  }
  b.setInsertionPointToEnd(current);
  bool hasElse = !op.getElseRegion().empty();
  auto branch = scf::IfOp::create(b, op.getLoc(), types, condition, /*addThenBlock=*/true, hasElse);
  Block *outside = current;
  for (bool isThen : {true, false}) {
    if (!isThen && !hasElse)
      continue;
    Block *source = isThen ? op.thenBlock() : op.elseBlock();
    current = isThen ? branch.thenBlock() : branch.elseBlock();
    pushScope();
    emitBlock(*source);
    finishRegion(source->getTerminator(), source->getTerminator()->getOperands(), homes);
    popScope();
  }
  current = outside;
  b.setInsertionPointToEnd(current);
  bindResults(op.getResults(), branch.getResults(), homes);
  for (Buffer *home : homes)
    if (home)
      release(home);
  emitted.insert(op);
  freeDeadBuffers();
}

void TileEmitter::emitWhile(scf::WhileOp op) {
  flush();
  prepareRegion(op);
  SmallVector<Buffer *> homes = ownedCopies(op.getInits(), op);
  // A tile that the condition hands on unchanged stays where it is.
  scf::ConditionOp condition = op.getConditionOp();
  SmallVector<Buffer *> handed, assigned;
  SmallVector<Type> types;
  for (auto [v, result] : llvm::zip(condition.getArgs(), op.getResults())) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type) {
      types.push_back(scalarType(result.getType()));
      handed.push_back(nullptr);
      assigned.push_back(nullptr);
      continue;
    }
    auto argument = dyn_cast<BlockArgument>(v);
    if (argument && argument.getOwner() == op.getBeforeBody()) {
      handed.push_back(homes[argument.getArgNumber()]);
      ++handed.back()->references;
      assigned.push_back(nullptr);
    } else {
      handed.push_back(newBuffer(storageType(type.getElementType()), type.getNumElements()));
      assigned.push_back(handed.back());
    }
  }
  SmallVector<Value> inits = scalarsOf(op.getInits());
  SmallVector<Type> initTypes(ValueRange(inits).getTypes());
  loc = op.getLoc();
  auto loop = scf::WhileOp::create(b, loc, types, inits);
  Block *outside = current;
  Block *before =
      b.createBlock(&loop.getBefore(), {}, initTypes, SmallVector<Location>(initTypes.size(), loc));
  Block *after = b.createBlock(&loop.getAfter(), {}, types, SmallVector<Location>(types.size(), loc));

  pushScope();
  current = before;
  bindResults(op.getBeforeArguments(), before->getArguments(), homes);
  emitBlock(*op.getBeforeBody());
  assignAll(condition.getArgs(), assigned, condition);
  SmallVector<Value> forwarded = scalarsOf(condition.getArgs());
  Value flag = scalar(condition.getCondition());
  b.setInsertionPointToEnd(current);
  scf::ConditionOp::create(b, condition.getLoc(), flag, forwarded);
  emitted.insert(condition);
  popScope();

  pushScope();
  current = after;
  bindResults(op.getAfterArguments(), after->getArguments(), handed);
  emitBlock(*op.getAfterBody());
  finishRegion(op.getYieldOp(), op.getYieldOp().getOperands(), homes);
  popScope();

  current = outside;
  b.setInsertionPointToEnd(current);
  bindResults(op.getResults(), loop.getResults(), handed);
  for (ArrayRef<Buffer *> list : {ArrayRef<Buffer *>(homes), ArrayRef<Buffer *>(handed)})
    for (Buffer *buffer : list)
      if (buffer)
        release(buffer);
  emitted.insert(op);
  freeDeadBuffers();
}

} // namespace despina::cpu
