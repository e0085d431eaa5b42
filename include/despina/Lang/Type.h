//===- Type.h - Types of the language ---------------------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Front-end types carry what the IR drops: signedness, constness of pointers, and the tuple structure
// (spec triton_language 1.2).
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LANG_TYPE_H
#define DESPINA_LANG_TYPE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace despina {

enum class ScalarKind : uint8_t {
  Void,
  Int1,
  Int8,
  Int16,
  Int32,
  Int64,
  UInt8,
  UInt16,
  UInt32,
  UInt64,
  FP8E4B15,
  FP8E4NV,
  FP8E4B8,
  FP8E5,
  FP8E5B16,
  FP16,
  BF16,
  FP32,
  FP64,
};

/// What the language knows of one scalar type.
struct ScalarInfo {
  ScalarKind kind;
  const char *name;       ///< `.name`: "fp32"
  const char *publicName; ///< attribute of `tl`: "float32"
  const char *signature;  ///< in signature strings: "fp32", "u1"
  unsigned bits;          ///< primitive bit width
  unsigned mantissa;      ///< fp_mantissa_width, 0 for integers
  int bias;               ///< exponent_bias, 0 for integers
};
const ScalarInfo &scalarInfo(ScalarKind kind);
llvm::ArrayRef<ScalarInfo> allScalars();
/// By `.name` ("fp32"), by signature ("i32", "u1", also "i1" and "B"), by public name ("float32").
std::optional<ScalarKind> scalarByName(llvm::StringRef name);
std::optional<ScalarKind> scalarBySignature(llvm::StringRef text);
std::optional<ScalarKind> scalarByPublicName(llvm::StringRef name);

/// An immutable type: scalar, pointer, block (tensor), tuple or tensor descriptor. Cheap to copy; equality is
/// structural.
class Type {
public:
  enum class Kind : uint8_t { Scalar, Pointer, Block, Tuple, Descriptor };

  /// `void`.
  Type() : Type(ScalarKind::Void) {}
  /*implicit*/ Type(ScalarKind kind);
  static Type pointer(Type pointee, bool isConst = false, int addressSpace = 1);
  /// `element` is a scalar or a pointer; every extent is a power of two and numel <= 2^20 (checked by callers
  /// with the language's messages; see `checkBlockShape` in Semantic.h).
  static Type block(Type element, llvm::ArrayRef<int64_t> shape);
  /// Field names are empty for a plain tuple.
  static Type tuple(std::vector<Type> elements, std::vector<std::string> fields = {});
  /// Describes a tensor in memory that is accessed in blocks of type `block`.
  static Type descriptor(Type block);

  Kind kind() const;
  bool isBlock() const { return kind() == Kind::Block; }
  bool isTuple() const { return kind() == Kind::Tuple; }
  bool isDescriptor() const { return kind() == Kind::Descriptor; }
  bool isVoid() const { return kind() == Kind::Scalar && scalarKind() == ScalarKind::Void; }
  /// True for a pointer scalar and for a block of pointers when asked on `scalar()`.
  bool isPointer() const { return kind() == Kind::Pointer; }

  /// The element type of a block; the type itself otherwise (`.scalar` in the language).
  Type scalar() const;
  /// The shape of a block; empty otherwise.
  llvm::ArrayRef<int64_t> shape() const;
  int64_t numel() const;
  unsigned rank() const { return static_cast<unsigned>(shape().size()); }
  /// Same shape, other element.
  Type withScalar(Type element) const;
  Type withShape(llvm::ArrayRef<int64_t> shape) const;

  // Of the scalar type (blocks answer for their element). Only for non-pointers:
  ScalarKind scalarKind() const;
  bool isInt() const; ///< any integer, int1 included
  bool isInt1() const;
  bool isSigned() const;   ///< signed integer
  bool isUnsigned() const; ///< unsigned integer, int1 included
  bool isFloating() const; ///< any float, fp8 included
  bool isFP8() const;
  bool isStandardFloat() const; ///< fp16, bf16, fp32, fp64
  /// Bit width of the scalar: 64 for pointers, 1 for int1.
  unsigned bits() const;

  // Of a pointer (blocks answer for their element):
  Type pointee() const;
  bool pointeeIsConst() const;
  int addressSpace() const;

  /// Of a descriptor: what one access moves. `void` for anything else.
  Type describedBlock() const;

  // Of a tuple:
  llvm::ArrayRef<Type> elements() const;
  llvm::ArrayRef<std::string> fields() const;

  bool operator==(const Type &other) const;
  bool operator!=(const Type &other) const { return !(*this == other); }

  /// `str(t)` in the language: "fp32", "pointer<fp32>", "<[16, 32], fp32>".
  std::string str() const;
  /// In signatures: "*fp32", "*kfp32", "i32", "tensordesc<fp16[64, 64]>".
  std::string signature() const;
  /// Identifier-safe form for mangled names: "i32", "Pfp32", "fp32S16_32S".
  std::string mangle() const;

  /// Parses a signature string ("*fp16", "i64", "*kfp32"); none when malformed.
  static std::optional<Type> fromSignature(llvm::StringRef text);

private:
  struct Data;
  std::shared_ptr<const Data> data_;
};

} // namespace despina

#endif // DESPINA_LANG_TYPE_H
