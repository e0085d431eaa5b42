//===- ConstantTest.cpp - Python constants --------------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "MockBuilder.h"

#include <cmath>

using namespace despina;
using namespace despina::test;

namespace {

struct PythonCase {
  const char *op, *left, *right, *expected;
};
const PythonCase pythonCases[] = {
#include "PythonCases.inc"
};

struct FloatCase {
  double value;
  const char *expected;
};
const FloatCase floatCases[] = {
#include "FloatReprs.inc"
};

/// Reads the literals that PythonCases.inc uses.
Constant parse(llvm::StringRef text) {
  if (text == "True" || text == "False")
    return text == "True";
  if (text == "None")
    return Constant();
  if (text == "inf" || text == "-inf")
    return text == "inf" ? HUGE_VAL : -HUGE_VAL;
  if (text == "nan")
    return std::nan("");
  if (text.consume_front("'"))
    return text.drop_back().str();
  if (text.contains('.') || text.contains('e'))
    return std::strtod(text.str().c_str(), nullptr);
  llvm::APInt value(512, text, 10);
  return llvm::DynamicAPInt(value);
}

template <typename Operator>
Operator find(llvm::StringRef text, std::initializer_list<const char *> symbols) {
  return static_cast<Operator>(std::find(symbols.begin(), symbols.end(), text) - symbols.begin());
}

class ConstantTest : public SemanticTest {
protected:
  std::string evaluate(const PythonCase &c) {
    Value lhs = number(parse(c.left));
    llvm::StringRef op = c.op;
    Value result;
    if (!*c.right) {
      result = semantic.unaryOperator(find<ast::UnaryOperator>(op, {"+", "-", "not", "~"}), lhs);
    } else {
      Value rhs = number(parse(c.right));
      auto compare = find<ast::CompareOperator>(op, {"==", "!=", "<", "<=", ">", ">="});
      result =
          compare <= ast::CompareOperator::GtE
              ? semantic.compareOperator(compare, lhs, rhs)
              : semantic.binaryOperator(find<ast::BinaryOperator>(op, {"+", "-", "*", "/", "//", "%", "**",
                                                                       "<<", ">>", "&", "|", "^", "@"}),
                                        lhs, rhs);
    }
    std::string error = takeError();
    return result ? result.constant().repr() : error;
  }
};

TEST_F(ConstantTest, AgreesWithPython) {
  for (const PythonCase &c : pythonCases)
    EXPECT_EQ(evaluate(c), c.expected) << c.left << " " << c.op << " " << c.right;
}

TEST_F(ConstantTest, FloatsPrintAsInPython) {
  for (const FloatCase &c : floatCases)
    EXPECT_EQ(Constant(c.value).repr(), c.expected);
}

TEST_F(ConstantTest, SizesAreLimited) {
  Value two = number(2), big = number(70000);
  EXPECT_FALSE(semantic.binaryOperator(ast::BinaryOperator::Pow, two, big));
  EXPECT_EQ(takeError(),
            "OverflowError: integer is too large: constants of a kernel have at most 65536 bits");
  EXPECT_FALSE(semantic.binaryOperator(ast::BinaryOperator::LShift, two, big));
  EXPECT_EQ(takeError(),
            "OverflowError: integer is too large: constants of a kernel have at most 65536 bits");
  Value half = semantic.binaryOperator(ast::BinaryOperator::LShift, number(1), number(40000));
  ASSERT_TRUE(half);
  EXPECT_FALSE(semantic.binaryOperator(ast::BinaryOperator::Mult, half, half));
  EXPECT_EQ(takeError(),
            "OverflowError: integer is too large: constants of a kernel have at most 65536 bits");
  Value text = number("abc"), huge = number(int64_t(1) << 40);
  EXPECT_FALSE(semantic.binaryOperator(ast::BinaryOperator::Mult, text, huge));
  EXPECT_EQ(takeError(), "OverflowError: repeated string is too long");
}

TEST_F(ConstantTest, Conversions) {
  auto convert = [&](const char *function, Constant c) {
    return typeOrError(call(function, {number(std::move(c))}));
  };
  EXPECT_EQ(convert("builtins.int", 3.99), "3");
  EXPECT_EQ(convert("builtins.int", -3.99), "-3");
  EXPECT_EQ(convert("builtins.int", true), "1");
  EXPECT_EQ(convert("builtins.int", " 42 "), "42");
  EXPECT_EQ(convert("builtins.int", 1e22), "10000000000000000000000");
  EXPECT_EQ(convert("builtins.int", "x"), "ValueError: invalid literal for int() with base 10: 'x'");
  EXPECT_EQ(convert("builtins.int", std::nan("")), "ValueError: cannot convert float NaN to integer");
  EXPECT_EQ(convert("builtins.int", HUGE_VAL), "OverflowError: cannot convert float infinity to integer");
  EXPECT_EQ(convert("builtins.float", "inf"), "inf");
  EXPECT_EQ(convert("builtins.float", "-Infinity"), "-inf");
  EXPECT_EQ(convert("builtins.float", "nan"), "nan");
  EXPECT_EQ(convert("builtins.float", "1e-3"), "0.001");
  EXPECT_EQ(convert("builtins.float", 3), "3.0");
  EXPECT_EQ(convert("builtins.float", "1x"), "ValueError: could not convert string to float: '1x'");
  EXPECT_EQ(convert("builtins.float", "--1"), "ValueError: could not convert string to float: '--1'");
}

TEST_F(ConstantTest, IdentityIsStricterThanEquality) {
  EXPECT_FALSE(Constant(1).identical(Constant(true)));
  EXPECT_FALSE(Constant(1).identical(Constant(1.0)));
  EXPECT_FALSE(Constant(0.0).identical(Constant(-0.0)));
  EXPECT_TRUE(Constant(std::nan("")).identical(Constant(std::nan(""))));
  EXPECT_TRUE(Constant("a").identical(Constant("a")));
  EXPECT_TRUE(Constant().identical(Constant()));
  EXPECT_FALSE(Constant().identical(Constant::ellipsis()));
}

TEST_F(ConstantTest, StringsAreQuotedAsInPython) {
  EXPECT_EQ(Constant("it's").repr(), "\"it's\"");
  EXPECT_EQ(Constant("a\"b'c").repr(), "'a\"b\\'c'");
  EXPECT_EQ(Constant("a\n\t\\\x01").repr(), "'a\\n\\t\\\\\\x01'");
}

} // namespace
