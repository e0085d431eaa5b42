//===- HostArguments.h - A host's arguments and warnings --------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_API_HOSTARGUMENTS_H
#define DESPINA_API_HOSTARGUMENTS_H

#include "HostAdapter.h"

#include "despina/Lang/CodeGen.h"

namespace despina::host {

/// The front end's arguments of a specialised kernel.
Expected<std::vector<despina::KernelArgument>> convertArguments(HostAdapter &adapter,
                                                                const std::vector<KernelArgument> &args);

void forwardWarning(Resolver &resolver, const Diagnostic &diagnostic);
/// All warnings among the diagnostics.
void forwardWarnings(Resolver &resolver, const Diagnostics &diags);

} // namespace despina::host

#endif // DESPINA_API_HOSTARGUMENTS_H
