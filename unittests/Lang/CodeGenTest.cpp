//===- CodeGenTest.cpp - Statements, control flow and calls ----------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "MockBuilder.h"

#include "despina/Lang/CodeGen.h"
#include "despina/Lang/ModuleLoader.h"

#include <pthread.h>

using namespace despina;
using namespace despina::test;

namespace {

const char *const prelude = "import triton\nimport triton.language as tl\n\n";

class CodeGenTest : public ::testing::Test {
public:
  /// Compiles the kernel `k` of a text, with parameters by name: p *fp32, n and m i32, f fp32, others
  /// constexpr 8.
  std::string compileText(const std::string &text) {
    Diagnostics diags;
    ModuleLoader loader;
    if (!loader.loadText("kernel.py", prelude + text, diags))
      return diags.firstError()->message;
    std::optional<LoadedKernel> kernel = loader.kernel("kernel.py", "k", diags);
    if (!kernel)
      return diags.firstError()->message;
    std::vector<KernelArgument> args;
    for (const LoadedKernel::Param &param : kernel->params) {
      KernelArgument arg;
      arg.name = param.name;
      if (param.name == "p")
        arg.type = Type::pointer(ScalarKind::FP32);
      else if (param.name == "f")
        arg.type = ScalarKind::FP32;
      else if (param.isConstexpr)
        arg.constant = Value::constant(8);
      else
        arg.type = ScalarKind::Int32;
      args.push_back(arg);
    }
    builder.clear();
    LanguageTarget target;
    const bool succeeded = generateKernel(builder, diags, target, kernel->function, args);
    if (succeeded)
      return {};
    const Diagnostic *first = diags.firstError();
    kind = first->kind;
    callers.clear();
    for (const Diagnostic::CallSite &site : first->callStack)
      callers.push_back(site.callee);
    return first->message;
  }
  /// The same for the lines of a kernel's body, after `functions`.
  std::string compile(const std::string &body, const std::string &functions = {}) {
    std::string text = functions + "@triton.jit\ndef k(p, n, m, f, C: tl.constexpr):\n";
    llvm::SmallVector<llvm::StringRef, 16> lines;
    llvm::StringRef(body).split(lines, '\n');
    for (llvm::StringRef line : lines)
      text += "    " + line.str() + "\n";
    return compileText(text);
  }
  size_t count(const std::string &text) const {
    size_t found = 0;
    for (const std::string &line : builder.log())
      found += line.find(text) != std::string::npos;
    return found;
  }

