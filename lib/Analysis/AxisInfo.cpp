//===- AxisInfo.cpp - The lattice and its solver --------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// The rules of each operation are in AxisInfoRules.cpp.
//
//===----------------------------------------------------------------------===//
#include "despina/Analysis/AxisInfo.h"
#include "despina/IR/TT.h"

#include "mlir/Analysis/DataFlow/SparseAnalysis.h"
#include "mlir/Analysis/DataFlow/Utils.h"
#include "mlir/Analysis/DataFlowFramework.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace despina;

//===----------------------------------------------------------------------===//
// AxisInfo
//===----------------------------------------------------------------------===//

static int64_t powerOfTwoDivisor(int64_t value) {
  if (value == 0)
    return AxisInfo::maxDivisor;
  return int64_t(1) << std::min(62, llvm::countr_zero(static_cast<uint64_t>(value)));
}

/// The extents of a tile; one extent of 1 for a scalar.
static SmallVector<int64_t, 4> extentsOf(Type type) {
  if (auto tile = dyn_cast<RankedTensorType>(type))
    return llvm::to_vector<4>(tile.getShape());
  return {1};
}

/// Bytes between two elements a pointer of this type passes; 1 for integers.
static int64_t unitOf(Type type) {
  auto pointer = dyn_cast<tt::PointerType>(getElementTypeOrSelf(type));
  if (!pointer)
    return 1;
  Type pointee = pointer.getPointeeType();
  return pointee.isIntOrFloat() ? std::max<int64_t>(1, pointee.getIntOrFloatBitWidth() / 8) : 8;
}

AxisInfo AxisInfo::unknown(Type type) {
  AxisInfo info;
  size_t rank = extentsOf(type).size();
  info.contiguity.assign(rank, 1);
  info.divisibility.assign(rank, 1);
  info.constancy.assign(rank, 1);
  info.unit = unitOf(type);
  return info;
}

AxisInfo AxisInfo::ofConstant(Type type, int64_t value) {
  AxisInfo info = unknown(type);
  info.constancy = extentsOf(type);
  info.divisibility.assign(info.rank(), powerOfTwoDivisor(value));
  info.constant = value;
  info.nonNegative = value >= 0;
  return info;
}

int64_t AxisInfo::divisorAt(unsigned axis, int64_t run) const {
  return contiguity[axis] > run ? std::min(divisibility[axis], run * unit) : divisibility[axis];
}

int64_t AxisInfo::divisorOfAll() const {
  int64_t divisor = 1;
  for (unsigned axis = 0; axis < rank(); ++axis)
    divisor = std::max(divisor, divisorAt(axis, 1));
  return divisor;
}

AxisInfo AxisInfo::join(const AxisInfo &lhs, const AxisInfo &rhs) {
  if (!lhs.isInitialized())
    return rhs;
  if (!rhs.isInitialized() || lhs == rhs || lhs.rank() != rhs.rank())
    return lhs;
  AxisInfo info = lhs;
  for (unsigned axis = 0; axis < info.rank(); ++axis) {
    int64_t run = std::min(lhs.contiguity[axis], rhs.contiguity[axis]);
    info.contiguity[axis] = run;
    info.divisibility[axis] = std::min(lhs.divisorAt(axis, run), rhs.divisorAt(axis, run));
    info.constancy[axis] = std::min(lhs.constancy[axis], rhs.constancy[axis]);
  }
  if (lhs.constant != rhs.constant)
    info.constant = std::nullopt;
  info.nonNegative = lhs.nonNegative && rhs.nonNegative;
  return info;
}

bool AxisInfo::operator==(const AxisInfo &other) const {
  return contiguity == other.contiguity && divisibility == other.divisibility &&
         constancy == other.constancy && constant == other.constant && nonNegative == other.nonNegative &&
         unit == other.unit;
}

void AxisInfo::print(raw_ostream &os) const {
  auto list = [&](StringRef name, const Figures &figures) {
    os << name << " = [";
    llvm::interleaveComma(figures, os);
    os << "]";
  };
  list("contiguity", contiguity);
  list(", divisibility", divisibility);
  list(", constancy", constancy);
  if (constant)
    os << ", constant = " << *constant;
}

