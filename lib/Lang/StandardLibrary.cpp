//===- StandardLibrary.cpp - The library that is written in the language --===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "BuiltinsImpl.h"
#include "despina/Lang/Parser.h"
#include "despina/Lang/SymbolResolver.h"

#include "llvm/ADT/StringMap.h"

namespace despina {

namespace {

constexpr char libraryFile[] = "<triton.language.standard>";

/// The library's functions see each other and the names of `triton.language`.
class Library : public SymbolResolver {
public:
  Library() {
    auto file = std::make_shared<SourceFile>(libraryFile, standardLibrarySource().str());
    Diagnostics diags;
    std::shared_ptr<ast::Module> module = parseModule(std::move(file), diags);
    if (!module) {
      const Diagnostic *failure = diags.firstError();
      failure_ = failure ? failure->message : "unknown error";
      return;
    }
    for (const ast::Stmt *statement : module->body()) {
      const auto *def = llvm::dyn_cast<ast::FunctionDef>(statement);
      if (!def)
        continue;
      auto info = std::make_shared<FunctionInfo>();
      info->name = def->name.str();
      info->qualifiedName = "triton.language.standard." + info->name;
      info->module = module;
      info->def = def;
      info->resolver = this;
      functions_[def->name] = std::move(info);
    }
  }

  std::shared_ptr<const FunctionInfo> find(llvm::StringRef name) const { return functions_.lookup(name); }
  const std::string &failure() const { return failure_; }

  Resolution lookup(const FunctionInfo &, llvm::StringRef name, bool) override {
    if (name == "jit")
      return {};
    // Public names first: `sum` is the registry's, whatever implements it.
    if (std::optional<Value> found = languageAttribute("triton.language", name))
      return {Resolution::Status::Found, *found, {}};
    if (std::shared_ptr<const FunctionInfo> function = find(name))
      return {Resolution::Status::Found, Value::function(std::move(function)), {}};
    return {};
  }
  Resolution attribute(const Value &object, llvm::StringRef name) override {
    if (object.kind() == Value::Kind::Module)
      if (std::optional<Value> found = languageAttribute(object.module().name, name))
        return {Resolution::Status::Found, *found, {}};
    return {};
  }
  Resolution call(const Value &, llvm::ArrayRef<Value>,
                  llvm::ArrayRef<std::pair<std::string, Value>>) override {
    return {};
  }
  Resolution subscript(const Value &, const Value &) override { return {}; }
  bool same(const Value &lhs, const Value &rhs) override { return lhs.identical(rhs); }

private:
  llvm::StringMap<std::shared_ptr<const FunctionInfo>> functions_;
  std::string failure_;
};

/// Parsed on first use and immutable from then on. Never destroyed: kernels of other static objects may use
/// it.
Library &library() {
  static auto *const instance = new Library();
  return *instance;
}

/// A function of the library's text, by the name of what is called.
Value call(Semantic &semantic, const BuiltinArgs &args) {
  return callStandard(semantic, args.def->name(), args);
}

constexpr ParamDef xParams[] = {{"x"}};
constexpr ParamDef softmaxParams[] = {
    {"x"}, {"dim", "None"}, {"keep_dims", "False"}, {"ieee_rounding", "False"}};
constexpr ParamDef swizzleParams[] = {{"i"}, {"j"}, {"size_i"}, {"size_j"}, {"size_g"}};
constexpr ParamDef sortParams[] = {{"x"}, {"dim", "None"}, {"descending", "False"}};
constexpr ParamDef topkParams[] = {{"x"}, {"k"}, {"dim", "None"}, {"descending", "True"}};
constexpr ParamDef flipParams[] = {{"x"}, {"dim", "None"}};
constexpr ParamDef maskedParams[] = {{"x"}, {"mask"}};
constexpr ParamDef philoxImplParams[] = {{"c0"}, {"c1"}, {"c2"}, {"c3"}, {"k0"}, {"k1"}, {"n_rounds", "10"}};
constexpr ParamDef philoxParams[] = {{"seed"}, {"c0"}, {"c1"}, {"c2"}, {"c3"}, {"n_rounds", "10"}};
constexpr ParamDef randomParams[] = {{"seed"}, {"offset"}, {"n_rounds", "10"}};
constexpr ParamDef pairParams[] = {{"u1"}, {"u2"}};

const BuiltinDef table[] = {
    {"language.sigmoid", xParams, "1 / (1 + exp(-x)).", call, true},
    {"language.softmax", softmaxParams, "Softmax along `dim` (0 if None).", call, true},
    {"language.swizzle2d", swizzleParams, "Row and column of a program when groups of rows share columns.",
     call},
    {"language.sort", sortParams, "Sorts along the last dimension; NaN counts as the largest.", call, true},
    {"language.topk", topkParams, "The k largest elements along the last dimension, the largest first.",
     call},
    {"language.bitonic_merge", sortParams, "Sorts rows that rise and then fall, or fall and then rise.",
     call},
    {"language.flip", flipParams, "Reverses dimension `dim`.", call, true},
    {"language.expect_zero", maskedParams,
     "x, of which the program claims that it is 0 where `mask` is true.", call},
    {"language.philox_impl", philoxImplParams, "Philox: four random words from a counter and a key.", call},
    {"language.philox", philoxParams, "Philox with the key that `seed` is.", call},
    {"language.randint4x", randomParams, "Four blocks of random uint32.", call},
    {"language.randint", randomParams, "A block of random uint32.", call},
    {"language.uint_to_uniform_float", xParams, "Numbers in [0, 1) from random words.", call},
    {"language.rand", randomParams, "Random fp32 in [0, 1).", call},
    {"language.rand4x", randomParams, "Four blocks of random fp32 in [0, 1).", call},
    {"language.pair_uniform_to_normal", pairParams, "Two normal random numbers from two in [0, 1).", call},
    {"language.randn", randomParams, "Normal random fp32.", call},
    {"language.randn4x", randomParams, "Four blocks of normal random fp32.", call},
};

} // namespace

Value callStandard(Semantic &semantic, llvm::StringRef name, const BuiltinArgs &args) {
  std::shared_ptr<const FunctionInfo> function = library().find(name);
  if (!function)
    return semantic.error(ErrorKind::Internal, "the standard library has no function " + name.str() + " (" +
                                                   library().failure() + ")");
  return semantic.host().callFunction(Value::function(std::move(function)), args.values, {});
}

bool isStandardLibrary(const SourceFile &file) { return file.path() == libraryFile; }

llvm::ArrayRef<BuiltinDef> standardBuiltins() { return table; }

} // namespace despina
