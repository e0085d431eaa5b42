//===- AssemblerTest.cpp - PTX to cubin -----------------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// The tests of the real assemblers need ptxas and nvJitLink and fail without them.
//
//===----------------------------------------------------------------------===//

#include "despina/Target/NVPTX/Assembler.h"

#include "TestSupport.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <csignal>
#include <thread>

using namespace despina::nvptx;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using Kind = AssembleError::Kind;

/// NVIDIA's library keeps a little memory of inputs that it refuses.
extern "C" const char *__lsan_default_suppressions() { return "leak:libnvJitLink"; }

namespace {

/// y[i] = f * y[i] + f with 512 bytes of shared memory.
std::string scaleKernel(const std::string &target = "sm_75", const std::string &operation = "add.f32") {
  return ".version 7.0\n.target " + target + R"(
.address_size 64
.visible .entry scale(.param .u64 y, .param .f32 f)
{
  .reg .b64 %rd<4>;
  .reg .b32 %r<3>;
  .reg .f32 %f<4>;
  .shared .align 16 .b8 buffer[512];
  ld.param.u64 %rd1, [y];
  ld.param.f32 %f1, [f];
  mov.u32 %r1, %tid.x;
  cvta.to.global.u64 %rd1, %rd1;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd3, %rd1, %rd2;
  ld.global.f32 %f2, [%rd3];
  mul.f32 %f3, %f2, %f1;
  )" + operation +
         R"( %f3, %f3, %f1;
  st.global.f32 [%rd3], %f3;
  mov.u32 %r2, buffer;
  st.shared.f32 [%r2], %f3;
  ret;
}
)";
}

