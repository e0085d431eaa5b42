//===- LayoutSwizzle.cpp - Conversions through shared memory --------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Where the elements go in shared memory so that both sides read and write wide and without bank conflicts.
//
// An arrangement is a basis of the space of elements, in four parts: vector (elements of one access), bank
// (the rest of a line of 128 bytes), segment (which line) and iteration. Let the tile of a side be the span
// of the vector part and of those lanes that compete for banks at the same time (all five lane bits for words
// of 4 bytes, four for 8, three for 16). Two elements of a tile meet in a bank exactly when they differ by a
// sum of segment and vector vectors. So there are no conflicts if
//
//   span(segment) ∩ tileA = 0  and  span(segment) ∩ tileB = 0.
//
// Such a span can have d - max(dim tileA, dim tileB) dimensions, d being that of the whole space, and growing
// it by one vector at a time finds it: a space is never the union of two proper subspaces A + S and B + S,
// and if unit vectors a outside of the first and b outside of the second are each inside of the other, then a
// + b is outside of both. These sums are what is known as the swizzle.
//
//===----------------------------------------------------------------------===//
#include "LayoutConversionImpl.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <bit>

namespace despina {

using enum LayoutDim;
using namespace layout_detail;

namespace {

unsigned log2Of(uint64_t x) { return 63 - std::countl_zero(x | 1); }

} // namespace

unsigned bankWavefronts(llvm::ArrayRef<uint64_t> laneOffsets, unsigned vector, unsigned elementBits) {
  unsigned bits = std::max(8u, elementBits);
  unsigned accessBits = std::max<unsigned>(32, bits * vector);
  unsigned wide = log2Of(accessBits / 32);
  // An aligned access covers one unit of this many elements; there are 32 words of banks.
  unsigned unitShift = log2Of(std::max(1u, accessBits / bits));
  uint64_t bankMask = f2::lowMask(5 - std::min(5u, wide));
  f2::Space units, banks;
  unsigned competing = laneOffsets.size() - std::min<unsigned>(laneOffsets.size(), wide);
  for (uint64_t offset : laneOffsets.take_front(competing)) {
    units.insert(offset >> unitShift);
    banks.insert((offset >> unitShift) & bankMask);
  }
  unsigned phases = 1u << std::min<unsigned>(laneOffsets.size(), wide);
  return phases << (units.dimension() - banks.dimension());
}

namespace {

/// The columns of both sides in coordinates of the space that one block holds.
///
/// What the threads of a block of the source have spans W; blocks are distinguished by the element modulo W.
/// Coordinates 0 to `local` - 1 are those of W, the others tell the blocks apart.
struct LocalSpace {
  PlaceBases source;
  PlaceBases destination;
  unsigned local = 0;
  /// The elements that are the unit vectors of the coordinates.
  f2::Vectors elements;
  /// Bits of the block index that give the upper coordinates.
  llvm::SmallVector<unsigned, 4> blockBits;

  LocalSpace(const LinearLayout &from, const LinearLayout &to) : source(from), destination(to) {}
};

void toCoordinates(PlaceBases &bases, const f2::Space &space) {
  for (f2::Vectors *list : {&bases.registers, &bases.lanes, &bases.warps, &bases.blocks})
    for (uint64_t &column : *list)
      column = space.reduce(column).tags;
}

std::optional<LocalSpace> localSpace(const LinearLayout &from, const LinearLayout &to) {
  LocalSpace result(from, to);
  unsigned dimension = from.totalOutBits();
  f2::Space own;
  f2::Vectors spanning;
  for (const f2::Vectors *list : {&result.source.registers, &result.source.lanes, &result.source.warps})
    for (uint64_t column : *list)
      if (own.insert(column))
        spanning.push_back(column);
  result.local = own.dimension();
  if (result.local == dimension) {
    // The block has everything: coordinates of the tile will do.
    spanning.clear();
    for (unsigned bit = 0; bit < dimension; ++bit)
      spanning.push_back(uint64_t(1) << bit);
  }
  for (unsigned bit = 0; bit < result.source.blocks.size(); ++bit) {
    if (!own.insert(result.source.blocks[bit]))
      continue;
    spanning.push_back(result.source.blocks[bit]);
    result.blockBits.push_back(bit);
  }
  if (spanning.size() != dimension)
    return std::nullopt;
  f2::Space space(spanning);
  result.elements = spanning;
  toCoordinates(result.source, space);
  toCoordinates(result.destination, space);
  return result;
}

/// An arrangement: elements (in coordinates) that are its unit vectors, vector part first, then bank,
/// segment, iteration.
struct Arrangement {
  f2::Vectors basis;
  unsigned vectorBits = 0;
  unsigned bankBits = 0;
  unsigned segmentBits = 0;
  unsigned iterationBits = 0;
};

/// Builds arrangements of a space for two sides.
class Arranger {
public:
  Arranger(const LocalSpace &space, const ConversionOptions &options) : space(space), options(options) {
    bits = std::max(8u, options.elementBits);
    uint64_t mask = f2::lowMask(space.local);
    auto cut = [&](const f2::Vectors &list) {
      f2::Vectors result;
      for (uint64_t column : list)
        result.push_back(column & mask);
      return result;
    };
    regsA = cut(space.source.registers);
    regsB = cut(space.destination.registers);
    lanesA = cut(space.source.lanes);
    lanesB = cut(space.destination.lanes);
    warpsA = cut(space.source.warps);
    warpsB = cut(space.destination.warps);
    common = f2::intersection(regsA, regsB);
  }

