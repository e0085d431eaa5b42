//===- EagerBuilder.h - Operations that compute at once ---------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Each call computes its result on host arrays. One class, several files by topic.
//
// Structured control flow is there for functions of the standard library, whose trees are walked as in a
// compilation: of an `if` both arms are visited, the arm that is not taken with `dead_` set, which makes
// every operation give a placeholder and do nothing.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_INTERPRETER_EAGERBUILDER_H
#define DESPINA_INTERPRETER_EAGERBUILDER_H

#include "despina/Interpreter/Memory.h"
#include "despina/Interpreter/Sanitizer.h"
#include "despina/Interpreter/Tile.h"

#include <functional>

namespace despina::interpreter {

/// Why an operation could not be done. The interpreter raises it as an exception of this class.
struct Failure {
  std::string kind, message;
};

class EagerBuilder : public RegionBuilder {
public:
  EagerBuilder();
  ~EagerBuilder() override;

  // What the interpreter sets and asks.
  void setProgram(const uint32_t (&program)[3], const uint32_t (&grid)[3]);
  Memory &memory() { return memory_; }
  /// Null unless faults are looked for.
  Sanitizer *sanitizer() { return sanitizer_.get(); }
  void sanitize() { sanitizer_ = std::make_unique<Sanitizer>(); }
  std::optional<Failure> takeFailure() { return std::exchange(failure_, std::nullopt); }
  bool hasFailed() const { return failure_.has_value(); }
  /// True once a combine function on many elements at once asked for what only single elements have.
  bool hasDiverged() const { return diverged_; }
  /// A value that is needed as a number now. None, and the builder has diverged, when lanes differ.
  std::optional<bool> truth(Handle condition);
  /// Whether lanes agree on a value that is needed as a number now. If not, the builder has diverged.
  bool isOneNumber(Handle value);

  /// Tiles are kept until the mark is released; who wants one for longer holds a reference.
  size_t mark() const { return kept_.size(); }
  void release(size_t mark) { kept_.truncate(mark); }
  Handle keep(TileRef tile);

  // Builder.
  void setLocation(SourceRange, llvm::ArrayRef<SourceRange>) override {}
  Handle constantInt(const Type &type, uint64_t bits) override;
  Handle constantFloat(const Type &type, double value) override;
  Handle poison(const Type &type) override;
  Handle binary(BinaryKind kind, Handle lhs, Handle rhs) override;
  Handle unary(UnaryKind kind, Handle x) override;
  Handle compare(CompareKind kind, Handle lhs, Handle rhs) override;
  Handle select(Handle condition, Handle ifTrue, Handle ifFalse) override;
  Handle fma(Handle x, Handle y, Handle z) override;
  Handle clamp(Handle x, Handle min, Handle max, bool propagateNan) override;
  Handle cast(CastKind kind, Handle x, const Type &to, RoundingKind rounding) override;
  Handle programId(int axis) override;
  Handle numPrograms(int axis) override;
  Handle makeRange(int32_t start, int32_t end) override;
  Handle splat(Handle scalar, const Type &to) override;
  Handle unsplat(Handle block) override;
  Handle expandDims(Handle x, unsigned axis) override;
  Handle broadcast(Handle x, const Type &to) override;
  Handle reshape(Handle x, const Type &to, bool allowReorder) override;
  Handle transpose(Handle x, llvm::ArrayRef<int32_t> order) override;
  Handle concatenate(Handle lhs, Handle rhs, const Type &to) override;
  Handle join(Handle lhs, Handle rhs) override;
  std::pair<Handle, Handle> split(Handle x) override;
  Handle addPointer(Handle pointer, Handle offset) override;
  Handle load(Handle pointer, Handle mask, Handle other, CacheModifier cache, EvictionPolicy evict,
              bool isVolatile) override;
  void store(Handle pointer, Handle value, Handle mask, CacheModifier cache, EvictionPolicy evict) override;
  Handle atomicRMW(AtomicKind kind, Handle pointer, Handle value, Handle mask, MemorySemantic sem,
                   MemoryScope scope) override;
  Handle atomicCAS(Handle pointer, Handle compare, Handle value, MemorySemantic sem,
                   MemoryScope scope) override;
  Handle makeDescriptor(const Type &type, Handle base, llvm::ArrayRef<Handle> shape,
                        llvm::ArrayRef<Handle> strides, bool padsNaN) override;
  Handle descriptorLoad(const Type &type, Handle descriptor, llvm::ArrayRef<Handle> indices) override;
  void descriptorStore(Handle descriptor, Handle value, llvm::ArrayRef<Handle> indices) override;
  void descriptorReduce(DescriptorReduceKind kind, Handle descriptor, Handle value,
                        llvm::ArrayRef<Handle> indices) override;
  Handle descriptorGather(const Type &result, Handle descriptor, Handle rows, Handle column) override;
  void descriptorScatter(Handle descriptor, Handle value, Handle rows, Handle column) override;
  Handle gather(Handle source, Handle indices, unsigned axis) override;
  Handle histogram(Handle x, Handle mask, const Type &result) override;
  Handle dot(Handle a, Handle b, Handle acc, DotPrecision precision, int32_t maxImpreciseAcc) override;
  Handle dotScaled(const ScaledOperand &a, const ScaledOperand &b, Handle acc, bool fastMath) override;
  std::optional<Handles> reduce(llvm::ArrayRef<Handle> inputs, unsigned axis,
                                llvm::ArrayRef<Type> resultTypes, Combine combine) override;
  std::optional<Handles> scan(llvm::ArrayRef<Handle> inputs, unsigned axis, bool reverse,
                              Combine combine) override;
  Handles inlineAssembly(llvm::StringRef text, llvm::StringRef constraints, llvm::ArrayRef<Handle> args,
                         llvm::ArrayRef<Type> resultTypes, bool isPure, int64_t pack) override;
  Handle externElementwise(llvm::ArrayRef<Handle> args, const Type &result, llvm::StringRef symbol,
                           bool isPure) override;
  void setHint(Handle, llvm::StringRef, llvm::ArrayRef<int64_t>) override {}
  void assume(Handle condition) override;
  void barrier() override {}
  void deviceAssert(Handle condition, llvm::StringRef message) override;
  void devicePrint(llvm::StringRef prefix, bool hex, llvm::ArrayRef<Handle> args,
                   llvm::ArrayRef<bool> isSigned) override;

