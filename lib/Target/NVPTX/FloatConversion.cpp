//===- FloatConversion.cpp - From one float format to another -------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// f32 and f16 are the hubs: every other format is widened to one of them exactly, and narrowed from one. f64
// is first cut to f32 with an odd last bit where it is inexact, so that the second rounding gives what one
// rounding would.
//
//===----------------------------------------------------------------------===//
#include "FloatConversion.h"

using namespace mlir;

namespace despina::nvptx {

namespace {

/// An fp8 format; numbers are bits without the sign.
struct Format8 {
  unsigned mantissa; ///< bits
  int bias;
  unsigned largest; ///< the largest finite number
  unsigned nan;     ///< with the sign
  bool hasMinusZero;
};
constexpr Format8 e4m3{3, 7, 0x7e, 0x7f, true}, e5m2{2, 15, 0x7b, 0x7f, true};
constexpr Format8 e4m3fnuz{3, 8, 0x7f, 0x80, false}, e5m2fnuz{2, 16, 0x7f, 0x80, false};

/// Not that of e4b15, which is converted by code of its own.
const Format8 &formatOf(Type type) {
  if (isa<Float8E4M3FNType>(type))
    return e4m3;
  if (isa<Float8E5M2Type>(type))
    return e5m2;
  return isa<Float8E4M3FNUZType>(type) ? e4m3fnuz : e5m2fnuz;
}
bool isE4B15(Type type) { return isa<Float8E4M3B11FNUZType>(type); }

class Converter {
public:
  explicit Converter(ThreadEmitter &emitter, bool cuts)
      : e(emitter), towardZero(cuts), i8(e.b.getI8Type()), i16(e.b.getI16Type()), i32(e.b.getI32Type()),
        f16(e.b.getF16Type()), bf16(e.b.getBF16Type()), f32(e.b.getF32Type()) {}

  Registers convert(ArrayRef<Value> values, Type from, Type to);

private:
  using Step = Value (Converter::*)(Value);
  Registers each(ArrayRef<Value> values, function_ref<Value(Value)> step) {
    Registers results;
    for (Value value : values)
      results.push_back(step(value));
    return results;
  }
  Registers pairs(ArrayRef<Value> values, function_ref<Value(Value low, Value high)> step);

  Registers fromFloat8(ArrayRef<Value> values, Type from, Type to);
  Registers toFloat8(ArrayRef<Value> values, Type from, Type to);
  Registers toHalf(ArrayRef<Value> values, Type to);
  Value oddFloat(Value x);
  Value floatFromBF16(Value x);
  Value bf16ByHand(Value x);
  Value decode(Value x, const Format8 &format);
  Value encode(Value x, const Format8 &format);
  Value encodeSmall(Value magnitude, const Format8 &format);
  Value encodeE4B15(Value half);

  Value intrinsic(StringRef name, Type result, ValueRange operands) {
    return e.make<LLVM::CallIntrinsicOp>(result, e.b.getStringAttr(name), operands).getResult(0);
  }
  Value number(int64_t value) { return e.constant(i32, value); }
  Value shiftLeft(Value x, int64_t bits) { return e.make<LLVM::ShlOp>(x, e.constant(x.getType(), bits)); }
  Value shiftRight(Value x, int64_t bits) { return e.make<LLVM::LShrOp>(x, e.constant(x.getType(), bits)); }
  Value either(Value x, Value y) { return e.make<LLVM::OrOp>(x, y); }
  Value masked(Value x, int64_t mask) { return e.bitAnd(x, e.constant(x.getType(), mask)); }
  Value less(Value x, int64_t limit) {
    return e.make<LLVM::ICmpOp>(LLVM::ICmpPredicate::ult, x, e.constant(x.getType(), limit));
  }
  Value scaled(Value x, int exponent) {
    auto factor = e.b.getFloatAttr(f32, std::ldexp(1.0, exponent));
    return e.make<LLVM::FMulOp>(x, e.make<LLVM::ConstantOp>(f32, factor));
  }

