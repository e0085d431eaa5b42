//===- JIT.cpp - Loads an object into the process -------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Each kernel has a linking session of its own: threads that compile at the same time share no lock, and a
// kernel's memory goes when it goes.
//
//===----------------------------------------------------------------------===//

#include "despina/Target/CPU/JIT.h"

#include "despina/Runtime/DeviceFunctions.h"
#include "despina/Runtime/Support.h"

#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/Core.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h"
#include "llvm/ExecutionEngine/Orc/TaskDispatch.h"
#include "llvm/Support/MemoryBuffer.h"

namespace despina::cpu {

namespace orc = llvm::orc;

struct LoadedCode::Session {
  explicit Session(std::unique_ptr<orc::ExecutorProcessControl> control)
      : session(std::move(control)), layer(session) {}
  ~Session() { llvm::consumeError(session.endSession()); }

  orc::ExecutionSession session;
  orc::ObjectLinkingLayer layer;
  std::string errors;
};

namespace {

orc::SymbolMap runtimeSymbolMap(orc::ExecutionSession &session) {
  size_t count = 0;
  const RuntimeSymbol *symbols = runtimeSymbols(count);
  orc::SymbolMap map;
  for (const RuntimeSymbol &symbol : llvm::ArrayRef(symbols, count))
    map[session.intern(symbol.name)] = {orc::ExecutorAddr::fromPtr(symbol.address),
                                        llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  return map;
}

/// Finds the functions of a device's math library when code names them: most kernels name none, and there are
/// hundreds.
class DeviceFunctionGenerator : public orc::DefinitionGenerator {
public:
  llvm::Error tryToGenerate(orc::LookupState &, orc::LookupKind, orc::JITDylib &library,
                            orc::JITDylibLookupFlags, const orc::SymbolLookupSet &symbols) override {
    orc::SymbolMap found;
    for (const auto &[name, flags] : symbols)
      if (const DeviceFunction *function = findDeviceFunction(*name))
        found[name] = {orc::ExecutorAddr::fromPtr(function->address),
                       llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
    return found.empty() ? llvm::Error::success() : library.define(orc::absoluteSymbols(std::move(found)));
  }
};

} // namespace

LoadedCode::LoadedCode() = default;
LoadedCode::~LoadedCode() = default;

std::unique_ptr<LoadedCode> LoadedCode::load(llvm::StringRef object, llvm::StringRef entry,
                                             std::string &error) {
  auto fail = [&](llvm::Error failure) {
    error = llvm::toString(std::move(failure));
    return nullptr;
  };
  auto control =
      orc::SelfExecutorProcessControl::Create(nullptr, std::make_unique<orc::InPlaceTaskDispatcher>());
  if (!control)
    return fail(control.takeError());

  std::unique_ptr<LoadedCode> code(new LoadedCode);
  code->session_ = std::make_unique<Session>(std::move(*control));
  Session &session = *code->session_;
  session.session.setErrorReporter([&session](llvm::Error failure) {
    session.errors += (session.errors.empty() ? "" : "\n") + llvm::toString(std::move(failure));
  });
  orc::JITDylib &library = session.session.createBareJITDylib("kernel");
  if (llvm::Error failure = library.define(orc::absoluteSymbols(runtimeSymbolMap(session.session))))
    return fail(std::move(failure));
  library.addGenerator(std::make_unique<DeviceFunctionGenerator>());
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(object, "kernel");
  if (llvm::Error failure = session.layer.add(library, std::move(buffer)))
    return fail(std::move(failure));
  auto symbol = session.session.lookup({&library}, entry);
  if (!symbol) {
    std::string text = llvm::toString(symbol.takeError());
    error = session.errors.empty() ? text : session.errors;
    return nullptr;
  }
  code->entry_ = symbol->getAddress().toPtr<KernelEntry>();
  return code;
}

} // namespace despina::cpu
