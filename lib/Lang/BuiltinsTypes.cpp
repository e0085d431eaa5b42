//===- BuiltinsTypes.cpp - Types as values --------------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "BuiltinsImpl.h"
#include "Promotion.h"

namespace despina {

namespace {

const Type &self(const BuiltinArgs &args) { return args[0].dtype(); }
bool isScalar(const Type &type) { return type.kind() == Type::Kind::Scalar; }

template <ScalarKind Kind> Value isKind(Semantic &, const BuiltinArgs &args) {
  return Value::constant(self(args) == Type(Kind));
}
template <bool (Type::*Predicate)() const> Value holds(Semantic &, const BuiltinArgs &args) {
  return Value::constant(isScalar(self(args)) && (self(args).*Predicate)());
}
Value isPointer(Semantic &, const BuiltinArgs &args) { return Value::constant(self(args).isPointer()); }
Value isBlock(Semantic &, const BuiltinArgs &args) { return Value::constant(self(args).isBlock()); }
Value isConst(Semantic &, const BuiltinArgs &args) {
  return Value::constant(self(args).isPointer() && self(args).pointeeIsConst());
}
Value extremeOf(Semantic &semantic, const BuiltinArgs &args, bool isMax) {
  if (!isScalar(self(args)) || !self(args).isInt())
    return semantic.error(ErrorKind::Assertion, self(args).str() + " is not an integer type");
  ScalarKind kind = self(args).scalarKind();
  return Value::constant(isMax ? maxInteger(kind) : minInteger(kind));
}
Value intMax(Semantic &semantic, const BuiltinArgs &args) { return extremeOf(semantic, args, true); }
Value intMin(Semantic &semantic, const BuiltinArgs &args) { return extremeOf(semantic, args, false); }

Value withElement(Semantic &semantic, const BuiltinArgs &args) {
  std::optional<Type> element = typeArgument(semantic, args[1], "scalar_ty");
  return element ? Value::dtype(self(args).withScalar(*element)) : Value();
}
Value blockShapes(Semantic &, const BuiltinArgs &args) {
  std::vector<Value> extents;
  for (int64_t extent : self(args).shape())
    extents.push_back(Value::constant(extent));
  return Value::tuple(std::move(extents));
}

Value makeConstexpr(Semantic &semantic, const BuiltinArgs &args) {
  if (args[0].isTensor())
    return semantic.error(ErrorKind::Type,
                          "constexpr needs a value known at compile time, got " + args[0].str());
  return args[0];
}
Value makeTuple(Semantic &semantic, const BuiltinArgs &args) {
  const auto &values = args[0].tuple().elements;
  if (values.empty())
    return Value::tuple({});
  if (values.size() == 1 && values.front().isTuple())
    return Value::tuple(values.front().tuple().elements);
  return semantic.error(ErrorKind::Type, "tuple() takes one tuple, got " + args[0].str());
}
Value makeDtype(Semantic &semantic, const BuiltinArgs &args) {
  std::optional<std::string> name = constantString(semantic, args[0], "name");
  if (!name)
    return Value();
  if (std::optional<ScalarKind> kind = scalarByName(*name))
    return Value::dtype(*kind);
  return semantic.error(ErrorKind::Assertion, *name + " is not the name of a dtype");
}
Value makePointerType(Semantic &semantic, const BuiltinArgs &args) {
  std::optional<Type> element = typeArgument(semantic, args[0], "element_ty");
  std::optional<int64_t> space = element ? constantInt(semantic, args[1], "address_space") : std::nullopt;
  std::optional<bool> isConstant = space ? constantBool(semantic, args[2], "const") : std::nullopt;
  return isConstant ? Value::dtype(Type::pointer(*element, *isConstant, static_cast<int>(*space))) : Value();
}
Value makeBlockType(Semantic &semantic, const BuiltinArgs &args) {
  std::optional<Type> element = typeArgument(semantic, args[0], "element_ty");
  std::optional<llvm::SmallVector<int64_t, 4>> shape =
      element ? semantic.checkBlockShape(args[1]) : std::nullopt;
  if (!shape)
    return Value();
  if (shape->empty())
    return semantic.error(ErrorKind::Type, "0d block_type is forbidden");
  return Value::dtype(Type::block(element->scalar(), *shape));
}
Value identity(Semantic &, const BuiltinArgs &args) { return args[0]; }
/// Names that stand for a class and are never called in a kernel.
Value onlyType(Semantic &semantic, const BuiltinArgs &) {
  return semantic.error(ErrorKind::Type, "this type cannot be constructed in a kernel");
}

constexpr ParamDef selfParams[] = {{"self"}};
constexpr ParamDef withElementParams[] = {{"self"}, {"scalar_ty"}};
constexpr ParamDef valueParams[] = {{"value"}};
constexpr ParamDef nameParams[] = {{"name"}};
constexpr ParamDef argsParams[] = {{"args", nullptr, true}};
constexpr ParamDef replaceParams[] = {{"obj"}, {"*changes", nullptr, true}};
constexpr ParamDef pointerParams[] = {{"element_ty"}, {"address_space", "1"}, {"const", "False"}};
constexpr ParamDef blockParams[] = {{"element_ty"}, {"shape"}};

#define DESPINA_IS(NAME, KIND)                                                                               \
  {"dtype.is_" #NAME, selfParams, "Whether the type is " #NAME ".", isKind<ScalarKind::KIND>}
const BuiltinDef table[] = {
    {"language.constexpr", valueParams, "A value known at compile time.", makeConstexpr},
    {"language.core._unwrap_if_constexpr", valueParams, "The value itself: kernels see no wrapper.",
     identity},
    {"language.tuple", argsParams, "A tuple.", makeTuple},
    {"language.dtype", nameParams, "A scalar type by its name.", makeDtype},
    {"language.pointer_type", pointerParams, "The type of pointers to `element_ty`.", makePointerType},
    {"language.block_type", blockParams, "The type of blocks of `element_ty`.", makeBlockType},
    {"language.tensor", argsParams, "A run-time value: a block or a scalar.", onlyType},
    {"language.slice", argsParams, "A slice of a tuple.", onlyType},
    {"language.tuple_type", argsParams, "The type of a tuple.", onlyType},
    {"language.aggregate_replace", replaceParams, "A copy of an aggregate with some fields changed.",
     onlyType},
    {"language.const", argsParams, "Annotation of pointer arguments that are only read.", onlyType},
    {"language.constexpr_type", argsParams, "The type of a constexpr.", onlyType},
    {"language.tensor_descriptor", argsParams, "A tensor in memory that is accessed in blocks.", onlyType},
    {"language.tensor_descriptor_type", argsParams, "The type of a tensor descriptor.", onlyType},
    {"dtype.is_floating", selfParams, "Whether the type is a float.", holds<&Type::isFloating>},
    {"dtype.is_standard_floating", selfParams, "Whether the type is fp16, bf16, fp32 or fp64.",
     holds<&Type::isStandardFloat>},
    {"dtype.is_int", selfParams, "Whether the type is an integer.", holds<&Type::isInt>},
    {"dtype.is_int_signed", selfParams, "Whether the type is a signed integer.", holds<&Type::isSigned>},
    {"dtype.is_int_unsigned", selfParams, "Whether the type is an unsigned integer.",
     holds<&Type::isUnsigned>},
    {"dtype.is_fp8", selfParams, "Whether the type is an 8-bit float.", holds<&Type::isFP8>},
    {"dtype.is_bool", selfParams, "Whether the type is int1.", isKind<ScalarKind::Int1>},
    {"dtype.is_ptr", selfParams, "Whether the type is a pointer.", isPointer},
    {"dtype.is_block", selfParams, "Whether the type is a block.", isBlock},
    {"dtype.is_const", selfParams, "Whether the type is a pointer to constant memory.", isConst},
    {"dtype.get_int_max_value", selfParams, "The largest value of an integer type.", intMax},
    {"dtype.get_int_min_value", selfParams, "The smallest value of an integer type.", intMin},
    {"dtype.with_element_ty", withElementParams, "The type with another element.", withElement},
    {"dtype.get_block_shapes", selfParams, "The shape of a block type.", blockShapes},
    DESPINA_IS(fp8e4nv, FP8E4NV),
    DESPINA_IS(fp8e4b8, FP8E4B8),
    DESPINA_IS(fp8e4b15, FP8E4B15),
    DESPINA_IS(fp8e5, FP8E5),
    DESPINA_IS(fp8e5b16, FP8E5B16),
    DESPINA_IS(fp16, FP16),
    DESPINA_IS(bf16, BF16),
    DESPINA_IS(fp32, FP32),
    DESPINA_IS(fp64, FP64),
    DESPINA_IS(int1, Int1),
    DESPINA_IS(int8, Int8),
    DESPINA_IS(int16, Int16),
    DESPINA_IS(int32, Int32),
    DESPINA_IS(int64, Int64),
    DESPINA_IS(uint8, UInt8),
    DESPINA_IS(uint16, UInt16),
    DESPINA_IS(uint32, UInt32),
    DESPINA_IS(uint64, UInt64),
};
#undef DESPINA_IS

} // namespace

llvm::ArrayRef<BuiltinDef> typeBuiltins() { return table; }

} // namespace despina
