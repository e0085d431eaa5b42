//===- Disassembler.h - From a cubin to text --------------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_TARGET_NVPTX_DISASSEMBLER_H
#define DESPINA_TARGET_NVPTX_DISASSEMBLER_H

#include "despina/Target/NVPTX/ToolSearch.h"

#include <optional>
#include <string>

namespace despina::nvptx {

/// The machine code of a cubin as text, by cuobjdump or nvdisasm, whichever is found. None after setting
/// `error`.
std::optional<std::string> disassemble(const std::string &cubin, const ToolSearch &tools, std::string &error);

} // namespace despina::nvptx

#endif // DESPINA_TARGET_NVPTX_DISASSEMBLER_H
