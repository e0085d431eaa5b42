//===- OperationsTest.cpp - Every operation, type and architecture --------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// LLVM ends the process at what its NVPTX target cannot do. Here a child process per architecture compiles
// every operation for every type: it must live, and nothing may come as far as LLVM's last words.
//
//===----------------------------------------------------------------------===//
#include "../TestSupport.h"
#include "OperationCases.h"

#include "despina/Target/NVPTX/PTXEmit.h"
#include "despina/Target/NVPTX/ToolSearch.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

#include <cstdio>

#include <sys/wait.h>
#include <unistd.h>

using namespace despina::nvptx;

namespace {

/// The child's part: compiles all cases for one architecture and writes what went wrong.
class Compiler {
public:
  Compiler(const std::string &arch, FILE *report) : report_(report) {
    std::string error;
    options_.arch = *Architecture::parse(arch, error);
    mlir::DialectRegistry registry;
    registry.insert<mlir::LLVM::LLVMDialect, mlir::NVVM::NVVMDialect>();
    registerTranslations(registry);
    context_ = std::make_unique<mlir::MLIRContext>(registry, mlir::MLIRContext::Threading::DISABLED);
    // Errors are expected; their texts have tests of their own.
    context_->getDiagEngine().registerHandler([](mlir::Diagnostic &) { return mlir::success(); });
  }

  /// Everything for one operation at once; where that fails, one by one.
  void compileGroup(const std::vector<OperationCase> &group) {
    std::string text;
    for (const OperationCase &c : group)
      text += c.text;
    if (compile(group.front().name + " and the like", text)) {
      good_ += text;
      return;
    }
    for (const OperationCase &c : group)
      if (compile(c.name, c.text))
        good_ += c.text;
  }

  /// The PTX of all that could be compiled.
  std::string everything() {
    announce("everything");
    std::optional<EmittedPTX> result = emit(good_);
    return result ? result->ptx : "";
  }

private:
  void announce(const std::string &name) {
    std::fprintf(report_, "> %s\n", name.c_str());
    std::fflush(report_);
  }

  std::optional<EmittedPTX> emit(const std::string &text) {
    mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceString<mlir::ModuleOp>(text, context_.get());
    error_.clear();
    return module ? emitPTX(*module, options_, /*keepLLVM=*/false, error_) : std::nullopt;
  }

  bool compile(const std::string &name, const std::string &text) {
    announce(name);
    if (emit(text))
      return true;
    if (error_.find("LLVM gave up") != std::string::npos)
      std::fprintf(report_, "! %s: %s\n", name.c_str(), error_.c_str());
    return false;
  }

  FILE *report_;
  NVPTXOptions options_;
  std::unique_ptr<mlir::MLIRContext> context_;
  std::string good_, error_;
};

/// Runs in the child.
int compileAll(const std::string &arch, FILE *report, const std::string &ptxFile) {
  Compiler compiler(arch, report);
  for (const std::vector<OperationCase> &group : operationCases())
    compiler.compileGroup(group);
  std::string ptx = compiler.everything();
  if (FILE *out = std::fopen(ptxFile.c_str(), "w")) {
    std::fwrite(ptx.data(), 1, ptx.size(), out);
    std::fclose(out);
  }
  std::fprintf(report, "done\n");
  return std::fclose(report);
}

class Operations : public testing::TestWithParam<const char *> {};

TEST_P(Operations, NeitherCrashNorLastWords) {
  std::string arch = GetParam(), ptxFile = testing::TempDir() + "/operations-" + arch + ".ptx";
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    close(ends[0]);
    _exit(compileAll(arch, fdopen(ends[1], "w"), ptxFile));
  }
  close(ends[1]);
  FILE *report = fdopen(ends[0], "r");
  std::string last;
  unsigned count = 0;
  for (char line[1024]; std::fgets(line, sizeof line, report);) {
    last = line;
    count += line[0] == '>';
    EXPECT_NE(line[0], '!') << line;
  }
  std::fclose(report);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(last, "done\n") << "the compiler crashed";
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_GT(count, 100U);
  // The assembler of CUDA 13 starts at sm_75.
  if (arch == "sm_70" || arch == "sm_72" || HasFailure())
    return;
  std::string missing;
  std::optional<FoundTool> ptxas = ToolSearch{test::sitePackages()}.find(Tool::Ptxas, missing);
  ASSERT_TRUE(ptxas) << missing;
  std::string command = ptxas->path + " -O0 -arch=" + arch + " " + ptxFile + " -o /dev/null";
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
}

INSTANTIATE_TEST_SUITE_P(Architectures, Operations,
                         testing::Values("sm_70", "sm_72", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90",
                                         "sm_90a", "sm_100a", "sm_120a"),
                         [](const testing::TestParamInfo<const char *> &info) {
                           return std::string(info.param);
                         });

} // namespace
