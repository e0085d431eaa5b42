//===- AssemblerImpl.h - The two assemblers ---------------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_TARGET_NVPTX_DRIVER_ASSEMBLERIMPL_H
#define DESPINA_LIB_TARGET_NVPTX_DRIVER_ASSEMBLERIMPL_H

#include "despina/Target/NVPTX/Assembler.h"

namespace despina::nvptx {

/// Through the library at `path`, which stays loaded.
std::optional<AssembledCode> assembleInProcess(const std::string &path, std::string_view ptx,
                                               const AssembleOptions &options, AssembleError &error);

/// Through the program at `path`.
std::optional<AssembledCode> assembleByProgram(const std::string &path, std::string_view ptx,
                                               const AssembleOptions &options, AssembleError &error);

/// The kernels and warnings of the assembler's verbose log, into `code`.
void readAssemblerLog(AssembledCode &code);

/// Sorts what an assembler said about an input that it refused.
AssembleError sortAssemblerFailure(const std::string &assembler, const std::string &arch, std::string log);

} // namespace despina::nvptx

#endif // DESPINA_LIB_TARGET_NVPTX_DRIVER_ASSEMBLERIMPL_H
