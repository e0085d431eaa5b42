//===- host.h - Embedding the front end in a host language ------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// The Python extension is a client of this interface: it hands over source text and answers what free names
// mean. Nothing here depends on LLVM, so the extension builds from its own sources alone.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_HOST_H
#define DESPINA_HOST_H

#include "despina/despina.h"

namespace despina::host {

struct Function;

/// A value that crosses the border between host and compiler.
struct Value {
  // clang-format off
  enum class Kind : uint8_t {
    None, Ellipsis, Bool, Int, Float, String, ///< compile-time constants
    Tuple,                                    ///< `elements`, `fields` of a named tuple, `text` = class name
    DType,                                    ///< `text` is its signature form: "fp32", "*i8"
    Function,                                 ///< a jit function or constexpr_function with source
    LanguageModule,                           ///< `text`: "triton", "triton.language", "triton.language.math"
    LanguageName,                             ///< `text`: full path of a name in those modules, "triton.language.load"
    Object,                                   ///< any other host object: opaque
  };
  // clang-format on
  Kind kind = Kind::None;
  bool boolean = false;
  std::string text; ///< String, DType, LanguageModule, LanguageName; Int in decimal
  double real = 0;
  std::vector<Value> elements;
  std::vector<std::string> fields; ///< also of an Object that is the class of named tuples
  std::shared_ptr<const Function> function;
  std::shared_ptr<void> object; ///< Object: the host's handle
  std::string typeName;         ///< Object: class name, for errors
  bool callable = false;        ///< Object
};

/// A function with kernel-language source.
struct Function {
  enum class Kind : uint8_t { Jit, ConstexprFunction };
  Kind kind = Kind::Jit;
  std::string name, qualifiedName;
  /// Source from the first decorator or `def` line, not indented; where it stands in `path`.
  std::string source, path;
  unsigned firstLine = 1, indent = 0;
  bool noinline = false;
  std::optional<std::string> mustUseResult;
  /// Identity: two functions with equal keys are the same function (used to share instances).
  std::string key;
  /// The host's handle, given back in `lookup`.
  void *scope = nullptr;
};

struct Answer {
  enum class Status : uint8_t { Found, NotFound, NotAllowed, Failed };
  Status status = Status::NotFound;
  Value value;
  std::string message;   ///< Failed: why, and of which class
  std::string errorKind; ///< Failed: exception class name
};

/// Answers for the host. Called while `compile` runs, on its thread or, when that has little stack left, on
/// one of ours: a host with a global lock takes it in each function.
class Resolver {
public:
  virtual ~Resolver() = default;
  virtual Answer lookup(const Function &function, const std::string &name, bool evaluatingDefaults) = 0;
  virtual Answer attribute(const Value &object, const std::string &name) = 0;
  virtual Answer call(const Value &callee, const std::vector<Value> &args,
                      const std::vector<std::pair<std::string, Value>> &keywords) = 0;
  virtual Answer subscript(const Value &object, const Value &index) = 0;
  virtual bool same(const Value &lhs, const Value &rhs) = 0;
  virtual void staticPrint(const std::string &text) = 0;
  virtual void warn(const std::string &message, const std::string &file, unsigned line) = 0;
};

/// One argument of a specialised kernel, in the order of the function's parameters.
struct KernelArgument {
  std::string name;
  /// Runtime type in signature form; empty for a constant.
  std::string type;
  Value constant;
  int64_t divisibility = 0;
  /// A tuple that holds runtime values: its elements (without names), the fields and class of a named tuple.
  /// `type` is empty then and `constant` unused. Runtime leaves take launch slots in order.
  bool isTuple = false;
  std::vector<KernelArgument> elements;
  std::vector<std::string> fields;
  std::string tupleTypeName;
};

DESPINA_API Expected<Kernel> compile(const std::shared_ptr<const Function> &function, Resolver &resolver,
                                     const std::vector<KernelArgument> &args, const Target &target = {},
                                     const CompileOptions &options = {});

/// One builtin of the language, for stubs, docstrings and the conformance table.
struct BuiltinDoc {
  std::string path;      ///< "language.load"
  std::string signature; ///< "(pointer, mask=None, other=None, ...)"
  std::string doc;
  bool isMember = false, supported = true;
};
DESPINA_API std::vector<BuiltinDoc> builtinDocs();

} // namespace despina::host

#endif // DESPINA_HOST_H
