//===- SmallFloats.cpp - 8-bit floats as integers ---------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// In: tile IR with 8-bit floats. Out: the same with i8 in their place. Processors have no such type: it is
// moved as bytes, and every operation that looks at values computes in fp32 (a product of matrices in fp16,
// which holds every value of these formats). Narrowing saturates: what is too large becomes the largest
// finite number. fp8e4b15, which stands as Float8E4M3B11FNUZ, has no NaN: its last code is read as the one
// before it, and it is written through fp16.
//
//===----------------------------------------------------------------------===//
#include "Lowering.h"

#include "despina/IR/TT.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;

namespace despina::cpu {

namespace {

FloatType smallFloat(Type type) {
  auto real = dyn_cast<FloatType>(getElementTypeOrSelf(type));
  return real && real.getWidth() == 8 ? real : FloatType();
}

/// How a format lays out its bits.
struct Format {
  unsigned mantissaBits = 0;
  int bias = 0;
  /// Magnitudes above are infinite or NaN.
  unsigned largestFinite = 0;
  /// Infinity after the largest finite magnitude (e5m2).
  bool hasInfinity = false;
  /// The only NaN is the pattern of -0, and there is no -0 (fnuz).
  bool unsignedZero = false;
  /// No NaN and no infinity (fp8e4b15).
  bool onlyNumbers = false;
};

std::optional<Format> formatOf(FloatType type) {
  if (isa<Float8E5M2Type>(type))
    return Format{2, 15, 0x7b, true, false};
  if (isa<Float8E5M2FNUZType>(type))
    return Format{2, 16, 0x7f, false, true};
  if (isa<Float8E4M3FNType>(type))
    return Format{3, 7, 0x7e, false, false};
  if (isa<Float8E4M3FNUZType>(type))
    return Format{3, 8, 0x7f, false, true};
  if (isa<Float8E4M3B11FNUZType>(type))
    return Format{3, 15, 0x7e, false, false, true};
  return std::nullopt;
}

/// Makes the integer code of conversions, on scalars or tiles.
class Bits {
public:
  Bits(OpBuilder &b, Location loc, Type shape, const Format &format)
      : b_(b), loc_(loc), shape_(shape), format_(format), shift_(23 - format.mantissaBits) {}

  /// i8 to fp32; exact.
  Value decode(Value byte) {
    Value x = arith::ExtUIOp::create(b_, loc_, like(b_.getI32Type()), byte);
    Value magnitude = both(x, 0x7f), sign = left(both(x, 0x80), 24);
    if (format_.onlyNumbers)
      magnitude = arith::MinUIOp::create(b_, loc_, magnitude, integer(format_.largestFinite));
    // The exponent is that of fp32 with another bias: a product corrects it, and makes denormals normal.
    Value scaled =
        arith::MulFOp::create(b_, loc_, asFloat(left(magnitude, shift_)), power(127 - format_.bias));
    Value result = asInt(scaled);
    constexpr int64_t infinity = 0x7f800000, nan = 0x7fc00000;
    if (format_.onlyNumbers)
      return asFloat(or_(result, sign));
    if (format_.unsignedZero) {
      Value isNan = compare(arith::CmpIPredicate::eq, x, 0x80);
      return asFloat(select(isNan, integer(nan), or_(result, sign)));
    }
    if (format_.hasInfinity)
      result = select(compare(arith::CmpIPredicate::eq, magnitude, format_.largestFinite + 1),
                      integer(infinity), result);
    Value isNan =
        compare(arith::CmpIPredicate::ugt, magnitude, format_.largestFinite + (format_.hasInfinity ? 1 : 0));
    return asFloat(or_(select(isNan, integer(nan), result), sign));
  }

