//===- IRBuilderTest.cpp - The IR builder ---------------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "despina/IR/IRBuilder.h"
#include "despina/IR/Context.h"
#include "despina/IR/DotScaled.h"
#include "despina/IR/TT.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Verifier.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace despina;
using testing::HasSubstr;
using testing::Not;

namespace {

class IRBuilderTest : public testing::Test {
protected:
  IRBuilderTest()
      : context_(
            createContext([this](mlir::Diagnostic &diagnostic) { messages_ += diagnostic.str() + "\n"; })),
        builder_(context_.get()) {}

  /// Starts a public function of these arguments.
  Handles begin(std::vector<Type> types, const std::string &name = "kernel") {
    RegionBuilder::FunctionSpec spec;
    spec.name = name;
    spec.argTypes = std::move(types);
    spec.isKernel = true;
    return builder_.beginFunction(spec);
  }
  void end() { builder_.endFunction({}, {}); }

  bool verifies() { return mlir::succeeded(mlir::verify(builder_.module())); }
  std::string text(bool locations = false) {
    std::string result;
    llvm::raw_string_ostream os(result);
    mlir::OpPrintingFlags flags;
    if (locations)
      flags.enableDebugInfo(true, false).useLocalScope();
    builder_.module()->print(os, flags);
    return result;
  }
  template <typename Op> Op only() {
    Op found;
    int count = 0;
    builder_.module()->walk([&](Op op) { found = op, ++count; });
    EXPECT_EQ(count, 1);
    return found;
  }

  static Type block(ScalarKind kind, llvm::ArrayRef<int64_t> shape) { return Type::block(kind, shape); }

