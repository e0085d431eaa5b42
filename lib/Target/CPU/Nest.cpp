//===- Nest.cpp - Groups of roots and their loop nests ----------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "TileEmitter.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace despina::cpu {

//===----------------------------------------------------------------------===//
// Levels: where code of each loop goes
//===----------------------------------------------------------------------===//

OpBuilder &TileEmitter::at(unsigned where) {
  Level &l = levels[where];
  if (l.before)
    b.setInsertionPoint(l.before);
  else
    b.setInsertionPointToEnd(l.block);
  return b;
}

void TileEmitter::startLevels(Block *block) {
  levels.clear();
  memo.clear();
  offsetMemo.clear();
  levels.push_back({block, nullptr});
  memo.emplace_back();
  offsetMemo.emplace_back();
}

scf::ForOp TileEmitter::openLoop(int64_t from, int64_t to, int64_t step, ValueRange inits) {
  at(level());
  auto loop = scf::ForOp::create(b, loc, i64(from), i64(to), i64(step), inits);
  Block *body = loop.getBody();
  if (!body->empty())
    body->back().erase();
  levels.back().before = loop;
  levels.push_back({body, nullptr});
  memo.emplace_back();
  offsetMemo.emplace_back();
  return loop;
}

void TileEmitter::closeLoop(ValueRange yields) {
  at(level());
  scf::YieldOp::create(b, loc, yields);
  levels.pop_back();
  memo.pop_back();
  offsetMemo.pop_back();
  levels.back().before = nullptr;
}

//===----------------------------------------------------------------------===//
// Collecting roots
//===----------------------------------------------------------------------===//

Shape TileEmitter::shapeOf(const Root &root) {
  Value v = root.kind == Root::Materialise ? root.value : root.op->getOperand(0);
  return cast<RankedTensorType>(v.getType()).getShape();
}

bool TileEmitter::isPendingResult(Value v) {
  return llvm::any_of(pending, [&](const Root &root) {
    return root.kind == Root::Reduce ? v.getDefiningOp() == root.op : root.value == v;
  });
}

bool TileEmitter::conflicts(const Root &root, const Reached &reached) {
  if (shapeOf(root) != shapeOf(pending.front()))
    return true;
  for (const Root &other : pending) {
    // What was loaded before a pending store must not be read between its writes.
    if (other.kind == Root::Store && llvm::any_of(reached.values, [&](auto &entry) {
          auto load = entry.first.template getDefiningOp<tt::LoadOp>();
          return load && isTile(entry.first) && !buffers.contains(entry.first) &&
                 (!entry.second || mayOverlap(load.getPtr(), cast<tt::StoreOp>(other.op).getPtr()));
        }))
      return true;
    // The second store wins everywhere, which interleaved stores would not respect.
    if (other.kind == Root::Store && root.kind == Root::Store &&
        mayOverlap(cast<tt::StoreOp>(other.op).getPtr(), cast<tt::StoreOp>(root.op).getPtr()))
      return true;
    if (other.kind == Root::Reduce && root.kind == Root::Reduce &&
        cast<tt::ReduceOp>(other.op).getAxis() != cast<tt::ReduceOp>(root.op).getAxis())
      return true;
    for (auto &[v, identity] : reached.values) {
      if (other.kind == Root::Reduce && v.getDefiningOp() == other.op)
        return true;
      if (other.kind == Root::Materialise && v == other.value && !identity)
        return true;
    }
  }
  return false;
}

/// True when tiles of pointers differ, if at all, in what they are offset from.
static bool haveSameOffsets(Value pointer, Value other) {
  while (pointer != other && isa<RankedTensorType>(pointer.getType()) &&
         isa<RankedTensorType>(other.getType())) {
    Operation *op = pointer.getDefiningOp(), *otherOp = other.getDefiningOp();
    if (!op || !otherOp || op->getName() != otherOp->getName() ||
        op->getAttrDictionary() != otherOp->getAttrDictionary())
      return false;
    if (isa<tt::AddPtrOp>(op) ? op->getOperand(1) != otherOp->getOperand(1) : op->getNumOperands() != 1)
      return false;
    pointer = op->getOperand(0);
    other = otherOp->getOperand(0);
  }
  return true;
}