  /// fp32 to i8.
  Value encode(Value real, bool towardZero) {
    if (format_.onlyNumbers)
      return encodeThroughHalf(real, towardZero);
    Value x = asInt(real);
    Value magnitude = both(x, 0x7fffffff);
    Value isNan = compare(arith::CmpIPredicate::ugt, magnitude, 0x7f800000);
    int64_t rebias = int64_t(127 - format_.bias) << format_.mantissaBits;
    Value finite =
        arith::MinUIOp::create(b_, loc_, magnitude, integer((format_.largestFinite + rebias) << shift_));
    Value code = select(compare(arith::CmpIPredicate::ult, finite, int64_t(128 - format_.bias) << 23),
                        denormal(finite, towardZero), normal(finite, rebias, towardZero));
    Value sign = both(right(x, 24), 0x80);
    if (format_.unsignedZero)
      sign = select(compare(arith::CmpIPredicate::eq, code, 0), integer(0), sign);
    Value result = or_(code, sign);
    result = select(isNan, format_.unsignedZero ? integer(0x80) : or_(integer(0x7f), sign), result);
    return arith::TruncIOp::create(b_, loc_, like(b_.getI8Type()), result);
  }

private:
  Type like(Type element) {
    auto tile = dyn_cast<RankedTensorType>(shape_);
    return tile ? Type(tile.clone(element)) : element;
  }
  Value constant(Attribute element, Type type) {
    if (auto tile = dyn_cast<RankedTensorType>(type))
      element = DenseElementsAttr::get(tile, element);
    return arith::ConstantOp::create(b_, loc_, cast<TypedAttr>(element));
  }
  Value integer(int64_t value) {
    return constant(b_.getI32IntegerAttr(int32_t(value)), like(b_.getI32Type()));
  }
  Value power(int exponent) {
    return constant(b_.getF32FloatAttr(std::ldexp(1.0f, exponent)), like(b_.getF32Type()));
  }
  Value both(Value x, int64_t mask) { return arith::AndIOp::create(b_, loc_, x, integer(mask)); }
  Value or_(Value x, Value y) { return arith::OrIOp::create(b_, loc_, x, y); }
  Value left(Value x, int64_t count) { return arith::ShLIOp::create(b_, loc_, x, integer(count)); }
  Value right(Value x, int64_t count) { return arith::ShRUIOp::create(b_, loc_, x, integer(count)); }
  Value asFloat(Value x) { return arith::BitcastOp::create(b_, loc_, like(b_.getF32Type()), x); }
  Value asInt(Value x) { return arith::BitcastOp::create(b_, loc_, like(b_.getI32Type()), x); }
  Value compare(arith::CmpIPredicate predicate, Value x, int64_t y) {
    return arith::CmpIOp::create(b_, loc_, predicate, x, integer(y));
  }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b_, loc_, condition, x, y);
  }

  /// fp16, cut off, has the same exponents: its bits from the sign's place on, ties away from zero.
  Value encodeThroughHalf(Value real, bool towardZero) {
    constexpr int64_t largestHalf = 0x3f00, halfOfLast = 0x40, droppedBits = 7;
    auto cut = tt::RoundingModeAttr::get(b_.getContext(), tt::RoundingMode::RTZ);
    Value half = tt::FpToFpOp::create(b_, loc_, like(b_.getF16Type()), real, cut);
    Value bits = arith::BitcastOp::create(b_, loc_, like(b_.getI16Type()), half);
    bits = arith::ExtUIOp::create(b_, loc_, like(b_.getI32Type()), bits);
    Value magnitude = arith::MinUIOp::create(b_, loc_, both(bits, 0x7fff), integer(largestHalf));
    if (!towardZero)
      magnitude = arith::AddIOp::create(b_, loc_, magnitude, integer(halfOfLast));
    Value result = or_(right(magnitude, droppedBits), both(right(bits, 8), 0x80));
    return arith::TruncIOp::create(b_, loc_, like(b_.getI8Type()), result);
  }

  /// Rounds away the mantissa's low bits, then counts the exponent anew.
  Value normal(Value magnitude, int64_t rebias, bool towardZero) {
    if (!towardZero) {
      Value odd = both(right(magnitude, shift_), 1);
      Value half = arith::AddIOp::create(b_, loc_, odd, integer((int64_t(1) << (shift_ - 1)) - 1));
      magnitude = arith::AddIOp::create(b_, loc_, magnitude, half);
    }
    return arith::SubIOp::create(b_, loc_, right(magnitude, shift_), integer(rebias));
  }
  /// How many of the smallest denormal there are.
  Value denormal(Value magnitude, bool towardZero) {
    int unit = 1 - format_.bias - int(format_.mantissaBits);
    if (towardZero) {
      Value count = arith::MulFOp::create(b_, loc_, asFloat(magnitude), power(-unit));
      return arith::FPToSIOp::create(b_, loc_, like(b_.getI32Type()), count);
    }
    // In a sum with 2^23 units the last bit of fp32 is one unit: the addition rounds.
    Value base = power(unit + 23);
    Value sum = arith::AddFOp::create(b_, loc_, asFloat(magnitude), base);
    return arith::SubIOp::create(b_, loc_, asInt(sum), asInt(base));
  }

  OpBuilder &b_;
  Location loc_;
  Type shape_;
  Format format_;
  unsigned shift_;
};

Type withElement(Type type, Type element) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile ? Type(tile.clone(element)) : element;
}

/// A float under another standard type.
Value convertStandard(OpBuilder &b, Location loc, Value x, Type element) {
  auto from = cast<FloatType>(getElementTypeOrSelf(x.getType())), to = cast<FloatType>(element);
  Type type = withElement(x.getType(), element);
  if (from == to)
    return x;
  if (from.getWidth() < to.getWidth())
    return arith::ExtFOp::create(b, loc, type, x);
  return arith::TruncFOp::create(b, loc, type, x);
}

