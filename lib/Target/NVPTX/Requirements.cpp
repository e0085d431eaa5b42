//===- Requirements.cpp - Architecture and PTX version per instruction ----===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// After the "Target ISA Notes" and "PTX ISA Notes" of each instruction in NVIDIA's PTX manual. What is in no
// table is there since sm_70 and PTX 6.0.
//
//===----------------------------------------------------------------------===//
#include "Legality.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace despina::nvptx {

namespace {

/// A name that, with a full stop after it, starts with `prefix` and has `part` behind it. All entries that
/// fit count: the answer is the strictest.
struct Entry {
  llvm::StringLiteral prefix, part;
  Requirement needs;
};

constexpr Requirement ampere{80, 0, 70}, hopper{90, 0, 78}, hopperCopies{90, 0, 80}, hopperAlone{90, 'a', 80},
    eightBitFloats{89, 0, 81}, blackwell{100, 'a', 86};

/// What none of our kernels needs: LLVM has it for few architectures and forms, or for none.
constexpr Requirement never{Requirement::none, 0, 0};

constexpr Entry intrinsics[] = {
    {"nvvm.reflect", "", never},
    {"nvvm.shfl.up", "", never},
    {"nvvm.shfl.down", "", never},
    {"nvvm.shfl.bfly", "", never},
    {"nvvm.shfl.idx", "", never},
    {"nvvm.wmma", "", never},
    {"nvvm.mma.and", "", never},
    {"nvvm.mma.xor", "", never},
    {"nvvm.mma.block", "", never},
    {"nvvm.bf2h", "", never},
    {"nvvm.f32x4", "", never},
    {"nvvm.ff2", ".rs", never},
    {"nvvm.discard", "", never},
    {"nvvm.applypriority", "", never},
    {"nvvm.lg2.approx.d", "", never},
    {"nvvm.fmax.ftz", "bf16", never},
    {"nvvm.fmin.ftz", "bf16", never},
    {"nvvm.fma.rn.ftz", "bf16", never},
    {"nvvm.fma.rn.sat", "bf16", never},
    {"nvvm.ldmatrix", "", {75, 0, 65}},
    {"nvvm.stmatrix", "", hopper},
    {"nvvm.mma.m8n8k4", "", {70, 0, 64}},
    {"nvvm.mma.m8n8k4", ".f64", ampere},
    {"nvvm.mma.m8n8k", "", {70, 0, 65}},
    {"nvvm.mma.m8n8k16", "", {75, 0, 65}},
    {"nvvm.mma.m8n8k32", "", {75, 0, 65}},
    {"nvvm.mma.m8n8k128", "", {75, 0, 65}},
    {"nvvm.mma.m16n8k", "", {75, 0, 65}},
    {"nvvm.mma.m16n8k8", ".bf16", ampere},
    {"nvvm.mma.m16n8k8", ".tf32", ampere},
    {"nvvm.mma.m16n8k16", "", ampere},
    {"nvvm.mma.m16n8k32", "", ampere},
    {"nvvm.mma.m16n8k64", "", ampere},
    {"nvvm.mma.m16n8k256", "", ampere},
    {"nvvm.mma.m16n8k4", "", ampere},
    {"nvvm.mma.m16n8k", ".e4m3", {89, 0, 84}},
    {"nvvm.mma.m16n8k", ".e5m2", {89, 0, 84}},
    {"nvvm.mma.m16n8k16", ".e4m3", {89, 0, 87}},
    {"nvvm.mma.m16n8k16", ".e5m2", {89, 0, 87}},
    {"nvvm.mma.m16n8k", ".f64", hopper},
    {"nvvm.mma.m16n8k", ".kind", {120, 'a', 87}},
    {"nvvm.mma.sp", "", never},
    {"nvvm.wgmma", "", hopperAlone},
    {"nvvm.setmaxregister", "", hopperAlone},
    {"nvvm.setmaxnreg", "", hopperAlone},
    {"nvvm.cp.async.", "", ampere},
    {"nvvm.cp.async.bulk", "", hopperCopies},
    {"nvvm.cp.async.bulk.tensor.g2s.cta", "", {90, 0, 86}},
    {"nvvm.cp.async.bulk.global.to.shared.cta", "", {90, 0, 86}},
    {"nvvm.cp.async.bulk", "bytemask", {100, 0, 86}},
    {"nvvm.cp.async.bulk.tensor", "im2col.w", blackwell},
    {"nvvm.cp.async.bulk.tensor", "gather4", blackwell},
    {"nvvm.cp.async.bulk.tensor", "scatter4", blackwell},
    {"nvvm.mbarrier.", "", ampere},
    {"nvvm.mbarrier.try", "", hopper},
    {"nvvm.mbarrier.expect", "", hopperCopies},
    {"nvvm.mbarrier.complete", "", hopperCopies},
    {"nvvm.mbarrier.", "expect", hopperCopies},
    {"nvvm.mbarrier.", "scope", hopperCopies},
    {"nvvm.mbarrier.", "relaxed", {90, 0, 86}},
    {"nvvm.fence.proxy.", "", hopperCopies},
    {"nvvm.fence.proxy.acquire", "", {90, 0, 83}},
    {"nvvm.fence.proxy.release", "", {90, 0, 83}},
    {"nvvm.fence.proxy.tensormap", "", {90, 0, 83}},
    {"nvvm.fence.proxy.sync_restrict", "", {90, 0, 86}},
    {"nvvm.fence.proxy.async_generic", "", {90, 0, 86}},
    {"nvvm.fence.", "sync_restrict", {90, 0, 86}},
    {"nvvm.fence.mbarrier", "", hopperCopies},
    {"nvvm.fence.sc.cluster", "", hopper},
    {"nvvm.cluster.", "", hopper},
    {"nvvm.barrier.cluster", "", hopper},
    {"nvvm.read.ptx.sreg.", "cluster", hopper},
    {"nvvm.read.ptx.sreg.aggr", "", {90, 0, 81}},
    {"nvvm.is_explicit_cluster", "", hopper},
    {"nvvm.mapa", "", hopper},
    {"nvvm.getctarank", "", hopper},
    {"nvvm.elect.sync", "", hopperCopies},
    {"nvvm.griddepcontrol", "", hopper},
    {"nvvm.redux.sync", "", ampere},
    {"nvvm.redux.sync.f", "", blackwell},
    {"nvvm.activemask", "", {70, 0, 62}},
    {"nvvm.nanosleep", "", {70, 0, 63}},
    {"nvvm.prefetch.tensormap", "", hopperCopies},
    {"nvvm.convert.", "f8x", eightBitFloats},
    {"nvvm.convert.bf16x2.to.f8x2", "", blackwell},
    {"nvvm.convert.f8x2.to.bf16x2", "", blackwell},
    {"nvvm.convert.f32x4", "", blackwell},
    {"nvvm.convert.f32x2.to.bf16x2", "", ampere},
    {"nvvm.convert.f32x2.to.f16x2", "", ampere},
    {"nvvm.convert.", "f6x", blackwell},
    {"nvvm.convert.", "f4x", blackwell},
    {"nvvm.convert.float.to.tf32", "", ampere},
    {"nvvm.f2tf32", "", ampere},
    {"nvvm.f2tf32.rna.satfinite", "", {80, 0, 81}},
    {"nvvm.f2tf32.rn.", "", hopper},
    {"nvvm.f2tf32.rz.", "", hopper},
    {"nvvm.f2tf32.rn.", "satfinite", {100, 0, 86}},
    {"nvvm.f2tf32.rz.", "satfinite", {100, 0, 86}},
    {"nvvm.f2f16", ".relu", {80, 0, 81}},
    {"nvvm.f2f16", ".satfinite", {80, 0, 81}},
    {"nvvm.f2bf16", "", ampere},
    {"nvvm.f2bf16", ".relu", {80, 0, 81}},
    {"nvvm.f2bf16", ".satfinite", {80, 0, 81}},
    {"nvvm.ff2", ".relu", {80, 0, 81}},
    {"nvvm.ff2", ".satfinite", {80, 0, 81}},
    {"nvvm.neg.bf16", "", ampere},
    {"nvvm.ff2bf16x2", "", ampere},
    {"nvvm.ff2f16x2", "", ampere},
    {"nvvm.", "e4m3x", eightBitFloats},
    {"nvvm.", "e5m2x", eightBitFloats},
    {"nvvm.", "e2m3x", blackwell},
    {"nvvm.", "e3m2x", blackwell},
    {"nvvm.", "e2m1x", blackwell},
    {"nvvm.", "ue8m0x", blackwell},
    {"nvvm.tanh.approx", "", {75, 0, 70}},
    {"nvvm.tanh.approx", "bf16", hopper},
    {"nvvm.ex2.approx", "f16", {75, 0, 70}},
    {"nvvm.ex2.approx", "bf16", hopper},
    {"nvvm.fmax", "nan", ampere},
    {"nvvm.fmin", "nan", ampere},
    {"nvvm.fmax", "f16", ampere},
    {"nvvm.fmin", "f16", ampere},
    {"nvvm.fmax", "xorsign", {86, 0, 72}},
    {"nvvm.fmin", "xorsign", {86, 0, 72}},
    {"nvvm.fma", "bf16", ampere},
    {"nvvm.fma", "relu", ampere},
    {"nvvm.fma", "oob", {90, 0, 81}},
    {"nvvm.tcgen05", "", blackwell},
    {"nvvm.clusterlaunchcontrol", "", {100, 0, 86}},
    {"nvvm.st.bulk", "", {100, 0, 86}},
    {"nvvm.prefetch", "", hopperCopies},
};

constexpr Entry instructions[] = {
    {"ldmatrix", "", {75, 0, 65}},
    {"stmatrix", "", hopper},
    {"movmatrix", "", {75, 0, 78}},
    {"mma.sync", "", {70, 0, 64}},
    {"mma.sync", ".m16n8k8", {75, 0, 65}},
    {"mma.sync", ".m8n8k16", {75, 0, 65}},
    {"mma.sync", ".m8n8k32", {75, 0, 65}},
    {"mma.sync", ".m16n8k4", ampere},
    {"mma.sync", ".m16n8k16", ampere},
    {"mma.sync", ".m16n8k32", ampere},
    {"mma.sync", ".m16n8k64", ampere},
    {"mma.sync", ".m16n8k256", ampere},
    {"mma.sync", ".bf16", ampere},
    {"mma.sync", ".tf32", ampere},
    {"mma.sync", ".f64", ampere},
    {"mma.sync", ".e4m3", {89, 0, 84}},
    {"mma.sync", ".e5m2", {89, 0, 84}},
    {"mma.sync", ".kind", {120, 'a', 87}},
    {"mma.sp", "", ampere},
    {"wgmma", "", hopperAlone},
    {"setmaxnreg", "", {90, '+', 80}},
    {"tensormap.replace", "", {90, '+', 83}},
    // Older assemblers take the number for one of 16 bytes.
    {"tensormap.replace", ".global_stride", {90, '+', 85}},
    {"tensormap.cp_fenceproxy", "", {90, 0, 83}},
    {"tcgen05", "", blackwell},
    {"cp.async", "", ampere},
    {"cp.async.bulk", "", hopperCopies},
    {"cp.async.bulk", ".shared::cta.global", {90, 0, 86}},
    {"cp.async.bulk", ".cp_mask", {100, 0, 86}},
    {"cp.reduce.async.bulk", "", hopperCopies},
    {"mbarrier", "", ampere},
    {"mbarrier.try_wait", "", hopper},
    {"mbarrier", "_tx", hopperCopies},
    {"mbarrier", ".cluster", hopperCopies},
    {"fence.proxy", "", {70, 0, 75}},
    {"fence.proxy", ".async", hopperCopies},
    {"fence.proxy", ".tensormap", {90, 0, 83}},
    {"fence.mbarrier_init", "", hopperCopies},
    {"fence", ".cluster", hopper},
    {"barrier.cluster", "", hopper},
    {"mapa", "", hopper},
    {"getctarank", "", hopper},
    {"elect.sync", "", hopperCopies},
    {"griddepcontrol", "", hopper},
    {"st.async", "", {90, 0, 81}},
    {"red.async", "", {90, 0, 81}},
    {"multimem", "", {90, 0, 81}},
    {"createpolicy", "", {80, 0, 74}},
    {"applypriority", "", {80, 0, 74}},
    {"discard", "", {80, 0, 74}},
    {"", ".L2::cache_hint", {80, 0, 74}},
    {"ld", ".L1::", {70, 0, 74}},
    {"st", ".L1::", {70, 0, 74}},
    {"ld", ".L2::", {75, 0, 74}},
    {"prefetch", ".L2::evict", {80, 0, 74}},
    {"ld", ".v8", {100, 0, 88}},
    {"st", ".v8", {100, 0, 88}},
    {"ld", ".b128", {70, 0, 83}},
    {"st", ".b128", {70, 0, 83}},
    {"mov", ".b128", {70, 0, 83}},
    {"redux.sync", "", ampere},
    {"redux.sync", ".f32", blackwell},
    {"activemask", "", {70, 0, 62}},
    {"nanosleep", "", {70, 0, 63}},
    {"cvt", ".e4m3x2", eightBitFloats},
    {"cvt", ".e5m2x2", eightBitFloats},
    {"cvt", ".e2m1x2", blackwell},
    {"cvt", ".e2m3x2", blackwell},
    {"cvt", ".e3m2x2", blackwell},
    {"cvt", ".ue8m0x2", blackwell},
    {"cvt", ".bf16", ampere},
    {"cvt", ".f16x2.f32", ampere},
    {"cvt", ".tf32", ampere},
    {"cvt", ".relu", ampere},
    {"fma", ".bf16", ampere},
    {"fma", ".relu", ampere},
    {"min", ".bf16", ampere},
    {"max", ".bf16", ampere},
    {"min", ".f16", ampere},
    {"max", ".f16", ampere},
    {"min", ".NaN", ampere},
    {"max", ".NaN", ampere},
    {"min", ".xorsign", {86, 0, 72}},
    {"max", ".xorsign", {86, 0, 72}},
    {"neg", ".bf16", ampere},
    {"abs", ".bf16", ampere},
    {"add", ".bf16", hopper},
    {"sub", ".bf16", hopper},
    {"mul", ".bf16", hopper},
    {"set", ".bf16", hopper},
    {"add", ".f32x2", {100, 0, 86}},
    {"sub", ".f32x2", {100, 0, 86}},
    {"mul", ".f32x2", {100, 0, 86}},
    {"fma", ".f32x2", {100, 0, 86}},
    {"tanh.approx", "", {75, 0, 70}},
    {"tanh.approx", ".bf16", hopper},
    {"ex2.approx", ".f16", {75, 0, 70}},
    {"ex2.approx", ".bf16", hopper},
    {"atom", ".f16", {70, 0, 63}},
    {"red", ".f16", {70, 0, 63}},
    {"atom", ".bf16", hopper},
    {"red", ".bf16", hopper},
    {"atom", ".v", {90, 0, 81}},
    {"red.", ".v", {90, 0, 81}},
    {"atom", ".b128", {90, 0, 83}},
    {"atom", ".cluster", hopper},
    {"red.", ".cluster", hopper},
};

/// The order of architectures in strictness, for one instruction.
unsigned strictness(const Requirement &needs) { return needs.number * 4 + (needs.variant ? 1 : 0); }

Requirement lookup(llvm::ArrayRef<Entry> table, llvm::StringRef name) {
  Requirement result;
  const std::string ended = (name + ".").str();
  name = ended;
  for (const Entry &entry : table) {
    if (!name.starts_with(entry.prefix) || !name.drop_front(entry.prefix.size()).contains(entry.part))
      continue;
    if (strictness(entry.needs) > strictness(result)) {
      result.number = entry.needs.number;
      result.variant = entry.needs.variant;
    }
    result.ptx = std::max(result.ptx, entry.needs.ptx);
  }
  return result;
}

} // namespace

