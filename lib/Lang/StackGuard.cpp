//===- StackGuard.cpp - Reports deep nesting before the stack ends --------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "StackGuard.h"

#include <algorithm>
#if defined(__linux__)
#include <pthread.h>
#endif

using namespace despina;

namespace {

/// Kept free for what a step calls: the builder, the verifier, rendering a diagnostic.
constexpr uintptr_t kReserve = 96 << 10;
/// Used where the bounds are unknown, or on a fiber: half of the smallest stack we support.
constexpr uintptr_t kAssumed = 256 << 10;
/// Bounds the use of very large stacks, where the limit is not memory but patience.
constexpr uintptr_t kMostUse = uintptr_t(64) << 20;

struct Bounds {
  uintptr_t low = 0, high = 0;
};

Bounds queryBounds() {
  Bounds bounds;
#if defined(__linux__)
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    void *low = nullptr;
    size_t size = 0;
    if (pthread_attr_getstack(&attributes, &low, &size) == 0) {
      bounds.low = reinterpret_cast<uintptr_t>(low);
      bounds.high = bounds.low + size;
    }
    pthread_attr_destroy(&attributes);
  }
#endif
  return bounds;
}

} // namespace

StackGuard::StackGuard() {
  static thread_local const Bounds bounds = queryBounds();
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  const bool known = bounds.low < here && here < bounds.high;
  if (!known) {
    limit_ = here > kAssumed ? here - kAssumed : 0;
    return;
  }
  limit_ = bounds.low + kReserve;
  if (here > kMostUse)
    limit_ = std::max(limit_, here - kMostUse);
}
