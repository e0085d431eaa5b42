//===- SimulatedTMA.h - Bulk copies on simulated threads --------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_UNITTESTS_NVPTX_SIMULATEDTMA_H
#define DESPINA_UNITTESTS_NVPTX_SIMULATEDTMA_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>

namespace despina::test {

/// An instruction about tensor maps, bulk copies or barriers in memory.
struct BulkInstruction {
  /// Of threadOperations(); empty where nothing is to be done.
  std::string operation;
  /// What its name says, as operands before those of the text.
  llvm::SmallVector<uint64_t, 2> numbers;
};
/// None for other instructions.
std::optional<BulkInstruction> readBulkInstruction(llvm::StringRef opcode);

} // namespace despina::test

#endif // DESPINA_UNITTESTS_NVPTX_SIMULATEDTMA_H
