//===- HostObjects.h - Python objects that host code works with -*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Modules that are read without Python use a little more than the values of kernels: functions of `math`,
// named tuple classes and dictionaries.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_LANG_HOSTOBJECTS_H
#define DESPINA_LIB_LANG_HOSTOBJECTS_H

#include "despina/Lang/SymbolResolver.h"

namespace despina {

using HostKeywords = llvm::ArrayRef<std::pair<std::string, Value>>;

class HostItem {
public:
  virtual ~HostItem() = default;
  virtual Resolution call(llvm::ArrayRef<Value>, HostKeywords) const { return {}; }
  virtual Resolution subscript(const Value &) const { return {}; }
  virtual Resolution attribute(llvm::StringRef) const { return {}; }
  /// What `for` and `in` see of it; null when it is no collection.
  virtual const std::vector<Value> *keys() const { return nullptr; }
};

/// The item behind a host value of ModuleLoader; null for other values.
const HostItem *hostItem(const Value &value);

/// `math.name`: a constant or a function. Not found when there is no such name.
Resolution mathMember(SymbolResolver &resolver, llvm::StringRef name);

/// A field of a named tuple class; without a default when that is null.
struct NamedTupleField {
  std::string name;
  Value defaultValue;
};
Value namedTupleClass(SymbolResolver &resolver, std::string module, std::string name,
                      std::vector<NamedTupleField> fields);
/// `collections.namedtuple`.
Value namedTupleFactory(SymbolResolver &resolver);

/// A dictionary; of equal keys the last value counts.
Value hostDict(SymbolResolver &resolver, llvm::ArrayRef<std::pair<Value, Value>> entries);

/// `format(value, spec)` of constants; none for what only Python formats.
std::optional<std::string> formatConstant(const Constant &value, llvm::StringRef spec);

} // namespace despina

#endif // DESPINA_LIB_LANG_HOSTOBJECTS_H
