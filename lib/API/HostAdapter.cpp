//===- HostAdapter.cpp - A host's answers as a symbol resolver ------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "HostAdapter.h"

#include "despina/Lang/Builtins.h"
#include "despina/Lang/Parser.h"

#include "llvm/ADT/StringExtras.h"

#include <mutex>

namespace despina {

namespace {

/// Trees of functions by their key, for the whole process: a function is parsed once however often it is
/// compiled. Trees are never changed after parsing, so threads may share them.
class ParseCache {
public:
  std::shared_ptr<ast::Module> find(const std::string &key) {
    std::lock_guard lock(mutex_);
    auto it = modules_.find(key);
    return it == modules_.end() ? nullptr : it->second;
  }
  void add(const std::string &key, std::shared_ptr<ast::Module> module) {
    std::lock_guard lock(mutex_);
    // A session that defines functions without end must not keep them all.
    if (modules_.size() >= maxEntries)
      modules_.clear();
    modules_.emplace(key, std::move(module));
  }

private:
  static constexpr size_t maxEntries = 4096;
  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<ast::Module>> modules_;
};

ParseCache &parseCache() {
  // Never freed: a thread may compile while the process ends.
  static auto *cache = new ParseCache;
  return *cache;
}

std::shared_ptr<ast::Module> parse(const host::Function &function, Diagnostics &diags,
                                   std::vector<std::shared_ptr<const SourceFile>> &files) {
  if (!function.key.empty())
    if (std::shared_ptr<ast::Module> module = parseCache().find(function.key))
      return module;
  auto file =
      std::make_shared<const SourceFile>(function.path, function.source, function.firstLine, function.indent);
  files.push_back(file);
  std::shared_ptr<ast::Module> module = parseModule(file, diags);
  if (module && !function.key.empty())
    parseCache().add(function.key, module);
  return module;
}

const ast::FunctionDef *firstFunction(const ast::Module &module) {
  for (const ast::Stmt *statement : module.body())
    if (const auto *def = llvm::dyn_cast<ast::FunctionDef>(statement))
      return def;
  return nullptr;
}

std::nullopt_t fail(Resolution &failure, ErrorKind kind, std::string message) {
  failure = {};
  failure.status = Resolution::Status::Failed;
  failure.errorKind = kind;
  failure.message = std::move(message);
  return std::nullopt;
}

/// Decimal text of any length.
std::optional<llvm::DynamicAPInt> integerFromText(llvm::StringRef text) {
  int64_t small = 0;
  if (!text.getAsInteger(10, small))
    return llvm::DynamicAPInt(small);
  llvm::StringRef digits = text;
  bool negative = digits.consume_front("-");
  if (digits.empty() || !llvm::all_of(digits, llvm::isDigit))
    return std::nullopt;
  llvm::APInt magnitude;
  digits.getAsInteger(10, magnitude);
  magnitude = magnitude.zext(magnitude.getBitWidth() + 1);
  return llvm::DynamicAPInt(negative ? -magnitude : magnitude);
}

host::Value constantToHost(const Constant &constant) {
  host::Value value;
  if (constant.isEllipsis()) {
    value.kind = host::Value::Kind::Ellipsis;
  } else if (constant.isBool()) {
    value.kind = host::Value::Kind::Bool;
    value.boolean = constant.boolean();
  } else if (constant.isInt()) {
    value.kind = host::Value::Kind::Int;
    value.text = constant.str();
  } else if (constant.isFloat()) {
    value.kind = host::Value::Kind::Float;
    value.real = constant.real();
  } else if (constant.isString()) {
    value.kind = host::Value::Kind::String;
    value.text = constant.string();
  }
  return value;
}

host::Value textValue(host::Value::Kind kind, std::string text) {
  host::Value value;
  value.kind = kind;
  value.text = std::move(text);
  return value;
}

} // namespace

ErrorKind errorKindByName(llvm::StringRef name) {
  for (unsigned i = 0; i <= static_cast<unsigned>(ErrorKind::Compilation); ++i)
    if (name == errorKindName(static_cast<ErrorKind>(i)))
      return static_cast<ErrorKind>(i);
  return ErrorKind::Runtime;
}

std::shared_ptr<const FunctionInfo> HostAdapter::functionInfo(
    const std::shared_ptr<const host::Function> &function, Diagnostics &diags) {
  if (!function->key.empty())
    if (auto it = byKey_.find(function->key); it != byKey_.end())
      return it->second;
  std::shared_ptr<ast::Module> module = parse(*function, diags, files_);
  if (!module)
    return nullptr;
  const ast::FunctionDef *def = firstFunction(*module);
  if (!def) {
    Diagnostic diagnostic;
    diagnostic.kind = ErrorKind::Syntax;
    diagnostic.message = "the source of '" + function->name + "' holds no function definition";
    diagnostic.range = {&module->file(), 0, 0};
    diags.report(std::move(diagnostic));
    return nullptr;
  }
  auto info = std::make_shared<FunctionInfo>();
  info->kind = function->kind == host::Function::Kind::Jit ? FunctionInfo::Kind::Jit
                                                           : FunctionInfo::Kind::ConstexprFunction;
  info->name = function->name;
  info->qualifiedName = function->qualifiedName;
  info->module = std::move(module);
  info->def = def;
  info->noinline = function->noinline;
  info->mustUseResult = function->mustUseResult;
  info->resolver = this;
  info->scope = function->scope;
  hostFunctions_[info.get()] = function;
  // Functions without a key are kept under their address, so that the map owns every one it knows.
  std::string key = function->key.empty() ? "at " + llvm::utohexstr(reinterpret_cast<uintptr_t>(info.get()))
                                          : function->key;
  byKey_.emplace(std::move(key), info);
  return info;
}

std::optional<Value> HostAdapter::functionFromHost(const host::Value &value, Resolution &failure) {
  if (!value.function)
    return fail(failure, ErrorKind::Internal, "the host gave a function without its source");
  Diagnostics diags;
  if (std::shared_ptr<const FunctionInfo> info = functionInfo(value.function, diags))
    return Value::function(std::move(info));
  const Diagnostic *error = diags.firstError();
  return fail(failure, error ? error->kind : ErrorKind::Internal,
              error ? error->message : "'" + value.function->name + "' cannot be parsed");
}

std::optional<Value> HostAdapter::languageName(const std::string &path, Resolution &failure) {
  if (isLanguageModule(path))
    return Value::module({path, nullptr, nullptr});
  auto [module, name] = llvm::StringRef(path).rsplit('.');
  if (std::optional<Value> value = languageAttribute(module, name))
    return value;
  return fail(failure, ErrorKind::NotImplemented, "'" + path + "' is not supported yet");
}

std::optional<Value> HostAdapter::tupleFromHost(const host::Value &value, Resolution &failure) {
  std::vector<Value> elements;
  for (const host::Value &element : value.elements) {
    std::optional<Value> converted = fromHost(element, failure);
    if (!converted)
      return std::nullopt;
    elements.push_back(std::move(*converted));
  }
  return Value::tuple(std::move(elements), value.fields, value.text);
}

std::optional<Value> HostAdapter::fromHost(const host::Value &value, Resolution &failure) {
  using Kind = host::Value::Kind;
  switch (value.kind) {
  case Kind::None: return Value::none();
  case Kind::Ellipsis: return Value::constant(Constant::ellipsis());
  case Kind::Bool: return Value::constant(Constant(value.boolean));
  case Kind::Int:
    if (std::optional<llvm::DynamicAPInt> integer = integerFromText(value.text))
      return Value::constant(*integer);
    return fail(failure, ErrorKind::Internal, "the host gave the integer '" + value.text + "'");
  case Kind::Float: return Value::constant(Constant(value.real));
  case Kind::String: return Value::constant(Constant(value.text));
  case Kind::Tuple: return tupleFromHost(value, failure);
  case Kind::DType:
    if (std::optional<Type> type = Type::fromSignature(value.text))
      return Value::dtype(*type);
    return fail(failure, ErrorKind::NotImplemented, "type '" + value.text + "' is not supported yet");
  case Kind::Function: return functionFromHost(value, failure);
  case Kind::LanguageModule: return Value::module({value.text, nullptr, nullptr});
  case Kind::LanguageName: return languageName(value.text, failure);
  case Kind::Object: {
    HostObject object;
    object.object = std::make_shared<host::Value>(value);
    object.resolver = this;
    object.description = "<class '" + value.typeName + "'>";
    object.typeName = value.typeName;
    object.callable = value.callable;
    return Value::host(std::move(object));
  }
  }
  return fail(failure, ErrorKind::Internal, "the host gave a value of an unknown kind");
}

std::optional<host::Value> HostAdapter::tupleToHost(const TupleValue &tuple, Resolution &failure) {
  host::Value result = textValue(host::Value::Kind::Tuple, tuple.typeName);
  result.fields = tuple.fields;
  for (const Value &element : tuple.elements) {
    std::optional<host::Value> converted = toHost(element, failure);
    if (!converted)
      return std::nullopt;
    result.elements.push_back(std::move(*converted));
  }
  return result;
}

std::optional<host::Value> HostAdapter::toHost(const Value &value, Resolution &failure) {
  using Kind = host::Value::Kind;
  switch (value.kind()) {
  case Value::Kind::Constant: return constantToHost(value.constant());
  case Value::Kind::Tuple: return tupleToHost(value.tuple(), failure);
  case Value::Kind::DType: return textValue(Kind::DType, value.dtype().signature());
  case Value::Kind::Function: {
    auto it = hostFunctions_.find(value.function().get());
    if (it == hostFunctions_.end()) // one of the standard library
      return textValue(Kind::LanguageName, value.function()->qualifiedName);
    host::Value result;
    result.kind = Kind::Function;
    result.function = it->second;
    return result;
  }
  case Value::Kind::Builtin:
    return textValue(Kind::LanguageName, std::string("triton.") + value.builtin()->path);
  case Value::Kind::Module: return textValue(Kind::LanguageModule, value.module().name);
  case Value::Kind::Host: return *static_cast<const host::Value *>(value.host().object.get());
  case Value::Kind::Tensor:
    return fail(failure, ErrorKind::Type,
                "a host function can only get values known at compile time, not a tensor");
  case Value::Kind::Descriptor:
  case Value::Kind::Slice:
  case Value::Kind::BoundMethod:
  case Value::Kind::Null: break;
  }
  return fail(failure, ErrorKind::Type, "this value cannot be handed to a host function");
}

Resolution HostAdapter::resolve(const host::Answer &answer) {
  Resolution resolution;
  switch (answer.status) {
  case host::Answer::Status::Found:
    if (std::optional<Value> value = fromHost(answer.value, resolution)) {
      resolution.status = Resolution::Status::Found;
      resolution.value = std::move(*value);
    }
    return resolution;
  case host::Answer::Status::NotFound: resolution.status = Resolution::Status::NotFound; return resolution;
  case host::Answer::Status::NotAllowed:
    resolution.status = Resolution::Status::NotAllowed;
    return resolution;
  case host::Answer::Status::Failed: break;
  }
  fail(resolution, errorKindByName(answer.errorKind), answer.message);
  return resolution;
}

Resolution HostAdapter::lookup(const FunctionInfo &function, llvm::StringRef name, bool evaluatingDefaults) {
  auto it = hostFunctions_.find(&function);
  if (it == hostFunctions_.end())
    return {};
  // The host may make further functions known while it answers, which moves the map's entries.
  std::shared_ptr<const host::Function> hostFunction = it->second;
  return resolve(resolver_.lookup(*hostFunction, name.str(), evaluatingDefaults));
}

Resolution HostAdapter::attribute(const Value &object, llvm::StringRef name) {
  Resolution failure;
  std::optional<host::Value> converted = toHost(object, failure);
  return converted ? resolve(resolver_.attribute(*converted, name.str())) : failure;
}

Resolution HostAdapter::makeNamedTuple(const host::Value &type, llvm::ArrayRef<Value> args,
                                       llvm::ArrayRef<std::pair<std::string, Value>> keywords) {
  Resolution result;
  auto refuse = [&](const std::string &why) {
    fail(result, ErrorKind::Type, type.text + "() " + why);
    return result;
  };
  if (args.size() > type.fields.size())
    return refuse("takes " + std::to_string(type.fields.size()) + " arguments but " +
                  std::to_string(args.size()) + " were given");
  std::vector<Value> elements(args.begin(), args.end());
  elements.resize(type.fields.size());
  for (const auto &[name, value] : keywords) {
    auto field = llvm::find(type.fields, name);
    if (field == type.fields.end())
      return refuse("got an unexpected keyword argument '" + name + "'");
    Value &element = elements[field - type.fields.begin()];
    if (element)
      return refuse("got multiple values for argument '" + name + "'");
    element = value;
  }
  for (size_t i = 0; i != elements.size(); ++i) {
    if (elements[i])
      continue;
    host::Answer defaults = resolver_.attribute(type, "_field_defaults");
    if (defaults.status == host::Answer::Status::Found)
      defaults = resolver_.subscript(defaults.value, textValue(host::Value::Kind::String, type.fields[i]));
    if (defaults.status != host::Answer::Status::Found)
      return refuse("missing required argument: '" + type.fields[i] + "'");
    std::optional<Value> value = fromHost(defaults.value, result);
    if (!value)
      return result;
    elements[i] = std::move(*value);
  }
  result.status = Resolution::Status::Found;
  result.value = Value::tuple(std::move(elements), type.fields, type.text);
  return result;
}

Resolution HostAdapter::call(const Value &callee, llvm::ArrayRef<Value> args,
                             llvm::ArrayRef<std::pair<std::string, Value>> keywords) {
  Resolution failure;
  std::optional<host::Value> function = toHost(callee, failure);
  if (!function)
    return failure;
  if (function->kind == host::Value::Kind::Object && !function->fields.empty())
    return makeNamedTuple(*function, args, keywords);
  std::vector<host::Value> positional;
  for (const Value &argument : args) {
    std::optional<host::Value> converted = toHost(argument, failure);
    if (!converted)
      return failure;
    positional.push_back(std::move(*converted));
  }
  std::vector<std::pair<std::string, host::Value>> named;
  for (const auto &[name, argument] : keywords) {
    std::optional<host::Value> converted = toHost(argument, failure);
    if (!converted)
      return failure;
    named.emplace_back(name, std::move(*converted));
  }
  return resolve(resolver_.call(*function, positional, named));
}

Resolution HostAdapter::subscript(const Value &object, const Value &index) {
  Resolution failure;
  std::optional<host::Value> hostObject = toHost(object, failure);
  if (!hostObject)
    return failure;
  std::optional<host::Value> hostIndex = toHost(index, failure);
  return hostIndex ? resolve(resolver_.subscript(*hostObject, *hostIndex)) : failure;
}

bool HostAdapter::same(const Value &lhs, const Value &rhs) {
  Resolution failure;
  std::optional<host::Value> left = toHost(lhs, failure), right = toHost(rhs, failure);
  return left && right && resolver_.same(*left, *right);
}

} // namespace despina
