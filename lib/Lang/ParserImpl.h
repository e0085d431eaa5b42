//===- ParserImpl.h - The parser's class ------------------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Stack use is bounded by construction. Operators of every kind (unary, binary, comparison, conditional,
// lambda) are parsed with an explicit stack; functions recurse only into brackets and blocks, whose nesting
// the lexer limits. Lists under construction live on shared stacks too, so that frames stay small.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_LANG_PARSERIMPL_H
#define DESPINA_LIB_LANG_PARSERIMPL_H

#include "Lexer.h"

#include "despina/Lang/Parser.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"

namespace despina::syntax {

/// How tightly operators bind; also what parseExpression may read.
enum class Level : uint8_t {
  Ternary = 1, ///< a whole expression: conditional and lambda too
  Or,
  And,
  Not,
  Compare,
  BitOr, ///< operands of comparisons: no `in`, so targets of `for` are read at this level
  BitXor,
  BitAnd,
  Shift,
  Arith,
  Term,
  Unary,
  Power,
};

enum class OperatorClass : uint8_t { Unary, Binary, Compare, Bool, TernaryIf, TernaryElse, Lambda };

/// An operator that waits for its right operand.
struct PendingOperator {
  OperatorClass kind;
  uint8_t op; ///< the enumerator of ast::UnaryOperator, BinaryOperator, ...
  Level level;
  uint16_t depth; ///< levels of the tree that wait, this one included
  uint32_t begin, end;
  ast::Lambda *lambda;
};

/// What functions return after reporting: null or false, as they need.
struct Failure {
  template <typename T> operator T *() const { return nullptr; }
  operator bool() const { return false; }
};

/// An operand with its extent, parentheses included.
struct Operand {
  ast::Expr *expr;
  uint32_t begin, end;
};

/// How Python's errors name an expression that cannot be assigned to.
const char *expressionName(const ast::Expr *expr);

enum class TargetUse : uint8_t { Assign, Delete, For, With };

class Parser {
public:
  Parser(ast::Module &module, Diagnostics &diags);
  bool parse();

private:
  using Expr = ast::Expr;
  using Stmt = ast::Stmt;

  // Tokens.
  const Token &cur() const { return tokens_[pos_]; }
  Tok kind() const { return tokens_[pos_].kind; }
  Tok kindAt(size_t ahead) const { return tokens_[std::min(pos_ + ahead, tokens_.size() - 1)].kind; }
  bool is(Tok kind) const { return cur().kind == kind; }
  llvm::StringRef text(const Token &token) const {
    return text_.substr(token.begin, token.end - token.begin);
  }
  bool isWord(llvm::StringRef word) const { return is(Tok::Name) && text(cur()) == word; }
  void advance();
  bool accept(Tok kind);
  bool expect(Tok kind, const char *what);
  size_t matchingBracket(size_t open) const;

  // Errors. Only the first one is reported.
  Failure fail(uint32_t begin, uint32_t end, const llvm::Twine &message, const llvm::Twine &help = "");
  Failure fail(const Expr *expr, const llvm::Twine &message, const llvm::Twine &help = "") {
    return fail(expr->range().begin, expr->range().end, message, help);
  }
  Failure invalidSyntax();
  Failure tooDeep(uint32_t begin, uint32_t end);
  Failure missingDelimiter(uint32_t begin);
  unsigned lineOf(uint32_t offset) const { return file_.lineColumn(offset).line; }

  // Nodes.
  SourceRange rangeOf(uint32_t begin, uint32_t end) const { return {&file_, begin, end}; }
  template <typename T> T *make(uint32_t begin, uint32_t end, unsigned height) {
    return finish(module_.make<T>(rangeOf(begin, end)), height);
  }
  template <typename T> T *finish(T *node, unsigned height) {
    if (height > ParserLimits::maxTreeDepth)
      return tooDeep(node->range().begin, node->range().end);
    node->setHeight(height);
    return node;
  }
  static unsigned heightOf(const ast::Node *node) { return node ? node->height() : 0; }
  template <typename Nodes> static unsigned tallest(const Nodes &nodes) {
    unsigned height = 0;
    for (const ast::Node *node : nodes)
      height = std::max(height, heightOf(node));
    return height;
  }
  /// Copies what was pushed since `mark` to the arena and pops it.
  template <typename T> llvm::ArrayRef<T> take(std::vector<T> &stack, size_t mark) {
    auto items = module_.copy(llvm::ArrayRef<T>(stack).drop_front(mark));
    stack.erase(stack.begin() + mark, stack.end());
    return items;
  }

