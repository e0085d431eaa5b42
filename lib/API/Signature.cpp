//===- Signature.cpp - Which parameters are types, which constants --------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "Signature.h"

#include "Errors.h"

#include "llvm/ADT/StringRef.h"

namespace despina {

namespace {

std::string quoted(const std::string &text) { return "'" + text + "'"; }

Error badType(const std::string &text, const std::string &parameter, const std::string &why) {
  return plainError("ValueError", "type " + quoted(text) + " of parameter " + quoted(parameter) + " " + why);
}

/// Collects the bindings and checks them against the kernel's parameters.
class Binder {
public:
  explicit Binder(const LoadedKernel &kernel) : kernel_(kernel), slots_(kernel.params.size()) {}

  std::optional<Error> addConstants(const std::vector<NamedConstant> &constants) {
    for (const NamedConstant &constant : constants) {
      std::optional<size_t> index = find(constant.name);
      if (!index)
        return unknown(constant.name);
      if (slots_[*index].given)
        return twice(constant.name);
      Expected<Value> value = toValue(constant);
      if (!value)
        return value.error();
      slots_[*index] = {true, {}, *value};
    }
    return std::nullopt;
  }

  std::optional<Error> addTypes(const std::vector<NamedType> &signature) {
    for (const NamedType &entry : signature) {
      if (entry.name.empty())
        continue;
      std::optional<size_t> index = find(entry.name);
      if (!index)
        return unknown(entry.name);
      if (slots_[*index].given)
        return twice(entry.name);
      slots_[*index] = {true, entry.type, std::nullopt};
    }
    size_t next = 0;
    for (const NamedType &entry : signature) {
      if (!entry.name.empty())
        continue;
      while (next < slots_.size() && (slots_[next].given || kernel_.params[next].isConstexpr))
        ++next;
      if (next == slots_.size())
        return plainError("ValueError", "the signature has more types than kernel " + name() +
                                            " has runtime parameters; its parameters are " + parameterList());
      slots_[next] = {true, entry.type, std::nullopt};
    }
    return std::nullopt;
  }

  Expected<std::vector<KernelArgument>> finish() const {
    std::vector<KernelArgument> arguments;
    for (size_t i = 0; i < slots_.size(); ++i) {
      Expected<KernelArgument> argument = makeArgument(kernel_.params[i], slots_[i]);
      if (!argument)
        return argument.error();
      arguments.push_back(std::move(*argument));
    }
    return arguments;
  }

private:
  struct Slot {
    bool given = false;
    std::string type;
    std::optional<Value> constant;
  };

  std::string name() const { return quoted(kernel_.function->name); }

  std::optional<size_t> find(const std::string &parameter) const {
    for (size_t i = 0; i < kernel_.params.size(); ++i)
      if (kernel_.params[i].name == parameter)
        return i;
    return std::nullopt;
  }

  std::string parameterList() const {
    std::string text;
    for (const LoadedKernel::Param &param : kernel_.params)
      text += (text.empty() ? "" : ", ") + param.name;
    return text.empty() ? "none" : text;
  }

  Error unknown(const std::string &parameter) const {
    return plainError("TypeError", "kernel " + name() + " has no parameter " + quoted(parameter) +
                                       "; its parameters are " + parameterList());
  }
  Error twice(const std::string &parameter) const {
    return plainError("TypeError",
                      "parameter " + quoted(parameter) + " of kernel " + name() + " is given twice");
  }

  static Expected<Value> toValue(const NamedConstant &constant) {
    const ConstantValue &value = constant.value;
    if (const bool *boolean = std::get_if<bool>(&value))
      return Value::constant(Constant(*boolean));
    if (const int64_t *integer = std::get_if<int64_t>(&value))
      return Value::constant(Constant(*integer));
    if (const double *real = std::get_if<double>(&value))
      return Value::constant(Constant(*real));
    if (const std::string *text = std::get_if<std::string>(&value))
      return Value::constant(Constant(*text));
    if (const DType *dtype = std::get_if<DType>(&value)) {
      if (std::optional<ScalarKind> kind = scalarByPublicName(dtype->name))
        return Value::dtype(Type(*kind));
      if (std::optional<Type> type = Type::fromSignature(dtype->name))
        return Value::dtype(*type);
      return badType(dtype->name, constant.name, "is not a type of the language");
    }
    return Value::none();
  }

