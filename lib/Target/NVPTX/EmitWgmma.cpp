//===- EmitWgmma.cpp - wgmma ----------------------------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Four warps multiply 64 rows of a with up to 256 columns of b. Operands in shared memory are named by
// descriptors: what never changes is a constant, the address of the buffer is added once, and each piece of
// the operand is a constant away from that. All instructions along K that make one piece of the result are
// one piece of inline PTX, so that its accumulators are named once.
//
// The registers of accumulators, and of a, belong to the unit from the first instruction until a wait; the
// wait has the accumulators as operands and results, so that nothing is done to them before it.
//
//===----------------------------------------------------------------------===//
#include "EmitDot.h"
#include "MatrixUnits.h"

#include "despina/Analysis/LayoutWgmma.h"

using namespace mlir;

namespace despina::nvptx {

namespace {

/// An operand in shared memory.
class SharedFactor {
public:
  /// None if it cannot be described. `kAxis` is the axis that is summed over; the other one moves with the
  /// places of warps in the result along `resultAxis`.
  static std::optional<SharedFactor> get(ThreadEmitter &e, TypedValue<ttg::MemDescType> buffer,
                                         unsigned kAxis, const LinearLayout &result, unsigned resultAxis) {
    const LinearLayout &memory = ttg::layoutOf(buffer);
    unsigned bits = ttg::memoryBits(buffer.getType().getElementType());
    std::optional<WgmmaSharedOperand> match = matchWgmmaOperand(memory, bits, kAxis);
    std::optional<LinearLayout> offsets = memory.pseudoInvert();
    if (!match || !offsets)
      return std::nullopt;
    SharedFactor factor{*match, *offsets, kAxis, bits, {}};
    ThreadTerms terms;
    // The unit itself knows which of its four warps has which rows.
    for (unsigned bit = 0; bit < result.inBits(LayoutDim::Warp); ++bit) {
      int64_t moved = static_cast<int64_t>(result.basis(LayoutDim::Warp, bit, tensorDim(resultAxis)));
      terms.warp.push_back(bit < 2 ? 0 : factor.offsetOf(moved, 0));
    }
    Value place = e.bitXor(e.get(buffer)[1], e.place(terms));
    Value address = e.elementPointer(e.get(buffer)[0], e.b.getIntegerType(bits), place);
    address = e.bitAnd(e.bitcast(address, e.b.getI32Type()), e.i32(0x3FFFF));
    address = e.make<LLVM::LShrOp>(address, e.i32(4));
    factor.base = e.add(e.make<LLVM::ZExtOp>(e.b.getI64Type(), address),
                        e.i64(static_cast<int64_t>(wgmmaDescriptor(*match, 0))));
    return factor;
  }

  /// What is added to the descriptor for the piece from `across`, `k` on.
  uint64_t advance(int64_t across, int64_t k) const { return offsetOf(across, k) * bits / 8 >> 4; }
  Value descriptor() const { return base; }
  bool isTransposed() const { return match.isMNContiguous; }

private:
  SharedFactor(const WgmmaSharedOperand &match, const LinearLayout &offsets, unsigned kAxis, unsigned bits,
               Value base)
      : match(match), offsets(offsets), kAxis(kAxis), bits(bits), base(base) {}

  uint64_t offsetOf(int64_t across, int64_t k) const {
    return offsets.apply(
        {{tensorDim(kAxis), static_cast<uint64_t>(k)}, {tensorDim(1 - kAxis), static_cast<uint64_t>(across)}},
        LayoutDim::Offset);
  }

  WgmmaSharedOperand match;
  LinearLayout offsets; ///< from coordinates to (offset, block)
  unsigned kAxis, bits;
  Value base;
};

class WgmmaEmitter {
public:
  WgmmaEmitter(ThreadEmitter &e, ttng::WarpGroupDotOp op)
      : e(e), op(op),
        types(elementOf(op.getA()), elementOf(op.getB()), op.getC().getType(), op.getInputPrecision()),
        mapC(ttg::layoutOf(op.getC())), instructionN(op.getInstrShape()[1]), depth(op.getInstrShape()[2]),
        k(op.getB().getType().getShape()[0]), isF16(types.c.isF16()) {}

