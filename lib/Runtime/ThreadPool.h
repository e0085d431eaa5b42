//===- ThreadPool.h - The process-wide pool of the CPU target ---*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Every launch is a job on its caller's stack. Jobs that may need help stand in one list; workers help the
// job with the fewest helpers. A program range is taken with one atomic addition, so uneven programs balance.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_RUNTIME_THREADPOOL_H
#define DESPINA_RUNTIME_THREADPOOL_H

#include "despina/Runtime/Launch.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>

namespace despina::cpu {

using Clock = std::chrono::steady_clock;

/// The state of one launch.
struct Job {
  KernelEntry entry = nullptr;
  const uint64_t *args = nullptr;
  const uint32_t *grid = nullptr;
  uint64_t total = 0;
  size_t scratchBytes = 0;
  unsigned numThreads = 1;

  /// The first program nobody has taken. May run past `total`.
  alignas(64) std::atomic<uint64_t> next{0};
  /// Set to drop the programs not yet started.
  std::atomic<bool> stop{false};

  /// Workers inside the job; `ownerSleeps` is added when the owner waits in the kernel for the last to leave.
  static constexpr uint32_t ownerSleeps = uint32_t(1) << 31;
  alignas(64) std::atomic<uint32_t> helpers{0};

  /// The first failed assertion.
  std::mutex failureMutex;
  std::string failure;
  bool failed = false;

  /// Neighbours in the pool's list; guarded by its mutex.
  Job *previous = nullptr, *following = nullptr;

  bool exhausted() const {
    return stop.load(std::memory_order_relaxed) || next.load(std::memory_order_relaxed) >= total;
  }
};

/// The job the thread is working on, for functions that kernels call.
Job *currentJob();

/// Takes ranges of programs and runs them until none is left or `afterRange`, called with the time after each
/// range, answers false. Ranges grow until one takes more than 0.1 ms: few enough atomic operations, and
/// short enough to balance and to poll.
template <typename AfterRange> void runRanges(Job &job, void *scratch, AfterRange afterRange) {
  constexpr std::chrono::microseconds growBelow(100), shrinkAbove(1000);
  uint64_t size = 1;
  auto start = Clock::now();
  while (!job.exhausted()) {
    uint64_t left = job.total - std::min(job.total, job.next.load(std::memory_order_relaxed));
    // Never more than a share that leaves the others enough to do.
    size = std::max<uint64_t>(1, std::min(size, left / (2 * uint64_t(job.numThreads))));
    uint64_t begin = job.next.fetch_add(size, std::memory_order_relaxed);
    if (begin >= job.total)
      return;
    uint64_t end = std::min(job.total, begin + size);
    job.entry(job.args, job.grid, begin, end, scratch);
    auto now = Clock::now();
    if (now - start < growBelow)
      size *= 2;
    else if (now - start > shrinkAbove)
      size /= 2;
    start = now;
    if (!afterRange(now, end - begin))
      return;
  }
}

class ThreadPool {
public:
  /// The pool of this process. Made on the first call, and again in the child after a fork.
  static ThreadPool &get();

  /// Workers and the caller.
  unsigned numThreads() const { return numWorkers_.load(std::memory_order_relaxed) + 1; }

  /// Lets workers help.
  void publish(Job &job);
  /// Ends the help and waits until the last worker has left the job. `poll` is called about every
  /// `pollInterval` meanwhile, if given.
  void finish(Job &job, const std::function<void()> &poll);

  static constexpr std::chrono::milliseconds pollInterval{20};

private:
  ThreadPool() = default;
  void startWorkers();
  static void *workerMain(void *pool);
  void work();
  Job *takeJob();
  static void leave(Job &job);
  void wakeSleepers(uint32_t atMost);
  static void forgetInChild();

  static std::atomic<ThreadPool *> instance;
  static const bool forkHandlerInstalled;

  std::mutex mutex_;
  Job *jobs_ = nullptr;
  std::atomic<unsigned> numWorkers_{0};
  /// Counts published jobs; workers sleep on it.
  alignas(64) std::atomic<uint32_t> signal_{0};
  std::atomic<uint32_t> sleepers_{0};
};

/// The thread's scratch memory: 64-byte aligned, at least `bytes` long, kept until the thread ends. Null when
/// there is no memory.
void *threadScratch(size_t bytes);

} // namespace despina::cpu

#endif // DESPINA_RUNTIME_THREADPOOL_H
