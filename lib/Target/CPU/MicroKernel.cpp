//===- MicroKernel.cpp - Matrix products on tiles in memory ---------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "MicroKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <algorithm>
#include <functional>

using namespace mlir;

namespace despina::cpu {
namespace {

/// int8 products are summed in fp32, which is exact up to this many terms (2^24 / 128^2).
constexpr int64_t kExactInt8Terms = 1024;
/// AMX: bytes of a tile row, rows of a tile, and how many inner steps are written out between reloads of C.
constexpr int64_t kTileBytes = 64, kTileRows = 16, kTileUnroll = 8;
constexpr int64_t kScratchAlignment = 64;

int64_t bytesOf(Type element) { return std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8); }
int64_t alignUp(int64_t bytes) {
  return (bytes + kScratchAlignment - 1) / kScratchAlignment * kScratchAlignment;
}

bool isInt8(Type t) { return t.isInteger(8); }
/// Operands that are widened to fp32 before the FMA kernel.
bool needsWidening(Type t) { return t.isBF16() || t.isF16() || isInt8(t); }

bool usesTiles(Type element, int64_t m, int64_t n, int64_t k, const CPUFeatures &features) {
  if (m % kTileRows || n % kTileRows)
    return false;
  if (element.isBF16())
    return features.amxBF16 && k % (kTileBytes / 2) == 0;
  return isInt8(element) && features.amxInt8 && k % kTileBytes == 0;
}

class DotEmitter {
public:
  DotEmitter(OpBuilder &builder, Location loc, const CPUOptions &options)
      : b(loc, builder), features(options.features) {}

  void emit(const MatrixRef &a, const MatrixRef &bm, const MatrixRef &c, Value scratch);

private:
  using Body = std::function<void(Value)>;
  Value index(int64_t v) { return arith::ConstantOp::create(b, b.getI64IntegerAttr(v)); }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, x, y); }
  Value mul(Value x, Value y) { return arith::MulIOp::create(b, x, y); }
  Value leading(const MatrixRef &m) { return m.leadingDim ? m.leadingDim : index(m.cols); }
  Value address(Value base, Type element, Value offset) {
    return LLVM::GEPOp::create(b, base.getType(), element, base, ValueRange{offset});
  }
  Value address(const MatrixRef &m, Value row, Value col) {
    return address(m.pointer, m.element, add(mul(row, leading(m)), col));
  }
  Value load(Type type, Value pointer, Type element) {
    return LLVM::LoadOp::create(b, type, pointer, unsigned(bytesOf(element)));
  }
  void store(Value value, Value pointer, Type element) {
    LLVM::StoreOp::create(b, value, pointer, unsigned(bytesOf(element)));
  }
  /// for (i = 0; i < count; i += step); written once without a loop when there is one step.
  void loop(int64_t count, int64_t step, const Body &body);
  MatrixRef scratchMatrix(Value scratch, int64_t &offset, Type element, int64_t rows, int64_t cols);
  /// Copies element by element with a conversion of vectors.
  void convert(const MatrixRef &from, const MatrixRef &to, llvm::function_ref<Value(Value, Type, Value)> op);

  void emitFMA(const MatrixRef &a, const MatrixRef &bm, const MatrixRef &c);
  void emitRegisterBlock(const MatrixRef &a, const MatrixRef &bm, const MatrixRef &c, Value row, Value col,
                         int64_t rows, int64_t vectors, VectorType vector);
  void emitWidened(const MatrixRef &a, const MatrixRef &bm, const MatrixRef &c, Value scratch);
  void emitInt8(const MatrixRef &a, const MatrixRef &bm, const MatrixRef &c, Value scratch);

  // AMX.
  Value intrinsic(StringRef name, Type result, ValueRange args);
  Value tileLoad(Value pointer, Value strideBytes);
  void packPairs(const MatrixRef &bm, const MatrixRef &packed, int64_t group);
  void emitTiles(const MatrixRef &a, const MatrixRef &bm, const MatrixRef &c, Value scratch);
  void emitTileBlock(const MatrixRef &a, const MatrixRef &packed, const MatrixRef &c, Value row, Value col,
                     int64_t tileRows, int64_t tileCols, int64_t group);

  ImplicitLocOpBuilder b;
  const CPUFeatures &features;
};

void DotEmitter::loop(int64_t count, int64_t step, const Body &body) {
  if (count == step)
    return body(index(0));
  auto forOp = scf::ForOp::create(b, index(0), index(count), index(step));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(forOp.getBody());
  body(forOp.getInductionVar());
}

