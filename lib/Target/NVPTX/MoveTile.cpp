//===- MoveTile.cpp - Executes conversion plans ---------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "MoveTile.h"

#include "ThreadData.h"

#include "despina/Analysis/LayoutShapes.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace despina::nvptx {

namespace {

bool usesShared(const ConversionPlan &plan) {
  return plan.kind == ConversionKind::SharedMemory || plan.kind == ConversionKind::ClusterSharedMemory;
}

uint64_t groupBytes(const ConversionGroup &group) {
  uint64_t bytes = 0;
  for (const ConversionPlan *plan : group)
    if (usesShared(*plan))
      bytes += llvm::alignTo(plan->shared.bytes, 16);
  return bytes;
}

void exchange(ThreadEmitter &e, Registers &values, ArrayRef<RegisterExchange> exchanges) {
  for (const RegisterExchange &step : exchanges) {
    Value isOdd = parity(e, step.laneMask, step.warpMask, step.blockMask);
    if (!isOdd)
      continue;
    Registers old = values;
    for (uint64_t i = 0; i < old.size(); ++i)
      values[i] = e.select(isOdd, old[i ^ step.registerMask], old[i]);
  }
}

/// One round: words of other lanes.
void shuffleRound(ThreadEmitter &e, const ShuffleRound &round, const SourceLane &from, ArrayRef<Value> source,
                  Registers &result) {
  Registers values;
  for (ShuffleRound::Value value : round.values)
    values.push_back(source[value.from]);
  for (auto [value, moved] : llvm::zip(round.values, shuffleValues(e, values, from)))
    result[value.to] = moved;
}

Registers moveByShuffles(ThreadEmitter &e, const ConversionPlan &plan, ArrayRef<Value> source) {
  const ShufflePlan &shuffle = plan.shuffle;
  Registers values(source);
  exchange(e, values, shuffle.before);
  size_t count = 0;
  for (const ShuffleRound &round : shuffle.rounds)
    count += round.values.size();
  Registers result(count);
  for (const ShuffleRound &round : shuffle.rounds) {
    bool isOwn = plan.kind == ConversionKind::Registers || (shuffle.isButterfly && round.laneXor == 0);
    if (isOwn) {
      for (ShuffleRound::Value value : round.values)
        result[value.to] = values[value.from];
      continue;
    }
    SourceLane from = {round.laneXor, {}};
    if (!shuffle.isButterfly) {
      from.lane = e.place(shuffle.sourceLane);
      if (round.laneXor)
        from.lane = e.bitXor(from.lane, e.i32(round.laneXor));
    }
    shuffleRound(e, round, from, values, result);
  }
  exchange(e, result, shuffle.after);
  return result;
}

/// One tile on its way through shared memory.
class SharedTransit {
public:
  SharedTransit(ThreadEmitter &e, const ConversionPlan &conversion, ArrayRef<Value> source, Value base)
      : e(e), plan(conversion.shared), isOfCluster(conversion.kind == ConversionKind::ClusterSharedMemory),
        type(source.front().getType()), source(source),
        width(toBits(e, source.front()).getType().getIntOrFloatBitWidth()), base(base),
        stores(e, base, width, plan.store.offset) {
    unsigned count = 0;
    for (const auto &iteration : plan.load.iterations)
      for (const SharedAccess &access : iteration)
        for (unsigned index : access.registers)
          count = std::max(count, index + 1);
    result.resize(count);
  }

  unsigned numIterations() const { return plan.store.iterations.size(); }

  void store(unsigned iteration, bool isWarpLocal) {
    ArrayRef<SharedAccess> accesses = plan.store.iterations[iteration];
    // Addresses may serve further iterations, so they are not made inside of the branch.
    Registers addresses;
    SmallVector<Registers> values;
    for (const SharedAccess &access : accesses) {
      addresses.push_back(stores.at(access.offset));
      Registers &bits = values.emplace_back();
      for (unsigned index : access.registers)
        bits.push_back(toBits(e, source[index]));
    }
    auto body = [&] {
      for (auto [address, bits] : llvm::zip(addresses, values))
        storeShared(e, address, bits);
    };
    if (Value acts = e.isCanonical(plan.store.copyLanes, isWarpLocal ? 0 : plan.store.copyWarps))
      e.ifThen(acts, body);
    else
      body();
  }

  void load(unsigned iteration) {
    for (const SharedAccess &access : plan.load.iterations[iteration]) {
      Registers bits =
          loadShared(e, loadsFrom(access.block).at(access.offset), width, access.registers.size());
      for (auto [index, value] : llvm::zip(access.registers, bits))
        result[index] = fromBits(e, value, type);
    }
  }

