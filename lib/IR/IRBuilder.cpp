//===- IRBuilder.cpp - Makes tile IR for the front end --------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Values and operations; functions and regions are in IRBuilderRegions.cpp.
//
//===----------------------------------------------------------------------===//
#include "despina/IR/IRBuilder.h"

#include "despina/IR/DotScaled.h"
#include "despina/IR/TT.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Location.h"

using namespace despina;
namespace arith = mlir::arith;
namespace math = mlir::math;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static mlir::Type convertScalar(ScalarKind kind, mlir::MLIRContext *context) {
  switch (kind) {
  case ScalarKind::Void: return {};
  case ScalarKind::FP8E4B15:
    // MLIR has no type of bias 15: this one has the same width and stands for it.
    return mlir::Float8E4M3B11FNUZType::get(context);
  case ScalarKind::FP8E4NV: return mlir::Float8E4M3FNType::get(context);
  case ScalarKind::FP8E4B8: return mlir::Float8E4M3FNUZType::get(context);
  case ScalarKind::FP8E5: return mlir::Float8E5M2Type::get(context);
  case ScalarKind::FP8E5B16: return mlir::Float8E5M2FNUZType::get(context);
  case ScalarKind::FP16: return mlir::Float16Type::get(context);
  case ScalarKind::BF16: return mlir::BFloat16Type::get(context);
  case ScalarKind::FP32: return mlir::Float32Type::get(context);
  case ScalarKind::FP64: return mlir::Float64Type::get(context);
  default: return mlir::IntegerType::get(context, scalarInfo(kind).bits);
  }
}

/// The only type of the dialect that keeps the sign of integers.
static mlir::Type convertDescriptor(const Type &block, mlir::MLIRContext *context) {
  mlir::Type element = convertScalar(block.scalarKind(), context);
  if (!element)
    return {};
  if (block.isInt())
    element =
        mlir::IntegerType::get(context, element.getIntOrFloatBitWidth(),
                               block.isSigned() ? mlir::IntegerType::Signed : mlir::IntegerType::Unsigned);
  return tt::TensorDescType::getChecked([&] { return mlir::emitError(mlir::UnknownLoc::get(context)); },
                                        mlir::RankedTensorType::get(block.shape(), element));
}

mlir::Type despina::convertType(const Type &type, mlir::MLIRContext *context) {
  switch (type.kind()) {
  case Type::Kind::Scalar: return convertScalar(type.scalarKind(), context);
  case Type::Kind::Pointer: {
    mlir::Type pointee = convertType(type.pointee(), context);
    return pointee ? tt::PointerType::get(pointee, type.addressSpace()) : mlir::Type();
  }
  case Type::Kind::Block: {
    mlir::Type element = convertType(type.scalar(), context);
    if (!element || type.shape().empty())
      return element;
    return mlir::RankedTensorType::get(type.shape(), element);
  }
  case Type::Kind::Descriptor: return convertDescriptor(type.describedBlock(), context);
  case Type::Kind::Tuple: return {};
  }
  return {};
}

llvm::SmallVector<mlir::Type> IRBuilder::convert(llvm::ArrayRef<Type> types) {
  return llvm::map_to_vector(types, [&](const Type &type) { return convert(type); });
}

//===----------------------------------------------------------------------===//
// The builder itself, locations
//===----------------------------------------------------------------------===//

IRBuilder::IRBuilder(mlir::MLIRContext *context)
    : builder_(context), module_(mlir::ModuleOp::create(mlir::UnknownLoc::get(context))) {
  builder_.setInsertionPointToEnd(module_->getBody());
}

IRBuilder::~IRBuilder() = default;

mlir::OwningOpRef<mlir::ModuleOp> IRBuilder::takeModule() { return std::move(module_); }

void IRBuilder::setLocation(SourceRange range, llvm::ArrayRef<SourceRange> callSites) {
  position_ = range;
  callSites_.assign(callSites.begin(), callSites.end());
  location_ = {};
}

mlir::Location IRBuilder::locationOf(SourceRange range) {
  if (!range)
    return builder_.getUnknownLoc();
  mlir::StringAttr &name = fileNames_[range.file];
  if (!name)
    name = builder_.getStringAttr(range.file->path());
  LineColumn at = range.file->lineColumn(range.begin);
  return mlir::FileLineColLoc::get(name, at.line, at.column + 1);
}