  ThreadEmitter &e;
  bool towardZero;
  Type i8, i16, i32, f16, bf16, f32;
};

Registers Converter::convert(ArrayRef<Value> values, Type from, Type to) {
  if (from == to)
    return Registers(values);
  if (isFloat8(from))
    return fromFloat8(values, from, to);
  if (isFloat8(to))
    return toFloat8(values, from, to);
  if (from.isF64()) {
    if (to.isF32())
      return each(values, [&](Value x) -> Value {
        return towardZero ? intrinsic("llvm.nvvm.d2f.rz", f32, x) : e.make<LLVM::FPTruncOp>(f32, x);
      });
    return toHalf(each(values, [&](Value x) { return oddFloat(x); }), to);
  }
  if (from.isF32())
    return to.isF64() ? each(values, [&](Value x) -> Value { return e.make<LLVM::FPExtOp>(to, x); })
                      : toHalf(values, to);
  Registers wide = each(values, [&](Value x) -> Value {
    return from.isBF16() ? floatFromBF16(x) : e.make<LLVM::FPExtOp>(f32, x).getResult();
  });
  return convert(wide, f32, to);
}

/// `step` gives a vector of two, or an i16 of two bytes; a last value without a partner is its own.
Registers Converter::pairs(ArrayRef<Value> values, function_ref<Value(Value low, Value high)> step) {
  Registers results;
  for (size_t index = 0; index < values.size(); index += 2) {
    bool hasPartner = index + 1 < values.size();
    Value both = step(values[index], values[hasPartner ? index + 1 : index]);
    for (unsigned part = 0; part <= unsigned(hasPartner); ++part) {
      if (isa<VectorType>(both.getType()))
        results.push_back(e.make<LLVM::ExtractElementOp>(both, e.i32(part)));
      else
        results.push_back(e.make<LLVM::TruncOp>(i8, part ? shiftRight(both, 8) : both));
    }
  }
  return results;
}

//===----------------------------------------------------------------------===//
// 64, 32 and 16 bits
//===----------------------------------------------------------------------===//

Value Converter::oddFloat(Value x) {
  Value cut = intrinsic("llvm.nvvm.d2f.rz", f32, x);
  Value back = e.make<LLVM::FPExtOp>(x.getType(), cut);
  // NaN differs from itself, and stays NaN with one more bit.
  Value isInexact = e.make<LLVM::FCmpOp>(LLVM::FCmpPredicate::une, back, x);
  return e.bitcast(either(e.bitcast(cut, i32), e.make<LLVM::ZExtOp>(i32, isInexact)), f32);
}

Value Converter::floatFromBF16(Value x) {
  Value bits = e.make<LLVM::ZExtOp>(i32, e.bitcast(x, i16));
  return e.bitcast(shiftLeft(bits, 16), f32);
}

Value Converter::bf16ByHand(Value x) {
  Value bits = e.bitcast(x, i32), rounded = bits;
  if (!towardZero) {
    Value last = masked(shiftRight(bits, 16), 1);
    rounded = e.add(bits, e.add(last, number(0x7fff)));
  }
  Value isNan = e.make<LLVM::FCmpOp>(LLVM::FCmpPredicate::uno, x, x);
  rounded = e.select(isNan, number(0x7fff0000), rounded);
  return e.bitcast(e.make<LLVM::TruncOp>(i16, shiftRight(rounded, 16)), bf16);
}

/// f32 to f16 or bf16.
Registers Converter::toHalf(ArrayRef<Value> values, Type to) {
  bool hasPairs = e.capability() >= 80;
  if (to.isF16() && !hasPairs)
    return each(values, [&](Value x) -> Value {
      if (!towardZero)
        return e.make<LLVM::FPTruncOp>(f16, x);
      return e.bitcast(e.inlinePTX("cvt.rz.f16.f32 $0, $1;", "=h,f", i16, x, /*hasSideEffects=*/false), f16);
    });
  if (to.isBF16() && !hasPairs)
    return each(values, [&](Value x) { return bf16ByHand(x); });
  std::string name = to.isF16() ? "llvm.nvvm.ff2f16x2" : "llvm.nvvm.ff2bf16x2";
  name += towardZero ? ".rz" : ".rn";
  return pairs(values,
               [&](Value low, Value high) { return intrinsic(name, VectorType::get({2}, to), {high, low}); });
}

//===----------------------------------------------------------------------===//
// From 8 bits
//===----------------------------------------------------------------------===//

Registers Converter::fromFloat8(ArrayRef<Value> values, Type from, Type to) {
  // The upper byte of f16.
  if (isa<Float8E5M2Type>(from))
    return convert(
        each(values, [&](Value x) { return e.bitcast(shiftLeft(e.make<LLVM::ZExtOp>(i16, x), 8), f16); }),
        f16, to);
  if (isE4B15(from))
    return convert(each(values,
                        [&](Value x) {
                          Value bits = e.make<LLVM::ZExtOp>(i16, x);
                          Value magnitude = e.make<LLVM::UMinOp>(masked(bits, 0x7f), e.constant(i16, 0x7e));
                          return e.bitcast(either(shiftLeft(magnitude, 7), shiftLeft(masked(bits, 0x80), 8)),
                                           f16);
                        }),
                   f16, to);
  if (isa<Float8E4M3FNType>(from) && e.capability() >= 89)
    return convert(pairs(values,
                         [&](Value low, Value high) {
                           Value both = either(e.make<LLVM::ZExtOp>(i16, low),
                                               shiftLeft(e.make<LLVM::ZExtOp>(i16, high), 8));
                           return intrinsic("llvm.nvvm.e4m3x2.to.f16x2.rn", VectorType::get({2}, f16), both);
                         }),
                   f16, to);
  return convert(each(values, [&](Value x) { return decode(x, formatOf(from)); }), f32, to);
}

/// As f32: the bits moved to their place, with the difference of the biases as a factor.
Value Converter::decode(Value x, const Format8 &format) {
  Value bits = e.make<LLVM::ZExtOp>(i32, x);
  Value small = e.bitcast(shiftLeft(masked(bits, 0x7f), 23 - format.mantissa), f32);
  Value result = e.bitcast(scaled(small, 127 - format.bias), i32);
  result = either(result, shiftLeft(masked(bits, 0x80), 24));
  Value compared = format.hasMinusZero ? masked(bits, 0x7f) : bits;
  Value isNan = e.make<LLVM::ICmpOp>(LLVM::ICmpPredicate::eq, compared, number(format.nan));
  return e.bitcast(e.select(isNan, number(0x7fffffff), result), f32);
}

//===----------------------------------------------------------------------===//
// To 8 bits
//===----------------------------------------------------------------------===//

Registers Converter::toFloat8(ArrayRef<Value> values, Type from, Type to) {
  if (isE4B15(to)) {
    Registers halves = from.isF16() ? Registers(values) : Registers();
    if (halves.empty()) {
      Converter cutting(e, /*cuts=*/true);
      halves = cutting.convert(values, from, f16);
    }
    return each(halves, [&](Value x) { return encodeE4B15(x); });
  }
  bool isNative = e.capability() >= 89 && !towardZero && isa<Float8E4M3FNType, Float8E5M2Type>(to);
  std::string suffix = isa<Float8E5M2Type>(to) ? "e5m2x2.rn" : "e4m3x2.rn";
  if (isNative && from.isF16())
    return pairs(values, [&](Value low, Value high) {
      Value both = e.zero(VectorType::get({2}, f16));
      both = e.make<LLVM::InsertElementOp>(both, low, e.i32(0));
      both = e.make<LLVM::InsertElementOp>(both, high, e.i32(1));
      return intrinsic("llvm.nvvm.f16x2.to." + suffix, i16, both);
    });
  Registers wide =
      from.isF64() ? each(values, [&](Value x) { return oddFloat(x); }) : convert(values, from, f32);
  if (isNative)
    return pairs(wide, [&](Value low, Value high) {
      return intrinsic("llvm.nvvm.ff.to." + suffix, i16, {high, low});
    });
  return each(wide, [&](Value x) { return encode(x, formatOf(to)); });
}

/// Numbers below the format's least normal one, as multiples of its least.
Value Converter::encodeSmall(Value magnitude, const Format8 &format) {
  int leastExponent = 1 - format.bias - static_cast<int>(format.mantissa);
  Value x = e.bitcast(magnitude, f32);
  if (towardZero)
    return e.make<LLVM::FPToUIOp>(i32, scaled(x, -leastExponent));
  // In a sum with this number, the last bit has the weight of the least number.
  int64_t anchor = static_cast<int64_t>(leastExponent + 23 + 127) << 23;
  Value sum = e.make<LLVM::FAddOp>(x, e.bitcast(number(anchor), f32));
  return e.make<LLVM::SubOp>(e.bitcast(sum, i32), number(anchor));
}

Value Converter::encode(Value x, const Format8 &format) {
  Value bits = e.bitcast(x, i32);
  Value magnitude = masked(bits, 0x7fffffff);
  unsigned dropped = 23 - format.mantissa;
  Value rounded = magnitude;
  if (!towardZero) {
    Value last = masked(shiftRight(magnitude, dropped), 1);
    rounded = e.add(magnitude, e.add(last, number((int64_t(1) << (dropped - 1)) - 1)));
  }
  Value normal = e.make<LLVM::SubOp>(shiftRight(rounded, dropped),
                                     number(static_cast<int64_t>(127 - format.bias) << format.mantissa));
  Value isSmall = less(magnitude, static_cast<int64_t>(128 - format.bias) << 23);
  Value code = e.select(isSmall, encodeSmall(magnitude, format), normal);
  code = e.make<LLVM::UMinOp>(code, number(format.largest));
  Value result = either(code, masked(shiftRight(bits, 24), 0x80));
  if (!format.hasMinusZero)
    result = e.select(e.isZero(code), code, result);
  Value isNan = e.make<LLVM::FCmpOp>(LLVM::FCmpPredicate::uno, x, x);
  return e.make<LLVM::TruncOp>(i8, e.select(isNan, number(format.nan), result));
}

/// The bits of f16 between its sign and the fourth of its mantissa, at most 1.75; NaN becomes 1.75 too.
Value Converter::encodeE4B15(Value half) {
  constexpr int64_t largest = 0x3f00;
  Value bits = e.bitcast(half, i16);
  Value magnitude = e.make<LLVM::UMinOp>(masked(bits, 0x7fff), e.constant(i16, largest));
  if (!towardZero)
    magnitude = e.add(magnitude, e.constant(i16, 0x40));
  Value sign = masked(shiftRight(bits, 8), 0x80);
  return e.make<LLVM::TruncOp>(i8, either(shiftRight(magnitude, 7), sign));
}

} // namespace

Registers convertFloats(ThreadEmitter &e, ArrayRef<Value> values, Type from, Type to, bool towardZero) {
  return Converter(e, towardZero).convert(values, from, to);
}

} // namespace despina::nvptx
