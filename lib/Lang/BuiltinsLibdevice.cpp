//===- BuiltinsLibdevice.cpp - Functions of the targets' math libraries ---===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// `tl.extra.libdevice`: each function exists for certain element types, and each of those has a symbol in the
// library. Types: i int32, u uint32, l int64, L uint64, f fp32, d fp64; arguments before ':', result after
// it.
//
//===----------------------------------------------------------------------===//
#include "BuiltinsImpl.h"
#include "Promotion.h"

#include "llvm/ADT/StringMap.h"

#include <deque>

namespace despina {

namespace {

/// Symbol NAMEf for fp32 and NAME for fp64.
const char unaryFloat[] =
    "acos acosh asin asinh atan atanh cbrt ceil cos cosh cospi cyl_bessel_i0 cyl_bessel_i1 "
    "erf erfc erfcinv erfcx erfinv exp exp10 exp2 expm1 floor j0 j1 lgamma log log10 log1p "
    "log2 logb nearbyint normcdf normcdfinv rcbrt rint round rsqrt sin sinh sinpi sqrt tan "
    "tanh tgamma trunc y0 y1";
const char binaryFloat[] = "atan2 copysign fdim fmod hypot nextafter remainder rhypot";
const char ternaryFloat[] = "fma norm3d rnorm3d";
const char quaternaryFloat[] = "norm4d rnorm4d";

/// One function each: its overloads.
const char *const others[] = {
    "abs i:i=abs l:l=llabs f:f=fabsf d:d=fabs",
    "pow fi:f=powif di:d=powi ff:f=powf dd:d=pow",
    "fast_cosf f:f=fast_cosf",
    "fast_sinf f:f=fast_sinf",
    "fast_tanf f:f=fast_tanf",
    "fast_expf f:f=fast_expf",
    "fast_exp10f f:f=fast_exp10f",
    "fast_logf f:f=fast_logf",
    "fast_log2f f:f=fast_log2f",
    "fast_log10f f:f=fast_log10f",
    "fast_powf ff:f=fast_powf",
    "fast_dividef ff:f=fast_fdividef",
    "isnan f:i=isnanf d:i=isnand",
    "isinf f:i=isinff d:i=isinfd",
    "signbit f:i=signbitf d:i=signbitd",
    "finitef f:i=finitef",
    "isfinited d:i=isfinited",
    "saturatef f:f=saturatef",
    "rcp64h d:d=rcp64h",
    "rsqrt_rn f:f=frsqrt_rn",
    "clz i:i=clz l:i=clzll",
    "popc i:i=popc l:i=popcll",
    "ffs i:i=ffs l:i=ffsll",
    "brev i:i=brev l:l=brevll",
    "byte_perm iii:i=byte_perm",
    "mulhi ii:i=mulhi uu:u=umulhi ll:l=mul64hi LL:L=umul64hi",
    "mul24 ii:i=mul24 uu:u=umul24",
    "sad iiu:i=sad uuu:u=usad",
    "hadd ii:i=hadd uu:u=uhadd",
    "rhadd ii:i=rhadd uu:u=urhadd",
    "float_as_int f:i=float_as_int",
    "float_as_uint f:u=float_as_uint",
    "int_as_float i:f=int_as_float",
    "uint_as_float u:f=uint_as_float",
    "double_as_longlong d:l=double_as_longlong",
    "longlong_as_double l:d=longlong_as_double",
    "double2hiint d:i=double2hiint",
    "double2loint d:i=double2loint",
    "hiloint2double ii:d=hiloint2double",
    "int2double_rn i:d=int2double_rn",
    "uint2double_rn u:d=uint2double_rn",
    "ilogb f:i=ilogbf d:i=ilogb",
    "ldexp fi:f=ldexpf di:d=ldexp",
    "scalbn fi:f=scalbnf di:d=scalbn",
    "jn if:f=jnf id:d=jn",
    "yn if:f=ynf id:d=yn",
    "llrint f:l=llrintf d:l=llrint",
    "llround f:l=llroundf d:l=llround",
};

/// The same with a rounding mode at the end of name and symbols.
const char *const rounded[] = {
    "add ff:f=fadd dd:d=dadd",   "sub ff:f=fsub dd:d=dsub",     "mul ff:f=fmul dd:d=dmul",
    "div ff:f=fdiv dd:d=ddiv",   "rcp f:f=frcp d:d=drcp",       "sqrt f:f=fsqrt d:d=dsqrt",
    "fma fff:f=fmaf ddd:d=fma",  "float2int f:i=float2int",     "float2uint f:u=float2uint",
    "float2ll f:l=float2ll",     "float2ull f:L=float2ull",     "double2float d:f=double2float",
    "double2int d:i=double2int", "double2uint d:u=double2uint", "double2ll d:l=double2ll",
    "double2ull d:L=double2ull", "int2float i:f=int2float",     "uint2float u:f=uint2float",
    "ll2float l:f=ll2float",     "ull2float L:f=ull2float",     "ll2double l:d=ll2double",
    "ull2double L:d=ull2double",
};

struct Overload {
  llvm::SmallVector<ScalarKind, 4> args;
  ScalarKind result = ScalarKind::Void;
  std::string symbol;
};

std::optional<ScalarKind> kindOf(char letter) {
  switch (letter) {
  case 'i': return ScalarKind::Int32;
  case 'u': return ScalarKind::UInt32;
  case 'l': return ScalarKind::Int64;
  case 'L': return ScalarKind::UInt64;
  case 'f': return ScalarKind::FP32;
  case 'd': return ScalarKind::FP64;
  default: return std::nullopt;
  }
}

Value callLibrary(Semantic &semantic, const BuiltinArgs &args);
Value externElementwise(Semantic &semantic, const BuiltinArgs &args);

constexpr ParamDef parameters[] = {{"arg0"}, {"arg1"}, {"arg2"}, {"arg3"}};
constexpr ParamDef externParams[] = {
    {"lib_name"}, {"lib_path"}, {"args"}, {"arg_type_symbol_dict"}, {"is_pure"}};

class Library {
public:
  Library() {
    addFloats(unaryFloat, 1);
    addFloats(binaryFloat, 2);
    addFloats(ternaryFloat, 3);
    addFloats(quaternaryFloat, 4);
    for (const char *text : others)
      add(text, "");
    for (const char *text : rounded)
      for (const char *mode : {"_rn", "_rz", "_rd", "_ru"})
        add(text, mode);
    definitions_.push_back({"language.core.extern_elementwise", externParams,
                            "A function of a library of the target, chosen by the arguments' types.",
                            externElementwise});
  }

