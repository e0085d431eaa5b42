//===- CodeGen.h - From a function's tree to operations ---------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LANG_CODEGEN_H
#define DESPINA_LANG_CODEGEN_H

#include "despina/Lang/Semantic.h"
#include "despina/Lang/SymbolResolver.h"

#include <functional>

namespace despina {

/// One parameter of a specialised kernel. Exactly one of `type` (runtime), `constant` and `elements` is used.
struct KernelArgument {
  std::string name;
  /// Runtime argument: a scalar, a pointer, or a descriptor (then `elements` are its leaves).
  Type type;
  /// Compile-time argument (constexpr parameters, None, ints equal to 1).
  std::optional<Value> constant;
  /// Known divisibility (16 or 0).
  int64_t divisibility = 0;
  /// A tuple with runtime values in it: its elements, and the fields and class of a named tuple.
  bool isTuple = false;
  std::vector<KernelArgument> elements = {};
  std::vector<std::string> fields = {};
  std::string tupleTypeName = {};
  /// A descriptor: reads out of bounds give NaN instead of zero.
  bool padsNaN = false;
};

/// A tensor descriptor made by the host. Its leaves are the base pointer (on 16 bytes), the extents (int32)
/// and the strides in elements but the last, which is 1 (int64, multiples of 16 bytes).
KernelArgument descriptorArgument(std::string name, const Type &type, bool padsNaN);
/// The value of a kernel's argument in its body; its runtime leaves are `handles`, in order.
Value argumentValue(Semantic &semantic, const KernelArgument &arg, llvm::ArrayRef<Handle> handles);

struct CodeGenOptions {
  std::string kernelName;                           ///< symbol; the function's name when empty
  std::function<void(llvm::StringRef)> staticPrint; ///< null: standard output
  unsigned maxCallDepth = 128;
  /// Statements and expressions visited: calls and unrolled loops multiply, and a few lines may stand for
  /// more work than anybody waits for.
  uint64_t maxVisits = 1'000'000;
  /// Of a kernel that Python will run: statements that only Python runs (`print`, `breakpoint()`, `pdb` and
  /// its import) are let through.
  bool allowDebugging = false;
  /// When set, calls of the host's jit functions go there instead of being generated.
  std::function<Value(const Value &callee, llvm::ArrayRef<Value> args,
                      llvm::ArrayRef<std::pair<std::string, Value>> keywords)>
      callHostFunction;
  NamesUsed *namesUsed = nullptr; ///< gets the names of the language in the kernel, if set
};

/// Generates one kernel and every function it calls into `builder`. False after reporting errors.
/// `args` stand in the order of the function's parameters. Runtime arguments (leaves of tuples)
/// become, in order, the arguments of the generated function.
bool generateKernel(RegionBuilder &builder, Diagnostics &diags, const LanguageTarget &target,
                    const std::shared_ptr<const FunctionInfo> &kernel, llvm::ArrayRef<KernelArgument> args,
                    const CodeGenOptions &options = {});

/// Calls functions in kernel language one by one, in place, with a builder that computes at once: what the
/// standard library has in kernel language, inside the interpreter.
class InlineCalls {
public:
  virtual ~InlineCalls() = default;
  /// Null after reporting an error.
  virtual Value call(const Value &callee, llvm::ArrayRef<Value> args,
                     llvm::ArrayRef<std::pair<std::string, Value>> keywords) = 0;

  static std::unique_ptr<InlineCalls> create(RegionBuilder &builder, Diagnostics &diags,
                                             const LanguageTarget &target, CodeGenOptions options);
};

} // namespace despina

#endif // DESPINA_LANG_CODEGEN_H
