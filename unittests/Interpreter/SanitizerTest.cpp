//===- SanitizerTest.cpp - Faults that are found, and none where none is --===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "Tiles.h"

using namespace despina;
using namespace despina::interpreter;
using namespace despina::interpreter::test;

namespace {

constexpr uint64_t poison = 0x123456789abcdef0;

class SanitizerTest : public testing::Test {
protected:
  SanitizerTest() {
    for (int i = 0; i < 32; ++i)
      memory[i] = i;
    builder.sanitize();
    auto begin = reinterpret_cast<uint64_t>(memory);
    builder.sanitizer()->addRegion(begin, begin + sizeof memory, "x_ptr", poison);
  }
  Handle pointers(int64_t first, int64_t count, std::vector<int64_t> shape = {}) {
    std::vector<uint64_t> addresses;
    for (int64_t i = 0; i < count; ++i)
      addresses.push_back(reinterpret_cast<uint64_t>(memory + first + i));
    if (shape.empty())
      shape = {count};
    return builder.keep(tileOfValues(Type::pointer(ScalarKind::Int32), shape, addresses));
  }
  Handle maskOfFirst(int64_t wanted, int64_t count, std::vector<int64_t> shape = {}) {
    std::vector<uint8_t> lanes;
    for (int64_t i = 0; i < count; ++i)
      lanes.push_back(i < wanted);
    if (shape.empty())
      shape = {count};
    return builder.keep(tileOfValues(ScalarKind::Int1, shape, lanes));
  }
  Handle load(Handle pointer, Handle mask = {}, Handle other = {}) {
    return builder.load(pointer, mask, other, CacheModifier::None, EvictionPolicy::Normal, false);
  }
  void store(Handle pointer, Handle value, Handle mask = {}) {
    builder.store(pointer, value, mask, CacheModifier::None, EvictionPolicy::Normal);
  }
  /// The kinds of what was found since, each once.
  std::string found() {
    std::string kinds;
    for (const Finding &finding : builder.sanitizer()->takeFindings())
      if (kinds.find(finding.kind) == std::string::npos)
        kinds += (kinds.empty() ? "" : ", ") + finding.kind;
    return kinds;
  }

  EagerBuilder builder;
  alignas(8) int32_t memory[32];
};

TEST_F(SanitizerTest, BoundsAreThoseOfTheArgument) {
  load(pointers(28, 4));
  EXPECT_EQ(found(), "");
  load(pointers(29, 4));
  EXPECT_EQ(found(), "out of bounds");
  load(pointers(-1, 4));
  EXPECT_EQ(found(), "out of bounds");
  load(pointers(29, 4), maskOfFirst(3, 4));
  EXPECT_EQ(found(), "");
  store(pointers(30, 4), load(pointers(0, 4)));
  EXPECT_EQ(found(), "out of bounds");
  EXPECT_EQ(memory[31], 1) << "what is in bounds is done";
}

TEST_F(SanitizerTest, UndefinedLanesGoWhereTheirValuesGo) {
  Handle x = load(pointers(0, 8, {2, 4}), maskOfFirst(7, 8, {2, 4})); // the last is undefined
  Handle turned = builder.transpose(builder.binary(BinaryKind::AddI, x, x), {1, 0});
  store(pointers(8, 8, {4, 2}), turned, maskOfFirst(7, 8, {4, 2}));
  EXPECT_EQ(found(), "");
  store(pointers(8, 8, {4, 2}), turned);
  EXPECT_EQ(found(), "undefined value");
  Type row = Type::block(ScalarKind::Int32, {2});
  auto add = [&](llvm::ArrayRef<Handle> pair) {
    return std::optional(Handles{builder.binary(BinaryKind::AddI, pair[0], pair[1])});
  };
  Handle sums = builder.reduce({x}, 1, {row}, add)->front();
  store(pointers(16, 2), sums, maskOfFirst(1, 2));
  EXPECT_EQ(found(), "");
  store(pointers(16, 2), sums);
  EXPECT_EQ(found(), "undefined value");
}

TEST_F(SanitizerTest, SelectedOrGivenValuesAreDefined) {
  Handle mask = maskOfFirst(5, 8), zero = builder.constantInt(Type::block(ScalarKind::Int32, {8}), 0);
  Handle x = load(pointers(0, 8), mask);
  store(pointers(8, 8), builder.select(mask, x, zero));
  store(pointers(8, 8), load(pointers(0, 8), mask, zero));
  EXPECT_EQ(found(), "");
  store(pointers(8, 8), builder.select(mask, zero, x));
  EXPECT_EQ(found(), "undefined value");
}

TEST_F(SanitizerTest, ProgramsThatWriteOnePlaceRace) {
  Handle one = builder.constantInt(Type::block(ScalarKind::Int32, {4}), 1);
  builder.sanitizer()->setProgram(1);
  store(pointers(0, 4), one);
  store(pointers(0, 4), one);
  builder.sanitizer()->setProgram(2);
  store(pointers(4, 4), one);
  EXPECT_EQ(found(), "");
  store(pointers(3, 4), one);
  EXPECT_EQ(found(), "race");
  auto add = [&] {
    builder.atomicRMW(AtomicKind::Add, pointers(16, 4), one, {}, MemorySemantic::Relaxed, MemoryScope::GPU);
  };
  add();
  builder.sanitizer()->setProgram(3);
  add();
  EXPECT_EQ(found(), "");
}

TEST_F(SanitizerTest, MemoryIsWrittenBeforeItIsRead) {
  uint64_t fresh[2] = {poison, poison};
  auto begin = reinterpret_cast<uint64_t>(fresh);
  builder.sanitizer()->addRegion(begin, begin + sizeof fresh, "out_ptr", poison);
  Handle pointer = builder.constantInt(Type::pointer(ScalarKind::Int64), begin);
  store(pointer, builder.constantInt(ScalarKind::Int64, 5));
  load(pointer);
  EXPECT_EQ(found(), "");
  load(builder.constantInt(Type::pointer(ScalarKind::Int64), begin + 8));
  EXPECT_EQ(found(), "never written");
}

TEST_F(SanitizerTest, DescriptorsKeepToSixteenBytes) {
  auto describe = [&](int64_t offset, int64_t stride, int64_t columns) {
    Type type = Type::descriptor(Type::block(ScalarKind::Int32, {2, columns}));
    Handle base = builder.constantInt(Type::pointer(ScalarKind::Int32), 4096 + uint64_t(offset));
    auto number = [&](ScalarKind kind, int64_t value) { return builder.constantInt(kind, uint64_t(value)); };
    builder.makeDescriptor(type, base, {number(ScalarKind::Int32, 8), number(ScalarKind::Int32, 8)},
                           {number(ScalarKind::Int64, stride), number(ScalarKind::Int64, 1)}, false);
    return found();
  };
  EXPECT_EQ(describe(0, 8, 4), "");
  EXPECT_EQ(describe(4, 8, 4), "misaligned descriptor");
  EXPECT_EQ(describe(0, 7, 4), "misaligned descriptor");
  EXPECT_EQ(describe(0, 8, 2), "misaligned descriptor");
}

} // namespace
