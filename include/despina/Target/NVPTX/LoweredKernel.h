//===- LoweredKernel.h - What a launch must know of a kernel ----*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Parameters of the kernel function, in this order:
//   1. the kernel's run-time arguments, one each (pointers: 64-bit addresses in global memory);
//   2. one tensor map (128 bytes by value, aligned to 64) for each entry of `tensorMaps`;
//   3. the address of global scratch memory: `globalScratchBytes` for each block of the grid.
// The third is always there, even if nothing is used.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_TARGET_NVPTX_LOWEREDKERNEL_H
#define DESPINA_TARGET_NVPTX_LOWEREDKERNEL_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace despina::nvptx {

/// A number that the host knows at launch: an argument of the kernel or a constant.
struct LaunchValue {
  std::optional<unsigned> argument; ///< index among the run-time arguments
  int64_t constant = 0;             ///< where there is no argument
};

/// How the host makes a tensor map (a CUtensorMap) for a launch: the fields are those of
/// cuTensorMapEncodeTiled. Lists go from the innermost dimension outwards.
struct TensorMapRecipe {
  LaunchValue base;                 ///< global address, a multiple of 16
  std::vector<LaunchValue> extents; ///< in elements
  std::vector<LaunchValue> strides; ///< in elements, one for each dimension; the first is 1
  std::vector<unsigned> box;        ///< in elements, each at most 256
  unsigned elementBytes = 2;
  unsigned dataType = 0;       ///< CUtensorMapDataType
  unsigned swizzleBytes = 128; ///< 0, 32, 64 or 128
  bool nanFill = false;        ///< out of bounds reads give NaN instead of 0
};

struct LoweredKernel {
  std::string entry;
  unsigned numWarps = 4;  ///< of a block as launched
  unsigned numCTAs = 1;   ///< blocks of a cluster
  size_t sharedBytes = 0; ///< dynamic shared memory of a block
  std::vector<TensorMapRecipe> tensorMaps;
  size_t globalScratchBytes = 0; ///< for each block of the grid
  size_t globalScratchAlignment = 1;
};

} // namespace despina::nvptx

#endif // DESPINA_TARGET_NVPTX_LOWEREDKERNEL_H
