//===- BuiltinsDescriptor.cpp - Tensor descriptors ------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Spec triton_language 1.8.
//
//===----------------------------------------------------------------------===//
#include "BuiltinsImpl.h"
#include "Promotion.h"

#include "llvm/ADT/STLExtras.h"

namespace despina {

namespace {

constexpr size_t maxRank = 5;

llvm::ArrayRef<Value> elementsOf(const Value &value) {
  return value.isTuple() ? llvm::ArrayRef(value.tuple().elements) : llvm::ArrayRef(value);
}

const Value &handleOf(const Value &descriptor) { return descriptor.tuple().elements.front(); }
Type blockOf(const Value &descriptor) { return handleOf(descriptor).type().describedBlock(); }

bool checkDescriptor(Semantic &semantic, const Value &value) {
  if (value.isDescriptor())
    return true;
  semantic.error(ErrorKind::Type, "Expected a tensor descriptor, got " + value.str(),
                 "make one with tl.make_tensor_descriptor");
  return false;
}

/// A scalar integer of `kind`; null after an error.
Value scalarInteger(Semantic &semantic, const Value &value, const char *what, ScalarKind kind) {
  if (value.isConstant() && value.constant().isIntLike())
    return semantic.typedConstant(value.constant(), kind);
  Value tensor = semantic.toTensor(value);
  if (!tensor)
    return Value();
  if (tensor.type().isBlock() || !tensor.type().isInt())
    return semantic.error(ErrorKind::Value,
                          std::string("Expected `") + what + "` to be integer scalars, got " + tensor.str());
  return semantic.cast(tensor, kind);
}

Value scalarIntegers(Semantic &semantic, llvm::ArrayRef<Value> values, const char *what, ScalarKind kind) {
  std::vector<Value> scalars;
  for (const Value &value : values) {
    scalars.push_back(scalarInteger(semantic, value, what, kind));
    if (!scalars.back())
      return Value();
  }
  return Value::tuple(std::move(scalars));
}

Handles handlesOf(const Value &tuple) {
  Handles handles;
  for (const Value &element : tuple.tuple().elements)
    handles.push_back(element.handle());
  return handles;
}

//===----------------------------------------------------------------------===//
// Making a descriptor
//===----------------------------------------------------------------------===//

bool checkBase(Semantic &semantic, const Value &base) {
  bool isPointer = base.isTensor() && base.type().isPointer();
  if (isPointer && base.type().pointee().kind() == Type::Kind::Scalar && !base.type().pointee().isInt1())
    return semantic.checkFP8(base.type().pointee());
  semantic.error(ErrorKind::Value, "Expected `base` to be a pointer to numbers, got " +
                                       (base.isTensor() ? typeRepr(base.type()) : base.str()));
  return false;
}

/// Ranks that agree, and a last stride of 1; false after an error.
bool checkStructure(Semantic &semantic, llvm::ArrayRef<Value> shape, llvm::ArrayRef<Value> strides,
                    llvm::ArrayRef<int64_t> block) {
  size_t rank = shape.size();
  auto fail = [&](std::string message) {
    semantic.error(ErrorKind::Value, std::move(message));
    return false;
  };
  if (rank < 1 || rank > maxRank)
    return fail("Expected 1 <= ndim <= 5 but got " + std::to_string(rank) + " dimensions");
  if (strides.size() != rank)
    return fail("Expected " + std::to_string(rank) + " strides but got " + std::to_string(strides.size()));
  if (block.size() != rank)
    return fail("Expected block_shape to have " + std::to_string(rank) + " dimensions but got " +
                std::to_string(block.size()));
  const Value &last = strides.back();
  bool isOne = last.isConstant() && last.constant().asInt64() == 1;
  return isOne || fail("Tensor descriptor last dim must be 1 but got " + last.str());
}

/// False after an error; `padsNaN` is set.
bool readPadding(Semantic &semantic, const Value &argument, const Type &element, bool &padsNaN) {
  std::optional<std::string> text = constantString(semantic, argument, "padding_option");
  if (!text)
    return false;
  padsNaN = *text == "nan";
  if (padsNaN && !element.isFloating()) {
    semantic.error(ErrorKind::Value, "Padding option `nan` is not supported for integer blocks");
    return false;
  }
  if (padsNaN || text->empty() || *text == "zero")
    return true;
  semantic.error(ErrorKind::Value, "Padding option " + *text + " not supported");
  return false;
}

Value makeTensorDescriptor(Semantic &semantic, const BuiltinArgs &args) {
  const Value &base = args[0];
  if (!checkBase(semantic, base))
    return Value();
  std::optional<llvm::SmallVector<int64_t, 4>> block = semantic.checkBlockShape(args[3]);
  llvm::ArrayRef<Value> shape = elementsOf(args[1]), strides = elementsOf(args[2]);
  if (!block || !checkStructure(semantic, shape, strides, *block))
    return Value();
  Type element = base.type().pointee();
  bool padsNaN = false;
  if (!readPadding(semantic, args[4], element, padsNaN))
    return Value();
  int64_t itemBytes = element.bits() / 8, rowBytes = block->back() * itemBytes;
  if (rowBytes < 16)
    semantic.warn("Descriptor block shape must have at least 16 bytes in the last dimension, but got " +
                  std::to_string(block->back()) + " * " + std::to_string(itemBytes) + " = " +
                  std::to_string(rowBytes) + " bytes");
  Value extents = scalarIntegers(semantic, shape, "shape", ScalarKind::Int32);
  Value steps = extents ? scalarIntegers(semantic, strides, "strides", ScalarKind::Int64) : Value();
  if (!steps)
    return Value();
  return makeDescriptor(semantic, Type::descriptor(Type::block(element, *block)), base, extents, steps,
                        padsNaN);
}

//===----------------------------------------------------------------------===//
// Access to blocks
//===----------------------------------------------------------------------===//

bool checkNarrow(Semantic &semantic, const Value &value) {
  if (!value.isTensor() || !value.type().isInt() || value.type().bits() <= 32)
    return true;
  semantic.error(
      ErrorKind::Assertion,
      "Tensor descriptors only support 32 bit offsets, add a `.to(tl.int32)` or use regular indexing "
      "for 64 bit support");
  return false;
}

/// One int32 offset for each dimension; null after an error.
Value readOffsets(Semantic &semantic, const Value &descriptor, const Value &offsets) {
  llvm::ArrayRef<Value> given = elementsOf(offsets);
  size_t rank = blockOf(descriptor).rank();
  if (given.size() != rank)
    return semantic.error(ErrorKind::Assertion, "expected " + std::to_string(rank) + " offsets, but got " +
                                                    std::to_string(given.size()));
  if (!llvm::all_of(given, [&](const Value &offset) { return checkNarrow(semantic, offset); }))
    return Value();
  return scalarIntegers(semantic, given, "offsets", ScalarKind::Int32);
}

/// `value` as a block of the descriptor's element type, of this shape; null after an error.
Value readBlock(Semantic &semantic, const Value &descriptor, const Value &value,
                llvm::ArrayRef<int64_t> shape) {
  Value tensor = semantic.toTensor(value);
  if (!tensor)
    return Value();
  if (tensor.type().shape() != shape)
    return semantic.error(ErrorKind::Assertion,
                          "expected a block of shape " + shapeText(shape) + ", but got " + tensor.str());
  return semantic.cast(tensor, blockOf(descriptor).scalar());
}

Value load(Semantic &semantic, const BuiltinArgs &args) {
  Value offsets = checkDescriptor(semantic, args[0]) ? readOffsets(semantic, args[0], args[1]) : Value();
  if (!offsets)
    return Value();
  const Value &handle = handleOf(args[0]);
  return Value::tensor(blockOf(args[0]),
                       semantic.builder().descriptorLoad(handle.type(), handle.handle(), handlesOf(offsets)));
}

Value store(Semantic &semantic, const BuiltinArgs &args) {
  Value offsets = checkDescriptor(semantic, args[0]) ? readOffsets(semantic, args[0], args[1]) : Value();
  Value value = offsets ? readBlock(semantic, args[0], args[2], blockOf(args[0]).shape()) : Value();
  if (!value)
    return Value();
  semantic.builder().descriptorStore(handleOf(args[0]).handle(), value.handle(), handlesOf(offsets));
  return Value::none();
}

/// Spec 1.8: what each operation combines.
bool canReduce(const LanguageTarget &target, DescriptorReduceKind kind, ScalarKind type) {
  using Kind = ScalarKind;
  bool isHalf = type == Kind::FP16 || type == Kind::BF16;
  if (kind == DescriptorReduceKind::Add)
    return isHalf || type == Kind::FP32 || type == Kind::UInt32 || type == Kind::Int32 ||
           type == Kind::UInt64;
  bool isInteger = type == Kind::UInt32 || type == Kind::Int32 || type == Kind::UInt64 || type == Kind::Int64;
  bool isMinMax = kind == DescriptorReduceKind::Min || kind == DescriptorReduceKind::Max;
  constexpr int firstWithTMA = 90;
  return isInteger || (isMinMax && isHalf && target.backend == "cuda" && target.arch >= firstWithTMA);
}

template <DescriptorReduceKind Kind> Value reduce(Semantic &semantic, const BuiltinArgs &args) {
  if (!checkDescriptor(semantic, args[0]))
    return Value();
  Type block = blockOf(args[0]);
  if (!canReduce(semantic.target(), Kind, block.scalarKind()))
    return semantic.error(ErrorKind::Assertion, "Unsupported dtype",
                          "this operation of descriptors does not combine " + block.scalar().str() +
                              " on this target");
  Value offsets = readOffsets(semantic, args[0], args[1]);
  Value value = offsets ? readBlock(semantic, args[0], args[2], block.shape()) : Value();
  if (!value)
    return Value();
  semantic.builder().descriptorReduce(Kind, handleOf(args[0]).handle(), value.handle(), handlesOf(offsets));
  return Value::none();
}

//===----------------------------------------------------------------------===//
// Access to rows
//===----------------------------------------------------------------------===//

/// What a gather or scatter demands (`what`); the shape of its rows, or none after an error.
std::optional<llvm::SmallVector<int64_t, 2>> checkRows(Semantic &semantic, const Value &descriptor,
                                                       const Value &rows, const std::string &what) {
  if (!checkDescriptor(semantic, descriptor))
    return std::nullopt;
  auto fail = [&](std::string message) {
    semantic.error(ErrorKind::Assertion, std::move(message));
    return std::nullopt;
  };
  constexpr int64_t minRows = 8;
  Type block = blockOf(descriptor);
  std::string blockText = shapeText(block.shape());
  if (block.rank() != 2)
    return fail("descriptor must be 2D, but got " + blockText);
  if (block.shape()[0] != 1)
    return fail("descriptor block must have 1 row, but got " + blockText);
  bool isIndices = rows.isTensor() && rows.type().isInt() && !rows.type().isInt1();
  if (!isIndices || rows.type().rank() != 1)
    return fail("x offsets must be 1D, but got " + (isIndices ? shapeText(rows.type().shape()) : rows.str()));
  ScalarKind kind = rows.type().scalarKind();
  if (kind != ScalarKind::Int32 && kind != ScalarKind::Int16)
    return fail("x offsets must be int32 or int16, but got " + rows.type().scalar().str());
  int64_t count = rows.type().shape()[0], minColumns = 32 / int64_t(block.bits()) * 8;
  if (count < minRows)
    return fail(what + " must have at least " + std::to_string(minRows) + " rows, but got " +
                shapeText(rows.type().shape()));
  if (block.shape()[1] < minColumns)
    return fail(what + " of " + block.scalar().str() + " must have at least " + std::to_string(minColumns) +
                " columns, but got " + std::to_string(block.shape()[1]));
  return llvm::SmallVector<int64_t, 2>{count, block.shape()[1]};
}

Value readColumn(Semantic &semantic, const Value &column) {
  return checkNarrow(semantic, column) ? scalarInteger(semantic, column, "y_offset", ScalarKind::Int32)
                                       : Value();
}

Value gatherRows(Semantic &semantic, const BuiltinArgs &args) {
  auto shape = checkRows(semantic, args[0], args[1], "descriptor gather");
  Value column = shape ? readColumn(semantic, args[2]) : Value();
  if (!column)
    return Value();
  Type type = Type::block(blockOf(args[0]).scalar(), *shape);
  return Value::tensor(type, semantic.builder().descriptorGather(type, handleOf(args[0]).handle(),
                                                                 args[1].handle(), column.handle()));
}

Value scatterRows(Semantic &semantic, const BuiltinArgs &args) {
  auto shape = checkRows(semantic, args[0], args[2], "descriptor scatter");
  Value column = shape ? readColumn(semantic, args[3]) : Value();
  Value value = column ? readBlock(semantic, args[0], args[1], *shape) : Value();
  if (!value)
    return Value();
  semantic.builder().descriptorScatter(handleOf(args[0]).handle(), value.handle(), args[2].handle(),
                                       column.handle());
  return Value::none();
}

constexpr ParamDef makeParams[] = {
    {"base"}, {"shape"}, {"strides"}, {"block_shape"}, {"padding_option", "\"zero\""}};
constexpr ParamDef loadParams[] = {{"desc"}, {"offsets"}};
constexpr ParamDef storeParams[] = {{"desc"}, {"offsets"}, {"value"}};
constexpr ParamDef loadMethodParams[] = {{"self"}, {"offsets"}};
constexpr ParamDef storeMethodParams[] = {{"self"}, {"offsets"}, {"value"}};
constexpr ParamDef gatherParams[] = {{"self"}, {"x_offsets"}, {"y_offset"}};
constexpr ParamDef scatterParams[] = {{"self"}, {"value"}, {"x_offsets"}, {"y_offset"}};

const BuiltinDef table[] = {
    {"language.make_tensor_descriptor", makeParams, "Describes a tensor in memory, to access it in blocks.",
     makeTensorDescriptor},
    {"language.load_tensor_descriptor", loadParams, "Reads a block; elements out of bounds are the padding.",
     load},
    {"language.store_tensor_descriptor", storeParams, "Writes a block; elements out of bounds are dropped.",
     store},
    {"tensor_descriptor.load", loadMethodParams, "Reads a block; elements out of bounds are the padding.",
     load},
    {"tensor_descriptor.store", storeMethodParams, "Writes a block; elements out of bounds are dropped.",
     store},
    {"tensor_descriptor.atomic_add", storeMethodParams, "Adds a block to memory.",
     reduce<DescriptorReduceKind::Add>},
    {"tensor_descriptor.atomic_min", storeMethodParams, "Minimum of a block with memory.",
     reduce<DescriptorReduceKind::Min>},
    {"tensor_descriptor.atomic_max", storeMethodParams, "Maximum of a block with memory.",
     reduce<DescriptorReduceKind::Max>},
    {"tensor_descriptor.atomic_and", storeMethodParams, "Bitwise and of a block with memory.",
     reduce<DescriptorReduceKind::And>},
    {"tensor_descriptor.atomic_or", storeMethodParams, "Bitwise or of a block with memory.",
     reduce<DescriptorReduceKind::Or>},
    {"tensor_descriptor.atomic_xor", storeMethodParams, "Bitwise xor of a block with memory.",
     reduce<DescriptorReduceKind::Xor>},
    {"tensor_descriptor.gather", gatherParams, "Reads rows at any positions.", gatherRows},
    {"tensor_descriptor.scatter", scatterParams, "Writes rows at any positions.", scatterRows},
};

} // namespace

Value makeDescriptor(Semantic &semantic, const Type &type, const Value &base, const Value &shape,
                     const Value &strides, bool padsNaN) {
  Handle handle =
      semantic.builder().makeDescriptor(type, base.handle(), handlesOf(shape), handlesOf(strides), padsNaN);
  return Value::descriptor(Value::tensor(type, handle), shape, strides);
}

Value descriptorAttribute(const Value &descriptor, llvm::StringRef name) {
  Type block = blockOf(descriptor);
  if (name == "shape")
    return descriptor.tuple().elements[1];
  if (name == "strides")
    return descriptor.tuple().elements[2];
  if (name == "dtype")
    return Value::dtype(block.scalar());
  if (name == "block_type")
    return Value::dtype(block);
  if (name == "type")
    return Value::dtype(handleOf(descriptor).type());
  if (name == "block_shape") {
    std::vector<Value> extents;
    for (int64_t extent : block.shape())
      extents.push_back(Value::constant(extent));
    return Value::tuple(std::move(extents));
  }
  if (const BuiltinDef *method = findBuiltin("tensor_descriptor." + name.str()))
    return Value::boundMethod(descriptor, Value::builtin(method));
  return Value();
}

llvm::ArrayRef<BuiltinDef> descriptorBuiltins() { return table; }

} // namespace despina
