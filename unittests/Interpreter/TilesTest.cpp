//===- TilesTest.cpp - Shapes, memory, reductions against brute force -----===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "Tiles.h"

#include "llvm/ADT/ArrayRef.h"

#include <cmath>
#include <sys/mman.h>
#include <unistd.h>

using namespace despina;
using namespace despina::interpreter;
using namespace despina::interpreter::test;

namespace {

class BuilderTest : public testing::Test {
protected:
  Handle input(const Type &element, llvm::ArrayRef<int64_t> shape) {
    return builder.keep(randomTile(random, element, shape));
  }
  static uint64_t at(Handle handle, int64_t position) { return bitsAt(*tileOf(handle), position); }
  Handle pointersTo(const void *memory, const Type &pointee, std::vector<int64_t> offsets) {
    std::vector<uint64_t> addresses;
    unsigned width = bytesOf(storageOf(pointee));
    for (int64_t offset : offsets)
      addresses.push_back(reinterpret_cast<uint64_t>(memory) + uint64_t(offset) * width);
    return builder.keep(tileOfValues(Type::pointer(pointee), {int64_t(offsets.size())}, addresses));
  }
  Handle values(std::vector<int32_t> numbers) {
    int64_t size = int64_t(numbers.size());
    return builder.keep(tileOfValues(ScalarKind::Int32, {size}, std::move(numbers)));
  }
  Handle mask(std::vector<uint8_t> lanes) {
    int64_t size = int64_t(lanes.size());
    return builder.keep(tileOfValues(ScalarKind::Int1, {size}, std::move(lanes)));
  }
  Handle number(int32_t value) { return builder.constantInt(ScalarKind::Int32, uint64_t(int64_t(value))); }
  Handle load(Handle pointer, Handle mask = {}, Handle other = {}) {
    return builder.load(pointer, mask, other, CacheModifier::None, EvictionPolicy::Normal, false);
  }
  void store(Handle pointer, Handle value, Handle mask = {}) {
    builder.store(pointer, value, mask, CacheModifier::None, EvictionPolicy::Normal);
  }

