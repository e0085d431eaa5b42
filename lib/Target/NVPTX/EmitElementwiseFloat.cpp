//===- EmitElementwiseFloat.cpp - Arithmetic on floating point numbers ----===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// f32 and f64 have all operations. f16 has sums and products everywhere, minimum and maximum from sm_80 on;
// bf16 has fused multiply-add, minimum and maximum from sm_80 on, the rest from sm_90 on. What is missing,
// and all of fp8, is computed in f32 and rounded. Division in f32 is the fast one.
//
//===----------------------------------------------------------------------===//
#include "DeviceMath.h"
#include "EmitElementwise.h"

using namespace mlir;

namespace despina::nvptx {

namespace {

// Functions on one element of each operand; where the operation is added with addPairs, or on a vector of two
// elements of 16 bits.
using Operands = ArrayRef<Value>;

bool isF8(Value value) { return isFloat8(elementOf(value)); }

/// Whether the architecture has sums and products of this type.
bool hasArithmetic(ThreadEmitter &e, Type element) {
  return element.isF16() || element.isF32() || element.isF64() || (element.isBF16() && e.capability() >= 90);
}

/// Whether it has minimum, maximum and fused multiply-add of this type.
bool hasMinMax(ThreadEmitter &e, Type element) {
  return element.isF32() || element.isF64() || (!isFloat8(element) && e.capability() >= 80);
}
bool hasFma(ThreadEmitter &e, Type element) { return element.isF16() || hasMinMax(e, element); }

/// Sums and products that may become one operation are marked.
template <typename Op> Value arithmetic(ThreadEmitter &e, Value x, Value y) {
  auto flags = e.options().enableFPFusion ? LLVM::FastmathFlags::contract : LLVM::FastmathFlags::none;
  return e.make<Op>(x.getType(), x, y, flags);
}

/// Of a float, or of a vector of them.
Value floatConstant(ThreadEmitter &e, Type type, double value) {
  TypedAttr element = e.b.getFloatAttr(getElementTypeOrSelf(type), value);
  if (auto vector = dyn_cast<VectorType>(type))
    return e.make<LLVM::ConstantOp>(type, DenseElementsAttr::get(vector, Attribute(element)));
  return e.make<LLVM::ConstantOp>(type, element);
}

/// bf16 sums and products by the fused operation, which rounds once as they do.
template <typename Op> Value byFma(ThreadEmitter &e, Type type, Value x, Value y) {
  if constexpr (std::is_same_v<Op, LLVM::FMulOp>)
    return e.make<LLVM::FMAOp>(type, x, y, floatConstant(e, type, -0.0));
  if constexpr (std::is_same_v<Op, LLVM::FSubOp>)
    return e.make<LLVM::FMAOp>(type, y, floatConstant(e, type, -1), x);
  return e.make<LLVM::FMAOp>(type, x, floatConstant(e, type, 1), y);
}

template <typename From, typename To> Value emitArithmetic(ThreadEmitter &e, From op, Operands operands) {
  Type element = elementOf(op);
  if (hasArithmetic(e, element))
    return arithmetic<To>(e, operands[0], operands[1]);
  if (element.isBF16() && hasFma(e, element))
    return byFma<To>(e, operands[0].getType(), operands[0], operands[1]);
  return computeInFloat32(e, element, operands,
                          [&](Operands wide) { return arithmetic<To>(e, wide[0], wide[1]); });
}

Value emitFma(ThreadEmitter &e, math::FmaOp op, Operands operands) {
  Type element = elementOf(op);
  auto fma = [&](Operands values) -> Value {
    return e.make<LLVM::FMAOp>(values[0].getType(), values[0], values[1], values[2]);
  };
  return hasFma(e, element) ? fma(operands) : computeInFloat32(e, element, operands, fma);
}

/// Division: f64 correctly rounded, the rest by the fast f32 form.
Value emitDivide(ThreadEmitter &e, arith::DivFOp op, Operands operands) {
  Type element = elementOf(op);
  if (element.isF64())
    return e.make<LLVM::FDivOp>(operands[0], operands[1]);
  return computeInFloat32(e, element, operands, [&](Operands wide) {
    return emitFastMath(e.b, e.loc, FastMath::Div, {wide[0], wide[1]});
  });
}

Value emitPreciseDivide(ThreadEmitter &e, tt::PreciseDivFOp op, Operands operands) {
  Type element = elementOf(op);
  if (element.isF64())
    return e.make<LLVM::FDivOp>(operands[0], operands[1]);
  return computeInFloat32(e, element, operands, [&](Operands wide) {
    return callIntrinsic(e, "llvm.nvvm.div.rn.f", e.b.getF32Type(), wide);
  });
}

Value emitRemainder(ThreadEmitter &e, arith::RemFOp op, Operands operands) {
  auto remainder = [&](Operands values) -> Value {
    Type type = values[0].getType();
    return callDeviceFunction(e.b, e.loc, *deviceFunctionName("remf", type), type, values);
  };
  Type element = elementOf(op);
  return element.isF64() ? remainder(operands) : computeInFloat32(e, element, operands, remainder);
}

//===----------------------------------------------------------------------===//
// Minimum and maximum
//===----------------------------------------------------------------------===//

/// `Ignoring` gives the other operand where one is NaN; with `propagates`, the result is NaN then.
template <typename Ignoring, typename Propagating>
Value minMax(ThreadEmitter &e, Type element, Operands operands, bool propagates) {
  if (!hasMinMax(e, element))
    return computeInFloat32(e, element, operands, [&](Operands wide) {
      return minMax<Ignoring, Propagating>(e, e.b.getF32Type(), wide, propagates);
    });
  Value x = operands[0], y = operands[1];
  if (!propagates)
    return e.make<Ignoring>(x, y);
  if (!element.isF64() && e.capability() >= 80)
    return e.make<Propagating>(x, y);
  Value isNan = e.make<LLVM::FCmpOp>(LLVM::FCmpPredicate::uno, x, y);
  return e.select(isNan, floatConstant(e, element, std::numeric_limits<double>::quiet_NaN()),
                  e.make<Ignoring>(x, y));
}
constexpr auto minimum = minMax<LLVM::MinNumOp, LLVM::MinimumOp>;
constexpr auto maximum = minMax<LLVM::MaxNumOp, LLVM::MaximumOp>;

template <typename Op, auto function, bool propagates>
Value emitMinMax(ThreadEmitter &e, Op op, Operands operands) {
  return function(e, elementOf(op), operands, propagates);
}

Value emitClamp(ThreadEmitter &e, tt::ClampFOp op, Operands operands) {
  Type element = elementOf(op);
  bool propagates = op.getPropagateNan() == tt::PropagateNan::ALL;
  auto clamp = [&](Type type, Operands values) {
    return minimum(e, type, {maximum(e, type, {values[0], values[1]}, propagates), values[2]}, propagates);
  };
  if (hasMinMax(e, element))
    return clamp(element, operands);
  return computeInFloat32(e, element, operands,
                          [&](Operands wide) { return clamp(wide[0].getType(), wide); });
}

//===----------------------------------------------------------------------===//
// Comparison and sign
//===----------------------------------------------------------------------===//

Value emitCompare(ThreadEmitter &e, arith::CmpFOp op, Operands operands) {
  // The two enumerations have the same order.
  auto predicate = static_cast<LLVM::FCmpPredicate>(op.getPredicate());
  Type element = elementOf(op.getLhs());
  if (hasArithmetic(e, element))
    return e.make<LLVM::FCmpOp>(predicate, operands[0], operands[1]);
  Registers wide = convertFloats(e, operands, element, e.b.getF32Type());
  return e.make<LLVM::FCmpOp>(predicate, wide[0], wide[1]);
}

/// Formats without -0 have NaN in its place: their 0 and NaN have no sign to change.
Value changeSign8(ThreadEmitter &e, Type element, Value x, bool clears) {
  Type i8 = e.b.getI8Type();
  Value result = clears ? e.bitAnd(x, e.constant(i8, 0x7f)) : e.bitXor(x, e.constant(i8, -0x80));
  if (!isa<Float8E4M3FNUZType, Float8E5M2FNUZType>(element))
    return result;
  Value hasNoSign = e.isZero(e.bitAnd(x, e.constant(i8, 0x7f)));
  return e.select(hasNoSign, x, result);
}

Value changeSign16(ThreadEmitter &e, Value x, bool clears) {
  Type i16 = e.b.getI16Type();
  Value bits = e.bitcast(x, i16);
  bits = clears ? e.bitAnd(bits, e.constant(i16, 0x7fff)) : e.bitXor(bits, e.constant(i16, -0x8000));
  return e.bitcast(bits, x.getType());
}

Value emitNegate(ThreadEmitter &e, arith::NegFOp op, Operands operands) {
  Type element = elementOf(op);
  if (isF8(op))
    return changeSign8(e, element, operands[0], /*clears=*/false);
  if (element.isBF16())
    return changeSign16(e, operands[0], /*clears=*/false);
  return e.make<LLVM::FNegOp>(operands[0]);
}

Value emitAbs(ThreadEmitter &e, math::AbsFOp op, Operands operands) {
  Type element = elementOf(op);
  if (isF8(op))
    return changeSign8(e, element, operands[0], /*clears=*/true);
  if (element.getIntOrFloatBitWidth() == 16)
    return changeSign16(e, operands[0], /*clears=*/true);
  return e.make<LLVM::FAbsOp>(operands[0]);
}

//===----------------------------------------------------------------------===//
// Pairs
//===----------------------------------------------------------------------===//

template <typename Op, Value (*function)(ThreadEmitter &, Op, Operands),
          bool (*isNative)(ThreadEmitter &, Type)>
LogicalResult emitPairs(ThreadEmitter &e, Op op) {
  Type element = elementOf(op);
  if (element.getIntOrFloatBitWidth() != 16 || !isNative(e, element))
    return emitElements<Op, function>(e, op);
  return mapPairs(e, op, [&](Operands operands) { return function(e, op, operands); });
}

/// `isNative`: whether the architecture computes this with elements of a type, not in f32.
template <typename Op, Value (*function)(ThreadEmitter &, Op, Operands),
          bool (*isNative)(ThreadEmitter &, Type)>
void addPairs(EmitterTable &table) {
  table.add<Op, emitPairs<Op, function, isNative>>();
}

} // namespace

void addFloatEmitters(EmitterTable &table) {
  addPairs<arith::AddFOp, emitArithmetic<arith::AddFOp, LLVM::FAddOp>, hasFma>(table);
  addPairs<arith::SubFOp, emitArithmetic<arith::SubFOp, LLVM::FSubOp>, hasFma>(table);
  addPairs<arith::MulFOp, emitArithmetic<arith::MulFOp, LLVM::FMulOp>, hasFma>(table);
  addPairs<math::FmaOp, emitFma, hasFma>(table);
  addElements<arith::DivFOp, emitDivide>(table);
  addElements<tt::PreciseDivFOp, emitPreciseDivide>(table);
  addElements<arith::RemFOp, emitRemainder>(table);
  addPairs<arith::MinNumFOp, emitMinMax<arith::MinNumFOp, minimum, false>, hasMinMax>(table);
  addPairs<arith::MaxNumFOp, emitMinMax<arith::MaxNumFOp, maximum, false>, hasMinMax>(table);
  addPairs<arith::MinimumFOp, emitMinMax<arith::MinimumFOp, minimum, true>, hasMinMax>(table);
  addPairs<arith::MaximumFOp, emitMinMax<arith::MaximumFOp, maximum, true>, hasMinMax>(table);
  addElements<tt::ClampFOp, emitClamp>(table);
  addElements<arith::CmpFOp, emitCompare>(table);
  addElements<arith::NegFOp, emitNegate>(table);
  addElements<math::AbsFOp, emitAbs>(table);
}

} // namespace despina::nvptx