  Expected<KernelArgument> makeArgument(const LoadedKernel::Param &param, const Slot &slot) const {
    KernelArgument argument;
    argument.name = param.name;
    if (slot.constant) {
      argument.constant = slot.constant;
      return argument;
    }
    std::string type = slot.type;
    if (!slot.given) {
      if (param.defaultValue) {
        argument.constant = Value::constant(*param.defaultValue);
        return argument;
      }
      if (param.isConstexpr || !param.annotation)
        return missing(param);
      type = *param.annotation;
    }
    if (param.isConstexpr)
      return plainError("TypeError", "parameter " + quoted(param.name) + " of kernel " + name() +
                                         " is a constexpr: give it a value, not a type");
    Expected<SpecialisedType> parsed = parseSpecialisedType(type, param.name);
    if (!parsed)
      return parsed.error();
    if (parsed->type.isDescriptor())
      return descriptorArgument(param.name, parsed->type, parsed->padsNaN);
    if (parsed->isOne)
      argument.constant = Value::constant(Constant(1));
    argument.type = parsed->type;
    argument.divisibility = parsed->divisibility;
    return argument;
  }

  Error missing(const LoadedKernel::Param &param) const {
    if (param.hasDefault)
      return plainError("TypeError", "the default of parameter " + quoted(param.name) + " of kernel " +
                                         name() + " needs Python: give the parameter " +
                                         (param.isConstexpr ? "a value" : "a type or a value"));
    return plainError("TypeError", std::string("kernel ") + name() + " needs " +
                                       (param.isConstexpr ? "a value" : "a type or a value") +
                                       " for parameter " + quoted(param.name));
  }

  const LoadedKernel &kernel_;
  std::vector<Slot> slots_;
};

} // namespace

std::optional<DescriptorType> parseDescriptorType(llvm::StringRef text) {
  text = text.trim();
  bool padsNaN = text.consume_back(":nan");
  std::optional<Type> type = Type::fromSignature(text.rtrim());
  if (!type || !type->isDescriptor())
    return std::nullopt;
  return DescriptorType{*type, padsNaN};
}

Expected<SpecialisedType> parseSpecialisedType(const std::string &text, const std::string &parameter) {
  auto [typeText, suffix] = llvm::StringRef(text).trim().split(':');
  SpecialisedType result;
  std::optional<DescriptorType> descriptor = parseDescriptorType(text);
  if (descriptor)
    return SpecialisedType{descriptor->type, 0, false, descriptor->padsNaN};
  std::optional<Type> type = Type::fromSignature(typeText.trim());
  if (!type)
    return badType(
        text, parameter,
        "is unknown; types are i1, i8 to i64, u8 to u64, fp16, bf16, fp32, fp64, *TYPE for a pointer "
        "(*kTYPE for one that is only read), and tensordesc<TYPE[ROWS, COLUMNS]> for a tensor descriptor");
  result.type = *type;
  suffix = suffix.trim();
  if (text.find(':') == std::string::npos)
    return result;
  if (suffix == "16") {
    if (!type->isPointer() && !type->isInt())
      return badType(text, parameter, "cannot be divisible by 16: only pointers and integers can");
    result.divisibility = 16;
  } else if (suffix == "1") {
    if (type->isPointer() || !type->isInt())
      return badType(text, parameter, "cannot be the constant 1: only integers can");
    result.isOne = true;
  } else {
    return badType(text, parameter,
                   "has an unknown suffix: ':16' means divisible by 16, ':1' always equal to 1");
  }
  return result;
}

Expected<std::vector<KernelArgument>> bindSignature(const LoadedKernel &kernel,
                                                    const std::vector<NamedType> &signature,
                                                    const std::vector<NamedConstant> &constants) {
  Binder binder(kernel);
  if (std::optional<Error> error = binder.addConstants(constants))
    return std::move(*error);
  if (std::optional<Error> error = binder.addTypes(signature))
    return std::move(*error);
  return binder.finish();
}

} // namespace despina
