//===- ModuleLoaderTest.cpp - Files with kernels, read without Python ------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "MockBuilder.h"

#include "despina/Lang/CodeGen.h"
#include "despina/Lang/ModuleLoader.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace despina;
using namespace despina::test;

namespace {

const char *const helperFile = R"(
import triton
import triton.language as tl

WIDTH = tl.constexpr(32)
PLAIN = 7


@triton.jit
def scale(x, factor: tl.constexpr = WIDTH):
    return x * factor
)";

const char *const mainFile = R"(
import os
import torch
from typing import TYPE_CHECKING
import triton
import triton.language as tl
from helper import scale, WIDTH
import helper as h

if TYPE_CHECKING:
    from nowhere import Something

try:
    import fancy
    ENABLED = tl.constexpr(fancy.enabled)
except ImportError:
    ENABLED = tl.constexpr(False)

LIMIT = tl.constexpr(4 * WIDTH)
PLAIN = 3
TORCH_TYPE = torch.float16
ELEMENT = tl.float32
A, B = tl.constexpr(1), 2


@triton.constexpr_function
def bits(n):
    count = 0
    while n > 1:
        n //= 2
        count += 1
    for i in range(3):
        if i == 1:
            continue
        count += i
    return count


def get_configs():
    return [triton.Config({"BLOCK": b}) for b in (64, 128)]


@triton.autotune(configs=get_configs(), key=["n"])
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def good(p, n, BLOCK: tl.constexpr, EVEN: tl.constexpr = False, flag: "i64" = PLAIN):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(p + offsets, mask=offsets < n)
    if not ENABLED:
        x = scale(x) + LIMIT + bits(LIMIT) + h.WIDTH
    tl.store(p + offsets, x.to(ELEMENT), mask=offsets < n)


@triton.jit
def uses_torch(p):
    tl.store(p, tl.zeros((16,), TORCH_TYPE))


@triton.jit
def uses_plain(p):
    tl.store(p, PLAIN)


@triton.jit
def uses_function(p):
    get_configs()


@triton.jit
def uses_missing(p):
    tl.store(p, nothing)


@triton.jit(noinline=True)
def uses_attribute(p):
    tl.store(p, h.absent)
)";

class ModuleLoaderTest : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("despina-loader", folder));
    write("helper.py", helperFile);
    write("main.py", mainFile);
  }
  void TearDown() override { llvm::sys::fs::remove_directories(folder); }

  std::string path(llvm::StringRef name) const {
    llvm::SmallString<128> full(folder);
    llvm::sys::path::append(full, name);
    return full.str().str();
  }
  void write(llvm::StringRef name, llvm::StringRef text) {
    const std::string full = path(name);
    llvm::sys::fs::create_directories(llvm::sys::path::parent_path(full));
    std::error_code failure;
    llvm::raw_fd_ostream stream(full, failure);
    ASSERT_FALSE(failure);
    stream << text;
  }

  /// Compiles a kernel whose first argument is *fp32; the first error, or nothing.
  std::string compile(llvm::StringRef kernelName, llvm::StringRef file = "main.py") {
    Diagnostics diags;
    ModuleLoader loader;
    if (!loader.loadFile(path(file), diags))
      return diags.firstError()->message;
    std::optional<LoadedKernel> kernel = loader.kernel(path(file), kernelName, diags);
    if (!kernel)
      return diags.firstError()->message;
    std::vector<KernelArgument> args;
    for (const LoadedKernel::Param &param : kernel->params) {
      KernelArgument arg;
      arg.name = param.name;
      if (args.empty())
        arg.type = Type::pointer(ScalarKind::FP32);
      else if (param.isConstexpr)
        arg.constant = Value::constant(param.defaultValue ? *param.defaultValue : Constant(64));
      else
        arg.type = ScalarKind::Int32;
      args.push_back(arg);
    }
    builder.clear();
    LanguageTarget target;
    if (generateKernel(builder, diags, target, kernel->function, args))
      return {};
    return diags.firstError() ? diags.firstError()->message : "failed without an error";
  }

  llvm::SmallString<128> folder;
  MockRegionBuilder builder;
};

