//===- AST.cpp - Syntax tree of the kernel language -----------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "despina/Lang/AST.h"

namespace despina::ast {

const char *nodeKindName(NodeKind kind) {
  switch (kind) {
#define DESPINA_KIND(NAME)                                                                                   \
  case NodeKind::NAME: return #NAME;
    DESPINA_KIND(Constant)
    DESPINA_KIND(Name)
    DESPINA_KIND(BinOp)
    DESPINA_KIND(UnaryOp)
    DESPINA_KIND(BoolOp)
    DESPINA_KIND(Compare)
    DESPINA_KIND(IfExp)
    DESPINA_KIND(Call)
    DESPINA_KIND(Attribute)
    DESPINA_KIND(Subscript)
    DESPINA_KIND(Starred)
    DESPINA_KIND(Tuple)
    DESPINA_KIND(List)
    DESPINA_KIND(Dict)
    DESPINA_KIND(Set)
    DESPINA_KIND(ListComp)
    DESPINA_KIND(SetComp)
    DESPINA_KIND(DictComp)
    DESPINA_KIND(GeneratorExp)
    DESPINA_KIND(Slice)
    DESPINA_KIND(JoinedStr)
    DESPINA_KIND(FormattedValue)
    DESPINA_KIND(Lambda)
    DESPINA_KIND(NamedExpr)
    DESPINA_KIND(Await)
    DESPINA_KIND(Yield)
    DESPINA_KIND(YieldFrom)
    DESPINA_KIND(FunctionDef)
    DESPINA_KIND(AsyncFunctionDef)
    DESPINA_KIND(ClassDef)
    DESPINA_KIND(Return)
    DESPINA_KIND(Delete)
    DESPINA_KIND(Assign)
    DESPINA_KIND(AugAssign)
    DESPINA_KIND(AnnAssign)
    DESPINA_KIND(For)
    DESPINA_KIND(AsyncFor)
    DESPINA_KIND(While)
    DESPINA_KIND(If)
    DESPINA_KIND(With)
    DESPINA_KIND(AsyncWith)
    DESPINA_KIND(Match)
    DESPINA_KIND(Raise)
    DESPINA_KIND(Try)
    DESPINA_KIND(Assert)
    DESPINA_KIND(Import)
    DESPINA_KIND(ImportFrom)
    DESPINA_KIND(Global)
    DESPINA_KIND(Nonlocal)
    DESPINA_KIND(Pass)
    DESPINA_KIND(Break)
    DESPINA_KIND(Continue)
    DESPINA_KIND(TypeAlias)
#undef DESPINA_KIND
  case NodeKind::ExprStmt: return "Expr";
  }
  return "?";
}

} // namespace despina::ast
