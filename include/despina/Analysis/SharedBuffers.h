//===- SharedBuffers.h - Buffers in shared memory and their lives -*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// The buffers of a kernel: what ttg.local_alloc makes, and the scratch memory that single operations need.
// Which of them a value may refer to, and from when to when each is in use.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_ANALYSIS_SHAREDBUFFERS_H
#define DESPINA_ANALYSIS_SHAREDBUFFERS_H

#include "despina/IR/TTG.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <functional>

namespace despina {

/// Bytes of scratch memory that a target's code for an operation needs in each block; 0 for most.
using ScratchSize = std::function<uint64_t(mlir::Operation *)>;

/// On a ttg.local_alloc: nothing else may have its bytes from its first use to the end of the kernel.
/// Barriers in memory need it: hardware knows them by their address (PTX, mbarrier.inval).
inline constexpr llvm::StringLiteral lastsName = "ttg.lasts";

struct SharedBuffer {
  mlir::Operation *owner = nullptr; ///< ttg.local_alloc, or the operation that needs scratch memory
  uint64_t bytes = 0;
  uint64_t alignment = 16;
  /// In use from the first to the last of these moments, both included. Moments count the beginnings and ends
  /// of operations in the order of the text.
  uint64_t first = 0, last = 0;

  bool overlaps(const SharedBuffer &other) const { return first <= other.last && other.first <= last; }
};

class SharedBuffers {
public:
  using Indices = llvm::SmallVector<unsigned, 2>;

  SharedBuffers(mlir::Operation *function, const ScratchSize &scratchSize);

  llvm::ArrayRef<SharedBuffer> all() const { return buffers_; }
  /// The buffers that a memdesc may be (a part of), or that a token's copies write; indices into `all`.
  llvm::ArrayRef<unsigned> of(mlir::Value value) const;
  /// The scratch buffer of an operation.
  std::optional<unsigned> scratchOf(mlir::Operation *op) const;

private:
  void number(mlir::Operation *op);
  void collect(mlir::Operation *function, const ScratchSize &scratchSize);
  void findAliases(mlir::Operation *function);
  bool flow(mlir::Value from, mlir::Value to);
  bool flowThrough(mlir::Operation *op);
  void extendLives(mlir::Operation *function);
  void extend(unsigned buffer, uint64_t first, uint64_t last);
  void extendToUses(mlir::Value value);

  struct Span {
    uint64_t begin = 0, end = 0;
  };
  llvm::SmallVector<SharedBuffer, 8> buffers_;
  llvm::DenseMap<mlir::Operation *, Span> spans_;
  llvm::DenseMap<mlir::Operation *, unsigned> scratch_;
  llvm::DenseMap<mlir::Value, Indices> aliases_;
  uint64_t clock_ = 0;
};

} // namespace despina

#endif // DESPINA_ANALYSIS_SHAREDBUFFERS_H
