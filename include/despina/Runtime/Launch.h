//===- Launch.h - How a compiled CPU kernel is called -----------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_RUNTIME_LAUNCH_H
#define DESPINA_RUNTIME_LAUNCH_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace despina::cpu {

/// The one entry point of a compiled kernel: runs programs [begin, end) of the grid; x varies fastest.
/// `args` has one 8-byte slot per runtime argument (value in its low bytes, little endian), `grid` the three
/// extents, `scratch` a 64-byte aligned buffer of the kernel's scratch size, private to the calling thread.
using KernelEntry = void (*)(const uint64_t *args, const uint32_t *grid, uint64_t begin, uint64_t end,
                             void *scratch);

/// Result of a launch.
enum class LaunchStatus : uint8_t {
  Ok,
  Interrupted,     ///< `shouldStop` answered true; programs already started were finished
  AssertionFailed, ///< a device_assert failed; programs not yet started were dropped
  OutOfMemory,     ///< no scratch memory; nothing ran
};

/// Runs a grid on the process-wide pool (all cores, the calling thread takes part, dynamic scheduling, tiny
/// grids run on the caller alone). Several threads may launch at once; after fork the child gets a new pool.
/// `shouldStop`, if given, is polled on the calling thread about every 20 ms. A failed assertion's text goes
/// to `failure`.
LaunchStatus launch(KernelEntry entry, const uint64_t *args, const uint32_t grid[3], size_t scratchBytes,
                    bool (*shouldStop)(void *) = nullptr, void *context = nullptr,
                    std::string *failure = nullptr);

/// Threads a launch uses, the caller's included: the cores this process may run on, or DESPINA_NUM_THREADS.
unsigned numThreads();

} // namespace despina::cpu

#endif // DESPINA_RUNTIME_LAUNCH_H