  MockRegionBuilder builder;
  ErrorKind kind = ErrorKind::Compilation;
  std::vector<std::string> callers;
};

TEST_F(CodeGenTest, Assignments) {
  EXPECT_EQ(compile("a, (b, c) = 1, (n, 2.0)\na += b\ntl.store(p, a * c)"), "");
  EXPECT_EQ(compile("x: tl.constexpr = C * 2\ny = tl.arange(0, x)\nz = None\ntl.static_assert(z is None)"),
            "");
  EXPECT_EQ(compile("x: tl.constexpr\nif n > 0:\n    x = 4\nelse:\n    x = 4\ntl.static_assert(x == 4)"), "");
  EXPECT_EQ(compile("x = C\ny = tl.arange(0, x)"), "arange's arguments must be of type tl.constexpr");
  EXPECT_EQ(compile("a = b = 1"), "Simultaneous multiple assignment is not supported.");
  EXPECT_EQ(compile("n.x = 1"), "Attribute assignment is not supported in triton");
  EXPECT_EQ(kind, ErrorKind::NotImplemented);
  EXPECT_EQ(compile("n[0] = 1"), "__setitem__ is not supported in triton");
  EXPECT_EQ(compile("n: tl.constexpr = 1"), "n is already defined. constexpr cannot be reassigned.");
  EXPECT_EQ(kind, ErrorKind::Value);
  EXPECT_EQ(compile("a, b = (1, 2, 3)"), "too many values to unpack (expected 2)");
  EXPECT_EQ(compile("a, b = n"), "cannot unpack non-iterable tensor object");
  EXPECT_NE(compile("s = 'text'").find("cannot convert"), std::string::npos);
  EXPECT_EQ(compile("for i in tl.static_range(3):\n    y: tl.constexpr = i * 2\n    tl.store(p + y, f)"), "");
}

TEST_F(CodeGenTest, RejectsByName) {
  const std::pair<const char *, const char *> cases[] = {
      {"for i in range(n):\n    break", "Break"},
      {"while n > 0:\n    continue", "Continue"},
      {"import os", "Import"},
      {"global x", "Global"},
      {"try:\n    pass\nfinally:\n    pass", "Try"},
      {"raise n", "Raise"},
      {"del n", "Delete"},
      {"class A:\n    pass", "ClassDef"},
      {"g = lambda x: x", "Lambda"},
      {"d = {1: 2}", "Dict"},
      {"with n:\n    pass", "With"},
  };
  for (const auto &[body, name] : cases) {
    EXPECT_EQ(compile(body), std::string("unsupported AST node type: ") + name);
    EXPECT_EQ(kind, ErrorKind::UnsupportedConstruct);
  }
  EXPECT_EQ(
      compile("def g():\n    pass"),
      "nested function definitions are not allowed inside a @triton.jit kernel. Move the helper function to "
      "module level and decorate it with @triton.jit.");
  EXPECT_EQ(compile("x = 1 < n < 2"), "simultaneous multiple comparison is not supported");
}

TEST_F(CodeGenTest, RuntimeIfMerges) {
  EXPECT_EQ(compile("x = 0\nif n > 0:\n    x = 1\n    y = f\nelse:\n    y = 2.0\ntl.store(p + x, y)"), "");
  EXPECT_EQ(compile("x = 0\nif n > 0:\n    x = 1.0\ntl.store(p, x)"),
            "initial value for `x` is of type int32, but the then block redefines it as fp32");
  EXPECT_EQ(compile("x = 0\nif n > 0:\n    pass\nelse:\n    x = 1.0\ntl.store(p, x)"),
            "initial value for `x` is of type int32, but the else block redefines it as fp32");
  EXPECT_EQ(compile("if n > 0:\n    y = 1\nelse:\n    y = 2.0"),
            "Mismatched type for y between then block (int32) and else block (fp32)");
  EXPECT_EQ(compile("if n > 0:\n    y = 1\ntl.store(p, y)"), "y is not defined");
  EXPECT_EQ(compile("if n > 0:\n    C = 1"),
            "initial value for `C` is of type constexpr_type[8], but the then block redefines it as int32");
  EXPECT_EQ(compile("t = (0, n)\nif n > 0:\n    t = (1, m)\ntl.store(p + t[0], f)"), "");
  EXPECT_EQ(compile("if 'a':\n    pass"),
            "`if` conditionals can only accept values of type {bool, int, NoneType}, "
            "not objects of type str");
  EXPECT_EQ(compile("if C == 8:\n    x = 1\nelse:\n    undefined()\ntl.store(p, x)"), "");
  EXPECT_EQ(count("if"), 0u) << builder.joinedLog();
}

TEST_F(CodeGenTest, Ternary) {
  EXPECT_EQ(compile("x = f if n > 0 else 1.0\ntl.store(p, x)"), "");
  EXPECT_EQ(compile("x = 1 if n > 0 else 1.0"),
            "Ternary expression with dynamic condition has inconsistent types int32 and fp32");
  EXPECT_EQ(compile("x = 1 if C else undefined"), "");
}

TEST_F(CodeGenTest, EarlyReturn) {
  EXPECT_EQ(compile("if n > 0:\n    return\ntl.store(p, f)"), "");
  // The rest is in the other arm, once, and nothing is carried out of the if.
  EXPECT_EQ(count("store"), 1u) << builder.joinedLog();
  EXPECT_EQ(compile("if n > 0:\n    if m > 0:\n        return\n    n += 1\ntl.store(p + n, f)"), "");
  EXPECT_EQ(count("store"), 1u) << builder.joinedLog();
  std::string many;
  for (int i = 0; i < 12; ++i)
    many += "if n > " + std::to_string(i) + ":\n    if m > 0:\n        return\n    n += 1\n";
  EXPECT_EQ(compile(many + "tl.store(p + n, f)"), "");
  EXPECT_EQ(count("store"), 1u);
  EXPECT_EQ(compile("if C == 8:\n    return\nundefined()"), "");
  EXPECT_EQ(compile("for i in range(n):\n    if i > 3:\n        return"),
            "Cannot have `return` statements inside `while` or `for` statements in triton.");
  EXPECT_EQ(compile("for i in range(n):\n    return"),
            "Cannot have `return` statements inside `while` or `for` statements in triton.");
  EXPECT_EQ(compile("for i in tl.static_range(3):\n    if n > i:\n        return\n    tl.store(p + i, f)"),
            "");
  EXPECT_EQ(count("store"), 3u);
}

TEST_F(CodeGenTest, ReturnsOfFunctions) {
  const char *const pick = "@triton.jit\ndef pick(x, y):\n    if x > 0:\n        return y\n    return x\n\n";
  EXPECT_EQ(compile("tl.store(p + pick(n, m), f)", pick), "");
  EXPECT_EQ(compile("tl.store(p + pick(n, 3), f)", pick), "");
  EXPECT_NE(compile("tl.store(p + pick(n, f), f)", pick)
                .find("Return type mismatch: fp32 and int32. Note all return "
                      "types were: [fp32, int32]"),
            std::string::npos);
  EXPECT_EQ(callers, std::vector<std::string>{"pick"});
  const char *const constant = "@triton.jit\ndef one(x):\n    if x > 0:\n        return 16\n    else:\n"
                               "        return 16\n\n";
  EXPECT_EQ(compile("x = tl.arange(0, one(n))", constant), "");
  EXPECT_NE(compile("if n > 0:\n    one(m)\ny = one(m)\nz = one(f)", constant), "none");
  EXPECT_EQ(count("func kernel.one"), 2u) << builder.joinedLog();
}

TEST_F(CodeGenTest, Binding) {
  const char *const f = "@triton.jit\ndef g(a, b=2, *rest):\n    return a + b\n\n";
  EXPECT_EQ(compile("t = (n, m)\ntl.store(p + g(*t) + g(b=n, a=m) + g(1, 2, 3, 4), f)", f), "");
  EXPECT_EQ(compile("g()", f), "g() missing 1 required positional argument: 'a'");
  EXPECT_EQ(kind, ErrorKind::Type);
  EXPECT_EQ(compile("g(n, c=1)", f), "g() got an unexpected keyword argument 'c'");
  EXPECT_EQ(compile("g(n, a=1)", f), "g() got multiple values for argument 'a'");
  EXPECT_EQ(compile("h(n, m)", "@triton.jit\ndef h(a):\n    pass\n\n"),
            "h() takes 1 positional argument but 2 were given");
  EXPECT_EQ(compile("n(1)"), "'tensor' object is not callable");
  EXPECT_NE(compile("r(n)", "@triton.jit\ndef r(a):\n    return r(a)\n\n").find("calls itself"),
            std::string::npos);
  EXPECT_NE(compile("r(0)", "@triton.jit\ndef r(a):\n    return r(a + 1)\n\n").find("maximum call depth"),
            std::string::npos);
  EXPECT_EQ(callers.size(), 128u);
  EXPECT_EQ(compile("tl.store(p + r(4), f)",
                    "@triton.jit\ndef r(a):\n    if a == 0:\n        return 0\n    else:\n"
                    "        return r(a - 1) + 1\n\n"),
            "");
  EXPECT_EQ(compile("s(tl.arange(0, 4))", "@triton.jit(noinline=True)\ndef s(a):\n    pass\n\n"),
            "Function s is marked noinline, but was called with non-scalar argument a:<[4], int32>");
  EXPECT_EQ(compile("u(n)", "@triton.must_use_result('Keep it.')\n@triton.jit\ndef u(a):\n    return a\n\n"),
            "The result of u is not being used. Keep it.");
  EXPECT_EQ(compile("apply(twice, n)", "@triton.jit\ndef twice(x):\n    return x + x\n\n@triton.jit\ndef "
                                       "apply(fn, x):\n    return fn(x)\n\n"),
            "");
}

TEST_F(CodeGenTest, Loops) {
  EXPECT_EQ(compile("acc = 0.0\nfor i in range(0, n, 2):\n    acc += f\n    t = i\ntl.store(p, acc)"), "");
  EXPECT_EQ(compile("for i in range(10, 0, -1):\n    tl.store(p + i, f)"), "");
  EXPECT_EQ(compile("for i in tl.range(0, n, num_stages=3, flatten=True):\n    tl.store(p + i, f)"), "");
  EXPECT_EQ(compile("for i in range(n):\n    pass\ntl.store(p + i, f)"), "");
  EXPECT_EQ(
      compile("acc = 0\nfor i in range(n):\n    acc += f"),
      "Loop-carried variable acc has initial type int32 but is re-assigned to fp32 in loop! Please make sure "
      "that the type stays consistent.");
  EXPECT_EQ(
      compile("for i in range(n):\n    C = C + i"),
      "Loop carried variable C changed type, was <class 'triton.language.core.constexpr'> but is now <class "
      "'triton.language.core.tensor'>");
  EXPECT_EQ(compile("x = None\nfor i in range(n):\n    x = i"),
            "Loop carried variable x is not a triton value");
  EXPECT_EQ(compile("for i in range(n):\n    y = i\ntl.store(p, y)"), "y is not defined");
  EXPECT_EQ(compile("for i in range(f):\n    pass"),
            "For loop bounds and step must all be ints, are (int32, fp32, int32)");
  EXPECT_EQ(compile("for i in (1, 2):\n    pass"),
            "Only `range` and `static_range` iterators are currently supported");
  EXPECT_EQ(kind, ErrorKind::Runtime);
  EXPECT_EQ(compile("for i in range(0, n, 0):\n    pass"), "range() arg 3 must not be zero");
  EXPECT_NE(compile("for i in tl.static_range(1000000000000):\n    pass").find("at most 100000"),
            std::string::npos);
  EXPECT_NE(compile("for i in tl.static_range(n):\n    pass").find("compile-time integers"),
            std::string::npos);
  EXPECT_EQ(
      compile("t = (n, 0.0)\nfor i in range(n):\n    t = (t[0] + 1, t[1] + f)\ntl.store(p + t[0], t[1])"),
      "");
}

TEST_F(CodeGenTest, While) {
  EXPECT_EQ(compile("i = 0\nwhile i < n:\n    tl.store(p + i, f)\n    i += 1"), "");
  EXPECT_EQ(compile("i = 0\nwhile tl.condition(i < n):\n    i += 1"), "");
  EXPECT_NE(compile("while True:\n    pass").find("must be a run-time scalar"), std::string::npos);
  EXPECT_EQ(compile("i = 0\nwhile (j := i + 1) < n:\n    i = i + 1\ntl.store(p + i, f)"), "");
}

TEST_F(CodeGenTest, Expressions) {
  EXPECT_EQ(compile("x = None\nif x is not None and x > 0:\n    undefined()"), "");
  EXPECT_EQ(compile("tl.static_assert((C or undefined) == 8)\ntl.static_assert(f'a{C}' == 'a8')"), "");
  EXPECT_EQ(
      compile("t = [x + 1 for x in (1, 2)]\ntl.static_assert(t[1] == 3)\ntl.static_assert(len(t) == 2)"), "");
  EXPECT_EQ(
      compile("s: tl.constexpr = f'{n}'"),
      "Cannot evaluate f-string containing non-constexpr conversion values, found conversion of type <class "
      "'triton.language.core.tensor'>");
  EXPECT_EQ(compile("x = [a for a in n]"), "only tuple comprehensions are supported");
  EXPECT_EQ(compile("x = undefined"), "undefined is not defined");
  EXPECT_EQ(kind, ErrorKind::Name);
  EXPECT_EQ(compile("if (y := n + 1) > 0:\n    tl.store(p + y, f)"), "");
}

/// Deep trees compile on a thread's usual stack and are an error, not a crash, on a small one.
TEST_F(CodeGenTest, DeepTrees) {
  std::string deep = "x = n";
  for (int i = 0; i < 900; ++i)
    deep += " + n";
  EXPECT_EQ(compile(deep), "");
  std::string returns;
  for (int i = 0; i < 3000; ++i)
    returns += "if n > 0:\n    return\n";
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 512 << 10);
  struct Job {
    CodeGenTest *test;
    std::string body, message;
  } job{this, returns, {}};
  pthread_t thread;
  const auto runJob = [](void *data) -> void * {
    auto *job = static_cast<Job *>(data);
    job->message = job->test->compile(job->body);
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, runJob, &job), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  EXPECT_EQ(job.message, "expression too deeply nested");
}

} // namespace
