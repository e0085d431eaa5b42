//===- InlinePTX.h - Instructions that NVVM lacks ---------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// All text of PTX that the thread emitter writes itself, as functions. Data are words: integers of 16, 32 or
// 64 bits; 8 bits travel in registers of 16.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_TARGET_NVPTX_INLINEPTX_H
#define DESPINA_LIB_TARGET_NVPTX_INLINEPTX_H

#include "ThreadEmitter.h"

namespace despina::nvptx {

/// Where in global memory, and whether at all.
struct GlobalPlace {
  mlir::Value pointer;
  int64_t bytes = 0;     ///< added to the pointer
  mlir::Value predicate; ///< i1; null: always
};

/// What the program says of caches.
struct CacheHints {
  tt::CacheModifier cache = tt::CacheModifier::NONE;
  tt::EvictionPolicy evict = tt::EvictionPolicy::NORMAL;
  bool isVolatile = false;

  bool isNone() const {
    return cache == tt::CacheModifier::NONE && evict == tt::EvictionPolicy::NORMAL && !isVolatile;
  }
};

/// Reads one word for each of `otherwise` (1, 2 or 4 of one type), which are the results where the predicate
/// is false.
Registers loadGlobal(ThreadEmitter &e, const GlobalPlace &place, llvm::ArrayRef<mlir::Value> otherwise,
                     const CacheHints &hints);
void storeGlobal(ThreadEmitter &e, const GlobalPlace &place, llvm::ArrayRef<mlir::Value> words,
                 const CacheHints &hints);

/// Starts a copy of 4, 8 or 16 bytes from global to shared memory. Where `isRead` (i1; null: always) is
/// false, zeros are written.
void copyAsync(ThreadEmitter &e, mlir::Value shared, const GlobalPlace &place, unsigned bytes,
               mlir::Value isRead, const CacheHints &hints);

/// An atomic instruction, taken apart.
struct AtomicForm {
  std::string operation; ///< "add.noftz", "max", "cas"
  std::string vector;    ///< ".v4" or nothing
  std::string type;      ///< "f16x2", "u32", "b64"
  tt::MemSemantic order = tt::MemSemantic::RELAXED;
  tt::MemSyncScope scope = tt::MemSyncScope::GPU;
};
/// The old values, one for each of `words` (the operand; of a compare-and-swap, what to compare with and then
/// the new value: one result), 0 where the predicate is false. Without `wantsResult`, a reduction: none.
Registers atomicGlobal(ThreadEmitter &e, const GlobalPlace &place, const AtomicForm &form,
                       llvm::ArrayRef<mlir::Value> words, bool wantsResult);
/// Orders accesses before it with those after it, as the threads of the scope see them, where the predicate
/// holds (null: always).
void fence(ThreadEmitter &e, tt::MemSyncScope scope, mlir::Value predicate);

} // namespace despina::nvptx

#endif // DESPINA_LIB_TARGET_NVPTX_INLINEPTX_H
