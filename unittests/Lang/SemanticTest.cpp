//===- SemanticTest.cpp - Casts, broadcasting, attributes, calls ----------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "MockBuilder.h"

#include "llvm/ADT/Twine.h"

#include <cmath>

using namespace despina;
using namespace despina::test;
using ast::BinaryOperator;
using ast::CompareOperator;
using ast::UnaryOperator;

namespace {

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

/// The operations of a cast in order, without result types, after spec triton_language 1.4.
std::string expectedCast(const ScalarInfo &from, const ScalarInfo &to) {
  Type a(from.kind), b(to.kind);
  if (a == b)
    return "";
  if (a.isFP8() || b.isFP8())
    return !a.isFloating() || !b.isFloating() ? "error" : to.bits < from.bits ? "FPToFP rtne" : "FPToFP";
  if (a.isInt() && b.isInt()) {
    if (to.bits == 1)
      return "constant NE";
    if (from.bits == to.bits)
      return "";
    return from.bits > to.bits ? "TruncI" : a.isSigned() ? "ExtSI" : "ExtUI";
  }
  if (a.isInt())
    return a.isSigned() ? "SIToFP" : "UIToFP";
  std::string steps = from.bits == 16 && to.kind != ScalarKind::FP32 ? "ExtF " : "";
  unsigned width = steps.empty() ? from.bits : 32;
  if (b.isFloating())
    return steps + (to.bits > width ? "ExtF" : "TruncF");
  if (to.bits == 1)
    return steps + "constant UNE";
  return steps + (b.isSigned() ? "FPToSI" : "FPToUI");
}

TEST_F(SemanticTest, CastsOfEveryPair) {
  target.fp8Types = {ScalarKind::FP8E4B15, ScalarKind::FP8E4NV, ScalarKind::FP8E4B8, ScalarKind::FP8E5,
                     ScalarKind::FP8E5B16};
  for (const ScalarInfo &from : allScalars())
    for (const ScalarInfo &to : allScalars()) {
      if (from.kind == ScalarKind::Void || to.kind == ScalarKind::Void)
        continue;
      builder.clear();
      Value x = block(from.kind, {16});
      std::string got = typeOrError(semantic.cast(x, to.kind));
      std::string want = expectedCast(from, to), steps;
      if (want == "error") {
        EXPECT_EQ(got, std::string("AssertionError: cannot cast ") + from.name + "[16] to <[16], " + to.name +
                           ">");
        continue;
      }
      EXPECT_EQ(got, std::string(to.name) + "[16]");
      for (llvm::StringRef line : builder.log()) {
        llvm::StringRef operation = line.split(" : ").first;
        operation = operation.starts_with("constant") ? "constant" : operation;
        steps += (steps.empty() ? "" : " ") + operation.str();
      }
      EXPECT_EQ(steps, want) << from.name << " to " << to.name;
    }
}

TEST_F(SemanticTest, CastRounding) {
  Value x = block(ScalarKind::FP32, {16});
  EXPECT_EQ(typeOrError(semantic.cast(x, ScalarKind::BF16, "rtz")), "bf16[16]");
  EXPECT_EQ(builder.log().back(), "FPToFP rtz : <[16], bf16>");
  EXPECT_EQ(typeOrError(semantic.cast(x, ScalarKind::BF16, "rtne")), "bf16[16]");
  EXPECT_EQ(builder.log().back(), "TruncF : <[16], bf16>");
  EXPECT_EQ(typeOrError(semantic.cast(x, ScalarKind::BF16, "up")),
            "ValueError: Invalid rounding mode: up. Supported rounding modes are 'rtne' and 'rtz'.");
  EXPECT_EQ(typeOrError(semantic.cast(x, ScalarKind::FP64, "rtz")),
            "ValueError: fp_downcast_rounding should be set only for truncating fp conversions. Source "
            "scalar type is "
            "fp32 and destination type is fp64");
}

TEST_F(SemanticTest, CastsOfPointersAndBits) {
  Value p = pointer(ScalarKind::FP32, {8});
  EXPECT_EQ(typeOrError(semantic.cast(p, ScalarKind::Int64)), "int64[8]");
  EXPECT_EQ(typeOrError(semantic.cast(p, ScalarKind::Int1)), "int1[8]");
  EXPECT_EQ(typeOrError(semantic.cast(p, Type::pointer(ScalarKind::Int8))), "pointer<int8>[8]");
  EXPECT_EQ(typeOrError(semantic.cast(p, ScalarKind::Int32)),
            "AssertionError: cannot cast pointer<fp32>[8] to <[8], int32>");
  EXPECT_EQ(typeOrError(semantic.cast(block(ScalarKind::Int32, {8}), Type::pointer(ScalarKind::Int8))),
            "pointer<int8>[8]");
  EXPECT_EQ(typeOrError(semantic.cast(block(ScalarKind::FP32, {8}), Type::pointer(ScalarKind::Int8))),
            "AssertionError: cannot cast fp32[8] to <[8], pointer<int8>>");
  Value x = block(ScalarKind::FP32, {8});
  EXPECT_EQ(typeOrError(semantic.cast(x, ScalarKind::UInt32, {}, true)), "uint32[8]");
  EXPECT_EQ(typeOrError(semantic.cast(x, ScalarKind::Int16, {}, true)),
            "ValueError: Cannot bitcast data-type of size 32 to data-type of size 16");
  target.fp8Types = {ScalarKind::FP8E5};
  EXPECT_EQ(
      typeOrError(semantic.cast(x, ScalarKind::FP8E4NV)),
      "ValueError: type fp8e4nv not supported in this architecture. The supported fp8 dtypes are ('fp8e5',)");
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

TEST_F(SemanticTest, Broadcasting) {
  auto shapes = [&](std::vector<int64_t> a, std::vector<int64_t> b) {
    Value lhs = tensor(Type(ScalarKind::FP32).withShape(a)),
          rhs = tensor(Type(ScalarKind::FP32).withShape(b));
    if (!semantic.broadcastPair(lhs, rhs))
      return takeError();
    EXPECT_EQ(lhs.type(), rhs.type());
    return lhs.str();
  };
  EXPECT_EQ(shapes({}, {}), "fp32");
  EXPECT_EQ(shapes({}, {4, 8}), "fp32[4, 8]");
  EXPECT_EQ(shapes({4, 1}, {1, 8}), "fp32[4, 8]");
  EXPECT_EQ(shapes({8}, {4, 8}), "fp32[4, 8]");
  EXPECT_EQ(shapes({4, 1, 1}, {8}), "fp32[4, 1, 8]");
  EXPECT_EQ(shapes({4}, {4, 8}),
            "ValueError: Cannot make_shape_compatible: incompatible dimensions at index 1: 4 and 8");
  EXPECT_EQ(shapes({16, 8}, {4, 8}),
            "ValueError: Cannot make_shape_compatible: incompatible dimensions at index 0: 16 and 4");
  EXPECT_EQ(shapes({1 << 15, 1}, {1, 1 << 15}),
            "ValueError: numel (1073741824) exceeds triton maximum tensor numel (1048576)");

  EXPECT_EQ(typeOrError(semantic.broadcastTo(block(ScalarKind::FP32, {4}), {4, 8})),
            "ValueError: Cannot broadcast, rank mismatch: [4], [4, 8]");
  EXPECT_EQ(
      typeOrError(semantic.broadcastTo(block(ScalarKind::FP32, {4, 2}), {4, 8})),
      "ValueError: Cannot broadcast, the expanded size of the tensor (8) must match the existing size (2) at "
      "non-singleton dimension 1: [4, 2], [4, 8]");
}

TEST_F(SemanticTest, BlockShapes) {
  auto check = [&](Value shape) {
    auto extents = semantic.checkBlockShape(shape);
    std::string error = takeError();
    EXPECT_EQ(bool(extents), error.empty());
    return error;
  };
  EXPECT_EQ(check(ints({16, 32})), "");
  EXPECT_EQ(check(ints({})), "");
  EXPECT_EQ(check(number(8)), "");
  EXPECT_EQ(check(ints({16, 24})), "ValueError: Shape element 1 must be a power of 2");
  EXPECT_EQ(check(ints({0})), "ValueError: Shape element 0 must be a power of 2");
  EXPECT_EQ(check(ints({-4})), "ValueError: Shape element 0 must be a power of 2");
  EXPECT_EQ(check(ints({1024, 2048})),
            "ValueError: numel (2097152) exceeds triton maximum tensor numel (1048576)");
  EXPECT_EQ(check(ints({int64_t(1) << 62, int64_t(1) << 62, int64_t(1) << 62})),
            "ValueError: numel (98079714615416886934934209737619787751599303819750539264) exceeds triton "
            "maximum tensor "
            "numel (1048576)");
  EXPECT_EQ(check(Value::tuple({number(1.5)})),
            "TypeError: Shape element 0 must have type `constexpr[int]`, got `constexpr[float]`");
  EXPECT_EQ(check(Value::tuple({number(4), tensor(ScalarKind::Int32)})),
            "TypeError: Shape element 1 must have type `constexpr[int]`, got `int32`");
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

TEST_F(SemanticTest, UnaryOperators) {
  auto apply = [&](UnaryOperator op, const Value &x) {
    builder.clear();
    return typeOrError(semantic.unaryOperator(op, x));
  };
  EXPECT_EQ(apply(UnaryOperator::USub, block(ScalarKind::FP16, {4})), "fp16[4]");
  EXPECT_EQ(builder.joinedLog(), "NegF : <[4], fp16>\n");
  EXPECT_EQ(apply(UnaryOperator::USub, tensor(ScalarKind::UInt8)), "uint8");
  EXPECT_EQ(builder.joinedLog(), "constant 0 : uint8\nSubI : uint8\n");
  EXPECT_EQ(apply(UnaryOperator::Invert, tensor(ScalarKind::Int64)), "int64");
  EXPECT_EQ(builder.log()[0], "constant 18446744073709551615 : int64");
  EXPECT_EQ(apply(UnaryOperator::Invert, tensor(ScalarKind::Int1)), "int1");
  EXPECT_EQ(builder.log()[0], "constant 1 : int1");
  EXPECT_EQ(apply(UnaryOperator::UAdd, tensor(ScalarKind::FP32)), "fp32");
  EXPECT_EQ(apply(UnaryOperator::Invert, tensor(ScalarKind::FP32)),
            "ValueError: wrong type argument to unary invert (triton.language.float32)");
  EXPECT_EQ(apply(UnaryOperator::USub, pointer(ScalarKind::FP32)),
            "ValueError: wrong type argument to unary minus (pointer<fp32>)");
  EXPECT_EQ(apply(UnaryOperator::UAdd, pointer(ScalarKind::FP32)),
            "ValueError: wrong type argument to unary plus (pointer<fp32>)");
  EXPECT_EQ(apply(UnaryOperator::USub, ints({1})), "UnsupportedLanguageConstruct: AST unary operator "
                                                   "'__neg__' is not (currently) implemented on type tuple");
  EXPECT_EQ(apply(UnaryOperator::Not, ints({1})), "False");
  EXPECT_EQ(apply(UnaryOperator::Not, number(0)), "True");
}

TEST_F(SemanticTest, LogicalOperators) {
  Value flag = tensor(ScalarKind::Int1), flags = block(ScalarKind::Int1, {8});
  EXPECT_EQ(typeOrError(semantic.logicalAnd(flag, flag)), "int1");
  EXPECT_EQ(typeOrError(semantic.logicalOr(flag, number(true))), "int1");
  EXPECT_EQ(typeOrError(semantic.logicalNot(flag)), "int1");
  EXPECT_EQ(typeOrError(semantic.logicalAnd(tensor(ScalarKind::Int32), flag)),
            "ValueError: Cannot bitcast data-type of size 32 to data-type of size 1");
  EXPECT_EQ(typeOrError(semantic.logicalNot(tensor(ScalarKind::Int8))),
            "ValueError: Cannot bitcast data-type of size 8 to data-type of size 1");
  Value both = semantic.logicalAnd(flags, flag);
  EXPECT_EQ(takeWarning(),
            "Logical operators 'and' and 'or' are deprecated for non-scalar tensors; please use '&' or "
            "'|' instead");
  EXPECT_EQ(both.str(), "int1[8]");
}

TEST_F(SemanticTest, OperatorsThatTensorsLack) {
  Value x = block(ScalarKind::FP32, {8});
  EXPECT_EQ(typeOrError(semantic.binaryOperator(BinaryOperator::Pow, x, number(2))),
            "AttributeError: 'tensor' object has no attribute '__pow__'");
  EXPECT_EQ(typeOrError(semantic.binaryOperator(BinaryOperator::MatMult, x, x)),
            "UnsupportedLanguageConstruct: AST binary operator 'MatMult' is not (currently) implemented.");
  EXPECT_EQ(typeOrError(semantic.binaryOperator(BinaryOperator::Add, x, number("a"))),
            "TypeError: cannot convert a of type <class 'str'> to tensor");
  EXPECT_EQ(typeOrError(semantic.binaryOperator(BinaryOperator::Add, Value::none(), x)),
            "TypeError: cannot convert None of type <class 'NoneType'> to tensor");
}

TEST_F(SemanticTest, ShiftsBeyondTheWidthWarn) {
  semantic.binaryOperator(BinaryOperator::LShift, tensor(ScalarKind::Int32), number(31));
  EXPECT_EQ(takeWarning(), "");
  semantic.binaryOperator(BinaryOperator::LShift, tensor(ScalarKind::Int32), number(32));
  EXPECT_EQ(
      takeWarning(),
      "Value 32 exceeds the maximum bitwidth (32) for type 'int32'. This may result in undefined behavior.");
}

TEST_F(SemanticTest, OverflowIsCheckedOnRequest) {
  Value x = tensor(ScalarKind::Int32), wide = tensor(ScalarKind::Int64);
  semantic.binaryOperator(BinaryOperator::Add, x, x);
  EXPECT_FALSE(builder.logged("assert int32 overflow detected for operation add"));
  target.sanitizeOverflow = target.debug = true;
  semantic.binaryOperator(BinaryOperator::Add, x, x);
  EXPECT_TRUE(builder.logged("assert int32 overflow detected for operation add")) << builder.joinedLog();
  semantic.binaryOperator(BinaryOperator::Mult, tensor(ScalarKind::UInt8), tensor(ScalarKind::UInt8));
  EXPECT_TRUE(builder.logged("assert uint8 overflow detected for operation mul"));
  builder.clear();
  semantic.binaryOperator(BinaryOperator::Sub, wide, wide);
  call("sub", {x, x, number(false)});
  EXPECT_EQ(builder.joinedLog(), "SubI : int64\nSubI : int32\n");
}

TEST_F(SemanticTest, Tuples) {
  Value a = ints({1, 2, 3}), x = tensor(ScalarKind::FP32);
  EXPECT_EQ(typeOrError(semantic.binaryOperator(BinaryOperator::Add, a, ints({4}))), "(1, 2, 3, 4)");
  EXPECT_EQ(typeOrError(semantic.binaryOperator(BinaryOperator::Mult, number(2), ints({4}))), "(4, 4)");
  EXPECT_EQ(typeOrError(semantic.binaryOperator(BinaryOperator::Mult, ints({4}), number(-2))), "()");
  EXPECT_EQ(typeOrError(semantic.binaryOperator(BinaryOperator::Mult, ints({4}), number(int64_t(1) << 40))),
            "OverflowError: repeated tuple is too long");
  EXPECT_EQ(typeOrError(semantic.binaryOperator(BinaryOperator::Sub, a, a)),
            "TypeError: unsupported operand type(s) for -: 'tuple' and 'tuple'");
  EXPECT_EQ(typeOrError(semantic.compareOperator(CompareOperator::Eq, a, ints({1, 2, 3}))), "True");
  EXPECT_EQ(typeOrError(semantic.compareOperator(CompareOperator::NotEq, a, ints({1, 2}))), "True");
  EXPECT_EQ(typeOrError(semantic.compareOperator(CompareOperator::Eq, Value::tuple({x}), Value::tuple({x}))),
            "TypeError: cannot compare tuples of run-time values at compile time");
  EXPECT_EQ(typeOrError(semantic.compareOperator(CompareOperator::Eq, Value::dtype(ScalarKind::FP32),
                                                 Value::dtype(ScalarKind::FP32))),
            "True");
  EXPECT_EQ(typeOrError(semantic.compareOperator(CompareOperator::Lt, a, number(1))),
            "TypeError: '<' not supported between instances of 'tuple' and 'int'");

  EXPECT_EQ(typeOrError(semantic.subscript(a, number(-1))), "3");
  EXPECT_EQ(typeOrError(semantic.subscript(a, Value::slice(number(1), Value::none(), Value::none()))),
            "(2, 3)");
  EXPECT_EQ(typeOrError(semantic.subscript(a, Value::slice(Value::none(), Value::none(), number(-1)))),
            "(3, 2, 1)");
  EXPECT_EQ(typeOrError(semantic.subscript(a, number(3))), "IndexError: tuple index out of range");
  EXPECT_EQ(typeOrError(semantic.subscript(a, x)),
            "TypeError: tuple indices must be integers or slices, not tensor");
  EXPECT_EQ(typeOrError(semantic.subscript(number("abc"), number(-2))), "'b'");
  EXPECT_EQ(typeOrError(semantic.subscript(number("abc"), number(7))),
            "IndexError: string index out of range");
  EXPECT_EQ(typeOrError(semantic.subscript(number(1), number(7))),
            "TypeError: 'int' object is not subscriptable");
}

TEST_F(SemanticTest, TensorSubscripts) {
  Value x = block(ScalarKind::FP32, {4, 8}), full = Value::slice(Value::none(), Value::none(), Value::none());
  EXPECT_EQ(typeOrError(semantic.subscript(x, Value::tuple({full, Value::none(), full}))), "fp32[4, 1, 8]");
  EXPECT_EQ(typeOrError(semantic.subscript(x, Value::none())), "fp32[1, 4, 8]");
  EXPECT_EQ(
      typeOrError(semantic.subscript(tensor(ScalarKind::FP32), Value::tuple({Value::none(), Value::none()}))),
      "fp32[1, 1]");
  EXPECT_EQ(typeOrError(semantic.subscript(x, number(0))),
            "ValueError: unsupported tensor index: constexpr[0]");
  EXPECT_EQ(typeOrError(semantic.subscript(x, Value::slice(number(0), number(2), Value::none()))),
            "ValueError: unsupported tensor index: slice(0, 2, None)");
  EXPECT_EQ(typeOrError(semantic.subscript(block(ScalarKind::FP32, {4}),
                                           Value::tuple({full, full, full, Value::none()}))),
            "ValueError: invalid axis 3. Expected -2 <= axis < 2");
}

//===----------------------------------------------------------------------===//
// Conditions and attributes
//===----------------------------------------------------------------------===//

TEST_F(SemanticTest, Conditions) {
  EXPECT_EQ(typeOrError(semantic.toCondition(tensor(ScalarKind::Int1))), "int1");
  EXPECT_EQ(typeOrError(semantic.toCondition(tensor(ScalarKind::Int32))), "int1");
  EXPECT_EQ(typeOrError(semantic.toCondition(tensor(ScalarKind::FP32))), "int1");
  EXPECT_EQ(typeOrError(semantic.toCondition(block(ScalarKind::Int1, {2}))),
            "UnsupportedLanguageConstruct: Boolean value of Tensor with more than one value is ambiguous");
  Value one = semantic.toCondition(block(ScalarKind::Int1, {1, 1}));
  EXPECT_NE(takeWarning().find("tensor.item()"), std::string::npos);
  EXPECT_EQ(one.str(), "int1");
}

TEST_F(SemanticTest, TensorAttributes) {
  Value x = block(ScalarKind::FP16, {4, 8});
  auto get = [&](const Value &value, const char *name) {
    return typeOrError(semantic.attribute(value, name));
  };
  EXPECT_EQ(get(x, "shape"), "(4, 8)");
  EXPECT_EQ(get(x, "dtype"), "fp16");
  EXPECT_EQ(get(x, "type"), "<[4, 8], fp16>");
  EXPECT_EQ(get(x, "numel"), "32");
  EXPECT_EQ(get(x, "T"), "fp16[8, 4]");
  EXPECT_EQ(get(tensor(ScalarKind::Int32), "shape"), "()");
  EXPECT_EQ(get(block(ScalarKind::FP16, {4}), "T"),
            "ValueError: tl.trans invoked with a 0- or 1-dimensional tensor");
  EXPECT_EQ(get(x, "nothing"), "AttributeError: 'tensor' object has no attribute 'nothing'");
  Value to = semantic.attribute(x, "to");
  ASSERT_EQ(to.kind(), Value::Kind::BoundMethod);
  EXPECT_TRUE(to.boundMethod().self.identical(x));
  // An integer specialised to a constant answers like the scalar it stands for.
  EXPECT_EQ(semantic.attribute(number(1), "to").kind(), Value::Kind::BoundMethod);
  EXPECT_EQ(get(number(1), "dtype"), "int32");
  EXPECT_EQ(get(number(1), "value"), "1");
  EXPECT_EQ(get(number("a"), "to"), "AttributeError: 'str' object has no attribute 'to'");
  EXPECT_EQ(get(Value::tuple({number(1), number(2)}, {"x", "y"}, "Pair"), "y"), "2");
  EXPECT_EQ(get(Value::tuple({number(1)}, {"x"}, "Pair"), "z"),
            "AttributeError: 'Pair' object has no attribute 'z'");
}

TEST_F(SemanticTest, TypeAttributes) {
  Value fp16 = Value::dtype(ScalarKind::FP16), p = Value::dtype(Type::pointer(ScalarKind::UInt8, true));
  auto get = [&](const Value &value, const char *name) {
    return typeOrError(semantic.attribute(value, name));
  };
  auto ask = [&](const Value &value, const char *name) {
    Value method = semantic.attribute(value, name);
    if (method.kind() != Value::Kind::BoundMethod)
      return takeError();
    return typeOrError(semantic.callBuiltin(*method.boundMethod().callee.builtin(), {value}, {}));
  };
  EXPECT_EQ(get(fp16, "primitive_bitwidth"), "16");
  EXPECT_EQ(get(fp16, "itemsize"), "2");
  EXPECT_EQ(get(fp16, "fp_mantissa_width"), "10");
  EXPECT_EQ(get(fp16, "exponent_bias"), "15");
  EXPECT_EQ(get(fp16, "name"), "'fp16'");
  EXPECT_EQ(get(p, "element_ty"), "uint8");
  EXPECT_EQ(get(fp16, "element_ty"), "AttributeError: 'dtype' object has no attribute 'element_ty'");
  EXPECT_EQ(get(Value::dtype(ScalarKind::UInt16), "int_bitwidth"), "16");
  EXPECT_EQ(ask(fp16, "is_fp16"), "True");
  EXPECT_EQ(ask(fp16, "is_fp32"), "False");
  EXPECT_EQ(ask(p, "is_ptr"), "True");
  EXPECT_EQ(ask(p, "is_int"), "False");
  EXPECT_EQ(ask(p, "is_const"), "True");
  EXPECT_EQ(ask(Value::dtype(ScalarKind::Int1), "is_int_unsigned"), "True");
  EXPECT_EQ(ask(Value::dtype(ScalarKind::Int8), "get_int_min_value"), "-128");
  EXPECT_EQ(ask(Value::dtype(ScalarKind::UInt64), "get_int_max_value"), "18446744073709551615");
  EXPECT_EQ(ask(fp16, "get_int_max_value"), "AssertionError: fp16 is not an integer type");
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

TEST_F(SemanticTest, ArgumentBinding) {
  EXPECT_EQ(typeOrError(call("arange", {number(0)})),
            "TypeError: arange() missing 1 required positional argument: 'end'");
  EXPECT_EQ(typeOrError(call("full", {})),
            "TypeError: full() missing 3 required positional arguments: 'shape', 'value', and 'dtype'");
  EXPECT_EQ(typeOrError(call("arange", {number(0), number(1), number(2)})),
            "TypeError: arange() takes 2 positional arguments but 3 were given");
  EXPECT_EQ(typeOrError(call("fdiv", {number(0), number(1), number(2), number(3)})),
            "TypeError: fdiv() takes from 2 to 3 positional arguments but 4 were given");
  EXPECT_EQ(typeOrError(call("arange", {number(0)}, {{"stop", number(4)}})),
            "TypeError: arange() got an unexpected keyword argument 'stop'");
  EXPECT_EQ(typeOrError(call("arange", {number(0), number(4)}, {{"end", number(4)}})),
            "TypeError: arange() got multiple values for argument 'end'");
  EXPECT_EQ(typeOrError(call("arange", {}, {{"end", number(4)}, {"start", number(0)}})), "int32[4]");
}

TEST_F(SemanticTest, ErrorsOfBuiltinsAreMarked) {
  call("arange", {number(0)});
  ASSERT_NE(diags.firstError(), nullptr);
  EXPECT_TRUE(diags.firstError()->fromBuiltin);
  diags.clear();
  semantic.binaryOperator(BinaryOperator::Add, number(1), number("a"));
  ASSERT_NE(diags.firstError(), nullptr);
  EXPECT_FALSE(diags.firstError()->fromBuiltin);
}

TEST_F(SemanticTest, UnsupportedNamesSaySo) {
  const BuiltinDef planned = {"language.extra.planned", {}, "Not supported yet."};
  EXPECT_EQ(typeOrError(semantic.callBuiltin(planned, {}, {})),
            "NotImplementedError: 'tl.extra.planned' is not supported yet");
}

} // namespace
