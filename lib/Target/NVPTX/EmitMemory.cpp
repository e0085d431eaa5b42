//===- EmitMemory.cpp - Loads and stores of global memory -----------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Accesses of up to 128 bits. Those without mask and hints are LLVM's, which can fold their addresses; the
// others are instructions under a predicate, which need no branch. i1 takes a byte in memory.
//
//===----------------------------------------------------------------------===//
#include "AccessPlan.h"
#include "InlinePTX.h"

using namespace mlir;

namespace despina::nvptx {

namespace {

constexpr unsigned maxAccessBits = 128;

/// Elements in memory: as LLVM has them, and as words of an instruction.
class ElementFormat {
public:
  ElementFormat(ThreadEmitter &e, Type element) : e(e), registerType(e.llvmType(element)) {
    bits = ttg::memoryBits(element);
    stored = element.isInteger(1) || isa<tt::PointerType>(element) ? e.b.getIntegerType(bits) : registerType;
  }

  /// One element, or a vector.
  Type accessType(unsigned count) const {
    return count == 1 ? stored : Type(VectorType::get(static_cast<int64_t>(count), stored));
  }
  Value pack(ArrayRef<Value> elements) const {
    if (elements.size() == 1)
      return toStored(elements.front());
    Value vector = e.make<LLVM::PoisonOp>(accessType(elements.size()));
    for (auto [i, element] : llvm::enumerate(elements))
      vector = e.make<LLVM::InsertElementOp>(vector, toStored(element), e.i32(i));
    return vector;
  }
  Registers unpack(Value access, unsigned count) const {
    if (count == 1)
      return {fromStored(access)};
    Registers elements;
    for (unsigned i = 0; i < count; ++i)
      elements.push_back(fromStored(e.make<LLVM::ExtractElementOp>(access, e.i32(i))));
    return elements;
  }

  /// Words of 32 bits, or of what there is if that is less, or of 64-bit elements.
  Type wordType(unsigned count) const {
    return e.b.getIntegerType(std::max(bits, std::min(32u, bits * count)));
  }
  unsigned numWords(unsigned count) const { return bits * count / wordType(count).getIntOrFloatBitWidth(); }
  Registers toWords(ArrayRef<Value> elements) const {
    unsigned count = elements.size(), words = numWords(count);
    Value access = pack(elements);
    if (words == 1)
      return {e.bitcast(access, wordType(count))};
    Value vector = e.bitcast(access, VectorType::get(static_cast<int64_t>(words), wordType(count)));
    Registers result;
    for (unsigned i = 0; i < words; ++i)
      result.push_back(e.make<LLVM::ExtractElementOp>(vector, e.i32(i)));
    return result;
  }
  Registers fromWords(ArrayRef<Value> words, unsigned count) const {
    Value access = words.front();
    if (words.size() > 1) {
      access = e.make<LLVM::PoisonOp>(
          VectorType::get(static_cast<int64_t>(words.size()), words.front().getType()));
      for (auto [i, word] : llvm::enumerate(words))
        access = e.make<LLVM::InsertElementOp>(access, word, e.i32(i));
    }
    return unpack(e.bitcast(access, accessType(count)), count);
  }

  unsigned elementBytes() const { return bits / 8; }
  Type storedType() const { return stored; }
  Type type() const { return registerType; }

private:
  Value toStored(Value element) const {
    if (element.getType().isInteger(1))
      return e.make<LLVM::ZExtOp>(stored, element);
    return e.bitcast(element, stored);
  }
  Value fromStored(Value value) const {
    if (registerType.isInteger(1))
      return e.make<LLVM::ICmpOp>(LLVM::ICmpPredicate::ne, value, e.zero(stored));
    return e.bitcast(value, registerType);
  }

