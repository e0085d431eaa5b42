//===- Rewrite.h - Greedy rewriting of tile IR ------------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_TRANSFORMS_REWRITE_H
#define DESPINA_LIB_TRANSFORMS_REWRITE_H

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace despina {

/// Tile IR has single blocks inside functions, so there are no regions to simplify.
inline mlir::GreedyRewriteConfig tileRewriteConfig() {
  mlir::GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(mlir::GreedySimplifyRegionLevel::Disabled);
  return config;
}

} // namespace despina

#endif // DESPINA_LIB_TRANSFORMS_REWRITE_H
