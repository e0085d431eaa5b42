//===- Semantic.h - The meaning of every operation --------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Types, promotion, broadcasting, shape checks and error texts (spec triton_language 1.3 to 1.12), over the
// abstract builder. Every function returns a null Value after reporting an error.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LANG_SEMANTIC_H
#define DESPINA_LANG_SEMANTIC_H

#include "despina/Lang/Builder.h"
#include "despina/Lang/Diagnostics.h"
#include "despina/Lang/Value.h"

#include "llvm/ADT/StringMap.h"

#include <array>

namespace despina {

struct BuiltinArgs;

/// What the language must know of the target. Filled by the target's folder; nothing here names a vendor.
struct LanguageTarget {
  std::string backend; ///< "cpu", "cuda", "hip"
  int arch = 0;
  int warpSize = 1;
  int numWarps = 1;                 ///< of a block of threads
  std::vector<ScalarKind> fp8Types; ///< supported fp8 dtypes, in the order the error lists them
  DotPrecision defaultPrecision = DotPrecision::IEEE;
  /// Smallest (M, N, K) of a dot for operands of `bits` bits.
  std::array<int, 3> (*minDotSize)(unsigned bits) = nullptr;
  /// Dots of fp8e4nv and fp8e5 reach the target as they are; else as fp16.
  bool dotTakesFP8 = false;
  bool debug = false; ///< device_assert is active
  bool sanitizeOverflow = false;
};

/// Names of the language that a kernel uses ("language.load"), with a bit for each ScalarKind of their data
/// (Void where there is none). The tables of what tests cover come from here.
using NamesUsed = llvm::StringMap<uint32_t>;

/// What Semantic needs from the code generator or the interpreter.
class CallHost {
public:
  virtual ~CallHost() = default;
  /// Calls a jit function, builtin or host object from a builtin (combine functions, the standard library).
  virtual Value callFunction(const Value &callee, llvm::ArrayRef<Value> args,
                             llvm::ArrayRef<std::pair<std::string, Value>> keywords) = 0;
  /// Text of `static_print`.
  virtual void staticPrint(llvm::StringRef text) = 0;
};

class Semantic {
public:
  Semantic(Builder &builder, Diagnostics &diags, const LanguageTarget &target, CallHost &host);

  Builder &builder() { return builder_; }
  CallHost &host() { return host_; }
  const LanguageTarget &target() const { return target_; }

  /// Where the operation being checked stands; set by the caller before each operation. `function` is the
  /// `def` text of the function it is in.
  void setPosition(SourceRange range, SourceRange function, std::vector<Diagnostic::CallSite> callStack);
  SourceRange position() const { return position_; }
  /// Reports at the current position and returns a null value. Inside builtins `fromBuiltin` is set.
  Value error(ErrorKind kind, std::string message, std::string help = {});
  void warn(std::string message);
  /// True while a builtin runs (set by callBuiltin).
  bool insideBuiltin = false;
  /// While set, errors are not reported (`hasattr` and `getattr` with a default).
  bool quiet = false;

  /// Notes a name in sight of the user: what the library uses itself does not count.
  void noteName(llvm::StringRef path, ScalarKind kind = ScalarKind::Void);
  /// All names that were noted so far.
  NamesUsed takeNamesUsed();

  // Calls and attributes.
  /// Binds arguments to the parameters (defaults applied) and evaluates.
  Value callBuiltin(const BuiltinDef &def, llvm::ArrayRef<Value> args,
                    llvm::ArrayRef<std::pair<std::string, Value>> keywords);
  /// `value.name` for tensors, constants, tuples, dtypes, our modules. Host objects go to the resolver first.
  Value attribute(const Value &value, llvm::StringRef name);
  Value subscript(const Value &value, const Value &index);

  // Operators of the language (constants with constants follow Python).
  Value binaryOperator(ast::BinaryOperator op, const Value &lhs, const Value &rhs);
  Value unaryOperator(ast::UnaryOperator op, const Value &operand);
  Value compareOperator(ast::CompareOperator op, const Value &lhs, const Value &rhs);
  Value logicalAnd(const Value &lhs, const Value &rhs);
  Value logicalOr(const Value &lhs, const Value &rhs);
  Value logicalNot(const Value &operand);

