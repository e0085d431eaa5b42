//===- SharedBuffers.cpp - Buffers in shared memory and their lives -------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "despina/Analysis/SharedBuffers.h"

#include "despina/Analysis/ValueFlow.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace despina {

SharedBuffers::SharedBuffers(Operation *function, const ScratchSize &scratchSize) {
  number(function);
  collect(function, scratchSize);
  findAliases(function);
  extendLives(function);
}

llvm::ArrayRef<unsigned> SharedBuffers::of(Value value) const {
  auto found = aliases_.find(value);
  return found == aliases_.end() ? llvm::ArrayRef<unsigned>() : llvm::ArrayRef<unsigned>(found->second);
}

std::optional<unsigned> SharedBuffers::scratchOf(Operation *op) const {
  auto found = scratch_.find(op);
  return found == scratch_.end() ? std::nullopt : std::optional(found->second);
}

void SharedBuffers::number(Operation *op) {
  uint64_t begin = clock_++;
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Operation &child : block)
        number(&child);
  spans_[op] = {begin, clock_++};
}

/// What the layout asks for: the pattern of a swizzle must start where the hardware computes it from.
static uint64_t alignmentOf(ttg::LocalAllocOp alloc) {
  uint64_t alignment = alloc.getAlignment() ? *alloc.getAlignment() : 16;
  return std::max<uint64_t>(alignment, 16);
}

void SharedBuffers::collect(Operation *function, const ScratchSize &scratchSize) {
  function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    Span span = spans_[op];
    if (auto alloc = dyn_cast<ttg::LocalAllocOp>(op)) {
      aliases_[alloc.getResult()] = {static_cast<unsigned>(buffers_.size())};
      buffers_.push_back({op, static_cast<uint64_t>(alloc.getType().getAllocBytes()), alignmentOf(alloc),
                          span.begin, span.end});
      return;
    }
    uint64_t bytes = scratchSize(op);
    if (bytes == 0)
      return;
    scratch_[op] = static_cast<unsigned>(buffers_.size());
    buffers_.push_back({op, bytes, 16, span.begin, span.end});
  });
}

//===----------------------------------------------------------------------===//
// Aliases
//===----------------------------------------------------------------------===//

/// A buffer is in use as long as copies into it may be under way, which tokens stand for.
static bool refersToBuffers(Value value) { return isa<ttg::MemDescType, ttg::TokenType>(value.getType()); }

/// True when `to` may now be more buffers than before.
bool SharedBuffers::flow(Value from, Value to) {
  if (!refersToBuffers(to))
    return false;
  Indices source = aliases_.lookup(from);
  Indices &target = aliases_[to];
  bool changed = false;
  for (unsigned buffer : source)
    if (!llvm::is_contained(target, buffer)) {
      target.push_back(buffer);
      changed = true;
    }
  return changed;
}

bool SharedBuffers::flowThrough(Operation *op) {
  bool changed = false;
  auto flowAll = [&](ValueRange from, ValueRange to) {
    for (auto [source, target] : llvm::zip(from, to))
      changed |= flow(source, target);
  };
  if (isa<scf::ForOp, scf::WhileOp, scf::IfOp>(op)) {
    forEachValueFlow(op, [&](OpOperand &from, Value to) { changed |= flow(from.get(), to); });
  } else if (auto partitions = dyn_cast<ttg::WarpSpecializeOp>(op)) {
    for (Region &partition : partitions.getPartitions())
      flowAll(partitions.getCaptures(), partition.getArguments());
    flowAll(partitions.getDefaultRegion().front().getTerminator()->getOperands(), partitions.getResults());
  } else if (!isa<ttg::LocalAllocOp>(op)) {
    // Views, selections, waits that pass buffers on; copies and the tokens that stand for them.
    for (Value result : op->getResults())
      for (Value operand : op->getOperands())
        if (refersToBuffers(operand))
          changed |= flow(operand, result);
  }
  return changed;
}

void SharedBuffers::findAliases(Operation *function) {
  bool changed = true;
  while (changed) {
    changed = false;
    function->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op != function)
        changed |= flowThrough(op);
    });
  }
}

//===----------------------------------------------------------------------===//
// Lives
//===----------------------------------------------------------------------===//

void SharedBuffers::extend(unsigned buffer, uint64_t first, uint64_t last) {
  buffers_[buffer].first = std::min(buffers_[buffer].first, first);
  buffers_[buffer].last = std::max(buffers_[buffer].last, last);
}

/// A use inside a loop that the value comes into from outside lasts as long as the loop.
void SharedBuffers::extendToUses(Value value) {
  Block *home = value.getParentBlock();
  for (Operation *user : value.getUsers())
    if (Operation *ancestor = home->findAncestorOpInBlock(*user))
      for (unsigned buffer : of(value))
        extend(buffer, spans_[ancestor].begin, spans_[ancestor].end);
}

void SharedBuffers::extendLives(Operation *function) {
  auto wholeLife = [&](Value value, Operation *op) {
    for (unsigned buffer : of(value))
      extend(buffer, spans_[op].begin, spans_[op].end);
  };
  function->walk([&](Operation *op) {
    for (Value result : op->getResults())
      extendToUses(result);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments()) {
          extendToUses(argument);
          // What is carried around a loop is in use all the time.
          wholeLife(argument, op);
        }
    // Partitions run at the same time as everything else in the operation.
    if (isa<ttg::WarpSpecializeOp>(op))
      for (SharedBuffer &buffer : buffers_)
        if (op->isProperAncestor(buffer.owner)) {
          buffer.first = std::min(buffer.first, spans_[op].begin);
          buffer.last = std::max(buffer.last, spans_[op].end);
        }
  });
  for (SharedBuffer &buffer : buffers_)
    if (buffer.owner->hasAttr(lastsName))
      buffer.last = spans_[function].end;
}

} // namespace despina
