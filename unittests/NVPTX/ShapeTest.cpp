//===- ShapeTest.cpp - Shape operations on simulated threads --------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "RandomLayouts.h"
#include "TileKernel.h"

#include "despina/Analysis/LayoutConstructors.h"
#include "despina/Analysis/LayoutShapes.h"

#include <numeric>

using namespace despina;
using namespace despina::test;
using enum LayoutDim;

namespace {

using Elements = std::vector<uint32_t>;

/// A random layout of a tile with these extents, in bits.
LinearLayout randomTile(Random &random, llvm::ArrayRef<unsigned> bits) {
  LinearLayout::Dims outs;
  for (unsigned axis = bits.size(); axis-- > 0;)
    outs.push_back({tensorDim(axis), bits[axis]});
  return randomDistributed(random, outs, 5, 2, 0, below(random, 2), random() % 2);
}

/// The same places in another order of registers.
LinearLayout withOtherRegisters(Random &random, const LinearLayout &layout) {
  f2::Vectors columns(layout.matrix());
  unsigned registers = layout.inBits(Register);
  std::shuffle(columns.begin(), columns.begin() + registers, random);
  if (registers > 1)
    columns[0] ^= columns[1];
  return LinearLayout::fromColumns(layout.ins(), layout.outs(), columns).value();
}

Elements randomElements(Random &random, const LinearLayout &layout) {
  Elements elements(size_t(1) << layout.totalOutBits());
  for (uint32_t &element : elements)
    element = random();
  return elements;
}

/// Runs an operation that gives %y on tiles of i32, each with its own elements; its types are added.
void checkOperation(const std::string &op, const LinearLayout &operandLayout,
                    const std::vector<Elements> &operands, const LinearLayout &resultLayout,
                    const Elements &expected) {
  std::string operand = tileType(operandLayout, "i32"), result = tileType(resultLayout, "i32"), body, names,
              parameters = "!tt.ptr<i32>";
  std::vector<SimulatedArgument> arguments;
  DumpedTile<uint32_t> dump(resultLayout);
  arguments.push_back(dump.argument());
  for (size_t i = 0; i < operands.size(); ++i) {
    std::string number = std::to_string(i);
    body += "%x" + number + " = builtin.unrealized_conversion_cast %p" + std::to_string(i + 1) +
            " : !tt.ptr<i32> to " + operand + "\n";
    names += (i ? ", %x" : "%x") + number;
    parameters += "; !tt.ptr<i32>";
    arguments.push_back(argument(operands[i].data()));
  }
  size_t at = op.find("OPERANDS");
  body += std::string(op).replace(at, 8, names) + " : " + (operands.empty() ? "" : operand + " -> ") +
          result + "\n%d = builtin.unrealized_conversion_cast %y, %p0 : " + result + ", !tt.ptr<i32> to i1\n";
  if (runTileKernel(parameters, body, arguments))
    dump.expect(expected);
}

TEST(Shape, MakeRange) {
  Random random(71);
  for (int i = 0; i < 8; ++i) {
    LinearLayout layout = randomTile(random, {below(random, 11)});
    int start = i % 2 ? 64 : 0, end = start + (1 << layout.totalOutBits());
    Elements expected(end - start);
    std::iota(expected.begin(), expected.end(), start);
    checkOperation("%y = tt.make_range {end = " + std::to_string(end) +
                       " : i32, start = " + std::to_string(start) + " : i32}OPERANDS",
                   layout, {}, layout, expected);
  }
}

TEST(Shape, ExpandDimsAndBroadcast) {
  Random random(72);
  for (int i = 0; i < 8; ++i) {
    LinearLayout wide = randomTile(random, {below(random, 5), below(random, 6)});
    unsigned axis = random() % 2;
    LinearLayout slice = sliceLayout(wide, axis).value(), narrow = expandDimsLayout(slice, axis).value();
    Elements elements = randomElements(random, slice), expected;
    checkOperation("%y = tt.expand_dims OPERANDS {axis = " + std::to_string(axis) + " : i32}", slice,
                   {elements}, withOtherRegisters(random, narrow), elements);
    for (uint64_t row = 0; row < wide.outSize(tensorDim(0)); ++row)
      for (uint64_t column = 0; column < wide.outSize(tensorDim(1)); ++column)
        expected.push_back(elements[axis == 0 ? column : row]);
    checkOperation("%y = tt.broadcast OPERANDS", narrow, {elements}, wide, expected);
  }
}

TEST(Shape, TransAndReshape) {
  Random random(73);
  for (int i = 0; i < 8; ++i) {
    LinearLayout layout = randomTile(random, {2, 3, 4});
    LinearLayout turned = withOtherRegisters(random, transposeLayout(layout, {2, 0, 1}).value());
    Elements elements = randomElements(random, layout), expected;
    for (unsigned c = 0; c < 16; ++c)
      for (unsigned a = 0; a < 4; ++a)
        for (unsigned b = 0; b < 8; ++b)
          expected.push_back(elements[(a * 8 + b) * 16 + c]);
    checkOperation("%y = tt.trans OPERANDS {order = array<i32: 2, 0, 1>}", layout, {elements}, turned,
                   expected);
    LinearLayout flat = withOtherRegisters(random, reshapeLayout(layout, {16, 32}).value());
    checkOperation("%y = tt.reshape OPERANDS", layout, {elements}, flat, elements);
  }
}

TEST(Shape, JoinSplitCat) {
  Random random(74);
  for (int i = 0; i < 8; ++i) {
    LinearLayout layout = randomTile(random, {3, 4});
    LinearLayout joined = withOtherRegisters(random, joinLayout(layout).value());
    Elements first = randomElements(random, layout), second = randomElements(random, layout), both;
    for (size_t element = 0; element < first.size(); ++element)
      both.insert(both.end(), {first[element], second[element]});
    checkOperation("%y = tt.join OPERANDS", layout, {first, second}, joined, both);
    LinearLayout half = withOtherRegisters(random, splitLayout(joined)->layout);
    checkOperation("%y, %other = tt.split OPERANDS", joined, {both}, half, first);
    checkOperation("%other, %y = tt.split OPERANDS", joined, {both}, half, second);
    Elements all = first;
    all.insert(all.end(), second.begin(), second.end());
    LinearLayout whole = layout * LinearLayout::identity1D(2, Register, tensorDim(0));
    checkOperation("%y = tt.cat OPERANDS", layout, {first, second}, withOtherRegisters(random, whole), all);
  }
}

} // namespace