  /// Vectors that both sides could use.
  unsigned maxVectorBits() const {
    unsigned widest = log2Of(std::max(1u, options.maxVectorBits / bits));
    return std::min<unsigned>({widest, static_cast<unsigned>(common.size()), space.local});
  }

  Arrangement arrange(unsigned vectorBits) const {
    Arrangement result;
    f2::Vectors vector(llvm::ArrayRef<uint64_t>(common).take_front(vectorBits));
    fillWord(vector);
    unsigned wide = log2Of(std::max(1u, (bits << vectorBits) / 32));
    f2::Space a = tile(vector, lanesA, wide), b = tile(vector, lanesB, wide);
    unsigned lineBits = log2Of(1024 / bits);
    unsigned wanted = space.local > lineBits ? space.local - lineBits : 0;
    unsigned iterationBits = 0;
    f2::Vectors segment = chooseSegment(vector, a, b, wanted, iterationBits);
    f2::Vectors bank = complement(vector, segment);
    result.vectorBits = vector.size();
    result.bankBits = bank.size();
    result.segmentBits = segment.size() - iterationBits;
    result.iterationBits = iterationBits;
    result.basis = vector;
    llvm::append_range(result.basis, bank);
    // Those to iterate over were chosen first.
    llvm::append_range(result.basis, llvm::ArrayRef<uint64_t>(segment).drop_front(iterationBits));
    llvm::append_range(result.basis, llvm::ArrayRef<uint64_t>(segment).take_front(iterationBits));
    return result;
  }

private:
  uint64_t bytes() const { return (uint64_t(1) << space.local) * bits / 8; }

  /// A bank is 4 bytes wide. Smaller vectors are filled up with what makes one side's access wide, or costs
  /// no bank.
  void fillWord(f2::Vectors &vector) const {
    f2::Space have(vector);
    f2::Vectors candidates;
    for (const f2::Vectors &list :
         {f2::intersection(regsA, warpsB), f2::intersection(warpsA, regsB), f2::intersection(warpsA, warpsB),
          warpsA, warpsB, regsA, regsB, lanesA, lanesB})
      llvm::append_range(candidates, list);
    for (uint64_t candidate : candidates)
      if ((bits << vector.size()) < 32 && have.insert(candidate))
        vector.push_back(candidate);
  }

  static f2::Space tile(const f2::Vectors &vector, const f2::Vectors &lanes, unsigned wide) {
    f2::Space result(vector);
    for (uint64_t lane : llvm::ArrayRef<uint64_t>(lanes).drop_back(std::min<size_t>(wide, lanes.size())))
      result.insert(lane);
    return result;
  }

  /// Registers of both sides come first where they do no harm: these can be iterated over. Conflicts are
  /// accepted when there is no room left: first of one side, then of both.
  f2::Vectors chooseSegment(const f2::Vectors &vector, f2::Space a, f2::Space b, unsigned wanted,
                            unsigned &iterationBits) const {
    f2::Vectors segment;
    f2::Space used(vector);
    auto take = [&](uint64_t v) {
      a.insert(v);
      b.insert(v);
      used.insert(v);
      segment.push_back(v);
    };
    while (iterationBits < wanted && (bytes() >> iterationBits) > options.maxScratchBytes) {
      const uint64_t *next =
          llvm::find_if(common, [&](uint64_t v) { return !a.contains(v) && !b.contains(v); });
      if (next == common.end())
        break;
      take(*next);
      ++iterationBits;
    }
    while (segment.size() < wanted)
      take(outsideOf(a, b, used));
    return segment;
  }

  /// A vector outside of both spaces, or of one, or of \p used.
  uint64_t outsideOf(const f2::Space &a, const f2::Space &b, const f2::Space &used) const {
    uint64_t outsideA = firstOutside(a), outsideB = firstOutside(b);
    if (outsideA && outsideB) {
      if (!b.contains(outsideA))
        return outsideA;
      if (!a.contains(outsideB))
        return outsideB;
      return outsideA ^ outsideB;
    }
    if (outsideA || outsideB)
      return outsideA | outsideB;
    return firstOutside(used);
  }

