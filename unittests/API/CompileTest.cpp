//===- CompileTest.cpp - Compiling and launching from C++ -----------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "despina/despina.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <chrono>
#include <cmath>
#include <limits>
#include <random>
#include <thread>

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace despina;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

namespace {

const std::string header = "import triton\nimport triton.language as tl\n\n";
const std::string addSource = header + R"(
@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    y = tl.load(y_ptr + i, mask=i < n)
    tl.store(out_ptr + i, x + y, mask=i < n)
)";
const std::vector<NamedType> addTypes = {
    {"x_ptr", "*fp32"}, {"y_ptr", "*fp32"}, {"out_ptr", "*fp32"}, {"n", "i32"}};

Expected<Kernel> compileAdd(const CompileOptions &options = {}, const Target &target = {}) {
  return compileText(addSource, "add.py", "add", addTypes, {{"BLOCK", 128}}, target, options);
}

#define ASSERT_GOOD(result) ASSERT_TRUE(result) << (result).error().rendered

/// Adds vectors of `n` elements; what went wrong, or nothing.
std::string runAdd(const Kernel &kernel, int n, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> number(-10, 10);
  std::vector<float> x(n), y(n), out(n + 16, std::numeric_limits<float>::quiet_NaN());
  for (int i = 0; i < n; ++i) {
    x[i] = number(random);
    y[i] = number(random);
  }
  Result done = kernel.launch({(n + 127) / 128}, {x.data(), y.data(), out.data(), n});
  if (!done)
    return done.error().rendered;
  for (int i = 0; i < n; ++i)
    if (out[i] != x[i] + y[i])
      return "element " + std::to_string(i) + " is wrong";
  for (int i = n; i < n + 16; ++i)
    if (!std::isnan(out[i]))
      return "element " + std::to_string(i) + " past the end was written";
  return "";
}

/// Thousands of branches and dozens of loops in each other compile in seconds, and right.
TEST(Compile, LargeControlFlow) {
  std::string source = header + "@triton.jit\ndef branches(out_ptr, n):\n    x = n\n";
  for (int i = 0; i < 1500; ++i)
    source += "    if n % 1500 == " + std::to_string(i) + ":\n        x += " + std::to_string(i * 7) + "\n";
  source +=
      "    tl.store(out_ptr, x)\n\n@triton.jit\ndef loops(out_ptr, n):\n    x = n\n    one = n - n + 1\n";
  std::string indent(4, ' ');
  for (int i = 0; i < 60; ++i, indent += ' ')
    source += indent + "for i" + std::to_string(i) + " in range(" + (i % 20 == 0 ? "2" : "one") + "):\n";
  source += indent + "x += 1\n    tl.store(out_ptr, x)\n";
  const std::vector<NamedType> types = {{"out_ptr", "*i32"}, {"n", "i32"}};
  Expected<Kernel> branches = compileText(source, "large.py", "branches", types, {});
  ASSERT_GOOD(branches);
  for (int n : {0, 1, 749, 1499, 1500, 4321}) {
    int out = -1;
    ASSERT_TRUE(branches->launch({1}, {&out, n}));
    EXPECT_EQ(out, n + n % 1500 * 7);
  }
  Expected<Kernel> loops = compileText(source, "large.py", "loops", types, {});
  ASSERT_GOOD(loops);
  int out = -1;
  ASSERT_TRUE(loops->launch({1}, {&out, 5}));
  EXPECT_EQ(out, 5 + 8);
}

TEST(Compile, RunsAKernel) {
  Expected<Kernel> kernel = compileAdd();
  ASSERT_GOOD(kernel);
  EXPECT_EQ(kernel->name(), "add");
  EXPECT_THAT(kernel->parameterTypes(), ElementsAre("*fp32", "*fp32", "*fp32", "i32"));
  for (int n : {1, 127, 128, 129, 98432, 100003})
    EXPECT_EQ(runAdd(*kernel, n, static_cast<unsigned>(n)), "") << n;
}

TEST(Compile, CopiesKeepTheCode) {
  std::vector<Kernel> kept;
  {
    Expected<Kernel> kernel = compileAdd();
    ASSERT_GOOD(kernel);
    kept.push_back(*kernel);
  }
  EXPECT_EQ(runAdd(kept.front(), 1000, 1), "");
}

