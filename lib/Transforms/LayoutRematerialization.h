//===- LayoutRematerialization.h - Computing rather than converting -*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_TRANSFORMS_LAYOUTREMATERIALIZATION_H
#define DESPINA_LIB_TRANSFORMS_LAYOUTREMATERIALIZATION_H

#include "LayoutRewrite.h"

namespace despina {

/// For each conversion, looks back along what its source is computed from for the cheapest way to get it in
/// the wanted layout: computing it again in that layout as far back as that is cheaper, converting there. So
/// ranges and constants need no conversion, extensions and broadcasts are converted before they grow, and
/// what does not change in a loop is converted before it. Loops and branches carry the tile in both layouts
/// if need be; a layout that nobody uses any more is for removeDeadFlow.
void rematerialize(mlir::Operation *root);

/// Takes tiles out of loops that only the loop itself still computes with, and operations without use.
void removeDeadFlow(mlir::Operation *root);

} // namespace despina

#endif // DESPINA_LIB_TRANSFORMS_LAYOUTREMATERIALIZATION_H
