//===- BuiltinsAssembly.cpp - Inline assembly -----------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Spec triton_language 1.12.
//
//===----------------------------------------------------------------------===//
#include "BuiltinsImpl.h"

namespace despina {

namespace {

/// The result types: one, or a tuple of them. None after an error.
std::optional<llvm::SmallVector<Type, 4>> resultTypes(Semantic &semantic, const Value &dtype) {
  llvm::SmallVector<Type, 4> types;
  llvm::ArrayRef<Value> given =
      dtype.isTuple() ? llvm::ArrayRef(dtype.tuple().elements) : llvm::ArrayRef(dtype);
  for (const Value &element : given) {
    std::optional<Type> type = typeArgument(semantic, element, "dtype");
    if (!type)
      return std::nullopt;
    if (type->kind() != Type::Kind::Scalar && !type->isPointer()) {
      semantic.error(ErrorKind::Type, "dtype must be a scalar type or a tuple of them, got " + type->str());
      return std::nullopt;
    }
    types.push_back(*type);
  }
  if (types.empty())
    semantic.error(ErrorKind::Value, "inline_asm_elementwise needs at least one output");
  return types.empty() ? std::nullopt : std::optional(types);
}

Value inlineAssembly(Semantic &semantic, const BuiltinArgs &args) {
  std::optional<std::string> text = constantString(semantic, args[0], "asm");
  std::optional<std::string> constraints =
      text ? constantString(semantic, args[1], "constraints") : std::nullopt;
  auto types = constraints ? resultTypes(semantic, args[3]) : std::nullopt;
  std::optional<bool> isPure = types ? constantBool(semantic, args[4], "is_pure") : std::nullopt;
  std::optional<int64_t> pack = isPure ? constantInt(semantic, args[5], "pack") : std::nullopt;
  if (!pack)
    return Value();
  llvm::SmallVector<Value, 4> inputs;
  llvm::ArrayRef<Value> given =
      args[2].isTuple() ? llvm::ArrayRef(args[2].tuple().elements) : llvm::ArrayRef(args[2]);
  for (const Value &input : given) {
    inputs.push_back(semantic.toTensor(input));
    if (!inputs.back())
      return Value();
  }
  if (!broadcastAll(semantic, inputs))
    return Value();
  Type shape = inputs.empty() ? Type(ScalarKind::Int32) : inputs.front().type();
  int64_t elements = shape.numel();
  if (*pack < 1 || *pack > INT32_MAX || (shape.isBlock() && elements % *pack != 0))
    return semantic.error(ErrorKind::Value, "pack must divide the number of elements (" +
                                                std::to_string(elements) + "), got " + std::to_string(*pack));
  Handles handles;
  for (const Value &input : inputs)
    handles.push_back(input.handle());
  for (Type &type : *types)
    type = shape.withScalar(type);
  Handles results = semantic.builder().inlineAssembly(*text, *constraints, handles, *types, *isPure, *pack);
  std::vector<Value> values;
  values.reserve(types->size());
  for (size_t i = 0; i < types->size(); ++i)
    values.push_back(Value::tensor((*types)[i], i < results.size() ? results[i] : Handle()));
  return args[3].isTuple() ? Value::tuple(std::move(values)) : values.front();
}

constexpr ParamDef params[] = {{"asm"}, {"constraints"}, {"args"}, {"dtype"}, {"is_pure"}, {"pack"}};

const BuiltinDef table[] = {
    {"language.inline_asm_elementwise", params,
     "Runs text of the target's assembler on each `pack` elements.", inlineAssembly},
};

} // namespace

bool broadcastAll(Semantic &semantic, llvm::MutableArrayRef<Value> values) {
  // The first pass finds the common shape, the second brings every value to it.
  for (int pass = 0; pass < 2; ++pass)
    for (size_t i = 1; i < values.size(); ++i)
      if (!semantic.broadcastPair(values[0], values[i]))
        return false;
  return true;
}

llvm::ArrayRef<BuiltinDef> assemblyBuiltins() { return table; }

} // namespace despina
