//===- ExternOps.cpp - Functions of mathematics libraries -----------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// The functions that compiled kernels call on the CPU, element by element.
//
//===----------------------------------------------------------------------===//
#include "despina/Interpreter/EagerBuilder.h"
#include "despina/Runtime/DeviceFunctions.h"

#include <cstring>

namespace despina::interpreter {

namespace {

bool fitsLetter(Storage storage, char letter) {
  switch (letter) {
  case 'i':
  case 'u': return storage == Storage::I32;
  case 'l':
  case 'L': return storage == Storage::I64;
  case 'f': return storage == Storage::F32;
  default: return storage == Storage::F64;
  }
}

bool fits(const cpu::DeviceFunction &function, llvm::ArrayRef<Tile *> args, const Type &result) {
  if (args.empty() || function.types.size() != args.size() + 2)
    return false;
  for (size_t i = 0; i < args.size(); ++i)
    if (!fitsLetter(args[i]->storage, function.types[i]))
      return false;
  return fitsLetter(storageOf(result.scalar()), function.types.back());
}

} // namespace

TileRef computeExtern(llvm::StringRef symbol, llvm::ArrayRef<Tile *> args, const Type &result) {
  const cpu::DeviceFunction *function = cpu::findDeviceFunction(std::string_view(symbol));
  if (!function || !fits(*function, args, result))
    return nullptr;
  TileRef tile = Tile::make(result.scalar(), result.shape(), /*uniform=*/false, args[0]->size);
  const size_t bytes = bytesOf(tile->storage);
  char *to = tile->data<char>();
  llvm::SmallVector<uint64_t, 4> operands(args.size());
  for (int64_t at = 0; at < tile->size; ++at, to += bytes) {
    for (size_t i = 0; i < args.size(); ++i)
      operands[i] = bitsAt(*args[i], at);
    uint64_t bits = function->call(operands.data());
    std::memcpy(to, &bits, bytes);
  }
  return tile;
}

} // namespace despina::interpreter
