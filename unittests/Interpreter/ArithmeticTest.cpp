//===- ArithmeticTest.cpp - Element-wise operations against references ----===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "Tiles.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APSInt.h"

#include <cmath>

using namespace despina;
using namespace despina::interpreter;
using namespace despina::interpreter::test;

namespace {

constexpr int64_t count = 256;
constexpr ScalarKind integers[] = {ScalarKind::Int8, ScalarKind::Int16, ScalarKind::Int32, ScalarKind::Int64};
constexpr ScalarKind floats[] = {ScalarKind::FP16, ScalarKind::BF16, ScalarKind::FP32, ScalarKind::FP64};
constexpr ScalarKind smallFloats[] = {ScalarKind::FP8E4NV, ScalarKind::FP8E4B8, ScalarKind::FP8E5,
                                      ScalarKind::FP8E5B16};

/// The rules of integers, in arithmetic that is wide enough to be right by itself.
llvm::APInt expectedInteger(BinaryKind kind, const llvm::APInt &x, const llvm::APInt &y) {
  unsigned width = x.getBitWidth();
  llvm::APInt zero(width, 0);
  bool far = y.uge(width);
  switch (kind) {
  case BinaryKind::AddI: return x + y;
  case BinaryKind::SubI: return x - y;
  case BinaryKind::MulI: return x * y;
  case BinaryKind::DivSI: return y.isZero() ? x : x.sdiv(y);
  case BinaryKind::DivUI: return y.isZero() ? x : x.udiv(y);
  case BinaryKind::RemSI: return y.isZero() ? zero : x.srem(y);
  case BinaryKind::RemUI: return y.isZero() ? zero : x.urem(y);
  case BinaryKind::AndI: return x & y;
  case BinaryKind::OrI: return x | y;
  case BinaryKind::XorI: return x ^ y;
  case BinaryKind::ShlI: return far ? zero : x.shl(y);
  case BinaryKind::ShrSI: return far ? (x.isNegative() ? ~zero : zero) : x.ashr(y);
  case BinaryKind::ShrUI: return far ? zero : x.lshr(y);
  case BinaryKind::MinSI: return llvm::APIntOps::smin(x, y);
  case BinaryKind::MaxSI: return llvm::APIntOps::smax(x, y);
  case BinaryKind::MinUI: return llvm::APIntOps::umin(x, y);
  case BinaryKind::MaxUI: return llvm::APIntOps::umax(x, y);
  case BinaryKind::MulHiUI: return llvm::APIntOps::mulhu(x, y);
  default: return zero;
  }
}

TEST(ArithmeticTest, IntegersOfAllWidths) {
  Random random;
  for (ScalarKind type : integers)
    for (unsigned k = 0; k <= unsigned(BinaryKind::MulHiUI); ++k) {
      auto kind = static_cast<BinaryKind>(k);
      TileRef x = randomTile(random, type, {count}), y = randomTile(random, type, {count});
      TileRef result = computeBinary(kind, *x, *y);
      unsigned width = 8 * bytesOf(x->storage);
      for (int64_t i = 0; i < count; ++i) {
        llvm::APInt a(width, bitsAt(*x, i)), b(width, bitsAt(*y, i));
        ASSERT_EQ(bitsAt(*result, i), expectedInteger(kind, a, b).getZExtValue())
            << "kind " << k << " of " << bitsAt(*x, i) << " and " << bitsAt(*y, i) << " with " << width
            << " bits";
      }
    }
}

TEST(ArithmeticTest, TruthValuesAreIntegersOfOneBit) {
  for (unsigned k = 0; k <= unsigned(BinaryKind::MaxUI); ++k)
    for (uint8_t a : {0, 1})
      for (uint8_t b : {0, 1}) {
        auto kind = static_cast<BinaryKind>(k);
        TileRef x = tileOfValues<uint8_t>(ScalarKind::Int1, {}, {a}),
                y = tileOfValues<uint8_t>(ScalarKind::Int1, {}, {b});
        EXPECT_EQ(bitsAt(*computeBinary(kind, *x, *y), 0),
                  expectedInteger(kind, llvm::APInt(1, a), llvm::APInt(1, b)).getZExtValue())
            << "kind " << k << " of " << int(a) << " and " << int(b);
      }
}

TEST(ArithmeticTest, IntegerComparisons) {
  Random random;
  for (ScalarKind type : integers) {
    TileRef x = randomTile(random, type, {count}), y = randomTile(random, type, {count});
    for (unsigned k = 0; k <= unsigned(CompareKind::UGE); ++k) {
      TileRef result = computeCompare(static_cast<CompareKind>(k), *x, *y);
      for (int64_t i = 0; i < count; ++i) {
        int64_t a = integerAt(*x, i), b = integerAt(*y, i);
        uint64_t ua = bitsAt(*x, i), ub = bitsAt(*y, i);
        const bool expected[] = {a == b,  a != b, a<b, a <= b, a> b, a >= b, ua<ub, ua <= ub, ua> ub,
                                 ua >= ub};
        ASSERT_EQ(bitsAt(*result, i), uint64_t(expected[k])) << "kind " << k << ": " << a << ", " << b;
      }
    }
  }
}

const llvm::fltSemantics &semanticsOf(ScalarKind kind) {
  switch (kind) {
  case ScalarKind::FP8E4NV: return llvm::APFloat::Float8E4M3FN();
  case ScalarKind::FP8E4B8: return llvm::APFloat::Float8E4M3FNUZ();
  case ScalarKind::FP8E5: return llvm::APFloat::Float8E5M2();
  case ScalarKind::FP8E5B16: return llvm::APFloat::Float8E5M2FNUZ();
  case ScalarKind::FP16: return llvm::APFloat::IEEEhalf();
  case ScalarKind::BF16: return llvm::APFloat::BFloat();
  case ScalarKind::FP32: return llvm::APFloat::IEEEsingle();
  default: return llvm::APFloat::IEEEdouble();
  }
}

llvm::APFloat floatAt(const Tile &tile, int64_t i) {
  return {semanticsOf(tile.element.scalarKind()), llvm::APInt(8 * bytesOf(tile.storage), bitsAt(tile, i))};
}

/// What a conversion gives: one rounding, and fp8 saturates.
llvm::APFloat converted(llvm::APFloat x, ScalarKind to, bool towardZero) {
  const llvm::fltSemantics &semantics = semanticsOf(to);
  bool isSmall = Type(to).isFP8(), negative = x.isNegative();
  llvm::APFloat largest = llvm::APFloat::getLargest(semantics, negative);
  if (isSmall && x.isInfinity())
    return largest;
  bool lost = false;
  llvm::APFloat result = x;
  result.convert(semantics, towardZero ? llvm::APFloat::rmTowardZero : llvm::APFloat::rmNearestTiesToEven,
                 &lost);
  if (isSmall && !x.isNaN() && (result.isNaN() || result.isInfinity()))
    return largest;
  return result;
}

void expectSame(const llvm::APFloat &expected, const llvm::APFloat &got, const std::string &what) {
  if (expected.isNaN())
    ASSERT_TRUE(got.isNaN()) << what;
  else
    ASSERT_TRUE(expected.bitwiseIsEqual(got))
        << what << ": expected " << expected.convertToDouble() << ", got " << got.convertToDouble();
}

TEST(ArithmeticTest, ConversionsBetweenFloatsRoundOnce) {
  Random random;
  std::vector<ScalarKind> all(std::begin(floats), std::end(floats));
  all.insert(all.end(), std::begin(smallFloats), std::end(smallFloats));
  for (ScalarKind from : all)
    for (ScalarKind to : all)
      for (RoundingKind rounding : {RoundingKind::RTNE, RoundingKind::RTZ}) {
        TileRef x = randomTile(random, from, {count});
        TileRef result = computeCast(CastKind::FPToFP, *x, Type::block(to, {count}), rounding);
        for (int64_t i = 0; i < count; ++i) {
          llvm::APFloat source = floatAt(*x, i);
          expectSame(converted(source, to, rounding == RoundingKind::RTZ), floatAt(*result, i),
                     Type(from).str() + " to " + Type(to).str() + " of " +
                         std::to_string(source.convertToDouble()));
        }
      }
}

TEST(ArithmeticTest, IntegersToFloatsRoundOnce) {
  Random random;
  for (ScalarKind from : integers)
    for (ScalarKind to : floats)
      for (bool isSigned : {false, true}) {
        TileRef x = randomTile(random, from, {count});
        TileRef result = computeCast(isSigned ? CastKind::SIToFP : CastKind::UIToFP, *x,
                                     Type::block(to, {count}), RoundingKind::Default);
        for (int64_t i = 0; i < count; ++i) {
          llvm::APFloat expected(semanticsOf(to));
          expected.convertFromAPInt(llvm::APInt(8 * bytesOf(x->storage), bitsAt(*x, i)), isSigned,
                                    llvm::APFloat::rmNearestTiesToEven);
          expectSame(expected, floatAt(*result, i),
                     std::to_string(integerAt(*x, i)) + " to " + Type(to).str());
        }
      }
}

TEST(ArithmeticTest, FloatsToIntegersSaturate) {
  Random random;
  for (ScalarKind from : floats)
    for (ScalarKind to : integers)
      for (bool isSigned : {false, true}) {
        TileRef x = randomTile(random, from, {count});
        TileRef result = computeCast(isSigned ? CastKind::FPToSI : CastKind::FPToUI, *x,
                                     Type::block(to, {count}), RoundingKind::Default);
        for (int64_t i = 0; i < count; ++i) {
          llvm::APSInt expected(8 * bytesOf(result->storage), !isSigned);
          bool exact = false;
          llvm::APFloat source = floatAt(*x, i);
          source.convertToInteger(expected, llvm::APFloat::rmTowardZero, &exact); // saturates; NaN gives 0
          ASSERT_EQ(bitsAt(*result, i), expected.getZExtValue()) << source.convertToDouble();
        }
      }
}

TEST(ArithmeticTest, SumsProductsAndQuotientsAreCorrectlyRounded) {
  Random random;
  for (ScalarKind type : floats)
    for (BinaryKind kind : {BinaryKind::AddF, BinaryKind::SubF, BinaryKind::MulF, BinaryKind::DivF}) {
      TileRef x = randomTile(random, type, {count}), y = randomTile(random, type, {count});
      TileRef result = computeBinary(kind, *x, *y);
      for (int64_t i = 0; i < count; ++i) {
        llvm::APFloat expected = floatAt(*x, i), y1 = floatAt(*y, i);
        auto mode = llvm::APFloat::rmNearestTiesToEven;
        if (kind == BinaryKind::AddF)
          expected.add(y1, mode);
        else if (kind == BinaryKind::SubF)
          expected.subtract(y1, mode);
        else if (kind == BinaryKind::MulF)
          expected.multiply(y1, mode);
        else
          expected.divide(y1, mode);
        expectSame(expected, floatAt(*result, i),
                   Type(type).str() + " kind " + std::to_string(unsigned(kind)));
      }
    }
}

TEST(ArithmeticTest, MinimaAndMaximaTreatNaNAsTheySay) {
  const float nan = std::nanf(""), values[] = {nan, -1, -0.0f, 0, 2, INFINITY};
  for (float a : values)
    for (float b : values) {
      TileRef x = tileOfValues<float>(ScalarKind::FP32, {}, {a}),
              y = tileOfValues<float>(ScalarKind::FP32, {}, {b});
      auto compute = [&](BinaryKind kind) { return float(realAt(*computeBinary(kind, *x, *y), 0)); };
      bool anyNaN = std::isnan(a) || std::isnan(b), bothNaN = std::isnan(a) && std::isnan(b);
      EXPECT_EQ(std::isnan(compute(BinaryKind::MinimumF)), anyNaN);
      EXPECT_EQ(std::isnan(compute(BinaryKind::MaxNumF)), bothNaN);
      if (!bothNaN) {
        EXPECT_EQ(compute(BinaryKind::MinNumF), std::fmin(a, b));
        EXPECT_EQ(compute(BinaryKind::MaxNumF), std::fmax(a, b));
      }
      if (!anyNaN)
        EXPECT_EQ(compute(BinaryKind::MaximumF), std::fmax(a, b));
    }
}

TEST(ArithmeticTest, SelectTakesFromWhereTheConditionSays) {
  Random random;
  for (ScalarKind type : integers) {
    TileRef condition = randomTile(random, ScalarKind::Int1, {count});
    TileRef x = randomTile(random, type, {count}), y = randomTile(random, type, {count});
    TileRef result = computeSelect(*condition, *x, *y);
    for (int64_t i = 0; i < count; ++i)
      ASSERT_EQ(bitsAt(*result, i), bitsAt(bitsAt(*condition, i) ? *x : *y, i));
  }
}

TEST(ArithmeticTest, FMARoundsOnce) {
  TileRef x = tileOfValues<float>(ScalarKind::FP32, {}, {1 + 0x1p-12f});
  TileRef z = tileOfValues<float>(ScalarKind::FP32, {}, {-1 - 0x1p-11f});
  EXPECT_EQ(realAt(*computeFMA(*x, *x, *z), 0), 0x1p-24);
}

} // namespace
