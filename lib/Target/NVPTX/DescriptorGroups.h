//===- DescriptorGroups.h - Which descriptors meet --------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_TARGET_NVPTX_DESCRIPTORGROUPS_H
#define DESPINA_LIB_TARGET_NVPTX_DESCRIPTORGROUPS_H

#include "despina/IR/TT.h"

#include "mlir/IR/BuiltinOps.h"

#include <vector>

namespace despina::nvptx {

/// Values that may be the same descriptor: loops, branches and selections hand them on to each other.
struct DescriptorGroup {
  llvm::SmallVector<mlir::Value, 4> values;
  llvm::SmallVector<tt::MakeTensorDescOp, 2> makers;
  /// Operations that use a value other than by handing it on.
  llvm::SmallVector<mlir::Operation *, 4> users;
  /// Nothing else makes or gets one of the values, such as a call.
  bool isClosed = true;

  /// Whether there is more than the result of one maker.
  bool isHandedOn() const { return values.size() > 1; }
  /// Whether a loop may still use a descriptor of one iteration in the next, where another one is made.
  bool outlivesIteration() const;
};

/// In the order of the text.
std::vector<DescriptorGroup> findDescriptorGroups(mlir::ModuleOp module);

} // namespace despina::nvptx

#endif // DESPINA_LIB_TARGET_NVPTX_DESCRIPTORGROUPS_H
