//===- TileEmitter.h - From tiles to loops over vectors ---------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// One pass over a kernel. A tile is never a value of the output: it is either *lazy* (an expression evaluated
// where it is consumed, one vector at a time) or *materialised* (a row-major buffer in the thread's scratch
// memory). Operations that force a loop are *roots*: stores, reductions, buffers to fill. Consecutive roots
// of one shape with nothing between them share a loop nest.
//
// The parts: Classify.cpp (what is expensive, who still needs a value), Evaluate.cpp (an expression at an
// index), Elementwise.cpp (one operation on scalars or vectors), Libdevice.cpp (calls of math libraries),
// Memory.cpp (loads, stores, buffers), Guards.cpp (one scalar test that makes a whole nest mask-free),
// Nest.cpp (groups of roots and their loops), Transpose.cpp (buffers filled against the grain), Combine.cpp
// (reductions and scans), CombineRegion.cpp (what they compute), Gather.cpp (picking and counting elements),
// ControlFlow.cpp (blocks, loops, branches), Kernel.cpp (the function, dots, atomics).
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_TARGET_CPU_TILEEMITTER_H
#define DESPINA_LIB_TARGET_CPU_TILEEMITTER_H

#include "despina/IR/TT.h"
#include "despina/Target/CPU/CPUTarget.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Builders.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace despina::cpu {

using Shape = llvm::ArrayRef<int64_t>;

/// An index along one dimension, for `lanes` elements at once: dynamic + offset + (offset of the lane).
/// Extents are powers of two, so the part that varies by lane is always known at compile time.
struct LaneIndex {
  mlir::Value dynamic; ///< i64, null for 0
  int64_t offset = 0;
  int64_t step = 0;                      ///< lane l adds l * step, unless there is a pattern
  llvm::SmallVector<int64_t, 0> pattern; ///< lane l adds pattern[l]
  unsigned level = 0;                    ///< innermost loop that `dynamic` depends on

  bool uniform() const { return step == 0 && pattern.empty(); }
  int64_t lane(int64_t l) const { return pattern.empty() ? l * step : pattern[l]; }
  bool operator==(const LaneIndex &) const = default;
};
using TileIndex = llvm::SmallVector<LaneIndex, 4>;

/// What an expression gave for `lanes` elements.
struct LaneValue {
  enum Kind : uint8_t {
    Uniform, ///< one scalar for all lanes
    Affine,  ///< scalar + lane * stride, modulo the type's range; strides of pointers are in bytes
    Vector,  ///< a vector; pointers are i64 addresses
  };
  Kind kind = Uniform;
  mlir::Value value;
  mlir::Value stride; ///< Affine: run-time stride, or null
  int64_t step = 0;   ///< Affine: stride known at compile time
  unsigned level = 0; ///< innermost loop the value depends on
};

/// A tile in scratch memory.
struct Buffer {
  mlir::Type storage; ///< element type in memory
  int64_t numElements = 0, bytes = 0, offset = 0;
  unsigned references = 0;
  mlir::Value pointer;
};

/// A reason for a loop nest.
struct Root {
  enum Kind : uint8_t { Store, Reduce, Materialise };
  Kind kind;
  mlir::Operation *op = nullptr; ///< Store, Reduce; Materialise with a target: the operation it is for
  mlir::Value value;             ///< Materialise
  Buffer *target = nullptr;      ///< Materialise: where to, or null for a buffer of the value's own
};

/// The least and the greatest element of an integer tile; both i64.
struct Interval {
  mlir::Value low, high;
};

/// Facts that hold in the mask-free version of a nest.
struct Assumptions {
  llvm::DenseSet<mlir::Value> trueTiles, seenMasks;
  llvm::DenseMap<mlir::Value, std::optional<Interval>> intervals;
  /// Remainder -> multiple of the divisor (a scalar of the element type) to take away from the dividend.
  llvm::DenseMap<mlir::Value, mlir::Value> remainders;
};

class TileEmitter {
public:
  TileEmitter(tt::FuncOp kernel, const CPUOptions &options)
      : kernel(kernel), options(options), b(kernel.getContext()) {}