/// Keeps `live` values alive over a barrier, so that a small limit of registers makes spills.
std::string hungryKernel(unsigned live) {
  std::string text =
      ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry hungry(.param .u64 p)\n{\n"
      "  .reg .b64 %rd<2>;\n  .reg .f32 %f<" +
      std::to_string(live + 1) + ">;\n  ld.param.u64 %rd1, [p];\n  cvta.to.global.u64 %rd1, %rd1;\n";
  for (unsigned i = 0; i < live; ++i)
    text += "  ld.volatile.global.f32 %f" + std::to_string(i) + ", [%rd1+" + std::to_string(4 * i) + "];\n";
  text += "  bar.sync 0;\n";
  for (unsigned i = 0; i < live; ++i)
    text += "  st.volatile.global.f32 [%rd1+" + std::to_string(4 * (live - 1 - i)) + "], %f" +
            std::to_string(i) + ";\n";
  return text + "  ret;\n}\n";
}

class Assembling : public testing::Test {
protected:
  Assembling() { variables.clearAll(); }

  std::optional<AssembledCode> run(const std::string &ptx, const std::string &arch = "sm_90a") {
    options.arch = arch;
    error = AssembleError();
    return assemble(ptx, options, tools, error);
  }

  /// A ptxas that is a shell script.
  void fakePtxas(const std::string &script) {
    variables.set("DESPINA_PTXAS_PATH", folder.write("bin/ptxas", "#!/bin/sh\n" + script, true));
  }

  test::Folder folder;
  test::Variables variables;
  ToolSearch tools{test::sitePackages()};
  AssembleOptions options;
  AssembleError error;
};

/// With either real assembler.
class EachAssembler : public Assembling, public testing::WithParamInterface<AssembleMethod> {
protected:
  EachAssembler() { options.method = GetParam(); }
};

TEST_P(EachAssembler, GivesACubinAndItsResources) {
  for (const char *arch : {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100a"}) {
    std::optional<AssembledCode> code = run(scaleKernel(), arch);
    ASSERT_TRUE(code) << arch << ": " << error.message;
    EXPECT_EQ(code->cubin.substr(0, 4), "\x7f"
                                        "ELF")
        << arch;
    const KernelResources *kernel = code->kernel("scale");
    ASSERT_TRUE(kernel) << code->log;
    EXPECT_GT(kernel->registers, 3u);
    EXPECT_LT(kernel->registers, 40u);
    EXPECT_EQ(kernel->sharedBytes, 512u);
    EXPECT_EQ(kernel->spillStores, 0u);
    EXPECT_FALSE(code->kernel("other"));
  }
}

TEST_P(EachAssembler, CountsSpills) {
  std::optional<AssembledCode> code = run(hungryKernel(100));
  ASSERT_TRUE(code) << error.message;
  EXPECT_GT(code->kernel("hungry")->registers, 99u);
  EXPECT_EQ(code->kernel("hungry")->barriers, 1u);
  options.maxRegisters = 40;
  code = run(hungryKernel(100));
  ASSERT_TRUE(code) << error.message;
  const KernelResources *kernel = code->kernel("hungry");
  EXPECT_LE(kernel->registers, 40u);
  EXPECT_GT(kernel->spillStores, 200u) << code->log;
  EXPECT_GT(kernel->spillLoads, 200u);
  EXPECT_GE(kernel->stackBytes, kernel->spillStores);
}

TEST_P(EachAssembler, OptionsChangeTheCode) {
  std::string fused = run(scaleKernel())->cubin;
  EXPECT_TRUE(fused == run(scaleKernel())->cubin) << "the same input gives the same bytes";
  options.fpFusion = false;
  EXPECT_FALSE(fused == run(scaleKernel())->cubin);
  options.fpFusion = true;
  for (unsigned level : {0u, 1u, 2u}) {
    options.optLevel = level;
    std::optional<AssembledCode> code = run(hungryKernel(20));
    ASSERT_TRUE(code) << level << error.message;
  }
  options.optLevel = 0;
  EXPECT_FALSE(fused == run(scaleKernel())->cubin);
  options.optLevel = 3;
  options.lineInfo = false;
  options.extra = {"--maxrregcount=24"};
  std::optional<AssembledCode> code = run(hungryKernel(60));
  ASSERT_TRUE(code) << error.message;
  EXPECT_GT(code->kernel("hungry")->spillStores, 0u);
}

TEST_P(EachAssembler, ShowsWhatIsWrongWithThePtx) {
  EXPECT_FALSE(run(scaleKernel("sm_75", "frobnicate.f32")));
  EXPECT_EQ(error.kind, Kind::BadPtx);
  EXPECT_THAT(error.message, HasSubstr("line 18"));
  EXPECT_THAT(error.log, HasSubstr("frobnicate"));
  EXPECT_FALSE(run(scaleKernel("sm_90"), "sm_80"));
  EXPECT_EQ(error.kind, Kind::BadPtx);
  EXPECT_FALSE(run(""));
  EXPECT_FALSE(run("not PTX at all"));
}

TEST_P(EachAssembler, RefusesArchitecturesThatItDoesNotKnow) {
  EXPECT_FALSE(run(scaleKernel("sm_70"), "sm_70"));
  EXPECT_EQ(error.kind, Kind::UnsupportedArch);
  EXPECT_THAT(error.message, HasSubstr("sm_75"));
  EXPECT_THAT(error.message, HasSubstr("DESPINA_PTXAS_PATH"));
  EXPECT_FALSE(run(scaleKernel(), "sm_999"));
  EXPECT_EQ(error.kind, Kind::UnsupportedArch);
  EXPECT_THAT(error.message, HasSubstr("newer CUDA toolkit"));
}

TEST_P(EachAssembler, NamesAnOptionItDoesNotTake) {
  options.extra = {"--no-such-option"};
  EXPECT_FALSE(run(scaleKernel()));
  EXPECT_EQ(error.kind, Kind::BadOption) << error.message;
  EXPECT_THAT(error.message, HasSubstr("no-such-option"));
}

TEST_P(EachAssembler, WorksInManyThreads) {
  std::string expected = run(scaleKernel())->cubin;
  std::vector<std::string> cubins(4);
  std::vector<std::thread> threads;
  for (std::string &cubin : cubins)
    threads.emplace_back([&, this] {
      AssembleError mine;
      if (std::optional<AssembledCode> code = assemble(scaleKernel(), options, tools, mine))
        cubin = code->cubin;
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_THAT(cubins, testing::Each(expected));
}

INSTANTIATE_TEST_SUITE_P(Real, EachAssembler,
                         testing::Values(AssembleMethod::NvJitLink, AssembleMethod::Ptxas),
                         [](const auto &info) {
                           return info.param == AssembleMethod::Ptxas ? "ptxas" : "nvJitLink";
                         });

TEST_F(Assembling, ChecksArchitecturesAndOptions) {
  for (const char *arch :
       {"", "90", "sm_", "sm_9x", "sm_90b", "sm_90aa", "sm_-9", "compute_90", "sm_123456"}) {
    EXPECT_FALSE(run("", arch)) << arch;
    EXPECT_EQ(error.kind, Kind::UnsupportedArch);
    EXPECT_THAT(error.message, HasSubstr("no NVIDIA architecture"));
  }
  EXPECT_FALSE(run("", "sm_61"));
  EXPECT_THAT(error.message, HasSubstr("sm_61 is too old"));
  std::string text;
  EXPECT_EQ(Architecture::parse("sm_100f", text)->name(), "sm_100f");
  options.maxRegisters = 256;
  EXPECT_FALSE(run(""));
  EXPECT_THAT(error.message, HasSubstr("at most 255"));
  options.maxRegisters = 0;
  options.optLevel = 4;
  EXPECT_FALSE(run(""));
  EXPECT_EQ(error.kind, Kind::BadOption);
}

TEST_F(Assembling, TakesNvJitLinkUnlessAVariableNamesPtxas) {
  std::optional<AssembledCode> code = run(scaleKernel());
  ASSERT_TRUE(code) << error.message;
  EXPECT_THAT(code->assembler, HasSubstr("nvJitLink 1"));
  fakePtxas("for last; do true; done; echo mine > \"$last\"");
  code = run(scaleKernel());
  ASSERT_TRUE(code) << error.message;
  EXPECT_EQ(code->cubin, "mine\n");
  EXPECT_EQ(code->assembler, folder.path("bin/ptxas"));
}

TEST_F(Assembling, UsesVersionedNames) {
  variables.set("DESPINA_NVJITLINK_PATH", STUB_NVJITLINK);
  options.method = AssembleMethod::NvJitLink;
  options.maxRegisters = 64;
  options.fpFusion = false;
  std::optional<AssembledCode> code = run("text");
  ASSERT_TRUE(code) << error.message;
  EXPECT_EQ(code->cubin,
            "-arch=sm_90a\n-Xptxas=-v\n-O3\n-maxrregcount=64\n-Xptxas=--fmad=false\n-lineinfo\ntype 2\ntext");
  EXPECT_EQ(code->assembler, "nvJitLink 12.3");
  EXPECT_FALSE(run("refuse it"));
  EXPECT_EQ(error.kind, Kind::BadPtx);
  EXPECT_EQ(error.log, "input, line 1; error   : it");
}

TEST_F(Assembling, AnOlderPtxasServesOldArchitectures) {
  variables.set("DESPINA_NVJITLINK_PATH", STUB_NVJITLINK);
  folder.write("toolkit/bin/ptxas", "#!/bin/sh\nfor last; do true; done; echo old > \"$last\"", true);
  tools = ToolSearch();
  tools.setDefaultToolkits({folder.path("toolkit")});
  std::optional<AssembledCode> code = run("text", "sm_70");
  ASSERT_TRUE(code) << error.message;
  EXPECT_EQ(code->cubin, "old\n");
}

TEST_F(Assembling, SaysWhatIsMissing) {
  tools = ToolSearch();
  tools.setDefaultToolkits({});
  variables.set("PATH", folder.path());
  EXPECT_FALSE(run(scaleKernel()));
  EXPECT_EQ(error.kind, Kind::NoAssembler);
  EXPECT_THAT(error.message, HasSubstr("cannot find ptxas"));
  EXPECT_THAT(error.message, HasSubstr("cannot find libnvJitLink"));
  variables.set("DESPINA_NVJITLINK_PATH", folder.write("libnvJitLink.so", "no library"));
  EXPECT_FALSE(run(scaleKernel()));
  EXPECT_EQ(error.kind, Kind::NoAssembler);
  EXPECT_THAT(error.message, HasSubstr("cannot use " + folder.path("libnvJitLink.so")));
}

TEST_F(Assembling, APtxasThatFails) {
  fakePtxas("kill -SEGV $$");
  EXPECT_FALSE(run("x"));
  EXPECT_EQ(error.kind, Kind::Failed);
  EXPECT_THAT(error.message, HasSubstr("signal 11"));
  fakePtxas("exit 0");
  EXPECT_FALSE(run("x"));
  fakePtxas("echo 'some trouble' >&2; exit 3");
  EXPECT_FALSE(run("x"));
  EXPECT_EQ(error.log, "some trouble");
  variables.set("DESPINA_PTXAS_PATH", folder.write("bin/broken", "#!/no/such/shell\n", true));
  EXPECT_FALSE(run("x"));
  EXPECT_EQ(error.kind, Kind::NoAssembler);
  EXPECT_THAT(error.message, HasSubstr("cannot run"));
  fakePtxas("exit 0");
  variables.set("TMPDIR", folder.path("nowhere"));
  EXPECT_FALSE(run("x"));
  EXPECT_THAT(error.message, Not(IsEmpty()));
}

TEST_F(Assembling, PassesArgumentsAsTheyAre) {
  fakePtxas("for last; do true; done; for a; do echo \"<$a>\"; done > \"$last\"; echo 'ptxas warning : wgmma "
            "serialized'; cat >> \"$last\"");
  variables.set("PTXAS_OPTIONS", "  --one  --two='$(x)' ");
  variables.set("DISABLE_PTXAS_OPT", "1");
  applyAssemblerEnvironment(options);
  std::optional<AssembledCode> code = run("x");
  ASSERT_TRUE(code) << error.message;
  EXPECT_THAT(code->cubin,
              HasSubstr("<-v>\n<--gpu-name=sm_90a>\n<-O0>\n<-g>\n<-lineinfo>\n<--one>\n<--two='$(x)'>\n"));
  EXPECT_THAT(code->warnings, testing::ElementsAre(HasSubstr("wgmma serialized")));
}

TEST_F(Assembling, LeavesNoFilesBehind) {
  std::filesystem::create_directories(folder.path("tmp"));
  variables.set("TMPDIR", folder.path("tmp"));
  fakePtxas("for last; do true; done; echo x > \"$last\"");
  ASSERT_TRUE(run("x"));
  fakePtxas("exit 1");
  EXPECT_FALSE(run("x"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path("tmp")));
}

TEST_F(Assembling, WorksWhereChildrenAreIgnored) {
  fakePtxas("for last; do true; done; echo x > \"$last\"");
  auto *old = std::signal(SIGCHLD, SIG_IGN);
  std::optional<AssembledCode> code = run("x");
  std::signal(SIGCHLD, old);
  EXPECT_TRUE(code) << error.message;
}

} // namespace
