//===- CodeGenImpl.h - The code generator's own state -----------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// One class, several files by topic: CodeGen.cpp (entry, names), CodeGenStmt.cpp, CodeGenBranch.cpp,
// CodeGenLoop.cpp, CodeGenWith.cpp, CodeGenExpr.cpp, CodeGenCall.cpp, CodeGenAggregate.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_LANG_CODEGENIMPL_H
#define DESPINA_LIB_LANG_CODEGENIMPL_H

#include "StackGuard.h"
#include "despina/Lang/Builtins.h"
#include "despina/Lang/CodeGen.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/Twine.h"

#include <deque>

namespace despina::codegen {

using Keywords = llvm::ArrayRef<std::pair<std::string, Value>>;
using KeywordList = llvm::SmallVector<std::pair<std::string, Value>, 0>;
using ValueList = llvm::SmallVector<Value, 0>;
/// Names to values, in the order of first assignment so that output is deterministic.
using Scope = llvm::MapVector<llvm::StringRef, Value>;
using NameSet = llvm::SmallSetVector<llvm::StringRef, 8>;

/// How control leaves a statement list. There are no jumps in the IR: a list that may or may not have
/// returned says so with a flag, and what follows it is guarded by the flag.
struct Flow {
  enum class Kind : uint8_t {
    Failed, ///< an error was reported
    Fall,   ///< goes on behind the list
    Return, ///< returned `result` on every path
    Mixed,  ///< returned `result` where `flag` is true
  };
  Kind kind = Kind::Fall;
  Value result;
  Value flag;

  static Flow fall() { return {}; }
  static Flow failed() { return {Kind::Failed, {}, {}}; }
  static Flow returned(Value result) { return {Kind::Return, std::move(result), {}}; }
  bool isFailed() const { return kind == Kind::Failed; }
  bool mayFall() const { return kind == Kind::Fall || kind == Kind::Mixed; }
  bool mayReturn() const { return kind == Kind::Return || kind == Kind::Mixed; }
};

/// Statements still to do in one list, in pieces.
struct Sequence {
  ast::StmtList statements;
  const Sequence *next = nullptr;

  bool empty() const {
    for (const Sequence *s = this; s; s = s->next)
      if (!s->statements.empty())
        return false;
    return true;
  }
};

/// One function while it is visited.
struct Frame {
  std::shared_ptr<const FunctionInfo> info;
  SourceRange function; ///< from `def`, for diagnostics
  Scope scope;
  std::vector<Diagnostic::CallSite> callStack;
  llvm::SmallVector<SourceRange, 0> callRanges;
  std::vector<std::string> returnTypes; ///< of the returns seen so far, for an error text
  NameSet pendingConstexpr;             ///< `x: tl.constexpr` with no value yet
  llvm::DenseMap<llvm::StringRef, const ast::Node *> constexprNodes;
  unsigned runtimeLoops = 0;
  bool isKernel = false;
  bool inlineCalls = false; ///< inside a combine region: callees are visited in place
  bool evaluatingDefaults = false;
  /// In a constructor: the class, whose fields are kept in `scope` under the name of the first parameter, a
  /// dot and theirs.
  std::shared_ptr<const AggregateClass> constructed;
};

/// An arm of a run-time `if` when it ends.
struct Arm {
  Flow flow;
  Scope scope;
  Value promotedResult; ///< the result with numbers made runtime scalars inside the arm
  Scope promoted;       ///< the same of tuples in `scope`
  Handle flag;          ///< whether it returned, if anyone asks
};

/// What an `if` yields, and which values its results become.
struct Merge {
  Handles thenYields, elseYields;
  llvm::SmallVector<Type, 4> types;
  std::vector<std::pair<llvm::StringRef, Value>> variables; ///< name and pattern
  Flow flow;                                                ///< its result and flag are patterns
  Scope scope;