MatrixRef DotEmitter::scratchMatrix(Value scratch, int64_t &offset, Type element, int64_t rows,
                                    int64_t cols) {
  Value pointer = LLVM::GEPOp::create(b, scratch.getType(), b.getI8Type(), scratch,
                                      ArrayRef<LLVM::GEPArg>{int32_t(offset)});
  offset += alignUp(rows * cols * bytesOf(element));
  return {pointer, element, rows, cols, {}};
}

void DotEmitter::convert(const MatrixRef &from, const MatrixRef &to,
                         llvm::function_ref<Value(Value, Type, Value)> op) {
  int64_t lanes = std::min<int64_t>(from.cols, features.vectorBytes / bytesOf(to.element));
  auto fromType = VectorType::get({lanes}, from.element), toType = VectorType::get({lanes}, to.element);
  loop(from.rows, 1, [&](Value row) {
    loop(from.cols, lanes, [&](Value col) {
      Value target = address(to, row, col);
      store(op(load(fromType, address(from, row, col), from.element), toType, target), target, to.element);
    });
  });
}

//===----------------------------------------------------------------------===//
// Fused multiply-add
//===----------------------------------------------------------------------===//

void DotEmitter::emitRegisterBlock(const MatrixRef &a, const MatrixRef &bm, const MatrixRef &c, Value row,
                                   Value col, int64_t rows, int64_t vectors, VectorType vector) {
  int64_t lanes = vector.getNumElements(), unroll = std::min<int64_t>(a.cols, 4);
  SmallVector<Value> targets, sums, rowPointers;
  for (int64_t i = 0; i < rows; ++i) {
    Value r = add(row, index(i));
    rowPointers.push_back(address(a, r, index(0)));
    for (int64_t v = 0; v < vectors; ++v) {
      targets.push_back(address(c, r, add(col, index(v * lanes))));
      sums.push_back(load(vector, targets.back(), c.element));
    }
  }
  auto forOp = scf::ForOp::create(b, index(0), index(a.cols), index(unroll), sums);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(forOp.getBody());
    SmallVector<Value> acc(forOp.getRegionIterArgs());
    for (int64_t u = 0; u < unroll; ++u) {
      Value k = add(forOp.getInductionVar(), index(u));
      SmallVector<Value> right;
      for (int64_t v = 0; v < vectors; ++v)
        right.push_back(load(vector, address(bm, k, add(col, index(v * lanes))), bm.element));
      for (int64_t i = 0; i < rows; ++i) {
        Value scalar = load(a.element, address(rowPointers[i], a.element, k), a.element);
        Value left = vector::BroadcastOp::create(b, vector, scalar);
        for (int64_t v = 0; v < vectors; ++v) {
          Value &sum = acc[i * vectors + v];
          sum = math::FmaOp::create(b, left, right[v], sum);
        }
      }
    }
    scf::YieldOp::create(b, acc);
  }
  for (auto [target, sum] : llvm::zip_equal(targets, forOp.getResults()))
    store(sum, target, c.element);
}

void DotEmitter::emitFMA(const MatrixRef &a, const MatrixRef &bm, const MatrixRef &c) {
  int64_t lanes = std::min<int64_t>(c.cols, features.vectorBytes / bytesOf(c.element));
  auto vector = VectorType::get({lanes}, c.element);
  // Accumulators take at most half of the registers; wide blocks need fewer broadcasts of A.
  int64_t accumulators = features.vectorRegisters / 2;
  int64_t vectors = std::min<int64_t>(c.cols / lanes, accumulators >= 16 ? 4 : 2);
  int64_t rows = std::min<int64_t>(c.rows, accumulators / vectors);
  loop(c.cols, vectors * lanes, [&](Value col) {
    loop(c.rows, rows, [&](Value row) { emitRegisterBlock(a, bm, c, row, col, rows, vectors, vector); });
  });
}

void DotEmitter::emitWidened(const MatrixRef &a, const MatrixRef &bm, const MatrixRef &c, Value scratch) {
  int64_t offset = 0;
  auto f32 = b.getF32Type();
  auto widen = [&](Value x, Type to, Value) -> Value { return arith::ExtFOp::create(b, to, x); };
  MatrixRef wideA = scratchMatrix(scratch, offset, f32, a.rows, a.cols);
  MatrixRef wideB = scratchMatrix(scratch, offset, f32, bm.rows, bm.cols);
  convert(a, wideA, widen);
  convert(bm, wideB, widen);
  if (c.element.isF32())
    return emitFMA(wideA, wideB, c);
  MatrixRef wideC = scratchMatrix(scratch, offset, f32, c.rows, c.cols);
  convert(c, wideC, widen);
  emitFMA(wideA, wideB, wideC);
  convert(wideC, c, [&](Value x, Type to, Value) -> Value { return arith::TruncFOp::create(b, to, x); });
}

