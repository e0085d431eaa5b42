//===- EmitMma.cpp - mma.sync ---------------------------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// A warp multiplies 16 rows of a with 8 columns of b. Lane l has, of the result, columns 2 (l mod 4) and the
// next of rows l / 4 and l / 4 + 8; of a, the same rows; of b, column l / 4. Which elements along K the lanes
// have does not matter as long as a and b agree: a sum has no order. The verifier of the operation checks
// that places of threads move operands and result alike; what is left are the registers.
//
//===----------------------------------------------------------------------===//
#include "EmitDot.h"
#include "MatrixUnits.h"

using namespace mlir;

namespace despina::nvptx {

namespace {

class MmaEmitter {
public:
  MmaEmitter(ThreadEmitter &e, ttng::MmaOp op)
      : e(e), op(op), mapA(ttg::layoutOf(op.getA())), mapB(ttg::layoutOf(op.getB())),
        mapC(ttg::layoutOf(op.getC())),
        types(op.getA().getType(), op.getB().getType(), op.getC().getType(), op.getInputPrecision()),
        depth(static_cast<unsigned>(op.getInstrShape()[2])) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(op.getType()).getShape();
    rank = static_cast<unsigned>(shape.size());
    // Where the tile has fewer rows or columns than the instruction, all are copies of these.
    rowStep = shape[rank - 2] > 8 ? 8 : 0;
    columnStep = shape[rank - 1] > 1 ? 1 : 0;
  }

  LogicalResult run() {
    result.resize(e.get(op.getC()).size());
    llvm::copy(e.get(op.getC()), result.begin());
    // One of each group of four that an instruction makes.
    for (int64_t batch : rank == 3 ? mapC.along(0) : SmallVector<int64_t>{0})
      for (int64_t row : mapC.along(rank - 2))
        for (int64_t column : mapC.along(rank - 1))
          if (!(row & 8) && !(column & 1) && failed(emitTile(batch, row, column)))
            return op.emitOpError("has tiles that do not have the layouts of mma.sync");
    Registers all; // with the copies in other registers
    for (unsigned index = 0; index < result.size(); ++index)
      all.push_back(result[mapC.first(index)]);
    e.set(op.getResult(), std::move(all));
    return success();
  }

private:
  std::optional<unsigned> find(const RegisterMap &map, int64_t batch, int64_t row, int64_t column) {
    return rank == 3 ? map.at({batch, row, column}) : map.at({row, column});
  }

  /// All products that are added to one 16 x 8 piece of the result.
  LogicalResult emitTile(int64_t batch, int64_t row, int64_t column) {
    SmallVector<unsigned, 4> places;
    for (int64_t down : {row, row + rowStep})
      for (int64_t across : {column, column + columnStep}) {
        std::optional<unsigned> index = find(mapC, batch, down, across);
        if (!index)
          return failure();
        places.push_back(*index);
      }
    Registers sums;
    for (unsigned index : places)
      sums.push_back(result[index]);
    unsigned bits = types.a.getIntOrFloatBitWidth();
    unsigned perLane = depth / 4; // elements along K of one row
    SmallVector<int64_t> ks = mapA.along(rank - 1);
    if (ks.size() % perLane != 0 || perLane * bits % 32 != 0)
      return failure();
    PartialSums partial(e, op.getMaxNumImpreciseAcc(), types, sums);
    for (size_t first = 0; first < ks.size(); first += perLane) {
      Registers a, b;
      if (failed(collect(batch, row, column, ArrayRef(ks).slice(first, perLane), a, b)))
        return failure();
      partial.set(emitInstruction(a, b, partial.get()), depth);
    }
    sums = partial.finish();
    for (auto [index, value] : llvm::zip(places, sums))
      result[index] = value;
    return success();
  }

  /// The factors of one instruction, in the order in which it names them: a word of row `row`, one of the row
  /// 8 below, and the same for the second half of K.
  LogicalResult collect(int64_t batch, int64_t row, int64_t column, ArrayRef<int64_t> ks, Registers &a,
                        Registers &b) {
    ArrayRef<Value> fromA = e.get(op.getA()), fromB = e.get(op.getB());
    unsigned bits = types.a.getIntOrFloatBitWidth();
    unsigned perWord = bits >= 32 ? 1 : 32 / bits;
    for (size_t word = 0; word < ks.size(); word += perWord) {
      for (int64_t down : {row, row + rowStep})
        for (int64_t k : ks.slice(word, perWord)) {
          std::optional<unsigned> index = find(mapA, batch, down, k);
          if (!index)
            return failure();
          a.push_back(fromA[*index]);
        }
      for (int64_t k : ks.slice(word, perWord)) {
        std::optional<unsigned> index = find(mapB, batch, k, column);
        if (!index)
          return failure();
        b.push_back(fromB[*index]);
      }
    }
    return success();
  }

  Registers emitInstruction(ArrayRef<Value> a, ArrayRef<Value> b, ArrayRef<Value> c) {
    if (!types.a.isF64())
      return emitPTX("m16n8k" + std::to_string(depth), packFactors(e, a), packFactors(e, b), c);
    // Two of m8n8k4.
    Registers sums;
    for (unsigned half : {0u, 1u})
      llvm::append_range(sums, emitPTX("m8n8k4", a.slice(half, 1), b, c.slice(2 * half, 2)));
    return sums;
  }

  Registers emitPTX(const std::string &shape, ArrayRef<Value> a, ArrayRef<Value> b, ArrayRef<Value> c) {
    Registers sums = packAccumulators(e, c);
    PTXText ptx(e);
    std::string sumName = accumulatorName(types.c).str();
    std::string text = "mma.sync.aligned." + shape + ".row.col." + sumName + "." + factorName(types.a).str() +
                       "." + factorName(types.b).str() + "." + sumName + " ";
    text += ptx.out(sums.size(), sums.front().getType()) + ", ";
    text += ptx.in(a) + ", " + ptx.in(b) + ", " + ptx.in(sums) + ";";
    sums = ptx.emit(text, /*touchesMemory=*/false);
    return types.c.isF16() ? unpackHalves(e, sums) : sums;
  }

  ThreadEmitter &e;
  ttng::MmaOp op;
  RegisterMap mapA, mapB, mapC;
  MatrixTypes types;
  unsigned rank, depth;
  int64_t rowStep, columnStep;
  Registers result;
};

} // namespace

LogicalResult emitMma(ThreadEmitter &e, ttng::MmaOp op) { return MmaEmitter(e, op).run(); }

} // namespace despina::nvptx