  LogicalResult run() {
    const LinearLayout &result = ttg::layoutOf(op.getC());
    b = SharedFactor::get(e, op.getB(), 0, result, 1);
    if (auto bufferA = dyn_cast<TypedValue<ttg::MemDescType>>(op.getA()))
      a = SharedFactor::get(e, bufferA, 1, result, 0);
    else
      mapA.emplace(ttg::layoutOf(op.getA()));
    if (!b || (!a && !mapA) || failed(findPieces()))
      return op.emitOpError("has operands that wgmma cannot read");
    int64_t limit = limitOfPartialSums();
    if (limit == 0) {
      if (failed(multiply(0, k, useC(), pieces, op.getIsAsync())))
        return failure();
      finish();
      return success();
    }
    return multiplyInParts(limit);
  }

private:
  /// 64 x N of the result: which registers it is, and what they hold.
  struct Piece {
    int64_t row, column;
    SmallVector<unsigned> places;
    Registers words;
  };

  static Type elementOf(Value value) {
    if (auto buffer = dyn_cast<ttg::MemDescType>(value.getType()))
      return buffer.getElementType();
    return getElementTypeOrSelf(value);
  }

  int64_t limitOfPartialSums() {
    bool isFloat8 = isa<FloatType>(types.a) && types.a.getIntOrFloatBitWidth() == 8 && types.c.isF32();
    int64_t limit = isFloat8 ? static_cast<int64_t>(op.getMaxNumImpreciseAcc()) : 0;
    return limit >= k ? 0 : llvm::divideCeil(limit, depth) * depth;
  }

  LogicalResult findPieces() {
    ArrayRef<Value> held = e.get(op.getC());
    for (int64_t row : mapC.along(0))
      for (int64_t column : mapC.along(1)) {
        if (row & 8 || column % instructionN)
          continue;
        Piece piece{row, column, {}, {}};
        Registers values;
        for (int64_t across = 0; across < instructionN; across += 8)
          for (int64_t corner = 0; corner < 4; ++corner) {
            auto index = mapC.at({row + (corner & 2) * 4, column + across + (corner & 1)});
            if (!index)
              return failure();
            piece.places.push_back(*index);
            values.push_back(held[*index]);
          }
        piece.words = packAccumulators(e, values);
        pieces.push_back(std::move(piece));
      }
    return success();
  }

  /// i32 that tells whether accumulators count; null: they do.
  Value useC() {
    return op.getUseC() ? e.make<LLVM::ZExtOp>(e.b.getI32Type(), e.scalar(op.getUseC())) : Value();
  }

  /// Adds the products over [from, to) of K to the pieces.
  LogicalResult multiply(int64_t from, int64_t to, Value useC, MutableArrayRef<Piece> sums, bool isAsync) {
    PTXText(e).emit("wgmma.fence.sync.aligned;", true);
    for (Piece &piece : sums)
      if (failed(multiplyPiece(piece, from, to, useC)))
        return op.emitOpError("has a tile in a layout that wgmma cannot read");
    PTXText(e).emit("wgmma.commit_group.sync.aligned;", true);
    if (isAsync)
      return success();
    Registers words;
    for (Piece &piece : sums)
      llvm::append_range(words, piece.words);
    PTXText wait(e);
    (void)wait.inOut(words);
    words = wait.emit("wgmma.wait_group.sync.aligned 0;", true);
    size_t next = 0;
    for (Piece &piece : sums)
      for (Value &word : piece.words)
        word = words[next++];
    return success();
  }

  LogicalResult multiplyPiece(Piece &piece, int64_t from, int64_t to, Value useC) {
    PTXText ptx(e);
    std::string sums = ptx.inOut(piece.words);
    std::string text = "{\n\t.reg .pred first, later;\n\t.reg .b64 a, b;\n\t";
    text += "setp.ne.b32 first, " + (useC ? ptx.in(useC) : std::string("1")) + ", 0;\n\t";
    text += "setp.ne.b32 later, 1, 0;\n\t";
    std::string baseA = a ? ptx.in(a->descriptor()) : std::string(), baseB = ptx.in(b->descriptor());
    for (int64_t step = from; step < to; step += depth) {
      std::string factorA = "a";
      if (a) {
        text += "add.s64 a, " + baseA + ", " + std::to_string(a->advance(piece.row, step)) + ";\n\t";
      } else {
        std::optional<Registers> words = wordsOfA(piece.row, step);
        if (!words)
          return failure();
        factorA = ptx.in(*words);
      }
      text += "add.s64 b, " + baseB + ", " + std::to_string(b->advance(piece.column, step)) + ";\n\t";
      text += instruction() + " " + sums + ", " + factorA + ", b, " + (step == from ? "first" : "later") +
              scales() + ";\n\t";
    }
    piece.words = ptx.emit(text + "}", true);
    return success();
  }