void DotEmitter::emitInt8(const MatrixRef &a, const MatrixRef &bm, const MatrixRef &c, Value scratch) {
  auto f32 = b.getF32Type();
  int64_t depth = std::min(a.cols, kExactInt8Terms), offset = 0;
  MatrixRef wideA = scratchMatrix(scratch, offset, f32, a.rows, depth);
  MatrixRef wideB = scratchMatrix(scratch, offset, f32, depth, bm.cols);
  MatrixRef sums = scratchMatrix(scratch, offset, f32, c.rows, c.cols);
  auto widen = [&](Value x, Type to, Value) -> Value { return arith::SIToFPOp::create(b, to, x); };
  loop(a.cols, depth, [&](Value k) {
    MatrixRef partA{address(a, index(0), k), a.element, a.rows, depth, leading(a)};
    MatrixRef partB{address(bm, k, index(0)), bm.element, depth, bm.cols, leading(bm)};
    convert(partA, wideA, widen);
    convert(partB, wideB, widen);
    convert(sums, sums,
            [&](Value, Type to, Value) -> Value { return arith::ConstantOp::create(b, b.getZeroAttr(to)); });
    emitFMA(wideA, wideB, sums);
    convert(sums, c, [&](Value x, Type to, Value target) -> Value {
      Value product = arith::FPToSIOp::create(b, to, x);
      return arith::AddIOp::create(b, load(to, target, c.element), product);
    });
  });
}

//===----------------------------------------------------------------------===//
// AMX
//===----------------------------------------------------------------------===//

Value DotEmitter::intrinsic(StringRef name, Type result, ValueRange args) {
  if (!result) {
    LLVM::CallIntrinsicOp::create(b, b.getStringAttr(name), args);
    return {};
  }
  return LLVM::CallIntrinsicOp::create(b, result, b.getStringAttr(name), args).getResult(0);
}

Value DotEmitter::tileLoad(Value pointer, Value strideBytes) {
  Value rows = arith::ConstantOp::create(b, b.getI16IntegerAttr(kTileRows));
  Value bytes = arith::ConstantOp::create(b, b.getI16IntegerAttr(kTileBytes));
  return intrinsic("llvm.x86.tileloadd64.internal", LLVM::LLVMX86AMXType::get(b.getContext()),
                   {rows, bytes, pointer, strideBytes});
}

/// Interleaves `group` consecutive rows of B element by element, as the tile product wants them: packed row
/// k / group holds B[k][0], ..., B[k + group - 1][0], B[k][1], ...
void DotEmitter::packPairs(const MatrixRef &bm, const MatrixRef &packed, int64_t group) {
  int64_t lanes = std::min<int64_t>(bm.cols, features.vectorBytes / (group * bytesOf(bm.element)));
  auto vector = VectorType::get({lanes}, bm.element);
  loop(bm.rows, group, [&](Value k) {
    loop(bm.cols, lanes, [&](Value col) {
      SmallVector<Value> rows;
      for (int64_t g = 0; g < group; ++g)
        rows.push_back(load(vector, address(bm, add(k, index(g)), col), bm.element));
      auto interleave = [&](Value x, Value y) -> Value { return vector::InterleaveOp::create(b, x, y); };
      Value result = group == 2 ? interleave(rows[0], rows[1])
                                : interleave(interleave(rows[0], rows[2]), interleave(rows[1], rows[3]));
      Value offset = add(mul(k, index(bm.cols)), mul(col, index(group)));
      store(result, address(packed.pointer, packed.element, offset), packed.element);
    });
  });
}

