//===- AST.h - Syntax tree of the kernel language ---------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// The tree has one class per node of Python's own grammar (names as in Python's `ast` module, since error
// texts quote them). Nodes live in the arena of their Module and are never freed one by one. The parser
// accepts all of Python that a module with kernels may hold; code generation rejects by name what kernels
// may not use.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LANG_AST_H
#define DESPINA_LANG_AST_H

#include "despina/Lang/Source.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DynamicAPInt.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/Casting.h"

#include <deque>
#include <memory>

namespace despina::ast {

enum class NodeKind : uint8_t {
  // Expressions.
  Constant,
  Name,
  BinOp,
  UnaryOp,
  BoolOp,
  Compare,
  IfExp,
  Call,
  Attribute,
  Subscript,
  Starred,
  Tuple,
  List,
  Dict,
  Set,
  ListComp,
  SetComp,
  DictComp,
  GeneratorExp,
  Slice,
  JoinedStr,
  FormattedValue,
  Lambda,
  NamedExpr,
  Await,
  Yield,
  YieldFrom,
  // Statements.
  FunctionDef,
  AsyncFunctionDef,
  ClassDef,
  Return,
  Delete,
  Assign,
  AugAssign,
  AnnAssign,
  For,
  AsyncFor,
  While,
  If,
  With,
  AsyncWith,
  Match,
  Raise,
  Try,
  Assert,
  Import,
  ImportFrom,
  Global,
  Nonlocal,
  ExprStmt,
  Pass,
  Break,
  Continue,
  TypeAlias,
};

/// The class name in Python's `ast` module ("BinOp", "Expr" for ExprStmt, ...).
const char *nodeKindName(NodeKind kind);

class Node {
public:
  NodeKind kind() const { return kind_; }
  SourceRange range() const { return range_; }
  void setEnd(uint32_t end) { range_.end = end; }
  /// Levels of the tree below and including this node; the parser keeps it within ParserLimits::maxTreeDepth.
  unsigned height() const { return height_; }
  void setHeight(unsigned height) { height_ = static_cast<uint16_t>(height); }

protected:
  Node(NodeKind kind, SourceRange range) : kind_(kind), range_(range) {}

private:
  NodeKind kind_;
  uint16_t height_ = 1;
  SourceRange range_;
};

class Expr : public Node {
public:
  using Node::Node;
  static bool classof(const Node *n) { return n->kind() <= NodeKind::YieldFrom; }
};
class Stmt : public Node {
public:
  using Node::Node;
  static bool classof(const Node *n) { return n->kind() > NodeKind::YieldFrom; }
};

using ExprList = llvm::ArrayRef<Expr *>;
using StmtList = llvm::ArrayRef<Stmt *>;

enum class BinaryOperator : uint8_t {
  Add,
  Sub,
  Mult,
  Div,
  FloorDiv,
  Mod,
  Pow,
  LShift,
  RShift,
  BitAnd,
  BitOr,
  BitXor,
  MatMult
};
enum class UnaryOperator : uint8_t { UAdd, USub, Not, Invert };
enum class BoolOperator : uint8_t { And, Or };
enum class CompareOperator : uint8_t { Eq, NotEq, Lt, LtE, Gt, GtE, Is, IsNot, In, NotIn };

#define DESPINA_NODE(NAME, BASE)                                                                             \
  static bool classof(const Node *n) { return n->kind() == NodeKind::NAME; }                                 \
  explicit NAME(SourceRange range) : BASE(NodeKind::NAME, range) {}

struct Constant : Expr {
  enum class Type : uint8_t { None, Ellipsis, Bool, Int, Float, Complex, Str, Bytes };
  DESPINA_NODE(Constant, Expr)
  Type type = Type::None;
  bool boolean = false;
  llvm::DynamicAPInt integer;
  double real = 0;        ///< Float, and the imaginary part of Complex
  llvm::StringRef string; ///< Str (UTF-8, escapes resolved) and Bytes
};
struct Name : Expr {
  DESPINA_NODE(Name, Expr) llvm::StringRef id;
};
struct BinOp : Expr {
  DESPINA_NODE(BinOp, Expr) BinaryOperator op {};
  Expr *left = nullptr, *right = nullptr;
  SourceRange opRange;
};
struct UnaryOp : Expr {
  DESPINA_NODE(UnaryOp, Expr) UnaryOperator op {};
  Expr *operand = nullptr;
};
struct BoolOp : Expr {
  DESPINA_NODE(BoolOp, Expr) BoolOperator op {};
  ExprList values;
};
struct Compare : Expr {
  DESPINA_NODE(Compare, Expr) Expr *left = nullptr;
  llvm::ArrayRef<CompareOperator> ops;
  ExprList comparators;
};
struct IfExp : Expr {
  DESPINA_NODE(IfExp, Expr) Expr *test = nullptr, *body = nullptr, *orelse = nullptr;
};
/// `arg = value`; an empty name is `**value`.
struct Keyword {
  llvm::StringRef name;
  Expr *value = nullptr;
  SourceRange range;
};
struct Call : Expr {
  DESPINA_NODE(Call, Expr) Expr *func = nullptr;
  ExprList args;
  llvm::ArrayRef<Keyword> keywords;
};
struct Attribute : Expr {
  DESPINA_NODE(Attribute, Expr) Expr *value = nullptr;
  llvm::StringRef attr;
  SourceRange attrRange;
};
struct Subscript : Expr {
  DESPINA_NODE(Subscript, Expr) Expr *value = nullptr, *index = nullptr;
};
struct Starred : Expr {
  DESPINA_NODE(Starred, Expr) Expr *value = nullptr;
};
struct Tuple : Expr {
  DESPINA_NODE(Tuple, Expr) ExprList elts;
};
struct List : Expr {
  DESPINA_NODE(List, Expr) ExprList elts;
};
/// A null key is `**value`.
struct Dict : Expr {
  DESPINA_NODE(Dict, Expr) ExprList keys, values;
};
struct Set : Expr {
  DESPINA_NODE(Set, Expr) ExprList elts;
};
struct Comprehension {
  Expr *target = nullptr, *iter = nullptr;
  ExprList ifs;
  bool isAsync = false;
};
struct ListComp : Expr {
  DESPINA_NODE(ListComp, Expr) Expr *elt = nullptr;
  llvm::ArrayRef<Comprehension> generators;
};
struct SetComp : Expr {
  DESPINA_NODE(SetComp, Expr) Expr *elt = nullptr;
  llvm::ArrayRef<Comprehension> generators;
};
struct DictComp : Expr {
  DESPINA_NODE(DictComp, Expr) Expr *key = nullptr, *value = nullptr;
  llvm::ArrayRef<Comprehension> generators;
};
struct GeneratorExp : Expr {
  DESPINA_NODE(GeneratorExp, Expr) Expr *elt = nullptr;
  llvm::ArrayRef<Comprehension> generators;
};
struct Slice : Expr {
  DESPINA_NODE(Slice, Expr) Expr *lower = nullptr, *upper = nullptr, *step = nullptr;
};
/// An f-string: Constant strings and FormattedValues in order.
struct JoinedStr : Expr {
  DESPINA_NODE(JoinedStr, Expr) ExprList values;
};
/// `{value!conversion:spec}`; conversion is 0, 's', 'r' or 'a'. `{x=}` becomes the string `x=` and `{x!r}`.
struct FormattedValue : Expr {
  DESPINA_NODE(FormattedValue, Expr) Expr *value = nullptr;
  char conversion = 0;
  JoinedStr *formatSpec = nullptr;
};
struct NamedExpr : Expr {
  DESPINA_NODE(NamedExpr, Expr) Name *target = nullptr;
  Expr *value = nullptr;
};
struct Await : Expr {
  DESPINA_NODE(Await, Expr) Expr *value = nullptr;
};
struct Yield : Expr {
  DESPINA_NODE(Yield, Expr) Expr *value = nullptr;
};
struct YieldFrom : Expr {
  DESPINA_NODE(YieldFrom, Expr) Expr *value = nullptr;
};

struct Parameter {
  enum class Kind : uint8_t { PositionalOnly, Positional, VarPositional, KeywordOnly, VarKeyword };
  llvm::StringRef name;
  Expr *annotation = nullptr;
  Expr *defaultValue = nullptr;
  Kind kind = Kind::Positional;
  SourceRange range;
};
struct Lambda : Expr {
  DESPINA_NODE(Lambda, Expr) llvm::ArrayRef<Parameter> params;
  Expr *body = nullptr;
};

struct FunctionDef : Stmt {
  static bool classof(const Node *n) {
    return n->kind() == NodeKind::FunctionDef || n->kind() == NodeKind::AsyncFunctionDef;
  }
  FunctionDef(SourceRange range, bool isAsync = false)
      : Stmt(isAsync ? NodeKind::AsyncFunctionDef : NodeKind::FunctionDef, range) {}
  llvm::StringRef name;
  SourceRange nameRange;
  llvm::ArrayRef<Parameter> params;
  StmtList body;
  ExprList decorators;
  Expr *returns = nullptr;
  uint32_t defOffset = 0; ///< offset of the `def` keyword (range() starts at the first decorator)
};
struct ClassDef : Stmt {
  DESPINA_NODE(ClassDef, Stmt) llvm::StringRef name;
  ExprList bases;
  llvm::ArrayRef<Keyword> keywords;
  StmtList body;
  ExprList decorators;
};
struct Return : Stmt {
  DESPINA_NODE(Return, Stmt) Expr *value = nullptr;
};
struct Delete : Stmt {
  DESPINA_NODE(Delete, Stmt) ExprList targets;
};
struct Assign : Stmt {
  DESPINA_NODE(Assign, Stmt) ExprList targets;
  Expr *value = nullptr;
};
struct AugAssign : Stmt {
  DESPINA_NODE(AugAssign, Stmt) Expr *target = nullptr;
  BinaryOperator op{};
  Expr *value = nullptr;
};
struct AnnAssign : Stmt {
  DESPINA_NODE(AnnAssign, Stmt) Expr *target = nullptr, *annotation = nullptr, *value = nullptr;
};
struct For : Stmt {
  static bool classof(const Node *n) { return n->kind() == NodeKind::For || n->kind() == NodeKind::AsyncFor; }
  For(SourceRange range, bool isAsync = false) : Stmt(isAsync ? NodeKind::AsyncFor : NodeKind::For, range) {}
  Expr *target = nullptr, *iter = nullptr;
  StmtList body, orelse;
};
struct While : Stmt {
  DESPINA_NODE(While, Stmt) Expr *test = nullptr;
  StmtList body, orelse;
};
struct If : Stmt {
  DESPINA_NODE(If, Stmt) Expr *test = nullptr;
  StmtList body, orelse;
};
struct WithItem {
  Expr *context = nullptr, *target = nullptr;
};
struct With : Stmt {
  static bool classof(const Node *n) {
    return n->kind() == NodeKind::With || n->kind() == NodeKind::AsyncWith;
  }
  With(SourceRange range, bool isAsync = false)
      : Stmt(isAsync ? NodeKind::AsyncWith : NodeKind::With, range) {}
  llvm::ArrayRef<WithItem> items;
  StmtList body;
};
/// `match`: kernels may not use it, so only the bodies are kept, not the patterns.
struct Match : Stmt {
  DESPINA_NODE(Match, Stmt) Expr *subject = nullptr;
  llvm::ArrayRef<StmtList> bodies;
};
struct Raise : Stmt {
  DESPINA_NODE(Raise, Stmt) Expr *exc = nullptr, *cause = nullptr;
};
struct ExceptHandler {
  Expr *type = nullptr;
  llvm::StringRef name;
  StmtList body;
};
struct Try : Stmt {
  DESPINA_NODE(Try, Stmt) StmtList body;
  llvm::ArrayRef<ExceptHandler> handlers;
  StmtList orelse, finalbody;
};
struct Assert : Stmt {
  DESPINA_NODE(Assert, Stmt) Expr *test = nullptr, *msg = nullptr;
};
struct Alias {
  llvm::StringRef name, asName;
  SourceRange range;
};
struct Import : Stmt {
  DESPINA_NODE(Import, Stmt) llvm::ArrayRef<Alias> names;
};
struct ImportFrom : Stmt {
  DESPINA_NODE(ImportFrom, Stmt) llvm::StringRef module;
  unsigned level = 0;
  llvm::ArrayRef<Alias> names;
};
struct Global : Stmt {
  DESPINA_NODE(Global, Stmt) llvm::ArrayRef<llvm::StringRef> names;
};
struct Nonlocal : Stmt {
  DESPINA_NODE(Nonlocal, Stmt) llvm::ArrayRef<llvm::StringRef> names;
};
struct ExprStmt : Stmt {
  DESPINA_NODE(ExprStmt, Stmt) Expr *value = nullptr;
};
struct Pass : Stmt {
  DESPINA_NODE(Pass, Stmt)
};
struct Break : Stmt {
  DESPINA_NODE(Break, Stmt)
};
struct Continue : Stmt {
  DESPINA_NODE(Continue, Stmt)
};
struct TypeAlias : Stmt {
  DESPINA_NODE(TypeAlias, Stmt) llvm::StringRef name;
  Expr *value = nullptr;
};

#undef DESPINA_NODE

/// Owns a source file and its tree.
class Module {
public:
  explicit Module(std::shared_ptr<const SourceFile> file) : file_(std::move(file)) {}

  const SourceFile &file() const { return *file_; }
  std::shared_ptr<const SourceFile> fileRef() const { return file_; }
  StmtList body() const { return body_; }
  void setBody(StmtList body) { body_ = body; }

  /// Makes a node in the arena.
  template <typename T, typename... Args> T *make(Args &&...args) {
    T *node = new (arena_.Allocate<T>()) T(std::forward<Args>(args)...);
    if constexpr (std::is_same_v<T, Constant>)
      constants_.push_back(node);
    return node;
  }
  template <typename T> llvm::ArrayRef<T> copy(llvm::ArrayRef<T> items) { return items.copy(arena_); }
  llvm::StringRef copy(llvm::StringRef text) { return text.copy(arena_); }

  Module(const Module &) = delete;
  Module &operator=(const Module &) = delete;
  ~Module() {
    for (Constant *constant : constants_)
      constant->~Constant(); // frees big integers
  }

private:
  std::shared_ptr<const SourceFile> file_;
  llvm::BumpPtrAllocator arena_;
  std::deque<Constant *> constants_;
  StmtList body_;
};

} // namespace despina::ast

#endif // DESPINA_LANG_AST_H
