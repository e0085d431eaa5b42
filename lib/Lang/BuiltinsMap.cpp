//===- BuiltinsMap.cpp - Functions of scalars on blocks --------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Spec triton_language 1.10, `map_elementwise`. A function of scalars is the region of a reduction of two
// elements, the block's own and a copy: targets call it once for each element, with the control flow that
// regions may have. Results ride along as inputs that nobody reads.
//
//===----------------------------------------------------------------------===//
#include "BuiltinsImpl.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

namespace despina {

namespace {

using Extents = llvm::SmallVector<int64_t, 4>;
using ValueList = llvm::SmallVector<Value, 4>;

/// The elements i, i + pack, i + 2 * pack, ... of a flat block, for each i below `pack`.
bool unpack(Semantic &semantic, const Value &x, int64_t pack, ValueList &parts) {
  if (pack == 1) {
    parts.push_back(x);
    return true;
  }
  int64_t half = x.type().numel() / 2;
  Value pairs = reshapeTo(semantic, x, {half, 2}, /*allowReorder=*/false);
  if (!pairs)
    return false;
  auto [even, odd] = semantic.builder().split(pairs.handle());
  ValueList evens, odds;
  Type type = x.type().withShape({half});
  if (!unpack(semantic, Value::tensor(type, even), pack / 2, evens) ||
      !unpack(semantic, Value::tensor(type, odd), pack / 2, odds))
    return false;
  for (auto [first, second] : llvm::zip_equal(evens, odds))
    parts.append({first, second});
  return true;
}

/// The inverse of `unpack`.
Value packed(Semantic &semantic, llvm::ArrayRef<Value> parts) {
  if (parts.size() == 1)
    return parts.front();
  ValueList evens, odds;
  for (auto [i, part] : llvm::enumerate(parts))
    (i % 2 ? odds : evens).push_back(part);
  Value even = packed(semantic, evens), odd = packed(semantic, odds);
  if (!even || !odd)
    return {};
  int64_t count = even.type().numel();
  Value pairs =
      Value::tensor(even.type().withShape({count, 2}), semantic.builder().join(even.handle(), odd.handle()));
  return reshapeTo(semantic, pairs, {2 * count}, /*allowReorder=*/false);
}

/// What the function gives for these scalars, as scalars; none after an error.
std::optional<ValueList> callScalar(Semantic &semantic, const Value &function,
                                    llvm::ArrayRef<Value> scalars) {
  Value result = semantic.host().callFunction(function, scalars, {});
  if (!result)
    return std::nullopt;
  ValueList results;
  for (const Value &element :
       result.isTuple() ? llvm::ArrayRef(result.tuple().elements) : llvm::ArrayRef(result)) {
    Value value = semantic.toTensor(element);
    if (!value)
      return std::nullopt;
    if (value.type().isBlock()) {
      semantic.error(ErrorKind::Type, "the function of map_elementwise must return scalars, but returns " +
                                          value.type().str());
      return std::nullopt;
    }
    results.push_back(value);
  }
  return results;
}

Handles handlesOf(llvm::ArrayRef<Value> values) {
  Handles handles;
  for (const Value &value : values)
    handles.push_back(value.handle());
  return handles;
}

/// Two of each element, along a first dimension.
Value doubled(Semantic &semantic, const Value &x) {
  Extents shape(x.type().shape());
  shape.push_back(2);
  Value pairs = Value::tensor(x.type().withShape(shape), semantic.builder().join(x.handle(), x.handle()));
  llvm::SmallVector<int32_t, 4> order(shape.size());
  std::iota(order.begin() + 1, order.end(), 0);
  order.front() = static_cast<int32_t>(shape.size()) - 1;
  return transposeTo(semantic, pairs, order);
}

/// Reduces `inputs` with a region that hands on its operands but for the results, which come last.
std::optional<Handles> reducePairs(Semantic &semantic, llvm::ArrayRef<Value> inputs, size_t numArguments,
                                   llvm::function_ref<std::optional<ValueList>(llvm::ArrayRef<Value>)> call) {
  Handles handles = handlesOf(inputs);
  llvm::SmallVector<Type, 4> types;
  for (const Value &input : inputs)
    types.push_back(input.type().withShape(input.type().shape().drop_front()));
  return semantic.builder().reduce(
      handles, 0, types, [&](llvm::ArrayRef<Handle> operands) -> std::optional<Handles> {
        ValueList scalars;
        for (size_t i = 0; i < numArguments; ++i)
          scalars.push_back(Value::tensor(inputs[i].type().scalar(), operands[i]));
        std::optional<ValueList> results = call(scalars);
        if (!results)
          return std::nullopt;
        Handles all(operands.begin(), operands.begin() + static_cast<ptrdiff_t>(numArguments));
        all.append(handlesOf(*results));
        return all;
      });
}

/// The function on each element of blocks of one shape; empty after an error.
ValueList mapBlocks(Semantic &semantic, const Value &function, llvm::ArrayRef<Value> blocks) {
  ValueList inputs;
  for (const Value &block : blocks)
    inputs.push_back(doubled(semantic, block));
  // A first visit finds the types of the results; what it makes is dropped.
  llvm::SmallVector<Type, 4> types;
  bool failed = true;
  (void)reducePairs(semantic, inputs, blocks.size(),
                    [&](llvm::ArrayRef<Value> scalars) -> std::optional<ValueList> {
                      std::optional<ValueList> results = callScalar(semantic, function, scalars);
                      failed = !results;
                      types.clear(); // The interpreter may call more than once.
                      for (const Value &result : results ? *results : ValueList())
                        types.push_back(result.type());
                      return std::nullopt;
                    });
  if (failed)
    return {};
  if (types.empty()) {
    semantic.error(ErrorKind::Value, "the function of map_elementwise must return at least one value");
    return {};
  }
  for (const Type &type : types) {
    Type doubledType = inputs.front().type().withScalar(type);
    inputs.push_back(Value::tensor(doubledType, semantic.builder().poison(doubledType)));
  }
  std::optional<Handles> handles =
      reducePairs(semantic, inputs, blocks.size(),
                  [&](llvm::ArrayRef<Value> scalars) { return callScalar(semantic, function, scalars); });
  ValueList results;
  if (handles)
    for (auto [type, handle] : llvm::zip(types, llvm::drop_begin(*handles, blocks.size())))
      results.push_back(Value::tensor(blocks.front().type().withScalar(type), handle));
  return results;
}

/// With `pack` elements of each block at a time: the function gets those of the first block, then of the
/// second, and gives results in the same order.
ValueList mapPacked(Semantic &semantic, const Value &function, llvm::ArrayRef<Value> blocks, int64_t pack) {
  const Extents shape(blocks.front().type().shape());
  int64_t count = blocks.front().type().numel();
  if (pack < 1 || (pack & (pack - 1)) != 0 || pack > count) {
    semantic.error(ErrorKind::Value, "pack must be a power of 2 that divides the number of elements (" +
                                         std::to_string(count) + "), got " + std::to_string(pack));
    return {};
  }
  if (pack == 1)
    return mapBlocks(semantic, function, blocks);
  ValueList parts;
  for (const Value &block : blocks) {
    Value flat = reshapeTo(semantic, block, {count}, /*allowReorder=*/false);
    if (!flat || !unpack(semantic, flat, pack, parts))
      return {};
  }
  ValueList mapped = mapBlocks(semantic, function, parts);
  if (mapped.empty())
    return {};
  if (mapped.size() % static_cast<size_t>(pack) != 0) {
    semantic.error(ErrorKind::Value, "the function of map_elementwise must return a multiple of pack (" +
                                         std::to_string(pack) + ") values, but returns " +
                                         std::to_string(mapped.size()));
    return {};
  }
  ValueList results;
  llvm::ArrayRef<Value> rest = mapped;
  for (; !rest.empty(); rest = rest.drop_front(static_cast<size_t>(pack))) {
    llvm::ArrayRef<Value> mine = rest.take_front(static_cast<size_t>(pack));
    if (!llvm::all_of(mine, [&](const Value &part) { return part.type() == mine.front().type(); })) {
      semantic.error(ErrorKind::Type, "the elements of one result of map_elementwise must have one type");
      return {};
    }
    Value flat = packed(semantic, mine);
    results.push_back(flat ? reshapeTo(semantic, flat, shape, /*allowReorder=*/false) : Value());
    if (!results.back())
      return {};
  }
  return results;
}

Value mapElementwise(Semantic &semantic, const BuiltinArgs &args) {
  std::optional<int64_t> pack = constantInt(semantic, args[2], "pack");
  if (!pack)
    return {};
  ValueList inputs;
  for (const Value &arg : args[1].tuple().elements) {
    inputs.push_back(semantic.toTensor(arg));
    if (!inputs.back())
      return {};
  }
  if (inputs.empty())
    return semantic.error(ErrorKind::Value, "map_elementwise needs at least one tensor");
  if (!broadcastAll(semantic, inputs))
    return {};
  ValueList results;
  if (inputs.front().type().isBlock())
    results = mapPacked(semantic, args[0], inputs, *pack);
  else if (std::optional<ValueList> scalars = callScalar(semantic, args[0], inputs))
    results = *scalars;
  if (results.empty())
    return {};
  return results.size() == 1 ? results.front()
                             : Value::tuple(std::vector<Value>(results.begin(), results.end()));
}

constexpr ParamDef mapParams[] = {
    {"scalar_fn"}, {"args", nullptr, /*variadic=*/true}, {"pack", "1", false, /*keywordOnly=*/true}};

const BuiltinDef table[] = {
    {"language.map_elementwise", mapParams, "Calls a function of scalars on `pack` elements at a time.",
     mapElementwise},
};

} // namespace

llvm::ArrayRef<BuiltinDef> mapBuiltins() { return table; }

} // namespace despina
