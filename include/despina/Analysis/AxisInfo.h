//===- AxisInfo.h - Runs, divisors and repeats along each axis --*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// What a target must know to read and write memory in wide pieces: where the values of a tile go up by one,
// what their first ones are multiples of, and where they repeat.
//
// Two assumptions, both about numbers that are indices in any sensible program: a run does not wrap around
// its integer type, and a non-negative number stays so under addition, multiplication and division by
// another.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_ANALYSIS_AXISINFO_H
#define DESPINA_ANALYSIS_AXISINFO_H

#include "mlir/IR/Value.h"

#include "llvm/ADT/SmallVector.h"

#include <memory>
#include <optional>

namespace mlir {
class DataFlowSolver;
class Operation;
} // namespace mlir

namespace despina {

/// Facts about an integer or pointer, or a tile of them. Scalars have one axis of extent 1. Every figure is a
/// power of two, and runs and repeats start at positions that are multiples of their length.
struct AxisInfo {
  using Figures = llvm::SmallVector<int64_t, 4>;
  static constexpr int64_t maxDivisor = int64_t(1) << 62;

  /// Length of runs x, x + 1, x + 2, ... (pointers: of consecutive elements).
  Figures contiguity;
  /// A divisor of the first value of each run (pointers: of the address in bytes).
  Figures divisibility;
  /// Length of runs of equal values.
  Figures constancy;
  /// The value of every element.
  std::optional<int64_t> constant;
  bool nonNegative = false;
  /// How far apart the values of a run are: the size of an element for pointers, 1 for integers.
  int64_t unit = 1;

  /// Nothing is known about a value of this type.
  static AxisInfo unknown(mlir::Type type);
  /// Every element is `value`.
  static AxisInfo ofConstant(mlir::Type type, int64_t value);
  /// What holds for both.
  static AxisInfo join(const AxisInfo &lhs, const AxisInfo &rhs);

  /// False before the analysis has reached the value.
  bool isInitialized() const { return !contiguity.empty(); }
  unsigned rank() const { return static_cast<unsigned>(contiguity.size()); }
  /// A divisor of the values at positions along `axis` that are multiples of `run`: a shorter run may start
  /// inside a longer one.
  int64_t divisorAt(unsigned axis, int64_t run) const;
  /// A divisor of all values.
  int64_t divisorOfAll() const;

  bool operator==(const AxisInfo &other) const;
  void print(llvm::raw_ostream &os) const;
};

/// The facts about the result of an operation, given those about its operands. Hints on the operation count.
AxisInfo axisInfoOfResult(mlir::OpResult result, llvm::ArrayRef<const AxisInfo *> operands);

/// Facts about every value inside an operation (a function or a module). Nothing is propagated through calls.
class AxisInfoAnalysis {
public:
  explicit AxisInfoAnalysis(mlir::Operation *root);
  ~AxisInfoAnalysis();

  /// Unknown for values the analysis has not reached.
  AxisInfo lookup(mlir::Value value) const;
  /// How many elements next to each other along `axis` one aligned access may take.
  int64_t accessWidth(mlir::Value pointers, unsigned axis) const;
  /// How many mask bits next to each other along `axis` are surely equal.
  int64_t maskAlignment(mlir::Value mask, unsigned axis) const;

private:
  std::unique_ptr<mlir::DataFlowSolver> solver_;
};

} // namespace despina

#endif // DESPINA_ANALYSIS_AXISINFO_H
