//===- SimulatedCluster.h - Executes conversion plans on arrays -*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Threads are array entries. A step of a plan is done for all threads of a warp at once (shuffles) or for all
// threads before any goes on (barriers). What nobody has written is poison, and reading it shows in the
// result.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_UNITTESTS_ANALYSIS_SIMULATEDCLUSTER_H
#define DESPINA_UNITTESTS_ANALYSIS_SIMULATEDCLUSTER_H

#include "despina/Analysis/LayoutConversion.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

namespace despina::test {

inline constexpr uint64_t poison = ~uint64_t(0);

using Registers = std::vector<uint64_t>;

/// Registers of all threads of a cluster.
struct Cluster {
  unsigned lanes, warps, blocks;
  std::vector<Registers> threads;

  Cluster(unsigned lanes, unsigned warps, unsigned blocks, unsigned registers)
      : lanes(lanes), warps(warps), blocks(blocks),
        threads(size_t(lanes) * warps * blocks, Registers(registers, poison)) {}

  /// Every register holds the number of its element.
  static Cluster holding(const LinearLayout &layout) {
    using enum LayoutDim;
    Cluster result(layout.inSize(Lane), layout.inSize(Warp), layout.inSize(Block), layout.inSize(Register));
    result.forEach([&](unsigned lane, unsigned warp, unsigned block, Registers &registers) {
      for (uint64_t reg = 0; reg < registers.size(); ++reg)
        registers[reg] = layout.applyFlat(
            reg << layout.inShift(Register) | uint64_t(lane) << layout.inShift(Lane) |
            uint64_t(warp) << layout.inShift(Warp) | uint64_t(block) << layout.inShift(Block));
    });
    return result;
  }

  Registers &thread(unsigned lane, unsigned warp, unsigned block) {
    return threads[lane + size_t(lanes) * (warp + size_t(warps) * block)];
  }

