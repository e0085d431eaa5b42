//===- ThreadOperations.cpp - What simulated threads do together ----------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// The meaning of intrinsics, from the PTX manual.
//
//===----------------------------------------------------------------------===//
#include "ThreadBlock.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cstring>

namespace despina::test {

namespace {

using Calls = llvm::MutableArrayRef<ThreadCall>;
using Scope = ThreadOperation::Scope;

/// A number that each thread can tell of itself.
ThreadOperation reads(std::string name, std::function<uint32_t(const BlockState &, unsigned)> value) {
  return {"llvm.nvvm.read.ptx.sreg." + name, Scope::Thread,
          [value](BlockState &state, Calls calls) { calls[0].results[0] = value(state, calls[0].thread); }};
}

/// Operands: mask, value, lane or its change, clamp.
ThreadOperation shuffles(std::string name, std::function<unsigned(unsigned lane, unsigned change)> source) {
  return {"llvm.nvvm.shfl.sync." + name + ".*", Scope::Warp, [source](BlockState &state, Calls calls) {
            for (unsigned lane = 0; lane < calls.size(); ++lane) {
              unsigned from = source(lane, calls[lane].operands[2]);
              if (calls[lane].operands[0] != ~0u || calls[lane].operands[3] != 31 || from > 31)
                state.error = "a shuffle of less than a warp, or from a lane that there is not";
              else
                calls[lane].results[0] = calls[from].operands[1];
            }
          }};
}

ThreadOperation reduces(std::string name, std::function<uint32_t(uint32_t, uint32_t)> combine) {
  return {"llvm.nvvm.redux.sync." + name, Scope::Warp, [combine](BlockState &, Calls calls) {
            uint32_t sum = calls[0].operands[0];
            for (ThreadCall &call : calls.drop_front())
              sum = combine(sum, call.operands[0]);
            for (ThreadCall &call : calls)
              call.results[0] = sum;
          }};
}

ThreadOperation waits(std::string name, Scope scope) {
  return {"llvm.nvvm." + name, scope, [](BlockState &, Calls) {}};
}

/// Where operands 0 and 1 point to; null and an error outside of shared memory.
uint8_t *sharedRow(BlockState &state, const ThreadCall &call) {
  uint64_t address = call.operands[0] | uint64_t(call.operands[1]) << 32;
  uint64_t base = reinterpret_cast<uint64_t>(state.shared().data());
  if (address % 16 == 0 && address >= base && address + 16 <= base + state.shared().size())
    return state.shared().data() + (address - base);
  state.error = "the row of a matrix is unaligned or outside of shared memory";
  return nullptr;
}

/// Calls body(word of a lane, its two 16-bit elements in shared memory) for 8 x 8 matrices, whose rows'
/// addresses come from eight lanes each.
template <typename Body>
void forEachMatrixWord(BlockState &state, Calls calls, unsigned count, bool isTransposed, Body body) {
  for (unsigned matrix = 0; matrix < count; ++matrix) {
    uint8_t *rows[8];
    for (unsigned row = 0; row < 8; ++row)
      if (!(rows[row] = sharedRow(state, calls[8 * matrix + row])))
        return;
    for (unsigned lane = 0; lane < calls.size(); ++lane) {
      unsigned first = lane / 4, second = lane % 4 * 2;
      uint8_t *low = isTransposed ? rows[second] + 2 * first : rows[first] + 2 * second;
      uint8_t *high = isTransposed ? rows[second + 1] + 2 * first : low + 2;
      body(lane, matrix, low, high);
    }
  }
}

ThreadOperation loadsMatrices(unsigned count, bool isTransposed) {
  std::string name = "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x" + std::to_string(count) +
                     (isTransposed ? ".trans" : "") + ".b16.*";
  return {name, Scope::Warp, [=](BlockState &state, Calls calls) {
            forEachMatrixWord(state, calls, count, isTransposed,
                              [&](unsigned lane, unsigned matrix, uint8_t *low, uint8_t *high) {
                                uint8_t word[4] = {low[0], low[1], high[0], high[1]};
                                std::memcpy(&calls[lane].results[matrix], word, 4);
                              });
          }};
}

ThreadOperation storesMatrices(unsigned count, bool isTransposed) {
  std::string name = "llvm.nvvm.stmatrix.sync.aligned.m8n8.x" + std::to_string(count) +
                     (isTransposed ? ".trans" : "") + ".b16.*";
  return {name, Scope::Warp, [=](BlockState &state, Calls calls) {
            forEachMatrixWord(state, calls, count, isTransposed,
                              [&](unsigned lane, unsigned matrix, uint8_t *low, uint8_t *high) {
                                uint8_t word[4];
                                std::memcpy(word, &calls[lane].operands[2 + matrix], 4);
                                std::copy_n(word, 2, low);
                                std::copy_n(word + 2, 2, high);
                              });
          }};
}

/// Operands: an address in the own block's memory, and another block.
void mapToBlock(BlockState &state, Calls calls) {
  ThreadCall &call = calls.front();
  uint64_t offset = (call.operands[0] | uint64_t(call.operands[1]) << 32) -
                    reinterpret_cast<uint64_t>(state.shared().data());
  if (offset >= state.shared().size() || call.operands[2] >= state.cluster.size()) {
    state.error = "an address of another block is outside of shared memory, or there is no such block";
    return;
  }
  uint64_t address = reinterpret_cast<uint64_t>(state.cluster[call.operands[2]].data()) + offset;
  call.results[0] = static_cast<uint32_t>(address);
  call.results[1] = static_cast<uint32_t>(address >> 32);
}

std::vector<ThreadOperation> makeOperations() {
  std::vector<ThreadOperation> all = {
      reads("tid.x", [](const BlockState &, unsigned thread) { return thread; }),
      reads("laneid", [](const BlockState &, unsigned thread) { return thread % 32; }),
      reads("ntid.x", [](const BlockState &state, unsigned) { return state.numThreads; }),
      shuffles("bfly", [](unsigned lane, unsigned change) { return lane ^ change; }),
      shuffles("idx", [](unsigned, unsigned from) { return from; }),
      shuffles("up", [](unsigned lane, unsigned change) { return lane >= change ? lane - change : lane; }),
      shuffles("down",
               [](unsigned lane, unsigned change) { return lane + change < 32 ? lane + change : lane; }),
      reduces("add", [](uint32_t a, uint32_t b) { return a + b; }),
      reduces("and", [](uint32_t a, uint32_t b) { return a & b; }),
      reduces("or", [](uint32_t a, uint32_t b) { return a | b; }),
      reduces("xor", [](uint32_t a, uint32_t b) { return a ^ b; }),
      reduces("umax", [](uint32_t a, uint32_t b) { return std::max(a, b); }),
      reduces("umin", [](uint32_t a, uint32_t b) { return std::min(a, b); }),
      reduces("max", [](uint32_t a, uint32_t b) { return std::max(int32_t(a), int32_t(b)); }),
      reduces("min", [](uint32_t a, uint32_t b) { return std::min(int32_t(a), int32_t(b)); }),
      waits("bar.warp.sync", Scope::Warp),
      waits("barrier.cta.sync.aligned.all", Scope::Block),
      waits("barrier0", Scope::Block),
      // Each arrival is followed by its wait, where all meet.
      waits("barrier.cluster.arrive.aligned", Scope::Thread),
      waits("barrier.cluster.wait.aligned", Scope::Cluster),
      reads("cluster.ctaid.x", [](const BlockState &state, unsigned) { return state.rank; }),
      {"llvm.nvvm.mapa.shared.cluster", Scope::Thread, mapToBlock},
  };
  for (unsigned axis = 0; axis < 3; ++axis) {
    std::string letter(1, static_cast<char>('x' + axis));
    all.push_back(reads("ctaid." + letter, [axis](const BlockState &s, unsigned) { return s.block[axis]; }));
    all.push_back(reads("nctaid." + letter, [axis](const BlockState &s, unsigned) { return s.grid[axis]; }));
  }
  for (unsigned count : {1, 2, 4})
    for (bool isTransposed : {false, true}) {
      all.push_back(loadsMatrices(count, isTransposed));
      all.push_back(storesMatrices(count, isTransposed));
    }
  for (const std::vector<ThreadOperation> &share :
       {matrixOperations(), groupOperations(), copyOperations(), bulkOperations(), conversionOperations()})
    llvm::append_range(all, share);
  return all;
}

} // namespace

llvm::ArrayRef<ThreadOperation> threadOperations() {
  static const std::vector<ThreadOperation> all = makeOperations();
  return all;
}

} // namespace despina::test
