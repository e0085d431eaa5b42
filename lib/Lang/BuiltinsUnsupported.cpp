//===- BuiltinsUnsupported.cpp - Names that are known but have no body ----===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Each answers "'tl.NAME' is not supported yet", so that a kernel fails on the name and not on a typo.
//
//===----------------------------------------------------------------------===//
#include "BuiltinsImpl.h"

#include "llvm/ADT/SmallVector.h"

#include <deque>

namespace despina {

namespace {

const char functions[] =
    "dot_scaled make_tensor_descriptor load_tensor_descriptor store_tensor_descriptor tensor_descriptor "
    "tensor_descriptor_type tuple_type aggregate_replace expect_zero topk bitonic_merge map_elementwise "
    "philox philox_impl rand rand4x randint randint4x randn randn4x pair_uniform_to_normal "
    "uint_to_uniform_float "
    "inline_asm_elementwise";

const char members[] = "histogram sort gather flip";

const char targetInfo[] =
    "current_target is_cuda cuda_capability_geq is_hip is_hip_cdna3 is_hip_cdna4 is_hip_gfx1250";

const char cuda[] =
    "globaltimer smid num_threads num_warps gdc_wait gdc_launch_dependents convert_custom_float8_sm70 "
    "convert_custom_float8_sm80";

/// Names that exist once for each rounding mode.
const char rounded[] =
    "add div double2float double2int double2uint double2ll double2ull float2int float2uint float2ll "
    "float2ull fma int2float ll2double ll2float mul rcp sqrt sub uint2float ull2double ull2float";

const char libdevice[] = "abs acos acosh asin asinh atan atan2 atanh brev byte_perm cbrt ceil clz copysign "
                         "cos cosh cospi cyl_bessel_i0 "
                         "cyl_bessel_i1 double2hiint double2loint double_as_longlong erf erfc erfcinv erfcx "
                         "erfinv exp exp10 exp2 expm1 "
                         "fast_cosf fast_dividef fast_exp10f fast_expf fast_log10f fast_log2f fast_logf "
                         "fast_powf fast_sinf fast_tanf fdim "
                         "ffs finitef float_as_int float_as_uint floor fma fmod hadd hiloint2double hypot "
                         "ilogb int2double_rn int_as_float "
                         "isfinited isinf isnan j0 j1 jn ldexp lgamma llrint llround log log10 log1p log2 "
                         "logb longlong_as_double mul24 "
                         "mulhi nearbyint nextafter norm3d norm4d normcdf normcdfinv popc pow rcbrt rcp64h "
                         "remainder rhadd rhypot rint "
                         "rnorm3d rnorm4d round rsqrt rsqrt_rn sad saturatef scalbn signbit sin sinh sinpi "
                         "sqrt tan tanh tgamma trunc "
                         "uint2double_rn uint_as_float y0 y1 yn";

class Table {
public:
  Table() {
    add("language.", functions, false);
    add("language.", members, true);
    add("language.target_info.", targetInfo, false);
    add("language.extra.cuda.", cuda, false);
    add("language.extra.libdevice.", libdevice, false);
    for (const char *mode : {"_rn", "_rz", "_rd", "_ru"})
      add("language.extra.libdevice.", rounded, false, mode);
  }
  llvm::ArrayRef<BuiltinDef> definitions() const { return definitions_; }

private:
  void add(const char *prefix, llvm::StringRef names, bool isMember, const char *suffix = "") {
    llvm::SmallVector<llvm::StringRef, 128> parts;
    names.split(parts, ' ', -1, /*KeepEmpty=*/false);
    for (llvm::StringRef name : parts) {
      paths_.push_back(prefix + name.str() + suffix);
      definitions_.push_back({paths_.back().c_str(), {}, "Not supported yet.", nullptr, isMember});
    }
  }

  std::deque<std::string> paths_;
  std::vector<BuiltinDef> definitions_;
};

} // namespace

llvm::ArrayRef<BuiltinDef> unsupportedBuiltins() {
  static const Table table;
  return table.definitions();
}

} // namespace despina
