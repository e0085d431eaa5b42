//===- ThreadData.cpp - Values between threads and shared memory ----------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "ThreadData.h"

#include "TileIndex.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace despina::nvptx {

//===----------------------------------------------------------------------===//
// Bits and words
//===----------------------------------------------------------------------===//

Value toBits(ThreadEmitter &e, Value value) {
  Type type = value.getType();
  if (isa<LLVM::LLVMPointerType>(type))
    return e.bitcast(value, e.b.getI64Type());
  if (type.isInteger(1))
    return e.make<LLVM::ZExtOp>(e.b.getI8Type(), value);
  return e.bitcast(value, e.b.getIntegerType(type.getIntOrFloatBitWidth()));
}

Value fromBits(ThreadEmitter &e, Value bits, Type type) {
  if (type.isInteger(1))
    return e.make<LLVM::TruncOp>(type, bits);
  return e.bitcast(bits, type);
}

static Value insert(ThreadEmitter &e, Value vector, Value element, unsigned index) {
  return e.make<LLVM::InsertElementOp>(vector, element, e.i32(index));
}

static Value extract(ThreadEmitter &e, Value vector, unsigned index) {
  return e.make<LLVM::ExtractElementOp>(vector, e.i32(index));
}

Registers packWords(ThreadEmitter &e, ArrayRef<Value> bits) {
  Type word = e.b.getI32Type(), type = bits.front().getType();
  unsigned width = type.getIntOrFloatBitWidth();
  Registers words;
  if (width == 32)
    return Registers(bits);
  if (width == 64) {
    for (Value value : bits) {
      words.push_back(e.make<LLVM::TruncOp>(word, value));
      words.push_back(e.make<LLVM::TruncOp>(word, e.make<LLVM::LShrOp>(value, e.i64(32))));
    }
    return words;
  }
  unsigned perWord = 32 / width;
  for (; !bits.empty(); bits = bits.drop_front(std::min<size_t>(perWord, bits.size()))) {
    if (bits.size() == 1) {
      words.push_back(e.make<LLVM::ZExtOp>(word, bits.front()));
      continue;
    }
    Value vector = e.make<LLVM::PoisonOp>(VectorType::get(perWord, type));
    for (auto [i, value] : llvm::enumerate(bits.take_front(perWord)))
      vector = insert(e, vector, value, i);
    words.push_back(e.bitcast(vector, word));
  }
  return words;
}

Registers unpackWords(ThreadEmitter &e, ArrayRef<Value> words, unsigned width, unsigned count) {
  if (width == 32)
    return Registers(words);
  Registers values;
  Type type = e.b.getIntegerType(width);
  if (width == 64) {
    for (; !words.empty(); words = words.drop_front(2)) {
      Value low = e.make<LLVM::ZExtOp>(type, words[0]), high = e.make<LLVM::ZExtOp>(type, words[1]);
      values.push_back(e.make<LLVM::OrOp>(low, e.make<LLVM::ShlOp>(high, e.i64(32))));
    }
    return values;
  }
  unsigned perWord = 32 / width;
  for (Value word : words) {
    unsigned here = std::min(perWord, count - static_cast<unsigned>(values.size()));
    if (here == 1) {
      values.push_back(e.make<LLVM::TruncOp>(type, word));
      continue;
    }
    Value vector = e.bitcast(word, VectorType::get(perWord, type));
    for (unsigned i = 0; i < here; ++i)
      values.push_back(extract(e, vector, i));
  }
  return values;
}

//===----------------------------------------------------------------------===//
// Other lanes
//===----------------------------------------------------------------------===//

Value shuffleWord(ThreadEmitter &e, Value word, const SourceLane &from) {
  NVVM::ShflKind kind = from.lane ? NVVM::ShflKind::idx : NVVM::ShflKind::bfly;
  Value lane = from.lane ? from.lane : e.i32(from.laneXor);
  return e.make<NVVM::ShflOp>(word.getType(), e.i32(-1), word, lane, e.i32(31), kind, UnitAttr());
}

