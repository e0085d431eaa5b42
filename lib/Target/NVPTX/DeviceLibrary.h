//===- DeviceLibrary.h - Bodies for the functions of libdevice --*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_TARGET_NVPTX_DEVICELIBRARY_H
#define DESPINA_LIB_TARGET_NVPTX_DEVICELIBRARY_H

#include "despina/Target/NVPTX/NVPTXTarget.h"

#include <string>

namespace llvm {
class Module;
}

namespace despina::nvptx {

/// Gives a body to each function `__nv_*` that the module calls and does not have: libdevice's, or our own
/// where there is no libdevice. False after setting `error`, which names the functions that have none.
bool linkDeviceFunctions(llvm::Module &module, const NVPTXOptions &options, std::string &error);

} // namespace despina::nvptx

#endif // DESPINA_LIB_TARGET_NVPTX_DEVICELIBRARY_H