TEST_F(ModuleLoaderTest, LoadsAFileThatNeedsPythonElsewhere) {
  EXPECT_EQ(compile("good"), "");
  // LIMIT = 128; bits(128) = 7 + 0 + 2.
  EXPECT_NE(builder.joinedLog().find("constant 128.0"), std::string::npos) << builder.joinedLog();
  EXPECT_NE(builder.joinedLog().find("constant 9.0"), std::string::npos) << builder.joinedLog();
}

TEST_F(ModuleLoaderTest, DescribesKernels) {
  Diagnostics diags;
  ModuleLoader loader;
  ASSERT_TRUE(loader.loadFile(path("main.py"), diags));
  EXPECT_EQ(loader.kernels(path("main.py")),
            (std::vector<std::string>{"good", "uses_torch", "uses_plain", "uses_function", "uses_missing",
                                      "uses_attribute"}));
  std::optional<LoadedKernel> kernel = loader.kernel(path("main.py"), "good", diags);
  ASSERT_TRUE(kernel);
  EXPECT_TRUE(kernel->autotuned);
  EXPECT_TRUE(kernel->hasHeuristics);
  ASSERT_EQ(kernel->params.size(), 5u);
  EXPECT_TRUE(kernel->params[2].isConstexpr);
  EXPECT_FALSE(kernel->params[2].hasDefault);
  ASSERT_TRUE(kernel->params[3].defaultValue);
  EXPECT_TRUE(kernel->params[3].defaultValue->identical(Constant(false)));
  EXPECT_EQ(kernel->params[4].annotation, "i64");
  ASSERT_TRUE(kernel->params[4].defaultValue);
  EXPECT_TRUE(kernel->params[4].defaultValue->identical(Constant(3)));
  EXPECT_TRUE(loader.kernel(path("main.py"), "uses_attribute", diags)->function->noinline);
  EXPECT_FALSE(loader.kernel(path("main.py"), "absent", diags));
  EXPECT_NE(diags.firstError()->help.find("good, uses_torch"), std::string::npos);
}

TEST_F(ModuleLoaderTest, NamesTheExpressionThatNeedsPython) {
  const std::string message = compile("uses_torch");
  EXPECT_NE(message.find("`torch.float16` needs Python"), std::string::npos) << message;
}

TEST_F(ModuleLoaderTest, AppliesTheRuleForGlobals) {
  EXPECT_EQ(
      compile("uses_plain"),
      "Cannot access global variable PLAIN from within @jit'ed function. Triton kernels can only access "
      "global variables that are instanstiated as constexpr (`x = triton.language.constexpr(42)`). Note that "
      "this is different from annotating a variable as constexpr (`x: triton.language.constexpr = 42`), "
      "which "
      "is not supported.  Alternatively, set the envvar TRITON_ALLOW_NON_CONSTEXPR_GLOBALS=1, but we do not "
      "promise to support this forever.");
  EXPECT_NE(compile("uses_function").find("Unsupported function referenced: <function get_configs>"),
            std::string::npos);
  EXPECT_EQ(compile("uses_missing"), "nothing is not defined");
  EXPECT_EQ(compile("uses_attribute"), "module 'helper' has no attribute 'absent'");
}

TEST_F(ModuleLoaderTest, FollowsImportsInPackages) {
  write("pkg/__init__.py", "from . import inner\nfrom .inner import K as renamed\n");
  write("pkg/inner.py",
        "from triton.language import constexpr\nfrom ..pkg.deep import J\nK = constexpr(5) + J\n");
  write("pkg/deep.py", "import triton.language as tl\nJ = tl.constexpr(2)\n");
  write("user.py", "from triton import jit, language as tl\nimport pkg.inner\nfrom pkg import renamed\n"
                   "from pkg.deep import *\n\n@jit\ndef kernel(p):\n"
                   "    tl.static_assert(renamed == 7)\n    tl.static_assert(pkg.inner.K == 7)\n"
                   "    tl.static_assert(J == 2)\n    tl.store(p, 1.0)\n");
  EXPECT_EQ(compile("kernel", "user.py"), "");
  write("broken.py", "def (:\n");
  write("user2.py", "import triton\nimport triton.language as tl\nfrom broken import x\n\n@triton.jit\n"
                    "def kernel(p):\n    tl.store(p, x)\n");
  EXPECT_NE(compile("kernel", "user2.py").find("cannot import broken from"), std::string::npos);
}

