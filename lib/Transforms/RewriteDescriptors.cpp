//===- RewriteDescriptors.cpp - Descriptors become pointers and masks -----===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// In: tile IR. Out: tile IR without descriptors, for targets that cannot move blocks by themselves. A
// descriptor becomes its leaves (base, extents, strides, and whether it pads with NaN), wherever it goes:
// through loops, branches, calls and arguments of functions. Each access becomes a load, store or atomic on
// tiles of pointers, masked where an index is negative or not below the extent.
//
//===----------------------------------------------------------------------===//
#include "despina/Transforms/Passes.h"

#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;
using namespace despina;

namespace despina {
#define GEN_PASS_DEF_TTREWRITEDESCRIPTORS
#include "despina/Transforms/Passes.h.inc"
} // namespace despina

namespace {

/// What a descriptor is made of, in the order of its leaves.
struct Leaves {
  Value base;
  ValueRange shape, strides;
  Value padsNaN;

  Leaves(ValueRange values)
      : base(values.front()), shape(values.slice(1, rankOf(values))),
        strides(values.slice(1 + rankOf(values), rankOf(values))), padsNaN(values.back()) {}

  static size_t rankOf(ValueRange values) { return (values.size() - 2) / 2; }
};

void leafTypes(tt::TensorDescType type, SmallVectorImpl<Type> &types) {
  MLIRContext *context = type.getContext();
  RankedTensorType block = type.getSignlessBlockType();
  types.push_back(tt::PointerType::get(block.getElementType()));
  types.append(block.getRank(), IntegerType::get(context, 32));
  types.append(block.getRank(), IntegerType::get(context, 64));
  types.push_back(IntegerType::get(context, 1));
}

//===----------------------------------------------------------------------===//
// Pointers and masks of one access
//===----------------------------------------------------------------------===//

/// Makes the tiles of one access. Positions are counted in i64: a 32-bit position times a stride need not
/// fit.
class Access {
public:
  Access(OpBuilder &b, Location loc, const Leaves &desc, ArrayRef<int64_t> shape)
      : b_(b), loc_(loc), desc_(desc), shape_(shape) {}

  /// A whole block whose first element has these indices.
  void block(ValueRange indices) {
    for (auto [dim, index] : llvm::enumerate(indices))
      addDimension(dim, consecutive(dim, index));
  }
  /// Rows at any positions, from one column on.
  void rows(Value rowOffsets, Value column) {
    auto wide = cast<RankedTensorType>(rowOffsets.getType()).clone(b_.getI64Type());
    addDimension(0, arith::ExtSIOp::create(b_, loc_, wide, rowOffsets));
    addDimension(1, consecutive(1, column));
  }

  Value pointers() const { return pointers_; }
  Value mask() const { return mask_; }

  /// What lanes out of bounds read; null for zero, which they read anyway.
  Value padding(RankedTensorType tile) {
    auto element = dyn_cast<FloatType>(tile.getElementType());
    if (!element || matchPattern(desc_.padsNaN, m_Zero()))
      return {};
    // A format without NaN has zeros only.
    if (!APFloat::semanticsHasNaN(element.getFloatSemantics()))
      return {};
    FloatAttr nan = FloatAttr::get(element, APFloat::getNaN(element.getFloatSemantics()));
    Value other = constant(DenseElementsAttr::get(tile, Attribute(nan)));
    if (matchPattern(desc_.padsNaN, m_One()))
      return other;
    Value zero = constant(cast<TypedAttr>(b_.getZeroAttr(tile)));
    return arith::SelectOp::create(b_, loc_, desc_.padsNaN, other, zero);
  }

private:
  Value constant(TypedAttr value) { return arith::ConstantOp::create(b_, loc_, value); }

  Value splat(Value scalar, Value like) {
    auto type = cast<RankedTensorType>(like.getType()).clone(scalar.getType());
    return tt::SplatOp::create(b_, loc_, type, scalar);
  }

  /// index, index + 1, ... along a dimension, as a tile of one dimension.
  Value consecutive(unsigned dim, Value index) {
    Value range = tt::MakeRangeOp::create(b_, loc_, 0, int32_t(shape_[dim]));
    auto wide = cast<RankedTensorType>(range.getType()).clone(b_.getI64Type());
    range = arith::ExtSIOp::create(b_, loc_, wide, range);
    Value start = arith::ExtSIOp::create(b_, loc_, b_.getI64Type(), index);
    return arith::AddIOp::create(b_, loc_, splat(start, range), range);
  }

