//===- Tile.h - Values that the interpreter computes with -------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_INTERPRETER_TILE_H
#define DESPINA_INTERPRETER_TILE_H

#include "despina/Lang/Builder.h"

#include "llvm/ADT/IntrusiveRefCntPtr.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdlib>

namespace despina::interpreter {

using Extents = llvm::SmallVector<int64_t, 4>;

/// How an element lies in memory. Integers have no sign here, as in the builder's interface.
enum class Storage : uint8_t { Bool, I8, I16, I32, I64, FP8, F16, BF16, F32, F64, Pointer };

Storage storageOf(const Type &element);
/// Bytes that an element takes.
unsigned bytesOf(Storage storage);
inline bool isFloat(Storage storage) { return storage >= Storage::FP8 && storage <= Storage::F64; }

/// Memory of elements, shared by tiles that differ in shape or type alone.
class Buffer : public llvm::RefCountedBase<Buffer> {
public:
  explicit Buffer(size_t bytes)
      : data_(std::aligned_alloc(64, (std::max<size_t>(bytes, 1) + 63) & ~size_t(63))) {
    if (!data_)
      std::abort(); // as `new` without exceptions: there is nothing left to report with
  }
  ~Buffer() { std::free(data_); }
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;
  void *data() { return data_; }

private:
  void *data_;
};
using BufferRef = llvm::IntrusiveRefCntPtr<Buffer>;

struct Tile;
using TileRef = llvm::IntrusiveRefCntPtr<Tile>;

/// What a tensor descriptor describes.
struct Description {
  uint64_t base = 0;
  llvm::SmallVector<int64_t, 5> shape, strides; ///< strides in elements
  bool padsNaN = false;
};

/// A block of elements in row-major order, a scalar, or a descriptor. Never changed once made.
///
/// Inside of a combine function a scalar stands for many at once: `size` then counts them (lanes).
struct Tile : llvm::RefCountedBase<Tile> {
  Type element; ///< scalar or pointer type; of a descriptor the type of its blocks' elements
  Storage storage = Storage::I32;
  bool uniform = false; ///< one stored element stands for all
  Extents shape;        ///< empty: a scalar
  int64_t size = 1;     ///< number of elements
  BufferRef buffer;
  /// For the sanitizer: a byte for each stored element, 1 where its value is undefined. Null: none is.
  BufferRef undefined;
  std::unique_ptr<Description> description;

  int64_t stored() const { return uniform ? 1 : size; }
  /// 0 when every position reads the one stored element.
  int64_t step() const { return uniform ? 0 : 1; }
  template <typename T> T *data() { return static_cast<T *>(buffer->data()); }
  template <typename T> const T *data() const { return static_cast<const T *>(buffer->data()); }
  const char *bytes() const { return data<char>(); }

  bool isUndefinedAt(int64_t position) const {
    return undefined && static_cast<const uint8_t *>(undefined->data())[position * step()];
  }
  /// Which elements are undefined, as a tile; only where some are.
  TileRef undefinedTile() const;

  /// A tile with memory of its own, not filled yet. `size` counts lanes when the shape is empty.
  static TileRef make(const Type &element, llvm::ArrayRef<int64_t> shape, bool uniform, int64_t size);
  static TileRef make(const Type &element, llvm::ArrayRef<int64_t> shape, bool uniform = false);
  /// The same memory under another shape or element type.
  TileRef view(const Type &element, llvm::ArrayRef<int64_t> shape) const;
  /// The same elements, each stored.
  TileRef dense() const;
};

inline Tile *tileOf(Handle handle) { return static_cast<Tile *>(handle.opaque); }

/// The element at a position, whatever its width, as bits.
uint64_t bitsAt(const Tile &tile, int64_t position);
/// Of an integer, sign-extended.
int64_t integerAt(const Tile &tile, int64_t position);
/// Of a float or, unsigned, of an integer.
double realAt(const Tile &tile, int64_t position);

} // namespace despina::interpreter

#endif // DESPINA_INTERPRETER_TILE_H
