//===- TestPasses.h - Passes that show what analyses find -------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_TOOLS_OPT_TESTPASSES_H
#define DESPINA_TOOLS_OPT_TESTPASSES_H

namespace despina {

/// Registers `test-print-axis-info`, a remark on each operation that has results, and `test-verify-layouts`.
void registerTestPasses();

} // namespace despina

#endif // DESPINA_TOOLS_OPT_TESTPASSES_H
