//===- KernelImpl.h - What a compiled kernel holds --------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_API_KERNELIMPL_H
#define DESPINA_API_KERNELIMPL_H

#include "despina/despina.h"

#include "despina/Target/CPU/CPUTarget.h"
#include "despina/Target/CPU/JIT.h"

namespace despina {

/// How a runtime argument is checked and stored.
struct RuntimeParameter {
  enum class Form : uint8_t { Pointer, Signed, Unsigned, Half, BFloat, Single, Double };
  std::string name;
  std::string type; ///< signature form
  Form form = Form::Pointer;
  unsigned bits = 64;
};

struct KernelImpl {
  std::string name;
  std::vector<RuntimeParameter> parameters;
  std::vector<std::string> parameterTypes;
  size_t scratchBytes = 0;
  std::vector<StageTime> times;
  /// Stages kept: "tt" always, since the others can be made from it.
  std::map<std::string, std::string, std::less<>> texts;
  cpu::CPUOptions options;
  std::unique_ptr<cpu::LoadedCode> code;
};

/// Makes the text of a stage that was not kept, from the kernel's tile IR.
Expected<std::string> makeStageText(const KernelImpl &kernel, std::string_view stage);

} // namespace despina

#endif // DESPINA_API_KERNELIMPL_H