  /// Emits the kernel's function into `module`.
  mlir::LogicalResult run(mlir::ModuleOp module);
  int64_t scratchBytes() const { return scratchEnd; }
  /// Symbol of the emitted function.
  std::string symbol();

private:
  //===--- Classify.cpp ---------------------------------------------------===//
  static bool isTile(mlir::Value v) { return mlir::isa<mlir::RankedTensorType>(v.getType()); }
  /// Evaluated where it is consumed.
  static bool isLazy(mlir::Operation *op);
  /// Element-wise: result element i depends on the operands' elements i only.
  static bool isElementwise(mlir::Operation *op);
  /// Cost of evaluating an element; `heavyWeight` and more is worth a buffer.
  unsigned weight(mlir::Value v);
  bool isHeavy(mlir::Value v) { return weight(v) >= heavyWeight; }
  /// Distance in elements between neighbours along `dim`, if known.
  std::optional<int64_t> stepAlong(mlir::Value v, unsigned dim, unsigned depth = 0);
  std::optional<int64_t> findStepAlong(mlir::Value v, unsigned dim, unsigned depth);
  /// True when a root not yet emitted, and not in `besides`, needs `v`.
  bool stillNeeded(mlir::Value v, const llvm::DenseSet<mlir::Operation *> &besides);
  bool stillNeeded(mlir::Value v) { return stillNeeded(v, {}); }
  /// Kernel argument a pointer is derived from, or null.
  static mlir::Value baseOf(mlir::Value pointer);

  struct Reached {
    /// Operands before users. The flag: read only at the index of the consumer.
    llvm::MapVector<mlir::Value, bool> values;
  };
  /// The lazy expression below `v`, down to buffers and scalars.
  void reach(mlir::Value v, bool identity, Reached &out);
  void reachRoot(const Root &root, Reached &out);

  //===--- Evaluate.cpp ---------------------------------------------------===//
  LaneValue evaluate(mlir::Value v, const TileIndex &index);
  LaneValue evaluateOp(mlir::Value v, const TileIndex &index);
  LaneValue evaluateElementwise(mlir::Operation *op, const TileIndex &index);
  std::optional<LaneValue> evaluateAffine(mlir::Operation *op, llvm::ArrayRef<LaneValue> operands);
  LaneValue evaluatePointer(mlir::Value v, const TileIndex &index);
  /// An offset in i64; index arithmetic is taken not to wrap.
  LaneValue evaluateOffset(mlir::Value v, const TileIndex &index);
  LaneValue evaluateOffsetOp(mlir::Value v, const TileIndex &index);
  /// The innermost loop that an index depends on.
  static unsigned levelOf(const TileIndex &index);
  LaneValue evaluateRange(int64_t start, const LaneIndex &index, mlir::Type type);
  LaneValue evaluateEither(mlir::Value v, const TileIndex &index);
  /// Source and index of operations that only move elements.
  std::optional<std::pair<mlir::Value, TileIndex>> remap(mlir::Value v, const TileIndex &index);
  TileIndex reshapeIndex(const TileIndex &index, Shape from, Shape to);
  LaneIndex linearIndex(const TileIndex &index, Shape shape);
  LaneValue widenOffset(LaneValue x);

  LaneValue uniform(mlir::Value scalar, unsigned level) { return {LaneValue::Uniform, scalar, {}, 0, level}; }
  LaneValue vectorValue(mlir::Value v, unsigned level);
  LaneValue constant(mlir::TypedAttr value);
  /// As a vector (a scalar when lanes is 1).
  mlir::Value toVector(const LaneValue &x);
  LaneValue add(const LaneValue &x, const LaneValue &y, bool subtract = false);
  LaneValue multiply(const LaneValue &x, const LaneValue &y);

  //===--- Elementwise.cpp ------------------------------------------------===//
  mlir::Type scalarType(mlir::Type element);
  mlir::Type laneType(mlir::Type element, int64_t count);
  mlir::Value splat(mlir::Value scalar, int64_t count);
  mlir::Value intConstant(mlir::Type type, int64_t value);
  mlir::Value floatConstant(mlir::Type type, double value);
  mlir::Value i64(int64_t value) { return intConstant(b.getI64Type(), value); }
  /// `op` on scalars (count 1) or vectors of `count` lanes, at the builder's place.
  mlir::Value emitElementwise(mlir::Operation *op, mlir::ValueRange operands, int64_t count);
  mlir::Value emitFloat(mlir::Operation *op, mlir::ValueRange operands, mlir::Type element, int64_t count);
  mlir::Value emitDivision(mlir::Operation *op, mlir::ValueRange operands, int64_t count);
  mlir::Value emitShift(mlir::Operation *op, mlir::ValueRange operands, int64_t count);
  /// One of two scalars or, lane by lane, of two vectors.
  mlir::Value choose(mlir::Value condition, mlir::Value x, mlir::Value y);
  mlir::Value emitCast(mlir::Operation *op, mlir::Value x, mlir::Type from, mlir::Type to, int64_t count);
  mlir::Value convertFloat(mlir::Value x, mlir::Type from, mlir::Type to, int64_t count,
                           bool towardZero = false);
  mlir::Value narrowToBF16(mlir::Value x, int64_t count, bool towardZero);
  mlir::Value roundToOdd(mlir::Value x, int64_t count);
  mlir::Value emitMulHigh(mlir::ValueRange operands, mlir::Type element, int64_t count);

