//===- Futex.h - Sleeping on a word of memory -------------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_RUNTIME_FUTEX_H
#define DESPINA_RUNTIME_FUTEX_H

#include <atomic>
#include <cstdint>
#include <ctime>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace despina::cpu {

/// Sleeps while `word` holds `expected`; may return early. `nanoseconds` limits the sleep when not 0 (less
/// than a second).
inline void futexWait(std::atomic<uint32_t> &word, uint32_t expected, long nanoseconds = 0) {
  timespec timeout{0, nanoseconds};
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, nanoseconds ? &timeout : nullptr, nullptr, 0);
}

/// Wakes up to `count` sleepers. Only the address is used: the word may be gone already, since all who sleep
/// on a futex expect to be woken without reason.
inline void futexWake(std::atomic<uint32_t> *word, int count) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

/// Tells the core that this is a spin loop.
inline void spinPause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

} // namespace despina::cpu

#endif // DESPINA_RUNTIME_FUTEX_H
