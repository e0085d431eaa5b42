//===- ParserLimitsTest.cpp - Deep and large inputs -----------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Every case runs on a thread with a stack of 512 KB, which is what parseModule promises to be content with,
// also under AddressSanitizer.
//
//===----------------------------------------------------------------------===//
#include "ParserTestUtils.h"

#include <cstring>
#include <functional>

#include <pthread.h>

namespace despina::test {
namespace {

constexpr size_t smallStack = 512 * 1024;

void onSmallStack(const std::function<void()> &body) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, smallStack), 0);
  pthread_t thread;
  auto run = [](void *argument) -> void * {
    (*static_cast<const std::function<void()> *>(argument))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, const_cast<std::function<void()> *>(&body)), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

std::string repeat(const std::string &text, size_t count) {
  std::string result;
  result.reserve(text.size() * count);
  for (size_t i = 0; i < count; ++i)
    result += text;
  return result;
}

std::string errorOnSmallStack(std::string text) {
  std::string error;
  onSmallStack([&] { error = parseError(std::move(text)); });
  return error;
}

/// Message only.
std::string messageOnSmallStack(std::string text) {
  std::string error = errorOnSmallStack(std::move(text));
  size_t at = error.find(": ");
  return at == std::string::npos ? error : error.substr(at + 2);
}

const char *const tooDeep = "the code is nested too deeply (more than 1000 levels)";

TEST(ParserLimits, Brackets) {
  for (const char *pair : {"()", "[]", "{}"}) {
    std::string open(1, pair[0]), close(1, pair[1]);
    SCOPED_TRACE(pair);
    EXPECT_EQ(errorOnSmallStack("x = " + repeat(open, 200) + "1" + repeat(close, 200)), "(none)");
    EXPECT_EQ(errorOnSmallStack("x = " + repeat(open, 201) + "1" + repeat(close, 201)),
              "1:204: too many nested parentheses");
    EXPECT_EQ(messageOnSmallStack("x = " + repeat(open, 10000)), "too many nested parentheses");
  }
}

/// Each of these recurses through a different function.
TEST(ParserLimits, BracketsOfEveryKind) {
  struct Case {
    const char *open, *close;
    unsigned brackets; ///< opened by each repetition
  };
  const Case cases[] = {
      {"f(", ")", 1},
      {"f(a, *", ")", 1},
      {"f(k=", ")", 1},
      {"f(**", ")", 1},
      {"a[", "]", 1},
      {"a[1:", "]", 1},
      {"a[::", "]", 1},
      {"a[0, ", "]", 1},
      {"(1, ", ")", 1},
      {"[1, *", "]", 1},
      {"{1: ", "}", 1},
      {"{**", "}", 1},
      {"{1, ", "}", 1},
      {"[x for x in [", "]]", 2},
      {"[", " for x in y]", 1},
      {"{x: [", "] for x in y}", 2},
      {"(a if b else (", "))", 2},
      {"(lambda x=(", "): x)", 2},
      {"(x := (", "))", 2},
      {"(not -(", "))", 2},
      {"(a < b + (", "))", 2},
      {"f(x for x in (", "))", 2},
      {"(a)(", ")", 1},
      {"f(a, b[c, (", ")])", 3},
      {"(await (", "))", 2},
  };
  for (const Case &each : cases) {
    SCOPED_TRACE(each.open);
    unsigned fit = 200 / each.brackets;
    EXPECT_EQ(errorOnSmallStack("x = " + repeat(each.open, fit) + "y" + repeat(each.close, fit)), "(none)");
    EXPECT_EQ(messageOnSmallStack("x = " + repeat(each.open, fit + 1) + "y" + repeat(each.close, fit + 1)),
              "too many nested parentheses");
  }
}

TEST(ParserLimits, FStrings) {
  // Each level opens two things: the string and the field.
  auto nested = [](size_t levels) { return repeat("f\"{", levels) + "1" + repeat("}\"", levels); };
  EXPECT_EQ(errorOnSmallStack(nested(100)), "(none)");
  EXPECT_EQ(messageOnSmallStack(nested(101)), "too many nested parentheses");
  auto specs = [](size_t levels) { return "f\"" + repeat("{a:", levels) + repeat("}", levels) + "\""; };
  EXPECT_EQ(errorOnSmallStack(specs(199)), "(none)");
  EXPECT_EQ(messageOnSmallStack(specs(200)), "too many nested parentheses");
}

