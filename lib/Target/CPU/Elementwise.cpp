//===- Elementwise.cpp - One operation on scalars or vectors ----*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// What LLVM leaves undefined gets a meaning here: division by zero and shifts beyond the width do not trap,
// conversions to integers saturate. bf16 and fp16 are computed in fp32 and rounded after every operation.
//
//===----------------------------------------------------------------------===//
#include "TileEmitter.h"
#include "VectorMath.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/CastInterfaces.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace despina::cpu {

Type TileEmitter::scalarType(Type element) {
  if (isa<tt::PointerType>(element))
    return LLVM::LLVMPointerType::get(element.getContext());
  return element;
}

Type TileEmitter::laneType(Type element, int64_t count) {
  if (count == 1)
    return scalarType(element);
  // Addresses: vectors of pointers gain nothing and fewer operations take them.
  if (isa<tt::PointerType, LLVM::LLVMPointerType>(element))
    element = IntegerType::get(element.getContext(), 64);
  return VectorType::get({count}, element);
}

Value TileEmitter::splat(Value scalar, int64_t count) {
  if (count == 1)
    return scalar;
  Attribute known;
  auto type = VectorType::get({count}, scalar.getType());
  if (matchPattern(scalar, m_Constant(&known)))
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, known));
  return vector::BroadcastOp::create(b, loc, type, scalar);
}

Value TileEmitter::intConstant(Type type, int64_t value) {
  Type element = getElementTypeOrSelf(type);
  TypedAttr attr =
      b.getIntegerAttr(element, APInt(element.getIntOrFloatBitWidth(), uint64_t(value), false, true));
  if (auto vectorType = dyn_cast<VectorType>(type))
    attr = DenseElementsAttr::get(vectorType, Attribute(attr));
  return arith::ConstantOp::create(b, loc, attr);
}

Value TileEmitter::floatConstant(Type type, double value) {
  TypedAttr attr = b.getFloatAttr(getElementTypeOrSelf(type), value);
  if (auto vectorType = dyn_cast<VectorType>(type))
    attr = DenseElementsAttr::get(vectorType, Attribute(attr));
  return arith::ConstantOp::create(b, loc, attr);
}

namespace {

Type elementOf(Value v) { return getElementTypeOrSelf(v.getType()); }

bool isHalf(Type type) { return type.isF16() || type.isBF16(); }

/// The same operation on other operands, without the hints that only tiles carry.
Value rebuild(OpBuilder &b, Location loc, Operation *op, ValueRange operands, Type result) {
  OperationState state(loc, op->getName());
  state.addOperands(operands);
  state.addTypes(result);
  for (NamedAttribute attribute : op->getAttrs())
    if (!attribute.getName().getValue().contains('.'))
      state.addAttribute(attribute.getName(), attribute.getValue());
  return b.create(state)->getResult(0);
}

/// The integer all lanes have, if known.
std::optional<APInt> knownLanes(Value v) {
  if (auto broadcast = v.getDefiningOp<vector::BroadcastOp>())
    v = broadcast.getSource();
  APInt value;
  if (matchPattern(v, m_ConstantInt(&value)))
    return value;
  return std::nullopt;
}

std::optional<MathFunction> mathFunction(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<MathFunction>>(op)
      .Case<math::ExpOp>([](auto) { return MathFunction::Exp; })
      .Case<math::Exp2Op>([](auto) { return MathFunction::Exp2; })
      .Case<math::LogOp>([](auto) { return MathFunction::Log; })
      .Case<math::Log2Op>([](auto) { return MathFunction::Log2; })
      .Case<math::SinOp>([](auto) { return MathFunction::Sin; })
      .Case<math::CosOp>([](auto) { return MathFunction::Cos; })
      .Case<math::SqrtOp, tt::PreciseSqrtOp>([](auto) { return MathFunction::Sqrt; })
      .Case<math::RsqrtOp>([](auto) { return MathFunction::Rsqrt; })
      .Case<math::ErfOp>([](auto) { return MathFunction::Erf; })
      .Case<math::FloorOp>([](auto) { return MathFunction::Floor; })
      .Case<math::CeilOp>([](auto) { return MathFunction::Ceil; })
      .Default([](Operation *) { return std::nullopt; });
}

} // namespace