  /// Literal -> runtime scalar (spec 1.3); tensors pass through. `quiet` gives null without a report.
  Value toTensor(const Value &value, bool quiet = false);
  /// Condition of `if`/`while`/ternary: a scalar int1 tensor, with the language's checks.
  Value toCondition(const Value &value);
  Value cast(const Value &x, const Type &to, std::optional<llvm::StringRef> rounding = {},
             bool bitcast = false);
  Value broadcastTo(const Value &x, llvm::ArrayRef<int64_t> shape);
  /// Broadcasts two tensors against each other; false after an error.
  bool broadcastPair(Value &lhs, Value &rhs);
  /// `value` as a runtime constant of `type` (scalar or block), with range checks.
  Value typedConstant(const Constant &value, const Type &type);
  struct PromoteOptions {
    bool allowLhsPointer = false, allowRhsPointer = false;
    bool divOrMod = false;    ///< `/ // %`: half precision computes in fp32, signedness must match
    bool weakLiterals = true; ///< false: literals get their own type first (comparisons)
  };
  /// Gives two operands one type and one shape (spec 1.3); false after an error. Pointers keep their types.
  bool promote(Value &lhs, Value &rhs, PromoteOptions options);
  /// `+ - *` with the overflow check on or off.
  Value arithmetic(ast::BinaryOperator op, Value lhs, Value rhs, bool sanitizeOverflow);
  /// Element-wise operation on one tensor; the type stays.
  Value unary(UnaryKind kind, const Value &x);
  /// Element-wise comparison of two tensors of one type.
  Value compare(CompareKind kind, const Value &lhs, const Value &rhs);
  /// A comparison to zero: what a cast to int1 means.
  Value notZero(const Value &x);
  /// Reports an fp8 type that the target does not have; true otherwise.
  bool checkFP8(const Type &type);
  /// Checks extents (constants, powers of two, numel) with the texts of spec 1.2; none after an error.
  std::optional<llvm::SmallVector<int64_t, 4>> checkBlockShape(const Value &shape);

private:
  bool bindArguments(const BuiltinDef &def, llvm::ArrayRef<Value> args,
                     llvm::ArrayRef<std::pair<std::string, Value>> keywords, BuiltinArgs &bound);
  bool checkPointers(const Type &lhs, const Type &rhs, bool allowPointer);
  bool promoteIntegers(Value &lhs, Value &rhs);
  Value pointerArithmetic(ast::BinaryOperator op, Value lhs, Value rhs);
  Value divide(Value lhs, Value rhs);
  Value integerDivision(ast::BinaryOperator op, Value lhs, Value rhs);
  Value bitwise(ast::BinaryOperator op, Value lhs, Value rhs);
  Value checkedInteger(ast::BinaryOperator op, const Value &lhs, const Value &rhs);
  Value tensorBinary(ast::BinaryOperator op, const Value &lhs, const Value &rhs);
  Value tupleBinary(ast::BinaryOperator op, const Value &lhs, const Value &rhs);
  Value tensorCompare(ast::CompareOperator op, Value lhs, Value rhs);
  Value truthValue(const Value &x);
  Value logical(BinaryKind kind, const Value &lhs, const Value &rhs);
  Value bitcast(const Value &x, const Type &to);
  Value castPointer(const Value &x, const Type &to);
  Value castFloat(const Value &x, const Type &to, RoundingKind rounding);
  Value castInteger(const Value &x, const Type &to);
  Value tensorAttribute(const Value &value, llvm::StringRef name);
  Value constantAttribute(const Value &value, llvm::StringRef name);
  Value tupleAttribute(const Value &value, llvm::StringRef name);
  Value dtypeAttribute(const Value &value, llvm::StringRef name);
  Value tensorSubscript(const Value &value, const Value &index);
  Value tupleSubscript(const Value &value, const Value &index);
  Value noAttribute(const Value &value, llvm::StringRef name);
  void noteCall(const BuiltinArgs &args, const Value &result);

  Builder &builder_;
  Diagnostics &diags_;
  const LanguageTarget &target_;
  CallHost &host_;
  SourceRange position_, function_;
  NamesUsed namesUsed_;
  uint32_t kindsUsed_ = 0; ///< a bit for each ScalarKind of an argument or result
  std::vector<Diagnostic::CallSite> callStack_;
};

} // namespace despina

#endif // DESPINA_LANG_SEMANTIC_H
