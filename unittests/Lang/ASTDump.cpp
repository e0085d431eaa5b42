//===- ASTDump.cpp - Syntax trees as text, for tests ----------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "ASTDump.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

namespace despina::test {
namespace {

using namespace ast;
using llvm::cast;
using llvm::StringRef;

const char *const binaryNames[] = {"+", "-", "*", "/", "//", "%", "**", "<<", ">>", "&", "|", "^", "@"};
const char *const unaryNames[] = {"+", "-", "not", "~"};
const char *const compareNames[] = {"==", "!=", "<", "<=", ">", ">=", "is", "is not", "in", "not in"};
const char *const parameterNames[] = {"posonly", "pos", "*", "kwonly", "**"};

class Dumper {
public:
  explicit Dumper(bool ranges) : ranges_(ranges), os_(text_) {}

  void node(const Node *node) {
    if (!node) {
      os_ << " -";
      return;
    }
    os_ << " (" << nodeKindName(node->kind());
    if (ranges_)
      os_ << '@' << node->range().begin << '-' << node->range().end;
    if (llvm::isa<Expr>(node))
      expression(cast<Expr>(node));
    else
      statement(cast<Stmt>(node));
    os_ << ')';
  }

  std::string take() { return StringRef(text_).ltrim().str(); }

private:
  void word(StringRef text) { os_ << ' ' << (text.empty() ? "''" : text); }
  void label(StringRef text) { os_ << ' ' << text << ':'; }
  template <typename Nodes> void list(const Nodes &nodes) {
    os_ << " [";
    for (const Node *element : nodes)
      node(element);
    os_ << ']';
  }

  void constant(const Constant *c) {
    switch (c->type) {
    case Constant::Type::None: return word("None");
    case Constant::Type::Ellipsis: return word("...");
    case Constant::Type::Bool: return word(c->boolean ? "True" : "False");
    case Constant::Type::Int: os_ << ' ' << c->integer; return;
    case Constant::Type::Float: os_ << ' ' << llvm::format("%.17g", c->real); return;
    case Constant::Type::Complex: os_ << ' ' << llvm::format("%.17g", c->real) << 'j'; return;
    case Constant::Type::Str: os_ << " '" << llvm::toHex(c->string, true) << "'"; return;
    case Constant::Type::Bytes: os_ << " b'" << llvm::toHex(c->string, true) << "'"; return;
    }
  }

  void keywords(llvm::ArrayRef<Keyword> items) {
    for (const Keyword &keyword : items) {
      os_ << ' ' << (keyword.name.empty() ? "**" : keyword.name) << '=';
      node(keyword.value);
    }
  }

  void parameters(llvm::ArrayRef<Parameter> params) {
    os_ << " [";
    for (const Parameter &param : params) {
      os_ << " (" << parameterNames[unsigned(param.kind)] << ' ' << param.name;
      if (ranges_)
        os_ << '@' << param.range.begin << '-' << param.range.end;
      node(param.annotation);
      node(param.defaultValue);
      os_ << ')';
    }
    os_ << ']';
  }

  void generators(llvm::ArrayRef<Comprehension> clauses) {
    for (const Comprehension &clause : clauses) {
      os_ << (clause.isAsync ? " async-for" : " for");
      node(clause.target);
      node(clause.iter);
      list(clause.ifs);
    }
  }

  void expression(const Expr *e) {
    switch (e->kind()) {
    case NodeKind::Constant: return constant(cast<Constant>(e));
    case NodeKind::Name: return word(cast<Name>(e)->id);
    case NodeKind::BinOp: {
      auto *n = cast<BinOp>(e);
      word(binaryNames[unsigned(n->op)]);
      node(n->left);
      return node(n->right);
    }
    case NodeKind::UnaryOp:
      word(unaryNames[unsigned(cast<UnaryOp>(e)->op)]);
      return node(cast<UnaryOp>(e)->operand);
    case NodeKind::BoolOp:
      word(cast<BoolOp>(e)->op == BoolOperator::And ? "and" : "or");
      return list(cast<BoolOp>(e)->values);
    case NodeKind::Compare: {
      auto *n = cast<Compare>(e);
      node(n->left);
      for (auto [op, value] : llvm::zip_equal(n->ops, n->comparators)) {
        word(compareNames[unsigned(op)]);
        node(value);
      }
      return;
    }
    case NodeKind::IfExp: {
      auto *n = cast<IfExp>(e);
      node(n->test);
      node(n->body);
      return node(n->orelse);
    }
    case NodeKind::Call:
      node(cast<Call>(e)->func);
      list(cast<Call>(e)->args);
      return keywords(cast<Call>(e)->keywords);
    case NodeKind::Attribute: node(cast<Attribute>(e)->value); return word(cast<Attribute>(e)->attr);
    case NodeKind::Subscript: node(cast<Subscript>(e)->value); return node(cast<Subscript>(e)->index);
    case NodeKind::Starred: return node(cast<Starred>(e)->value);
    case NodeKind::Tuple: return list(cast<Tuple>(e)->elts);
    case NodeKind::List: return list(cast<List>(e)->elts);
    case NodeKind::Set: return list(cast<Set>(e)->elts);
    case NodeKind::Dict: list(cast<Dict>(e)->keys); return list(cast<Dict>(e)->values);
    case NodeKind::ListComp: node(cast<ListComp>(e)->elt); return generators(cast<ListComp>(e)->generators);
    case NodeKind::SetComp: node(cast<SetComp>(e)->elt); return generators(cast<SetComp>(e)->generators);
    case NodeKind::GeneratorExp:
      node(cast<GeneratorExp>(e)->elt);
      return generators(cast<GeneratorExp>(e)->generators);
    case NodeKind::DictComp:
      node(cast<DictComp>(e)->key);
      node(cast<DictComp>(e)->value);
      return generators(cast<DictComp>(e)->generators);
    case NodeKind::Slice:
      node(cast<Slice>(e)->lower);
      node(cast<Slice>(e)->upper);
      return node(cast<Slice>(e)->step);
    case NodeKind::JoinedStr: return list(cast<JoinedStr>(e)->values);
    case NodeKind::FormattedValue: {
      auto *n = cast<FormattedValue>(e);
      node(n->value);
      if (n->conversion)
        os_ << " !" << n->conversion;
      return node(n->formatSpec);
    }
    case NodeKind::Lambda: parameters(cast<Lambda>(e)->params); return node(cast<Lambda>(e)->body);
    case NodeKind::NamedExpr: node(cast<NamedExpr>(e)->target); return node(cast<NamedExpr>(e)->value);
    case NodeKind::Await: return node(cast<Await>(e)->value);
    case NodeKind::Yield: return node(cast<Yield>(e)->value);
    case NodeKind::YieldFrom: return node(cast<YieldFrom>(e)->value);
    default: return word("?");
    }
  }

