//===- MockBuilder.h - A builder that records and checks --------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Records one line per operation and fails the test when an operand has not the type that Builder.h demands:
// the semantic rules must hand over operations that need no further conversion.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_UNITTESTS_LANG_MOCKBUILDER_H
#define DESPINA_UNITTESTS_LANG_MOCKBUILDER_H

#include "despina/Lang/Builtins.h"
#include "despina/Lang/Semantic.h"

#include <gtest/gtest.h>

#include <deque>
#include <functional>

namespace despina::test {

template <typename Base> class MockBuilderOf : public Base {
public:
  using Combine = Builder::Combine;

  struct Node {
    std::string text;
    Type type;
  };

  /// A value that came from outside (an argument).
  Handle argument(const Type &type) { return make("argument", type); }
  Type typeOf(Handle handle) const { return handle ? static_cast<Node *>(handle.opaque)->type : Type(); }
  const std::vector<std::string> &log() const { return log_; }
  std::string joinedLog() const {
    std::string text;
    for (const std::string &line : log_)
      text += line + "\n";
    return text;
  }
  bool logged(const std::string &line) const {
    return std::find(log_.begin(), log_.end(), line) != log_.end();
  }
  void clear() { log_.clear(); }

  void setLocation(SourceRange, llvm::ArrayRef<SourceRange>) override {}

  Handle constantInt(const Type &type, uint64_t bits) override {
    EXPECT_TRUE(type.isInt()) << type.str();
    if (type.bits() < 64)
      EXPECT_LT(bits, uint64_t(1) << type.bits()) << "bits beyond the type " << type.str();
    return record("constant " + std::to_string(bits), type);
  }
  Handle constantFloat(const Type &type, double value) override {
    EXPECT_TRUE(type.isStandardFloat()) << type.str();
    return record("constant " + Constant(value).repr(), type);
  }
  Handle poison(const Type &type) override { return record("poison", type); }

  Handle binary(BinaryKind kind, Handle lhs, Handle rhs) override {
    static const char *const names[] = {
        "AddI", "SubI",  "MulI",  "DivSI",       "DivUI",   "RemSI",   "RemUI",    "AndI",    "OrI",  "XorI",
        "ShlI", "ShrSI", "ShrUI", "MinSI",       "MaxSI",   "MinUI",   "MaxUI",    "MulHiUI", "AddF", "SubF",
        "MulF", "DivF",  "RemF",  "PreciseDivF", "MinNumF", "MaxNumF", "MinimumF", "MaximumF"};
    expectSame(lhs, rhs, names[size_t(kind)]);
    EXPECT_EQ(typeOf(lhs).isFloating(), kind >= BinaryKind::AddF) << names[size_t(kind)];
    return record(names[size_t(kind)], typeOf(lhs));
  }
  Handle unary(UnaryKind kind, Handle x) override {
    static const char *const names[] = {"NegF",        "AbsF",  "AbsI", "Exp",   "Exp2",
                                        "Log",         "Log2",  "Sin",  "Cos",   "Sqrt",
                                        "PreciseSqrt", "Rsqrt", "Erf",  "Floor", "Ceil"};
    EXPECT_EQ(typeOf(x).isFloating(), kind != UnaryKind::AbsI);
    return record(names[size_t(kind)], typeOf(x));
  }
  Handle compare(CompareKind kind, Handle lhs, Handle rhs) override {
    static const char *const names[] = {"EQ",  "NE",  "SLT", "SLE", "SGT", "SGE", "ULT", "ULE",
                                        "UGT", "UGE", "OEQ", "UNE", "OLT", "OLE", "OGT", "OGE"};
    expectSame(lhs, rhs, names[size_t(kind)]);
    EXPECT_EQ(typeOf(lhs).isFloating(), kind >= CompareKind::OEQ) << names[size_t(kind)];
    return record(names[size_t(kind)], typeOf(lhs).withScalar(ScalarKind::Int1));
  }
  Handle select(Handle condition, Handle ifTrue, Handle ifFalse) override {
    expectSame(ifTrue, ifFalse, "select");
    EXPECT_EQ(typeOf(condition), typeOf(ifTrue).withScalar(ScalarKind::Int1));
    return record("select", typeOf(ifTrue));
  }
  Handle fma(Handle x, Handle y, Handle z) override {
    expectSame(x, y, "fma");
    expectSame(x, z, "fma");
    return record("fma", typeOf(x));
  }
  Handle clamp(Handle x, Handle min, Handle max, bool propagateNan) override {
    expectSame(x, min, "clamp");
    expectSame(x, max, "clamp");
    return record(propagateNan ? "clamp nan" : "clamp", typeOf(x));
  }
  Handle cast(CastKind kind, Handle x, const Type &to, RoundingKind rounding) override;

  Handle programId(int axis) override {
    return record("program_id " + std::to_string(axis), ScalarKind::Int32);
  }
  Handle numPrograms(int axis) override {
    return record("num_programs " + std::to_string(axis), ScalarKind::Int32);
  }

  Handle makeRange(int32_t start, int32_t end) override {
    return record("range " + std::to_string(start) + " " + std::to_string(end),
                  Type::block(ScalarKind::Int32, {int64_t(end) - start}));
  }
  Handle splat(Handle scalar, const Type &to) override {
    EXPECT_FALSE(typeOf(scalar).isBlock());
    EXPECT_EQ(signless(typeOf(scalar)), signless(to.scalar()));
    return record("splat", to);
  }
  Handle unsplat(Handle block) override {
    EXPECT_TRUE(typeOf(block).isBlock() && typeOf(block).numel() == 1);
    return record("unsplat", typeOf(block).scalar());
  }
  Handle expandDims(Handle x, unsigned axis) override {
    EXPECT_TRUE(typeOf(x).isBlock());
    llvm::SmallVector<int64_t, 4> shape(typeOf(x).shape());
    EXPECT_LE(axis, shape.size());
    shape.insert(shape.begin() + axis, 1);
    return record("expand_dims " + std::to_string(axis), typeOf(x).withShape(shape));
  }
  Handle broadcast(Handle x, const Type &to) override {
    EXPECT_EQ(typeOf(x).rank(), to.rank());
    EXPECT_NE(typeOf(x), to);
    return record("broadcast", to);
  }
  Handle reshape(Handle x, const Type &to, bool allowReorder) override {
    EXPECT_EQ(typeOf(x).numel(), to.numel());
    EXPECT_TRUE(typeOf(x).isBlock() && to.isBlock());
    return record(allowReorder ? "reshape reorder" : "reshape", to);
  }
  Handle transpose(Handle x, llvm::ArrayRef<int32_t> order) override {
    llvm::SmallVector<int64_t, 4> shape;
    std::string text = "transpose";
    for (int32_t dim : order) {
      shape.push_back(typeOf(x).shape()[dim]);
      text += " " + std::to_string(dim);
    }
    return record(text, typeOf(x).withShape(shape));
  }
  Handle concatenate(Handle lhs, Handle rhs, const Type &to) override {
    EXPECT_EQ(typeOf(lhs).shape()[0] + typeOf(rhs).shape()[0], to.shape()[0]);
    return record("concatenate", to);
  }
  Handle join(Handle lhs, Handle rhs) override {
    expectSame(lhs, rhs, "join");
    llvm::SmallVector<int64_t, 4> shape(typeOf(lhs).shape());
    shape.push_back(2);
    return record("join", typeOf(lhs).withShape(shape));
  }
  std::pair<Handle, Handle> split(Handle x) override {
    EXPECT_GE(typeOf(x).rank(), 2u);
    Type half = typeOf(x).withShape(typeOf(x).shape().drop_back());
    Handle first = record("split", half);
    return {first, make("split", half)};
  }

  Handle addPointer(Handle pointer, Handle offset) override {
    EXPECT_TRUE(typeOf(pointer).scalar().isPointer());
    EXPECT_TRUE(typeOf(offset).isInt());
    EXPECT_EQ(typeOf(pointer).shape(), typeOf(offset).shape());
    EXPECT_FALSE(typeOf(offset).isUnsigned() && typeOf(offset).bits() < 64)
        << "an unsigned offset must be widened";
    return record("addptr " + typeOf(offset).scalar().str(), typeOf(pointer));
  }
  Handle load(Handle pointer, Handle mask, Handle other, CacheModifier cache, EvictionPolicy evict,
              bool isVolatile) override {
    Type result = typeOf(pointer).withScalar(typeOf(pointer).pointee());
    checkMask(pointer, mask);
    if (other)
      EXPECT_EQ(signless(typeOf(other)), signless(result));
    return record("load" + options(mask, cache, evict) + (other ? " other" : "") +
                      (isVolatile ? " volatile" : ""),
                  result);
  }
  void store(Handle pointer, Handle value, Handle mask, CacheModifier cache, EvictionPolicy evict) override {
    checkMask(pointer, mask);
    EXPECT_EQ(signless(typeOf(value)), signless(typeOf(pointer).withScalar(typeOf(pointer).pointee())));
    log_.push_back("store" + options(mask, cache, evict) + " : " + typeOf(value).str());
  }
  Handle atomicRMW(AtomicKind kind, Handle pointer, Handle value, Handle mask, MemorySemantic sem,
                   MemoryScope scope) override {
    static const char *const names[] = {"And", "Or",  "Xor",  "Add",  "FAdd",
                                        "Max", "Min", "UMax", "UMin", "Exchange"};
    checkMask(pointer, mask);
    EXPECT_EQ(signless(typeOf(value)), signless(typeOf(pointer).withScalar(typeOf(pointer).pointee())));
    return record(std::string("atomic ") + names[size_t(kind)] + (mask ? " mask" : "") + " " +
                      std::to_string(int(sem)) + " " + std::to_string(int(scope)),
                  typeOf(value));
  }
  Handle atomicCAS(Handle pointer, Handle compare, Handle value, MemorySemantic, MemoryScope) override {
    expectSame(compare, value, "cas");
    EXPECT_EQ(signless(typeOf(value)), signless(typeOf(pointer).withScalar(typeOf(pointer).pointee())));
    return record("cas", typeOf(value));
  }

  Handle makeDescriptor(const Type &type, Handle base, llvm::ArrayRef<Handle> shape,
                        llvm::ArrayRef<Handle> strides, bool padsNaN) override {
    Type block = type.describedBlock();
    EXPECT_EQ(typeOf(base).pointee(), block.scalar());
    EXPECT_TRUE(shape.size() == block.rank() && strides.size() == block.rank());
    for (Handle extent : shape)
      EXPECT_EQ(typeOf(extent), Type(ScalarKind::Int32));
    for (Handle stride : strides)
      EXPECT_EQ(typeOf(stride), Type(ScalarKind::Int64));
    return record(padsNaN ? "descriptor nan" : "descriptor", type);
  }
  Handle descriptorLoad(const Type &type, Handle descriptor, llvm::ArrayRef<Handle> indices) override {
    EXPECT_EQ(type, typeOf(descriptor));
    expectIndices(descriptor, indices);
    return record("descriptor load", type.describedBlock());
  }
  void descriptorStore(Handle descriptor, Handle value, llvm::ArrayRef<Handle> indices) override {
    EXPECT_EQ(typeOf(value), typeOf(descriptor).describedBlock());
    expectIndices(descriptor, indices);
    log_.push_back("descriptor store");
  }
  void descriptorReduce(DescriptorReduceKind kind, Handle descriptor, Handle value,
                        llvm::ArrayRef<Handle> indices) override {
    EXPECT_EQ(typeOf(value), typeOf(descriptor).describedBlock());
    expectIndices(descriptor, indices);
    log_.push_back("descriptor reduce " + std::to_string(int(kind)));
  }
  Handle descriptorGather(const Type &result, Handle descriptor, Handle rows, Handle column) override {
    expectRows(descriptor, result, rows, column);
    return record("descriptor gather", result);
  }
  void descriptorScatter(Handle descriptor, Handle value, Handle rows, Handle column) override {
    expectRows(descriptor, typeOf(value), rows, column);
    log_.push_back("descriptor scatter");
  }
  Handle gather(Handle source, Handle indices, unsigned axis) override {
    EXPECT_EQ(typeOf(source).rank(), typeOf(indices).rank());
    return record("gather " + std::to_string(axis), typeOf(source).withShape(typeOf(indices).shape()));
  }
  Handle histogram(Handle x, Handle mask, const Type &result) override {
    EXPECT_TRUE(typeOf(x).isInt() && typeOf(x).rank() == 1);
    EXPECT_TRUE(!mask || typeOf(mask) == typeOf(x).withScalar(ScalarKind::Int1));
    return record(mask ? "histogram mask" : "histogram", result);
  }

  Handle dot(Handle a, Handle b, Handle acc, DotPrecision precision, int32_t) override {
    EXPECT_EQ(typeOf(a).shape().back(), typeOf(b).shape()[typeOf(b).rank() - 2]);
    EXPECT_EQ(typeOf(acc).shape().back(), typeOf(b).shape().back());
    EXPECT_LE(typeOf(a).rank(), 3u);
    return record("dot " + std::to_string(int(precision)), typeOf(acc));
  }
  Handle dotScaled(const Builder::ScaledOperand &a, const Builder::ScaledOperand &b, Handle acc,
                   bool fastMath) override {
    auto side = [](const Builder::ScaledOperand &x) {
      return std::to_string(int(x.format)) + (x.scale ? "s" : "") + (x.packedAlongK ? "k" : "");
    };
    return record("dot scaled " + side(a) + " " + side(b) + (fastMath ? " fast" : ""), typeOf(acc));
  }
  std::optional<Handles> reduce(llvm::ArrayRef<Handle> inputs, unsigned axis,
                                llvm::ArrayRef<Type> resultTypes, Combine combine) override;
  std::optional<Handles> scan(llvm::ArrayRef<Handle> inputs, unsigned axis, bool reverse,
                              Combine combine) override;

  Handles inlineAssembly(llvm::StringRef text, llvm::StringRef, llvm::ArrayRef<Handle>,
                         llvm::ArrayRef<Type> resultTypes, bool, int64_t pack) override {
    Handles results;
    for (const Type &type : resultTypes)
      results.push_back(record("asm " + std::to_string(pack) + " " + text.str(), type));
    return results;
  }
  Handle externElementwise(llvm::ArrayRef<Handle> args, const Type &result, llvm::StringRef symbol,
                           bool) override {
    for (Handle arg : args)
      EXPECT_EQ(typeOf(arg).shape(), result.shape());
    return record("extern " + symbol.str(), result);
  }

  void setHint(Handle, llvm::StringRef name, llvm::ArrayRef<int64_t> values) override {
    std::string text = "hint " + name.str();
    for (int64_t value : values)
      text += " " + std::to_string(value);
    log_.push_back(text);
  }
  void assume(Handle condition) override {
    EXPECT_EQ(typeOf(condition), Type(ScalarKind::Int1));
    log_.push_back("assume");
  }
  void barrier() override { log_.push_back("barrier"); }
  void deviceAssert(Handle condition, llvm::StringRef message) override {
    EXPECT_TRUE(typeOf(condition).isInt1());
    log_.push_back("assert " + message.str());
  }
  void devicePrint(llvm::StringRef prefix, bool hex, llvm::ArrayRef<Handle> args,
                   llvm::ArrayRef<bool> isSigned) override {
    EXPECT_EQ(args.size(), isSigned.size());
    log_.push_back("print '" + prefix.str() + "'" + (hex ? " hex" : "") + " " + std::to_string(args.size()));
  }

protected:
  /// The IR has signless integers only.
  static Type signless(const Type &type) {
    Type scalar = type.scalar();
    switch (scalar.scalarKind()) {
    case ScalarKind::UInt8: return type.withScalar(ScalarKind::Int8);
    case ScalarKind::UInt16: return type.withScalar(ScalarKind::Int16);
    case ScalarKind::UInt32: return type.withScalar(ScalarKind::Int32);
    case ScalarKind::UInt64: return type.withScalar(ScalarKind::Int64);
    default: return type;
    }
  }
  void expectSame(Handle lhs, Handle rhs, const char *what) {
    EXPECT_EQ(signless(typeOf(lhs)).str(), signless(typeOf(rhs)).str()) << what;
  }
  void expectIndices(Handle descriptor, llvm::ArrayRef<Handle> indices) {
    EXPECT_EQ(indices.size(), typeOf(descriptor).describedBlock().rank());
    for (Handle index : indices)
      EXPECT_EQ(typeOf(index), Type(ScalarKind::Int32));
  }
  void expectRows(Handle descriptor, const Type &tile, Handle rows, Handle column) {
    EXPECT_EQ(tile.scalar(), typeOf(descriptor).describedBlock().scalar());
    EXPECT_EQ(tile.shape()[0], typeOf(rows).shape()[0]);
    EXPECT_EQ(typeOf(column), Type(ScalarKind::Int32));
  }
  void checkMask(Handle pointer, Handle mask) {
    EXPECT_TRUE(typeOf(pointer).scalar().isPointer());
    if (mask)
      EXPECT_EQ(typeOf(mask).str(), typeOf(pointer).withScalar(ScalarKind::Int1).str());
  }
  static std::string options(Handle mask, CacheModifier cache, EvictionPolicy evict) {
    std::string text = mask ? " mask" : "";
    if (cache != CacheModifier::None)
      text += " cache" + std::to_string(int(cache));
    if (evict != EvictionPolicy::Normal)
      text += " evict" + std::to_string(int(evict));
    return text;
  }
  Handle make(std::string text, const Type &type) {
    nodes_.push_back({std::move(text), type});
    return {&nodes_.back()};
  }
  Handle record(const std::string &text, const Type &type) {
    log_.push_back(text + " : " + type.str());
    return make(text, type);
  }

  std::deque<Node> nodes_;
  std::vector<std::string> log_;
};
using MockBuilder = MockBuilderOf<Builder>;

template <typename Base>
Handle MockBuilderOf<Base>::cast(CastKind kind, Handle x, const Type &to, RoundingKind rounding) {
  static const char *const names[] = {"SIToFP",   "UIToFP",   "FPToSI", "FPToUI", "ExtSI",
                                      "ExtUI",    "TruncI",   "ExtF",   "TruncF", "Bitcast",
                                      "IntToPtr", "PtrToInt", "FPToFP"};
  Type from = typeOf(x);
  EXPECT_EQ(from.shape(), to.shape());
  switch (kind) {
  case CastKind::SIToFP:
  case CastKind::UIToFP: EXPECT_TRUE(from.isInt() && to.isStandardFloat()); break;
  case CastKind::FPToSI:
  case CastKind::FPToUI: EXPECT_TRUE(from.isStandardFloat() && to.isInt() && !to.isInt1()); break;
  case CastKind::ExtSI:
  case CastKind::ExtUI: EXPECT_TRUE(from.isInt() && to.isInt() && from.bits() < to.bits()); break;
  case CastKind::TruncI:
    EXPECT_TRUE(from.isInt() && to.isInt() && from.bits() > to.bits() && !to.isInt1());
    break;
  case CastKind::ExtF:
    EXPECT_TRUE(from.isStandardFloat() && to.isStandardFloat() && from.bits() < to.bits());
    break;
  case CastKind::TruncF:
    EXPECT_TRUE(from.isStandardFloat() && to.isStandardFloat() && from.bits() > to.bits());
    break;
  case CastKind::Bitcast: EXPECT_EQ(from.bits(), to.bits()); break;
  case CastKind::IntToPtr: EXPECT_TRUE(from.isInt() && from.bits() == 64 && to.scalar().isPointer()); break;
  case CastKind::PtrToInt: EXPECT_TRUE(from.scalar().isPointer() && to.isInt() && to.bits() == 64); break;
  case CastKind::FPToFP: EXPECT_TRUE(from.isFloating() && to.isFloating()); break;
  }
  std::string text = names[size_t(kind)];
  if (rounding != RoundingKind::Default)
    text += rounding == RoundingKind::RTZ ? " rtz" : " rtne";
  return record(text, to);
}

template <typename Base>
std::optional<Handles> MockBuilderOf<Base>::reduce(llvm::ArrayRef<Handle> inputs, unsigned axis,
                                                   llvm::ArrayRef<Type> resultTypes, Combine combine) {
  log_.push_back("reduce " + std::to_string(axis) + " {");
  Handles operands;
  for (int side = 0; side < 2; ++side)
    for (Handle input : inputs)
      operands.push_back(make("operand", typeOf(input).scalar()));
  std::optional<Handles> combined = combine(operands);
  log_.push_back("}");
  if (!combined)
    return std::nullopt;
  Handles results;
  for (size_t i = 0; i < inputs.size(); ++i) {
    EXPECT_EQ(signless(typeOf((*combined)[i])), signless(typeOf(inputs[i]).scalar()));
    EXPECT_EQ(resultTypes[i].rank() + 1, typeOf(inputs[i]).rank());
    results.push_back(make("reduce", resultTypes[i]));
  }
  return results;
}

template <typename Base>
std::optional<Handles> MockBuilderOf<Base>::scan(llvm::ArrayRef<Handle> inputs, unsigned axis, bool reverse,
                                                 Combine combine) {
  log_.push_back("scan " + std::to_string(axis) + (reverse ? " reverse {" : " {"));
  Handles operands;
  for (int side = 0; side < 2; ++side)
    for (Handle input : inputs)
      operands.push_back(make("operand", typeOf(input).scalar()));
  std::optional<Handles> combined = combine(operands);
  log_.push_back("}");
  if (!combined)
    return std::nullopt;
  Handles results;
  for (Handle input : inputs)
    results.push_back(make("scan", typeOf(input)));
  return results;
}

/// The mock with functions and control flow, for whole kernels.
class MockRegionBuilder : public MockBuilderOf<RegionBuilder> {
public:
  Handles beginFunction(const FunctionSpec &spec) override {
    log_.push_back("func " + spec.name + " {");
    Handles args;
    for (const Type &type : spec.argTypes)
      args.push_back(make("argument", type));
    return args;
  }
  void endFunction(llvm::ArrayRef<Handle> results, llvm::ArrayRef<Type> resultTypes) override {
    expectTypes(results, resultTypes, "return");
    log_.push_back("}");
  }
  Handles call(llvm::StringRef symbol, llvm::ArrayRef<Handle>, llvm::ArrayRef<Type> resultTypes) override {
    log_.push_back("call " + symbol.str());
    return makeAll(resultTypes);
  }

