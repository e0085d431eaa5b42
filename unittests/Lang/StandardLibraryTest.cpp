//===- StandardLibraryTest.cpp - Whole kernels over the language's library ===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "MockBuilder.h"

#include "despina/Lang/CodeGen.h"
#include "despina/Lang/Parser.h"

using namespace despina;
using namespace despina::test;

namespace {

/// The functions of one text, and the modules `tl` and `triton`.
class TextResolver : public SymbolResolver {
public:
  explicit TextResolver(const std::string &text, Diagnostics &diags) {
    module_ = parseModule(std::make_shared<SourceFile>("kernel.py", text), diags);
    if (!module_)
      return;
    for (const ast::Stmt *statement : module_->body())
      if (const auto *def = llvm::dyn_cast<ast::FunctionDef>(statement)) {
        auto info = std::make_shared<FunctionInfo>();
        info->name = def->name.str();
        info->qualifiedName = "kernel." + info->name;
        info->module = module_;
        info->def = def;
        info->resolver = this;
        functions_.push_back(info);
      }
  }
  std::shared_ptr<const FunctionInfo> last() const {
    return functions_.empty() ? nullptr : functions_.back();
  }

  Resolution lookup(const FunctionInfo &, llvm::StringRef name, bool) override {
    for (const auto &function : functions_)
      if (function->name == name)
        return {Resolution::Status::Found, Value::function(function), {}};
    if (name == "tl")
      return {Resolution::Status::Found, Value::module({"triton.language", nullptr, nullptr}), {}};
    return {};
  }
  Resolution attribute(const Value &, llvm::StringRef) override { return {}; }
  Resolution call(const Value &, llvm::ArrayRef<Value>,
                  llvm::ArrayRef<std::pair<std::string, Value>>) override {
    return {};
  }
  Resolution subscript(const Value &, const Value &) override { return {}; }
  bool same(const Value &lhs, const Value &rhs) override { return lhs.identical(rhs); }

private:
  std::shared_ptr<ast::Module> module_;
  std::vector<std::shared_ptr<const FunctionInfo>> functions_;
};

class StandardLibraryTest : public ::testing::Test {
protected:
  /// Compiles `body` (lines of a kernel with the arguments p: *fp32, q: *fp16, n: i32, B = 64); the errors.
  std::string compile(const std::string &body) {
    std::string text = prelude + "def kernel(p, q, n, B: tl.constexpr):\n";
    llvm::SmallVector<llvm::StringRef, 16> lines;
    llvm::StringRef(body).split(lines, '\n');
    for (llvm::StringRef line : lines)
      text += "    " + line.str() + "\n";
    Diagnostics diags;
    TextResolver resolver(text, diags);
    LanguageTarget target;
    CodeGenOptions options;
    options.staticPrint = [&](llvm::StringRef printedText) { printed += printedText.str(); };
    if (resolver.last())
      generateKernel(builder, diags, target, resolver.last(),
                     {{"p", Type::pointer(ScalarKind::FP32), std::nullopt, 16},
                      {"q", Type::pointer(ScalarKind::FP16), std::nullopt, 0},
                      {"n", ScalarKind::Int32, std::nullopt, 0},
                      {"B", Type(), Value::constant(64), 0}},
                     options);
    std::string errors;
    for (const Diagnostic &diagnostic : diags.all())
      if (diagnostic.severity == Severity::Error)
        errors += render(diagnostic);
    return errors;
  }

