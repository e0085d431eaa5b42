//===- Builder.h - The seam between meaning and representation --*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Semantic rules are written once over `Builder` (design, idea 3). The IR builder (lib/IR/IRBuilder.cpp)
// makes `tt` operations; the eager builder of the interpreter computes on host arrays. Every call is already
// typed and checked: a builder neither promotes, broadcasts nor reports user errors.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LANG_BUILDER_H
#define DESPINA_LANG_BUILDER_H

#include "despina/Lang/Source.h"
#include "despina/Lang/Type.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace despina {

/// A builder's own value: an MLIR Value, or a host array of the interpreter. Opaque to the front end.
struct Handle {
  void *opaque = nullptr;
  explicit operator bool() const { return opaque != nullptr; }
  bool operator==(const Handle &) const = default;
};
using Handles = llvm::SmallVector<Handle, 4>;

// clang-format off
/// Element-wise operations on two operands of the same type; the result has that type too.
enum class BinaryKind : uint8_t {
  AddI, SubI, MulI, DivSI, DivUI, RemSI, RemUI, AndI, OrI, XorI, ShlI, ShrSI, ShrUI,
  MinSI, MaxSI, MinUI, MaxUI, MulHiUI,
  AddF, SubF, MulF, DivF, RemF, PreciseDivF,
  MinNumF, MaxNumF,       ///< NaN is ignored unless both are NaN
  MinimumF, MaximumF,     ///< NaN if either is NaN
};
enum class UnaryKind : uint8_t {
  NegF, AbsF, AbsI, Exp, Exp2, Log, Log2, Sin, Cos, Sqrt, PreciseSqrt, Rsqrt, Erf, Floor, Ceil,
};
enum class CompareKind : uint8_t {
  EQ, NE, SLT, SLE, SGT, SGE, ULT, ULE, UGT, UGE, ///< integers
  OEQ, UNE, OLT, OLE, OGT, OGE,                   ///< floats: ordered, but unordered-or-not-equal
};
enum class CastKind : uint8_t {
  SIToFP, UIToFP, FPToSI, FPToUI, ExtSI, ExtUI, TruncI, ExtF, TruncF, ///< between standard types
  Bitcast,            ///< same width, also pointer to pointer
  IntToPtr, PtrToInt, ///< int64 only
  FPToFP,             ///< fp8 on either side, or any narrowing with an explicit rounding
};
// clang-format on
enum class RoundingKind : uint8_t { Default, RTNE, RTZ };
enum class CacheModifier : uint8_t { None, CA, CG, WB, CS, WT, CV };
enum class EvictionPolicy : uint8_t { Normal, First, Last };
enum class MemorySemantic : uint8_t { Relaxed, Acquire, Release, AcquireRelease };
enum class MemoryScope : uint8_t { GPU, CTA, System };
enum class AtomicKind : uint8_t { And, Or, Xor, Add, FAdd, Max, Min, UMax, UMin, Exchange };
enum class DescriptorReduceKind : uint8_t { Add, Min, Max, And, Or, Xor };
enum class DotPrecision : uint8_t { TF32, TF32x3, IEEE, BF16x3, BF16x6 };
/// Formats of the elements of a scaled dot; E2M1 comes in pairs in 8 bits.
enum class ScaledFormat : uint8_t { E4M3, E5M2, E2M1, BF16, FP16 };

class Builder {
public:
  virtual ~Builder() = default;

  /// Source position of the operations made next; `callSites` leads from the kernel inwards, outermost first.
  virtual void setLocation(SourceRange range, llvm::ArrayRef<SourceRange> callSites) = 0;

  // Constants. `type` is a scalar or a block (then every element has the value).
  virtual Handle constantInt(const Type &type, uint64_t bits) = 0;
  virtual Handle constantFloat(const Type &type, double value) = 0;
  /// A value nobody may read (the unused arm of a merge).
  virtual Handle poison(const Type &type) = 0;

