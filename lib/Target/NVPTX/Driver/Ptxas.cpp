//===- Ptxas.cpp - PTX to cubin by a child process ------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "AssemblerImpl.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" char **environ;

namespace fs = std::filesystem;

namespace despina::nvptx {
namespace {

/// A folder of its own below TMPDIR, gone with this object.
class TemporaryFolder {
public:
  TemporaryFolder() {
    std::error_code code;
    fs::path parent = fs::temp_directory_path(code);
    std::string name = ((code ? fs::path("/tmp") : parent) / "despina-ptx-XXXXXX").string();
    if (mkdtemp(name.data()))
      path_ = name;
    else
      failure_ = "cannot make a temporary folder " + name + ": " + std::strerror(errno);
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;
  ~TemporaryFolder() {
    std::error_code code;
    if (!path_.empty())
      fs::remove_all(path_, code);
  }

  const std::string &failure() const { return failure_; }
  std::string file(const char *name) const { return (path_ / name).string(); }

private:
  fs::path path_;
  std::string failure_;
};

bool writeFile(const std::string &path, std::string_view text) {
  std::ofstream stream(path, std::ios::binary);
  stream.write(text.data(), static_cast<std::streamsize>(text.size()));
  stream.close();
  return !stream.fail();
}

std::string readFile(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// What a child process left behind.
struct ChildResult {
  std::string failure; ///< it did not start
  std::string output;  ///< stdout and stderr together
  int exitStatus = 0;
  int signal = 0;
};

std::string readToEnd(int descriptor) {
  std::string text;
  char buffer[4096];
  while (true) {
    ssize_t count = read(descriptor, buffer, sizeof(buffer));
    if (count > 0)
      text.append(buffer, static_cast<size_t>(count));
    else if (count == 0 || errno != EINTR)
      return text;
  }
}

void waitFor(pid_t child, ChildResult &result) {
  int status = 0;
  pid_t done = 0;
  do
    done = waitpid(child, &status, 0);
  while (done < 0 && errno == EINTR);
  // A host that ignores SIGCHLD has the system collect children: then the output file is the judge.
  if (done < 0)
    return;
  if (WIFSIGNALED(status))
    result.signal = WTERMSIG(status);
  else
    result.exitStatus = WEXITSTATUS(status);
}

ChildResult runProgram(const std::vector<std::string> &line) {
  ChildResult result;
  int pipes[2];
  if (pipe2(pipes, O_CLOEXEC) != 0) {
    result.failure = std::strerror(errno);
    return result;
  }
  std::vector<char *> arguments;
  arguments.reserve(line.size() + 1);
  for (const std::string &argument : line)
    arguments.push_back(const_cast<char *>(argument.c_str()));
  arguments.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, pipes[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, pipes[1], STDERR_FILENO);
  pid_t child = 0;
  int code = posix_spawn(&child, line.front().c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(pipes[1]);
  if (code == 0) {
    result.output = readToEnd(pipes[0]);
    waitFor(child, result);
  } else {
    result.failure = std::strerror(code);
  }
  close(pipes[0]);
  return result;
}

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