  template <typename Body> void forEach(Body body) {
    for (unsigned block = 0; block < blocks; ++block)
      for (unsigned warp = 0; warp < warps; ++warp)
        for (unsigned lane = 0; lane < lanes; ++lane)
          body(lane, warp, block, thread(lane, warp, block));
  }
};

inline void exchange(Cluster &cluster, llvm::ArrayRef<RegisterExchange> exchanges) {
  for (const RegisterExchange &step : exchanges)
    cluster.forEach([&](unsigned lane, unsigned warp, unsigned block, Registers &registers) {
      uint64_t parity = std::popcount(lane & step.laneMask) + std::popcount(warp & step.warpMask) +
                        std::popcount(block & step.blockMask);
      if (parity % 2 == 0)
        return;
      Registers old = registers;
      for (uint64_t i = 0; i < old.size(); ++i)
        registers[i] = old[i ^ step.registerMask];
    });
}

inline Cluster shuffle(Cluster source, const ConversionPlan &plan, unsigned results) {
  exchange(source, plan.shuffle.before);
  Cluster result(source.lanes, source.warps, source.blocks, results);
  result.forEach([&](unsigned lane, unsigned warp, unsigned block, Registers &registers) {
    for (const ShuffleRound &round : plan.shuffle.rounds) {
      uint64_t from = plan.shuffle.sourceLane.value(lane, warp, block) ^ round.laneXor;
      for (ShuffleRound::Value value : round.values)
        registers[value.to] = source.thread(from, warp, block)[value.from];
    }
  });
  exchange(result, plan.shuffle.after);
  return result;
}

/// The cycles that one access of a warp takes: accesses of w words are served for 32 / w lanes at a time, and
/// each different word in a bank takes one.
inline unsigned countWavefronts(const std::vector<uint64_t> &offsets, unsigned vector,
                                unsigned elementBytes) {
  unsigned accessBytes = vector * elementBytes, words = std::max(1u, accessBytes / 4), total = 0;
  unsigned group = std::max<size_t>(1, offsets.size() / words);
  for (unsigned first = 0; first < offsets.size(); first += group) {
    std::array<llvm::SmallVector<uint64_t, 32>, 32> banks;
    for (unsigned lane = first; lane < first + group; ++lane)
      for (uint64_t word = offsets[lane] * elementBytes / 4;
           word * 4 < offsets[lane] * elementBytes + accessBytes; ++word)
        if (!llvm::is_contained(banks[word % 32], word))
          banks[word % 32].push_back(word);
    size_t most = 0;
    for (const auto &words : banks)
      most = std::max(most, words.size());
    total += most;
  }
  return total;
}

/// What went wrong while shared memory was used.
struct SharedErrors {
  unsigned unaligned = 0, outOfBounds = 0, overwritten = 0, foreign = 0, wrongCount = 0;
  unsigned sum() const { return unaligned + outOfBounds + overwritten + foreign + wrongCount; }
};

inline Cluster throughShared(Cluster source, const ConversionPlan &plan, unsigned results,
                             unsigned elementBits, SharedErrors &errors) {
  const SharedPlan &shared = plan.shared;
  unsigned bytes = std::max(8u, elementBits) / 8;
  Cluster result(source.lanes, source.warps, source.blocks, results);
  for (unsigned iteration = 0; iteration < shared.store.iterations.size(); ++iteration) {
    struct Cell {
      uint64_t value = poison;
      unsigned warp = 0;
    };
    std::vector<std::vector<Cell>> memory(source.blocks, std::vector<Cell>(shared.elements));
    auto access = [&](const SharedSide &side, Cluster &cluster, auto body) {
      for (const SharedAccess &one : side.iterations[iteration]) {
        for (unsigned block = 0; block < cluster.blocks; ++block)
          for (unsigned warp = 0; warp < cluster.warps; ++warp) {
            std::vector<uint64_t> offsets;
            for (unsigned lane = 0; lane < cluster.lanes; ++lane) {
              uint64_t offset = one.offset ^ side.offset.value(lane, warp, block);
              uint64_t where = one.block ^ side.block.value(lane, warp, block);
              errors.unaligned += offset % side.vector != 0;
              errors.outOfBounds += offset + side.vector > shared.elements || where >= cluster.blocks;
              offsets.push_back(offset);
              for (unsigned i = 0; i < side.vector && !errors.outOfBounds; ++i)
                body(memory[where][offset + i], cluster.thread(lane, warp, block)[one.registers[i]], lane,
                     warp, where == block);
            }
            errors.wrongCount += countWavefronts(offsets, side.vector, bytes) != side.wavefrontsPerAccess;
          }
      }
    };
    access(shared.store, source, [&](Cell &cell, uint64_t &value, unsigned lane, unsigned warp, bool isOwn) {
      errors.foreign += !isOwn;
      if ((lane & shared.store.copyLanes) || (warp & shared.store.copyWarps && !shared.isWarpLocal))
        return;
      errors.overwritten += cell.value != poison;
      cell = {value, warp};
    });
    access(shared.load, result, [&](Cell &cell, uint64_t &value, unsigned, unsigned warp, bool isOwn) {
      errors.foreign += plan.kind != ConversionKind::ClusterSharedMemory && !isOwn;
      errors.foreign += shared.isWarpLocal && cell.warp != warp;
      value = cell.value;
    });
  }
  return result;
}

/// The registers after a conversion.
inline Cluster execute(const ConversionPlan &plan, const Cluster &source, unsigned elementBits,
                       SharedErrors &errors) {
  unsigned results = 1;
  for (unsigned index : plan.finalIndex)
    results = std::max(results, index + 1);
  Cluster moved = source;
  if (plan.kind == ConversionKind::Registers || plan.kind == ConversionKind::Shuffle)
    moved = shuffle(source, plan, results);
  else if (plan.kind != ConversionKind::None)
    moved = throughShared(source, plan, results, elementBits, errors);
  Cluster result(source.lanes, source.warps, source.blocks, plan.finalIndex.size());
  result.forEach([&](unsigned lane, unsigned warp, unsigned block, Registers &registers) {
    for (unsigned i = 0; i < registers.size(); ++i)
      registers[i] = moved.thread(lane, warp, block)[plan.finalIndex[i]];
  });
  return result;
}

} // namespace despina::test

#endif // DESPINA_UNITTESTS_ANALYSIS_SIMULATEDCLUSTER_H
