//===- HostEval.h - Python on constants, without Python ---------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Evaluates module-level expressions, defaults and the bodies of constexpr_functions: Python statements over
// constants, tuples, dtypes and functions. What goes beyond needs Python, and the error names the expression.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_LANG_HOSTEVAL_H
#define DESPINA_LIB_LANG_HOSTEVAL_H

#include "HostBuilder.h"
#include "StackGuard.h"
#include "despina/Lang/Builtins.h"
#include "despina/Lang/Semantic.h"
#include "despina/Lang/SymbolResolver.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/Twine.h"

namespace despina {

class HostEvaluator : public CallHost {
public:
  /// Answers names that are not local.
  using NameLookup = std::function<Resolution(llvm::StringRef)>;

  /// `steps` counts what all evaluators of one compilation do.
  HostEvaluator(SymbolResolver &resolver, NameLookup names, uint64_t &steps);

  Resolution evaluate(const ast::Expr *expr);
  /// Calls a Python function whose parameters and results are compile-time values.
  Resolution call(const FunctionInfo &function, llvm::ArrayRef<Value> args,
                  llvm::ArrayRef<std::pair<std::string, Value>> keywords);

  Value callFunction(const Value &callee, llvm::ArrayRef<Value> args,
                     llvm::ArrayRef<std::pair<std::string, Value>> keywords) override;
  void staticPrint(llvm::StringRef text) override;

private:
  using Keywords = std::vector<std::pair<std::string, Value>>;
  enum class Exit : uint8_t { Next, Return, Break, Continue, Failed };

  Resolution finish(Value value);
  Value fail(const ast::Node *node, ErrorKind kind, std::string message);
  Value needsPython(const ast::Node *node, llvm::StringRef reason);
  Value take(const ast::Node *node, Resolution resolution, llvm::StringRef otherwise,
             ErrorKind otherwiseKind = ErrorKind::Name);

  Value visit(const ast::Expr *expr);
  Value visitUnlimited(const ast::Expr *expr);
  Value visitName(const ast::Name *expr);
  Value visitConstant(const ast::Constant *expr);
  Value visitBoolOp(const ast::BoolOp *expr);
  Value visitCompare(const ast::Compare *expr);
  Value compare(const ast::Node *node, ast::CompareOperator op, const Value &lhs, const Value &rhs);
  Value visitAttribute(const ast::Attribute *expr);
  Value visitSubscript(const ast::Subscript *expr);
  bool evaluateElements(ast::ExprList elements, std::vector<Value> &values);
  Value visitElements(ast::ExprList elements);
  /// Calls `add` for each item that a comprehension keeps, with the target bound.
  bool comprehend(const ast::Expr *expr, llvm::ArrayRef<ast::Comprehension> generators,
                  llvm::function_ref<bool()> add);
  Value visitComprehension(const ast::Expr *expr, const ast::Expr *element,
                           llvm::ArrayRef<ast::Comprehension> generators);
  Value visitDict(const ast::Dict *expr);
  Value visitDictComp(const ast::DictComp *expr);
  Value visitJoinedStr(const ast::JoinedStr *expr);
  Value visitCall(const ast::Call *expr);
  Value callPython(const ast::Call *expr, llvm::StringRef name, llvm::ArrayRef<Value> args);

  Exit run(ast::StmtList body);
  Exit run(const ast::Stmt *stmt);
  Exit runFor(const ast::For *stmt);
  Exit runWhile(const ast::While *stmt);
  std::optional<std::vector<Value>> iterate(const ast::Expr *expr);
  bool assign(const ast::Expr *target, const Value &value);
  bool bind(const FunctionInfo &function, llvm::ArrayRef<Value> args,
            llvm::ArrayRef<std::pair<std::string, Value>> keywords);
  bool spendStep(const ast::Node *node);

  SymbolResolver &resolver_;
  NameLookup names_;
  uint64_t &steps_;
  HostBuilder builder_;
  Diagnostics diags_;
  LanguageTarget target_;
  Semantic semantic_;
  StackGuard stack_;
  llvm::StringMap<Value> locals_;
  Value result_;
};

/// Python truth of a compile-time value.
bool hostTruth(const Value &value);

} // namespace despina

#endif // DESPINA_LIB_LANG_HOSTEVAL_H