Value TileEmitter::emitElementwise(Operation *op, ValueRange operands, int64_t count) {
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  Type source = getElementTypeOrSelf(op->getOperand(0).getType());
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op))
    return emitDivision(op, operands, count);
  if (isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op))
    return emitShift(op, operands, count);
  if (isa<CastOpInterface>(op) || isa<tt::BitcastOp, tt::FpToFpOp, tt::IntToPtrOp, tt::PtrToIntOp>(op))
    return emitCast(op, operands[0], source, element, count);
  if (auto call = dyn_cast<tt::ExternElementwiseOp>(op))
    return emitExtern(call, operands, count);
  if (isa<tt::MulhiUIOp>(op))
    return emitMulHigh(operands, element, count);
  if (isa<math::AbsIOp>(op)) {
    Value negative = arith::SubIOp::create(b, loc, intConstant(operands[0].getType(), 0), operands[0]);
    return arith::MaxSIOp::create(b, loc, operands[0], negative);
  }
  if (auto compare = dyn_cast<arith::CmpFOp>(op)) {
    SmallVector<Value> wide(operands);
    if (isHalf(source))
      for (Value &x : wide)
        x = convertFloat(x, source, b.getF32Type(), count);
    return arith::CmpFOp::create(b, loc, compare.getPredicate(), wide[0], wide[1]);
  }
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    SmallVector<Value> plain(operands);
    if (isa<tt::PointerType>(source) && count == 1)
      for (Value &x : plain)
        x = LLVM::PtrToIntOp::create(b, loc, b.getI64Type(), x);
    return arith::CmpIOp::create(b, loc, compare.getPredicate(), plain[0], plain[1]);
  }
  if (isa<arith::SelectOp>(op))
    return choose(operands[0], operands[1], operands[2]);
  if (isa<FloatType>(element))
    return emitFloat(op, operands, element, count);
  return rebuild(b, loc, op, operands, laneType(element, count));
}

Value TileEmitter::emitFloat(Operation *op, ValueRange operands, Type element, int64_t count) {
  // The sign bit needs no arithmetic.
  bool signOnly = isa<arith::NegFOp, math::AbsFOp>(op);
  SmallVector<Value> wide(operands);
  Type computed = element;
  if (isHalf(element) && !signOnly) {
    computed = b.getF32Type();
    for (Value &x : wide)
      x = convertFloat(x, element, computed, count);
  }
  Type type = laneType(computed, count);
  Value result;
  if (auto function = mathFunction(op)) {
    result = emitMath(b, loc, *function, wide[0], options);
  } else if (signOnly) {
    Type integer = b.getIntegerType(element.getIntOrFloatBitWidth());
    Value bits = arith::BitcastOp::create(b, loc, laneType(integer, count), wide[0]);
    int64_t sign = int64_t(uint64_t(1) << (element.getIntOrFloatBitWidth() - 1));
    bits = isa<arith::NegFOp>(op)
               ? Value(arith::XOrIOp::create(b, loc, bits, intConstant(bits.getType(), sign)))
               : Value(arith::AndIOp::create(b, loc, bits, intConstant(bits.getType(), ~sign)));
    result = arith::BitcastOp::create(b, loc, type, bits);
  } else if (isa<math::FmaOp>(op)) {
    result = LLVM::FMAOp::create(b, loc, type, wide);
  } else if (auto clamp = dyn_cast<tt::ClampFOp>(op)) {
    if (clamp.getPropagateNan() == tt::PropagateNan::ALL) {
      result = arith::MaximumFOp::create(b, loc, wide[0], wide[1]);
      result = arith::MinimumFOp::create(b, loc, result, wide[2]);
    } else {
      result = arith::MaxNumFOp::create(b, loc, wide[0], wide[1]);
      result = arith::MinNumFOp::create(b, loc, result, wide[2]);
    }
  } else if (isa<tt::PreciseDivFOp>(op)) {
    result = arith::DivFOp::create(b, loc, wide[0], wide[1]);
  } else {
    result = rebuild(b, loc, op, wide, type);
    bool fuses = isa<arith::AddFOp, arith::SubFOp, arith::MulFOp>(op) && computed == element;
    if (fuses && options.enableFPFusion)
      result.getDefiningOp()->setAttr(
          "fastmath", arith::FastMathFlagsAttr::get(b.getContext(), arith::FastMathFlags::contract));
  }
  return computed == element ? result : convertFloat(result, computed, element, count);
}

Value TileEmitter::emitDivision(Operation *op, ValueRange operands, int64_t count) {
  Value x = operands[0], y = operands[1];
  bool isSigned = isa<arith::DivSIOp, arith::RemSIOp>(op);
  std::optional<APInt> known = knownLanes(y);
  if (!known || known->isZero() || (isSigned && known->isAllOnes())) {
    Value zero = intConstant(y.getType(), 0), one = intConstant(y.getType(), 1);
    Value bad = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, y, zero);
    if (isSigned) {
      unsigned bits = elementOf(y).getIntOrFloatBitWidth();
      Value least = intConstant(x.getType(), int64_t(uint64_t(1) << (bits - 1)));
      Value overflow = arith::AndIOp::create(
          b, loc, arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, y, intConstant(y.getType(), -1)),
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, least));
      bad = arith::OrIOp::create(b, loc, bad, overflow);
    }
    y = arith::SelectOp::create(b, loc, bad, one, y);
  }
  return rebuild(b, loc, op, {x, y}, x.getType());
}

