//===- ChildProcess.h - Running NVIDIA's programs ---------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_TARGET_NVPTX_DRIVER_CHILDPROCESS_H
#define DESPINA_LIB_TARGET_NVPTX_DRIVER_CHILDPROCESS_H

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace despina::nvptx {

/// A folder of its own below TMPDIR, gone with this object.
class TemporaryFolder {
public:
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;
  ~TemporaryFolder();

  /// Empty when the folder is there.
  const std::string &failure() const { return failure_; }
  std::string file(const char *name) const { return (path_ / name).string(); }

private:
  std::filesystem::path path_;
  std::string failure_;
};

bool writeFile(const std::string &path, std::string_view text);
std::string readFile(const std::string &path);

/// What a child process left behind.
struct ChildResult {
  std::string failure; ///< it did not start
  std::string output;  ///< stdout and stderr together
  int exitStatus = 0;
  int signal = 0;
};

ChildResult runProgram(const std::vector<std::string> &line);

} // namespace despina::nvptx

#endif // DESPINA_LIB_TARGET_NVPTX_DRIVER_CHILDPROCESS_H