void DotEmitter::emitTileBlock(const MatrixRef &a, const MatrixRef &packed, const MatrixRef &c, Value row,
                               Value col, int64_t tileRows, int64_t tileCols, int64_t group) {
  int64_t depth = kTileBytes / bytesOf(a.element), total = a.cols;
  int64_t chunk = std::min(total, depth * kTileUnroll);
  auto i16 = [&](int64_t v) -> Value { return arith::ConstantOp::create(b, b.getI16IntegerAttr(v)); };
  Value strideC = mul(leading(c), index(bytesOf(c.element)));
  Value strideA = mul(leading(a), index(bytesOf(a.element)));
  Value strideB = index(packed.cols * bytesOf(packed.element));
  StringRef product = isInt8(a.element) ? "llvm.x86.tdpbssd.internal" : "llvm.x86.tdpbf16ps.internal";
  auto tileType = LLVM::LLVMX86AMXType::get(b.getContext());
  SmallVector<Value> targets;
  for (int64_t i = 0; i < tileRows; ++i)
    for (int64_t j = 0; j < tileCols; ++j)
      targets.push_back(address(c, add(row, index(i * kTileRows)), add(col, index(j * kTileRows))));
  loop(total, chunk, [&](Value k0) {
    SmallVector<Value> sums;
    for (Value target : targets)
      sums.push_back(tileLoad(target, strideC));
    for (int64_t k = 0; k < chunk; k += depth) {
      Value inner = add(k0, index(k));
      SmallVector<Value> left, right;
      for (int64_t i = 0; i < tileRows; ++i)
        left.push_back(tileLoad(address(a, add(row, index(i * kTileRows)), inner), strideA));
      for (int64_t j = 0; j < tileCols; ++j) {
        Value packedRow = arith::DivUIOp::create(b, inner, index(group));
        Value offset =
            add(mul(packedRow, index(packed.cols)), mul(add(col, index(j * kTileRows)), index(group)));
        right.push_back(tileLoad(address(packed.pointer, packed.element, offset), strideB));
      }
      for (int64_t i = 0; i < tileRows; ++i)
        for (int64_t j = 0; j < tileCols; ++j) {
          Value &sum = sums[i * tileCols + j];
          sum = intrinsic(product, tileType,
                          {i16(kTileRows), i16(kTileBytes), i16(kTileBytes), sum, left[i], right[j]});
        }
    }
    for (auto [target, sum] : llvm::zip_equal(targets, sums))
      intrinsic("llvm.x86.tilestored64.internal", {},
                {i16(kTileRows), i16(kTileBytes), target, strideC, sum});
  });
}

void DotEmitter::emitTiles(const MatrixRef &a, const MatrixRef &bm, const MatrixRef &c, Value scratch) {
  int64_t group = 4 / bytesOf(a.element), offset = 0;
  MatrixRef packed = scratchMatrix(scratch, offset, bm.element, bm.rows / group, bm.cols * group);
  packPairs(bm, packed, group);
  int64_t tileRows = c.rows % (2 * kTileRows) == 0 ? 2 : 1, tileCols = c.cols % (2 * kTileRows) == 0 ? 2 : 1;
  loop(c.cols, tileCols * kTileRows, [&](Value col) {
    loop(c.rows, tileRows * kTileRows,
         [&](Value row) { emitTileBlock(a, packed, c, row, col, tileRows, tileCols, group); });
  });
}

void DotEmitter::emit(const MatrixRef &a, const MatrixRef &bm, const MatrixRef &c, Value scratch) {
  bool fullAccumulator = c.element.isF32() || c.element.isInteger(32);
  if (fullAccumulator && usesTiles(a.element, c.rows, c.cols, a.cols, features))
    return emitTiles(a, bm, c, scratch);
  if (isInt8(a.element))
    return emitInt8(a, bm, c, scratch);
  if (needsWidening(a.element))
    return emitWidened(a, bm, c, scratch);
  emitFMA(a, bm, c);
}

} // namespace

void emitDot(OpBuilder &b, Location loc, const MatrixRef &a, const MatrixRef &bm, const MatrixRef &c,
             Value scratch, const CPUOptions &options) {
  DotEmitter(b, loc, options).emit(a, bm, c, scratch);
}

int64_t dotScratchBytes(Type aElement, Type cElement, int64_t m, int64_t n, int64_t k,
                        const CPUOptions &options) {
  bool fullAccumulator = cElement.isF32() || cElement.isInteger(32);
  if (fullAccumulator && usesTiles(aElement, m, n, k, options.features))
    return alignUp(k * n * bytesOf(aElement));
  if (!needsWidening(aElement))
    return 0;
  int64_t depth = isInt8(aElement) ? std::min(k, kExactInt8Terms) : k;
  int64_t operands = alignUp(m * depth * 4) + alignUp(depth * n * 4);
  return cElement.isF32() ? operands : operands + alignUp(m * n * 4);
}

bool dotSupported(Type aElement, Type bElement, Type cElement) {
  if (aElement != bElement)
    return false;
  if (isInt8(aElement))
    return cElement.isInteger(32);
  if (aElement.isF16() || aElement.isBF16())
    return cElement.isF32() || cElement == aElement;
  return (aElement.isF32() || aElement.isF64()) && cElement == aElement;
}

} // namespace despina::cpu
