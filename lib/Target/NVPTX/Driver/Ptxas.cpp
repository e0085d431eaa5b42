//===- Ptxas.cpp - PTX to cubin by a child process ------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "AssemblerImpl.h"
#include "ChildProcess.h"

#include <cstring>

namespace despina::nvptx {
namespace {

std::vector<std::string> commandLine(const std::string &program, const AssembleOptions &options) {
  std::vector<std::string> line = {program, "-v", "--gpu-name=" + options.arch,
                                   "-O" + std::to_string(options.optLevel)};
  if (options.maxRegisters)
    line.push_back("--maxrregcount=" + std::to_string(options.maxRegisters));
  if (!options.fpFusion)
    line.emplace_back("--fmad=false");
  if (options.debugInfo)
    line.emplace_back("-g");
  if (options.lineInfo)
    line.emplace_back("-lineinfo");
  line.insert(line.end(), options.extra.begin(), options.extra.end());
  return line;
}

AssembleError failed(std::string message, std::string log = {}) {
  return {AssembleError::Kind::Failed, std::move(message), std::move(log)};
}

} // namespace

std::optional<AssembledCode> assembleByProgram(const std::string &path, std::string_view ptx,
                                               const AssembleOptions &options, AssembleError &error) {
  TemporaryFolder folder;
  if (!folder.failure().empty()) {
    error = failed(folder.failure() + "; set TMPDIR to a folder that may be written");
    return std::nullopt;
  }
  std::string input = folder.file("kernel.ptx"), output = folder.file("kernel.cubin");
  if (!writeFile(input, ptx)) {
    error = failed("cannot write " + input + "; is the disk full? TMPDIR may name another folder");
    return std::nullopt;
  }
  std::vector<std::string> line = commandLine(path, options);
  line.insert(line.end(), {input, "-o", output});
  ChildResult result = runProgram(line);
  if (!result.failure.empty()) {
    error = {AssembleError::Kind::NoAssembler, "cannot run " + path + ": " + result.failure, {}};
    return std::nullopt;
  }
  if (result.signal) {
    error = failed(path + " was killed by signal " + std::to_string(result.signal) + " (" +
                       strsignal(result.signal) + ")\n" + result.output,
                   result.output);
    return std::nullopt;
  }
  AssembledCode code;
  code.cubin = readFile(output);
  if (result.exitStatus != 0 || code.cubin.empty()) {
    error = sortAssemblerFailure(path, options.arch, result.output);
    return std::nullopt;
  }
  code.log = std::move(result.output);
  code.assembler = path;
  readAssemblerLog(code);
  return code;
}

} // namespace despina::nvptx