  llvm::ArrayRef<BuiltinDef> definitions() const { return definitions_; }
  llvm::ArrayRef<Overload> overloads(llvm::StringRef path) const {
    auto found = byPath_.find(path);
    return found == byPath_.end() ? llvm::ArrayRef<Overload>() : llvm::ArrayRef(found->second);
  }

private:
  void addFloats(llvm::StringRef names, size_t numArgs) {
    llvm::SmallVector<llvm::StringRef, 64> parts;
    names.split(parts, ' ');
    for (llvm::StringRef name : parts)
      add(name.str() + " " + std::string(numArgs, 'f') + ":f=" + name.str() + "f " +
              std::string(numArgs, 'd') + ":d=" + name.str(),
          "");
  }

  void add(llvm::StringRef text, llvm::StringRef mode) {
    llvm::SmallVector<llvm::StringRef, 8> parts;
    text.split(parts, ' ');
    std::vector<Overload> overloads;
    for (llvm::StringRef part : llvm::ArrayRef(parts).drop_front()) {
      auto [types, symbol] = part.split('=');
      auto [args, result] = types.split(':');
      Overload overload;
      for (char letter : args)
        overload.args.push_back(kindOf(letter).value_or(ScalarKind::Void));
      overload.result = kindOf(result.front()).value_or(ScalarKind::Void);
      overload.symbol = "__nv_" + symbol.str() + mode.str();
      overloads.push_back(std::move(overload));
    }
    size_t numArgs = overloads.back().args.size();
    paths_.push_back("language.extra.libdevice." + parts.front().str() + mode.str());
    byPath_[paths_.back()] = std::move(overloads);
    definitions_.push_back({paths_.back().c_str(), llvm::ArrayRef(parameters).take_front(numArgs),
                            "A function of the target's math library.", callLibrary});
  }