  void beginIf(Handle condition) override {
    EXPECT_EQ(typeOf(condition), Type(ScalarKind::Int1));
    log_.push_back("if {");
  }
  void beginElse() override { log_.push_back("} else {"); }
  Handles endIf(llvm::ArrayRef<Handle> thenYields, llvm::ArrayRef<Handle> elseYields,
                llvm::ArrayRef<Type> types) override {
    expectTypes(thenYields, types, "then");
    expectTypes(elseYields, types, "else");
    log_.push_back("}");
    return makeAll(types);
  }

  ForLoop beginFor(Handle lower, Handle upper, Handle step, bool, llvm::ArrayRef<Handle> inits,
                   const ForHints &) override {
    expectSame(lower, upper, "for");
    expectSame(lower, step, "for");
    log_.push_back("for {");
    return {make("induction", typeOf(lower)), openRegion(inits)};
  }
  Handles endFor(llvm::ArrayRef<Handle> yields) override { return closeRegion(yields); }

  Handles beginWhile(llvm::ArrayRef<Handle> inits) override {
    log_.push_back("while {");
    return openRegion(inits);
  }
  Handles beginWhileBody(Handle condition, llvm::ArrayRef<Handle> carried) override {
    EXPECT_EQ(typeOf(condition), Type(ScalarKind::Int1));
    log_.push_back("} do {");
    Handles args;
    for (Handle handle : carried)
      args.push_back(make("carried", typeOf(handle)));
    return args;
  }
  Handles endWhile(llvm::ArrayRef<Handle> yields) override { return closeRegion(yields); }

