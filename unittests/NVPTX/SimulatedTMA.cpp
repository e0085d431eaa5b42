//===- SimulatedTMA.cpp - Bulk copies on simulated threads ----------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Tensor maps, copies through them and barriers in memory, from the PTX manual. What is in a map is the
// chip's affair; here it is MapFields. The unit that copies knows a map as it was when a thread last acquired
// it, and copies at once; barriers count its bytes.
//
//===----------------------------------------------------------------------===//
#include "SimulatedTMA.h"

#include "ThreadBlock.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace despina::test {

namespace {

using Calls = llvm::MutableArrayRef<ThreadCall>;
using Scope = ThreadOperation::Scope;

/// All operands are of 64 bits.
uint64_t number(const ThreadCall &call, size_t index) {
  return call.operands[2 * index] | uint64_t(call.operands[2 * index + 1]) << 32;
}
template <typename T> T *address(const ThreadCall &call, size_t index) {
  return reinterpret_cast<T *>(number(call, index));
}

//===----------------------------------------------------------------------===//
// Tensor maps
//===----------------------------------------------------------------------===//

constexpr unsigned maxRank = 5, mapBytes = 128;

/// Fields in the order of `fieldNames`; those of all axes are one after the other.
enum Field {
  GlobalAddress,
  Rank,
  BoxDim,
  GlobalDim,
  GlobalStride,
  ElementStride,
  ElementType,
  Interleave,
  Swizzle,
  Fill
};
constexpr const char *fieldNames[] = {"global_address", "rank",           "box_dim",  "global_dim",
                                      "global_stride",  "element_stride", "elemtype", "interleave_layout",
                                      "swizzle_mode",   "fill_mode"};

struct MapFields {
  uint64_t base;
  uint64_t strides[maxRank - 1];
  uint32_t dims[maxRank], box[maxRank], steps[maxRank];
  uint8_t rank, type, interleave, swizzle, fill;
};
static_assert(sizeof(MapFields) <= mapBytes);

/// Operands: field, map, axis (of fields with axes), value.
void replaceField(BlockState &state, ThreadCall &call) {
  auto *map = address<MapFields>(call, 1);
  auto field = static_cast<Field>(number(call, 0));
  uint64_t axis = number(call, 2), value = call.operands.size() > 6 ? number(call, 3) : axis;
  if (reinterpret_cast<uintptr_t>(map) % mapBytes != 0 || (call.operands.size() > 6 && axis >= maxRank))
    state.error = "a field of a tensor map that is unaligned or has no such axis";
  if (!state.error.empty())
    return;
  auto small = static_cast<uint8_t>(value);
  switch (field) {
  case GlobalAddress: map->base = value; break;
  case Rank: map->rank = small; break;
  case BoxDim: map->box[axis] = static_cast<uint32_t>(value); break;
  case GlobalDim: map->dims[axis] = static_cast<uint32_t>(value); break;
  case GlobalStride: map->strides[axis] = value; break;
  case ElementStride: map->steps[axis] = static_cast<uint32_t>(value); break;
  case ElementType: map->type = small; break;
  case Interleave: map->interleave = small; break;
  case Swizzle: map->swizzle = small; break;
  case Fill: map->fill = small; break;
  }
}

/// The rule that a map breaks.
std::string brokenRule(const MapFields &map) {
  if (map.rank >= maxRank || map.type > 12 || map.interleave != 0 || map.swizzle > 3 || map.fill > 1)
    return "a field of a tensor map has no such value";
  if (map.base == 0 || map.base % 16 != 0)
    return "a tensor map's address is no multiple of 16";
  for (unsigned axis = 0; axis <= map.rank; ++axis) {
    if (map.box[axis] == 0 || map.box[axis] > 256 || map.dims[axis] == 0 || map.steps[axis] != 1)
      return "an extent of a tensor map is out of range";
    if (axis != 0 && map.strides[axis - 1] % 16 != 0)
      return "a stride of a tensor map is no multiple of 16";
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// By the number of the type: u8 u16 u32 s32 u64 s64 f16 f32 f32.ftz f64 bf16 tf32 tf32.ftz.
unsigned bytesOf(const MapFields &map) {
  static constexpr unsigned bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2, 4, 4};
  return bytes[map.type];
}

/// The chunks of 16 bytes of a row change places by bits of the address.
uint64_t swizzled(uint64_t address, unsigned mode) {
  uint64_t mask = (uint64_t(1) << mode) - 1;
  return address ^ ((address >> 7 & mask) << 4);
}

/// A copy of one box.
class BoxCopy {
public:
  BoxCopy(BlockState &state, uint64_t map, uint64_t shared, llvm::ArrayRef<int32_t> coords)
      : state(state), shared(shared), coords(coords) {
    auto known = state.tensorMaps.find(map);
    if (known == state.tensorMaps.end()) {
      state.error = "a bulk copy follows a tensor map that nobody has acquired";
      return;
    }
    std::memcpy(&fields, known->second.data(), sizeof fields);
    state.error = brokenRule(fields);
    uint64_t base = reinterpret_cast<uint64_t>(state.shared().data());
    if (coords.size() != fields.rank + 1u)
      state.error = "a bulk copy has another rank than its tensor map";
    else if (coords[0] * int64_t(bytesOf(fields)) % 16 != 0)
      state.error = "a bulk copy starts at no multiple of 16 bytes in its row";
    else if (shared % 128 != 0 || shared < base || shared + bytes() > base + state.shared().size())
      state.error = "a bulk copy's buffer is unaligned or outside of shared memory";
  }

  uint64_t bytes() const {
    uint64_t product = bytesOf(fields);
    for (unsigned axis = 0; axis <= fields.rank; ++axis)
      product *= fields.box[axis];
    return product;
  }

  /// As seen on an H200: no coordinate may be negative, and a row goes on to the next 16 bytes.
  void prepareWrite() {
    if (llvm::any_of(coords, [](int32_t start) { return start < 0; }))
      state.error = "a bulk copy writes at a negative position";
    auto unit = static_cast<int64_t>(16 / bytesOf(fields));
    rowEnd = static_cast<int64_t>(llvm::alignTo(static_cast<uint64_t>(fields.dims[0]), unit));
  }

  /// Calls body(element in shared memory, element of the tensor or null).
  template <typename Body> void forEachElement(Body body) const {
    unsigned size = bytesOf(fields);
    for (uint64_t index = 0; state.error.empty() && index < bytes() / size; ++index) {
      uint64_t rest = index, offset = 0;
      bool inside = true;
      for (unsigned axis = 0; axis <= fields.rank; ++axis) {
        int64_t place = coords[axis] + static_cast<int64_t>(rest % fields.box[axis]);
        rest /= fields.box[axis];
        inside &=
            place >= 0 && place < (axis == 0 && rowEnd ? rowEnd : static_cast<int64_t>(fields.dims[axis]));
        offset += static_cast<uint64_t>(place) * (axis == 0 ? size : fields.strides[axis - 1]);
      }
      auto *here = reinterpret_cast<uint8_t *>(swizzled(shared + index * size, fields.swizzle));
      body(here, inside ? reinterpret_cast<uint8_t *>(fields.base + offset) : nullptr);
    }
  }

  /// What is read where there is no element.
  void fill(uint8_t *to) const {
    static constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    static constexpr uint16_t half = 0x7e00, brain = 0x7fc0;
    static constexpr float single = std::numeric_limits<float>::quiet_NaN();
    std::memset(to, 0, bytesOf(fields));
    if (fields.fill == 0)
      return;
    switch (fields.type) {
    case 6: std::memcpy(to, &half, 2); break;
    case 9: std::memcpy(to, &nan, 8); break;
    case 10: std::memcpy(to, &brain, 2); break;
    default: std::memcpy(to, &single, 4); break;
    }
  }

  MapFields fields;

private:
  BlockState &state;
  uint64_t shared;
  llvm::ArrayRef<int32_t> coords;
  int64_t rowEnd = 0; ///< of a write
};

llvm::SmallVector<int32_t, 5> coordinates(const ThreadCall &call, size_t first, size_t count) {
  llvm::SmallVector<int32_t, 5> result;
  for (size_t i = 0; i < count; ++i)
    result.push_back(static_cast<int32_t>(number(call, first + i)));
  return result;
}

template <typename T> void combine(llvm::StringRef what, const uint8_t *from, uint8_t *to) {
  T value, old;
  std::memcpy(&value, from, sizeof(T));
  std::memcpy(&old, to, sizeof(T));
  if (what == "add")
    old += value;
  else if (what == "min")
    old = std::min(old, value);
  else if (what == "max")
    old = std::max(old, value);
  else if constexpr (std::is_integral_v<T>)
    old = what == "and" ? (old & value) : what == "or" ? (old | value) : (old ^ value);
  std::memcpy(to, &old, sizeof(T));
}

constexpr const char *reductions[] = {"add", "min", "max", "and", "or", "xor"};

/// Of the types that tests use.
bool combine(unsigned type, llvm::StringRef what, const uint8_t *from, uint8_t *to) {
  switch (type) {
  case 2: combine<uint32_t>(what, from, to); return true;
  case 3: combine<int32_t>(what, from, to); return true;
  case 4: combine<uint64_t>(what, from, to); return true;
  case 5: combine<int64_t>(what, from, to); return true;
  case 7: combine<float>(what, from, to); return true;
  default: return false;
  }
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

struct Barrier {
  uint16_t mark; ///< tells memory that is none
  uint8_t count, missing;
  int32_t bytes : 31; ///< that are to come
  uint32_t phase : 1;
};
static_assert(sizeof(Barrier) == 8);
constexpr uint16_t barrierMark = 0xb417;

Barrier *barrierAt(BlockState &state, const ThreadCall &call, size_t operand) {
  auto *barrier = address<Barrier>(call, operand);
  if (barrier->mark != barrierMark)
    state.error = "a barrier was used that is not initialised";
  return barrier;
}

void endPhase(Barrier &barrier) {
  if (barrier.missing != 0 || barrier.bytes != 0)
    return;
  barrier.missing = barrier.count;
  barrier.phase ^= 1;
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

void loadBox(BlockState &state, ThreadCall &call) {
  // Operands: rank, buffer, map, coordinates, barrier.
  uint64_t rank = number(call, 0);
  llvm::SmallVector<int32_t, 5> coords = coordinates(call, 3, rank);
  BoxCopy copy(state, number(call, 2), number(call, 1), coords);
  if (!state.error.empty())
    return;
  copy.forEachElement([&](uint8_t *to, const uint8_t *from) {
    from ? (void)std::memcpy(to, from, bytesOf(copy.fields)) : copy.fill(to);
  });
  Barrier *barrier = barrierAt(state, call, 3 + rank);
  barrier->bytes -= static_cast<int32_t>(copy.bytes());
  endPhase(*barrier);
}

void storeBox(BlockState &state, ThreadCall &call) {
  // Operands: rank, map, coordinates, buffer.
  uint64_t rank = number(call, 0);
  llvm::SmallVector<int32_t, 5> coords = coordinates(call, 2, rank);
  BoxCopy copy(state, number(call, 1), number(call, 2 + rank), coords);
  copy.prepareWrite();
  copy.forEachElement([&](const uint8_t *from, uint8_t *to) {
    if (to)
      std::memcpy(to, from, bytesOf(copy.fields));
  });
}

void reduceBox(BlockState &state, ThreadCall &call) {
  // Operands: rank, reduction, map, coordinates, buffer.
  uint64_t rank = number(call, 0);
  llvm::SmallVector<int32_t, 5> coords = coordinates(call, 3, rank);
  BoxCopy copy(state, number(call, 2), number(call, 3 + rank), coords);
  copy.prepareWrite();
  copy.forEachElement([&](const uint8_t *from, uint8_t *to) {
    if (to && !combine(copy.fields.type, reductions[number(call, 1)], from, to))
      state.error = "the simulator does not know a reduction of such elements";
  });
}

/// Operands: to, from.
void publishMap(BlockState &state, Calls calls) {
  if (number(calls[0], 0) % mapBytes != 0 || number(calls[0], 1) % mapBytes != 0)
    state.error = "a tensor map is unaligned";
  else
    std::memcpy(address<uint8_t>(calls[0], 0), address<uint8_t>(calls[0], 1), mapBytes);
}

void acquireMap(BlockState &state, ThreadCall &call) {
  std::memcpy(state.tensorMaps[number(call, 0)].data(), address<uint8_t>(call, 0), mapBytes);
}

ThreadOperation alone(std::string name, void (*run)(BlockState &, ThreadCall &)) {
  return {std::move(name), Scope::Thread, [run](BlockState &state, Calls calls) { run(state, calls[0]); }};
}

/// Operands: barrier, parity of the phase.
ThreadOperation waitOperation() {
  ThreadOperation wait = alone("barrier.wait", [](BlockState &, ThreadCall &) {});
  wait.isReady = [](BlockState &state, const ThreadCall &call) {
    return barrierAt(state, call, 0)->phase != (number(call, 1) & 1);
  };
  return wait;
}

void initBarrier(BlockState &, ThreadCall &call) {
  auto count = static_cast<uint8_t>(number(call, 1));
  *address<Barrier>(call, 0) = {barrierMark, count, count, 0, 0};
}

/// Operands: whether bytes are expected, barrier, bytes or arrivals.
void arrive(BlockState &state, ThreadCall &call) {
  Barrier *barrier = barrierAt(state, call, 1);
  if (number(call, 0) != 0)
    barrier->bytes += static_cast<int32_t>(number(call, 2));
  barrier->missing -= static_cast<uint8_t>(number(call, 0) != 0 ? 1 : number(call, 2));
  endPhase(*barrier);
}

} // namespace

std::vector<ThreadOperation> bulkOperations() {
  return {alone("map.replace", replaceField),
          {"map.publish", Scope::Warp, publishMap},
          alone("map.acquire", acquireMap),
          alone("bulk.load", loadBox),
          alone("bulk.store", storeBox),
          alone("bulk.reduce", reduceBox),
          alone("barrier.init", initBarrier),
          alone("barrier.arrive", arrive),
          waitOperation()};
}

std::optional<BulkInstruction> readBulkInstruction(llvm::StringRef opcode) {
  auto rankOf = [&] { return uint64_t(opcode[opcode.find("tensor.") + 7] - '0'); };
  if (opcode.consume_front("tensormap.replace.tile.")) {
    const auto *field = llvm::find(fieldNames, opcode.split('.').first);
    return BulkInstruction{"map.replace", {static_cast<uint64_t>(field - fieldNames)}};
  }
  if (opcode.starts_with("tensormap.cp_fenceproxy."))
    return BulkInstruction{"map.publish", {}};
  if (opcode.starts_with("fence.proxy.tensormap::generic.acquire"))
    return BulkInstruction{"map.acquire", {}};
  if (opcode.starts_with("cp.async.bulk.tensor."))
    return BulkInstruction{opcode.ends_with("bulk_group") ? "bulk.store" : "bulk.load", {rankOf()}};
  if (opcode.starts_with("cp.reduce.async.bulk.tensor.")) {
    const auto *kind = llvm::find_if(
        reductions, [&](const char *name) { return opcode.contains("." + std::string(name) + "."); });
    return BulkInstruction{"bulk.reduce", {rankOf(), static_cast<uint64_t>(kind - reductions)}};
  }
  if (opcode.starts_with("cp.async.bulk.")) // groups: copies are done at once
    return BulkInstruction{};
  if (opcode.starts_with("mbarrier.init"))
    return BulkInstruction{"barrier.init", {}};
  if (opcode.starts_with("mbarrier.arrive"))
    return BulkInstruction{"barrier.arrive", {opcode.contains("expect_tx")}};
  if (opcode.starts_with("mbarrier.try_wait.parity"))
    return BulkInstruction{"barrier.wait", {}};
  return std::nullopt;
}

} // namespace despina::test
