//===- API.cpp - Compiling kernels from C++ -------------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "Compile.h"
#include "Errors.h"

namespace despina {

const char *version() { return DESPINA_VERSION; }

static Error notYet() { return plainError("NotImplementedError", "reading files is not part of this build yet"); }

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

} // namespace despina
