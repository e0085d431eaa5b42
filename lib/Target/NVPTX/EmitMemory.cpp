//===- EmitMemory.cpp - Loads and stores of global memory -----------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Accesses of up to 128 bits. Those without mask and hints are LLVM's, which can fold their addresses; the
// others are instructions under a predicate, which need no branch. i1 takes a byte in memory.
//
//===----------------------------------------------------------------------===//
#include "EmitMemory.h"

#include "ThreadData.h"

using namespace mlir;

namespace despina::nvptx {

namespace {

constexpr unsigned maxAccessBits = 128;

/// Elements of a type as the words of an access: of 32 bits, or of all there is if that is less, or of 64 for
/// elements of 64.
class WordFormat {
public:
  WordFormat(ThreadEmitter &e, Type element)
      : e(e), registerType(e.llvmType(element)), bits(ttg::memoryBits(element)) {}

  unsigned elementBits() const { return bits; }
  Type wordType(unsigned count) const {
    return e.b.getIntegerType(std::max(bits, std::min(32u, bits * count)));
  }
  unsigned numWords(unsigned count) const { return bits * count / wordType(count).getIntOrFloatBitWidth(); }

  Registers toWords(ArrayRef<Value> elements) const {
    Registers words = llvm::map_to_vector<4>(elements, [&](Value element) { return toBits(e, element); });
    if (bits >= 32 || elements.size() == 1)
      return words;
    words = packWords(e, words);
    if (Type type = wordType(elements.size()); words.front().getType() != type)
      words.front() = e.make<LLVM::TruncOp>(type, words.front());
    return words;
  }
  Registers fromWords(Registers words, unsigned count) const {
    if (bits < 32 && count > 1) {
      if (words.front().getType() != e.b.getI32Type())
        words.front() = e.make<LLVM::ZExtOp>(e.b.getI32Type(), words.front());
      words = unpackWords(e, words, bits, count);
    }
    for (Value &word : words)
      word = fromMemory(word);
    return words;
  }

private:
  /// Any byte but 0 is true.
  Value fromMemory(Value word) const {
    if (registerType.isInteger(1))
      return e.make<LLVM::ICmpOp>(LLVM::ICmpPredicate::ne, word, e.zero(word.getType()));
    return fromBits(e, word, registerType);
  }