TEST_F(ModuleLoaderTest, SearchesModulesThatImportEachOther) {
  write("one.py", R"(
import triton
import triton.language as tl
from two import *

FIRST = tl.constexpr(1)


@triton.jit
def found(p):
    tl.store(p, SECOND)


@triton.jit
def missing(p):
    tl.store(p, THIRD)
)");
  write("two.py", R"(
import triton.language as tl
from one import *

SECOND = tl.constexpr(2)
)");
  EXPECT_EQ(compile("found", "one.py"), "");
  EXPECT_EQ(compile("missing", "one.py"), "THIRD is not defined");
}

TEST_F(ModuleLoaderTest, LooksOnceAtWhatGlobalsShare) {
  // Each doubles the one before: following both sides would take 2^60 steps.
  std::string text = "import triton\nimport triton.language as tl\nN0 = 1\n";
  for (int i = 1; i <= 60; ++i)
    text += "N" + std::to_string(i) + " = N" + std::to_string(i - 1) + " + N" + std::to_string(i - 1) + "\n";
  text += "\n@triton.jit\ndef kernel(p):\n    tl.store(p, N60)\n";
  write("shared.py", text);
  EXPECT_NE(compile("kernel", "shared.py").find("Cannot access global variable N60"), std::string::npos);
}

TEST_F(ModuleLoaderTest, CountsTheStepsOfFunctionsThatCallEachOther) {
  write("endless.py", R"(
import triton
import triton.language as tl


@triton.constexpr_function
def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


@triton.jit
def kernel(p):
    tl.store(p, fibonacci(60))
)");
  EXPECT_NE(compile("kernel", "endless.py").find("compile-time evaluation takes more than"),
            std::string::npos);
}

TEST_F(ModuleLoaderTest, EvaluatesWhatHostCodeCommonlyUses) {
  write("host.py", R"(
import collections
import math
from math import sqrt
from typing import NamedTuple
import triton
import triton.language as tl

LOG2E = tl.constexpr(math.log2(math.e))
ROOT = tl.constexpr(sqrt(2) * math.sqrt(2))
WHOLE = tl.constexpr(math.ceil(7 / 2) + math.floor(-0.5) + math.isqrt(99) + math.gcd(12, 18))
INFINITE = tl.constexpr(-math.inf)
TABLE = {"a": 4, "b": 8, "a": 16}
SQUARES = {n: n * n for n in range(5) if n % 2}
PICKED = tl.constexpr(TABLE["a"] + SQUARES[3] + TABLE.get("none", 100))
KEYS = tl.constexpr(len(TABLE.keys()) if "b" in TABLE and 2 not in SQUARES else 0)
TOTAL = tl.constexpr(sum(v for _, v in TABLE.items()))
ROUNDED = tl.constexpr(round(2.5) + round(3.5))
NAME = tl.constexpr(f"{7:04d}|{-3.14159:.2f}|{255:#^6x}|{'ab':>4}|{1.5:+8.3e}")
ABSENT = tl.constexpr(TABLE["zzz"])
OUTSIDE = tl.constexpr(math.sqrt(-1))
GAMMA = tl.constexpr(math.gamma(3))


class Pair(NamedTuple):
    first: int
    second: int = 5


Point = collections.namedtuple("Point", "x, y")
SUM = tl.constexpr(Pair(3).first + Pair(1, second=2).second + Point(10, y=20).y)


@triton.constexpr_function
def bits(n):
    return int(math.log2(n)) + 1


@triton.jit
def kernel(p):
    tl.static_assert(LOG2E > 1.4426950408 and LOG2E < 1.4426950409)
    tl.static_assert(ROOT > 1.99999999 and ROOT < 2.00000001)
    tl.static_assert(WHOLE == 4 - 1 + 9 + 6)
    tl.static_assert(INFINITE == float("-inf"))
    tl.static_assert(PICKED == 16 + 9 + 100)
    tl.static_assert(KEYS == 2)
    tl.static_assert(TOTAL == 24)
    tl.static_assert(ROUNDED == 6)
    tl.static_assert(NAME == "0007|-3.14|##ff##|  ab|+1.500e+00")
    tl.static_assert(SUM == 3 + 2 + 20)
    tl.static_assert(bits(64) == 7)
    pair = Pair(1)
    tl.static_assert(pair.second == 5)
    tl.store(p, 1.0)


@triton.jit
def uses_dict(p):
    tl.store(p, TABLE["a"])


@triton.jit
def uses_absent(p):
    tl.store(p, ABSENT)


@triton.jit
def uses_outside(p):
    tl.store(p, OUTSIDE)


@triton.jit
def uses_gamma(p):
    tl.store(p, GAMMA)


@triton.jit
def too_many(p):
    Pair(1, 2, 3)
)");
  EXPECT_EQ(compile("kernel", "host.py"), "");
  EXPECT_NE(compile("uses_dict", "host.py").find("Cannot access global variable TABLE"), std::string::npos);
  EXPECT_EQ(compile("uses_absent", "host.py"), "'zzz'");
  EXPECT_EQ(compile("uses_outside", "host.py"), "math domain error");
  EXPECT_NE(compile("uses_gamma", "host.py").find("`math.gamma` needs Python"), std::string::npos);
  EXPECT_EQ(compile("too_many", "host.py"), "Pair() takes 2 fields but 3 were given");
}

