//===- EagerReduce.cpp - Reductions and scans -----------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// A combine function is called on many pairs at once: its scalars stand for one element of each pair (lanes).
// What it did is recorded and done again on the pairs that remain, so that it runs once for a reduction. One
// that asks for the value of a scalar, or does more than arithmetic, is called for each pair instead.
//
//===----------------------------------------------------------------------===//
#include "despina/Interpreter/EagerBuilder.h"

#include "llvm/ADT/STLExtras.h"

#include <cstring>

namespace despina::interpreter {

/// A tile as `outer` x `extent` x `inner` elements around the axis.
struct EagerBuilder::Nest {
  int64_t outer = 1, extent = 1, inner = 1;

  Nest(llvm::ArrayRef<int64_t> shape, unsigned axis) {
    for (unsigned d = 0; d < shape.size(); ++d)
      (d < axis ? outer : d == axis ? extent : inner) *= shape[d];
  }
  int64_t lines() const { return outer * inner; }
};

namespace {

using Tiles = std::vector<TileRef>;

TileRef lanes(const Type &element, int64_t count) { return Tile::make(element, {}, false, count); }

/// Copies `count` slices of `from`, each all of the inner dimensions at one position of the axis: for every
/// outer position those at first, first + step, ...
TileRef takeSlices(const Tile &from, int64_t outer, int64_t extent, int64_t inner, int64_t first,
                   int64_t step, int64_t count) {
  TileRef to = lanes(from.element, outer * count * inner);
  size_t width = bytesOf(from.storage), bytes = size_t(inner) * width;
  const char *source = from.bytes();
  char *target = to->data<char>();
  auto copy = [&]<typename T>(T) {
    T *out = reinterpret_cast<T *>(target);
    for (int64_t o = 0; o < outer; ++o) {
      const T *in = reinterpret_cast<const T *>(source) + o * extent + first;
      for (int64_t k = 0; k < count; ++k)
        *out++ = in[k * step];
    }
  };
  if (inner == 1) {
    switch (width) {
    case 1: copy(uint8_t()); break;
    case 2: copy(uint16_t()); break;
    case 4: copy(uint32_t()); break;
    default: copy(uint64_t());
    }
    return to;
  }
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t k = 0; k < count; ++k, target += bytes)
      std::memcpy(target, source + size_t(o * extent + first + k * step) * bytes, bytes);
  return to;
}

/// The same elements with one stored for each of `count` lanes, in memory of its own.
TileRef spread(const Tile &tile, int64_t count) {
  if (tile.size == count)
    return tile.dense();
  TileRef one = tile.view(tile.element, {});
  one->size = count;
  one->uniform = true;
  return one->dense();
}

Tiles references(const Handles &handles) {
  Tiles tiles;
  for (Handle handle : handles)
    tiles.emplace_back(tileOf(handle));
  return tiles;
}

} // namespace

//===----------------------------------------------------------------------===//
// Combine functions on lanes
//===----------------------------------------------------------------------===//

std::optional<Tiles> EagerBuilder::combineLanes(Combine combine, llvm::ArrayRef<TileRef> lhs,
                                                llvm::ArrayRef<TileRef> rhs) {
  auto recording = std::make_unique<Recording>();
  Handles operands;
  for (llvm::ArrayRef<TileRef> side : {lhs, rhs})
    for (const TileRef &tile : side)
      operands.push_back(keep(tile));
  Recording *outer = std::exchange(recording_, recording.get());
  ++laneDepth_;
  std::optional<Handles> results = combine(operands);
  --laneDepth_;
  recording_ = outer;
  if (!results || diverged_)
    return std::nullopt;
  recording->operands.assign(operands.begin(), operands.end());
  recording->results = *results;
  lastRecording_ = std::move(recording);
  return references(*results);
}

