//===- BuiltinsDot.cpp - Matrix products ----------------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Spec triton_language 1.7.
//
//===----------------------------------------------------------------------===//
#include "BuiltinsImpl.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace despina {

Value accumulatorOf(Semantic &semantic, const Value &acc, const Type &result) {
  if (!acc)
    return semantic.typedConstant(Constant(0), result);
  if (acc.type() == result)
    return acc;
  return semantic.error(ErrorKind::Assertion, "acc must have the type of the result, " + result.str() +
                                                  ", but has " + acc.type().str());
}

Value foldBatch(Semantic &semantic, const Value &x) {
  llvm::ArrayRef<int64_t> shape = x.type().shape();
  if (shape.size() <= 3)
    return x;
  int64_t batch = 1;
  for (int64_t extent : shape.drop_back(2))
    batch *= extent;
  return reshapeTo(semantic, x, {batch, shape[shape.size() - 2], shape[shape.size() - 1]}, false);
}

namespace {

using Extents = llvm::SmallVector<int64_t, 4>;

bool checkDtypes(Semantic &semantic, const Value &lhs, const Value &rhs) {
  static constexpr ScalarKind supported[] = {ScalarKind::Int8, ScalarKind::UInt8, ScalarKind::FP16,
                                             ScalarKind::BF16, ScalarKind::FP32,  ScalarKind::FP64};
  if (lhs.type().isFP8() && rhs.type().isFP8())
    return true;
  for (auto [side, operand] : {std::pair("lhs", &lhs), std::pair("rhs", &rhs)})
    if (operand->type().scalar().isPointer() ||
        !llvm::is_contained(supported, operand->type().scalarKind())) {
      semantic.error(ErrorKind::Assertion,
                     std::string("Unsupported ") + side + " dtype " + operand->type().scalar().str());
      return false;
    }
  if (lhs.type().scalar() == rhs.type().scalar())
    return true;
  semantic.error(ErrorKind::Assertion, "Both operands must be same dtype. Got " + lhs.type().scalar().str() +
                                           " and " + rhs.type().scalar().str());
  return false;
}

bool checkShapes(Semantic &semantic, llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b, unsigned bits) {
  auto fail = [&](std::string message) {
    semantic.error(ErrorKind::Assertion, std::move(message));
    return false;
  };
  if (a.size() != b.size() || a.size() < 2)
    return fail("Both inputs must have the same rank of at least 2; (lhs: " + shapeText(a) +
                " vs rhs: " + shapeText(b) + ")");
  size_t rank = a.size();
  if (a[rank - 1] != b[rank - 2])
    return fail("input and other must have equal reduction dimensions (lhs: " + shapeText(a) +
                " vs rhs: " + shapeText(b) + ")");
  if (a.drop_back(2) != b.drop_back(2))
    return fail("input and other must have equal batch dimensions (lhs: " + shapeText(a) +
                " vs rhs: " + shapeText(b) + ")");
  if (!semantic.target().minDotSize)
    return true;
  auto [m, n, k] = semantic.target().minDotSize(bits);
  if (a[rank - 2] >= m && b[rank - 1] >= n && a[rank - 1] >= k)
    return true;
  return fail("Input shapes should have M >= " + std::to_string(m) + ", N >= " + std::to_string(n) +
              " and K >= " + std::to_string(k));
}

/// The accumulator's type; none after an error.
std::optional<Type> resultType(Semantic &semantic, const Type &operand, const Value &outDtype,
                               const Value &acc) {
  Type requested = ScalarKind::FP32;
  if (!outDtype.isNone()) {
    std::optional<Type> type = typeArgument(semantic, outDtype, "out_dtype");
    if (!type)
      return std::nullopt;
    requested = type->scalar();
  } else if (acc) {
    requested = acc.type().scalar();
  }
  if (operand.isInt()) {
    if (operand.scalarKind() == ScalarKind::Int8)
      return Type(ScalarKind::Int32);
    semantic.error(ErrorKind::Assertion, "only int8 supported!");
    return std::nullopt;
  }
  if (requested == Type(ScalarKind::BF16)) {
    semantic.error(ErrorKind::Value,
                   "out_dtype=bfloat16 is unsupported. Please use out_dtype=float32/float16 and cast "
                   "with `.to(tl.bfloat16)`");
    return std::nullopt;
  }
  ScalarKind kind = operand.scalarKind();
  if (kind == ScalarKind::FP32 || kind == ScalarKind::BF16)
    return Type(ScalarKind::FP32);
  if (kind == ScalarKind::FP64)
    return Type(ScalarKind::FP64);
  if (requested == Type(ScalarKind::FP16) || requested == Type(ScalarKind::FP32))
    return requested;
  semantic.error(ErrorKind::Value, "out_dtype must be float16 or float32 for operands of type " +
                                       operand.str() + ", got " + requested.str());
  return std::nullopt;
}

std::optional<DotPrecision> precision(Semantic &semantic, const Value &inputPrecision,
                                      const Value &allowTF32) {
  if (!inputPrecision.isNone() && !allowTF32.isNone()) {
    semantic.error(ErrorKind::Assertion, "Only one of input_precision and allow_tf32 can be specified");
    return std::nullopt;
  }
  if (!allowTF32.isNone()) {
    std::optional<bool> allow = constantBool(semantic, allowTF32, "allow_tf32");
    if (!allow)
      return std::nullopt;
    return *allow ? semantic.target().defaultPrecision : DotPrecision::IEEE;
  }
  if (inputPrecision.isNone())
    return semantic.target().defaultPrecision;
  std::optional<std::string> text = constantString(semantic, inputPrecision, "input_precision");
  if (!text)
    return std::nullopt;
  auto parsed = llvm::StringSwitch<std::optional<DotPrecision>>(llvm::StringRef(*text).lower())
                    .Case("tf32", DotPrecision::TF32)
                    .Case("tf32x3", DotPrecision::TF32x3)
                    .Case("ieee", DotPrecision::IEEE)
                    .Case("bf16x3", DotPrecision::BF16x3)
                    .Case("bf16x6", DotPrecision::BF16x6)
                    .Default(std::nullopt);
  if (!parsed)
    semantic.error(ErrorKind::Value,
                   "input_precision must be one of ('tf32', 'tf32x3', 'ieee', 'bf16x3', 'bf16x6'). "
                   "Got " +
                       *text);
  return parsed;
}

/// Operands of fp8 that the target multiplies as they are stay; fp16 has all others exactly.
bool upcastFP8(Semantic &semantic, Value &lhs, Value &rhs) {
  const LanguageTarget &target = semantic.target();
  auto is = [&](ScalarKind kind) {
    return lhs.type().scalarKind() == kind || rhs.type().scalarKind() == kind;
  };
  bool isForeign = is(ScalarKind::FP8E4B15) || is(ScalarKind::FP8E4B8) || is(ScalarKind::FP8E5B16);
  if (target.dotTakesFP8 && !isForeign)
    return true;
  constexpr int hopper = 90;
  if (target.backend == "cuda" && target.arch >= hopper && is(ScalarKind::FP8E4B15))
    semantic.warn(
        "the use of fp8e4b15 is deprecated on Hopper and later architectures and can cause significant "
        "slow down. It will be removed in a future triton release");
  lhs = semantic.cast(lhs, ScalarKind::FP16);
  rhs = semantic.cast(rhs, ScalarKind::FP16);
  return lhs && rhs;
}

Value dot(Semantic &semantic, const BuiltinArgs &args) {
  Value lhs = semantic.toTensor(args[0]);
  Value rhs = lhs ? semantic.toTensor(args[1]) : Value();
  Value acc = rhs && !args[2].isNone() ? semantic.toTensor(args[2]) : Value();
  if (!rhs || (!args[2].isNone() && !acc))
    return Value();
  if (!lhs.type().isBlock() || !rhs.type().isBlock())
    return semantic.error(ErrorKind::Assertion,
                          "input and other must be blocks, got " + lhs.str() + " and " + rhs.str());
  Extents a(lhs.type().shape()), b(rhs.type().shape());
  if (!checkDtypes(semantic, lhs, rhs) || !checkShapes(semantic, a, b, lhs.type().bits()))
    return Value();
  std::optional<Type> element = resultType(semantic, lhs.type().scalar(), args[6], acc);
  std::optional<DotPrecision> mode = element ? precision(semantic, args[3], args[4]) : std::nullopt;
  if (!mode)
    return Value();
  int64_t imprecise = 0;
  if (!args[5].isNone()) {
    std::optional<int64_t> given = constantInt(semantic, args[5], "max_num_imprecise_acc");
    if (!given)
      return Value();
    if (lhs.type().isFP8() && *given > a.back())
      return semantic.error(ErrorKind::Value, "max_num_imprecise_acc (" + std::to_string(*given) +
                                                  ") must be <= K (" + std::to_string(a.back()) + ")");
    // For the IR 0 says that nothing was given.
    imprecise = lhs.type().isFP8() ? std::max<int64_t>(*given, 1) : 0;
  }
  Extents shape(a);
  shape.back() = b.back();
  std::vector<Value> extents;
  for (int64_t extent : shape)
    extents.push_back(Value::constant(extent));
  if (!semantic.checkBlockShape(Value::tuple(std::move(extents))))
    return Value();
  Type result = Type::block(*element, shape);
  acc = accumulatorOf(semantic, acc, result);
  if (!acc)
    return Value();
  if (lhs.type().isFP8() && !upcastFP8(semantic, lhs, rhs))
    return Value();
  lhs = foldBatch(semantic, lhs);
  rhs = foldBatch(semantic, rhs);
  acc = foldBatch(semantic, acc);
  if (!lhs || !rhs || !acc)
    return Value();
  // Only fp32 operands have a choice of precision.
  DotPrecision used = lhs.type().scalarKind() == ScalarKind::FP32 ? *mode : DotPrecision::IEEE;
  Value product = Value::tensor(acc.type(), semantic.builder().dot(lhs.handle(), rhs.handle(), acc.handle(),
                                                                   used, static_cast<int32_t>(imprecise)));
  return reshapeTo(semantic, product, shape, false);
}

constexpr ParamDef dotParams[] = {{"input"},
                                  {"other"},
                                  {"acc", "None"},
                                  {"input_precision", "None"},
                                  {"allow_tf32", "None"},
                                  {"max_num_imprecise_acc", "None"},
                                  {"out_dtype", "None"}};

const BuiltinDef table[] = {
    {"language.dot", dotParams, "Matrix product of two blocks, added to `acc` if given.", dot},
};

} // namespace

llvm::ArrayRef<BuiltinDef> dotBuiltins() { return table; }

} // namespace despina
