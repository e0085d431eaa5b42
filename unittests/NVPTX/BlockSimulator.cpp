//===- BlockSimulator.cpp - Runs lowered kernels on the host --------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Makes code for the host: intrinsics become calls of callOperation with operands and results in memory, as
// words of 32 bits; a wrapper takes arguments from an array.
//
//===----------------------------------------------------------------------===//
#include "BlockSimulator.h"

#include "SimulatedPTX.h"
#include "ThreadBlock.h"
#include "ThreadCalls.h"

#include "despina/Target/NVPTX/PTXEmit.h"

#include "mlir/Target/LLVMIR/Export.h"

#include "llvm/ADT/bit.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/TargetSelect.h"

#include <mutex>

namespace despina::test {

namespace orc = llvm::orc;

struct SimulatedKernel::Impl {
  std::unique_ptr<orc::LLJIT> jit;
  void (*entry)(const uint64_t *) = nullptr;
  nvptx::LoweredKernel lowered;
  /// Of each block of a cluster.
  std::vector<SharedMemory> shared;
};

namespace {

/// Rewrites a module for the host.
class HostRewriter {
public:
  HostRewriter(llvm::Module &module, std::string &error)
      : module(module), b(module.getContext()), error(error) {}

  bool run(const std::string &kernel) {
    llvm::Function *function = module.getFunction(kernel);
    if (!function)
      return fail("there is no kernel " + kernel);
    for (llvm::Function &each : module) {
      each.setCallingConv(llvm::CallingConv::C);
      each.removeFnAttr("target-cpu");
      each.removeFnAttr("target-features");
    }
    if (llvm::GlobalVariable *global = module.getNamedGlobal("despina_shared"))
      replaceSharedMemory(*global);
    return rewriteCalls() && addWrapper(*function);
  }

private:
  bool fail(const std::string &text) {
    error = text;
    return false;
  }

  /// Each thread asks where that of its block is.
  void replaceSharedMemory(llvm::GlobalVariable &global) {
    llvm::convertUsersOfConstantsToInstructions({&global});
    for (llvm::Function &each : module) {
      if (each.isDeclaration())
        continue;
      b.SetInsertPoint(&each.getEntryBlock(), each.getEntryBlock().getFirstInsertionPt());
      llvm::Value *address = b.CreateAddrSpaceCast(
          b.CreateCall(module.getOrInsertFunction(sharedMemoryName, b.getPtrTy())), global.getType());
      global.replaceUsesWithIf(address, [&](llvm::Use &use) {
        auto *user = llvm::dyn_cast<llvm::Instruction>(use.getUser());
        return user && user->getFunction() == &each;
      });
    }
    global.eraseFromParent();
  }

  bool rewriteCalls() {
    llvm::SmallVector<llvm::CallInst *> calls;
    for (llvm::Function &each : module)
      for (llvm::Instruction &instruction : llvm::instructions(each))
        if (auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction))
          calls.push_back(call);
    for (llvm::CallInst *call : calls)
      if (!rewriteCall(*call))
        return false;
    return true;
  }

  bool rewriteCall(llvm::CallInst &call) {
    b.SetInsertPoint(&call);
    if (call.isInlineAsm())
      return expandPTX(b, call, error);
    llvm::Function *callee = call.getCalledFunction();
    if (!callee || !callee->getName().starts_with("llvm.nvvm.")) {
      // Functions of the device library have the names that the C library gives them, behind a prefix.
      if (callee && callee->isDeclaration() && callee->getName().starts_with("__nv_"))
        callee->setName(callee->getName().drop_front(5).str());
      return true;
    }
    for (auto [index, operation] : llvm::enumerate(threadOperations()))
      if (operation.matches(callee->getName())) {
        llvm::SmallVector<llvm::Value *> operands(call.args());
        call.replaceAllUsesWith(callThreads(b, index, operands, call.getType()));
        call.eraseFromParent();
        return true;
      }
    return fail("the simulator does not know " + callee->getName().str());
  }

  /// void entry(const uint64_t *arguments)
  bool addWrapper(llvm::Function &kernel) {
    auto *type = llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy()}, false);
    auto *wrapper =
        llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, "despina_simulated_entry", module);
    b.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "", wrapper));
    llvm::SmallVector<llvm::Value *> arguments;
    for (llvm::Argument &argument : kernel.args()) {
      llvm::Value *slot =
          b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), wrapper->getArg(0), argument.getArgNo());
      arguments.push_back(b.CreateAlignedLoad(argument.getType(), slot, llvm::Align(8)));
    }
    b.CreateCall(&kernel, arguments);
    b.CreateRetVoid();
    return true;
  }

  llvm::Module &module;
  llvm::IRBuilder<> b;
  std::string &error;
};