  void abandon() override { log_.push_back("abandon"); }

private:
  Handles makeAll(llvm::ArrayRef<Type> types) {
    Handles handles;
    for (const Type &type : types)
      handles.push_back(make("result", type));
    return handles;
  }
  Handles openRegion(llvm::ArrayRef<Handle> inits) {
    std::vector<Type> types;
    for (Handle handle : inits)
      types.push_back(typeOf(handle));
    carried_.push_back(types);
    return makeAll(types);
  }
  Handles closeRegion(llvm::ArrayRef<Handle> yields) {
    std::vector<Type> types = carried_.back();
    carried_.pop_back();
    expectTypes(yields, types, "yield");
    log_.push_back("}");
    return makeAll(types);
  }
  void expectTypes(llvm::ArrayRef<Handle> handles, llvm::ArrayRef<Type> types, const char *what) {
    ASSERT_EQ(handles.size(), types.size()) << what;
    for (size_t i = 0; i < types.size(); ++i)
      if (handles[i]) // a null yield stands for poison
        EXPECT_EQ(signless(typeOf(handles[i])).str(), signless(types[i]).str()) << what;
  }

  std::vector<std::vector<Type>> carried_;
};

/// A Semantic over the mock, with helpers to make values and to look at errors.
class SemanticTest : public ::testing::Test, public CallHost {
protected:
  SemanticTest() {
    target.backend = "cpu";
    target.fp8Types = {ScalarKind::FP8E5, ScalarKind::FP8E4NV};
  }

