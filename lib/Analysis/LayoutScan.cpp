//===- LayoutScan.cpp - Planning scans ------------------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "despina/Analysis/LayoutShapes.h"

#include "llvm/ADT/STLExtras.h"

namespace despina {

using enum LayoutDim;
using Dims = LinearLayout::Dims;

namespace {

/// The bits of a dimension's index on which an output bit depends.
uint64_t rowOf(const LinearLayout &layout, LayoutDim in, unsigned outBit) {
  uint64_t row = 0;
  llvm::ArrayRef<uint64_t> columns = layout.columnsOf(in);
  for (unsigned bit = 0; bit < columns.size(); ++bit)
    row |= (columns[bit] >> outBit & 1) << bit;
  return row;
}

/// The conversion of totals of blocks of 2^bit positions after which each thread has those of both halves of
/// its block of 2^(bit + 1). The axis is the lowest output.
std::optional<ConversionPlan> exchangeTotals(const LinearLayout &layout, unsigned axisBits, unsigned bit,
                                             const ConversionOptions &options) {
  Dims outs(layout.outs());
  outs.front().bits = axisBits - bit;
  auto total = [&](uint64_t column) {
    return column >> axisBits << (axisBits - bit) | (column & f2::lowMask(axisBits)) >> bit;
  };
  Dims ins(layout.ins());
  f2::Vectors own, both;
  for (uint64_t column : layout.matrix())
    own.push_back(total(column));
  std::optional<LinearLayout> from = LinearLayout::fromColumns(ins, outs, own);
  for (LinearLayout::DimBits &in : ins) {
    if (in.dim == Register) {
      ++in.bits;
      both.push_back(1);
    }
    for (uint64_t column : layout.columnsOf(in.dim))
      both.push_back(total(column) & ~uint64_t(1));
  }
  std::optional<LinearLayout> to = LinearLayout::fromColumns(ins, outs, both);
  return from && to ? planConversion(*from, *to, options) : std::nullopt;
}

} // namespace

std::optional<ScanPlan> planScan(const LinearLayout &layout, unsigned axis,
                                 const ConversionOptions &options) {
  if (!layout.hasOut(tensorDim(axis)) || !layout.isSurjective() || layout.inBits(Register) > 20)
    return std::nullopt;
  llvm::SmallVector<LayoutDim, 4> outs = {tensorDim(axis)};
  for (LayoutDim out : layout.outNames())
    if (out != tensorDim(axis))
      outs.push_back(out);
  LinearLayout whole = layout.transposeOuts(outs).value_or(layout);
  if (!whole.hasIn(Register))
    whole = LinearLayout::zeros1D(1, Register, outs.front()) * whole;
  std::optional<LinearLayout> standard = whole.transposeOuts(outs);
  BitSelection selection = BitSelection::withoutCopies(*standard, Register);
  std::optional<LinearLayout> values = selection.apply(*standard);
  if (!values)
    return std::nullopt;

  ScanPlan plan;
  f2::Space space(values->columnsOf(Register));
  for (uint64_t i = 0; i < values->inSize(Register); ++i)
    plan.values.push_back(selection.oldIndex(i));
  for (uint64_t i = 0; i < standard->inSize(Register); ++i)
    plan.finalIndex.push_back(space.reduce(f2::multiply(standard->columnsOf(Register), i)).tags);

  unsigned axisBits = values->outBits(tensorDim(axis)), registerBits = values->inBits(Register);
  f2::Vectors near(values->columnsOf(Register));
  llvm::append_range(near, values->columnsOf(Lane));
  for (unsigned bit = 0; bit < axisBits; ++bit) {
    ScanStep step;
    if (std::optional<uint64_t> partner = f2::solve(near, uint64_t(1) << bit)) {
      step.registerMask = *partner & f2::lowMask(registerBits);
      step.laneMask = *partner >> registerBits;
    } else {
      step.conversion = exchangeTotals(*values, axisBits, bit, options);
      if (!step.conversion)
        return std::nullopt;
    }
    step.upper = {rowOf(*values, Register, bit), rowOf(*values, Lane, bit), rowOf(*values, Warp, bit),
                  rowOf(*values, Block, bit)};
    plan.steps.push_back(std::move(step));
  }
  return plan;
}

} // namespace despina
