//===- Evaluate.cpp - An expression at an index -----------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// A tile is evaluated for `lanes` elements at a time. Values that are equal in all lanes stay scalars,
// integers and pointers that grow evenly stay scalar plus stride: contiguous memory accesses fall out. Code
// goes to the outermost loop it does not depend on.
//
//===----------------------------------------------------------------------===//
#include "TileEmitter.h"

#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace despina::cpu {

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

LaneValue TileEmitter::vectorValue(Value v, unsigned level) {
  return {lanes == 1 ? LaneValue::Uniform : LaneValue::Vector, v, {}, 0, level};
}

LaneValue TileEmitter::constant(TypedAttr value) {
  at(0);
  return uniform(arith::ConstantOp::create(b, loc, value), 0);
}

Value TileEmitter::toVector(const LaneValue &x) {
  if (lanes == 1 || x.kind == LaneValue::Vector)
    return x.value;
  at(x.level);
  Value scalar = x.value;
  bool isPointer = isa<LLVM::LLVMPointerType>(scalar.getType());
  if (isPointer)
    scalar = LLVM::PtrToIntOp::create(b, loc, b.getI64Type(), scalar);
  Value base = splat(scalar, lanes);
  if (x.kind == LaneValue::Uniform)
    return base;
  SmallVector<int64_t> multiples;
  for (int64_t l = 0; l < lanes; ++l)
    multiples.push_back(x.stride ? l : l * x.step);
  Type element = scalar.getType();
  SmallVector<APInt> values;
  for (int64_t m : multiples)
    values.push_back(APInt(element.getIntOrFloatBitWidth(), uint64_t(m), false, true));
  Value offsets =
      arith::ConstantOp::create(b, loc, DenseElementsAttr::get(VectorType::get({lanes}, element), values));
  if (x.stride)
    offsets = arith::MulIOp::create(b, loc, offsets, splat(x.stride, lanes));
  return arith::AddIOp::create(b, loc, base, offsets);
}

LaneValue TileEmitter::add(const LaneValue &x, const LaneValue &y, bool subtract) {
  unsigned where = std::max(x.level, y.level);
  auto sum = [&](Value p, Value q) -> Value {
    at(where);
    return subtract ? b.createOrFold<arith::SubIOp>(loc, p, q) : b.createOrFold<arith::AddIOp>(loc, p, q);
  };
  if (x.kind == LaneValue::Vector || y.kind == LaneValue::Vector) {
    Value p = toVector(x), q = toVector(y);
    return vectorValue(sum(p, q), where);
  }
  LaneValue result{LaneValue::Uniform, sum(x.value, y.value), {}, 0, where};
  if (x.kind == LaneValue::Uniform && y.kind == LaneValue::Uniform)
    return result;
  result.kind = LaneValue::Affine;
  if (!x.stride && !y.stride) {
    result.step = subtract ? x.step - y.step : x.step + y.step;
    return result;
  }
  Type type = x.value.getType();
  auto stride = [&](const LaneValue &v) { return v.stride ? v.stride : intConstant(type, v.step); };
  at(where);
  Value p = stride(x), q = stride(y);
  result.stride = sum(p, q);
  return result;
}

LaneValue TileEmitter::multiply(const LaneValue &x, const LaneValue &y) {
  unsigned where = std::max(x.level, y.level);
  if (x.kind != LaneValue::Uniform && y.kind == LaneValue::Uniform)
    return multiply(y, x);
  if (x.kind != LaneValue::Uniform || y.kind == LaneValue::Vector) {
    Value p = toVector(x), q = toVector(y);
    at(where);
    return vectorValue(b.createOrFold<arith::MulIOp>(loc, p, q), where);
  }
  at(where);
  LaneValue result{y.kind, b.createOrFold<arith::MulIOp>(loc, x.value, y.value), {}, 0, where};
  if (y.kind == LaneValue::Uniform)
    return result;
  APInt factor;
  if (!y.stride && matchPattern(x.value, m_ConstantInt(&factor)) && factor.getSignificantBits() < 32) {
    result.step = y.step * factor.getSExtValue();
    return result;
  }
  Value stride = y.stride ? y.stride : intConstant(y.value.getType(), y.step);
  result.stride = b.createOrFold<arith::MulIOp>(loc, x.value, stride);
  return result;
}