  //===--- Libdevice.cpp --------------------------------------------------===//
  mlir::Value emitExtern(tt::ExternElementwiseOp op, mlir::ValueRange operands, int64_t count);
  /// The declaration of one of the runtime's functions.
  mlir::LLVM::LLVMFuncOp deviceFunction(llvm::StringRef symbol, mlir::TypeRange arguments, mlir::Type result);

  //===--- Memory.cpp -----------------------------------------------------===//
  static mlir::Type storageType(mlir::Type element);
  /// What loads, stores and selections move. Where the processor has no bf16, LLVM takes vectors of it apart
  /// and rounds each lane on the way, which changes NaNs and is slow: these lanes travel as integers.
  static mlir::Type movedType(mlir::Type element);
  static int64_t storageBytes(mlir::Type storage);
  Buffer *newBuffer(mlir::Type storage, int64_t numElements);
  void release(Buffer *buffer);
  void bind(mlir::Value v, Buffer *buffer);
  void unbind(mlir::Value v);
  void place(Buffer *buffer);
  mlir::Value elementPointer(mlir::Value base, mlir::Type element, mlir::Value index);

  LaneValue loadBuffer(mlir::Value v, Buffer *buffer, const TileIndex &index);
  void storeBuffer(mlir::Type element, Buffer *buffer, const TileIndex &index, Shape shape, LaneValue value);
  LaneValue emitLoad(tt::LoadOp op, const TileIndex &index);
  LaneValue maskedScalarLoad(mlir::Value pointer, mlir::Value mask, mlir::Value other, mlir::Type element,
                             unsigned level);
  void emitStore(tt::StoreOp op, const LaneValue &pointer, const LaneValue &value, const LaneValue *mask);
  mlir::Value toStorage(mlir::Value x, mlir::Type element, mlir::Type storage, int64_t count);
  mlir::Value fromStorage(mlir::Value x, mlir::Type element, mlir::Type storage, int64_t count);
  mlir::Value pointerVector(const LaneValue &pointer);
  mlir::Value allTrue(int64_t count);
  mlir::Value emitAtomic(mlir::Operation *op, mlir::Value pointer, mlir::ValueRange values);
  mlir::Value emitAtomicLoop(tt::AtomicRMWOp op, mlir::Value pointer, mlir::Value value);

  //===--- Guards.cpp -----------------------------------------------------===//
  using Guards = llvm::SmallVectorImpl<mlir::Value>;
  /// Guards that make it exact, where narrow arithmetic might wrap, are added.
  std::optional<Interval> intervalOf(mlir::Value v, Assumptions &assumptions, Guards &guards,
                                     unsigned depth = 0);
  std::optional<Interval> findInterval(mlir::Value v, Assumptions &assumptions, Guards &guards,
                                       unsigned depth);
  /// As `intervalOf`, for values used at another width: what they were computed in must hold them.
  std::optional<Interval> exactInterval(mlir::Value v, Assumptions &assumptions, Guards &guards,
                                        unsigned depth = 0);
  void guardMask(mlir::Value mask, Assumptions &assumptions, llvm::SmallVectorImpl<mlir::Value> &guards);
  void guardRemainder(mlir::Value v, Assumptions &assumptions, llvm::SmallVectorImpl<mlir::Value> &guards);
  /// Emits the guards of a group; null when there is nothing to gain.
  mlir::Value emitGuards(llvm::ArrayRef<Root> roots, Assumptions &assumptions);

