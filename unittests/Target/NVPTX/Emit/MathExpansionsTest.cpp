//===- MathExpansionsTest.cpp - Our own libdevice against long double -----===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// The expansions are LLVM IR without anything of the target, so the host runs the very code.
//
//===----------------------------------------------------------------------===//
#include "MathExpansions.h"

#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/TargetSelect.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <random>

using namespace despina::nvptx;

namespace {

/// The spread of random inputs.
enum class Spread { Uniform, AllBits };

struct Case {
  const char *label, *name;
  long double (*reference)(long double);
  double ulpsSingle, ulpsDouble;
  Spread spread;
  double low, high;
};

const Case cases[] = {
    {"exp", "exp", [](long double x) { return std::exp(x); }, 1.1, 1.2, Spread::Uniform, -110, 95},
    {"exp wide", "exp", [](long double x) { return std::exp(x); }, 1.1, 1.2, Spread::Uniform, -760, 720},
    {"exp2", "exp2", [](long double x) { return std::exp2(x); }, 1.1, 1.2, Spread::Uniform, -155, 130},
    {"exp2 wide", "exp2", [](long double x) { return std::exp2(x); }, 1.1, 1.2, Spread::Uniform, -1090, 1030},
    {"log", "log", [](long double x) { return std::log(x); }, 1.2, 1.2, Spread::AllBits, 0, 0},
    {"log near 1", "log", [](long double x) { return std::log(x); }, 1.2, 1.2, Spread::Uniform, 0.6, 1.6},
    {"log2", "log2", [](long double x) { return std::log2(x); }, 1.5, 1.5, Spread::AllBits, 0, 0},
    {"log2 near 1", "log2", [](long double x) { return std::log2(x); }, 1.5, 1.5, Spread::Uniform, 0.6, 1.6},
    {"sin", "sin", [](long double x) { return std::sin(x); }, 2.0, 2.5, Spread::Uniform, -100, 100},
    {"sin large", "sin", [](long double x) { return std::sin(x); }, 2.0, 2.5, Spread::Uniform, -8e4, 8e4},
    {"sin any", "sin", [](long double x) { return std::sin(x); }, 2.0, 2.5, Spread::AllBits, 0, 0},
    {"cos", "cos", [](long double x) { return std::cos(x); }, 2.0, 2.5, Spread::Uniform, -100, 100},
    {"cos large", "cos", [](long double x) { return std::cos(x); }, 2.0, 2.5, Spread::Uniform, -1e9, 1e9},
    {"cos any", "cos", [](long double x) { return std::cos(x); }, 2.0, 2.5, Spread::AllBits, 0, 0},
    {"erf", "erf", [](long double x) { return std::erf(x); }, 2.0, 2.0, Spread::Uniform, -7, 7},
    {"erf any", "erf", [](long double x) { return std::erf(x); }, 2.0, 2.0, Spread::AllBits, 0, 0},
    {"tanh", "tanh", [](long double x) { return std::tanh(x); }, 2.0, 2.0, Spread::Uniform, -25, 25},
    {"tanh near 0", "tanh", [](long double x) { return std::tanh(x); }, 2.0, 2.0, Spread::Uniform, -1, 1},
    {"tanh any", "tanh", [](long double x) { return std::tanh(x); }, 2.0, 2.0, Spread::AllBits, 0, 0},
    {"rsqrt", "rsqrt", [](long double x) { return 1 / std::sqrt(x); }, 1.6, 1.6, Spread::AllBits, 0, 0},
};

template <typename T> using Function = T (*)(T);
template <typename T> std::string symbol(const std::string &name) {
  return "__nv_" + name + (std::is_same_v<T, float> ? "f" : "");
}

/// All expansions, compiled for the host, with or without the fusion that the device's compiler does.
class HostMath {
public:
  explicit HostMath(bool fusion) {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    auto machine = llvm::cantFail(llvm::orc::JITTargetMachineBuilder::detectHost());
    machine.getOptions().AllowFPOpFusion = fusion ? llvm::FPOpFusion::Fast : llvm::FPOpFusion::Strict;
    jit_ = llvm::cantFail(llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(machine)).create());
    auto context = std::make_unique<llvm::LLVMContext>();
    auto module = std::make_unique<llvm::Module>("math", *context);
    module->setDataLayout(jit_->getDataLayout());
    for (const Case &c : cases) {
      declareAndExpand(*module, symbol<float>(c.name), llvm::Type::getFloatTy(*context));
      declareAndExpand(*module, symbol<double>(c.name), llvm::Type::getDoubleTy(*context));
    }
    declareAndExpand(*module, "__nv_fmodf", llvm::Type::getFloatTy(*context), 2);
    declareAndExpand(*module, "__nv_fmod", llvm::Type::getDoubleTy(*context), 2);
    EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
    llvm::cantFail(jit_->addIRModule(llvm::orc::ThreadSafeModule(std::move(module), std::move(context))));
  }