  ThreadEmitter &e;
  Type registerType;
  unsigned bits;
};

/// Words next to each other in memory, by LLVM's own operations.
Registers loadPlain(ThreadEmitter &e, Value address, Type word, unsigned count, bool isVolatile) {
  unsigned alignment = count * word.getIntOrFloatBitWidth() / 8;
  Type type = count == 1 ? word : VectorType::get(static_cast<int64_t>(count), word);
  Value value = e.make<LLVM::LoadOp>(type, address, alignment, isVolatile);
  if (count == 1)
    return {value};
  Registers words;
  for (unsigned i = 0; i < count; ++i)
    words.push_back(e.make<LLVM::ExtractElementOp>(value, e.i32(i)));
  return words;
}

void storePlain(ThreadEmitter &e, Value address, ArrayRef<Value> words) {
  Value value = words.front();
  unsigned alignment = words.size() * value.getType().getIntOrFloatBitWidth() / 8;
  if (words.size() > 1) {
    value = e.make<LLVM::PoisonOp>(VectorType::get(static_cast<int64_t>(words.size()), value.getType()));
    for (auto [i, word] : llvm::enumerate(words))
      value = e.make<LLVM::InsertElementOp>(value, word, e.i32(i));
  }
  e.make<LLVM::StoreOp>(value, address, alignment);
}

template <typename Op> CacheHints hintsOf(Op op) {
  CacheHints hints;
  hints.cache = op.getCache();
  hints.evict = op.getEvict();
  if constexpr (std::is_same_v<Op, tt::LoadOp>)
    hints.isVolatile = op.getIsVolatile();
  return hints;
}

unsigned pointeeBits(Value pointers) {
  return ttg::memoryBits(cast<tt::PointerType>(getElementTypeOrSelf(pointers)).getPointeeType());
}

Registers readAccess(ThreadEmitter &e, const GlobalRead &read, const MemoryAccess &access,
                     const WordFormat &format) {
  unsigned count = access.registers.size(), words = format.numWords(count);
  Type word = format.wordType(count);
  GlobalPlace place = placeOf(e, read.pointers, read.mask, access);
  if (!place.predicate && (read.hints.isNone() || read.hints.isVolatile)) {
    Value address = e.elementPointer(place.pointer, e.b.getI8Type(), place.bytes);
    return format.fromWords(loadPlain(e, address, word, words, read.hints.isVolatile), count);
  }
  Registers otherwise(words, e.zero(word));
  if (read.other)
    otherwise = format.toWords(pick(e.get(read.other), access.registers));
  return format.fromWords(loadGlobal(e, place, otherwise, read.hints), count);
}

LogicalResult emitLoad(ThreadEmitter &e, tt::LoadOp op) {
  std::optional<Registers> registers =
      readGlobal(e, op, {op.getPtr(), op.getMask(), op.getOther(), hintsOf(op)});
  if (!registers)
    return failure();
  e.set(op.getResult(), std::move(*registers));
  return success();
}

LogicalResult emitStore(ThreadEmitter &e, tt::StoreOp op) {
  if (failed(checkAccess(op, op.getPtr().getType())))
    return failure();
  WordFormat format(e, getElementTypeOrSelf(op.getValue().getType()));
  AccessPlan plan = planAccess(e, op.getPtr(), op.getMask(), maxAccessBits / format.elementBits());
  CacheHints hints = hintsOf(op);
  Value acts = e.isCanonical(plan.copies.lane, plan.copies.warp, plan.copies.block);
  for (const MemoryAccess &access : plan.accesses) {
    Registers words = format.toWords(pick(e.get(op.getValue()), access.registers));
    GlobalPlace place = placeOf(e, op.getPtr(), op.getMask(), access);
    if (acts)
      place.predicate = place.predicate ? e.bitAnd(place.predicate, acts) : acts;
    if (place.predicate || !hints.isNone())
      storeGlobal(e, place, words, hints);
    else
      storePlain(e, e.elementPointer(place.pointer, e.b.getI8Type(), place.bytes), words);
  }
  return success();
}

} // namespace

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

Registers pick(ArrayRef<Value> registers, ArrayRef<unsigned> indices) {
  return llvm::map_to_vector<4>(indices, [&](unsigned index) { return registers[index]; });
}

GlobalPlace placeOf(ThreadEmitter &e, Value pointers, Value mask, const MemoryAccess &access) {
  return {e.get(pointers)[access.base], access.offset * int64_t(pointeeBits(pointers) / 8),
          mask ? e.get(mask)[access.registers.front()] : Value()};
}

std::optional<Registers> readGlobal(ThreadEmitter &e, Operation *op, const GlobalRead &read) {
  Type type = read.pointers.getType();
  if (failed(checkAccess(op, type)))
    return std::nullopt;
  WordFormat format(e, cast<tt::PointerType>(getElementTypeOrSelf(type)).getPointeeType());
  AccessPlan plan = planAccess(e, read.pointers, read.mask, maxAccessBits / format.elementBits());
  Registers result(plan.copies.first.size());
  for (const MemoryAccess &access : plan.accesses)
    for (auto [reg, value] : llvm::zip(access.registers, readAccess(e, read, access, format)))
      result[reg] = value;
  for (auto [reg, first] : llvm::enumerate(plan.copies.first))
    result[reg] = result[first];
  return result;
}

void addMemoryEmitters(EmitterTable &table) {
  table.add<tt::LoadOp, emitLoad>();
  table.add<tt::StoreOp, emitStore>();
}

} // namespace despina::nvptx
