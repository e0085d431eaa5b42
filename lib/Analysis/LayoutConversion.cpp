//===- LayoutConversion.cpp - Moving a tile between layouts ---------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Chooses the means, and plans conversions within warps. Shared memory is in LayoutSwizzle.cpp.
//
//===----------------------------------------------------------------------===//
#include "LayoutConversionImpl.h"

#include "llvm/ADT/STLExtras.h"

#include <bit>

namespace despina {

using enum LayoutDim;

uint64_t ThreadTerms::value(uint64_t laneIndex, uint64_t warpIndex, uint64_t blockIndex) const {
  return f2::multiply(lane, laneIndex) ^ f2::multiply(warp, warpIndex) ^ f2::multiply(block, blockIndex);
}

bool ThreadTerms::isZero() const {
  auto zero = [](uint64_t term) { return term == 0; };
  return llvm::all_of(lane, zero) && llvm::all_of(warp, zero) && llvm::all_of(block, zero);
}

namespace layout_detail {

PlaceBases::PlaceBases(const LinearLayout &layout)
    : registers(layout.columnsOf(Register)), lanes(layout.columnsOf(Lane)), warps(layout.columnsOf(Warp)),
      blocks(layout.columnsOf(Block)) {}

} // namespace layout_detail

using namespace layout_detail;

namespace {

/// Inputs register, lane, warp, block in this order; nothing if there are others.
std::optional<LinearLayout> inStandardForm(const LinearLayout &layout, llvm::ArrayRef<LayoutDim> outs) {
  LinearLayout result = layout;
  llvm::SmallVector<LayoutDim, 4> ins = {Register, Lane, Warp, Block};
  for (LayoutDim in : ins)
    if (!result.hasIn(in) && !outs.empty())
      result *= LinearLayout::zeros1D(1, in, outs.front());
  std::optional<LinearLayout> ordered = result.transposeIns(ins);
  return ordered ? ordered->transposeOuts(outs) : std::nullopt;
}

/// C sends a place to a register, lane, warp and block. This is its part from one dimension to another.
f2::Vectors part(const LinearLayout &places, LayoutDim from, LayoutDim to) {
  f2::Vectors result;
  for (unsigned bit = 0; bit < places.inBits(from); ++bit)
    result.push_back(places.basis(from, bit, to));
  return result;
}

/// A linear map from threads to registers, as exchanges: each bit of a thread whose image is not 0 is one.
/// Bits of the same image share it.
void addExchanges(const ThreadTerms &terms, llvm::SmallVectorImpl<RegisterExchange> &exchanges) {
  auto of = [&](uint64_t mask) -> RegisterExchange & {
    for (RegisterExchange &exchange : exchanges)
      if (exchange.registerMask == mask)
        return exchange;
    exchanges.push_back({mask, 0, 0, 0});
    return exchanges.back();
  };
  auto add = [&](llvm::ArrayRef<uint64_t> images, uint64_t RegisterExchange::*mask) {
    for (unsigned bit = 0; bit < images.size(); ++bit)
      if (images[bit])
        of(images[bit]).*mask |= uint64_t(1) << bit;
  };
  add(terms.lane, &RegisterExchange::laneMask);
  add(terms.warp, &RegisterExchange::warpMask);
  add(terms.block, &RegisterExchange::blockMask);
}

/// The rounds of one pass of shuffles.
///
/// C maps register k of lane l in warp w to register  Crr k + Crl l + Crw w  of lane  Clr k + Cll l + Clw w
/// of the same warp. In round k, lane l is given register k + f(l), f being linear and free to choose. It
/// reads from lane
///   s = G l + Clr k + Clw w   with G = Cll + Clr f,   and there register  Crr k + H l + Crw w, H = Crl + Crr
///   f.
/// A lane can serve one register in a round, so that must be a function of s: ker G must lie in ker H. For
/// each v in ker Cll with H v not 0, f(v) is chosen so that Clr f(v) is a new direction in the image of G; or
/// else v is made to read from another copy: a place n of the kernel of the source is added to C v. Then
/// there is a sigma with H = sigma G, and a lane serves register
///   Crr k + sigma(Clr k) + sigma(s) + (sigma Clw + Crw) w.
class ShuffleRounds {
public:
  ShuffleRounds(const LinearLayout &source, const LinearLayout &places)
      : registerOfRegister(part(places, Register, Register)), laneOfRegister(part(places, Register, Lane)),
        laneOfLane(part(places, Lane, Lane)), registerOfLane(part(places, Lane, Register)),
        shift(laneOfLane.size(), 0) {
    f2::Vectors local(source.columnsOf(Register));
    llvm::append_range(local, source.columnsOf(Lane));
    registerBits = source.inBits(Register);
    copies = f2::kernel(local);
  }