  Random random;
  EagerBuilder builder;
};

constexpr ScalarKind widths[] = {ScalarKind::Int8, ScalarKind::FP16, ScalarKind::Int32, ScalarKind::FP64};

TEST_F(BuilderTest, TransposeMovesEachElement) {
  for (ScalarKind type : widths) {
    Handle x = input(type, {2, 4, 8}), y = builder.transpose(x, {2, 0, 1});
    for (int64_t i = 0; i < 2; ++i)
      for (int64_t j = 0; j < 4; ++j)
        for (int64_t k = 0; k < 8; ++k)
          ASSERT_EQ(at(y, (k * 2 + i) * 4 + j), at(x, (i * 4 + j) * 8 + k));
  }
}

TEST_F(BuilderTest, BroadcastRepeats) {
  for (ScalarKind type : widths) {
    Handle x = input(type, {1, 4, 1}), y = builder.broadcast(x, Type::block(type, {2, 4, 8}));
    for (int64_t i = 0; i < 64; ++i)
      ASSERT_EQ(at(y, i), at(x, i / 8 % 4));
  }
}

TEST_F(BuilderTest, JoinSplitAndConcatenate) {
  for (ScalarKind type : widths) {
    Handle x = input(type, {8}), y = input(type, {8}), joined = builder.join(x, y);
    auto [first, second] = builder.split(joined);
    Handle both = builder.concatenate(x, y, Type::block(type, {16}));
    for (int64_t i = 0; i < 8; ++i) {
      ASSERT_EQ(at(joined, 2 * i), at(x, i));
      ASSERT_EQ(at(joined, 2 * i + 1), at(y, i));
      ASSERT_EQ(at(first, i), at(x, i));
      ASSERT_EQ(at(second, i), at(y, i));
      ASSERT_EQ(at(both, i), at(x, i));
      ASSERT_EQ(at(both, 8 + i), at(y, i));
    }
  }
}

TEST_F(BuilderTest, GatherAndHistogram) {
  Handle x = input(ScalarKind::FP32, {4, 8}),
         index = builder.keep(randomTile(random, ScalarKind::Int32, {16, 8}));
  Handle picked = builder.gather(x, index, 0);
  for (int64_t i = 0; i < 128; ++i)
    ASSERT_EQ(at(picked, i), at(x, int64_t(at(index, i) & 3) * 8 + i % 8));
  Handle counted = builder.histogram(values({3, 1, 3, 9, -1, 3, 0, 1}), mask({1, 1, 0, 1, 1, 1, 1, 1}),
                                     Type::block(ScalarKind::Int32, {4}));
  const int32_t expected[] = {1, 2, 0, 2};
  for (int64_t i = 0; i < 4; ++i)
    EXPECT_EQ(int32_t(at(counted, i)), expected[i]);
}

//===----------------------------------------------------------------------===//
// Reductions and scans
//===----------------------------------------------------------------------===//

/// x -> a x + b, one after the other: associative, and the order matters.
std::optional<Handles> composeMaps(EagerBuilder &b, llvm::ArrayRef<Handle> x) {
  Handle slope = b.binary(BinaryKind::MulI, x[0], x[2]);
  Handle scaled = b.binary(BinaryKind::MulI, x[1], x[2]);
  return Handles{slope, b.binary(BinaryKind::AddI, scaled, x[3])};
}

struct Map {
  uint32_t slope = 1, offset = 0;
  Map then(const Map &next) const { return {slope * next.slope, offset * next.slope + next.offset}; }
};

TEST_F(BuilderTest, ReductionsKeepTheOrder) {
  for (unsigned axis = 0; axis < 3; ++axis) {
    const int64_t shape[] = {4, 8, 2};
    Handle slopes = input(ScalarKind::Int32, shape), offsets = input(ScalarKind::Int32, shape);
    std::vector<int64_t> left(shape, shape + 3);
    left.erase(left.begin() + axis);
    Type type = Type::block(ScalarKind::Int32, left);
    auto results = builder.reduce({slopes, offsets}, axis, {type, type},
                                  [&](llvm::ArrayRef<Handle> x) { return composeMaps(builder, x); });
    ASSERT_TRUE(results);
    int64_t inner = axis == 2 ? 1 : axis == 1 ? 2 : 16, extent = shape[axis];
    for (int64_t line = 0; line < 64 / extent; ++line) {
      Map total;
      for (int64_t k = 0; k < extent; ++k) {
        int64_t place = (line / inner * extent + k) * inner + line % inner;
        total = total.then({uint32_t(at(slopes, place)), uint32_t(at(offsets, place))});
      }
      ASSERT_EQ(at((*results)[0], line), total.slope);
      ASSERT_EQ(at((*results)[1], line), total.offset);
    }
  }
}

TEST_F(BuilderTest, ScansInBothDirections) {
  for (bool reverse : {false, true}) {
    Handle slopes = input(ScalarKind::Int32, {16, 2}), offsets = input(ScalarKind::Int32, {16, 2});
    auto results = builder.scan({slopes, offsets}, 0, reverse,
                                [&](llvm::ArrayRef<Handle> x) { return composeMaps(builder, x); });
    ASSERT_TRUE(results);
    for (int64_t line = 0; line < 2; ++line) {
      Map total;
      for (int64_t k = 0; k < 16; ++k) {
        int64_t place = (reverse ? 15 - k : k) * 2 + line;
        Map here{uint32_t(at(slopes, place)), uint32_t(at(offsets, place))};
        total = k ? total.then(here) : here;
        ASSERT_EQ(at((*results)[0], place), total.slope);
        ASSERT_EQ(at((*results)[1], place), total.offset);
      }
    }
  }
}

/// The larger of two by an `if`, as a function of the standard library has it.
std::optional<Handles> largerByBranch(EagerBuilder &b, llvm::ArrayRef<Handle> x) {
  b.beginIf(b.compare(CompareKind::SGT, x[0], x[1]));
  b.beginElse();
  return b.endIf({x[0]}, {x[1]}, {Type(ScalarKind::Int32)});
}

TEST_F(BuilderTest, CombineFunctionsThatBranchRunElementByElement) {
  Handle x = builder.keep(tileOfValues<int32_t>(ScalarKind::Int32, {8}, {3, -1, 7, 7, 0, 12, -5, 2}));
  auto combine = [&](llvm::ArrayRef<Handle> pair) { return largerByBranch(builder, pair); };
  auto reduced = builder.reduce({x}, 0, {Type(ScalarKind::Int32)}, combine);
  ASSERT_TRUE(reduced);
  EXPECT_EQ(int32_t(at((*reduced)[0], 0)), 12);
  auto scanned = builder.scan({x}, 0, false, combine);
  ASSERT_TRUE(scanned);
  const int32_t expected[] = {3, 3, 7, 7, 7, 12, 12, 12};
  for (int64_t i = 0; i < 8; ++i)
    EXPECT_EQ(int32_t(at((*scanned)[0], i)), expected[i]);
  EXPECT_FALSE(builder.hasDiverged());
}

TEST_F(BuilderTest, ACombineFunctionIsCalledOnceWhenItOnlyComputes) {
  Handle x = input(ScalarKind::Int32, {1024});
  unsigned calls = 0;
  auto results = builder.reduce({x}, 0, {Type(ScalarKind::Int32)}, [&](llvm::ArrayRef<Handle> pair) {
    ++calls;
    return std::optional(Handles{builder.binary(BinaryKind::AddI, pair[0], pair[1])});
  });
  uint32_t sum = 0;
  for (int64_t i = 0; i < 1024; ++i)
    sum += uint32_t(at(x, i));
  EXPECT_EQ(uint32_t(at((*results)[0], 0)), sum);
  EXPECT_EQ(calls, 1u);
}

TEST_F(BuilderTest, AFailedCombineFunctionFailsTheReduction) {
  Handle x = input(ScalarKind::Int32, {8});
  EXPECT_FALSE(builder.reduce({x}, 0, {Type(ScalarKind::Int32)},
                              [](llvm::ArrayRef<Handle>) { return std::optional<Handles>(); }));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

TEST_F(BuilderTest, ProductsOfIntegersWrapAround) {
  Handle a = input(ScalarKind::Int8, {2, 4, 16}), b = input(ScalarKind::Int8, {2, 16, 8});
  Handle acc = input(ScalarKind::Int32, {2, 4, 8}), product = builder.dot(a, b, acc, DotPrecision::IEEE, 0);
  for (int64_t batch = 0; batch < 2; ++batch)
    for (int64_t i = 0; i < 4; ++i)
      for (int64_t j = 0; j < 8; ++j) {
        auto sum = uint32_t(at(acc, (batch * 4 + i) * 8 + j));
        for (int64_t k = 0; k < 16; ++k)
          sum += uint32_t(integerAt(*tileOf(a), (batch * 4 + i) * 16 + k) *
                          integerAt(*tileOf(b), (batch * 16 + k) * 8 + j));
        ASSERT_EQ(at(product, (batch * 4 + i) * 8 + j), sum);
      }
}

TEST_F(BuilderTest, TF32LosesTheLowBits) {
  std::vector<float> ones(256, 1 + 0x1p-11f + 0x1p-20f);
  Handle a = builder.keep(tileOfValues(ScalarKind::FP32, {16, 16}, ones));
  Handle zero = builder.constantFloat(Type::block(ScalarKind::FP32, {16, 16}), 0);
  auto first = [&](DotPrecision precision) {
    return realAt(*tileOf(builder.dot(a, a, zero, precision, 0)), 0);
  };
  double rounded = 1 + 0x1p-10;
  EXPECT_EQ(first(DotPrecision::TF32), 16 * rounded * rounded);
  EXPECT_NEAR(first(DotPrecision::IEEE), 16 * double(ones[0]) * double(ones[0]), 1e-5);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

TEST_F(BuilderTest, LoadsAndStoresKeepToTheirMask) {
  int32_t memory[8] = {10, 11, 12, 13, 14, 15, 16, 17};
  Handle pointers = pointersTo(memory, ScalarKind::Int32, {0, 1, 2, 5, 4, 7}),
         some = mask({1, 0, 1, 1, 0, 1});
  Handle loaded = load(pointers, some, values({90, 91, 92, 93, 94, 95}));
  const int32_t expected[] = {10, 91, 12, 15, 94, 17};
  for (int64_t i = 0; i < 6; ++i)
    EXPECT_EQ(int32_t(at(loaded, i)), expected[i]);
  EXPECT_EQ(at(load(pointers, some), 1), 0u);
  store(pointers, values({1, 2, 3, 4, 5, 6}), some);
  const int32_t after[] = {1, 11, 3, 13, 14, 4, 16, 6};
  EXPECT_TRUE(std::equal(memory, memory + 8, after));
  EXPECT_FALSE(builder.hasFailed());
}

TEST_F(BuilderTest, WhatAProgramWroteCanBeTakenBack) {
  int32_t memory[4] = {1, 2, 3, 4};
  Handle all = pointersTo(memory, ScalarKind::Int32, {0, 1, 2, 3});
  store(all, values({5, 6, 7, 8}));
  builder.memory().commit();
  store(all, values({9, 9, 9, 9}));
  store(all, values({0, 1, 0, 1}));
  builder.atomicRMW(AtomicKind::Add, all, values({1, 1, 1, 1}), {}, MemorySemantic::Relaxed,
                    MemoryScope::GPU);
  builder.memory().rollBack();
  const int32_t expected[] = {5, 6, 7, 8};
  EXPECT_TRUE(std::equal(memory, memory + 4, expected));
}

TEST_F(BuilderTest, AnAddressWithoutMemoryIsAFailure) {
  const long page = sysconf(_SC_PAGESIZE);
  void *mapped = mmap(nullptr, size_t(2 * page), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  ASSERT_EQ(munmap(static_cast<char *>(mapped) + page, size_t(page)), 0);
  auto begin = reinterpret_cast<uint64_t>(mapped);
  builder.memory().addRegion(begin, begin + uint64_t(page), "x_ptr");
  int64_t end = page / 4;
  Handle pointers = pointersTo(mapped, ScalarKind::Int32, {end - 2, end - 1, end, end + 1});
  load(pointers);
  std::optional<Failure> failure = builder.takeFailure();
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->kind, "IndexError");
  EXPECT_NE(failure->message.find("0 bytes behind the end of `x_ptr`"), std::string::npos)
      << failure->message;
  store(pointers, values({1, 2, 3, 4}));
  EXPECT_TRUE(builder.takeFailure());
  store(pointersTo(nullptr, ScalarKind::Int32, {0}), values({1}));
  EXPECT_TRUE(builder.takeFailure());
  munmap(mapped, size_t(page));
}

TEST_F(BuilderTest, AtomicsUpdateOneAfterTheOther) {
  int32_t memory[2] = {10, -3};
  Handle pointers = pointersTo(memory, ScalarKind::Int32, {0, 0, 1, 1});
  auto update = [&](AtomicKind kind, std::vector<int32_t> operands) {
    return builder.atomicRMW(kind, pointers, values(std::move(operands)), mask({1, 1, 1, 0}),
                             MemorySemantic::Relaxed, MemoryScope::GPU);
  };
  Handle old = update(AtomicKind::Add, {1, 2, 3, 100});
  EXPECT_EQ(int32_t(at(old, 0)), 10);
  EXPECT_EQ(int32_t(at(old, 1)), 11);
  EXPECT_EQ(memory[0], 13);
  EXPECT_EQ(memory[1], 0);
  update(AtomicKind::Min, {5, -7, 4, 0});
  EXPECT_EQ(memory[0], -7);
  update(AtomicKind::UMax, {5, 6, 4, 0});
  EXPECT_EQ(memory[0], -7) << "as an unsigned number it is the largest";
  EXPECT_EQ(memory[1], 4);
  builder.atomicCAS(pointers, values({-7, 1, 4, 9}), values({1, 2, 9, 3}), MemorySemantic::Relaxed,
                    MemoryScope::GPU);
  EXPECT_EQ(memory[0], 2);
  EXPECT_EQ(memory[1], 3);
}

TEST_F(BuilderTest, DescriptorsPadAndKeepToTheirBounds) {
  std::vector<float> memory(5 * 16);
  for (size_t i = 0; i < memory.size(); ++i)
    memory[i] = float(i);
  Type type = Type::descriptor(Type::block(ScalarKind::FP32, {4, 8}));
  Handle base =
      builder.constantInt(Type::pointer(ScalarKind::FP32), reinterpret_cast<uint64_t>(memory.data()));
  auto wide = [&](int64_t value) { return builder.constantInt(ScalarKind::Int64, uint64_t(value)); };
  Handle descriptor = builder.makeDescriptor(type, base, {number(5), number(10)}, {wide(16), wide(1)}, true);
  Handle block =
      builder.descriptorLoad(Type::block(ScalarKind::FP32, {4, 8}), descriptor, {number(3), number(-2)});
  for (int64_t i = 0; i < 4; ++i)
    for (int64_t j = 0; j < 8; ++j) {
      double got = realAt(*tileOf(block), i * 8 + j);
      if (i < 2 && j >= 2)
        EXPECT_EQ(got, double((3 + i) * 16 + j - 2));
      else
        EXPECT_TRUE(std::isnan(got)) << i << ", " << j;
    }
  Handle minus = builder.constantFloat(Type::block(ScalarKind::FP32, {4, 8}), -1);
  builder.descriptorStore(descriptor, minus, {number(4), number(8)});
  for (size_t i = 0; i < memory.size(); ++i)
    EXPECT_EQ(memory[i], i == 72 || i == 73 ? -1.0f : float(i));
}

TEST_F(BuilderTest, AssertionsNameTheElement) {
  builder.deviceAssert(mask({1, 1, 1, 1}), "fine");
  EXPECT_FALSE(builder.hasFailed());
  builder.deviceAssert(mask({1, 1, 0, 1}), "not fine");
  std::optional<Failure> failure = builder.takeFailure();
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->message, "device-side assert: not fine (element (2))");
}

TEST_F(BuilderTest, TheArmThatIsNotTakenDoesNothing) {
  int32_t memory = 1;
  Handle pointer = builder.constantInt(Type::pointer(ScalarKind::Int32), reinterpret_cast<uint64_t>(&memory));
  for (bool taken : {true, false}) {
    builder.beginIf(builder.constantInt(ScalarKind::Int1, taken));
    store(pointer, number(5));
    Handle first = builder.binary(BinaryKind::AddI, number(1), number(2));
    builder.beginElse();
    Handle second = builder.binary(BinaryKind::AddI, number(10), number(20));
    store(pointer, number(6));
    Handles results = builder.endIf({first}, {second}, {Type(ScalarKind::Int32)});
    EXPECT_EQ(at(results[0], 0), taken ? 3u : 30u);
    EXPECT_EQ(memory, taken ? 5 : 6);
  }
}

} // namespace
