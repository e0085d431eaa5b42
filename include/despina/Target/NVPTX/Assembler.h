//===- Assembler.h - From PTX to a cubin ------------------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_TARGET_NVPTX_ASSEMBLER_H
#define DESPINA_TARGET_NVPTX_ASSEMBLER_H

#include "despina/Target/NVPTX/ToolSearch.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace despina::nvptx {

/// "sm_90a" taken apart.
struct Architecture {
  unsigned number = 0; ///< 75, 90, 100
  char variant = 0;    ///< 'a' (that chip alone), 'f' (its family) or 0

  /// None after setting `error`: no such form, or older than sm_70.
  static std::optional<Architecture> parse(std::string_view text, std::string &error);
  /// What to compile for on a chip of this compute capability: from 9.0 on with all that is the chip's alone.
  static Architecture ofDevice(int major, int minor);
  std::string name() const;
};

enum class AssembleMethod {
  Automatic, ///< ptxas where a variable names one, else nvJitLink, else ptxas
  NvJitLink, ///< in this process
  Ptxas,     ///< a child process
};

struct AssembleOptions {
  std::string arch;          ///< "sm_90a"
  unsigned optLevel = 3;     ///< 0 to 3
  unsigned maxRegisters = 0; ///< per thread; 0: no limit
  bool fpFusion = true;
  bool lineInfo = true;
  bool debugInfo = false;
  std::vector<std::string> extra; ///< more options of ptxas, as on its command line
  AssembleMethod method = AssembleMethod::Automatic;
};

/// Reads DISABLE_PTXAS_OPT, PTXAS_OPTIONS and TRITON_DISABLE_LINE_INFO into the options.
void applyAssemblerEnvironment(AssembleOptions &options);

/// What the assembler says of one kernel.
struct KernelResources {
  std::string name;
  unsigned registers = 0; ///< per thread
  unsigned barriers = 0;
  size_t stackBytes = 0;                  ///< per thread
  size_t spillStores = 0, spillLoads = 0; ///< bytes
  size_t sharedBytes = 0;                 ///< static, per block
};

struct AssembledCode {
  std::string cubin; ///< bytes, an ELF file
  std::vector<KernelResources> kernels;
  std::vector<std::string> warnings; ///< the assembler's, one line each
  std::string log;                   ///< all it said
  std::string assembler;             ///< "nvJitLink 13.0", or the path of ptxas

  const KernelResources *kernel(std::string_view name) const;
};

struct AssembleError {
  enum class Kind {
    NoAssembler,     ///< neither nvJitLink nor ptxas: the driver may do
    UnsupportedArch, ///< those found do not know the architecture, or it is no architecture
    BadPtx,          ///< the assembler's own message is in `log`
    BadOption,
    Failed, ///< it crashed, or the system failed
  };
  Kind kind = Kind::Failed;
  std::string message; ///< what happened and what to do
  std::string log;     ///< what the assembler said
};

/// Assembles `ptx`. None after setting `error`. May be called from many threads at once.
std::optional<AssembledCode> assemble(std::string_view ptx, const AssembleOptions &options,
                                      const ToolSearch &tools, AssembleError &error);

} // namespace despina::nvptx

#endif // DESPINA_TARGET_NVPTX_ASSEMBLER_H
