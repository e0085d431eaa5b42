//===- AllocateSharedMemoryTest.cpp - Buffers at offsets ------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "despina/Transforms/AllocateSharedMemory.h"

#include <gtest/gtest.h>

#include <random>

using namespace despina;

namespace {

using Buffers = std::vector<SharedBuffer>;

SharedBuffer buffer(uint64_t bytes, uint64_t first, uint64_t last, uint64_t alignment = 16) {
  return {nullptr, bytes, alignment, first, last};
}

/// No two buffers that are in use at one moment have a byte in common; found byte by byte and moment by
/// moment.
void expectDisjoint(const Buffers &buffers, const SharedPlacement &placement) {
  ASSERT_EQ(placement.offsets.size(), buffers.size());
  std::map<std::pair<uint64_t, uint64_t>, size_t> owners;
  for (size_t i = 0; i < buffers.size(); ++i) {
    EXPECT_EQ(placement.offsets[i] % buffers[i].alignment, 0u);
    EXPECT_LE(placement.offsets[i] + buffers[i].bytes, placement.bytes);
    for (uint64_t moment = buffers[i].first; moment <= buffers[i].last; ++moment)
      for (uint64_t byte = 0; byte < buffers[i].bytes; byte += 4) {
        auto [owner, isNew] = owners.try_emplace({moment, placement.offsets[i] + byte}, i);
        ASSERT_TRUE(isNew) << "buffers " << owner->second << " and " << i << " meet at " << byte;
      }
  }
}

/// The most bytes that are in use at one moment: nobody can do with less.
uint64_t lowerBound(const Buffers &buffers) {
  std::map<uint64_t, uint64_t> use;
  uint64_t most = 0;
  for (const SharedBuffer &buffer : buffers)
    for (uint64_t moment = buffer.first; moment <= buffer.last; ++moment)
      most = std::max(most, use[moment] += buffer.bytes);
  return most;
}

TEST(AllocateSharedMemory, NoBuffers) { EXPECT_EQ(placeBuffers({}).bytes, 0u); }

TEST(AllocateSharedMemory, LivesThatDoNotMeetShareBytes) {
  Buffers buffers{buffer(1024, 0, 3), buffer(512, 4, 6), buffer(2048, 7, 9)};
  SharedPlacement placement = placeBuffers(buffers);
  expectDisjoint(buffers, placement);
  EXPECT_EQ(placement.bytes, 2048u);
}

TEST(AllocateSharedMemory, TheMomentOfHandOverBelongsToBoth) {
  Buffers buffers{buffer(64, 0, 4), buffer(64, 4, 8)};
  EXPECT_EQ(placeBuffers(buffers).bytes, 128u);
}

TEST(AllocateSharedMemory, AlignmentIsKept) {
  Buffers buffers{buffer(48, 0, 9), buffer(4096, 0, 9, 1024), buffer(16, 0, 9, 128)};
  SharedPlacement placement = placeBuffers(buffers);
  expectDisjoint(buffers, placement);
  EXPECT_LE(placement.bytes, 4096u + 128 + 48);
}

TEST(AllocateSharedMemory, AnOrderThatFirstFitBySizeMisses) {
  // The small buffer that lives long belongs at an end: in the middle it splits the room of the large ones.
  Buffers buffers{buffer(32, 0, 2), buffer(16, 2, 5), buffer(32, 5, 8), buffer(32, 3, 4), buffer(16, 0, 8)};
  SharedPlacement placement = placeBuffers(buffers);
  expectDisjoint(buffers, placement);
  EXPECT_EQ(placement.bytes, lowerBound(buffers));
}

TEST(AllocateSharedMemory, RandomLives) {
  std::mt19937 random(std::random_device{}());
  auto below = [&](unsigned bound) { return random() % bound; };
  for (int round = 0; round < 300; ++round) {
    Buffers buffers;
    for (unsigned i = 0, count = 1 + below(12); i < count; ++i) {
      uint64_t first = below(20);
      buffers.push_back(buffer(16 * (1 + below(20)), first, first + below(8), 16u << below(4)));
    }
    SharedPlacement placement = placeBuffers(buffers);
    expectDisjoint(buffers, placement);
    EXPECT_GE(placement.bytes, lowerBound(buffers));
  }
}

} // namespace