  // Expressions (ParserExpr.cpp).
  Expr *parseExpression(Level level = Level::Ternary);
  bool climb(Level level, size_t base);
  bool parsePrefixes(Level level, size_t base);
  bool parseOperator(Level level, size_t base, bool &more);
  bool parseConditional(size_t base);
  bool pushOperator(OperatorClass kind, unsigned op, Level level, size_t base, unsigned tokens);
  bool reduceWhile(Level above, bool alsoEqual, size_t base);
  bool reduceTop(size_t base);
  Expr *reduceUnary(const PendingOperator &op);
  Expr *reduceBinary(const PendingOperator &op);
  Expr *reduceChain(const PendingOperator &op, size_t count);
  Expr *reduceConditional();
  size_t chainLength(size_t base) const;
  bool startsExpression(const Token &token) const;
  Expr *parseLambdaHead();
  Expr *parsePrimary();
  Expr *parseSimpleAtom();
  Expr *parseName();
  Expr *parsePostfix(Expr *value, uint32_t begin);
  Expr *parseAttribute(Expr *value, uint32_t begin);

  // Displays, calls and subscripts (ParserBrackets.cpp).
  Expr *parseNamed();
  Expr *parseNamedTail(Expr *target);
  Expr *parseStarOrNamed();
  Expr *parseStarred();
  Expr *parseStarOrExpression();
  Expr *parseExpressionList();
  Expr *parseTargetList(TargetUse use);
  Expr *parseYield();
  Expr *parseYieldOrList();
  Expr *parseParenthesized();
  Expr *parseList();
  Expr *parseBraces();
  Expr *parseDictItems(uint32_t begin);
  Expr *parseSetItems(uint32_t begin, Expr *first);
  bool parseItemsUntil(Tok close, uint32_t lastBegin);
  Expr *parseCall(Expr *callee, uint32_t begin);
  bool parseArguments(llvm::ArrayRef<Expr *> &args, llvm::ArrayRef<ast::Keyword> &keywords, unsigned &height);
  bool parseArgument(size_t keywordMark, size_t argMark, uint32_t open);
  bool parseKeyword(size_t keywordMark);
  bool parsePositional(size_t keywordMark, size_t argMark, uint32_t open);
  Expr *parseGeneratorArgument(Expr *element, uint32_t open, bool alone);
  Expr *parseSubscript(Expr *value, uint32_t begin);
  Expr *parseSubscriptItem();
  Expr *parseSlice(Expr *lower, uint32_t begin);
  bool startsComprehension() const { return is(Tok::KwFor) || (is(Tok::KwAsync) && kindAt(1) == Tok::KwFor); }
  bool parseGenerators(llvm::ArrayRef<ast::Comprehension> &generators, unsigned &height);
  bool parseGenerator(ast::Comprehension &generator, unsigned &height);
  template <typename T> Expr *parseComprehension(Expr *element, uint32_t begin, Tok close);
  Expr *parseDictComprehension(Expr *key, Expr *value, uint32_t begin);
  bool checkTarget(const Expr *target, TargetUse use, bool nested = false);
  Failure cannotAssign(const Expr *target, TargetUse use, bool nested);

