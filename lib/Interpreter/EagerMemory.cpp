//===- EagerMemory.cpp - Loads, stores, atomics, descriptors --------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "despina/Interpreter/EagerBuilder.h"

#include <cinttypes>
#include <cstring>
#include <limits>

namespace despina::interpreter {

void EagerBuilder::failAccess(const AccessError &error, const char *operation) {
  char address[32];
  std::snprintf(address, sizeof address, "0x%" PRIx64, error.address);
  std::string text = std::string(operation) + (error.isWrite ? " writes " : " reads ") +
                     std::to_string(error.bytes) + " bytes at " + address + ", where no memory is";
  if (std::string place = memory_.describe(error.address); !place.empty())
    text += ": " + place;
  fail("IndexError", std::move(text));
}

/// How many elements from `begin` on lie one after the other and are all wanted.
static int64_t runLength(const Tile &pointer, const Tile *mask, int64_t begin, unsigned width) {
  if (pointer.uniform)
    return 1;
  const uint64_t *addresses = pointer.data<uint64_t>();
  const uint8_t *wanted = mask && !mask->uniform ? mask->data<uint8_t>() : nullptr;
  int64_t end = begin + 1;
  while (end < pointer.size && addresses[end] == addresses[end - 1] + width && (!wanted || wanted[end]))
    ++end;
  return end - begin;
}

TileRef EagerBuilder::loadElements(const Tile &pointer, const Tile *mask, const Tile *other,
                                   const Type &element) {
  bool all = !mask || (mask->uniform && bitsAt(*mask, 0));
  TileRef tile = Tile::make(element, pointer.shape, pointer.uniform && all, pointer.size);
  unsigned width = bytesOf(tile->storage);
  char *to = tile->data<char>();
  uint8_t *marks = nullptr;
  if (sanitizer_ && !all) {
    tile->undefined = new Buffer(size_t(tile->stored()));
    marks = static_cast<uint8_t *>(tile->undefined->data());
    std::memset(marks, 0, size_t(tile->stored()));
  }
  for (int64_t i = 0, count = tile->stored(); i < count;) {
    if (!all && !bitsAt(*mask, i)) {
      if (other)
        std::memcpy(to + i * width, other->bytes() + i * other->step() * width, width);
      else
        std::memset(to + i * width, 0, width);
      if (marks)
        marks[i] = other ? other->isUndefinedAt(i) : 1;
      ++i;
      continue;
    }
    int64_t run = sanitizer_ ? 1 : std::min(runLength(pointer, mask, i, width), count - i);
    uint64_t address = bitsAt(pointer, i);
    if (sanitizer_) {
      checkDefined(pointer, i, "an undefined address is read");
      if (!sanitizer_->read(address, width, "tl.load")) {
        std::memset(to + i++ * width, 0, width);
        continue;
      }
    }
    if (!memory_.read(address, to + i * width, size_t(run) * width)) {
      // One element after the other, to find the first that is not there.
      if (run > 1 && memory_.read(address, to + i * width, width)) {
        ++i;
        continue;
      }
      failAccess({address, width, false}, "tl.load");
      std::memset(to + i * width, 0, width);
      return tile;
    }
    i += run;
  }
  return tile;
}

void EagerBuilder::storeElements(const Tile &pointer, const Tile &value, const Tile *mask) {
  unsigned width = bytesOf(value.storage);
  for (int64_t i = 0; i < pointer.size;) {
    if (mask && !bitsAt(*mask, i)) {
      ++i;
      continue;
    }
    int64_t run = value.uniform || sanitizer_ ? 1 : runLength(pointer, mask, i, width);
    uint64_t address = bitsAt(pointer, i);
    if (sanitizer_) {
      checkDefined(pointer, i, "an undefined address is written");
      checkDefined(value, i, "an undefined value is stored");
      if (!sanitizer_->write(address, width, /*isAtomic=*/false, "tl.store")) {
        ++i;
        continue;
      }
    }
    const char *from = value.bytes() + i * value.step() * width;
    if (!memory_.write(address, from, size_t(run) * width)) {
      if (run > 1 && memory_.write(address, from, width)) {
        ++i;
        continue;
      }
      return failAccess({address, width, true}, "tl.store");
    }
    i += run;
  }
}

Handle EagerBuilder::load(Handle pointer, Handle mask, Handle other, CacheModifier, EvictionPolicy, bool) {
  if (isDead() || refusesLanes())
    return placeholder();
  const Tile &address = *tileOf(pointer);
  return keep(loadElements(address, mask ? tileOf(mask) : nullptr, other ? tileOf(other) : nullptr,
                           address.element.pointee()));
}

void EagerBuilder::store(Handle pointer, Handle value, Handle mask, CacheModifier, EvictionPolicy) {
  if (isDead() || refusesLanes())
    return;
  storeElements(*tileOf(pointer), *tileOf(value), mask ? tileOf(mask) : nullptr);
}

//===----------------------------------------------------------------------===//
// Atomics: programs run one after the other
//===----------------------------------------------------------------------===//

static TileRef updated(AtomicKind kind, const Tile &old, const Tile &value) {
  bool isReal = isFloat(old.storage);
  switch (kind) {
  case AtomicKind::And: return computeBinary(BinaryKind::AndI, old, value);
  case AtomicKind::Or: return computeBinary(BinaryKind::OrI, old, value);
  case AtomicKind::Xor: return computeBinary(BinaryKind::XorI, old, value);
  case AtomicKind::Add: return computeBinary(BinaryKind::AddI, old, value);
  case AtomicKind::FAdd: return computeBinary(BinaryKind::AddF, old, value);
  case AtomicKind::Max: return computeBinary(isReal ? BinaryKind::MaxNumF : BinaryKind::MaxSI, old, value);
  case AtomicKind::Min: return computeBinary(isReal ? BinaryKind::MinNumF : BinaryKind::MinSI, old, value);
  case AtomicKind::UMax: return computeBinary(BinaryKind::MaxUI, old, value);
  case AtomicKind::UMin: return computeBinary(BinaryKind::MinUI, old, value);
  case AtomicKind::Exchange: return value.view(value.element, value.shape);
  }
  return nullptr;
}

/// A tile of one element, to be filled again and again.
static TileRef single(const Tile &like) { return Tile::make(like.element, {}); }

static void take(Tile &to, const Tile &from, int64_t position) {
  unsigned width = bytesOf(from.storage);
  std::memcpy(to.data<char>(), from.bytes() + position * from.step() * width, width);
}

TileRef EagerBuilder::updateElements(AtomicKind kind, const Tile &pointer, const Tile &value,
                                     const Tile *mask) {
  TileRef result = Tile::make(value.element, pointer.shape, false, pointer.size);
  unsigned width = bytesOf(value.storage);
  std::memset(result->data<char>(), 0, size_t(result->stored()) * width);
  TileRef old = single(value), operand = single(value);
  for (int64_t i = 0; i < pointer.size; ++i) {
    if (mask && !bitsAt(*mask, i))
      continue;
    uint64_t address = bitsAt(pointer, i);
    take(*operand, value, i);
    checkDefined(value, i, "an undefined value goes into an atomic operation");
    if (sanitizer_ && (!sanitizer_->read(address, width, "an atomic operation") ||
                       !sanitizer_->write(address, width, /*isAtomic=*/true, "an atomic operation")))
      continue;
    if (!memory_.read(address, old->data<char>(), width) ||
        !memory_.write(address, updated(kind, *old, *operand)->bytes(), width)) {
      failAccess({address, width, true}, "an atomic operation");
      return result;
    }
    std::memcpy(result->data<char>() + i * width, old->bytes(), width);
  }
  return result;
}

Handle EagerBuilder::atomicRMW(AtomicKind kind, Handle pointer, Handle value, Handle mask, MemorySemantic,
                               MemoryScope) {
  if (isDead() || refusesLanes())
    return placeholder();
  return keep(updateElements(kind, *tileOf(pointer), *tileOf(value), mask ? tileOf(mask) : nullptr));
}

Handle EagerBuilder::atomicCAS(Handle pointerHandle, Handle compareHandle, Handle valueHandle, MemorySemantic,
                               MemoryScope) {
  if (isDead() || refusesLanes())
    return placeholder();
  const Tile &pointer = *tileOf(pointerHandle), &expected = *tileOf(compareHandle),
             &value = *tileOf(valueHandle);
  TileRef result = Tile::make(value.element, pointer.shape, false, pointer.size);
  unsigned width = bytesOf(value.storage);
  for (int64_t i = 0; i < pointer.size; ++i) {
    uint64_t address = bitsAt(pointer, i), old = 0, wanted = bitsAt(expected, i), now = bitsAt(value, i);
    if (sanitizer_ && (!sanitizer_->read(address, width, "tl.atomic_cas") ||
                       !sanitizer_->write(address, width, /*isAtomic=*/true, "tl.atomic_cas")))
      continue;
    if (!memory_.read(address, &old, width) || (old == wanted && !memory_.write(address, &now, width))) {
      failAccess({address, width, true}, "tl.atomic_cas");
      break;
    }
    std::memcpy(result->data<char>() + i * width, &old, width);
  }
  return keep(std::move(result));
}

//===----------------------------------------------------------------------===//
// Descriptors: pointers and masks
//===----------------------------------------------------------------------===//

Handle EagerBuilder::makeDescriptor(const Type &type, Handle base, llvm::ArrayRef<Handle> shape,
                                    llvm::ArrayRef<Handle> strides, bool padsNaN) {
  if (isDead() || refusesLanes())
    return placeholder();
  TileRef tile = Tile::make(type.describedBlock().scalar(), {});
  tile->description = std::make_unique<Description>();
  tile->description->base = bitsAt(*tileOf(base), 0);
  tile->description->padsNaN = padsNaN;
  for (Handle extent : shape)
    tile->description->shape.push_back(integerAt(*tileOf(extent), 0));
  for (Handle stride : strides)
    tile->description->strides.push_back(integerAt(*tileOf(stride), 0));
  checkDescriptor(*tile, type.describedBlock());
  return keep(std::move(tile));
}

/// Addresses of a block, and the mask of those inside of what is described. `shape` may lack leading
/// dimensions of extent 1. With `rows`, those are the positions along dimension 0.
TileRef EagerBuilder::descriptorPointers(const Tile &descriptor, llvm::ArrayRef<int64_t> shape,
                                         llvm::ArrayRef<Handle> indices, const Tile *rows, TileRef &mask) {
  const Description &what = *descriptor.description;
  TileRef pointers = Tile::make(Type::pointer(descriptor.element), shape);
  mask = Tile::make(ScalarKind::Int1, shape);
  size_t rank = what.shape.size(), missing = rank - shape.size();
  uint64_t width = bytesOf(storageOf(descriptor.element));
  for (int64_t i = 0; i < pointers->size; ++i) {
    int64_t left = i, offset = 0;
    bool inside = true;
    for (size_t d = rank; d-- > 0;) {
      int64_t extent = d >= missing ? shape[d - missing] : 1, local = left % extent;
      left /= extent;
      int64_t at = rows && d == 0 ? integerAt(*rows, local) : integerAt(*tileOf(indices[d]), 0) + local;
      inside &= at >= 0 && at < what.shape[d];
      offset += at * what.strides[d];
    }
    pointers->data<uint64_t>()[i] = what.base + uint64_t(offset) * width;
    mask->data<uint8_t>()[i] = inside;
  }
  return pointers;
}

/// What reads beyond the edges give.
static TileRef padding(const Tile &descriptor, llvm::ArrayRef<int64_t> shape) {
  double value = descriptor.description->padsNaN ? std::numeric_limits<double>::quiet_NaN() : 0;
  TileRef like = Tile::make(descriptor.element, shape, true);
  if (descriptor.description->padsNaN)
    return tileOfReals(&value, 1, *like, descriptor.element);
  std::memset(like->data<char>(), 0, bytesOf(like->storage));
  return like;
}

Handle EagerBuilder::descriptorLoad(const Type &type, Handle descriptor, llvm::ArrayRef<Handle> indices) {
  if (isDead() || refusesLanes())
    return placeholder();
  const Tile &what = *tileOf(descriptor);
  Extents shape(type.isDescriptor() ? type.describedBlock().shape() : type.shape());
  TileRef mask, pointers = descriptorPointers(what, shape, indices, nullptr, mask),
                other = padding(what, shape);
  return keep(loadElements(*pointers, mask.get(), other.get(), what.element));
}

void EagerBuilder::descriptorStore(Handle descriptor, Handle valueHandle, llvm::ArrayRef<Handle> indices) {
  if (isDead() || refusesLanes())
    return;
  const Tile &value = *tileOf(valueHandle);
  TileRef mask, pointers = descriptorPointers(*tileOf(descriptor), value.shape, indices, nullptr, mask);
  storeElements(*pointers, value, mask.get());
}

static AtomicKind atomicKind(DescriptorReduceKind kind, const Type &element) {
  switch (kind) {
  case DescriptorReduceKind::Add: return element.isFloating() ? AtomicKind::FAdd : AtomicKind::Add;
  case DescriptorReduceKind::Min: return element.isUnsigned() ? AtomicKind::UMin : AtomicKind::Min;
  case DescriptorReduceKind::Max: return element.isUnsigned() ? AtomicKind::UMax : AtomicKind::Max;
  case DescriptorReduceKind::And: return AtomicKind::And;
  case DescriptorReduceKind::Or: return AtomicKind::Or;
  case DescriptorReduceKind::Xor: return AtomicKind::Xor;
  }
  return AtomicKind::Exchange;
}

void EagerBuilder::descriptorReduce(DescriptorReduceKind kind, Handle descriptor, Handle valueHandle,
                                    llvm::ArrayRef<Handle> indices) {
  if (isDead() || refusesLanes())
    return;
  const Tile &what = *tileOf(descriptor), &value = *tileOf(valueHandle);
  TileRef mask, pointers = descriptorPointers(what, value.shape, indices, nullptr, mask);
  updateElements(atomicKind(kind, what.element), *pointers, value, mask.get());
}

Handle EagerBuilder::descriptorGather(const Type &result, Handle descriptor, Handle rows, Handle column) {
  if (isDead() || refusesLanes())
    return placeholder();
  const Tile &what = *tileOf(descriptor);
  TileRef mask, pointers = descriptorPointers(what, result.shape(), {Handle(), column}, tileOf(rows), mask);
  TileRef other = padding(what, result.shape());
  return keep(loadElements(*pointers, mask.get(), other.get(), what.element));
}

void EagerBuilder::descriptorScatter(Handle descriptor, Handle valueHandle, Handle rows, Handle column) {
  if (isDead() || refusesLanes())
    return;
  const Tile &value = *tileOf(valueHandle);
  TileRef mask,
      pointers = descriptorPointers(*tileOf(descriptor), value.shape, {Handle(), column}, tileOf(rows), mask);
  storeElements(*pointers, value, mask.get());
}

} // namespace despina::interpreter
