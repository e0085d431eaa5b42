//===- ModuleLoader.h - Reads .py files without Python ----------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LANG_MODULELOADER_H
#define DESPINA_LANG_MODULELOADER_H

#include "despina/Lang/SymbolResolver.h"

namespace despina {

/// What is known of a kernel from its decorators, without Python.
struct LoadedKernel {
  std::shared_ptr<const FunctionInfo> function;
  struct Param {
    std::string name;
    bool isConstexpr = false;
    std::optional<std::string> annotation; ///< signature text of a type annotation ("*fp32"), if any
    bool hasDefault = false;
    std::optional<Constant> defaultValue;
  };
  std::vector<Param> params;
  bool autotuned = false, hasHeuristics = false;
};

/// Loads modules lazily: a module-level expression is evaluated when a kernel uses it, and only one that
/// needs Python is then an error, which names the expression.
class ModuleLoader : public SymbolResolver {
public:
  /// Imports are searched in the folder of the importing file, then in `searchPaths`.
  explicit ModuleLoader(std::vector<std::string> searchPaths = {});
  ~ModuleLoader() override;

  /// Reads and parses a file (UTF-8). False after reporting.
  bool loadFile(llvm::StringRef path, Diagnostics &diags);
  bool loadText(llvm::StringRef path, std::string text, Diagnostics &diags);
  /// The `@jit` functions of a loaded file, in order.
  std::vector<std::string> kernels(llvm::StringRef path) const;
  /// None after reporting (unknown name: the error lists the kernels there are).
  std::optional<LoadedKernel> kernel(llvm::StringRef path, llvm::StringRef name, Diagnostics &diags);

  Resolution lookup(const FunctionInfo &function, llvm::StringRef name, bool evaluatingDefaults) override;
  Resolution attribute(const Value &object, llvm::StringRef name) override;
  Resolution call(const Value &callee, llvm::ArrayRef<Value> args,
                  llvm::ArrayRef<std::pair<std::string, Value>> keywords) override;
  Resolution subscript(const Value &object, const Value &index) override;
  bool same(const Value &lhs, const Value &rhs) override;

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace despina

#endif // DESPINA_LANG_MODULELOADER_H
