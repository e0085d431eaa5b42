//===- TTMemoryOps.cpp - Loads, stores and atomics ------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "despina/IR/TT.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace despina::tt;

//===----------------------------------------------------------------------===//
// What the operations share
//===----------------------------------------------------------------------===//

/// `element` in the shape of `like` (a tile or a scalar).
static Type inShapeOf(Type like, Type element) {
  if (auto tile = dyn_cast<RankedTensorType>(like))
    return tile.clone(element);
  return element;
}

/// The type of what a pointer, or a tile of pointers, points to.
static Type valueTypeOf(Type pointer) {
  auto scalar = dyn_cast<PointerType>(getElementTypeOrSelf(pointer));
  return scalar ? inShapeOf(pointer, scalar.getPointeeType()) : Type();
}

static Type maskTypeOf(Type pointer) { return inShapeOf(pointer, IntegerType::get(pointer.getContext(), 1)); }

/// Checks one operand or result of a memory operation against the type that the pointer asks for.
static LogicalResult verifyAgainstPointer(Operation *op, const char *what, Type actual, Type expected,
                                          Type pointer) {
  if (actual == expected)
    return success();
  return op->emitOpError() << what << " is " << actual << ", but pointer type " << pointer << " asks for "
                           << expected;
}

static LogicalResult verifyMask(Operation *op, Value mask, Type pointer) {
  return mask ? verifyAgainstPointer(op, "mask", mask.getType(), maskTypeOf(pointer), pointer) : success();
}

/// Parses `name = keyword` clauses in any order until none follows.
template <typename Properties>
static ParseResult parseMemoryClauses(OpAsmParser &parser, Properties &properties, bool *isVolatile) {
  MLIRContext *context = parser.getContext();
  while (true) {
    SMLoc loc = parser.getCurrentLocation();
    StringRef keyword;
    if (succeeded(parser.parseOptionalKeyword("cacheModifier"))) {
      if (parser.parseEqual() || parser.parseKeyword(&keyword))
        return failure();
      auto cache = symbolizeCacheModifier(keyword);
      if (!cache)
        return parser.emitError(loc) << "unknown cache modifier '" << keyword << "'";
      properties.cache = CacheModifierAttr::get(context, *cache);
    } else if (succeeded(parser.parseOptionalKeyword("evictionPolicy"))) {
      if (parser.parseEqual() || parser.parseKeyword(&keyword))
        return failure();
      auto evict = symbolizeEvictionPolicy(keyword);
      if (!evict)
        return parser.emitError(loc) << "unknown eviction policy '" << keyword << "'";
      properties.evict = EvictionPolicyAttr::get(context, *evict);
    } else if (isVolatile && succeeded(parser.parseOptionalKeyword("isVolatile"))) {
      if (parser.parseEqual() || parser.parseKeyword(&keyword))
        return failure();
      if (keyword != "true" && keyword != "false")
        return parser.emitError(loc) << "isVolatile is true or false, not '" << keyword << "'";
      *isVolatile = keyword == "true";
    } else {
      return success();
    }
  }
}

static void printMemoryClauses(OpAsmPrinter &printer, CacheModifier cache, EvictionPolicy evict) {
  if (cache != CacheModifier::NONE)
    printer << " cacheModifier = " << stringifyCacheModifier(cache);
  if (evict != EvictionPolicy::NORMAL)
    printer << " evictionPolicy = " << stringifyEvictionPolicy(evict);
}

static bool isAllTrue(Value mask) { return mask && matchPattern(mask, m_One()); }
static bool isAllFalse(Value mask) { return mask && matchPattern(mask, m_Zero()); }

//===----------------------------------------------------------------------===//
// LoadOp
//===----------------------------------------------------------------------===//

void LoadOp::build(OpBuilder &builder, OperationState &state, Value ptr, Value mask, Value other,
                   CacheModifier cache, EvictionPolicy evict, bool isVolatile) {
  build(builder, state, valueTypeOf(ptr.getType()), ptr, mask, other, cache, evict, isVolatile);
}