  Value leaf(const Type &type, Handle ifThen, Handle ifElse) {
    thenYields.push_back(ifThen);
    elseYields.push_back(ifElse);
    types.push_back(type);
    return Value::tensor(type, {});
  }
};

/// A name that a loop carries: its structure before the loop, and its value when the body starts.
struct Carried {
  llvm::StringRef name;
  Value initial, entry;
  bool dropped = false; ///< not visible at the end of the body, so not after the loop either
};
using CarriedList = std::vector<Carried>;

struct RangeBounds {
  Value lower, upper, step;
  bool mirrored = false; ///< counts down: the induction value is lower + upper - i
};

/// Stands for the call expression in calls that builtins make.
struct CallNode : ast::Expr {
  explicit CallNode(SourceRange range) : ast::Expr(ast::NodeKind::Call, range) {}
};

/// Python's name of a value's class: "tensor", "int", "tuple".
std::string className(const Value &value);

class CodeGenerator : public CallHost {
public:
  CodeGenerator(RegionBuilder &builder, Diagnostics &diags, const LanguageTarget &target,
                const CodeGenOptions &options);

  bool kernel(const std::shared_ptr<const FunctionInfo> &info, llvm::ArrayRef<KernelArgument> args);
  /// A call from outside of any function.
  Value callInline(const Value &callee, llvm::ArrayRef<Value> args, Keywords keywords);

  // CallHost.
  Value callFunction(const Value &callee, llvm::ArrayRef<Value> args, Keywords keywords) override;
  void staticPrint(llvm::StringRef text) override;

private:
  // Positions and errors (CodeGen.cpp).
  void at(SourceRange range);
  void at(const ast::Node *node) { at(node->range()); }
  Value error(const ast::Node *node, ErrorKind kind, std::string message, std::string help = {});
  Value error(SourceRange range, ErrorKind kind, std::string message, std::string help = {});
  Flow fail(const ast::Node *node, ErrorKind kind, std::string message, std::string help = {});
  Value unsupported(const ast::Node *node, std::string help = {});
  Value resolutionError(const ast::Node *node, const Resolution &resolution);
  /// True after reporting that the stack or the patience for this kernel is used up. Every visit asks.
  bool exceedsLimits(const ast::Node *node);
  /// Reports a tuple that is too large to go on with; null then.
  Value limited(const ast::Node *node, Value value);

  // Names (CodeGen.cpp).
  Scope &scope() { return frame_->scope; }
  Value lookup(llvm::StringRef name, const ast::Node *node);
  Value lookupGlobal(llvm::StringRef name, const ast::Node *node);

  /// Notes the names of the language in the annotations of parameters: `tl.constexpr`.
  void noteAnnotation(const ast::Expr *annotation);

  // Statements (CodeGenStmt.cpp). `functionLevel`: what follows the list is the end of the function.
  Flow visitSequence(const Sequence &sequence, bool functionLevel);
  Flow visitStatement(const ast::Stmt *stmt, const Sequence &rest, bool functionLevel, bool &consumedRest);
  bool visitExpressionStatement(const ast::ExprStmt *stmt);
  Flow visitReturn(const ast::Return *stmt);
  bool visitAssign(const ast::Assign *stmt);
  bool visitAugAssign(const ast::AugAssign *stmt);
  bool visitAnnAssign(const ast::AnnAssign *stmt);
  bool visitAssert(const ast::Assert *stmt);
  bool assignTarget(const ast::Expr *target, const Value &value);
  bool assignUnpacked(const ast::Expr *target, ast::ExprList targets, const Value &value);
  bool bindConstexpr(const ast::Node *node, llvm::StringRef name, const Value &value);
  /// What a plain assignment keeps of a value: numbers become runtime scalars.
  Value decay(const Value &value);

  // Branches (CodeGenBranch.cpp).
  Flow visitIf(const ast::If *stmt, const Sequence &rest, bool functionLevel, bool &consumedRest);
  /// Goes on with `rest` where `flow` (Mixed) has not returned.
  Flow guardByFlag(const ast::Node *node, const Flow &flow, llvm::function_ref<Flow()> rest);
  /// A run-time `if`; the else-body learns how the then-body ended.
  Flow branch(const ast::Node *node, const Value &condition, bool needsFlag,
              llvm::function_ref<Flow()> thenBody, llvm::function_ref<Flow(const Flow &)> elseBody);
  Value visitIfExp(const ast::IfExp *expr);
  /// Python truth of a compile-time value; none with a report for a value an `if` may not test.
  std::optional<bool> constantCondition(const ast::Node *node, const Value &value);
  Arm endArm(Flow flow, const Scope &base, bool needsFlag);
  bool mergeVariables(const ast::Node *node, const Scope &base, const Arm &thenArm, const Arm &elseArm,
                      Merge &merge);
  bool mergeReturns(const ast::Node *node, const Arm &thenArm, const Arm &elseArm, Merge &merge);
  bool mergeValue(const Value &ifThen, const Value &promoted, const Value &ifElse, Merge &merge,
                  Value &pattern);
  bool keepsType(const Value &initial, const Value &now, bool nested = false);
  /// Numbers, also in plain tuples, as runtime scalars; everything else as it is.
  Value promoteNumbers(const Value &value);

