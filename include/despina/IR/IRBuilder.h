//===- IRBuilder.h - Makes tile IR for the front end ------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_IR_IRBUILDER_H
#define DESPINA_IR_IRBUILDER_H

#include "despina/Lang/Builder.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include "llvm/ADT/DenseMap.h"

namespace despina {

/// The MLIR type of a scalar, pointer or block; null for `void` and tuples, which have none. Signedness and
/// constness are dropped.
mlir::Type convertType(const Type &type, mlir::MLIRContext *context);

/// The builder of design idea 3 that makes operations. A handle is an mlir::Value.
class IRBuilder final : public RegionBuilder {
public:
  /// `context` comes from `createContext` and outlives the builder and the module.
  explicit IRBuilder(mlir::MLIRContext *context);
  ~IRBuilder() override;

  mlir::ModuleOp module() { return module_.get(); }
  /// Hands over everything made. The builder is spent.
  mlir::OwningOpRef<mlir::ModuleOp> takeModule();

  static mlir::Value toValue(Handle handle) { return mlir::Value::getFromOpaquePointer(handle.opaque); }
  static Handle toHandle(mlir::Value value) { return {value.getAsOpaquePointer()}; }

  void setLocation(SourceRange range, llvm::ArrayRef<SourceRange> callSites) override;

  Handle constantInt(const Type &type, uint64_t bits) override;
  Handle constantFloat(const Type &type, double value) override;
  Handle poison(const Type &type) override;

  Handle binary(BinaryKind kind, Handle lhs, Handle rhs) override;
  Handle unary(UnaryKind kind, Handle x) override;
  Handle compare(CompareKind kind, Handle lhs, Handle rhs) override;
  Handle select(Handle condition, Handle ifTrue, Handle ifFalse) override;
  Handle fma(Handle x, Handle y, Handle z) override;
  Handle clamp(Handle x, Handle min, Handle max, bool propagateNan) override;
  Handle cast(CastKind kind, Handle x, const Type &to, RoundingKind rounding) override;

  Handle programId(int axis) override;
  Handle numPrograms(int axis) override;

  Handle makeRange(int32_t start, int32_t end) override;
  Handle splat(Handle scalar, const Type &to) override;
  Handle unsplat(Handle block) override;
  Handle expandDims(Handle x, unsigned axis) override;
  Handle broadcast(Handle x, const Type &to) override;
  Handle reshape(Handle x, const Type &to, bool allowReorder) override;
  Handle transpose(Handle x, llvm::ArrayRef<int32_t> order) override;
  Handle concatenate(Handle lhs, Handle rhs, const Type &to) override;
  Handle join(Handle lhs, Handle rhs) override;
  std::pair<Handle, Handle> split(Handle x) override;

  Handle addPointer(Handle pointer, Handle offset) override;
  Handle load(Handle pointer, Handle mask, Handle other, CacheModifier cache, EvictionPolicy evict,
              bool isVolatile) override;
  void store(Handle pointer, Handle value, Handle mask, CacheModifier cache, EvictionPolicy evict) override;
  Handle atomicRMW(AtomicKind kind, Handle pointer, Handle value, Handle mask, MemorySemantic sem,
                   MemoryScope scope) override;
  Handle atomicCAS(Handle pointer, Handle compare, Handle value, MemorySemantic sem,
                   MemoryScope scope) override;

  Handle makeDescriptor(const Type &type, Handle base, llvm::ArrayRef<Handle> shape,
                        llvm::ArrayRef<Handle> strides, bool padsNaN) override;
  Handle descriptorLoad(const Type &type, Handle descriptor, llvm::ArrayRef<Handle> indices) override;
  void descriptorStore(Handle descriptor, Handle value, llvm::ArrayRef<Handle> indices) override;
  void descriptorReduce(DescriptorReduceKind kind, Handle descriptor, Handle value,
                        llvm::ArrayRef<Handle> indices) override;
  Handle descriptorGather(const Type &result, Handle descriptor, Handle rows, Handle column) override;
  void descriptorScatter(Handle descriptor, Handle value, Handle rows, Handle column) override;
  Handle gather(Handle source, Handle indices, unsigned axis) override;
  Handle histogram(Handle x, Handle mask, const Type &result) override;

