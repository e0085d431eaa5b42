//===- ThreadData.h - Values between threads and shared memory --*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// What moves tiles moves bits: elements are integers of the width that they have in memory, packed into words
// of 32 bits where they are narrower.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_TARGET_NVPTX_THREADDATA_H
#define DESPINA_LIB_TARGET_NVPTX_THREADDATA_H

#include "ThreadEmitter.h"

namespace despina::nvptx {

/// An element as the integer that memory has for it: i1 as a byte, pointers as 64 bits.
mlir::Value toBits(ThreadEmitter &e, mlir::Value value);
/// The inverse; `type` is that of a register.
mlir::Value fromBits(ThreadEmitter &e, mlir::Value bits, mlir::Type type);

/// Integers of one width in words of 32 bits, the first in the lowest bits; at 64 bits, low words first. What
/// is missing in the last word is unspecified.
Registers packWords(ThreadEmitter &e, llvm::ArrayRef<mlir::Value> bits);
/// The inverse: `count` integers of `width` bits.
Registers unpackWords(ThreadEmitter &e, llvm::ArrayRef<mlir::Value> words, unsigned width, unsigned count);

/// Whose value a thread gets: of the lane that differs from its own by `laneXor`, or of a lane of its choice.
struct SourceLane {
  uint64_t laneXor = 0;
  mlir::Value lane; ///< i32; null: the own lane ^ laneXor
};
/// A word of 32 bits of another lane of the warp.
mlir::Value shuffleWord(ThreadEmitter &e, mlir::Value word, const SourceLane &from);
/// The same for registers of any one type; narrow ones travel together.
Registers shuffleValues(ThreadEmitter &e, llvm::ArrayRef<mlir::Value> values, const SourceLane &from);
inline mlir::Value shuffleValue(ThreadEmitter &e, mlir::Value value, const SourceLane &from) {
  return shuffleValues(e, value, from).front();
}

/// Whether an odd number of the masked bits of where the thread is are set; null if no bit is asked for.
mlir::Value parity(ThreadEmitter &e, uint64_t laneMask, uint64_t warpMask, uint64_t blockMask = 0);

/// Addresses in shared memory: the element at `base` plus (place of the thread ^ window ^ offset).
class SharedAddresses {
public:
  /// `window` is what a buffer has (ThreadEmitter.h), null for none.
  SharedAddresses(ThreadEmitter &e, mlir::Value base, unsigned elementBits, const ThreadTerms &terms,
                  mlir::Value window = {});
  mlir::Value at(uint64_t offset);

private:
  ThreadEmitter &e;
  mlir::Value base;
  mlir::Type element;
  /// What differs between threads or is known at run time only, and which bits it may have.
  mlir::Value index;
  uint64_t indexBits;
  uint64_t windowOffset = 0;
  /// By the offset bits that meet bits of the index.
  llvm::DenseMap<uint64_t, mlir::Value> addresses;
};

/// Consecutive elements of a width from shared memory, in one access.
Registers loadShared(ThreadEmitter &e, mlir::Value address, unsigned width, unsigned count);
void storeShared(ThreadEmitter &e, mlir::Value address, llvm::ArrayRef<mlir::Value> bits);

} // namespace despina::nvptx

#endif // DESPINA_LIB_TARGET_NVPTX_THREADDATA_H
