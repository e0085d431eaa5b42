//===- TileKernel.h - Emits tile IR and runs it on the host -----*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernels of tests are texts of ttg. Beside everything that the thread emitter knows they may use two ports:
//
//   %tile = builtin.unrealized_conversion_cast %p : !tt.ptr<f32> to tensor<...>
//     reads each register from memory that holds the tile in row-major order
//   %done = builtin.unrealized_conversion_cast %tile, %p : tensor<...>, !tt.ptr<f32> to i1
//     writes every register of every thread, copies included: register r of thread t at t * registers + r,
//     threads of all blocks of the cluster in order
//
// Memory holds i1 as bytes.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_UNITTESTS_NVPTX_TILEKERNEL_H
#define DESPINA_UNITTESTS_NVPTX_TILEKERNEL_H

#include "BlockSimulator.h"

#include "despina/Analysis/LinearLayout.h"

#include "mlir/Pass/PassManager.h"

#include "gtest/gtest.h"

#include <cstring>
#include <functional>
#include <vector>

namespace despina::test {

struct TileKernelOptions {
  unsigned numWarps = 4;
  unsigned numCTAs = 1;
  unsigned capability = 90;
  /// Run on the module before memory is allocated.
  std::function<void(mlir::OpPassManager &)> passes = nullptr;
  /// What a whole kernel must ask for, of each program.
  size_t globalScratchBytes = 0;
};

/// Emits and runs a kernel: `parameters` are types of its arguments p0, p1, ..., `body` its operations.
/// Failures are those of the running test. Returns whether it ran.
bool runTileKernel(const std::string &parameters, const std::string &body,
                   llvm::ArrayRef<SimulatedArgument> arguments, const TileKernelOptions &options = {});

/// Runs a whole kernel of tile IR without layouts, a module's text, through all passes of the target.
bool runKernel(const std::string &text, std::array<unsigned, 3> grid,
               llvm::ArrayRef<SimulatedArgument> arguments, const TileKernelOptions &options = {});

/// tensor<16x32xf32, #ttg.layout<"...">> for a layout of a tile.
std::string tileType(const LinearLayout &layout, const std::string &element);
/// 16x32.
std::string shapeText(const LinearLayout &layout);

/// Where the port for results puts a tile.
template <typename T> struct DumpedTile {
  explicit DumpedTile(const LinearLayout &layout)
      : layout(layout), values(size_t(1) << layout.totalInBits(), T()) {}

  SimulatedArgument argument() { return test::argument(values.data()); }

  /// Checks all registers of all threads against the elements in row-major order.
  void expect(const std::vector<T> &elements) const {
    size_t wrong = 0;
    for (size_t place = 0; place < values.size(); ++place)
      wrong += std::memcmp(&values[place], &elements[layout.applyFlat(place)], sizeof(T)) != 0;
    EXPECT_EQ(wrong, 0u) << "of " << values.size() << " registers, in " << layout.toString();
  }

  LinearLayout layout;
  std::vector<T> values;
};

} // namespace despina::test

#endif // DESPINA_UNITTESTS_NVPTX_TILEKERNEL_H