  bool solve() {
    f2::Space image(laneOfLane);
    f2::Vectors kernel = f2::kernel(laneOfLane);
    uint64_t free = f2::freeVariables(laneOfLane);
    f2::Space wanted; // Registers that vectors of the kernel want from the lane they would all read from.
    f2::Vectors moves(kernel.size(), 0), laneMoves(kernel.size(), 0), registerMoves(kernel.size(), 0);
    for (unsigned i = 0; i < kernel.size(); ++i, free &= free - 1) {
      uint64_t want = f2::multiply(registerOfLane, kernel[i]);
      auto [rest, tags] = wanted.reduce(want);
      if (rest) {
        wanted.insert(want, uint64_t(1) << i);
        if (!chooseMove(image, moves[i], laneMoves[i], registerMoves[i]))
          return false;
      } else {
        // A sum of earlier ones wants the same: it moves as they do together.
        moves[i] = f2::multiply(moves, tags);
        laneMoves[i] = f2::multiply(laneMoves, tags);
        registerMoves[i] = f2::multiply(registerMoves, tags);
      }
      unsigned pivot = std::countr_zero(free);
      shift[pivot] = moves[i];
    }
    applyMoves(f2::freeVariables(laneOfLane), laneMoves, registerMoves);
    return findSigma();
  }

  f2::Vectors registerOfRegister, laneOfRegister;
  /// G and H once solved.
  f2::Vectors laneOfLane, registerOfLane;
  /// f: per lane bit.
  f2::Vectors shift;
  /// sigma: per lane bit.
  f2::Vectors served;

private:
  bool chooseMove(f2::Space &image, uint64_t &move, uint64_t &lane, uint64_t &reg) const {
    for (unsigned bit = 0; bit < laneOfRegister.size(); ++bit) {
      if (!image.insert(laneOfRegister[bit]))
        continue;
      move = uint64_t(1) << bit;
      lane = laneOfRegister[bit];
      reg = registerOfRegister[bit];
      return true;
    }
    for (uint64_t copy : copies) {
      if (!image.insert(copy >> registerBits))
        continue;
      lane = copy >> registerBits;
      reg = copy & f2::lowMask(registerBits);
      return true;
    }
    return false;
  }

  void applyMoves(uint64_t free, const f2::Vectors &laneMoves, const f2::Vectors &registerMoves) {
    for (unsigned i = 0; free; free &= free - 1, ++i) {
      unsigned pivot = std::countr_zero(free);
      laneOfLane[pivot] ^= laneMoves[i];
      registerOfLane[pivot] ^= registerMoves[i];
    }
  }

  /// sigma on the image of G, and 0 on a complement.
  bool findSigma() {
    for (uint64_t v : f2::kernel(laneOfLane))
      if (f2::multiply(registerOfLane, v))
        return false;
    f2::Space all(laneOfLane);
    // Tags from bit 32 on mark vectors of the complement.
    for (unsigned bit = 0; bit < laneOfLane.size(); ++bit)
      all.insert(uint64_t(1) << bit, uint64_t(1) << (32 + bit));
    for (unsigned bit = 0; bit < laneOfLane.size(); ++bit) {
      uint64_t tags = all.reduce(uint64_t(1) << bit).tags & f2::lowMask(32);
      served.push_back(f2::multiply(registerOfLane, tags));
    }
    return true;
  }