mlir::Location IRBuilder::location() {
  if (location_)
    return location_;
  llvm::ArrayRef<SourceRange> inside(callSites_);
  inside = inside.drop_front(std::min<size_t>(functionDepth_, inside.size()));
  // The callers' side is a chain too, the kernel at its far end.
  std::optional<mlir::Location> caller;
  for (SourceRange site : inside) {
    mlir::Location loc = locationOf(site);
    caller = caller ? mlir::Location(mlir::CallSiteLoc::get(loc, *caller)) : loc;
  }
  mlir::Location loc = locationOf(position_);
  if (caller)
    loc = mlir::CallSiteLoc::get(loc, *caller);
  location_ = loc;
  return loc;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

mlir::Value IRBuilder::constant(const Type &type, mlir::TypedAttr element) {
  if (auto tile = mlir::dyn_cast_or_null<mlir::RankedTensorType>(convert(type)))
    element = mlir::DenseElementsAttr::get(tile, mlir::Attribute(element));
  return arith::ConstantOp::create(builder_, location(), element);
}

Handle IRBuilder::constantInt(const Type &type, uint64_t bits) {
  mlir::Type element = convert(type.scalar());
  if (!element)
    return {};
  if (mlir::isa<tt::PointerType>(element)) {
    Handle address = constantInt(type.withScalar(ScalarKind::Int64), bits);
    return cast(CastKind::IntToPtr, address, type, RoundingKind::Default);
  }
  llvm::APInt value(element.getIntOrFloatBitWidth(), bits, /*isSigned=*/false, /*implicitTrunc=*/true);
  if (auto real = mlir::dyn_cast<mlir::FloatType>(element))
    return toHandle(
        constant(type, builder_.getFloatAttr(real, llvm::APFloat(real.getFloatSemantics(), value))));
  return toHandle(constant(type, builder_.getIntegerAttr(element, value)));
}

Handle IRBuilder::constantFloat(const Type &type, double value) {
  auto element = mlir::dyn_cast_or_null<mlir::FloatType>(convert(type.scalar()));
  if (!element)
    return poison(type);
  llvm::APFloat converted(value);
  bool losesInfo = false;
  converted.convert(element.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return toHandle(constant(type, builder_.getFloatAttr(element, converted)));
}

Handle IRBuilder::poison(const Type &type) {
  mlir::Type converted = convert(type);
  return converted ? toHandle(mlir::ub::PoisonOp::create(builder_, location(), converted)) : Handle();
}

//===----------------------------------------------------------------------===//
// Element-wise operations
//===----------------------------------------------------------------------===//

Handle IRBuilder::binary(BinaryKind kind, Handle lhs, Handle rhs) {
  mlir::Value x = toValue(lhs), y = toValue(rhs);
  mlir::Location loc = location();
  auto make = [&]<typename Op>() { return toHandle(Op::create(builder_, loc, x, y)); };
  switch (kind) {
  case BinaryKind::AddI: return make.operator()<arith::AddIOp>();
  case BinaryKind::SubI: return make.operator()<arith::SubIOp>();
  case BinaryKind::MulI: return make.operator()<arith::MulIOp>();
  case BinaryKind::DivSI: return make.operator()<arith::DivSIOp>();
  case BinaryKind::DivUI: return make.operator()<arith::DivUIOp>();
  case BinaryKind::RemSI: return make.operator()<arith::RemSIOp>();
  case BinaryKind::RemUI: return make.operator()<arith::RemUIOp>();
  case BinaryKind::AndI: return make.operator()<arith::AndIOp>();
  case BinaryKind::OrI: return make.operator()<arith::OrIOp>();
  case BinaryKind::XorI: return make.operator()<arith::XOrIOp>();
  case BinaryKind::ShlI: return make.operator()<arith::ShLIOp>();
  case BinaryKind::ShrSI: return make.operator()<arith::ShRSIOp>();
  case BinaryKind::ShrUI: return make.operator()<arith::ShRUIOp>();
  case BinaryKind::MinSI: return make.operator()<arith::MinSIOp>();
  case BinaryKind::MaxSI: return make.operator()<arith::MaxSIOp>();
  case BinaryKind::MinUI: return make.operator()<arith::MinUIOp>();
  case BinaryKind::MaxUI: return make.operator()<arith::MaxUIOp>();
  case BinaryKind::MulHiUI: return make.operator()<tt::MulhiUIOp>();
  case BinaryKind::AddF: return make.operator()<arith::AddFOp>();
  case BinaryKind::SubF: return make.operator()<arith::SubFOp>();
  case BinaryKind::MulF: return make.operator()<arith::MulFOp>();
  case BinaryKind::DivF: return make.operator()<arith::DivFOp>();
  case BinaryKind::RemF: return make.operator()<arith::RemFOp>();
  case BinaryKind::PreciseDivF: return make.operator()<tt::PreciseDivFOp>();
  case BinaryKind::MinNumF: return make.operator()<arith::MinNumFOp>();
  case BinaryKind::MaxNumF: return make.operator()<arith::MaxNumFOp>();
  case BinaryKind::MinimumF: return make.operator()<arith::MinimumFOp>();
  case BinaryKind::MaximumF: return make.operator()<arith::MaximumFOp>();
  }
  return {};
}

Handle IRBuilder::unary(UnaryKind kind, Handle handle) {
  mlir::Value x = toValue(handle);
  mlir::Location loc = location();
  auto make = [&]<typename Op>() { return toHandle(Op::create(builder_, loc, x)); };
  switch (kind) {
  case UnaryKind::NegF: return make.operator()<arith::NegFOp>();
  case UnaryKind::AbsF: return make.operator()<math::AbsFOp>();
  case UnaryKind::AbsI: return make.operator()<math::AbsIOp>();
  case UnaryKind::Exp: return make.operator()<math::ExpOp>();
  case UnaryKind::Exp2: return make.operator()<math::Exp2Op>();
  case UnaryKind::Log: return make.operator()<math::LogOp>();
  case UnaryKind::Log2: return make.operator()<math::Log2Op>();
  case UnaryKind::Sin: return make.operator()<math::SinOp>();
  case UnaryKind::Cos: return make.operator()<math::CosOp>();
  case UnaryKind::Sqrt: return make.operator()<math::SqrtOp>();
  case UnaryKind::PreciseSqrt: return make.operator()<tt::PreciseSqrtOp>();
  case UnaryKind::Rsqrt: return make.operator()<math::RsqrtOp>();
  case UnaryKind::Erf: return make.operator()<math::ErfOp>();
  case UnaryKind::Floor: return make.operator()<math::FloorOp>();
  case UnaryKind::Ceil: return make.operator()<math::CeilOp>();
  }
  return {};
}

static std::optional<arith::CmpIPredicate> integerPredicate(CompareKind kind) {
  switch (kind) {
  case CompareKind::EQ: return arith::CmpIPredicate::eq;
  case CompareKind::NE: return arith::CmpIPredicate::ne;
  case CompareKind::SLT: return arith::CmpIPredicate::slt;
  case CompareKind::SLE: return arith::CmpIPredicate::sle;
  case CompareKind::SGT: return arith::CmpIPredicate::sgt;
  case CompareKind::SGE: return arith::CmpIPredicate::sge;
  case CompareKind::ULT: return arith::CmpIPredicate::ult;
  case CompareKind::ULE: return arith::CmpIPredicate::ule;
  case CompareKind::UGT: return arith::CmpIPredicate::ugt;
  case CompareKind::UGE: return arith::CmpIPredicate::uge;
  default: return std::nullopt;
  }
}

static arith::CmpFPredicate floatPredicate(CompareKind kind) {
  switch (kind) {
  case CompareKind::UNE: return arith::CmpFPredicate::UNE;
  case CompareKind::OLT: return arith::CmpFPredicate::OLT;
  case CompareKind::OLE: return arith::CmpFPredicate::OLE;
  case CompareKind::OGT: return arith::CmpFPredicate::OGT;
  case CompareKind::OGE: return arith::CmpFPredicate::OGE;
  default: return arith::CmpFPredicate::OEQ;
  }
}

mlir::Value IRBuilder::withoutPointer(mlir::Value value) {
  if (!mlir::isa<tt::PointerType>(mlir::getElementTypeOrSelf(value)))
    return value;
  mlir::Type integer = builder_.getI64Type();
  if (auto tile = mlir::dyn_cast<mlir::RankedTensorType>(value.getType()))
    integer = tile.clone(integer);
  return tt::PtrToIntOp::create(builder_, location(), integer, value);
}

Handle IRBuilder::compare(CompareKind kind, Handle lhs, Handle rhs) {
  mlir::Value x = toValue(lhs), y = toValue(rhs);
  if (auto predicate = integerPredicate(kind)) {
    // arith compares no pointers.
    x = withoutPointer(x);
    y = withoutPointer(y);
    return toHandle(arith::CmpIOp::create(builder_, location(), *predicate, x, y));
  }
  return toHandle(arith::CmpFOp::create(builder_, location(), floatPredicate(kind), x, y));
}

Handle IRBuilder::select(Handle condition, Handle ifTrue, Handle ifFalse) {
  return toHandle(
      arith::SelectOp::create(builder_, location(), toValue(condition), toValue(ifTrue), toValue(ifFalse)));
}

Handle IRBuilder::fma(Handle x, Handle y, Handle z) {
  return toHandle(math::FmaOp::create(builder_, location(), toValue(x), toValue(y), toValue(z)));
}

Handle IRBuilder::clamp(Handle x, Handle min, Handle max, bool propagateNan) {
  auto rule = propagateNan ? tt::PropagateNan::ALL : tt::PropagateNan::NONE;
  return toHandle(tt::ClampFOp::create(builder_, location(), toValue(x), toValue(min), toValue(max), rule));
}

Handle IRBuilder::cast(CastKind kind, Handle x, const Type &to, RoundingKind rounding) {
  mlir::Value value = toValue(x);
  mlir::Type type = convert(to);
  if (!type)
    return {};
  mlir::Location loc = location();
  auto make = [&]<typename Op>() { return toHandle(Op::create(builder_, loc, type, value)); };
  switch (kind) {
  case CastKind::SIToFP: return make.operator()<arith::SIToFPOp>();
  case CastKind::UIToFP: return make.operator()<arith::UIToFPOp>();
  case CastKind::FPToSI: return make.operator()<arith::FPToSIOp>();
  case CastKind::FPToUI: return make.operator()<arith::FPToUIOp>();
  case CastKind::ExtSI: return make.operator()<arith::ExtSIOp>();
  case CastKind::ExtUI: return make.operator()<arith::ExtUIOp>();
  case CastKind::TruncI: return make.operator()<arith::TruncIOp>();
  case CastKind::ExtF: return make.operator()<arith::ExtFOp>();
  case CastKind::TruncF: return make.operator()<arith::TruncFOp>();
  case CastKind::IntToPtr: return make.operator()<tt::IntToPtrOp>();
  case CastKind::PtrToInt: return make.operator()<tt::PtrToIntOp>();
  case CastKind::Bitcast:
    if (value.getType() == type) // only the sign or constness changes
      return x;
    if (mlir::isa<tt::PointerType>(mlir::getElementTypeOrSelf(type)))
      return make.operator()<tt::BitcastOp>();
    return make.operator()<arith::BitcastOp>();
  case CastKind::FPToFP: {
    tt::RoundingModeAttr mode;
    auto from = mlir::dyn_cast<mlir::FloatType>(mlir::getElementTypeOrSelf(value));
    auto into = mlir::dyn_cast<mlir::FloatType>(mlir::getElementTypeOrSelf(type));
    bool narrows = from && into && into.getWidth() < from.getWidth();
    if (rounding != RoundingKind::Default || narrows)
      mode = tt::RoundingModeAttr::get(builder_.getContext(), rounding == RoundingKind::RTZ
                                                                  ? tt::RoundingMode::RTZ
                                                                  : tt::RoundingMode::RTNE);
    return toHandle(tt::FpToFpOp::create(builder_, loc, type, value, mode));
  }
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Program, creation and shape
//===----------------------------------------------------------------------===//

Handle IRBuilder::programId(int axis) {
  return toHandle(tt::GetProgramIdOp::create(builder_, location(), static_cast<tt::ProgramIDDim>(axis)));
}

Handle IRBuilder::numPrograms(int axis) {
  return toHandle(tt::GetNumProgramsOp::create(builder_, location(), static_cast<tt::ProgramIDDim>(axis)));
}

Handle IRBuilder::makeRange(int32_t start, int32_t end) {
  return toHandle(tt::MakeRangeOp::create(builder_, location(), start, end));
}

Handle IRBuilder::splat(Handle scalar, const Type &to) {
  mlir::Type type = convert(to);
  if (!mlir::isa_and_nonnull<mlir::RankedTensorType>(type))
    return scalar;
  return toHandle(tt::SplatOp::create(builder_, location(), type, toValue(scalar)));
}

Handle IRBuilder::unsplat(Handle block) {
  auto tile = mlir::dyn_cast<mlir::RankedTensorType>(toValue(block).getType());
  return tile ? toHandle(tt::UnsplatOp::create(builder_, location(), tile.getElementType(), toValue(block)))
              : block;
}

Handle IRBuilder::expandDims(Handle x, unsigned axis) {
  return toHandle(tt::ExpandDimsOp::create(builder_, location(), toValue(x), axis));
}

Handle IRBuilder::broadcast(Handle x, const Type &to) {
  mlir::Type type = convert(to);
  if (toValue(x).getType() == type)
    return x;
  return toHandle(tt::BroadcastOp::create(builder_, location(), type, toValue(x)));
}

Handle IRBuilder::reshape(Handle x, const Type &to, bool allowReorder) {
  return toHandle(tt::ReshapeOp::create(builder_, location(), convert(to), toValue(x), allowReorder));
}

Handle IRBuilder::transpose(Handle x, llvm::ArrayRef<int32_t> order) {
  return toHandle(tt::TransOp::create(builder_, location(), toValue(x), order));
}

Handle IRBuilder::concatenate(Handle lhs, Handle rhs, const Type &to) {
  return toHandle(tt::CatOp::create(builder_, location(), convert(to), toValue(lhs), toValue(rhs)));
}

Handle IRBuilder::join(Handle lhs, Handle rhs) {
  return toHandle(tt::JoinOp::create(builder_, location(), toValue(lhs), toValue(rhs)));
}

std::pair<Handle, Handle> IRBuilder::split(Handle x) {
  auto op = tt::SplitOp::create(builder_, location(), toValue(x));
  return {toHandle(op.getOutLHS()), toHandle(op.getOutRHS())};
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

// The dialect numbers these from 1, in the front end's order.
static_assert(int(tt::CacheModifier::NONE) == int(CacheModifier::None) + 1 &&
              int(tt::CacheModifier::CV) == int(CacheModifier::CV) + 1);
static_assert(int(tt::EvictionPolicy::NORMAL) == int(EvictionPolicy::Normal) + 1 &&
              int(tt::EvictionPolicy::EVICT_LAST) == int(EvictionPolicy::Last) + 1);
static_assert(int(tt::RMWOp::AND) == int(AtomicKind::And) + 1 &&
              int(tt::RMWOp::XCHG) == int(AtomicKind::Exchange) + 1);
static_assert(int(tt::MemSemantic::RELAXED) == int(MemorySemantic::Relaxed) + 1 &&
              int(tt::MemSemantic::ACQUIRE_RELEASE) == int(MemorySemantic::AcquireRelease) + 1);
static_assert(int(tt::MemSyncScope::GPU) == int(MemoryScope::GPU) + 1 &&
              int(tt::MemSyncScope::SYSTEM) == int(MemoryScope::System) + 1);
static_assert(int(tt::InputPrecision::TF32) == int(DotPrecision::TF32) &&
              int(tt::InputPrecision::BF16x6) == int(DotPrecision::BF16x6));

template <typename To, typename From> static To fromOne(From value) {
  return static_cast<To>(int(value) + 1);
}

Handle IRBuilder::addPointer(Handle pointer, Handle offset) {
  mlir::Value base = toValue(pointer);
  return toHandle(tt::AddPtrOp::create(builder_, location(), base.getType(), base, toValue(offset)));
}

Handle IRBuilder::load(Handle pointer, Handle mask, Handle other, CacheModifier cache, EvictionPolicy evict,
                       bool isVolatile) {
  return toHandle(tt::LoadOp::create(builder_, location(), toValue(pointer), toValue(mask), toValue(other),
                                     fromOne<tt::CacheModifier>(cache), fromOne<tt::EvictionPolicy>(evict),
                                     isVolatile));
}

void IRBuilder::store(Handle pointer, Handle value, Handle mask, CacheModifier cache, EvictionPolicy evict) {
  tt::StoreOp::create(builder_, location(), toValue(pointer), toValue(value), toValue(mask),
                      fromOne<tt::CacheModifier>(cache), fromOne<tt::EvictionPolicy>(evict));
}

Handle IRBuilder::atomicRMW(AtomicKind kind, Handle pointer, Handle value, Handle mask, MemorySemantic sem,
                            MemoryScope scope) {
  return toHandle(tt::AtomicRMWOp::create(
      builder_, location(), toValue(value).getType(), fromOne<tt::RMWOp>(kind), toValue(pointer),
      toValue(value), toValue(mask), fromOne<tt::MemSemantic>(sem), fromOne<tt::MemSyncScope>(scope)));
}

Handle IRBuilder::atomicCAS(Handle pointer, Handle compare, Handle value, MemorySemantic sem,
                            MemoryScope scope) {
  return toHandle(tt::AtomicCASOp::create(builder_, location(), toValue(value).getType(), toValue(pointer),
                                          toValue(compare), toValue(value), fromOne<tt::MemSemantic>(sem),
                                          fromOne<tt::MemSyncScope>(scope)));
}

//===----------------------------------------------------------------------===//
// Tensor descriptors
//===----------------------------------------------------------------------===//

static llvm::SmallVector<mlir::Value> toValues(llvm::ArrayRef<Handle> handles) {
  return llvm::map_to_vector(handles, [](Handle handle) { return IRBuilder::toValue(handle); });
}

Handle IRBuilder::makeDescriptor(const Type &type, Handle base, llvm::ArrayRef<Handle> shape,
                                 llvm::ArrayRef<Handle> strides, bool padsNaN) {
  mlir::Type converted = convert(type);
  if (!converted)
    return {};
  return toHandle(tt::MakeTensorDescOp::create(
      builder_, location(), converted, toValue(base), toValues(shape), toValues(strides),
      padsNaN ? tt::PaddingOption::PAD_NAN : tt::PaddingOption::PAD_ZERO));
}

Handle IRBuilder::descriptorLoad(const Type &type, Handle descriptor, llvm::ArrayRef<Handle> indices) {
  return toHandle(tt::DescriptorLoadOp::create(builder_, location(), convert(type.describedBlock()),
                                               toValue(descriptor), toValues(indices)));
}

void IRBuilder::descriptorStore(Handle descriptor, Handle value, llvm::ArrayRef<Handle> indices) {
  tt::DescriptorStoreOp::create(builder_, location(), toValue(descriptor), toValue(value), toValues(indices));
}

void IRBuilder::descriptorReduce(DescriptorReduceKind kind, Handle descriptor, Handle value,
                                 llvm::ArrayRef<Handle> indices) {
  static constexpr tt::DescriptorReduceKind kinds[] = {
      tt::DescriptorReduceKind::ADD, tt::DescriptorReduceKind::MIN, tt::DescriptorReduceKind::MAX,
      tt::DescriptorReduceKind::AND, tt::DescriptorReduceKind::OR,  tt::DescriptorReduceKind::XOR};
  tt::DescriptorReduceOp::create(builder_, location(), kinds[size_t(kind)], toValue(descriptor),
                                 toValue(value), toValues(indices));
}

Handle IRBuilder::descriptorGather(const Type &result, Handle descriptor, Handle rows, Handle column) {
  return toHandle(tt::DescriptorGatherOp::create(builder_, location(), convert(result), toValue(descriptor),
                                                 toValue(rows), toValue(column)));
}

void IRBuilder::descriptorScatter(Handle descriptor, Handle value, Handle rows, Handle column) {
  tt::DescriptorScatterOp::create(builder_, location(), toValue(descriptor), toValue(rows), toValue(column),
                                  toValue(value));
}

//===----------------------------------------------------------------------===//
// Linear algebra, counting
//===----------------------------------------------------------------------===//

Handle IRBuilder::gather(Handle source, Handle indices, unsigned axis) {
  return toHandle(tt::GatherOp::create(builder_, location(), toValue(source), toValue(indices), axis));
}

Handle IRBuilder::histogram(Handle x, Handle mask, const Type &result) {
  return toHandle(tt::HistogramOp::create(builder_, location(), convert(result), toValue(x), toValue(mask)));
}

Handle IRBuilder::dot(Handle a, Handle b, Handle acc, DotPrecision precision, int32_t maxImpreciseAcc) {
  return toHandle(tt::DotOp::create(builder_, location(), toValue(acc).getType(), toValue(a), toValue(b),
                                    toValue(acc), static_cast<tt::InputPrecision>(precision),
                                    static_cast<uint32_t>(maxImpreciseAcc)));
}

static tt::ScaleDotElemType elementFormat(ScaledFormat format) {
  switch (format) {
  case ScaledFormat::E4M3: return tt::ScaleDotElemType::E4M3;
  case ScaledFormat::E5M2: return tt::ScaleDotElemType::E5M2;
  case ScaledFormat::E2M1: return tt::ScaleDotElemType::E2M1;
  case ScaledFormat::BF16: return tt::ScaleDotElemType::BF16;
  case ScaledFormat::FP16: return tt::ScaleDotElemType::FP16;
  }
  return tt::ScaleDotElemType::BF16;
}

Handle IRBuilder::dotScaled(const ScaledOperand &a, const ScaledOperand &b, Handle acc, bool fastMath) {
  return toHandle(tt::DotScaledOp::create(builder_, location(), toValue(acc).getType(), toValue(a.value),
                                          toValue(b.value), toValue(acc), toValue(a.scale), toValue(b.scale),
                                          elementFormat(a.format), elementFormat(b.format), fastMath,
                                          a.packedAlongK, b.packedAlongK));
}

//===----------------------------------------------------------------------===//
// Code that is not ours
//===----------------------------------------------------------------------===//

Handles IRBuilder::inlineAssembly(llvm::StringRef text, llvm::StringRef constraints,
                                  llvm::ArrayRef<Handle> args, llvm::ArrayRef<Type> resultTypes, bool isPure,
                                  int64_t pack) {
  auto op = tt::ElementwiseInlineAsmOp::create(builder_, location(), convert(resultTypes), text, constraints,
                                               isPure, static_cast<uint32_t>(pack), toValues(args));
  Handles results;
  for (mlir::Value result : op.getResult())
    results.push_back(toHandle(result));
  return results;
}

Handle IRBuilder::externElementwise(llvm::ArrayRef<Handle> args, const Type &result, llvm::StringRef symbol,
                                    bool isPure) {
  return toHandle(tt::ExternElementwiseOp::create(builder_, location(), convert(result), toValues(args), "",
                                                  "", symbol, isPure));
}

//===----------------------------------------------------------------------===//
// Hints and debugging
//===----------------------------------------------------------------------===//

void IRBuilder::setHint(Handle x, llvm::StringRef name, llvm::ArrayRef<int64_t> values) {
  mlir::Operation *op = toValue(x).getDefiningOp();
  if (!op)
    return;
  // The attribute holds 32 bits; a smaller power of two is a weaker hint that still holds.
  constexpr int64_t largest = int64_t(1) << 30;
  auto clamped = llvm::map_to_vector(values, [](int64_t v) {
    return static_cast<int32_t>(v > largest ? int64_t(1) << std::min(30, llvm::countr_zero(uint64_t(v))) : v);
  });
  auto type = mlir::RankedTensorType::get({int64_t(clamped.size())}, builder_.getI32Type());
  op->setDiscardableAttr(name, mlir::DenseIntElementsAttr::get(type, clamped));
}

void IRBuilder::assume(Handle condition) { tt::AssumeOp::create(builder_, location(), toValue(condition)); }

void IRBuilder::barrier() { tt::BarrierOp::create(builder_, location()); }

void IRBuilder::deviceAssert(Handle condition, llvm::StringRef message) {
  tt::AssertOp::create(builder_, location(), toValue(condition), message);
}

void IRBuilder::devicePrint(llvm::StringRef prefix, bool hex, llvm::ArrayRef<Handle> args,
                            llvm::ArrayRef<bool> isSigned) {
  auto values = llvm::map_to_vector(args, [](Handle arg) { return toValue(arg); });
  llvm::SmallVector<int32_t> flags(isSigned.begin(), isSigned.end());
  tt::PrintOp::create(builder_, location(), prefix, hex, values, flags);
}
