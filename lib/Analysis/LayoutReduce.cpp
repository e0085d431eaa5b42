//===- LayoutReduce.cpp - Planning reductions -----------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "despina/Analysis/LayoutConstructors.h"
#include "despina/Analysis/LayoutShapes.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <bit>

namespace despina {

using enum LayoutDim;
using Dims = LinearLayout::Dims;

namespace {

/// The tile of partial results: outputs are the partial results (called Vector here, lowest) and the other
/// axes.
LinearLayout partialLayout(const LinearLayout &layout, unsigned axis) {
  llvm::SmallVector<LayoutDim, 4> outs = {tensorDim(axis)};
  for (LayoutDim out : layout.outNames())
    if (out != tensorDim(axis))
      outs.push_back(out);
  return layout.transposeOuts(outs).value_or(layout).renameOut(tensorDim(axis), Vector);
}

/// Reduces the dimension Vector of a layout as far as a warp can.
class StageBuilder {
public:
  explicit StageBuilder(const LinearLayout &layout) : layout(layout), axisBits(layout.outBits(Vector)) {}

  std::optional<ReduceStage> build() {
    combineRegisters();
    combineLanes();
    std::optional<LinearLayout> left = remaining();
    if (!left)
      return std::nullopt;
    stage.layout = *left;
    return std::move(stage);
  }

private:
  uint64_t otherPart(uint64_t column) const { return column >> axisBits; }
  uint64_t axisPart(uint64_t column) const { return column & f2::lowMask(axisBits); }

  /// Registers without copies, of which those that differ along the axis only are combined.
  void combineRegisters() {
    BitSelection selection = BitSelection::withoutCopies(layout, Register);
    f2::Vectors kept, others;
    for (unsigned bit : selection.bits()) {
      kept.push_back(layout.columnsOf(Register)[bit]);
      others.push_back(otherPart(kept.back()));
    }
    f2::Vectors along = f2::kernel(others);
    for (uint64_t mask : along)
      counted.insert(axisPart(f2::multiply(kept, mask)));
    uint64_t free = f2::freeVariables(others);
    for (unsigned bit = 0; bit < kept.size(); ++bit)
      if (!(free >> bit & 1))
        results.push_back(uint64_t(1) << bit);
    for (uint64_t mask : results)
      registers.push_back(f2::multiply(kept, mask));
    for (uint64_t i = 0; i < uint64_t(1) << results.size(); ++i) {
      auto &group = stage.groups.emplace_back();
      for (uint64_t j = 0; j < uint64_t(1) << along.size(); ++j)
        group.push_back(selection.oldIndex(f2::multiply(results, i) ^ f2::multiply(along, j)));
    }
  }

  void combineLanes() {
    f2::Vectors columns = registers, others;
    llvm::append_range(columns, layout.columnsOf(Lane));
    for (uint64_t column : columns)
      others.push_back(otherPart(column));
    for (uint64_t step : f2::kernel(others)) {
      // What leads to places that have been counted is a copy.
      if (counted.insert(axisPart(f2::multiply(columns, step))))
        stage.laneSteps.push_back({step & f2::lowMask(registers.size()), step >> registers.size()});
    }
  }

  /// The layout of what is left: the axis modulo what has been counted.
  std::optional<LinearLayout> remaining() const {
    unsigned left = axisBits - counted.dimension();
    // Coordinates of a complement; the tags of counted vectors are 0.
    f2::Space space = counted;
    unsigned next = 0;
    for (unsigned bit = 0; bit < axisBits; ++bit)
      if (space.insert(uint64_t(1) << bit, uint64_t(1) << next))
        ++next;
    Dims ins(layout.ins()), outs(layout.outs());
    outs.front().bits = left;
    f2::Vectors columns;
    for (LinearLayout::DimBits &in : ins) {
      llvm::ArrayRef<uint64_t> old = in.dim == Register ? registers : layout.columnsOf(in.dim);
      in.bits = old.size();
      for (uint64_t column : old)
        columns.push_back(otherPart(column) << left | space.reduce(axisPart(column)).tags);
    }
    return LinearLayout::fromColumns(ins, outs, columns);
  }