  //===--- Nest.cpp -------------------------------------------------------===//
  void addRoot(Root root);
  /// Gives `v` a buffer at the next flush.
  void materialise(mlir::Value v);
  void flush();
  void emitAlone(Root root);
  void separateAliases(const Root &root);
  /// True when accesses through these pointers may touch the same memory at different elements.
  static bool mayOverlap(mlir::Value pointer, mlir::Value other);
  void prepareHeavyOperands(llvm::ArrayRef<Root> group);
  void addSharedValues(llvm::SmallVectorImpl<Root> &group);
  bool conflicts(const Root &root, const Reached &reached);
  bool isPendingResult(mlir::Value v);
  void emitGroup(llvm::ArrayRef<Root> group);
  void emitNest(llvm::ArrayRef<Root> group, llvm::SmallVectorImpl<mlir::Value> &scalarResults);
  void planLoops(Shape shape, std::optional<unsigned> axis);
  void setIndex(unsigned dim, mlir::Value dynamic);
  void emitLoops(unsigned depth);
  void emitInnermost();
  void emitBody(llvm::MutableArrayRef<mlir::Value> accumulators, bool first);
  void finishReductions(llvm::ArrayRef<mlir::Value> accumulators);
  void chooseLanes(llvm::ArrayRef<Root> group);
  Shape shapeOf(const Root &root);
  void freeDeadBuffers();

  //===--- Transpose.cpp --------------------------------------------------===//
  /// The dimension along which the memory below an expression is contiguous.
  std::optional<unsigned> contiguousDim(mlir::Value v, unsigned depth = 0);
  void transposeBlock(llvm::MutableArrayRef<mlir::Value> rows);
  /// Fills a buffer block by block where that beats gathering; false if not.
  bool emitTransposed(const Root &root);

  //===--- CombineRegion.cpp ----------------------------------------------===//
  class RegionEvaluator;
  /// Such a region works on single elements only.
  static bool hasLoops(mlir::Region &region);
  void combine(mlir::Region &region, llvm::MutableArrayRef<mlir::Value> accumulated,
               llvm::ArrayRef<mlir::Value> values, int64_t count);

  //===--- Combine.cpp ----------------------------------------------------===//
  std::optional<mlir::TypedAttr> neutral(tt::ReduceOp op);
  void combineLanes(mlir::Region &region, llvm::MutableArrayRef<mlir::Value> accumulated, int64_t count);
  static bool isPointerSlot(mlir::Region &region, unsigned i);
  void emitScan(tt::ScanOp op);
  void emitScanLoops(tt::ScanOp op, unsigned depth, llvm::ArrayRef<Buffer *> targets);
  void emitScanLine(tt::ScanOp op, llvm::ArrayRef<Buffer *> targets);

  //===--- Gather.cpp -----------------------------------------------------===//
  mlir::Value widenPosition(mlir::Value position);
  void emitGather(tt::GatherOp op);
  void emitHistogram(tt::HistogramOp op);

  //===--- ControlFlow.cpp ------------------------------------------------===//
  void emitBlock(mlir::Block &block);
  void emitOp(mlir::Operation *op);
  void noteLazy(mlir::Operation *op);
  void emitScalarOp(mlir::Operation *op);
  mlir::Value emitScalarLoad(tt::LoadOp load);
  void emitScalarStore(tt::StoreOp store);
  void emitUnsplat(tt::UnsplatOp op);
  void emitFor(mlir::scf::ForOp op);
  void emitIf(mlir::scf::IfOp op);
  void emitWhile(mlir::scf::WhileOp op);
  /// The output's value for a scalar.
  mlir::Value scalar(mlir::Value v);
  llvm::SmallVector<mlir::Value> scalarsOf(mlir::ValueRange values);
  /// Buffers for tiles, `scalarValues` in turn for scalars.
  void bindResults(mlir::ValueRange values, mlir::ValueRange scalarValues, llvm::ArrayRef<Buffer *> homes);
  void finishRegion(mlir::Operation *terminator, mlir::ValueRange values, llvm::ArrayRef<Buffer *> homes);
  void fail(mlir::Operation *op, const llvm::Twine &message);
  /// Gives expensive values and loads that `op`'s regions use, or that a write in them could change, a
  /// buffer.
  void prepareRegion(mlir::Operation *op);
  void prepareCapture(mlir::Value v, llvm::DenseSet<mlir::Value> &seen);
  void prepareWrites(mlir::Operation *op);
  /// Fills `targets` (null: nothing to do) with `values` at once, as if nothing were written before all is
  /// read.
  void assignAll(mlir::ValueRange values, llvm::ArrayRef<Buffer *> targets, mlir::Operation *terminator);
  /// A buffer with the elements of `v` that `user` may overwrite, none of `avoid`; the caller releases it.
  Buffer *ownedCopy(mlir::Value v, mlir::Operation *user, mlir::Type storage,
                    llvm::ArrayRef<Buffer *> avoid = {});
  /// Buffers that hold the initial values of a loop's carried tiles and may be changed; null for scalars.
  llvm::SmallVector<Buffer *> ownedCopies(mlir::ValueRange inits, mlir::Operation *user);
  bool mayReuse(mlir::Value v, mlir::Operation *user);
  void pushScope();
  void popScope();

