//===- Libdevice.cpp - Calls of a device's math library ---------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Functions that are an operation or a few become that, on whole vectors. The others are calls of the
// runtime's C functions (Runtime/DeviceFunctions.h), lane by lane.
//
//===----------------------------------------------------------------------===//
#include "Lowering.h"
#include "TileEmitter.h"
#include "VectorMath.h"

#include "despina/Runtime/DeviceFunctions.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace despina::cpu {

namespace {

/// The operations of one call, on scalars or vectors.
class InlineFunction {
public:
  InlineFunction(OpBuilder &builder, Location location, const CPUOptions &cpuOptions, ValueRange operands,
                 Type resultType)
      : b(builder), loc(location), options(cpuOptions), x(operands), type(resultType) {}

  /// Null for functions that are called. `name` is without the library's prefix.
  Value emit(StringRef name) {
    if (Value result = emitMoved(name))
      return result;
    Type element = getElementTypeOrSelf(x[0].getType());
    if (!isa<FloatType>(element))
      return {};
    if (Value result = emitClass(name))
      return result;
    // Names of float and double differ in a letter at the front or the end.
    name.consume_back(element.isF32() ? "f" : "");
    if (Value result = emitPlain(name))
      return result;
    return name.consume_back("_rn") ? emitNearest(name) : Value();
  }

private:
  Type like(Type element) {
    auto vector = dyn_cast<VectorType>(type);
    return vector ? Type(vector.clone(element)) : element;
  }
  Value constant(Type vectorOrScalar, TypedAttr value) {
    if (auto vector = dyn_cast<VectorType>(vectorOrScalar))
      value = DenseElementsAttr::get(vector, Attribute(value));
    return arith::ConstantOp::create(b, loc, value);
  }
  Value number(double value) { return constant(type, b.getFloatAttr(getElementTypeOrSelf(type), value)); }
  Value asFlag(Value condition) { return arith::ExtUIOp::create(b, loc, type, condition); }
  Value compare(arith::CmpFPredicate predicate, Value left, Value right) {
    return arith::CmpFOp::create(b, loc, predicate, left, right);
  }

  Value emitMoved(StringRef name) {
    bool moves = llvm::StringSwitch<bool>(name)
                     .Cases({"float_as_int", "float_as_uint", "int_as_float", "uint_as_float",
                             "double_as_longlong", "longlong_as_double"},
                            true)
                     .Default(false);
    return moves ? Value(arith::BitcastOp::create(b, loc, type, x[0])) : Value();
  }

  Value emitClass(StringRef name) {
    if (name == "isnanf" || name == "isnand")
      return asFlag(compare(arith::CmpFPredicate::UNO, x[0], x[0]));
    Type real = getElementTypeOrSelf(x[0].getType());
    auto toInfinity = [&](arith::CmpFPredicate predicate) {
      Value infinity =
          constant(x[0].getType(), b.getFloatAttr(real, std::numeric_limits<double>::infinity()));
      return asFlag(compare(predicate, math::AbsFOp::create(b, loc, x[0]), infinity));
    };
    if (name == "isinff" || name == "isinfd")
      return toInfinity(arith::CmpFPredicate::OEQ);
    if (name == "finitef" || name == "isfinited")
      return toInfinity(arith::CmpFPredicate::ONE);
    if (name != "signbitf" && name != "signbitd")
      return {};
    Type integer = b.getIntegerType(real.getIntOrFloatBitWidth());
    Value bits = arith::BitcastOp::create(b, loc, like(integer), x[0]);
    Value zero = constant(bits.getType(), b.getIntegerAttr(integer, 0));
    return asFlag(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, bits, zero));
  }

  Value emitPlain(StringRef name) {
    if (name == "fma")
      return LLVM::FMAOp::create(b, loc, type, x);
    if (name == "copysign")
      return math::CopySignOp::create(b, loc, x[0], x[1]);
    if (name == "trunc")
      return math::TruncOp::create(b, loc, x[0]);
    if (name == "round")
      return math::RoundOp::create(b, loc, x[0]);
    if (name == "rint" || name == "nearbyint")
      return math::RoundEvenOp::create(b, loc, x[0]);
    if (name == "fast_fdivide" || name == "fast_fdividef")
      return arith::DivFOp::create(b, loc, x[0], x[1]);
    if (name == "tanh")
      return emitMath(b, loc, MathFunction::Tanh, x[0], options);
    if (name != "saturate")
      return {};
    // NaN gives 0.
    Value positive = arith::MaxNumFOp::create(b, loc, x[0], number(0));
    return arith::MinNumFOp::create(b, loc, positive, number(1));
  }

