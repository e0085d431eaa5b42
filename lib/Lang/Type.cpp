//===- Type.cpp - Types of the language -----------------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "despina/Lang/Type.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"

#include <array>

namespace despina {

namespace {

constexpr ScalarInfo scalars[] = {
    {ScalarKind::Void, "void", "void", "void", 0, 0, 0},
    {ScalarKind::Int1, "int1", "int1", "u1", 1, 0, 0},
    {ScalarKind::Int8, "int8", "int8", "i8", 8, 0, 0},
    {ScalarKind::Int16, "int16", "int16", "i16", 16, 0, 0},
    {ScalarKind::Int32, "int32", "int32", "i32", 32, 0, 0},
    {ScalarKind::Int64, "int64", "int64", "i64", 64, 0, 0},
    {ScalarKind::UInt8, "uint8", "uint8", "u8", 8, 0, 0},
    {ScalarKind::UInt16, "uint16", "uint16", "u16", 16, 0, 0},
    {ScalarKind::UInt32, "uint32", "uint32", "u32", 32, 0, 0},
    {ScalarKind::UInt64, "uint64", "uint64", "u64", 64, 0, 0},
    {ScalarKind::FP8E4B15, "fp8e4b15", "float8e4b15", "fp8e4b15", 8, 3, 15},
    {ScalarKind::FP8E4NV, "fp8e4nv", "float8e4nv", "fp8e4nv", 8, 3, 7},
    {ScalarKind::FP8E4B8, "fp8e4b8", "float8e4b8", "fp8e4b8", 8, 3, 8},
    {ScalarKind::FP8E5, "fp8e5", "float8e5", "fp8e5", 8, 2, 15},
    {ScalarKind::FP8E5B16, "fp8e5b16", "float8e5b16", "fp8e5b16", 8, 2, 16},
    {ScalarKind::FP16, "fp16", "float16", "fp16", 16, 10, 15},
    {ScalarKind::BF16, "bf16", "bfloat16", "bf16", 16, 7, 127},
    {ScalarKind::FP32, "fp32", "float32", "fp32", 32, 23, 127},
    {ScalarKind::FP64, "fp64", "float64", "fp64", 64, 52, 1023},
};
constexpr size_t numScalars = std::size(scalars);

std::string joinExtents(llvm::ArrayRef<int64_t> shape, const char *separator) {
  std::string text;
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? separator : "") + std::to_string(shape[i]);
  return text;
}

} // namespace

const ScalarInfo &scalarInfo(ScalarKind kind) { return scalars[static_cast<size_t>(kind)]; }

llvm::ArrayRef<ScalarInfo> allScalars() { return scalars; }

std::optional<ScalarKind> scalarByName(llvm::StringRef name) {
  for (const ScalarInfo &info : scalars)
    if (name == info.name)
      return info.kind;
  return std::nullopt;
}

std::optional<ScalarKind> scalarBySignature(llvm::StringRef text) {
  if (text == "i1" || text == "B")
    return ScalarKind::Int1;
  for (const ScalarInfo &info : scalars)
    if (info.kind != ScalarKind::Void && text == info.signature)
      return info.kind;
  return std::nullopt;
}

std::optional<ScalarKind> scalarByPublicName(llvm::StringRef name) {
  for (const ScalarInfo &info : scalars)
    if (name == info.publicName)
      return info.kind;
  return std::nullopt;
}

struct Type::Data {
  Kind kind = Kind::Scalar;
  ScalarKind scalar = ScalarKind::Void; ///< Scalar
  bool isConst = false;                 ///< Pointer
  int addressSpace = 1;                 ///< Pointer
  std::vector<Type> elements;           ///< Pointer: pointee; Block: element; Tuple: all; Descriptor: block
  std::vector<int64_t> shape;           ///< Block
  std::vector<std::string> fields;      ///< Tuple

  /// The empty vectors keep a scalar's data free of cycles: no default Type is made here.
  explicit Data(Kind kind) : kind(kind) {}
};

