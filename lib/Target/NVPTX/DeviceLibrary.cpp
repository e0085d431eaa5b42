//===- DeviceLibrary.cpp - Bodies for the functions of libdevice ----------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Most kernels call none of these functions, so the file is looked for only when one does. It stays mapped
// afterwards, and of its 350 functions only those that are called are read.
//
//===----------------------------------------------------------------------===//
#include "DeviceLibrary.h"

#include "InstructionExpansions.h"
#include "MathExpansions.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/MemoryBuffer.h"

#include <mutex>

namespace despina::nvptx {

namespace {

llvm::SmallVector<llvm::Function *> unresolvedFunctions(llvm::Module &module) {
  llvm::SmallVector<llvm::Function *> functions;
  for (llvm::Function &function : module)
    if (function.isDeclaration() && function.getName().starts_with("__nv_") && !function.use_empty())
      functions.push_back(&function);
  return functions;
}

std::string quotedNames(llvm::ArrayRef<llvm::Function *> functions) {
  return llvm::join(
      llvm::map_range(functions, [](llvm::Function *f) { return "'" + f->getName().str() + "'"; }), ", ");
}

/// Files stay mapped until the process ends, and beyond its static objects: modules of other threads may
/// still read from them.
const llvm::MemoryBuffer *mappedFile(const std::string &path, std::string &error) {
  static std::mutex mutex;
  static auto &files = *new llvm::StringMap<std::unique_ptr<llvm::MemoryBuffer>>;
  std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<llvm::MemoryBuffer> &file = files[path];
  if (!file) {
    auto opened = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    if (!opened) {
      error = "cannot read " + path + ": " + opened.getError().message();
      return nullptr;
    }
    file = std::move(*opened);
  }
  return file.get();
}

bool linkLibdevice(llvm::Module &module, const std::string &path, std::string &error) {
  const llvm::MemoryBuffer *file = mappedFile(path, error);
  if (!file)
    return false;
  auto library = llvm::getLazyBitcodeModule(file->getMemBufferRef(), module.getContext(),
                                            /*ShouldLazyLoadMetadata=*/true);
  if (!library) {
    error = "cannot read " + path + ": " + llvm::toString(library.takeError());
    return false;
  }
  // Its own triple and layout are those of an older LLVM.
  (*library)->setTargetTriple(module.getTargetTriple());
  (*library)->setDataLayout(module.getDataLayout());
  if (llvm::Linker::linkModules(module, std::move(*library), llvm::Linker::LinkOnlyNeeded)) {
    if (error.empty())
      error = "cannot link " + path;
    return false;
  }
  if (auto missing = unresolvedFunctions(module); !missing.empty()) {
    error = path + " has no function " + quotedNames(missing);
    return false;
  }
  return true;
}

} // namespace

bool linkDeviceFunctions(llvm::Module &module, const NVPTXOptions &options, std::string &error) {
  auto missing = unresolvedFunctions(module);
  if (missing.empty())
    return true;
  std::string searched = "libdevice is not to be used";
  if (options.useLibdevice) {
    if (auto found = ToolSearch(options.sitePackages).find(Tool::Libdevice, searched))
      return linkLibdevice(module, found->path, error);
    if (twinVariable("LIBDEVICE_PATH")) {
      error = searched;
      return false;
    }
  }
  for (llvm::Function *function : missing)
    if (!expandDeviceFunction(*function))
      expandByInstructions(*function);
  missing = unresolvedFunctions(module);
  if (missing.empty())
    return true;
  error = quotedNames(missing) + (missing.size() == 1 ? " is a function" : " are functions") +
          " of NVIDIA's libdevice: " + searched;
  return false;
}

} // namespace despina::nvptx