  std::string messages_;
  std::unique_ptr<mlir::MLIRContext> context_;
  IRBuilder builder_;
};

TEST_F(IRBuilderTest, ConvertsEveryScalarToItsWidth) {
  for (const ScalarInfo &info : allScalars()) {
    mlir::Type type = convertType(info.kind, context_.get());
    if (info.kind == ScalarKind::Void) {
      EXPECT_FALSE(type);
      continue;
    }
    ASSERT_TRUE(type) << info.name;
    EXPECT_EQ(type.getIntOrFloatBitWidth(), info.bits) << info.name;
    EXPECT_EQ(mlir::isa<mlir::FloatType>(type), info.mantissa != 0) << info.name;
  }
  EXPECT_EQ(convertType(ScalarKind::UInt32, context_.get()), convertType(ScalarKind::Int32, context_.get()));
}

TEST_F(IRBuilderTest, ConvertsPointersAndBlocks) {
  Type pointer = Type::pointer(ScalarKind::BF16, /*isConst=*/true, /*addressSpace=*/3);
  auto converted = mlir::dyn_cast<tt::PointerType>(convertType(pointer, context_.get()));
  ASSERT_TRUE(converted);
  EXPECT_TRUE(converted.getPointeeType().isBF16());
  EXPECT_EQ(converted.getAddressSpace(), 3);
  auto tile =
      mlir::dyn_cast<mlir::RankedTensorType>(convertType(Type::block(pointer, {4, 8}), context_.get()));
  ASSERT_TRUE(tile);
  EXPECT_EQ(tile.getElementType(), converted);
  EXPECT_EQ(tile.getShape(), llvm::ArrayRef<int64_t>({4, 8}));
  EXPECT_FALSE(convertType(Type::tuple({ScalarKind::Int32}), context_.get()));
}

TEST_F(IRBuilderTest, BuildsAVectorAdd) {
  Type pointer = Type::pointer(ScalarKind::FP32);
  RegionBuilder::FunctionSpec spec;
  spec.name = "add";
  spec.argTypes = {pointer, pointer, pointer, ScalarKind::Int32};
  spec.argNames = {"x", "y", "out", "n"};
  spec.divisibility = {16, 16, 16, 0};
  spec.isKernel = true;
  Handles args = builder_.beginFunction(spec);
  ASSERT_EQ(args.size(), 4u);

  Type offsets = block(ScalarKind::Int32, {1024}), pointers = Type::block(pointer, {1024});
  Handle start =
      builder_.binary(BinaryKind::MulI, builder_.programId(0), builder_.constantInt(ScalarKind::Int32, 1024));
  Handle index =
      builder_.binary(BinaryKind::AddI, builder_.splat(start, offsets), builder_.makeRange(0, 1024));
  Handle mask = builder_.compare(CompareKind::SLT, index, builder_.splat(args[3], offsets));
  auto address = [&](Handle base) { return builder_.addPointer(builder_.splat(base, pointers), index); };
  auto load = [&](Handle base) {
    return builder_.load(address(base), mask, {}, CacheModifier::None, EvictionPolicy::Normal, false);
  };
  Handle sum = builder_.binary(BinaryKind::AddF, load(args[0]), load(args[1]));
  builder_.store(address(args[2]), sum, mask, CacheModifier::CS, EvictionPolicy::First);
  end();

  EXPECT_TRUE(verifies()) << messages_ << text();
  auto func = only<tt::FuncOp>();
  EXPECT_TRUE(func.isPublic());
  EXPECT_FALSE(func.isNoInline());
  auto divisibility = func.getArgAttrOfType<mlir::IntegerAttr>(0, "tt.divisibility");
  ASSERT_TRUE(divisibility);
  EXPECT_EQ(divisibility.getInt(), 16);
  EXPECT_FALSE(func.getArgAttr(3, "tt.divisibility"));
  auto store = only<tt::StoreOp>();
  EXPECT_EQ(store.getCache(), tt::CacheModifier::CS);
  EXPECT_EQ(store.getEvict(), tt::EvictionPolicy::EVICT_FIRST);
  EXPECT_THAT(text(/*locations=*/true), HasSubstr("loc(\"out\""));
}

TEST_F(IRBuilderTest, EveryElementwiseKindVerifies) {
  Type ints = block(ScalarKind::Int32, {16}), floats = block(ScalarKind::FP32, {16});
  Handles args = begin({ints, floats});
  for (int kind = 0; kind <= int(BinaryKind::MaximumF); ++kind) {
    Handle x = args[kind >= int(BinaryKind::AddF)];
    EXPECT_TRUE(builder_.binary(BinaryKind(kind), x, x)) << kind;
  }
  for (int kind = 0; kind <= int(UnaryKind::Ceil); ++kind)
    EXPECT_TRUE(builder_.unary(UnaryKind(kind), args[UnaryKind(kind) != UnaryKind::AbsI])) << kind;
  for (int kind = 0; kind <= int(CompareKind::OGE); ++kind) {
    Handle x = args[kind >= int(CompareKind::OEQ)];
    Handle condition = builder_.compare(CompareKind(kind), x, x);
    EXPECT_TRUE(builder_.select(condition, x, x)) << kind;
  }
  EXPECT_TRUE(builder_.fma(args[1], args[1], args[1]));
  EXPECT_TRUE(builder_.clamp(args[1], args[1], args[1], true));
  end();
  EXPECT_TRUE(verifies()) << messages_ << text();
}

TEST_F(IRBuilderTest, ComparisonsKeepTheirPredicate) {
  Handles args = begin({ScalarKind::Int32, ScalarKind::FP32});
  builder_.compare(CompareKind::UGE, args[0], args[0]);
  builder_.compare(CompareKind::UNE, args[1], args[1]);
  end();
  EXPECT_EQ(only<mlir::arith::CmpIOp>().getPredicate(), mlir::arith::CmpIPredicate::uge);
  EXPECT_EQ(only<mlir::arith::CmpFOp>().getPredicate(), mlir::arith::CmpFPredicate::UNE);
}

TEST_F(IRBuilderTest, EveryCastVerifies) {
  Type pointer = Type::pointer(ScalarKind::FP32);
  Handles args = begin({ScalarKind::Int32, ScalarKind::FP32, ScalarKind::Int64, pointer});
  Handle i32 = args[0], f32 = args[1], i64 = args[2], ptr = args[3];
  auto cast = [&](CastKind kind, Handle x, Type to, RoundingKind rounding = RoundingKind::Default) {
    Handle result = builder_.cast(kind, x, to, rounding);
    EXPECT_TRUE(result);
    return IRBuilder::toValue(result).getType();
  };
  EXPECT_TRUE(cast(CastKind::SIToFP, i32, ScalarKind::FP16).isF16());
  EXPECT_TRUE(cast(CastKind::UIToFP, i32, ScalarKind::FP64).isF64());
  EXPECT_TRUE(cast(CastKind::FPToSI, f32, ScalarKind::Int8).isInteger(8));
  EXPECT_TRUE(cast(CastKind::FPToUI, f32, ScalarKind::UInt16).isInteger(16));
  EXPECT_TRUE(cast(CastKind::ExtSI, i32, ScalarKind::Int64).isInteger(64));
  EXPECT_TRUE(cast(CastKind::ExtUI, i32, ScalarKind::Int64).isInteger(64));
  EXPECT_TRUE(cast(CastKind::TruncI, i32, ScalarKind::Int1).isInteger(1));
  EXPECT_TRUE(cast(CastKind::ExtF, f32, ScalarKind::FP64).isF64());
  EXPECT_TRUE(cast(CastKind::TruncF, f32, ScalarKind::BF16).isBF16());
  EXPECT_TRUE(cast(CastKind::Bitcast, f32, ScalarKind::UInt32).isInteger(32));
  EXPECT_TRUE(mlir::isa<tt::PointerType>(cast(CastKind::IntToPtr, i64, pointer)));
  EXPECT_TRUE(cast(CastKind::PtrToInt, ptr, ScalarKind::Int64).isInteger(64));
  EXPECT_TRUE(mlir::isa<tt::PointerType>(cast(CastKind::Bitcast, ptr, Type::pointer(ScalarKind::Int8))));
  EXPECT_EQ(cast(CastKind::FPToFP, f32, ScalarKind::FP8E5).getIntOrFloatBitWidth(), 8u);
  // Only the sign changes: no operation.
  EXPECT_EQ(builder_.cast(CastKind::Bitcast, i32, ScalarKind::UInt32, RoundingKind::Default), i32);
  end();
  EXPECT_TRUE(verifies()) << messages_ << text();
  EXPECT_EQ(only<tt::FpToFpOp>().getRounding(), tt::RoundingMode::RTNE);
}

TEST_F(IRBuilderTest, Constants) {
  begin({});
  auto attribute = [&](Handle handle) {
    auto op = IRBuilder::toValue(handle).getDefiningOp<mlir::arith::ConstantOp>();
    return op ? op.getValue() : mlir::TypedAttr();
  };
  auto minusOne =
      mlir::dyn_cast<mlir::IntegerAttr>(attribute(builder_.constantInt(ScalarKind::Int8, ~uint64_t(0))));
  ASSERT_TRUE(minusOne);
  EXPECT_EQ(minusOne.getInt(), -1);
  auto half = mlir::dyn_cast<mlir::FloatAttr>(attribute(builder_.constantFloat(ScalarKind::FP16, 1.0 / 3.0)));
  ASSERT_TRUE(half);
  EXPECT_EQ(half.getValueAsDouble(), 0.333251953125); // 1/3 rounded to nearest even
  auto infinity = mlir::dyn_cast<mlir::FloatAttr>(attribute(builder_.constantFloat(ScalarKind::FP16, 1e30)));
  ASSERT_TRUE(infinity);
  EXPECT_TRUE(std::isinf(infinity.getValueAsDouble()));
  auto tile = mlir::dyn_cast<mlir::SplatElementsAttr>(
      attribute(builder_.constantInt(block(ScalarKind::Int16, {4, 4}), 70000)));
  ASSERT_TRUE(tile);
  EXPECT_EQ(tile.getSplatValue<mlir::APInt>().getZExtValue(), 70000u % 65536u);
  // Pointers have no constants, but an address is one.
  EXPECT_TRUE(builder_.constantInt(Type::block(Type::pointer(ScalarKind::FP32), {8}), 0));
  EXPECT_TRUE(builder_.poison(block(ScalarKind::FP32, {8})));
  end();
  EXPECT_TRUE(verifies()) << messages_ << text();
}

TEST_F(IRBuilderTest, ShapesAndMemory) {
  Type tile = block(ScalarKind::FP32, {4, 8});
  Type pointer = Type::pointer(ScalarKind::Int32);
  Handles args = begin({tile, pointer, ScalarKind::Int32, ScalarKind::Int1});
  Handle x = args[0];
  EXPECT_EQ(IRBuilder::toValue(builder_.expandDims(x, 2)).getType(),
            convertType(block(ScalarKind::FP32, {4, 8, 1}), context_.get()));
  EXPECT_EQ(IRBuilder::toValue(builder_.transpose(x, {1, 0})).getType(),
            convertType(block(ScalarKind::FP32, {8, 4}), context_.get()));
  builder_.reshape(x, block(ScalarKind::FP32, {32}), true);
  builder_.concatenate(x, x, block(ScalarKind::FP32, {8, 8}));
  auto halves = builder_.split(builder_.join(x, x));
  EXPECT_EQ(IRBuilder::toValue(halves.first).getType(), IRBuilder::toValue(x).getType());
  EXPECT_NE(halves.first, halves.second);
  Handle row = builder_.reshape(x, block(ScalarKind::FP32, {32, 1}), false);
  builder_.broadcast(row, block(ScalarKind::FP32, {32, 16}));
  EXPECT_EQ(builder_.broadcast(x, tile), x);
  builder_.unsplat(builder_.splat(args[2], block(ScalarKind::Int32, {1})));
  builder_.atomicRMW(AtomicKind::UMin, args[1], args[2], args[3], MemorySemantic::AcquireRelease,
                     MemoryScope::GPU);
  builder_.atomicCAS(args[1], args[2], args[2], MemorySemantic::Relaxed, MemoryScope::System);
  builder_.dot(builder_.reshape(x, block(ScalarKind::FP32, {4, 8}), false), builder_.transpose(x, {1, 0}),
               builder_.constantFloat(block(ScalarKind::FP32, {4, 4}), 0), DotPrecision::TF32, 0);
  Handle pairs = builder_.constantInt(block(ScalarKind::UInt8, {16, 16}), 0);
  Handle scales = builder_.constantInt(block(ScalarKind::UInt8, {16, 1}), 127);
  Handle halves16 = builder_.constantFloat(block(ScalarKind::FP16, {32, 16}), 1);
  builder_.dotScaled({pairs, scales, ScaledFormat::E2M1, true}, {halves16, {}, ScaledFormat::FP16, true},
                     builder_.constantFloat(block(ScalarKind::FP32, {16, 16}), 0), /*fastMath=*/true);
  builder_.assume(args[3]);
  builder_.barrier();
  builder_.deviceAssert(args[3], "message");
  builder_.devicePrint("x: ", true, {args[2], x}, {true, false});
  end();
  EXPECT_TRUE(verifies()) << messages_ << text();
  auto rmw = only<tt::AtomicRMWOp>();
  EXPECT_EQ(rmw.getAtomicRmwOp(), tt::RMWOp::UMIN);
  EXPECT_EQ(rmw.getSem(), tt::MemSemantic::ACQUIRE_RELEASE);
  EXPECT_EQ(only<tt::AtomicCASOp>().getScope(), tt::MemSyncScope::SYSTEM);
  auto scaled = only<tt::DotScaledOp>();
  EXPECT_EQ(scaled.getAElemType(), tt::ScaleDotElemType::E2M1);
  EXPECT_EQ(scaled.getBElemType(), tt::ScaleDotElemType::FP16);
  EXPECT_TRUE(scaled.getAScale() && !scaled.getBScale() && scaled.getFastMath());
  EXPECT_EQ(scaled.reductionSize(), 32);
  EXPECT_EQ(only<tt::DotOp>().getInputPrecision(), tt::InputPrecision::TF32);
}

TEST_F(IRBuilderTest, PointersCompareAsIntegers) {
  Type pointers = Type::block(Type::pointer(ScalarKind::FP32), {8});
  Handles args = begin({pointers});
  builder_.compare(CompareKind::ULT, args[0], args[0]);
  end();
  EXPECT_TRUE(verifies()) << messages_ << text();
}

TEST_F(IRBuilderTest, HintsStandOnTheOperation) {
  Handles args = begin({ScalarKind::Int32});
  Handle x = builder_.binary(BinaryKind::AddI, args[0], args[0]);
  builder_.setHint(x, "tt.divisibility", {16});
  builder_.setHint(args[0], "tt.divisibility", {16}); // arguments have no operation
  builder_.setHint(x, "tt.contiguity", {int64_t(3) << 40});
  end();
  EXPECT_TRUE(verifies()) << messages_;
  auto add = only<mlir::arith::AddIOp>();
  auto hint = add->getAttrOfType<mlir::DenseIntElementsAttr>("tt.divisibility");
  ASSERT_TRUE(hint);
  EXPECT_EQ(hint.getValues<int32_t>()[0], 16);
  // What does not fit becomes a weaker hint that still holds.
  EXPECT_EQ(add->getAttrOfType<mlir::DenseIntElementsAttr>("tt.contiguity").getValues<int32_t>()[0], 1 << 30);
}

TEST_F(IRBuilderTest, ReduceFillsItsRegion) {
  Type tile = block(ScalarKind::FP32, {4, 8}), index = block(ScalarKind::Int32, {4, 8});
  Handles args = begin({tile, index});
  auto results =
      builder_.reduce({args[0], args[1]}, 1, {block(ScalarKind::FP32, {4}), block(ScalarKind::Int32, {4})},
                      [&](llvm::ArrayRef<Handle> in) -> std::optional<Handles> {
                        EXPECT_EQ(in.size(), 4u);
                        Handle c = builder_.compare(CompareKind::OGT, in[0], in[2]);
                        return Handles{builder_.select(c, in[0], in[2]), builder_.select(c, in[1], in[3])};
                      });
  ASSERT_TRUE(results);
  EXPECT_EQ(results->size(), 2u);
  auto scanned = builder_.scan({args[1]}, 0, true, [&](llvm::ArrayRef<Handle> in) -> std::optional<Handles> {
    return Handles{builder_.binary(BinaryKind::AddI, in[0], in[1])};
  });
  ASSERT_TRUE(scanned);
  EXPECT_EQ(IRBuilder::toValue((*scanned)[0]).getType(), IRBuilder::toValue(args[1]).getType());
  end();
  EXPECT_TRUE(verifies()) << messages_ << text();
  EXPECT_TRUE(only<tt::ScanOp>().getReverse());
}

TEST_F(IRBuilderTest, FailedCombineLeavesNothing) {
  Handles args = begin({block(ScalarKind::FP32, {8}), ScalarKind::Int1});
  // Fails inside an open `if`.
  auto results = builder_.reduce({args[0]}, 0, {ScalarKind::FP32}, [&](llvm::ArrayRef<Handle>) {
    builder_.beginIf(args[1]);
    return std::optional<Handles>();
  });
  EXPECT_FALSE(results);
  // Drops the region itself.
  results = builder_.reduce({args[0]}, 0, {ScalarKind::FP32}, [&](llvm::ArrayRef<Handle> in) {
    builder_.abandon();
    return std::optional<Handles>(Handles{in[0]});
  });
  EXPECT_FALSE(results);
  end();
  EXPECT_TRUE(verifies()) << messages_ << text();
  EXPECT_THAT(text(), Not(HasSubstr("tt.reduce")));
  EXPECT_THAT(text(), Not(HasSubstr("scf.if")));
}

TEST_F(IRBuilderTest, IfYieldsValues) {
  Handles args = begin({ScalarKind::Int1, ScalarKind::FP32});
  builder_.beginIf(args[0]);
  Handle a = builder_.binary(BinaryKind::AddF, args[1], args[1]);
  builder_.beginElse();
  Handle b = builder_.binary(BinaryKind::MulF, args[1], args[1]);
  Handles results = builder_.endIf({a}, {b}, {ScalarKind::FP32});
  ASSERT_EQ(results.size(), 1u);
  builder_.unary(UnaryKind::Exp, results[0]);
  end();
  EXPECT_TRUE(verifies()) << messages_ << text();
  EXPECT_EQ(only<mlir::scf::IfOp>().getNumResults(), 1u);
}

/// An arm that returned has no values for the names that the other arm bound.
TEST_F(IRBuilderTest, AnArmWithoutValuesYieldsPoison) {
  Type tile = block(ScalarKind::FP32, {16}), flag = ScalarKind::Int1;
  Handles args = begin({flag, tile});
  for (bool inElse : {false, true}) {
    builder_.beginIf(args[0]);
    if (inElse)
      builder_.beginElse();
    const Handles gives = {builder_.binary(BinaryKind::AddF, args[1], args[1]), args[0]};
    const Handles gone = {Handle(), args[0]};
    if (!inElse)
      builder_.beginElse();
    Handles results =
        inElse ? builder_.endIf(gone, gives, {tile, flag}) : builder_.endIf(gives, gone, {tile, flag});
    ASSERT_EQ(results.size(), 2u);
    EXPECT_EQ(IRBuilder::toValue(results[0]).getType(), convertType(tile, context_.get()));
  }
  end();
  EXPECT_TRUE(verifies()) << messages_ << text();
  std::vector<unsigned> arms;
  builder_.module()->walk([&](mlir::ub::PoisonOp op) {
    EXPECT_EQ(op.getType(), convertType(tile, context_.get()));
    arms.push_back(op->getParentRegion()->getRegionNumber());
  });
  EXPECT_EQ(arms, (std::vector<unsigned>{1, 0}));
}

TEST_F(IRBuilderTest, IfWithoutValues) {
  Handles args = begin({ScalarKind::Int1});
  builder_.beginIf(args[0]);
  builder_.barrier();
  builder_.beginElse();
  EXPECT_TRUE(builder_.endIf({}, {}, {}).empty());
  end();
  EXPECT_TRUE(verifies()) << messages_ << text();
  EXPECT_TRUE(only<mlir::scf::IfOp>().getElseRegion().empty());
}

TEST_F(IRBuilderTest, ForCarriesValuesAndHints) {
  Handles args = begin({ScalarKind::Int32, ScalarKind::Int32, ScalarKind::FP32});
  RegionBuilder::ForHints hints;
  hints.numStages = 3;
  hints.unrollFactor = 2;
  hints.flatten = hints.disableLICM = true;
  auto loop = builder_.beginFor(args[0], args[1], builder_.constantInt(ScalarKind::Int32, 1),
                                /*isUnsigned=*/true, {args[2]}, hints);
  ASSERT_EQ(loop.carried.size(), 1u);
  Handle index = builder_.cast(CastKind::UIToFP, loop.induction, ScalarKind::FP32, RoundingKind::Default);
  Handles results = builder_.endFor({builder_.binary(BinaryKind::AddF, loop.carried[0], index)});
  ASSERT_EQ(results.size(), 1u);
  builder_.beginFor(args[0], args[1], args[1], false, {}, {});
  EXPECT_TRUE(builder_.endFor({}).empty());
  builder_.unary(UnaryKind::Exp, results[0]);
  end();
  EXPECT_TRUE(verifies()) << messages_ << text();
  auto op = IRBuilder::toValue(results[0]).getDefiningOp<mlir::scf::ForOp>();
  ASSERT_TRUE(op);
  EXPECT_TRUE(op.getUnsignedCmp());
  EXPECT_EQ(op->getAttrOfType<mlir::IntegerAttr>("tt.num_stages").getInt(), 3);
  EXPECT_EQ(op->getAttrOfType<mlir::IntegerAttr>("tt.loop_unroll_factor").getInt(), 2);
  EXPECT_TRUE(op->hasAttr("tt.flatten"));
  EXPECT_TRUE(op->hasAttr("tt.disable_licm"));
  EXPECT_FALSE(op->hasAttr("tt.warp_specialize"));
}

TEST_F(IRBuilderTest, BoundsFarApartAreCountedIn64Bits) {
  begin({});
  auto constant = [&](int64_t value) {
    return builder_.constantInt(ScalarKind::Int32, static_cast<uint64_t>(value));
  };
  auto width = [&](int64_t lower, int64_t upper, bool isUnsigned) {
    auto loop = builder_.beginFor(constant(lower), constant(upper), constant(1), isUnsigned, {}, {});
    EXPECT_TRUE(IRBuilder::toValue(loop.induction).getType().isInteger(32));
    builder_.barrier();
    auto *parent = IRBuilder::toValue(loop.induction).getParentBlock()->getParentOp();
    builder_.endFor({});
    return llvm::cast<mlir::scf::ForOp>(parent).getInductionVar().getType().getIntOrFloatBitWidth();
  };
  EXPECT_EQ(width(0, INT32_MAX, false), 32u);
  EXPECT_EQ(width(-2, INT32_MAX, false), 64u);
  EXPECT_EQ(width(INT32_MIN, -1, false), 32u);
  EXPECT_EQ(width(1, 0xfffffff0, true), 64u);
  EXPECT_EQ(width(0xffffff00, 0xfffffff0, true), 32u);
  end();
  EXPECT_TRUE(verifies()) << messages_ << text();
}

TEST_F(IRBuilderTest, WhilePassesTheCondition) {
  Handles args = begin({ScalarKind::Int32, ScalarKind::Int32});
  Handles before = builder_.beginWhile({args[0]});
  ASSERT_EQ(before.size(), 1u);
  Handle condition = builder_.compare(CompareKind::SLT, before[0], args[1]);
  Handles body = builder_.beginWhileBody(condition, before);
  ASSERT_EQ(body.size(), 1u);
  Handles results = builder_.endWhile({builder_.binary(BinaryKind::AddI, body[0], body[0])});
  ASSERT_EQ(results.size(), 1u);
  end();
  EXPECT_TRUE(verifies()) << messages_ << text();
  only<mlir::scf::WhileOp>();
}

TEST_F(IRBuilderTest, CalleesNestInTheirCallers) {
  Handles args = begin({ScalarKind::Int1, ScalarKind::Int32});
  builder_.beginIf(args[0]);
  RegionBuilder::FunctionSpec spec;
  spec.name = "callee";
  spec.argTypes = {ScalarKind::Int32};
  spec.noinline = true;
  Handles inner = builder_.beginFunction(spec);
  builder_.endFunction({builder_.binary(BinaryKind::AddI, inner[0], inner[0])}, {ScalarKind::Int32});
  // Back in the caller's `if`.
  Handles results = builder_.call("callee", {args[1]}, {ScalarKind::Int32});
  ASSERT_EQ(results.size(), 1u);
  builder_.beginElse();
  builder_.endIf({}, {}, {});
  end();
  EXPECT_TRUE(verifies()) << messages_ << text();
  auto call = only<tt::CallOp>();
  EXPECT_TRUE(llvm::isa<mlir::scf::IfOp>(call->getParentOp()));
  auto callee = builder_.module().lookupSymbol<tt::FuncOp>("callee");
  ASSERT_TRUE(callee);
  EXPECT_TRUE(callee.isPrivate());
  EXPECT_TRUE(callee.isNoInline());
}

TEST_F(IRBuilderTest, LocationsNameTheLineAndTheCallers) {
  SourceFile file("k.py", "line one\nline two\n  line three\n", /*firstLine=*/10);
  SourceRange one{&file, 0, 4}, two{&file, 9, 13}, three{&file, 20, 24};
  builder_.setLocation(one, {});
  Handles args = begin({ScalarKind::Int32});
  builder_.setLocation(two, {});
  builder_.barrier();
  // An operation of a function that has no tt.func of its own.
  builder_.setLocation(three, {two});
  builder_.barrier();
  // A callee of its own does not repeat how it was reached: the inliner says it for each caller.
  builder_.setLocation(two, {});
  RegionBuilder::FunctionSpec spec;
  spec.name = "callee";
  builder_.beginFunction(spec);
  builder_.setLocation(three, {two});
  builder_.barrier();
  end();
  end();
  std::string printed = text(/*locations=*/true);
  EXPECT_THAT(printed, HasSubstr("tt.barrier loc(\"k.py\":11:1)"));
  EXPECT_THAT(printed, HasSubstr("tt.barrier loc(callsite(\"k.py\":12:3 at \"k.py\":11:1))"));
  EXPECT_THAT(printed, HasSubstr("tt.barrier loc(\"k.py\":12:3)"));
}

TEST_F(IRBuilderTest, AbandonDropsTheInnermostScope) {
  Handles args = begin({ScalarKind::Int1});
  builder_.beginIf(args[0]);
  builder_.barrier();
  builder_.abandon();
  EXPECT_THAT(text(), Not(HasSubstr("tt.barrier")));
  // The function goes on.
  end();
  EXPECT_TRUE(verifies()) << messages_ << text();
  begin({ScalarKind::Int1}, "other");
  builder_.abandon();
  builder_.abandon(); // nothing is open
  EXPECT_FALSE(builder_.module().lookupSymbol("other"));
  EXPECT_TRUE(builder_.module().lookupSymbol("kernel"));
}

TEST_F(IRBuilderTest, MismatchedEndsAreHarmless) {
  EXPECT_TRUE(builder_.endFor({}).empty());
  EXPECT_TRUE(builder_.endIf({}, {}, {}).empty());
  EXPECT_TRUE(builder_.endWhile({}).empty());
  end();
  begin({});
  EXPECT_TRUE(builder_.endFor({}).empty());
  end();
  EXPECT_TRUE(verifies()) << messages_ << text();
}

TEST_F(IRBuilderTest, OpenScopesAreDestroyed) {
  Handles args = begin({ScalarKind::Int1, ScalarKind::Int32});
  builder_.beginFor(args[1], args[1], args[1], false, {args[1]}, {});
  builder_.beginIf(args[0]);
  builder_.beginWhile({args[1]});
  // The destructor of the fixture must not touch what is half built.
}

TEST(ContextTest, ReportsToTheHandlerOnly) {
  std::string message;
  auto context = createContext([&](mlir::Diagnostic &diagnostic) { message = diagnostic.str(); });
  mlir::emitError(mlir::UnknownLoc::get(context.get())) << "a finding";
  EXPECT_EQ(message, "a finding");
  EXPECT_FALSE(context->isMultithreadingEnabled());
}

} // namespace