Type::Type(ScalarKind kind) {
  static const std::array<std::shared_ptr<const Data>, numScalars> shared = [] {
    std::array<std::shared_ptr<const Data>, numScalars> all;
    for (size_t i = 0; i < numScalars; ++i) {
      auto data = std::make_shared<Data>(Kind::Scalar);
      data->scalar = static_cast<ScalarKind>(i);
      all[i] = std::move(data);
    }
    return all;
  }();
  data_ = shared[static_cast<size_t>(kind)];
}

Type Type::pointer(Type pointee, bool isConst, int addressSpace) {
  auto data = std::make_shared<Data>(Kind::Pointer);
  data->isConst = isConst;
  data->addressSpace = addressSpace;
  data->elements.push_back(std::move(pointee));
  Type type;
  type.data_ = std::move(data);
  return type;
}

Type Type::block(Type element, llvm::ArrayRef<int64_t> shape) {
  auto data = std::make_shared<Data>(Kind::Block);
  data->elements.push_back(std::move(element));
  data->shape = shape.vec();
  Type type;
  type.data_ = std::move(data);
  return type;
}

Type Type::tuple(std::vector<Type> elements, std::vector<std::string> fields) {
  auto data = std::make_shared<Data>(Kind::Tuple);
  data->elements = std::move(elements);
  data->fields = std::move(fields);
  Type type;
  type.data_ = std::move(data);
  return type;
}

Type Type::descriptor(Type block) {
  auto data = std::make_shared<Data>(Kind::Descriptor);
  data->elements.push_back(std::move(block));
  Type type;
  type.data_ = std::move(data);
  return type;
}

Type::Kind Type::kind() const { return data_->kind; }

Type Type::scalar() const { return isBlock() ? data_->elements.front() : *this; }

llvm::ArrayRef<int64_t> Type::shape() const { return data_->shape; }

int64_t Type::numel() const {
  int64_t count = 1;
  for (int64_t extent : data_->shape)
    count *= extent;
  return count;
}

Type Type::withScalar(Type element) const { return isBlock() ? block(std::move(element), shape()) : element; }

Type Type::withShape(llvm::ArrayRef<int64_t> shape) const {
  return shape.empty() ? scalar() : block(scalar(), shape);
}

ScalarKind Type::scalarKind() const {
  const Data *data = isBlock() ? data_->elements.front().data_.get() : data_.get();
  return data->kind == Kind::Scalar ? data->scalar : ScalarKind::Void;
}

bool Type::isInt() const {
  ScalarKind kind = scalarKind();
  return kind >= ScalarKind::Int1 && kind <= ScalarKind::UInt64;
}
bool Type::isInt1() const { return scalarKind() == ScalarKind::Int1; }
bool Type::isSigned() const {
  ScalarKind kind = scalarKind();
  return kind >= ScalarKind::Int8 && kind <= ScalarKind::Int64;
}
bool Type::isUnsigned() const { return isInt() && !isSigned(); }
bool Type::isFloating() const { return scalarKind() >= ScalarKind::FP8E4B15; }
bool Type::isFP8() const {
  ScalarKind kind = scalarKind();
  return kind >= ScalarKind::FP8E4B15 && kind <= ScalarKind::FP8E5B16;
}
bool Type::isStandardFloat() const { return scalarKind() >= ScalarKind::FP16; }

unsigned Type::bits() const { return scalar().isPointer() ? 64 : scalarInfo(scalarKind()).bits; }

Type Type::pointee() const {
  Type element = scalar();
  return element.isPointer() ? element.data_->elements.front() : Type();
}
bool Type::pointeeIsConst() const {
  Type element = scalar();
  return element.isPointer() && element.data_->isConst;
}
int Type::addressSpace() const {
  Type element = scalar();
  return element.isPointer() ? element.data_->addressSpace : 0;
}

Type Type::describedBlock() const { return isDescriptor() ? data_->elements.front() : Type(); }

llvm::ArrayRef<Type> Type::elements() const {
  return isTuple() ? llvm::ArrayRef(data_->elements) : llvm::ArrayRef<Type>();
}
llvm::ArrayRef<std::string> Type::fields() const { return data_->fields; }

