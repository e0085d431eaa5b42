//===- CompileCUDA.cpp - Kernels for NVIDIA GPUs --------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "BackEnd.h"
#include "CUDACode.h"
#include "Errors.h"

#include "despina/Target/NVPTX/Assembler.h"
#include "despina/Target/NVPTX/Disassembler.h"
#include "despina/Target/NVPTX/NVPTXPipeline.h"
#include "despina/Target/NVPTX/PTXEmit.h"

namespace despina {

namespace {

constexpr int warpSize = 32;
constexpr int maxThreads = 1024; ///< of a block, on every chip so far
constexpr int maxRegisters = 255;
constexpr int maxClusterBlocks = 16;
constexpr unsigned firstWithClusters = 90;

/// How a launch goes, beside what the compiler needs to know.
struct LaunchKind {
  bool cooperative = false, programmaticDependent = false;
};

/// With what the environment says.
nvptx::AssembleOptions assemblerOptions(const nvptx::NVPTXOptions &target) {
  nvptx::AssembleOptions options;
  options.arch = target.arch.name();
  options.maxRegisters = target.maxRegisters;
  options.fpFusion = target.enableFPFusion;
  nvptx::applyAssemblerEnvironment(options);
  return options;
}

class CUDABackEnd : public BackEnd {
public:
  CUDABackEnd(Target target, nvptx::NVPTXOptions options, LaunchKind launchKind)
      : BackEnd(std::move(target)), options_(std::move(options)), launchKind_(launchKind) {}

  llvm::ArrayRef<const char *> stages() const override {
    static constexpr const char *names[] = {"ttg", "llvm", "ptx", "cubin", "sass"};
    return names;
  }
  LanguageTarget languageTarget() const override { return nvptx::languageTarget(options_); }
  void registerDialects(mlir::DialectRegistry &registry) const override {
    nvptx::registerLoweringDialects(registry);
    nvptx::registerTranslations(registry);
  }
  std::optional<Error> emit(mlir::ModuleOp module, llvm::ArrayRef<std::string> wanted,
                            const MLIRErrors &errors, KernelImpl &kernel) const override;

private:
  /// From PTX to the image of `code`; where only the driver can assemble, that is the PTX.
  std::optional<Error> assemble(const std::string &ptx, bool cubinWanted, CUDAImage &code,
                                KernelResources &resources) const;
  std::optional<Error> disassemble(const std::string &cubin, KernelImpl &kernel) const;
  /// All but the code itself; tells the kernel what it takes.
  CUDAImage imageOf(nvptx::LoweredKernel lowered, KernelImpl &kernel) const;

