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

template <const char *Name> Value call(Semantic &semantic, const BuiltinArgs &args) {
  return callStandard(semantic, Name, args);
}

constexpr char sigmoidName[] = "sigmoid", softmaxName[] = "softmax", swizzleName[] = "swizzle2d";

constexpr ParamDef xParams[] = {{"x"}};
constexpr ParamDef softmaxParams[] = {
    {"x"}, {"dim", "None"}, {"keep_dims", "False"}, {"ieee_rounding", "False"}};
constexpr ParamDef swizzleParams[] = {{"i"}, {"j"}, {"size_i"}, {"size_j"}, {"size_g"}};

const BuiltinDef table[] = {
    {"language.sigmoid", xParams, "1 / (1 + exp(-x)).", call<sigmoidName>, true},
    {"language.softmax", softmaxParams, "Softmax along `dim` (0 if None).", call<softmaxName>, true},
    {"language.swizzle2d", swizzleParams, "Row and column of a program when groups of rows share columns.",
     call<swizzleName>},
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
