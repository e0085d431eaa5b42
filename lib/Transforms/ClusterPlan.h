//===- ClusterPlan.h - Which block of a cluster loads what ------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_TRANSFORMS_CLUSTERPLAN_H
#define DESPINA_LIB_TRANSFORMS_CLUSTERPLAN_H

#include "despina/Analysis/LayoutCluster.h"
#include "despina/IR/TTG.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace despina {

/// Values that would best have one layout: those that element-wise operations, control flow and conversions
/// tie.
class FlowClasses {
public:
  explicit FlowClasses(mlir::Operation *root);
  const void *leader(mlir::Value value) const;

private:
  llvm::EquivalenceClasses<const void *> classes;
};

/// How blocks share the tiles of products: each loads what its part of the result needs. Tiles that are
/// wanted in different ways are whole in each block.
class ClusterPlan {
public:
  ClusterPlan(mlir::Operation *root, const FlowClasses &flow);
  /// For values of a class; none where no product asks for anything.
  std::optional<ClusterSplit> of(const void *leader) const;

private:
  /// Whether that is new.
  bool ask(mlir::Value value, const ClusterSplit &split);

  const FlowClasses &flow;
  llvm::DenseMap<const void *, ClusterSplit> splits;
};

} // namespace despina

#endif // DESPINA_LIB_TRANSFORMS_CLUSTERPLAN_H
