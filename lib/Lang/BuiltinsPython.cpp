//===- BuiltinsPython.cpp - Python's own functions in kernels -------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// The subset that spec triton_language 2.1 lists; other Python builtins are unknown names.
//
//===----------------------------------------------------------------------===//
#include "BuiltinsImpl.h"
#include "PyNumber.h"
#include "despina/Lang/SymbolResolver.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace despina {

namespace {

constexpr int64_t maxRangeLength = 65536;

Value fromPython(Semantic &semantic, PyResult result) {
  if (const auto *failure = std::get_if<PyError>(&result))
    return semantic.error(failure->kind, failure->message);
  return Value::constant(std::get<Constant>(std::move(result)));
}

Value length(Semantic &semantic, const BuiltinArgs &args) {
  const Value &x = args[0];
  if (x.isTuple())
    return Value::constant(static_cast<int64_t>(x.tuple().elements.size()));
  if (x.isConstant() && x.constant().isString())
    return Value::constant(static_cast<int64_t>(x.constant().string().size()));
  return semantic.error(ErrorKind::Type, "object of type '" + x.typeName() + "' has no len()");
}

Value toInt(Semantic &semantic, const BuiltinArgs &args) {
  if (args[0].isConstant())
    return fromPython(semantic, pyToInt(args[0].constant()));
  return semantic.error(ErrorKind::Type,
                        "int() argument must be a string, a bytes-like object or a real number, not '" +
                            args[0].typeName() + "'",
                        "use x.to(tl.int32) for run-time values");
}

Value toFloat(Semantic &semantic, const BuiltinArgs &args) {
  if (args[0].isConstant())
    return fromPython(semantic, pyToFloat(args[0].constant()));
  return semantic.error(
      ErrorKind::Type, "float() argument must be a string or a real number, not '" + args[0].typeName() + "'",
      "use x.to(tl.float32) for run-time values");
}

/// Whether a tuple is of a host's class: an aggregate's, or that of named tuples.
bool isOfHostClass(const Value &value, const Value &type) {
  if (!value.isTuple())
    return false;
  if (const auto &aggregate = value.tuple().aggregate)
    return type.host().resolver && type.host().resolver->same(aggregate->type, type);
  return type.host().description.find("." + value.typeName() + "'") != std::string::npos;
}

} // namespace

std::optional<bool> isInstance(const Value &value, const Value &type) {
  if (type.kind() != Value::Kind::Builtin || !type.builtin())
    return std::nullopt;
  bool isConstant = value.isConstant();
  return llvm::StringSwitch<std::optional<bool>>(type.builtin()->path)
      .Case("builtins.int", isConstant && value.constant().isIntLike())
      .Case("builtins.float", isConstant && value.constant().isFloat())
      .Case("builtins.list", false)
      .Case("language.tensor", value.isTensor())
      .Case("language.tuple", value.isTuple() && !value.tuple().aggregate)
      .Case("language.tensor_descriptor", value.isDescriptor())
      .Case("language.slice", value.kind() == Value::Kind::Slice)
      .Case("language.dtype", value.kind() == Value::Kind::DType)
      .Case("language.pointer_type", value.kind() == Value::Kind::DType && value.dtype().isPointer())
      .Case("language.block_type", value.kind() == Value::Kind::DType && value.dtype().isBlock())
      // The language unwraps constants before it calls `isinstance`.
      .Case("language.constexpr", false)
      .Default(std::nullopt);
}