//===----------------------------------------------------------------------===//
// The solver
//===----------------------------------------------------------------------===//

namespace {

using AxisLattice = dataflow::Lattice<AxisInfo>;

/// What is known of a function's argument from its attributes.
AxisInfo entryInfo(Value value) {
  AxisInfo info = AxisInfo::unknown(value.getType());
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return info;
  auto func = dyn_cast_or_null<tt::FuncOp>(argument.getOwner()->getParentOp());
  if (!func || argument.getOwner() != &func.getBody().front())
    return info;
  if (auto divisor = func.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), "tt.divisibility"))
    info.divisibility.assign(info.rank(), powerOfTwoDivisor(divisor.getInt()));
  return info;
}

class Solver : public dataflow::SparseForwardDataFlowAnalysis<AxisLattice> {
public:
  using SparseForwardDataFlowAnalysis::SparseForwardDataFlowAnalysis;

  LogicalResult visitOperation(Operation *op, ArrayRef<const AxisLattice *> operands,
                               ArrayRef<AxisLattice *> results) override {
    SmallVector<const AxisInfo *, 4> infos;
    for (const AxisLattice *lattice : operands) {
      if (!lattice->getValue().isInitialized())
        return success(); // visited again once it is
      infos.push_back(&lattice->getValue());
    }
    for (auto [result, lattice] : llvm::zip(op->getResults(), results))
      propagateIfChanged(lattice, lattice->join(axisInfoOfResult(result, infos)));
    return success();
  }

  /// Induction variables: start + k * step.
  void visitNonControlFlowArguments(Operation *op, const RegionSuccessor &successor,
                                    ArrayRef<AxisLattice *> lattices, unsigned firstIndex) override {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop || successor.getSuccessor() != &loop.getRegion() || lattices.empty())
      return SparseForwardDataFlowAnalysis::visitNonControlFlowArguments(op, successor, lattices, firstIndex);
    ProgramPoint *start = getProgramPointBefore(loop.getBody());
    const AxisInfo &lower = getLatticeElementFor(start, loop.getLowerBound())->getValue();
    const AxisInfo &step = getLatticeElementFor(start, loop.getStep())->getValue();
    if (!lower.isInitialized() || !step.isInitialized())
      return;
    AxisInfo info = AxisInfo::unknown(loop.getInductionVar().getType());
    info.divisibility[0] = std::min(lower.divisibility[0], step.divisibility[0]);
    info.nonNegative = lower.nonNegative && !loop.getUnsignedCmp();
    propagateIfChanged(lattices[0], lattices[0]->join(info));
  }

  void setToEntryState(AxisLattice *lattice) override {
    propagateIfChanged(lattice, lattice->join(entryInfo(lattice->getAnchor())));
  }
};

} // namespace

AxisInfoAnalysis::AxisInfoAnalysis(Operation *root)
    : solver_(std::make_unique<DataFlowSolver>(DataFlowConfig().setInterprocedural(false))) {
  dataflow::loadBaselineAnalyses(*solver_);
  solver_->load<Solver>();
  // Failure means that an analysis was not loaded, and then every lookup says "unknown".
  (void)solver_->initializeAndRun(root);
}

AxisInfoAnalysis::~AxisInfoAnalysis() = default;

AxisInfo AxisInfoAnalysis::lookup(Value value) const {
  const auto *lattice = solver_->lookupState<AxisLattice>(value);
  return lattice && lattice->getValue().isInitialized() ? lattice->getValue()
                                                        : AxisInfo::unknown(value.getType());
}

int64_t AxisInfoAnalysis::accessWidth(Value pointers, unsigned axis) const {
  AxisInfo info = lookup(pointers);
  if (axis >= info.rank())
    return 1;
  return std::max<int64_t>(1, std::min(info.contiguity[axis], info.divisibility[axis] / info.unit));
}

int64_t AxisInfoAnalysis::maskAlignment(Value mask, unsigned axis) const {
  AxisInfo info = lookup(mask);
  return axis < info.rank() ? info.constancy[axis] : 1;
}
