//===- HostTest.cpp - Embedding the front end in a host -------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "despina/host.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <map>

using namespace despina;
using host::Answer;
using host::Value;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

Value text(Value::Kind kind, const std::string &text) {
  Value value;
  value.kind = kind;
  value.text = text;
  return value;
}
Value integer(const std::string &decimal) { return text(Value::Kind::Int, decimal); }

Answer found(Value value) {
  Answer answer;
  answer.status = Answer::Status::Found;
  answer.value = std::move(value);
  return answer;
}
Answer failed(const std::string &kind, const std::string &message) {
  Answer answer;
  answer.status = Answer::Status::Failed;
  answer.errorKind = kind;
  answer.message = message;
  return answer;
}

std::shared_ptr<host::Function> function(const std::string &name, const std::string &source,
                                         const std::string &key) {
  auto result = std::make_shared<host::Function>();
  result->name = name;
  result->qualifiedName = "module." + name;
  result->source = source;
  result->path = "module.py";
  result->firstLine = 40;
  result->key = key;
  return result;
}
Value functionValue(std::shared_ptr<const host::Function> function) {
  Value value;
  value.kind = Value::Kind::Function;
  value.function = std::move(function);
  return value;
}

/// A host whose globals are a map, with one opaque object that counts calls.
class TestHost : public host::Resolver {
public:
  TestHost() { globals["tl"] = text(Value::Kind::LanguageModule, "triton.language"); }

  Answer lookup(const host::Function &function, const std::string &name, bool) override {
    looked.push_back(function.name + ":" + name);
    if (name == "forbidden")
      return {Answer::Status::NotAllowed, {}, {}, {}};
    auto it = globals.find(name);
    return it == globals.end() ? Answer() : found(it->second);
  }
  Answer attribute(const Value &object, const std::string &name) override {
    return object.text == "object" && name == "answer" ? found(integer("42"))
                                                       : failed("AttributeError", "no attribute " + name);
  }
  Answer call(const Value &callee, const std::vector<Value> &args,
              const std::vector<std::pair<std::string, Value>> &keywords) override {
    if (callee.text != "object" || args.size() != 1)
      return failed("TypeError", "bad call");
    ++calls;
    return found(
        integer(std::to_string(std::stoll(args[0].text) * 2 + static_cast<long long>(keywords.size()))));
  }
  Answer subscript(const Value &, const Value &index) override { return found(integer(index.text + "0")); }
  bool same(const Value &lhs, const Value &rhs) override { return lhs.text == rhs.text; }
  void staticPrint(const std::string &text) override { printed += text; }
  void warn(const std::string &message, const std::string &, unsigned) override {
    warnings.push_back(message);
  }

  std::map<std::string, Value> globals;
  std::vector<std::string> looked, warnings;
  std::string printed;
  int calls = 0;
};

host::KernelArgument runtime(const std::string &name, const std::string &type) {
  host::KernelArgument argument;
  argument.name = name;
  argument.type = type;
  return argument;
}
host::KernelArgument constant(const std::string &name, Value value) {
  host::KernelArgument argument;
  argument.name = name;
  argument.constant = std::move(value);
  return argument;
}

/// Compiles `f(out_ptr)` with the given body and gives what it stores.
struct Outcome {
  int64_t stored = -1;
  Error error;
};
Outcome run(TestHost &host, const std::string &body, const std::string &key = "") {
  Outcome outcome;
  auto f = function("f", "def f(out_ptr):\n" + body, key);
  Expected<Kernel> kernel = host::compile(f, host, {runtime("out_ptr", "*i64")});
  if (!kernel) {
    outcome.error = kernel.error();
    return outcome;
  }
  Result done = kernel->launch({1}, {&outcome.stored});
  if (!done)
    outcome.error = done.error();
  return outcome;
}

Value object() {
  Value value = text(Value::Kind::Object, "object");
  value.typeName = "Thing";
  value.callable = true;
  return value;
}

TEST(Host, AnswersGlobals) {
  TestHost host;
  host.globals["SIZE"] = integer("1234567890123");
  Outcome outcome = run(host, "    tl.store(out_ptr, SIZE)\n");
  EXPECT_EQ(outcome.error.rendered, "");
  EXPECT_EQ(outcome.stored, 1234567890123);
  EXPECT_THAT(host.looked, Contains("f:SIZE"));
}

TEST(Host, CallsAndReadsObjects) {
  TestHost host;
  host.globals["thing"] = object();
  Outcome outcome = run(host, "    tl.store(out_ptr, thing(4, key=1) + thing.answer + thing[3])\n");
  EXPECT_EQ(outcome.error.rendered, "");
  EXPECT_EQ(outcome.stored, 4 * 2 + 1 + 42 + 30);
  EXPECT_EQ(host.calls, 1);
}

TEST(Host, CallsFunctionsWithSource) {
  TestHost host;
  host.globals["helper"] =
      functionValue(function("helper", "def helper(x):\n    return x * FACTOR\n", "helper-key"));
  host.globals["FACTOR"] = integer("7");
  Outcome outcome = run(host, "    tl.store(out_ptr, helper(3) + helper(4))\n");
  EXPECT_EQ(outcome.error.rendered, "");
  EXPECT_EQ(outcome.stored, 49);
  EXPECT_THAT(host.looked, Contains("helper:FACTOR")) << "free names belong to the function they stand in";
}

