//===- LexerTest.cpp - Tokens: layout, literals, text encoding ------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// The lexer is seen through the parser: what counts is what a program becomes.
//
//===----------------------------------------------------------------------===//
#include "ParserTestUtils.h"

#include "llvm/Support/raw_ostream.h"

#include <limits>

namespace despina::test {
namespace {

using llvm::cast;

/// The constant that the only statement of `text` is.
class LiteralTest : public testing::Test {
protected:
  const ast::Constant *constant(std::string text) {
    parsed_ = parseText(text);
    if (!parsed_.module || parsed_.module->body().size() != 1) {
      ADD_FAILURE() << text << ": " << (parsed_.diags.hasErrors() ? parsed_.diags.firstError()->message : "");
      return nullptr;
    }
    auto *statement = llvm::dyn_cast<ast::ExprStmt>(parsed_.module->body()[0]);
    return statement ? llvm::dyn_cast<ast::Constant>(statement->value) : nullptr;
  }
  std::string string(std::string text) {
    const ast::Constant *c = constant(text);
    EXPECT_TRUE(c && (c->type == ast::Constant::Type::Str || c->type == ast::Constant::Type::Bytes)) << text;
    return c ? c->string.str() : "";
  }
  std::string integer(std::string text) {
    const ast::Constant *c = constant(text);
    EXPECT_TRUE(c && c->type == ast::Constant::Type::Int) << text;
    std::string result;
    llvm::raw_string_ostream os(result);
    if (c)
      os << c->integer;
    return result;
  }
  double real(std::string text) {
    const ast::Constant *c = constant(text);
    EXPECT_TRUE(c && c->type == ast::Constant::Type::Float) << text;
    return c ? c->real : 0;
  }

private:
  Parsed parsed_;
};

TEST_F(LiteralTest, Integers) {
  EXPECT_EQ(integer("0"), "0");
  EXPECT_EQ(integer("00_0"), "0");
  EXPECT_EQ(integer("1_000_000"), "1000000");
  EXPECT_EQ(integer("0xFf"), "255");
  EXPECT_EQ(integer("0X_f_f"), "255");
  EXPECT_EQ(integer("0o17"), "15");
  EXPECT_EQ(integer("0b1011"), "11");
  EXPECT_EQ(integer("9223372036854775807"), "9223372036854775807");
  EXPECT_EQ(integer("9223372036854775808"), "9223372036854775808");
  EXPECT_EQ(integer("0xFFFFFFFFFFFFFFFF"), "18446744073709551615");
  EXPECT_EQ(integer("123456789012345678901234567890"), "123456789012345678901234567890");
  EXPECT_EQ(integer("0o7777777777777777777777"), "73786976294838206463");
  EXPECT_EQ(integer("0b1" + std::string(64, '0')), "18446744073709551616");
}

TEST_F(LiteralTest, Floats) {
  EXPECT_EQ(real("1.5"), 1.5);
  EXPECT_EQ(real("1."), 1.0);
  EXPECT_EQ(real(".5"), 0.5);
  EXPECT_EQ(real("1e3"), 1000.0);
  EXPECT_EQ(real("1_0.0_1e+0_2"), 1001.0);
  EXPECT_EQ(real("1E-3"), 0.001);
  EXPECT_EQ(real("0.1"), 0.1);
  EXPECT_EQ(real("007.5"), 7.5);
  EXPECT_EQ(real("1.7976931348623157e308"), 1.7976931348623157e308);
  EXPECT_EQ(real("4.9e-324"), 4.9e-324);
  EXPECT_EQ(real("2.2250738585072011e-308"), 2.2250738585072011e-308);
  // Halfway between two doubles: to even.
  EXPECT_EQ(real("9007199254740993.0"), 9007199254740992.0);
}

TEST_F(LiteralTest, FloatsOutOfRange) {
  double infinity = std::numeric_limits<double>::infinity();
  for (const char *text : {"1e309", "1e400", "123e400", "0.1e400", "1e99999999999999999999", "1.e+999"})
    EXPECT_EQ(real(text), infinity) << text;
  for (const char *text : {"1e-400", "0.0000001e-330", "1e-99999999999999999999", "123.4e-999"})
    EXPECT_EQ(real(text), 0.0) << text;
  EXPECT_EQ(real("0e99999999999999999999"), 0.0);
  EXPECT_EQ(real("0." + std::string(400, '0') + "1"), 0.0);
  EXPECT_EQ(real("1" + std::string(400, '0') + ".0"), infinity);
  EXPECT_EQ(real("1" + std::string(400, '0') + "e-400"), 1.0);
}

TEST_F(LiteralTest, Complex) {
  const ast::Constant *c = constant("2.5j");
  ASSERT_TRUE(c && c->type == ast::Constant::Type::Complex);
  EXPECT_EQ(c->real, 2.5);
  ASSERT_TRUE((c = constant("3J")) && c->type == ast::Constant::Type::Complex);
  EXPECT_EQ(c->real, 3.0);
}

TEST(Lexer, BadNumbers) {
  EXPECT_EQ(parseError("012"),
            "1:0: leading zeros in decimal integer literals are not permitted; use an 0o prefix "
            "for octal integers");
  EXPECT_EQ(parseError("1abc"), "1:0: invalid decimal literal");
  EXPECT_EQ(parseError("1__0"), "1:1: invalid decimal literal");
  EXPECT_EQ(parseError("1_"), "1:1: invalid decimal literal");
  EXPECT_EQ(parseError("1.5_"), "1:3: invalid decimal literal");
  EXPECT_EQ(parseError("1e5x"), "1:0: invalid decimal literal");
  EXPECT_EQ(parseError("1jx"), "1:0: invalid imaginary literal");
  EXPECT_EQ(parseError("0x"), "1:0: invalid hexadecimal literal");
  EXPECT_EQ(parseError("0xg"), "1:0: invalid hexadecimal literal");
  EXPECT_EQ(parseError("0b12"), "1:3: invalid digit '2' in binary literal");
  EXPECT_EQ(parseError("0o8"), "1:2: invalid digit '8' in octal literal");
  EXPECT_EQ(parseError("1\xC3\xA4"), "1:0: invalid decimal literal");
  EXPECT_EQ(parseToText("1if x else 2"), "(Expr (IfExp (Name x) (Constant 1) (Constant 2)))");
}

TEST_F(LiteralTest, Strings) {
  EXPECT_EQ(string("'a' \"b\" '''c''' \"\"\"d\"\"\""), "abcd");
  EXPECT_EQ(string("('a'\n  'b')"), "ab");
  EXPECT_EQ(string("''"), "");
  EXPECT_EQ(string("''''''"), "");
  EXPECT_EQ(string("'''a\n\"'b''c'''"), "a\n\"'b''c");
  EXPECT_EQ(string(R"('\a\b\f\n\r\t\v\\\'\"')"), "\a\b\f\n\r\t\v\\'\"");
  EXPECT_EQ(string(R"('\0\101\x41\u00e4\U0001F600\q')"), std::string("\0AA\xC3\xA4\xF0\x9F\x98\x80\\q", 11));
  EXPECT_EQ(string(R"('\777\400')"), "\xC7\xBF\xC4\x80");
  EXPECT_EQ(string(R"('\N{GREEK SMALL LETTER ALPHA}\N{greek small letter beta}')"), "\xCE\xB1\xCE\xB2");
  EXPECT_EQ(string(R"('\ud800')"), "\xED\xA0\x80");
  EXPECT_EQ(string("'a\\\nb\\\r\nc'"), "abc");
  EXPECT_EQ(string("'''a\r\nb\rc'''"), "a\nb\nc");
  EXPECT_EQ(string(R"(r'\n\'')"), R"(\n\')");
  EXPECT_EQ(string(R"(Rb'\x41')"), R"(\x41)");
  EXPECT_EQ(string(R"(u'\x41')"), "A");
  EXPECT_EQ(string(R"(b'\x41\xff\u0041\N')"), "A\xFF\\u0041\\N");
  EXPECT_EQ(string("'\xC3\xA4'"), "\xC3\xA4");
}

TEST(Lexer, BadStrings) {
  EXPECT_EQ(parseError("x = 'abc\ny = 1"), "1:4: unterminated string literal (detected at line 1)");
  EXPECT_EQ(parseError("x = '''abc\n\n"),
            "1:4: unterminated triple-quoted string literal (detected at line 2)");
  EXPECT_EQ(parseError("x = rb'abc"), "1:4: unterminated string literal (detected at line 1)");
  EXPECT_EQ(parseError("'\\x4'"),
            "1:1: (unicode error) 'unicodeescape' codec can't decode bytes in position 0-2: "
            "truncated \\xXX escape");
  EXPECT_EQ(parseError("'ab\\u12'"),
            "1:3: (unicode error) 'unicodeescape' codec can't decode bytes in position 2-5: "
            "truncated \\uXXXX escape");
  EXPECT_EQ(parseError("'\\U00110000'"),
            "1:1: (unicode error) 'unicodeescape' codec can't decode bytes in position "
            "0-9: illegal Unicode character");
  EXPECT_EQ(parseError("'\\N{no such}'"),
            "1:1: (unicode error) 'unicodeescape' codec can't decode bytes in position "
            "0-10: unknown Unicode character name");
  EXPECT_EQ(parseError("'\\N'"),
            "1:1: (unicode error) 'unicodeescape' codec can't decode bytes in position 0-1: "
            "malformed \\N character escape");
  EXPECT_EQ(parseError("b'\\x4'"), "1:2: (value error) invalid \\x escape at position 0");
  EXPECT_EQ(parseError("b'\xC3\xA4'"), "1:2: bytes can only contain ASCII literal characters");
  EXPECT_EQ(parseError("'a' b'b'"), "1:0: cannot mix bytes and nonbytes literals");
  EXPECT_EQ(parseError("f'a' b'b'"), "1:0: cannot mix bytes and nonbytes literals");
}

TEST(Lexer, FStrings) {
  auto value = [](const std::string &text) { return parseToText(text); };
  EXPECT_EQ(value("f'a'"), "(Expr (JoinedStr [ (Constant '61')]))");
  EXPECT_EQ(value("f''"), "(Expr (JoinedStr []))");
  EXPECT_EQ(value("f'{x}'"), "(Expr (JoinedStr [ (FormattedValue (Name x) -)]))");
  EXPECT_EQ(value("f'{{{x}}}'"),
            "(Expr (JoinedStr [ (Constant '7b') (FormattedValue (Name x) -) (Constant '7d')]))");
  EXPECT_EQ(value("f'{x!r:>{w}}'"),
            "(Expr (JoinedStr [ (FormattedValue (Name x) !r (JoinedStr [ (Constant '3e') "
            "(FormattedValue (Name w) -)]))]))");
  EXPECT_EQ(value("f'{x = }'"), "(Expr (JoinedStr [ (Constant '78203d20') (FormattedValue (Name x) !r -)]))");
  EXPECT_EQ(
      value("f'{x=:d}'"),
      "(Expr (JoinedStr [ (Constant '783d') (FormattedValue (Name x) (JoinedStr [ (Constant '64')]))]))");
  EXPECT_EQ(value("f'{x=!s}'"), "(Expr (JoinedStr [ (Constant '783d') (FormattedValue (Name x) !s -)]))");
  EXPECT_EQ(value("f'{a!=b}'"), "(Expr (JoinedStr [ (FormattedValue (Compare (Name a) != (Name b)) -)]))");
  // The same quotes inside, since Python 3.12.
  EXPECT_EQ(value("f'{a['b']}'"),
            "(Expr (JoinedStr [ (FormattedValue (Subscript (Name a) (Constant '62')) -)]))");
  EXPECT_EQ(value("f\"{f\"{1}\"}\""),
            "(Expr (JoinedStr [ (FormattedValue (JoinedStr [ (FormattedValue (Constant 1) -)]) -)]))");
  EXPECT_EQ(value("f'{x:%H:%M}'"),
            "(Expr (JoinedStr [ (FormattedValue (Name x) (JoinedStr [ (Constant '25483a254d')]))]))");
  EXPECT_EQ(value("rf'\\{x}'"), "(Expr (JoinedStr [ (Constant '5c') (FormattedValue (Name x) -)]))");
  EXPECT_EQ(value("f'\\N{DIGIT ONE}{x}'"),
            "(Expr (JoinedStr [ (Constant '31') (FormattedValue (Name x) -)]))");
  EXPECT_EQ(value("f'''{\nx # why\n}'''"), "(Expr (JoinedStr [ (FormattedValue (Name x) -)]))");
  EXPECT_EQ(value("'a' f'b{x}c' 'd'"),
            "(Expr (JoinedStr [ (Constant '6162') (FormattedValue (Name x) -) (Constant '6364')]))");
  EXPECT_EQ(value("f'{(lambda x: 1)}'"),
            "(Expr (JoinedStr [ (FormattedValue (Lambda [ (pos x - -)] (Constant 1)) -)]))");
  EXPECT_EQ(value("f'{a, b}'"), "(Expr (JoinedStr [ (FormattedValue (Tuple [ (Name a) (Name b)]) -)]))");
}

TEST(Lexer, FStringRanges) {
  EXPECT_EQ(parseToText("x = f'a{ b }c'", true), "(Assign@0-14 [ (Name@0-1 x)] (JoinedStr@4-14 [ "
                                                 "(Constant@6-9 '61') (FormattedValue@7-12 (Name@9-10 b) -) "
                                                 "(Constant@12-14 '63')]))");
}

TEST(Lexer, BadFStrings) {
  EXPECT_EQ(parseError("f'{}'"), "1:3: f-string: valid expression required before '}'");
  EXPECT_EQ(parseError("f'{!r}'"), "1:3: f-string: valid expression required before '!'");
  EXPECT_EQ(parseError("f'{a'"), "1:4: f-string: expecting '}'");
  EXPECT_EQ(parseError("f'a}'"), "1:3: f-string: single '}' is not allowed");
  EXPECT_EQ(parseError("f'{a!z}'"),
            "1:5: f-string: invalid conversion character 'z': expected 's', 'r', or 'a'");
  EXPECT_EQ(parseError("f'{a!}'"), "1:5: f-string: missing conversion character");
  EXPECT_EQ(parseError("f'{a b}'"), "1:5: f-string: expecting '}'");
  EXPECT_EQ(parseError("f'{a)}'"), "1:4: f-string: unmatched ')'");
  EXPECT_EQ(parseError("f'{(a}'"),
            "1:5: f-string: closing parenthesis '}' does not match opening parenthesis '('");
  EXPECT_EQ(parseError("f'abc"), "1:0: unterminated f-string literal (detected at line 1)");
  EXPECT_EQ(parseError("f'''abc\n"), "1:0: unterminated triple-quoted f-string literal (detected at line 1)");
  EXPECT_EQ(parseError("f'{lambda x: 1}'"),
            "1:3: f-string: lambda expressions are not allowed without parentheses");
}

TEST(Lexer, Layout) {
  EXPECT_EQ(parseToText(""), "");
  EXPECT_EQ(parseToText("\n\n# only a comment"), "");
  EXPECT_EQ(parseToText("   # an indented comment\n\t\nx"), "(Expr (Name x))");
  EXPECT_EQ(parseToText("if a:\n  b\n\n # lower\n  c\nd"),
            "(If (Name a) [ (Expr (Name b)) (Expr (Name c))] [])\n(Expr (Name d))");
  EXPECT_EQ(parseToText("a\r\nb\rc\n"), "(Expr (Name a))\n(Expr (Name b))\n(Expr (Name c))");
  EXPECT_EQ(parseToText("if a:\r\n  b\r\n"), "(If (Name a) [ (Expr (Name b))] [])");
  EXPECT_EQ(parseToText("\f\nif a:\n  b\n\f\nc"), "(If (Name a) [ (Expr (Name b))] [])\n(Expr (Name c))");
  EXPECT_EQ(parseToText("if a:\n   \fb\n"),
            "error: expected an indented block after 'if' statement on line 1");
  EXPECT_EQ(parseToText("x = \\\n  1"), "(Assign [ (Name x)] (Constant 1))");
  EXPECT_EQ(parseToText("x = (1,\n# between\n\n  2)"),
            "(Assign [ (Name x)] (Tuple [ (Constant 1) (Constant 2)]))");
  EXPECT_EQ(parseToText("if a:\n\tb\n\tc"), "(If (Name a) [ (Expr (Name b)) (Expr (Name c))] [])");
  // A tab reaches to the next multiple of eight.
  EXPECT_EQ(parseToText("if a:\n  if b:\n  \tc\n  d"),
            "(If (Name a) [ (If (Name b) [ (Expr (Name c))] []) (Expr (Name d))] [])");
}

TEST(Lexer, BadLayout) {
  EXPECT_EQ(parseError("if x:\n  y\n z\n"), "3:1: unindent does not match any outer indentation level");
  EXPECT_EQ(parseError("  x"), "1:2: unexpected indent");
  EXPECT_EQ(parseError("x\n  y"), "2:2: unexpected indent");
  EXPECT_EQ(parseError("if x:\n        a\n\tb"), "3:1: inconsistent use of tabs and spaces in indentation");
  EXPECT_EQ(parseError("if x:\n\ta\n        b"), "3:8: inconsistent use of tabs and spaces in indentation");
  EXPECT_EQ(parseError("x = \\ 1"), "1:5: unexpected character after line continuation character");
  EXPECT_EQ(parseError("x = \\"), "1:4: unexpected EOF while parsing");
  EXPECT_EQ(parseError("x = \\\n"), "1:4: unexpected EOF while parsing");
}

TEST(Lexer, Brackets) {
  EXPECT_EQ(parseError("x = (1 +"), "1:4: '(' was never closed");
  EXPECT_EQ(parseError("x = [1, 2\ny = 3\n"), "1:4: '[' was never closed");
  EXPECT_EQ(parseError("f(a,\ndef g():\n  pass\n"), "1:1: '(' was never closed");
  EXPECT_EQ(parseError("d = {'a': [1,\n     2}\n"),
            "2:6: closing parenthesis '}' does not match opening parenthesis '[' on line 1");
  EXPECT_EQ(parseError("x = (]"), "1:5: closing parenthesis ']' does not match opening parenthesis '('");
  EXPECT_EQ(parseError("x = )"), "1:4: unmatched ')'");
  // Nothing is missing here but what stands on the same line.
  EXPECT_EQ(parseError("f(a b)"), "1:2: invalid syntax. Perhaps you forgot a comma?");
}

TEST(Lexer, Encoding) {
  EXPECT_EQ(parseToText("\xEF\xBB\xBFx = 1", true), "(Assign@0-5 [ (Name@0-1 x)] (Constant@4-5 1))");
  EXPECT_EQ(parseToText("\xC3\xA4\xE5\x8F\x98 = \xCE\xB1"
                        "1"),
            "(Assign [ (Name \xC3\xA4\xE5\x8F\x98)] (Name \xCE\xB1"
            "1))");
  const char *help = "save the file as UTF-8";
  struct Case {
    const char *text, *error;
  };
  const Case cases[] = {
      {"x = 'a\xFF'",
       "1:6: (unicode error) 'utf-8' codec can't decode byte 0xff in position 6: invalid start byte"},
      {"# \xE4\n",
       "1:2: (unicode error) 'utf-8' codec can't decode byte 0xe4 in position 2: invalid continuation byte"},
      {"x\n# \xC0\x80",
       "2:2: (unicode error) 'utf-8' codec can't decode byte 0xc0 in position 4: invalid start byte"},
      {"# \xED\xA0\x80",
       "1:2: (unicode error) 'utf-8' codec can't decode byte 0xed in position 2: invalid continuation byte"},
      {"# \xF4\x90\x80\x80",
       "1:2: (unicode error) 'utf-8' codec can't decode byte 0xf4 in position 2: invalid continuation byte"},
      {"# \xE2\x82",
       "1:2: (unicode error) 'utf-8' codec can't decode byte 0xe2 in position 2: invalid continuation byte"},
  };
  for (const Case &each : cases) {
    EXPECT_EQ(parseError(each.text), each.error);
    EXPECT_EQ(parseText(each.text).diags.firstError()->help, help);
  }
  EXPECT_EQ(parseError(std::string("x = 1\0", 6)), "1:5: source code cannot contain null bytes");
  EXPECT_EQ(parseError(std::string("\xC3\xA4\0", 3)), "1:2: source code cannot contain null bytes");
}

TEST(Lexer, BadCharacters) {
  EXPECT_EQ(parseError("x = \xE2\x80\x9C"), "1:4: invalid character '\xE2\x80\x9C' (U+201C)");
  EXPECT_EQ(parseError("x =\xC2\xA0"
                       "1"),
            "1:3: invalid non-printable character U+00A0");
  EXPECT_EQ(parseError("x = \x01"), "1:4: invalid non-printable character U+0001");
  EXPECT_EQ(parseError("x = $"), "1:4: invalid syntax");
  EXPECT_EQ(parseError("a ? b"), "1:2: invalid syntax");
}

} // namespace
} // namespace despina::test