TEST(Compile, MeasuresItsStages) {
  Expected<Kernel> kernel = compileAdd();
  ASSERT_GOOD(kernel);
  double total = 0;
  for (const StageTime &time : kernel->stageTimes()) {
    EXPECT_GE(time.seconds, 0) << time.stage;
    total += time.seconds;
    std::printf("%8.3f ms  %s\n", time.seconds * 1e3, time.stage.c_str());
  }
  EXPECT_GT(total, 0);
}

TEST(Compile, KeepsOrRemakesStages) {
  CompileOptions keepAll;
  keepAll.keep = {"tt", "llvm", "asm", "obj"};
  Expected<Kernel> kept = compileAdd(keepAll), bare = compileAdd();
  ASSERT_GOOD(kept);
  ASSERT_GOOD(bare);
  for (const char *stage : {"tt", "llvm", "asm", "obj"}) {
    Expected<std::string> first = kept->text(stage), second = bare->text(stage);
    ASSERT_GOOD(first);
    ASSERT_GOOD(second);
    EXPECT_EQ(*first, *second) << stage;
    EXPECT_GT(first->size(), 50u) << stage;
  }
  EXPECT_THAT(*kept->text("tt"), HasSubstr("tt.func public @add"));
  EXPECT_THAT(*kept->text("llvm"), HasSubstr("define void @"));
  Expected<std::string> unknown = bare->text("ptx");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message, "there is no stage 'ptx'; stages are tt, llvm, asm and obj");
}

TEST(Compile, GivesTheSameBytesAgain) {
  CompileOptions options;
  options.keep = {"obj"};
  Expected<Kernel> first = compileAdd(options), second = compileAdd(options);
  ASSERT_GOOD(first);
  ASSERT_GOOD(second);
  EXPECT_EQ(*first->text("obj"), *second->text("obj"));
}

//===--- Arguments of a launch ----------------------------------------------===//

const std::string scalarSource = header + R"(
@triton.jit
def put(out_ptr, value):
    tl.store(out_ptr, value)
)";

Expected<Kernel> compilePut(const std::string &type) {
  return compileText(scalarSource, "put.py", "put", {{"out_ptr", "*" + type}, {"value", type}});
}

/// Launches `put` and gives what it stored.
template <typename T> T put(const std::string &type, Argument value) {
  Expected<Kernel> kernel = compilePut(type);
  T out{};
  if (!kernel) {
    ADD_FAILURE() << kernel.error().rendered;
    return out;
  }
  Result done = kernel->launch({1}, {&out, value});
  if (!done)
    ADD_FAILURE() << done.error().rendered;
  return out;
}

