//===- Builtins.h - The one registry of the language's functions *- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Each public function of the language stands once: name, parameters, description, semantic function.
// Argument binding, the Python stubs, the reference and the conformance table derive from it (design, section
// 2).
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LANG_BUILTINS_H
#define DESPINA_LANG_BUILTINS_H

#include "despina/Lang/Value.h"

namespace despina {

class Semantic;

struct ParamDef {
  const char *name;
  /// Python text of the default ("None", "0", "\"\"", "False"), or null when required.
  const char *defaultText = nullptr;
  bool variadic = false; ///< `*name`
  bool keywordOnly = false;
};

/// Bound arguments, in the order of the parameters. A variadic parameter holds a tuple.
struct BuiltinArgs {
  llvm::SmallVector<Value, 8> values;
  const BuiltinDef *def = nullptr; ///< the function that is called
  const Value &operator[](size_t i) const { return values[i]; }
};

struct BuiltinDef {
  /// Path in the public namespace without "triton.": "language.load", "language.extra.libdevice.tanh",
  /// "cdiv". Methods that are no functions too are "tensor.item" and "dtype.is_fp32"; Python's own are
  /// "builtins.len".
  const char *path;
  llvm::ArrayRef<ParamDef> params;
  const char *doc; ///< one line
  /// Null result: failed and reported. Null function: the name is known but not supported yet.
  Value (*evaluate)(Semantic &semantic, const BuiltinArgs &args) = nullptr;
  bool isMember = false; ///< also a method of tensors
  bool mustUseResult = false;
  /// The parameter that holds the data, or -1 for the result: on its type a call counts as used and tested.
  int subject = 0;

  llvm::StringRef name() const; ///< last component of the path
};

/// All builtins, sorted by path.
llvm::ArrayRef<BuiltinDef> allBuiltins();
/// By full path ("language.load"); null when unknown. Aliases ("language.core.load") are resolved here.
const BuiltinDef *findBuiltin(llvm::StringRef path);
/// A method of tensors ("sum"); null when unknown.
const BuiltinDef *findTensorMember(llvm::StringRef name);

/// `module.name` for our own modules ("triton", "triton.language", "triton.language.math", ...; the aliases
/// "despina..." are the same modules): a builtin, a function of the standard library, a dtype, a constant
/// such as `PropagateNan.ALL`, or a submodule. None when the module has no such name.
std::optional<Value> languageAttribute(llvm::StringRef module, llvm::StringRef name);
/// True for names of modules that `languageAttribute` answers.
bool isLanguageModule(llvm::StringRef module);
/// The path of a name that `languageAttribute` answers: one, whichever module it is read from.
std::string publicPath(llvm::StringRef module, llvm::StringRef name);

/// Source of the standard library (kernel language, embedded): sum, max, softmax, cdiv, zeros, ...
llvm::StringRef standardLibrarySource();
/// True for the file that errors name for this source.
bool isStandardLibrary(const SourceFile &file);

} // namespace despina

#endif // DESPINA_LANG_BUILTINS_H
