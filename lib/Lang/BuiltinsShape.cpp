//===- BuiltinsShape.cpp - Shapes -----------------------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "BuiltinsImpl.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

namespace despina {

using Extents = llvm::SmallVector<int64_t, 4>;

Value expandDims(Semantic &semantic, const Value &x, unsigned axis) {
  Extents shape(x.type().shape());
  shape.insert(shape.begin() + axis, 1);
  if (!x.type().isBlock())
    return semantic.broadcastTo(x, shape);
  return Value::tensor(x.type().withShape(shape), semantic.builder().expandDims(x.handle(), axis))
      .withRange(x.range());
}

Value reshapeTo(Semantic &semantic, const Value &x, llvm::ArrayRef<int64_t> shape, bool allowReorder) {
  if (x.type().shape() == shape)
    return x;
  int64_t numel = 1;
  for (int64_t extent : shape)
    numel *= extent;
  if (numel != x.type().numel())
    return semantic.error(ErrorKind::Value, "reshape() cannot change total number of elements in tensor");
  Type to = x.type().withShape(shape);
  if (shape.empty())
    return Value::tensor(to, semantic.builder().unsplat(x.handle()));
  if (!x.type().isBlock())
    return semantic.broadcastTo(x, shape);
  return Value::tensor(to, semantic.builder().reshape(x.handle(), to, allowReorder));
}

Value transposeTo(Semantic &semantic, const Value &x, llvm::ArrayRef<int32_t> order) {
  Extents shape;
  for (int32_t dim : order)
    shape.push_back(x.type().shape()[dim]);
  return Value::tensor(x.type().withShape(shape), semantic.builder().transpose(x.handle(), order));
}

namespace {

Value broadcast(Semantic &semantic, const BuiltinArgs &args) {
  Value lhs = semantic.toTensor(args[0]);
  Value rhs = lhs ? semantic.toTensor(args[1]) : Value();
  return rhs && semantic.broadcastPair(lhs, rhs) ? Value::tuple({lhs, rhs}) : Value();
}

Value broadcastTo(Semantic &semantic, const BuiltinArgs &args) {
  Value x = semantic.toTensor(args[0]);
  std::optional<Extents> shape = x ? semantic.checkBlockShape(unpackVariadic(args[1])) : std::nullopt;
  return shape ? semantic.broadcastTo(x, *shape) : Value();
}

Value expandDimsBuiltin(Semantic &semantic, const BuiltinArgs &args) {
  Value x = semantic.toTensor(args[0]);
  std::optional<Extents> axes = x ? constantInts(semantic, args[1], "axis") : std::nullopt;
  if (!axes)
    return Value();
  auto rank = static_cast<unsigned>(x.type().rank() + axes->size());
  llvm::SmallVector<unsigned, 4> sorted;
  for (int64_t axis : *axes) {
    std::optional<unsigned> normal = axisArgument(semantic, Value::constant(axis), rank);
    if (!normal)
      return Value();
    sorted.push_back(*normal);
  }
  llvm::sort(sorted);
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    return semantic.error(ErrorKind::Value, "expand_dims received duplicate axes: " + shapeText(*axes));
  for (unsigned axis : sorted)
    x = x ? expandDims(semantic, x, axis) : x;
  return x;
}

Value reshapeArguments(Semantic &semantic, const Value &input, const Value &shapeValue, bool reorder) {
  Value x = semantic.toTensor(input);
  std::optional<Extents> shape = x ? semantic.checkBlockShape(unpackVariadic(shapeValue)) : std::nullopt;
  return shape ? reshapeTo(semantic, x, *shape, reorder) : Value();
}

Value reshape(Semantic &semantic, const BuiltinArgs &args) {
  std::optional<bool> reorder = constantBool(semantic, args[2], "can_reorder");
  return reorder ? reshapeArguments(semantic, args[0], args[1], *reorder) : Value();
}

Value view(Semantic &semantic, const BuiltinArgs &args) {
  semantic.warn("view is deprecated, please use reshape with can_reorder being true.");
  return reshapeArguments(semantic, args[0], args[1], true);
}

Value ravel(Semantic &semantic, const BuiltinArgs &args) {
  Value x = semantic.toTensor(args[0]);
  std::optional<bool> reorder = x ? constantBool(semantic, args[1], "can_reorder") : std::nullopt;
  return reorder ? reshapeTo(semantic, x, {x.type().numel()}, *reorder) : Value();
}

/// `trans` and `permute` with dimensions.
Value permuteBy(Semantic &semantic, const Value &x, llvm::ArrayRef<int64_t> dims) {
  auto rank = static_cast<int64_t>(x.type().rank());
  if (static_cast<int64_t>(dims.size()) != rank)
    return semantic.error(ErrorKind::Value, "permute dims must have the same length as input shape");
  llvm::SmallVector<int32_t, 4> order;
  for (int64_t dim : dims)
    order.push_back(static_cast<int32_t>(dim < 0 && dim >= -rank ? dim + rank : dim));
  llvm::SmallVector<int32_t, 4> sorted(order), identity(dims.size());
  llvm::sort(sorted);
  std::iota(identity.begin(), identity.end(), 0);
  if (sorted != identity)
    return semantic.error(ErrorKind::Value,
                          "permute dims must be a permutation of 0, 1, ..., n-1, but were " +
                              shapeText(dims));
  return order == identity ? x : transposeTo(semantic, x, order);
}

Value permuteArguments(Semantic &semantic, const BuiltinArgs &args, bool allowNoDims) {
  Value x = semantic.toTensor(args[0]);
  std::optional<Extents> dims = x ? constantInts(semantic, unpackVariadic(args[1]), "dims") : std::nullopt;
  if (!dims)
    return Value();
  if (!dims->empty() || !allowNoDims)
    return permuteBy(semantic, x, *dims);
  if (x.type().rank() < 2)
    return semantic.error(ErrorKind::Value, "tl.trans invoked with a 0- or 1-dimensional tensor");
  llvm::SmallVector<int32_t, 4> order(x.type().rank());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return transposeTo(semantic, x, order);
}

Value trans(Semantic &semantic, const BuiltinArgs &args) { return permuteArguments(semantic, args, true); }
Value permute(Semantic &semantic, const BuiltinArgs &args) { return permuteArguments(semantic, args, false); }

/// Brings two tensors to one dtype (equal already, or promoted) for `join` and `cat`.
bool sameElement(Semantic &semantic, const char *name, const Value &lhs, const Value &rhs) {
  if (lhs.type().scalar() == rhs.type().scalar())
    return true;
  semantic.error(ErrorKind::Type, std::string(name) + " needs operands of one dtype, got " +
                                      lhs.type().scalar().str() + " and " + rhs.type().scalar().str());
  return false;
}

Value joinPair(Semantic &semantic, Value lhs, Value rhs) {
  if (!sameElement(semantic, "join", lhs, rhs) || !semantic.broadcastPair(lhs, rhs))
    return Value();
  bool scalars = !lhs.type().isBlock();
  if (scalars) {
    lhs = semantic.broadcastTo(lhs, {1});
    rhs = semantic.broadcastTo(rhs, {1});
  }
  Extents shape(lhs.type().shape());
  shape.push_back(2);
  std::vector<Value> extents;
  for (int64_t extent : shape)
    extents.push_back(Value::constant(extent));
  if (!semantic.checkBlockShape(Value::tuple(std::move(extents))))
    return Value();
  Value joined =
      Value::tensor(lhs.type().withShape(shape), semantic.builder().join(lhs.handle(), rhs.handle()));
  return scalars ? reshapeTo(semantic, joined, {2}, false) : joined;
}

Value join(Semantic &semantic, const BuiltinArgs &args) {
  Value lhs = semantic.toTensor(args[0]);
  Value rhs = lhs ? semantic.toTensor(args[1]) : Value();
  return rhs ? joinPair(semantic, lhs, rhs) : Value();
}

Value split(Semantic &semantic, const BuiltinArgs &args) {
  Value x = semantic.toTensor(args[0]);
  if (!x)
    return Value();
  if (!x.type().isBlock())
    return semantic.error(ErrorKind::Value, "split needs a tensor with at least one dimension");
  if (x.type().shape().back() != 2)
    return semantic.error(ErrorKind::Value,
                          "split: last dimension must have size 2, got shape " + shapeText(x.type().shape()));
  bool toScalars = x.type().rank() == 1;
  if (toScalars)
    x = expandDims(semantic, x, 0);
  auto [first, second] = semantic.builder().split(x.handle());
  Type type = x.type().withShape(x.type().shape().drop_back());
  Value lhs = Value::tensor(type, first), rhs = Value::tensor(type, second);
  if (toScalars) {
    lhs = reshapeTo(semantic, lhs, {}, false);
    rhs = reshapeTo(semantic, rhs, {}, false);
  }
  return Value::tuple({lhs, rhs});
}

Value interleave(Semantic &semantic, const BuiltinArgs &args) {
  Value lhs = semantic.toTensor(args[0]);
  Value rhs = lhs ? semantic.toTensor(args[1]) : Value();
  Value joined = rhs ? joinPair(semantic, lhs, rhs) : Value();
  if (!joined || joined.type().rank() < 2)
    return joined;
  Extents shape(joined.type().shape().drop_back());
  shape.back() *= 2;
  return reshapeTo(semantic, joined, shape, false);
}

Value cat(Semantic &semantic, const BuiltinArgs &args) {
  Value lhs = semantic.toTensor(args[0]);
  Value rhs = lhs ? semantic.toTensor(args[1]) : Value();
  if (!rhs || !sameElement(semantic, "cat", lhs, rhs))
    return Value();
  unsigned rank = lhs.type().rank();
  if (rank == 0 || rhs.type().rank() != rank)
    return semantic.error(ErrorKind::Value, "cat needs blocks of one rank, got shapes " +
                                                shapeText(lhs.type().shape()) + " and " +
                                                shapeText(rhs.type().shape()));
  std::optional<unsigned> dim = axisArgument(semantic, args[3], rank);
  if (!dim)
    return Value();
  for (unsigned i = 0; i < rank; ++i)
    if (i != *dim && lhs.type().shape()[i] != rhs.type().shape()[i])
      return semantic.error(ErrorKind::Value, "cat needs equal extents outside of dim " +
                                                  std::to_string(*dim) + ", got shapes " +
                                                  shapeText(lhs.type().shape()) + " and " +
                                                  shapeText(rhs.type().shape()));
  // The builder concatenates along dimension 0: other dimensions are brought there and back.
  llvm::SmallVector<int32_t, 4> order(rank);
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[0], order[*dim]);
  if (*dim != 0) {
    lhs = transposeTo(semantic, lhs, order);
    rhs = transposeTo(semantic, rhs, order);
  }
  std::vector<Value> extents;
  Extents shape(lhs.type().shape());
  shape[0] += rhs.type().shape()[0];
  for (int64_t extent : shape)
    extents.push_back(Value::constant(extent));
  if (!semantic.checkBlockShape(Value::tuple(std::move(extents))))
    return Value();
  Type to = lhs.type().withShape(shape);
  Value result = Value::tensor(to, semantic.builder().concatenate(lhs.handle(), rhs.handle(), to));
  return *dim != 0 ? transposeTo(semantic, result, order) : result;
}

Value item(Semantic &semantic, const BuiltinArgs &args) {
  Value x = semantic.toTensor(args[0]);
  if (!x || !x.type().isBlock())
    return x;
  if (x.type().numel() != 1)
    return semantic.error(ErrorKind::Assertion, "can only unsplat single-element tensors");
  return reshapeTo(semantic, x, {}, false);
}

Value squeeze(Semantic &semantic, const BuiltinArgs &args) {
  Value x = semantic.toTensor(args[0]);
  std::optional<unsigned> dim = x ? axisArgument(semantic, args[1], x.type().rank()) : std::nullopt;
  if (!dim)
    return Value();
  if (x.type().shape()[*dim] != 1)
    return semantic.error(ErrorKind::Value, "squeeze: dimension " + std::to_string(*dim) + " has extent " +
                                                std::to_string(x.type().shape()[*dim]) + ", not 1");
  Extents shape(x.type().shape());
  shape.erase(shape.begin() + *dim);
  return reshapeTo(semantic, x, shape, false);
}

Value unsqueeze(Semantic &semantic, const BuiltinArgs &args) {
  Value x = semantic.toTensor(args[0]);
  std::optional<unsigned> dim = x ? axisArgument(semantic, args[1], x.type().rank() + 1) : std::nullopt;
  return dim ? expandDims(semantic, x, *dim) : Value();
}

constexpr ParamDef broadcastParams[] = {{"input"}, {"other"}};
constexpr ParamDef shapeParams[] = {{"input"}, {"shape", nullptr, true}};
constexpr ParamDef reshapeParams[] = {
    {"input"}, {"shape", nullptr, true}, {"can_reorder", "False", false, true}};
constexpr ParamDef expandParams[] = {{"input"}, {"axis"}};
constexpr ParamDef ravelParams[] = {{"x"}, {"can_reorder", "False"}};
constexpr ParamDef dimsParams[] = {{"input"}, {"dims", nullptr, true}};
constexpr ParamDef pairParams[] = {{"a"}, {"b"}};
constexpr ParamDef splitParams[] = {{"a"}};
constexpr ParamDef catParams[] = {{"input"}, {"other"}, {"can_reorder", "False"}, {"dim", "0"}};
constexpr ParamDef itemParams[] = {{"input"}};
constexpr ParamDef squeezeParams[] = {{"x"}, {"dim"}};

const BuiltinDef table[] = {
    {"language.broadcast", broadcastParams, "Both tensors, broadcast against each other.", broadcast},
    {"language.broadcast_to", shapeParams, "`input` broadcast to a shape.", broadcastTo, true},
    {"language.expand_dims", expandParams, "`input` with new dimensions of extent 1 at `axis`.",
     expandDimsBuiltin, true},
    {"language.reshape", reshapeParams, "`input` with another shape of as many elements, in row-major order.",
     reshape, true},
    {"language.view", shapeParams, "Deprecated: `reshape` with `can_reorder=True`.", view, true},
    {"language.ravel", ravelParams, "`x` as a tensor of one dimension.", ravel, true},
    {"language.trans", dimsParams,
     "`input` with its dimensions permuted; without `dims` the last two are swapped.", trans, true},
    {"language.permute", dimsParams, "`input` with its dimensions permuted.", permute, true},
    {"language.join", pairParams, "Two tensors stacked in a new last dimension of extent 2.", join},
    {"language.split", splitParams, "The two halves of a tensor whose last extent is 2.", split, true},
    {"language.interleave", pairParams, "Two tensors interleaved along the last dimension.", interleave},
    {"language.cat", catParams, "Two blocks concatenated along `dim`.", cat},
    {"language.squeeze", squeezeParams, "`x` without its dimension `dim`, which has extent 1.", squeeze,
     true},
    {"language.unsqueeze", squeezeParams, "`x` with a new dimension of extent 1 at `dim`.", unsqueeze, true},
    {"tensor.item", itemParams, "The element of a tensor that has one.", item, true},
};

} // namespace

llvm::ArrayRef<BuiltinDef> shapeBuiltins() { return table; }

} // namespace despina
