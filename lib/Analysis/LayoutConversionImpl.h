//===- LayoutConversionImpl.h - Pieces of conversion planning ---*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_ANALYSIS_LAYOUTCONVERSIONIMPL_H
#define DESPINA_LIB_ANALYSIS_LAYOUTCONVERSIONIMPL_H

#include "despina/Analysis/LayoutConversion.h"

namespace despina::layout_detail {

/// The parts of a distributed layout with outputs as one number.
struct PlaceBases {
  f2::Vectors registers, lanes, warps, blocks;

  explicit PlaceBases(const LinearLayout &layout);
};

/// The plan within warps; nothing if C is none that one pass of shuffles can do. \p source and \p
/// destination are in standard form, \p destination without copies in registers, and \p places is C.
std::optional<ShufflePlan> planShuffle(const LinearLayout &source, const LinearLayout &destination,
                                       const LinearLayout &places, unsigned elementBits);

/// The plan through shared memory, for layouts as above.
std::optional<SharedPlan> planShared(const LinearLayout &source, const LinearLayout &destination,
                                     const ConversionOptions &options);

} // namespace despina::layout_detail

#endif // DESPINA_LIB_ANALYSIS_LAYOUTCONVERSIONIMPL_H
