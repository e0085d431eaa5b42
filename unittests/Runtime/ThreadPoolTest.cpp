//===- ThreadPoolTest.cpp - Launching on the pool -------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "despina/Runtime/Launch.h"
#include "despina/Runtime/Support.h"

#include "gtest/gtest.h"

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>
#include <xmmintrin.h>

using namespace despina::cpu;

// One test asks for more memory than there is, and others fork: sanitizers must allow both.
extern "C" const char *__asan_default_options() { return "allocator_may_return_null=1"; }
extern "C" const char *__tsan_default_options() { return "allocator_may_return_null=1:die_after_fork=0"; }

namespace {

using Counters = std::vector<std::atomic<uint32_t>>;

/// Counts each program once in the counters that argument 0 points to.
void countPrograms(const uint64_t *args, const uint32_t *, uint64_t begin, uint64_t end, void *) {
  auto *counters = reinterpret_cast<std::atomic<uint32_t> *>(args[0]);
  for (uint64_t i = begin; i < end; ++i)
    counters[i].fetch_add(1, std::memory_order_relaxed);
}

/// The number of programs that did not run exactly `times` times.
size_t wrongCounts(const Counters &counters, uint32_t times) {
  size_t wrong = 0;
  for (const std::atomic<uint32_t> &counter : counters)
    wrong += counter.load() != times;
  return wrong;
}

size_t launchAndCheck(const uint32_t (&grid)[3]) {
  Counters counters(size_t(grid[0]) * grid[1] * grid[2]);
  uint64_t args[] = {reinterpret_cast<uint64_t>(counters.data())};
  if (launch(countPrograms, args, grid, 0) != LaunchStatus::Ok)
    return ~size_t(0);
  return wrongCounts(counters, 1);
}

void spinFor(std::chrono::nanoseconds time) {
  auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

TEST(ThreadPool, RunsEveryProgramOnce) {
  EXPECT_EQ(launchAndCheck({1, 1, 1}), 0u);
  EXPECT_EQ(launchAndCheck({2, 1, 1}), 0u);
  EXPECT_EQ(launchAndCheck({7, 5, 3}), 0u);
  EXPECT_EQ(launchAndCheck({1, 1, 1009}), 0u);
  EXPECT_EQ(launchAndCheck({1000003, 1, 1}), 0u);
}

TEST(ThreadPool, RunsNothingForAnEmptyGrid) {
  auto fail = [](const uint64_t *, const uint32_t *, uint64_t, uint64_t, void *) { FAIL(); };
  const uint32_t grid[3] = {5, 0, 7};
  EXPECT_EQ(launch(fail, nullptr, grid, 0), LaunchStatus::Ok);
}

TEST(ThreadPool, HandsTheGridThrough) {
  auto check = [](const uint64_t *args, const uint32_t *grid, uint64_t begin, uint64_t end, void *) {
    if (grid[0] == 3 && grid[1] == 5 && grid[2] == 7 && begin < end && end <= 105)
      reinterpret_cast<std::atomic<uint64_t> *>(args[0])->fetch_add(end - begin);
  };
  std::atomic<uint64_t> programs{0};
  uint64_t args[] = {reinterpret_cast<uint64_t>(&programs)};
  const uint32_t grid[3] = {3, 5, 7};
  EXPECT_EQ(launch(check, args, grid, 0), LaunchStatus::Ok);
  EXPECT_EQ(programs.load(), 105u);
}

/// Counts the threads that run programs; each program waits until there are two, for at most a minute.
void meetAnotherThread(const uint64_t *args, const uint32_t *, uint64_t, uint64_t, void *) {
  auto *threads = reinterpret_cast<std::atomic<int> *>(args[0]);
  // The number of the launch, not the counter's address: the next launch has its counter in the same place.
  thread_local uint64_t counted = 0;
  if (counted != args[1])
    threads->fetch_add(1);
  counted = args[1];
  auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (threads->load() < 2 && std::chrono::steady_clock::now() < end)
    std::this_thread::yield();
}

TEST(ThreadPool, SharesAGridBetweenThreads) {
  if (numThreads() == 1)
    GTEST_SKIP() << "one core only";
  std::atomic<int> threads{0};
  static uint64_t launches = 0;
  uint64_t args[] = {reinterpret_cast<uint64_t>(&threads), ++launches};
  const uint32_t grid[3] = {2, 1, 1};
  ASSERT_EQ(launch(meetAnotherThread, args, grid, 0), LaunchStatus::Ok);
  EXPECT_EQ(threads.load(), 2);
}

/// Fills the scratch memory with a pattern of the program, waits, and checks it.
void useScratch(const uint64_t *args, const uint32_t *, uint64_t begin, uint64_t end, void *scratch) {
  auto *errors = reinterpret_cast<std::atomic<uint32_t> *>(args[0]);
  auto *bytes = static_cast<unsigned char *>(scratch);
  if (reinterpret_cast<uintptr_t>(scratch) % 64 != 0)
    errors->fetch_add(1);
  for (uint64_t i = begin; i < end; ++i) {
    std::memset(bytes, static_cast<int>(i & 0xff), args[1]);
    spinFor(std::chrono::microseconds(5));
    for (uint64_t byte = 0; byte < args[1]; ++byte)
      if (bytes[byte] != (i & 0xff))
        errors->fetch_add(1);
  }
}

TEST(ThreadPool, GivesEachThreadItsOwnScratch) {
  for (uint64_t bytes : {1, 100, 70000, 33}) {
    std::atomic<uint32_t> errors{0};
    uint64_t args[] = {reinterpret_cast<uint64_t>(&errors), bytes};
    const uint32_t grid[3] = {100, 2, 1};
    ASSERT_EQ(launch(useScratch, args, grid, bytes), LaunchStatus::Ok);
    EXPECT_EQ(errors.load(), 0u) << bytes;
  }
}

TEST(ThreadPool, ReportsThatThereIsNoMemory) {
  auto fail = [](const uint64_t *, const uint32_t *, uint64_t, uint64_t, void *) { FAIL(); };
  const uint32_t grid[3] = {2, 1, 1};
  EXPECT_EQ(launch(fail, nullptr, grid, size_t(1) << 60), LaunchStatus::OutOfMemory);
  EXPECT_EQ(launchAndCheck({10, 1, 1}), 0u);
}

TEST(ThreadPool, ServesManyThreadsAtOnce) {
  std::atomic<size_t> wrong{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 16; ++t)
    threads.emplace_back([&, t] {
      for (uint32_t i = 0; i < 30; ++i)
        wrong += launchAndCheck({1 + (t * 37 + i * 101) % 3000, 1 + i % 3, 1});
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong.load(), 0u);
}

/// Launches in a child and gives its exit status.
int launchInChild() {
  pid_t child = fork();
  if (child == 0) {
    alarm(60); // a child that hangs must not hang the test
    _exit(launchAndCheck({20011, 3, 1}) == 0 && launchAndCheck({1, 1, 1}) == 0 ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

TEST(ThreadPool, WorksInAForkedChild) {
  EXPECT_EQ(launchAndCheck({20011, 1, 1}), 0u);
  EXPECT_EQ(launchInChild(), 0);
  EXPECT_EQ(launchAndCheck({20011, 1, 1}), 0u);
}

TEST(ThreadPool, WorksInAChildForkedWhileOthersLaunch) {
  std::atomic<bool> done{false};
  std::atomic<size_t> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      while (!done)
        wrong += launchAndCheck({1013, 1, 1});
    });
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(launchInChild(), 0);
  done = true;
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong.load(), 0u);
}

void sleepAndCount(const uint64_t *args, const uint32_t *, uint64_t begin, uint64_t end, void *) {
  for (uint64_t i = begin; i < end; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    reinterpret_cast<std::atomic<uint64_t> *>(args[0])->fetch_add(1);
  }
}

TEST(ThreadPool, StopsWhenAsked) {
  std::atomic<uint64_t> programs{0};
  int polls = 0;
  uint64_t args[] = {reinterpret_cast<uint64_t>(&programs)};
  const uint32_t grid[3] = {100000, 1, 1};
  auto start = std::chrono::steady_clock::now();
  LaunchStatus status = launch(
      sleepAndCount, args, grid, 0, [](void *context) { return ++*static_cast<int *>(context) == 3; },
      &polls);
  EXPECT_EQ(status, LaunchStatus::Interrupted);
  EXPECT_EQ(polls, 3);
  // All of it would take 100 s of one core.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  uint64_t atReturn = programs.load();
  EXPECT_GT(atReturn, 0u);
  EXPECT_LT(atReturn, 100000u);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(programs.load(), atReturn) << "a program ran after the launch had returned";
}

TEST(ThreadPool, PollsOnTheCallingThread) {
  std::atomic<uint64_t> programs{0};
  uint64_t args[] = {reinterpret_cast<uint64_t>(&programs)};
  std::thread::id caller = std::this_thread::get_id();
  struct State {
    std::thread::id caller;
    int polls = 0, elsewhere = 0;
  } state{caller, 0, 0};
  const uint32_t grid[3] = {200 * numThreads(), 1, 1};
  LaunchStatus status = launch(
      sleepAndCount, args, grid, 0,
      [](void *context) {
        auto *state = static_cast<State *>(context);
        ++state->polls;
        state->elsewhere += std::this_thread::get_id() != state->caller;
        return false;
      },
      &state);
  EXPECT_EQ(status, LaunchStatus::Ok);
  EXPECT_EQ(programs.load(), 200u * numThreads());
  EXPECT_GE(state.polls, 1);
  EXPECT_EQ(state.elsewhere, 0);
}

/// Stores where the scratch memory of the calling thread's programs is.
void noteScratch(const uint64_t *args, const uint32_t *, uint64_t, uint64_t, void *scratch) {
  if (std::this_thread::get_id() == *reinterpret_cast<std::thread::id *>(args[1]))
    *reinterpret_cast<void **>(args[0]) = scratch;
  std::memset(scratch, 1, 64);
  spinFor(std::chrono::milliseconds(1));
}

TEST(ThreadPool, KeepsTheScratchOfAnOuterLaunch) {
  std::thread::id caller = std::this_thread::get_id();
  struct State {
    void *outer = nullptr, *inner = nullptr;
    std::thread::id *caller;
  } state{nullptr, nullptr, &caller};
  uint64_t args[] = {reinterpret_cast<uint64_t>(&state.outer), reinterpret_cast<uint64_t>(&caller)};
  const uint32_t grid[3] = {100 * numThreads(), 1, 1};
  LaunchStatus status = launch(
      noteScratch, args, grid, 64,
      [](void *context) {
        auto *state = static_cast<State *>(context);
        uint64_t args[] = {reinterpret_cast<uint64_t>(&state->inner),
                           reinterpret_cast<uint64_t>(state->caller)};
        const uint32_t one[3] = {1, 1, 1};
        EXPECT_EQ(launch(noteScratch, args, one, 64), LaunchStatus::Ok);
        return false;
      },
      &state);
  EXPECT_EQ(status, LaunchStatus::Ok);
  EXPECT_NE(state.outer, nullptr);
  EXPECT_NE(state.inner, nullptr);
  EXPECT_NE(state.inner, state.outer);
}

TEST(ThreadPool, ReportsAFailedAssertion) {
  auto entry = [](const uint64_t *, const uint32_t *, uint64_t begin, uint64_t end, void *) {
    for (uint64_t i = begin; i < end; ++i)
      if (i == 77)
        despina_rt_assert(77, 0, 0, "x must be positive");
  };
  std::string failure;
  const uint32_t grid[3] = {1000, 1, 1};
  EXPECT_EQ(launch(entry, nullptr, grid, 0, nullptr, nullptr, &failure), LaunchStatus::AssertionFailed);
  EXPECT_EQ(failure, "pid (77, 0, 0): x must be positive");
  EXPECT_EQ(launchAndCheck({100, 1, 1}), 0u) << "a failure must not outlive its launch";
}

TEST(ThreadPool, RunsProgramsInTheDefaultFloatEnvironment) {
  auto entry = [](const uint64_t *args, const uint32_t *, uint64_t begin, uint64_t end, void *) {
    volatile float tiny = 1e-38f;
    for (uint64_t i = begin; i < end; ++i)
      reinterpret_cast<float *>(args[0])[i] = tiny / 16;
  };
  std::vector<float> out(50000, -1.0f);
  uint64_t args[] = {reinterpret_cast<uint64_t>(out.data())};
  const uint32_t grid[3] = {50000, 1, 1};
  unsigned before = _mm_getcsr();
  unsigned flushing = before | 0x8040; // flush to zero, denormals are zero
  _mm_setcsr(flushing);
  LaunchStatus status = launch(entry, args, grid, 0);
  unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  EXPECT_EQ(status, LaunchStatus::Ok);
  EXPECT_EQ(after & ~0x3fu, flushing & ~0x3fu) << "the caller's environment must come back";
  for (float value : out)
    ASSERT_EQ(value, 1e-38f / 16);
}

TEST(ThreadPool, PrintsItsOverhead) {
  auto nothing = [](const uint64_t *, const uint32_t *, uint64_t, uint64_t, void *) {};
  for (uint32_t programs : {1u, 2u, 64u, 100000u}) {
    const uint32_t grid[3] = {programs, 1, 1};
    constexpr int repetitions = 2000;
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < repetitions; ++i)
      launch(nothing, nullptr, grid, 0);
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf("launch of %u empty programs: %.3f us\n", programs, seconds / repetitions * 1e6);
  }
}

} // namespace
