//===- ToolSearchTest.cpp - Where tools are found -------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "despina/Target/NVPTX/ToolSearch.h"

#include "TestSupport.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace despina::nvptx;
using testing::HasSubstr;

namespace {

class Search : public testing::Test {
protected:
  Search() {
    variables.clearAll();
    variables.set("PATH", folder.path("empty"));
    search.setDefaultToolkits({folder.path("default")});
  }

  std::string find(Tool tool) {
    error.clear();
    std::optional<FoundTool> found = search.find(tool, error);
    return found ? found->path : "";
  }

  test::Folder folder;
  test::Variables variables;
  ToolSearch search{{folder.path("site")}};
  std::string error;
};

TEST_F(Search, FollowsItsOrder) {
  std::string onPath = folder.write("path/bin/ptxas", "", true);
  variables.set("PATH", folder.path("nowhere") + ":" + folder.path("path/bin"));
  EXPECT_EQ(find(Tool::Ptxas), onPath);
  std::string usual = folder.write("default/bin/ptxas", "", true);
  EXPECT_EQ(find(Tool::Ptxas), usual);
  std::string path = folder.write("cudapath/bin/ptxas", "", true);
  variables.set("CUDA_PATH", folder.path("cudapath"));
  EXPECT_EQ(find(Tool::Ptxas), path);
  std::string home = folder.write("home/bin/ptxas", "", true);
  variables.set("CUDA_HOME", folder.path("home"));
  EXPECT_EQ(find(Tool::Ptxas), home);
  std::string wheel = folder.write("site/nvidia/cu12/bin/ptxas", "", true);
  EXPECT_EQ(find(Tool::Ptxas), wheel);
  std::string newer = folder.write("site/nvidia/cu13/bin/ptxas", "", true);
  EXPECT_EQ(find(Tool::Ptxas), newer);
  std::string triton = folder.write("own/triton-ptxas", "", true);
  variables.set("TRITON_PTXAS_PATH", triton);
  EXPECT_EQ(find(Tool::Ptxas), triton);
  std::string own = folder.write("own/ptxas", "", true);
  variables.set("DESPINA_PTXAS_PATH", folder.path("own"));
  std::optional<FoundTool> found = search.find(Tool::Ptxas, error);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->path, own);
  EXPECT_TRUE(found->fromVariable);
}

TEST_F(Search, KnowsTheFoldersOfLibraries) {
  std::string bitcode = folder.write("site/nvidia/cu13/nvvm/libdevice/libdevice.10.bc", "BC");
  EXPECT_EQ(find(Tool::Libdevice), bitcode);
  std::string library12 = folder.write("site/nvidia/nvjitlink/lib/libnvJitLink.so.12", "");
  EXPECT_EQ(find(Tool::NvJitLink), library12);
  std::string library13 = folder.write("site/nvidia/nvjitlink/lib/libnvJitLink.so.13", "");
  EXPECT_EQ(find(Tool::NvJitLink), library13);
  std::filesystem::remove_all(folder.path("site"));
  folder.write("toolkit/bin/nvcc", "", true);
  std::string beside = folder.write("toolkit/lib64/libnvJitLink.so", "");
  variables.set("PATH", folder.path("toolkit/bin"));
  EXPECT_EQ(find(Tool::NvJitLink), beside);
}

TEST_F(Search, BlackwellHasItsOwnVariable) {
  std::string usual = folder.write("default/bin/ptxas", "", true);
  EXPECT_EQ(find(Tool::PtxasBlackwell), usual);
  std::string own = folder.write("own/other", "", true);
  variables.set("TRITON_PTXAS_BLACKWELL_PATH", own);
  EXPECT_EQ(find(Tool::PtxasBlackwell), own);
  EXPECT_EQ(find(Tool::Ptxas), usual);
}

TEST_F(Search, SaysWhereItLooked) {
  variables.set("CUDA_HOME", folder.path("home"));
  for (Tool tool : {Tool::Ptxas, Tool::Cuobjdump, Tool::Nvdisasm, Tool::NvJitLink, Tool::Libdevice}) {
    EXPECT_EQ(find(tool), "");
    EXPECT_THAT(error, HasSubstr(std::string("cannot find ") + toolName(tool)));
    EXPECT_THAT(error, HasSubstr("CUDA_HOME (" + folder.path("home") + ")"));
    EXPECT_THAT(error, HasSubstr("CUDA_PATH (not set)"));
    EXPECT_THAT(error, HasSubstr(folder.path("site") + "/nvidia/*"));
    EXPECT_THAT(error, HasSubstr(folder.path("default")));
    EXPECT_THAT(error, HasSubstr("pip install nvidia-"));
  }
}

TEST_F(Search, WithoutFoldersThoseOfPython) {
  search = ToolSearch();
  search.setDefaultToolkits({});
  const std::string inside = "/lib/python3.11/site-packages/nvidia/cu13/bin/ptxas";
  // The python3 of PATH: an installation, reached by a link; then an environment, which hides it.
  std::string installed = folder.write("usr" + inside, "", true);
  std::string python = folder.write("usr/bin/python3.11", "", true);
  std::filesystem::create_directories(folder.path("links/bin"));
  std::filesystem::create_symlink(python, folder.path("links/bin/python3"));
  variables.set("PATH", folder.path("nowhere") + ":" + folder.path("links/bin"));
  EXPECT_EQ(find(Tool::Ptxas), installed);
  folder.write("links/pyvenv.cfg", "");
  EXPECT_EQ(find(Tool::Ptxas), "");
  std::string environment = folder.write("links/lib/python3.9/site-packages/nvidia/cu13/bin/ptxas", "", true);
  EXPECT_EQ(find(Tool::Ptxas), environment);
  std::string newer = folder.write("links" + inside, "", true);
  EXPECT_EQ(find(Tool::Ptxas), newer);
  // One that is active counts first.
  std::string active = folder.write("active/lib/python3.12/site-packages/nvidia/cu13/bin/ptxas", "", true);
  variables.set("VIRTUAL_ENV", folder.path("active"));
  EXPECT_EQ(find(Tool::Ptxas), active);
  search = ToolSearch({folder.path("site")});
  search.setDefaultToolkits({});
  EXPECT_EQ(find(Tool::Ptxas), "");
}

TEST_F(Search, AVariableThatIsWrongIsAnError) {
  folder.write("default/bin/ptxas", "", true);
  std::string notAProgram = folder.write("own/ptxas", "");
  variables.set("TRITON_PTXAS_PATH", notAProgram);
  EXPECT_EQ(find(Tool::Ptxas), "");
  EXPECT_THAT(error, HasSubstr("TRITON_PTXAS_PATH is '" + notAProgram + "'"));
  variables.set("TRITON_PTXAS_PATH", "");
  EXPECT_EQ(find(Tool::Ptxas), folder.path("default/bin/ptxas"));
}

} // namespace
