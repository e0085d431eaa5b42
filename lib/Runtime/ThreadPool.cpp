//===- ThreadPool.cpp - The process-wide pool of the CPU target -----------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "ThreadPool.h"

#include "Futex.h"

#include <cstdlib>
#include <thread>

#include <pthread.h>
#include <signal.h>

namespace despina::cpu {

namespace {

/// How long a thread spins before it sleeps: about what a wake-up through the kernel costs.
constexpr std::chrono::microseconds spinTime{10};
/// Sleepers the caller wakes itself; woken workers wake further ones, so that the caller gets to work.
constexpr uint32_t wakeByCaller = 4, wakeByWorker = 2;

thread_local Job *threadJob = nullptr;

/// Sets the job the thread works on for as long as it lives.
class CurrentJob {
public:
  explicit CurrentJob(Job &job) : outer_(threadJob) { threadJob = &job; }
  ~CurrentJob() { threadJob = outer_; }
  CurrentJob(const CurrentJob &) = delete;
  CurrentJob &operator=(const CurrentJob &) = delete;

private:
  Job *outer_;
};

/// Kernels run in the default floating point environment on every thread: a host that flushes denormals must
/// not make results depend on the thread that computed them.
class DefaultFloatEnvironment {
public:
#if defined(__x86_64__)
  DefaultFloatEnvironment() : saved_(__builtin_ia32_stmxcsr()) {
    if ((saved_ & ~statusFlags) != defaultControl)
      __builtin_ia32_ldmxcsr(defaultControl);
  }
  ~DefaultFloatEnvironment() {
    if ((saved_ & ~statusFlags) != defaultControl)
      __builtin_ia32_ldmxcsr(saved_);
  }

private:
  static constexpr unsigned defaultControl = 0x1f80, statusFlags = 0x3f;
  unsigned saved_;
#endif
};

unsigned wantedThreads() {
  unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  if (const char *text = std::getenv("DESPINA_NUM_THREADS")) {
    char *end = nullptr;
    long value = std::strtol(text, &end, 10);
    if (end != text && *end == '\0' && value >= 1)
      threads = static_cast<unsigned>(std::min<long>(value, 4096));
  }
  return threads;
}

/// What a program of a kernel cost the last time, so that small grids need not wake anybody. Kernels share
/// slots by hash; a wrong guess costs time, never correctness.
class CostMemory {
public:
  /// Nanoseconds per program; none when unknown.
  uint64_t recall(KernelEntry entry) const {
    uint64_t slot = slots_[index(entry)].load(std::memory_order_relaxed);
    return (slot >> 32) == tag(entry) ? slot & 0xffffffff : unknown;
  }
  void remember(KernelEntry entry, uint64_t nanoseconds) {
    uint64_t cost = std::min<uint64_t>(std::max<uint64_t>(nanoseconds, 1), 0xfffffffe);
    slots_[index(entry)].store(tag(entry) << 32 | cost, std::memory_order_relaxed);
  }
  static constexpr uint64_t unknown = 0xffffffff;

private:
  static uint64_t bits(KernelEntry entry) { return reinterpret_cast<uint64_t>(entry); }
  static uint64_t tag(KernelEntry entry) { return (bits(entry) >> 4) & 0xffffffff; }
  static size_t index(KernelEntry entry) { return (bits(entry) * 0x9e3779b97f4a7c15ull) >> 54; }
  std::atomic<uint64_t> slots_[1024] = {};
};

CostMemory costs;

/// Memory that grows; what it held is lost then.
class Scratch {
public:
  Scratch() = default;
  Scratch(const Scratch &) = delete;
  Scratch &operator=(const Scratch &) = delete;
  ~Scratch() { std::free(memory_); }
  /// 64-byte aligned; null when there is no memory.
  void *reserve(size_t bytes) {
    constexpr size_t alignment = 64, page = 4096;
    if (bytes_ < bytes || !memory_) {
      std::free(memory_);
      bytes_ = (std::max<size_t>(bytes, 1) + page - 1) / page * page;
      memory_ = std::aligned_alloc(alignment, bytes_);
      if (!memory_)
        bytes_ = 0;
    }
    return memory_;
  }

private:
  void *memory_ = nullptr;
  size_t bytes_ = 0;
};

/// Runs one launch: alone while that promises to be quicker, then with the pool.
class Launcher {
public:
  Launcher(Job &job, void *scratch, bool (*shouldStop)(void *), void *context)
      : job_(job), scratch_(scratch), shouldStop_(shouldStop), context_(context) {}

