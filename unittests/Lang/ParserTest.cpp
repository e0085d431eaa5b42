//===- ParserTest.cpp - Trees, ranges and syntax errors -------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "ParserTestUtils.h"

#include "llvm/ADT/StringExtras.h"

namespace despina::test {
namespace {

/// A statement made of one expression, without the wrapping.
std::string expr(const std::string &text) {
  std::string tree = parseToText(text);
  const std::string head = "(Expr ";
  return tree.starts_with(head) ? tree.substr(head.size(), tree.size() - head.size() - 1) : tree;
}

TEST(ParserExpressions, Precedence) {
  EXPECT_EQ(expr("a + b * c"), "(BinOp + (Name a) (BinOp * (Name b) (Name c)))");
  EXPECT_EQ(expr("a - b - c"), "(BinOp - (BinOp - (Name a) (Name b)) (Name c))");
  EXPECT_EQ(expr("a ** b ** c"), "(BinOp ** (Name a) (BinOp ** (Name b) (Name c)))");
  EXPECT_EQ(expr("-a ** -b"), "(UnaryOp - (BinOp ** (Name a) (UnaryOp - (Name b))))");
  EXPECT_EQ(expr("2 ** -1 * 3"), "(BinOp * (BinOp ** (Constant 2) (UnaryOp - (Constant 1))) (Constant 3))");
  EXPECT_EQ(expr("2 ** -3 ** 4"), "(BinOp ** (Constant 2) (UnaryOp - (BinOp ** (Constant 3) (Constant 4))))");
  EXPECT_EQ(expr("a | b ^ c & d << e"),
            "(BinOp | (Name a) (BinOp ^ (Name b) (BinOp & (Name c) (BinOp << (Name d) (Name e)))))");
  EXPECT_EQ(expr("a // b % c @ d"), "(BinOp @ (BinOp % (BinOp // (Name a) (Name b)) (Name c)) (Name d))");
  EXPECT_EQ(expr("not a == b"), "(UnaryOp not (Compare (Name a) == (Name b)))");
  EXPECT_EQ(expr("not a and b"), "(BoolOp and [ (UnaryOp not (Name a)) (Name b)])");
  EXPECT_EQ(expr("a or b and c or d"), "(BoolOp or [ (Name a) (BoolOp and [ (Name b) (Name c)]) (Name d)])");
  EXPECT_EQ(expr("(a or b) or c"), "(BoolOp or [ (BoolOp or [ (Name a) (Name b)]) (Name c)])");
  EXPECT_EQ(expr("a < b <= c != d"), "(Compare (Name a) < (Name b) <= (Name c) != (Name d))");
  EXPECT_EQ(expr("(a < b) < c"), "(Compare (Compare (Name a) < (Name b)) < (Name c))");
  EXPECT_EQ(expr("a is not b not in c is d in e"),
            "(Compare (Name a) is not (Name b) not in (Name c) is (Name d) in (Name e))");
  EXPECT_EQ(expr("a < b | c"), "(Compare (Name a) < (BinOp | (Name b) (Name c)))");
  EXPECT_EQ(expr("~a.b[c](d)"), "(UnaryOp ~ (Call (Subscript (Attribute (Name a) b) (Name c)) [ (Name d)]))");
  EXPECT_EQ(expr("await a ** 2"), "(BinOp ** (Await (Name a)) (Constant 2))");
}

TEST(ParserExpressions, ConditionalAndLambda) {
  EXPECT_EQ(expr("a if b else c if d else e"),
            "(IfExp (Name b) (Name a) (IfExp (Name d) (Name c) (Name e)))");
  EXPECT_EQ(expr("a or b if not c else d"),
            "(IfExp (UnaryOp not (Name c)) (BoolOp or [ (Name a) (Name b)]) (Name d))");
  EXPECT_EQ(expr("lambda: a if b else c"), "(Lambda [] (IfExp (Name b) (Name a) (Name c)))");
  EXPECT_EQ(expr("a if b else lambda: c if d else e"),
            "(IfExp (Name b) (Name a) (Lambda [] (IfExp (Name d) (Name c) (Name e))))");
  EXPECT_EQ(
      expr("lambda a, /, b=1, *c, d, e=2, **f: g"),
      "(Lambda [ (posonly a - -) (pos b - (Constant 1)) (* c - -) (kwonly d - -) (kwonly e - (Constant 2)) "
      "(** f - -)] (Name g))");
  EXPECT_EQ(expr("lambda a: lambda b: a + b"),
            "(Lambda [ (pos a - -)] (Lambda [ (pos b - -)] (BinOp + (Name a) (Name b))))");
  EXPECT_EQ(expr("lambda x=lambda y: 1: 2"),
            "(Lambda [ (pos x - (Lambda [ (pos y - -)] (Constant 1)))] (Constant 2))");
  EXPECT_EQ(expr("lambda: (yield)"), "(Lambda [] (Yield -))");
}

TEST(ParserExpressions, Displays) {
  EXPECT_EQ(expr("()"), "(Tuple [])");
  EXPECT_EQ(expr("(a)"), "(Name a)");
  EXPECT_EQ(expr("(a,)"), "(Tuple [ (Name a)])");
  EXPECT_EQ(expr("a,"), "(Tuple [ (Name a)])");
  EXPECT_EQ(expr("*a, b"), "(Tuple [ (Starred (Name a)) (Name b)])");
  EXPECT_EQ(expr("[a, *b | c,]"), "(List [ (Name a) (Starred (BinOp | (Name b) (Name c)))])");
  EXPECT_EQ(expr("{}"), "(Dict [] [])");
  EXPECT_EQ(expr("{a: b, **c, d: e}"), "(Dict [ (Name a) - (Name d)] [ (Name b) (Name c) (Name e)])");
  EXPECT_EQ(expr("{a, *b}"), "(Set [ (Name a) (Starred (Name b))])");
  EXPECT_EQ(expr("(a := b, c)"), "(Tuple [ (NamedExpr (Name a) (Name b)) (Name c)])");
  EXPECT_EQ(expr("..."), "(Constant ...)");
  EXPECT_EQ(expr("(None, True, False)"), "(Tuple [ (Constant None) (Constant True) (Constant False)])");
}

TEST(ParserExpressions, Comprehensions) {
  EXPECT_EQ(expr("[a for b in c if d if e for f, *g in h]"),
            "(ListComp (Name a) for (Name b) (Name c) [ (Name d) (Name e)] for (Tuple [ (Name f) (Starred "
            "(Name g))]) "
            "(Name h) [])");
  EXPECT_EQ(expr("{a for a in b}"), "(SetComp (Name a) for (Name a) (Name b) [])");
  EXPECT_EQ(expr("{a: b for a, b in c}"),
            "(DictComp (Name a) (Name b) for (Tuple [ (Name a) (Name b)]) (Name c) [])");
  EXPECT_EQ(expr("(a for a in b or c)"),
            "(GeneratorExp (Name a) for (Name a) (BoolOp or [ (Name b) (Name c)]) [])");
  EXPECT_EQ(expr("[a async for a in b]"), "(ListComp (Name a) async-for (Name a) (Name b) [])");
  EXPECT_EQ(expr("[x if y else z for x in a]"),
            "(ListComp (IfExp (Name y) (Name x) (Name z)) for (Name x) (Name a) [])");
  EXPECT_EQ(expr("tuple(i for i in x)"),
            "(Call (Name tuple) [ (GeneratorExp (Name i) for (Name i) (Name x) [])])");
}

TEST(ParserExpressions, CallsAndSubscripts) {
  EXPECT_EQ(expr("f(a, *b, c=d, **e)"),
            "(Call (Name f) [ (Name a) (Starred (Name b))] c= (Name d) **= (Name e))");
  EXPECT_EQ(expr("f(a=1, *b)"), "(Call (Name f) [ (Starred (Name b))] a= (Constant 1))");
  EXPECT_EQ(expr("f(a := 1,)"), "(Call (Name f) [ (NamedExpr (Name a) (Constant 1))])");
  EXPECT_EQ(expr("k[(1,)](x)"), "(Call (Subscript (Name k) (Tuple [ (Constant 1)])) [ (Name x)])");
  EXPECT_EQ(expr("x[:]"), "(Subscript (Name x) (Slice - - -))");
  EXPECT_EQ(expr("x[a:b:c]"), "(Subscript (Name x) (Slice (Name a) (Name b) (Name c)))");
  EXPECT_EQ(expr("x[::c]"), "(Subscript (Name x) (Slice - - (Name c)))");
  EXPECT_EQ(expr("x[None, :, a:, *b]"), "(Subscript (Name x) (Tuple [ (Constant None) (Slice - - -) "
                                        "(Slice (Name a) - -) (Starred (Name b))]))");
  EXPECT_EQ(expr("x[a,]"), "(Subscript (Name x) (Tuple [ (Name a)]))");
}

TEST(ParserExpressions, Ranges) {
  EXPECT_EQ(
      parseToText("(a + b) * -c", true),
      "(Expr@0-12 (BinOp@0-12 * (BinOp@1-6 + (Name@1-2 a) (Name@5-6 b)) (UnaryOp@10-12 - (Name@11-12 c))))");
  EXPECT_EQ(parseToText("x = (a, b)", true),
            "(Assign@0-10 [ (Name@0-1 x)] (Tuple@4-10 [ (Name@5-6 a) (Name@8-9 b)]))");
  EXPECT_EQ(parseToText("x[a, 1:2]", true), "(Expr@0-9 (Subscript@0-9 (Name@0-1 x) (Tuple@2-8 [ (Name@2-3 a) "
                                            "(Slice@5-8 (Constant@5-6 1) (Constant@7-8 2) -)])))");
  EXPECT_EQ(parseToText("f(a for a in b)", true), "(Expr@0-15 (Call@0-15 (Name@0-1 f) [ (GeneratorExp@1-15 "
                                                  "(Name@2-3 a) for (Name@8-9 a) (Name@13-14 b) [])]))");
  EXPECT_EQ(parseToText("(a).b(c)", true),
            "(Expr@0-8 (Call@0-8 (Attribute@0-5 (Name@1-2 a) b) [ (Name@6-7 c)]))");
  EXPECT_EQ(parseToText("if a: # why\n  b\n\n", true),
            "(If@0-15 (Name@3-4 a) [ (Expr@14-15 (Name@14-15 b))] [])");
  EXPECT_EQ(parseToText("(a) < (b) and c", true),
            "(Expr@0-15 (BoolOp@0-15 and [ (Compare@0-9 (Name@1-2 a) < (Name@7-8 b)) (Name@14-15 c)]))");
}

TEST(ParserExpressions, OperatorAndAttributeRanges) {
  Parsed parsed = parseText("a.bc  <<  d");
  ASSERT_TRUE(parsed.module);
  auto *op = llvm::cast<ast::BinOp>(llvm::cast<ast::ExprStmt>(parsed.module->body()[0])->value);
  EXPECT_EQ(op->opRange.begin, 6u);
  EXPECT_EQ(op->opRange.end, 8u);
  auto *attribute = llvm::cast<ast::Attribute>(op->left);
  EXPECT_EQ(attribute->attrRange.begin, 2u);
  EXPECT_EQ(attribute->attrRange.end, 4u);
}

TEST(ParserStatements, Assignments) {
  EXPECT_EQ(parseToText("a = b = c"), "(Assign [ (Name a) (Name b)] (Name c))");
  EXPECT_EQ(parseToText("a, (b, [*c]) = d,"),
            "(Assign [ (Tuple [ (Name a) (Tuple [ (Name b) (List [ (Starred (Name "
            "c))])])])] (Tuple [ (Name d)]))");
  EXPECT_EQ(parseToText("a.b = a[0] = 1"),
            "(Assign [ (Attribute (Name a) b) (Subscript (Name a) (Constant 0))] (Constant 1))");
  EXPECT_EQ(parseToText("a: b.c = 1"), "(AnnAssign (Name a) (Attribute (Name b) c) (Constant 1))");
  EXPECT_EQ(parseToText("(a): b"), "(AnnAssign (Name a) (Name b) -)");
  EXPECT_EQ(parseToText("a[0]: b = c, d"),
            "(AnnAssign (Subscript (Name a) (Constant 0)) (Name b) (Tuple [ (Name c) (Name d)]))");
  const char *ops[] = {"+", "-", "*", "/", "//", "%", "@", "&", "|", "^", "<<", ">>", "**"};
  for (const char *op : ops)
    EXPECT_EQ(parseToText(std::string("a ") + op + "= b"),
              std::string("(AugAssign (Name a) ") + op + " (Name b))");
}

TEST(ParserStatements, Simple) {
  EXPECT_EQ(parseToText("pass; pass;"), "(Pass)\n(Pass)");
  EXPECT_EQ(parseToText("del a, (b, c.d), [e]"),
            "(Delete [ (Name a) (Tuple [ (Name b) (Attribute (Name c) d)]) (List [ (Name e)])])");
  EXPECT_EQ(parseToText("assert a, b"), "(Assert (Name a) (Name b))");
  EXPECT_EQ(parseToText("raise a from b"), "(Raise (Name a) (Name b))");
  EXPECT_EQ(parseToText("raise"), "(Raise - -)");
  EXPECT_EQ(parseToText("global a, b\nnonlocal c"), "(Global a b)\n(Nonlocal c)");
  EXPECT_EQ(parseToText("import a, b.c as d"), "(Import a b.c as d)");
  EXPECT_EQ(parseToText("import a . b"), "(Import a.b)");
  EXPECT_EQ(parseToText("from a.b import c as d, e"), "(ImportFrom 0 a.b c as d e)");
  EXPECT_EQ(parseToText("from ....a import (b, c,)"), "(ImportFrom 4 a b c)");
  EXPECT_EQ(parseToText("from . import *"), "(ImportFrom 1 '' *)");
  EXPECT_EQ(parseToText("type X[T: int, *Ts, **P] = list[T]"),
            "(TypeAlias X (Subscript (Name list) (Name T)))");
}

TEST(ParserStatements, SoftKeywordsStayNames) {
  EXPECT_EQ(parseToText("match = 1"), "(Assign [ (Name match)] (Constant 1))");
  EXPECT_EQ(parseToText("match(x)"), "(Expr (Call (Name match) [ (Name x)]))");
  EXPECT_EQ(parseToText("match[x]: int"), "(AnnAssign (Subscript (Name match) (Name x)) (Name int) -)");
  EXPECT_EQ(parseToText("match - 1"), "(Expr (BinOp - (Name match) (Constant 1)))");
  EXPECT_EQ(parseToText("type = type(x)"), "(Assign [ (Name type)] (Call (Name type) [ (Name x)]))");
  EXPECT_EQ(parseToText("case, _ = type, match"),
            "(Assign [ (Tuple [ (Name case) (Name _)])] (Tuple [ (Name type) (Name match)]))");
}

TEST(ParserStatements, Match) {
  EXPECT_EQ(
      parseToText("match x:\n  case {'a': [1, *_]} | C(y=z) if lambda: y: pass\n  case _:\n    a\n    b\n"),
      "(Match (Name x) [ (Pass)] [ (Expr (Name a)) (Expr (Name b))])");
  EXPECT_EQ(parseToText("match a, *b:\n  case x: pass"),
            "(Match (Tuple [ (Name a) (Starred (Name b))]) [ (Pass)])");
  EXPECT_EQ(parseToText("match (x):\n  case x: pass"), "(Match (Name x) [ (Pass)])");
}

TEST(ParserStatements, Compound) {
  EXPECT_EQ(
      parseToText("if a: b\nelif c: d\nelif e: f\nelse: g"),
      "(If (Name a) [ (Expr (Name b))] [ (If (Name c) [ (Expr (Name d))] [ (If (Name e) [ (Expr (Name f))] [ "
      "(Expr (Name g))])])])");
  EXPECT_EQ(parseToText("while a:\n  break\nelse:\n  b"), "(While (Name a) [ (Break)] [ (Expr (Name b))])");
  EXPECT_EQ(
      parseToText("for a, b in c, d:\n  continue\nelse: e"),
      "(For (Tuple [ (Name a) (Name b)]) (Tuple [ (Name c) (Name d)]) [ (Continue)] [ (Expr (Name e))])");
  EXPECT_EQ(parseToText("for x[a in b] in c: pass"),
            "(For (Subscript (Name x) (Compare (Name a) in (Name b))) (Name c) [ (Pass)] [])");
  EXPECT_EQ(parseToText("try:\n  a\nexcept B: c\nexcept (D, E) as f: g\nexcept: h\nelse: i\nfinally: j"),
            "(Try [ (Expr (Name a))] except: (Name B) '' [ (Expr (Name c))] except: (Tuple [ (Name D) (Name "
            "E)]) f [ "
            "(Expr (Name g))] except: - '' [ (Expr (Name h))] [ (Expr (Name i))] [ (Expr (Name j))])");
  EXPECT_EQ(parseToText("try: a\nexcept* B: c"),
            "(Try [ (Expr (Name a))] except: (Name B) '' [ (Expr (Name c))] [] [])");
  EXPECT_EQ(parseToText("if (a := b) > c: pass"),
            "(If (Compare (NamedExpr (Name a) (Name b)) > (Name c)) [ (Pass)] [])");
}

TEST(ParserStatements, With) {
  EXPECT_EQ(parseToText("with a as b, c: pass"), "(With item: (Name a) (Name b) item: (Name c) - [ (Pass)])");
  EXPECT_EQ(parseToText("with (a as b, c as d,): pass"),
            "(With item: (Name a) (Name b) item: (Name c) (Name d) [ (Pass)])");
  EXPECT_EQ(parseToText("with (a, b): pass"), "(With item: (Name a) - item: (Name b) - [ (Pass)])");
  EXPECT_EQ(parseToText("with (a, b) as c: pass"),
            "(With item: (Tuple [ (Name a) (Name b)]) (Name c) [ (Pass)])");
  EXPECT_EQ(parseToText("with (a).b as (c, d), e: pass"),
            "(With item: (Attribute (Name a) b) (Tuple [ (Name c) (Name d)]) item: (Name e) - [ (Pass)])");
  EXPECT_EQ(parseToText("with (a := b): pass"), "(With item: (NamedExpr (Name a) (Name b)) - [ (Pass)])");
  EXPECT_EQ(parseToText("with (): pass"), "(With item: (Tuple []) - [ (Pass)])");
  EXPECT_EQ(parseToText("with (a for a in b): pass"),
            "(With item: (GeneratorExp (Name a) for (Name a) (Name b) []) - [ (Pass)])");
}

TEST(ParserStatements, Definitions) {
  EXPECT_EQ(parseToText("def f(a, /, b: int, c: tl.constexpr = 1, *d: e, f=2, **g) -> h: pass"),
            "(FunctionDef f [ (posonly a - -) (pos b (Name int) -) (pos c (Attribute (Name tl) constexpr) "
            "(Constant "
            "1)) (* d (Name e) -) (kwonly f - (Constant 2)) (** g - -)] (Name h) [] [ (Pass)])");
  EXPECT_EQ(
      parseToText("def f[T](*, a, b=1): return a, *b"),
      "(FunctionDef f [ (kwonly a - -) (kwonly b - (Constant 1))] - [] [ (Return (Tuple [ (Name a) (Starred "
      "(Name b))]))])");
  EXPECT_EQ(
      parseToText("@a.b\n@c(d)\n\ndef f(): yield a; yield from b; x = yield"),
      "(FunctionDef f [] - [ (Attribute (Name a) b) (Call (Name c) [ (Name d)])] [ (Expr (Yield (Name a))) "
      "(Expr (YieldFrom (Name b))) (Assign [ (Name x)] (Yield -))])");
  EXPECT_EQ(parseToText("class C[T](A, metaclass=B):\n  x: int = 1\n  def f(self): return"),
            "(ClassDef C [ (Name A)] metaclass= (Name B) [] [ (AnnAssign (Name x) (Name int) (Constant 1)) "
            "(FunctionDef f [ (pos self - -)] - [] [ (Return -)])])");
  EXPECT_EQ(
      parseToText("async def f():\n  async for a in b: pass\n  async with c: await d"),
      "(AsyncFunctionDef f [] - [] [ (AsyncFor (Name a) (Name b) [ (Pass)] []) (AsyncWith item: (Name c) - [ "
      "(Expr (Await (Name d)))])])");
}

TEST(ParserStatements, DefinitionPositions) {
  Parsed parsed = parseText("@jit\n@x\nasync def name(a): pass\n");
  ASSERT_TRUE(parsed.module);
  auto *def = llvm::cast<ast::FunctionDef>(parsed.module->body()[0]);
  EXPECT_EQ(def->range().begin, 0u);
  EXPECT_EQ(def->defOffset, 14u);
  EXPECT_EQ(def->nameRange.begin, 18u);
  EXPECT_EQ(def->nameRange.end, 22u);
}

TEST(ParserErrors, Statements) {
  EXPECT_EQ(parseError("x = 1 +\n"), "1:7: invalid syntax");
  EXPECT_EQ(parseError("x y"), "1:2: invalid syntax");
  EXPECT_EQ(parseError("def f()\n  pass"), "1:7: expected ':'");
  EXPECT_EQ(parseError("if x\n  pass"), "1:4: expected ':'");
  EXPECT_EQ(parseError("class C\n  pass"), "1:7: expected ':'");
  EXPECT_EQ(parseError("else: pass"), "1:0: invalid syntax");
  EXPECT_EQ(parseError("def 1(): pass"), "1:4: invalid syntax");
  EXPECT_EQ(parseError("def f: pass"), "1:5: expected '('");
  EXPECT_EQ(parseError("print 'x'"), "1:0: Missing parentheses in call to 'print'. Did you mean print(...)?");
  EXPECT_EQ(parseError("if x = 3: pass"),
            "1:3: invalid syntax. Maybe you meant '==' or ':=' instead of '='?");
  EXPECT_EQ(parseError("while x.y = 3: pass"),
            "1:6: cannot assign to attribute here. Maybe you meant '==' instead of '='?");
  EXPECT_EQ(parseError("try:\n  pass\nx = 1"), "3:0: expected 'except' or 'finally' block");
  EXPECT_EQ(parseError("try: pass\n"), "1:9: expected 'except' or 'finally' block");
  EXPECT_EQ(parseError("try: pass\nexcept A: pass\nexcept* B: pass"),
            "3:0: cannot have both 'except' and 'except*' on the same 'try'");
  EXPECT_EQ(parseError("from a import b,\n"),
            "1:15: trailing comma not allowed without surrounding parentheses");
  EXPECT_EQ(parseError("return 1"), "1:0: 'return' outside function");
  EXPECT_EQ(parseError("class C: return"), "1:9: 'return' outside function");
  EXPECT_EQ(parseError("break"), "1:0: 'break' outside loop");
  EXPECT_EQ(parseError("for a in b:\n  def f(): continue"), "2:11: 'continue' not properly in loop");
  EXPECT_EQ(parseError("yield x"), "1:0: 'yield' outside function");
  EXPECT_EQ(parseError("@a\nx = 1"), "2:0: invalid syntax");
}

TEST(ParserErrors, MissingBlocks) {
  struct Case {
    const char *header, *owner;
  };
  const Case cases[] = {
      {"if x:", "'if' statement"},        {"while x:", "'while' statement"},
      {"for x in y:", "'for' statement"}, {"with x:", "'with' statement"},
      {"try:", "'try' statement"},        {"def f():", "function definition"},
      {"class C:", "class definition"},
  };
  for (const Case &each : cases)
    EXPECT_EQ(parseError(std::string("\n") + each.header + "\nx = 1\n"),
              std::string("3:0: expected an indented block after ") + each.owner + " on line 2");
  EXPECT_EQ(parseError("if x: y\nelif z:\nq"),
            "3:0: expected an indented block after 'elif' statement on line 2");
  EXPECT_EQ(parseError("if x: y\nelse:\nq"),
            "3:0: expected an indented block after 'else' statement on line 2");
  EXPECT_EQ(parseError("def f():\n"), "1:8: expected an indented block after function definition on line 1");
}

TEST(ParserErrors, LineNumbersOfCutOutSource) {
  auto file = std::make_shared<SourceFile>("k.py", "def f():\nx", /*firstLine=*/41, /*indent=*/4);
  Diagnostics diags;
  EXPECT_EQ(parseModule(file, diags), nullptr);
  ASSERT_TRUE(diags.firstError());
  EXPECT_EQ(diags.firstError()->message, "expected an indented block after function definition on line 41");
  EXPECT_TRUE(llvm::StringRef(render(*diags.firstError())).starts_with("k.py:42:5: error: "));
}

TEST(ParserErrors, Targets) {
  const char *maybe = " here. Maybe you meant '==' instead of '='?";
  EXPECT_EQ(parseError("1 = x"), std::string("1:0: cannot assign to literal") + maybe);
  EXPECT_EQ(parseError("f() = 1"), std::string("1:0: cannot assign to function call") + maybe);
  EXPECT_EQ(parseError("x + 1 = 2"), std::string("1:0: cannot assign to expression") + maybe);
  EXPECT_EQ(parseError("None = 1"), "1:0: cannot assign to None");
  EXPECT_EQ(parseError("... = 1"), "1:0: cannot assign to ellipsis");
  EXPECT_EQ(parseError("a < b = 1"), "1:0: cannot assign to comparison");
  EXPECT_EQ(parseError("(a, 1) = 2"), "1:4: cannot assign to literal");
  EXPECT_EQ(parseError("for 1 in x: pass"), "1:4: cannot assign to literal");
  EXPECT_EQ(parseError("[a for f() in x]"), "1:7: cannot assign to function call");
  EXPECT_EQ(parseError("with a as 1: pass"), "1:10: cannot assign to literal");
  EXPECT_EQ(parseError("del a, f()"), "1:7: cannot delete function call");
  EXPECT_EQ(parseError("del *a"), "1:4: invalid syntax");
  EXPECT_EQ(parseError("f() += 1"), "1:0: 'function call' is an illegal expression for augmented assignment");
  EXPECT_EQ(parseError("a, b += 1"), "1:0: 'tuple' is an illegal expression for augmented assignment");
  EXPECT_EQ(parseError("a, b: int"), "1:0: only single target (not tuple) can be annotated");
  EXPECT_EQ(parseError("f(): int"), "1:0: illegal target for annotation");
  EXPECT_EQ(parseError("*a = 1"), "1:0: starred assignment target must be in a list or tuple");
  EXPECT_EQ(parseError("*a, *b = 1"), "1:4: multiple starred expressions in assignment");
  EXPECT_EQ(parseError("(a.b := 1)"), "1:1: cannot use assignment expressions with attribute");
  EXPECT_EQ(parseError("a := 1"), "1:2: invalid syntax");
  EXPECT_EQ(parseError("def f(): yield = 1"), "1:9: assignment to yield expression not possible");
}

TEST(ParserErrors, Expressions) {
  EXPECT_EQ(parseError("x = a if b"), "1:4: expected 'else' after 'if' expression");
  EXPECT_EQ(parseError("x = a if b if c else d else e"), "1:4: expected 'else' after 'if' expression");
  EXPECT_EQ(parseError("[a b]"), "1:1: invalid syntax. Perhaps you forgot a comma?");
  EXPECT_EQ(parseError("{a: 1, b}"), "1:7: ':' expected after dictionary key");
  EXPECT_EQ(parseError("{a: }"), "1:2: expression expected after dictionary key and ':'");
  EXPECT_EQ(parseError("f(a=1, b)"), "1:7: positional argument follows keyword argument");
  EXPECT_EQ(parseError("f(**a, b)"), "1:7: positional argument follows keyword argument unpacking");
  EXPECT_EQ(parseError("f(**a, *b)"), "1:7: iterable argument unpacking follows keyword argument unpacking");
  EXPECT_EQ(parseError("f(a=1, a=2)"), "1:7: keyword argument repeated: a");
  EXPECT_EQ(parseError("f(a.b=1)"), "1:2: expression cannot contain assignment, perhaps you meant \"==\"?");
  EXPECT_EQ(parseError("f(True=1)"), "1:2: cannot assign to True");
  EXPECT_EQ(parseError("f(x for x in y, 1)"), "1:2: Generator expression must be parenthesized");
  EXPECT_EQ(parseError("f(1, x for x in y)"), "1:5: Generator expression must be parenthesized");
  EXPECT_EQ(parseError("[*a for a in b]"), "1:1: iterable unpacking cannot be used in comprehension");
  EXPECT_EQ(parseError("{**a for a in b}"), "1:1: dict unpacking cannot be used in dict comprehension");
  EXPECT_EQ(parseError("(*a)"), "1:1: cannot use starred expression here");
  EXPECT_EQ(parseError("*a"), "1:0: can't use starred expression here");
  EXPECT_EQ(parseError("x[]"), "1:2: invalid syntax");
  EXPECT_EQ(parseError("x[1:2:3:4]"), "1:7: invalid syntax");
  EXPECT_EQ(parseError("a < not b"), "1:4: invalid syntax");
  EXPECT_EQ(parseError("- not b"), "1:2: invalid syntax");
  EXPECT_EQ(parseError("a + lambda: b"), "1:4: invalid syntax");
  EXPECT_EQ(parseError("[1,,2]"), "1:3: invalid syntax");
}

TEST(ParserErrors, Parameters) {
  EXPECT_EQ(parseError("def f(a=1, b): pass"),
            "1:11: parameter without a default follows parameter with a default");
  EXPECT_EQ(parseError("def f(*): pass"), "1:7: named parameters must follow bare *");
  EXPECT_EQ(parseError("def f(*, **a): pass"), "1:12: named parameters must follow bare *");
  EXPECT_EQ(parseError("def f(**a, b): pass"), "1:11: parameters cannot follow var-keyword parameter");
  EXPECT_EQ(parseError("def f(*a, *b): pass"), "1:10: * may appear only once");
  EXPECT_EQ(parseError("def f(/): pass"), "1:6: at least one parameter must precede /");
  EXPECT_EQ(parseError("def f(a, /, b, /): pass"), "1:15: / may appear only once");
  EXPECT_EQ(parseError("def f(*a, /): pass"), "1:10: / must be ahead of *");
  EXPECT_EQ(parseError("def f(a, a): pass"), "1:9: duplicate parameter 'a' in function definition");
  EXPECT_EQ(parseError("def f((a)): pass"), "1:6: Function parameters cannot be parenthesized");
  EXPECT_EQ(parseError("lambda (a): a"), "1:7: Lambda expression parameters cannot be parenthesized");
  EXPECT_EQ(parseError("def f(*a=1): pass"), "1:8: var-positional parameter cannot have default value");
  EXPECT_EQ(parseError("def f(a=): pass"), "1:7: expected default value expression");
}

TEST(ParserErrors, OnlyTheFirst) { EXPECT_EQ(parseError("x = = 1\ny = = 2\n'abc\n"), "1:4: invalid syntax"); }

TEST(AST, KindNames) {
  EXPECT_STREQ(ast::nodeKindName(ast::NodeKind::BinOp), "BinOp");
  EXPECT_STREQ(ast::nodeKindName(ast::NodeKind::ExprStmt), "Expr");
  EXPECT_STREQ(ast::nodeKindName(ast::NodeKind::AsyncFunctionDef), "AsyncFunctionDef");
  for (int kind = 0; kind <= int(ast::NodeKind::TypeAlias); ++kind)
    EXPECT_STRNE(ast::nodeKindName(ast::NodeKind(kind)), "?");
}

TEST(AST, Heights) {
  Parsed parsed = parseText("x = -(a + b)\n");
  ASSERT_TRUE(parsed.module);
  // The statement, the minus, the sum, a name.
  EXPECT_EQ(parsed.module->body()[0]->height(), 4u);
}

} // namespace
} // namespace despina::test
