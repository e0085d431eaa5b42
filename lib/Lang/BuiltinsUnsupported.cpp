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

const char functions[] =
    "tuple_type aggregate_replace expect_zero topk bitonic_merge map_elementwise "
    "philox philox_impl rand rand4x randint randint4x randn randn4x pair_uniform_to_normal "
    "uint_to_uniform_float";

const char members[] = "sort flip";

const char targetInfo[] =
    "current_target is_cuda cuda_capability_geq is_hip is_hip_cdna3 is_hip_cdna4 is_hip_gfx1250";

const char cuda[] =
    "globaltimer smid num_threads num_warps gdc_wait gdc_launch_dependents convert_custom_float8_sm70 "
    "convert_custom_float8_sm80";

class Table {
public:
  Table() {
    add("language.", functions, false);
    add("language.", members, true);
    add("language.target_info.", targetInfo, false);
    add("language.extra.cuda.", cuda, false);
  }
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