  // CallHost.
  Value callFunction(const Value &callee, llvm::ArrayRef<Value> args,
                     llvm::ArrayRef<std::pair<std::string, Value>> keywords) override {
    if (onCall)
      return onCall(args);
    return callee.kind() == Value::Kind::Builtin ? semantic.callBuiltin(*callee.builtin(), args, keywords)
                                                 : Value();
  }
  void staticPrint(llvm::StringRef text) override { printed += text.str(); }

  Value tensor(const Type &type) { return Value::tensor(type, builder.argument(type)); }
  Value block(ScalarKind kind, std::vector<int64_t> shape) { return tensor(Type::block(kind, shape)); }
  Value pointer(ScalarKind kind, std::vector<int64_t> shape = {}, bool isConst = false) {
    return tensor(Type::pointer(kind, isConst).withShape(shape));
  }
  static Value number(Constant constant) { return Value::constant(std::move(constant)); }
  static Value ints(std::vector<int64_t> numbers) {
    std::vector<Value> values;
    for (int64_t value : numbers)
      values.push_back(Value::constant(value));
    return Value::tuple(std::move(values));
  }
  using Keywords = std::vector<std::pair<std::string, Value>>;
  /// Calls `tl.NAME`, or a builtin by its whole path.
  Value call(const char *name, std::vector<Value> args, Keywords keywords = {}) {
    bool isPath = llvm::StringRef(name).contains('.');
    const BuiltinDef *def = findBuiltin(isPath ? name : std::string("language.") + name);
    if (!def) {
      ADD_FAILURE() << "no builtin " << name;
      return Value();
    }
    return semantic.callBuiltin(*def, args, keywords);
  }
  /// "TypeError: text" of the first error since the last call, or "" when there was none.
  std::string takeError() {
    const Diagnostic *first = diags.firstError();
    std::string text =
        first ? std::string(errorKindName(first->kind)) + ": " + first->message : std::string();
    diags.clear();
    return text;
  }
  std::string takeWarning() {
    std::string text;
    for (const Diagnostic &diagnostic : diags.all())
      if (diagnostic.severity == Severity::Warning)
        text = diagnostic.message;
    diags.clear();
    return text;
  }
  /// The type of a result, or its error.
  std::string typeOrError(const Value &value) {
    std::string error = takeError();
    if (!error.empty()) {
      EXPECT_FALSE(value) << "a value and an error at once";
      return error;
    }
    if (!value)
      return "null without an error";
    if (value.isTensor())
      EXPECT_EQ(builder.typeOf(value.handle()).bits(), value.type().bits());
    return value.str();
  }

  MockBuilder builder;
  Diagnostics diags;
  LanguageTarget target;
  Semantic semantic{builder, diags, target, *this};
  std::function<Value(llvm::ArrayRef<Value>)> onCall;
  std::string printed;
};

} // namespace despina::test

#endif // DESPINA_UNITTESTS_LANG_MOCKBUILDER_H