  template <typename T, typename F = Function<T>> F get(const std::string &name) {
    return llvm::cantFail(jit_->lookup(symbol<T>(name))).template toPtr<F>();
  }

private:
  static void declareAndExpand(llvm::Module &module, const std::string &name, llvm::Type *type,
                               unsigned arguments = 1) {
    if (module.getFunction(name))
      return;
    auto *function = llvm::Function::Create(
        llvm::FunctionType::get(type, std::vector<llvm::Type *>(arguments, type), false),
        llvm::Function::ExternalLinkage, name, module);
    EXPECT_TRUE(expandDeviceFunction(*function)) << name;
    function->setLinkage(llvm::Function::ExternalLinkage);
  }
  std::unique_ptr<llvm::orc::LLJIT> jit_;
};

/// Distance in units of the last place of the correctly rounded result.
template <typename T> double ulpsBetween(T got, long double exact) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  T rounded = static_cast<T>(exact);
  if (std::isnan(exact))
    return std::isnan(got) ? 0 : infinity;
  if (got == rounded)
    return std::signbit(got) == std::signbit(rounded) ? 0 : infinity;
  if (!std::isfinite(got) || std::isinf(rounded))
    return infinity;
  T next = std::nextafter(std::abs(rounded), std::numeric_limits<T>::infinity());
  long double unit = std::isinf(next) ? std::numeric_limits<T>::max() * std::numeric_limits<T>::epsilon()
                                      : static_cast<long double>(next) - std::abs(rounded);
  return static_cast<double>(std::abs(static_cast<long double>(got) - exact) / unit);
}

template <typename T> std::vector<T> edgeInputs() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> x = {
      0, Limits::infinity(), Limits::quiet_NaN(), Limits::max(), Limits::min(), Limits::denorm_min()};
  for (double v : {1e-40, 1e-8,  0.3,    0.5,    0.6,    1.0,     1.5,    2.0,    2.5,   4.0,    6.0,
                   9.0,   88.7,  88.73,  103.97, 104.0,  127.99,  128.0,  149.0,  150.0, 709.78, 709.79,
                   745.1, 745.2, 1024.0, 1074.0, 1075.0, 71000.0, 0x1p29, 0x1p30, 1e15,  1e22})
    x.push_back(static_cast<T>(v));
  // Where sin and cos vanish, nearly: the reduction loses most of the bits.
  for (int n = 1; n < 3000; ++n)
    x.push_back(static_cast<T>(n * 1.57079632679489661923132169163975144L));
  for (int e = -160; e < Limits::max_exponent; ++e)
    x.push_back(std::ldexp(T(1), e));
  const size_t count = x.size();
  for (size_t i = 0; i < count; ++i) {
    x.push_back(-x[i]);
    x.push_back(std::nextafter(x[i], T(0)));
  }
  // The f64 and the f32 that lie closest to a multiple of pi/2.
  x.push_back(static_cast<T>(std::ldexp(6381956970095103.0, 797)));
  x.push_back(static_cast<T>(std::ldexp(16367173.0, 72)));
  return x;
}

