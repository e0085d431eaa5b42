//===- Value.cpp - What a name can hold while a kernel is compiled --------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "despina/Lang/Value.h"
#include "despina/Lang/Builtins.h"

#include "llvm/Support/MathExtras.h"

namespace despina {

namespace {

/// The payload of a value, or a default-made object when the kind is another one: asking the wrong question
/// must never be undefined behaviour.
template <typename T> const T &payloadOrEmpty(const std::shared_ptr<const void> &payload, bool matches) {
  static const T empty{};
  return matches && payload ? *static_cast<const T *>(payload.get()) : empty;
}

std::string describeTensor(const Type &type) {
  std::string text = type.scalar().str();
  text += "[";
  for (size_t i = 0; i < type.shape().size(); ++i)
    text += (i ? ", " : "") + std::to_string(type.shape()[i]);
  return type.isBlock() ? text + "]" : type.str();
}

/// About the time and space to show a value.
size_t weightOf(const Value &value) {
  if (value.isAggregate())
    return value.tuple().weight;
  if (!value.isConstant())
    return 1;
  const Constant &constant = value.constant();
  if (constant.isString())
    return 1 + constant.string().size() / 16;
  return constant.isIntLike() && !constant.asInt64() ? 512 : 1;
}

std::string describeTuple(const TupleValue &tuple) {
  std::string text = tuple.typeName + "(";
  for (size_t i = 0; i < tuple.elements.size(); ++i) {
    text += i ? ", " : "";
    if (i < tuple.fields.size() && !tuple.fields[i].empty())
      text += tuple.fields[i] + "=";
    text += tuple.elements[i].str();
  }
  return text + (tuple.elements.size() == 1 && tuple.fields.empty() ? ",)" : ")");
}

bool sameTuples(const TupleValue &lhs, const TupleValue &rhs) {
  if (lhs.elements.size() != rhs.elements.size() || lhs.fields != rhs.fields || lhs.typeName != rhs.typeName)
    return false;
  for (size_t i = 0; i < lhs.elements.size(); ++i)
    if (!lhs.elements[i].identical(rhs.elements[i]))
      return false;
  return true;
}

} // namespace

#define DESPINA_MAKE(KIND, EXPRESSION)                                                                       \
  Value value;                                                                                               \
  value.kind_ = Kind::KIND;                                                                                  \
  value.payload_ = EXPRESSION;                                                                               \
  return value

Value Value::tensor(Type type, Handle handle) {
  DESPINA_MAKE(Tensor, std::make_shared<TensorValue>(TensorValue{std::move(type), handle}));
}
Value Value::constant(despina::Constant constant) {
  DESPINA_MAKE(Constant, std::make_shared<despina::Constant>(std::move(constant)));
}
Value Value::tuple(std::vector<Value> elements, std::vector<std::string> fields, std::string typeName) {
  auto tuple = std::make_shared<TupleValue>();
  for (const Value &element : elements) {
    tuple->weight = llvm::SaturatingAdd(tuple->weight, weightOf(element));
    tuple->depth = std::max(tuple->depth, element.depth() + 1);
  }
  tuple->elements = std::move(elements);
  tuple->fields = std::move(fields);
  tuple->typeName = std::move(typeName);
  DESPINA_MAKE(Tuple, std::move(tuple));
}
Value Value::descriptor(Value handle, Value shape, Value strides) {
  Value value = tuple({std::move(handle), std::move(shape), std::move(strides)});
  value.kind_ = Kind::Descriptor;
  return value;
}
Value Value::aggregate(std::shared_ptr<const AggregateClass> type, std::vector<Value> elements) {
  Value value = tuple(std::move(elements), type->fields, type->name);
  auto object = std::make_shared<TupleValue>(value.tuple());
  object->aggregate = std::move(type);
  value.payload_ = std::move(object);
  return value;
}
Value Value::withElements(std::vector<Value> elements) const {
  Value value = tuple().aggregate ? aggregate(tuple().aggregate, std::move(elements))
                                  : tuple(std::move(elements), tuple().fields, tuple().typeName);
  value.kind_ = kind_;
  return value.withRange(range_);
}
Value Value::slice(Value lower, Value upper, Value step) {
  DESPINA_MAKE(Slice,
               std::make_shared<SliceValue>(SliceValue{std::move(lower), std::move(upper), std::move(step)}));
}
Value Value::dtype(Type type) { DESPINA_MAKE(DType, std::make_shared<Type>(std::move(type))); }
Value Value::function(std::shared_ptr<const FunctionInfo> info) {
  DESPINA_MAKE(Function, std::make_shared<std::shared_ptr<const FunctionInfo>>(std::move(info)));
}
Value Value::builtin(const BuiltinDef *def) {
  DESPINA_MAKE(Builtin, std::make_shared<const BuiltinDef *>(def));
}
Value Value::module(ModuleValue module) {
  DESPINA_MAKE(Module, std::make_shared<ModuleValue>(std::move(module)));
}
Value Value::host(HostObject object) { DESPINA_MAKE(Host, std::make_shared<HostObject>(std::move(object))); }
Value Value::boundMethod(Value self, Value callee) {
  DESPINA_MAKE(BoundMethod, std::make_shared<despina::BoundMethod>(
                                despina::BoundMethod{std::move(self), std::move(callee)}));
}

#undef DESPINA_MAKE

const TensorValue &Value::tensor() const {
  return payloadOrEmpty<TensorValue>(payload_, kind_ == Kind::Tensor);
}
const Constant &Value::constant() const {
  return payloadOrEmpty<despina::Constant>(payload_, kind_ == Kind::Constant);
}
const TupleValue &Value::tuple() const { return payloadOrEmpty<TupleValue>(payload_, isAggregate()); }
const SliceValue &Value::slice() const { return payloadOrEmpty<SliceValue>(payload_, kind_ == Kind::Slice); }
const Type &Value::dtype() const { return payloadOrEmpty<Type>(payload_, kind_ == Kind::DType); }
const std::shared_ptr<const FunctionInfo> &Value::function() const {
  return payloadOrEmpty<std::shared_ptr<const FunctionInfo>>(payload_, kind_ == Kind::Function);
}
const BuiltinDef *Value::builtin() const {
  return payloadOrEmpty<const BuiltinDef *>(payload_, kind_ == Kind::Builtin);
}
const ModuleValue &Value::module() const {
  return payloadOrEmpty<ModuleValue>(payload_, kind_ == Kind::Module);
}
const HostObject &Value::host() const { return payloadOrEmpty<HostObject>(payload_, kind_ == Kind::Host); }
const BoundMethod &Value::boundMethod() const {
  return payloadOrEmpty<despina::BoundMethod>(payload_, kind_ == Kind::BoundMethod);
}

unsigned Value::depth() const {
  switch (kind_) {
  case Kind::Tuple:
  case Kind::Descriptor: return tuple().depth;
  case Kind::Host: return host().depth;
  case Kind::BoundMethod: return boundMethod().self.depth() + 1;
  default: return 0;
  }
}

bool Value::isTooLarge() const {
  return depth() > TupleValue::maxDepth || (isAggregate() && tuple().weight > TupleValue::maxWeight);
}

std::string Value::str() const {
  switch (kind_) {
  case Kind::Null: return "<nothing>";
  case Kind::Tensor: return describeTensor(type());
  case Kind::Constant: return constant().repr();
  case Kind::Tuple: return describeTuple(tuple());
  case Kind::Descriptor: return tuple().elements.front().type().str();
  case Kind::Slice:
    return "slice(" + slice().lower.str() + ", " + slice().upper.str() + ", " + slice().step.str() + ")";
  case Kind::DType: return dtype().str();
  case Kind::Function: return function() ? "JITFunction(" + function()->qualifiedName + ")" : "JITFunction()";
  case Kind::Builtin: return builtin() ? "<function " + builtin()->name().str() + ">" : "<function>";
  case Kind::Module: return "<module '" + module().name + "'>";
  case Kind::Host: return host().description;
  case Kind::BoundMethod: return "<bound method of " + boundMethod().self.str() + ">";
  }
  return {};
}

std::string Value::typeName() const {
  switch (kind_) {
  case Kind::Null: return "nothing";
  case Kind::Tensor: return "tensor";
  case Kind::Constant: return constant().typeName();
  case Kind::Tuple: return tuple().typeName.empty() ? "tuple" : tuple().typeName;
  case Kind::Descriptor: return "tensor_descriptor";
  case Kind::Slice: return "slice";
  case Kind::DType: return dtype().isPointer() ? "pointer_type" : dtype().isBlock() ? "block_type" : "dtype";
  case Kind::Function: return "JITFunction";
  case Kind::Builtin: return "function";
  case Kind::Module: return "module";
  case Kind::Host: return host().typeName;
  case Kind::BoundMethod: return "method";
  }
  return {};
}

bool Value::identical(const Value &other) const {
  if (kind_ != other.kind_)
    return false;
  if (payload_ == other.payload_)
    return true;
  switch (kind_) {
  case Kind::Null: return true;
  case Kind::Tensor: return type() == other.type() && handle() == other.handle();
  case Kind::Constant: return constant().identical(other.constant());
  case Kind::Tuple:
  case Kind::Descriptor: return sameTuples(tuple(), other.tuple());
  case Kind::Slice:
    return slice().lower.identical(other.slice().lower) && slice().upper.identical(other.slice().upper) &&
           slice().step.identical(other.slice().step);
  case Kind::DType: return dtype() == other.dtype();
  case Kind::Function:
    // A scope tells apart two functions made by the same text (closures over different values).
    return function() == other.function() ||
           (function() && other.function() && function()->def == other.function()->def &&
            function()->scope == other.function()->scope);
  case Kind::Builtin: return builtin() == other.builtin();
  case Kind::Module: return module().name == other.module().name && module().host == other.module().host;
  case Kind::Host: return host().object == other.host().object;
  case Kind::BoundMethod:
    return boundMethod().self.identical(other.boundMethod().self) &&
           boundMethod().callee.identical(other.boundMethod().callee);
  }
  return false;
}

void flatten(const Value &value, llvm::SmallVectorImpl<TensorValue> &leaves) {
  if (value.isTensor())
    leaves.push_back(value.tensor());
  else if (value.isAggregate())
    for (const Value &element : value.tuple().elements)
      flatten(element, leaves);
}

Value unflatten(const Value &pattern, llvm::ArrayRef<Handle> &handles) {
  if (pattern.isTensor()) {
    if (handles.empty())
      return Value();
    Handle handle = handles.front();
    handles = handles.drop_front();
    return Value::tensor(pattern.type(), handle).withRange(pattern.range());
  }
  if (!pattern.isAggregate())
    return pattern;
  std::vector<Value> elements;
  elements.reserve(pattern.tuple().elements.size());
  for (const Value &element : pattern.tuple().elements) {
    elements.push_back(unflatten(element, handles));
    if (!elements.back())
      return Value();
  }
  return pattern.withElements(std::move(elements));
}

} // namespace despina
