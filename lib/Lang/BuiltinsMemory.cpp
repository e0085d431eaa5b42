//===- BuiltinsMemory.cpp - Loads and stores ------------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Spec triton_language 1.8.
//
//===----------------------------------------------------------------------===//
#include "BuiltinsImpl.h"
#include "Promotion.h"

#include "llvm/ADT/StringSwitch.h"

namespace despina {

bool checkMask(Semantic &semantic, const Value &mask) {
  if (!mask || mask.type().isInt1())
    return true;
  semantic.error(ErrorKind::Value, "Mask must have boolean scalar type", "compare it: mask != 0");
  return false;
}

namespace {

bool isPointer(const Value &value) { return value.isTensor() && value.type().scalar().isPointer(); }

/// Booleans are stored as bytes: their pointers are read and written as int8.
Value asBytePointer(Semantic &semantic, const Value &pointer) {
  const Type &type = pointer.type();
  return semantic.cast(pointer, Type::pointer(ScalarKind::Int8, type.pointeeIsConst(), type.addressSpace()));
}

std::optional<CacheModifier> cacheModifier(Semantic &semantic, const Value &value, bool isLoad) {
  std::optional<std::string> text = constantString(semantic, value, "cache_modifier");
  if (!text)
    return std::nullopt;
  auto parsed = llvm::StringSwitch<std::optional<CacheModifier>>(*text)
                    .Case("", CacheModifier::None)
                    .Case(".cg", CacheModifier::CG)
                    .Case(".cs", CacheModifier::CS)
                    .Default(std::nullopt);
  if (!parsed && isLoad)
    parsed = llvm::StringSwitch<std::optional<CacheModifier>>(*text)
                 .Case(".ca", CacheModifier::CA)
                 .Case(".cv", CacheModifier::CV)
                 .Default(std::nullopt);
  else if (!parsed)
    parsed = llvm::StringSwitch<std::optional<CacheModifier>>(*text)
                 .Case(".wb", CacheModifier::WB)
                 .Case(".wt", CacheModifier::WT)
                 .Default(std::nullopt);
  if (!parsed)
    semantic.error(ErrorKind::Value, "Cache modifier " + *text + " not supported");
  return parsed;
}

std::optional<EvictionPolicy> evictionPolicy(Semantic &semantic, const Value &value) {
  std::optional<std::string> text = constantString(semantic, value, "eviction_policy");
  if (!text)
    return std::nullopt;
  auto parsed = llvm::StringSwitch<std::optional<EvictionPolicy>>(*text)
                    .Cases({"", "evict_normal"}, EvictionPolicy::Normal)
                    .Case("evict_first", EvictionPolicy::First)
                    .Case("evict_last", EvictionPolicy::Last)
                    .Default(std::nullopt);
  if (!parsed)
    semantic.error(ErrorKind::Value, "Eviction policy " + *text + " not supported");
  return parsed;
}

bool isEmpty(const Value &value) {
  return value.isNone() || (value.isTuple() && value.tuple().elements.empty()) ||
         (value.isConstant() && value.constant().isString() && value.constant().string().empty());
}

/// None stays null; anything else becomes a tensor. False after an error.
bool optionalTensor(Semantic &semantic, const Value &argument, Value &result) {
  if (argument.isNone())
    return true;
  result = semantic.toTensor(argument);
  return bool(result);
}

std::string describePointer(const Value &value) {
  return value.isTensor() ? typeRepr(value.type()) : value.isConstant() ? value.typeName() : value.str();
}

Value loadBlockPointer(Semantic &semantic, const BuiltinArgs &args, CacheModifier cache, EvictionPolicy evict,
                       bool isVolatile) {
  if (!args[1].isNone() || !args[2].isNone())
    return semantic.error(ErrorKind::Value,
                          "`mask` and `other` arguments cannot be specified for loading block pointers");
  std::optional<std::string> padding = constantString(semantic, args[4], "padding_option");
  if (!padding)
    return Value();
  if (!padding->empty() && *padding != "zero" && *padding != "nan")
    return semantic.error(ErrorKind::Value, "Padding option " + *padding + " not supported");
  std::optional<BlockAccess> access = blockAccess(semantic, args[0], args[3]);
  if (!access)
    return Value();
  Type element = access->pointers.type().pointee();
  Value other;
  if (access->mask && *padding == "nan") {
    if (!element.isFloating())
      return semantic.error(ErrorKind::Value,
                            "Padding option `nan` is not supported for integer block pointers");
    other = semantic.typedConstant(Constant(std::numeric_limits<double>::quiet_NaN()), element);
  } else if (access->mask) {
    // No padding option leaves the lanes undefined; zero is what other languages of this kind give in
    // practice.
    other = semantic.typedConstant(Constant(0), element);
  }
  if (access->mask && !other)
    return Value();
  return loadPointers(semantic, access->pointers, access->mask, other, cache, evict, isVolatile);
}

Value load(Semantic &semantic, const BuiltinArgs &args) {
  std::optional<CacheModifier> cache = cacheModifier(semantic, args[5], /*isLoad=*/true);
  std::optional<EvictionPolicy> evict = cache ? evictionPolicy(semantic, args[6]) : std::nullopt;
  std::optional<bool> isVolatile = evict ? constantBool(semantic, args[7], "volatile") : std::nullopt;
  if (!isVolatile)
    return Value();
  if (isBlockPointer(args[0]))
    return loadBlockPointer(semantic, args, *cache, *evict, *isVolatile);
  if (!isPointer(args[0]))
    return semantic.error(ErrorKind::Value,
                          "Unsupported ptr type " + describePointer(args[0]) + " in `tl.load`");
  if (args[1].isNone() && !args[2].isNone())
    return semantic.error(ErrorKind::Value, "`other` cannot be provided without `mask`");
  if (!isEmpty(args[3]) || !isEmpty(args[4]))
    return semantic.error(ErrorKind::Value,
                          "`padding_option` or `boundary_check` argument is not supported for "
                          "loading a tensor of pointers or loading a scalar",
                          "use a block pointer (tl.make_block_ptr), or a mask");
  Value mask, other;
  if (!optionalTensor(semantic, args[1], mask) || !optionalTensor(semantic, args[2], other))
    return Value();
  return loadPointers(semantic, args[0], mask, other, *cache, *evict, *isVolatile);
}

Value store(Semantic &semantic, const BuiltinArgs &args) {
  std::optional<CacheModifier> cache = cacheModifier(semantic, args[4], /*isLoad=*/false);
  std::optional<EvictionPolicy> evict = cache ? evictionPolicy(semantic, args[5]) : std::nullopt;
  Value value = evict ? semantic.toTensor(args[1]) : Value();
  if (!value)
    return Value();
  Value pointer = args[0], mask;
  if (isBlockPointer(pointer)) {
    if (!args[2].isNone())
      return semantic.error(ErrorKind::Value,
                            "`mask` argument cannot be specified for storing to block pointers");
    std::optional<BlockAccess> access = blockAccess(semantic, pointer, args[3]);
    if (!access)
      return Value();
    pointer = access->pointers;
    mask = access->mask;
  } else {
    if (!isPointer(pointer))
      return semantic.error(ErrorKind::Value,
                            "Unsupported ptr type " + describePointer(pointer) + " in `tl.store`");
    if (!isEmpty(args[3]))
      return semantic.error(ErrorKind::Value,
                            "`boundary_check` argument is not supported for storing a tensor of "
                            "pointers or storing a scalar",
                            "use a block pointer (tl.make_block_ptr), or a mask");
    if (!optionalTensor(semantic, args[2], mask))
      return Value();
  }
  return storePointers(semantic, pointer, value, mask, *cache, *evict) ? Value::none() : Value();
}

constexpr ParamDef loadParams[] = {{"pointer"},
                                   {"mask", "None"},
                                   {"other", "None"},
                                   {"boundary_check", "()"},
                                   {"padding_option", "\"\""},
                                   {"cache_modifier", "\"\""},
                                   {"eviction_policy", "\"\""},
                                   {"volatile", "False"}};
constexpr ParamDef storeParams[] = {{"pointer"},
                                    {"value"},
                                    {"mask", "None"},
                                    {"boundary_check", "()"},
                                    {"cache_modifier", "\"\""},
                                    {"eviction_policy", "\"\""}};

const BuiltinDef table[] = {
    {"language.load", loadParams, "What `pointer` points to; lanes outside of `mask` read `other`.", load},
    {"language.store", storeParams, "Writes `value` to where `pointer` points, in the lanes of `mask`.",
     store, true},
};

} // namespace

Value loadPointers(Semantic &semantic, Value pointer, Value mask, Value other, CacheModifier cache,
                   EvictionPolicy evict, bool isVolatile) {
  if (!pointer.type().isBlock()) {
    if (mask && mask.type().isBlock())
      return semantic.error(ErrorKind::Value,
                            "Mask argument cannot be block type if pointer argument is not a block");
    if (other && other.type().isBlock())
      return semantic.error(ErrorKind::Value,
                            "Other argument cannot be block type if pointer argument is not a block");
  }
  if (!checkMask(semantic, mask))
    return Value();
  Type element = pointer.type().pointee();
  if (!semantic.checkFP8(element))
    return Value();
  bool isBool = element.isInt1();
  if (isBool) {
    element = ScalarKind::Int8;
    pointer = asBytePointer(semantic, pointer);
  }
  if (other) {
    other = semantic.cast(other, element);
    if (!other)
      return Value();
  }
  if (!pointer)
    return Value();
  // Twice, so that an extent that only `other` has reaches the mask too.
  for (int round = 0; pointer.type().isBlock() && round < 2; ++round)
    if ((mask && !semantic.broadcastPair(pointer, mask)) ||
        (other && !semantic.broadcastPair(pointer, other)))
      return Value();
  Handle loaded = semantic.builder().load(pointer.handle(), mask ? mask.handle() : Handle(),
                                          other ? other.handle() : Handle(), cache, evict, isVolatile);
  Value result = Value::tensor(pointer.type().withScalar(element), loaded);
  return isBool ? semantic.notZero(result) : result;
}

bool storePointers(Semantic &semantic, Value pointer, Value value, Value mask, CacheModifier cache,
                   EvictionPolicy evict) {
  const Type type = pointer.type();
  if (type.pointeeIsConst()) {
    semantic.error(ErrorKind::Value, "Cannot store to a constant pointer");
    return false;
  }
  Type element = type.pointee();
  if (!type.isBlock() && (value.type().isBlock() || (mask && mask.type().isBlock()))) {
    semantic.error(ErrorKind::Value, std::string(value.type().isBlock() ? "Value" : "Mask") +
                                         " argument cannot be block type if pointer argument is not a block");
    return false;
  }
  if (!checkMask(semantic, mask))
    return false;
  for (Value *operand : {&value, &mask}) {
    if (!*operand || !type.isBlock())
      continue;
    Value target = pointer;
    if (!semantic.broadcastPair(target, *operand))
      return false;
    if (operand->type().shape() != type.shape()) {
      semantic.error(ErrorKind::Value,
                     "Expected pointer argument to have shape " + shapeText(operand->type().shape()) +
                         " but got " + shapeText(type.shape()),
                     "add offsets of that shape to the pointer");
      return false;
    }
  }
  value = semantic.cast(value, element);
  if (value && element.isInt1()) {
    value = semantic.cast(value, ScalarKind::Int8);
    pointer = asBytePointer(semantic, pointer);
  }
  if (!value || !pointer)
    return false;
  semantic.builder().store(pointer.handle(), value.handle(), mask ? mask.handle() : Handle(), cache, evict);
  return true;
}

llvm::ArrayRef<BuiltinDef> memoryBuiltins() { return table; }

} // namespace despina