  std::string instruction() const {
    return "wgmma.mma_async.sync.aligned.m64n" + std::to_string(instructionN) + "k" + std::to_string(depth) +
           "." + accumulatorName(types.c).str() + "." + factorName(types.a).str() + "." +
           factorName(types.b).str();
  }

  /// Signs of the factors, and whether they are transposed, for the types that have that.
  std::string scales() const {
    if (types.c.isInteger())
      return "";
    std::string text = ", 1, 1";
    if (types.a.getIntOrFloatBitWidth() == 16) {
      if (a)
        text += a->isTransposed() ? ", 1" : ", 0";
      text += b->isTransposed() ? ", 1" : ", 0";
    }
    return text;
  }

  /// The four words of a in registers for one instruction.
  std::optional<Registers> wordsOfA(int64_t row, int64_t step) {
    int64_t perWord = 32 / types.a.getIntOrFloatBitWidth();
    Registers values;
    for (int64_t half : {int64_t(0), 4 * perWord})
      for (int64_t down : {0, 8})
        for (int64_t i = 0; i < perWord; ++i) {
          std::optional<unsigned> index = mapA->at({row + down, step + half + i});
          if (!index)
            return std::nullopt;
          values.push_back(e.get(op.getA())[*index]);
        }
    return packFactors(e, values);
  }

  /// fp8: the unit adds with fewer bits than f32 has. Every `limit` elements of K, what it has is added to
  /// the real sums by the threads.
  LogicalResult multiplyInParts(int64_t limit) {
    SmallVector<Piece> sums = pieces;
    Value isUsed = op.getUseC() ? e.scalar(op.getUseC()) : Value();
    for (int64_t from = 0; from < k; from += limit) {
      if (failed(multiply(from, std::min(k, from + limit), e.i32(0), pieces, /*isAsync=*/false)))
        return failure();
      for (auto [sum, part] : llvm::zip(sums, pieces))
        for (auto [total, word] : llvm::zip(sum.words, part.words)) {
          if (from == 0 && isUsed)
            total = e.select(isUsed, total, e.zero(total.getType()));
          total = e.make<LLVM::FAddOp>(total, word);
        }
    }
    pieces = std::move(sums);
    finish();
    return success();
  }

  void finish() {
    Registers result(e.get(op.getC()).size());
    for (Piece &piece : pieces) {
      Registers values = isF16 ? unpackHalves(e, piece.words) : piece.words;
      for (auto [index, value] : llvm::zip(piece.places, values))
        result[index] = value;
    }
    for (unsigned index = 0; index < result.size(); ++index)
      result[index] = result[mapC.first(index)];
    e.set(op.getResult(), std::move(result));
  }

  ThreadEmitter &e;
  ttng::WarpGroupDotOp op;
  MatrixTypes types;
  RegisterMap mapC;
  std::optional<RegisterMap> mapA;
  std::optional<SharedFactor> a, b;
  int64_t instructionN, depth, k;
  bool isF16;
  SmallVector<Piece> pieces;
};

} // namespace

LogicalResult emitWarpGroupDot(ThreadEmitter &e, ttng::WarpGroupDotOp op) {
  return WgmmaEmitter(e, op).run();
}

LogicalResult emitWarpGroupDotWait(ThreadEmitter &e, ttng::WarpGroupDotWaitOp op) {
  Registers words;
  for (Value input : op.getInputs())
    if (isa<RankedTensorType>(input.getType()))
      llvm::append_range(words, packAccumulators(e, e.get(input)));
  PTXText wait(e);
  (void)wait.inOut(words);
  words = wait.emit("wgmma.wait_group.sync.aligned " + std::to_string(op.getPendings()) + ";", true);
  ArrayRef<Value> left = words;
  for (auto [input, result] : llvm::zip(op.getInputs(), op.getResults())) {
    ArrayRef<Value> held = e.get(input);
    if (!isa<RankedTensorType>(input.getType())) {
      e.set(result, Registers(held));
      continue;
    }
    bool isF16 = held.front().getType().isF16();
    size_t count = isF16 ? held.size() / 2 : held.size();
    e.set(result, isF16 ? unpackHalves(e, left.take_front(count)) : Registers(left.take_front(count)));
    left = left.drop_front(count);
  }
  return success();
}

} // namespace despina::nvptx