namespace {

Value isInstanceOf(Semantic &semantic, const BuiltinArgs &args) {
  llvm::ArrayRef<Value> types =
      args[1].isTuple() ? llvm::ArrayRef(args[1].tuple().elements) : llvm::ArrayRef(args[1]);
  bool result = false;
  for (const Value &type : types) {
    std::optional<bool> matches = isInstance(args[0], type);
    if (!matches && type.kind() == Value::Kind::Host)
      matches = isOfHostClass(args[0], type);
    if (!matches)
      return semantic.error(ErrorKind::Type,
                            "isinstance() arg 2 must be a type or a tuple of types that kernels know");
    result |= *matches;
  }
  return Value::constant(result);
}

/// An attribute, or null without a report.
Value findAttribute(Semantic &semantic, const Value &object, const std::string &name) {
  SymbolResolver *resolver = nullptr;
  if (object.kind() == Value::Kind::Host)
    resolver = object.host().resolver;
  else if (object.kind() == Value::Kind::Module && object.module().host)
    resolver = object.module().resolver;
  if (resolver) {
    Resolution resolution = resolver->attribute(object, name);
    return resolution.status == Resolution::Status::Found ? resolution.value : Value();
  }
  bool outer = semantic.quiet;
  semantic.quiet = true;
  Value found = semantic.attribute(object, name);
  semantic.quiet = outer;
  return found;
}

Value hasAttribute(Semantic &semantic, const BuiltinArgs &args) {
  std::optional<std::string> name = constantString(semantic, args[1], "attribute name");
  return name ? Value::constant(bool(findAttribute(semantic, args[0], *name))) : Value();
}

Value getAttribute(Semantic &semantic, const BuiltinArgs &args) {
  std::optional<std::string> name = constantString(semantic, args[1], "attribute name");
  if (!name)
    return Value();
  if (Value found = findAttribute(semantic, args[0], *name))
    return found;
  const auto &defaults = args[2].tuple().elements;
  return !defaults.empty() ? defaults.front() : semantic.attribute(args[0], *name);
}

Value range(Semantic &semantic, const BuiltinArgs &args) {
  const auto &bounds = args[0].tuple().elements;
  if (bounds.empty() || bounds.size() > 3)
    return semantic.error(ErrorKind::Type,
                          "range expected 1 to 3 arguments, got " + std::to_string(bounds.size()));
  int64_t numbers[3] = {0, 0, 1};
  for (auto [i, bound] : llvm::enumerate(bounds)) {
    std::optional<int64_t> number =
        constantInt(semantic, bound, "outside of a `for` statement, range()'s argument");
    if (!number)
      return Value();
    numbers[i] = *number;
  }
  if (bounds.size() == 1)
    std::swap(numbers[0], numbers[1]);
  auto [start, stop, step] = numbers;
  if (step == 0)
    return semantic.error(ErrorKind::Value, "range() arg 3 must not be zero");
  std::vector<Value> elements;
  for (__int128 i = start; step > 0 ? i < stop : i > stop; i += step) {
    if (elements.size() >= maxRangeLength)
      return semantic.error(ErrorKind::Overflow, "range() has more than 65536 elements");
    elements.push_back(Value::constant(static_cast<int64_t>(i)));
  }
  return Value::tuple(std::move(elements));
}

Value list(Semantic &semantic, const BuiltinArgs &args) {
  const auto &values = args[0].tuple().elements;
  if (values.empty())
    return Value::tuple({});
  if (values.size() == 1 && values.front().isTuple())
    return Value::tuple(values.front().tuple().elements);
  const std::string got =
      values.size() == 1 ? values.front().str() : std::to_string(values.size()) + " arguments";
  return semantic.error(ErrorKind::Type, "list() takes one tuple, got " + got);
}

Value extreme(Semantic &semantic, const BuiltinArgs &args, bool isMax) {
  const char *name = isMax ? "max" : "min";
  Value all = unpackVariadic(args[0]);
  llvm::ArrayRef<Value> values = all.tuple().elements;
  if (values.empty())
    return semantic.error(ErrorKind::Type, std::string(name) + " expected at least 1 argument, got 0");
  Value best = values.front();
  for (const Value &value : values.drop_front()) {
    if (!best.isConstant() || !value.isConstant()) {
      if ((best.isTensor() && best.type().isBlock()) || (value.isTensor() && value.type().isBlock()))
        semantic.warn(std::string("Python's ") + name + "() on blocks is deprecated; use tl." + name +
                      "imum");
      best = minimumOrMaximum(semantic, best, value, isMax, /*propagateNan=*/false);
      if (!best)
        return Value();
      continue;
    }
    PyResult better = pyCompare(isMax ? ast::CompareOperator::Gt : ast::CompareOperator::Lt, value.constant(),
                                best.constant());
    Value replace = fromPython(semantic, std::move(better));
    if (!replace)
      return Value();
    if (replace.constant().truthy())
      best = value;
  }
  return best;
}

Value minimum(Semantic &semantic, const BuiltinArgs &args) { return extreme(semantic, args, false); }
Value maximum(Semantic &semantic, const BuiltinArgs &args) { return extreme(semantic, args, true); }

constexpr ParamDef xParams[] = {{"x"}};
constexpr ParamDef intParams[] = {{"x", "0"}};
constexpr ParamDef isInstanceParams[] = {{"object"}, {"classinfo"}};
constexpr ParamDef attributeParams[] = {{"object"}, {"name"}};
constexpr ParamDef getParams[] = {{"object"}, {"name"}, {"default", nullptr, true}};
constexpr ParamDef variadicParams[] = {{"args", nullptr, true}};

const BuiltinDef table[] = {
    {"builtins.len", xParams, "Number of elements.", length},
    {"builtins.int", intParams, "A constant as an integer.", toInt},
    {"builtins.float", intParams, "A constant as a float.", toFloat},
    {"builtins.isinstance", isInstanceParams, "Whether a value is of a class.", isInstanceOf},
    {"builtins.hasattr", attributeParams, "Whether a value has an attribute.", hasAttribute},
    {"builtins.getattr", getParams, "An attribute by name.", getAttribute},
    {"builtins.range", variadicParams, "Integers in order.", range},
    {"builtins.list", variadicParams, "A tuple of the elements.", list},
    {"builtins.min", variadicParams, "The smallest argument.", minimum},
    {"builtins.max", variadicParams, "The largest argument.", maximum},
};

} // namespace

llvm::ArrayRef<BuiltinDef> pythonBuiltins() { return table; }

} // namespace despina