bool TileEmitter::mayOverlap(Value pointer, Value other) {
  if (pointer == other)
    return false;
  Value x = baseOf(pointer), y = baseOf(other);
  return !x || !y || x == y || !haveSameOffsets(pointer, other);
}

void TileEmitter::separateAliases(const Root &root) {
  // Loads of the store's nest at other places have to happen before the first write. Two arguments may name
  // one array, so different arguments help only where both are used at the same element.
  auto store = cast<tt::StoreOp>(root.op);
  Reached reached;
  reachRoot(root, reached);
  for (const Root &other : pending)
    reachRoot(other, reached);
  SmallVector<Value> early;
  bool separate = false;
  for (auto &[v, identity] : reached.values) {
    auto load = v.getDefiningOp<tt::LoadOp>();
    if (!load || !isTile(v) || buffers.contains(v) ||
        (identity && !mayOverlap(load.getPtr(), store.getPtr())))
      continue;
    separate = true;
    if (!isPendingResult(v))
      early.push_back(v);
  }
  for (Value v : early)
    materialise(v);
  if (separate)
    flush();
}

void TileEmitter::addRoot(Root root) {
  if (root.kind == Root::Store)
    separateAliases(root);
  if (!pending.empty()) {
    Reached reached;
    reachRoot(root, reached);
    if (conflicts(root, reached))
      flush();
    // The stores that were flushed may have asked for the value as well.
    if (root.kind == Root::Materialise && buffers.contains(root.value))
      return;
  }
  pending.push_back(root);
}

void TileEmitter::materialise(Value v) {
  if (buffers.contains(v) || (isTile(v) && isPendingResult(v) && isLazy(v.getDefiningOp())))
    return;
  if (isPendingResult(v))
    return flush();
  addRoot({Root::Materialise, nullptr, v, nullptr});
}

//===----------------------------------------------------------------------===//
// Emitting groups
//===----------------------------------------------------------------------===//

namespace {
int64_t elementsOf(Value v) { return cast<RankedTensorType>(v.getType()).getNumElements(); }
} // namespace

void TileEmitter::prepareHeavyOperands(ArrayRef<Root> group) {
  // What is expensive and broadcast gets a buffer of its own shape first.
  int64_t elements = 1;
  for (int64_t extent : shapeOf(group.front()))
    elements *= extent;
  for (bool changed = true; changed;) {
    changed = false;
    Reached reached;
    for (const Root &root : group)
      reachRoot(root, reached);
    for (auto &[v, identity] : llvm::reverse(reached.values)) {
      if (identity || !isTile(v) || buffers.contains(v) || !isHeavy(v))
        continue;
      Operation *op = v.getDefiningOp();
      if (!op || !(isElementwise(op) || isa<tt::LoadOp>(op)) || elementsOf(v) >= elements ||
          elementsOf(v) == 1)
        continue;
      emitAlone({Root::Materialise, nullptr, v, nullptr});
      changed = true;
      break;
    }
  }
}

void TileEmitter::emitAlone(Root root) {
  SmallVector<Root> saved;
  std::swap(saved, pending);
  pending.push_back(root);
  flush();
  std::swap(saved, pending);
}

