//===- HostFeatures.cpp - What the machine at hand can do -----------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "despina/Target/CPU/CPUTarget.h"

#include "despina/Lang/Semantic.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

#include <algorithm>

#include <sys/syscall.h>
#include <unistd.h>

namespace despina::cpu {

namespace {

/// Asks the kernel for the tile registers' state. The permission holds for every thread of the process and
/// its children; without it the first tile instruction is a fatal signal.
bool requestTileState() {
#if defined(__x86_64__)
  constexpr long requestPermission = 0x1023, tileData = 18;
  return syscall(SYS_arch_prctl, requestPermission, tileData) == 0;
#else
  return false;
#endif
}

CPUFeatures detect() {
  CPUFeatures features;
  features.name = llvm::sys::getHostCPUName().str();
  auto map = llvm::sys::getHostCPUFeatures();
  auto has = [&](llvm::StringRef name) {
    auto it = map.find(name);
    return it != map.end() && it->second;
  };
  bool tiles = has("amx-tile") && requestTileState();
  for (const auto &feature : map) {
    bool enabled = feature.second && (tiles || !feature.first().starts_with("amx-"));
    features.llvm.push_back((enabled ? "+" : "-") + feature.first().str());
  }
  // The map has no order of its own.
  std::sort(features.llvm.begin(), features.llvm.end(),
            [](const std::string &a, const std::string &b) { return a.substr(1) < b.substr(1); });

  features.fma = has("fma");
  features.avx512 = has("avx512f") && has("avx512bw") && has("avx512dq") && has("avx512vl");
  features.avx512bf16 = features.avx512 && has("avx512bf16");
  features.avx512fp16 = features.avx512 && has("avx512fp16");
  features.avx512vnni = features.avx512 && has("avx512vnni");
  features.amxTile = tiles;
  features.amxBF16 = tiles && has("amx-bf16");
  features.amxInt8 = tiles && has("amx-int8");
  features.vectorBytes = features.avx512 ? 64 : has("avx2") ? 32 : 16;
  features.vectorRegisters = features.avx512 ? 32 : 16;
  return features;
}

/// A processor has no smallest matrix product.
std::array<int, 3> minDotSize(unsigned) { return {1, 1, 1}; }

} // namespace

const CPUFeatures &CPUFeatures::host() {
  static const CPUFeatures features = detect();
  return features;
}

LanguageTarget languageTarget(const CPUOptions &options) {
  LanguageTarget target;
  target.backend = "cpu";
  target.arch = 0;
  target.warpSize = 1;
  target.defaultPrecision = DotPrecision::IEEE;
  target.fp8Types = {ScalarKind::FP8E5, ScalarKind::FP8E5B16, ScalarKind::FP8E4NV, ScalarKind::FP8E4B8,
                     ScalarKind::FP8E4B15};
  target.minDotSize = minDotSize;
  target.debug = options.debug;
  return target;
}

} // namespace despina::cpu
