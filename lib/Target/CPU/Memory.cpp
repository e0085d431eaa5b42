//===- Memory.cpp - Loads, stores and scratch buffers -----------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Lanes whose mask is false never touch memory. i1 takes a byte in memory, pointers are 64-bit integers
// there.
//
//===----------------------------------------------------------------------===//
#include "TileEmitter.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace despina::cpu {

//===----------------------------------------------------------------------===//
// Scratch buffers
//===----------------------------------------------------------------------===//

Type TileEmitter::storageType(Type element) {
  if (element.isInteger(1))
    return IntegerType::get(element.getContext(), 8);
  if (isa<tt::PointerType>(element))
    return IntegerType::get(element.getContext(), 64);
  return element;
}

Type TileEmitter::movedType(Type element) {
  return element.isBF16() ? IntegerType::get(element.getContext(), 16) : storageType(element);
}

int64_t TileEmitter::storageBytes(Type storage) {
  return llvm::divideCeil(storage.getIntOrFloatBitWidth(), 8);
}

Buffer *TileEmitter::newBuffer(Type storage, int64_t numElements) {
  auto buffer = std::make_unique<Buffer>();
  buffer->storage = storage;
  buffer->numElements = numElements;
  // Loads of whole vectors may read past a short buffer's end.
  buffer->bytes = llvm::alignTo(std::max<int64_t>(numElements * storageBytes(storage), 64), 64);
  int64_t offset = 0;
  auto place = liveBuffers.begin();
  for (; place != liveBuffers.end() && (*place)->offset - offset < buffer->bytes; ++place)
    offset = (*place)->offset + (*place)->bytes;
  buffer->offset = offset;
  liveBuffers.insert(place, buffer.get());
  scratchEnd = std::max(scratchEnd, offset + buffer->bytes);
  constexpr int64_t maxScratchBytes = int64_t(1) << 30;
  if (scratchEnd > maxScratchBytes)
    fail(kernel, "has tiles of over 1 GiB alive at once: use smaller blocks");

  OpBuilder entry(bufferAnchor);
  buffer->pointer =
      LLVM::GEPOp::create(entry, loc, scratch.getType(), entry.getI8Type(), scratch,
                          ArrayRef<LLVM::GEPArg>{int32_t(offset)}, LLVM::GEPNoWrapFlags::inbounds);
  buffer->references = 1;
  allBuffers.push_back(std::move(buffer));
  return allBuffers.back().get();
}

void TileEmitter::release(Buffer *buffer) {
  if (--buffer->references == 0)
    llvm::erase(liveBuffers, buffer);
}

void TileEmitter::bind(Value v, Buffer *buffer) {
  ++buffer->references;
  unbind(v);
  buffers[v] = buffer;
  weights.clear();
  scopes.back().push_back(v);
}

void TileEmitter::unbind(Value v) {
  auto it = buffers.find(v);
  if (it == buffers.end())
    return;
  release(it->second);
  buffers.erase(it);
  weights.clear();
}

Value TileEmitter::elementPointer(Value base, Type element, Value index) {
  return LLVM::GEPOp::create(b, loc, base.getType(), storageType(element), base, ValueRange{index});
}

Value TileEmitter::toStorage(Value x, Type element, Type storage, int64_t count) {
  if (element.isInteger(1))
    return arith::ExtUIOp::create(b, loc, laneType(storage, count), x);
  if (isa<tt::PointerType>(element))
    return count == 1 ? Value(LLVM::PtrToIntOp::create(b, loc, storage, x)) : x;
  if (element.isBF16() && storage == movedType(element))
    return arith::BitcastOp::create(b, loc, laneType(storage, count), x);
  return convertFloat(x, element, storage, count);
}

Value TileEmitter::fromStorage(Value x, Type element, Type storage, int64_t count) {
  if (element.isInteger(1))
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, x, intConstant(x.getType(), 0));
  if (isa<tt::PointerType>(element))
    return count == 1 ? Value(LLVM::IntToPtrOp::create(b, loc, scalarType(element), x)) : x;
  if (element.isBF16() && storage == movedType(element))
    return arith::BitcastOp::create(b, loc, laneType(element, count), x);
  return convertFloat(x, storage, element, count);
}

Value TileEmitter::allTrue(int64_t count) {
  return arith::ConstantOp::create(b, loc,
                                   DenseElementsAttr::get(VectorType::get({count}, b.getI1Type()), true));
}