bool Type::operator==(const Type &other) const {
  if (data_ == other.data_)
    return true;
  const Data &a = *data_, &b = *other.data_;
  return a.kind == b.kind && a.scalar == b.scalar && a.isConst == b.isConst &&
         a.addressSpace == b.addressSpace && a.shape == b.shape && a.fields == b.fields &&
         a.elements == b.elements;
}

std::string Type::str() const {
  switch (kind()) {
  case Kind::Scalar: return scalarInfo(data_->scalar).name;
  case Kind::Pointer: return (data_->isConst ? "const_pointer<" : "pointer<") + pointee().str() + ">";
  case Kind::Block: return "<[" + joinExtents(shape(), ", ") + "], " + scalar().str() + ">";
  case Kind::Descriptor: return "tensor_descriptor<" + describedBlock().str() + ">";
  case Kind::Tuple: break;
  }
  std::string text = "[";
  for (size_t i = 0; i < data_->elements.size(); ++i) {
    text += i ? "," : "";
    if (i < data_->fields.size() && !data_->fields[i].empty())
      text += data_->fields[i] + ":";
    text += data_->elements[i].str();
  }
  return text + "]";
}

std::string Type::signature() const {
  switch (kind()) {
  case Kind::Scalar: return scalarInfo(data_->scalar).signature;
  case Kind::Pointer: return (data_->isConst ? "*k" : "*") + pointee().signature();
  case Kind::Block: return str();
  case Kind::Descriptor: {
    Type block = describedBlock();
    return "tensordesc<" + block.scalar().signature() + "[" + joinExtents(block.shape(), ", ") + "]>";
  }
  case Kind::Tuple: break;
  }
  std::string text = "(";
  for (size_t i = 0; i < data_->elements.size(); ++i)
    text += (i ? "," : "") + data_->elements[i].signature();
  return text + ")";
}

std::string Type::mangle() const {
  switch (kind()) {
  case Kind::Scalar: return scalarInfo(data_->scalar).signature;
  case Kind::Pointer: return (data_->isConst ? "Pk" : "P") + pointee().mangle();
  case Kind::Block: return scalar().mangle() + "S" + joinExtents(shape(), "_") + "S";
  case Kind::Descriptor: return "D" + describedBlock().mangle();
  case Kind::Tuple: break;
  }
  std::string text = "T";
  for (const Type &element : data_->elements)
    text += element.mangle() + "_";
  return text + "T";
}

/// Reads "fp16[64, 64]".
static std::optional<Type> describedBlock(llvm::StringRef text) {
  constexpr size_t maxRank = 5;
  constexpr int64_t maxElements = 1 << 20;
  auto [element, extents] = text.split('[');
  std::optional<ScalarKind> kind = scalarBySignature(element.trim());
  if (!kind || !extents.consume_back("]"))
    return std::nullopt;
  llvm::SmallVector<llvm::StringRef> parts;
  extents.split(parts, ',');
  llvm::SmallVector<int64_t> shape;
  int64_t elements = 1;
  for (llvm::StringRef part : parts) {
    int64_t extent = 0;
    if (part.trim().getAsInteger(10, extent) || extent < 1 || !llvm::isPowerOf2_64(uint64_t(extent)) ||
        extent > maxElements / elements)
      return std::nullopt;
    elements *= extent;
    shape.push_back(extent);
  }
  return shape.size() <= maxRank ? std::optional(Type::block(*kind, shape)) : std::nullopt;
}

std::optional<Type> Type::fromSignature(llvm::StringRef text) {
  if (llvm::StringRef block = text; block.consume_front("tensordesc<") && block.consume_back(">")) {
    std::optional<Type> type = ::despina::describedBlock(block);
    return type ? std::optional(descriptor(*type)) : std::nullopt;
  }
  if (!text.consume_front("*")) {
    if (std::optional<ScalarKind> kind = scalarBySignature(text))
      return Type(*kind);
    return std::nullopt;
  }
  bool isConst = text.consume_front("k");
  // A pointer to a pointer is legal; the depth is bounded so that no text exhausts the stack.
  if (text.size() > 64)
    return std::nullopt;
  std::optional<Type> pointee = fromSignature(text);
  if (!pointee || pointee->isDescriptor())
    return std::nullopt;
  return pointer(*pointee, isConst);
}

} // namespace despina