  Handle dot(Handle a, Handle b, Handle acc, DotPrecision precision, int32_t maxImpreciseAcc) override;
  Handle dotScaled(const ScaledOperand &a, const ScaledOperand &b, Handle acc, bool fastMath) override;
  std::optional<Handles> reduce(llvm::ArrayRef<Handle> inputs, unsigned axis,
                                llvm::ArrayRef<Type> resultTypes, Combine combine) override;
  std::optional<Handles> scan(llvm::ArrayRef<Handle> inputs, unsigned axis, bool reverse,
                              Combine combine) override;

  Handles inlineAssembly(llvm::StringRef text, llvm::StringRef constraints, llvm::ArrayRef<Handle> args,
                         llvm::ArrayRef<Type> resultTypes, bool isPure, int64_t pack) override;
  Handle externElementwise(llvm::ArrayRef<Handle> args, const Type &result, llvm::StringRef symbol,
                           bool isPure) override;

  void setHint(Handle x, llvm::StringRef name, llvm::ArrayRef<int64_t> values) override;
  void assume(Handle condition) override;
  void barrier() override;
  void deviceAssert(Handle condition, llvm::StringRef message) override;
  void devicePrint(llvm::StringRef prefix, bool hex, llvm::ArrayRef<Handle> args,
                   llvm::ArrayRef<bool> isSigned) override;

  Handles beginFunction(const FunctionSpec &spec) override;
  void endFunction(llvm::ArrayRef<Handle> results, llvm::ArrayRef<Type> resultTypes) override;
  Handles call(llvm::StringRef symbol, llvm::ArrayRef<Handle> args,
               llvm::ArrayRef<Type> resultTypes) override;

  void beginIf(Handle condition) override;
  void beginElse() override;
  Handles endIf(llvm::ArrayRef<Handle> thenYields, llvm::ArrayRef<Handle> elseYields,
                llvm::ArrayRef<Type> types) override;
  ForLoop beginFor(Handle lower, Handle upper, Handle step, bool isUnsigned, llvm::ArrayRef<Handle> inits,
                   const ForHints &hints) override;
  Handles endFor(llvm::ArrayRef<Handle> yields) override;
  Handles beginWhile(llvm::ArrayRef<Handle> inits) override;
  Handles beginWhileBody(Handle condition, llvm::ArrayRef<Handle> carried) override;
  Handles endWhile(llvm::ArrayRef<Handle> yields) override;

  void abandon() override;

private:
  enum class ScopeKind : uint8_t { Function, If, For, While, Combine };
  /// An open function or region operation, and where building goes on after it.
  struct Scope {
    ScopeKind kind;
    mlir::Operation *op;
    mlir::OpBuilder::InsertPoint after;
    /// Functions: how many call sites of the enclosing function to restore.
    unsigned outerDepth = 0;
  };

  mlir::Type convert(const Type &type) { return convertType(type, builder_.getContext()); }
  llvm::SmallVector<mlir::Type> convert(llvm::ArrayRef<Type> types);
  /// The position set last, as a location. Made when the first operation asks for it.
  mlir::Location location();
  mlir::Location locationOf(SourceRange range);
  mlir::Value constant(const Type &type, mlir::TypedAttr element);
  /// The integer value of a pointer; other values pass through.
  mlir::Value withoutPointer(mlir::Value value);
  /// Bounds in i64 where their own type cannot count the steps between them.
  void widenBounds(mlir::Value &lower, mlir::Value &upper, mlir::Value &step, bool isUnsigned);
  void setLoopHints(mlir::Operation *loop, const ForHints &hints);

  void open(ScopeKind kind, mlir::Operation *op);
  /// Closes the innermost scope if it is of this kind; the operation, or null where begin and end do not
  /// match.
  mlir::Operation *close(ScopeKind kind);
  mlir::Operation *innermost(ScopeKind kind) const;
  void dropScopes(size_t depth);
  /// Fills the region of a reduce or scan.
  bool buildCombineRegion(mlir::Operation *op, llvm::ArrayRef<mlir::Type> elements, Combine combine);

  mlir::OpBuilder builder_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  llvm::SmallVector<Scope> scopes_;
  llvm::DenseMap<const SourceFile *, mlir::StringAttr> fileNames_;

  SourceRange position_;
  llvm::SmallVector<SourceRange> callSites_;
  /// The call sites before this one lead to the innermost open function: its operations do not repeat them,
  /// since the inliner adds them for each caller.
  unsigned functionDepth_ = 0;
  mlir::LocationAttr location_;
};

} // namespace despina

#endif // DESPINA_IR_IRBUILDER_H
