//===- EagerSteps.h - Element-wise operations, done and recorded *- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_INTERPRETER_EAGERSTEPS_H
#define DESPINA_LIB_INTERPRETER_EAGERSTEPS_H

#include "despina/Interpreter/EagerBuilder.h"

namespace despina::interpreter {

template <typename F> Handle EagerBuilder::elementwise(std::initializer_list<Handle> operands, F work) {
  if (isDead())
    return placeholder();
  llvm::SmallVector<Tile *, 3> tiles;
  for (Handle operand : operands)
    tiles.push_back(tileOf(operand));
  Handle result = keep(work(llvm::ArrayRef<Tile *>(tiles)));
  if (sanitizer_)
    carryUndefined(*tileOf(result), tiles);
  if (recording_)
    recording_->steps.push_back({Work(work), {tiles.begin(), tiles.end()}, TileRef(tileOf(result))});
  return result;
}

} // namespace despina::interpreter

#endif // DESPINA_LIB_INTERPRETER_EAGERSTEPS_H
