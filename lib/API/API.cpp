//===- API.cpp - Compiling kernels from C++ -------------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "KernelImpl.h"
#include "despina/host.h"

namespace despina {

const char *version() { return DESPINA_VERSION; }

static Error notYet() { return plainError("NotImplementedError", "compiling is not part of this build yet"); }

Expected<Kernel> compileFile(const std::string &, const std::string &, const std::vector<NamedType> &,
                             const std::vector<NamedConstant> &, const Target &, const CompileOptions &) {
  return notYet();
}
Expected<Kernel> compileText(const std::string &, const std::string &, const std::string &,
                             const std::vector<NamedType> &, const std::vector<NamedConstant> &, const Target &,
                             const CompileOptions &) {
  return notYet();
}
Expected<std::vector<std::string>> listKernels(const std::string &) { return notYet(); }
Expected<std::string> makeStageText(const KernelImpl &, std::string_view) { return notYet(); }

Expected<Kernel> host::compile(const std::shared_ptr<const Function> &, Resolver &, const std::vector<KernelArgument> &,
                               const Target &, const CompileOptions &) {
  return notYet();
}
std::vector<host::BuiltinDoc> host::builtinDocs() { return {}; }

} // namespace despina
