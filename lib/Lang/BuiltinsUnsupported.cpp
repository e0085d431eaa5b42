//===- BuiltinsUnsupported.cpp - Names that are known but have no body ----===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Each answers "'tl.NAME' is not supported yet", so that a kernel fails on the name and not on a typo.
//
//===----------------------------------------------------------------------===//
#include "BuiltinsImpl.h"

#include "llvm/ADT/SmallVector.h"

#include <deque>

namespace despina {

namespace {

const char functions[] = "dot_scaled";

class Table {
public:
  Table() { add("language.", functions, false); }
  llvm::ArrayRef<BuiltinDef> definitions() const { return definitions_; }

private:
  void add(const char *prefix, llvm::StringRef names, bool isMember) {
    llvm::SmallVector<llvm::StringRef, 128> parts;
    names.split(parts, ' ', -1, /*KeepEmpty=*/false);
    for (llvm::StringRef name : parts) {
      paths_.push_back(prefix + name.str());
      definitions_.push_back({paths_.back().c_str(), {}, "Not supported yet.", nullptr, isMember});
    }
  }

  std::deque<std::string> paths_;
  std::vector<BuiltinDef> definitions_;
};

} // namespace

llvm::ArrayRef<BuiltinDef> unsupportedBuiltins() {
  static const Table table;
  return table.definitions();
}

} // namespace despina