  const LinearLayout &layout;
  unsigned axisBits;
  /// Along the axis, what has been combined.
  f2::Space counted;
  /// Masks of registers that hold results, and their columns.
  f2::Vectors results, registers;
  ReduceStage stage;
};

/// Partial results along lanes, and along registers if there are more; the rest of the tile over what is left
/// of lanes, then warps, then registers. Blocks keep their part of the other axes.
std::optional<LinearLayout> gatheredLayout(const LinearLayout &partial) {
  unsigned axisBits = partial.outBits(Vector);
  f2::Space covered;
  f2::Vectors rest, blocks;
  for (uint64_t column : partial.columnsOf(Block)) {
    uint64_t other = column >> axisBits << axisBits;
    blocks.push_back(covered.insert(other) ? other : 0);
  }
  for (unsigned bit = 0; bit < partial.totalOutBits(); ++bit)
    if (covered.insert(uint64_t(1) << bit))
      rest.push_back(uint64_t(1) << bit);
  // The bits of partial results are the lowest, so lanes get them first.
  llvm::ArrayRef<uint64_t> left = rest;
  f2::Vectors lanes, warps, registers;
  auto fill = [&](f2::Vectors &list, unsigned bits, unsigned avoid) {
    while (list.size() < bits) {
      bool usable = !left.empty() && std::countr_zero(left.front()) >= static_cast<int>(avoid);
      list.push_back(usable ? left.front() : 0);
      left = left.drop_front(usable ? 1 : 0);
    }
  };
  fill(lanes, partial.inBits(Lane), 0);
  // Partial results that found no lane go to registers, never to warps.
  while (!left.empty() && std::countr_zero(left.front()) < static_cast<int>(axisBits)) {
    registers.push_back(left.front());
    left = left.drop_front();
  }
  fill(warps, partial.inBits(Warp), axisBits);
  llvm::append_range(registers, left);
  Dims ins = {{Register, static_cast<unsigned>(registers.size())},
              {Lane, static_cast<unsigned>(lanes.size())},
              {Warp, static_cast<unsigned>(warps.size())},
              {Block, static_cast<unsigned>(blocks.size())}};
  f2::Vectors columns = registers;
  for (const f2::Vectors *list : {&lanes, &warps, &blocks})
    llvm::append_range(columns, *list);
  return LinearLayout::fromColumns(ins, partial.outs(), columns);
}

/// Without the axis; later axes move down.
LinearLayout withoutPartials(const LinearLayout &layout, unsigned axis) {
  llvm::SmallVector<LayoutDim, 4> others(llvm::drop_begin(layout.outNames()));
  LinearLayout result = layout.sublayout(layout.inNames(), others);
  for (unsigned later = axis + 1; later <= others.size(); ++later)
    result = result.renameOut(tensorDim(later), tensorDim(later - 1));
  return result;
}

} // namespace

std::optional<ReducePlan> planReduce(const LinearLayout &layout, unsigned axis,
                                     const ConversionOptions &options) {
  std::optional<LinearLayout> result = sliceLayout(layout, axis);
  if (!result || !layout.isSurjective() || layout.inBits(Register) > 20)
    return std::nullopt;
  ReducePlan plan;
  plan.result = *result;
  std::optional<ReduceStage> first = StageBuilder(partialLayout(layout, axis)).build();
  if (!first)
    return std::nullopt;
  LinearLayout partial = first->layout;
  plan.stages.push_back(std::move(*first));
  if (partial.outBits(Vector)) {
    std::optional<LinearLayout> gathered = gatheredLayout(partial);
    if (!gathered)
      return std::nullopt;
    std::optional<ConversionPlan> conversion = planConversion(partial, *gathered, options);
    std::optional<ReduceStage> second = StageBuilder(*gathered).build();
    if (!conversion || !second || second->layout.outBits(Vector))
      return std::nullopt;
    second->conversion = std::move(*conversion);
    partial = second->layout;
    plan.stages.push_back(std::move(*second));
  }
  std::optional<ConversionPlan> finish = planConversion(withoutPartials(partial, axis), *result, options);
  if (!finish)
    return std::nullopt;
  plan.finish = std::move(*finish);
  return plan;
}

} // namespace despina
