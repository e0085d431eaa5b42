//===- ThreadBlock.h - The threads of a simulated block ---------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_UNITTESTS_NVPTX_THREADBLOCK_H
#define DESPINA_UNITTESTS_NVPTX_THREADBLOCK_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <vector>

namespace despina::test {

/// The call of one thread: operands and results as words of 32 bits, wider ones low word first.
struct ThreadCall {
  unsigned thread = 0; ///< in the block
  llvm::ArrayRef<uint32_t> operands;
  llvm::MutableArrayRef<uint32_t> results;
};

/// Shared memory begins at a multiple of its largest size, so that the low bits of an address are an offset.
template <typename T> struct SharedAllocator {
  using value_type = T;
  static constexpr std::align_val_t alignment{size_t(1) << 18};
  T *allocate(size_t count) { return static_cast<T *>(::operator new(count * sizeof(T), alignment)); }
  void deallocate(T *memory, size_t) { ::operator delete(memory, alignment); }
  bool operator==(const SharedAllocator &) const = default;
};
using SharedMemory = std::vector<uint8_t, SharedAllocator<uint8_t>>;

/// Copies that a thread has started, in groups; the last one is open.
class AsyncCopies {
public:
  /// Starts a copy of `read` bytes, and zeros behind them up to `bytes`. When it is done nobody can know: the
  /// one is done at once, the other when it is waited for.
  void start(uint8_t *to, const uint8_t *from, unsigned bytes, unsigned read);
  void commit() { groups.emplace_back(); }
  /// Until no more than this many groups are under way.
  void wait(size_t pending);

private:
  struct Copy {
    uint8_t *to;
    const uint8_t *from;
    unsigned bytes, read;
    void run() const;
  };
  std::vector<std::vector<Copy>> groups = std::vector<std::vector<Copy>>(1);
  bool isDoneAtOnce = false;
};

/// What is known of a block while it runs.
struct BlockState {
  std::array<unsigned, 3> grid, block;
  unsigned numThreads;
  /// Its number in the cluster, and the shared memory of all blocks there.
  unsigned rank = 0;
  llvm::MutableArrayRef<SharedMemory> cluster;
  SharedMemory &shared() const { return cluster[rank]; }
  std::vector<AsyncCopies> copies; ///< of each thread
  /// Tensor maps as the unit that copies knows them, by address.
  std::map<uint64_t, std::array<uint8_t, 128>> tensorMaps;
  /// Set by an operation that cannot do what it should.
  std::string error;
};

/// Something that threads do in ways the host does not know.
struct ThreadOperation {
  enum class Scope { Thread, Warp, Group, Block, Cluster }; ///< a group is four warps
  /// The name of an intrinsic or of an instruction, or how it starts with a final '*'.
  std::string name;
  Scope scope;
  /// Does it for all threads of the scope at once, in the order of their indices.
  std::function<void(BlockState &, llvm::MutableArrayRef<ThreadCall>)> run;
  /// Of one thread: until when it waits; null: it goes on at once.
  std::function<bool(BlockState &, const ThreadCall &)> isReady = {};

  bool matches(llvm::StringRef intrinsic) const;
};

/// All of them.
llvm::ArrayRef<ThreadOperation> threadOperations();
/// The share of SimulatedMma.cpp.
std::vector<ThreadOperation> matrixOperations();
/// Of SimulatedWgmma.cpp: wgmma.mma_async by its opcode, with "registers." before it where a is in registers.
std::vector<ThreadOperation> groupOperations();
/// Of SimulatedCopies.cpp: cp.async and its groups.
std::vector<ThreadOperation> copyOperations();
/// Of SimulatedConversions.cpp.
std::vector<ThreadOperation> conversionOperations();
/// Of SimulatedTMA.cpp; readBulkInstruction names them.
std::vector<ThreadOperation> bulkOperations();

/// Runs the blocks of a cluster side by side: `entry` is called on a fiber for each thread. The memory of a
/// block is poisoned when it ends. What went wrong, or an empty text.
std::string runCluster(llvm::MutableArrayRef<BlockState> blocks, const std::function<void()> &entry,
                       std::mt19937 &random);

/// Called on a fiber: operation number `index` of threadOperations(). Returns when it is done.
void callOperation(uint32_t index, const uint32_t *operands, uint32_t numOperands, uint32_t *results,
                   uint32_t numResults);
/// Called on a fiber: the shared memory of its block.
uint8_t *sharedMemory();

} // namespace despina::test

#endif // DESPINA_UNITTESTS_NVPTX_THREADBLOCK_H