Registers shuffleValues(ThreadEmitter &e, ArrayRef<Value> values, const SourceLane &from) {
  Registers bits;
  for (Value value : values)
    bits.push_back(toBits(e, value));
  Registers words = packWords(e, bits);
  for (Value &word : words)
    word = shuffleWord(e, word, from);
  unsigned width = bits.front().getType().getIntOrFloatBitWidth();
  Registers moved = unpackWords(e, words, width, values.size());
  for (Value &value : moved)
    value = fromBits(e, value, values.front().getType());
  return moved;
}

Value parity(ThreadEmitter &e, uint64_t laneMask, uint64_t warpMask, uint64_t blockMask) {
  if (!laneMask && !warpMask && !blockMask)
    return {};
  ThreadTerms terms;
  auto fill = [](auto &list, uint64_t mask) {
    for (; mask; mask >>= 1)
      list.push_back(mask & 1);
  };
  fill(terms.lane, laneMask);
  fill(terms.warp, warpMask);
  fill(terms.block, blockMask);
  return e.make<LLVM::TruncOp>(e.b.getI1Type(), e.place(terms));
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

SharedAddresses::SharedAddresses(ThreadEmitter &e, Value base, unsigned elementBits, const ThreadTerms &terms,
                                 Value window)
    : e(e), base(base), element(e.b.getIntegerType(elementBits)), index(e.place(terms)),
      indexBits(bitsOf(terms)) {
  APInt constant;
  if (!window)
    return;
  if (matchPattern(window, m_ConstantInt(&constant))) {
    windowOffset = constant.getZExtValue();
  } else {
    index = e.bitXor(index, window);
    indexBits = ~uint64_t(0);
  }
}

Value SharedAddresses::at(uint64_t offset) {
  offset ^= windowOffset;
  uint64_t meeting = offset & indexBits;
  Value &address = addresses[meeting];
  if (!address)
    address = e.elementPointer(base, element, meeting ? e.bitXor(index, e.i32(meeting)) : index);
  return e.elementPointer(address, element, static_cast<int64_t>(offset ^ meeting));
}

/// One value of as many bits as an access has: an integer, or a vector of words.
static Type accessType(ThreadEmitter &e, unsigned width, unsigned count) {
  unsigned total = width * count;
  if (total <= 32 || count == 1)
    return e.b.getIntegerType(total);
  return width == 64 ? VectorType::get(count, e.b.getI64Type())
                     : VectorType::get(total / 32, e.b.getI32Type());
}

Registers loadShared(ThreadEmitter &e, Value address, unsigned width, unsigned count) {
  Type type = accessType(e, width, count);
  Value loaded = e.make<LLVM::LoadOp>(type, address, /*alignment=*/width * count / 8);
  if (count == 1)
    return {loaded};
  Registers parts;
  if (auto vector = dyn_cast<VectorType>(type))
    for (int64_t i = 0; i < vector.getNumElements(); ++i)
      parts.push_back(extract(e, loaded, i));
  else
    parts.push_back(loaded);
  if (width == 64)
    return parts;
  if (width * count < 32)
    parts.front() = e.make<LLVM::ZExtOp>(e.b.getI32Type(), parts.front());
  return unpackWords(e, parts, width, count);
}

void storeShared(ThreadEmitter &e, Value address, ArrayRef<Value> bits) {
  unsigned width = bits.front().getType().getIntOrFloatBitWidth(), total = width * bits.size();
  Type type = accessType(e, width, bits.size());
  Registers parts = width == 64 || bits.size() == 1 ? Registers(bits) : packWords(e, bits);
  Value stored = parts.front();
  if (isa<VectorType>(type)) {
    stored = e.make<LLVM::PoisonOp>(type);
    for (auto [i, part] : llvm::enumerate(parts))
      stored = insert(e, stored, part, i);
  } else if (stored.getType() != type) {
    stored = e.make<LLVM::TruncOp>(type, stored);
  }
  e.make<LLVM::StoreOp>(stored, address, /*alignment=*/total / 8);
}

} // namespace despina::nvptx