ParseResult LoadOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand, 3> operands;
  Type pointer;
  bool isVolatile = false;
  auto &properties = result.getOrAddProperties<LoadOp::Properties>();
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOperandList(operands) || parseMemoryClauses(parser, properties, &isVolatile))
    return failure();
  if (operands.empty() || operands.size() > 3)
    return parser.emitError(loc) << "expected a pointer, then at most a mask and a value for masked lanes";
  if (isVolatile)
    properties.isVolatile = parser.getBuilder().getBoolAttr(true);
  SMLoc typeLoc;
  if (parser.parseOptionalAttrDict(result.attributes) || parser.parseColon() ||
      parser.getCurrentLocation(&typeLoc) || parser.parseType(pointer))
    return failure();
  Type value = valueTypeOf(pointer);
  if (!value)
    return parser.emitError(typeLoc) << "expected a pointer or a tile of pointers, not " << pointer;
  const Type types[] = {pointer, maskTypeOf(pointer), value};
  if (parser.resolveOperands(operands, ArrayRef(types).take_front(operands.size()), loc, result.operands))
    return failure();
  properties.operandSegmentSizes = {1, operands.size() > 1, operands.size() > 2};
  result.addTypes(value);
  return success();
}

void LoadOp::print(OpAsmPrinter &printer) {
  printer << " " << getOperands();
  printMemoryClauses(printer, getCache(), getEvict());
  if (getIsVolatile())
    printer << " isVolatile = true";
  printer.printOptionalAttrDict((*this)->getAttrs(), {"operandSegmentSizes", "cache", "evict", "isVolatile"});
  printer << " : " << getPtr().getType();
}

LogicalResult LoadOp::verify() {
  Type pointer = getPtr().getType(), value = valueTypeOf(pointer);
  if (getOther() && !getMask())
    return emitOpError() << "has a value for masked lanes but no mask";
  if (failed(verifyAgainstPointer(*this, "result", getType(), value, pointer)) ||
      failed(verifyMask(*this, getMask(), pointer)))
    return failure();
  return getOther() ? verifyAgainstPointer(*this, "other", getOther().getType(), value, pointer) : success();
}

void LoadOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getPtrMutable());
  // A volatile load may neither disappear nor be merged with another.
  if (getIsVolatile())
    effects.emplace_back(MemoryEffects::Write::get(), &getPtrMutable());
}

namespace {

/// A load whose mask is all true needs no mask; one whose mask is all false is `other`, or zero without it.
struct SimplifyLoadMask : OpRewritePattern<LoadOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(LoadOp op, PatternRewriter &rewriter) const override {
    if (isAllTrue(op.getMask())) {
      rewriter.modifyOpInPlace(op, [&] {
        op.getOtherMutable().clear();
        op.getMaskMutable().clear();
      });
      return success();
    }
    if (!isAllFalse(op.getMask()))
      return failure();
    if (op.getOther()) {
      rewriter.replaceOp(op, op.getOther());
      return success();
    }
    TypedAttr zero = rewriter.getZeroAttr(op.getType());
    if (!zero)
      return failure(); // pointers have no constants
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, zero);
    return success();
  }
};

/// A store whose mask is all true needs no mask; one whose mask is all false does nothing.
struct SimplifyStoreMask : OpRewritePattern<StoreOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(StoreOp op, PatternRewriter &rewriter) const override {
    if (isAllTrue(op.getMask())) {
      rewriter.modifyOpInPlace(op, [&] { op.getMaskMutable().clear(); });
      return success();
    }
    if (!isAllFalse(op.getMask()))
      return failure();
    rewriter.eraseOp(op);
    return success();
  }
};

/// The same for atomics, whose result on masked lanes nobody may rely on.
struct SimplifyAtomicMask : OpRewritePattern<AtomicRMWOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AtomicRMWOp op, PatternRewriter &rewriter) const override {
    if (isAllTrue(op.getMask())) {
      rewriter.modifyOpInPlace(op, [&] { op.getMaskMutable().clear(); });
      return success();
    }
    if (!isAllFalse(op.getMask()) || !op->use_empty())
      return failure();
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void LoadOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<SimplifyLoadMask>(context);
}

//===----------------------------------------------------------------------===//
// StoreOp
//===----------------------------------------------------------------------===//