  // Loops (CodeGenLoop.cpp).
  Flow visitFor(const ast::For *stmt);
  Flow visitStaticRange(const ast::For *stmt, llvm::StringRef target, llvm::ArrayRef<Value> bounds);
  Flow staticIterations(const ast::For *stmt, llvm::StringRef target, int64_t value, int64_t step,
                        int64_t count);
  bool visitRange(const ast::For *stmt, llvm::StringRef target, llvm::ArrayRef<Value> bounds,
                  const RegionBuilder::ForHints &hints);
  bool visitRangeBody(const ast::For *stmt, llvm::StringRef target, const RangeBounds &bounds,
                      const RegionBuilder::ForHints &hints);
  bool rangeBounds(const ast::For *stmt, llvm::ArrayRef<Value> bounds, RangeBounds &result);
  bool splitRangeArguments(const ast::Call *call, llvm::StringRef callee, ValueList &bounds,
                           RegionBuilder::ForHints &hints);
  bool visitWhile(const ast::While *stmt);
  Value whileCondition(const ast::While *stmt);
  void openCarried(const NameSet &names, CarriedList &carried, Handles &inits);
  void bindCarried(CarriedList &carried, llvm::ArrayRef<Handle> handles);
  bool yieldCarried(const ast::Node *loop, CarriedList &carried, Handles &yields);
  void closeCarried(const CarriedList &carried, llvm::ArrayRef<Handle> results);
  bool matchCarried(const ast::Node *loop, llvm::StringRef name, const Value &initial, const Value &now,
                    Handles &yields);

  // Context managers (CodeGenWith.cpp).
  Flow visitWith(const ast::With *stmt);
  Value callContext(const ast::Node *node, const Value &manager, llvm::StringRef method,
                    llvm::ArrayRef<Value> args);

  // Expressions (CodeGenExpr.cpp). Null after an error.
  Value visit(const ast::Expr *expr);
  Value visitUnlimited(const ast::Expr *expr);
  /// Appends the elements of a `*value`.
  template <typename List> bool appendStarred(const ast::Starred *starred, const Value &value, List &values);
  Value visitConstant(const ast::Constant *expr);
  Value visitBinOp(const ast::BinOp *expr);
  Value visitUnaryOp(const ast::UnaryOp *expr);
  Value visitBoolOp(const ast::BoolOp *expr);
  Value visitCompare(const ast::Compare *expr);
  Value visitAttribute(const ast::Attribute *expr);
  Value visitSubscript(const ast::Subscript *expr);
  Value visitSequenceLiteral(ast::ExprList elements);
  Value visitListComp(const ast::ListComp *expr);
  Value visitJoinedStr(const ast::JoinedStr *expr);
  Value visitDict(const ast::Dict *expr);
  Value visitSlice(const ast::Slice *expr);
  Value visitNamedExpr(const ast::NamedExpr *expr);
  bool isSame(const Value &lhs, const Value &rhs);

  // Calls (CodeGenCall.cpp).
  Value visitCall(const ast::Call *expr);
  bool visitArguments(const ast::Call *expr, ValueList &args, KeywordList &keywords);
  Value callValue(const ast::Node *node, const Value &callee, llvm::ArrayRef<Value> args, Keywords keywords);
  Value callHost(const ast::Node *node, const Value &callee, SymbolResolver *resolver,
                 llvm::ArrayRef<Value> args, Keywords keywords);
  /// Binds the arguments of a call and prepares the callee's frame.
  bool openCall(const ast::Node *node, const std::shared_ptr<const FunctionInfo> &info,
                llvm::ArrayRef<Value> args, Keywords keywords, ValueList &bound, Frame &frame);
  Value callJit(const ast::Node *node, const std::shared_ptr<const FunctionInfo> &info,
                llvm::ArrayRef<Value> args, Keywords keywords);
  bool bindArguments(const ast::Node *node, const FunctionInfo &info, llvm::ArrayRef<Value> args,
                     Keywords keywords, ValueList &bound);
  bool bindDefaults(ValueList &bound, Frame &frame);
  Value callInPlace(llvm::ArrayRef<Value> bound, Frame &frame);
  /// What a function's results look like and how to call it; keyed by function, argument types, constants.
  struct Instance {
    std::string symbol;
    Value result;
    bool done = false;
  };
  Value callInstance(const ast::Node *node, llvm::ArrayRef<Value> bound, Frame &frame);
  /// Reports a call that never ends: `message`, and the calls that lead from a function back to itself.
  Value recursionError(const ast::Node *node, const FunctionInfo &info, std::string message);
  bool generateInstance(const ast::Node *node, llvm::ArrayRef<Value> bound, Frame &frame, Instance &instance);
  /// Visits the body of the frame's function; the result, or null after an error.
  Value visitBody(Frame &frame);
  std::string uniqueSymbol(llvm::StringRef base);