LaneValue TileEmitter::widenOffset(LaneValue x) {
  Type type = getElementTypeOrSelf(x.value.getType());
  if (type.isInteger(64))
    return x;
  auto widen = [&](Value v) -> Value {
    at(x.level);
    Type wide = isa<VectorType>(v.getType()) ? laneType(b.getI64Type(), lanes) : Type(b.getI64Type());
    return b.createOrFold<arith::ExtSIOp>(loc, wide, v);
  };
  x.value = widen(x.value);
  if (x.stride)
    x.stride = widen(x.stride);
  return x;
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

LaneIndex TileEmitter::linearIndex(const TileIndex &index, Shape shape) {
  LaneIndex result;
  int64_t stride = 1;
  bool patterned = llvm::any_of(index, [](const LaneIndex &i) { return !i.pattern.empty(); });
  if (patterned)
    result.pattern.assign(lanes, 0);
  for (int d = int(shape.size()) - 1; d >= 0; --d) {
    const LaneIndex &i = index[d];
    result.offset += i.offset * stride;
    if (patterned)
      for (int64_t l = 0; l < lanes; ++l)
        result.pattern[l] += i.lane(l) * stride;
    else
      result.step += i.step * stride;
    if (i.dynamic) {
      unsigned where = std::max(i.level, result.level);
      at(where);
      Value scaled = stride == 1 ? i.dynamic : Value(arith::MulIOp::create(b, loc, i.dynamic, i64(stride)));
      result.dynamic = result.dynamic ? Value(arith::AddIOp::create(b, loc, result.dynamic, scaled)) : scaled;
      result.level = where;
    }
    stride *= shape[d];
  }
  return result;
}

namespace {
/// A pattern of evenly spaced lanes is a step.
void simplify(LaneIndex &index) {
  if (index.pattern.empty())
    return;
  int64_t step = index.pattern.size() > 1 ? index.pattern[1] - index.pattern[0] : 0;
  for (size_t l = 0; l < index.pattern.size(); ++l)
    if (index.pattern[l] != int64_t(l) * step + index.pattern[0])
      return;
  index.offset += index.pattern[0];
  index.step = step;
  index.pattern.clear();
}
} // namespace

TileIndex TileEmitter::reshapeIndex(const TileIndex &index, Shape from, Shape to) {
  LaneIndex linear = linearIndex(index, from);
  TileIndex result(to.size());
  int64_t inner = 1;
  for (int d = int(to.size()) - 1; d >= 0; --d) {
    LaneIndex &i = result[d];
    int64_t extent = to[d];
    if (extent == 1)
      continue;
    bool outermost = llvm::all_of(to.take_front(d), [](int64_t e) { return e == 1; });
    i.pattern.assign(lanes, 0);
    // Extents are powers of two and chunks aligned, so the parts below are disjoint bit ranges.
    for (int64_t l = 0; l < lanes; ++l)
      i.pattern[l] = (linear.lane(l) / inner) % extent;
    i.offset = (linear.offset / inner) % extent;
    simplify(i);
    if (linear.dynamic) {
      at(linear.level);
      Value part = linear.dynamic;
      if (inner != 1)
        part = arith::ShRUIOp::create(b, loc, part, i64(llvm::Log2_64(inner)));
      if (!outermost)
        part = arith::AndIOp::create(b, loc, part, i64(extent - 1));
      i.dynamic = part;
      i.level = linear.level;
    }
    inner *= extent;
  }
  return result;
}

std::optional<std::pair<Value, TileIndex>> TileEmitter::remap(Value v, const TileIndex &index) {
  Operation *op = v.getDefiningOp();
  if (auto broadcast = dyn_cast<tt::BroadcastOp>(op)) {
    auto type = cast<RankedTensorType>(broadcast.getSrc().getType());
    TileIndex source(index);
    for (auto [d, extent] : llvm::enumerate(type.getShape()))
      if (extent == 1)
        source[d] = LaneIndex();
    return {{broadcast.getSrc(), source}};
  }
  if (auto expand = dyn_cast<tt::ExpandDimsOp>(op)) {
    TileIndex source(index);
    source.erase(source.begin() + expand.getAxis());
    return {{expand.getSrc(), source}};
  }
  if (auto trans = dyn_cast<tt::TransOp>(op)) {
    TileIndex source(index.size());
    for (auto [i, d] : llvm::enumerate(trans.getOrder()))
      source[d] = index[i];
    return {{trans.getSrc(), source}};
  }
  if (auto reshape = dyn_cast<tt::ReshapeOp>(op)) {
    auto from = cast<RankedTensorType>(v.getType()), to = cast<RankedTensorType>(reshape.getSrc().getType());
    return {{reshape.getSrc(), reshapeIndex(index, from.getShape(), to.getShape())}};
  }
  if (auto split = dyn_cast<tt::SplitOp>(op)) {
    TileIndex source(index);
    LaneIndex half;
    half.offset = v == split.getOutRHS() ? 1 : 0;
    source.push_back(half);
    return {{split.getSrc(), source}};
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

unsigned TileEmitter::levelOf(const TileIndex &index) {
  unsigned where = 0;
  for (const LaneIndex &i : index)
    where = std::max(where, i.level);
  return where;
}

LaneValue TileEmitter::evaluate(Value v, const TileIndex &index) {
  if (!isTile(v))
    return uniform(scalar(v), 0);
  if (assumptions && assumptions->trueTiles.contains(v))
    return constant(b.getBoolAttr(true));
  unsigned where = levelOf(index);
  for (auto &entry : memo[where][v])
    if (entry.first == index)
      return entry.second;
  Location saved = loc;
  LaneValue result = evaluateOp(v, index);
  loc = saved;
  memo[where][v].push_back({index, result});
  return result;
}

LaneValue TileEmitter::evaluateOp(Value v, const TileIndex &index) {
  if (Buffer *buffer = buffers.lookup(v))
    return loadBuffer(v, buffer, index);
  Operation *op = v.getDefiningOp();
  Type element = cast<RankedTensorType>(v.getType()).getElementType();
  if (!op || !isLazy(op)) {
    fail(op ? op : kernel.getOperation(), "a tile is used before it has a value (internal error)");
    at(0);
    return uniform(ub::PoisonOp::create(b, loc, scalarType(element)), 0);
  }
  loc = op->getLoc();
  if (auto splatOp = dyn_cast<tt::SplatOp>(op))
    return uniform(scalar(splatOp.getSrc()), 0);
  if (auto load = dyn_cast<tt::LoadOp>(op))
    return emitLoad(load, index);
  if (auto source = remap(v, index))
    return evaluate(source->first, source->second);
  if (isa<tt::CatOp, tt::JoinOp>(op))
    return evaluateEither(v, index);
  if (isa<ub::PoisonOp>(op)) {
    at(0);
    Type type = scalarType(element);
    // Zero rather than poison: a value nobody should read must still not trap.
    if (isa<LLVM::LLVMPointerType>(type))
      return uniform(LLVM::ZeroOp::create(b, loc, type), 0);
    return constant(b.getZeroAttr(type));
  }
  if (auto range = dyn_cast<tt::MakeRangeOp>(op))
    return evaluateRange(int32_t(range.getStart()), index[0], element);
  if (auto constantOp = dyn_cast<arith::ConstantOp>(op)) {
    if (auto dense = dyn_cast<DenseElementsAttr>(constantOp.getValue()); dense && dense.isSplat())
      return constant(cast<TypedAttr>(dense.getSplatValue<Attribute>()));
    fail(op, "a tile constant with different elements is not supported on the CPU target yet");
    return constant(b.getZeroAttr(element));
  }
  if (isa<tt::PointerType>(element))
    return evaluatePointer(v, index);
  return evaluateElementwise(op, index);
}

LaneValue TileEmitter::evaluateRange(int64_t start, const LaneIndex &index, Type type) {
  at(index.level);
  int64_t offset = index.offset + start;
  bool patterned = !index.pattern.empty();
  Value base;
  if (index.dynamic) {
    base = index.dynamic;
    if (!type.isInteger(64))
      base = arith::TruncIOp::create(b, loc, type, base);
    if (offset)
      base = arith::AddIOp::create(b, loc, base, intConstant(type, offset));
  } else {
    base = intConstant(type, offset);
  }
  if (!patterned && index.step == 0)
    return uniform(base, index.level);
  if (!patterned)
    return {LaneValue::Affine, base, {}, index.step, index.level};
  SmallVector<APInt> values;
  for (int64_t p : index.pattern)
    values.push_back(APInt(type.getIntOrFloatBitWidth(), uint64_t(p), false, true));
  Value pattern =
      arith::ConstantOp::create(b, loc, DenseElementsAttr::get(VectorType::get({lanes}, type), values));
  return vectorValue(b.createOrFold<arith::AddIOp>(loc, splat(base, lanes), pattern), index.level);
}

LaneValue TileEmitter::evaluateEither(Value v, const TileIndex &index) {
  Operation *op = v.getDefiningOp();
  auto type = cast<RankedTensorType>(v.getType());
  bool isJoin = isa<tt::JoinOp>(op);
  unsigned dim = isJoin ? type.getRank() - 1 : 0;
  int64_t half = type.getDimSize(dim) / 2;
  const LaneIndex &i = index[dim];

  // Both sides at the index modulo their extent, which is always inside.
  TileIndex inside(index);
  if (isJoin) {
    inside.pop_back();
  } else {
    LaneIndex &j = inside[dim];
    j.offset = i.offset % half;
    if (!i.uniform()) {
      j.pattern.resize(lanes);
      for (int64_t l = 0; l < lanes; ++l)
        j.pattern[l] = i.lane(l) % half;
      j.step = 0;
      simplify(j);
    }
    if (i.dynamic) {
      at(i.level);
      j.dynamic = half == 1 ? Value() : Value(arith::AndIOp::create(b, loc, i.dynamic, i64(half - 1)));
    }
  }
  bool laneVaries = !i.uniform() && llvm::any_of(llvm::seq<int64_t>(0, lanes), [&](int64_t l) {
    return ((i.lane(l) + i.offset) / half) % 2 != (i.offset / half) % 2;
  });
  if (!i.dynamic && !laneVaries)
    return evaluate(op->getOperand((i.offset / half) % 2), inside);

  LaneValue lhs = evaluate(op->getOperand(0), inside), rhs = evaluate(op->getOperand(1), inside);
  unsigned where = std::max({lhs.level, rhs.level, i.level});
  if (laneVaries && !i.dynamic) {
    SmallVector<bool> first;
    for (int64_t l = 0; l < lanes; ++l)
      first.push_back(((i.lane(l) + i.offset) / half) % 2 == 0);
    Value p = toVector(lhs), q = toVector(rhs);
    at(where);
    Value condition = arith::ConstantOp::create(
        b, loc, DenseElementsAttr::get(VectorType::get({lanes}, b.getI1Type()), first));
    return vectorValue(choose(condition, p, q), where);
  }
  // Bits of the index in different positions for lane and dynamic part: their sum never carries.
  LaneIndex whole = i;
  LaneValue number = evaluateRange(0, whole, b.getI64Type());
  Value bits = laneVaries ? toVector(number) : number.value;
  at(where);
  Value bit = arith::AndIOp::create(b, loc, bits, intConstant(bits.getType(), half));
  Value isFirst =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, bit, intConstant(bits.getType(), 0));
  if (!laneVaries && lhs.kind == LaneValue::Uniform && rhs.kind == LaneValue::Uniform)
    return uniform(choose(isFirst, lhs.value, rhs.value), where);
  Value p = toVector(lhs), q = toVector(rhs);
  at(where);
  return vectorValue(choose(isFirst, p, q), where);
}

LaneValue TileEmitter::evaluateElementwise(Operation *op, const TileIndex &index) {
  SmallVector<LaneValue, 3> operands;
  unsigned where = 0;
  bool allUniform = true;
  for (Value operand : op->getOperands()) {
    LaneValue x = evaluate(operand, index);
    where = std::max(where, x.level);
    allUniform &= x.kind == LaneValue::Uniform;
    operands.push_back(x);
  }
  loc = op->getLoc();
  if (auto delta = assumptions ? assumptions->remainders.lookup(op->getResult(0)) : Value())
    return add(operands[0], uniform(delta, 0), /*subtract=*/true);
  if (auto affine = evaluateAffine(op, operands))
    return *affine;

  SmallVector<Value, 3> values;
  for (const LaneValue &x : operands)
    values.push_back(allUniform ? x.value : toVector(x));
  at(where);
  Value result = emitElementwise(op, values, allUniform ? 1 : lanes);
  return allUniform ? uniform(result, where) : vectorValue(result, where);
}

std::optional<LaneValue> TileEmitter::evaluateAffine(Operation *op, ArrayRef<LaneValue> operands) {
  auto isTrue = [](const LaneValue &x) {
    return x.kind == LaneValue::Uniform && matchPattern(x.value, m_One());
  };
  if (isa<arith::AndIOp>(op) && getElementTypeOrSelf(op->getResult(0).getType()).isInteger(1)) {
    if (isTrue(operands[0]))
      return operands[1];
    if (isTrue(operands[1]))
      return operands[0];
    return std::nullopt;
  }
  if (isa<arith::SelectOp>(op) && isTrue(operands[0]))
    return operands[1];
  bool allUniform = llvm::all_of(operands, [](const LaneValue &x) { return x.kind == LaneValue::Uniform; });
  bool anyVector = llvm::any_of(operands, [](const LaneValue &x) { return x.kind == LaneValue::Vector; });
  if (allUniform || anyVector)
    return std::nullopt;
  if (isa<arith::AddIOp, arith::SubIOp>(op))
    return add(operands[0], operands[1], isa<arith::SubIOp>(op));
  bool oneUniform = operands.size() == 2 &&
                    (operands[0].kind == LaneValue::Uniform || operands[1].kind == LaneValue::Uniform);
  if (isa<arith::MulIOp>(op) && oneUniform)
    return multiply(operands[0], operands[1]);
  return std::nullopt;
}

LaneValue TileEmitter::evaluatePointer(Value v, const TileIndex &index) {
  Operation *op = v.getDefiningOp();
  if (auto bitcast = dyn_cast<tt::BitcastOp>(op))
    return evaluate(bitcast.getSrc(), index);
  if (auto addPointer = dyn_cast<tt::AddPtrOp>(op)) {
    LaneValue base = evaluate(addPointer.getPtr(), index);
    LaneValue offset = evaluateOffset(addPointer.getOffset(), index);
    loc = op->getLoc();
    Type pointee = cast<tt::PointerType>(getElementTypeOrSelf(v.getType())).getPointeeType();
    int64_t size = storageBytes(storageType(pointee));
    unsigned where = std::max(base.level, offset.level);
    at(where);
    if (base.kind == LaneValue::Vector || offset.kind == LaneValue::Vector) {
      LaneValue bytes = multiply(constant(b.getI64IntegerAttr(size)), offset);
      if (base.kind != LaneValue::Vector)
        base = vectorValue(toVector(base), base.level);
      return add(base, bytes);
    }
    LaneValue result{LaneValue::Uniform, elementPointer(base.value, pointee, offset.value), {}, 0, where};
    if (base.kind == LaneValue::Uniform && offset.kind == LaneValue::Uniform)
      return result;
    result.kind = LaneValue::Affine;
    if (!base.stride && !offset.stride) {
      result.step = base.step + offset.step * size;
      return result;
    }
    Value p = base.stride ? base.stride : i64(base.step);
    Value q = offset.stride ? offset.stride : i64(offset.step);
    q = b.createOrFold<arith::MulIOp>(loc, q, i64(size));
    result.stride = b.createOrFold<arith::AddIOp>(loc, p, q);
    return result;
  }
  if (isa<tt::IntToPtrOp>(op)) {
    LaneValue x = evaluate(op->getOperand(0), index);
    if (x.kind == LaneValue::Vector)
      return x;
    at(x.level);
    x.value = LLVM::IntToPtrOp::create(b, loc, scalarType(getElementTypeOrSelf(v.getType())), x.value);
    return x;
  }
  return evaluateElementwise(op, index);
}

LaneValue TileEmitter::evaluateOffset(Value v, const TileIndex &index) {
  Operation *op = v.getDefiningOp();
  if (!op || !isTile(v) || buffers.contains(v) || !isLazy(op))
    return widenOffset(evaluate(v, index));
  unsigned where = levelOf(index);
  for (auto &entry : offsetMemo[where][v])
    if (entry.first == index)
      return entry.second;
  LaneValue result = evaluateOffsetOp(v, index);
  offsetMemo[where][v].push_back({index, result});
  return result;
}

LaneValue TileEmitter::evaluateOffsetOp(Value v, const TileIndex &index) {
  Operation *op = v.getDefiningOp();
  if (assumptions && assumptions->remainders.contains(v)) {
    LaneValue delta = widenOffset(uniform(assumptions->remainders.lookup(v), 0));
    return add(evaluateOffset(op->getOperand(0), index), delta, /*subtract=*/true);
  }
  if (auto range = dyn_cast<tt::MakeRangeOp>(op))
    return evaluateRange(int32_t(range.getStart()), index[0], b.getI64Type());
  if (isa<arith::AddIOp, arith::SubIOp>(op)) {
    LaneValue x = evaluateOffset(op->getOperand(0), index), y = evaluateOffset(op->getOperand(1), index);
    return add(x, y, isa<arith::SubIOp>(op));
  }
  if (isa<arith::MulIOp>(op)) {
    LaneValue x = evaluateOffset(op->getOperand(0), index), y = evaluateOffset(op->getOperand(1), index);
    return multiply(x, y);
  }
  if (isa<arith::ExtSIOp>(op))
    return evaluateOffset(op->getOperand(0), index);
  if (auto source = remap(v, index))
    return evaluateOffset(source->first, source->second);
  return widenOffset(evaluate(v, index));
}

} // namespace despina::cpu