  // Element-wise. `type` is the operands' type (a signless integer in the IR: the kinds carry the sign).
  virtual Handle binary(BinaryKind kind, Handle lhs, Handle rhs) = 0;
  virtual Handle unary(UnaryKind kind, Handle x) = 0;
  virtual Handle compare(CompareKind kind, Handle lhs, Handle rhs) = 0;
  virtual Handle select(Handle condition, Handle ifTrue, Handle ifFalse) = 0;
  virtual Handle fma(Handle x, Handle y, Handle z) = 0;
  virtual Handle clamp(Handle x, Handle min, Handle max, bool propagateNan) = 0;
  virtual Handle cast(CastKind kind, Handle x, const Type &to,
                      RoundingKind rounding = RoundingKind::Default) = 0;

  // Program.
  virtual Handle programId(int axis) = 0;
  virtual Handle numPrograms(int axis) = 0;

  // Creation and shape.
  virtual Handle makeRange(int32_t start, int32_t end) = 0;
  virtual Handle splat(Handle scalar, const Type &to) = 0;
  virtual Handle unsplat(Handle block) = 0;
  virtual Handle expandDims(Handle x, unsigned axis) = 0;
  virtual Handle broadcast(Handle x, const Type &to) = 0;
  virtual Handle reshape(Handle x, const Type &to, bool allowReorder) = 0;
  virtual Handle transpose(Handle x, llvm::ArrayRef<int32_t> order) = 0;
  /// Concatenates along dimension 0, in order.
  virtual Handle concatenate(Handle lhs, Handle rhs, const Type &to) = 0;
  /// Stacks in a new last dimension of extent 2.
  virtual Handle join(Handle lhs, Handle rhs) = 0;
  virtual std::pair<Handle, Handle> split(Handle x) = 0;

  // Memory. Null mask and other are allowed; mask and other have the shape of the pointer.
  virtual Handle addPointer(Handle pointer, Handle offset) = 0;
  virtual Handle load(Handle pointer, Handle mask, Handle other, CacheModifier cache, EvictionPolicy evict,
                      bool isVolatile) = 0;
  virtual void store(Handle pointer, Handle value, Handle mask, CacheModifier cache,
                     EvictionPolicy evict) = 0;
  virtual Handle atomicRMW(AtomicKind kind, Handle pointer, Handle value, Handle mask, MemorySemantic sem,
                           MemoryScope scope) = 0;
  virtual Handle atomicCAS(Handle pointer, Handle compare, Handle value, MemorySemantic sem,
                           MemoryScope scope) = 0;

  // Tensor descriptors. `type` is the descriptor's; indices are int32 scalars, one for each dimension.
  /// `shape` are int32 scalars, `strides` int64 scalars.
  virtual Handle makeDescriptor(const Type &type, Handle base, llvm::ArrayRef<Handle> shape,
                                llvm::ArrayRef<Handle> strides, bool padsNaN) = 0;
  virtual Handle descriptorLoad(const Type &type, Handle descriptor, llvm::ArrayRef<Handle> indices) = 0;
  virtual void descriptorStore(Handle descriptor, Handle value, llvm::ArrayRef<Handle> indices) = 0;
  virtual void descriptorReduce(DescriptorReduceKind kind, Handle descriptor, Handle value,
                                llvm::ArrayRef<Handle> indices) = 0;
  /// Rows at any positions (a block of int32 or int16) from one column on.
  virtual Handle descriptorGather(const Type &result, Handle descriptor, Handle rows, Handle column) = 0;
  virtual void descriptorScatter(Handle descriptor, Handle value, Handle rows, Handle column) = 0;

  // Linear algebra, reductions.
  virtual Handle gather(Handle source, Handle indices, unsigned axis) = 0;
  /// A null mask counts everything.
  virtual Handle histogram(Handle x, Handle mask, const Type &result) = 0;
  virtual Handle dot(Handle a, Handle b, Handle acc, DotPrecision precision, int32_t maxImpreciseAcc) = 0;
  /// One side of a scaled dot. A null scale stands for 1; `packedAlongK` is about E2M1.
  struct ScaledOperand {
    Handle value, scale;
    ScaledFormat format = ScaledFormat::BF16;
    bool packedAlongK = true;
  };
  /// `fastMath`: no scale is NaN.
  virtual Handle dotScaled(const ScaledOperand &a, const ScaledOperand &b, Handle acc, bool fastMath) = 0;
  /// Builds the combine region: gets 2n scalars (accumulated first), returns n; returns none on failure.
  using Combine = llvm::function_ref<std::optional<Handles>(llvm::ArrayRef<Handle>)>;
  /// n inputs of one shape; none when `combine` failed. `resultTypes` lack the axis (scalars at rank 1).
  virtual std::optional<Handles> reduce(llvm::ArrayRef<Handle> inputs, unsigned axis,
                                        llvm::ArrayRef<Type> resultTypes, Combine combine) = 0;
  virtual std::optional<Handles> scan(llvm::ArrayRef<Handle> inputs, unsigned axis, bool reverse,
                                      Combine combine) = 0;