Value TileEmitter::pointerVector(const LaneValue &pointer) {
  auto type = VectorType::get({lanes}, LLVM::LLVMPointerType::get(b.getContext()));
  if (pointer.kind == LaneValue::Vector)
    return LLVM::IntToPtrOp::create(b, loc, type, pointer.value);
  SmallVector<int64_t> steps;
  for (int64_t l = 0; l < lanes; ++l)
    steps.push_back(pointer.kind == LaneValue::Uniform ? 0 : pointer.stride ? l : l * pointer.step);
  Value offsets = arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(VectorType::get({lanes}, b.getI64Type()), ArrayRef<int64_t>(steps)));
  if (pointer.stride)
    offsets = arith::MulIOp::create(b, loc, offsets, splat(pointer.stride, lanes));
  return LLVM::GEPOp::create(b, loc, type, b.getI8Type(), pointer.value, ValueRange{offsets});
}

LaneValue TileEmitter::loadBuffer(Value v, Buffer *buffer, const TileIndex &index) {
  auto type = cast<RankedTensorType>(v.getType());
  Type element = type.getElementType(), storage = buffer->storage;
  LaneIndex linear = linearIndex(index, type.getShape());
  at(linear.level);
  Value place = i64(linear.offset);
  if (linear.dynamic)
    place = b.createOrFold<arith::AddIOp>(loc, linear.dynamic, place);
  Value pointer = elementPointer(buffer->pointer, storage, place);
  unsigned alignment = storageBytes(storage);
  if (element == storage)
    storage = movedType(element);
  if (linear.uniform()) {
    Value x = LLVM::LoadOp::create(b, loc, storage, pointer, alignment);
    return uniform(fromStorage(x, element, storage, 1), linear.level);
  }
  Type vectorType = laneType(storage, lanes);
  Value x;
  if (linear.pattern.empty() && linear.step == 1) {
    x = LLVM::LoadOp::create(b, loc, vectorType, pointer, alignment);
  } else {
    SmallVector<int64_t> steps;
    for (int64_t l = 0; l < lanes; ++l)
      steps.push_back(linear.lane(l));
    Value offsets = arith::ConstantOp::create(
        b, loc, DenseElementsAttr::get(VectorType::get({lanes}, b.getI64Type()), ArrayRef<int64_t>(steps)));
    Value pointers = LLVM::GEPOp::create(b, loc, VectorType::get({lanes}, pointer.getType()), storage,
                                         pointer, ValueRange{offsets});
    x = LLVM::masked_gather::create(b, loc, vectorType, pointers, allTrue(lanes), ValueRange{}, alignment);
  }
  return vectorValue(fromStorage(x, element, storage, lanes), linear.level);
}

void TileEmitter::storeBuffer(Type element, Buffer *buffer, const TileIndex &index, Shape shape,
                              LaneValue value) {
  LaneIndex linear = linearIndex(index, shape);
  Type storage = buffer->storage;
  unsigned alignment = storageBytes(storage);
  Value x = linear.uniform() ? value.value : toVector(value);
  int64_t count = linear.uniform() ? 1 : lanes;
  at(level());
  Value place = i64(linear.offset);
  if (linear.dynamic)
    place = b.createOrFold<arith::AddIOp>(loc, linear.dynamic, place);
  Value pointer = elementPointer(buffer->pointer, storage, place);
  if (element == storage)
    storage = movedType(element);
  LLVM::StoreOp::create(b, loc, toStorage(x, element, storage, count), pointer, alignment);
}

//===----------------------------------------------------------------------===//
// Loads and stores of the kernel
//===----------------------------------------------------------------------===//

LaneValue TileEmitter::maskedScalarLoad(Value pointer, Value mask, Value other, Type element,
                                        unsigned where) {
  at(where);
  Type storage = movedType(element), type = scalarType(element);
  auto branch =
      scf::IfOp::create(b, loc, TypeRange{type}, mask, /*addThenBlock=*/true, /*addElseBlock=*/true);
  b.setInsertionPointToEnd(branch.thenBlock());
  Value x = LLVM::LoadOp::create(b, loc, storage, pointer, storageBytes(storage));
  scf::YieldOp::create(b, loc, fromStorage(x, element, storage, 1));
  b.setInsertionPointToEnd(branch.elseBlock());
  if (!other)
    other = isa<LLVM::LLVMPointerType>(type) ? Value(LLVM::ZeroOp::create(b, loc, type))
                                             : Value(arith::ConstantOp::create(b, loc, b.getZeroAttr(type)));
  scf::YieldOp::create(b, loc, other);
  return uniform(branch.getResult(0), where);
}

