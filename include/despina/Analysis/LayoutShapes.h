//===- LayoutShapes.h - Layouts of reshaped and reduced tiles ---*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Operations on the shape of a tile need not move anything: each has a layout of the result in which every
// register stays what it is (or is renamed). Reductions combine registers, then lanes, and only then go
// through shared memory. Layouts here map (register, lane, warp, block) to dim(n-1), ..., dim0, in this
// order.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_ANALYSIS_LAYOUTSHAPES_H
#define DESPINA_ANALYSIS_LAYOUTSHAPES_H

#include "despina/Analysis/LayoutConversion.h"

namespace despina {

/// Axis i of the result is axis order[i] of the operand.
std::optional<LinearLayout> transposeLayout(const LinearLayout &layout, llvm::ArrayRef<unsigned> order);
/// The same row-major sequence of elements, cut into other axes. Also what the operand must have for a given
/// result.
std::optional<LinearLayout> reshapeLayout(const LinearLayout &layout, llvm::ArrayRef<int64_t> shape);
/// A new axis of extent 1.
std::optional<LinearLayout> expandDimsLayout(const LinearLayout &layout, unsigned axis);
/// The operand of expandDims: without an axis of extent 1.
std::optional<LinearLayout> dropUnitAxis(const LinearLayout &layout, unsigned axis);
/// Two tiles side by side in a new last axis of extent 2: register 2 i + j of the result is register i of
/// operand j.
std::optional<LinearLayout> joinLayout(const LinearLayout &layout);

/// The inverse of a join.
struct SplitLayout {
  LinearLayout layout;
  /// Register i of result j is register sources[j][i] of the operand.
  llvm::SmallVector<unsigned, 16> sources[2];
};
/// Nothing unless the last axis has extent 2 and both its halves are in each thread: then a conversion must
/// come first.
std::optional<SplitLayout> splitLayout(const LinearLayout &layout);

/// Two tiles one after the other along axis 0: with R registers, register i of the result is register i of
/// the first operand, register R + i that of the second.
std::optional<LinearLayout> catLayout(const LinearLayout &layout);
/// The inverse; nothing unless the layout is of that form.
std::optional<LinearLayout> catOperandLayout(const LinearLayout &layout);

/// For each register of \p result, the register of \p operand with its element, extents of 1 having become
/// larger. Nothing when some element is in another thread.
std::optional<llvm::SmallVector<unsigned, 16>> broadcastRegisters(const LinearLayout &operand,
                                                                  const LinearLayout &result);

/// One round of a reduction: a conversion, then in each thread, then between lanes.
struct ReduceStage {
  /// Before anything else; nothing in the first stage.
  std::optional<ConversionPlan> conversion;
  /// Value i is the combination of these registers, in this order.
  llvm::SmallVector<llvm::SmallVector<unsigned, 8>, 8> groups;
  /// Then, one after the other: value i is combined with value i ^ registerMask of lane ^ laneMask.
  struct LaneStep {
    uint64_t registerMask;
    uint64_t laneMask;
  };
  llvm::SmallVector<LaneStep, 5> laneSteps;
  /// What the values are then: of partial results (an axis in place of the one that is reduced) and the other
  /// axes.
  LinearLayout layout;
};

struct ReducePlan {
  llvm::SmallVector<ReduceStage, 2> stages;
  /// From the last stage to \p result.
  ConversionPlan finish;
  /// The parent's slice.
  LinearLayout result;
};

/// Reduces an axis with a combination that is associative and commutative.
///
/// Places whose difference x has L(x) = 0 on all other axes are to be combined: the kernel of that part. It
/// is taken apart in the order register, lane, warp, block. Vectors of the kernel whose axis part is a sum of
/// those of earlier ones lead to copies of what has been counted; they are left out. If warps (blocks) are
/// left, the partial results are brought to a layout that has them along lanes, and in registers beyond that,
/// which a second stage finishes.
std::optional<ReducePlan> planReduce(const LinearLayout &layout, unsigned axis,
                                     const ConversionOptions &options = {});

/// One doubling of a scan: with P the prefix and T the total of the block of 2^b positions that a value is
/// in, and T' the total of the other half of the block of 2^(b + 1),
///   P = T' + P in upper halves;   T = T' + T in upper halves, T + T' in lower ones.
struct ScanStep {
  /// T' is that of value i ^ registerMask of lane ^ laneMask; unless there is a conversion of T, of which
  /// value 2 i + h is the total of half h for value i.
  uint64_t registerMask = 0;
  uint64_t laneMask = 0;
  std::optional<ConversionPlan> conversion;
  /// A value is in an upper half if the parity of the masked bits of its index and of where its thread is, is
  /// odd.
  struct {
    uint64_t registers = 0;
    uint64_t lane = 0;
    uint64_t warp = 0;
    uint64_t block = 0;
  } upper;
};

struct ScanPlan {
  /// Value i starts, as prefix and total, as this register of the operand.
  llvm::SmallVector<unsigned, 16> values;
  /// One for each bit of the axis, from the lowest.
  llvm::SmallVector<ScanStep, 8> steps;
  /// Register i of the result, in the layout of the operand, is the prefix of this value.
  llvm::SmallVector<unsigned, 16> finalIndex;
};

/// An inclusive scan along an axis with a combination that is associative; it need not be commutative. For
/// each bit of the axis, the place where only that bit of the element differs is the solution of an equation.
/// It is sought in the thread first, then in the warp; failing that, totals go through shared memory. This
/// asks nothing of the order in which registers, lanes and warps lie along the axis.
std::optional<ScanPlan> planScan(const LinearLayout &layout, unsigned axis,
                                 const ConversionOptions &options = {});

} // namespace despina

#endif // DESPINA_ANALYSIS_LAYOUTSHAPES_H