TEST(Launch, PassesScalarsOfEveryType) {
  EXPECT_EQ(put<int8_t>("i8", -128), -128);
  EXPECT_EQ(put<uint8_t>("u8", 255), 255);
  EXPECT_EQ(put<int16_t>("i16", -32768), -32768);
  EXPECT_EQ(put<uint16_t>("u16", 65535), 65535);
  EXPECT_EQ(put<int32_t>("i32", std::numeric_limits<int32_t>::min()), std::numeric_limits<int32_t>::min());
  EXPECT_EQ(put<uint32_t>("u32", 4294967295u), 4294967295u);
  EXPECT_EQ(put<int64_t>("i64", std::numeric_limits<int64_t>::min()), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(put<uint64_t>("u64", ~uint64_t(0)), ~uint64_t(0));
  EXPECT_EQ(put<float>("fp32", 0.1), 0.1f);
  EXPECT_EQ(put<float>("fp32", 7), 7.0f);
  EXPECT_EQ(put<double>("fp64", 0.1), 0.1);
  EXPECT_EQ(put<uint16_t>("fp16", -1.5), 0xbe00);
  EXPECT_EQ(put<uint16_t>("fp16", 1.0 + 0x1p-11), 0x3c00) << "half way rounds to even";
  EXPECT_EQ(put<uint16_t>("bf16", 3.140625), 0x4049);
}

std::string launchError(const std::string &type, Argument value) {
  Expected<Kernel> kernel = compilePut(type);
  if (!kernel)
    return kernel.error().rendered;
  uint64_t out = 0x5555;
  Result done = kernel->launch({1}, {&out, value});
  EXPECT_EQ(out, 0x5555u) << "the kernel ran";
  return done ? "" : done.error().kind + ": " + done.error().message;
}

TEST(Launch, ChecksTheRangeOfIntegers) {
  EXPECT_EQ(launchError("i8", 128),
            "OverflowError: argument 'value' is 128, which is out of the range of i8");
  EXPECT_EQ(launchError("i8", -129),
            "OverflowError: argument 'value' is -129, which is out of the range of i8");
  EXPECT_EQ(launchError("u8", -1), "OverflowError: argument 'value' is -1, which is out of the range of u8");
  EXPECT_EQ(launchError("u8", 256),
            "OverflowError: argument 'value' is 256, which is out of the range of u8");
  EXPECT_EQ(launchError("i32", int64_t(1) << 31),
            "OverflowError: argument 'value' is 2147483648, which is out of the range of i32");
  EXPECT_EQ(launchError("u32", int64_t(1) << 32),
            "OverflowError: argument 'value' is 4294967296, which is out of the range of u32");
  EXPECT_EQ(launchError("i64", ~uint64_t(0)),
            "OverflowError: argument 'value' is 18446744073709551615, which is out of the range of i64");
  EXPECT_EQ(launchError("u64", -5),
            "OverflowError: argument 'value' is -5, which is out of the range of u64");
}

TEST(Launch, ChecksTheKindOfArguments) {
  int dummy = 0;
  EXPECT_EQ(launchError("i32", 1.0),
            "TypeError: argument 'value' of type i32 must be an integer, not a floating "
            "point number");
  EXPECT_EQ(launchError("i32", &dummy),
            "TypeError: argument 'value' of type i32 must be an integer, not a pointer");
  EXPECT_EQ(launchError("fp32", &dummy),
            "TypeError: argument 'value' of type fp32 must be a number, not a pointer");
  EXPECT_EQ(launchError("*fp32", 4),
            "TypeError: argument 'value' of type *fp32 must be a pointer, not an integer");
}

TEST(Launch, ChecksTheNumberOfArguments) {
  Expected<Kernel> kernel = compileAdd();
  ASSERT_GOOD(kernel);
  Result none = kernel->launch({1}, nullptr, kernel->parameterTypes().size());
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("null pointer in place of its arguments"), std::string::npos);
  Result few = kernel->launch({1}, {1}), many = kernel->launch({1}, {1, 2, 3, 4, 5});
  ASSERT_FALSE(few);
  EXPECT_EQ(few.error().message, "add() takes 4 runtime arguments, but 1 was given");
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().message, "add() takes 4 runtime arguments, but 5 were given");
}

TEST(Launch, ChecksTheGrid) {
  Expected<Kernel> kernel = compilePut("i32");
  ASSERT_GOOD(kernel);
  int32_t out = 5;
  auto launch = [&](Grid grid) { return kernel->launch(grid, {&out, 1}); };
  for (Grid grid : {Grid{-1}, Grid{1, -1}, Grid{0, 1, -7}}) {
    Result done = launch(grid);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, "ValueError");
    EXPECT_THAT(done.error().message, HasSubstr("must not be negative"));
  }
  const int64_t big = int64_t(1) << 31, huge = std::numeric_limits<int64_t>::max();
  for (Grid grid : {Grid{big}, Grid{1, big}, Grid{1, 1, huge}, Grid{65536, 32768}, Grid{huge, huge, huge}}) {
    Result done = launch(grid);
    ASSERT_FALSE(done);
    EXPECT_THAT(done.error().message, HasSubstr("at most 2^31 - 1 programs"));
  }
  EXPECT_EQ(out, 5) << "a refused grid ran";
  for (Grid grid : {Grid{0}, Grid{1, 0}, Grid{5, 5, 0}, Grid{huge, 0}}) {
    Result done = launch(grid);
    ASSERT_GOOD(done);
  }
  EXPECT_EQ(out, 5) << "an empty grid ran";
  Result done = launch({1});
  ASSERT_GOOD(done);
  EXPECT_EQ(out, 1);
}

