//===- Tile.cpp - Values that the interpreter computes with ---------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "despina/Interpreter/Tile.h"

#include "Floats.h"

#include <cstring>

namespace despina::interpreter {

Storage storageOf(const Type &element) {
  if (element.isPointer())
    return Storage::Pointer;
  switch (element.scalarKind()) {
  case ScalarKind::Int1: return Storage::Bool;
  case ScalarKind::Int8:
  case ScalarKind::UInt8: return Storage::I8;
  case ScalarKind::Int16:
  case ScalarKind::UInt16: return Storage::I16;
  case ScalarKind::Int32:
  case ScalarKind::UInt32: return Storage::I32;
  case ScalarKind::Int64:
  case ScalarKind::UInt64: return Storage::I64;
  case ScalarKind::FP16: return Storage::F16;
  case ScalarKind::BF16: return Storage::BF16;
  case ScalarKind::FP32: return Storage::F32;
  case ScalarKind::FP64: return Storage::F64;
  case ScalarKind::Void: return Storage::I8;
  default: return Storage::FP8;
  }
}

unsigned bytesOf(Storage storage) {
  switch (storage) {
  case Storage::Bool:
  case Storage::I8:
  case Storage::FP8: return 1;
  case Storage::I16:
  case Storage::F16:
  case Storage::BF16: return 2;
  case Storage::I32:
  case Storage::F32: return 4;
  case Storage::I64:
  case Storage::F64:
  case Storage::Pointer: return 8;
  }
  return 8;
}

TileRef Tile::make(const Type &element, llvm::ArrayRef<int64_t> shape, bool uniform, int64_t size) {
  TileRef tile(new Tile);
  tile->element = element;
  tile->storage = storageOf(element);
  tile->uniform = uniform || size == 1;
  tile->shape.assign(shape.begin(), shape.end());
  tile->size = size;
  tile->buffer = new Buffer(size_t(tile->stored()) * bytesOf(tile->storage));
  return tile;
}

TileRef Tile::make(const Type &element, llvm::ArrayRef<int64_t> shape, bool uniform) {
  int64_t size = 1;
  for (int64_t extent : shape)
    size *= extent;
  return make(element, shape, uniform, size);
}

TileRef Tile::view(const Type &newElement, llvm::ArrayRef<int64_t> newShape) const {
  TileRef tile(new Tile);
  tile->element = newElement;
  tile->storage = storageOf(newElement);
  tile->uniform = uniform;
  tile->shape.assign(newShape.begin(), newShape.end());
  tile->size = size;
  tile->buffer = buffer;
  tile->undefined = undefined;
  return tile;
}

TileRef Tile::undefinedTile() const {
  TileRef tile = view(ScalarKind::Int1, shape);
  tile->buffer = undefined;
  tile->undefined = nullptr;
  return tile;
}

TileRef Tile::dense() const {
  TileRef tile = make(element, shape, false, size);
  unsigned width = bytesOf(storage);
  char *out = tile->data<char>();
  if (undefined)
    tile->undefined = undefinedTile()->dense()->buffer;
  if (stored() == size) {
    std::memcpy(out, bytes(), size_t(size) * width);
    return tile;
  }
  for (int64_t i = 0; i < size; ++i)
    std::memcpy(out + i * width, bytes(), width);
  return tile;
}

uint64_t bitsAt(const Tile &tile, int64_t position) {
  position *= tile.step();
  switch (bytesOf(tile.storage)) {
  case 1: return tile.data<uint8_t>()[position];
  case 2: return tile.data<uint16_t>()[position];
  case 4: return tile.data<uint32_t>()[position];
  default: return tile.data<uint64_t>()[position];
  }
}

int64_t integerAt(const Tile &tile, int64_t position) {
  uint64_t bits = bitsAt(tile, position);
  switch (tile.storage) {
  case Storage::I8: return int8_t(bits);
  case Storage::I16: return int16_t(bits);
  case Storage::I32: return int32_t(bits);
  default: return int64_t(bits);
  }
}

double realAt(const Tile &tile, int64_t position) {
  uint64_t bits = bitsAt(tile, position);
  switch (tile.storage) {
  case Storage::FP8: return fp8Values(tile.element.scalarKind())[bits];
  case Storage::F16: return fromHalf(uint16_t(bits));
  case Storage::BF16: return fromBFloat(uint16_t(bits));
  case Storage::F32: return std::bit_cast<float>(uint32_t(bits));
  case Storage::F64: return std::bit_cast<double>(bits);
  default: return double(bits);
  }
}

} // namespace despina::interpreter
