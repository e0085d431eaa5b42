//===- AsyncCopyTest.cpp - cp.async on simulated threads ------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "RandomLayouts.h"
#include "TileKernel.h"

#include "despina/Analysis/LayoutConstructors.h"

using namespace despina;
using namespace despina::test;

namespace {

constexpr int64_t rows = 16, columns = 64, tiles = 5, ahead = 2;
constexpr size_t tileSize = rows * columns;

/// A loop over tiles that keeps two copies under way in a ring of three buffers, and adds up what it loads.
struct PipelineTest {
  LinearLayout memory, copied, loaded;
  unsigned capability = 90;
  /// How long runs of pointers and of the mask are known to be; 1: nothing is known.
  int64_t run = 1;
  bool isMasked = false, hasOther = false, isZero = false;
  std::string hints = {}, element = {};

  std::string text() const;
  template <typename T> void check(Random &random) const;
};

std::string PipelineTest::text() const {
  std::string pointer = "!tt.ptr<" + element + ">", tile = tileType(copied, element),
              pointers = tileType(copied, pointer), offsets = tileType(copied, "i32"),
              masks = tileType(copied, "i1"), target = tileType(loaded, element);
  std::string layout = ", #ttg.layout<\"" + memory.toString() + "\">, mutable>", shape = "16x64x" + element;
  std::string ring = "!ttg.memdesc<3x" + shape + layout, slice = "!ttg.memdesc<" + shape + layout;
  std::string runs = std::to_string(run), figures = "tt.contiguity = dense<[1, " + runs +
                                                    "]> : tensor<2xi32>, tt.divisibility = dense<" +
                                                    std::string(run > 1 ? "16" : "1") + "> : tensor<2xi32>";
  std::string mask = isMasked ? " mask %mask" : "", other = hasOther ? " other %other" : "";
  auto copy = [&](const std::string &name, const std::string &index) {
    std::string n = "%" + name;
    return n + "o = arith.muli " + index + ", %size : i32\n" + n + "p = tt.addptr %p0, " + n +
           "o : " + pointer + ", i32\n" + n + "s = tt.splat " + n + "p : " + pointer + " -> " + pointers +
           "\n" + n + "a = tt.addptr " + n + "s, %offsets {" + figures + "} : " + pointers + ", " + offsets +
           "\n" + n + "i = arith.remsi " + index + ", %c3 : i32\n" + n + "d = ttg.memdesc_index %ring[" + n +
           "i] : " + ring + " -> " + slice + "\n" + n + "t = ttg.async_copy_global_to_local " + n + "a, " +
           n + "d" + mask + other + hints + " : " + pointers + " -> " + slice +
           (isMasked ? ", " + masks : "") + (hasOther ? ", " + tile : "") + "\n" + n +
           "g = ttg.async_commit_group tokens " + n + "t\n";
  };
  std::string body =
      "%c0 = arith.constant 0 : i32\n%c1 = arith.constant 1 : i32\n%c2 = arith.constant 2 : i32\n"
      "%c3 = arith.constant 3 : i32\n%n = arith.constant 5 : i32\n%size = arith.constant 1024 : i32\n"
      "%zero = arith.constant dense<0> : " +
      target + "\n%offsets = builtin.unrealized_conversion_cast %p1 : !tt.ptr<i32> to " + offsets +
      "\n%mask = builtin.unrealized_conversion_cast %p2 : !tt.ptr<i1> to " + masks +
      " {tt.constancy = dense<[1, " + runs + "]> : tensor<2xi32>}\n%other = arith.constant dense<" +
      (isZero ? "0" : "77") + "> : " + tile + "\n%ring = ttg.local_alloc : () -> " + ring + "\n";
  body += copy("first", "%c0") + copy("second", "%c1");
  body += "%sum, %ta, %tb = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero, %x = %firstg, %y = "
          "%secondg) -> (" +
          target +
          ", !ttg.token, !ttg.token) : i32 {\n%w = ttg.async_wait tokens %x {num = 1 : i32}\n"
          "%j = arith.remsi %i, %c3 : i32\n%d = ttg.memdesc_index %ring[%j] : " +
          ring + " -> " + slice + "\n%v = ttg.local_load %d token %w : " + slice + " -> " + target +
          "\n%next = arith.addi %s, %v : " + target + "\n%after = arith.addi %i, %c2 : i32\n" +
          copy("more", "%after") + "scf.yield %next, %y, %moreg : " + target +
          ", !ttg.token, !ttg.token\n}\n%last = ttg.async_wait tokens %ta, %tb {num = 0 : i32}\n"
          "ttg.local_dealloc %ring : " +
          ring + "\n%done = builtin.unrealized_conversion_cast %sum, %p3 : " + target + ", " + pointer +
          " to i1\n";
  return body;
}

template <typename T> void PipelineTest::check(Random &random) const {
  std::vector<T> data((tiles + ahead) * tileSize), expected(tileSize);
  std::vector<int32_t> offsets(tileSize);
  std::vector<uint8_t> mask(tileSize);
  for (T &value : data)
    value = static_cast<T>(random());
  for (size_t i = 0; i < tileSize; ++i) {
    size_t first = i / run * run;
    // Runs in any order; elements too where nothing is known.
    offsets[i] = static_cast<int32_t>((first * 5 + i % run + (run == 1 ? 3 : 0)) % tileSize);
    mask[i] = i == first ? random() % 4 != 0 : mask[first];
  }
  for (size_t tile = 0; tile < tiles; ++tile)
    for (size_t i = 0; i < tileSize; ++i) {
      bool isRead = !isMasked || mask[i];
      T otherwise = T(hasOther && !isZero ? 77 : 0);
      expected[i] =
          T(expected[i] + (isRead ? data[tile * tileSize + static_cast<size_t>(offsets[i])] : otherwise));
    }
  DumpedTile<T> sum(loaded);
  std::string pointer = "!tt.ptr<" + element + ">";
  if (runTileKernel(pointer + " {tt.divisibility = 16 : i32}; !tt.ptr<i32>; !tt.ptr<i1>; " + pointer, text(),
                    {argument(data.data()), argument(offsets.data()), argument(mask.data()), sum.argument()},
                    {.capability = capability}))
    sum.expect(expected);
}

LinearLayout randomMemory(Random &random) {
  SwizzledParams params;
  params.vec = 1u << below(random, 5);
  params.maxPhase = 1u << below(random, 4);
  params.order = random() % 4 ? LayoutOrder{1, 0} : LayoutOrder{0, 1};
  return swizzledSharedLayout({rows, columns}, params).value();
}

/// Registers along the rows, so that copies may be wide; or any.
LinearLayout randomTile(Random &random) {
  if (random() % 2)
    return LinearLayout::parse("{register: (0,1) (0,2) (0,4); lane: (0,8) (0,16) (0,32) (1,0) (2,0); warp: "
                               "(4,0) (8,0); block: } -> (dim0: 16, dim1: 64)")
        .value();
  return randomDistributed(random, {{tensorDim(1), 6}, {tensorDim(0), 4}}, 5, 2, 0, below(random, 2),
                           random() % 2);
}

TEST(AsyncCopy, RingsOfBuffers) {
  Random random(131);
  for (int i = 0; i < 32 && !HasFailure(); ++i) {
    PipelineTest test{randomMemory(random), randomTile(random), randomTile(random)};
    test.capability = i % 8 == 7 ? 75 : 80 + 10 * (i % 2);
    test.run = 1 << below(random, 4);
    test.isMasked = random() % 4 != 0;
    test.hasOther = test.isMasked && random() % 2;
    test.isZero = random() % 2;
    test.hints = random() % 2 ? "" : random() % 2 ? " {cache = 2 : i32}" : " {evict = 2 : i32}";
    switch (i % 4) {
    case 0: test.element = "i8", test.check<uint8_t>(random); break;
    case 1: test.element = "i16", test.check<uint16_t>(random); break;
    case 2: test.element = "i32", test.check<uint32_t>(random); break;
    default: test.element = "i64", test.check<uint64_t>(random); break;
    }
  }
}

} // namespace
