//===- CompileCPU.cpp - Kernels for this machine's processor --------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "BackEnd.h"
#include "Errors.h"

#include "despina/Runtime/Launch.h"
#include "despina/Target/CPU/CPUPipeline.h"
#include "despina/Target/CPU/CPUTarget.h"
#include "despina/Target/CPU/JIT.h"

namespace despina {

namespace {

class CPUCode : public KernelCode {
public:
  CPUCode(std::unique_ptr<cpu::LoadedCode> code, std::string name, size_t scratchBytes)
      : code_(std::move(code)), name_(std::move(name)), scratchBytes_(scratchBytes) {}

  Expected<bool> launch(const Grid &grid, const uint64_t *slots,
                        const LaunchOptions &options) const override {
    const uint32_t extents[3] = {static_cast<uint32_t>(grid.x), static_cast<uint32_t>(grid.y),
                                 static_cast<uint32_t>(grid.z)};
    std::string failure;
    switch (cpu::launch(code_->entry(), slots, extents, scratchBytes_, options.shouldStop, options.context,
                        &failure)) {
    case cpu::LaunchStatus::Ok: return true;
    case cpu::LaunchStatus::Interrupted: return false;
    case cpu::LaunchStatus::AssertionFailed:
      return plainError("RuntimeError", "device-side assert: " + failure);
    case cpu::LaunchStatus::OutOfMemory:
      return plainError("MemoryError", "no memory for the " + std::to_string(scratchBytes_) +
                                           " bytes of scratch that one thread of kernel " + name_ + " needs");
    }
    return plainError("RuntimeError", "the launch ended in an unknown way");
  }

  std::optional<Error> check(const std::vector<RuntimeParameter> &, const uint64_t *,
                             const LaunchOptions &) const override {
    return std::nullopt;
  }

  Expected<DeviceKernel> load(int) const override {
    return plainError("ValueError",
                      "kernel " + name_ + " is one for the CPU: there is no device to load it on");
  }

private:
  std::unique_ptr<cpu::LoadedCode> code_;
  std::string name_;
  size_t scratchBytes_;
};

class CPUBackEnd : public BackEnd {
public:
  CPUBackEnd(Target target, cpu::CPUOptions options)
      : BackEnd(std::move(target)), options_(std::move(options)) {}

  llvm::ArrayRef<const char *> stages() const override {
    static constexpr const char *names[] = {"llvm", "asm", "obj"};
    return names;
  }
  LanguageTarget languageTarget() const override { return cpu::languageTarget(options_); }
  void registerDialects(mlir::DialectRegistry &registry) const override {
    cpu::registerLoweringDialects(registry);
    cpu::registerTranslations(registry);
  }

  std::optional<Error> emit(mlir::ModuleOp module, llvm::ArrayRef<std::string> wanted,
                            const MLIRErrors &errors, KernelImpl &kernel) const override {
    StageClock clock(kernel.times);
    std::optional<cpu::LoweredKernel> lowered = cpu::lowerToLLVMDialect(module, options_);
    if (!lowered)
      return errors.asError("the kernel cannot be lowered for the CPU");
    kernel.scratchBytes = lowered->scratchBytes;
    clock.finish("lowering");

    auto wants = [&](const char *stage) { return llvm::is_contained(wanted, stage); };
    std::string failure;
    std::optional<cpu::EmittedCode> code =
        cpu::emitCode(module, options_, {wants("llvm"), wants("asm")}, failure);
    if (!code)
      return plainError("RuntimeError", "LLVM cannot compile the kernel: " + failure);
    if (wants("llvm"))
      kernel.texts["llvm"] = std::move(code->llvm);
    if (wants("asm"))
      kernel.texts["asm"] = std::move(code->assembly);
    if (wants("obj"))
      kernel.texts["obj"] = std::string(code->object.begin(), code->object.end());
    clock.add({{"LLVM translation", code->translateSeconds},
               {"LLVM optimiser", code->optimizeSeconds},
               {"LLVM code generator", code->codegenSeconds}});

    std::unique_ptr<cpu::LoadedCode> loaded =
        cpu::LoadedCode::load({code->object.data(), code->object.size()}, lowered->entry, failure);
    if (!loaded)
      return internalError("the kernel's code cannot be loaded: " + failure);
    kernel.code = std::make_unique<CPUCode>(std::move(loaded), kernel.name, kernel.scratchBytes);
    clock.finish("link");
    return std::nullopt;
  }

private:
  cpu::CPUOptions options_;
};

} // namespace

BackEndOr makeCPUBackEnd(const Target &target, const CompileOptions &options) {
  cpu::CPUOptions result;
  if (!target.arch.empty() && target.arch != result.features.name)
    return plainError("NotImplementedError", "cannot compile for the processor '" + target.arch +
                                                 "' yet: leave the name empty for this machine's, '" +
                                                 result.features.name + "'");
  result.enableFPFusion = options.enableFPFusion;
  result.debug = options.debug;
  Target complete = target;
  complete.arch = result.features.name;
  return std::shared_ptr<const BackEnd>(std::make_shared<CPUBackEnd>(complete, result));
}

} // namespace despina
