//===- ModuleLoaderImpl.h - Modules and what their names mean ---*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_LANG_MODULELOADERIMPL_H
#define DESPINA_LIB_LANG_MODULELOADERIMPL_H

#include "despina/Lang/ModuleLoader.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <map>

namespace despina {

/// A condition that a statement stands under.
struct Guard {
  const ast::Expr *test = nullptr;
  bool expected = true;
};

/// One statement of a module that gives a name its meaning.
struct Binding {
  enum class Kind : uint8_t { Expression, Element, Function, Class, Import, ImportFrom };
  Kind kind = Kind::Expression;
  const ast::Stmt *stmt = nullptr;
  const ast::Expr *value = nullptr;    ///< Expression, Element
  llvm::SmallVector<unsigned, 2> path; ///< Element: where in the tuple
  std::string module;                  ///< Import, ImportFrom: absolute name
  std::string member;                  ///< ImportFrom
  llvm::SmallVector<Guard, 1> guards;
  bool inTry = false; ///< when it fails, an earlier binding (of a handler) counts
};

/// What the decorators of a function say.
struct Decorators {
  bool isJit = false, isConstexprFunction = false, noinline = false, autotuned = false, hasHeuristics = false;
  std::optional<std::string> mustUseResult;
};

struct LoadedModule {
  std::string name, path;
  bool isPackage = false;
  bool isOpaque = false; ///< only Python could read it
  std::shared_ptr<ast::Module> tree;
  /// In source order: the last one that applies counts.
  llvm::StringMap<std::vector<Binding>> bindings;
  llvm::StringMap<Resolution> values;
  llvm::StringMap<bool> evaluating;
  llvm::StringSet<> searchedInStars; ///< names being looked up in `from module import *`
  llvm::StringMap<std::shared_ptr<const FunctionInfo>> functions;
};

struct ModuleLoader::Impl {
  explicit Impl(ModuleLoader &owner, std::vector<std::string> searchPaths)
      : owner(owner), searchPaths(std::move(searchPaths)) {}

  // Files (ModuleLoader.cpp).
  LoadedModule *load(std::string path, std::string name, std::string text, Diagnostics &diags);
  LoadedModule *loadPath(const std::string &path, const std::string &name, Diagnostics &diags);
  /// By absolute name: a file of the search folders, else an opaque module. Null with `failure` set when a
  /// file exists but cannot be read.
  LoadedModule *import(const LoadedModule &from, llvm::StringRef name, std::string &failure);
  Resolution importValue(const LoadedModule &from, llvm::StringRef name);
  LoadedModule *find(llvm::StringRef path) const;

  // Names (ModuleLoaderNames.cpp).
  void collect(LoadedModule &module, ast::StmtList body, llvm::ArrayRef<Guard> guards, bool inTry);
  void collectTarget(LoadedModule &module, const ast::Stmt *stmt, const ast::Expr *target,
                     const ast::Expr *value, llvm::ArrayRef<unsigned> path, const Binding &pattern);
  void collectImports(LoadedModule &module, const ast::Stmt *stmt, const Binding &pattern);
  Resolution lookup(LoadedModule &module, llvm::StringRef name);
  Resolution lookupInStars(LoadedModule &module, llvm::StringRef name);
  Resolution resolve(LoadedModule &module, llvm::StringRef name, const Binding &binding);
  Resolution resolveClass(LoadedModule &module, llvm::StringRef name, const Binding &binding);
  Resolution resolveFunction(LoadedModule &module, const ast::FunctionDef *def);
  Resolution evaluate(LoadedModule &module, const ast::Expr *expr);
  Resolution memberOf(LoadedModule &source, llvm::StringRef name);
  Resolution member(const LoadedModule &from, llvm::StringRef module, llvm::StringRef name);
  /// "triton.jit" for a decorator, through the module's imports; empty when it is not a plain name.
  std::string qualifiedName(LoadedModule &module, const ast::Expr *expr);
  Decorators decorators(LoadedModule &module, const ast::FunctionDef *def);
  std::shared_ptr<const FunctionInfo> function(LoadedModule &module, const ast::FunctionDef *def);
  /// Whether kernels may read the global, by spec 2.1.
  bool isReadable(LoadedModule &module, llvm::StringRef name, const Value &value);
  bool isConstexprInstance(LoadedModule &module, const ast::Expr *expr, unsigned depth = 0);
  bool findConstexprInstance(LoadedModule &module, const ast::Expr *expr, unsigned depth);
  const Binding *lastBinding(LoadedModule &module, llvm::StringRef name);

  ModuleLoader &owner;
  std::vector<std::string> searchPaths;
  std::vector<std::unique_ptr<LoadedModule>> modules;
  std::map<std::string, LoadedModule *> byPath;
  llvm::StringMap<LoadedModule *> opaque;
  llvm::DenseMap<const ast::Expr *, bool> constexprInstances;
  uint64_t steps = 0;                                   ///< of evaluation so far
  std::vector<std::shared_ptr<const SourceFile>> files; ///< diagnostics point into them
};

} // namespace despina

#endif // DESPINA_LIB_LANG_MODULELOADERIMPL_H