/// fp64 to fp32, cut off and with an odd last bit where that is inexact: a second rounding then gives what
/// one rounding would.
Value cutToOdd(OpBuilder &b, Location loc, Value x) {
  Type single = withElement(x.getType(), b.getF32Type()), integer = withElement(x.getType(), b.getI32Type());
  auto mode = tt::RoundingModeAttr::get(b.getContext(), tt::RoundingMode::RTZ);
  Value cut = tt::FpToFpOp::create(b, loc, single, x, mode);
  Value back = arith::ExtFOp::create(b, loc, x.getType(), cut);
  Value isInexact = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ONE, back, x);
  Value odd = arith::OrIOp::create(b, loc, arith::BitcastOp::create(b, loc, integer, cut),
                                   arith::ExtUIOp::create(b, loc, integer, isInexact));
  return arith::BitcastOp::create(b, loc, single, odd);
}

/// `byte` (an operand after its conversion) as a float of type `element`.
Value decodeTo(OpBuilder &b, Location loc, Value byte, FloatType small, Type element) {
  Value wide = Bits(b, loc, byte.getType(), *formatOf(small)).decode(byte);
  return convertStandard(b, loc, wide, element);
}

struct RewriteCast : OpConversionPattern<tt::FpToFpOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tt::FpToFpOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const final {
    Location loc = op.getLoc();
    Value x = adaptor.getSrc();
    FloatType from = smallFloat(op.getSrc().getType()), to = smallFloat(op.getType());
    Type single = b.getF32Type();
    x = from ? decodeTo(b, loc, x, from, single) : x;
    if (!to) {
      b.replaceOp(op, convertStandard(b, loc, x, getElementTypeOrSelf(op.getType())));
      return success();
    }
    bool towardZero = op.getRounding() == tt::RoundingMode::RTZ;
    x = getElementTypeOrSelf(x.getType()).isF64() ? cutToOdd(b, loc, x) : convertStandard(b, loc, x, single);
    b.replaceOp(op, Bits(b, loc, x.getType(), *formatOf(to)).encode(x, towardZero));
    return success();
  }
};

struct RewriteConstant : OpConversionPattern<arith::ConstantOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(arith::ConstantOp op, OpAdaptor, ConversionPatternRewriter &b) const final {
    if (!smallFloat(op.getType()))
      return failure();
    if (auto real = dyn_cast<FloatAttr>(op.getValue())) {
      b.replaceOpWithNewOp<arith::ConstantOp>(
          op, b.getIntegerAttr(b.getI8Type(), real.getValue().bitcastToAPInt()));
      return success();
    }
    auto elements = dyn_cast<DenseFPElementsAttr>(op.getValue());
    if (!elements)
      return failure();
    Attribute bits = elements.mapValues(b.getI8Type(), [](const APFloat &x) { return x.bitcastToAPInt(); });
    b.replaceOpWithNewOp<arith::ConstantOp>(op, cast<TypedAttr>(bits));
    return success();
  }
};

struct RewriteBitcast : OpConversionPattern<arith::BitcastOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(arith::BitcastOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const final {
    Type type = getTypeConverter()->convertType(op.getType());
    if (adaptor.getIn().getType() != type)
      return failure();
    b.replaceOp(op, adaptor.getIn());
    return success();
  }
};

struct RewriteDot : OpConversionPattern<tt::DotOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tt::DotOp op, OpAdaptor adaptor, ConversionPatternRewriter &b) const final {
    Location loc = op.getLoc();
    FloatType lhs = smallFloat(op.getA().getType()), rhs = smallFloat(op.getB().getType());
    if (!lhs || !rhs || smallFloat(op.getType()))
      return failure();
    Value x = decodeTo(b, loc, adaptor.getA(), lhs, b.getF16Type());
    Value y = decodeTo(b, loc, adaptor.getB(), rhs, b.getF16Type());
    b.replaceOpWithNewOp<tt::DotOp>(op, op.getType(), x, y, adaptor.getC(), op.getInputPrecision(),
                                    op.getMaxNumImpreciseAcc());
    return success();
  }
};

/// Any other operation: arithmetic computes in fp32 between conversions, the rest only moves bytes.
struct RewriteAny : ConversionPattern {
  RewriteAny(const TypeConverter &converter, MLIRContext *context)
      : ConversionPattern(converter, MatchAnyOpTypeTag(), /*benefit=*/0, context) {}

  static bool computes(Operation *op) {
    StringRef dialect = op->getName().getDialectNamespace();
    if (isa<tt::ClampFOp, tt::PreciseSqrtOp, tt::PreciseDivFOp>(op))
      return true;
    return (dialect == "arith" || dialect == "math") && !isa<arith::SelectOp, arith::ConstantOp>(op);
  }