TEST(ParserLimits, Indentation) {
  auto blocks = [](const std::string &header, size_t levels) {
    std::string text;
    for (size_t i = 0; i < levels; ++i)
      text += std::string(i, ' ') + header + ":\n";
    return text + std::string(levels, ' ') + "pass\n";
  };
  for (const char *header :
       {"if x", "while x", "for x in y", "with x", "def f()", "class C", "async def f()"}) {
    SCOPED_TRACE(header);
    EXPECT_EQ(errorOnSmallStack(blocks(header, 100)), "(none)");
    EXPECT_EQ(messageOnSmallStack(blocks(header, 101)), "too many levels of indentation");
  }
  EXPECT_EQ(messageOnSmallStack(blocks("if x", 3000)), "too many levels of indentation");
}

TEST(ParserLimits, BlocksOfEveryKind) {
  std::string text;
  for (size_t i = 0; i < 100; ++i)
    text += std::string(i, ' ') + "try:\n";
  text += std::string(100, ' ') + "pass\n";
  for (size_t i = 100; i-- > 0;)
    text += std::string(i, ' ') + "finally: pass\n";
  EXPECT_EQ(errorOnSmallStack(text), "(none)");
  text.clear();
  for (size_t i = 0; i < 100; i += 2)
    text += std::string(i, ' ') + "match x:\n" + std::string(i + 1, ' ') + "case y:\n";
  text += std::string(100, ' ') + "pass\n";
  EXPECT_EQ(errorOnSmallStack(text), "(none)");
}

TEST(ParserLimits, BracketsInsideBlocks) {
  std::string text;
  for (size_t i = 0; i < 100; ++i)
    text += std::string(i, ' ') + "if x:\n";
  text += std::string(100, ' ') + repeat("f(a, k=", 200) + "1" + repeat(")", 200);
  EXPECT_EQ(errorOnSmallStack(text), "(none)");
}

TEST(ParserLimits, UnaryOperators) {
  for (const char *op : {"-", "+", "~", "not ", "lambda: ", "a if b else "}) {
    SCOPED_TRACE(op);
    // The statement and the operand are levels too.
    EXPECT_EQ(errorOnSmallStack("x = " + repeat(op, 998) + "y"), "(none)");
    EXPECT_EQ(messageOnSmallStack("x = " + repeat(op, 999) + "y"), tooDeep);
    EXPECT_EQ(messageOnSmallStack("x = " + repeat(op, 10000) + "y"), tooDeep);
    EXPECT_EQ(messageOnSmallStack("x = " + repeat(op, 10000)), tooDeep);
  }
}

TEST(ParserLimits, BinaryOperators) {
  for (const char *op : {"+", "-", "*", "/", "//", "%", "@", "**", "<<", ">>", "&", "|", "^"}) {
    SCOPED_TRACE(op);
    EXPECT_EQ(errorOnSmallStack("x = y" + repeat(op + std::string("y"), 998)), "(none)");
    EXPECT_EQ(messageOnSmallStack("x = y" + repeat(op + std::string("y"), 999)), tooDeep);
  }
}

TEST(ParserLimits, SumOfFiveMillionTerms) {
  EXPECT_EQ(messageOnSmallStack("x = 1" + repeat("+1", 5'000'000)), tooDeep);
}

TEST(ParserLimits, Postfix) {
  for (const char *postfix : {".a", "()", "[0]"}) {
    SCOPED_TRACE(postfix);
    EXPECT_EQ(errorOnSmallStack("x = y" + repeat(postfix, 998)), "(none)");
    EXPECT_EQ(messageOnSmallStack("x = y" + repeat(postfix, 999)), tooDeep);
  }
}