Value TileEmitter::emitShift(Operation *op, ValueRange operands, int64_t count) {
  Value x = operands[0], y = operands[1];
  int64_t bits = elementOf(x).getIntOrFloatBitWidth();
  std::optional<APInt> known = knownLanes(y);
  if (known && known->ult(bits))
    return rebuild(b, loc, op, operands, x.getType());
  if (bits == 1)
    return isa<arith::ShRSIOp>(op)
               ? x
               : Value(arith::AndIOp::create(b, loc, x,
                                             arith::XOrIOp::create(b, loc, y, intConstant(y.getType(), 1))));
  Value last = intConstant(y.getType(), bits - 1);
  Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ule, y, last);
  Value amount = arith::MinUIOp::create(b, loc, y, last);
  Value result = rebuild(b, loc, op, {x, amount}, x.getType());
  if (isa<arith::ShRSIOp>(op))
    return result;
  return arith::SelectOp::create(b, loc, inside, result, intConstant(x.getType(), 0));
}

Value TileEmitter::emitMulHigh(ValueRange operands, Type element, int64_t count) {
  Type wide = b.getIntegerType(2 * element.getIntOrFloatBitWidth());
  Type wideLanes = laneType(wide, count);
  Value x = arith::ExtUIOp::create(b, loc, wideLanes, operands[0]);
  Value y = arith::ExtUIOp::create(b, loc, wideLanes, operands[1]);
  Value product = arith::MulIOp::create(b, loc, x, y);
  product = arith::ShRUIOp::create(b, loc, product, intConstant(wideLanes, element.getIntOrFloatBitWidth()));
  return arith::TruncIOp::create(b, loc, laneType(element, count), product);
}

Value TileEmitter::roundToOdd(Value x, int64_t count) {
  // fp64 to fp32, inexact results with an odd last bit: a second rounding then errs on neither side.
  Type f32 = laneType(b.getF32Type(), count), i32 = laneType(b.getI32Type(), count);
  Value nearest = arith::TruncFOp::create(b, loc, f32, x);
  Value back = arith::ExtFOp::create(b, loc, x.getType(), nearest);
  Value bits = arith::BitcastOp::create(b, loc, i32, nearest);
  Value inexact = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ONE, back, x);
  Type i64Bits = laneType(b.getI64Type(), count);
  Value mask = intConstant(i64Bits, std::numeric_limits<int64_t>::max());
  auto magnitude = [&](Value v) {
    return Value(arith::AndIOp::create(b, loc, arith::BitcastOp::create(b, loc, i64Bits, v), mask));
  };
  Value above = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ugt, magnitude(back), magnitude(x));
  Value lower = arith::SubIOp::create(b, loc, bits, intConstant(i32, 1));
  Value towardZero = arith::SelectOp::create(b, loc, above, lower, bits);
  Value odd = arith::OrIOp::create(b, loc, towardZero, intConstant(i32, 1));
  return arith::BitcastOp::create(b, loc, f32, arith::SelectOp::create(b, loc, inexact, odd, bits));
}

Value TileEmitter::narrowToBF16(Value x, int64_t count, bool towardZero) {
  // By hand: the conversion instruction flushes denormals.
  Type i32 = laneType(b.getI32Type(), count), i16 = laneType(b.getIntegerType(16), count);
  Value bits = arith::BitcastOp::create(b, loc, i32, x);
  Value sixteen = intConstant(i32, 16);
  Value rounded = bits;
  if (!towardZero) {
    Value last = arith::ShRUIOp::create(b, loc, bits, sixteen);
    last = arith::AndIOp::create(b, loc, last, intConstant(i32, 1));
    Value bias = arith::AddIOp::create(b, loc, last, intConstant(i32, 0x7fff));
    rounded = arith::AddIOp::create(b, loc, bits, bias);
  }
  Value quiet = arith::OrIOp::create(b, loc, bits, intConstant(i32, 0x400000));
  Value isNan = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, x, x);
  rounded = arith::SelectOp::create(b, loc, isNan, quiet, rounded);
  Value high = arith::TruncIOp::create(b, loc, i16, arith::ShRUIOp::create(b, loc, rounded, sixteen));
  return arith::BitcastOp::create(b, loc, laneType(b.getBF16Type(), count), high);
}