TEST(Launch, StopsWhenAsked) {
  Expected<Kernel> kernel = compileText(header + R"(
@triton.jit
def work(out_ptr, n):
    acc = 0.0
    for i in range(0, n):
        acc = acc * 0.5 + tl.load(out_ptr + i % 16)
    tl.store(out_ptr + tl.program_id(0) % 16, acc)
)",
                                        "work.py", "work", {{"out_ptr", "*fp32"}, {"n", "i32"}});
  ASSERT_GOOD(kernel);
  std::vector<float> out(16, 1.0f);
  Argument args[] = {out.data(), 100000};
  Expected<std::vector<uint64_t>> slots = kernel->pack(args, 2);
  ASSERT_GOOD(slots);
  auto start = std::chrono::steady_clock::now();
  LaunchOptions options;
  options.shouldStop = [](void *) { return true; };
  Expected<bool> done = kernel->launchPacked({1 << 24}, slots->data(), options);
  ASSERT_GOOD(done);
  EXPECT_FALSE(*done);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(Launch, ReportsFailedAssertions) {
  const std::string source = header + R"(
@triton.jit
def check(x_ptr):
    tl.device_assert(tl.load(x_ptr + tl.program_id(0)) > 0, "must be positive")
)";
  CompileOptions debug;
  debug.debug = true;
  Expected<Kernel> checked = compileText(source, "check.py", "check", {{"x_ptr", "*i32"}}, {}, {}, debug);
  Expected<Kernel> unchecked = compileText(source, "check.py", "check", {{"x_ptr", "*i32"}});
  ASSERT_GOOD(checked);
  ASSERT_GOOD(unchecked);
  std::vector<int32_t> good(9, 1), bad(9, 1);
  bad[4] = -1;
  Result done = checked->launch({9}, {good.data()});
  ASSERT_GOOD(done);
  done = unchecked->launch({9}, {bad.data()});
  ASSERT_GOOD(done);
  done = checked->launch({9}, {bad.data()});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, "RuntimeError");
  EXPECT_THAT(done.error().message, HasSubstr("must be positive"));
}

TEST(Launch, PrintsItsOverhead) {
  Expected<Kernel> kernel = compileText(
      header + R"(
@triton.jit
def nothing(a, b, c, d, e):
    pass
)",
      "nothing.py", "nothing", {{"", "*fp32"}, {"", "*fp32"}, {"", "i32"}, {"", "i32"}, {"", "fp32"}});
  ASSERT_GOOD(kernel);
  float x = 0;
  constexpr int repetitions = 5000;
  auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < repetitions; ++i)
    ASSERT_TRUE(kernel->launch({1}, {&x, &x, i, 2, 3.0f}));
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("launch of an empty kernel with five arguments: %.3f us\n", seconds / repetitions * 1e6);
}

//===--- Signatures ---------------------------------------------------------===//

std::string signatureError(const std::vector<NamedType> &types, const std::vector<NamedConstant> &constants) {
  Expected<Kernel> kernel = compileText(addSource, "add.py", "add", types, constants);
  return kernel ? "" : kernel.error().kind + ": " + kernel.error().message;
}

TEST(Signature, MayBePositional) {
  Expected<Kernel> kernel =
      compileText(addSource, "add.py", "add",
                  {{"", "*fp32:16"}, {"", "*fp32:16"}, {"n", "i32"}, {"", "*fp32"}}, {{"BLOCK", 128}});
  ASSERT_GOOD(kernel);
  EXPECT_THAT(kernel->parameterTypes(), ElementsAre("*fp32", "*fp32", "*fp32", "i32"));
  Expected<std::string> text = kernel->text("tt");
  ASSERT_GOOD(text);
  EXPECT_THAT(*text, HasSubstr("tt.divisibility = 16"));
}

TEST(Signature, OneIsAConstant) {
  Expected<Kernel> kernel =
      compileText(addSource, "add.py", "add", {{"", "*fp32"}, {"", "*fp32"}, {"", "*fp32"}, {"n", "i32:1"}},
                  {{"BLOCK", 128}});
  ASSERT_GOOD(kernel);
  EXPECT_EQ(kernel->parameterTypes().size(), 3u);
  float x = 1, y = 2, out[2] = {0, 7};
  Result done = kernel->launch({1}, {&x, &y, out});
  ASSERT_GOOD(done);
  EXPECT_EQ(out[0], 3);
  EXPECT_EQ(out[1], 7);
}