/// Does again what the recorded combine function did.
std::optional<Tiles> EagerBuilder::replay(llvm::ArrayRef<TileRef> lhs, llvm::ArrayRef<TileRef> rhs) {
  const Recording &recording = *lastRecording_;
  // A combine function has a handful of steps: a search from the latest on is faster than a table.
  llvm::SmallVector<std::pair<Tile *, TileRef>, 16> now;
  size_t next = 0;
  for (llvm::ArrayRef<TileRef> side : {lhs, rhs})
    for (const TileRef &tile : side)
      now.emplace_back(tileOf(recording.operands[next++]), tile);
  // Constants were made once and stay what they are.
  auto current = [&](Tile *tile) {
    for (const auto &[then, replacement] : llvm::reverse(now))
      if (then == tile)
        return replacement;
    return TileRef(tile);
  };
  for (const Step &step : recording.steps) {
    llvm::SmallVector<TileRef, 3> operands;
    llvm::SmallVector<Tile *, 3> pointers;
    for (const TileRef &operand : step.operands) {
      operands.push_back(current(operand.get()));
      pointers.push_back(operands.back().get());
    }
    now.emplace_back(step.result.get(), step.work(pointers));
  }
  Tiles results;
  for (Handle result : recording.results)
    results.push_back(current(tileOf(result)));
  return results;
}