template <typename T> T randomInput(const Case &c, std::mt19937_64 &random) {
  if (c.spread == Spread::AllBits) {
    using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    return std::bit_cast<T>(static_cast<Bits>(random()));
  }
  return static_cast<T>(std::uniform_real_distribution<double>(c.low, c.high)(random));
}

template <typename T> void check(HostMath &math, const Case &c, double bound) {
  Function<T> function = math.get<T>(c.name);
  std::mt19937_64 random(7);
  std::vector<T> inputs = edgeInputs<T>();
  for (int i = 0; i < 100000; ++i)
    inputs.push_back(randomInput<T>(c, random));
  double worst = 0;
  T worstInput = 0;
  for (T x : inputs) {
    double ulps = ulpsBetween(function(x), c.reference(x));
    if (ulps > worst) {
      worst = ulps;
      worstInput = x;
    }
  }
  EXPECT_LE(worst, bound) << c.label << (sizeof(T) == 4 ? " f32" : " f64") << " of " << worstInput << ": "
                          << function(worstInput) << ", not " << static_cast<T>(c.reference(worstInput));
}

class MathExpansions : public testing::TestWithParam<bool> {};

TEST_P(MathExpansions, Accuracy) {
  HostMath math(GetParam());
  for (const Case &c : cases) {
    check<float>(math, c, c.ulpsSingle);
    check<double>(math, c, c.ulpsDouble);
  }
}

/// fmod is exact, so host and expansion agree in every bit.
template <typename T> void checkRemainder(HostMath &math) {
  auto *function = math.get<T, T (*)(T, T)>("fmod");
  std::mt19937_64 random(11);
  const std::vector<T> edges = edgeInputs<T>();
  auto any = [&]() -> T {
    const Case allBits{"", "", nullptr, 0, 0, Spread::AllBits, 0, 0};
    return random() % 2 ? edges[random() % edges.size()] : randomInput<T>(allBits, random);
  };
  for (int i = 0; i < 200000; ++i) {
    T x = any(), y = random() % 4 ? any() : x / static_cast<T>(random() % 100);
    T got = function(x, y), expected = std::fmod(x, y);
    bool same = std::isnan(expected) ? std::isnan(got)
                                     : got == expected && std::signbit(got) == std::signbit(expected);
    ASSERT_TRUE(same) << "fmod(" << x << ", " << y << ") = " << got << ", not " << expected;
  }
}

TEST_P(MathExpansions, RemainderIsExact) {
  HostMath math(GetParam());
  checkRemainder<float>(math);
  checkRemainder<double>(math);
}

INSTANTIATE_TEST_SUITE_P(Fusion, MathExpansions, testing::Bool());

TEST(MathExpansionNames, OthersAreLeftAlone) {
  llvm::LLVMContext context;
  llvm::Module module("m", context);
  auto declare = [&](const char *name, llvm::Type *result, llvm::ArrayRef<llvm::Type *> arguments) {
    return llvm::Function::Create(llvm::FunctionType::get(result, arguments, false),
                                  llvm::Function::ExternalLinkage, name, module);
  };
  llvm::Type *single = llvm::Type::getFloatTy(context), *twice = llvm::Type::getDoubleTy(context);
  for (llvm::Function *function :
       {declare("__nv_tanf", single, {single}), declare("__nv_exp", single, {single}),
        declare("__nv_expf", twice, {twice}), declare("__nv_sin", twice, {twice, twice}),
        declare("__nv_cosf", single, {twice}), declare("__nv_", twice, {twice}),
        declare("expf", single, {single}),
        declare("__nv_log", llvm::Type::getInt32Ty(context), {llvm::Type::getInt32Ty(context)})}) {
    EXPECT_FALSE(expandDeviceFunction(*function)) << function->getName().str();
    EXPECT_TRUE(function->isDeclaration());
  }
}

} // namespace
