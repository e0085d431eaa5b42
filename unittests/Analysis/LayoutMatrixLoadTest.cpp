//===- LayoutMatrixLoadTest.cpp - ldmatrix, simulated ---------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "SimulatedCluster.h"

#include "despina/Analysis/LayoutConstructors.h"
#include "despina/Analysis/LayoutMatrixLoad.h"

#include "gtest/gtest.h"

using namespace despina;
using namespace despina::test;
using enum LayoutDim;

namespace {

/// Executes ldmatrix as the PTX manual tells it and compares every register with its element.
void checkLoad(const LinearLayout &memory, const LinearLayout &layout, unsigned bits, bool isTransposed) {
  std::optional<MatrixLoad> load = matchMatrixLoad(memory, layout, bits);
  ASSERT_TRUE(load) << memory.toString() << "\n" << layout.toString();
  EXPECT_EQ(load->isTransposed, isTransposed);
  unsigned perRow = 128 / bits;
  Cluster expected = Cluster::holding(layout), result(32, layout.inSize(Warp), 1, layout.inSize(Register));
  for (unsigned i = 0; i < load->instruction.size(); ++i)
    result.forEach([&](unsigned lane, unsigned warp, unsigned, Registers &registers) {
      for (unsigned matrix = 0; matrix < load->matrices; ++matrix)
        for (unsigned part = 0; part < load->perWord; ++part) {
          unsigned position = load->perWord * (lane % 4) + part;
          unsigned row = isTransposed ? position : lane / 4, column = isTransposed ? lane / 4 : position;
          uint64_t address = load->instruction[i] ^ load->address.value(8 * matrix + row, warp, 0);
          EXPECT_EQ(address % perRow, 0u) << "rows are aligned to 16 bytes";
          registers[(load->firstWord[i] + matrix) * load->perWord + part] =
              memory.applyFlat(address + column);
        }
    });
  EXPECT_TRUE(result.threads == expected.threads) << memory.toString() << "\n" << layout.toString();
  // The rows of a matrix lie in eight different groups of banks; the four matrices are served one by one.
  EXPECT_EQ(bankWavefronts(load->address.lane, perRow, bits), 4u);
}

TEST(MatrixLoad, Operands) {
  for (unsigned bits : {8, 16, 32}) {
    unsigned width = 32 / bits, k = 1024 / bits;
    for (auto operand : {DotOperand::A, DotOperand::B}) {
      bool isA = operand == DotOperand::A;
      LayoutExtents shape = isA ? LayoutExtents{64, k} : LayoutExtents{k, 64};
      LinearLayout layout = mmaOperandLayout(shape, operand, width, {2, 2}).value();
      LayoutOrder along = isA ? LayoutOrder{1, 0} : LayoutOrder{0, 1};
      SwizzledParams swizzle = dotOperandSwizzle(shape, along, isA ? 1 : 0, bits, width).value();
      checkLoad(swizzledSharedLayout(shape, swizzle).value(), layout, bits, false);
      checkLoad(nvmmaSharedLayout(shape, {128, bits, !isA, {}}).value(), layout, bits, false);
      LinearLayout across = nvmmaSharedLayout(shape, {32, bits, isA, {}}).value();
      if (bits == 16)
        checkLoad(nvmmaSharedLayout(shape, {128, bits, isA, {}}).value(), layout, bits, true);
      else
        EXPECT_FALSE(matchMatrixLoad(across, layout, bits));
    }
  }
}

TEST(MatrixLoad, NotForOtherLayouts) {
  LinearLayout memory = nvmmaSharedLayout({64, 64}, {128, 16, false, {}}).value();
  LinearLayout rows = blockedLayout({64, 64}, {{1, 8}, {4, 8}, {4, 1}, {1, 0}, {}}).value();
  EXPECT_FALSE(matchMatrixLoad(memory, rows, 16));
}

} // namespace
