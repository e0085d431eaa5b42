//===- Value.h - What a name can hold while a kernel is compiled *- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Front-end values are a closed set (design, section 2): tensor, constant, tuple, descriptor, slice, dtype,
// jit function, builtin, module, host object. A null Value means "failed, and the diagnostic is reported".
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LANG_VALUE_H
#define DESPINA_LANG_VALUE_H

#include "despina/Lang/AST.h"
#include "despina/Lang/Builder.h"
#include "despina/Lang/Type.h"

#include "llvm/ADT/DynamicAPInt.h"

#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace despina {

class SymbolResolver;
struct BuiltinDef;

/// A Python constant known at compile time (`constexpr`): None, Ellipsis, bool, int of any size, float, str.
class Constant {
public:
  struct NoneType {
    bool operator==(const NoneType &) const = default;
  };
  struct EllipsisType {
    bool operator==(const EllipsisType &) const = default;
  };
  using Storage = std::variant<NoneType, EllipsisType, bool, llvm::DynamicAPInt, double, std::string>;

  Constant() = default;
  /*implicit*/ Constant(bool v) : storage_(v) {}
  /*implicit*/ Constant(int64_t v) : storage_(llvm::DynamicAPInt(v)) {}
  /*implicit*/ Constant(int v) : Constant(int64_t(v)) {}
  /*implicit*/ Constant(llvm::DynamicAPInt v) : storage_(std::move(v)) {}
  /*implicit*/ Constant(double v) : storage_(v) {}
  /*implicit*/ Constant(std::string v) : storage_(std::move(v)) {}
  /*implicit*/ Constant(const char *v) : storage_(std::string(v)) {}
  static Constant ellipsis() {
    Constant c;
    c.storage_ = EllipsisType{};
    return c;
  }

  bool isNone() const { return std::holds_alternative<NoneType>(storage_); }
  bool isEllipsis() const { return std::holds_alternative<EllipsisType>(storage_); }
  bool isBool() const { return std::holds_alternative<bool>(storage_); }
  bool isInt() const { return std::holds_alternative<llvm::DynamicAPInt>(storage_); }
  bool isFloat() const { return std::holds_alternative<double>(storage_); }
  bool isString() const { return std::holds_alternative<std::string>(storage_); }
  bool isNumber() const { return isBool() || isInt() || isFloat(); }
  /// bool or int, as Python's `isinstance(x, int)`.
  bool isIntLike() const { return isBool() || isInt(); }

  bool boolean() const { return std::get<bool>(storage_); }
  const std::string &string() const { return std::get<std::string>(storage_); }
  double real() const { return std::get<double>(storage_); }
  /// Of a bool or int.
  llvm::DynamicAPInt integer() const;
  /// Of a bool or int that fits; none otherwise.
  std::optional<int64_t> asInt64() const;
  /// Of any number.
  double asDouble() const;

  bool truthy() const;
  /// Python's `repr` and `str`.
  std::string repr() const;
  std::string str() const;
  /// Python's class name: "int", "NoneType".
  const char *typeName() const;
  /// Same type and same value (`1 != True`, `0.0 != -0.0`, NaN equals itself): identity for cache keys.
  bool identical(const Constant &other) const;

private:
  Storage storage_;
};

/// A function with a body in kernel language: what `@jit` made, or a `constexpr_function` known from source.
struct FunctionInfo {
  enum class Kind : uint8_t { Jit, ConstexprFunction };
  Kind kind = Kind::Jit;
  std::string name;                    ///< `__name__`
  std::string qualifiedName;           ///< unique: "module.qualname"
  std::shared_ptr<ast::Module> module; ///< keeps the tree alive
  const ast::FunctionDef *def = nullptr;
  bool noinline = false;
  /// Non-empty: the function's result must be used; the text is appended to the error.
  std::optional<std::string> mustUseResult;
  /// Answers the function's free names. Not owned; outlives the compilation.
  SymbolResolver *resolver = nullptr;
  /// The resolver's own handle of the defining scope (a Python function object, a loaded module).
  void *scope = nullptr;
};

class Value;

/// A runtime value: a tensor or a runtime scalar.
struct TensorValue {
  Type type;
  Handle handle;
};
struct AggregateClass; // defined below: holds Values
struct TupleValue {
  std::vector<Value> elements;
  std::vector<std::string> fields; ///< of a named tuple, else empty
  std::string typeName;            ///< class name of a named tuple
  /// Of an object of a user's aggregate class, else null. Its fields are the tuple's.
  std::shared_ptr<const AggregateClass> aggregate;
  /// What visiting all of it costs, shared parts counted each time, and how deep tuples stand in each other.
  size_t weight = 1;
  unsigned depth = 1;