  LogicalResult matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                                ConversionPatternRewriter &b) const final {
    const TypeConverter &converter = *getTypeConverter();
    SmallVector<Type> types;
    if (failed(converter.convertTypes(op->getResultTypes(), types)))
      return failure();
    SmallVector<Value> values(operands);
    bool inSingle = computes(op);
    for (auto [value, original] : llvm::zip_equal(values, op->getOperandTypes()))
      if (FloatType small = smallFloat(original); small && inSingle)
        value = decodeTo(b, op->getLoc(), value, small, b.getF32Type());
    for (auto [type, original] : llvm::zip_equal(types, op->getResultTypes()))
      if (smallFloat(original) && inSingle)
        type = withElement(original, b.getF32Type());
    OperationState state(op->getLoc(), op->getName(), values, types,
                         op->getDiscardableAttrDictionary().getValue(), op->getSuccessors());
    state.propertiesAttr = op->getPropertiesAsAttribute();
    for (unsigned i = 0; i < op->getNumRegions(); ++i)
      state.addRegion();
    Operation *copy = b.create(state);
    for (auto [from, to] : llvm::zip(op->getRegions(), copy->getRegions())) {
      b.inlineRegionBefore(from, to, to.end());
      if (failed(b.convertRegionTypes(&to, converter)))
        return failure();
    }
    SmallVector<Value> results(copy->getResults());
    for (auto [result, original] : llvm::zip_equal(results, op->getResultTypes()))
      if (FloatType small = smallFloat(original); small && inSingle)
        result =
            Bits(b, op->getLoc(), result.getType(), *formatOf(small)).encode(result, /*towardZero=*/false);
    b.replaceOp(op, results);
    return success();
  }
};

struct RewriteFunction : OpConversionPattern<tt::FuncOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tt::FuncOp op, OpAdaptor, ConversionPatternRewriter &b) const final {
    const TypeConverter &converter = *getTypeConverter();
    SmallVector<Type> inputs, results;
    if (failed(converter.convertTypes(op.getArgumentTypes(), inputs)) ||
        failed(converter.convertTypes(op.getResultTypes(), results)))
      return failure();
    if (!op.isExternal() && failed(b.convertRegionTypes(&op.getBody(), converter)))
      return failure();
    b.modifyOpInPlace(op, [&] { op.setFunctionType(b.getFunctionType(inputs, results)); });
    return success();
  }
};

std::optional<Type> convertSmall(Type type) {
  if (auto pointer = dyn_cast<tt::PointerType>(type)) {
    std::optional<Type> pointee = convertSmall(pointer.getPointeeType());
    return pointee ? std::optional<Type>(tt::PointerType::get(*pointee, pointer.getAddressSpace()))
                   : std::nullopt;
  }
  if (auto tile = dyn_cast<RankedTensorType>(type)) {
    std::optional<Type> element = convertSmall(tile.getElementType());
    return element ? std::optional<Type>(tile.clone(*element)) : std::nullopt;
  }
  auto real = dyn_cast<FloatType>(type);
  if (real && real.getWidth() == 8 && formatOf(real))
    return IntegerType::get(type.getContext(), 8);
  return std::nullopt;
}

bool hasSmallFloats(ModuleOp module) {
  auto isSmall = [](Type type) { return convertSmall(type).has_value(); };
  return module
      .walk([&](Operation *op) {
        auto func = dyn_cast<tt::FuncOp>(op);
        bool found = llvm::any_of(op->getOperandTypes(), isSmall) ||
                     llvm::any_of(op->getResultTypes(), isSmall) ||
                     (func && llvm::any_of(func.getArgumentTypes(), isSmall));
        return found ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

} // namespace

LogicalResult replaceSmallFloats(ModuleOp module) {
  if (!hasSmallFloats(module))
    return success();
  MLIRContext *context = module.getContext();
  TypeConverter converter;
  converter.addConversion([](Type type) { return convertSmall(type).value_or(type); });
  RewritePatternSet patterns(context);
  scf::populateSCFStructuralTypeConversions(converter, patterns);
  patterns.add<RewriteCast, RewriteConstant, RewriteBitcast, RewriteDot, RewriteFunction>(converter, context);
  patterns.add<RewriteAny>(converter, context);
  ConversionTarget target(*context);
  target.markUnknownOpDynamicallyLegal([&](Operation *op) {
    if (auto func = dyn_cast<tt::FuncOp>(op))
      return converter.isSignatureLegal(func.getFunctionType());
    bool regionsAreLegal =
        llvm::all_of(op->getRegions(), [&](Region &region) { return converter.isLegal(&region); });
    return converter.isLegal(op) && (isa<ModuleOp>(op) || regionsAreLegal);
  });
  return applyFullConversion(module, target, std::move(patterns));
}

} // namespace despina::cpu
