//===- KernelImpl.h - What a compiled kernel holds --------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_API_KERNELIMPL_H
#define DESPINA_API_KERNELIMPL_H

#include "despina/despina.h"

namespace despina {

class BackEnd;

/// How a runtime argument is checked and stored.
struct RuntimeParameter {
  enum class Form : uint8_t { Pointer, Signed, Unsigned, Half, BFloat, Single, Double };
  std::string name;
  std::string type; ///< signature form
  Form form = Form::Pointer;
  unsigned bits = 64;
};

/// The code of a kernel on its target. Used by many threads at once.
class KernelCode {
public:
  virtual ~KernelCode() = default;
  /// Runs a grid that is known to be sound and not empty. False when it was interrupted.
  virtual Expected<bool> launch(const Grid &grid, const uint64_t *slots,
                                const LaunchOptions &options) const = 0;
  /// What only a launch with checked arguments looks at: whether pointers and stream suit the device.
  virtual std::optional<Error> check(const std::vector<RuntimeParameter> &parameters, const uint64_t *slots,
                                     const LaunchOptions &options) const = 0;
  virtual Expected<DeviceKernel> load(int device) const = 0;
};

struct KernelImpl {
  std::string name;
  std::vector<RuntimeParameter> parameters;
  std::vector<std::string> parameterTypes;
  size_t scratchBytes = 0;
  KernelResources resources;
  std::vector<StageTime> times;
  std::vector<std::string> namesUsed;
  /// Stages kept: "tt" always, since the others can be made from it.
  std::map<std::string, std::string, std::less<>> texts;
  std::shared_ptr<const BackEnd> backEnd;
  std::unique_ptr<KernelCode> code;
};

/// Makes the text of a stage that was not kept, from the kernel's tile IR.
Expected<std::string> makeStageText(const KernelImpl &kernel, std::string_view stage);

} // namespace despina

#endif // DESPINA_API_KERNELIMPL_H
