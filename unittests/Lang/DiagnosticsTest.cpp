//===- DiagnosticsTest.cpp - The two forms of an error --------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "despina/Lang/Diagnostics.h"

#include <gtest/gtest.h>

namespace despina {
namespace {

class DiagnosticsTest : public testing::Test {
protected:
  SourceRange rangeOf(const std::string &needle, size_t occurrence = 0) {
    size_t at = file_->text().find(needle);
    while (occurrence-- > 0)
      at = file_->text().find(needle, at + 1);
    EXPECT_NE(at, std::string_view::npos);
    return {file_.get(), static_cast<uint32_t>(at), static_cast<uint32_t>(at + needle.size())};
  }
  void source(std::string text, uint32_t firstLine = 1, uint32_t indent = 0) {
    file_ = std::make_shared<SourceFile>("k.py", std::move(text), firstLine, indent);
  }
  Diagnostic error(std::string message, SourceRange range, ErrorKind kind = ErrorKind::Compilation) {
    Diagnostic diagnostic;
    diagnostic.kind = kind;
    diagnostic.message = std::move(message);
    diagnostic.range = range;
    return diagnostic;
  }

  std::shared_ptr<SourceFile> file_;
};

TEST_F(DiagnosticsTest, Collects) {
  Diagnostics diags;
  EXPECT_FALSE(diags.hasErrors());
  EXPECT_EQ(diags.firstError(), nullptr);
  Diagnostic warning;
  warning.severity = Severity::Warning;
  diags.report(warning);
  EXPECT_FALSE(diags.hasErrors());
  diags.report(error("a", {}));
  diags.report(error("b", {}));
  EXPECT_EQ(diags.all().size(), 3u);
  ASSERT_TRUE(diags.firstError());
  EXPECT_EQ(diags.firstError()->message, "a");
  diags.clear();
  EXPECT_FALSE(diags.hasErrors());
  EXPECT_TRUE(diags.all().empty());
}

TEST_F(DiagnosticsTest, Render) {
  source("def f(a):\n    return a + missing * 2\n");
  EXPECT_EQ(render(error("missing is not defined", rangeOf("missing"))),
            "k.py:2:16: error: missing is not defined\n"
            "    return a + missing * 2\n"
            "               ^~~~~~~\n");
}

TEST_F(DiagnosticsTest, RenderHelpAndCalls) {
  source("def g(x):\n    return x.no\ndef f(a):\n    b = g(a)\n");
  Diagnostic diagnostic = error("no such attribute", rangeOf("x.no"));
  diagnostic.help = "did you mean 'to'?";
  diagnostic.callStack = {{rangeOf("f(a)"), "f", {}}, {rangeOf("g(a)"), "g", {}}};
  EXPECT_EQ(render(diagnostic), "k.py:2:12: error: no such attribute\n"
                                "    return x.no\n"
                                "           ^~~~\n"
                                "help: did you mean 'to'?\n"
                                "k.py:4:9: note: in the call of 'g' here\n"
                                "    b = g(a)\n"
                                "        ^~~~\n"
                                "k.py:3:5: note: in the call of 'f' here\n"
                                "def f(a):\n"
                                "    ^~~~\n");
}

TEST_F(DiagnosticsTest, PythonTextOfLongLines) {
  source("x\n" + std::string(3000, 'a') + " + bad + " + std::string(3000, 'b') + "\n");
  std::string text = pythonText(error("m", rangeOf("bad")));
  std::string shown = std::string(497, 'a') + " + bad + " + std::string(494, 'b');
  EXPECT_EQ(text, "at 2:3003:\n\n" + shown + "\n" + std::string(500, ' ') + "^\nm");
}

TEST_F(DiagnosticsTest, PythonTextOfCalls) {
  source("x\ndef f(a):\n    b = g(a)\n");
  Diagnostic::CallSite site{rangeOf("g(a)"), "g", rangeOf("def f(a):\n    b = g(a)")};
  EXPECT_EQ(pythonText(site), "at 2:8:\ndef f(a):\n    b = g(a)\n        ^");
  EXPECT_EQ(pythonText(Diagnostic::CallSite()), "");
}

TEST_F(DiagnosticsTest, RenderSeverities) {
  source("x\n");
  Diagnostic diagnostic = error("m", rangeOf("x"));
  diagnostic.severity = Severity::Warning;
  EXPECT_EQ(render(diagnostic), "k.py:1:1: warning: m\nx\n^\n");
  diagnostic.severity = Severity::Note;
  EXPECT_EQ(render(diagnostic), "k.py:1:1: note: m\nx\n^\n");
}

TEST_F(DiagnosticsTest, RenderColor) {
  source("x\n");
  std::string text = render(error("m", rangeOf("x")), /*color=*/true);
  EXPECT_NE(text.find("\033[1;31merror: \033[0m"), std::string::npos);
  EXPECT_NE(text.find("\033[1;32m^\033[0m"), std::string::npos);
  EXPECT_EQ(render(error("m", rangeOf("x"))).find('\033'), std::string::npos);
}

TEST_F(DiagnosticsTest, RenderWithoutPosition) {
  Diagnostic diagnostic = error("no file", {});
  diagnostic.help = "name one";
  EXPECT_EQ(render(diagnostic), "error: no file\nhelp: name one\n");
}

TEST_F(DiagnosticsTest, RenderTabsAndWideCharacters) {
  source("\tx =\t1\n");
  EXPECT_EQ(render(error("m", rangeOf("1"))), "k.py:1:6: error: m\n        x =     1\n                ^\n");
  // The two characters in quotes take two columns each, the accent none.
  source("s = '\xE4\xBD\xA0\xE5\xA5\xBD' + e\xCC\x81 + bad\n");
  EXPECT_EQ(render(error("m", rangeOf("bad"))),
            "k.py:1:22: error: m\ns = '\xE4\xBD\xA0\xE5\xA5\xBD' + e\xCC\x81 + bad\n"
            "                 ^~~\n");
  EXPECT_EQ(render(error("m", rangeOf("'\xE4\xBD\xA0\xE5\xA5\xBD'"))),
            "k.py:1:5: error: m\ns = '\xE4\xBD\xA0\xE5\xA5\xBD' + e\xCC\x81 + bad\n    ^~~~~~\n");
}

TEST_F(DiagnosticsTest, RenderBytesThatAreNoText) {
  source("a\xFF\x01 b\n");
  EXPECT_EQ(render(error("m", rangeOf("b"))), "k.py:1:5: error: m\na?? b\n    ^\n");
}

TEST_F(DiagnosticsTest, RenderRangeOverSeveralLines) {
  source("x = f(a,\n      b)\n");
  EXPECT_EQ(render(error("m", rangeOf("f(a,\n      b)"))), "k.py:1:5: error: m\nx = f(a,\n    ^~~~\n");
}

TEST_F(DiagnosticsTest, RenderAtLineEndAndEmptyRange) {
  source("x = 1 +\n");
  EXPECT_EQ(render(error("m", {file_.get(), 7, 8})), "k.py:1:8: error: m\nx = 1 +\n       ^\n");
  EXPECT_EQ(render(error("m", {file_.get(), 4, 4})), "k.py:1:5: error: m\nx = 1 +\n    ^\n");
  EXPECT_EQ(render(error("m", {file_.get(), 8, 8})), "k.py:2:1: error: m\n\n^\n");
}

TEST_F(DiagnosticsTest, RenderLongLine) {
  source(std::string(100'000, 'a') + "!" + std::string(100'000, 'b'));
  std::string text = render(error("m", rangeOf("!")));
  EXPECT_LT(text.size(), 600u);
  EXPECT_TRUE(text.starts_with("k.py:1:100001: error: m\n...aaa"));
  size_t line = text.find('\n') + 1, caretLine = text.find('\n', line) + 1;
  EXPECT_EQ(text.find('!') - line, text.find('^') - caretLine);
  EXPECT_TRUE(text.substr(line, caretLine - line).ends_with("bbb...\n"));
}

TEST_F(DiagnosticsTest, RenderCutOutSource) {
  source("def f():\n  bad\n", /*firstLine=*/10, /*indent=*/4);
  EXPECT_EQ(render(error("m", rangeOf("bad"))), "k.py:11:7: error: m\n  bad\n  ^~~\n");
}

TEST_F(DiagnosticsTest, PythonText) {
  source("import x\n@jit\ndef f(a):\n    b = a\n    return b + missing\n");
  Diagnostic diagnostic = error("missing is not defined", rangeOf("missing"), ErrorKind::Name);
  diagnostic.function = rangeOf("def f(a):\n    b = a\n    return b + missing");
  EXPECT_EQ(pythonText(diagnostic), "at 3:15:\n"
                                    "def f(a):\n"
                                    "    b = a\n"
                                    "    return b + missing\n"
                                    "               ^\n"
                                    "NameError('missing is not defined')");
}

TEST_F(DiagnosticsTest, PythonTextMessages) {
  source("x\n");
  auto message = [&](ErrorKind kind, const char *text, bool fromBuiltin = false) {
    Diagnostic diagnostic = error(text, rangeOf("x"), kind);
    diagnostic.fromBuiltin = fromBuiltin;
    std::string result = pythonText(diagnostic);
    const std::string head = "at 1:0:\nx\n^\n";
    EXPECT_TRUE(result.starts_with(head)) << result;
    return result.substr(head.size());
  };
  EXPECT_EQ(message(ErrorKind::Value, "bad"), "ValueError('bad')");
  EXPECT_EQ(message(ErrorKind::Value, "bad", true), "bad");
  EXPECT_EQ(message(ErrorKind::Type, "it's"), "TypeError(\"it's\")");
  EXPECT_EQ(message(ErrorKind::Type, "it's \"x\""), "TypeError('it\\'s \"x\"')");
  EXPECT_EQ(message(ErrorKind::Type, "say \"x\""), "TypeError('say \"x\"')");
  EXPECT_EQ(message(ErrorKind::Runtime, "a\n\tb\\"), "RuntimeError('a\\n\\tb\\\\')");
  EXPECT_EQ(message(ErrorKind::NotImplemented, ""), "NotImplementedError()");
  EXPECT_EQ(message(ErrorKind::UnsupportedConstruct, "unsupported AST node type: Break"),
            "unsupported AST node type: Break");
  EXPECT_EQ(message(ErrorKind::CompileTimeAssertion, "user's text"), "user's text");
  EXPECT_EQ(message(ErrorKind::Compilation, "plain"), "plain");
  EXPECT_EQ(pythonText(error("", rangeOf("x"))), "at 1:0:\nx\n^");
}

TEST_F(DiagnosticsTest, PythonTextWithoutPosition) {
  EXPECT_EQ(pythonText(error("no file", {})), "no file");
  EXPECT_EQ(pythonText(error("no file", {}, ErrorKind::Value)), "ValueError('no file')");
}

TEST_F(DiagnosticsTest, PythonTextShowsTwelveLines) {
  std::string text = "def f():\n";
  for (int i = 2; i <= 20; ++i)
    text += "    x" + std::to_string(i) + "\n";
  source(text);
  Diagnostic diagnostic = error("m", rangeOf("x12"));
  diagnostic.function = {file_.get(), 0, static_cast<uint32_t>(text.size())};
  std::string shown = pythonText(diagnostic);
  EXPECT_TRUE(shown.starts_with("at 12:4:\ndef f():\n    x2\n"));
  EXPECT_TRUE(shown.ends_with("    x11\n    x12\n    ^\nm"));
  diagnostic.range = rangeOf("x13");
  shown = pythonText(diagnostic);
  EXPECT_TRUE(shown.starts_with("at 13:4:\n    x2\n"));
  EXPECT_TRUE(shown.ends_with("    x13\n    ^\nm"));
}

TEST_F(DiagnosticsTest, PythonTextOfNestedDefinition) {
  // The text Python shows is that of the function alone, without its indentation.
  source("class C:\n    def f():\n\n        return bad\n");
  Diagnostic diagnostic = error("m", rangeOf("bad"));
  diagnostic.function = rangeOf("def f():\n\n        return bad");
  EXPECT_EQ(pythonText(diagnostic), "at 3:11:\ndef f():\n\n    return bad\n           ^\nm");
}

TEST_F(DiagnosticsTest, KindNames) {
  EXPECT_STREQ(errorKindName(ErrorKind::Value), "ValueError");
  EXPECT_STREQ(errorKindName(ErrorKind::UnsupportedConstruct), "UnsupportedLanguageConstruct");
  EXPECT_STREQ(errorKindName(ErrorKind::CompileTimeAssertion), "CompileTimeAssertionFailure");
  EXPECT_STREQ(errorKindName(ErrorKind::Compilation), "CompilationError");
}

TEST(SourceFileTest, Lines) {
  SourceFile file("a.py", "ab\r\nc\rd\n\n", 5, 2);
  EXPECT_EQ(file.numLines(), 5u);
  EXPECT_EQ(file.line(1), "ab");
  EXPECT_EQ(file.line(2), "c");
  EXPECT_EQ(file.line(3), "d");
  EXPECT_EQ(file.line(4), "");
  EXPECT_EQ(file.line(0), "");
  EXPECT_EQ(file.line(99), "");
  EXPECT_EQ(file.localLineColumn(5).line, 2u);
  EXPECT_EQ(file.localLineColumn(5).column, 1u);
  EXPECT_EQ(file.lineColumn(5).line, 6u);
  EXPECT_EQ(file.lineColumn(5).column, 3u);
}

TEST(SourceFileTest, ByteOrderMark) {
  SourceFile file("a.py", "\xEF\xBB\xBFx");
  EXPECT_EQ(file.text(), "x");
}

} // namespace
} // namespace despina