LaneValue TileEmitter::emitLoad(tt::LoadOp op, const TileIndex &index) {
  Type element = getElementTypeOrSelf(op.getResult().getType()), storage = movedType(element);
  unsigned alignment = storageBytes(storage);
  LaneValue pointer = evaluate(op.getPtr(), index);
  unsigned where = pointer.level;
  std::optional<LaneValue> mask, other;
  if (op.getMask()) {
    mask = evaluate(op.getMask(), index);
    if (mask->kind == LaneValue::Uniform && matchPattern(mask->value, m_One()))
      mask.reset();
  }
  if (mask) {
    where = std::max(where, mask->level);
    if (op.getOther()) {
      other = evaluate(op.getOther(), index);
      where = std::max(where, other->level);
    }
  }
  loc = op.getLoc();
  bool scalarAccess = pointer.kind == LaneValue::Uniform;
  if (scalarAccess && !mask) {
    at(where);
    Value x = LLVM::LoadOp::create(b, loc, storage, pointer.value, alignment, op.getIsVolatile());
    return uniform(fromStorage(x, element, storage, 1), where);
  }
  if (scalarAccess && mask->kind == LaneValue::Uniform && (!other || other->kind == LaneValue::Uniform))
    return maskedScalarLoad(pointer.value, mask->value, other ? other->value : Value(), element, where);

  Value maskVector, otherVector;
  if (mask)
    maskVector = toVector(*mask);
  if (other)
    otherVector = toVector(*other);
  at(where);
  Type type = laneType(storage, lanes);
  if (mask)
    otherVector = otherVector ? toStorage(otherVector, element, storage, lanes)
                              : Value(arith::ConstantOp::create(b, loc, b.getZeroAttr(type)));
  bool contiguous =
      pointer.kind == LaneValue::Affine && !pointer.stride && pointer.step == int64_t(alignment);
  Value x;
  if (contiguous && !mask)
    x = LLVM::LoadOp::create(b, loc, type, pointer.value, alignment, op.getIsVolatile());
  else if (contiguous)
    x = LLVM::MaskedLoadOp::create(b, loc, type, pointer.value, maskVector, otherVector,
                                   b.getI32IntegerAttr(alignment), UnitAttr());
  else if (mask)
    x = LLVM::masked_gather::create(b, loc, type, pointerVector(pointer), maskVector, ValueRange{otherVector},
                                    alignment);
  else
    x = LLVM::masked_gather::create(b, loc, type, pointerVector(pointer), allTrue(lanes), ValueRange{},
                                    alignment);
  return vectorValue(fromStorage(x, element, storage, lanes), where);
}