  //===--- Kernel.cpp -----------------------------------------------------===//
  mlir::LLVM::LLVMFuncOp createFunction();
  mlir::LLVM::LLVMFuncOp runtimeFunction(llvm::StringRef name, llvm::ArrayRef<mlir::Type> args);
  mlir::Value stringConstant(llvm::StringRef text);
  mlir::Value zeroOf(mlir::Type type);
  void emitDotOp(tt::DotOp op);
  void forEachElement(Shape shape, llvm::function_ref<void()> body);
  void materialiseLoads(mlir::ValueRange operands);
  void emitAtomics(mlir::Operation *op);
  void emitPrint(tt::PrintOp op);
  void emitAssert(tt::AssertOp op);

  //===--- State ----------------------------------------------------------===//
  static constexpr unsigned heavyWeight = 20;
  static constexpr unsigned maxWeight = 10000;

  struct Level {
    mlir::Block *block;
    mlir::Operation *before; ///< null: at the end of the block
  };
  /// Moves the builder to where code of a loop level goes.
  mlir::OpBuilder &at(unsigned level);
  void startLevels(mlir::Block *block);
  mlir::scf::ForOp openLoop(int64_t from, int64_t to, int64_t step, mlir::ValueRange inits);
  void closeLoop(mlir::ValueRange yields);
  unsigned level() const { return levels.size() - 1; }

  /// The loop nest being made.
  struct Nest {
    llvm::ArrayRef<Root> group;
    llvm::SmallVector<int64_t> shape;
    llvm::SmallVector<unsigned> order; ///< dimensions, outermost first
    std::optional<unsigned> vectorDim, axis;
    TileIndex index;
    llvm::SmallVector<tt::ReduceOp> reduces;
    llvm::SmallVectorImpl<mlir::Value> *scalarResults = nullptr;
  };

  tt::FuncOp kernel;
  const CPUOptions &options;
  mlir::OpBuilder b;
  mlir::Location loc = b.getUnknownLoc();
  mlir::ModuleOp output;
  mlir::LLVM::LLVMFuncOp function;
  mlir::Value scratch, programId[3], gridSize[3];
  mlir::Operation *bufferAnchor = nullptr; ///< pointers of buffers are made before this
  unsigned numStrings = 0;
  bool failed = false;

  mlir::Block *current = nullptr; ///< where the kernel's code goes on
  llvm::DenseMap<mlir::Value, mlir::Value> scalars;
  llvm::DenseMap<mlir::Value, Buffer *> buffers;
  std::vector<std::unique_ptr<Buffer>> allBuffers;
  llvm::SmallVector<Buffer *> liveBuffers; ///< by offset
  int64_t scratchEnd = 0;
  /// Per open region, the tiles that got a buffer in it.
  llvm::SmallVector<llvm::SmallVector<mlir::Value>> scopes;

  llvm::SmallVector<Root> pending;
  llvm::DenseSet<mlir::Operation *> emitted;
  llvm::SmallVector<mlir::Value> liveLoads; ///< tile loads that may not have a buffer
  llvm::DenseSet<mlir::Value> beingMaterialised;
  llvm::DenseMap<mlir::Value, Buffer *> reduceBuffers;
  llvm::DenseMap<mlir::Value, unsigned> weights, depths, moves;

  Nest nest;
  int64_t lanes = 1;
  const Assumptions *assumptions = nullptr;
  llvm::SmallVector<Level> levels;
  /// Per level, what is known there.
  using Memo = llvm::DenseMap<mlir::Value, llvm::SmallVector<std::pair<TileIndex, LaneValue>, 1>>;
  llvm::SmallVector<Memo> memo, offsetMemo;
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, std::optional<int64_t>> steps;
};

} // namespace despina::cpu

#endif // DESPINA_LIB_TARGET_CPU_TILEEMITTER_H
