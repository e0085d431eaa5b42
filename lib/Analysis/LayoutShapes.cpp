//===- LayoutShapes.cpp - Layouts of reshaped tiles -----------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "despina/Analysis/LayoutShapes.h"

#include "despina/Analysis/LayoutConstructors.h"

#include "llvm/ADT/STLExtras.h"

namespace despina {

using enum LayoutDim;
using Dims = LinearLayout::Dims;

namespace {

/// Whether the outputs are dim(n-1), ..., dim0.
bool isOfTile(const LinearLayout &layout) {
  unsigned axis = layout.outs().size();
  return llvm::all_of(layout.outs(),
                      [&](const LinearLayout::DimBits &out) { return out.dim == tensorDim(--axis); });
}

/// The same matrix over other axes; their bits in order of the list, last axis first.
std::optional<LinearLayout> withExtents(const LinearLayout &layout, llvm::ArrayRef<unsigned> bitsOfAxes) {
  Dims dims;
  for (unsigned axis = bitsOfAxes.size(); axis-- > 0;)
    dims.push_back({tensorDim(axis), bitsOfAxes[axis]});
  return layout.reshapeOuts(dims);
}

llvm::SmallVector<unsigned, 4> extentBits(const LinearLayout &layout) {
  llvm::SmallVector<unsigned, 4> bits;
  for (unsigned axis = 0; axis < layout.outs().size(); ++axis)
    bits.push_back(layout.outBits(tensorDim(axis)));
  return bits;
}

} // namespace

std::optional<LinearLayout> transposeLayout(const LinearLayout &layout, llvm::ArrayRef<unsigned> order) {
  if (!isOfTile(layout) || order.size() != layout.outs().size())
    return std::nullopt;
  llvm::SmallVector<LayoutDim, 4> outs;
  llvm::SmallVector<unsigned, 4> bits;
  for (unsigned axis : llvm::reverse(order))
    outs.push_back(tensorDim(axis));
  for (unsigned axis : order)
    bits.push_back(layout.outBits(tensorDim(axis)));
  std::optional<LinearLayout> moved = layout.transposeOuts(outs);
  return moved ? withExtents(*moved, bits) : std::nullopt;
}

std::optional<LinearLayout> reshapeLayout(const LinearLayout &layout, llvm::ArrayRef<int64_t> shape) {
  std::optional<Dims> dims = tensorDims(shape);
  if (!dims || !isOfTile(layout))
    return std::nullopt;
  return layout.reshapeOuts(*dims);
}

std::optional<LinearLayout> expandDimsLayout(const LinearLayout &layout, unsigned axis) {
  if (!isOfTile(layout) || axis > layout.outs().size())
    return std::nullopt;
  llvm::SmallVector<unsigned, 4> bits = extentBits(layout);
  bits.insert(bits.begin() + axis, 0);
  return withExtents(layout, bits);
}

std::optional<LinearLayout> dropUnitAxis(const LinearLayout &layout, unsigned axis) {
  if (!isOfTile(layout) || axis >= layout.outs().size() || layout.outBits(tensorDim(axis)))
    return std::nullopt;
  llvm::SmallVector<unsigned, 4> bits = extentBits(layout);
  bits.erase(bits.begin() + axis);
  return withExtents(layout, bits);
}

std::optional<LinearLayout> joinLayout(const LinearLayout &layout) {
  if (!isOfTile(layout))
    return std::nullopt;
  // In the row-major order of the result the new axis is the lowest bit, as it is of the register.
  Dims ins(layout.ins());
  for (LinearLayout::DimBits &in : ins)
    in.bits += in.dim == Register;
  if (!layout.hasIn(Register))
    ins.insert(ins.begin(), {Register, 1});
  f2::Vectors columns;
  for (const LinearLayout::DimBits &in : ins) {
    if (in.dim == Register)
      columns.push_back(1);
    for (uint64_t column : layout.columnsOf(in.dim))
      columns.push_back(column << 1);
  }
  if (layout.totalOutBits() >= 64)
    return std::nullopt;
  Dims outs = {{tensorDim(layout.outs().size()), 1}};
  llvm::append_range(outs, layout.outs());
  return LinearLayout::fromColumns(ins, outs, columns);
}

std::optional<SplitLayout> splitLayout(const LinearLayout &layout) {
  if (!isOfTile(layout) || layout.outs().empty() || layout.outs().front().bits != 1)
    return std::nullopt;
  // A register mask that changes the last axis only, and registers that have its first half.
  llvm::ArrayRef<uint64_t> registers = layout.columnsOf(Register);
  std::optional<uint64_t> other = f2::solve(registers, 1);
  if (!other)
    return std::nullopt;
  for (LayoutDim in : layout.inNames())
    if (in != Register && llvm::any_of(layout.columnsOf(in), [](uint64_t column) { return column & 1; }))
      return std::nullopt;
  f2::Vectors halves;
  for (uint64_t column : registers)
    halves.push_back(column & 1);
  f2::Vectors first = f2::kernel(halves);

  Dims ins(layout.ins()), outs(layout.outs().drop_front());
  f2::Vectors columns;
  for (LinearLayout::DimBits &in : ins) {
    if (in.dim == Register)
      in.bits = first.size();
    for (uint64_t mask : first)
      if (in.dim == Register)
        columns.push_back(f2::multiply(registers, mask) >> 1);
    if (in.dim != Register)
      for (uint64_t column : layout.columnsOf(in.dim))
        columns.push_back(column >> 1);
  }
  std::optional<LinearLayout> half = LinearLayout::fromColumns(ins, outs, columns);
  if (!half)
    return std::nullopt;
  SplitLayout result;
  result.layout = *half;
  for (uint64_t i = 0; i < uint64_t(1) << first.size(); ++i) {
    unsigned source = f2::multiply(first, i);
    result.sources[0].push_back(source);
    result.sources[1].push_back(source ^ *other);
  }
  return result;
}

std::optional<LinearLayout> catLayout(const LinearLayout &layout) {
  if (!isOfTile(layout) || layout.outs().empty() || !layout.hasIn(Register) || layout.totalOutBits() >= 64)
    return std::nullopt;
  // Axis 0 has the highest bits of the element.
  Dims ins(layout.ins()), outs(layout.outs());
  ++outs.back().bits;
  f2::Vectors columns;
  for (LinearLayout::DimBits &in : ins) {
    llvm::append_range(columns, layout.columnsOf(in.dim));
    if (in.dim != Register)
      continue;
    ++in.bits;
    columns.push_back(uint64_t(1) << layout.totalOutBits());
  }
  return LinearLayout::fromColumns(ins, outs, columns);
}

std::optional<LinearLayout> catOperandLayout(const LinearLayout &layout) {
  if (!isOfTile(layout) || layout.outs().empty() || !layout.outs().back().bits || !layout.inBits(Register))
    return std::nullopt;
  LinearLayout half = layout.resizeIn(Register, layout.inBits(Register) - 1);
  half = half.resizeOut(tensorDim(0), layout.outs().back().bits - 1);
  return catLayout(half) == layout ? std::optional(half) : std::nullopt;
}

std::optional<llvm::SmallVector<unsigned, 16>> broadcastRegisters(const LinearLayout &operand,
                                                                  const LinearLayout &result) {
  if (operand.outNames() != result.outNames())
    return std::nullopt;
  LinearLayout narrow = result;
  for (const LinearLayout::DimBits &out : operand.outs()) {
    if (out.bits != 0 && out.bits != result.outBits(out.dim))
      return std::nullopt;
    if (out.bits == 0)
      narrow = narrow.resizeOut(out.dim, 0);
  }
  ConversionOptions options;
  options.allowShuffle = false;
  std::optional<ConversionPlan> plan = planConversion(operand, narrow, options);
  if (!plan || !plan->shuffle.before.empty() || !plan->shuffle.after.empty())
    return std::nullopt;
  if (plan->kind == ConversionKind::None)
    return plan->finalIndex;
  if (plan->kind != ConversionKind::Registers)
    return std::nullopt;
  llvm::SmallVector<unsigned, 16> from(plan->destinationRegisters, 0);
  for (const ShuffleRound &round : plan->shuffle.rounds)
    for (ShuffleRound::Value value : round.values)
      from[value.to] = value.from;
  for (unsigned &index : plan->finalIndex)
    index = from[index];
  return plan->finalIndex;
}

} // namespace despina