TEST(Host, FunctionsWithOneKeyAreParsedOnce) {
  TestHost host;
  EXPECT_EQ(run(host, "    tl.store(out_ptr, 5)\n", "one-key").stored, 5);
  // The same key promises the same text, so the text is not looked at again.
  EXPECT_EQ(run(host, "    there is no Python\n", "one-key").stored, 5);
  EXPECT_THAT(run(host, "    there is no Python\n", "other-key").error.causeKind, "SyntaxError");
}

TEST(Host, HandsFailuresThrough) {
  TestHost host;
  host.globals["thing"] = object();
  Error error = run(host, "    tl.store(out_ptr, thing.nothing)\n").error;
  EXPECT_EQ(error.kind, "CompilationError");
  EXPECT_EQ(error.causeKind, "AttributeError");
  EXPECT_THAT(error.message, HasSubstr("no attribute nothing"));
  EXPECT_EQ(error.file, "module.py");
  EXPECT_EQ(error.line, 41u) << "lines count from the function's place in its file";
  error = run(host, "    tl.store(out_ptr, unknown)\n").error;
  EXPECT_EQ(error.causeKind, "NameError");
  error = run(host, "    tl.store(out_ptr, forbidden)\n").error;
  EXPECT_EQ(error.causeKind, "NameError");
  EXPECT_THAT(error.message, HasSubstr("forbidden"));
}

TEST(Host, GetsWhatIsPrinted) {
  TestHost host;
  EXPECT_EQ(run(host, "    tl.static_print(\"size\", 12)\n    tl.store(out_ptr, 1)\n").stored, 1);
  EXPECT_EQ(host.printed, "size 12\n");
}

TEST(Host, KeepsIntegersOfAnySize) {
  TestHost host;
  host.globals["BIG"] = integer("-123456789012345678901234567890");
  Outcome outcome = run(host, "    tl.store(out_ptr, BIG // 12345678901234567890123)\n");
  EXPECT_EQ(outcome.error.rendered, "");
  EXPECT_EQ(outcome.stored, -10000001);
}

TEST(Host, TakesConstantsAndTuples) {
  TestHost host;
  auto f = function("f",
                    "def f(out_ptr, shape, none, flag: tl.constexpr):\n"
                    "    if none is None and flag:\n"
                    "        tl.store(out_ptr, shape[0] * 100 + shape[1])\n",
                    "");
  Value shape = text(Value::Kind::Tuple, "");
  shape.elements = {integer("5"), integer("6")};
  Value flag;
  flag.kind = Value::Kind::Bool;
  flag.boolean = true;
  Expected<Kernel> kernel = host::compile(f, host,
                                          {runtime("out_ptr", "*i64"), constant("shape", shape),
                                           constant("none", Value()), constant("flag", flag)});
  ASSERT_TRUE(kernel) << kernel.error().rendered;
  EXPECT_THAT(kernel->parameterTypes(), ElementsAre("*i64"));
  int64_t out = 0;
  ASSERT_TRUE(kernel->launch({1}, {&out}));
  EXPECT_EQ(out, 506);
}

TEST(Host, TakesTuplesOfRuntimeValues) {
  TestHost host;
  auto f = function("f",
                    "def f(out_ptr, pair):\n"
                    "    tl.store(out_ptr, pair.left * 1000 + pair.middle * 100 + pair[2])\n",
                    "");
  host::KernelArgument pair;
  pair.name = "pair";
  pair.isTuple = true;
  pair.elements = {runtime("", "i32"), constant("", integer("3")), runtime("", "i64")};
  pair.fields = {"left", "middle", "right"};
  pair.tupleTypeName = "Triple";
  Expected<Kernel> kernel = host::compile(f, host, {runtime("out_ptr", "*i64"), pair});
  ASSERT_TRUE(kernel) << kernel.error().rendered;
  EXPECT_THAT(kernel->parameterTypes(), ElementsAre("*i64", "i32", "i64"));
  int64_t out = 0;
  ASSERT_TRUE(kernel->launch({1}, {&out, 2, 7}));
  EXPECT_EQ(out, 2307);
  Result tooLarge = kernel->launch({1}, {&out, int64_t(1) << 40, 7});
  ASSERT_FALSE(tooLarge);
  EXPECT_THAT(tooLarge.error().message, HasSubstr("'pair[0]'"));
}

TEST(Host, RefusesUnknownTypes) {
  TestHost host;
  auto f = function("f", "def f(x):\n    pass\n", "");
  Expected<Kernel> kernel = host::compile(f, host, {runtime("x", "i77")});
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().message, "parameter 'x' has the unsupported type 'i77'");
  EXPECT_FALSE(host::compile(nullptr, host, {}));
}

TEST(Host, ListsTheBuiltins) {
  std::map<std::string, host::BuiltinDoc> docs;
  for (host::BuiltinDoc &doc : host::builtinDocs())
    docs[doc.path] = doc;
  ASSERT_TRUE(docs.contains("language.load"));
  EXPECT_THAT(docs["language.load"].signature, HasSubstr("(pointer, mask=None, other=None"));
  EXPECT_TRUE(docs["language.load"].supported);
  EXPECT_FALSE(docs["language.load"].doc.empty());
}

} // namespace
