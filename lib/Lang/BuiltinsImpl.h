//===- BuiltinsImpl.h - What the files of builtins share --------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_LANG_BUILTINSIMPL_H
#define DESPINA_LIB_LANG_BUILTINSIMPL_H

#include "despina/Lang/Builtins.h"
#include "despina/Lang/Semantic.h"

namespace despina {

// The tables of the files Builtins*.cpp; Builtins.cpp joins them.
llvm::ArrayRef<BuiltinDef> creationBuiltins();
llvm::ArrayRef<BuiltinDef> shapeBuiltins();
llvm::ArrayRef<BuiltinDef> mathBuiltins();
llvm::ArrayRef<BuiltinDef> dotBuiltins();
llvm::ArrayRef<BuiltinDef> dotScaledBuiltins();
llvm::ArrayRef<BuiltinDef> memoryBuiltins();
llvm::ArrayRef<BuiltinDef> blockPointerBuiltins();
llvm::ArrayRef<BuiltinDef> descriptorBuiltins();
llvm::ArrayRef<BuiltinDef> gatherBuiltins();
llvm::ArrayRef<BuiltinDef> assemblyBuiltins();
llvm::ArrayRef<BuiltinDef> libdeviceBuiltins();
llvm::ArrayRef<BuiltinDef> atomicBuiltins();
llvm::ArrayRef<BuiltinDef> reduceBuiltins();
llvm::ArrayRef<BuiltinDef> mapBuiltins();
llvm::ArrayRef<BuiltinDef> targetBuiltins();
llvm::ArrayRef<BuiltinDef> hintBuiltins();
llvm::ArrayRef<BuiltinDef> pythonBuiltins();
llvm::ArrayRef<BuiltinDef> typeBuiltins();
llvm::ArrayRef<BuiltinDef> standardBuiltins();

/// "[16, 32]".
std::string shapeText(llvm::ArrayRef<int64_t> shape);

/// `PropagateNan.NAME`; a named tuple, so that the set of values stays closed.
Value propagateNanValue(llvm::StringRef name);

// Readers of arguments. They report and return nothing when the argument is of another kind.
std::optional<int64_t> constantInt(Semantic &semantic, const Value &value, const char *what);
std::optional<bool> constantBool(Semantic &semantic, const Value &value, const char *what);
std::optional<std::string> constantString(Semantic &semantic, const Value &value, const char *what);
std::optional<Type> typeArgument(Semantic &semantic, const Value &value, const char *what);
/// A tuple of constant integers, or one.
std::optional<llvm::SmallVector<int64_t, 4>> constantInts(Semantic &semantic, const Value &value,
                                                          const char *what);
/// An axis; negative ones count from the end of `rank` dimensions.
std::optional<unsigned> axisArgument(Semantic &semantic, const Value &value, unsigned rank);
/// `isinstance(value, type)` for a class of the language; none when `type` is none.
std::optional<bool> isInstance(const Value &value, const Value &type);
/// `f(x, *shape)`: a single tuple stands for its elements.
Value unpackVariadic(const Value &variadic);

// Operations that several files use.
/// Brings tensors to one shape; false after an error.
bool broadcastAll(Semantic &semantic, llvm::MutableArrayRef<Value> values);
Value expandDims(Semantic &semantic, const Value &x, unsigned axis);
Value reshapeTo(Semantic &semantic, const Value &x, llvm::ArrayRef<int64_t> shape, bool allowReorder);
Value transposeTo(Semantic &semantic, const Value &x, llvm::ArrayRef<int32_t> order);
/// A floating block or scalar of bf16 as fp32; everything else as it is.
Value widenBF16(Semantic &semantic, const Value &x);
/// `acc` of a product, or zeros where it is a null value; null after an error.
Value accumulatorOf(Semantic &semantic, const Value &acc, const Type &result);
/// More than one batch dimension of matrices becomes one.
Value foldBatch(Semantic &semantic, const Value &x);
/// Three-way minimum or maximum, as `tl.minimum` and `tl.maximum`.
Value minimumOrMaximum(Semantic &semantic, Value x, Value y, bool isMax, bool propagateNan);
/// False after an error: a mask, which may be null, whose elements are no truth values.
bool checkMask(Semantic &semantic, const Value &mask);
/// Loads and stores through plain pointers; `mask` and `other` may be null.
Value loadPointers(Semantic &semantic, Value pointer, Value mask, Value other, CacheModifier cache,
                   EvictionPolicy evict, bool isVolatile);
bool storePointers(Semantic &semantic, Value pointer, Value value, Value mask, CacheModifier cache,
                   EvictionPolicy evict);
/// Places in the tuple that a block pointer is.
constexpr size_t blockBaseField = 0, blockExtentsField = 1, blockStridesField = 2, blockOffsetsField = 3,
                 blockShapeField = 4, blockOrderField = 5;
bool isBlockPointer(const Value &value);
/// Pointers and mask (null without checked dimensions) of a block pointer.
struct BlockAccess {
  Value pointers, mask;
};
std::optional<BlockAccess> blockAccess(Semantic &semantic, const Value &blockPointer,
                                       const Value &boundaryCheck);

/// A descriptor of `type` (spec 1.8) from a pointer, int32 extents and int64 strides.
Value makeDescriptor(Semantic &semantic, const Type &type, const Value &base, const Value &shape,
                     const Value &strides, bool padsNaN);
/// `descriptor.name`; null when it has no such attribute.
Value descriptorAttribute(const Value &descriptor, llvm::StringRef name);

/// Calls a function of the standard library (StandardLibrary.py).
Value callStandard(Semantic &semantic, llvm::StringRef name, const BuiltinArgs &args);

} // namespace despina

#endif // DESPINA_LIB_LANG_BUILTINSIMPL_H
