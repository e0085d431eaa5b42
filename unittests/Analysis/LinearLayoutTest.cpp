//===- LinearLayoutTest.cpp - The algebra against enumeration -------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Every operation is compared, on random layouts of up to 2^12 elements, with what listing all places says.
//
//===----------------------------------------------------------------------===//
#include "RandomLayouts.h"

#include "gtest/gtest.h"

#include <bit>
#include <map>
#include <set>

using namespace despina;
using namespace despina::test;
using enum LayoutDim;

namespace {

const LayoutDim dim0 = tensorDim(0), dim1 = tensorDim(1), dim2 = tensorDim(2);

/// Up to 12 bits cut into up to three dimensions out of \p names.
LinearLayout::Dims randomDims(Random &random, llvm::ArrayRef<LayoutDim> names, unsigned maxBits) {
  LinearLayout::Dims dims;
  unsigned left = below(random, maxBits + 1);
  for (LayoutDim name : names) {
    unsigned bits = name == names.back() ? left : below(random, left + 1);
    dims.push_back({name, bits});
    left -= bits;
  }
  return dims;
}

LinearLayout randomLayout(Random &random, unsigned maxIn = 12, unsigned maxOut = 12) {
  return randomMap(random, randomDims(random, {Register, Lane, Warp}, maxIn),
                   randomDims(random, {dim1, dim0}, maxOut));
}

/// All places of a layout.
std::vector<LinearLayout::Point> places(const LinearLayout &layout) {
  std::vector<LinearLayout::Point> result;
  for (uint64_t x = 0; x < uint64_t(1) << layout.totalInBits(); ++x) {
    LinearLayout::Point point;
    uint64_t rest = x;
    for (const DimBits &dim : layout.ins()) {
      point.push_back({dim.dim, rest & (layout.inSize(dim.dim) - 1)});
      rest >>= dim.bits;
    }
    result.push_back(point);
  }
  return result;
}

std::map<LayoutDim, uint64_t> asMap(const LinearLayout::Point &point) { return {point.begin(), point.end()}; }

/// The set of elements that a layout reaches.
std::set<uint64_t> image(const LinearLayout &layout) {
  std::set<uint64_t> result;
  for (uint64_t x = 0; x < uint64_t(1) << layout.totalInBits(); ++x)
    result.insert(layout.applyFlat(x));
  return result;
}

class LinearLayoutRandom : public ::testing::Test {
protected:
  Random random{20240229};
  static constexpr int rounds = 60;
};

TEST(LinearLayout, OneDimension) {
  LinearLayout identity = LinearLayout::identity1D(8, Lane, dim0);
  LinearLayout zeros = LinearLayout::zeros1D(4, Lane, dim0, 2);
  LinearLayout strided = LinearLayout::strided1D(8, 4, Lane, dim0);
  EXPECT_EQ(zeros.outSize(dim0), 2u);
  EXPECT_EQ(strided.outSize(dim0), 32u);
  for (uint64_t x = 0; x < 8; ++x) {
    EXPECT_EQ(identity.apply({{Lane, x}}, dim0), x);
    EXPECT_EQ(zeros.apply({{Lane, x & 3}}, dim0), 0u);
    EXPECT_EQ(strided.apply({{Lane, x}}, dim0), 4 * x);
  }
}

TEST(LinearLayout, RejectsWhatIsNoLayout) {
  EXPECT_FALSE(LinearLayout::fromColumns({{Lane, 1}}, {{dim0, 2}}, {4}));
  EXPECT_FALSE(LinearLayout::fromColumns({{Lane, 2}}, {{dim0, 2}}, {1}));
  EXPECT_FALSE(LinearLayout::fromColumns({{Lane, 1}, {Lane, 1}}, {{dim0, 2}}, {1, 2}));
  EXPECT_FALSE(LinearLayout::fromColumns({{Lane, 1}}, {{dim0, 40}, {dim1, 40}}, {1}));
  EXPECT_FALSE(LinearLayout::fromBases({{Lane, {{1, 0, 0}}}}, {{dim0, 2}}));
  LinearLayout wide = LinearLayout::identity1D(uint64_t(1) << 40, Lane, dim0);
  EXPECT_FALSE(wide.product(wide));
  EXPECT_FALSE(wide.compose(LinearLayout::identity1D(4, dim0, dim1)));
  EXPECT_FALSE(wide.transposeIns({Warp}));
  EXPECT_FALSE(wide.reshapeOuts({{dim0, 3}}));
}

TEST_F(LinearLayoutRandom, ApplyIsLinearAndAgreesWithBases) {
  for (int i = 0; i < rounds; ++i) {
    LinearLayout layout = randomLayout(random, 8, 12);
    for (const LinearLayout::Point &place : places(layout)) {
      std::map<LayoutDim, uint64_t> expected;
      for (const DimBits &out : layout.outs())
        expected[out.dim] = 0;
      for (auto [in, value] : place)
        for (unsigned bit = 0; bit < layout.inBits(in); ++bit)
          for (const DimBits &out : layout.outs())
            if (value >> bit & 1)
              expected[out.dim] ^= layout.basis(in, bit, out.dim);
      EXPECT_EQ(asMap(layout.apply(place)), expected);
    }
  }
}

TEST_F(LinearLayoutRandom, Product) {
  for (int i = 0; i < rounds; ++i) {
    LinearLayout low =
        randomMap(random, randomDims(random, {Register, Lane}, 5), randomDims(random, {dim1, dim0}, 6));
    LinearLayout high =
        randomMap(random, randomDims(random, {Lane, Warp}, 5), randomDims(random, {dim0, dim2}, 6));
    LinearLayout both = low * high;
    for (const LinearLayout::Point &place : places(both)) {
      LinearLayout::Point lowPlace, highPlace;
      for (auto [in, value] : place) {
        lowPlace.push_back({in, value % low.inSize(in)});
        highPlace.push_back({in, value / low.inSize(in)});
      }
      for (auto [out, value] : both.apply(place))
        EXPECT_EQ(value, low.apply(lowPlace, out) + low.outSize(out) * high.apply(highPlace, out));
    }
    std::optional<LinearLayout> restHigh = both.divideLeft(low), restLow = both.divideRight(high);
    ASSERT_TRUE(restHigh && restLow);
    EXPECT_TRUE((low * *restHigh).sameMap(both));
    EXPECT_TRUE((*restLow * high).sameMap(both));
    for (auto [name, bits] : high.ins())
      EXPECT_EQ(restHigh->inBits(name), bits);
  }
}

TEST_F(LinearLayoutRandom, DivisionExistsOnlyWhenItMust) {
  // All 2-bit maps: a quotient by a 1-bit tile exists exactly when some product gives the map.
  auto oneBit = [](uint64_t column) {
    return LinearLayout::fromColumns({{Lane, 1}}, {{dim0, 1}}, {column}).value();
  };
  for (uint64_t a = 0; a < 4; ++a) {
    for (uint64_t b = 0; b < 4; ++b) {
      LinearLayout layout = LinearLayout::fromColumns({{Lane, 2}}, {{dim0, 2}}, {a, b}).value();
      for (uint64_t tile = 0; tile < 2; ++tile) {
        bool left = false, right = false;
        for (uint64_t rest = 0; rest < 2; ++rest) {
          left |= oneBit(tile) * oneBit(rest) == layout;
          right |= oneBit(rest) * oneBit(tile) == layout;
        }
        EXPECT_EQ(layout.divideLeft(oneBit(tile)).has_value(), left);
        EXPECT_EQ(layout.divideRight(oneBit(tile)).has_value(), right);
      }
    }
  }
}

TEST_F(LinearLayoutRandom, ComposeAndInvert) {
  for (int i = 0; i < rounds; ++i) {
    LinearLayout inner = randomLayout(random, 10, 10);
    LinearLayout outer = randomMap(random, {{dim0, inner.outBits(dim0)}, {dim1, inner.outBits(dim1) + 1}},
                                   {{Offset, 5}, {Block, 3}});
    LinearLayout both = inner.compose(outer).value();
    for (const LinearLayout::Point &place : places(inner))
      EXPECT_EQ(asMap(both.apply(place)), asMap(outer.apply(inner.apply(place))));

    unsigned n = 1 + below(random, 10);
    f2::Vectors columns = randomBasis(random, n, true);
    LinearLayout permutation =
        LinearLayout::fromColumns({{Lane, n / 2}, {Warp, n - n / 2}}, {{dim0, n}}, columns).value();
    LinearLayout inverse = permutation.invert().value();
    for (uint64_t x = 0; x < uint64_t(1) << n; ++x)
      EXPECT_EQ(inverse.applyFlat(permutation.applyFlat(x)), x);
  }
}

TEST_F(LinearLayoutRandom, InverseExistsExactlyForPermutations) {
  for (int i = 0; i < 200; ++i) {
    LinearLayout layout = randomLayout(random, 6, 6);
    std::set<uint64_t> reached = image(layout);
    bool surjective = reached.size() == uint64_t(1) << layout.totalOutBits();
    bool injective = reached.size() == uint64_t(1) << layout.totalInBits();
    EXPECT_EQ(layout.isSurjective(), surjective);
    EXPECT_EQ(layout.isInjective(), injective);
    EXPECT_EQ(layout.invert().has_value(), surjective && injective);
    EXPECT_EQ(layout.isPermutation(), surjective && injective);
    EXPECT_EQ(layout.pseudoInvert().has_value(), surjective);
    if (!surjective)
      continue;
    // The lowest place of each element.
    LinearLayout lowest = layout.pseudoInvert().value();
    for (uint64_t element : reached) {
      uint64_t place = lowest.applyFlat(element);
      EXPECT_EQ(layout.applyFlat(place), element);
      uint64_t free = f2::freeVariables(layout.matrix());
      EXPECT_EQ(place & free, 0u);
    }
  }
}

TEST_F(LinearLayoutRandom, InvertAndCompose) {
  int solvable = 0;
  for (int i = 0; i < 300; ++i) {
    LinearLayout::Dims outs = randomDims(random, {dim1, dim0}, 8);
    LinearLayout outer = randomMap(random, randomDims(random, {Register, Lane, Warp}, 10), outs);
    LinearLayout inner = randomMap(random, randomDims(random, {Register, Lane, Warp}, 10), outs);
    std::set<uint64_t> has = image(outer), wants = image(inner);
    bool possible = std::includes(has.begin(), has.end(), wants.begin(), wants.end());
    std::optional<LinearLayout> places = inner.invertAndCompose(outer);
    ASSERT_EQ(places.has_value(), possible);
    if (!possible)
      continue;
    ++solvable;
    for (uint64_t x = 0; x < uint64_t(1) << inner.totalInBits(); ++x)
      EXPECT_EQ(outer.applyFlat(places->applyFlat(x)), inner.applyFlat(x));
  }
  EXPECT_GT(solvable, 30);
}

TEST_F(LinearLayoutRandom, InvertAndComposeStaysClose) {
  // Whatever has a solution in the same thread (warp) gets one, also when there are copies all over.
  int stays = 0;
  for (int i = 0; i < 300; ++i) {
    LinearLayout::Dims outs = {{dim0, 3}};
    LinearLayout from = randomMap(random, {{Register, 2}, {Lane, 2}, {Warp, 2}}, outs);
    LinearLayout to = randomMap(random, {{Register, 2}, {Lane, 2}, {Warp, 2}}, outs);
    std::optional<LinearLayout> places = to.invertAndCompose(from);
    if (!places)
      continue;
    auto possible = [&](unsigned low, uint64_t step) {
      // The element of place `step` is at one that differs from it in the low bits only.
      for (uint64_t y = 0; y < uint64_t(1) << low; ++y)
        if (from.applyFlat(step ^ y) == to.applyFlat(step))
          return true;
      return false;
    };
    bool inThread = true, inWarp = true;
    for (unsigned bit = 2; bit < 6; ++bit)
      inThread &= possible(2, uint64_t(1) << bit);
    for (unsigned bit = 0; bit < 2; ++bit)
      inThread &= possible(2, uint64_t(1) << bit);
    for (unsigned bit = 0; bit < 6; ++bit)
      inWarp &= possible(4, uint64_t(1) << bit);
    EXPECT_EQ(places->preserves(Lane) && places->preserves(Warp), inThread) << places->toString();
    EXPECT_EQ(places->preserves(Warp), inWarp) << places->toString();
    stays += inThread + inWarp;
  }
  EXPECT_GT(stays, 20);
}

TEST_F(LinearLayoutRandom, TransposeReshapeFlatten) {
  for (int i = 0; i < rounds; ++i) {
    LinearLayout layout = randomLayout(random, 9, 12);
    LinearLayout turned =
        layout.transposeIns({Warp, Register, Lane}).value().transposeOuts({dim0, dim1}).value();
    EXPECT_TRUE(turned.sameMap(layout));
    LinearLayout flat = layout.flattenIns(Offset).flattenOuts(dim0);
    LinearLayout::Dims cut = randomDims(random, {dim2, dim1, dim0}, 0);
    cut[0].bits = layout.totalOutBits() / 2;
    cut[1].bits = layout.totalOutBits() - cut[0].bits;
    LinearLayout reshaped = layout.reshapeOuts(cut).value();
    for (const LinearLayout::Point &place : places(layout)) {
      EXPECT_EQ(asMap(turned.apply(place)), asMap(layout.apply(place)));
      uint64_t x = place[0].second +
                   layout.inSize(Register) * (place[1].second + layout.inSize(Lane) * place[2].second);
      uint64_t y = layout.apply(place, dim1) + layout.outSize(dim1) * layout.apply(place, dim0);
      EXPECT_EQ(flat.apply({{Offset, x}}, dim0), y);
      EXPECT_EQ(reshaped.apply(place, dim2) + (uint64_t(1) << cut[0].bits) * reshaped.apply(place, dim1), y);
    }
    EXPECT_EQ(flat.reshapeIns(layout.ins()).value().reshapeOuts(layout.outs()).value(), layout);
  }
}

TEST_F(LinearLayoutRandom, SublayoutResizeAndZeroBases) {
  for (int i = 0; i < rounds; ++i) {
    LinearLayout layout = randomLayout(random, 9, 9);
    LinearLayout part = layout.sublayout({Lane, Register}, {dim0});
    bool zero = true;
    for (const LinearLayout::Point &place : places(part)) {
      EXPECT_EQ(part.apply(place, dim0), layout.apply(place, dim0));
      zero &= part.apply(place, dim0) == 0;
    }
    EXPECT_EQ(layout.sublayoutIsZero({Lane, Register}, {dim0}), zero);
    unsigned bits = below(random, 8);
    LinearLayout resized = layout.resizeOut(dim1, bits).resizeIn(Lane, bits);
    EXPECT_EQ(resized.outBits(dim1), bits);
    EXPECT_EQ(resized.inBits(Lane), bits);
    for (const LinearLayout::Point &place : places(resized)) {
      LinearLayout::Point cut = place;
      cut[1].second %= layout.inSize(Lane);
      EXPECT_EQ(resized.apply(place, dim1), layout.apply(cut, dim1) % (uint64_t(1) << bits));
      EXPECT_EQ(resized.apply(place, dim0), layout.apply(cut, dim0));
    }
    LinearLayout sparse = layout.resizeIn(Register, layout.inBits(Register) + 2);
    LinearLayout dense = sparse.removeZeroBases(Register);
    EXPECT_EQ(image(dense), image(layout));
    for (uint64_t column : dense.columnsOf(Register))
      EXPECT_NE(column, 0u);
  }
}

TEST_F(LinearLayoutRandom, QuotientDropsExactlyIdentities) {
  for (int i = 0; i < rounds; ++i) {
    LinearLayout core = randomMap(random, {{Register, 2}, {Lane, 2}}, {{Register, 2}, {Lane, 2}});
    if (i % 3 == 0)
      core = core.sublayout({Register}, {Register}) * LinearLayout::identity1D(4, Lane, Lane);
    LinearLayout with = core * LinearLayout::identity1D(4, Warp, Warp);
    EXPECT_TRUE(with.isTrivialOver(Warp));
    EXPECT_TRUE(with.quotient({Warp}).value().sameMap(core));
    // Of all sixteen maps that could be left, one times the identity must give the map.
    bool exists = false;
    for (uint64_t rest = 0; rest < 16; ++rest) {
      LinearLayout registers =
          LinearLayout::fromColumns({{Register, 2}}, {{Register, 2}}, {rest & 3, rest >> 2}).value();
      exists |= (registers * LinearLayout::identity1D(4, Lane, Lane)).sameMap(core);
    }
    EXPECT_EQ(core.quotient({Lane}).has_value(), exists);
    bool preserved = true;
    for (const LinearLayout::Point &place : places(core))
      preserved &= core.apply(place, Lane) == asMap(place)[Lane];
    EXPECT_EQ(core.preserves(Lane), preserved);
  }
}

TEST_F(LinearLayoutRandom, FreeVariables) {
  for (int i = 0; i < rounds; ++i) {
    LinearLayout layout = randomLayout(random, 9, 5);
    std::map<LayoutDim, uint64_t> masks;
    for (LayoutDim in : layout.inNames())
      masks[in] = layout.freeVariableMask(in);
    // Canonical places have every element once.
    std::multiset<uint64_t> seen;
    for (const LinearLayout::Point &place : places(layout)) {
      bool canonical = true;
      uint64_t x = 0;
      for (auto [in, value] : place) {
        canonical &= (value & masks[in]) == 0;
        x |= value << layout.inShift(in);
      }
      if (canonical)
        seen.insert(layout.applyFlat(x));
    }
    std::set<uint64_t> all = image(layout);
    EXPECT_TRUE(std::equal(seen.begin(), seen.end(), all.begin(), all.end()));
  }
}

TEST_F(LinearLayoutRandom, ConsecutiveElements) {
  int longRuns = 0;
  for (int i = 0; i < 400; ++i) {
    LinearLayout layout =
        randomDistributed(random, {{dim1, 3}, {dim0, 2}}, 2, 1, 0, below(random, 2), below(random, 2));
    auto isRun = [&](uint64_t n) {
      for (uint64_t x = 0; x < uint64_t(1) << layout.totalInBits(); ++x) {
        uint64_t start = layout.applyFlat(x & ~(n - 1));
        if (start % n || layout.applyFlat(x) != start + x % n)
          return false;
      }
      return true;
    };
    uint64_t expected = 1;
    for (uint64_t n = 2; n <= layout.inSize(Register); n *= 2)
      if (isRun(n))
        expected = n;
    EXPECT_EQ(layout.numConsecutiveInOut(), expected) << layout.toString();
    longRuns += expected > 1;
  }
  EXPECT_GT(longRuns, 5);
}

TEST_F(LinearLayoutRandom, TextParsesBack) {
  for (int i = 0; i < rounds; ++i) {
    LinearLayout layout = randomLayout(random);
    std::optional<LinearLayout> again = LinearLayout::parse(layout.toString());
    ASSERT_TRUE(again) << layout.toString();
    EXPECT_EQ(*again, layout);
    EXPECT_EQ(hash_value(*again), hash_value(layout));
  }
  EXPECT_EQ(LinearLayout().toString(), "{} -> ()");
  EXPECT_EQ(LinearLayout::parse("{} -> ()"), LinearLayout());
}

TEST(LinearLayout, Text) {
  LinearLayout layout = LinearLayout::identity1D(2, Register, dim1) *
                        LinearLayout::identity1D(2, Register, dim0) *
                        LinearLayout::strided1D(2, 1, Lane, dim1);
  EXPECT_EQ(layout.toString(), "{register: (0,1) (1,0); lane: (0,2)} -> (dim0: 2, dim1: 4)");
  for (llvm::StringRef bad :
       {"", "{", "{lane: (1)} -> (dim0: 3)", "{lane: (1,2)} -> (dim0: 2)", "{lane: (2)} -> (dim0: 2)",
        "{lane: (1); lane: (1)} -> (dim0: 2)", "{warps: (1)} -> (dim0: 2)", "{lane: (1)} -> (dim0: 2) x",
        "{lane: (1)} -> (dim99: 2)", "{lane: (99999999999999999999999)} -> (dim0: 2)"})
    EXPECT_FALSE(LinearLayout::parse(bad)) << bad.str();
}

TEST_F(LinearLayoutRandom, BitSelectionActsOnLayoutsAndValuesAlike) {
  for (int i = 0; i < rounds; ++i) {
    LinearLayout layout = randomMap(random, {{Register, 4}, {Lane, 2}}, {{dim0, 3}});
    BitSelection selection = BitSelection::withoutCopies(layout, Register);
    LinearLayout fewer = selection.apply(layout).value();
    std::vector<uint64_t> values;
    for (uint64_t reg = 0; reg < 16; ++reg)
      values.push_back(layout.apply({{Register, reg}}, dim0));
    llvm::SmallVector<uint64_t> kept = selection.apply(llvm::ArrayRef<uint64_t>(values));
    ASSERT_EQ(kept.size(), fewer.inSize(Register));
    for (uint64_t reg = 0; reg < kept.size(); ++reg)
      EXPECT_EQ(fewer.apply({{Register, reg}}, dim0), kept[reg]);
    EXPECT_EQ(std::set<uint64_t>(kept.begin(), kept.end()), std::set<uint64_t>(values.begin(), values.end()));
    EXPECT_EQ(std::set<uint64_t>(kept.begin(), kept.end()).size(), kept.size());
  }
}

TEST(F2, SpacesAndIntersections) {
  Random random(7);
  for (int i = 0; i < 200; ++i) {
    f2::Vectors a, b;
    for (unsigned n = below(random, 5); n--;)
      a.push_back(random() & 63);
    for (unsigned n = below(random, 5); n--;)
      b.push_back(random() & 63);
    auto span = [](llvm::ArrayRef<uint64_t> vectors) {
      std::set<uint64_t> result;
      for (uint64_t x = 0; x < uint64_t(1) << vectors.size(); ++x)
        result.insert(f2::multiply(vectors, x));
      return result;
    };
    std::set<uint64_t> spanA = span(a), spanB = span(b), both;
    std::set_intersection(spanA.begin(), spanA.end(), spanB.begin(), spanB.end(),
                          std::inserter(both, both.end()));
    f2::Vectors basis = f2::intersection(a, b);
    EXPECT_EQ(span(basis), both);
    EXPECT_EQ(uint64_t(1) << basis.size(), both.size());
    EXPECT_EQ(uint64_t(1) << f2::rank(a), spanA.size());
    std::set<uint64_t> kernel;
    for (uint64_t x = 0; x < uint64_t(1) << a.size(); ++x)
      if (f2::multiply(a, x) == 0)
        kernel.insert(x);
    EXPECT_EQ(span(f2::kernel(a)), kernel);
    for (uint64_t target = 0; target < 64; ++target) {
      std::optional<uint64_t> x = f2::solve(a, target);
      ASSERT_EQ(x.has_value(), spanA.count(target) != 0);
      if (x) {
        EXPECT_EQ(f2::multiply(a, *x), target);
      }
    }
  }
}

} // namespace
