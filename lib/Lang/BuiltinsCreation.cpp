//===- BuiltinsCreation.cpp - Programs, creation of tensors, casts --------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "BuiltinsImpl.h"
#include "PyNumber.h"

#include "llvm/Support/MathExtras.h"

namespace despina {

namespace {

Value program(Semantic &semantic, const Value &axisValue, bool count) {
  std::optional<int64_t> axis = constantInt(semantic, axisValue, "axis");
  if (!axis)
    return Value();
  if (*axis < 0 || *axis > 2)
    return semantic.error(ErrorKind::Value, std::string(count ? "num_programs" : "program_id") +
                                                " axis must be 0, 1, or 2 but got " + std::to_string(*axis));
  Builder &builder = semantic.builder();
  int dimension = static_cast<int>(*axis);
  return Value::tensor(ScalarKind::Int32,
                       count ? builder.numPrograms(dimension) : builder.programId(dimension));
}

Value programId(Semantic &semantic, const BuiltinArgs &args) { return program(semantic, args[0], false); }
Value numPrograms(Semantic &semantic, const BuiltinArgs &args) { return program(semantic, args[0], true); }

Value arange(Semantic &semantic, const BuiltinArgs &args) {
  for (const Value *bound : {&args[0], &args[1]})
    if (!bound->isConstant() || !bound->constant().isInt())
      return semantic.error(ErrorKind::Value, "arange's arguments must be of type tl.constexpr",
                            "a block has a fixed size: add what is only known at run time to the block");
  std::optional<int64_t> start = args[0].constant().asInt64(), end = args[1].constant().asInt64();
  if (!start || !end || !llvm::isInt<32>(*start) || !llvm::isInt<32>(*end))
    return semantic.error(ErrorKind::Value, "arange must fit in int32");
  if (*end <= *start)
    return semantic.error(ErrorKind::Value, "arange's end argument must be greater than the start argument");
  int64_t range = *end - *start;
  if (!llvm::isPowerOf2_64(static_cast<uint64_t>(range)))
    return semantic.error(ErrorKind::Value, "arange's range must be a power of 2",
                          "take " + std::to_string(llvm::NextPowerOf2(static_cast<uint64_t>(range))) +
                              " elements, and a mask for those that you want");
  Value extent = Value::constant(range);
  if (!semantic.checkBlockShape(Value::tuple({extent})))
    return Value();
  return Value::tensor(
      Type::block(ScalarKind::Int32, {range}),
      semantic.builder().makeRange(static_cast<int32_t>(*start), static_cast<int32_t>(*end)));
}

Value fullOf(Semantic &semantic, const Value &shape, const Value &value, const Value &dtype) {
  std::optional<llvm::SmallVector<int64_t, 4>> extents = semantic.checkBlockShape(shape);
  if (!extents)
    return Value();
  if (value.isTensor()) {
    Value scalar = value;
    if (value.type().isBlock()) {
      if (value.type().numel() != 1)
        return semantic.error(ErrorKind::Assertion, "only accepts size-1 tensor");
      scalar = Value::tensor(value.type().scalar(), semantic.builder().unsplat(value.handle()));
    }
    if (!dtype.isNone()) {
      std::optional<Type> type = typeArgument(semantic, dtype, "dtype");
      scalar = type ? semantic.cast(scalar, *type) : Value();
    }
    return scalar ? semantic.broadcastTo(scalar, *extents) : Value();
  }
  if (dtype.isNone())
    return semantic.error(ErrorKind::Value, "dtype must be specified when value is not a tensor");
  std::optional<Type> type = typeArgument(semantic, dtype, "dtype");
  if (!type)
    return Value();
  if (!value.isConstant())
    return semantic.toTensor(value);
  return semantic.typedConstant(value.constant(), type->scalar().withShape(*extents));
}

Value full(Semantic &semantic, const BuiltinArgs &args) {
  return fullOf(semantic, args[0], args[1], args[2]);
}

Value zeros(Semantic &semantic, const BuiltinArgs &args) {
  return fullOf(semantic, args[0], Value::constant(0), args[1]);
}

Value zerosLike(Semantic &semantic, const BuiltinArgs &args) {
  Value x = semantic.toTensor(args[0]);
  return x ? semantic.typedConstant(Constant(0), x.type()) : Value();
}

Value toTensor(Semantic &semantic, const BuiltinArgs &args) { return semantic.toTensor(args[0]); }

Value castTo(Semantic &semantic, const BuiltinArgs &args) {
  std::optional<Type> type = typeArgument(semantic, args[1], "dtype");
  std::optional<bool> bitcast = type ? constantBool(semantic, args[3], "bitcast") : std::nullopt;
  if (!bitcast)
    return Value();
  if (args[2].isNone())
    return semantic.cast(args[0], *type, std::nullopt, *bitcast);
  std::optional<std::string> rounding = constantString(semantic, args[2], "fp_downcast_rounding");
  return rounding ? semantic.cast(args[0], *type, llvm::StringRef(*rounding), *bitcast) : Value();
}

constexpr ParamDef axisParams[] = {{"axis"}};
constexpr ParamDef arangeParams[] = {{"start"}, {"end"}};
constexpr ParamDef fullParams[] = {{"shape"}, {"value"}, {"dtype"}};
constexpr ParamDef zerosParams[] = {{"shape"}, {"dtype"}};
constexpr ParamDef inputParams[] = {{"input"}};
constexpr ParamDef castParams[] = {
    {"input"}, {"dtype"}, {"fp_downcast_rounding", "None"}, {"bitcast", "False"}};

const BuiltinDef table[] = {
    {"language.program_id", axisParams,
     "The index of this program along `axis` (0, 1 or 2), an int32 scalar.", programId},
    {"language.num_programs", axisParams, "The number of programs along `axis` (0, 1 or 2), an int32 scalar.",
     numPrograms},
    {"language.arange", arangeParams,
     "The int32 block start, start + 1, ..., end - 1; the length is a power of two.", arange},
    {"language.full", fullParams, "A tensor of the given shape and dtype, filled with `value`.", full},
    {"language.zeros", zerosParams, "A tensor of zeros.", zeros},
    {"language.zeros_like", inputParams, "A tensor of zeros with the shape and dtype of `input`.", zerosLike},
    {"language.to_tensor", inputParams, "A Python number as a run-time scalar.", toTensor},
    {"language.cast", castParams, "`input` converted to `dtype`, or its bits read as `dtype`.", castTo, true,
     false, /*subject=*/-1},
    {"tensor.to", castParams, "The tensor converted to `dtype`, or its bits read as `dtype`.", castTo, true,
     false, /*subject=*/-1},
};

} // namespace

llvm::ArrayRef<BuiltinDef> creationBuiltins() { return table; }

} // namespace despina
