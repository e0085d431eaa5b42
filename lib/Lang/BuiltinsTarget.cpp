//===- BuiltinsTarget.cpp - Questions about the target, special registers -===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Spec triton_language 1.6: `tl.target_info`, whose answers are constants, and `tl.extra.cuda`.
//
//===----------------------------------------------------------------------===//
#include "BuiltinsImpl.h"

namespace despina {

namespace {

bool isCUDA(Semantic &semantic) { return semantic.target().backend == "cuda"; }

//===----------------------------------------------------------------------===//
// target_info
//===----------------------------------------------------------------------===//

Value currentTarget(Semantic &semantic, const BuiltinArgs &) {
  const LanguageTarget &target = semantic.target();
  return Value::tuple(
      {Value::constant(target.backend), Value::constant(target.arch), Value::constant(target.warpSize)},
      {"backend", "arch", "warp_size"}, "GPUTarget");
}

Value isCUDABuiltin(Semantic &semantic, const BuiltinArgs &) { return Value::constant(isCUDA(semantic)); }

Value cudaCapabilityGeq(Semantic &semantic, const BuiltinArgs &args) {
  std::optional<int64_t> major = constantInt(semantic, args[0], "major");
  std::optional<int64_t> minor = major ? constantInt(semantic, args[1], "minor") : std::nullopt;
  if (!minor)
    return {};
  int arch = semantic.target().arch;
  std::pair<int64_t, int64_t> mine(arch / 10, arch % 10), asked(*major, *minor);
  return Value::constant(isCUDA(semantic) && mine >= asked);
}

/// There is no target of AMD.
Value isHIP(Semantic &, const BuiltinArgs &) { return Value::constant(false); }

//===----------------------------------------------------------------------===//
// extra.cuda
//===----------------------------------------------------------------------===//

/// Reports a function that only CUDA has, or only its chips from `firstArch` on.
bool needsCUDA(Semantic &semantic, const BuiltinArgs &args, int firstArch = 0) {
  std::string name = "tl.extra.cuda." + args.def->name().str();
  const LanguageTarget &target = semantic.target();
  if (!isCUDA(semantic)) {
    semantic.error(ErrorKind::Value, name + " is not available on the " + target.backend + " target",
                   "ask tl.target_info.is_cuda() first");
    return false;
  }
  if (target.arch < firstArch) {
    semantic.error(ErrorKind::Value, name + " needs sm_" + std::to_string(firstArch) +
                                         " or newer, and the target is sm_" + std::to_string(target.arch));
    return false;
  }
  return true;
}

/// A scalar that one instruction gives.
Value readRegister(Semantic &semantic, const char *text, const char *constraints, ScalarKind kind,
                   bool isPure) {
  Type type = kind;
  Handles results = semantic.builder().inlineAssembly(text, constraints, {}, {type}, isPure, 1);
  return Value::tensor(type, results.empty() ? Handle() : results.front());
}

Value globaltimer(Semantic &semantic, const BuiltinArgs &args) {
  if (!needsCUDA(semantic, args))
    return {};
  return readRegister(semantic, "mov.u64 $0, %globaltimer;", "=l", ScalarKind::Int64, /*isPure=*/false);
}

Value smid(Semantic &semantic, const BuiltinArgs &args) {
  if (!needsCUDA(semantic, args))
    return {};
  return readRegister(semantic, "mov.u32 $0, %smid;", "=r", ScalarKind::Int32, /*isPure=*/true);
}

Value numThreads(Semantic &semantic, const BuiltinArgs &args) {
  const LanguageTarget &target = semantic.target();
  return needsCUDA(semantic, args) ? Value::constant(target.warpSize * target.numWarps) : Value();
}

Value numWarps(Semantic &semantic, const BuiltinArgs &args) {
  return needsCUDA(semantic, args) ? Value::constant(semantic.target().numWarps) : Value();
}

constexpr int firstWithDependentLaunch = 90;

/// What a launch that depends on another one does; memory must not be touched before or after it instead.
Value dependentLaunch(Semantic &semantic, const BuiltinArgs &args, const char *text) {
  if (!needsCUDA(semantic, args, firstWithDependentLaunch) ||
      !readRegister(semantic, text, "=r,~{memory}", ScalarKind::Int32, /*isPure=*/false))
    return {};
  return Value::none();
}

Value gdcWait(Semantic &semantic, const BuiltinArgs &args) {
  return dependentLaunch(semantic, args, "griddepcontrol.wait;\n\tmov.u32 $0, 0;");
}

Value gdcLaunchDependents(Semantic &semantic, const BuiltinArgs &args) {
  return dependentLaunch(semantic, args, "griddepcontrol.launch_dependents;\n\tmov.u32 $0, 0;");
}

/// The conversions of float8e4b15 that older chips do by hand; ours serve all chips.
Value convertCustomFloat8(Semantic &semantic, const BuiltinArgs &args) {
  if (!needsCUDA(semantic, args))
    return {};
  Value x = semantic.toTensor(args[0]);
  std::optional<Type> type = x ? typeArgument(semantic, args[1], "dst_ty") : std::nullopt;
  std::optional<std::string> rounding =
      type ? constantString(semantic, args[2], "fp_downcast_rounding") : std::nullopt;
  if (!rounding)
    return {};
  // The rounding is of narrowing conversions alone.
  bool narrows = type->bits() < x.type().bits();
  return semantic.cast(x, type->scalar(),
                       narrows && !rounding->empty() ? std::optional<llvm::StringRef>(*rounding)
                                                     : std::nullopt);
}

constexpr ParamDef capabilityParams[] = {{"major"}, {"minor", "0"}};
constexpr ParamDef convertParams[] = {{"arg"}, {"dst_ty"}, {"fp_downcast_rounding", "None"}};

const BuiltinDef table[] = {
    {"language.target_info.current_target", {}, "What the kernel is compiled for.", currentTarget},
    {"language.target_info.is_cuda", {}, "Whether that is a GPU of NVIDIA.", isCUDABuiltin},
    {"language.target_info.cuda_capability_geq", capabilityParams,
     "Whether that is a GPU of NVIDIA of this compute capability or a newer one.", cudaCapabilityGeq},
    {"language.target_info.is_hip", {}, "Whether that is a GPU of AMD.", isHIP},
    {"language.target_info.is_hip_cdna3", {}, "Whether that is a GPU of AMD's CDNA3.", isHIP},
    {"language.target_info.is_hip_cdna4", {}, "Whether that is a GPU of AMD's CDNA4.", isHIP},
    {"language.target_info.is_hip_gfx1250", {}, "Whether that is AMD's gfx1250.", isHIP},
    {"language.extra.cuda.globaltimer", {}, "Nanoseconds of the GPU's clock.", globaltimer},
    {"language.extra.cuda.smid", {}, "The multiprocessor that runs the program.", smid},
    {"language.extra.cuda.num_threads", {}, "Threads of a program, a constant.", numThreads},
    {"language.extra.cuda.num_warps", {}, "Warps of a program, a constant.", numWarps},
    {"language.extra.cuda.gdc_wait",
     {},
     "Waits for the kernels that a dependent launch depends on.",
     gdcWait},
    {"language.extra.cuda.gdc_launch_dependents",
     {},
     "Lets the kernels start that depend on this launch.",
     gdcLaunchDependents},
    {"language.extra.cuda.convert_custom_float8_sm70", convertParams, "Converts from or to float8e4b15.",
     convertCustomFloat8},
    {"language.extra.cuda.convert_custom_float8_sm80", convertParams, "Converts from or to float8e4b15.",
     convertCustomFloat8},
};

} // namespace

llvm::ArrayRef<BuiltinDef> targetBuiltins() { return table; }

} // namespace despina
