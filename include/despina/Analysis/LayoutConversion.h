//===- LayoutConversion.h - Moving a tile between layouts -------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// How to bring the elements of a tile from where one distributed layout has them to where another wants them.
// With the source S and the destination D, the map C with D(x) = S(C(x)) tells for each place where its
// element is now (LinearLayout::invertAndCompose). What C leaves alone decides the means:
//
//   lane, warp and block stay   registers of one thread are renamed or selected
//   warp and block stay         warp shuffles
//   block stays                 shared memory of the block
//   nothing stays               shared memory of the blocks of a cluster
//
// The answer is a plan that a code generator walks, and that a test can execute on arrays. It has no IR in
// it.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_ANALYSIS_LAYOUTCONVERSION_H
#define DESPINA_ANALYSIS_LAYOUTCONVERSION_H

#include "despina/Analysis/LinearLayout.h"

namespace despina {

struct ConversionOptions {
  /// Width of an element; fewer than 8 bits take a byte. A power of two up to 64.
  unsigned elementBits = 32;
  /// The widest access to shared memory.
  unsigned maxVectorBits = 128;
  /// Shared memory that may be used; larger tiles go through it in several iterations if they can.
  uint64_t maxScratchBytes = 64 * 1024;
  /// Whether shuffles may be used, and how many times the estimated cost of shared memory they may cost.
  bool allowShuffle = true;
  double shuffleAdvantage = 1.0;
};

enum class ConversionKind { None, Registers, Shuffle, SharedMemory, ClusterSharedMemory };

/// A linear function of where a thread is: the XOR of the terms at the set bits of its lane, warp and block.
struct ThreadTerms {
  llvm::SmallVector<uint64_t, 6> lane;
  llvm::SmallVector<uint64_t, 6> warp;
  llvm::SmallVector<uint64_t, 4> block;

  uint64_t value(uint64_t laneIndex, uint64_t warpIndex, uint64_t blockIndex) const;
  bool isZero() const;
};

/// In threads where the parity of the masked lane, warp and block bits is odd, value i and value
/// i ^ registerMask change places, for all i.
struct RegisterExchange {
  uint64_t registerMask = 0;
  uint64_t laneMask = 0;
  uint64_t warpMask = 0;
  uint64_t blockMask = 0;
};

/// One shuffle: the values are packed into a word of 32 bits (or are one value of 64), and each thread reads
/// the word of the lane plan.sourceLane ^ laneXor of its warp.
struct ShuffleRound {
  uint64_t laneXor = 0;
  /// Pairs: value `to` of the result is value `from` of the source.
  struct Value {
    unsigned to;
    unsigned from;
  };
  llvm::SmallVector<Value, 4> values;
};

/// For Registers and Shuffle. With T threads' terms, and registers as vectors:
///   1. the values of the source, with the exchanges of `before`;
///   2. each round moves some of them to other lanes (when the kind is Registers, or sourceLane is the own
///   lane
///      and laneXor 0, they just get a new index);
///   3. the exchanges of `after`;
///   4. register i of the destination is value finalIndex[i].
struct ShufflePlan {
  llvm::SmallVector<RegisterExchange, 4> before;
  ThreadTerms sourceLane;
  /// The source lane is the own lane, XORed with laneXor of a round: a butterfly, else an indexed shuffle.
  bool isButterfly = true;
  llvm::SmallVector<ShuffleRound, 16> rounds;
  llvm::SmallVector<RegisterExchange, 4> after;
  /// Estimated instructions.
  unsigned shuffles = 0;
  unsigned selects = 0;
};

/// One access of each thread: consecutive elements from offset ^ terms on.
struct SharedAccess {
  uint64_t offset = 0;
  /// XORed to the block that is read; always 0 unless the kind is ClusterSharedMemory.
  uint64_t block = 0;
  llvm::SmallVector<unsigned, 4> registers;
};

/// The stores, or the loads, of a conversion.
struct SharedSide {
  /// Elements per access.
  unsigned vector = 1;
  /// What the place of a thread adds (by XOR) to offsets, in elements.
  ThreadTerms offset;
  /// The block to read from.
  ThreadTerms block;
  /// The accesses of each iteration.
  llvm::SmallVector<llvm::SmallVector<SharedAccess, 8>, 1> iterations;
  /// Threads with any of these bits set hold copies of what another one of their block has; they need not
  /// store.
  uint64_t copyLanes = 0;
  uint64_t copyWarps = 0;
  /// Cycles in which a warp's access occupies the banks, and how many it would take without conflicts.
  unsigned wavefrontsPerAccess = 1;
  unsigned idealWavefronts = 1;
  /// Over all accesses of a warp.
  unsigned wavefronts = 0;
};

/// For each iteration: store, barrier, load, and a barrier again if another iteration follows.
struct SharedPlan {
  /// From (vector, bank, segment, iteration, block) to the flattened tile. The offset of an element is its
  /// vector, bank and segment bits, in this order.
  LinearLayout memory;
  uint64_t elements = 0;
  uint64_t bytes = 0;
  SharedSide store;
  SharedSide load;
  /// Each warp reads only what it has written itself: a barrier of the warp is enough.
  bool isWarpLocal = false;
};

struct ConversionPlan {
  ConversionKind kind = ConversionKind::None;
  /// Registers and Shuffle.
  ShufflePlan shuffle;
  /// SharedMemory and ClusterSharedMemory.
  SharedPlan shared;
  /// Number of registers on either side.
  unsigned sourceRegisters = 1;
  unsigned destinationRegisters = 1;
  /// Register i of the destination is value finalIndex[i] of what the rounds or loads have produced (of the
  /// source if the kind is None).
  llvm::SmallVector<unsigned, 16> finalIndex;
};

/// Plans a conversion between layouts from (register, lane, warp, block) to the same tile. Nothing when they
/// differ in the number of lanes, warps or blocks, or in the tile, or \p source lacks elements.
std::optional<ConversionPlan> planConversion(const LinearLayout &source, const LinearLayout &destination,
                                             const ConversionOptions &options = {});

/// How many cycles the banks of shared memory need for one access of a warp: lane bit i adds laneOffsets[i]
/// to the offset in elements, \p vector elements are accessed. Accesses of 8 (16) bytes are served in halves
/// (quarters) of the warp. Within such a phase, the words touched form a linear space, and so do the banks:
/// the number of different words that meet in a bank is 2^(rank of the words - rank of the banks).
unsigned bankWavefronts(llvm::ArrayRef<uint64_t> laneOffsets, unsigned vector, unsigned elementBits);

} // namespace despina

#endif // DESPINA_ANALYSIS_LAYOUTCONVERSION_H
