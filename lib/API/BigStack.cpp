//===- BigStack.cpp - Enough stack for a compile --------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "BigStack.h"

#include <cstddef>
#include <cstdint>

#include <pthread.h>

namespace despina {

namespace {

constexpr size_t enoughBytes = size_t(4) << 20, bigStackBytes = size_t(64) << 20;

/// The lowest address of the thread's stack; 0 when unknown. Asked once per thread: for the main thread the
/// answer is read from a file.
uintptr_t stackEnd() {
  thread_local uintptr_t end = [] {
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
      return uintptr_t(0);
    void *lowest = nullptr;
    size_t size = 0;
    int failed = pthread_attr_getstack(&attributes, &lowest, &size);
    pthread_attr_destroy(&attributes);
    return failed ? uintptr_t(0) : reinterpret_cast<uintptr_t>(lowest);
  }();
  return end;
}

bool hasEnoughStack() {
  uintptr_t here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0)), end = stackEnd();
  // Outside its own stack the thread runs on one that somebody else made (a coroutine): assume it is small.
  return end != 0 && here > end && here - end >= enoughBytes;
}

void *callWork(void *work) {
  (*static_cast<llvm::function_ref<void()> *>(work))();
  return nullptr;
}

} // namespace

void runOnBigStack(llvm::function_ref<void()> work) {
  pthread_attr_t attributes;
  pthread_t thread;
  if (hasEnoughStack() || pthread_attr_init(&attributes) != 0)
    return work();
  pthread_attr_setstacksize(&attributes, bigStackBytes);
  bool started = pthread_create(&thread, &attributes, callWork, &work) == 0;
  pthread_attr_destroy(&attributes);
  if (!started)
    return work();
  pthread_join(thread, nullptr);
}

} // namespace despina