TEST(ParserLimits, Elif) {
  auto chain = [](size_t count) { return "if x: y\n" + repeat("elif x: y\n", count); };
  // The innermost branch holds a statement and its expression.
  EXPECT_EQ(errorOnSmallStack(chain(997)), "(none)");
  EXPECT_EQ(messageOnSmallStack(chain(998)), tooDeep);
  EXPECT_EQ(messageOnSmallStack(chain(100'000)), tooDeep);
}

TEST(ParserLimits, ComprehensionClauses) {
  EXPECT_EQ(messageOnSmallStack("[x" + repeat(" for x in y", 5000) + "]"), tooDeep);
}

TEST(ParserLimits, LambdaDefaults) {
  // No bracket limits this one.
  EXPECT_EQ(errorOnSmallStack("x = " + repeat("lambda a=", 100) + "1" + repeat(": a", 100)), "(none)");
  EXPECT_EQ(messageOnSmallStack("x = " + repeat("lambda a=", 5000)), tooDeep);
}

TEST(ParserLimits, FlatChainsHaveNoLimit) {
  EXPECT_EQ(errorOnSmallStack("x = y" + repeat(" < y", 100'000)), "(none)");
  EXPECT_EQ(errorOnSmallStack("x = y" + repeat(" and y", 100'000)), "(none)");
  EXPECT_EQ(errorOnSmallStack("x = y" + repeat(" and y", 5'000) + " or -y"), "(none)");
  EXPECT_EQ(errorOnSmallStack(repeat("x = ", 100'000) + "y"), "(none)");
  EXPECT_EQ(errorOnSmallStack("x = 'a'" + repeat(" 'a'", 100'000)), "(none)");
  EXPECT_EQ(errorOnSmallStack(repeat("x; ", 100'000)), "(none)");
}

/// Anything that grows with the square of the length would not end here.
TEST(ParserLimits, TenMegabytes) {
  const char *const pieces[] = {"x = a + b * f(c, d[1:2], 'text')\n",
                                "# a comment, and nothing else\n",
                                "if a:\n  b = [i for i in c]\nelse:\n  pass\n",
                                "\n",
                                "match = type\n",
                                "match (x):\n  case 1: pass\n",
                                "with (a as b, c): pass\n"};
  for (const char *piece : pieces) {
    SCOPED_TRACE(piece);
    std::string text = repeat(piece, (10 << 20) / strlen(piece) / 32);
    EXPECT_EQ(errorOnSmallStack(text), "(none)");
  }
  std::string text = repeat(pieces[0], (10 << 20) / strlen(pieces[0]));
  EXPECT_EQ(errorOnSmallStack(text), "(none)");
  EXPECT_EQ(errorOnSmallStack("x = [" + repeat("1,", 5 << 20) + "]"), "(none)");
  EXPECT_EQ(errorOnSmallStack("x = '" + repeat("a", 10 << 20) + "'"), "(none)");
  EXPECT_EQ(messageOnSmallStack("x = '" + repeat("a", 10 << 20)),
            "unterminated string literal (detected at line 1)");
  EXPECT_EQ(errorOnSmallStack(repeat("a", 10 << 20)), "(none)");
}

TEST(ParserLimits, Numbers) {
  EXPECT_EQ(errorOnSmallStack("x = " + repeat("9", 4300)), "(none)");
  EXPECT_EQ(messageOnSmallStack("x = " + repeat("9", 4301)),
            "Exceeds the limit (4300 digits) for integer string conversion: value has 4301 digits");
  EXPECT_EQ(messageOnSmallStack("x = " + repeat("9", 10 << 20)),
            "Exceeds the limit (4300 digits) for integer string conversion: value has 10485760 digits");
  EXPECT_EQ(errorOnSmallStack("x = 0x" + repeat("f", 16000)), "(none)");
  EXPECT_EQ(messageOnSmallStack("x = 0x" + repeat("f", 10 << 20)),
            "integer literal is too large (more than 65536 bits)");
  EXPECT_EQ(errorOnSmallStack("x = 0." + repeat("9", 10 << 20)), "(none)");
}

TEST(ParserLimits, FileSize) {
  EXPECT_EQ(messageOnSmallStack(std::string(ParserLimits::maxFileBytes, '#')), "(none)");
  EXPECT_EQ(errorOnSmallStack(std::string(ParserLimits::maxFileBytes + 1, '#')),
            "1:0: source file is too large (more than 64 MiB)");
}

/// Cutting a kernel anywhere gives a tree or one error.
TEST(ParserLimits, EveryPrefixOfAFile) {
  std::string text =
      "import triton\n@triton.jit(debug=True)\ndef k(x, /, y: 'a' = 1, *a, b=2, **c) -> int:\n"
      "  '''doc'''\n  for i in range(0, n, 2):\n    v = x[i, :, None] if y < 1 <= 2 else -f(*a, **c)\n"
      "    w: tl.constexpr = f\"a{v!r:>{w}}b{{}}\" r'\\x00'[0]\n  else:\n    pass\n"
      "  with (a as b, c): return {**d, 1: 2}, {x for x in y if z}, lambda q: (yield)\n"
      "  try:\n    del a, b.c\n  except* E as e: raise x from y\n  finally: assert a, 'b'\n"
      "\tmatch x:\n\t\tcase [1, *_] if y: pass\n";
  std::string whole = text.substr(0, text.find('\t'));
  EXPECT_EQ(parseError(whole), "(none)");
  for (size_t length = 0; length <= text.size(); ++length)
    parseError(text.substr(0, length));
}

} // namespace
} // namespace despina::test
