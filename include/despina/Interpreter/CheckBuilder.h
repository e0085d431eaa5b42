//===- CheckBuilder.h - A builder that only checks --------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Code generation into this builder makes nothing: it finds the errors of a kernel before Python runs it.
// Types are the front end's affair, so a value is nothing but a number that no other has.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_INTERPRETER_CHECKBUILDER_H
#define DESPINA_INTERPRETER_CHECKBUILDER_H

#include "despina/Lang/Builder.h"

namespace despina::interpreter {

class CheckBuilder : public RegionBuilder {
public:
  void setLocation(SourceRange, llvm::ArrayRef<SourceRange>) override {}
  Handle constantInt(const Type &, uint64_t) override { return next(); }
  Handle constantFloat(const Type &, double) override { return next(); }
  Handle poison(const Type &) override { return next(); }
  Handle binary(BinaryKind, Handle, Handle) override { return next(); }
  Handle unary(UnaryKind, Handle) override { return next(); }
  Handle compare(CompareKind, Handle, Handle) override { return next(); }
  Handle select(Handle, Handle, Handle) override { return next(); }
  Handle fma(Handle, Handle, Handle) override { return next(); }
  Handle clamp(Handle, Handle, Handle, bool) override { return next(); }
  Handle cast(CastKind, Handle, const Type &, RoundingKind) override { return next(); }
  Handle programId(int) override { return next(); }
  Handle numPrograms(int) override { return next(); }
  Handle makeRange(int32_t, int32_t) override { return next(); }
  Handle splat(Handle, const Type &) override { return next(); }
  Handle unsplat(Handle) override { return next(); }
  Handle expandDims(Handle, unsigned) override { return next(); }
  Handle broadcast(Handle, const Type &) override { return next(); }
  Handle reshape(Handle, const Type &, bool) override { return next(); }
  Handle transpose(Handle, llvm::ArrayRef<int32_t>) override { return next(); }
  Handle concatenate(Handle, Handle, const Type &) override { return next(); }
  Handle join(Handle, Handle) override { return next(); }
  std::pair<Handle, Handle> split(Handle) override {
    Handle first = next();
    return {first, next()};
  }
  Handle addPointer(Handle, Handle) override { return next(); }
  Handle load(Handle, Handle, Handle, CacheModifier, EvictionPolicy, bool) override { return next(); }
  void store(Handle, Handle, Handle, CacheModifier, EvictionPolicy) override {}
  Handle atomicRMW(AtomicKind, Handle, Handle, Handle, MemorySemantic, MemoryScope) override {
    return next();
  }
  Handle atomicCAS(Handle, Handle, Handle, MemorySemantic, MemoryScope) override { return next(); }
  Handle makeDescriptor(const Type &, Handle, llvm::ArrayRef<Handle>, llvm::ArrayRef<Handle>, bool) override {
    return next();
  }
  Handle descriptorLoad(const Type &, Handle, llvm::ArrayRef<Handle>) override { return next(); }
  void descriptorStore(Handle, Handle, llvm::ArrayRef<Handle>) override {}
  void descriptorReduce(DescriptorReduceKind, Handle, Handle, llvm::ArrayRef<Handle>) override {}
  Handle descriptorGather(const Type &, Handle, Handle, Handle) override { return next(); }
  void descriptorScatter(Handle, Handle, Handle, Handle) override {}
  Handle gather(Handle, Handle, unsigned) override { return next(); }
  Handle histogram(Handle, Handle, const Type &) override { return next(); }
  Handle dot(Handle, Handle, Handle, DotPrecision, int32_t) override { return next(); }
  Handle dotScaled(const ScaledOperand &, const ScaledOperand &, Handle, bool) override { return next(); }
  std::optional<Handles> reduce(llvm::ArrayRef<Handle> inputs, unsigned, llvm::ArrayRef<Type>,
                                Combine combine) override {
    return combined(inputs.size(), combine);
  }
  std::optional<Handles> scan(llvm::ArrayRef<Handle> inputs, unsigned, bool, Combine combine) override {
    return combined(inputs.size(), combine);
  }
  Handles inlineAssembly(llvm::StringRef, llvm::StringRef, llvm::ArrayRef<Handle>,
                         llvm::ArrayRef<Type> resultTypes, bool, int64_t) override {
    return several(resultTypes.size());
  }
  Handle externElementwise(llvm::ArrayRef<Handle>, const Type &, llvm::StringRef, bool) override {
    return next();
  }
  void setHint(Handle, llvm::StringRef, llvm::ArrayRef<int64_t>) override {}
  void assume(Handle) override {}
  void barrier() override {}
  void deviceAssert(Handle, llvm::StringRef) override {}
  void devicePrint(llvm::StringRef, bool, llvm::ArrayRef<Handle>, llvm::ArrayRef<bool>) override {}

  Handles beginFunction(const FunctionSpec &spec) override { return several(spec.argTypes.size()); }
  void endFunction(llvm::ArrayRef<Handle>, llvm::ArrayRef<Type>) override {}
  Handles call(llvm::StringRef, llvm::ArrayRef<Handle>, llvm::ArrayRef<Type> resultTypes) override {
    return several(resultTypes.size());
  }
  void beginIf(Handle) override {}
  void beginElse() override {}
  Handles endIf(llvm::ArrayRef<Handle>, llvm::ArrayRef<Handle>, llvm::ArrayRef<Type> types) override {
    return several(types.size());
  }
  ForLoop beginFor(Handle, Handle, Handle, bool, llvm::ArrayRef<Handle> inits, const ForHints &) override {
    return {next(), several(inits.size())};
  }
  Handles endFor(llvm::ArrayRef<Handle> yields) override { return several(yields.size()); }
  Handles beginWhile(llvm::ArrayRef<Handle> inits) override { return several(inits.size()); }
  Handles beginWhileBody(Handle, llvm::ArrayRef<Handle> carried) override { return several(carried.size()); }
  Handles endWhile(llvm::ArrayRef<Handle> yields) override { return several(yields.size()); }
  void abandon() override {}

private:
  Handle next() { return {reinterpret_cast<void *>(++count_)}; }
  Handles several(size_t count) {
    Handles handles;
    while (handles.size() < count)
      handles.push_back(next());
    return handles;
  }
  std::optional<Handles> combined(size_t count, Combine combine) {
    if (!combine(several(2 * count)))
      return std::nullopt;
    return several(count);
  }

  uintptr_t count_ = 0;
};

} // namespace despina::interpreter

#endif // DESPINA_INTERPRETER_CHECKBUILDER_H