TEST(Signature, NamesWhatIsWrong) {
  const NamedConstant block{"BLOCK", 128};
  const NamedType x{"x_ptr", "*fp32"}, y{"y_ptr", "*fp32"}, out{"out_ptr", "*fp32"}, n{"n", "i32"};
  EXPECT_EQ(
      signatureError({x, y, out, n, {"m", "i32"}}, {block}),
      "TypeError: kernel 'add' has no parameter 'm'; its parameters are x_ptr, y_ptr, out_ptr, n, BLOCK");
  EXPECT_EQ(
      signatureError({x, y, out, n}, {block, {"BLOK", 1}}),
      "TypeError: kernel 'add' has no parameter 'BLOK'; its parameters are x_ptr, y_ptr, out_ptr, n, BLOCK");
  EXPECT_EQ(signatureError({x, x, y, out, n}, {block}),
            "TypeError: parameter 'x_ptr' of kernel 'add' is given twice");
  EXPECT_EQ(signatureError({x, y, out, n}, {block, {"n", 5}}),
            "TypeError: parameter 'n' of kernel 'add' is given twice");
  EXPECT_EQ(signatureError({x, y, n}, {block}),
            "TypeError: kernel 'add' needs a type or a value for parameter 'out_ptr'");
  EXPECT_EQ(signatureError({x, y, out, n}, {}),
            "TypeError: kernel 'add' needs a value for parameter 'BLOCK'");
  EXPECT_EQ(signatureError({x, y, out, n, {"BLOCK", "i32"}}, {}),
            "TypeError: parameter 'BLOCK' of kernel 'add' is a constexpr: give it a value, not a type");
  EXPECT_THAT(signatureError({x, y, out, {"n", "i33"}}, {block}),
              HasSubstr("ValueError: type 'i33' of parameter 'n' is unknown; types are"));
  EXPECT_THAT(signatureError({x, y, out, {"n", "i32:3"}}, {block}), HasSubstr("has an unknown suffix"));
  EXPECT_THAT(signatureError({x, y, out, {"n", "i32:"}}, {block}), HasSubstr("has an unknown suffix"));
  EXPECT_THAT(signatureError({x, y, out, {"n", "fp32:16"}}, {block}), HasSubstr("cannot be divisible by 16"));
  EXPECT_THAT(signatureError({{"x_ptr", "*fp32:1"}, y, out, n}, {block}),
              HasSubstr("cannot be the constant 1"));
  EXPECT_THAT(signatureError({x, y, out, n, {"", "i32"}}, {block}),
              HasSubstr("more types than kernel 'add' has"));
}

TEST(Signature, MissingParametersTakeTheirDefaults) {
  Expected<Kernel> kernel = compileText(header + R"(
@triton.jit
def f(out_ptr, bias_ptr=None, SCALE: tl.constexpr = 3, name: tl.constexpr = "abc"):
    if bias_ptr is not None:
        tl.store(out_ptr, 1)
    elif name == "abc":
        tl.store(out_ptr, 10 * SCALE)
)",
                                        "f.py", "f", {{"out_ptr", "*i32"}});
  ASSERT_GOOD(kernel);
  int32_t out = 0;
  Result done = kernel->launch({1}, {&out});
  ASSERT_GOOD(done);
  EXPECT_EQ(out, 30);
}

TEST(Signature, ConstantsMayBeTypes) {
  for (const char *name : {"float64", "fp64"}) {
    Expected<Kernel> kernel = compileText(header + R"(
@triton.jit
def f(out_ptr, T: tl.constexpr):
    tl.store(out_ptr, tl.full((1,), 0.1, T).sum(0))
)",
                                          "f.py", "f", {{"out_ptr", "*fp64"}}, {{"T", DType{name}}});
    ASSERT_GOOD(kernel);
    double out = 0;
    Result done = kernel->launch({1}, {&out});
    ASSERT_GOOD(done);
    EXPECT_EQ(out, 0.1);
  }
}

//===--- Errors -------------------------------------------------------------===//