  uint64_t firstOutside(const f2::Space &subspace) const {
    for (unsigned bit = 0; bit < space.local; ++bit)
      if (!subspace.contains(uint64_t(1) << bit))
        return uint64_t(1) << bit;
    return 0;
  }

  /// Lanes first: then their offsets have no part in a vector, and accesses can be wide.
  f2::Vectors complement(const f2::Vectors &vector, const f2::Vectors &segment) const {
    f2::Space have(vector);
    for (uint64_t v : segment)
      have.insert(v);
    f2::Vectors result;
    auto add = [&](uint64_t v) {
      if (have.insert(v))
        result.push_back(v);
    };
    for (const f2::Vectors *list : {&lanesA, &lanesB, &warpsA, &warpsB})
      llvm::for_each(*list, add);
    for (unsigned bit = 0; bit < space.local; ++bit)
      add(uint64_t(1) << bit);
    return result;
  }

  const LocalSpace &space;
  const ConversionOptions &options;
  unsigned bits;
  f2::Vectors regsA, regsB, lanesA, lanesB, warpsA, warpsB, common;
};

/// Turns the registers of one side into accesses.
class SideBuilder {
public:
  SideBuilder(const LocalSpace &space, const Arrangement &arrangement, const ConversionOptions &options,
              const LinearLayout &layout, bool isLoad)
      : space(space), arrangement(arrangement), options(options), isLoad(isLoad),
        selection(BitSelection::withoutCopies(layout, Register)),
        bases(isLoad ? space.destination : space.source) {
    f2::Vectors basis = arrangement.basis;
    for (unsigned bit = space.local; bit < space.elements.size(); ++bit)
      basis.push_back(uint64_t(1) << bit);
    toCoordinates(bases, f2::Space(basis));
    f2::Vectors kept;
    for (unsigned bit : selection.bits())
      kept.push_back(bases.registers[bit]);
    bases.registers = kept;
    offsetBits = space.local - arrangement.iterationBits;
  }

  /// Nothing if threads would be in different iterations.
  std::optional<SharedSide> build(const LinearLayout &layout) {
    uint64_t iterations = f2::lowMask(arrangement.iterationBits) << offsetBits;
    SharedSide side;
    addTerms(bases.lanes, side.offset.lane, side.block.lane);
    addTerms(bases.warps, side.offset.warp, side.block.warp);
    addTerms(bases.blocks, side.offset.block, side.block.block);
    for (const f2::Vectors *list : {&bases.lanes, &bases.warps, &bases.blocks})
      if (llvm::any_of(*list, [&](uint64_t column) { return column & iterations; }))
        return std::nullopt;
    for (unsigned bit = 0; bit < side.block.block.size(); ++bit) {
      // A block that has what it wants itself does not ask another one.
      uint64_t unit = uint64_t(1) << bit;
      uint64_t ownTag = sourceBlockTag(bit);
      if (bases.blocks[bit] >> space.local == ownTag)
        side.block.block[bit] = unit;
    }
    addAccesses(side);
    countWavefronts(side);
    side.copyLanes = layout.freeVariableMask(Lane);
    side.copyWarps = layout.freeVariableMask(Warp);
    return side;
  }

private:
  uint64_t sourceBlockTag(unsigned bit) const { return space.source.blocks[bit] >> space.local; }

  uint64_t offsetOf(uint64_t column) const { return column & f2::lowMask(offsetBits); }
  /// Upper coordinates to bits of the block index.
  uint64_t blockOf(uint64_t column) const {
    uint64_t result = 0;
    for (unsigned i = 0; i < space.blockBits.size(); ++i)
      if (column >> (space.local + i) & 1)
        result |= uint64_t(1) << space.blockBits[i];
    return result;
  }

  template <typename Terms> void addTerms(const f2::Vectors &columns, Terms &offsets, Terms &blocks) const {
    for (uint64_t column : columns) {
      offsets.push_back(offsetOf(column));
      blocks.push_back(blockOf(column));
    }
  }

  /// The most low bits that registers reach, and that nothing else of a place touches.
  unsigned vectorBits() const {
    unsigned n = log2Of(std::max(1u, options.maxVectorBits / std::max(8u, options.elementBits)));
    n = std::min(n, offsetBits);
    f2::Space reached(bases.registers);
    for (unsigned bit = 0; bit < n; ++bit)
      if (!reached.contains(uint64_t(1) << bit))
        n = bit;
    for (const f2::Vectors *list : {&bases.lanes, &bases.warps, &bases.blocks})
      for (uint64_t column : *list)
        if (offsetOf(column))
          n = std::min<unsigned>(n, std::countr_zero(offsetOf(column)));
    return n;
  }

