//===- BlockSimulator.h - Runs lowered kernels on the host ------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// What the thread emitter writes is ordinary code but for what threads do together: read their index, wait,
// exchange words. Here that code is compiled for the host, each thread of a block is a fiber, and intrinsics
// become calls into a scheduler. A fiber runs until it needs others; who runs next is random, so that a
// barrier that is missing shows in the numbers: shared memory is poisoned before a block starts, and what a
// thread has not written yet stays so for whoever reads it too early.
//
// Clusters, or blocks where there are none, run one after the other; blocks of a cluster run side by side.
// What is not known here is an error, never ignored.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_UNITTESTS_NVPTX_BLOCKSIMULATOR_H
#define DESPINA_UNITTESTS_NVPTX_BLOCKSIMULATOR_H

#include "despina/Target/NVPTX/LoweredKernel.h"

#include "mlir/IR/BuiltinOps.h"

#include <array>
#include <memory>
#include <string>

namespace despina::test {

/// A value of an argument: pointers and integers as they are, floats by their bits.
using SimulatedArgument = uint64_t;
template <typename T> SimulatedArgument argument(T *pointer) { return reinterpret_cast<uint64_t>(pointer); }
inline SimulatedArgument argument(int64_t value) { return static_cast<uint64_t>(value); }

class SimulatedKernel {
public:
  /// From the LLVM dialect, as the thread emitter leaves it. Null and an error for what cannot run here.
  static std::unique_ptr<SimulatedKernel> load(mlir::ModuleOp module, const nvptx::LoweredKernel &lowered,
                                               std::string &error);
  ~SimulatedKernel();

  /// Runs all programs, a cluster each. What went wrong, or an empty text. The seed orders the threads.
  std::string launch(std::array<unsigned, 3> grid, llvm::ArrayRef<SimulatedArgument> arguments,
                     unsigned seed = 1);

private:
  struct Impl;
  explicit SimulatedKernel(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

} // namespace despina::test

#endif // DESPINA_UNITTESTS_NVPTX_BLOCKSIMULATOR_H
