//===- BuiltinsBlockPointer.cpp - Block pointers --------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// A block pointer is a named tuple of the front end (base, shape, strides, offsets, block_shape, order): the
// IR only sees pointers and masks. Shape, strides and offsets are int64 scalars.
//
//===----------------------------------------------------------------------===//
#include "BuiltinsImpl.h"

#include "llvm/ADT/STLExtras.h"

namespace despina {

namespace {

/// A tuple (or one number) of `rank` integers as int64 scalars; null after an error.
Value wideIntegers(Semantic &semantic, const Value &value, const char *what, std::optional<size_t> rank) {
  llvm::ArrayRef<Value> elements =
      value.isTuple() ? llvm::ArrayRef(value.tuple().elements) : llvm::ArrayRef(value);
  if (rank && elements.size() != *rank)
    return semantic.error(ErrorKind::Value,
                          "Expected shape/strides/offsets/block_shape to have the same length");
  std::vector<Value> wide;
  for (const Value &element : elements) {
    Value tensor = semantic.toTensor(element);
    if (!tensor)
      return Value();
    if (tensor.type().isBlock() || !tensor.type().isInt())
      return semantic.error(ErrorKind::Value, std::string("Expected `") + what +
                                                  "` to be integer scalars, got " + tensor.str());
    wide.push_back(semantic.cast(tensor, ScalarKind::Int64));
  }
  return Value::tuple(std::move(wide));
}

Value makeBlockPointer(Semantic &semantic, const BuiltinArgs &args) {
  const Value &base = args[0];
  if (!base.isTensor() || !base.type().isPointer())
    return semantic.error(ErrorKind::Value,
                          "Expected `base` to be a pointer type (but not a block pointer type or "
                          "others)");
  Value pointer = base;
  if (base.type().pointee().isInt1())
    pointer = semantic.cast(base, Type::pointer(ScalarKind::Int8, base.type().pointeeIsConst()));
  std::optional<llvm::SmallVector<int64_t, 4>> blockShape = semantic.checkBlockShape(args[4]);
  if (!blockShape)
    return Value();
  size_t rank = blockShape->size();
  Value shape = wideIntegers(semantic, args[1], "shape", rank);
  Value strides = shape ? wideIntegers(semantic, args[2], "strides", rank) : Value();
  Value offsets = strides ? wideIntegers(semantic, args[3], "offsets", rank) : Value();
  std::optional<llvm::SmallVector<int64_t, 4>> order =
      offsets ? constantInts(semantic, args[5], "order") : std::nullopt;
  if (!order)
    return Value();
  llvm::SmallVector<int64_t, 4> sorted(*order);
  llvm::sort(sorted);
  bool isPermutation = sorted.size() == rank;
  for (size_t i = 0; isPermutation && i < rank; ++i)
    isPermutation = sorted[i] == static_cast<int64_t>(i);
  if (!isPermutation)
    return semantic.error(ErrorKind::Value, "Expected a permutation of (0, 1, ..., len(order)-1) in order");
  auto constants = [](llvm::ArrayRef<int64_t> numbers) {
    std::vector<Value> values;
    for (int64_t number : numbers)
      values.push_back(Value::constant(number));
    return Value::tuple(std::move(values));
  };
  return Value::tuple({pointer, shape, strides, offsets, constants(*blockShape), constants(*order)},
                      {"base", "shape", "strides", "offsets", "block_shape", "order"}, "block_ptr");
}

Value advance(Semantic &semantic, const BuiltinArgs &args) {
  if (!isBlockPointer(args[0]))
    return semantic.error(ErrorKind::Value, "Expected `base` to be a block pointer, got " + args[0].str());
  std::vector<Value> fields = args[0].tuple().elements;
  const std::vector<Value> &offsets = fields[blockOffsetsField].tuple().elements;
  Value deltas = wideIntegers(semantic, args[1], "offsets", offsets.size());
  if (!deltas)
    return Value();
  std::vector<Value> moved;
  for (auto [offset, delta, given] : llvm::zip_equal(
           offsets, deltas.tuple().elements,
           args[1].isTuple() ? llvm::ArrayRef(args[1].tuple().elements) : llvm::ArrayRef(args[1]))) {
    bool stays = given.isConstant() && !given.constant().truthy();
    moved.push_back(
        stays ? offset
              : Value::tensor(ScalarKind::Int64,
                              semantic.builder().binary(BinaryKind::AddI, offset.handle(), delta.handle())));
  }
  fields[blockOffsetsField] = Value::tuple(std::move(moved));
  return Value::tuple(std::move(fields), args[0].tuple().fields, args[0].tuple().typeName);
}

/// offset + 0, 1, ..., extent - 1 along `dim`, as an int64 block of the block pointer's rank.
Value indicesAlong(Semantic &semantic, const Value &offset, int64_t extent, unsigned dim, size_t rank) {
  Builder &builder = semantic.builder();
  Type narrow = Type::block(ScalarKind::Int32, {extent});
  Value range = Value::tensor(narrow, builder.makeRange(0, static_cast<int32_t>(extent)));
  range = semantic.cast(range, ScalarKind::Int64);
  Value start = semantic.broadcastTo(offset, {extent});
  Value indices =
      Value::tensor(range.type(), builder.binary(BinaryKind::AddI, start.handle(), range.handle()));
  for (unsigned i = 0; i < rank; ++i)
    if (i != dim)
      indices = expandDims(semantic, indices, i);
  return indices;
}

constexpr ParamDef makeParams[] = {{"base"}, {"shape"}, {"strides"}, {"offsets"}, {"block_shape"}, {"order"}};
constexpr ParamDef advanceParams[] = {{"base"}, {"offsets"}};

const BuiltinDef table[] = {
    {"language.make_block_ptr", makeParams, "A pointer to a block of a larger tensor.", makeBlockPointer},
    {"language.advance", advanceParams, "A block pointer moved by `offsets`; the argument stays as it is.",
     advance, true, true},
};

} // namespace

bool isBlockPointer(const Value &value) {
  return value.isTuple() && value.tuple().typeName == "block_ptr" && value.tuple().elements.size() == 6 &&
         value.tuple().elements[blockBaseField].isTensor();
}

std::optional<BlockAccess> blockAccess(Semantic &semantic, const Value &blockPointer,
                                       const Value &boundaryCheck) {
  const std::vector<Value> &fields = blockPointer.tuple().elements;
  const std::vector<Value> &extents = fields[blockShapeField].tuple().elements;
  std::optional<llvm::SmallVector<int64_t, 4>> checks =
      boundaryCheck.isNone() ? llvm::SmallVector<int64_t, 4>()
                             : constantInts(semantic, boundaryCheck, "boundary_check");
  if (!checks)
    return std::nullopt;
  auto rank = static_cast<int64_t>(extents.size());
  llvm::SmallVector<bool, 4> checked(extents.size(), false);
  for (int64_t dim : *checks) {
    if (dim < 0 || dim >= rank) {
      semantic.error(ErrorKind::Value, "boundary_check must be in range [0, " + std::to_string(rank) +
                                           "), got " + std::to_string(dim));
      return std::nullopt;
    }
    if (checked[dim]) {
      semantic.error(ErrorKind::Value, "Duplicate dimension in `boundary_check`");
      return std::nullopt;
    }
    checked[dim] = true;
  }
  Builder &builder = semantic.builder();
  BlockAccess access{fields[blockBaseField], Value()};
  for (unsigned dim = 0; dim < extents.size(); ++dim) {
    int64_t extent = extents[dim].constant().asInt64().value_or(1);
    Value indices =
        indicesAlong(semantic, fields[blockOffsetsField].tuple().elements[dim], extent, dim, extents.size());
    Value stride =
        semantic.broadcastTo(fields[blockStridesField].tuple().elements[dim], indices.type().shape());
    Value offset =
        Value::tensor(indices.type(), builder.binary(BinaryKind::MulI, indices.handle(), stride.handle()));
    if (!semantic.broadcastPair(access.pointers, offset))
      return std::nullopt;
    access.pointers =
        Value::tensor(access.pointers.type(), builder.addPointer(access.pointers.handle(), offset.handle()));
    if (!checked[dim])
      continue;
    Value size =
        semantic.broadcastTo(fields[blockExtentsField].tuple().elements[dim], indices.type().shape());
    Value zero = Value::tensor(indices.type(), builder.constantInt(indices.type(), 0));
    Value low = semantic.compare(CompareKind::SGE, indices, zero);
    Value high = semantic.compare(CompareKind::SLT, indices, size);
    Value inside = Value::tensor(low.type(), builder.binary(BinaryKind::AndI, low.handle(), high.handle()));
    if (access.mask) {
      if (!semantic.broadcastPair(access.mask, inside))
        return std::nullopt;
      inside = Value::tensor(inside.type(),
                             builder.binary(BinaryKind::AndI, access.mask.handle(), inside.handle()));
    }
    access.mask = inside;
  }
  if (access.mask && !semantic.broadcastPair(access.mask, access.pointers))
    return std::nullopt;
  return access;
}

llvm::ArrayRef<BuiltinDef> blockPointerBuiltins() { return table; }

} // namespace despina
