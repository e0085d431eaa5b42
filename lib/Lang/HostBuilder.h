//===- HostBuilder.h - A builder for code without operations ----*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Host expressions (module level, constexpr_function) use the rules of Semantic on constants. Nothing there
// may make an operation: a builtin that does yields null handles, which the evaluator reports.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_LANG_HOSTBUILDER_H
#define DESPINA_LIB_LANG_HOSTBUILDER_H

#include "despina/Lang/Builder.h"

namespace despina {

class HostBuilder : public Builder {
public:
  void setLocation(SourceRange, llvm::ArrayRef<SourceRange>) override {}
  Handle constantInt(const Type &, uint64_t) override { return {}; }
  Handle constantFloat(const Type &, double) override { return {}; }
  Handle poison(const Type &) override { return {}; }
  Handle binary(BinaryKind, Handle, Handle) override { return {}; }
  Handle unary(UnaryKind, Handle) override { return {}; }
  Handle compare(CompareKind, Handle, Handle) override { return {}; }
  Handle select(Handle, Handle, Handle) override { return {}; }
  Handle fma(Handle, Handle, Handle) override { return {}; }
  Handle clamp(Handle, Handle, Handle, bool) override { return {}; }
  Handle cast(CastKind, Handle, const Type &, RoundingKind) override { return {}; }
  Handle programId(int) override { return {}; }
  Handle numPrograms(int) override { return {}; }
  Handle makeRange(int32_t, int32_t) override { return {}; }
  Handle splat(Handle, const Type &) override { return {}; }
  Handle unsplat(Handle) override { return {}; }
  Handle expandDims(Handle, unsigned) override { return {}; }
  Handle broadcast(Handle, const Type &) override { return {}; }
  Handle reshape(Handle, const Type &, bool) override { return {}; }
  Handle transpose(Handle, llvm::ArrayRef<int32_t>) override { return {}; }
  Handle concatenate(Handle, Handle, const Type &) override { return {}; }
  Handle join(Handle, Handle) override { return {}; }
  std::pair<Handle, Handle> split(Handle) override { return {}; }
  Handle addPointer(Handle, Handle) override { return {}; }
  Handle load(Handle, Handle, Handle, CacheModifier, EvictionPolicy, bool) override { return {}; }
  void store(Handle, Handle, Handle, CacheModifier, EvictionPolicy) override {}
  Handle atomicRMW(AtomicKind, Handle, Handle, Handle, MemorySemantic, MemoryScope) override { return {}; }
  Handle atomicCAS(Handle, Handle, Handle, MemorySemantic, MemoryScope) override { return {}; }
  Handle makeDescriptor(const Type &, Handle, llvm::ArrayRef<Handle>, llvm::ArrayRef<Handle>, bool) override {
    return {};
  }
  Handle descriptorLoad(const Type &, Handle, llvm::ArrayRef<Handle>) override { return {}; }
  void descriptorStore(Handle, Handle, llvm::ArrayRef<Handle>) override {}
  void descriptorReduce(DescriptorReduceKind, Handle, Handle, llvm::ArrayRef<Handle>) override {}
  Handle descriptorGather(const Type &, Handle, Handle, Handle) override { return {}; }
  void descriptorScatter(Handle, Handle, Handle, Handle) override {}
  Handle gather(Handle, Handle, unsigned) override { return {}; }
  Handle histogram(Handle, Handle, const Type &) override { return {}; }
  Handles inlineAssembly(llvm::StringRef, llvm::StringRef, llvm::ArrayRef<Handle>, llvm::ArrayRef<Type>, bool,
                         int64_t) override {
    return {};
  }
  Handle externElementwise(llvm::ArrayRef<Handle>, const Type &, llvm::StringRef, bool) override {
    return {};
  }
  Handle dot(Handle, Handle, Handle, DotPrecision, int32_t) override { return {}; }
  Handle dotScaled(const ScaledOperand &, const ScaledOperand &, Handle, bool) override { return {}; }
  std::optional<Handles> reduce(llvm::ArrayRef<Handle>, unsigned, llvm::ArrayRef<Type>, Combine) override {
    return std::nullopt;
  }
  std::optional<Handles> scan(llvm::ArrayRef<Handle>, unsigned, bool, Combine) override {
    return std::nullopt;
  }
  void setHint(Handle, llvm::StringRef, llvm::ArrayRef<int64_t>) override {}
  void assume(Handle) override {}
  void barrier() override {}
  void deviceAssert(Handle, llvm::StringRef) override {}
  void devicePrint(llvm::StringRef, bool, llvm::ArrayRef<Handle>, llvm::ArrayRef<bool>) override {}
};

} // namespace despina

#endif // DESPINA_LIB_LANG_HOSTBUILDER_H
