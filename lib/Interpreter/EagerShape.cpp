//===- EagerShape.cpp - Creation, shape and positions of elements ---------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "despina/Interpreter/EagerBuilder.h"

#include <cstring>
#include <numeric>

namespace despina::interpreter {

namespace {

/// Distances between neighbours of each dimension in row-major order.
Extents rowMajorStrides(llvm::ArrayRef<int64_t> shape) {
  Extents strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

/// Fills `out` in order from where `strides` lead in `from`.
void copyStrided(Tile &out, const Tile &from, llvm::ArrayRef<int64_t> strides) {
  unsigned width = bytesOf(out.storage);
  char *to = out.data<char>();
  const char *source = from.bytes();
  size_t rank = out.shape.size();
  Extents index(rank, 0);
  int64_t inner = rank ? out.shape.back() : 1, innerStride = rank ? strides.back() : 0;
  int64_t offset = 0;
  auto copyRow = [&]<typename T>(T) {
    const T *row = reinterpret_cast<const T *>(source) + offset;
    T *target = reinterpret_cast<T *>(to);
    if (innerStride == 1)
      std::memcpy(target, row, size_t(inner) * sizeof(T));
    else
      for (int64_t i = 0; i < inner; ++i)
        target[i] = row[i * innerStride];
  };
  for (int64_t done = 0; done < out.size; done += inner) {
    switch (width) {
    case 1: copyRow(uint8_t()); break;
    case 2: copyRow(uint16_t()); break;
    case 4: copyRow(uint32_t()); break;
    default: copyRow(uint64_t());
    }
    to += inner * width;
    for (size_t d = rank ? rank - 1 : 0; d-- > 0;) {
      offset += strides[d];
      if (++index[d] < out.shape[d])
        break;
      offset -= strides[d] * out.shape[d];
      index[d] = 0;
    }
  }
}

} // namespace

Handle EagerBuilder::makeRange(int32_t start, int32_t end) {
  TileRef tile = Tile::make(ScalarKind::Int32, {int64_t(end) - start});
  std::iota(tile->data<int32_t>(), tile->data<int32_t>() + tile->size, start);
  return keep(std::move(tile));
}

Handle EagerBuilder::splat(Handle scalar, const Type &to) {
  if (isDead() || refusesLanes())
    return placeholder();
  const Tile &x = *tileOf(scalar);
  TileRef tile = x.view(x.element, to.shape());
  tile->size = to.numel();
  tile->uniform = true;
  return keep(std::move(tile));
}

Handle EagerBuilder::unsplat(Handle block) {
  if (isDead() || refusesLanes())
    return placeholder();
  const Tile &x = *tileOf(block);
  return keep(x.view(x.element, {}));
}

Handle EagerBuilder::expandDims(Handle handle, unsigned axis) {
  if (isDead() || refusesLanes())
    return placeholder();
  const Tile &x = *tileOf(handle);
  Extents shape(x.shape);
  shape.insert(shape.begin() + axis, 1);
  return keep(x.view(x.element, shape));
}

Handle EagerBuilder::broadcast(Handle handle, const Type &to) {
  if (isDead() || refusesLanes())
    return placeholder();
  const Tile &x = *tileOf(handle);
  TileRef tile = Tile::make(x.element, to.shape(), x.uniform);
  if (x.uniform) {
    std::memcpy(tile->data<char>(), x.bytes(), bytesOf(x.storage));
    tile->undefined = x.undefined;
    return keep(std::move(tile));
  }
  Extents strides = rowMajorStrides(x.shape);
  for (size_t i = 0; i < strides.size(); ++i)
    if (x.shape[i] == 1)
      strides[i] = 0;
  copyStrided(*tile, x, strides);
  Handle result = keep(std::move(tile));
  carryUndefined(result, handle,
                 [&](Handle marks) { return broadcast(marks, to.withScalar(ScalarKind::Int1)); });
  return result;
}

Handle EagerBuilder::reshape(Handle handle, const Type &to, bool) {
  if (isDead() || refusesLanes())
    return placeholder();
  const Tile &x = *tileOf(handle);
  return keep(x.view(x.element, to.shape()));
}

Handle EagerBuilder::transpose(Handle handle, llvm::ArrayRef<int32_t> order) {
  if (isDead() || refusesLanes())
    return placeholder();
  const Tile &x = *tileOf(handle);
  Extents from = rowMajorStrides(x.shape), shape, strides;
  for (int32_t dimension : order) {
    shape.push_back(x.shape[size_t(dimension)]);
    strides.push_back(from[size_t(dimension)]);
  }
  if (x.uniform)
    return keep(x.view(x.element, shape));
  TileRef tile = Tile::make(x.element, shape);
  copyStrided(*tile, x, strides);
  Handle result = keep(std::move(tile));
  carryUndefined(result, handle, [&](Handle marks) { return transpose(marks, order); });
  return result;
}

Handle EagerBuilder::concatenate(Handle lhs, Handle rhs, const Type &to) {
  if (isDead() || refusesLanes())
    return placeholder();
  TileRef x = tileOf(lhs)->dense(), y = tileOf(rhs)->dense();
  TileRef tile = Tile::make(x->element, to.shape());
  size_t bytes = size_t(x->size) * bytesOf(x->storage);
  std::memcpy(tile->data<char>(), x->bytes(), bytes);
  std::memcpy(tile->data<char>() + bytes, y->bytes(), size_t(y->size) * bytesOf(y->storage));
  return keep(std::move(tile));
}

Handle EagerBuilder::join(Handle lhs, Handle rhs) {
  if (isDead() || refusesLanes())
    return placeholder();
  const Tile &x = *tileOf(lhs), &y = *tileOf(rhs);
  Extents shape(x.shape);
  shape.push_back(2);
  TileRef tile = Tile::make(x.element, shape);
  unsigned width = bytesOf(x.storage);
  char *to = tile->data<char>();
  for (int64_t i = 0; i < x.size; ++i) {
    std::memcpy(to + 2 * i * width, x.bytes() + i * x.step() * width, width);
    std::memcpy(to + (2 * i + 1) * width, y.bytes() + i * y.step() * width, width);
  }
  return keep(std::move(tile));
}

std::pair<Handle, Handle> EagerBuilder::split(Handle handle) {
  if (isDead() || refusesLanes())
    return {placeholder(), placeholder()};
  const Tile &x = *tileOf(handle);
  llvm::ArrayRef<int64_t> shape = llvm::ArrayRef(x.shape).drop_back();
  TileRef halves[2] = {Tile::make(x.element, shape), Tile::make(x.element, shape)};
  unsigned width = bytesOf(x.storage);
  for (int64_t i = 0; i < x.size; ++i)
    std::memcpy(halves[i % 2]->data<char>() + i / 2 * width, x.bytes() + i * x.step() * width, width);
  Handle first = keep(halves[0]), second = keep(halves[1]);
  carryUndefined(first, handle, [&](Handle marks) { return split(marks).first; });
  carryUndefined(second, handle, [&](Handle marks) { return split(marks).second; });
  return {first, second};
}

/// An index out of range gives any element of the tile, as compiled kernels do.
Handle EagerBuilder::gather(Handle sourceHandle, Handle indexHandle, unsigned axis) {
  if (isDead() || refusesLanes())
    return placeholder();
  TileRef source = tileOf(sourceHandle)->dense();
  const Tile &indices = *tileOf(indexHandle);
  TileRef tile = Tile::make(source->element, indices.shape);
  unsigned width = bytesOf(source->storage);
  Extents strides = rowMajorStrides(source->shape), place = rowMajorStrides(indices.shape);
  uint64_t last = uint64_t(source->shape[axis]) - 1;
  for (int64_t i = 0; i < indices.size; ++i) {
    int64_t from = 0, left = i;
    for (size_t d = 0; d < strides.size(); ++d) {
      int64_t index = left / place[d];
      left %= place[d];
      from += strides[d] * (d == axis ? int64_t(bitsAt(indices, i) & last) : index);
    }
    std::memcpy(tile->data<char>() + i * width, source->bytes() + from * width, width);
  }
  Handle result = keep(std::move(tile));
  carryUndefined(result, sourceHandle, [&](Handle marks) { return gather(marks, indexHandle, axis); });
  return result;
}

Handle EagerBuilder::histogram(Handle handle, Handle maskHandle, const Type &result) {
  if (isDead() || refusesLanes())
    return placeholder();
  const Tile &x = *tileOf(handle);
  const Tile *mask = maskHandle ? tileOf(maskHandle) : nullptr;
  TileRef tile = Tile::make(result.scalar(), result.shape());
  std::memset(tile->data<char>(), 0, size_t(tile->size) * bytesOf(tile->storage));
  for (int64_t i = 0; i < x.size; ++i) {
    uint64_t bin = bitsAt(x, i);
    if (bin >= uint64_t(tile->size) || (mask && !bitsAt(*mask, i)))
      continue;
    if (bytesOf(tile->storage) == 8)
      ++tile->data<int64_t>()[bin];
    else
      ++tile->data<int32_t>()[bin];
  }
  return keep(std::move(tile));
}

} // namespace despina::interpreter
