//===- LayoutPropagation.h - One layout for what belongs together -*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_TRANSFORMS_LAYOUTPROPAGATION_H
#define DESPINA_LIB_TRANSFORMS_LAYOUTPROPAGATION_H

#include "LayoutRewrite.h"

namespace despina {

/// Carries the layouts of loads, dots and whatever else has fixed ones forward to what is computed from them,
/// through conversions, control flow and all operations with a tie. Where several arrive, the one that leaves
/// the least to convert wins. Types are changed in place; conversions stand where operands do not fit. With
/// `fromConversions` the sources of conversions start from their layouts too: after rematerialize, those are
/// what can only be computed in the layout that it has.
void propagateLayouts(mlir::Operation *root, bool fromConversions = false);

} // namespace despina

#endif // DESPINA_LIB_TRANSFORMS_LAYOUTPROPAGATION_H