  Registers result;

private:
  /// Addresses in the block that accesses with this difference of block numbers read.
  SharedAddresses &loadsFrom(uint64_t block) {
    std::unique_ptr<SharedAddresses> &found = loads[block];
    if (found)
      return *found;
    Value memory = base;
    if (isOfCluster) {
      Value number = e.place(plan.load.block);
      memory = e.inBlock(base, block ? e.bitXor(number, e.i32(static_cast<int64_t>(block))) : number);
    }
    found = std::make_unique<SharedAddresses>(e, memory, width, plan.load.offset);
    return *found;
  }

  ThreadEmitter &e;
  const SharedPlan &plan;
  bool isOfCluster;
  Type type;
  ArrayRef<Value> source;
  unsigned width;
  Value base;
  SharedAddresses stores;
  llvm::SmallDenseMap<uint64_t, std::unique_ptr<SharedAddresses>> loads;
};

} // namespace

ScratchHalves::ScratchHalves(ArrayRef<ConversionGroup> groups) {
  unsigned turn = 0;
  for (const ConversionGroup &group : groups)
    if (uint64_t needed = groupBytes(group)) {
      bytes[turn % 2] = std::max(bytes[turn % 2], needed);
      ++turn;
    }
}

TileMover::TileMover(ThreadEmitter &e, Operation *op, ArrayRef<ConversionGroup> groups)
    : e(e), op(op), halves(groups), isAlone(groups.size() == 1 && groups.front().size() == 1) {}

void TileMover::moveThroughShared(const ConversionGroup &group, ArrayRef<ArrayRef<Value>> sources,
                                  MutableArrayRef<Registers> results) {
  int64_t offset = *ThreadEmitter::sharedOffset(op) + (turn++ % 2 ? halves.bytes[0] : 0);
  SmallVector<std::unique_ptr<SharedTransit>> transits;
  unsigned iterations = 0;
  for (auto [plan, source] : llvm::zip(group, sources)) {
    transits.push_back(nullptr);
    if (!usesShared(*plan))
      continue;
    transits.back() = std::make_unique<SharedTransit>(e, *plan, source, e.sharedPointer(offset));
    offset += llvm::alignTo(plan->shared.bytes, 16);
    iterations = std::max(iterations, transits.back()->numIterations());
  }
  // Other conversions of the operation rely on a barrier of the block in this one.
  bool isWarpLocal = isAlone && group.front()->shared.isWarpLocal;
  bool isOfCluster = llvm::any_of(
      group, [](const ConversionPlan *plan) { return plan->kind == ConversionKind::ClusterSharedMemory; });
  auto barrier = [&] {
    if (isOfCluster)
      return e.clusterBarrier();
    isWarpLocal ? e.warpBarrier() : e.barrier();
  };
  auto forEach = [&](unsigned iteration, auto body) {
    for (auto &transit : transits)
      if (transit && iteration < transit->numIterations())
        body(*transit);
  };
  for (unsigned iteration = 0; iteration < iterations; ++iteration) {
    if (iteration)
      barrier();
    forEach(iteration, [&](SharedTransit &transit) { transit.store(iteration, isWarpLocal); });
    barrier();
    forEach(iteration, [&](SharedTransit &transit) { transit.load(iteration); });
  }
  // The halves of scratch memory tell nothing of other blocks, nor does the end of this one.
  if (isOfCluster)
    barrier();
  for (auto [transit, result] : llvm::zip(transits, results))
    if (transit)
      result = std::move(transit->result);
}

SmallVector<Registers, 2> TileMover::move(const ConversionGroup &group, ArrayRef<ArrayRef<Value>> sources) {
  SmallVector<Registers, 2> moved(group.size());
  bool anyShared = false;
  for (auto [plan, source, result] : llvm::zip(group, sources, moved)) {
    anyShared |= usesShared(*plan);
    if (plan->kind == ConversionKind::None)
      result = Registers(source);
    else if (!usesShared(*plan))
      result = moveByShuffles(e, *plan, source);
  }
  if (anyShared) {
    if (!ThreadEmitter::sharedOffset(op)) {
      op->emitOpError("has no scratch memory although it needs it");
      return {};
    }
    moveThroughShared(group, sources, moved);
  }
  SmallVector<Registers, 2> results(group.size());
  for (auto [plan, values, result] : llvm::zip(group, moved, results))
    for (unsigned index : plan->finalIndex)
      result.push_back(values[index]);
  return results;
}

std::optional<Registers> reorderRegisters(ArrayRef<Value> registers, const LinearLayout &from,
                                          const LinearLayout &to) {
  if (from == to)
    return Registers(registers);
  std::optional<SmallVector<unsigned, 16>> sources = broadcastRegisters(from, to);
  if (!sources)
    return std::nullopt;
  Registers result;
  for (unsigned index : *sources)
    result.push_back(registers[index]);
  return result;
}

} // namespace despina::nvptx
