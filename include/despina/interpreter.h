//===- interpreter.h - Running kernels operation by operation ---*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// The host runs the kernel's function itself and asks for each operation here, where it means what it means
// to the compiler. An `Interpreter` belongs to one launch and is used by one thread at a time.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_INTERPRETER_H
#define DESPINA_INTERPRETER_H

#include "despina/host.h"

namespace despina::host {

/// A value of a kernel that runs. Cheap to copy.
struct Item {
  // clang-format off
  enum class Kind : uint8_t {
    None, Bool, Int, Float,
    Tuple, ///< `owned` is a TupleItem
    Cell,  ///< a tensor, a descriptor or anything else that only the interpreter knows; `owned` is opaque
    Other, ///< `owned` is a host Value: strings, large integers, types, functions...
  };
  // clang-format on
  Kind kind = Kind::None;
  union {
    bool boolean;
    int64_t integer = 0;
    double real;
  };
  std::shared_ptr<const void> owned;
};
struct TupleItem {
  std::vector<Item> elements;
  std::vector<std::string> fields; ///< of a named tuple
  std::string typeName;
};
using NamedItems = std::vector<std::pair<std::string, Item>>;

/// What a Cell holds, for people and for tools.
struct CellInfo {
  enum class Kind : uint8_t { Tensor, Descriptor, Tuple, Other };
  Kind kind = Kind::Other;
  std::string type;           ///< "fp32[16, 32]" reads "<[16, 32], fp32>"; a tensor's scalar type "fp32"
  std::string scalar;         ///< signature form of a tensor's element: "fp32", "*fp16"
  std::vector<int64_t> shape; ///< of a tensor
  std::string text;           ///< of what is no tensor
};

enum class Operator : uint8_t {
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
  BitXor, // binary
  Positive,
  Negative,
  Not,
  Invert, // unary
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual, // comparisons
  And,
  Or, // of two run-time values
};

/// Functions of the host's kernels that the interpreter calls: combine functions.
class FunctionCaller {
public:
  virtual ~FunctionCaller() = default;
  /// None after a failure, which the host keeps.
  virtual std::optional<Item> call(const Function &function, const std::vector<Item> &args,
                                   const NamedItems &keywords) = 0;
};

/// A fault that the sanitizer has found: what kind, and which.
struct Finding {
  std::string kind, text;
};

/// The errors that compiling for these arguments would give, without compiling. `namesUsed`, if given, gets
/// what `Kernel::namesUsed` would say.
DESPINA_API Result check(const std::shared_ptr<const Function> &function, Resolver &resolver,
                         const std::vector<KernelArgument> &args,
                         std::vector<std::string> *namesUsed = nullptr);

class DESPINA_API Interpreter {
public:
  Interpreter(Resolver &resolver, FunctionCaller &caller);
  ~Interpreter();
  Interpreter(const Interpreter &) = delete;
  Interpreter &operator=(const Interpreter &) = delete;

  // The launch.
  void setProgram(const uint32_t (&program)[3], const uint32_t (&grid)[3]);
  /// From now on faults are looked for: call it before everything else.
  void sanitize();
  std::vector<Finding> takeFindings();
  bool hasFindings() const;
  /// Memory that belongs to an argument. The sanitizer takes words of `neverWritten` in it for never written.
  void addMemory(uint64_t begin, uint64_t end, const std::string &name, uint64_t neverWritten = 0);
  /// What was written so far stays.
  void commit();
  /// What was written since `commit` is taken back.
  void rollBack();

  // Operations. None, or false, after a failure: `takeError` says which; nothing there means that a callback
  // failed, and the host knows why.
  using Answer = std::optional<Item>;
  Answer binary(Operator op, const Item &lhs, const Item &rhs);
  Answer unary(Operator op, const Item &operand);
  Answer attribute(const Item &object, const std::string &name);
  Answer subscript(const Item &object, const Item &index);
  Answer call(const Item &callee, const std::vector<Item> &args, const NamedItems &keywords);
  /// A function of the language by path ("language.load", "builtins.len"); null when there is none.
  const void *findBuiltin(const std::string &path) const;
  /// A function of the language that is a method of tensors; null when there is none.
  const void *findMember(const std::string &name) const;
  Answer callBuiltin(const void *builtin, const std::vector<Item> &args, const NamedItems &keywords);
  /// What an assignment keeps: numbers become scalars of the language.
  Answer assigned(const Item &value);
  /// What merging two values keeps: numbers, also in tuples, become scalars, everything else stays.
  Answer promoted(const Item &value);
  /// A run-time value, whatever it was.
  Answer tensor(const Item &value);
  Answer slice(const Item &lower, const Item &upper, const Item &step);
  /// An integer of the language for `for i in range(...)`: type of all bounds, and what they are.
  struct Range {
    int64_t lower = 0, upper = 0, step = 1;
    bool isUnsigned = false;
    std::string type; ///< "i32"
  };
  std::optional<Range> range(const std::vector<Item> &bounds);
  Item scalar(const std::string &type, uint64_t bits);
  /// A condition as a truth value.
  std::optional<bool> condition(const Item &value);
  /// True for values that only a run of the kernel gives.
  static bool isRuntime(const Item &value);
  static bool isTensor(const Item &value);
  Answer descriptor(const std::string &type, const std::vector<uint64_t> &leaves);

  // Looking at values.
  static CellInfo describe(const Item &cell);
  /// The elements of a tensor, densely in row-major order; int1 as bytes.
  static std::vector<char> elements(const Item &cell);
  /// The elements of a tuple that is a Cell; none when it is no such.
  static std::optional<std::vector<Item>> parts(const Item &cell);
  /// "<[16], fp32>", "constexpr[3]": an operand in an error text.
  static std::string typeText(const Item &item);

  /// The last failure. Its kind is "Diverged" when a combine function asked for what many pairs at once do
  /// not have; the host then lets its frames unwind.
  std::optional<Error> takeError();
  bool hasDiverged() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace despina::host

#endif // DESPINA_INTERPRETER_H