  MockRegionBuilder builder;
  std::string prelude, printed;
};

TEST_F(StandardLibraryTest, ParsesAndServesItsFunctions) {
  EXPECT_EQ(compile("x = tl.load(p + tl.arange(0, B))\n"
                    "s = tl.softmax(x)\n"
                    "t = x[None, :].softmax(dim=1)\n"
                    "k = tl.softmax(x[None, :], 1, keep_dims=True)\n"
                    "g = x.sigmoid()\n"
                    "i, j = tl.swizzle2d(n, n, 4, 8, 2)\n"
                    "tl.static_print(s, t, k, g, i, j)"),
            "");
  EXPECT_EQ(printed, "fp32[64] fp32[1, 64] fp32[1, 64] fp32[64] int32 int32\n");
  EXPECT_TRUE(builder.logged("DivF : <[64], fp32>")) << builder.joinedLog();
}

TEST_F(StandardLibraryTest, SortingKeepsTypes) {
  EXPECT_EQ(compile("x = tl.load(p + tl.arange(0, B))\n"
                    "h = tl.load(q + tl.arange(0, B))[None, :]\n"
                    "i = tl.arange(0, B).to(tl.uint8)\n"
                    "s = tl.sort(x)\n"
                    "t = tl.topk(h, 8, dim=1)\n"
                    "m = tl.bitonic_merge(i, descending=True)\n"
                    "k = tl.sort(x > 0)\n"
                    "f = h.flip(1)\n"
                    "tl.static_print(s, t, m, k, f)"),
            "");
  EXPECT_EQ(printed, "fp32[64] fp16[1, 8] uint8[64] int1[64] fp16[1, 64]\n");
}

TEST_F(StandardLibraryTest, RandomNumbers) {
  EXPECT_EQ(
      compile(
          "at = tl.arange(0, B)\n"
          "a = tl.randint(n, at)\n"
          "b, _, _, c = tl.randint4x(5, at.to(tl.int64))\n"
          "d = tl.rand(n, n)\n"
          "e = tl.randn(n, at, 7)\n"
          "w, _, _, _ = tl.philox(n, at.to(tl.int64), at.to(tl.int64), at.to(tl.int64), at.to(tl.int64))\n"
          "tl.static_print(a, b, c, d, e, w)"),
      "");
  EXPECT_EQ(printed, "uint32[64] uint32[64] uint32[64] fp32 fp32[64] uint64[64]\n");
}

TEST_F(StandardLibraryTest, MapElementwiseCallsTheFunctionOnScalars) {
  prelude = "def split(x, y):\n    tl.static_assert(len(x.shape) == 0)\n    return x > y, x + y\n"
            "def swap(a, b):\n    return b, a\n";
  EXPECT_EQ(compile("x = tl.load(p + tl.arange(0, B))\n"
                    "greater, total = tl.map_elementwise(split, x, n)\n"
                    "other = tl.map_elementwise(swap, x[:, None], pack=2)\n"
                    "tl.static_print(greater, total, other)"),
            "");
  EXPECT_EQ(printed, "int1[64] fp32[64] fp32[64, 1]\n");
}

TEST_F(StandardLibraryTest, QuestionsAboutTheTarget) {
  EXPECT_EQ(compile("tl.static_print(tl.target_info.is_cuda(), tl.target_info.is_hip(), "
                    "tl.target_info.cuda_capability_geq(8, 0), tl.target_info.current_target().warp_size)"),
            "");
  EXPECT_EQ(printed, "False False False 1\n");
  EXPECT_NE(compile("tl.extra.cuda.smid()").find("tl.extra.cuda.smid is not available on the"),
            std::string::npos);
}

TEST_F(StandardLibraryTest, ErrorsInsideNameTheCall) {
  std::string error =
      compile("x = tl.load(q + tl.arange(0, B))\ns = tl.softmax(x.to(tl.float16) + tl.zeros((B,), "
              "tl.float16))\nt = tl.sigmoid(x)");
  EXPECT_NE(error.find("Expected dtype ['fp32', 'fp64'] but got fp16"), std::string::npos) << error;
  EXPECT_NE(error.find("tl.sigmoid(x)"), std::string::npos) << error;
}

TEST_F(StandardLibraryTest, UserCombineFunctions) {
  prelude = "def add(a, b):\n    return a + b\n"
            "def linear(a1, b1, a2, b2):\n    return a1 * a2, b1 * a2 + b2\n";
  EXPECT_EQ(compile("x = tl.load(p + tl.arange(0, B))\n"
                    "r = tl.reduce(x, 0, add)\n"
                    "k = x.reduce(0, add, keep_dims=True)\n"
                    "a, b = tl.associative_scan((x, x), 0, linear)\n"
                    "m, i = tl.max(x, axis=0, return_indices=True)\n"
                    "tl.static_print(r, k, a, b, m, i)"),
            "");
  EXPECT_EQ(printed, "fp32 fp32[1] fp32[64] fp32[64] fp32 int32\n");
}

TEST_F(StandardLibraryTest, BlockPointersAreCarriedByLoops) {
  EXPECT_EQ(compile("bp = tl.make_block_ptr(q, (n, n), (n, 1), (0, 0), (16, 16), (1, 0))\n"
                    "acc = tl.zeros((16, 16), dtype=tl.float32)\n"
                    "for k in range(0, n, 16):\n"
                    "    a = tl.load(bp, boundary_check=(0, 1), padding_option='zero')\n"
                    "    acc = tl.dot(a, a.T, acc)\n"
                    "    bp = tl.advance(bp, (0, 16))\n"
                    "tl.store(bp, acc.to(bp.dtype.element_ty), boundary_check=(0,))"),
            "");
}

TEST_F(StandardLibraryTest, AMixOfEverything) {
  EXPECT_EQ(compile("pid = tl.program_id(0)\n"
                    "offs = pid * B + tl.arange(0, B)\n"
                    "m = offs < n\n"
                    "x = tl.load(p + offs, mask=m, other=0.0)\n"
                    "h = tl.load(q + offs, mask=m, other=-float('inf')).to(tl.float32)\n"
                    "y = tl.where(m & (x > 0), x * 2, -1.0) + tl.sum(h) + tl.argmin(x, 0)\n"
                    "a, b = tl.split(tl.join(x, y))\n"
                    "z = tl.interleave(a, b)\n"
                    "w = (offs << 2) ^ (offs >> 1) & 7\n"
                    "w = w // 3 % 5 + tl.cdiv(n, B) + tl.maximum(w, 3) + tl.abs(w) + min(n, 3)\n"
                    "tl.atomic_add(p + offs, y, mask=m)\n"
                    "tl.atomic_max(p, tl.max(x))\n"
                    "tl.static_assert(B % 16 == 0 and x.dtype == tl.float32)\n"
                    "tl.static_print(w, z, x.shape[0], tl.cat(a, b).numel)\n"
                    "print('w', w)"),
            "");
  EXPECT_EQ(printed, "int32[64] fp32[128] 64 128\n");
}

} // namespace
