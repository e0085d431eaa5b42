//===- CPUTarget.h - The CPU target -----------------------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// The folder's four parts: options and capabilities (here), IR pipeline (CPUPipeline.cpp), code emission
// (CPUEmit.cpp), driver (lib/Runtime: thread pool and launcher).
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_TARGET_CPU_CPUTARGET_H
#define DESPINA_TARGET_CPU_CPUTARGET_H

#include <string>
#include <vector>

namespace despina {
struct LanguageTarget;
}

// No header of lib/Lang here: its Type and Value would hide MLIR's in the files of this folder.
namespace despina::cpu {

/// Features of the machine code is made for.
struct CPUFeatures {
  std::string name;              ///< LLVM CPU name ("sapphirerapids")
  std::vector<std::string> llvm; ///< LLVM feature strings ("+avx512f")
  unsigned vectorBytes = 16;     ///< native vector width: 16, 32 or 64
  unsigned vectorRegisters = 16; ///< 16 or 32
  bool fma = false, avx512 = false, avx512bf16 = false, avx512fp16 = false, avx512vnni = false;
  bool amxTile = false, amxBF16 = false, amxInt8 = false; ///< set only when the OS grants tile state

  /// This machine. Detected once; asks the OS for AMX tile state.
  static const CPUFeatures &host();
};

struct CPUOptions {
  CPUFeatures features = CPUFeatures::host();
  bool enableFPFusion = true;
  bool debug = false;
};

LanguageTarget languageTarget(const CPUOptions &options);

} // namespace despina::cpu

#endif // DESPINA_TARGET_CPU_CPUTARGET_H
