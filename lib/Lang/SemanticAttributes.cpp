//===- SemanticAttributes.cpp - Attributes and subscripts -----------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "BuiltinsImpl.h"
#include "Promotion.h"
#include "despina/Lang/SymbolResolver.h"

#include "llvm/ADT/STLExtras.h"

namespace despina {

namespace {

Value shapeValue(llvm::ArrayRef<int64_t> shape) {
  std::vector<Value> extents;
  for (int64_t extent : shape)
    extents.push_back(Value::constant(extent));
  return Value::tuple(std::move(extents));
}

bool isFullSlice(const Value &value) {
  return value.kind() == Value::Kind::Slice && value.slice().lower.isNone() && value.slice().upper.isNone() &&
         value.slice().step.isNone();
}

/// What an unsupported index looks like in its error text.
std::string indexText(const Value &index) {
  return index.isConstant() ? "constexpr[" + index.constant().str() + "]" : index.str();
}

/// Elements that Python's `sequence[lower:upper:step]` selects; none when the bounds are not integers or
/// None.
std::optional<std::vector<size_t>> sliceIndices(const SliceValue &slice, int64_t size) {
  auto bound = [](const Value &value, std::optional<int64_t> &result) {
    if (value.isNone() || !value)
      return true;
    if (!value.isConstant() || !value.constant().isIntLike())
      return false;
    llvm::DynamicAPInt number = value.constant().integer();
    result = value.constant().asInt64().value_or(number < 0 ? INT64_MIN / 2 : INT64_MAX / 2);
    result = std::clamp<int64_t>(*result, INT64_MIN / 2, INT64_MAX / 2);
    return true;
  };
  std::optional<int64_t> lower, upper, step;
  if (!bound(slice.lower, lower) || !bound(slice.upper, upper) || !bound(slice.step, step) || step == 0)
    return std::nullopt;
  int64_t stride = step.value_or(1);
  auto clampTo = [&](int64_t value) {
    value = value < 0 ? value + size : value;
    return stride > 0 ? std::clamp<int64_t>(value, 0, size) : std::clamp<int64_t>(value, -1, size - 1);
  };
  int64_t first = lower ? clampTo(*lower) : stride > 0 ? 0 : size - 1;
  int64_t last = upper ? clampTo(*upper) : stride > 0 ? size : -1;
  std::vector<size_t> indices;
  for (int64_t i = first; stride > 0 ? i < last : i > last; i += stride)
    indices.push_back(static_cast<size_t>(i));
  return indices;
}

} // namespace

Value Semantic::noAttribute(const Value &value, llvm::StringRef name) {
  return error(ErrorKind::Attribute,
               "'" + value.typeName() + "' object has no attribute '" + name.str() + "'");
}

Value Semantic::tensorAttribute(const Value &value, llvm::StringRef name) {
  const Type &type = value.type();
  if (name == "dtype")
    return Value::dtype(type.scalar());
  if (name == "type")
    return Value::dtype(type);
  if (name == "shape")
    return shapeValue(type.shape());
  if (name == "numel")
    return Value::constant(type.numel());
  if (name == "T") {
    if (type.rank() < 2)
      return error(ErrorKind::Value, "tl.trans invoked with a 0- or 1-dimensional tensor");
    if (type.rank() > 2)
      return error(ErrorKind::Value,
                   "`.T` is for 2-dimensional tensors; use tl.trans or tl.permute with dimensions");
    return transposeTo(*this, value, {1, 0});
  }
  if (const BuiltinDef *member = findTensorMember(name))
    return Value::boundMethod(value, Value::builtin(member));
  return noAttribute(value, name);
}

Value Semantic::constantAttribute(const Value &value, llvm::StringRef name) {
  if (name == "value")
    return value;
  // An integer argument specialised to a constant must keep the interface of the run-time scalar it stands
  // for.
  if (value.constant().isNumber()) {
    std::optional<ScalarKind> kind = literalKind(value.constant());
    if ((name == "dtype" || name == "type") && kind)
      return Value::dtype(*kind);
    if (name == "shape")
      return Value::tuple({});
    if (name == "numel")
      return Value::constant(1);
    if (const BuiltinDef *member = findTensorMember(name))
      return Value::boundMethod(value, Value::builtin(member));
  }
  return noAttribute(value, name);
}

Value Semantic::tupleAttribute(const Value &value, llvm::StringRef name) {
  const TupleValue &tuple = value.tuple();
  if (isBlockPointer(value)) {
    const Type pointer = tuple.elements.front().isTensor() ? tuple.elements.front().type() : Type();
    llvm::SmallVector<int64_t, 4> shape;
    for (const Value &extent : tuple.elements[blockShapeField].tuple().elements)
      shape.push_back(extent.constant().asInt64().value_or(1));
    if (name == "dtype")
      return Value::dtype(pointer);
    if (name == "type")
      return Value::dtype(Type::pointer(Type::block(pointer.pointee(), shape)));
    if (name == "advance" || name == "store")
      return Value::boundMethod(value, Value::builtin(findTensorMember(name)));
  }
  if (tuple.typeName == "PropagateNan" && name == "name")
    return tuple.elements.front();
  const size_t field = llvm::find(tuple.fields, name) - tuple.fields.begin();
  if (field < tuple.fields.size() && field < tuple.elements.size())
    return tuple.elements[field];
  return noAttribute(value, name);
}

Value Semantic::dtypeAttribute(const Value &value, llvm::StringRef name) {
  const Type &type = value.dtype();
  Type scalar = type.scalar();
  bool isScalar = type.kind() == Type::Kind::Scalar;
  const ScalarInfo &info = scalarInfo(scalar.scalarKind());
  if (name == "name")
    return Value::constant(type.str());
  if (name == "scalar")
    return Value::dtype(scalar);
  if (name == "primitive_bitwidth")
    return Value::constant(int64_t(scalar.bits()));
  if (name == "itemsize")
    return Value::constant(int64_t(scalar.bits() + 7) / 8);
  if (name == "element_ty" && !isScalar && !type.isTuple())
    return Value::dtype(type.isBlock() ? scalar : type.pointee());
  if (isScalar && type.isInt() && name == "int_bitwidth")
    return Value::constant(int64_t(info.bits));
  if (isScalar && type.isInt() && name == "int_signedness")
    return Value::constant(int64_t(type.isSigned()));
  if (isScalar && type.isFloating() && name == "fp_mantissa_width")
    return Value::constant(int64_t(info.mantissa));
  if (isScalar && type.isFloating() && name == "exponent_bias")
    return Value::constant(int64_t(info.bias));
  if (type.isPointer() && name == "address_space")
    return Value::constant(int64_t(type.addressSpace()));
  if (type.isBlock() && name == "shape")
    return shapeValue(type.shape());
  if (type.isBlock() && name == "numel")
    return Value::constant(type.numel());
  if (type.isBlock() && name == "nbytes")
    return Value::constant(type.numel() * (int64_t(scalar.bits() + 7) / 8));
  if (const BuiltinDef *method = findBuiltin("dtype." + name.str()))
    return Value::boundMethod(value, Value::builtin(method));
  return noAttribute(value, name);
}

Value Semantic::attribute(const Value &value, llvm::StringRef name) {
  switch (value.kind()) {
  case Value::Kind::Null: return Value();
  case Value::Kind::Tensor: return tensorAttribute(value, name);
  case Value::Kind::Constant: return constantAttribute(value, name);
  case Value::Kind::Tuple: return tupleAttribute(value, name);
  case Value::Kind::Descriptor: {
    Value found = descriptorAttribute(value, name);
    return found ? found : noAttribute(value, name);
  }
  case Value::Kind::DType: return dtypeAttribute(value, name);
  case Value::Kind::Module: {
    if (std::optional<Value> found = languageAttribute(value.module().name, name)) {
      noteName(publicPath(value.module().name, name));
      return *found;
    }
    return error(ErrorKind::Attribute,
                 "module '" + value.module().name + "' has no attribute '" + name.str() + "'");
  }
  case Value::Kind::Function:
    if (name == "__name__" && value.function())
      return Value::constant(value.function()->name);
    return noAttribute(value, name);
  case Value::Kind::Slice: {
    const SliceValue &slice = value.slice();
    if (name == "start" || name == "stop" || name == "step")
      return name == "start" ? slice.lower : name == "stop" ? slice.upper : slice.step;
    return noAttribute(value, name);
  }
  case Value::Kind::Builtin:
  case Value::Kind::Host:
  case Value::Kind::BoundMethod: break;
  }
  return noAttribute(value, name);
}

//===----------------------------------------------------------------------===//
// Subscripts
//===----------------------------------------------------------------------===//

Value Semantic::tensorSubscript(const Value &value, const Value &index) {
  llvm::ArrayRef<Value> entries =
      index.isTuple() ? llvm::ArrayRef(index.tuple().elements) : llvm::ArrayRef(index);
  Value result = value;
  for (auto [dim, entry] : llvm::enumerate(entries)) {
    if (isFullSlice(entry))
      continue;
    if (!entry.isNone())
      return error(ErrorKind::Value, "unsupported tensor index: " + indexText(entry),
                   "tensors are indexed with None and `:` only");
    if (dim > result.type().rank())
      return error(ErrorKind::Value, "invalid axis " + std::to_string(dim) + ". Expected -" +
                                         std::to_string(result.type().rank() + 1) + " <= axis < " +
                                         std::to_string(result.type().rank() + 1));
    result = expandDims(*this, result, static_cast<unsigned>(dim));
    if (!result)
      return Value();
  }
  return result;
}

Value Semantic::tupleSubscript(const Value &value, const Value &index) {
  const TupleValue &tuple = value.tuple();
  auto size = static_cast<int64_t>(tuple.elements.size());
  if (index.kind() == Value::Kind::Slice) {
    std::optional<std::vector<size_t>> selected = sliceIndices(index.slice(), size);
    if (!selected)
      return error(ErrorKind::Type, "slice indices must be constant integers or None, and the step not zero");
    std::vector<Value> elements;
    for (size_t i : *selected)
      elements.push_back(tuple.elements[i]);
    return Value::tuple(std::move(elements));
  }
  if (!index.isConstant() || !index.constant().isIntLike())
    return error(ErrorKind::Type, "tuple indices must be integers or slices, not " + index.typeName());
  std::optional<int64_t> i = index.constant().asInt64();
  if (!i || *i >= size || *i < -size)
    return error(ErrorKind::Index, "tuple index out of range");
  return tuple.elements[*i < 0 ? *i + size : *i];
}

Value Semantic::subscript(const Value &value, const Value &index) {
  if (!value || !index)
    return Value();
  if (value.isTensor())
    return tensorSubscript(value, index);
  if (value.isTuple())
    return tupleSubscript(value, index);
  if (!value.isConstant() || !value.constant().isString())
    return error(ErrorKind::Type, "'" + value.typeName() + "' object is not subscriptable");
  const std::string &text = value.constant().string();
  auto size = static_cast<int64_t>(text.size());
  if (index.kind() == Value::Kind::Slice) {
    std::optional<std::vector<size_t>> selected = sliceIndices(index.slice(), size);
    if (!selected)
      return error(ErrorKind::Type, "slice indices must be constant integers or None, and the step not zero");
    std::string part;
    for (size_t i : *selected)
      part += text[i];
    return Value::constant(part);
  }
  if (!index.isConstant() || !index.constant().isIntLike())
    return error(ErrorKind::Type, "string indices must be integers, not '" + index.typeName() + "'");
  std::optional<int64_t> i = index.constant().asInt64();
  if (!i || *i >= size || *i < -size)
    return error(ErrorKind::Index, "string index out of range");
  return Value::constant(std::string(1, text[*i < 0 ? *i + size : *i]));
}

} // namespace despina
