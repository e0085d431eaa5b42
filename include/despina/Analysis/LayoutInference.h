//===- LayoutInference.h - How operations tie layouts together --*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// An operation ties some of its tiles: given the layout of one, that of another follows. These rules stand
// here and nowhere else. The passes keep to them, verifyLayouts checks them, code emission relies on them:
//
//   element-wise, scan, load, store, atomics    all tiles have one layout
//   dot                                         accumulator and result; a and b have any
//   gather                                      indices and result; the source has any
//   histogram                                   source and mask; the result has any
//   expand_dims                                 operand = dropUnitAxis(result)
//   broadcast                                   broadcastRegisters(operand, result) exists; inferred is the
//                                               slice of the result with the axes put back
//   trans, reshape, join, split, cat            transposeLayout, reshapeLayout, joinLayout, splitLayout,
//   catLayout reduce                                      result = sliceLayout(operand) anything else no ties
//
// Values that control flow hands on keep their type, so there is nothing to infer.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_ANALYSIS_LAYOUTINFERENCE_H
#define DESPINA_ANALYSIS_LAYOUTINFERENCE_H

#include "despina/IR/TTG.h"

namespace despina {

/// What a tie says.
class InferredLayout {
public:
  /// The tiles are not tied.
  static InferredLayout any() { return {Kind::Any, {}}; }
  /// They are, but the rule cannot be followed in this direction from this layout.
  static InferredLayout none() { return {Kind::None, {}}; }
  static InferredLayout known(ttg::LayoutAttr layout) { return {layout ? Kind::Known : Kind::None, layout}; }

  bool isAny() const { return kind == Kind::Any; }
  /// Null unless it is known.
  ttg::LayoutAttr get() const { return layout; }
  /// Whether a tile in this layout keeps to the tie.
  bool allows(ttg::LayoutAttr candidate) const { return isAny() || (candidate && candidate == layout); }

private:
  enum class Kind { Any, None, Known };
  InferredLayout(Kind kind, ttg::LayoutAttr layout) : kind(kind), layout(layout) {}
  Kind kind;
  ttg::LayoutAttr layout;
};

/// The layout of a tile; null for scalars and tiles without.
ttg::LayoutAttr layoutAttrOf(mlir::Type type);
inline ttg::LayoutAttr layoutAttrOf(mlir::Value value) { return layoutAttrOf(value.getType()); }

/// What `result` has if `operand`, a tile like it, has `layout`.
InferredLayout inferResultLayout(mlir::OpOperand &operand, ttg::LayoutAttr layout, mlir::OpResult result);
/// What `operand` must have so that `result` gets `layout`.
InferredLayout inferOperandLayout(mlir::OpResult result, ttg::LayoutAttr layout, mlir::OpOperand &operand);
/// What `other` must have if `operand` of the same operation has `layout`.
InferredLayout inferOtherOperandLayout(mlir::OpOperand &operand, ttg::LayoutAttr layout,
                                       mlir::OpOperand &other);

/// Whether results may take any layout whatever the operands have: ranges, splats, constants.
bool makesAnyLayout(mlir::Operation *op);

/// Checks the ties of every operation inside `root`, and that all tiles have layouts over as many lanes,
/// warps and blocks as the module says. Reports the first offence of each operation.
mlir::LogicalResult verifyLayouts(mlir::Operation *root);

} // namespace despina

#endif // DESPINA_ANALYSIS_LAYOUTINFERENCE_H
