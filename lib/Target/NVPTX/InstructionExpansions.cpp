//===- InstructionExpansions.cpp - Library calls as instructions ----------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// For machines without libdevice. All architectures have these instructions.
//
//===----------------------------------------------------------------------===//
#include "InstructionExpansions.h"
#include "MathExpansions.h"

#include "despina/Runtime/DeviceFunctions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Intrinsics.h"

namespace despina::nvptx {

namespace {

using Value = llvm::Value *;

/// Functions that are one intrinsic; '*' is the rounding mode at the end of the function's name.
struct Entry {
  llvm::StringLiteral function, intrinsic;
};
constexpr Entry entries[] = {
    {"fadd*", "nvvm.add.*.f"},
    {"dadd*", "nvvm.add.*.d"},
    {"fmul*", "nvvm.mul.*.f"},
    {"dmul*", "nvvm.mul.*.d"},
    {"fdiv*", "nvvm.div.*.f"},
    {"ddiv*", "nvvm.div.*.d"},
    {"frcp*", "nvvm.rcp.*.f"},
    {"drcp*", "nvvm.rcp.*.d"},
    {"fsqrt*", "nvvm.sqrt.*.f"},
    {"dsqrt*", "nvvm.sqrt.*.d"},
    {"fmaf*", "nvvm.fma.*.f"},
    {"fma*", "nvvm.fma.*.d"},
    {"float2int*", "nvvm.f2i.*"},
    {"float2uint*", "nvvm.f2ui.*"},
    {"float2ll*", "nvvm.f2ll.*"},
    {"float2ull*", "nvvm.f2ull.*"},
    {"double2int*", "nvvm.d2i.*"},
    {"double2uint*", "nvvm.d2ui.*"},
    {"double2ll*", "nvvm.d2ll.*"},
    {"double2ull*", "nvvm.d2ull.*"},
    {"double2float*", "nvvm.d2f.*"},
    {"int2float*", "nvvm.i2f.*"},
    {"uint2float*", "nvvm.ui2f.*"},
    {"ll2float*", "nvvm.ll2f.*"},
    {"ull2float*", "nvvm.ull2f.*"},
    {"ll2double*", "nvvm.ll2d.*"},
    {"ull2double*", "nvvm.ull2d.*"},
    {"int2double*", "nvvm.i2d.*"},
    {"uint2double*", "nvvm.ui2d.*"},
    {"fabsf", "fabs"},
    {"fabs", "fabs"},
    {"ceilf", "ceil"},
    {"ceil", "ceil"},
    {"floorf", "floor"},
    {"floor", "floor"},
    {"truncf", "trunc"},
    {"trunc", "trunc"},
    {"rintf", "rint"},
    {"rint", "rint"},
    {"nearbyintf", "nearbyint"},
    {"nearbyint", "nearbyint"},
    {"roundf", "round"},
    {"round", "round"},
    {"copysignf", "copysign"},
    {"copysign", "copysign"},
    {"fmaf", "fma"},
    {"fma", "fma"},
    {"sqrtf", "nvvm.sqrt.rn.f"},
    {"sqrt", "nvvm.sqrt.rn.d"},
    {"saturatef", "nvvm.saturate.f"},
    {"brev", "bitreverse"},
    {"brevll", "bitreverse"},
    {"popc", "ctpop"},
    {"mulhi", "nvvm.mulhi.i"},
    {"umulhi", "nvvm.mulhi.ui"},
    {"mul64hi", "nvvm.mulhi.ll"},
    {"umul64hi", "nvvm.mulhi.ull"},
    {"mul24", "nvvm.mul24.i"},
    {"umul24", "nvvm.mul24.ui"},
    {"sad", "nvvm.sad.i"},
    {"usad", "nvvm.sad.ui"},
    {"double2loint", "nvvm.d2i.lo"},
    {"double2hiint", "nvvm.d2i.hi"},
    {"fast_cosf", "nvvm.cos.approx.f"},
    {"fast_sinf", "nvvm.sin.approx.f"},
    {"fast_log2f", "nvvm.lg2.approx.f"},
    {"fast_fdividef", "nvvm.div.approx.f"},
};

class Expansion {
public:
  Expansion(llvm::IRBuilder<> &builder, llvm::Function &f) : b(builder), type(f.getReturnType()) {
    for (llvm::Argument &argument : f.args())
      x.push_back(&argument);
  }

  /// Null where there is no expansion.
  Value emit(llvm::StringRef name) {
    if (llvm::StringRef intrinsic = intrinsicOf(name); !intrinsic.empty())
      return call(intrinsic, x);
    if (Value result = emitBits(name))
      return result;
    return emitFast(name);
  }

private:
  /// Without "llvm."; empty where there is none.
  llvm::StringRef intrinsicOf(llvm::StringRef name) {
    llvm::StringRef base = name, mode;
    for (auto [suffix, own] :
         {std::pair("_rn", "rn"), std::pair("_rz", "rz"), std::pair("_rd", "rm"), std::pair("_ru", "rp")})
      if (base.consume_back(suffix))
        mode = own;
    if (base == "fsub" || base == "dsub") {
      x[1] = b.CreateFNeg(x[1]);
      text = ("nvvm.add." + mode + (base == "fsub" ? ".f" : ".d")).str();
      return text;
    }
    for (const Entry &entry : entries) {
      llvm::StringRef wanted = entry.function;
      if (wanted.consume_back("*") != !mode.empty() || wanted != base)
        continue;
      auto [before, after] = llvm::StringRef(entry.intrinsic).split('*');
      text = (before + mode + after).str();
      return text;
    }
    return {};
  }