  // RegionBuilder. Only `if` has a meaning here: calls are made in place, and loops are not for it.
  Handles beginFunction(const FunctionSpec &spec) override;
  void endFunction(llvm::ArrayRef<Handle>, llvm::ArrayRef<Type>) override {}
  Handles call(llvm::StringRef symbol, llvm::ArrayRef<Handle>, llvm::ArrayRef<Type> resultTypes) override;
  void beginIf(Handle condition) override;
  void beginElse() override;
  Handles endIf(llvm::ArrayRef<Handle> thenYields, llvm::ArrayRef<Handle> elseYields,
                llvm::ArrayRef<Type> types) override;
  ForLoop beginFor(Handle lower, Handle upper, Handle step, bool isUnsigned, llvm::ArrayRef<Handle> inits,
                   const ForHints &hints) override;
  Handles endFor(llvm::ArrayRef<Handle> yields) override;
  Handles beginWhile(llvm::ArrayRef<Handle> inits) override;
  Handles beginWhileBody(Handle condition, llvm::ArrayRef<Handle> carried) override;
  Handles endWhile(llvm::ArrayRef<Handle> yields) override;
  void abandon() override;

private:
  /// An element-wise operation that a combine function made, to be done again on other elements.
  using Work = std::function<TileRef(llvm::ArrayRef<Tile *>)>;
  struct Step {
    Work work;
    llvm::SmallVector<TileRef, 3> operands;
    TileRef result;
  };
  /// What a combine function does, seen while it ran on many elements at once.
  struct Recording {
    std::vector<Step> steps;
    Handles operands, results;
    bool isComplete = true; ///< false: it depends on what was asked, and must run again
  };

  /// Does an element-wise operation, and notes it down inside a combine function. Templates keep the
  /// std::function out of the way of plain operations.
  template <typename F> Handle elementwise(std::initializer_list<Handle> operands, F work);
  /// Operations on blocks have no meaning on lanes: true, and the builder has diverged, inside of them.
  bool refusesLanes();
  bool isDead() const { return dead_ != 0 || diverged_; }
  Handle placeholder();
  Handles placeholders(size_t count) { return Handles(count, placeholder()); }
  void fail(std::string kind, std::string message);
  void failAccess(const AccessError &error, const char *operation);