void TileEmitter::addSharedValues(SmallVectorImpl<Root> &group) {
  llvm::DenseSet<Operation *> besides;
  bool writes = false;
  for (const Root &root : group) {
    if (root.op)
      besides.insert(root.op);
    if (root.kind == Root::Materialise && !root.target)
      beingMaterialised.insert(root.value);
    writes |= root.kind == Root::Store;
  }
  // Loads that somebody needs after this group's writes.
  SmallVector<Root> before;
  if (writes) {
    SmallVector<Value> needed;
    for (Value v : liveLoads)
      if (!buffers.contains(v) && !beingMaterialised.contains(v) && stillNeeded(v, besides))
        needed.push_back(v);
    for (Value v : needed) {
      bool same = cast<RankedTensorType>(v.getType()).getShape() == shapeOf(group.front()) &&
                  llvm::none_of(group, [&](const Root &root) {
                    return root.kind == Root::Store && mayOverlap(v.getDefiningOp<tt::LoadOp>().getPtr(),
                                                                  cast<tt::StoreOp>(root.op).getPtr());
                  });
      (same ? group : before).push_back({Root::Materialise, nullptr, v, nullptr});
      beingMaterialised.insert(v);
    }
    liveLoads.clear();
  }
  // What this group computes at great expense and others will need.
  Reached reached;
  for (const Root &root : group)
    reachRoot(root, reached);
  for (auto &[v, identity] : llvm::reverse(reached.values)) {
    Operation *op = v.getDefiningOp();
    bool candidate = identity && op && isTile(v) && isElementwise(op) && !buffers.contains(v) && isHeavy(v) &&
                     !beingMaterialised.contains(v);
    if (!candidate || !stillNeeded(v, besides))
      continue;
    group.push_back({Root::Materialise, nullptr, v, nullptr});
    beingMaterialised.insert(v);
  }
  beingMaterialised.clear();
  for (const Root &root : before)
    emitAlone(root);
}

void TileEmitter::flush() {
  if (pending.empty())
    return;
  SmallVector<Root> group;
  std::swap(group, pending);
  prepareHeavyOperands(group);
  addSharedValues(group);
  SmallVector<std::pair<Value, Buffer *>> bindings;
  reduceBuffers.clear();
  for (Root &root : group) {
    if (root.kind == Root::Materialise && !root.target) {
      auto type = cast<RankedTensorType>(root.value.getType());
      root.target = newBuffer(storageType(type.getElementType()), type.getNumElements());
      bindings.push_back({root.value, root.target});
    } else if (root.kind == Root::Reduce) {
      for (Value result : root.op->getResults()) {
        auto type = dyn_cast<RankedTensorType>(result.getType());
        if (!type)
          continue;
        Buffer *buffer = newBuffer(storageType(type.getElementType()), type.getNumElements());
        reduceBuffers[result] = buffer;
        bindings.push_back({result, buffer});
      }
    }
  }
  emitGroup(group);
  for (auto &[v, buffer] : bindings) {
    bind(v, buffer);
    release(buffer);
  }
  for (const Root &root : group)
    if (root.kind != Root::Materialise)
      emitted.insert(root.op);
  freeDeadBuffers();
}

void TileEmitter::freeDeadBuffers() {
  SmallVector<Value> &scope = scopes.back();
  llvm::erase_if(scope, [&](Value v) {
    if (buffers.contains(v) && stillNeeded(v))
      return false;
    unbind(v);
    return true;
  });
}

void TileEmitter::emitGroup(ArrayRef<Root> group) {
  if (failed)
    return;
  loc = group.front().op ? group.front().op->getLoc() : group.front().value.getLoc();
  b.setInsertionPointToEnd(current);
  Assumptions facts;
  startLevels(current);
  Value guard = emitGuards(group, facts);
  SmallVector<Value> results;
  SmallVector<Value> scalarValues;
  SmallVector<Type> types;
  for (const Root &root : group)
    if (root.kind == Root::Reduce)
      for (Value result : root.op->getResults())
        if (!isTile(result)) {
          scalarValues.push_back(result);
          types.push_back(scalarType(result.getType()));
        }
  if (!guard || matchPattern(guard, m_Zero())) {
    if (guard)
      facts = Assumptions();
    assumptions = &facts;
    emitNest(group, results);
  } else {
    b.setInsertionPointToEnd(current);
    auto branch = scf::IfOp::create(b, loc, types, guard, /*addThenBlock=*/true, /*addElseBlock=*/true);
    for (bool fast : {true, false}) {
      Block *block = fast ? branch.thenBlock() : branch.elseBlock();
      startLevels(block);
      assumptions = fast ? &facts : nullptr;
      results.clear();
      emitNest(group, results);
      b.setInsertionPointToEnd(block);
      scf::YieldOp::create(b, loc, results);
    }
    results.assign(branch.getResults().begin(), branch.getResults().end());
  }
  assumptions = nullptr;
  b.setInsertionPointToEnd(current);
  for (auto [v, result] : llvm::zip(scalarValues, results))
    scalars[v] = result;
}

