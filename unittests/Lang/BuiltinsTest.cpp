//===- BuiltinsTest.cpp - The functions of the language -------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "MockBuilder.h"

#include "llvm/ADT/SmallVector.h"

#include <cmath>

using namespace despina;
using namespace despina::test;

namespace {

class BuiltinsTest : public SemanticTest {
protected:
  std::string result(const char *name, std::vector<Value> args, Keywords keywords = {}) {
    builder.clear();
    return typeOrError(call(name, std::move(args), std::move(keywords)));
  }
  Value fp32(std::vector<int64_t> shape = {}) { return tensor(Type(ScalarKind::FP32).withShape(shape)); }
  Value i32(std::vector<int64_t> shape = {}) { return tensor(Type(ScalarKind::Int32).withShape(shape)); }
  Value flags(std::vector<int64_t> shape = {}) { return tensor(Type(ScalarKind::Int1).withShape(shape)); }
  static Value dtype(ScalarKind kind) { return Value::dtype(kind); }
};

//===----------------------------------------------------------------------===//
// The registry
//===----------------------------------------------------------------------===//

TEST_F(BuiltinsTest, EveryPublicNameIsKnown) {
  const char names[] =
      "dtype pointer_type block_type void int1 int8 int16 int32 int64 uint8 uint16 uint32 uint64 float8e4b15 "
      "float8e4nv "
      "float8e4b8 float8e5 float8e5b16 float16 bfloat16 float32 float64 pi32_t tensor tuple slice constexpr "
      "constexpr_type const tensor_descriptor PropagateNan TRITON_MAX_TENSOR_NUMEL program_id num_programs "
      "arange full "
      "zeros zeros_like cat cast to_tensor broadcast broadcast_to expand_dims reshape view ravel trans "
      "permute join "
      "split interleave flip squeeze unsqueeze dot dot_scaled load store make_block_ptr advance "
      "make_tensor_descriptor "
      "load_tensor_descriptor store_tensor_descriptor atomic_add atomic_and atomic_cas atomic_max atomic_min "
      "atomic_or "
      "atomic_xchg atomic_xor abs add sub mul fdiv div_rn fma floor ceil exp exp2 log log2 sin cos sqrt "
      "sqrt_rn rsqrt "
      "erf sigmoid softmax umulhi cdiv clamp maximum minimum where expect_zero reduce sum max min argmax "
      "argmin xor_sum "
      "reduce_or associative_scan cumsum cumprod histogram sort topk bitonic_merge gather map_elementwise "
      "philox "
      "philox_impl rand rand4x randint randint4x randn randn4x pair_uniform_to_normal uint_to_uniform_float "
      "multiple_of "
      "max_contiguous max_constancy assume debug_barrier static_print static_assert device_print "
      "device_assert range "
      "static_range condition inline_asm_elementwise swizzle2d math extra target_info core standard random";
  llvm::SmallVector<llvm::StringRef, 160> all;
  llvm::StringRef(names).split(all, ' ');
  for (llvm::StringRef name : all) {
    EXPECT_TRUE(languageAttribute("triton.language", name)) << name.str();
    EXPECT_TRUE(languageAttribute("despina.language", name)) << name.str();
  }
  EXPECT_FALSE(languageAttribute("triton.language", "no_such_function"));
  EXPECT_FALSE(languageAttribute("numpy", "exp"));
  EXPECT_FALSE(isLanguageModule("triton.languages"));
  EXPECT_TRUE(isLanguageModule("triton.language.extra.cuda.libdevice"));
  for (const char *module : {"triton.language.math", "triton.language.core", "triton.language.standard"})
    EXPECT_EQ(languageAttribute(module, "exp")->builtin(), findBuiltin("language.exp")) << module;
  EXPECT_EQ(languageAttribute("triton", "cdiv")->builtin(), findBuiltin("cdiv"));
  EXPECT_EQ(languageAttribute("triton", "language")->kind(), Value::Kind::Module);
}

TEST_F(BuiltinsTest, TheRegistryIsSound) {
  llvm::ArrayRef<BuiltinDef> all = allBuiltins();
  for (size_t i = 0; i < all.size(); ++i) {
    if (i)
      EXPECT_LT(llvm::StringRef(all[i - 1].path), llvm::StringRef(all[i].path));
    EXPECT_EQ(findBuiltin(all[i].path), &all[i]);
    EXPECT_STRNE(all[i].doc, "") << all[i].path;
    for (const ParamDef &param : all[i].params)
      EXPECT_FALSE(param.variadic && param.defaultText) << all[i].path;
  }
  for (const char *member : {"broadcast_to", "trans",       "permute",
                             "split",        "view",        "reshape",
                             "item",         "expand_dims", "cast",
                             "store",        "advance",     "atomic_add",
                             "exp",          "exp2",        "log",
                             "log2",         "cos",         "sin",
                             "sqrt",         "sqrt_rn",     "rsqrt",
                             "abs",          "erf",         "floor",
                             "ceil",         "reduce",      "associative_scan",
                             "gather",       "histogram",   "cdiv",
                             "sigmoid",      "softmax",     "ravel",
                             "max",          "argmax",      "min",
                             "argmin",       "sum",         "xor_sum",
                             "reduce_or",    "cumsum",      "cumprod",
                             "sort",         "flip",        "to"})
    EXPECT_NE(findTensorMember(member), nullptr) << member;
  EXPECT_EQ(findTensorMember("arange"), nullptr);
}

TEST_F(BuiltinsTest, UnavailablePythonFunctions) {
  for (const char *name :
       {"abs", "sum", "round", "tuple", "bool", "str", "zip", "enumerate", "map", "any", "all"})
    EXPECT_EQ(findBuiltin(std::string("builtins.") + name), nullptr) << name;
}

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

TEST_F(BuiltinsTest, Programs) {
  EXPECT_EQ(result("program_id", {number(1)}), "int32");
  EXPECT_TRUE(builder.logged("program_id 1 : int32"));
  EXPECT_EQ(result("num_programs", {}, {{"axis", number(2)}}), "int32");
  EXPECT_EQ(result("program_id", {number(3)}), "ValueError: program_id axis must be 0, 1, or 2 but got 3");
  EXPECT_EQ(result("num_programs", {number(-1)}),
            "ValueError: num_programs axis must be 0, 1, or 2 but got -1");
  EXPECT_EQ(result("program_id", {i32()}), "TypeError: axis must be a constexpr integer, got int32");
}

TEST_F(BuiltinsTest, Arange) {
  EXPECT_EQ(result("arange", {number(0), number(16)}), "int32[16]");
  EXPECT_EQ(result("arange", {number(3), number(19)}), "int32[16]");
  EXPECT_EQ(result("arange", {number(-8), number(0)}), "int32[8]");
  EXPECT_EQ(result("arange", {number(0), number(12)}), "ValueError: arange's range must be a power of 2");
  EXPECT_EQ(result("arange", {number(4), number(4)}),
            "ValueError: arange's end argument must be greater than the start argument");
  EXPECT_EQ(result("arange", {number(0), i32()}),
            "ValueError: arange's arguments must be of type tl.constexpr");
  EXPECT_EQ(result("arange", {number(0), number(1.0)}),
            "ValueError: arange's arguments must be of type tl.constexpr");
  EXPECT_EQ(result("arange", {number(0), number(int64_t(1) << 31)}), "ValueError: arange must fit in int32");
  EXPECT_EQ(result("arange", {number(0), number(1 << 21)}),
            "ValueError: numel (2097152) exceeds triton maximum tensor numel (1048576)");
}

TEST_F(BuiltinsTest, Filling) {
  EXPECT_EQ(result("full", {ints({4, 8}), number(1.5), dtype(ScalarKind::FP16)}), "fp16[4, 8]");
  EXPECT_EQ(builder.joinedLog(), "constant 1.5 : <[4, 8], fp16>\n");
  EXPECT_EQ(result("full", {ints({}), number(7), dtype(ScalarKind::UInt8)}), "uint8");
  EXPECT_EQ(result("full", {ints({4}), number(-1), dtype(ScalarKind::UInt8)}), "uint8[4]");
  EXPECT_EQ(builder.joinedLog(), "constant 255 : <[4], uint8>\n");
  EXPECT_EQ(result("full", {ints({4}), number(256), dtype(ScalarKind::UInt8)}),
            "ValueError: Scalar 256 is out of range for type uint8");
  EXPECT_EQ(result("full", {ints({4}), number(1.5), dtype(ScalarKind::Int32)}),
            "TypeError: cannot make a constant of type int32 from the float 1.5");
  EXPECT_EQ(result("full", {ints({4}), number(HUGE_VAL), dtype(ScalarKind::Int32)}),
            "TypeError: cannot make a constant of type int32 from the float inf");
  EXPECT_EQ(result("full", {ints({4}), fp32(), dtype(ScalarKind::FP16)}), "fp16[4]");
  EXPECT_EQ(result("full", {ints({4}), fp32({1}), dtype(ScalarKind::FP32)}), "fp32[4]");
  EXPECT_EQ(result("full", {ints({4}), fp32({2}), dtype(ScalarKind::FP32)}),
            "AssertionError: only accepts size-1 tensor");
  EXPECT_EQ(result("full", {ints({4}), number(1), number(3)}), "TypeError: dtype must be a dtype, got 3");
  EXPECT_EQ(result("zeros", {ints({2, 2}), dtype(ScalarKind::FP8E5)}), "fp8e5[2, 2]");
  EXPECT_EQ(result("zeros", {ints({3}), dtype(ScalarKind::FP32)}),
            "ValueError: Shape element 0 must be a power of 2");
  EXPECT_EQ(result("zeros_like", {block(ScalarKind::Int16, {8})}), "int16[8]");
  EXPECT_EQ(result("to_tensor", {number(3)}), "int32");
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

TEST_F(BuiltinsTest, ShapeFunctions) {
  Value x = fp32({4, 8});
  EXPECT_EQ(result("expand_dims", {x, number(-1)}), "fp32[4, 8, 1]");
  EXPECT_EQ(result("expand_dims", {x, ints({0, 3})}), "fp32[1, 4, 8, 1]");
  EXPECT_EQ(result("expand_dims", {x, number(3)}), "ValueError: invalid axis 3. Expected -3 <= axis < 3");
  EXPECT_EQ(result("expand_dims", {x, ints({0, -4})}),
            "ValueError: expand_dims received duplicate axes: [0, -4]");
  EXPECT_EQ(result("reshape", {x, ints({2, 16})}), "fp32[2, 16]");
  EXPECT_EQ(result("reshape", {x, number(32)}), "fp32[32]");
  EXPECT_EQ(result("reshape", {fp32({1, 1}), ints({})}), "fp32");
  EXPECT_EQ(result("reshape", {fp32(), ints({1, 1})}), "fp32[1, 1]");
  EXPECT_EQ(result("reshape", {x, ints({4})}),
            "ValueError: reshape() cannot change total number of elements in tensor");
  EXPECT_EQ(result("ravel", {x}), "fp32[32]");
  EXPECT_EQ(result("trans", {x}), "fp32[8, 4]");
  EXPECT_EQ(result("trans", {fp32({2, 4, 8})}), "fp32[2, 8, 4]");
  EXPECT_EQ(result("trans", {fp32({2, 4, 8}), number(2), number(0), number(1)}), "fp32[8, 2, 4]");
  EXPECT_EQ(result("permute", {x, ints({-1, 0})}), "fp32[8, 4]");
  EXPECT_EQ(result("trans", {fp32({4})}), "ValueError: tl.trans invoked with a 0- or 1-dimensional tensor");
  EXPECT_EQ(result("permute", {x, ints({0, 0})}),
            "ValueError: permute dims must be a permutation of 0, 1, ..., n-1, but were [0, 0]");
  EXPECT_EQ(result("permute", {x, ints({0})}),
            "ValueError: permute dims must have the same length as input shape");
  EXPECT_EQ(result("broadcast_to", {fp32({4, 1}), number(4), number(8)}), "fp32[4, 8]");
  EXPECT_EQ(result("broadcast", {fp32({4, 1}), fp32({8})}), "(fp32[4, 8], fp32[4, 8])");
  EXPECT_EQ(result("squeeze", {fp32({4, 1}), number(1)}), "fp32[4]");
  EXPECT_EQ(result("squeeze", {x, number(1)}), "ValueError: squeeze: dimension 1 has extent 8, not 1");
  EXPECT_EQ(result("unsqueeze", {x, number(1)}), "fp32[4, 1, 8]");
}

TEST_F(BuiltinsTest, JoinSplitCat) {
  Value x = fp32({4, 8});
  EXPECT_EQ(result("join", {x, x}), "fp32[4, 8, 2]");
  EXPECT_EQ(result("join", {fp32(), fp32()}), "fp32[2]");
  EXPECT_EQ(result("join", {x, i32({4, 8})}),
            "TypeError: join needs operands of one dtype, got fp32 and int32");
  EXPECT_EQ(result("split", {fp32({4, 2})}), "(fp32[4], fp32[4])");
  EXPECT_EQ(result("split", {fp32({2})}), "(fp32, fp32)");
  EXPECT_EQ(result("split", {x}), "ValueError: split: last dimension must have size 2, got shape [4, 8]");
  EXPECT_EQ(result("split", {fp32()}), "ValueError: split needs a tensor with at least one dimension");
  EXPECT_EQ(result("interleave", {x, x}), "fp32[4, 16]");
  EXPECT_EQ(result("interleave", {fp32(), fp32()}), "fp32[2]");
  EXPECT_EQ(result("cat", {fp32({8}), fp32({8})}), "fp32[16]");
  EXPECT_EQ(result("cat", {x, x}, {{"dim", number(1)}}), "fp32[4, 16]");
  EXPECT_EQ(builder.log().back(), "transpose 1 0 : <[4, 16], fp32>");
  EXPECT_EQ(result("cat", {fp32({8}), fp32({4})}), "ValueError: Shape element 0 must be a power of 2");
  EXPECT_EQ(result("cat", {x, fp32({4, 4})}),
            "ValueError: cat needs equal extents outside of dim 0, got shapes [4, 8] and [4, 4]");
  EXPECT_EQ(result("cat", {fp32(), fp32()}),
            "ValueError: cat needs blocks of one rank, got shapes [] and []");
}

//===----------------------------------------------------------------------===//
// Math
//===----------------------------------------------------------------------===//

TEST_F(BuiltinsTest, DtypesOfMathFunctions) {
  for (const char *name :
       {"exp", "exp2", "log", "log2", "sin", "cos", "sqrt", "rsqrt", "erf", "floor", "ceil"}) {
    EXPECT_EQ(result(name, {fp32({8})}), "fp32[8]");
    EXPECT_EQ(result(name, {tensor(ScalarKind::FP64)}), "fp64");
    for (ScalarKind kind : {ScalarKind::FP16, ScalarKind::BF16, ScalarKind::Int32})
      EXPECT_EQ(result(name, {tensor(kind)}),
                std::string("ValueError: Expected dtype ['fp32', 'fp64'] but got ") + scalarInfo(kind).name);
  }
  EXPECT_EQ(result("sqrt_rn", {tensor(ScalarKind::FP64)}),
            "ValueError: Expected dtype ['fp32'] but got fp64");
  EXPECT_EQ(result("div_rn", {tensor(ScalarKind::FP64), fp32()}),
            "ValueError: Expected dtype ['fp32'] but got fp64");
  EXPECT_EQ(result("div_rn", {fp32({8}), fp32()}), "fp32[8]");
  EXPECT_EQ(result("umulhi", {i32({8}), i32()}), "int32[8]");
  EXPECT_EQ(result("umulhi", {tensor(ScalarKind::Int16), i32()}),
            "ValueError: Expected dtype ['int32', 'int64', 'uint32', 'uint64'] but got int16");
  EXPECT_EQ(result("fdiv", {fp32(), i32()}),
            "TypeError: both operands of fdiv must have floating scalar type");
  EXPECT_EQ(result("fdiv", {fp32(), fp32(), number(true)}), "fp32");
  EXPECT_EQ(builder.joinedLog(), "PreciseDivF : fp32\n");
}

TEST_F(BuiltinsTest, AbsAndFma) {
  EXPECT_EQ(result("abs", {tensor(ScalarKind::FP16)}), "fp16");
  EXPECT_EQ(builder.joinedLog(), "AbsF : fp16\n");
  EXPECT_EQ(result("abs", {tensor(ScalarKind::Int8)}), "int8");
  EXPECT_EQ(builder.joinedLog(), "AbsI : int8\n");
  EXPECT_EQ(result("abs", {tensor(ScalarKind::UInt8)}), "uint8");
  EXPECT_EQ(builder.joinedLog(), "");
  EXPECT_EQ(result("abs", {pointer(ScalarKind::Int8)}), "AssertionError: Unexpected dtype pointer<int8>");
  EXPECT_EQ(result("fma", {fp32({8}), tensor(ScalarKind::FP16), number(1.0)}), "fp32[8]");
  EXPECT_EQ(result("fma", {i32(), i32(), i32()}),
            "TypeError: Unexpected dtype int32. Only floating point fma is supported");
}

TEST_F(BuiltinsTest, MinimaAndMaxima) {
  Value all = *languageAttribute("triton.language.PropagateNan", "ALL");
  EXPECT_EQ(result("maximum", {fp32({8}), number(0)}), "fp32[8]");
  EXPECT_TRUE(builder.logged("MaxNumF : <[8], fp32>")) << builder.joinedLog();
  EXPECT_EQ(result("minimum", {fp32(), fp32()}, {{"propagate_nan", all}}), "fp32");
  EXPECT_EQ(builder.joinedLog(), "MinimumF : fp32\n");
  EXPECT_EQ(result("maximum", {tensor(ScalarKind::BF16), tensor(ScalarKind::BF16)}), "fp32");
  EXPECT_EQ(result("maximum", {tensor(ScalarKind::UInt8), tensor(ScalarKind::UInt8)}), "uint8");
  EXPECT_EQ(builder.joinedLog(), "MaxUI : uint8\n");
  EXPECT_EQ(result("maximum", {fp32(), fp32(), number(1)}),
            "ValueError: propagate_nan must be tl.PropagateNan.NONE or tl.PropagateNan.ALL, got 1");
  EXPECT_EQ(result("clamp", {fp32({8}), number(0.0), number(1.0)}), "fp32[8]");
  EXPECT_EQ(result("clamp", {i32(), number(0), number(1)}),
            "TypeError: Unexpected dtype int32. Only floating point clamp is supported");
  EXPECT_EQ(result("where", {flags({8}), fp32(), number(0)}), "fp32[8]");
  EXPECT_EQ(result("where", {flags(), number(1), number(0)}), "int32");
  EXPECT_EQ(result("where", {flags({4, 1}), fp32({8}), pointer(ScalarKind::FP32)}),
            "TypeError: invalid operands of type pointer<fp32> and triton.language.float32");
  EXPECT_EQ(result("where", {flags({8}), pointer(ScalarKind::FP32), pointer(ScalarKind::FP32)}),
            "pointer<fp32>[8]");
  call("where", {i32(), fp32(), fp32()});
  EXPECT_EQ(takeWarning(),
            "tl.where with a non-boolean condition is deprecated and will error out in a future triton "
            "release. Got int32");
}

TEST_F(BuiltinsTest, RoundedDivision) {
  EXPECT_EQ(result("cdiv", {number(10), number(4)}), "3");
  EXPECT_EQ(result("cdiv", {number(-10), number(4)}), "-2");
  EXPECT_EQ(result("cdiv", {i32(), number(4)}), "int32");
  EXPECT_EQ(result("cdiv", {number(4), number(0)}), "ZeroDivisionError: integer division or modulo by zero");
  const BuiltinDef *power = findBuiltin("next_power_of_2");
  ASSERT_NE(power, nullptr);
  for (auto [n, expected] : {std::pair(0, 0), {1, 1}, {2, 2}, {3, 4}, {1000, 1024}, {1024, 1024}})
    EXPECT_EQ(typeOrError(semantic.callBuiltin(*power, {number(n)}, {})), std::to_string(expected));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

TEST_F(BuiltinsTest, Loads) {
  Value p = pointer(ScalarKind::FP16), blocks = pointer(ScalarKind::FP16, {8});
  EXPECT_EQ(result("load", {p}), "fp16");
  EXPECT_EQ(result("load", {blocks, flags({8}), number(0.0)}), "fp16[8]");
  EXPECT_EQ(builder.log().back(), "load mask other : <[8], fp16>");
  EXPECT_EQ(result("load", {blocks, number(true)}), "fp16[8]");
  EXPECT_EQ(result("load", {blocks, flags({4, 1})}), "fp16[4, 8]");
  EXPECT_EQ(result("load", {blocks, flags({8}), fp32({4, 1})}), "fp16[4, 8]");
  EXPECT_EQ(result("load", {pointer(ScalarKind::Int1, {8}), flags({8}), number(true)}), "int1[8]");
  EXPECT_EQ(result("load", {blocks, Value::none(), number(0)}),
            "ValueError: `other` cannot be provided without `mask`");
  EXPECT_EQ(result("load", {p, flags({8})}),
            "ValueError: Mask argument cannot be block type if pointer argument is not a block");
  EXPECT_EQ(result("load", {p, flags(), fp32({8})}),
            "ValueError: Other argument cannot be block type if pointer argument is not a block");
  EXPECT_EQ(result("load", {blocks, i32({8})}), "ValueError: Mask must have boolean scalar type");
  EXPECT_EQ(result("load", {i32({8})}), "ValueError: Unsupported ptr type <[8], int32> in `tl.load`");
  EXPECT_EQ(result("load", {number(3)}), "ValueError: Unsupported ptr type int in `tl.load`");
  EXPECT_EQ(result("load", {blocks}, {{"cache_modifier", number(".wb")}}),
            "ValueError: Cache modifier .wb not supported");
  EXPECT_EQ(result("load", {blocks}, {{"eviction_policy", number("never")}}),
            "ValueError: Eviction policy never not supported");
  EXPECT_EQ(result("load", {blocks},
                   {{"cache_modifier", number(".cg")},
                    {"eviction_policy", number("evict_last")},
                    {"volatile", number(true)}}),
            "fp16[8]");
  EXPECT_EQ(builder.log().back(), "load cache2 evict2 volatile : <[8], fp16>");
  EXPECT_NE(result("load", {blocks}, {{"boundary_check", ints({0})}}).find("ValueError: `padding_option`"),
            std::string::npos);
  EXPECT_EQ(result("load", {blocks, flags({16})}),
            "ValueError: Cannot make_shape_compatible: incompatible dimensions at index 0: 8 and 16");
}

TEST_F(BuiltinsTest, Stores) {
  Value p = pointer(ScalarKind::FP16), blocks = pointer(ScalarKind::FP16, {8});
  EXPECT_EQ(result("store", {blocks, fp32()}), "None");
  EXPECT_EQ(builder.log().back(), "store : <[8], fp16>");
  EXPECT_EQ(result("store", {blocks, number(0), flags()}), "None");
  EXPECT_EQ(builder.log().back(), "store mask : <[8], fp16>");
  EXPECT_EQ(result("store", {pointer(ScalarKind::Int1, {8}), i32({8})}), "None");
  EXPECT_EQ(builder.log().back(), "store : <[8], int8>");
  EXPECT_EQ(result("store", {blocks, fp32({4, 8})}),
            "ValueError: Expected pointer argument to have shape [4, 8] but got [8]");
  EXPECT_EQ(result("store", {p, fp32({8})}),
            "ValueError: Value argument cannot be block type if pointer argument is not a block");
  EXPECT_EQ(result("store", {p, fp32(), flags({8})}),
            "ValueError: Mask argument cannot be block type if pointer argument is not a block");
  EXPECT_EQ(result("store", {blocks, fp32({8}), i32({8})}), "ValueError: Mask must have boolean scalar type");
  EXPECT_EQ(result("store", {pointer(ScalarKind::FP16, {8}, true), fp32({8})}),
            "ValueError: Cannot store to a constant pointer");
  EXPECT_EQ(result("store", {fp32({8}), fp32({8})}),
            "ValueError: Unsupported ptr type <[8], fp32> in `tl.store`");
  EXPECT_EQ(result("store", {blocks, fp32({8})}, {{"cache_modifier", number(".ca")}}),
            "ValueError: Cache modifier .ca not supported");
}

TEST_F(BuiltinsTest, BlockPointers) {
  Value base = pointer(ScalarKind::FP16);
  auto make = [&](Value order) {
    return call("make_block_ptr", {base, Value::tuple({i32(), number(64)}), Value::tuple({i32(), number(1)}),
                                   ints({0, 0}), ints({16, 32}), order});
  };
  Value p = make(ints({1, 0}));
  ASSERT_TRUE(p) << takeError();
  EXPECT_EQ(result("load", {p}), "fp16[16, 32]");
  EXPECT_EQ(builder.joinedLog().find("mask"), std::string::npos);
  EXPECT_EQ(result("load", {p}, {{"boundary_check", ints({0, 1})}, {"padding_option", number("zero")}}),
            "fp16[16, 32]");
  EXPECT_EQ(builder.log().back(), "load mask other : <[16, 32], fp16>");
  EXPECT_EQ(result("store", {p, fp32({16, 32})}, {{"boundary_check", ints({1})}}), "None");
  EXPECT_EQ(builder.log().back(), "store mask : <[16, 32], fp16>");
  Value moved = call("advance", {p, ints({0, 32})});
  ASSERT_TRUE(moved) << takeError();
  EXPECT_TRUE(
      moved.tuple().elements[3].tuple().elements[0].identical(p.tuple().elements[3].tuple().elements[0]));
  EXPECT_FALSE(
      moved.tuple().elements[3].tuple().elements[1].identical(p.tuple().elements[3].tuple().elements[1]));
  EXPECT_EQ(typeOrError(semantic.attribute(semantic.attribute(p, "dtype"), "element_ty")), "fp16");
  EXPECT_TRUE(findBuiltin("language.advance")->mustUseResult);

  EXPECT_EQ(typeOrError(make(ints({0, 0}))),
            "ValueError: Expected a permutation of (0, 1, ..., len(order)-1) in order");
  EXPECT_EQ(
      result("make_block_ptr", {base, ints({64}), ints({1, 1}), ints({0, 0}), ints({16, 32}), ints({1, 0})}),
      "ValueError: Expected shape/strides/offsets/block_shape to have the same length");
  EXPECT_EQ(result("load", {p, flags()}),
            "ValueError: `mask` and `other` arguments cannot be specified for loading block pointers");
  EXPECT_EQ(result("load", {p}, {{"boundary_check", ints({2})}}),
            "ValueError: boundary_check must be in range [0, 2), got 2");
  EXPECT_EQ(result("load", {p}, {{"boundary_check", ints({1, 1})}}),
            "ValueError: Duplicate dimension in `boundary_check`");
  EXPECT_EQ(result("load", {p}, {{"padding_option", number("one")}}),
            "ValueError: Padding option one not supported");
  EXPECT_EQ(result("advance", {base, ints({0})}),
            "ValueError: Expected `base` to be a block pointer, got pointer<fp16>");

  // A block pointer survives a loop: flattened to its run-time parts and put together again.
  llvm::SmallVector<TensorValue, 8> leaves;
  flatten(moved, leaves);
  EXPECT_EQ(leaves.size(), 7u);
  llvm::SmallVector<Handle, 8> handles;
  for (const TensorValue &leaf : leaves)
    handles.push_back(builder.argument(leaf.type));
  llvm::ArrayRef<Handle> rest = handles;
  Value rebuilt = unflatten(moved, rest);
  EXPECT_TRUE(rest.empty());
  EXPECT_EQ(rebuilt.str(), moved.str());
}

TEST_F(BuiltinsTest, Atomics) {
  Value p = pointer(ScalarKind::Int32, {8});
  EXPECT_EQ(result("atomic_add", {p, number(1)}), "int32[8]");
  EXPECT_EQ(builder.log().back(), "atomic Add 3 0 : <[8], int32>");
  EXPECT_EQ(result("atomic_max",
                   {pointer(ScalarKind::UInt32), number(1), flags(), number("relaxed"), number("sys")}),
            "uint32");
  EXPECT_EQ(builder.log().back(), "atomic UMax mask 0 2 : int32");
  EXPECT_EQ(result("atomic_add", {pointer(ScalarKind::BF16, {8}), fp32({8})}), "bf16[8]");
  EXPECT_EQ(result("atomic_max", {pointer(ScalarKind::FP32, {8}), fp32({8})}), "fp32[8]");
  EXPECT_TRUE(builder.logged("atomic Max mask 3 0 : <[8], int32>")) << builder.joinedLog();
  EXPECT_TRUE(builder.logged("atomic UMin mask 3 0 : <[8], int32>"));
  EXPECT_EQ(result("atomic_min", {pointer(ScalarKind::FP64), fp32(), flags()}), "fp64");
  EXPECT_EQ(result("atomic_xchg", {pointer(ScalarKind::FP32), fp32()}), "fp32");
  for (ScalarKind kind :
       {ScalarKind::Int1, ScalarKind::Int8, ScalarKind::Int16, ScalarKind::UInt16, ScalarKind::FP8E5})
    EXPECT_EQ(result("atomic_add", {pointer(kind), number(1)}),
              std::string("ValueError: atomic_add does not support ") + scalarInfo(kind).name);
  EXPECT_EQ(result("atomic_max", {pointer(ScalarKind::FP16), fp32()}),
            "ValueError: atomic_max does not support fp16");
  EXPECT_EQ(result("atomic_and", {pointer(ScalarKind::FP32), fp32()}),
            "ValueError: atomic_and does not support fp32");
  EXPECT_EQ(result("atomic_add", {p, number(1), Value::none(), number("strong")}),
            "ValueError: Memory semantic strong not supported");
  EXPECT_EQ(result("atomic_add", {pointer(ScalarKind::Int32, {}, true), number(1)}),
            "ValueError: Cannot store to a constant pointer");
  EXPECT_EQ(result("atomic_add", {i32(), number(1)}),
            "ValueError: Pointer argument of atomic_add is triton.language.int32, not a pointer");
  EXPECT_EQ(result("atomic_add", {p, number(1), i32({8})}), "ValueError: Mask must have boolean scalar type");
  EXPECT_EQ(result("atomic_add", {p, i32({4, 8})}),
            "ValueError: Expected pointer argument to have shape [4, 8] but got [8]");
  EXPECT_EQ(result("atomic_cas", {pointer(ScalarKind::Int32), number(0), number(1)}), "int32");
  EXPECT_EQ(result("atomic_cas", {pointer(ScalarKind::Int64), number(0), number(1)}),
            "ValueError: atomic_cas does not convert: `cmp` and `val` must have the pointer's element type "
            "int64, got "
            "int32");
  EXPECT_EQ(
      result("atomic_cas", {p, i32(), i32({8})}),
      "ValueError: atomic_cas does not broadcast: `cmp` and `val` must have the pointer's shape [8], got []");
  EXPECT_EQ(result("atomic_cas", {pointer(ScalarKind::Int8), number(0), number(1)}),
            "ValueError: atomic_cas only supports elements with width {16, 32, 64}");
}

//===----------------------------------------------------------------------===//
// Matrix products and reductions
//===----------------------------------------------------------------------===//

TEST_F(BuiltinsTest, Dot) {
  auto dot = [&](ScalarKind a, ScalarKind b, Keywords keywords = {}) {
    return result("dot", {block(a, {16, 32}), block(b, {32, 8})}, std::move(keywords));
  };
  using enum ScalarKind;
  EXPECT_EQ(result("dot_scaled",
                   {block(UInt8, {16, 32}), block(UInt8, {16, 2}), Value::constant(std::string("e2m1")),
                    block(FP8E4NV, {64, 8}), Value::none(), Value::constant(std::string("e4m3"))}),
            "fp32[16, 8]");
  EXPECT_EQ(dot(FP32, FP32), "fp32[16, 8]");
  EXPECT_EQ(dot(FP16, FP16), "fp32[16, 8]");
  EXPECT_EQ(dot(FP16, FP16, {{"out_dtype", dtype(FP16)}}), "fp16[16, 8]");
  EXPECT_EQ(dot(BF16, BF16), "fp32[16, 8]");
  EXPECT_EQ(dot(FP64, FP64), "fp64[16, 8]");
  EXPECT_EQ(dot(Int8, Int8), "int32[16, 8]");
  EXPECT_EQ(dot(FP8E5, FP8E4NV), "fp32[16, 8]");
  EXPECT_EQ(dot(UInt8, UInt8), "AssertionError: only int8 supported!");
  EXPECT_EQ(dot(Int32, Int32), "AssertionError: Unsupported lhs dtype int32");
  EXPECT_EQ(dot(FP32, Int32), "AssertionError: Unsupported rhs dtype int32");
  EXPECT_EQ(dot(FP32, FP16), "AssertionError: Both operands must be same dtype. Got fp32 and fp16");
  EXPECT_EQ(
      dot(FP16, FP16, {{"out_dtype", dtype(BF16)}}),
      "ValueError: out_dtype=bfloat16 is unsupported. Please use out_dtype=float32/float16 and cast with "
      "`.to(tl.bfloat16)`");
  EXPECT_EQ(dot(FP32, FP32, {{"acc", fp32({16, 8})}}), "fp32[16, 8]");
  EXPECT_EQ(dot(FP16, FP16, {{"acc", block(FP16, {16, 8})}}), "fp16[16, 8]");
  EXPECT_EQ(
      dot(FP32, FP32, {{"acc", fp32({16, 16})}}),
      "AssertionError: acc must have the type of the result, <[16, 8], fp32>, but has <[16, 16], fp32>");
  EXPECT_EQ(dot(FP32, FP32, {{"input_precision", number("bf16x3")}}), "fp32[16, 8]");
  EXPECT_EQ(builder.log().back(), "dot 3 : <[16, 8], fp32>");
  EXPECT_EQ(
      dot(FP32, FP32, {{"input_precision", number("fast")}}),
      "ValueError: input_precision must be one of ('tf32', 'tf32x3', 'ieee', 'bf16x3', 'bf16x6'). Got fast");
  EXPECT_EQ(dot(FP32, FP32, {{"input_precision", number("ieee")}, {"allow_tf32", number(true)}}),
            "AssertionError: Only one of input_precision and allow_tf32 can be specified");
  EXPECT_EQ(dot(FP8E5, FP8E5, {{"max_num_imprecise_acc", number(64)}}),
            "ValueError: max_num_imprecise_acc (64) must be <= K (32)");
}

TEST_F(BuiltinsTest, DotShapes) {
  EXPECT_EQ(result("dot", {fp32({2, 16, 32}), fp32({2, 32, 8})}), "fp32[2, 16, 8]");
  EXPECT_EQ(result("dot", {fp32({2, 4, 16, 32}), fp32({2, 4, 32, 8})}), "fp32[2, 4, 16, 8]");
  EXPECT_EQ(
      result("dot", {fp32({16, 32}), fp32({16, 8})}),
      "AssertionError: input and other must have equal reduction dimensions (lhs: [16, 32] vs rhs: [16, 8])");
  EXPECT_EQ(result("dot", {fp32({2, 16, 32}), fp32({4, 32, 8})}),
            "AssertionError: input and other must have equal batch dimensions (lhs: [2, 16, 32] vs rhs: [4, "
            "32, 8])");
  EXPECT_EQ(result("dot", {fp32({16}), fp32({16})}),
            "AssertionError: Both inputs must have the same rank of at least 2; (lhs: [16] vs rhs: [16])");
  EXPECT_EQ(result("dot", {fp32(), fp32({16, 16})}),
            "AssertionError: input and other must be blocks, got fp32 and fp32[16, 16]");
  target.minDotSize = [](unsigned) { return std::array<int, 3>{1, 1, 16}; };
  EXPECT_EQ(result("dot", {fp32({16, 8}), fp32({8, 16})}),
            "AssertionError: Input shapes should have M >= 1, N >= 1 and K >= 16");
}

TEST_F(BuiltinsTest, SumsAndExtremes) {
  auto of = [&](const char *name, ScalarKind kind, Keywords keywords = {}) {
    return result(name, {block(kind, {4, 8}), number(1)}, std::move(keywords));
  };
  using enum ScalarKind;
  EXPECT_EQ(of("sum", FP32), "fp32[4]");
  EXPECT_EQ(of("sum", FP16), "fp16[4]");
  EXPECT_EQ(of("sum", Int8), "int32[4]");
  EXPECT_EQ(of("sum", UInt8), "uint32[4]");
  EXPECT_EQ(of("sum", Int1), "uint32[4]");
  EXPECT_EQ(of("sum", Int64), "int64[4]");
  EXPECT_EQ(of("sum", Int8, {{"dtype", dtype(FP32)}}), "fp32[4]");
  EXPECT_EQ(of("sum", FP32, {{"keep_dims", number(true)}}), "fp32[4, 1]");
  EXPECT_EQ(result("sum", {fp32({4, 8})}), "fp32");
  EXPECT_EQ(result("sum", {fp32({4, 8})}, {{"keep_dims", number(true)}}), "fp32[1, 1]");
  EXPECT_EQ(result("sum", {fp32({8}), number(-1)}), "fp32");
  EXPECT_EQ(result("sum", {fp32({8}), number(1)}), "ValueError: invalid axis 1. Expected -1 <= axis < 1");
  EXPECT_EQ(of("max", BF16), "fp32[4]");
  EXPECT_EQ(of("max", FP16), "fp32[4]");
  EXPECT_EQ(of("max", FP64), "fp64[4]");
  EXPECT_EQ(of("min", UInt8), "int32[4]");
  EXPECT_EQ(of("min", UInt32), "uint32[4]");
  EXPECT_TRUE(builder.logged("MinUI : uint32")) << builder.joinedLog();
  Keywords indices = {{"return_indices", number(true)}};
  EXPECT_EQ(of("max", FP16, indices), "(fp16[4], int32[4])");
  EXPECT_EQ(of("max", BF16, indices), "(fp32[4], int32[4])");
  EXPECT_EQ(of("min", Int8, indices), "(int8[4], int32[4])");
  EXPECT_EQ(result("max", {fp32({8})}, indices), "ValueError: max with indices needs an axis");
  EXPECT_EQ(of("argmax", FP32), "int32[4]");
  EXPECT_EQ(of("argmin", Int1, {{"keep_dims", number(true)}}), "int32[4, 1]");
  EXPECT_EQ(of("xor_sum", Int8), "int8[4]");
  EXPECT_EQ(of("xor_sum", FP32), "CompileTimeAssertionFailure: xor_sum only supported for integers");
  EXPECT_EQ(of("reduce_or", FP32), "CompileTimeAssertionFailure: reduce_or only supported for integers");
  EXPECT_EQ(result("sum", {pointer(FP32, {8})}), "TypeError: sum does not support pointer<fp32>");
}

TEST_F(BuiltinsTest, UserReductions) {
  Value x = fp32({4, 8}), index = i32({4, 8});
  onCall = [&](llvm::ArrayRef<Value> args) {
    return args.size() == 2 ? args[0] : Value::tuple({args[0], args[1]});
  };
  Value function = number(0); // the host above ignores it
  EXPECT_EQ(result("reduce", {x, number(0), function}), "fp32[8]");
  EXPECT_EQ(result("reduce", {Value::tuple({x, index}), number(0), function}), "(fp32[8], int32[8])");
  EXPECT_EQ(result("reduce", {Value::tuple({x, index}), Value::none(), function}), "(fp32, int32)");
  EXPECT_EQ(result("associative_scan", {Value::tuple({x, index}), number(-1), function}),
            "(fp32[4, 8], int32[4, 8])");
  EXPECT_EQ(builder.log().front(), "scan 1 {");
  EXPECT_EQ(result("associative_scan", {x, number(0), function}, {{"reverse", number(true)}}), "fp32[4, 8]");
  EXPECT_EQ(builder.log().front(), "scan 0 reverse {");
  EXPECT_EQ(result("reduce", {Value::tuple({x, i32({8})}), number(0), function}),
            "ValueError: all inputs of a reduction or scan must have one shape, got [4, 8] and [8]");
  EXPECT_EQ(result("reduce", {Value::tuple({}), number(0), function}),
            "ValueError: a reduction or scan needs at least one input");
  onCall = [&](llvm::ArrayRef<Value> args) { return semantic.cast(args[0], ScalarKind::FP16); };
  EXPECT_EQ(result("reduce", {x, number(0), function}),
            "TypeError: the combine function must keep the type fp32, but returns fp16");
  onCall = [&](llvm::ArrayRef<Value> args) { return Value::tuple({args[0], args[1]}); };
  EXPECT_EQ(result("reduce", {x, number(0), function}),
            "ValueError: the combine function must return 1 value(s), but returns 2");
}

TEST_F(BuiltinsTest, Scans) {
  EXPECT_EQ(result("cumsum", {block(ScalarKind::BF16, {8})}), "fp32[8]");
  EXPECT_EQ(result("cumsum", {block(ScalarKind::Int8, {8})}), "int32[8]");
  EXPECT_EQ(result("cumsum", {block(ScalarKind::UInt8, {8})}), "uint32[8]");
  EXPECT_EQ(result("cumsum", {block(ScalarKind::FP16, {8})}, {{"dtype", dtype(ScalarKind::FP64)}}),
            "fp64[8]");
  EXPECT_EQ(result("cumprod", {block(ScalarKind::Int8, {8}), number(0)}, {{"reverse", number(true)}}),
            "int8[8]");
  EXPECT_EQ(result("cumsum", {fp32()}), "ValueError: invalid axis 0. Expected -0 <= axis < 0");
}

//===----------------------------------------------------------------------===//
// Hints, assertions, printing, Python
//===----------------------------------------------------------------------===//

TEST_F(BuiltinsTest, Hints) {
  Value x = i32({4, 8});
  EXPECT_EQ(result("multiple_of", {x, ints({16, 1})}), "int32[4, 8]");
  EXPECT_EQ(builder.joinedLog(), "hint tt.divisibility 16 1\n");
  EXPECT_EQ(result("multiple_of", {i32(), number(8)}), "int32");
  EXPECT_EQ(result("max_contiguous", {i32({8}), number(8)}), "int32[8]");
  EXPECT_EQ(builder.joinedLog(), "hint tt.contiguity 8\n");
  EXPECT_EQ(result("max_constancy", {x, number(8)}),
            "ValueError: Shape of input to max_constancy does not match the length of values");
  EXPECT_EQ(result("multiple_of", {x, Value::tuple({number(1), i32()})}),
            "TypeError: values element 1 must have type `constexpr`");
  EXPECT_EQ(result("multiple_of", {x, Value::tuple({number(1), number(1.5)})}),
            "TypeError: values element 1 must have type `constexpr[int]`, got `constexpr[float]`");
  EXPECT_EQ(result("assume", {flags()}), "None");
  EXPECT_EQ(result("debug_barrier", {}), "None");
  EXPECT_EQ(builder.joinedLog(), "barrier\n");
}

TEST_F(BuiltinsTest, Assertions) {
  EXPECT_EQ(result("static_assert", {number(true)}), "None");
  EXPECT_EQ(result("static_assert", {number(false), number("too big")}),
            "CompileTimeAssertionFailure: too big");
  EXPECT_EQ(result("static_assert", {flags()}), "NotImplementedError: Assertion condition could not be "
                                                "determined at compile-time. Make sure that it depends "
                                                "only on `constexpr` values");
  EXPECT_EQ(result("device_assert", {flags({8}), number("bad")}), "None");
  EXPECT_EQ(builder.joinedLog(), "");
  target.debug = true;
  EXPECT_EQ(result("device_assert", {i32({8}), number("bad")}), "None");
  EXPECT_EQ(builder.log().back(), "assert bad");
  EXPECT_EQ(result("device_assert", {flags({8}), number("bad"), flags()}), "None");
  EXPECT_EQ(result("device_assert", {flags({8}), number("bad"), i32()}),
            "ValueError: Mask must have boolean scalar type");
}

TEST_F(BuiltinsTest, Printing) {
  EXPECT_EQ(result("static_print", {number("x"), number(3), fp32({8})}), "None");
  EXPECT_EQ(printed, "x 3 fp32[8]\n");
  printed.clear();
  result("static_print", {number(1), number(2)}, {{"sep", number("-")}, {"end", number("!")}});
  EXPECT_EQ(printed, "1-2!");
  EXPECT_EQ(result("device_print", {number("value"), fp32({8}), number(3)}), "None");
  EXPECT_EQ(builder.log().back(), "print ' value: ' 2");
  EXPECT_EQ(result("device_print", {number("here: "), i32()}, {{"hex", number(true)}}), "None");
  EXPECT_EQ(builder.log().back(), "print ' here: ' hex 1");
  EXPECT_EQ(result("builtins.print", {number("done")}), "None");
  EXPECT_EQ(builder.log().back(), "print ' done' 0");
  EXPECT_EQ(result("device_print", {number("caf\xc3\xa9")}),
            "AssertionError: the prefix of device_print must be printable ASCII, got 'caf\xc3\xa9'");
  EXPECT_EQ(result("device_print", {fp32()}),
            "AssertionError: the prefix of device_print must be a string literal, got fp32");
}

TEST_F(BuiltinsTest, PythonFunctions) {
  Value x = fp32({8});
  EXPECT_EQ(result("builtins.len", {ints({1, 2})}), "2");
  EXPECT_EQ(result("builtins.len", {x}), "TypeError: object of type 'tensor' has no len()");
  EXPECT_EQ(result("builtins.int", {x}),
            "TypeError: int() argument must be a string, a bytes-like object or a real number, not 'tensor'");
  auto instance = [&](const Value &value, const char *type) {
    const BuiltinDef *def = findBuiltin(type);
    return result("builtins.isinstance", {value, Value::builtin(def)});
  };
  EXPECT_EQ(instance(number(true), "builtins.int"), "True");
  EXPECT_EQ(instance(number(1.0), "builtins.int"), "False");
  EXPECT_EQ(instance(x, "language.tensor"), "True");
  EXPECT_EQ(instance(ints({}), "language.tuple"), "True");
  EXPECT_EQ(instance(number(1), "language.constexpr"), "False");
  EXPECT_EQ(result("builtins.isinstance", {x, number(1)}),
            "TypeError: isinstance() arg 2 must be a type or a tuple of types that kernels know");
  EXPECT_EQ(result("builtins.hasattr", {x, number("dtype")}), "True");
  EXPECT_EQ(result("builtins.hasattr", {x, number("color")}), "False");
  EXPECT_EQ(result("builtins.getattr", {x, number("color"), number(5)}), "5");
  EXPECT_EQ(result("builtins.getattr", {x, number("color")}),
            "AttributeError: 'tensor' object has no attribute 'color'");
  EXPECT_EQ(result("builtins.range", {number(3)}), "(0, 1, 2)");
  EXPECT_EQ(result("builtins.range", {number(3), number(0), number(-2)}), "(3, 1)");
  EXPECT_EQ(result("builtins.range", {number(0), number(3), number(0)}),
            "ValueError: range() arg 3 must not be zero");
  EXPECT_EQ(result("builtins.range", {number(int64_t(1) << 40)}),
            "OverflowError: range() has more than 65536 elements");
  EXPECT_EQ(result("builtins.min", {number(3), number(1), number(2.5)}), "1");
  EXPECT_EQ(result("builtins.max", {i32(), number(1)}), "int32");
  EXPECT_EQ(result("builtins.max", {}), "TypeError: max expected at least 1 argument, got 0");
  call("builtins.max", {x, number(1)});
  EXPECT_EQ(takeWarning(), "Python's max() on blocks is deprecated; use tl.maximum");
}

} // namespace
