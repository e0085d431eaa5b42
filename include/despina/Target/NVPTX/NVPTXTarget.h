//===- NVPTXTarget.h - The NVIDIA target ------------------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// The folder's four parts: options and capabilities (here), IR pipeline (NVPTXPipeline.h), code emission
// (PTXEmit.h and, from PTX to a cubin, Assembler.h), driver (CUDADriver.h).
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_TARGET_NVPTX_NVPTXTARGET_H
#define DESPINA_TARGET_NVPTX_NVPTXTARGET_H

#include "despina/Target/NVPTX/Assembler.h"

#include <string>
#include <vector>

namespace despina {
struct LanguageTarget;
}

// No header of lib/Lang here: its Type and Value would hide MLIR's in the files of this folder.
namespace despina::nvptx {

struct NVPTXOptions {
  Architecture arch{90, 'a'};
  unsigned numWarps = 4;     ///< per block, a power of two up to 32
  unsigned numStages = 3;    ///< of software pipelines
  unsigned numCTAs = 1;      ///< blocks of a cluster that share a program
  unsigned maxRegisters = 0; ///< per thread; 0: the assembler decides
  bool enableFPFusion = true;
  bool debug = false;    ///< device_assert is active
  bool lineInfo = false; ///< PTX tells which line of the program its code comes from
  /// Version of the PTX language times 10 (83: 8.3); 0: the newest that LLVM writes and `arch` needs.
  unsigned ptxVersion = 0;
  /// Where NVIDIA's Python packages may be (ToolSearch.h).
  std::vector<std::string> sitePackages;
  /// False: our own elementary functions, even where libdevice is there.
  bool useLibdevice = true;
};

LanguageTarget languageTarget(const NVPTXOptions &options);

} // namespace despina::nvptx

#endif // DESPINA_TARGET_NVPTX_NVPTXTARGET_H