void StoreOp::build(OpBuilder &builder, OperationState &state, Value ptr, Value value, Value mask,
                    CacheModifier cache, EvictionPolicy evict) {
  build(builder, state, TypeRange(), ptr, value, mask, cache, evict);
}

ParseResult StoreOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand, 3> operands;
  Type pointer;
  auto &properties = result.getOrAddProperties<StoreOp::Properties>();
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOperandList(operands) || parseMemoryClauses(parser, properties, /*isVolatile=*/nullptr))
    return failure();
  if (operands.size() < 2 || operands.size() > 3)
    return parser.emitError(loc) << "expected a pointer and a value, then at most a mask";
  SMLoc typeLoc;
  if (parser.parseOptionalAttrDict(result.attributes) || parser.parseColon() ||
      parser.getCurrentLocation(&typeLoc) || parser.parseType(pointer))
    return failure();
  Type value = valueTypeOf(pointer);
  if (!value)
    return parser.emitError(typeLoc) << "expected a pointer or a tile of pointers, not " << pointer;
  const Type types[] = {pointer, value, maskTypeOf(pointer)};
  return parser.resolveOperands(operands, ArrayRef(types).take_front(operands.size()), loc, result.operands);
}

void StoreOp::print(OpAsmPrinter &printer) {
  printer << " " << getOperands();
  printMemoryClauses(printer, getCache(), getEvict());
  printer.printOptionalAttrDict((*this)->getAttrs(), {"cache", "evict"});
  printer << " : " << getPtr().getType();
}

LogicalResult StoreOp::verify() {
  Type pointer = getPtr().getType();
  if (failed(verifyAgainstPointer(*this, "value", getValue().getType(), valueTypeOf(pointer), pointer)))
    return failure();
  return verifyMask(*this, getMask(), pointer);
}

void StoreOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effects.emplace_back(MemoryEffects::Write::get(), &getPtrMutable());
}

void StoreOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<SimplifyStoreMask>(context);
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

static const char *kindOfElements(RMWOp kind) {
  switch (kind) {
  case RMWOp::FADD: return "floats";
  case RMWOp::XCHG: return "floats or integers";
  default: return "integers";
  }
}

static bool acceptsElement(RMWOp kind, Type element) {
  switch (kind) {
  case RMWOp::FADD: return isa<FloatType>(element);
  case RMWOp::XCHG: return element.isIntOrFloat();
  default: return element.isSignlessInteger();
  }
}

LogicalResult AtomicRMWOp::verify() {
  Type pointer = getPtr().getType(), value = valueTypeOf(pointer);
  if (failed(verifyAgainstPointer(*this, "value", getVal().getType(), value, pointer)) ||
      failed(verifyAgainstPointer(*this, "result", getType(), value, pointer)) ||
      failed(verifyMask(*this, getMask(), pointer)))
    return failure();
  Type element = getElementTypeOrSelf(value);
  if (!acceptsElement(getAtomicRmwOp(), element))
    return emitOpError() << "'" << stringifyRMWOp(getAtomicRmwOp()) << "' works on "
                         << kindOfElements(getAtomicRmwOp()) << ", not on " << element;
  return success();
}

/// Atomics read and write; nothing tells whether other threads see the order, so they are never moved or
/// merged.
static void addAtomicEffects(OpOperand &ptr,
                             SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &ptr);
  effects.emplace_back(MemoryEffects::Write::get(), &ptr);
}

void AtomicRMWOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  addAtomicEffects(getPtrMutable(), effects);
}

void AtomicRMWOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<SimplifyAtomicMask>(context);
}

LogicalResult AtomicCASOp::verify() {
  Type pointer = getPtr().getType(), value = valueTypeOf(pointer);
  if (failed(verifyAgainstPointer(*this, "compared value", getCmp().getType(), value, pointer)) ||
      failed(verifyAgainstPointer(*this, "new value", getVal().getType(), value, pointer)) ||
      failed(verifyAgainstPointer(*this, "result", getType(), value, pointer)))
    return failure();
  if (isa<PointerType>(getElementTypeOrSelf(value)))
    return emitOpError() << "works on floats or integers, not on " << getElementTypeOrSelf(value);
  return success();
}

void AtomicCASOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  addAtomicEffects(getPtrMutable(), effects);
}
