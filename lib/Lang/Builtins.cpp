//===- Builtins.cpp - The registry and the language's modules -------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "BuiltinsImpl.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"

#include <algorithm>

namespace despina {

namespace {

struct Registry {
  std::vector<BuiltinDef> all;
  llvm::StringMap<const BuiltinDef *> byPath;

  Registry() {
    for (llvm::ArrayRef<BuiltinDef> table :
         {creationBuiltins(), shapeBuiltins(), mathBuiltins(), dotBuiltins(), dotScaledBuiltins(),
          memoryBuiltins(), blockPointerBuiltins(), descriptorBuiltins(), gatherBuiltins(),
          assemblyBuiltins(), libdeviceBuiltins(), atomicBuiltins(), reduceBuiltins(), mapBuiltins(),
          targetBuiltins(), hintBuiltins(), pythonBuiltins(), typeBuiltins(), standardBuiltins()})
      llvm::append_range(all, table);
    llvm::sort(all,
               [](const BuiltinDef &a, const BuiltinDef &b) { return llvm::StringRef(a.path) < b.path; });
    for (const BuiltinDef &def : all)
      byPath[def.path] = &def;
  }
};

const Registry &registry() {
  static const Registry instance;
  return instance;
}

/// "despina.language" and "triton.language" are the same module; the form without the first component.
std::optional<llvm::StringRef> modulePath(llvm::StringRef module) {
  if (module == "triton" || module == "despina")
    return "";
  if (module.consume_front("triton.") || module.consume_front("despina."))
    return module;
  return std::nullopt;
}

/// Modules that hold the same functions as `language` itself.
bool isAliasModule(llvm::StringRef path) {
  return path == "language.core" || path == "language.math" || path == "language.standard" ||
         path == "language.semantic" || path == "language.random";
}

bool isModulePath(llvm::StringRef path) {
  return llvm::StringSwitch<bool>(path)
      .Cases({"", "language", "language.core", "language.math", "language.standard", "language.random"}, true)
      .Cases({"language.extra", "language.extra.libdevice", "language.extra.cuda",
              "language.extra.cuda.libdevice"},
             true)
      .Cases({"language.extra.hip", "language.extra.hip.libdevice", "language.target_info",
              "language.PropagateNan"},
             true)
      .Default(false);
}

} // namespace

llvm::StringRef BuiltinDef::name() const {
  return llvm::StringRef(path).rsplit('.').second.empty() ? llvm::StringRef(path)
                                                          : llvm::StringRef(path).rsplit('.').second;
}

llvm::ArrayRef<BuiltinDef> allBuiltins() { return registry().all; }

const BuiltinDef *findBuiltin(llvm::StringRef path) {
  const auto &byPath = registry().byPath;
  if (auto found = byPath.find(path); found != byPath.end())
    return found->second;
  auto [module, name] = path.rsplit('.');
  std::string target;
  if (isAliasModule(module))
    target = ("language." + name).str();
  // `language.math` once held the names of libdevice.
  if (module == "language.math" && !byPath.count(target))
    target = ("language.extra.libdevice." + name).str();
  else if (module.starts_with("language.extra.") && module.ends_with(".libdevice"))
    target = ("language.extra.libdevice." + name).str();
  auto found = byPath.find(target);
  return found == byPath.end() || target == path ? nullptr : found->second;
}

const BuiltinDef *findTensorMember(llvm::StringRef name) {
  if (const BuiltinDef *member = findBuiltin(("tensor." + name).str()))
    return member;
  const BuiltinDef *function = findBuiltin(("language." + name).str());
  return function && function->isMember ? function : nullptr;
}

bool isLanguageModule(llvm::StringRef module) {
  std::optional<llvm::StringRef> path = modulePath(module);
  return path && isModulePath(*path);
}

std::optional<Value> languageAttribute(llvm::StringRef module, llvm::StringRef name) {
  std::optional<llvm::StringRef> path = modulePath(module);
  if (!path || !isModulePath(*path))
    return std::nullopt;
  if (*path == "language.PropagateNan")
    return name == "NONE" || name == "ALL" ? std::optional(propagateNanValue(name)) : std::nullopt;
  std::string full = path->empty() ? name.str() : (*path + "." + name).str();
  if (isModulePath(full) && !name.empty())
    return Value::module({"triton." + full, nullptr, nullptr});
  if (*path == "language" || isAliasModule(*path)) {
    if (std::optional<ScalarKind> kind = scalarByPublicName(name))
      return Value::dtype(*kind);
    if (name == "pi32_t")
      return Value::dtype(Type::pointer(ScalarKind::Int32));
    if (name == "TRITON_MAX_TENSOR_NUMEL")
      return Value::constant(1048576);
    if (name == "PropagateNan")
      return Value::module({"triton.language.PropagateNan", nullptr, nullptr});
  }
  if (const BuiltinDef *def = findBuiltin(full))
    return Value::builtin(def);
  return std::nullopt;
}

std::string publicPath(llvm::StringRef module, llvm::StringRef name) {
  const std::optional<llvm::StringRef> path = modulePath(module);
  if (!path || path->empty())
    return name.str();
  const std::string full = (*path + "." + name).str();
  if (const BuiltinDef *def = findBuiltin(full))
    return def->path;
  return isAliasModule(*path) ? ("language." + name).str() : full;
}

//===----------------------------------------------------------------------===//
// Readers of arguments
//===----------------------------------------------------------------------===//

std::string shapeText(llvm::ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

Value propagateNanValue(llvm::StringRef name) {
  return Value::tuple({Value::constant(name.str())}, {"value"}, "PropagateNan");
}

std::optional<int64_t> constantInt(Semantic &semantic, const Value &value, const char *what) {
  if (value.isConstant())
    if (std::optional<int64_t> number = value.constant().asInt64())
      return number;
  semantic.error(ErrorKind::Type, std::string(what) + " must be a constexpr integer, got " + value.str());
  return std::nullopt;
}

std::optional<bool> constantBool(Semantic &semantic, const Value &value, const char *what) {
  if (value.isConstant() && (value.constant().isNumber() || value.isNone()))
    return value.constant().truthy();
  semantic.error(ErrorKind::Type, std::string(what) + " must be a constexpr bool, got " + value.str());
  return std::nullopt;
}

std::optional<std::string> constantString(Semantic &semantic, const Value &value, const char *what) {
  if (value.isNone())
    return std::string();
  if (value.isConstant() && value.constant().isString())
    return value.constant().string();
  semantic.error(ErrorKind::Type, std::string(what) + " must be a constexpr string, got " + value.str());
  return std::nullopt;
}

std::optional<Type> typeArgument(Semantic &semantic, const Value &value, const char *what) {
  if (value.kind() == Value::Kind::DType)
    return value.dtype();
  semantic.error(ErrorKind::Type, std::string(what) + " must be a dtype, got " + value.str());
  return std::nullopt;
}

std::optional<llvm::SmallVector<int64_t, 4>> constantInts(Semantic &semantic, const Value &value,
                                                          const char *what) {
  llvm::SmallVector<int64_t, 4> numbers;
  llvm::ArrayRef<Value> elements =
      value.isTuple() ? llvm::ArrayRef(value.tuple().elements) : llvm::ArrayRef(value);
  for (const Value &element : elements) {
    std::optional<int64_t> number = constantInt(semantic, element, what);
    if (!number)
      return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

std::optional<unsigned> axisArgument(Semantic &semantic, const Value &value, unsigned rank) {
  std::optional<int64_t> axis = constantInt(semantic, value, "axis");
  if (!axis)
    return std::nullopt;
  if (*axis < -int64_t(rank) || *axis >= int64_t(rank)) {
    semantic.error(ErrorKind::Value, "invalid axis " + std::to_string(*axis) + ". Expected -" +
                                         std::to_string(rank) + " <= axis < " + std::to_string(rank));
    return std::nullopt;
  }
  return static_cast<unsigned>(*axis < 0 ? *axis + rank : *axis);
}

Value unpackVariadic(const Value &variadic) {
  const auto &elements = variadic.tuple().elements;
  return elements.size() == 1 && elements.front().isTuple() ? elements.front() : variadic;
}

} // namespace despina