  /// `t = (t, t)` in a loop doubles what every later visit has to do, so code generation rejects it.
  static constexpr size_t maxWeight = 65536;
  static constexpr unsigned maxDepth = 256;
};
struct SliceValue; // defined below: holds Values
/// A module of the language ("triton.language", "triton.language.math", "triton") or of the host.
struct ModuleValue {
  std::string name;
  void *host = nullptr; ///< resolver's handle, null for our own modules
  SymbolResolver *resolver = nullptr;
};
/// Anything the resolver holds that has no meaning of its own here (a Python class, an enum, a NamedTuple
/// class).
struct HostObject {
  std::shared_ptr<void> object;
  SymbolResolver *resolver = nullptr;
  std::string description; ///< for errors: `<class 'foo.Bar'>`
  std::string typeName;    ///< Python class name of the object
  bool callable = false;
  unsigned depth = 0; ///< how deep values stand in each other inside
};
/// A method looked up on a value (`x.to`), or a builtin bound to its receiver.
struct BoundMethod;

class Value {
public:
  enum class Kind : uint8_t {
    Null,
    Tensor,
    Constant,
    Tuple,
    Descriptor,
    Slice,
    DType,
    Function,
    Builtin,
    Module,
    Host,
    BoundMethod
  };

  Value() = default;
  static Value tensor(Type type, Handle handle);
  static Value constant(despina::Constant constant);
  static Value none() { return constant(despina::Constant()); }
  static Value tuple(std::vector<Value> elements, std::vector<std::string> fields = {},
                     std::string typeName = {});
  /// An object of an aggregate class, one element for each field.
  static Value aggregate(std::shared_ptr<const AggregateClass> type, std::vector<Value> elements);
  /// `handle` is a tensor whose type is the descriptor's; `shape` are int32 scalars, `strides` int64 scalars.
  static Value descriptor(Value handle, Value shape, Value strides);
  static Value slice(Value lower, Value upper, Value step);
  static Value dtype(Type type);
  static Value function(std::shared_ptr<const FunctionInfo> info);
  static Value builtin(const BuiltinDef *def);
  static Value module(ModuleValue module);
  static Value host(HostObject object);
  static Value boundMethod(Value self, Value callee);

  explicit operator bool() const { return kind_ != Kind::Null; }
  Kind kind() const { return kind_; }
  bool isTensor() const { return kind_ == Kind::Tensor; }
  bool isConstant() const { return kind_ == Kind::Constant; }
  bool isTuple() const { return kind_ == Kind::Tuple; }
  bool isDescriptor() const { return kind_ == Kind::Descriptor; }
  /// Whether the value consists of others, which `tuple` holds.
  bool isAggregate() const { return isTuple() || isDescriptor(); }
  bool isNone() const { return isConstant() && constant().isNone(); }

  const TensorValue &tensor() const;
  const despina::Constant &constant() const;
  /// Of an aggregate. A descriptor consists of its handle, its shape and its strides.
  const TupleValue &tuple() const;
  /// An aggregate of the same kind, fields and class that consists of these.
  Value withElements(std::vector<Value> elements) const;
  const SliceValue &slice() const;
  const Type &dtype() const;
  const std::shared_ptr<const FunctionInfo> &function() const;
  const BuiltinDef *builtin() const;
  const ModuleValue &module() const;
  const HostObject &host() const;
  const despina::BoundMethod &boundMethod() const;

  /// Type of a tensor; asserts in tests only, callers check the kind first.
  const Type &type() const { return tensor().type; }
  Handle handle() const { return tensor().handle; }

  /// The source range that made the value, for notes.
  SourceRange range() const { return range_; }
  Value withRange(SourceRange range) const {
    Value v = *this;
    v.range_ = range;
    return v;
  }

  /// The value as texts show it: "fp32[16, 32]" for tensors, Python's `repr` for constants.
  std::string str() const;
  /// Name of the value's Python class ("tensor", "int", "tuple", "dtype"), for messages.
  std::string typeName() const;

  /// How deep tuples and host collections stand in each other: visits and destructors recurse that deep.
  unsigned depth() const;
  /// True for a value whose size or depth asks too much of those who visit it.
  bool isTooLarge() const;

  /// True when both are the same compile-time value (tensors: the same handle).
  bool identical(const Value &other) const;

private:
  Kind kind_ = Kind::Null;
  SourceRange range_;
  // One pointer for every kind, so that values copy cheaply.
  std::shared_ptr<const void> payload_;
};

struct SliceValue {
  Value lower, upper, step;
};
/// A class that its user marked as an aggregate: fields of given classes, and methods.
struct AggregateClass {
  std::string name;
  std::string key; ///< differs between classes of one name
  Value type;      ///< the host's class, which has the methods
  std::vector<std::string> fields;
  std::vector<Value> annotations; ///< the fields' classes
  std::vector<Value> defaults;    ///< null where a field has none
  Value init;                     ///< the constructor's source; None if it takes the fields
  std::vector<std::string> staticMethods;
};
struct BoundMethod {
  Value self;
  Value callee; ///< Builtin, Function or Host
};

/// Flattens a value to its runtime leaves (tensors), in order; constants contribute nothing.
void flatten(const Value &value, llvm::SmallVectorImpl<TensorValue> &leaves);
/// Rebuilds a value of the same structure with new handles for its tensors, in order.
Value unflatten(const Value &pattern, llvm::ArrayRef<Handle> &handles);

} // namespace despina

#endif // DESPINA_LANG_VALUE_H
