//===- Combine.cpp - Reductions and scans -----------------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// What regions compute is in CombineRegion.cpp.
//
//===----------------------------------------------------------------------===//
#include "TileEmitter.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace despina::cpu {

std::optional<TypedAttr> TileEmitter::neutral(tt::ReduceOp op) {
  Block &block = op.getCombineOp().front();
  if (op.getNumOperands() != 1 || std::distance(block.begin(), block.end()) != 2)
    return std::nullopt;
  Operation &inner = block.front();
  if (block.getTerminator()->getOperand(0) != inner.getResult(0) || inner.getNumOperands() != 2)
    return std::nullopt;
  Value x = block.getArgument(0), y = block.getArgument(1);
  bool both = (inner.getOperand(0) == x && inner.getOperand(1) == y) ||
              (inner.getOperand(0) == y && inner.getOperand(1) == x);
  Type type = inner.getResult(0).getType();
  if (!both || inner.getOperand(0).getType() != type)
    return std::nullopt;
  if (auto floatType = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = floatType.getFloatSemantics();
    auto attr = [&](APFloat value) -> TypedAttr { return b.getFloatAttr(type, value); };
    if (isa<arith::AddFOp>(inner))
      return attr(APFloat::getZero(semantics, /*Negative=*/true));
    if (isa<arith::MulFOp>(inner))
      return attr(APFloat::getOne(semantics));
    // They ignore a NaN unless all are NaN.
    if (isa<arith::MaxNumFOp, arith::MinNumFOp>(inner))
      return attr(APFloat::getQNaN(semantics));
    if (isa<arith::MaximumFOp, arith::MinimumFOp>(inner))
      return attr(APFloat::getInf(semantics, isa<arith::MaximumFOp>(inner)));
    return std::nullopt;
  }
  unsigned bits = type.isSignlessInteger() ? type.getIntOrFloatBitWidth() : 0;
  if (!bits)
    return std::nullopt;
  auto attr = [&](APInt value) -> TypedAttr { return b.getIntegerAttr(type, value); };
  if (isa<arith::AddIOp, arith::OrIOp, arith::XOrIOp, arith::MaxUIOp>(inner))
    return attr(APInt::getZero(bits));
  if (isa<arith::AndIOp, arith::MinUIOp>(inner))
    return attr(APInt::getAllOnes(bits));
  if (isa<arith::MulIOp>(inner))
    return attr(APInt(bits, 1));
  if (isa<arith::MaxSIOp>(inner))
    return attr(APInt::getSignedMinValue(bits));
  if (isa<arith::MinSIOp>(inner))
    return attr(APInt::getSignedMaxValue(bits));
  return std::nullopt;
}

void TileEmitter::combineLanes(Region &region, MutableArrayRef<Value> accumulated, int64_t count) {
  for (int64_t half = count / 2; half >= 1; half /= 2) {
    SmallVector<Value> low, high;
    for (Value v : accumulated) {
      if (half == 1) {
        low.push_back(vector::ExtractOp::create(b, loc, v, int64_t(0)));
        high.push_back(vector::ExtractOp::create(b, loc, v, int64_t(1)));
        if (isa<IntegerType>(low.back().getType()) && isPointerSlot(region, low.size() - 1))
          for (Value *x : {&low.back(), &high.back()})
            *x = LLVM::IntToPtrOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext()), *x);
        continue;
      }
      auto first = llvm::to_vector(llvm::seq<int64_t>(0, half));
      auto second = llvm::to_vector(llvm::seq<int64_t>(half, 2 * half));
      low.push_back(vector::ShuffleOp::create(b, loc, v, v, first));
      high.push_back(vector::ShuffleOp::create(b, loc, v, v, second));
    }
    combine(region, low, high, half);
    llvm::copy(low, accumulated.begin());
  }
}

bool TileEmitter::isPointerSlot(Region &region, unsigned i) {
  return isa<tt::PointerType>(region.front().getArgument(i).getType());
}

//===----------------------------------------------------------------------===//
// Scans
//===----------------------------------------------------------------------===//

void TileEmitter::emitScan(tt::ScanOp op) {
  for (Value source : op.getSrcs())
    materialise(source);
  flush();
  loc = op.getLoc();
  SmallVector<Buffer *> targets;
  for (Value result : op.getResults()) {
    auto type = cast<RankedTensorType>(result.getType());
    targets.push_back(newBuffer(storageType(type.getElementType()), type.getNumElements()));
  }
  startLevels(current);
  planLoops(cast<RankedTensorType>(op.getSrcs()[0].getType()).getShape(), op.getAxis());
  bool alongLanes = nest.vectorDim == nest.axis;
  lanes = 1;
  if (nest.vectorDim && !alongLanes && !hasLoops(op.getCombineOp()))
    lanes = std::min<int64_t>(options.features.vectorBytes / 4, nest.shape[*nest.vectorDim]);
  emitScanLoops(op, 0, targets);
  b.setInsertionPointToEnd(current);
  for (auto [result, buffer] : llvm::zip(op.getResults(), targets)) {
    bind(result, buffer);
    release(buffer);
  }
  emitted.insert(op);
  freeDeadBuffers();
}

void TileEmitter::emitScanLoops(tt::ScanOp op, unsigned depth, ArrayRef<Buffer *> targets) {
  unsigned dim = nest.order[depth];
  if (depth + 1 == nest.order.size())
    return emitScanLine(op, targets);
  int64_t step = nest.vectorDim == dim ? lanes : 1;
  if (nest.shape[dim] == step) {
    setIndex(dim, {});
    return emitScanLoops(op, depth + 1, targets);
  }
  scf::ForOp loop = openLoop(0, nest.shape[dim], step, {});
  setIndex(dim, loop.getInductionVar());
  emitScanLoops(op, depth + 1, targets);
  closeLoop({});
}

void TileEmitter::emitScanLine(tt::ScanOp op, ArrayRef<Buffer *> targets) {
  unsigned axis = *nest.axis;
  int64_t extent = nest.shape[axis];
  auto read = [&] {
    SmallVector<Value> values;
    for (Value source : op.getSrcs())
      values.push_back(toVector(evaluate(source, nest.index)));
    loc = op.getLoc();
    return values;
  };
  auto write = [&](ArrayRef<Value> values) {
    for (auto [result, value, target] : llvm::zip(op.getResults(), values, targets))
      storeBuffer(getElementTypeOrSelf(result.getType()), target, nest.index, nest.shape,
                  vectorValue(value, level()));
  };
  nest.index[axis] = LaneIndex();
  nest.index[axis].offset = op.getReverse() ? extent - 1 : 0;
  SmallVector<Value> first = read();
  write(first);
  if (extent == 1)
    return;
  scf::ForOp loop = openLoop(1, extent, 1, first);
  Value position = loop.getInductionVar();
  if (op.getReverse()) {
    at(level());
    position = arith::SubIOp::create(b, loc, i64(extent - 1), position);
  }
  nest.index[axis] = LaneIndex{position, 0, 0, {}, level()};
  SmallVector<Value> accumulated(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
  SmallVector<Value> values = read();
  at(level());
  combine(op.getCombineOp(), accumulated, values, lanes);
  write(accumulated);
  closeLoop(accumulated);
}

} // namespace despina::cpu