  std::deque<std::string> paths_;
  std::vector<BuiltinDef> definitions_;
  llvm::StringMap<std::vector<Overload>> byPath_;
};

const Library &library() {
  static const Library instance;
  return instance;
}

std::string typesText(llvm::ArrayRef<ScalarKind> kinds) {
  std::string text;
  for (ScalarKind kind : kinds)
    text += (text.empty() ? "" : ", ") + typeRepr(kind);
  return "(" + text + (kinds.size() == 1 ? ",)" : ")");
}

const Overload *findOverload(llvm::ArrayRef<Overload> overloads, llvm::ArrayRef<Value> args) {
  for (const Overload &overload : overloads) {
    bool matches = overload.args.size() == args.size();
    for (size_t i = 0; matches && i < args.size(); ++i)
      matches = args[i].type().scalar() == Type(overload.args[i]);
    if (matches)
      return &overload;
  }
  return nullptr;
}

/// Functions that every target computes by an operation of its own.
Value callOperation(Semantic &semantic, llvm::StringRef symbol, const Value &x) {
  static const llvm::StringMap<UnaryKind> kinds = {
      {"exp", UnaryKind::Exp},     {"exp2", UnaryKind::Exp2},   {"log", UnaryKind::Log},
      {"log2", UnaryKind::Log2},   {"sin", UnaryKind::Sin},     {"cos", UnaryKind::Cos},
      {"sqrt", UnaryKind::Sqrt},   {"rsqrt", UnaryKind::Rsqrt}, {"erf", UnaryKind::Erf},
      {"floor", UnaryKind::Floor}, {"ceil", UnaryKind::Ceil},   {"fabs", UnaryKind::AbsF}};
  symbol.consume_front("__nv_");
  symbol.consume_front("fast_");
  bool isNan = symbol.starts_with("isnan");
  if (isNan) {
    Value result = semantic.compare(CompareKind::UNE, x, x);
    return semantic.cast(result, ScalarKind::Int32);
  }
  if (x.type().scalarKind() == ScalarKind::FP32)
    symbol.consume_back("f");
  auto found = kinds.find(symbol);
  return found == kinds.end() ? Value() : semantic.unary(found->second, x);
}

using Values = llvm::SmallVector<Value, 4>;

std::optional<Values> tensorsOf(Semantic &semantic, llvm::ArrayRef<Value> arguments) {
  Values values;
  for (const Value &argument : arguments) {
    values.push_back(semantic.toTensor(argument));
    if (!values.back())
      return std::nullopt;
  }
  return values;
}

/// The overload for these arguments, which get one type first if none takes them as they are.
const Overload *resolveOverload(Semantic &semantic, llvm::ArrayRef<Overload> overloads, Values &values) {
  if (const Overload *overload = findOverload(overloads, values))
    return overload;
  for (size_t i = 1; i < values.size(); ++i)
    if (!semantic.promote(values[0], values[i], {}))
      return nullptr;
  for (size_t i = 1; i < values.size(); ++i)
    if (!semantic.promote(values[i], values[0], {}))
      return nullptr;
  if (const Overload *overload = findOverload(overloads, values))
    return overload;
  std::string expected;
  for (const Overload &candidate : overloads)
    expected += (expected.empty() ? "" : ", ") + typesText(candidate.args);
  llvm::SmallVector<ScalarKind, 4> given;
  for (const Value &value : values)
    given.push_back(value.type().scalarKind());
  semantic.error(ErrorKind::Value,
                 "input arg type does not match.Expect one of [" + expected + "], got " + typesText(given));
  return nullptr;
}

Value callSymbol(Semantic &semantic, const Overload &overload, llvm::ArrayRef<Value> values, bool isPure) {
  if (semantic.target().backend == "cpu" && values.size() == 1)
    if (Value result = callOperation(semantic, overload.symbol, values.front()))
      return result;
  Type type = values[0].type().withScalar(overload.result);
  Handles handles;
  for (const Value &value : values)
    handles.push_back(value.handle());
  return Value::tensor(type, semantic.builder().externElementwise(handles, type, overload.symbol, isPure));
}

Value callLibrary(Semantic &semantic, const BuiltinArgs &args) {
  std::optional<Values> values = tensorsOf(semantic, args.values);
  const Overload *overload =
      values ? resolveOverload(semantic, library().overloads(args.def->path), *values) : nullptr;
  if (!overload || !broadcastAll(semantic, *values))
    return Value();
  return callSymbol(semantic, *overload, *values, /*isPure=*/true);
}

//===----------------------------------------------------------------------===//
// extern_elementwise
//===----------------------------------------------------------------------===//

/// An entry of the dictionary: types of the arguments, the function's name and the type of its result.
std::optional<Overload> overloadOf(const Value &entry) {
  auto isPair = [](const Value &value) { return value.isTuple() && value.tuple().elements.size() == 2; };
  if (!isPair(entry) || !entry.tuple().elements[0].isTuple() || !isPair(entry.tuple().elements[1]))
    return std::nullopt;
  const std::vector<Value> &function = entry.tuple().elements[1].tuple().elements;
  auto isScalar = [](const Value &value) {
    return value.kind() == Value::Kind::DType && value.dtype().kind() == Type::Kind::Scalar;
  };
  Overload overload;
  for (const Value &type : entry.tuple().elements[0].tuple().elements) {
    if (!isScalar(type))
      return std::nullopt;
    overload.args.push_back(type.dtype().scalarKind());
  }
  if (!function[0].isConstant() || !function[0].constant().isString() || !isScalar(function[1]))
    return std::nullopt;
  overload.symbol = function[0].constant().string();
  overload.result = function[1].dtype().scalarKind();
  return overload;
}

Value externElementwise(Semantic &semantic, const BuiltinArgs &args) {
  std::optional<bool> isPure = constantBool(semantic, args[4], "is_pure");
  if (!isPure)
    return Value();
  llvm::SmallVector<Overload, 4> overloads;
  for (const Value &entry :
       args[3].isTuple() ? llvm::ArrayRef(args[3].tuple().elements) : llvm::ArrayRef<Value>())
    if (std::optional<Overload> overload = overloadOf(entry))
      overloads.push_back(std::move(*overload));
  if (overloads.empty() || !args[2].isTuple() || args[2].tuple().elements.empty())
    return semantic.error(ErrorKind::Type,
                          "extern_elementwise takes a list of arguments and a dictionary from their "
                          "types to a function's name and the type of its result");
  std::optional<Values> values = tensorsOf(semantic, args[2].tuple().elements);
  const Overload *overload = values ? resolveOverload(semantic, overloads, *values) : nullptr;
  return overload && broadcastAll(semantic, *values) ? callSymbol(semantic, *overload, *values, *isPure)
                                                     : Value();
}

} // namespace

llvm::ArrayRef<BuiltinDef> libdeviceBuiltins() { return library().definitions(); }

} // namespace despina