  // What is undefined, for the sanitizer (EagerUndefined.cpp). None of these does anything without one.
  void carryUndefined(Tile &result, llvm::ArrayRef<Tile *> operands) const;
  /// The same operation on the marks of `x` gives those of the result.
  void carryUndefined(Handle result, Handle x, llvm::function_ref<Handle(Handle)> again);
  void carryUndefinedLines(Handles &results, llvm::ArrayRef<Handle> inputs,
                           llvm::function_ref<std::optional<Handles>(Handle)> again);
  void checkDefined(const Tile &tile, int64_t position, const char *what);
  void checkDescriptor(const Tile &descriptor, const Type &block);

  // Reductions and scans (EagerReduce.cpp).
  struct Nest;
  std::optional<std::vector<TileRef>> combineLanes(Combine combine, llvm::ArrayRef<TileRef> lhs,
                                                   llvm::ArrayRef<TileRef> rhs);
  std::optional<std::vector<TileRef>> replay(llvm::ArrayRef<TileRef> lhs, llvm::ArrayRef<TileRef> rhs);
  std::optional<std::vector<TileRef>> combinePairs(Combine combine, const std::vector<TileRef> &lhs,
                                                   const std::vector<TileRef> &rhs, bool isFirst);
  std::optional<std::vector<TileRef>> reduceTree(std::vector<TileRef> inputs, const Nest &nest,
                                                 Combine combine);
  std::optional<std::vector<TileRef>> scanTree(std::vector<TileRef> inputs, const Nest &nest,
                                               Combine combine);
  std::optional<std::vector<TileRef>> foldElements(llvm::ArrayRef<TileRef> inputs, const Nest &nest,
                                                   bool keepAll, Combine combine);

  // Memory (EagerMemory.cpp).
  TileRef descriptorPointers(const Tile &descriptor, llvm::ArrayRef<int64_t> shape,
                             llvm::ArrayRef<Handle> indices, const Tile *rows, TileRef &mask);
  TileRef loadElements(const Tile &pointer, const Tile *mask, const Tile *other, const Type &element);
  void storeElements(const Tile &pointer, const Tile &value, const Tile *mask);
  TileRef updateElements(AtomicKind kind, const Tile &pointer, const Tile &value, const Tile *mask);

  Memory memory_;
  std::unique_ptr<Sanitizer> sanitizer_;
  llvm::SmallVector<TileRef, 0> kept_;
  TileRef placeholder_;
  std::optional<Failure> failure_;
  uint32_t program_[3] = {}, grid_[3] = {1, 1, 1};
  unsigned dead_ = 0;
  bool diverged_ = false;
  unsigned laneDepth_ = 0; ///< combine functions on lanes that are running
  Recording *recording_ = nullptr;
  std::unique_ptr<Recording> lastRecording_;
  llvm::SmallVector<bool, 4> conditions_; ///< of the open `if`s
};

// Element-wise computations (ElementwiseOps.cpp, CastOps.cpp).
TileRef computeBinary(BinaryKind kind, const Tile &lhs, const Tile &rhs);
TileRef computeUnary(UnaryKind kind, const Tile &x);
TileRef computeCompare(CompareKind kind, const Tile &lhs, const Tile &rhs);
TileRef computeSelect(const Tile &condition, const Tile &ifTrue, const Tile &ifFalse);
TileRef computeFMA(const Tile &x, const Tile &y, const Tile &z);
TileRef computeClamp(const Tile &x, const Tile &min, const Tile &max, bool propagateNan);
TileRef computeCast(CastKind kind, const Tile &x, const Type &to, RoundingKind rounding);
TileRef computeAddPointer(const Tile &pointer, const Tile &offset);
/// A function of libdevice; null for a symbol that is not known or has other types.
TileRef computeExtern(llvm::StringRef symbol, llvm::ArrayRef<Tile *> args, const Type &result);
/// Floats as numbers of type T (float or double), with one stored element for each of the tile's.
template <typename T> std::vector<T> realsOf(const Tile &tile);
template <typename T>
TileRef tileOfReals(const T *values, int64_t stored, const Tile &like, const Type &element);
TileRef computeDot(const Tile &a, const Tile &b, const Tile &acc, DotPrecision precision);

} // namespace despina::interpreter

#endif // DESPINA_INTERPRETER_EAGERBUILDER_H