void TileEmitter::planLoops(Shape shape, std::optional<unsigned> axis) {
  nest.shape.assign(shape.begin(), shape.end());
  nest.index.assign(shape.size(), LaneIndex());
  nest.axis = axis;
  nest.vectorDim.reset();
  nest.order.clear();
  for (unsigned d = 0; d < shape.size(); ++d)
    if (shape[d] > 1)
      nest.vectorDim = d;
  for (unsigned d = 0; d < shape.size(); ++d)
    if (shape[d] > 1 && axis != d)
      nest.order.push_back(d);
  if (axis)
    nest.order.push_back(*axis);
}

void TileEmitter::chooseLanes(ArrayRef<Root> group) {
  int64_t native = options.features.vectorBytes / 4;
  int64_t factor = 1;
  if (nest.axis) {
    // Several accumulators hide the latency of the combination.
    unsigned most = 0;
    for (const Root &root : group)
      for (Value operand : root.kind == Root::Reduce ? root.op->getOperands() : ValueRange())
        most = std::max(most, weight(operand));
    factor = most >= heavyWeight ? 2 : 4;
  }
  lanes = nest.vectorDim ? std::min(native * factor, nest.shape[*nest.vectorDim]) : 1;
  if (llvm::any_of(nest.reduces, [](tt::ReduceOp reduce) { return hasLoops(reduce.getCombineOp()); }))
    lanes = 1;
}

void TileEmitter::emitNest(ArrayRef<Root> group, SmallVectorImpl<Value> &scalarResults) {
  std::optional<unsigned> axis;
  nest.reduces.clear();
  for (const Root &root : group)
    if (auto reduce = dyn_cast_or_null<tt::ReduceOp>(root.kind == Root::Reduce ? root.op : nullptr)) {
      axis = reduce.getAxis();
      nest.reduces.push_back(reduce);
    }
  planLoops(shapeOf(group.front()), axis);
  chooseLanes(group);
  nest.group = group;
  nest.scalarResults = &scalarResults;
  if (group.size() == 1 && emitTransposed(group.front()))
    return;
  emitLoops(0);
}

void TileEmitter::setIndex(unsigned dim, Value dynamic) {
  bool varies = nest.vectorDim == dim && lanes > 1;
  nest.index[dim] = LaneIndex{dynamic, 0, varies ? 1 : 0, {}, dynamic ? level() : 0};
}

void TileEmitter::emitLoops(unsigned depth) {
  if (depth + 1 >= nest.order.size())
    return emitInnermost();
  unsigned dim = nest.order[depth];
  int64_t step = nest.vectorDim == dim ? lanes : 1;
  if (nest.shape[dim] == step) {
    setIndex(dim, {});
    return emitLoops(depth + 1);
  }
  scf::ForOp loop = openLoop(0, nest.shape[dim], step, {});
  setIndex(dim, loop.getInductionVar());
  emitLoops(depth + 1);
  closeLoop({});
}

