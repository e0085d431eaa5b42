//===- BuiltinsGather.cpp - Picking and counting elements -----------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Spec triton_language 1.10.
//
//===----------------------------------------------------------------------===//
#include "BuiltinsImpl.h"

namespace despina {

namespace {

Value gather(Semantic &semantic, const BuiltinArgs &args) {
  Value source = semantic.toTensor(args[0]), index = source ? semantic.toTensor(args[1]) : Value();
  if (!index)
    return Value();
  auto fail = [&](std::string message) { return semantic.error(ErrorKind::Assertion, std::move(message)); };
  if (!index.type().isInt() || index.type().isInt1())
    return fail("index must be an integer tensor");
  unsigned rank = source.type().rank();
  if (index.type().rank() != rank)
    return fail("source and index tensors must have the same rank");
  std::optional<int64_t> given = constantInt(semantic, args[2], "axis");
  if (!given)
    return Value();
  if (*given < -int64_t(rank) || *given >= int64_t(rank))
    return fail("gather axis " + std::to_string(*given) + " must be < source rank (" + std::to_string(rank) +
                ")");
  auto axis = static_cast<unsigned>(*given < 0 ? *given + rank : *given);
  for (unsigned dim = 0; dim < rank; ++dim)
    if (dim != axis && index.type().shape()[dim] != source.type().shape()[dim])
      return fail("index dim " + std::to_string(dim) + " must match the corresponding source dim");
  return Value::tensor(source.type().withShape(index.type().shape()),
                       semantic.builder().gather(source.handle(), index.handle(), axis));
}

Value histogram(Semantic &semantic, const BuiltinArgs &args) {
  Value x = semantic.toTensor(args[0]);
  if (!x)
    return Value();
  if (x.type().rank() != 1)
    return semantic.error(ErrorKind::Assertion, "histogram only supports 1D input");
  if (!x.type().isInt())
    return semantic.error(ErrorKind::Assertion, "histogram only supports integer input");
  std::optional<llvm::SmallVector<int64_t, 4>> bins = semantic.checkBlockShape(Value::tuple({args[1]}));
  if (!bins)
    return Value();
  Value mask;
  if (!args[2].isNone()) {
    mask = semantic.toTensor(args[2]);
    if (!mask || !checkMask(semantic, mask))
      return Value();
    mask = semantic.broadcastTo(mask, x.type().shape());
    if (!mask)
      return Value();
  }
  // A counter of truth values needs an integer that holds 0 and 1.
  if (x.type().isInt1())
    x = semantic.cast(x, ScalarKind::Int8);
  Type result = Type::block(ScalarKind::Int32, *bins);
  return Value::tensor(result,
                       semantic.builder().histogram(x.handle(), mask ? mask.handle() : Handle(), result));
}

constexpr ParamDef gatherParams[] = {{"src"}, {"index"}, {"axis"}};
constexpr ParamDef histogramParams[] = {{"input"}, {"num_bins"}, {"mask", "None"}};

const BuiltinDef table[] = {
    {"language.gather", gatherParams, "Picks elements of `src` along an axis by `index`.", gather, true},
    {"language.histogram", histogramParams, "Counts how often 0, 1, ..., num_bins - 1 stand in `input`.",
     histogram, true},
};

} // namespace

llvm::ArrayRef<BuiltinDef> gatherBuiltins() { return table; }

} // namespace despina