  // Code that is not ours. Operands and results have one shape.
  virtual Handles inlineAssembly(llvm::StringRef text, llvm::StringRef constraints,
                                 llvm::ArrayRef<Handle> args, llvm::ArrayRef<Type> resultTypes, bool isPure,
                                 int64_t pack) = 0;
  virtual Handle externElementwise(llvm::ArrayRef<Handle> args, const Type &result, llvm::StringRef symbol,
                                   bool isPure) = 0;

  // Hints and debugging.
  /// `name` is "tt.divisibility", "tt.contiguity" or "tt.constancy"; one value per dimension.
  virtual void setHint(Handle x, llvm::StringRef name, llvm::ArrayRef<int64_t> values) = 0;
  virtual void assume(Handle condition) = 0;
  virtual void barrier() = 0;
  virtual void deviceAssert(Handle condition, llvm::StringRef message) = 0;
  virtual void devicePrint(llvm::StringRef prefix, bool hex, llvm::ArrayRef<Handle> args,
                           llvm::ArrayRef<bool> isSigned) = 0;
};

/// What the code generator needs on top: functions and structured control flow. The interpreter has none of
/// this; it executes control flow itself.
class RegionBuilder : public Builder {
public:
  struct FunctionSpec {
    std::string name; ///< unique symbol
    std::vector<Type> argTypes;
    std::vector<std::string> argNames;
    /// Per argument: divisibility known from specialisation, 0 if none.
    std::vector<int64_t> divisibility;
    bool isKernel = false;
    bool noinline = false;
  };
  /// Starts a function and moves into its body; functions nest (a callee is made while its caller is open).
  virtual Handles beginFunction(const FunctionSpec &spec) = 0;
  /// Ends the innermost open function with one return.
  virtual void endFunction(llvm::ArrayRef<Handle> results, llvm::ArrayRef<Type> resultTypes) = 0;
  virtual Handles call(llvm::StringRef symbol, llvm::ArrayRef<Handle> args,
                       llvm::ArrayRef<Type> resultTypes) = 0;

  /// `if`: beginIf, the then-body, beginElse, the else-body, endIf. Both yields have the same types;
  /// a null yield stands for poison of its type (an arm that returned has no value to give).
  virtual void beginIf(Handle condition) = 0;
  virtual void beginElse() = 0;
  virtual Handles endIf(llvm::ArrayRef<Handle> thenYields, llvm::ArrayRef<Handle> elseYields,
                        llvm::ArrayRef<Type> types) = 0;

  struct ForHints {
    std::optional<int64_t> numStages, unrollFactor;
    bool flatten = false, warpSpecialize = false, disallowAccMultiBuffer = false, disableLICM = false;
  };
  struct ForLoop {
    Handle induction;
    Handles carried;
  };
  /// Bounds are integers of one type (`isUnsigned` compares unsigned); step is positive.
  virtual ForLoop beginFor(Handle lower, Handle upper, Handle step, bool isUnsigned,
                           llvm::ArrayRef<Handle> inits, const ForHints &hints) = 0;
  virtual Handles endFor(llvm::ArrayRef<Handle> yields) = 0;

  /// `while`: beginWhile, the condition on the carried values it returns, beginWhileBody(condition), the body
  /// on the values that returns, endWhile.
  virtual Handles beginWhile(llvm::ArrayRef<Handle> inits) = 0;
  virtual Handles beginWhileBody(Handle condition, llvm::ArrayRef<Handle> carried) = 0;
  virtual Handles endWhile(llvm::ArrayRef<Handle> yields) = 0;

  /// Drops everything made since the innermost open function or region began (used after an error).
  virtual void abandon() = 0;
};

} // namespace despina

#endif // DESPINA_LANG_BUILDER_H