  ThreadEmitter &e;
  Type registerType, stored;
  unsigned bits;
};

/// Reports what no instruction moves.
LogicalResult checkAccess(Operation *op, Type pointers) {
  auto pointer = cast<tt::PointerType>(getElementTypeOrSelf(pointers));
  unsigned bits = ttg::memoryBits(pointer.getPointeeType());
  if (pointer.getAddressSpace() != 1)
    return op->emitOpError() << "through pointers of address space " << pointer.getAddressSpace()
                             << " is not supported on CUDA; only global memory (1) is";
  if (bits > 64 || !llvm::isPowerOf2_32(bits))
    return op->emitOpError() << "of " << pointer.getPointeeType() << " is not supported on CUDA";
  return success();
}

template <typename Op> CacheHints hintsOf(Op op) {
  CacheHints hints;
  hints.cache = op.getCache();
  hints.evict = op.getEvict();
  if constexpr (std::is_same_v<Op, tt::LoadOp>)
    hints.isVolatile = op.getIsVolatile();
  return hints;
}

/// The values of some registers.
Registers pick(ArrayRef<Value> registers, ArrayRef<unsigned> indices) {
  return llvm::map_to_vector<4>(indices, [&](unsigned index) { return registers[index]; });
}

Registers readAccess(ThreadEmitter &e, tt::LoadOp op, const MemoryAccess &access,
                     const ElementFormat &format) {
  CacheHints hints = hintsOf(op);
  unsigned count = access.registers.size();
  Value pointer = e.get(op.getPtr())[access.base];
  if (!op.getMask() && (hints.isNone() || hints.isVolatile)) {
    Value address = e.elementPointer(pointer, format.storedType(), access.offset);
    Value value = e.make<LLVM::LoadOp>(format.accessType(count), address,
                                       /*alignment=*/count * format.elementBytes(), hints.isVolatile);
    return format.unpack(value, count);
  }
  Registers otherwise;
  if (op.getOther())
    otherwise = format.toWords(pick(e.get(op.getOther()), access.registers));
  else
    otherwise.assign(format.numWords(count), e.zero(format.wordType(count)));
  GlobalPlace place{pointer, access.offset * int64_t(format.elementBytes()), {}};
  if (op.getMask())
    place.predicate = e.get(op.getMask())[access.registers.front()];
  return format.fromWords(loadGlobal(e, place, otherwise, hints), count);
}

LogicalResult emitLoad(ThreadEmitter &e, tt::LoadOp op) {
  if (failed(checkAccess(op, op.getPtr().getType())))
    return failure();
  ElementFormat format(e, getElementTypeOrSelf(op.getType()));
  AccessPlan plan = planAccess(e, op.getPtr(), op.getMask(), maxAccessBits / 8 / format.elementBytes());
  Registers result(plan.copies.first.size());
  for (const MemoryAccess &access : plan.accesses)
    for (auto [reg, value] : llvm::zip(access.registers, readAccess(e, op, access, format)))
      result[reg] = value;
  for (auto [reg, first] : llvm::enumerate(plan.copies.first))
    result[reg] = result[first];
  e.set(op.getResult(), std::move(result));
  return success();
}

LogicalResult emitStore(ThreadEmitter &e, tt::StoreOp op) {
  if (failed(checkAccess(op, op.getPtr().getType())))
    return failure();
  ElementFormat format(e, getElementTypeOrSelf(op.getValue().getType()));
  AccessPlan plan = planAccess(e, op.getPtr(), op.getMask(), maxAccessBits / 8 / format.elementBytes());
  CacheHints hints = hintsOf(op);
  Value acts = e.isCanonical(plan.copies.lane, plan.copies.warp, plan.copies.block);
  for (const MemoryAccess &access : plan.accesses) {
    unsigned count = access.registers.size();
    Registers values = pick(e.get(op.getValue()), access.registers);
    GlobalPlace place{e.get(op.getPtr())[access.base], access.offset * int64_t(format.elementBytes()), acts};
    if (op.getMask()) {
      Value mask = e.get(op.getMask())[access.registers.front()];
      place.predicate = acts ? e.bitAnd(mask, acts) : mask;
    }
    if (place.predicate || !hints.isNone()) {
      storeGlobal(e, place, format.toWords(values), hints);
      continue;
    }
    Value address = e.elementPointer(place.pointer, format.storedType(), access.offset);
    e.make<LLVM::StoreOp>(format.pack(values), address, /*alignment=*/count * format.elementBytes());
  }
  return success();
}

} // namespace

void addMemoryEmitters(EmitterTable &table) {
  table.add<tt::LoadOp, emitLoad>();
  table.add<tt::StoreOp, emitStore>();
}

} // namespace despina::nvptx
