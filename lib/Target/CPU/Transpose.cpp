//===- Transpose.cpp - Tiles read against the grain -------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// A buffer filled from memory that is contiguous along another dimension than the buffer's last (the keys of
// attention) would be gathered element by element. Instead square blocks are read along the memory's
// dimension and transposed in registers.
//
//===----------------------------------------------------------------------===//
#include "TileEmitter.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace despina::cpu {

std::optional<unsigned> TileEmitter::contiguousDim(Value v, unsigned depth) {
  auto type = dyn_cast<RankedTensorType>(v.getType());
  if (!type || depth > 32)
    return std::nullopt;
  if (buffers.contains(v)) {
    for (int d = type.getRank() - 1; d >= 0; --d)
      if (type.getDimSize(d) > 1)
        return d;
    return std::nullopt;
  }
  Operation *op = v.getDefiningOp();
  if (auto load = dyn_cast_or_null<tt::LoadOp>(op)) {
    for (int64_t d = 0; d < type.getRank(); ++d)
      if (type.getDimSize(d) > 1 && stepAlong(load.getPtr(), d) == std::optional<int64_t>(1))
        return d;
    return std::nullopt;
  }
  if (auto trans = dyn_cast_or_null<tt::TransOp>(op)) {
    auto inner = contiguousDim(trans.getSrc(), depth + 1);
    for (auto [i, d] : llvm::enumerate(trans.getOrder()))
      if (inner == std::optional<unsigned>(d))
        return i;
    return std::nullopt;
  }
  if (!op || !isElementwise(op))
    return std::nullopt;
  // Every operand that reads memory has to agree.
  std::optional<unsigned> result;
  for (Value operand : op->getOperands()) {
    std::optional<unsigned> dim = contiguousDim(operand, depth + 1);
    if (dim && result && *dim != *result)
      return std::nullopt;
    if (dim)
      result = dim;
  }
  return result;
}

void TileEmitter::transposeBlock(MutableArrayRef<Value> rows) {
  // Swaps the bits of row and lane number one pair after the other.
  int64_t count = rows.size();
  for (int64_t bit = count / 2; bit >= 1; bit /= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t l = 0; l < count; ++l) {
      low.push_back(l & bit ? count + l - bit : l);
      high.push_back(l & bit ? count + l : l + bit);
    }
    for (int64_t i = 0; i < count; ++i) {
      if (i & bit)
        continue;
      Value x = rows[i], y = rows[i + bit];
      rows[i] = vector::ShuffleOp::create(b, loc, x, y, low);
      rows[i + bit] = vector::ShuffleOp::create(b, loc, x, y, high);
    }
  }
}

bool TileEmitter::emitTransposed(const Root &root) {
  if (root.kind != Root::Materialise || !assumptions || !nest.vectorDim)
    return false;
  int64_t side = options.features.vectorBytes / 4;
  unsigned across = *nest.vectorDim;
  std::optional<unsigned> along = contiguousDim(root.value);
  if (!along || *along == across || nest.shape[*along] < side || nest.shape[across] < side)
    return false;
  lanes = side;
  unsigned opened = 0;
  for (unsigned dim : nest.order) {
    int64_t step = dim == across || dim == *along ? side : 1;
    nest.index[dim] = LaneIndex();
    if (nest.shape[dim] == step)
      continue;
    scf::ForOp loop = openLoop(0, nest.shape[dim], step, {});
    nest.index[dim].dynamic = loop.getInductionVar();
    nest.index[dim].level = level();
    ++opened;
  }
  TileIndex index(nest.index);
  SmallVector<Value> rows;
  index[*along].step = 1;
  for (int64_t i = 0; i < side; ++i) {
    index[across].offset = i;
    rows.push_back(toVector(evaluate(root.value, index)));
  }
  loc = root.value.getLoc();
  at(level());
  transposeBlock(rows);
  index = nest.index;
  index[across].step = 1;
  Type element = cast<RankedTensorType>(root.value.getType()).getElementType();
  for (int64_t i = 0; i < side; ++i) {
    index[*along].offset = i;
    storeBuffer(element, root.target, index, nest.shape, vectorValue(rows[i], level()));
  }
  while (opened--)
    closeLoop({});
  return true;
}

} // namespace despina::cpu
