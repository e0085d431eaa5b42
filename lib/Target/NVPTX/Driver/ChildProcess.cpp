//===- ChildProcess.cpp - Running NVIDIA's programs -----------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "ChildProcess.h"

#include <cerrno>
#include <cstring>
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

} // namespace

TemporaryFolder::TemporaryFolder() {
  std::error_code code;
  fs::path parent = fs::temp_directory_path(code);
  std::string name = ((code ? fs::path("/tmp") : parent) / "despina-ptx-XXXXXX").string();
  if (mkdtemp(name.data()))
    path_ = name;
  else
    failure_ = "cannot make a temporary folder " + name + ": " + std::strerror(errno);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code code;
  if (!path_.empty())
    fs::remove_all(path_, code);
}

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

} // namespace despina::nvptx