  /// `tile` repeated to the extents of the dimensions that have been added; the others are 1.
  Value widen(Value tile, unsigned dim) {
    SmallVector<int64_t> shape(shape_.size(), 1);
    llvm::copy(shape_.take_front(dim + 1), shape.begin());
    auto type = cast<RankedTensorType>(tile.getType());
    return type.getShape() == ArrayRef(shape)
               ? tile
               : Value(tt::BroadcastOp::create(b_, loc_, type.clone(shape), tile));
  }

  /// Takes the positions along a dimension into the pointers and the mask.
  void addDimension(unsigned dim, Value positions) {
    for (unsigned i = 0; i < shape_.size(); ++i)
      if (i != dim)
        positions = tt::ExpandDimsOp::create(b_, loc_, positions, i);
    Value stride = splat(desc_.strides[dim], positions);
    Value offset = widen(arith::MulIOp::create(b_, loc_, positions, stride), dim);
    Value base = pointers_ ? widen(pointers_, dim) : splat(desc_.base, offset);
    pointers_ = tt::AddPtrOp::create(b_, loc_, base.getType(), base, offset);

    Value extent = arith::ExtSIOp::create(b_, loc_, b_.getI64Type(), desc_.shape[dim]);
    Value zero = constant(cast<TypedAttr>(b_.getZeroAttr(positions.getType())));
    Value low = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::sge, positions, zero);
    Value high =
        arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::slt, positions, splat(extent, positions));
    Value inside = widen(arith::AndIOp::create(b_, loc_, low, high), dim);
    mask_ = mask_ ? Value(arith::AndIOp::create(b_, loc_, widen(mask_, dim), inside)) : inside;
  }

  OpBuilder &b_;
  Location loc_;
  const Leaves &desc_;
  ArrayRef<int64_t> shape_;
  Value pointers_, mask_;
};

//===----------------------------------------------------------------------===//
// Operations on descriptors
//===----------------------------------------------------------------------===//

struct RewriteMake : OpConversionPattern<tt::MakeTensorDescOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tt::MakeTensorDescOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const final {
    SmallVector<Value> leaves(adaptor.getOperands());
    bool padsNaN = op.getPadding() == tt::PaddingOption::PAD_NAN;
    leaves.push_back(arith::ConstantOp::create(b, op.getLoc(), b.getBoolAttr(padsNaN)));
    b.replaceOpWithMultiple(op, {leaves});
    return success();
  }
};

void replaceByLoad(ConversionPatternRewriter &b, Operation *op, Access &access, tt::CacheModifier cache,
                   tt::EvictionPolicy evict) {
  Value other = access.padding(cast<RankedTensorType>(op->getResult(0).getType()));
  b.replaceOpWithNewOp<tt::LoadOp>(op, access.pointers(), access.mask(), other, cache, evict);
}

struct RewriteLoad : OpConversionPattern<tt::DescriptorLoadOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tt::DescriptorLoadOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &b) const final {
    Leaves desc(adaptor.getDesc());
    Access access(b, op.getLoc(), desc, cast<RankedTensorType>(op.getType()).getShape());
    access.block(op.getIndices());
    replaceByLoad(b, op, access, op.getCache(), op.getEvict());
    return success();
  }
};

struct RewriteGather : OpConversionPattern<tt::DescriptorGatherOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tt::DescriptorGatherOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &b) const final {
    Leaves desc(adaptor.getDesc());
    Access access(b, op.getLoc(), desc, cast<RankedTensorType>(op.getType()).getShape());
    access.rows(op.getXOffsets(), op.getYOffset());
    replaceByLoad(b, op, access, tt::CacheModifier::NONE, tt::EvictionPolicy::NORMAL);
    return success();
  }
};

/// A store of a block, or a scatter of rows.
template <typename Op> struct RewriteWrite : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  using OneToNOpAdaptor = typename OpConversionPattern<Op>::OneToNOpAdaptor;
  LogicalResult matchAndRewrite(Op op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &b) const final {
    Leaves desc(adaptor.getDesc());
    Access access(b, op.getLoc(), desc, cast<RankedTensorType>(op.getSrc().getType()).getShape());
    if constexpr (std::is_same_v<Op, tt::DescriptorScatterOp>)
      access.rows(op.getXOffsets(), op.getYOffset());
    else
      access.block(op.getIndices());
    b.replaceOpWithNewOp<tt::StoreOp>(op, access.pointers(), op.getSrc(), access.mask());
    return success();
  }
};