bool Requirement::isMetBy(const Architecture &arch) const {
  if (variant == 0)
    return arch.number >= number;
  if (arch.variant == 0)
    return false;
  if (variant == '+')
    return arch.number >= number;
  // Chips of one family share their special instructions: sm_100, 101, 103 and 110; sm_120 and 121.
  return number < 100 ? arch.number == number : arch.number >= number && arch.number < number + 20;
}

std::string Requirement::architectureName() const {
  return "sm_" + std::to_string(number) + (variant ? "a" : "");
}

Requirement requirementOfIntrinsic(llvm::StringRef name) { return lookup(intrinsics, name); }

Requirement requirementOfInstruction(llvm::StringRef mnemonic) { return lookup(instructions, mnemonic); }

void forEachInstruction(llvm::StringRef ptx, llvm::function_ref<void(llvm::StringRef)> visit) {
  while (!ptx.empty()) {
    auto [statement, rest] = ptx.split(';');
    ptx = rest;
    statement = statement.ltrim(" \t\r\n{}");
    // A label, or the guard of a predicate.
    if (statement.starts_with("@"))
      statement = statement.drop_until([](char c) { return llvm::isSpace(c); }).ltrim();
    llvm::StringRef mnemonic = statement.take_until([](char c) { return llvm::isSpace(c); });
    if (mnemonic.ends_with(":")) {
      statement = statement.drop_front(mnemonic.size()).ltrim(" \t\r\n{}");
      mnemonic = statement.take_until([](char c) { return llvm::isSpace(c); });
    }
    if (!mnemonic.empty() && mnemonic.front() != '.')
      visit(mnemonic);
  }
}

} // namespace despina::nvptx
