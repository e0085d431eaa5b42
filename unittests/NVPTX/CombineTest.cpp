//===- CombineTest.cpp - Reductions and scans on simulated threads --------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "RandomLayouts.h"
#include "TileKernel.h"

#include "despina/Analysis/LayoutConstructors.h"

#include <map>

using namespace despina;
using namespace despina::test;
using enum LayoutDim;

namespace {

/// Over the blocks of a cluster, too.
LinearLayout randomTile(Random &random, unsigned rank, unsigned maxBits, unsigned blockBits = 0) {
  LinearLayout::Dims outs;
  for (unsigned axis = rank; axis-- > 0;)
    outs.push_back({tensorDim(axis), below(random, maxBits / rank + 1)});
  return randomDistributed(random, outs, 5, 2, blockBits, below(random, 2), random() % 2);
}

/// Row-major index without the axis.
uint64_t withoutAxis(const LinearLayout &layout, unsigned axis, uint64_t element) {
  uint64_t low = layout.outShift(tensorDim(axis)), high = low + layout.outBits(tensorDim(axis));
  return element >> high << low | (element & f2::lowMask(low));
}

std::string tileOrScalar(const LinearLayout &layout, const std::string &element) {
  return layout.outs().empty() ? element : tileType(layout, element);
}

/// One operand and result of a reduction or a scan.
struct Operand {
  std::string type;
  SimulatedArgument elements, result;
};

/// `name` is reduce or scan; the region sees %a0, %a1, ..., %b0, %b1, ...
bool runCombine(const std::string &name, const std::string &attributes, const std::string &region,
                const LinearLayout &layout, const LinearLayout &resultLayout,
                const std::vector<Operand> &operands, TileKernelOptions options = {}) {
  options.numCTAs = static_cast<unsigned>(layout.inSize(Block));
  std::string body, parameters, names, first, second, sources, results;
  std::vector<SimulatedArgument> arguments;
  for (size_t i = 0; i < operands.size(); ++i) {
    std::string n = std::to_string(i), comma = i ? ", " : "", tile = tileType(layout, operands[i].type);
    body += "%x" + n + " = builtin.unrealized_conversion_cast %p" + std::to_string(2 * i) +
            " : !tt.ptr<i8> to " + tile + "\n";
    names += comma + "%x" + n;
    first += comma + "%a" + n + ": " + operands[i].type;
    second += ", %b" + n + ": " + operands[i].type;
    sources += comma + tile;
    results += comma + tileOrScalar(resultLayout, operands[i].type);
    parameters += "!tt.ptr<i8>; !tt.ptr<i8>; ";
    arguments.insert(arguments.end(), {operands[i].elements, operands[i].result});
  }
  body += "%y:" + std::to_string(operands.size()) + " = \"tt." + name + "\"(" + names + ") <{" + attributes +
          "}> ({\n^bb0(" + first + second + "):\n" + region + "\n}) : (" + sources + ") -> (" + results +
          ")\n";
  for (size_t i = 0; i < operands.size(); ++i)
    body += "%d" + std::to_string(i) + " = builtin.unrealized_conversion_cast %y#" + std::to_string(i) +
            ", %p" + std::to_string(2 * i + 1) + " : " + tileOrScalar(resultLayout, operands[i].type) +
            ", !tt.ptr<i8> to i1\n";
  return runTileKernel(parameters, body, arguments, options);
}

std::string axisText(unsigned axis) { return "axis = " + std::to_string(axis) + " : i32"; }

template <typename T>
void checkReduce(Random &random, const LinearLayout &layout, unsigned axis, const std::string &type,
                 const std::string &op, T (*combine)(T, T), const TileKernelOptions &options = {}) {
  LinearLayout slice = sliceLayout(layout, axis).value();
  std::vector<T> elements(size_t(1) << layout.totalOutBits());
  std::vector<T> expected(size_t(1) << slice.totalOutBits());
  std::vector<bool> seen(expected.size());
  for (size_t element = 0; element < elements.size(); ++element) {
    elements[element] = static_cast<T>(random() % 1000);
    uint64_t at = withoutAxis(layout, axis, element);
    expected[at] = seen[at] ? combine(expected[at], elements[element]) : elements[element];
    seen[at] = true;
  }
  DumpedTile<T> dump(slice);
  std::string region = "%s = " + op + " %a0, %b0 : " + type + "\ntt.reduce.return %s : " + type;
  if (runCombine("reduce", axisText(axis), region, layout, slice,
                 {{type, argument(elements.data()), dump.argument()}}, options))
    dump.expect(expected);
}

TEST(Reduce, RandomLayouts) {
  Random random(81);
  for (int i = 0; i < 60 && !HasFailure(); ++i) {
    unsigned rank = 1 + below(random, 3), axis = below(random, rank);
    LinearLayout layout = randomTile(random, rank, 11, i % 3);
    switch (i % 4) {
    case 0:
      checkReduce<uint32_t>(random, layout, axis, "i32", "arith.addi",
                            [](uint32_t a, uint32_t b) { return a + b; }, {.capability = i % 24 ? 90u : 75u});
      break;
    case 1:
      // Sums of small integers are exact in any order.
      checkReduce<float>(random, layout, axis, "f32", "arith.addf", [](float a, float b) { return a + b; });
      break;
    case 2:
      checkReduce<int64_t>(random, layout, axis, "i64", "arith.maxsi",
                           [](int64_t a, int64_t b) { return std::max(a, b); });
      break;
    default:
      checkReduce<uint8_t>(random, layout, axis, "i8", "arith.xori",
                           [](uint8_t a, uint8_t b) -> uint8_t { return a ^ b; });
    }
  }
}

TEST(Reduce, WholeWarpsUseOneInstruction) {
  Random random(82);
  LinearLayout rows = blockedLayout({16, 256}, {{1, 4}, {1, 32}, {4, 1}, {1, 0}, {}}).value();
  checkReduce<int32_t>(random, rows, 1, "i32", "arith.minsi",
                       [](int32_t a, int32_t b) { return std::min(a, b); });
  checkReduce<uint32_t>(random, rows, 1, "i32", "arith.andi", [](uint32_t a, uint32_t b) { return a & b; });
}

/// The first of equal elements that a thread meets wins, so which one is free; but all threads that hold the
/// result must agree on it.
TEST(Reduce, ThreadsAgreeOnTies) {
  Random random(83);
  std::string region = "%c = arith.cmpi sge, %a0, %b0 : i16\n"
                       "%v = arith.select %c, %a0, %b0 : i16\n"
                       "%i = arith.select %c, %a1, %b1 : i64\n"
                       "tt.reduce.return %v, %i : i16, i64";
  for (int i = 0; i < 20 && !HasFailure(); ++i) {
    LinearLayout layout = blockedLayout({32, 32}, {{1, 1 << i % 3}, {4, 8}, {2, 2}, {1, 0}, {}}).value();
    unsigned axis = random() % 2;
    LinearLayout slice = sliceLayout(layout, axis).value();
    std::vector<int16_t> values(1024);
    std::vector<int64_t> numbers(1024);
    std::map<uint64_t, int16_t> best;
    for (size_t element = 0; element < values.size(); ++element) {
      values[element] = static_cast<int16_t>(random() % 4);
      numbers[element] = element;
      int16_t &most = best[withoutAxis(layout, axis, element)];
      most = std::max(most, values[element]);
    }
    DumpedTile<int16_t> value(slice);
    DumpedTile<int64_t> number(slice);
    if (!runCombine("reduce", axisText(axis), region, layout, slice,
                    {{"i16", argument(values.data()), value.argument()},
                     {"i64", argument(numbers.data()), number.argument()}}))
      return;
    std::map<uint64_t, int64_t> chosen;
    for (size_t place = 0; place < number.values.size(); ++place) {
      uint64_t at = slice.applyFlat(place);
      int64_t one = number.values[place];
      ASSERT_TRUE(one >= 0 && one < 1024 && withoutAxis(layout, axis, one) == at);
      EXPECT_EQ(values[one], best[at]);
      EXPECT_EQ(value.values[place], best[at]);
      EXPECT_EQ(chosen.try_emplace(at, one).first->second, one) << "threads disagree";
    }
  }
}

/// Functions x -> m x + c, one applied after the other: associative, not commutative.
struct Linear {
  uint32_t m, c;
  Linear then(Linear next) const { return {m * next.m, c * next.m + next.c}; }
};

TEST(Scan, RandomLayouts) {
  Random random(84);
  std::string region = "%m = arith.muli %a0, %b0 : i32\n%t = arith.muli %a1, %b0 : i32\n"
                       "%c = arith.addi %t, %b1 : i32\ntt.scan.return %m, %c : i32, i32";
  for (int i = 0; i < 36 && !HasFailure(); ++i) {
    unsigned rank = 1 + below(random, 3), axis = below(random, rank);
    bool reverse = random() % 2;
    LinearLayout layout = randomTile(random, rank, 7, i % 3);
    size_t count = size_t(1) << layout.totalOutBits();
    uint64_t extent = layout.outSize(tensorDim(axis)), stride = uint64_t(1)
                                                                << layout.outShift(tensorDim(axis));
    std::vector<uint32_t> m(count), c(count), expectedM(count), expectedC(count);
    for (size_t element = 0; element < count; ++element) {
      m[element] = random() | 1;
      c[element] = random();
    }
    for (size_t start = 0; start < count; ++start) {
      if (start / stride % extent != 0)
        continue;
      Linear sum = {1, 0};
      for (uint64_t step = 0; step < extent; ++step) {
        size_t element = start + stride * (reverse ? extent - 1 - step : step);
        sum = sum.then({m[element], c[element]});
        expectedM[element] = sum.m;
        expectedC[element] = sum.c;
      }
    }
    DumpedTile<uint32_t> resultM(layout), resultC(layout);
    if (!runCombine("scan", axisText(axis) + ", reverse = " + (reverse ? "true" : "false"), region, layout,
                    layout,
                    {{"i32", argument(m.data()), resultM.argument()},
                     {"i32", argument(c.data()), resultC.argument()}}))
      return;
    resultM.expect(expectedM);
    resultC.expect(expectedC);
  }
}

TEST(Gather, RandomLayouts) {
  Random random(85);
  for (int i = 0; i < 24 && !HasFailure(); ++i) {
    unsigned rank = 1 + below(random, 2), axis = below(random, rank);
    unsigned blockBits = i % 3;
    LinearLayout source = randomTile(random, rank, 9, blockBits);
    LinearLayout::Dims outs(source.outs());
    for (LinearLayout::DimBits &out : outs)
      if (out.dim == tensorDim(axis))
        out.bits = below(random, 6);
    LinearLayout indices = randomDistributed(random, outs, 5, 2, blockBits, below(random, 2), random() % 2);
    std::vector<uint16_t> elements(size_t(1) << source.totalOutBits());
    std::vector<int64_t> positions(size_t(1) << indices.totalOutBits());
    std::vector<uint16_t> expected;
    for (uint16_t &element : elements)
      element = static_cast<uint16_t>(random());
    uint64_t extent = source.outSize(tensorDim(axis));
    for (size_t element = 0; element < positions.size(); ++element) {
      positions[element] = static_cast<int64_t>(random() % extent);
      // The other coordinates are those of the index.
      uint64_t shift = indices.outShift(tensorDim(axis));
      uint64_t rest = withoutAxis(indices, axis, element), low = rest & f2::lowMask(shift);
      uint64_t at = (rest >> shift << source.outBits(tensorDim(axis)) | positions[element]) << shift | low;
      expected.push_back(elements[at]);
    }
    DumpedTile<uint16_t> result(indices);
    std::string sourceType = tileType(source, "f16"), indexType = tileType(indices, "i64"),
                resultType = tileType(indices, "f16");
    std::string body = "%x = builtin.unrealized_conversion_cast %p0 : !tt.ptr<i8> to " + sourceType + "\n" +
                       "%i = builtin.unrealized_conversion_cast %p1 : !tt.ptr<i8> to " + indexType + "\n" +
                       "%y = tt.gather %x[%i] {" + axisText(axis) + "} : (" + sourceType + ", " + indexType +
                       ") -> " + resultType + "\n" +
                       "%d = builtin.unrealized_conversion_cast %y, %p2 : " + resultType +
                       ", !tt.ptr<i8> to i1\n";
    if (runTileKernel("!tt.ptr<i8>; !tt.ptr<i8>; !tt.ptr<i8>", body,
                      {argument(elements.data()), argument(positions.data()), result.argument()},
                      {.numCTAs = 1u << blockBits}))
      result.expect(expected);
  }
}

TEST(Histogram, RandomLayouts) {
  Random random(86);
  for (int i = 0; i < 24 && !HasFailure(); ++i) {
    LinearLayout source = randomTile(random, 1, 10, i % 3), result = randomTile(random, 1, 9, i % 3);
    uint64_t bins = uint64_t(1) << result.totalOutBits();
    bool isMasked = i % 2;
    std::vector<int32_t> elements(size_t(1) << source.totalOutBits());
    std::vector<uint8_t> mask(elements.size());
    std::vector<uint32_t> expected(bins);
    for (size_t element = 0; element < elements.size(); ++element) {
      elements[element] = static_cast<int32_t>(random() % bins);
      mask[element] = random() % 2;
      expected[elements[element]] += !isMasked || mask[element];
    }
    DumpedTile<uint32_t> dump(result);
    std::string sourceType = tileType(source, "i32"), maskType = tileType(source, "i1"),
                resultType = tileType(result, "i32");
    std::string body = "%x = builtin.unrealized_conversion_cast %p0 : !tt.ptr<i8> to " + sourceType + "\n" +
                       "%m = builtin.unrealized_conversion_cast %p1 : !tt.ptr<i8> to " + maskType + "\n" +
                       "%y = tt.histogram %x" + (isMasked ? ", %m" : "") + " : " + sourceType + " -> " +
                       resultType + "\n" + "%d = builtin.unrealized_conversion_cast %y, %p2 : " + resultType +
                       ", !tt.ptr<i8> to i1\n";
    if (runTileKernel("!tt.ptr<i8>; !tt.ptr<i8>; !tt.ptr<i8>", body,
                      {argument(elements.data()), argument(mask.data()), dump.argument()},
                      {.numCTAs = 1u << i % 3}))
      dump.expect(expected);
  }
}

} // namespace