  // Literals (ParserLiteral.cpp).
  Expr *parseNumber();
  Expr *parseStrings();
  bool parseStringPiece(std::string &text, uint32_t &textBegin, bool &isBytes, bool &sawFormat);
  bool parseFString(std::string &text, uint32_t &textBegin);
  bool parseField(std::string &text, uint32_t &textBegin, bool raw);
  ast::JoinedStr *parseFormatSpec(bool raw);
  void flushText(std::string &text, uint32_t begin, uint32_t end);
  bool decodeText(uint32_t begin, uint32_t end, bool raw, bool bytes, bool braces, std::string &out);
  bool decodeEscape(uint32_t &at, uint32_t begin, uint32_t end, bool bytes, std::string &out);
  bool decodeHex(uint32_t &at, uint32_t begin, uint32_t end, unsigned digits, std::string &out, bool bytes);
  bool decodeNamed(uint32_t &at, uint32_t begin, uint32_t end, std::string &out);

  // Parameters (ParserDefs.cpp).
  bool parseParameters(Tok close, bool annotations, llvm::ArrayRef<ast::Parameter> &params, unsigned &height);
  struct ParameterState {
    bool sawDefault = false, sawStar = false, bareStar = false, sawSlash = false, sawDoubleStar = false;
  };
  bool parseParameter(Tok close, bool annotations, ParameterState &state, size_t mark);
  bool parseNamedParameter(ast::Parameter::Kind kind, bool annotations, ParameterState &state, size_t mark);
  bool parseSlashMarker(ParameterState &state, size_t mark);
  bool parseTypeParams();
  Stmt *parseDecorated();
  Stmt *parseDef(uint32_t begin, size_t decoratorMark, bool isAsync);
  Stmt *parseClass(uint32_t begin, size_t decoratorMark);

  // Statements (ParserStmt.cpp).
  bool parseStatement();
  Stmt *parseCompound(bool &isCompound);
  bool parseSimpleLine();
  bool endOfSimpleStatement();
  Stmt *parseSimple();
  Stmt *parseReturn();
  Stmt *parseRaise();
  Stmt *parseAssert();
  Stmt *parseDelete();
  Stmt *parseLoopExit();
  template <typename T> Stmt *parseNameList();
  Stmt *parseImport();
  Stmt *parseImportFrom();
  bool parseDottedName(llvm::StringRef &name);
  bool parseAlias(bool dotted);
  Stmt *parseTypeAlias();
  Stmt *parseExpressionStatement();
  Stmt *parseAssign(Expr *first, uint32_t begin);
  Stmt *parseAnnotated(Expr *target, uint32_t begin);
  Stmt *parseAugmented(Expr *target, uint32_t begin);
  Expr *parseCondition();
  bool expectColon(bool always);
  bool parseBlock(ast::StmtList &body, const char *owner, uint32_t ownerOffset);
  bool parseElse(ast::StmtList &orelse);
  Stmt *parseIf();
  Stmt *buildElifChain(size_t mark, ast::StmtList orelse);
  Stmt *parseWhile();
  Stmt *parseFor(uint32_t begin, bool isAsync);
  Stmt *parseTry();
  bool parseHandler(bool first, bool &isStar, unsigned &height);
  Stmt *parseWith(uint32_t begin, bool isAsync);
  bool withItemsInParentheses() const;
  bool parseWithItem(unsigned &height);
  bool startsMatch() const;
  Stmt *parseMatch();
  bool parseCase();
  Stmt *parseAsync();

  ast::Module &module_;
  Diagnostics &diags_;
  const SourceFile &file_;
  llvm::StringRef text_;
  TokenStream stream_;
  std::vector<Token> &tokens_;
  size_t pos_ = 0;
  uint32_t lastEnd_ = 0; ///< end of the last token read that is no layout
  bool failed_ = false;
  unsigned nesting_ = 0;
  unsigned loops_ = 0, functions_ = 0;

  // Lists under construction.
  std::vector<PendingOperator> ops_;
  std::vector<Operand> operands_;
  std::vector<Expr *> exprs_;
  std::vector<Stmt *> stmts_;
  std::vector<ast::Keyword> keywords_;
  std::vector<ast::Parameter> params_;
  std::vector<ast::ExceptHandler> handlers_;
  std::vector<ast::WithItem> withItems_;
  std::vector<ast::Alias> aliases_;
  std::vector<ast::StmtList> bodies_;
  std::vector<ast::If *> ifs_;
};

} // namespace despina::syntax

#endif // DESPINA_LIB_LANG_PARSERIMPL_H