  unsigned registerBits = 0;
  f2::Vectors copies;
};

/// The terms that threads' places add to the register they serve.
ThreadTerms servedRegister(const ShuffleRounds &rounds, const LinearLayout &places) {
  ThreadTerms terms;
  terms.lane.assign(rounds.served.begin(), rounds.served.end());
  auto add = [&](LayoutDim dim, llvm::SmallVectorImpl<uint64_t> &list) {
    f2::Vectors lanes = part(places, dim, Lane), registers = part(places, dim, Register);
    for (unsigned i = 0; i < lanes.size(); ++i)
      list.push_back(f2::multiply(rounds.served, lanes[i]) ^ registers[i]);
  };
  add(Warp, terms.warp);
  add(Block, terms.block);
  return terms;
}

/// Registers that travel by the same lanes share a word.
void packRounds(ShufflePlan &plan, const ShuffleRounds &rounds, unsigned elementBits) {
  unsigned perWord = std::max(1u, 32 / std::max(8u, elementBits));
  unsigned words = elementBits > 32 ? 2 : 1;
  for (uint64_t k = 0; k < uint64_t(1) << rounds.registerOfRegister.size(); ++k) {
    uint64_t lane = f2::multiply(rounds.laneOfRegister, k);
    uint64_t reg = f2::multiply(rounds.registerOfRegister, k) ^ f2::multiply(rounds.served, lane);
    ShuffleRound::Value value = {static_cast<unsigned>(k), static_cast<unsigned>(reg)};
    auto *open = llvm::find_if(plan.rounds, [&](const ShuffleRound &round) {
      return round.laneXor == lane && round.values.size() < perWord;
    });
    if (open != plan.rounds.end()) {
      open->values.push_back(value);
      continue;
    }
    plan.rounds.push_back({lane, {value}});
    if (lane || !plan.isButterfly)
      plan.shuffles += words;
  }
}

} // namespace

std::optional<ShufflePlan> layout_detail::planShuffle(const LinearLayout &source,
                                                      const LinearLayout &destination,
                                                      const LinearLayout &places, unsigned elementBits) {
  ShuffleRounds rounds(source, places);
  if (!rounds.solve())
    return std::nullopt;
  ShufflePlan plan;
  plan.sourceLane.lane.assign(rounds.laneOfLane.begin(), rounds.laneOfLane.end());
  llvm::append_range(plan.sourceLane.warp, part(places, Warp, Lane));
  llvm::append_range(plan.sourceLane.block, part(places, Block, Lane));
  ThreadTerms others = plan.sourceLane;
  others.lane.clear();
  plan.isButterfly = others.isZero();
  for (unsigned bit = 0; bit < rounds.laneOfLane.size(); ++bit)
    plan.isButterfly &= rounds.laneOfLane[bit] == uint64_t(1) << bit;

  addExchanges(servedRegister(rounds, places), plan.before);
  ThreadTerms given;
  given.lane.assign(rounds.shift.begin(), rounds.shift.end());
  addExchanges(given, plan.after);
  packRounds(plan, rounds, elementBits);
  plan.selects =
      plan.before.size() * source.inSize(Register) + plan.after.size() * destination.inSize(Register);
  return plan;
}

namespace {

/// The outermost of the dimensions that C does not keep.
ConversionKind kindOf(const LinearLayout &places) {
  if (!places.preserves(Block))
    return ConversionKind::ClusterSharedMemory;
  if (!places.preserves(Warp))
    return ConversionKind::SharedMemory;
  return places.preserves(Lane) ? ConversionKind::Registers : ConversionKind::Shuffle;
}

/// For each register of a layout, the canonical one that has the same element.
llvm::SmallVector<unsigned, 16> canonicalRegisters(const LinearLayout &layout,
                                                   const LinearLayout &canonical) {
  f2::Space space(canonical.columnsOf(Register));
  llvm::SmallVector<unsigned, 16> result;
  for (uint64_t i = 0; i < layout.inSize(Register); ++i)
    result.push_back(space.reduce(f2::multiply(layout.columnsOf(Register), i)).tags);
  return result;
}

bool isNoOp(const ConversionPlan &plan) {
  if (!plan.shuffle.before.empty() || !plan.shuffle.after.empty())
    return false;
  for (const ShuffleRound &round : plan.shuffle.rounds)
    for (ShuffleRound::Value value : round.values)
      if (value.to != value.from)
        return false;
  return true;
}

/// Issue slots, roughly: a shuffle and a wavefront of shared memory take one each, a select half of one, and
/// a round trip through shared memory waits as long as 16.
double costOf(const ShufflePlan &plan) { return plan.shuffles + 0.5 * plan.selects; }
double costOf(const SharedPlan &plan) { return 16.0 + plan.store.wavefronts + plan.load.wavefronts; }

} // namespace

std::optional<ConversionPlan> planConversion(const LinearLayout &source, const LinearLayout &destination,
                                             const ConversionOptions &options) {
  std::optional<LinearLayout> from = inStandardForm(source, source.outNames());
  std::optional<LinearLayout> to = inStandardForm(destination, source.outNames());
  if (!from || !to || from->outs() != to->outs() || !std::has_single_bit(options.elementBits) ||
      options.elementBits > 64 || from->inBits(Register) > 20 || to->inBits(Register) > 20)
    return std::nullopt;
  for (LayoutDim dim : {Lane, Warp, Block})
    if (from->inBits(dim) != to->inBits(dim))
      return std::nullopt;
  std::optional<LinearLayout> canonical = BitSelection::withoutCopies(*to, Register).apply(*to);
  std::optional<LinearLayout> places = canonical ? canonical->invertAndCompose(*from) : std::nullopt;
  if (!places)
    return std::nullopt;

  ConversionPlan plan;
  plan.kind = kindOf(*places);
  plan.sourceRegisters = from->inSize(Register);
  plan.destinationRegisters = to->inSize(Register);
  plan.finalIndex = canonicalRegisters(*to, *canonical);
  bool isThreadLocal = plan.kind == ConversionKind::Registers;
  std::optional<ShufflePlan> shuffle;
  if (isThreadLocal || (plan.kind == ConversionKind::Shuffle && options.allowShuffle))
    shuffle = planShuffle(*from, *canonical, *places, options.elementBits);
  if (shuffle && isThreadLocal) {
    plan.shuffle = std::move(*shuffle);
    if (isNoOp(plan))
      plan.kind = ConversionKind::None;
    return plan;
  }
  std::optional<SharedPlan> shared = planShared(*from, *canonical, options);
  bool useShuffle = shuffle && (!shared || costOf(*shuffle) <= options.shuffleAdvantage * costOf(*shared));
  if (useShuffle) {
    plan.shuffle = std::move(*shuffle);
    return plan;
  }
  if (!shared)
    return std::nullopt;
  // Warps that hold copies share addresses, and one could be an iteration ahead.
  shared->isWarpLocal = plan.kind == ConversionKind::Shuffle && !from->freeVariableMask(Warp);
  if (plan.kind != ConversionKind::ClusterSharedMemory)
    plan.kind = ConversionKind::SharedMemory;
  plan.shared = std::move(*shared);
  return plan;
}

} // namespace despina