/// What code for the host calls to round f32 to bf16, which older C libraries lack. A bf16 is returned where
/// a float is, in the low bits.
float roundToBF16(float value) {
  uint32_t bits = llvm::bit_cast<uint32_t>(value);
  bool isNaN = (bits & 0x7fffffff) > 0x7f800000;
  uint32_t rounded = isNaN ? bits >> 16 | 0x40 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return llvm::bit_cast<float>(rounded);
}

std::unique_ptr<orc::LLJIT> makeJIT(std::string &error) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
  });
  // Registers of a thread are many, and the code runs a few times only.
  auto host = orc::JITTargetMachineBuilder::detectHost();
  if (!host) {
    error = llvm::toString(host.takeError());
    return nullptr;
  }
  host->setCodeGenOptLevel(llvm::CodeGenOptLevel::None);
  auto made = orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(*host)).create();
  if (!made) {
    error = llvm::toString(made.takeError());
    return nullptr;
  }
  orc::LLJIT &jit = **made;
  orc::SymbolMap symbols;
  auto define = [&](llvm::StringRef name, auto *function) {
    symbols[jit.mangleAndIntern(name)] = {orc::ExecutorAddr::fromPtr(function),
                                          llvm::JITSymbolFlags::Exported};
  };
  define(threadCallName, &callOperation);
  define(sharedMemoryName, &sharedMemory);
  define("__truncsfbf2", &roundToBF16);
  llvm::cantFail(jit.getMainJITDylib().define(orc::absoluteSymbols(std::move(symbols))));
  // The C library has functions for what code calls besides, such as memcpy and conversions of half floats.
  jit.getMainJITDylib().addGenerator(llvm::cantFail(
      orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(jit.getDataLayout().getGlobalPrefix())));
  return std::move(*made);
}

} // namespace

SimulatedKernel::SimulatedKernel(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
SimulatedKernel::~SimulatedKernel() = default;

std::unique_ptr<SimulatedKernel> SimulatedKernel::load(mlir::ModuleOp module,
                                                       const nvptx::LoweredKernel &lowered,
                                                       std::string &error) {
  auto impl = std::make_unique<Impl>();
  impl->lowered = lowered;
  impl->shared.assign(lowered.numCTAs, SharedMemory(lowered.sharedBytes + 1024));
  impl->jit = makeJIT(error);
  if (!impl->jit)
    return nullptr;
  auto context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> code =
      mlir::translateModuleToLLVMIR(module, *context, "kernel", /*disableVerification=*/true);
  if (!code) {
    error = "the module cannot be translated to LLVM IR";
    return nullptr;
  }
  code->setDataLayout(impl->jit->getDataLayout());
  code->setTargetTriple(impl->jit->getTargetTriple());
  llvm::raw_string_ostream text(error);
  if (llvm::verifyModule(*code, &text) || !HostRewriter(*code, error).run(lowered.entry) ||
      llvm::verifyModule(*code, &text))
    return nullptr;
  if (llvm::Error failed =
          impl->jit->addIRModule(orc::ThreadSafeModule(std::move(code), std::move(context)))) {
    error = llvm::toString(std::move(failed));
    return nullptr;
  }
  auto entry = impl->jit->lookup("despina_simulated_entry");
  if (!entry) {
    error = llvm::toString(entry.takeError());
    return nullptr;
  }
  impl->entry = entry->toPtr<void (*)(const uint64_t *)>();
  return std::unique_ptr<SimulatedKernel>(new SimulatedKernel(std::move(impl)));
}

std::string SimulatedKernel::launch(std::array<unsigned, 3> grid, llvm::ArrayRef<SimulatedArgument> arguments,
                                    unsigned seed) {
  std::mt19937 random(seed);
  size_t alignment = impl->lowered.globalScratchAlignment;
  size_t bytes = impl->lowered.globalScratchBytes * grid[0] * grid[1] * grid[2];
  std::vector<uint8_t> scratch(bytes + alignment, uint8_t(0xcd));
  std::vector<uint64_t> all(arguments.begin(), arguments.end());
  all.push_back(llvm::alignTo(reinterpret_cast<uint64_t>(scratch.data()), alignment));
  unsigned numBlocks = impl->lowered.numCTAs;
  for (unsigned z = 0; z < grid[2]; ++z)
    for (unsigned y = 0; y < grid[1]; ++y)
      for (unsigned x = 0; x < grid[0]; ++x) {
        std::vector<BlockState> blocks;
        for (unsigned rank = 0; rank < numBlocks; ++rank) {
          blocks.push_back({{grid[0] * numBlocks, grid[1], grid[2]},
                            {x * numBlocks + rank, y, z},
                            32 * impl->lowered.numWarps,
                            rank,
                            impl->shared,
                            {}});
          std::fill(impl->shared[rank].begin(), impl->shared[rank].end(), uint8_t(0xcd));
        }
        std::string error = runCluster(blocks, [&] { impl->entry(all.data()); }, random);
        if (!error.empty())
          return error;
      }
  return {};
}

} // namespace despina::test
