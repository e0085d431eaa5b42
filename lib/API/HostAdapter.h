//===- HostAdapter.h - A host's answers as a symbol resolver ----*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_API_HOSTADAPTER_H
#define DESPINA_API_HOSTADAPTER_H

#include "despina/Lang/SymbolResolver.h"
#include "despina/host.h"

#include "llvm/ADT/DenseMap.h"

#include <unordered_map>
#include <vector>

namespace despina {

/// Translates between the values of despina/host.h and those of the front end. One per compilation.
class HostAdapter : public SymbolResolver {
public:
  explicit HostAdapter(host::Resolver &resolver) : resolver_(resolver) {}

  /// Parses the function, or takes its tree from the process-wide cache. Null after reporting.
  std::shared_ptr<const FunctionInfo> functionInfo(const std::shared_ptr<const host::Function> &function,
                                                   Diagnostics &diags);
  /// None after filling `failure`.
  std::optional<Value> fromHost(const host::Value &value, Resolution &failure);
  std::optional<host::Value> toHost(const Value &value, Resolution &failure);

  Resolution lookup(const FunctionInfo &function, llvm::StringRef name, bool evaluatingDefaults) override;
  Resolution attribute(const Value &object, llvm::StringRef name) override;
  Resolution call(const Value &callee, llvm::ArrayRef<Value> args,
                  llvm::ArrayRef<std::pair<std::string, Value>> keywords) override;
  Resolution subscript(const Value &object, const Value &index) override;
  bool same(const Value &lhs, const Value &rhs) override;

private:
  Resolution resolve(const host::Answer &answer);
  std::optional<Value> functionFromHost(const host::Value &value, Resolution &failure);
  std::optional<Value> languageName(const std::string &path, Resolution &failure);
  std::optional<Value> tupleFromHost(const host::Value &value, Resolution &failure);
  /// `Point(x, y)` for a class of named tuples: its elements may be tensors, so the host does not make it.
  Resolution makeNamedTuple(const host::Value &type, llvm::ArrayRef<Value> args,
                            llvm::ArrayRef<std::pair<std::string, Value>> keywords);
  std::optional<host::Value> tupleToHost(const TupleValue &tuple, Resolution &failure);

  host::Resolver &resolver_;
  /// Diagnostics point into the sources, also into those that have no tree.
  std::vector<std::shared_ptr<const SourceFile>> files_;
  /// One FunctionInfo per function, so that equal functions share their instances.
  std::unordered_map<std::string, std::shared_ptr<const FunctionInfo>> byKey_;
  llvm::DenseMap<const FunctionInfo *, std::shared_ptr<const host::Function>> hostFunctions_;
};

/// The error kind of a Python exception class; Runtime for one we do not know.
ErrorKind errorKindByName(llvm::StringRef name);

} // namespace despina

#endif // DESPINA_API_HOSTADAPTER_H