/// The atomic that combines in the same way; none where atomics have no such operation.
std::optional<tt::RMWOp> atomicKind(tt::DescriptorReduceKind kind, Type element) {
  using Kind = tt::DescriptorReduceKind;
  bool isFloat = isa<FloatType>(element), isUnsigned = element.isUnsignedInteger();
  switch (kind) {
  case Kind::ADD: return isFloat ? tt::RMWOp::FADD : tt::RMWOp::ADD;
  case Kind::AND: return tt::RMWOp::AND;
  case Kind::OR: return tt::RMWOp::OR;
  case Kind::XOR: return tt::RMWOp::XOR;
  case Kind::MIN:
  case Kind::MAX:
    if (isFloat)
      return std::nullopt;
    return kind == Kind::MIN ? (isUnsigned ? tt::RMWOp::UMIN : tt::RMWOp::MIN)
                             : (isUnsigned ? tt::RMWOp::UMAX : tt::RMWOp::MAX);
  case Kind::INC:
  case Kind::DEC: break;
  }
  return std::nullopt;
}

struct RewriteReduce : OpConversionPattern<tt::DescriptorReduceOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tt::DescriptorReduceOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &b) const final {
    auto type = cast<tt::TensorDescType>(op.getDesc().getType());
    std::optional<tt::RMWOp> kind = atomicKind(op.getKind(), type.getBlockType().getElementType());
    if (!kind)
      return failure(); // reported before the rewriting
    Leaves desc(adaptor.getDesc());
    auto tile = cast<RankedTensorType>(op.getSrc().getType());
    Access access(b, op.getLoc(), desc, tile.getShape());
    access.block(op.getIndices());
    tt::AtomicRMWOp::create(b, op.getLoc(), tile, *kind, access.pointers(), op.getSrc(), access.mask(),
                            tt::MemSemantic::RELAXED, tt::MemSyncScope::GPU);
    b.eraseOp(op);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Operations that hand descriptors on
//===----------------------------------------------------------------------===//

SmallVector<Value> flattened(ArrayRef<ValueRange> ranges) {
  SmallVector<Value> values;
  for (ValueRange range : ranges)
    llvm::append_range(values, range);
  return values;
}

struct RewriteSelect : OpConversionPattern<arith::SelectOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(arith::SelectOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &b) const final {
    SmallVector<Value> chosen;
    for (auto [ifTrue, ifFalse] : llvm::zip_equal(adaptor.getTrueValue(), adaptor.getFalseValue()))
      chosen.push_back(arith::SelectOp::create(b, op.getLoc(), op.getCondition(), ifTrue, ifFalse));
    b.replaceOpWithMultiple(op, {chosen});
    return success();
  }
};

struct RewritePoison : OpConversionPattern<ub::PoisonOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ub::PoisonOp op, OpAdaptor, ConversionPatternRewriter &b) const final {
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertType(op.getType(), types)))
      return failure();
    auto leaves = llvm::map_to_vector(
        types, [&](Type type) -> Value { return ub::PoisonOp::create(b, op.getLoc(), type); });
    b.replaceOpWithMultiple(op, {leaves});
    return success();
  }
};

struct RewriteReturn : OpConversionPattern<tt::ReturnOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tt::ReturnOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &b) const final {
    b.replaceOpWithNewOp<tt::ReturnOp>(op, flattened(adaptor.getOperands()));
    return success();
  }
};

struct RewriteCall : OpConversionPattern<tt::CallOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tt::CallOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &b) const final {
    SmallVector<Type> types;
    SmallVector<size_t> counts;
    for (Type type : op.getResultTypes()) {
      size_t before = types.size();
      if (failed(getTypeConverter()->convertType(type, types)))
        return failure();
      counts.push_back(types.size() - before);
    }
    auto call = tt::CallOp::create(b, op.getLoc(), types, op.getCalleeAttr(), flattened(adaptor.getArgs()),
                                   ArrayAttr(), ArrayAttr());
    SmallVector<ValueRange> results;
    ValueRange left = call.getResults();
    for (size_t count : counts) {
      results.push_back(left.take_front(count));
      left = left.drop_front(count);
    }
    b.replaceOpWithMultiple(op, results);
    return success();
  }
};