Value TileEmitter::choose(Value condition, Value x, Value y) {
  auto type = dyn_cast<VectorType>(x.getType());
  if (!type)
    return LLVM::SelectOp::create(b, loc, condition, x, y);
  Type element = type.getElementType();
  if (!element.isBF16())
    return arith::SelectOp::create(b, loc, condition, x, y);
  auto bits = [&](Value v) {
    return Value(arith::BitcastOp::create(b, loc, type.clone(movedType(element)), v));
  };
  return arith::BitcastOp::create(b, loc, type, arith::SelectOp::create(b, loc, condition, bits(x), bits(y)));
}

Value TileEmitter::convertFloat(Value x, Type from, Type to, int64_t count, bool towardZero) {
  if (from == to)
    return x;
  Type f32 = b.getF32Type(), result = laneType(to, count);
  if (from.isBF16()) {
    Type i32 = laneType(b.getI32Type(), count), i16 = laneType(b.getIntegerType(16), count);
    Value bits = arith::ExtUIOp::create(b, loc, i32, arith::BitcastOp::create(b, loc, i16, x));
    bits = arith::ShLIOp::create(b, loc, bits, intConstant(i32, 16));
    x = arith::BitcastOp::create(b, loc, laneType(f32, count), bits);
    return convertFloat(x, f32, to, count, towardZero);
  }
  if (from.isF16()) {
    x = arith::ExtFOp::create(b, loc, laneType(f32, count), x);
    return convertFloat(x, f32, to, count, towardZero);
  }
  if (from.isF64() && isHalf(to)) {
    // Truncation keeps both steps on the same side.
    x = roundToOdd(x, count);
    return convertFloat(x, f32, to, count, towardZero);
  }
  if (to.isBF16())
    return narrowToBF16(x, count, towardZero);
  if (to.getIntOrFloatBitWidth() > from.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(b, loc, result, x);
  Value nearest = arith::TruncFOp::create(b, loc, result, x);
  if (!towardZero)
    return nearest;
  // Step back where rounding to nearest went away from zero.
  Type bitsType = laneType(b.getIntegerType(to.getIntOrFloatBitWidth()), count);
  Value back = arith::ExtFOp::create(b, loc, x.getType(), nearest);
  Type wide = laneType(b.getIntegerType(from.getIntOrFloatBitWidth()), count);
  Value mask = intConstant(wide, int64_t(~(uint64_t(1) << (from.getIntOrFloatBitWidth() - 1))));
  auto magnitude = [&](Value v) {
    return Value(arith::AndIOp::create(b, loc, arith::BitcastOp::create(b, loc, wide, v), mask));
  };
  Value ordered = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ORD, x, x);
  Value above = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ugt, magnitude(back), magnitude(x));
  above = arith::AndIOp::create(b, loc, above, ordered);
  Value bits = arith::BitcastOp::create(b, loc, bitsType, nearest);
  Value lower = arith::SubIOp::create(b, loc, bits, intConstant(bitsType, 1));
  return arith::BitcastOp::create(b, loc, result, arith::SelectOp::create(b, loc, above, lower, bits));
}

Value TileEmitter::emitCast(Operation *op, Value x, Type from, Type to, int64_t count) {
  Type result = laneType(to, count);
  bool fromPointer = isa<tt::PointerType>(from), toPointer = isa<tt::PointerType>(to);
  if (fromPointer || toPointer) {
    if (count != 1 || fromPointer == toPointer)
      return x;
    return fromPointer ? Value(LLVM::PtrToIntOp::create(b, loc, result, x))
                       : Value(LLVM::IntToPtrOp::create(b, loc, result, x));
  }
  if (isa<tt::BitcastOp, arith::BitcastOp>(op))
    return from == to ? x : Value(arith::BitcastOp::create(b, loc, result, x));
  bool towardZero = false;
  if (auto convert = dyn_cast<tt::FpToFpOp>(op))
    towardZero = convert.getRounding() == tt::RoundingMode::RTZ;
  if (isa<FloatType>(from) && isa<FloatType>(to))
    return convertFloat(x, from, to, count, towardZero);
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(op)) {
    Type through = to;
    if (to.isF16())
      through = b.getF32Type();
    else if (to.isBF16())
      through = from.getIntOrFloatBitWidth() > 16 ? Type(b.getF64Type()) : Type(b.getF32Type());
    Value wide = rebuild(b, loc, op, x, laneType(through, count));
    return convertFloat(wide, through, to, count);
  }
  if (isa<arith::FPToSIOp, arith::FPToUIOp>(op)) {
    if (isHalf(from))
      x = convertFloat(x, from, b.getF32Type(), count);
    auto name = b.getStringAttr(isa<arith::FPToSIOp>(op) ? "llvm.fptosi.sat" : "llvm.fptoui.sat");
    return LLVM::CallIntrinsicOp::create(b, loc, result, name, ValueRange{x}).getResult(0);
  }
  return rebuild(b, loc, op, x, result);
}

} // namespace despina::cpu
