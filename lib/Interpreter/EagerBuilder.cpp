//===- EagerBuilder.cpp - Operations that compute at once -----------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "despina/Interpreter/EagerBuilder.h"

#include "EagerSteps.h"
#include "Floats.h"
#include "despina/Runtime/Support.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"

#include <cstring>

namespace despina::interpreter {

EagerBuilder::EagerBuilder() : placeholder_(Tile::make(ScalarKind::Int32, {})) {
  placeholder_->data<int32_t>()[0] = 0;
}

EagerBuilder::~EagerBuilder() = default;

void EagerBuilder::setProgram(const uint32_t (&program)[3], const uint32_t (&grid)[3]) {
  std::copy(std::begin(program), std::end(program), program_);
  std::copy(std::begin(grid), std::end(grid), grid_);
}

Handle EagerBuilder::keep(TileRef tile) {
  Handle handle{tile.get()};
  kept_.push_back(std::move(tile));
  return handle;
}

Handle EagerBuilder::placeholder() { return {placeholder_.get()}; }

void EagerBuilder::fail(std::string kind, std::string message) {
  if (!failure_)
    failure_ = Failure{std::move(kind), std::move(message)};
}

bool EagerBuilder::refusesLanes() {
  if (laneDepth_)
    diverged_ = true;
  return laneDepth_ != 0;
}

std::optional<bool> EagerBuilder::truth(Handle condition) {
  if (isDead())
    return false;
  const Tile &tile = *tileOf(condition);
  bool first = bitsAt(tile, 0) != 0;
  for (int64_t i = 1; i < tile.stored(); ++i)
    if ((bitsAt(tile, i) != 0) != first) {
      diverged_ = true;
      return std::nullopt;
    }
  if (recording_)
    recording_->isComplete = false;
  return first;
}

bool EagerBuilder::isOneNumber(Handle value) {
  if (isDead())
    return false;
  const Tile &tile = *tileOf(value);
  for (int64_t i = 1; i < tile.stored(); ++i)
    if (bitsAt(tile, i) != bitsAt(tile, 0)) {
      diverged_ = true;
      return false;
    }
  if (recording_)
    recording_->isComplete = false;
  return true;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

Handle EagerBuilder::constantInt(const Type &type, uint64_t bits) {
  TileRef tile = Tile::make(type.scalar(), type.shape(), /*uniform=*/true);
  switch (bytesOf(tile->storage)) {
  case 1: tile->data<uint8_t>()[0] = uint8_t(tile->storage == Storage::Bool ? bits & 1 : bits); break;
  case 2: tile->data<uint16_t>()[0] = uint16_t(bits); break;
  case 4: tile->data<uint32_t>()[0] = uint32_t(bits); break;
  default: tile->data<uint64_t>()[0] = bits;
  }
  return keep(std::move(tile));
}

Handle EagerBuilder::constantFloat(const Type &type, double value) {
  TileRef like = Tile::make(type.scalar(), type.shape(), /*uniform=*/true);
  return keep(tileOfReals(&value, 1, *like, type.scalar()));
}

/// Not zero: what nobody may read should be seen when somebody does.
Handle EagerBuilder::poison(const Type &type) {
  TileRef tile = Tile::make(type.scalar(), type.shape(), /*uniform=*/true);
  std::memset(tile->data<char>(), tile->storage == Storage::Bool ? 1 : 0xA5, bytesOf(tile->storage));
  return keep(std::move(tile));
}

//===----------------------------------------------------------------------===//
// Element-wise operations
//===----------------------------------------------------------------------===//

Handle EagerBuilder::binary(BinaryKind kind, Handle lhs, Handle rhs) {
  return elementwise({lhs, rhs}, [kind](auto x) { return computeBinary(kind, *x[0], *x[1]); });
}
Handle EagerBuilder::unary(UnaryKind kind, Handle x) {
  return elementwise({x}, [kind](auto operands) { return computeUnary(kind, *operands[0]); });
}
Handle EagerBuilder::compare(CompareKind kind, Handle lhs, Handle rhs) {
  return elementwise({lhs, rhs}, [kind](auto x) { return computeCompare(kind, *x[0], *x[1]); });
}
Handle EagerBuilder::select(Handle condition, Handle ifTrue, Handle ifFalse) {
  return elementwise({condition, ifTrue, ifFalse}, [](auto x) { return computeSelect(*x[0], *x[1], *x[2]); });
}
Handle EagerBuilder::fma(Handle x, Handle y, Handle z) {
  return elementwise({x, y, z},
                     [](auto operands) { return computeFMA(*operands[0], *operands[1], *operands[2]); });
}
Handle EagerBuilder::clamp(Handle x, Handle min, Handle max, bool propagateNan) {
  return elementwise({x, min, max}, [propagateNan](auto operands) {
    return computeClamp(*operands[0], *operands[1], *operands[2], propagateNan);
  });
}
Handle EagerBuilder::cast(CastKind kind, Handle x, const Type &to, RoundingKind rounding) {
  return elementwise(
      {x}, [kind, to, rounding](auto operands) { return computeCast(kind, *operands[0], to, rounding); });
}
Handle EagerBuilder::addPointer(Handle pointer, Handle offset) {
  return elementwise({pointer, offset}, [](auto x) { return computeAddPointer(*x[0], *x[1]); });
}

Handle EagerBuilder::externElementwise(llvm::ArrayRef<Handle> args, const Type &result,
                                       llvm::StringRef symbol, bool) {
  if (isDead() || refusesLanes())
    return placeholder();
  llvm::SmallVector<Tile *, 4> tiles = llvm::map_to_vector<4>(args, tileOf);
  if (TileRef tile = computeExtern(symbol, tiles, result))
    return keep(std::move(tile));
  fail("NotImplementedError", "the interpreter has no function '" + symbol.str() + "'");
  return poison(result);
}

Handles EagerBuilder::inlineAssembly(llvm::StringRef, llvm::StringRef, llvm::ArrayRef<Handle>,
                                     llvm::ArrayRef<Type> resultTypes, bool, int64_t) {
  if (isDead())
    return placeholders(resultTypes.size());
  fail("NotImplementedError",
       "the interpreter does not run assembly: inline_asm_elementwise needs its target");
  Handles results;
  for (const Type &type : resultTypes)
    results.push_back(poison(type));
  return results;
}

//===----------------------------------------------------------------------===//
// Program, hints and debugging
//===----------------------------------------------------------------------===//

Handle EagerBuilder::programId(int axis) { return constantInt(ScalarKind::Int32, program_[axis]); }
Handle EagerBuilder::numPrograms(int axis) { return constantInt(ScalarKind::Int32, grid_[axis]); }

/// The first element that is false, or none.
static std::optional<int64_t> firstFalse(const Tile &condition) {
  const auto *values = condition.data<uint8_t>();
  const void *found = std::memchr(values, 0, size_t(condition.stored()));
  if (!found)
    return std::nullopt;
  return static_cast<const uint8_t *>(found) - values;
}

static std::string indexText(const Tile &tile, int64_t position) {
  std::string text;
  for (int64_t extent : llvm::reverse(tile.shape)) {
    text = std::to_string(position % extent) + (text.empty() ? "" : ", ") + text;
    position /= extent;
  }
  return "(" + text + ")";
}

void EagerBuilder::assume(Handle condition) {
  if (!isDead() && firstFalse(*tileOf(condition)))
    fail("AssertionError", "what tl.assume promises does not hold");
}

void EagerBuilder::deviceAssert(Handle condition, llvm::StringRef message) {
  if (isDead())
    return;
  const Tile &tile = *tileOf(condition);
  std::optional<int64_t> position = firstFalse(tile);
  if (!position)
    return;
  std::string text = "device-side assert: " + message.str();
  // What the front end checks when it is asked to sanitize.
  if (sanitizer_ && message.contains("overflow detected"))
    return sanitizer_->report("integer overflow", message.str());
  if (!tile.shape.empty())
    text += (message.empty() ? "element " : " (element ") + indexText(tile, *position) +
            (message.empty() ? "" : ")");
  fail("AssertionError", std::move(text));
}

static cpu::PrintKind printKind(const Tile &tile, bool isSigned) {
  switch (tile.storage) {
  case Storage::Pointer: return cpu::PrintKind::Pointer;
  case Storage::BF16: return cpu::PrintKind::BFloat;
  case Storage::F16:
  case Storage::F32:
  case Storage::F64: return cpu::PrintKind::Float;
  default: return isSigned ? cpu::PrintKind::Signed : cpu::PrintKind::Unsigned;
  }
}

void EagerBuilder::devicePrint(llvm::StringRef prefix, bool hex, llvm::ArrayRef<Handle> args,
                               llvm::ArrayRef<bool> isSigned) {
  if (isDead() || refusesLanes())
    return;
  const std::string label = prefix.str();
  auto print = [&](int32_t operand, cpu::PrintKind kind, unsigned bits, const Extents &shape,
                   const void *data) {
    despina_rt_print(program_[0], program_[1], program_[2], label.c_str(), hex, operand, int32_t(args.size()),
                     int32_t(kind), int32_t(bits), int32_t(shape.size()), shape.data(), data);
  };
  if (args.empty())
    return print(0, cpu::PrintKind::Signed, 32, {}, nullptr);
  for (auto [i, handle] : llvm::enumerate(args)) {
    TileRef tile = tileOf(handle)->dense();
    if (tile->storage == Storage::FP8)
      tile = computeCast(CastKind::FPToFP, *tile, ScalarKind::FP32, RoundingKind::Default);
    unsigned bits = tile->storage == Storage::Bool ? 1 : 8 * bytesOf(tile->storage);
    print(int32_t(i), printKind(*tile, isSigned[i]), bits, tile->shape, tile->bytes());
  }
}

//===----------------------------------------------------------------------===//
// Control flow of the standard library
//===----------------------------------------------------------------------===//

Handles EagerBuilder::beginFunction(const FunctionSpec &spec) { return placeholders(spec.argTypes.size()); }

Handles EagerBuilder::call(llvm::StringRef symbol, llvm::ArrayRef<Handle>, llvm::ArrayRef<Type> resultTypes) {
  fail("RuntimeError", "the interpreter calls functions in place, but was asked for '" + symbol.str() + "'");
  return placeholders(resultTypes.size());
}

void EagerBuilder::beginIf(Handle condition) {
  bool taken = truth(condition).value_or(false);
  conditions_.push_back(taken);
  dead_ += !taken;
}

void EagerBuilder::beginElse() { dead_ += conditions_.back() ? 1 : -1; }

Handles EagerBuilder::endIf(llvm::ArrayRef<Handle> thenYields, llvm::ArrayRef<Handle> elseYields,
                            llvm::ArrayRef<Type> types) {
  bool taken = conditions_.pop_back_val();
  dead_ -= taken;
  Handles results;
  for (auto [i, type] : llvm::enumerate(types)) {
    Handle value = taken ? thenYields[i] : elseYields[i];
    results.push_back(value ? value : isDead() ? placeholder() : poison(type));
  }
  return results;
}

static constexpr const char *noLoops = "a loop inside of a combine function or of the standard library";

RegionBuilder::ForLoop EagerBuilder::beginFor(Handle lower, Handle, Handle, bool,
                                              llvm::ArrayRef<Handle> inits, const ForHints &) {
  if (!isDead())
    fail("NotImplementedError", noLoops);
  return {lower, Handles(inits)};
}
Handles EagerBuilder::endFor(llvm::ArrayRef<Handle> yields) { return Handles(yields); }
Handles EagerBuilder::beginWhile(llvm::ArrayRef<Handle> inits) {
  if (!isDead())
    fail("NotImplementedError", noLoops);
  return Handles(inits);
}
Handles EagerBuilder::beginWhileBody(Handle, llvm::ArrayRef<Handle> carried) { return Handles(carried); }
Handles EagerBuilder::endWhile(llvm::ArrayRef<Handle> yields) { return Handles(yields); }

/// After an error: the region that is open is left, wherever it is.
void EagerBuilder::abandon() {
  if (conditions_.empty())
    return;
  conditions_.pop_back();
  dead_ = 0;
  for (bool taken : conditions_)
    dead_ += !taken;
}

} // namespace despina::interpreter