void TileEmitter::emitStore(tt::StoreOp op, const LaneValue &pointer, const LaneValue &value,
                            const LaneValue *mask) {
  Type element = getElementTypeOrSelf(op.getValue().getType()), storage = movedType(element);
  unsigned alignment = storageBytes(storage);
  if (mask && mask->kind == LaneValue::Uniform && matchPattern(mask->value, m_One()))
    mask = nullptr;
  OpBuilder::InsertionGuard guard(b);
  bool scalarAccess = pointer.kind == LaneValue::Uniform && value.kind == LaneValue::Uniform;
  if (scalarAccess && (!mask || mask->kind == LaneValue::Uniform)) {
    at(level());
    if (mask) {
      auto branch = scf::IfOp::create(b, loc, mask->value, /*withElseRegion=*/false);
      b.setInsertionPointToStart(branch.thenBlock());
    }
    LLVM::StoreOp::create(b, loc, toStorage(value.value, element, storage, 1), pointer.value, alignment);
    return;
  }
  Value x = toVector(value), maskVector = mask ? toVector(*mask) : Value();
  at(level());
  x = toStorage(x, element, storage, lanes);
  bool contiguous =
      pointer.kind == LaneValue::Affine && !pointer.stride && pointer.step == int64_t(alignment);
  if (contiguous && !mask)
    LLVM::StoreOp::create(b, loc, x, pointer.value, alignment);
  else if (contiguous)
    LLVM::MaskedStoreOp::create(b, loc, x, pointer.value, maskVector, alignment);
  else
    LLVM::masked_scatter::create(b, loc, x, pointerVector(pointer), mask ? maskVector : allTrue(lanes),
                                 alignment);
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

namespace {

LLVM::AtomicOrdering ordering(tt::MemSemantic semantic) {
  switch (semantic) {
  case tt::MemSemantic::RELAXED: return LLVM::AtomicOrdering::monotonic;
  case tt::MemSemantic::ACQUIRE: return LLVM::AtomicOrdering::acquire;
  case tt::MemSemantic::RELEASE: return LLVM::AtomicOrdering::release;
  case tt::MemSemantic::ACQUIRE_RELEASE: break;
  }
  return LLVM::AtomicOrdering::acq_rel;
}

LLVM::AtomicBinOp binaryOperation(tt::RMWOp kind) {
  switch (kind) {
  case tt::RMWOp::AND: return LLVM::AtomicBinOp::_and;
  case tt::RMWOp::OR: return LLVM::AtomicBinOp::_or;
  case tt::RMWOp::XOR: return LLVM::AtomicBinOp::_xor;
  case tt::RMWOp::ADD: return LLVM::AtomicBinOp::add;
  case tt::RMWOp::FADD: return LLVM::AtomicBinOp::fadd;
  case tt::RMWOp::MAX: return LLVM::AtomicBinOp::max;
  case tt::RMWOp::MIN: return LLVM::AtomicBinOp::min;
  case tt::RMWOp::UMAX: return LLVM::AtomicBinOp::umax;
  case tt::RMWOp::UMIN: return LLVM::AtomicBinOp::umin;
  case tt::RMWOp::XCHG: break;
  }
  return LLVM::AtomicBinOp::xchg;
}

} // namespace

Value TileEmitter::emitAtomicLoop(tt::AtomicRMWOp op, Value pointer, Value value) {
  // Compare-and-swap until nobody was faster.
  Type element = value.getType(), integer = b.getIntegerType(element.getIntOrFloatBitWidth());
  unsigned alignment = storageBytes(integer);
  auto first = LLVM::LoadOp::create(b, loc, integer, pointer, alignment, /*isVolatile=*/false, false, false,
                                    false, LLVM::AtomicOrdering::monotonic);
  auto loop = scf::WhileOp::create(
      b, loc, TypeRange{integer}, ValueRange{first},
      [&](OpBuilder &, Location, ValueRange args) {
        Value old = arith::BitcastOp::create(b, loc, element, args[0]);
        Value x = convertFloat(old, element, b.getF32Type(), 1),
              y = convertFloat(value, element, b.getF32Type(), 1);
        Value sum = convertFloat(arith::AddFOp::create(b, loc, x, y), b.getF32Type(), element, 1);
        Value bits = arith::BitcastOp::create(b, loc, integer, sum);
        auto swap = LLVM::AtomicCmpXchgOp::create(
            b, loc, pointer, args[0], bits, LLVM::AtomicOrdering::acq_rel, LLVM::AtomicOrdering::monotonic);
        Value seen = LLVM::ExtractValueOp::create(b, loc, swap.getRes(), ArrayRef<int64_t>{0});
        Value done = LLVM::ExtractValueOp::create(b, loc, swap.getRes(), ArrayRef<int64_t>{1});
        Value again = arith::XOrIOp::create(b, loc, done, intConstant(b.getI1Type(), 1));
        scf::ConditionOp::create(b, loc, again, seen);
      },
      [&](OpBuilder &, Location, ValueRange args) { scf::YieldOp::create(b, loc, args); });
  b.setInsertionPointAfter(loop);
  return arith::BitcastOp::create(b, loc, element, loop.getResult(0));
}

Value TileEmitter::emitAtomic(Operation *op, Value pointer, ValueRange values) {
  Type element = values[0].getType();
  bool isFloat = isa<FloatType>(element);
  Type integer = isa<LLVM::LLVMPointerType>(element)
                     ? Type(b.getI64Type())
                     : Type(b.getIntegerType(element.getIntOrFloatBitWidth()));
  auto bits = [&](Value v) -> Value {
    return isFloat ? Value(arith::BitcastOp::create(b, loc, integer, v)) : v;
  };
  auto back = [&](Value v) -> Value {
    return isFloat ? Value(arith::BitcastOp::create(b, loc, element, v)) : v;
  };
  if (auto cas = dyn_cast<tt::AtomicCASOp>(op)) {
    LLVM::AtomicOrdering order = ordering(cas.getSem());
    LLVM::AtomicOrdering failure =
        order == LLVM::AtomicOrdering::acq_rel || order == LLVM::AtomicOrdering::acquire
            ? LLVM::AtomicOrdering::acquire
            : LLVM::AtomicOrdering::monotonic;
    auto swap =
        LLVM::AtomicCmpXchgOp::create(b, loc, pointer, bits(values[0]), bits(values[1]), order, failure);
    return back(LLVM::ExtractValueOp::create(b, loc, swap.getRes(), ArrayRef<int64_t>{0}));
  }
  auto rmw = cast<tt::AtomicRMWOp>(op);
  if (rmw.getAtomicRmwOp() == tt::RMWOp::FADD) {
    if (element.isF16() || element.isBF16())
      return emitAtomicLoop(rmw, pointer, values[0]);
    return LLVM::AtomicRMWOp::create(b, loc, LLVM::AtomicBinOp::fadd, pointer, values[0],
                                     ordering(rmw.getSem()));
  }
  Value old = LLVM::AtomicRMWOp::create(b, loc, binaryOperation(rmw.getAtomicRmwOp()), pointer,
                                        bits(values[0]), ordering(rmw.getSem()));
  return back(old);
}

} // namespace despina::cpu
