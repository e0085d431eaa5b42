//===- Kernel.cpp - Launching a compiled kernel ---------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "BackEnd.h"
#include "Errors.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/SmallVector.h"

#include <bit>
#include <cstring>

namespace despina {

namespace {

constexpr int64_t maxPrograms = 0x7fffffff;

std::string quoted(const std::string &text) { return "'" + text + "'"; }

std::string gridText(const Grid &grid) {
  return "(" + std::to_string(grid.x) + ", " + std::to_string(grid.y) + ", " + std::to_string(grid.z) + ")";
}

/// None when the grid is fine; `empty` is set when there is nothing to run.
std::optional<Error> checkGrid(const Grid &grid, bool &empty) {
  empty = false;
  for (int64_t extent : {grid.x, grid.y, grid.z})
    if (extent < 0)
      return plainError("ValueError", "grid extents must not be negative, but the grid is " + gridText(grid));
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) {
    empty = true;
    return std::nullopt;
  }
  // Each factor is checked first, so the products cannot overflow.
  bool fits = grid.x <= maxPrograms && grid.y <= maxPrograms && grid.z <= maxPrograms &&
              grid.x * grid.y <= maxPrograms && grid.x * grid.y * grid.z <= maxPrograms;
  if (!fits)
    return plainError("ValueError",
                      "a grid may have at most 2^31 - 1 programs, but the grid is " + gridText(grid));
  return std::nullopt;
}

const char *kindName(Argument::Kind kind) {
  switch (kind) {
  case Argument::Kind::Pointer: return "a pointer";
  case Argument::Kind::Int: return "an integer";
  case Argument::Kind::Float: return "a floating point number";
  }
  return "an unknown value";
}

bool fits(const RuntimeParameter &parameter, const Argument &argument) {
  bool negative = !argument.isUnsigned() && static_cast<int64_t>(argument.bits()) < 0;
  uint64_t bits = argument.bits();
  if (parameter.form == RuntimeParameter::Form::Unsigned)
    return !negative && (parameter.bits == 64 || bits >> parameter.bits == 0);
  if (negative)
    return parameter.bits == 64 || static_cast<int64_t>(bits) >= -(int64_t(1) << (parameter.bits - 1));
  return bits >> (parameter.bits - 1) == 0;
}

std::string integerText(const Argument &argument) {
  return argument.isUnsigned() ? std::to_string(argument.bits())
                               : std::to_string(static_cast<int64_t>(argument.bits()));
}

double realValue(const Argument &argument) {
  if (argument.kind() == Argument::Kind::Float)
    return argument.real();
  return argument.isUnsigned() ? static_cast<double>(argument.bits())
                               : static_cast<double>(static_cast<int64_t>(argument.bits()));
}

uint64_t floatBits(RuntimeParameter::Form form, double value) {
  if (form == RuntimeParameter::Form::Double)
    return std::bit_cast<uint64_t>(value);
  if (form == RuntimeParameter::Form::Single)
    return std::bit_cast<uint32_t>(static_cast<float>(value));
  llvm::APFloat converted(value);
  bool lossy = false;
  converted.convert(form == RuntimeParameter::Form::Half ? llvm::APFloat::IEEEhalf()
                                                         : llvm::APFloat::BFloat(),
                    llvm::APFloat::rmNearestTiesToEven, &lossy);
  return converted.bitcastToAPInt().getZExtValue();
}

/// Fills a slot; an error when the argument does not suit the parameter.
std::optional<Error> packOne(const RuntimeParameter &parameter, const Argument &argument, uint64_t &slot) {
  using Form = RuntimeParameter::Form;
  auto wrongKind = [&](const char *wanted) {
    return plainError("TypeError", "argument " + quoted(parameter.name) + " of type " + parameter.type +
                                       " must be " + wanted + ", not " + kindName(argument.kind()));
  };
  switch (parameter.form) {
  case Form::Pointer:
    if (argument.kind() != Argument::Kind::Pointer)
      return wrongKind("a pointer");
    slot = argument.bits();
    return std::nullopt;
  case Form::Signed:
  case Form::Unsigned:
    if (argument.kind() != Argument::Kind::Int)
      return wrongKind("an integer");
    if (!fits(parameter, argument))
      return plainError("OverflowError", "argument " + quoted(parameter.name) + " is " +
                                             integerText(argument) + ", which is out of the range of " +
                                             parameter.type);
    slot = argument.bits();
    return std::nullopt;
  case Form::Half:
  case Form::BFloat:
  case Form::Single:
  case Form::Double:
    if (argument.kind() == Argument::Kind::Pointer)
      return wrongKind("a number");
    slot = floatBits(parameter.form, realValue(argument));
    return std::nullopt;
  }
  return plainError("RuntimeError", "argument " + quoted(parameter.name) + " has an unknown form");
}

} // namespace

