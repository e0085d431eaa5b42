//===- Guards.cpp - One scalar test instead of a mask per lane --*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Interior programs have masks that are true throughout. From the intervals of index tiles follow scalar
// tests that prove it; where they hold, the mask-free version of a loop nest runs.
//
//===----------------------------------------------------------------------===//
#include "TileEmitter.h"

#include "mlir/IR/Matchers.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace despina::cpu {

std::optional<Interval> TileEmitter::intervalOf(Value v, Assumptions &facts, Guards &guards, unsigned depth) {
  if (auto known = facts.intervals.find(v); known != facts.intervals.end())
    return known->second;
  std::optional<Interval> interval = findInterval(v, facts, guards, depth);
  facts.intervals[v] = interval;
  return interval;
}

std::optional<Interval> TileEmitter::exactInterval(Value v, Assumptions &facts, Guards &guards,
                                                   unsigned depth) {
  std::optional<Interval> interval = intervalOf(v, facts, guards, depth);
  if (!interval || getElementTypeOrSelf(v.getType()).isInteger(64))
    return interval;
  unsigned bits = getElementTypeOrSelf(v.getType()).getIntOrFloatBitWidth();
  auto require = [&](Value end, arith::CmpIPredicate predicate, int64_t limit) {
    auto extended = end.getDefiningOp<arith::ExtSIOp>();
    if (!extended || extended.getIn().getType().getIntOrFloatBitWidth() > bits)
      guards.push_back(b.createOrFold<arith::CmpIOp>(loc, predicate, end, i64(limit)));
  };
  require(interval->low, arith::CmpIPredicate::sge, llvm::minIntN(bits));
  require(interval->high, arith::CmpIPredicate::sle, llvm::maxIntN(bits));
  return interval;
}

std::optional<Interval> TileEmitter::findInterval(Value v, Assumptions &facts, Guards &guards,
                                                  unsigned depth) {
  auto extend = [&](Value x) -> Value {
    if (x.getType().isInteger(64))
      return x;
    return b.createOrFold<arith::ExtSIOp>(loc, b.getI64Type(), x);
  };
  if (!isTile(v)) {
    if (!v.getType().isSignlessInteger() || v.getType().isInteger(1))
      return std::nullopt;
    Value x = extend(scalar(v));
    return Interval{x, x};
  }
  Operation *op = v.getDefiningOp();
  if (!op || depth > 64 || buffers.contains(v))
    return std::nullopt;
  auto next = [&](Value operand) { return intervalOf(operand, facts, guards, depth + 1); };
  auto sum = [&](Value x, Value y) { return b.createOrFold<arith::AddIOp>(loc, x, y); };
  auto difference = [&](Value x, Value y) { return b.createOrFold<arith::SubIOp>(loc, x, y); };

  if (auto range = dyn_cast<tt::MakeRangeOp>(op))
    return Interval{i64(int32_t(range.getStart())), i64(int64_t(int32_t(range.getEnd())) - 1)};
  if (isa<arith::ConstantOp>(op)) {
    APInt value;
    if (!matchPattern(v, m_ConstantInt(&value)) || value.getBitWidth() == 1)
      return std::nullopt;
    Value x = i64(value.getSExtValue());
    return Interval{x, x};
  }
  if (isa<tt::SplatOp, tt::ExpandDimsOp, tt::BroadcastOp, tt::ReshapeOp, tt::TransOp>(op))
    return next(op->getOperand(0));
  if (isa<arith::ExtSIOp>(op))
    return exactInterval(op->getOperand(0), facts, guards, depth + 1);
  if (isa<arith::AddIOp, arith::SubIOp>(op)) {
    auto x = next(op->getOperand(0)), y = x ? next(op->getOperand(1)) : std::nullopt;
    if (!x || !y)
      return std::nullopt;
    if (isa<arith::AddIOp>(op))
      return Interval{sum(x->low, y->low), sum(x->high, y->high)};
    return Interval{difference(x->low, y->high), difference(x->high, y->low)};
  }
  if (isa<arith::MulIOp>(op)) {
    auto x = next(op->getOperand(0)), y = x ? next(op->getOperand(1)) : std::nullopt;
    if (!x || !y || (x->low != x->high && y->low != y->high))
      return std::nullopt;
    if (x->low == x->high)
      std::swap(x, y);
    Value p = b.createOrFold<arith::MulIOp>(loc, x->low, y->low);
    Value q = b.createOrFold<arith::MulIOp>(loc, x->high, y->low);
    return Interval{b.createOrFold<arith::MinSIOp>(loc, p, q), b.createOrFold<arith::MaxSIOp>(loc, p, q)};
  }
  if (isa<arith::RemSIOp>(op)) {
    Value delta = facts.remainders.lookup(v);
    auto x = delta ? next(op->getOperand(0)) : std::nullopt;
    if (!x)
      return std::nullopt;
    delta = extend(delta);
    return Interval{difference(x->low, delta), difference(x->high, delta)};
  }
  return std::nullopt;
}

