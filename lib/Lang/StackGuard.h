//===- StackGuard.h - Reports deep nesting before the stack ends *- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Code generation recurses over a tree whose depth the parser bounds, but the caller chooses the thread and
// so the stack. The guard compares the current frame address with the thread's own bounds: no allocation and
// no system call after the first use on a thread.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_LANG_STACKGUARD_H
#define DESPINA_LIB_LANG_STACKGUARD_H

#include <cstdint>

namespace despina {

class StackGuard {
public:
  StackGuard();

  /// True when less stack is left than one step of the deepest leaf call may need.
  bool exhausted() const { return reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) < limit_; }

private:
  uintptr_t limit_;
};

} // namespace despina

#endif // DESPINA_LIB_LANG_STACKGUARD_H