  void aliases(llvm::ArrayRef<Alias> names) {
    for (const Alias &alias : names) {
      word(alias.name);
      if (!alias.asName.empty())
        os_ << " as " << alias.asName;
    }
  }

  void statement(const Stmt *s) {
    switch (s->kind()) {
    case NodeKind::FunctionDef:
    case NodeKind::AsyncFunctionDef: {
      auto *n = cast<FunctionDef>(s);
      word(n->name);
      parameters(n->params);
      node(n->returns);
      list(n->decorators);
      return list(n->body);
    }
    case NodeKind::ClassDef: {
      auto *n = cast<ClassDef>(s);
      word(n->name);
      list(n->bases);
      keywords(n->keywords);
      list(n->decorators);
      return list(n->body);
    }
    case NodeKind::Return: return node(cast<Return>(s)->value);
    case NodeKind::Delete: return list(cast<Delete>(s)->targets);
    case NodeKind::Assign: list(cast<Assign>(s)->targets); return node(cast<Assign>(s)->value);
    case NodeKind::AugAssign:
      node(cast<AugAssign>(s)->target);
      word(binaryNames[unsigned(cast<AugAssign>(s)->op)]);
      return node(cast<AugAssign>(s)->value);
    case NodeKind::AnnAssign:
      node(cast<AnnAssign>(s)->target);
      node(cast<AnnAssign>(s)->annotation);
      return node(cast<AnnAssign>(s)->value);
    case NodeKind::For:
    case NodeKind::AsyncFor: {
      auto *n = cast<For>(s);
      node(n->target);
      node(n->iter);
      list(n->body);
      return list(n->orelse);
    }
    case NodeKind::While:
      node(cast<While>(s)->test);
      list(cast<While>(s)->body);
      return list(cast<While>(s)->orelse);
    case NodeKind::If:
      node(cast<If>(s)->test);
      list(cast<If>(s)->body);
      return list(cast<If>(s)->orelse);
    case NodeKind::With:
    case NodeKind::AsyncWith:
      for (const WithItem &item : cast<With>(s)->items) {
        label("item");
        node(item.context);
        node(item.target);
      }
      return list(cast<With>(s)->body);
    case NodeKind::Match:
      node(cast<Match>(s)->subject);
      for (StmtList body : cast<Match>(s)->bodies)
        list(body);
      return;
    case NodeKind::Raise: node(cast<Raise>(s)->exc); return node(cast<Raise>(s)->cause);
    case NodeKind::Try: {
      auto *n = cast<Try>(s);
      list(n->body);
      for (const ExceptHandler &handler : n->handlers) {
        label("except");
        node(handler.type);
        word(handler.name);
        list(handler.body);
      }
      list(n->orelse);
      return list(n->finalbody);
    }
    case NodeKind::Assert: node(cast<Assert>(s)->test); return node(cast<Assert>(s)->msg);
    case NodeKind::Import: return aliases(cast<Import>(s)->names);
    case NodeKind::ImportFrom:
      os_ << ' ' << cast<ImportFrom>(s)->level;
      word(cast<ImportFrom>(s)->module);
      return aliases(cast<ImportFrom>(s)->names);
    case NodeKind::Global:
      for (StringRef name : cast<Global>(s)->names)
        word(name);
      return;
    case NodeKind::Nonlocal:
      for (StringRef name : cast<Nonlocal>(s)->names)
        word(name);
      return;
    case NodeKind::ExprStmt: return node(cast<ExprStmt>(s)->value);
    case NodeKind::TypeAlias: word(cast<TypeAlias>(s)->name); return node(cast<TypeAlias>(s)->value);
    case NodeKind::Pass:
    case NodeKind::Break:
    case NodeKind::Continue: return;
    default: return word("?");
    }
  }

  bool ranges_;
  std::string text_;
  llvm::raw_string_ostream os_;
};

} // namespace

std::string dump(const ast::Node *node, bool ranges) {
  Dumper dumper(ranges);
  dumper.node(node);
  return dumper.take();
}

std::string dump(const ast::Module &module, bool ranges) {
  std::string text;
  for (const ast::Stmt *statement : module.body())
    text += dump(statement, ranges) + "\n";
  return text;
}

} // namespace despina::test
