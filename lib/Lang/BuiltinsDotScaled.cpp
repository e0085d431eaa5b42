//===- BuiltinsDotScaled.cpp - Matrix products with scales ----------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Spec triton_language 1.7.
//
//===----------------------------------------------------------------------===//
#include "BuiltinsImpl.h"

#include "llvm/ADT/STLExtras.h"

namespace despina {

namespace {

struct FormatInfo {
  const char *name;
  ScaledFormat format;
  ScalarKind element, bits; ///< the type, and the unsigned integer that may stand for it
};
constexpr FormatInfo formats[] = {{"e2m1", ScaledFormat::E2M1, ScalarKind::UInt8, ScalarKind::UInt8},
                                  {"e4m3", ScaledFormat::E4M3, ScalarKind::FP8E4NV, ScalarKind::UInt8},
                                  {"e5m2", ScaledFormat::E5M2, ScalarKind::FP8E5, ScalarKind::UInt8},
                                  {"bf16", ScaledFormat::BF16, ScalarKind::BF16, ScalarKind::UInt16},
                                  {"fp16", ScaledFormat::FP16, ScalarKind::FP16, ScalarKind::UInt16}};

/// One side: `rows` and `columns` count elements.
struct Side {
  const char *name = nullptr;
  Value value, scale; ///< no scale: null
  const FormatInfo *info = nullptr;
  bool packedAlongK = true;
  int64_t rows = 0, columns = 0, group = 0;
};

bool fail(Semantic &semantic, std::string message) {
  semantic.error(ErrorKind::Assertion, std::move(message));
  return false;
}

bool readFormat(Semantic &semantic, Side &side, const Value &format) {
  std::string what = std::string(side.name) + "_format";
  std::optional<std::string> text = constantString(semantic, format, what.c_str());
  if (!text)
    return false;
  for (const FormatInfo &info : formats)
    if (*text == info.name)
      side.info = &info;
  return side.info ||
         fail(semantic, "NYI: " + what + " " + *text + "; the formats are e2m1, e4m3, e5m2, bf16 and fp16");
}

/// Bytes of fp8 stay bytes, which every architecture has; the operation knows the format.
bool readValue(Semantic &semantic, Side &side, const Value &value) {
  side.value = semantic.toTensor(value);
  if (!side.value)
    return false;
  if (!side.value.type().isBlock())
    return fail(semantic, std::string(side.name) + " must be a block, got " + side.value.str());
  Type scalar = side.value.type().scalar();
  if (scalar == Type(side.info->element))
    return true;
  if (scalar != Type(side.info->bits))
    return fail(semantic,
                side.info->format == ScaledFormat::E2M1
                    ? "e2m1 format must be packed as uint8. Got " + scalar.str()
                    : "Unexpected dtype for " + std::string(side.info->name) + ". Got " + scalar.str());
  if (side.info->bits == ScalarKind::UInt16)
    side.value = semantic.cast(side.value, side.info->element, {}, /*bitcast=*/true);
  return bool(side.value);
}

/// Extents in elements.
bool measure(Semantic &semantic, Side &side, bool isRight) {
  llvm::ArrayRef<int64_t> shape = side.value.type().shape();
  if (shape.size() < 2)
    return fail(semantic,
                std::string(side.name) + " must have at least 2 dimensions. Got " + shapeText(shape));
  side.rows = shape[shape.size() - 2];
  side.columns = shape.back();
  bool isPacked = side.info->format == ScaledFormat::E2M1;
  if (!side.packedAlongK && !isPacked)
    return fail(semantic, "only mxfp4 inputs can be packed along a dimension different than K");
  if (isPacked)
    (side.packedAlongK == isRight ? side.rows : side.columns) *= 2;
  return true;
}

bool readScale(Semantic &semantic, Side &side, const Value &scale, int64_t outer, int64_t k) {
  if (scale.isNone())
    return true;
  std::string name = std::string(side.name) + "_scale";
  side.scale = semantic.toTensor(scale);
  if (!side.scale)
    return false;
  Type scalar = side.scale.type().scalar();
  bool isE4M3 = scalar == Type(ScalarKind::FP8E4NV);
  if (!isE4M3 && scalar != Type(ScalarKind::UInt8) && scalar != Type(ScalarKind::Int8))
    return fail(semantic, name + " must be of uint8 (exponents) or fp8e4nv. Got " + scalar.str());
  side.group = isE4M3 ? 16 : 32;
  llvm::ArrayRef<int64_t> shape = side.scale.type().shape();
  llvm::SmallVector<int64_t, 4> wanted(side.value.type().shape().drop_back(2));
  wanted.append({outer, k / side.group});
  if (k >= side.group && shape == llvm::ArrayRef(wanted))
    return true;
  return fail(semantic, name + " must be a tensor of shape [..., " + std::to_string(outer) + ", " +
                            std::to_string(k / side.group) + "]. Got " + shapeText(shape));
}

bool checkShapes(Semantic &semantic, const Side &lhs, const Side &rhs) {
  llvm::ArrayRef<int64_t> a = lhs.value.type().shape(), b = rhs.value.type().shape();
  std::string both = "; (lhs: " + shapeText(a) + " vs rhs: " + shapeText(b) + ")";
  if (a.size() != b.size())
    return fail(semantic, "Both inputs must have the same rank" + both);
  if (lhs.columns != rhs.rows)
    return fail(semantic, "Reduction dimension should pack the same number of elements" + both);
  if (a.drop_back(2) != b.drop_back(2))
    return fail(semantic, "Both inputs must have the same batch dimensions" + both);
  return true;
}

bool checkScales(Semantic &semantic, const Side &lhs, const Side &rhs) {
  if (!lhs.scale || !rhs.scale || lhs.group == rhs.group)
    return true;
  return fail(semantic, "Operands must have the same scale factor; (lhs: " + std::to_string(lhs.group) +
                            " vs rhs: " + std::to_string(rhs.group) + ")");
}

bool checkOutDtype(Semantic &semantic, const Value &outDtype) {
  if (outDtype.isNone())
    return true;
  std::optional<Type> type = typeArgument(semantic, outDtype, "out_dtype");
  if (!type)
    return false;
  return type->scalar() == Type(ScalarKind::FP32) ||
         fail(semantic, "Only float32 is supported for out_dtype at the moment. Got " + type->scalar().str());
}

bool readFlags(Semantic &semantic, const BuiltinArgs &args, Side &lhs, Side &rhs, bool &fastMath) {
  std::optional<bool> fast = constantBool(semantic, args[7], "fast_math");
  std::optional<bool> left = fast ? constantBool(semantic, args[8], "lhs_k_pack") : std::nullopt;
  std::optional<bool> right = left ? constantBool(semantic, args[9], "rhs_k_pack") : std::nullopt;
  if (!right)
    return false;
  fastMath = *fast;
  lhs.packedAlongK = *left;
  rhs.packedAlongK = *right;
  return true;
}

std::optional<Builder::ScaledOperand> operandOf(Semantic &semantic, const Side &side) {
  Value value = foldBatch(semantic, side.value);
  Value scale = side.scale ? foldBatch(semantic, side.scale) : Value();
  if (!value || (side.scale && !scale))
    return std::nullopt;
  return Builder::ScaledOperand{value.handle(), scale ? scale.handle() : Handle(), side.info->format,
                                side.packedAlongK};
}

Value dotScaled(Semantic &semantic, const BuiltinArgs &args) {
  Side lhs, rhs;
  lhs.name = "lhs";
  rhs.name = "rhs";
  bool fastMath = false;
  if (!readFlags(semantic, args, lhs, rhs, fastMath) || !checkOutDtype(semantic, args[10]) ||
      !readFormat(semantic, lhs, args[2]) || !readFormat(semantic, rhs, args[5]) ||
      !readValue(semantic, lhs, args[0]) || !readValue(semantic, rhs, args[3]) ||
      !measure(semantic, lhs, /*isRight=*/false) || !measure(semantic, rhs, /*isRight=*/true) ||
      !checkShapes(semantic, lhs, rhs) || !readScale(semantic, lhs, args[1], lhs.rows, lhs.columns) ||
      !readScale(semantic, rhs, args[4], rhs.columns, rhs.rows) || !checkScales(semantic, lhs, rhs))
    return Value();
  llvm::SmallVector<int64_t, 4> shape(lhs.value.type().shape());
  shape[shape.size() - 2] = lhs.rows;
  shape.back() = rhs.columns;
  std::vector<Value> extents;
  for (int64_t extent : shape)
    extents.push_back(Value::constant(extent));
  if (!semantic.checkBlockShape(Value::tuple(std::move(extents))))
    return Value();
  Value acc = args[6].isNone() ? Value() : semantic.toTensor(args[6]);
  if (!args[6].isNone() && !acc)
    return Value();
  acc = accumulatorOf(semantic, acc, Type::block(ScalarKind::FP32, shape));
  acc = acc ? foldBatch(semantic, acc) : Value();
  std::optional<Builder::ScaledOperand> a = acc ? operandOf(semantic, lhs) : std::nullopt;
  std::optional<Builder::ScaledOperand> b = a ? operandOf(semantic, rhs) : std::nullopt;
  if (!b)
    return Value();
  Handle product = semantic.builder().dotScaled(*a, *b, acc.handle(), fastMath);
  return reshapeTo(semantic, Value::tensor(acc.type(), product), shape, false);
}

constexpr ParamDef parameters[] = {{"lhs"},
                                   {"lhs_scale"},
                                   {"lhs_format"},
                                   {"rhs"},
                                   {"rhs_scale"},
                                   {"rhs_format"},
                                   {"acc", "None"},
                                   {"fast_math", "False"},
                                   {"lhs_k_pack", "True"},
                                   {"rhs_k_pack", "True"},
                                   {"out_dtype", "None"}};

const BuiltinDef table[] = {
    {"language.dot_scaled", parameters,
     "Matrix product of two blocks in formats of few bits, whose groups along K have scales.", dotScaled},
};

} // namespace

llvm::ArrayRef<BuiltinDef> dotScaledBuiltins() { return table; }

} // namespace despina