TEST(Errors, SayWhatTheTargetCannot) {
  Target hip;
  hip.backend = "hip";
  Expected<Kernel> kernel = compileAdd({}, hip);
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().kind, "NotImplementedError");
  EXPECT_EQ(kernel.error().message,
            "target 'hip' is not supported yet: this build compiles for 'cpu' and 'cuda'");
  Target unknown;
  unknown.backend = "abacus";
  kernel = compileAdd({}, unknown);
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().message, "there is no target 'abacus'; this build knows 'cpu' and 'cuda'");
  Target other;
  other.arch = "i486";
  kernel = compileAdd({}, other);
  ASSERT_FALSE(kernel);
  EXPECT_THAT(kernel.error().message, HasSubstr("cannot compile for the processor 'i486' yet"));
}

TEST(Errors, SayWhichOptionIsWrong) {
  CompileOptions options;
  options.numWarps = 3;
  Expected<Kernel> kernel = compileAdd(options);
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().message, "num_warps must be a power of 2, not 3");
  options = {};
  options.keep = {"ptx"};
  kernel = compileAdd(options);
  ASSERT_FALSE(kernel);
  EXPECT_THAT(kernel.error().message, HasSubstr("there is no stage 'ptx'"));
}

TEST(Errors, HaveAPlaceAndACallStack) {
  const std::string source = header + R"(
@triton.jit
def inner(x):
    return x + undefined_name

@triton.jit
def outer(out_ptr):
    tl.store(out_ptr, inner(1))
)";
  Expected<Kernel> kernel = compileText(source, "outer.py", "outer", {{"out_ptr", "*i32"}});
  ASSERT_FALSE(kernel);
  const Error &error = kernel.error();
  EXPECT_EQ(error.kind, "CompilationError");
  EXPECT_EQ(error.causeKind, "NameError");
  EXPECT_EQ(error.message, "undefined_name is not defined");
  EXPECT_EQ(error.file, "outer.py");
  EXPECT_EQ(error.line, 7u);
  EXPECT_EQ(error.column, 16u);
  ASSERT_EQ(error.notes.size(), 1u);
  EXPECT_EQ(error.notes[0].line, 11u);
  EXPECT_THAT(error.rendered, HasSubstr("outer.py:7:16: error: "));
  EXPECT_THAT(error.rendered, HasSubstr("    return x + undefined_name"));
  EXPECT_THAT(error.pythonText, HasSubstr("at 2:15:"));
}

TEST(Errors, NameAnUnknownKernel) {
  Expected<Kernel> kernel = compileText(addSource, "add.py", "sub", addTypes);
  ASSERT_FALSE(kernel);
  EXPECT_THAT(kernel.error().message, HasSubstr("sub"));
  EXPECT_THAT(kernel.error().message + kernel.error().rendered, HasSubstr("add"));
}

TEST(Errors, NameAMissingFile) {
  Expected<Kernel> kernel = compileFile("/nonexistent/add.py", "add", addTypes);
  ASSERT_FALSE(kernel);
  EXPECT_THAT(kernel.error().message, HasSubstr("/nonexistent/add.py"));
  EXPECT_FALSE(listKernels("/nonexistent/add.py"));
}

//===--- Threads and processes ----------------------------------------------===//

TEST(Compile, WorksInManyThreadsAtOnce) {
  std::vector<std::string> errors(16);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < errors.size(); ++t)
    threads.emplace_back([&, t] {
      Expected<Kernel> kernel = compileAdd();
      errors[t] = kernel ? runAdd(*kernel, 1000 + static_cast<int>(t), t) : kernel.error().rendered;
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::string &error : errors)
    EXPECT_EQ(error, "");
}

TEST(Compile, WorksOnASmallStack) {
  std::string error = "did not run";
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 512 << 10);
  pthread_t thread;
  auto body = [](void *out) -> void * {
    Expected<Kernel> kernel = compileAdd();
    *static_cast<std::string *>(out) = kernel ? runAdd(*kernel, 500, 3) : kernel.error().rendered;
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, body, &error), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  EXPECT_EQ(error, "");
}

TEST(Compile, WorksInAForkedChild) {
  Expected<Kernel> before = compileAdd();
  ASSERT_GOOD(before);
  EXPECT_EQ(runAdd(*before, 100000, 1), "");
  pid_t child = fork();
  if (child == 0) {
    alarm(60);
    Expected<Kernel> after = compileAdd();
    _exit(after && runAdd(*after, 100000, 2).empty() && runAdd(*before, 100000, 3).empty() ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

} // namespace
