//===- Disassembler.cpp - Cubin to text by a child process ----------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "despina/Target/NVPTX/Disassembler.h"

#include "ChildProcess.h"

namespace despina::nvptx {

std::optional<std::string> disassemble(const std::string &cubin, const ToolSearch &tools,
                                       std::string &error) {
  std::vector<std::string> line;
  std::string missing;
  if (std::optional<FoundTool> found = tools.find(Tool::Cuobjdump, error))
    line = {found->path, "-sass"};
  else if (std::optional<FoundTool> other = tools.find(Tool::Nvdisasm, missing))
    line = {other->path, "-c"};
  if (line.empty()) {
    error += "; " + missing;
    return std::nullopt;
  }
  TemporaryFolder folder;
  std::string input = folder.failure().empty() ? folder.file("kernel.cubin") : "";
  if (input.empty() || !writeFile(input, cubin)) {
    error = folder.failure().empty() ? "cannot write " + input : folder.failure();
    return std::nullopt;
  }
  line.push_back(input);
  ChildResult result = runProgram(line);
  if (!result.failure.empty() || result.signal || result.exitStatus) {
    error = "cannot disassemble the kernel with " + line.front() + ": " + result.failure + result.output;
    return std::nullopt;
  }
  return std::move(result.output);
}

} // namespace despina::nvptx
