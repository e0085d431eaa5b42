//===- PromotionTest.cpp - The type of every operator on every pair -------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "MockBuilder.h"

#include "llvm/ADT/Twine.h"

#include <cmath>

using namespace despina;
using namespace despina::test;
using ast::BinaryOperator;
using ast::CompareOperator;

namespace {

struct Row {
  const char *left, *right, *plain, *division;
};
const Row rows[] = {
#include "PromotionTable.inc"
};

class PromotionTest : public SemanticTest {
protected:
  static std::optional<Constant> literal(llvm::StringRef text) {
    if (text == "True")
      return Constant(true);
    if (text == "1" || text == "5000000000")
      return Constant(text == "1" ? int64_t(1) : int64_t(5000000000));
    if (text == "1.5" || text == "1e300")
      return Constant(text == "1.5" ? 1.5 : 1e300);
    return std::nullopt;
  }
  /// A tensor of the named type or the literal.
  Value operand(llvm::StringRef text, bool asBlock) {
    if (std::optional<Constant> constant = literal(text))
      return number(*constant);
    Type scalar(*scalarByName(text));
    return tensor(asBlock ? Type::block(scalar, {8}) : scalar);
  }
  static std::string literalType(llvm::StringRef text) {
    return text == "True"         ? "int1"
           : text == "1"          ? "int32"
           : text == "5000000000" ? "int64"
           : text == "1.5"        ? "fp32"
           : text == "1e300"      ? "fp64"
                                  : text.str();
  }
  std::string expectedError(const Row &row, llvm::StringRef code, bool swapped) {
    std::string a = literalType(swapped ? row.right : row.left),
                b = literalType(swapped ? row.left : row.right);
    if (code == "E:type")
      return "TypeError: unexpected type " + a + " and " + b;
    if (code == "E:sign")
      return "TypeError: Cannot use /, #, or % with " + a + " and " + b +
             " because they have different signedness;this is unlikely to result in a useful answer. Cast "
             "them to the "
             "same signedness.";
    return std::string("ValueError: Scalar ") + row.right + " is out of range for type " + row.left;
  }
  std::string expected(BinaryOperator op, const Row &row, bool swapped) {
    bool divides = op == BinaryOperator::Div || op == BinaryOperator::FloorDiv || op == BinaryOperator::Mod;
    std::string a = literalType(row.left), b = literalType(row.right);
    auto isFloat = [](llvm::StringRef name) { return name.contains("fp") || name == "bf16"; };
    if (op >= BinaryOperator::LShift && (isFloat(a) || isFloat(b))) {
      auto repr = [](const std::string &name) {
        return std::string("triton.language.") + scalarInfo(*scalarByName(name)).publicName;
      };
      return "TypeError: invalid operands of type " + repr(swapped ? b : a) + " and " + repr(swapped ? a : b);
    }
    llvm::StringRef type = divides ? row.division : row.plain;
    if (type.starts_with("E:"))
      return expectedError(row, type, swapped);
    if (op == BinaryOperator::FloorDiv && isFloat(type))
      return ("TypeError: unexpected type " + type).str();
    if (op == BinaryOperator::Div && !isFloat(type))
      return "fp32";
    return type.str();
  }
};

TEST_F(PromotionTest, EveryPairAndOperator) {
  size_t checked = 0;
  for (const Row &row : rows)
    for (int op = 0; op < int(BinaryOperator::MatMult); ++op)
      for (bool swapped : {false, true})
        for (bool asBlock : {false, true}) {
          auto binary = static_cast<BinaryOperator>(op);
          if (binary == BinaryOperator::Pow)
            continue;
          Value lhs = operand(swapped ? row.right : row.left, asBlock);
          Value rhs = operand(swapped ? row.left : row.right, asBlock);
          std::string want = expected(binary, row, swapped);
          std::string got = typeOrError(semantic.binaryOperator(binary, lhs, rhs));
          if (asBlock && want.find("Error") == std::string::npos)
            want += "[8]";
          EXPECT_EQ(got, want) << lhs.str() << " operator " << op << " " << rhs.str();
          ++checked;
        }
  EXPECT_EQ(checked, (15 * 15 + 15 * 5) * 11u * 4);
}

TEST_F(PromotionTest, ComparisonsTakeTheLiteralsOwnType) {
  // {tensor, literal, type both are compared in, operation}
  struct Case {
    const char *left, *right, *kind, *type;
  };
  for (const Case &c : {Case{"fp16", "1.5", "OLT", "fp32"}, Case{"uint8", "5000000000", "SLT", "int64"},
                        Case{"uint8", "1", "SLT", "int32"}, Case{"uint32", "1", "ULT", "uint32"},
                        Case{"int8", "int8", "SLT", "int8"}, Case{"int1", "int1", "ULT", "int1"},
                        Case{"int64", "uint32", "SLT", "int64"}, Case{"fp64", "fp32", "OLT", "fp64"}}) {
    builder.clear();
    Value result =
        semantic.compareOperator(CompareOperator::Lt, operand(c.left, false), operand(c.right, false));
    EXPECT_EQ(typeOrError(result), "int1") << c.left << " " << c.right;
    EXPECT_TRUE(builder.logged(std::string(c.kind) + " : int1")) << builder.joinedLog();
  }
  builder.clear();
  semantic.compareOperator(CompareOperator::NotEq, operand("fp32", false), operand("fp32", false));
  EXPECT_TRUE(builder.logged("UNE : int1"));
}

TEST_F(PromotionTest, NegativeScalarsWithUnsignedTensors) {
  Value x = block(ScalarKind::UInt32, {8});
  EXPECT_EQ(typeOrError(semantic.binaryOperator(BinaryOperator::Add, x, number(-1))),
            "ValueError: Cannot perform a binary operation between an unsigned tensor and a negative scalar. "
            "Perform a "
            "explicit cast on one of them.");
  EXPECT_EQ(
      typeOrError(semantic.binaryOperator(BinaryOperator::Mult, block(ScalarKind::Int8, {8}), number(128))),
      "ValueError: Scalar 128 is out of range for type int8");
  EXPECT_EQ(
      typeOrError(semantic.binaryOperator(BinaryOperator::Mult, block(ScalarKind::Int8, {8}), number(-128))),
      "int8[8]");
}

TEST_F(PromotionTest, KindsOfDivision) {
  struct Case {
    BinaryOperator op;
    ScalarKind type;
    const char *operation;
  };
  for (const Case &c : {Case{BinaryOperator::FloorDiv, ScalarKind::Int32, "DivSI : int32"},
                        Case{BinaryOperator::FloorDiv, ScalarKind::UInt32, "DivUI : uint32"},
                        Case{BinaryOperator::Mod, ScalarKind::Int32, "RemSI : int32"},
                        Case{BinaryOperator::Mod, ScalarKind::UInt8, "RemUI : uint8"},
                        Case{BinaryOperator::Mod, ScalarKind::FP32, "RemF : fp32"},
                        Case{BinaryOperator::Div, ScalarKind::Int32, "DivF : fp32"},
                        Case{BinaryOperator::RShift, ScalarKind::Int32, "ShrSI : int32"},
                        Case{BinaryOperator::RShift, ScalarKind::UInt32, "ShrUI : uint32"}}) {
    builder.clear();
    semantic.binaryOperator(c.op, tensor(c.type), tensor(c.type));
    EXPECT_TRUE(builder.logged(c.operation)) << builder.joinedLog();
  }
  // The left operand decides, not the common type.
  builder.clear();
  semantic.binaryOperator(BinaryOperator::RShift, tensor(ScalarKind::UInt8), tensor(ScalarKind::Int32));
  EXPECT_TRUE(builder.logged("ShrUI : int32")) << builder.joinedLog();
  builder.clear();
  semantic.binaryOperator(BinaryOperator::RShift, tensor(ScalarKind::Int32), tensor(ScalarKind::UInt32));
  EXPECT_TRUE(builder.logged("ShrSI : int32")) << builder.joinedLog();
}

TEST_F(PromotionTest, Pointers) {
  Value p = pointer(ScalarKind::FP32), blocks = pointer(ScalarKind::FP32, {8});
  auto add = [&](const Value &a, const Value &b) {
    builder.clear();
    return typeOrError(semantic.binaryOperator(BinaryOperator::Add, a, b));
  };
  EXPECT_EQ(add(p, block(ScalarKind::Int32, {8})), "pointer<fp32>[8]");
  EXPECT_TRUE(builder.logged("addptr int32 : <[8], pointer<fp32>>"));
  EXPECT_EQ(add(block(ScalarKind::UInt32, {8}), p), "pointer<fp32>[8]");
  EXPECT_TRUE(builder.logged("ExtUI : <[8], int64>"));
  EXPECT_EQ(add(p, number(5)), "pointer<fp32>");
  EXPECT_EQ(add(number(5), blocks), "pointer<fp32>[8]");
  EXPECT_EQ(add(p, p), "TypeError: cannot add pointers together");
  EXPECT_EQ(add(p, number(1.5)),
            "TypeError: invalid operands of type pointer<fp32> and triton.language.float32");
  EXPECT_EQ(typeOrError(semantic.binaryOperator(BinaryOperator::Sub, p, tensor(ScalarKind::Int64))),
            "pointer<fp32>");
  EXPECT_EQ(typeOrError(semantic.binaryOperator(BinaryOperator::Sub, p, p)),
            "TypeError: invalid operands of type pointer<fp32> and pointer<fp32>");
  EXPECT_EQ(typeOrError(semantic.binaryOperator(BinaryOperator::Mult, p, number(2))),
            "TypeError: invalid operands of type pointer<fp32> and triton.language.int32");
  EXPECT_EQ(typeOrError(semantic.compareOperator(CompareOperator::Eq, p, p)),
            "TypeError: invalid operands of type pointer<fp32> and pointer<fp32>");
  // A narrow unsigned offset is widened before it is negated.
  builder.clear();
  semantic.binaryOperator(BinaryOperator::Sub, p, tensor(ScalarKind::UInt8));
  EXPECT_EQ(builder.log()[0], "ExtUI : int64");
}

TEST_F(PromotionTest, LiteralTypes) {
  auto type = [&](Constant c) { return typeOrError(semantic.toTensor(number(std::move(c)))); };
  EXPECT_EQ(type(true), "int1");
  EXPECT_EQ(type(int64_t(-2147483648LL)), "int32");
  EXPECT_EQ(type(int64_t(2147483648LL)), "uint32");
  EXPECT_EQ(type(int64_t(4294967296LL)), "int64");
  EXPECT_EQ(type(llvm::DynamicAPInt(llvm::APInt::getOneBitSet(66, 63))), "uint64");
  EXPECT_EQ(type(llvm::DynamicAPInt(llvm::APInt::getOneBitSet(66, 64))),
            "ValueError: Nonrepresentable integer 18446744073709551616.");
  EXPECT_EQ(type(0.0), "fp32");
  EXPECT_EQ(type(HUGE_VAL), "fp32");
  EXPECT_EQ(type(1e-38), "fp64");
  EXPECT_EQ(type(1.1754943508222875e-38), "fp32");
  EXPECT_EQ(type(1e39), "fp64");
  EXPECT_EQ(type("abc"), "TypeError: cannot convert abc of type <class 'str'> to tensor");
  EXPECT_EQ(type(Constant()), "TypeError: cannot convert None of type <class 'NoneType'> to tensor");
  EXPECT_FALSE(semantic.toTensor(number("abc"), /*quiet=*/true));
  EXPECT_EQ(takeError(), "");
}

} // namespace