Kernel::Kernel(std::shared_ptr<const KernelImpl> impl) : impl_(std::move(impl)) {}
Kernel::~Kernel() = default;

const std::string &Kernel::name() const { return impl_->name; }
const std::vector<std::string> &Kernel::parameterTypes() const { return impl_->parameterTypes; }
size_t Kernel::scratchBytes() const { return impl_->scratchBytes; }
const std::vector<StageTime> &Kernel::stageTimes() const { return impl_->times; }

const std::vector<std::string> &Kernel::namesUsed() const { return impl_->namesUsed; }

const Target &Kernel::target() const { return impl_->backEnd->target(); }
const KernelResources &Kernel::resources() const { return impl_->resources; }
Expected<DeviceKernel> Kernel::load(int device) const { return impl_->code->load(device); }

Result Kernel::launch(Grid grid, std::initializer_list<Argument> args, const LaunchOptions &options) const {
  return launch(grid, args.begin(), args.size(), options);
}

/// An error, or none after filling the slots.
static std::optional<Error> packAll(const KernelImpl &kernel, const Argument *args, size_t numArgs,
                                    uint64_t *slots) {
  for (size_t i = 0; i < numArgs; ++i)
    if (std::optional<Error> error = packOne(kernel.parameters[i], args[i], slots[i]))
      return error;
  return std::nullopt;
}

static std::optional<Error> checkCount(const KernelImpl &kernel, const Argument *args, size_t numArgs) {
  size_t wanted = kernel.parameters.size();
  if (numArgs == wanted && (args || !numArgs))
    return std::nullopt;
  if (numArgs == wanted)
    return plainError("ValueError", kernel.name + "() was given a null pointer in place of its arguments");
  return plainError("TypeError", kernel.name + "() takes " + std::to_string(wanted) + " runtime argument" +
                                     (wanted == 1 ? "" : "s") + ", but " + std::to_string(numArgs) +
                                     (numArgs == 1 ? " was" : " were") + " given");
}

Expected<std::vector<uint64_t>> Kernel::pack(const Argument *args, size_t numArgs) const {
  if (std::optional<Error> error = checkCount(*impl_, args, numArgs))
    return std::move(*error);
  std::vector<uint64_t> slots(numArgs);
  if (std::optional<Error> error = packAll(*impl_, args, numArgs, slots.data()))
    return std::move(*error);
  return slots;
}

Result Kernel::launch(Grid grid, const Argument *args, size_t numArgs, const LaunchOptions &options) const {
  if (std::optional<Error> error = checkCount(*impl_, args, numArgs))
    return std::move(*error);
  llvm::SmallVector<uint64_t, 16> slots(numArgs);
  if (std::optional<Error> error = packAll(*impl_, args, numArgs, slots.data()))
    return std::move(*error);
  if (std::optional<Error> error = impl_->code->check(impl_->parameters, slots.data(), options))
    return std::move(*error);
  Expected<bool> done = launchPacked(grid, slots.data(), options);
  if (!done)
    return done.error();
  if (!*done)
    return plainError("KeyboardInterrupt", "the launch was stopped by its caller");
  return Unit{};
}

Expected<bool> Kernel::launchPacked(Grid grid, const uint64_t *slots, const LaunchOptions &options) const {
  bool empty = false;
  if (std::optional<Error> error = checkGrid(grid, empty))
    return std::move(*error);
  if (empty)
    return true;
  return impl_->code->launch(grid, slots, options);
}

Expected<std::string> Kernel::text(std::string_view stage) const {
  auto it = impl_->texts.find(stage);
  if (it != impl_->texts.end())
    return it->second;
  return makeStageText(*impl_, stage);
}

} // namespace despina