  void run() {
    if (job_.total == 1) {
      job_.entry(job_.args, job_.grid, 0, 1, scratch_);
      return;
    }
    ThreadPool &pool = ThreadPool::get();
    job_.numThreads = pool.numThreads();
    start_ = lastPoll_ = Clock::now();
    bool alone = job_.numThreads == 1 || costs.recall(job_.entry) * job_.total <= aloneNanoseconds;
    if (alone)
      runRanges(job_, scratch_, [&](Clock::time_point now, uint64_t count) {
        return afterRange(now, count) && (job_.numThreads == 1 || now - start_ < aloneLimit);
      });
    if (!job_.exhausted()) {
      pool.publish(job_);
      runRanges(job_, scratch_,
                [&](Clock::time_point now, uint64_t count) { return afterRange(now, count); });
      pool.finish(job_, shouldStop_ ? std::function<void()>([this] { poll(); }) : nullptr);
    }
    if (programs_ != 0) {
      auto nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(lastRange_ - start_).count();
      costs.remember(job_.entry, static_cast<uint64_t>(nanoseconds) / programs_);
    }
  }

  bool interrupted() const { return interrupted_; }

private:
  static constexpr uint64_t aloneNanoseconds = 15000;
  static constexpr std::chrono::microseconds aloneLimit{20};

  bool afterRange(Clock::time_point now, uint64_t count) {
    programs_ += count;
    lastRange_ = now;
    if (shouldStop_ && now - lastPoll_ >= ThreadPool::pollInterval) {
      poll();
      lastPoll_ = Clock::now();
    }
    return true;
  }
  void poll() {
    if (interrupted_ || !shouldStop_(context_))
      return;
    interrupted_ = true;
    job_.stop.store(true, std::memory_order_relaxed);
  }

  Job &job_;
  void *scratch_;
  bool (*shouldStop_)(void *);
  void *context_;
  Clock::time_point start_, lastPoll_, lastRange_;
  uint64_t programs_ = 0;
  bool interrupted_ = false;
};

} // namespace

Job *currentJob() { return threadJob; }

void *threadScratch(size_t bytes) {
  thread_local Scratch scratch;
  return scratch.reserve(bytes);
}

LaunchStatus launch(KernelEntry entry, const uint64_t *args, const uint32_t grid[3], size_t scratchBytes,
                    bool (*shouldStop)(void *), void *context, std::string *failure) {
  Job job;
  job.entry = entry;
  job.args = args;
  job.grid = grid;
  job.total = uint64_t(grid[0]) * grid[1] * grid[2];
  job.scratchBytes = scratchBytes;
  if (job.total == 0)
    return LaunchStatus::Ok;
  // A launch inside a launch (by a signal handler, while the outer one polls) must leave the outer one's
  // alone.
  Scratch own;
  void *scratch = currentJob() ? own.reserve(scratchBytes) : threadScratch(scratchBytes);
  if (!scratch)
    return LaunchStatus::OutOfMemory;

  CurrentJob current(job);
  DefaultFloatEnvironment environment;
  Launcher launcher(job, scratch, shouldStop, context);
  launcher.run();
  if (job.failed) {
    if (failure)
      *failure = std::move(job.failure);
    return LaunchStatus::AssertionFailed;
  }
  return launcher.interrupted() ? LaunchStatus::Interrupted : LaunchStatus::Ok;
}

unsigned numThreads() { return ThreadPool::get().numThreads(); }

//===----------------------------------------------------------------------===//
// ThreadPool
//===----------------------------------------------------------------------===//

std::atomic<ThreadPool *> ThreadPool::instance{nullptr};

/// Installed while the library is loaded, since a fork may come at any time later.
const bool ThreadPool::forkHandlerInstalled =
    pthread_atfork(nullptr, nullptr, &ThreadPool::forgetInChild) == 0;

/// The child has none of the workers, and its copy of the pool's mutex may be locked for ever.
void ThreadPool::forgetInChild() { instance.store(nullptr, std::memory_order_relaxed); }

ThreadPool &ThreadPool::get() {
  ThreadPool *pool = instance.load(std::memory_order_acquire);
  if (pool)
    return *pool;
  // Never freed: workers use it until the process ends.
  auto *fresh = new ThreadPool;
  if (!instance.compare_exchange_strong(pool, fresh, std::memory_order_acq_rel)) {
    delete fresh;
    return *pool;
  }
  fresh->startWorkers();
  return *fresh;
}

void ThreadPool::startWorkers() {
  unsigned wanted = wantedThreads() - 1;
  if (wanted == 0)
    return;
  // Signals belong to the host's threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, size_t(8) << 20);
  for (unsigned i = 0; i < wanted; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, &attributes, workerMain, this) != 0)
      break;
    pthread_setname_np(thread, "despina");
    numWorkers_.fetch_add(1, std::memory_order_relaxed);
  }
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void *ThreadPool::workerMain(void *pool) {
  static_cast<ThreadPool *>(pool)->work();
  return nullptr;
}

