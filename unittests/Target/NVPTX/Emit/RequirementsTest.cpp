//===- RequirementsTest.cpp - Architecture and PTX version per instruction ===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "Legality.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace despina::nvptx;

namespace {

Architecture arch(const char *name) {
  std::string error;
  return *Architecture::parse(name, error);
}

std::vector<std::string> instructionsOf(const char *text) {
  std::vector<std::string> result;
  forEachInstruction(text, [&](llvm::StringRef mnemonic) { result.push_back(mnemonic.str()); });
  return result;
}

TEST(Requirements, InstructionsOfText) {
  using testing::ElementsAre;
  EXPECT_THAT(instructionsOf(""), ElementsAre());
  EXPECT_THAT(instructionsOf("bar.sync 0;"), ElementsAre("bar.sync"));
  EXPECT_THAT(instructionsOf("add.f32 $0, $1, $2"), ElementsAre("add.f32"));
  EXPECT_THAT(instructionsOf("{\n .reg .pred p;\n setp.ne.b32 p, $1, 0;\n @p ld.global.b32 $0, [$2];\n}"),
              ElementsAre("setp.ne.b32", "ld.global.b32"));
  EXPECT_THAT(instructionsOf("again: mbarrier.try_wait.b64 p, [$0], $1;\n@!p bra again;"),
              ElementsAre("mbarrier.try_wait.b64", "bra"));
  EXPECT_THAT(instructionsOf("{ again:\n{ trap; } }"), ElementsAre("trap"));
  // Nonsense is the assembler's to reject.
  EXPECT_THAT(instructionsOf(";;@;}{: ; @p"), testing::SizeIs(testing::Le(1U)));
}

TEST(Requirements, StrictestEntryCounts) {
  EXPECT_EQ(requirementOfInstruction("add.f32").number, 0U);
  EXPECT_EQ(requirementOfInstruction("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32").number, 80U);
  Requirement product = requirementOfInstruction("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32");
  EXPECT_EQ(product.number, 89U);
  EXPECT_EQ(product.ptx, 84U);
  EXPECT_EQ(requirementOfInstruction("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16").architectureName(),
            "sm_90a");
  EXPECT_EQ(requirementOfInstruction("cp.async.cg.shared.global").number, 80U);
  EXPECT_EQ(requirementOfInstruction("cp.async.bulk.commit_group").number, 90U);
  EXPECT_EQ(requirementOfInstruction("cvt.rn.satfinite.e4m3x2.f32").number, 89U);
  EXPECT_EQ(requirementOfInstruction("ld.global.L1::evict_first.L2::cache_hint.v4.b32").number, 80U);
  EXPECT_EQ(requirementOfIntrinsic("nvvm.ldmatrix.sync.aligned.m8n8.x4.b16").number, 75U);
  EXPECT_EQ(requirementOfIntrinsic("nvvm.f2tf32.rna").number, 80U);
  EXPECT_EQ(requirementOfIntrinsic("nvvm.f2tf32.rn").number, 90U);
  EXPECT_EQ(requirementOfIntrinsic("nvvm.read.ptx.sreg.tid.x").number, 0U);
  EXPECT_EQ(requirementOfIntrinsic("nvvm.read.ptx.sreg.cluster.ctarank").number, 90U);
}

TEST(Requirements, Architectures) {
  const Requirement ampere{80, 0, 70}, hopperAlone{90, 'a', 80}, anyVariant{90, '+', 83},
      blackwell{100, 'a', 86};
  EXPECT_FALSE(ampere.isMetBy(arch("sm_75")));
  EXPECT_TRUE(ampere.isMetBy(arch("sm_80")));
  EXPECT_TRUE(ampere.isMetBy(arch("sm_90a")));
  EXPECT_FALSE(hopperAlone.isMetBy(arch("sm_90")));
  EXPECT_TRUE(hopperAlone.isMetBy(arch("sm_90a")));
  EXPECT_FALSE(hopperAlone.isMetBy(arch("sm_100a")));
  EXPECT_TRUE(anyVariant.isMetBy(arch("sm_100a")));
  EXPECT_FALSE(anyVariant.isMetBy(arch("sm_100")));
  EXPECT_TRUE(blackwell.isMetBy(arch("sm_103a")));
  EXPECT_FALSE(blackwell.isMetBy(arch("sm_120a")));
}

} // namespace
