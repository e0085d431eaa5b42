//===- CodeGenTest.cpp - Statements, control flow and calls ----------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "MockBuilder.h"

#include "despina/Lang/CodeGen.h"
#include "despina/Lang/ModuleLoader.h"

#include <functional>

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
    const bool succeeded = generateKernel(builder, diags, target, kernel->function, args, options);
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
  CodeGenOptions options;
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

/// Calls `work` on a thread with a stack of 512 KB.
void onSmallStack(const std::function<void()> &work) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, 512 << 10), 0);
  pthread_t thread;
  const auto call = [](void *work) -> void * {
    (*static_cast<const std::function<void()> *>(work))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, call, const_cast<std::function<void()> *>(&work)), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

std::string repeat(const std::string &text, size_t count) {
  std::string result;
  for (size_t i = 0; i < count; ++i)
    result += text;
  return result;
}

/// Statements nested `count` deep; `#` in the header becomes the level.
std::string nest(const std::string &header, const std::string &innermost, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    std::string line = header;
    if (size_t at = line.find('#'); at != std::string::npos)
      line.replace(at, 1, std::to_string(i));
    text += std::string(i, ' ') + line + "\n";
  }
  return text + std::string(count, ' ') + innermost;
}

const char *const tooDeep = "expression too deeply nested";

/// Deep trees compile on a thread's usual stack and are an error, not a crash, on a small one.
TEST_F(CodeGenTest, DeepTrees) {
  EXPECT_EQ(compile("x = n" + repeat(" + n", 900)), "");
  const std::string returns = repeat("if n > 0:\n    return\n", 3000);
  std::string message;
  onSmallStack([&] { message = compile(returns); });
  EXPECT_EQ(message, tooDeep);
}

/// Every way to nest, as deep as the parser lets it be.
TEST_F(CodeGenTest, DeepestTreesOnASmallStack) {
  const std::pair<std::string, std::string> cases[] = {
      {"x = " + repeat("-", 990) + "n", ""},
      {"x = " + repeat("~", 990) + "n", ""},
      {"x = " + repeat("not ", 990) + "(n > 0)", ""},
      {"x = n" + repeat(" + n", 990), ""},
      {"x = f" + repeat(" / f", 990), ""},
      {"x = n" + repeat(" + 1", 990), ""},
      {"x: tl.constexpr = C" + repeat(" + 1", 990), ""},
      {"x = n" + repeat("[None]", 990), ""},
      {"x = n" + repeat(".to(tl.float32)", 490), ""},
      {"x = " + repeat("tl.abs(", 190) + "n" + repeat(")", 190), ""},
      {"x = " + repeat("h(", 190) + "n" + repeat(")", 190), ""},
      {"x = " + repeat("(", 190) + "n" + repeat(" + n)", 190), ""},
      {"x = " + repeat("(n if n > 0 else ", 190) + "n" + repeat(")", 190), ""},
      {"x = n" + repeat(" if n > 0 else n", 900), ""},
      {"x = " + repeat("[", 190) + "n" + repeat("]", 190), ""},
      {"x = " + repeat("(", 190) + "n" + repeat(",)", 190), ""},
      {repeat("(", 190) + "x" + repeat(",)", 190) + " = " + repeat("(", 190) + "n" + repeat(",)", 190), ""},
      {nest("if n > #:", "pass", 90), ""},
      {"x = n\n" + nest("for i# in range(n):", "x += 1", 90), ""},
      {"x = n\n" + nest("while x > #:", "x += 1", 90), ""},
      {nest("for i# in tl.static_range(1):", "x = n", 90), ""},
  };
  const std::string helper = "@triton.jit\ndef h(x):\n    return x + 1\n\n";
  for (const auto &[body, want] : cases) {
    std::string message = "did not run";
    onSmallStack([&] { message = compile(body, helper); });
    // Either is fine; a crash or another error is not. Which of the two depends on the compiler's frames.
    if (message != tooDeep && message.find("at most") == std::string::npos)
      EXPECT_EQ(message, want) << body.substr(0, 60);
  }
}

/// A few lines may stand for any amount of work.
TEST_F(CodeGenTest, ExpansionIsBounded) {
  options.maxVisits = 50'000;
  const std::string tooMuch = "the kernel expands to more than 50000 statements and expressions";
  EXPECT_EQ(compile("for i in tl.static_range(100000):\n    for j in tl.static_range(100000):\n        pass"),
            tooMuch);
  EXPECT_EQ(compile("t = (1,) * 1000\nu = [[[[0 for a in t] for b in t] for c in t] for d in t]"), tooMuch);
  EXPECT_EQ(compile("x = tl.arange(0, 16)\ntl.store(p, tl.reduce(x, 0, add))",
                    "@triton.jit\ndef add(a, b, N: tl.constexpr = 40):\n    if N < 2:\n        return a + b\n"
                    "    return add(a, b, N - 1) + add(b, a, N - 1)\n\n"),
            tooMuch);
  EXPECT_EQ(compile("for i in tl.static_range(20000):\n    pass"), "");
}

TEST_F(CodeGenTest, TuplesAreBounded) {
  const std::string tooLarge = "the tuple is too large (more than 65536 values)";
  const std::string tooNested = "tuples are nested more than 256 levels deep";
  EXPECT_EQ(compile("t = (n, n)\nfor i in tl.static_range(60):\n    t = (t, t)"), tooLarge);
  EXPECT_EQ(compile("t = (n, n)\nfor i in tl.static_range(60):\n    t = t + t"), tooLarge);
  EXPECT_EQ(compile("t = (n,) * 40000\nu = (*t, *t)"), "too many values (more than 65536)");
  EXPECT_EQ(compile("t = (n,)\nfor i in tl.static_range(99999):\n    t = (t, n)"), tooNested);
  EXPECT_EQ(compile("t = (n,) * 60000\nu = h(*t, *t)", "@triton.jit\ndef h(*rest):\n    return rest[0]\n\n"),
            "too many values (more than 65536)");
  EXPECT_EQ(compile("s: tl.constexpr = 'x' * 40000\nt: tl.constexpr = (s,) * 60000"), tooLarge);
  EXPECT_EQ(compile("t = (n,) * 60000\ntl.store(p + t[59999], f)"), "");
}

TEST_F(CodeGenTest, FormattedStringsAreBounded) {
  std::string body = "s0: tl.constexpr = 'x' * 1000";
  for (int i = 1; i < 60; ++i)
    body += "\ns" + std::to_string(i) + ": tl.constexpr = f'{s" + std::to_string(i - 1) + "}{s" +
            std::to_string(i - 1) + "}'";
  EXPECT_EQ(compile(body), "formatted string is too long");
}

} // namespace
