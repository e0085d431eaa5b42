//===- BuiltinsHints.cpp - Hints, assertions, printing, loop iterators ----===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Spec triton_language 1.12.
//
//===----------------------------------------------------------------------===//
#include "BuiltinsImpl.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace despina {

namespace {

Value hint(Semantic &semantic, const BuiltinArgs &args, const char *name, const char *attribute) {
  llvm::SmallVector<int64_t, 4> values;
  llvm::ArrayRef<Value> elements =
      args[1].isTuple() ? llvm::ArrayRef(args[1].tuple().elements) : llvm::ArrayRef(args[1]);
  for (auto [i, element] : llvm::enumerate(elements)) {
    std::optional<int64_t> number =
        element.isConstant() && element.constant().isInt() ? element.constant().asInt64() : std::nullopt;
    if (!number)
      return semantic.error(
          ErrorKind::Type,
          "values element " + std::to_string(i) + " must have type `constexpr" +
              (element.isConstant() ? "[int]`, got `constexpr[" + element.typeName() + "]`" : "`"));
    values.push_back(*number);
  }
  if (!args[0].isTensor()) // a constant: everything is known of it
    return args[0];
  unsigned rank = std::max(1u, args[0].type().rank());
  if (values.size() != rank)
    return semantic.error(ErrorKind::Value,
                          "Shape of input to " + std::string(name) + " does not match the length of values");
  semantic.builder().setHint(args[0].handle(), attribute, values);
  return args[0];
}

Value multipleOf(Semantic &semantic, const BuiltinArgs &args) {
  return hint(semantic, args, "multiple_of", "tt.divisibility");
}
Value maxContiguous(Semantic &semantic, const BuiltinArgs &args) {
  return hint(semantic, args, "max_contiguous", "tt.contiguity");
}
Value maxConstancy(Semantic &semantic, const BuiltinArgs &args) {
  return hint(semantic, args, "max_constancy", "tt.constancy");
}

Value assume(Semantic &semantic, const BuiltinArgs &args) {
  Value condition = semantic.toCondition(args[0]);
  if (!condition)
    return Value();
  semantic.builder().assume(condition.handle());
  return Value::none();
}

Value debugBarrier(Semantic &semantic, const BuiltinArgs &) {
  semantic.builder().barrier();
  return Value::none();
}

Value staticAssert(Semantic &semantic, const BuiltinArgs &args) {
  if (!args[0].isConstant() || !args[0].constant().isBool())
    return semantic.error(
        ErrorKind::NotImplemented,
        "Assertion condition could not be determined at compile-time. Make sure that it depends only "
        "on `constexpr` values");
  if (args[0].constant().boolean())
    return Value::none();
  return semantic.error(ErrorKind::CompileTimeAssertion,
                        args[1].isConstant() ? args[1].constant().str() : args[1].str());
}

Value staticPrint(Semantic &semantic, const BuiltinArgs &args) {
  std::optional<std::string> separator = constantString(semantic, args[1], "sep");
  std::optional<std::string> end = separator ? constantString(semantic, args[2], "end") : std::nullopt;
  if (!end)
    return Value();
  std::string text;
  for (auto [i, value] : llvm::enumerate(args[0].tuple().elements)) {
    text += i ? (args[1].isNone() ? " " : *separator) : "";
    text += value.isConstant() ? value.constant().str() : value.str();
  }
  semantic.host().staticPrint(text + (args[2].isNone() ? "\n" : *end));
  return Value::none();
}

Value printOnDevice(Semantic &semantic, const Value &prefixValue, llvm::ArrayRef<Value> operands, bool hex) {
  if (!prefixValue.isConstant() || !prefixValue.constant().isString())
    return semantic.error(ErrorKind::Assertion,
                          "the prefix of device_print must be a string literal, got " + prefixValue.str());
  std::string prefix = prefixValue.constant().string();
  if (!llvm::all_of(prefix, [](char c) { return llvm::isPrint(c); }))
    return semantic.error(ErrorKind::Assertion,
                          "the prefix of device_print must be printable ASCII, got " + prefixValue.str());
  if (!llvm::StringRef(prefix).starts_with(" "))
    prefix = " " + prefix;
  if (!operands.empty()) {
    prefix = llvm::StringRef(prefix).rtrim(" ").rtrim(":").str() + ": ";
  }
  Handles handles;
  llvm::SmallVector<bool, 4> isSigned;
  for (const Value &operand : operands) {
    Value tensor = semantic.toTensor(operand);
    if (!tensor)
      return Value();
    handles.push_back(tensor.handle());
    isSigned.push_back(tensor.type().isSigned());
  }
  semantic.builder().devicePrint(prefix, hex, handles, isSigned);
  return Value::none();
}

Value devicePrint(Semantic &semantic, const BuiltinArgs &args) {
  std::optional<bool> hex = constantBool(semantic, args[2], "hex");
  return hex ? printOnDevice(semantic, args[0], args[1].tuple().elements, *hex) : Value();
}

/// Python's `print`: the first argument is the prefix.
Value print(Semantic &semantic, const BuiltinArgs &args) {
  const auto &values = args[0].tuple().elements;
  if (values.empty())
    return semantic.error(ErrorKind::Type, "print() needs a string as its first argument");
  std::optional<bool> hex = constantBool(semantic, args[1], "hex");
  return hex ? printOnDevice(semantic, values.front(), llvm::ArrayRef(values).drop_front(), *hex) : Value();
}

Value deviceAssert(Semantic &semantic, const BuiltinArgs &args) {
  std::optional<std::string> message = constantString(semantic, args[1], "msg");
  if (!message)
    return Value();
  if (!semantic.target().debug)
    return Value::none();
  Value condition = semantic.toTensor(args[0]);
  if (condition && !condition.type().isInt1())
    condition = semantic.cast(condition, ScalarKind::Int1);
  if (!condition)
    return Value();
  if (!args[2].isNone()) {
    // Lanes outside of the mask hold.
    Value mask = semantic.toTensor(args[2]);
    if (!checkMask(semantic, mask))
      return Value();
    Value outside = mask ? semantic.unaryOperator(ast::UnaryOperator::Invert, mask) : Value();
    condition = outside ? semantic.binaryOperator(ast::BinaryOperator::BitOr, condition, outside) : Value();
    if (!condition)
      return Value();
  }
  semantic.builder().deviceAssert(condition.handle(), *message);
  return Value::none();
}

/// The iterators have a meaning in loop headers only, where the code generator takes them apart itself.
Value onlyInFor(Semantic &semantic, const BuiltinArgs &) {
  return semantic.error(ErrorKind::Runtime,
                        "tl.range and tl.static_range can only be the iterator of a `for` loop");
}
Value onlyInWhile(Semantic &semantic, const BuiltinArgs &) {
  return semantic.error(ErrorKind::Runtime, "tl.condition can only be the test of a `while` loop");
}

constexpr ParamDef hintParams[] = {{"input"}, {"values"}};
constexpr ParamDef conditionParams[] = {{"cond"}};
constexpr ParamDef staticAssertParams[] = {{"cond"}, {"msg", "\"\""}};
constexpr ParamDef staticPrintParams[] = {{"values", nullptr, true},
                                          {"sep", "\" \"", false, true},
                                          {"end", "None", false, true},
                                          {"file", "None", false, true},
                                          {"flush", "False", false, true}};
constexpr ParamDef devicePrintParams[] = {{"prefix"}, {"args", nullptr, true}, {"hex", "False", false, true}};
constexpr ParamDef printParams[] = {{"values", nullptr, true}, {"hex", "False", false, true}};
constexpr ParamDef deviceAssertParams[] = {{"cond"}, {"msg", "\"\""}, {"mask", "None"}};
constexpr ParamDef rangeParams[] = {{"arg1"},
                                    {"arg2", "None"},
                                    {"step", "None"},
                                    {"num_stages", "None"},
                                    {"loop_unroll_factor", "None"},
                                    {"disallow_acc_multi_buffer", "False"},
                                    {"flatten", "False"},
                                    {"warp_specialize", "False"},
                                    {"disable_licm", "False"}};
constexpr ParamDef staticRangeParams[] = {{"arg1"}, {"arg2", "None"}, {"step", "None"}};
constexpr ParamDef whileParams[] = {{"cond"}, {"disable_licm", "False"}};

const BuiltinDef table[] = {
    {"language.multiple_of", hintParams, "Promises that the values of `input` are multiples of `values`.",
     multipleOf},
    {"language.max_contiguous", hintParams, "Promises runs of contiguous values.", maxContiguous},
    {"language.max_constancy", hintParams, "Promises runs of equal values.", maxConstancy},
    {"language.assume", conditionParams, "Promises that a condition holds.", assume},
    {"language.debug_barrier", {}, "A barrier between the threads of a program.", debugBarrier},
    {"language.static_assert", staticAssertParams, "Checks a condition at compile time.", staticAssert},
    {"language.static_print", staticPrintParams, "Prints at compile time.", staticPrint},
    {"language.device_print", devicePrintParams, "Prints at run time.", devicePrint},
    {"language.device_assert", deviceAssertParams, "Checks a condition at run time, in debug mode.",
     deviceAssert},
    {"language.range", rangeParams, "`range` with hints for the loop.", onlyInFor},
    {"language.static_range", staticRangeParams, "`range` expanded at compile time.", onlyInFor},
    {"language.condition", whileParams, "The test of a `while` loop, with hints.", onlyInWhile},
    {"builtins.print", printParams, "Prints at run time.", print},
};

} // namespace

llvm::ArrayRef<BuiltinDef> hintBuiltins() { return table; }

} // namespace despina
