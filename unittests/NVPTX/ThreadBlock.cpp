//===- ThreadBlock.cpp - Schedules the threads of a simulated block -------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "ThreadBlock.h"

#include <algorithm>

#include <sys/mman.h>
#include <ucontext.h>

namespace despina::test {

namespace {

constexpr size_t stackBytes = size_t(1) << 20;
constexpr unsigned warpSize = 32, groupSize = 128;

/// Stacks of fibers: pages that are never touched cost nothing.
class Stack {
public:
  Stack()
      : memory(mmap(nullptr, stackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                    -1, 0)) {}
  Stack(Stack &&other) noexcept : memory(std::exchange(other.memory, MAP_FAILED)) {}
  Stack &operator=(Stack &&) = delete;
  ~Stack() {
    if (memory != MAP_FAILED)
      munmap(memory, stackBytes);
  }
  void *data() const { return memory; }

private:
  void *memory;
};

enum class Status { Ready, Waiting, Done };

struct Fiber {
  BlockState *block = nullptr;
  unsigned thread = 0;
  ucontext_t context;
  Stack stack;
  Status status = Status::Ready;
  /// Looked again at what it waits for, in vain.
  bool isPolling = false;
  uint32_t operation = 0;
  ThreadCall call;
};

class Scheduler {
public:
  Scheduler(llvm::MutableArrayRef<BlockState> blocks, const std::function<void()> &entry,
            std::mt19937 &random)
      : blocks(blocks), entry(entry), random(random), fibers(blocks.size() * blocks.front().numThreads) {
    for (unsigned i = 0; i < fibers.size(); ++i) {
      fibers[i].block = &blocks[i / threadsPerBlock()];
      fibers[i].thread = i % threadsPerBlock();
    }
  }

  std::string run() {
    for (Fiber &fiber : fibers)
      start(fiber);
    while (firstError().empty()) {
      std::vector<unsigned> ready;
      for (unsigned i = 0; i < fibers.size(); ++i)
        if (fibers[i].status == Status::Ready)
          ready.push_back(i);
      std::shuffle(ready.begin(), ready.end(), random);
      for (unsigned i : ready)
        resume(i);
      bool any = complete(fibers, ThreadOperation::Scope::Cluster), allDone = true;
      any |= std::any_of(ready.begin(), ready.end(), [&](unsigned i) { return !fibers[i].isPolling; });
      for (unsigned i = 0; i < blocks.size(); ++i) {
        any |= completeBlock(fibersOf(i));
        allDone &= isDone(i);
      }
      if (allDone)
        return firstError();
      if (!any)
        return "threads wait for each other at different places: " + describe();
    }
    return firstError();
  }

  void wait(uint32_t operation, llvm::ArrayRef<uint32_t> operands, llvm::MutableArrayRef<uint32_t> results) {
    Fiber &fiber = fibers[current];
    fiber.operation = operation;
    fiber.call = {fiber.thread, operands, results};
    const ThreadOperation &what = threadOperations()[operation];
    if (what.scope == ThreadOperation::Scope::Thread) {
      fiber.isPolling = false;
      while (what.isReady && !what.isReady(*fiber.block, fiber.call)) {
        swapcontext(&fiber.context, &main);
        fiber.isPolling = true;
      }
      fiber.isPolling = false;
      what.run(*fiber.block, fiber.call);
      return;
    }
    fiber.status = Status::Waiting;
    swapcontext(&fiber.context, &main);
  }

  void finish() { fibers[current].status = Status::Done; }
  uint8_t *sharedMemory() const { return fibers[current].block->shared().data(); }
  const std::function<void()> &body() const { return entry; }

private:
  unsigned threadsPerBlock() const { return blocks.front().numThreads; }
  llvm::MutableArrayRef<Fiber> fibersOf(unsigned block) {
    return llvm::MutableArrayRef(fibers).slice(block * threadsPerBlock(), threadsPerBlock());
  }

  std::string firstError() const {
    for (const BlockState &block : blocks)
      if (!block.error.empty())
        return block.error;
    return {};
  }

  /// Whether a block has ended. Nobody may read its memory from then on.
  bool isDone(unsigned block) {
    for (Fiber &fiber : fibersOf(block))
      if (fiber.status != Status::Done)
        return false;
    std::fill(blocks[block].shared().begin(), blocks[block].shared().end(), uint8_t(0xab));
    return true;
  }

  void start(Fiber &fiber);

  void resume(unsigned index) {
    current = index;
    swapcontext(&main, &fibers[index].context);
  }

  /// Runs what all of these threads wait for. False if they do not.
  bool complete(llvm::MutableArrayRef<Fiber> group, ThreadOperation::Scope scope) {
    std::vector<ThreadCall> calls;
    for (Fiber &fiber : group) {
      if (fiber.status != Status::Waiting || fiber.operation != group.front().operation)
        return false;
      calls.push_back(fiber.call);
    }
    const ThreadOperation &what = threadOperations()[group.front().operation];
    if (what.scope != scope)
      return false;
    what.run(*group.front().block, calls);
    for (Fiber &fiber : group)
      fiber.status = Status::Ready;
    return true;
  }

  bool completeBlock(llvm::MutableArrayRef<Fiber> block) {
    bool any = complete(block, ThreadOperation::Scope::Block);
    for (auto [size, scope] : {std::pair(warpSize, ThreadOperation::Scope::Warp),
                               std::pair(groupSize, ThreadOperation::Scope::Group)})
      for (unsigned first = 0; first + size <= block.size(); first += size)
        any |= complete(block.slice(first, size), scope);
    return any;
  }

  std::string describe() const {
    std::string text;
    for (const Fiber &fiber : fibers) {
      std::string what = fiber.status == Status::Done ? "end" : threadOperations()[fiber.operation].name;
      if (text.find(what) == std::string::npos)
        text += (text.empty() ? "" : ", ") + what;
    }
    return text;
  }

  llvm::MutableArrayRef<BlockState> blocks;
  const std::function<void()> &entry;
  std::mt19937 &random;
  std::vector<Fiber> fibers;
  ucontext_t main;
  unsigned current = 0;
};

/// Fibers do not move between threads of the host, which may simulate side by side.
thread_local Scheduler *scheduler = nullptr;

void fiberMain() {
  scheduler->body()();
  scheduler->finish();
}

void Scheduler::start(Fiber &fiber) {
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = fiber.stack.data();
  fiber.context.uc_stack.ss_size = stackBytes;
  fiber.context.uc_link = &main;
  makecontext(&fiber.context, fiberMain, 0);
}

} // namespace

bool ThreadOperation::matches(llvm::StringRef intrinsic) const {
  llvm::StringRef pattern = name;
  return pattern.consume_back("*") ? intrinsic.starts_with(pattern) : intrinsic == pattern;
}

std::string runCluster(llvm::MutableArrayRef<BlockState> blocks, const std::function<void()> &entry,
                       std::mt19937 &random) {
  for (BlockState &block : blocks)
    block.copies.assign(block.numThreads, {});
  Scheduler own(blocks, entry, random);
  scheduler = &own;
  std::string error = own.run();
  scheduler = nullptr;
  return error;
}

void callOperation(uint32_t index, const uint32_t *operands, uint32_t numOperands, uint32_t *results,
                   uint32_t numResults) {
  scheduler->wait(index, {operands, numOperands}, {results, numResults});
}

uint8_t *sharedMemory() { return scheduler->sharedMemory(); }

} // namespace despina::test