  void addAccesses(SharedSide &side) const {
    unsigned n = vectorBits();
    side.vector = 1u << n;
    f2::Vectors along, low;
    for (unsigned bit = 0; bit < n; ++bit)
      along.push_back(f2::solve(bases.registers, uint64_t(1) << bit).value_or(0));
    for (uint64_t column : bases.registers)
      low.push_back(column & f2::lowMask(n));
    // Registers at the start of an access are those with no vector part.
    f2::Vectors starts = f2::kernel(low);
    side.iterations.resize(size_t(1) << arrangement.iterationBits);
    for (uint64_t i = 0; i < uint64_t(1) << starts.size(); ++i) {
      uint64_t start = f2::multiply(starts, i);
      uint64_t column = f2::multiply(bases.registers, start);
      SharedAccess access;
      access.offset = offsetOf(column);
      access.block = blockOf(column);
      for (uint64_t j = 0; j < side.vector; ++j) {
        unsigned canonical = start ^ f2::multiply(along, j);
        access.registers.push_back(isLoad ? canonical : selection.oldIndex(canonical));
      }
      uint64_t iteration = (column >> offsetBits) & f2::lowMask(arrangement.iterationBits);
      side.iterations[iteration].push_back(std::move(access));
    }
  }

  void countWavefronts(SharedSide &side) const {
    side.wavefrontsPerAccess = bankWavefronts(side.offset.lane, side.vector, options.elementBits);
    unsigned accessBits = std::max(8u, options.elementBits) * side.vector;
    side.idealWavefronts = std::max(1u, accessBits / 32);
    for (const auto &accesses : side.iterations)
      side.wavefronts += accesses.size() * side.wavefrontsPerAccess;
  }

  const LocalSpace &space;
  const Arrangement &arrangement;
  const ConversionOptions &options;
  bool isLoad;
  BitSelection selection;
  PlaceBases bases;
  unsigned offsetBits = 0;
};

LinearLayout memoryLayout(const LocalSpace &space, const Arrangement &arrangement, const LinearLayout &from) {
  f2::Vectors columns;
  for (uint64_t coordinates : arrangement.basis)
    columns.push_back(f2::multiply(space.elements, coordinates));
  for (unsigned bit = 0; bit < space.source.blocks.size(); ++bit) {
    auto *it = llvm::find(space.blockBits, bit);
    columns.push_back(
        it == space.blockBits.end() ? 0 : space.elements[space.local + (it - space.blockBits.begin())]);
  }
  return LinearLayout::fromColumns({{Vector, arrangement.vectorBits},
                                    {Bank, arrangement.bankBits},
                                    {Segment, arrangement.segmentBits},
                                    {Iteration, arrangement.iterationBits},
                                    {Block, static_cast<unsigned>(space.source.blocks.size())}},
                                   from.outs(), columns)
      .value_or(LinearLayout());
}

std::optional<SharedPlan> planFor(const LocalSpace &space, const Arrangement &arrangement,
                                  const LinearLayout &from, const LinearLayout &to,
                                  const ConversionOptions &options) {
  std::optional<SharedSide> store = SideBuilder(space, arrangement, options, from, false).build(from);
  std::optional<SharedSide> load = SideBuilder(space, arrangement, options, to, true).build(to);
  if (!store || !load)
    return std::nullopt;
  SharedPlan plan;
  plan.memory = memoryLayout(space, arrangement, from);
  plan.elements = uint64_t(1) << (space.local - arrangement.iterationBits);
  plan.bytes = plan.elements * std::max(8u, options.elementBits) / 8;
  plan.store = std::move(*store);
  plan.load = std::move(*load);
  return plan;
}

unsigned costOf(const SharedPlan &plan) {
  unsigned accesses = 0;
  for (const SharedSide *side : {&plan.store, &plan.load})
    for (const auto &list : side->iterations)
      accesses += list.size();
  return accesses + plan.store.wavefronts + plan.load.wavefronts;
}

} // namespace

std::optional<SharedPlan> layout_detail::planShared(const LinearLayout &source,
                                                    const LinearLayout &destination,
                                                    const ConversionOptions &options) {
  std::optional<LocalSpace> space = localSpace(source, destination);
  if (!space)
    return std::nullopt;
  Arranger arranger(*space, options);
  std::optional<SharedPlan> best;
  for (unsigned vectorBits = arranger.maxVectorBits() + 1; vectorBits-- > 0;) {
    Arrangement arrangement = arranger.arrange(vectorBits);
    std::optional<SharedPlan> plan = planFor(*space, arrangement, source, destination, options);
    while (!plan && arrangement.iterationBits) {
      // Threads would be in different iterations: keep it in memory instead.
      --arrangement.iterationBits;
      ++arrangement.segmentBits;
      plan = planFor(*space, arrangement, source, destination, options);
    }
    if (plan && (!best || costOf(*plan) < costOf(*best)))
      best = std::move(plan);
  }
  return best;
}

} // namespace despina
