//===- EagerUndefined.cpp - Where undefined values go ---------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// A load leaves the lanes that its mask excludes undefined when it is told no other value. What is computed
// of such a lane is undefined too, unless a select leaves it out.
//
//===----------------------------------------------------------------------===//
#include "despina/Interpreter/EagerBuilder.h"

namespace despina::interpreter {

void EagerBuilder::carryUndefined(Tile &result, llvm::ArrayRef<Tile *> operands) const {
  result.undefined = nullptr;
  bool any = false;
  for (const Tile *operand : operands)
    any |= bool(operand->undefined);
  if (!any)
    return;
  BufferRef marks(new Buffer(size_t(result.stored())));
  auto *to = static_cast<uint8_t *>(marks->data());
  // Of three operands the first is a condition that chooses between the others; a multiply-add is none.
  bool chooses = operands.size() == 3 && operands[0]->storage == Storage::Bool;
  for (int64_t i = 0; i < result.stored(); ++i) {
    if (chooses && !operands[0]->isUndefinedAt(i)) {
      to[i] = operands[bitsAt(*operands[0], i) ? 1 : 2]->isUndefinedAt(i);
      continue;
    }
    to[i] = 0;
    for (const Tile *operand : operands)
      to[i] |= uint8_t(operand->isUndefinedAt(i));
  }
  result.undefined = std::move(marks);
}

void EagerBuilder::carryUndefined(Handle result, Handle x, llvm::function_ref<Handle(Handle)> again) {
  if (!sanitizer_ || !tileOf(x)->undefined)
    return;
  const Tile &marks = *tileOf(again(keep(tileOf(x)->undefinedTile())));
  Tile &tile = *tileOf(result);
  tile.undefined = tile.uniform ? marks.buffer : marks.dense()->buffer;
}

void EagerBuilder::carryUndefinedLines(Handles &results, llvm::ArrayRef<Handle> inputs,
                                       llvm::function_ref<std::optional<Handles>(Handle)> again) {
  if (!sanitizer_)
    return;
  for (Handle input : inputs) {
    if (!tileOf(input)->undefined)
      continue;
    std::optional<Handles> marks = again(keep(tileOf(input)->undefinedTile()));
    for (Handle result : results)
      if (marks)
        tileOf(result)->undefined = tileOf(marks->front())->dense()->buffer;
    return;
  }
}

void EagerBuilder::checkDefined(const Tile &tile, int64_t position, const char *what) {
  if (sanitizer_ && tile.isUndefinedAt(position))
    sanitizer_->report("undefined value",
                       std::string(what) + ", lane " + std::to_string(position) +
                           ": it comes from a lane that the mask of a tl.load without `other` "
                           "excludes");
}

void EagerBuilder::checkDescriptor(const Tile &descriptor, const Type &block) {
  if (!sanitizer_)
    return;
  const Description &what = *descriptor.description;
  uint64_t width = bytesOf(descriptor.storage);
  auto misaligned = [&](const std::string &text) { sanitizer_->report("misaligned descriptor", text); };
  if (what.base % 16)
    misaligned("the base of the tensor descriptor is not on 16 bytes");
  for (size_t i = 0; i + 1 < what.strides.size(); ++i)
    if (uint64_t(what.strides[i]) * width % 16)
      misaligned("stride " + std::to_string(i) + " of the tensor descriptor, " +
                 std::to_string(what.strides[i]) + " elements of " + std::to_string(width) +
                 " bytes, is no multiple of 16 bytes");
  if (uint64_t(block.shape().back()) * width < 16)
    misaligned("the last dimension of the tensor descriptor's blocks has fewer than 16 bytes");
}

} // namespace despina::interpreter