struct RewriteFunction : OpConversionPattern<tt::FuncOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tt::FuncOp op, OpAdaptor, ConversionPatternRewriter &b) const final {
    const TypeConverter &converter = *getTypeConverter();
    TypeConverter::SignatureConversion signature(op.getNumArguments());
    SmallVector<Type> results;
    SmallVector<Attribute> attributes;
    for (auto [i, type] : llvm::enumerate(op.getArgumentTypes())) {
      if (failed(converter.convertSignatureArg(i, type, signature)))
        return failure();
      DictionaryAttr given = op.getArgAttrDict(i);
      bool isDescriptor = isa<tt::TensorDescType>(type);
      attributes.resize(signature.getConvertedTypes().size(),
                        given && !isDescriptor ? given : b.getDictionaryAttr({}));
    }
    if (failed(converter.convertTypes(op.getResultTypes(), results)))
      return failure();
    if (!op.isExternal() && failed(b.convertRegionTypes(&op.getBody(), converter, &signature)))
      return failure();
    b.modifyOpInPlace(op, [&] {
      op.setFunctionType(b.getFunctionType(signature.getConvertedTypes(), results));
      if (op.getArgAttrsAttr())
        op.setArgAttrsAttr(b.getArrayAttr(attributes));
    });
    return success();
  }
};

class TTRewriteDescriptorsPass : public despina::impl::TTRewriteDescriptorsBase<TTRewriteDescriptorsPass> {
public:
  void runOnOperation() override {
    bool found = false;
    WalkResult checked = getOperation().walk([&](Operation *op) {
      found |= llvm::any_of(op->getResultTypes(), llvm::IsaPred<tt::TensorDescType>) ||
               llvm::any_of(op->getOperandTypes(), llvm::IsaPred<tt::TensorDescType>);
      if (auto func = dyn_cast<tt::FuncOp>(op))
        found |= llvm::any_of(func.getArgumentTypes(), llvm::IsaPred<tt::TensorDescType>);
      return failed(checkReduce(op)) ? WalkResult::interrupt() : WalkResult::advance();
    });
    // Most kernels have none, and a conversion costs time.
    if (checked.wasInterrupted() || (found && failed(rewrite())))
      signalPassFailure();
  }

private:
  static LogicalResult checkReduce(Operation *op) {
    auto reduce = dyn_cast<tt::DescriptorReduceOp>(op);
    if (!reduce)
      return success();
    auto type = cast<tt::TensorDescType>(reduce.getDesc().getType());
    if (hasAtomic(reduce.getKind(), type))
      return success();
    return op->emitOpError() << "'" << tt::stringifyDescriptorReduceKind(reduce.getKind()) << "' on "
                             << type.getBlockType().getElementType()
                             << " is not supported on targets without tensor memory access";
  }

  LogicalResult rewrite() {
    MLIRContext *context = &getContext();
    TypeConverter converter;
    converter.addConversion([](Type type) { return type; });
    converter.addConversion([](tt::TensorDescType type, SmallVectorImpl<Type> &types) -> LogicalResult {
      leafTypes(type, types);
      return success();
    });
    RewritePatternSet patterns(context);
    ConversionTarget target(*context);
    scf::populateSCFStructuralTypeConversions(converter, patterns);
    patterns.add<RewriteMake, RewriteLoad, RewriteWrite<tt::DescriptorStoreOp>, RewriteReduce, RewriteGather,
                 RewriteWrite<tt::DescriptorScatterOp>, RewriteSelect, RewritePoison, RewriteReturn,
                 RewriteCall, RewriteFunction>(converter, context);
    target.markUnknownOpDynamicallyLegal([&](Operation *op) {
      if (auto func = dyn_cast<tt::FuncOp>(op))
        return converter.isSignatureLegal(func.getFunctionType());
      return converter.isLegal(op);
    });
    return applyFullConversion(getOperation(), target, std::move(patterns));
  }
};

} // namespace

bool despina::hasAtomic(tt::DescriptorReduceKind kind, tt::TensorDescType type) {
  return atomicKind(kind, type.getBlockType().getElementType()).has_value();
}