  /// Arithmetic that rounds to nearest, but never together with other operations.
  Value emitNearest(StringRef name) {
    if (name == "fma" || name == "fmaf")
      return LLVM::FMAOp::create(b, loc, type, x);
    if (!name.consume_front(getElementTypeOrSelf(type).isF32() ? "f" : "d"))
      return {};
    if (name == "add")
      return arith::AddFOp::create(b, loc, x[0], x[1]);
    if (name == "sub")
      return arith::SubFOp::create(b, loc, x[0], x[1]);
    if (name == "mul")
      return arith::MulFOp::create(b, loc, x[0], x[1]);
    if (name == "div")
      return arith::DivFOp::create(b, loc, x[0], x[1]);
    if (name == "rcp")
      return arith::DivFOp::create(b, loc, number(1), x[0]);
    return name == "sqrt" ? Value(math::SqrtOp::create(b, loc, x[0])) : Value();
  }

  OpBuilder &b;
  Location loc;
  const CPUOptions &options;
  ValueRange x;
  Type type;
};

/// Without effects, so that equal calls become one and unused ones disappear.
void markPure(LLVM::LLVMFuncOp function) {
  using LLVM::ModRefInfo;
  function.setMemoryEffectsAttr(LLVM::MemoryEffectsAttr::get(
      function.getContext(), {ModRefInfo::NoModRef, ModRefInfo::NoModRef, ModRefInfo::NoModRef,
                              ModRefInfo::NoModRef, ModRefInfo::NoModRef, ModRefInfo::NoModRef}));
  function.setNoUnwindAttr(UnitAttr::get(function.getContext()));
  function.setWillReturnAttr(UnitAttr::get(function.getContext()));
}

bool fitsLetter(Type type, char letter) {
  switch (letter) {
  case 'i':
  case 'u': return type.isInteger(32);
  case 'l':
  case 'L': return type.isInteger(64);
  case 'f': return type.isF32();
  default: return type.isF64();
  }
}

} // namespace

bool isDeviceFunction(Operation *call) {
  auto op = cast<tt::ExternElementwiseOp>(call);
  const DeviceFunction *function = findDeviceFunction(op.getSymbol());
  if (!function || !op.getPure() || function->types.size() != op.getNumOperands() + 2)
    return false;
  for (auto [letter, operand] : llvm::zip(function->types, op->getOperandTypes()))
    if (!fitsLetter(getElementTypeOrSelf(operand), letter))
      return false;
  return fitsLetter(getElementTypeOrSelf(op.getType()), function->types.back());
}

LLVM::LLVMFuncOp TileEmitter::deviceFunction(StringRef symbol, TypeRange arguments, Type result) {
  if (auto known = output.lookupSymbol<LLVM::LLVMFuncOp>(symbol))
    return known;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(output.getBody());
  auto type = LLVM::LLVMFunctionType::get(result, llvm::to_vector(arguments));
  auto function = LLVM::LLVMFuncOp::create(b, loc, symbol, type);
  markPure(function);
  return function;
}

Value TileEmitter::emitExtern(tt::ExternElementwiseOp op, ValueRange operands, int64_t count) {
  Type element = getElementTypeOrSelf(op.getType());
  StringRef name = op.getSymbol();
  name.consume_front("__nv_");
  if (Value result = InlineFunction(b, loc, options, operands, laneType(element, count)).emit(name))
    return result;
  SmallVector<Type> types;
  for (Value operand : operands)
    types.push_back(getElementTypeOrSelf(operand.getType()));
  LLVM::LLVMFuncOp callee = deviceFunction(op.getSymbol(), types, element);
  if (count == 1)
    return LLVM::CallOp::create(b, loc, callee, operands).getResult();
  Value result = zeroOf(laneType(element, count));
  for (int64_t lane = 0; lane != count; ++lane) {
    SmallVector<Value> scalars;
    for (Value operand : operands)
      scalars.push_back(vector::ExtractOp::create(b, loc, operand, lane));
    Value one = LLVM::CallOp::create(b, loc, callee, scalars).getResult();
    result = vector::InsertOp::create(b, loc, one, result, lane);
  }
  return result;
}

} // namespace despina::cpu