/// One combination of lanes, by the recording when there is a complete one.
std::optional<Tiles> EagerBuilder::combinePairs(Combine combine, const Tiles &lhs, const Tiles &rhs,
                                                bool isFirst) {
  std::optional<Tiles> results = !isFirst && lastRecording_ && lastRecording_->isComplete
                                     ? replay(lhs, rhs)
                                     : combineLanes(combine, lhs, rhs);
  if (results)
    for (auto [result, operand] : llvm::zip_equal(*results, lhs))
      if (result->size != operand->size || result->uniform)
        result = spread(*result, operand->size);
  return results;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// Combines neighbours, so that the order of the elements is kept.
std::optional<Tiles> EagerBuilder::reduceTree(Tiles inputs, const Nest &nest, Combine combine) {
  bool isFirst = true;
  for (int64_t extent = nest.extent; extent > 1; extent /= 2) {
    Tiles lhs, rhs;
    for (const TileRef &input : inputs) {
      lhs.push_back(takeSlices(*input, nest.outer, extent, nest.inner, 0, 2, extent / 2));
      rhs.push_back(takeSlices(*input, nest.outer, extent, nest.inner, 1, 2, extent / 2));
    }
    std::optional<Tiles> results = combinePairs(combine, lhs, rhs, isFirst);
    if (!results)
      return std::nullopt;
    inputs = std::move(*results);
    isFirst = false;
  }
  return inputs;
}

/// Pair by pair along the axis. With `keepAll` every step is a result (a scan), else the last.
std::optional<Tiles> EagerBuilder::foldElements(llvm::ArrayRef<TileRef> inputs, const Nest &nest,
                                                bool keepAll, Combine combine) {
  Tiles results;
  for (const TileRef &input : inputs)
    results.push_back(lanes(input->element, keepAll ? input->size : nest.lines()));
  auto element = [&](const Tile &tile, int64_t position) {
    TileRef one = Tile::make(tile.element, {});
    unsigned width = bytesOf(tile.storage);
    std::memcpy(one->data<char>(), tile.bytes() + position * tile.step() * width, width);
    return one;
  };
  auto put = [&](Tile &to, int64_t position, const Tile &from) {
    unsigned width = bytesOf(to.storage);
    std::memcpy(to.data<char>() + position * width, from.bytes(), width);
  };
  for (int64_t line = 0; line < nest.lines(); ++line) {
    int64_t outer = line / nest.inner, inner = line % nest.inner;
    Tiles total;
    for (int64_t k = 0; k < nest.extent; ++k) {
      int64_t position = (outer * nest.extent + k) * nest.inner + inner;
      size_t released = mark();
      Tiles here;
      for (const TileRef &input : inputs)
        here.push_back(element(*input, position));
      if (k > 0) {
        Handles operands;
        for (const Tiles *side : {&total, &here})
          for (const TileRef &tile : *side)
            operands.push_back(keep(tile));
        std::optional<Handles> combined = combine(operands);
        if (!combined || failure_)
          return std::nullopt;
        here = references(*combined);
      }
      total = std::move(here);
      if (keepAll)
        for (auto [result, tile] : llvm::zip_equal(results, total))
          put(*result, position, *tile);
      release(released);
    }
    if (!keepAll)
      for (auto [result, tile] : llvm::zip_equal(results, total))
        put(*result, line, *tile);
  }
  return results;
}

std::optional<Handles> EagerBuilder::reduce(llvm::ArrayRef<Handle> handles, unsigned axis,
                                            llvm::ArrayRef<Type> resultTypes, Combine combine) {
  if (isDead() || refusesLanes())
    return placeholders(handles.size());
  Nest nest(tileOf(handles.front())->shape, axis);
  Tiles inputs;
  for (Handle handle : handles)
    inputs.push_back(tileOf(handle)->dense());
  std::optional<Tiles> results = reduceTree(inputs, nest, combine);
  if (std::exchange(diverged_, false))
    results = foldElements(inputs, nest, /*keepAll=*/false, combine);
  lastRecording_.reset();
  if (!results)
    return std::nullopt;
  Handles reduced;
  for (auto [tile, type] : llvm::zip_equal(*results, resultTypes))
    reduced.push_back(keep(tile->view(tile->element, type.shape())));
  auto either = [&](llvm::ArrayRef<Handle> x) {
    return std::optional(Handles{binary(BinaryKind::OrI, x[0], x[1])});
  };
  carryUndefinedLines(reduced, handles, [&](Handle marks) {
    return reduce({marks}, axis, {resultTypes.front().withScalar(ScalarKind::Int1)}, either);
  });
  return reduced;
}

//===----------------------------------------------------------------------===//
// Scans
//===----------------------------------------------------------------------===//

/// Writes lanes of the last `count` positions of the axis into a copy of the tile.
static TileRef replaceTail(const Tile &tile, const Tile &tail, int64_t outer, int64_t extent, int64_t inner,
                           int64_t count) {
  TileRef result = tile.dense();
  size_t width = bytesOf(tile.storage) * size_t(inner);
  for (int64_t o = 0; o < outer; ++o)
    std::memcpy(result->data<char>() + size_t(o * extent + extent - count) * width,
                tail.bytes() + size_t(o * count) * width, size_t(count) * width);
  return result;
}

/// After the step of distance d each element has combined the 2d elements that end in it.
std::optional<Tiles> EagerBuilder::scanTree(Tiles inputs, const Nest &nest, Combine combine) {
  for (int64_t distance = 1; distance < nest.extent; distance *= 2) {
    int64_t count = nest.extent - distance;
    Tiles lhs, rhs;
    for (const TileRef &input : inputs) {
      lhs.push_back(takeSlices(*input, nest.outer, nest.extent, nest.inner, 0, 1, count));
      rhs.push_back(takeSlices(*input, nest.outer, nest.extent, nest.inner, distance, 1, count));
    }
    std::optional<Tiles> results = combinePairs(combine, lhs, rhs, distance == 1);
    if (!results)
      return std::nullopt;
    for (auto [input, tail] : llvm::zip_equal(inputs, *results))
      input = replaceTail(*input, *tail, nest.outer, nest.extent, nest.inner, count);
  }
  return inputs;
}

std::optional<Handles> EagerBuilder::scan(llvm::ArrayRef<Handle> handles, unsigned axis, bool reverse,
                                          Combine combine) {
  if (isDead() || refusesLanes())
    return placeholders(handles.size());
  const Extents shape = tileOf(handles.front())->shape;
  Nest nest(shape, axis);
  auto oriented = [&](const Tile &tile) {
    return reverse ? takeSlices(tile, nest.outer, nest.extent, nest.inner, nest.extent - 1, -1, nest.extent)
                   : tile.dense();
  };
  Tiles inputs;
  for (Handle handle : handles)
    inputs.push_back(oriented(*tileOf(handle)->dense()));
  std::optional<Tiles> results = scanTree(inputs, nest, combine);
  if (std::exchange(diverged_, false))
    results = foldElements(inputs, nest, /*keepAll=*/true, combine);
  lastRecording_.reset();
  if (!results)
    return std::nullopt;
  Handles scanned;
  for (const TileRef &tile : *results)
    scanned.push_back(keep(oriented(*tile)->view(tile->element, shape)));
  auto either = [&](llvm::ArrayRef<Handle> x) {
    return std::optional(Handles{binary(BinaryKind::OrI, x[0], x[1])});
  };
  carryUndefinedLines(scanned, handles, [&](Handle marks) { return scan({marks}, axis, reverse, either); });
  return scanned;
}

} // namespace despina::interpreter