TEST_F(ModuleLoaderTest, ReportsBadFiles) {
  EXPECT_NE(compile("kernel", "missing.py").find("cannot read"), std::string::npos);
  write("latin.py", "x = '\xe9'\n");
  EXPECT_NE(compile("kernel", "latin.py").find("'utf-8' codec can't decode byte 0xe9"), std::string::npos);
  write("empty.py", "");
  EXPECT_NE(compile("kernel", "empty.py").find("has no kernel `kernel`"), std::string::npos);
  write("loop.py", "import triton\nimport triton.language as tl\na = b\nb = a\n\n@triton.constexpr_function\n"
                   "def forever(n):\n    while True:\n        n = n + 1\n\n@triton.jit\ndef cycle(p):\n"
                   "    tl.store(p, a)\n\n@triton.jit\ndef endless(p):\n    tl.store(p, forever(1))\n");
  EXPECT_NE(compile("cycle", "loop.py").find("depends on itself"), std::string::npos);
}

/// What host code makes is bounded, as the time it takes is.
TEST_F(ModuleLoaderTest, BoundsHostCode) {
  const std::string header = "import triton\nimport triton.language as tl\n\n@triton.constexpr_function\n";
  const auto run = [&](const std::string &function) {
    write("host.py", header + function + "\n\n@triton.jit\ndef kernel(p):\n    tl.store(p, f(60))\n");
    return compile("kernel", "host.py");
  };
  const std::string tooLong = "compile-time evaluation takes more than 500000 steps";
  EXPECT_EQ(run("def f(n):\n    while True:\n        pass"), tooLong);
  EXPECT_EQ(run("def f(n):\n    t = [i for i in range(2000)]\n    return len([[b for b in t] for c in t])"),
            tooLong);
  EXPECT_EQ(run("def f(n):\n    for i in range(10 ** 15):\n        pass"), tooLong);
  EXPECT_NE(run("def f(n):\n    return f(n)").find("too deeply nested"), std::string::npos);
  EXPECT_EQ(run("def f(n):\n    t = (1,)\n    for i in range(n):\n        t = (t, t)\n    return t"),
            "the tuple is too large");
  EXPECT_EQ(run("def f(n):\n    t = (1,)\n    for i in range(n):\n        t = t + t\n    return t"),
            "the tuple is too large");
  EXPECT_EQ(run("def f(n):\n    t = (1,)\n    for i in range(300):\n        t = (t,)\n    return t"),
            "values are nested too deeply");
  EXPECT_EQ(run("def f(n):\n    d = {}\n    for i in range(200000):\n        d = {1: d}\n    return 1"),
            "values are nested too deeply");
  EXPECT_EQ(run("def f(n):\n    t = [1] * 40000\n    return [*t, *t]"), "too many values");
  EXPECT_EQ(run("def f(n):\n    s = 'ab'\n    for i in range(n):\n        s = f'{s}{s}'\n    return s"),
            "formatted string is too long");
  EXPECT_EQ(run("def f(n):\n    return max(*n)"), "Value after * must be an iterable");
  EXPECT_EQ(run("def f(n):\n    c = 0\n    for i in range(1000):\n        c += i\n    return c"), "");
}

} // namespace