void TileEmitter::guardMask(Value mask, Assumptions &facts, SmallVectorImpl<Value> &guards) {
  Operation *op = mask.getDefiningOp();
  if (!op || !isTile(mask) || buffers.contains(mask) || !facts.seenMasks.insert(mask).second)
    return;
  if (isa<arith::AndIOp>(op)) {
    guardMask(op->getOperand(0), facts, guards);
    guardMask(op->getOperand(1), facts, guards);
    return;
  }
  if (isa<tt::ExpandDimsOp, tt::BroadcastOp, tt::ReshapeOp, tt::TransOp>(op))
    return guardMask(op->getOperand(0), facts, guards);
  if (auto splatOp = dyn_cast<tt::SplatOp>(op)) {
    guards.push_back(scalar(splatOp.getSrc()));
    facts.trueTiles.insert(mask);
    return;
  }
  auto compare = dyn_cast<arith::CmpIOp>(op);
  if (!compare)
    return;
  using P = arith::CmpIPredicate;
  P predicate = compare.getPredicate();
  bool less = predicate == P::slt || predicate == P::sle, more = predicate == P::sgt || predicate == P::sge;
  if (!less && !more)
    return;
  auto x = exactInterval(compare.getLhs(), facts, guards);
  auto y = x ? exactInterval(compare.getRhs(), facts, guards) : std::nullopt;
  if (!x || !y)
    return;
  guards.push_back(less ? b.createOrFold<arith::CmpIOp>(loc, predicate, x->high, y->low)
                        : b.createOrFold<arith::CmpIOp>(loc, predicate, x->low, y->high));
  facts.trueTiles.insert(mask);
}

void TileEmitter::guardRemainder(Value v, Assumptions &facts, SmallVectorImpl<Value> &guards) {
  // x % n = x - d for one d while the tile stays between two multiples of n.
  Operation *op = v.getDefiningOp();
  auto x = exactInterval(op->getOperand(0), facts, guards);
  auto n = x ? exactInterval(op->getOperand(1), facts, guards) : std::nullopt;
  if (!x || !n || n->low != n->high)
    return;
  Value zero = i64(0), one = i64(1);
  Value divisor = b.createOrFold<arith::MaxSIOp>(loc, n->low, one);
  Value rest = b.createOrFold<arith::RemSIOp>(loc, x->low, divisor);
  Value delta = b.createOrFold<arith::SubIOp>(loc, x->low, rest);
  Value last = b.createOrFold<arith::SubIOp>(loc, x->high, delta);
  guards.push_back(b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::sge, x->low, zero));
  guards.push_back(b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, last, n->low));
  Type element = getElementTypeOrSelf(v.getType());
  facts.remainders[v] = element.isInteger(64) ? delta : b.createOrFold<arith::TruncIOp>(loc, element, delta);
}

Value TileEmitter::emitGuards(ArrayRef<Root> roots, Assumptions &facts) {
  Reached reached;
  for (const Root &root : roots)
    reachRoot(root, reached);
  SmallVector<Value> guards;
  for (auto &[v, identity] : reached.values) {
    auto *op = v.getDefiningOp();
    if (op && isTile(v) && isa<arith::RemSIOp>(op) && !buffers.contains(v))
      guardRemainder(v, facts, guards);
  }
  for (auto &[v, identity] : reached.values)
    if (auto load = v.getDefiningOp<tt::LoadOp>();
        load && isTile(v) && load.getMask() && !buffers.contains(v))
      guardMask(load.getMask(), facts, guards);
  for (const Root &root : roots)
    if (auto store = dyn_cast_or_null<tt::StoreOp>(root.op); store && store.getMask())
      guardMask(store.getMask(), facts, guards);
  if (facts.trueTiles.empty() && facts.remainders.empty())
    return {};
  Value all;
  for (Value guard : guards)
    if (!matchPattern(guard, m_One()))
      all = all ? b.createOrFold<arith::AndIOp>(loc, all, guard) : guard;
  return all;
}

} // namespace despina::cpu
