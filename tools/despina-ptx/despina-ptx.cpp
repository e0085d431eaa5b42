//===- despina-ptx.cpp - LLVM-dialect modules to PTX ----------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// For tests: shows what code emission makes of a module.
//
//===----------------------------------------------------------------------===//
#include "despina/Target/NVPTX/PTXEmit.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace despina::nvptx;
namespace cl = llvm::cl;

namespace {

enum class Stage { LLVM, PTX, Cubin };

cl::OptionCategory category("despina-ptx");
cl::opt<std::string> input(cl::Positional, cl::desc("<file>"), cl::init("-"), cl::cat(category));
cl::opt<std::string> output("o", cl::desc("output file"), cl::init("-"), cl::cat(category));
cl::opt<std::string> arch("arch", cl::desc("architecture"), cl::init("sm_90a"), cl::cat(category));
cl::opt<unsigned> ptxVersion("ptx-version", cl::desc("version of PTX times 10"), cl::init(0),
                             cl::cat(category));
cl::opt<bool> fpFusion("fp-fusion", cl::desc("fuse multiplications and additions"), cl::init(true),
                       cl::cat(category));
cl::opt<bool> useLibdevice("libdevice", cl::desc("use NVIDIA's libdevice where it is found"), cl::init(true),
                           cl::cat(category));
cl::opt<bool> lineInfo("line-info", cl::desc("write lines of the program"), cl::cat(category));
cl::opt<bool> times("times", cl::desc("print the time of each step"), cl::cat(category));
cl::opt<Stage> stage(cl::desc("what to write:"),
                     cl::values(clEnumValN(Stage::LLVM, "llvm", "optimised LLVM IR"),
                                clEnumValN(Stage::PTX, "ptx", "PTX, the default"),
                                clEnumValN(Stage::Cubin, "cubin", "a cubin")),
                     cl::init(Stage::PTX), cl::cat(category));

bool fail(const std::string &message) {
  llvm::errs() << "error: " << message << "\n";
  return false;
}

bool makeCubin(const std::string &ptx, std::string &text) {
  AssembleOptions options;
  options.arch = arch;
  options.fpFusion = fpFusion;
  AssembleError error;
  std::optional<AssembledCode> code = assemble(ptx, options, ToolSearch(), error);
  if (!code)
    return fail(error.message + (error.log.empty() ? "" : "\n" + error.log));
  for (const std::string &warning : code->warnings)
    llvm::errs() << warning << "\n";
  text = code->cubin;
  return true;
}

bool makeText(mlir::ModuleOp module, std::string &text) {
  NVPTXOptions options;
  std::string error;
  std::optional<Architecture> parsed = Architecture::parse(arch, error);
  if (!parsed)
    return fail(error);
  options.arch = *parsed;
  options.ptxVersion = ptxVersion;
  options.enableFPFusion = fpFusion;
  options.useLibdevice = useLibdevice;
  options.lineInfo = lineInfo;
  std::optional<EmittedPTX> emitted = emitPTX(module, options, stage == Stage::LLVM, error);
  if (!emitted)
    return fail(error);
  if (times)
    llvm::errs() << llvm::format("translate %.2f ms, optimize %.2f ms, codegen %.2f ms\n",
                                 emitted->translateSeconds * 1e3, emitted->optimizeSeconds * 1e3,
                                 emitted->codegenSeconds * 1e3);
  if (stage == Stage::Cubin)
    return makeCubin(emitted->ptx, text);
  text = stage == Stage::LLVM ? emitted->llvm : emitted->ptx;
  return true;
}

bool run() {
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> file = mlir::openInputFile(input, &error);
  if (!file)
    return fail(error);
  mlir::DialectRegistry registry;
  registry.insert<mlir::LLVM::LLVMDialect, mlir::NVVM::NVVMDialect>();
  registerTranslations(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  mlir::SourceMgrDiagnosticHandler handler(sources, &context);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceFile<mlir::ModuleOp>(sources, &context);
  std::string text;
  if (!module || !makeText(*module, text))
    return false;
  std::unique_ptr<llvm::ToolOutputFile> out = mlir::openOutputFile(output, &error);
  if (!out)
    return fail(error);
  out->os() << text;
  out->keep();
  return true;
}

} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "From LLVM-dialect modules to PTX\n");
  return run() ? 0 : 1;
}