  Value call(llvm::StringRef name, llvm::ArrayRef<Value> arguments) {
    llvm::Intrinsic::ID id = llvm::Intrinsic::lookupIntrinsicID(("llvm." + name).str());
    if (id == llvm::Intrinsic::not_intrinsic)
      return nullptr;
    llvm::SmallVector<llvm::Type *, 1> overloads;
    if (llvm::Intrinsic::isOverloaded(id))
      overloads.push_back(arguments.front()->getType());
    return b.CreateIntrinsic(id, overloads, arguments);
  }

  Value flag(Value condition) { return b.CreateZExt(condition, type); }

  Value emitBits(llvm::StringRef name) {
    if (name.contains("_as_"))
      return b.CreateBitCast(x[0], type);
    if (name == "hiloint2double")
      return call("nvvm.lohi.i2d", {x[1], x[0]});
    if (name == "byte_perm") // bits that would repeat a sign are not the library's
      return call("nvvm.prmt", {x[0], x[1], b.CreateAnd(x[2], b.getInt32(0x7777))});
    if (name == "popcll")
      return b.CreateTrunc(call("ctpop", x), type);
    if (name == "clz" || name == "clzll")
      return b.CreateZExtOrTrunc(call("ctlz", {x[0], b.getFalse()}), type);
    if (name == "ffs" || name == "ffsll") {
      Value zeros = b.CreateZExtOrTrunc(call("cttz", {x[0], b.getFalse()}), type);
      Value place = b.CreateAdd(zeros, llvm::ConstantInt::get(type, 1));
      return b.CreateSelect(b.CreateIsNull(x[0]), llvm::ConstantInt::get(type, 0), place);
    }
    if (name == "isnanf" || name == "isnand")
      return flag(b.CreateFCmpUNO(x[0], x[0]));
    if (name == "isinff" || name == "isinfd")
      return flag(b.CreateFCmpOEQ(call("fabs", x), llvm::ConstantFP::getInfinity(x[0]->getType())));
    if (name == "finitef" || name == "isfinited")
      return flag(b.CreateFCmpONE(call("fabs", x), llvm::ConstantFP::getInfinity(x[0]->getType())));
    if (name != "signbitf" && name != "signbitd")
      return nullptr;
    Value bits = b.CreateBitCast(x[0], name == "signbitf" ? b.getInt32Ty() : b.getInt64Ty());
    return flag(b.CreateICmpSLT(bits, llvm::Constant::getNullValue(bits->getType())));
  }

  Value number(double value) { return llvm::ConstantFP::get(b.getFloatTy(), value); }
  Value log2(Value value) { return call("nvvm.lg2.approx.f", value); }
  Value exp2(Value value) { return call("nvvm.ex2.approx", value); }

  Value emitFast(llvm::StringRef name) {
    if (name == "fast_expf")
      return exp2(b.CreateFMul(x[0], number(1.44269504088896340736)));
    if (name == "fast_exp10f")
      return exp2(b.CreateFMul(x[0], number(3.32192809488736234787)));
    if (name == "fast_logf")
      return b.CreateFMul(log2(x[0]), number(0.69314718055994530942));
    if (name == "fast_log10f")
      return b.CreateFMul(log2(x[0]), number(0.30102999566398119521));
    if (name == "fast_powf")
      return exp2(b.CreateFMul(x[1], log2(x[0])));
    if (name == "fast_tanf")
      return call("nvvm.div.approx.f", {call("nvvm.sin.approx.f", x), call("nvvm.cos.approx.f", x)});
    return nullptr;
  }

  llvm::IRBuilder<> &b;
  llvm::Type *type;
  llvm::SmallVector<Value, 3> x;
  std::string text;
};

bool isOfLetter(llvm::Type *type, char letter) {
  switch (letter) {
  case 'i':
  case 'u': return type->isIntegerTy(32);
  case 'l':
  case 'L': return type->isIntegerTy(64);
  case 'f': return type->isFloatTy();
  default: return type->isDoubleTy();
  }
}

/// A kernel may declare the name with any type.
bool hasTypeOfLibrary(const llvm::Function &function) {
  const cpu::DeviceFunction *known = cpu::findDeviceFunction(function.getName());
  if (!known || function.isVarArg() || function.arg_size() + 2 != known->types.size())
    return false;
  for (auto [letter, argument] : llvm::zip(known->types, function.args()))
    if (!isOfLetter(argument.getType(), letter))
      return false;
  return isOfLetter(function.getReturnType(), known->types.back());
}

} // namespace

bool expandByInstructions(llvm::Function &function) {
  llvm::StringRef name = function.getName();
  if (!name.consume_front("__nv_") || !function.isDeclaration() || !hasTypeOfLibrary(function))
    return false;
  return giveBody(function, [&](llvm::IRBuilder<> &b) { return Expansion(b, function).emit(name); });
}

} // namespace despina::nvptx