void ThreadPool::work() {
  for (;;) {
    uint32_t seen = signal_.load();
    if (Job *job = takeJob()) {
      CurrentJob current(*job);
      if (void *scratch = threadScratch(job->scratchBytes))
        runRanges(*job, scratch, [](Clock::time_point, uint64_t) { return true; });
      leave(*job);
      continue;
    }
    auto giveUp = Clock::now() + spinTime;
    while (signal_.load(std::memory_order_relaxed) == seen && Clock::now() < giveUp)
      spinPause();
    // A publisher counts first and looks for sleepers afterwards, a worker the other way round: one of the
    // two sees the other.
    sleepers_.fetch_add(1);
    futexWait(signal_, seen);
    sleepers_.fetch_sub(1);
  }
}

/// The job with the fewest helpers that has programs left, entered; or null.
Job *ThreadPool::takeJob() {
  Job *best = nullptr;
  uint64_t left = 0;
  {
    std::lock_guard lock(mutex_);
    for (Job *job = jobs_; job; job = job->following)
      if (!job->exhausted() && (!best || job->helpers.load(std::memory_order_relaxed) <
                                             best->helpers.load(std::memory_order_relaxed)))
        best = job;
    if (!best)
      return nullptr;
    best->helpers.fetch_add(1, std::memory_order_relaxed);
    left = best->total - std::min(best->total, best->next.load(std::memory_order_relaxed));
  }
  if (left > 1)
    wakeSleepers(static_cast<uint32_t>(std::min<uint64_t>(left - 1, wakeByWorker)));
  return best;
}

/// The job may be gone as soon as the count has gone down.
void ThreadPool::leave(Job &job) {
  std::atomic<uint32_t> *helpers = &job.helpers;
  if (helpers->fetch_sub(1, std::memory_order_acq_rel) == (Job::ownerSleeps | 1))
    futexWake(helpers, 1);
}

void ThreadPool::wakeSleepers(uint32_t atMost) {
  uint32_t count = std::min(sleepers_.load(), atMost);
  if (count != 0)
    futexWake(&signal_, static_cast<int>(count));
}

void ThreadPool::publish(Job &job) {
  {
    std::lock_guard lock(mutex_);
    job.following = jobs_;
    if (jobs_)
      jobs_->previous = &job;
    jobs_ = &job;
  }
  signal_.fetch_add(1);
  wakeSleepers(static_cast<uint32_t>(std::min<uint64_t>(job.total - 1, wakeByCaller)));
}

void ThreadPool::finish(Job &job, const std::function<void()> &poll) {
  {
    std::lock_guard lock(mutex_);
    (job.previous ? job.previous->following : jobs_) = job.following;
    if (job.following)
      job.following->previous = job.previous;
  }
  auto giveUp = Clock::now() + spinTime;
  while (job.helpers.load(std::memory_order_acquire) != 0 && Clock::now() < giveUp)
    spinPause();
  if (job.helpers.load(std::memory_order_acquire) == 0)
    return;
  job.helpers.fetch_or(Job::ownerSleeps, std::memory_order_acq_rel);
  long timeout = poll ? std::chrono::nanoseconds(pollInterval).count() : 0;
  for (;;) {
    uint32_t value = job.helpers.load(std::memory_order_acquire);
    if (value == Job::ownerSleeps)
      return;
    futexWait(job.helpers, value, timeout);
    if (poll)
      poll();
  }
}

} // namespace despina::cpu