  nvptx::NVPTXOptions options_;
  LaunchKind launchKind_;
};

CUDAImage CUDABackEnd::imageOf(nvptx::LoweredKernel lowered, KernelImpl &kernel) const {
  KernelResources &resources = kernel.resources;
  resources.numWarps = static_cast<int>(lowered.numWarps);
  resources.numCtas = static_cast<int>(lowered.numCTAs);
  resources.sharedBytes = lowered.sharedBytes;
  resources.globalScratchBytes = lowered.globalScratchBytes;
  resources.globalScratchAlignment = lowered.globalScratchAlignment;
  CUDAImage image;
  image.name = kernel.name;
  image.numArguments = kernel.parameters.size();
  image.cooperative = launchKind_.cooperative;
  image.programmaticDependent = launchKind_.programmaticDependent;
  image.kernel = std::move(lowered);
  return image;
}

std::optional<Error> CUDABackEnd::emit(mlir::ModuleOp module, llvm::ArrayRef<std::string> wanted,
                                       const MLIRErrors &errors, KernelImpl &kernel) const {
  auto wants = [&](const char *stage) { return llvm::is_contained(wanted, stage); };
  StageClock clock(kernel.times);
  std::optional<nvptx::LoweredKernel> lowered =
      nvptx::lowerToLLVMDialect(module, options_, [&](mlir::ModuleOp tiles) {
        if (wants("ttg"))
          kernel.texts["ttg"] = moduleText(tiles);
      });
  if (!lowered)
    return errors.asError("the kernel cannot be lowered for the GPU");
  clock.finish("lowering");

  std::string failure;
  std::optional<nvptx::EmittedPTX> code = nvptx::emitPTX(module, options_, wants("llvm"), failure);
  if (!code && !errors.message().empty()) // at an operation that the architecture lacks
    return errors.asError("the kernel cannot be compiled for the GPU");
  if (!code)
    return plainError("RuntimeError", "LLVM cannot compile the kernel: " + failure);
  clock.add({{"LLVM translation", code->translateSeconds},
             {"LLVM optimiser", code->optimizeSeconds},
             {"LLVM code generator", code->codegenSeconds}});
  if (wants("llvm"))
    kernel.texts["llvm"] = std::move(code->llvm);

  CUDAImage image = imageOf(std::move(*lowered), kernel);
  if (std::optional<Error> error =
          assemble(code->ptx, wants("cubin") || wants("sass"), image, kernel.resources))
    return error;
  kernel.texts["ptx"] = std::move(code->ptx);
  clock.finish("assembler");
  if (image.noCubin.empty())
    kernel.texts["cubin"] = image.image;
  if (wants("sass"))
    if (std::optional<Error> error = disassemble(image.image, kernel))
      return error;
  kernel.code = std::make_unique<CUDACode>(std::move(image));
  return std::nullopt;
}

std::optional<Error> CUDABackEnd::assemble(const std::string &ptx, bool cubinWanted, CUDAImage &code,
                                           KernelResources &resources) const {
  nvptx::AssembleError failure;
  std::optional<nvptx::AssembledCode> assembled =
      nvptx::assemble(ptx, assemblerOptions(options_), nvptx::ToolSearch(options_.sitePackages), failure);
  if (assembled) {
    if (const nvptx::KernelResources *found = assembled->kernel(code.kernel.entry)) {
      resources.registers = static_cast<int>(found->registers);
      resources.spills = static_cast<int>(std::max(found->spillStores, found->spillLoads) / sizeof(uint32_t));
      resources.sharedBytes += found->sharedBytes;
    }
    code.image = std::move(assembled->cubin);
    return std::nullopt;
  }
  using Kind = nvptx::AssembleError::Kind;
  if (failure.kind == Kind::NoAssembler || failure.kind == Kind::UnsupportedArch) {
    if (cubinWanted)
      return plainError("RuntimeError", failure.message);
    code.noCubin = std::move(failure.message);
    code.image = ptx;
    return std::nullopt;
  }
  std::string log =
      failure.log.empty() || failure.message.find(failure.log) != std::string::npos ? "" : "\n" + failure.log;
  return plainError("PTXASError", failure.message + log);
}

std::optional<Error> CUDABackEnd::disassemble(const std::string &cubin, KernelImpl &kernel) const {
  std::string failure;
  std::optional<std::string> text =
      nvptx::disassemble(cubin, nvptx::ToolSearch(options_.sitePackages), failure);
  if (!text)
    return plainError("RuntimeError", failure);
  kernel.texts["sass"] = std::move(*text);
  return std::nullopt;
}

/// The architecture of the current CUDA device.
std::optional<nvptx::Architecture> deviceArchitecture(Error &error) {
  nvptx::CUDADriver *driver = cudaDriver(error);
  nvptx::CUDAError failure;
  std::optional<nvptx::DeviceProperties> device;
  if (driver)
    device = driver->properties(driver->currentDevice(), failure);
  if (device)
    return nvptx::Architecture::ofDevice(device->major, device->minor);
  if (driver)
    error = errorFrom(failure);
  error = plainError(error.kind, "cannot find out which GPU to compile for; name its architecture, such as "
                                 "\"sm_90a\". " +
                                     error.message);
  return std::nullopt;
}

std::optional<nvptx::Architecture> findArchitecture(const std::string &arch, Error &error) {
  if (arch.empty())
    return deviceArchitecture(error);
  bool isNumber = arch.find_first_not_of("0123456789") == std::string::npos;
  std::string failure;
  std::optional<nvptx::Architecture> parsed =
      nvptx::Architecture::parse(isNumber ? "sm_" + arch : arch, failure);
  if (!parsed)
    error = plainError("ValueError", failure);
  else if (isNumber)
    parsed = nvptx::Architecture::ofDevice(static_cast<int>(parsed->number / 10),
                                           static_cast<int>(parsed->number % 10));
  return parsed;
}

/// None when the options make sense for the architecture.
std::optional<Error> checkOptions(const CompileOptions &options, const nvptx::Architecture &arch) {
  constexpr int maxWarps = maxThreads / warpSize;
  if (options.numWarps > maxWarps)
    return errorFrom(
        nvptx::outOfResources("threads", static_cast<size_t>(options.numWarps) * warpSize, maxThreads));
  bool powerOfTwo = options.numCtas > 0 && (options.numCtas & (options.numCtas - 1)) == 0;
  if (!powerOfTwo || options.numCtas > maxClusterBlocks)
    return plainError("ValueError", "num_ctas must be a power of 2 up to " +
                                        std::to_string(maxClusterBlocks) + ", not " +
                                        std::to_string(options.numCtas));
  if (options.numCtas > 1 && arch.number < firstWithClusters)
    return plainError("ValueError",
                      "num_ctas > 1 needs clusters, which sm_90 brought: set num_ctas=1 for " + arch.name());
  if (options.numStages < 0)
    return plainError("ValueError",
                      "num_stages must not be negative, but it is " + std::to_string(options.numStages));
  if (options.maxRegisters < 0 || options.maxRegisters > maxRegisters)
    return plainError("ValueError", "maxnreg must be between 1 and " + std::to_string(maxRegisters) +
                                        ", or 0 for no limit, not " + std::to_string(options.maxRegisters));
  return std::nullopt;
}

} // namespace

BackEndOr makeCUDABackEnd(const Target &target, const CompileOptions &options) {
  Error error;
  std::optional<nvptx::Architecture> arch = findArchitecture(target.arch, error);
  if (!arch)
    return error;
  if (std::optional<Error> wrong = checkOptions(options, *arch))
    return std::move(*wrong);
  nvptx::NVPTXOptions result;
  result.arch = *arch;
  result.numWarps = static_cast<unsigned>(options.numWarps);
  result.numStages = static_cast<unsigned>(options.numStages);
  result.numCTAs = static_cast<unsigned>(options.numCtas);
  result.maxRegisters = static_cast<unsigned>(options.maxRegisters);
  result.enableFPFusion = options.enableFPFusion;
  result.debug = options.debug;
  result.lineInfo = assemblerOptions(result).lineInfo;
  result.sitePackages = options.sitePackages;
  Target complete{"cuda", arch->name(), warpSize};
  LaunchKind kind{options.cooperativeLaunch, options.programmaticDependentLaunch};
  return std::shared_ptr<const BackEnd>(std::make_shared<CUDABackEnd>(complete, result, kind));
}

} // namespace despina