void TileEmitter::emitInnermost() {
  SmallVector<Value> accumulators;
  for (tt::ReduceOp reduce : nest.reduces)
    accumulators.append(reduce.getNumOperands(), Value());
  if (nest.order.empty()) {
    emitBody(accumulators, true);
    return finishReductions(accumulators);
  }
  unsigned dim = nest.order.back();
  int64_t step = nest.vectorDim == dim ? lanes : 1, extent = nest.shape[dim];
  if (extent == step) {
    setIndex(dim, {});
    emitBody(accumulators, true);
    return finishReductions(accumulators);
  }
  bool peel = false;
  unsigned next = 0;
  for (tt::ReduceOp reduce : nest.reduces) {
    std::optional<TypedAttr> start = neutral(reduce);
    peel |= !start;
    if (!start)
      continue;
    at(level());
    accumulators[next++] = splat(arith::ConstantOp::create(b, loc, *start), lanes);
  }
  if (peel) {
    setIndex(dim, {});
    emitBody(accumulators, true);
  }
  scf::ForOp loop = openLoop(peel ? step : 0, extent, step, accumulators);
  setIndex(dim, loop.getInductionVar());
  SmallVector<Value> carried(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
  emitBody(carried, false);
  closeLoop(carried);
  accumulators.assign(loop.getResults().begin(), loop.getResults().end());
  finishReductions(accumulators);
}

void TileEmitter::emitBody(MutableArrayRef<Value> accumulators, bool first) {
  struct Write {
    LaneValue value, pointer, mask;
  };
  SmallVector<Write> writes;
  SmallVector<Value> values;
  // Everything is read before anything is written.
  for (const Root &root : nest.group) {
    Write write;
    if (root.kind == Root::Materialise) {
      write.value = evaluate(root.value, nest.index);
    } else if (auto store = dyn_cast<tt::StoreOp>(root.op)) {
      write.pointer = evaluate(store.getPtr(), nest.index);
      write.value = evaluate(store.getValue(), nest.index);
      if (store.getMask())
        write.mask = evaluate(store.getMask(), nest.index);
    } else {
      for (Value operand : root.op->getOperands())
        values.push_back(toVector(evaluate(operand, nest.index)));
    }
    writes.push_back(write);
  }
  unsigned next = 0;
  for (tt::ReduceOp reduce : nest.reduces) {
    unsigned n = reduce.getNumOperands();
    ArrayRef<Value> mine = ArrayRef<Value>(values).slice(next, n);
    if (first) {
      llvm::copy(mine, accumulators.begin() + next);
    } else {
      at(level());
      combine(reduce.getCombineOp(), accumulators.slice(next, n), mine, lanes);
    }
    next += n;
  }
  for (auto [root, write] : llvm::zip(nest.group, writes)) {
    if (root.kind == Root::Materialise) {
      loc = root.value.getLoc();
      Type element = cast<RankedTensorType>(root.value.getType()).getElementType();
      storeBuffer(element, root.target, nest.index, nest.shape, write.value);
    } else if (auto store = dyn_cast<tt::StoreOp>(root.op)) {
      loc = store.getLoc();
      emitStore(store, write.pointer, write.value, store.getMask() ? &write.mask : nullptr);
    }
  }
}

void TileEmitter::finishReductions(ArrayRef<Value> accumulators) {
  unsigned next = 0;
  for (tt::ReduceOp reduce : nest.reduces) {
    unsigned n = reduce.getNumOperands();
    SmallVector<Value> results(accumulators.slice(next, n));
    next += n;
    loc = reduce.getLoc();
    bool acrossLanes = nest.vectorDim == nest.axis && lanes > 1;
    at(level());
    if (acrossLanes)
      combineLanes(reduce.getCombineOp(), results, lanes);
    TileIndex index(nest.index);
    SmallVector<int64_t> shape(nest.shape);
    index.erase(index.begin() + *nest.axis);
    shape.erase(shape.begin() + *nest.axis);
    for (auto [result, value] : llvm::zip(reduce.getResults(), results)) {
      if (!isTile(result)) {
        nest.scalarResults->push_back(value);
        continue;
      }
      LaneValue x = acrossLanes ? uniform(value, level()) : vectorValue(value, level());
      storeBuffer(getElementTypeOrSelf(result.getType()), reduceBuffers.lookup(result), index, shape, x);
    }
  }
}

} // namespace despina::cpu