  // Aggregates (CodeGenAggregate.cpp).
  /// The aggregate class that a host's class is; null for any other value.
  std::shared_ptr<const AggregateClass> aggregateClass(const Value &value);
  Value construct(const ast::Node *node, const std::shared_ptr<const AggregateClass> &type,
                  llvm::ArrayRef<Value> args, Keywords keywords);
  std::optional<ValueList> bindFields(const ast::Node *node, const AggregateClass &type,
                                      llvm::ArrayRef<Value> args, Keywords keywords);
  std::optional<ValueList> initialiseFields(const ast::Node *node,
                                            const std::shared_ptr<const AggregateClass> &type,
                                            llvm::ArrayRef<Value> args, Keywords keywords);
  bool checkField(const ast::Node *node, const AggregateClass &type, size_t field, const Value &value);
  bool assignField(const ast::Attribute *target, const Value &value);
  /// What the constructor that is visited has assigned to `self.name`; null if that is no field of it.
  Value fieldInConstructor(const ast::Attribute *expr);
  /// A method of an aggregate object; null, without a report, if its class has none of that name.
  Value methodOf(const Value &object, llvm::StringRef name);
  Value replaceFields(const ast::Node *node, llvm::ArrayRef<Value> args, Keywords keywords);

  RegionBuilder &builder_;
  Diagnostics &diags_;
  const CodeGenOptions &options_;
  Semantic semantic_;
  StackGuard stack_;
  Frame *frame_ = nullptr;
  SourceRange callRange_; ///< of the call expression being evaluated, for calls that builtins make
  unsigned callDepth_ = 0;
  uint64_t visits_ = 0;
  llvm::StringMap<Instance> instances_;
  llvm::StringMap<unsigned> symbols_;
  std::deque<std::string> fieldKeys_; ///< names that scopes of constructors refer to
  llvm::DenseMap<std::pair<const void *, llvm::StringRef>, Value> globals_;
};

template <typename List>
bool CodeGenerator::appendStarred(const ast::Starred *starred, const Value &value, List &values) {
  if (!value.isTuple()) {
    error(starred, ErrorKind::Type, "Value after * must be an iterable, not " + className(value));
    return false;
  }
  const std::vector<Value> &elements = value.tuple().elements;
  if (values.size() + elements.size() > TupleValue::maxWeight) {
    error(starred, ErrorKind::Overflow,
          "too many values (more than " + std::to_string(TupleValue::maxWeight) + ")");
    return false;
  }
  llvm::append_range(values, elements);
  return true;
}

// Syntactic questions (CodeGenBranch.cpp, CodeGenLoop.cpp).
bool containsReturn(ast::StmtList body);
bool alwaysReturns(ast::StmtList body);
void collectAssigned(ast::StmtList body, NameSet &names);
void collectAssigned(const ast::Expr *expr, NameSet &names);

/// How error texts name a value's type: "int32", "<[16], fp32>", "constexpr_type[3]".
std::string describeType(const Value &value);
/// `str(type(x))` in the language: "<class 'triton.language.core.constexpr'>".
std::string classText(const Value &value);
/// True if a builtin with this path.
bool isBuiltin(const Value &value, llvm::StringRef path);
/// `x: tl.constexpr`, in any spelling.
bool isConstexprAnnotation(const ast::Expr *annotation);
/// A text that is equal exactly for arguments that may share an instance.
void appendKey(const Value &value, std::string &key);
SourceRange functionRange(const FunctionInfo &info);

} // namespace despina::codegen

#endif // DESPINA_LIB_LANG_CODEGENIMPL_H
