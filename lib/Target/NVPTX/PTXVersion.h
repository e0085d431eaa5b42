//===- PTXVersion.h - Architectures and versions of PTX ---------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_TARGET_NVPTX_PTXVERSION_H
#define DESPINA_LIB_TARGET_NVPTX_PTXVERSION_H

#include "despina/Target/NVPTX/NVPTXTarget.h"

#include <optional>
#include <string>

namespace despina::nvptx {

/// What is written for `options`: a version of PTX times 10, one that LLVM knows and that has the
/// architecture and, unless the options name a version, at least `needed`. None after setting `error`.
std::optional<unsigned> choosePTXVersion(const NVPTXOptions &options, unsigned needed, std::string &error);

} // namespace despina::nvptx

#endif // DESPINA_LIB_TARGET_NVPTX_PTXVERSION_H
