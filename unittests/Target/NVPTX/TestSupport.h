//===- TestSupport.h - Folders, variables and PTX for tests -----*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_UNITTESTS_TARGET_NVPTX_TESTSUPPORT_H
#define DESPINA_UNITTESTS_TARGET_NVPTX_TESTSUPPORT_H

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace despina::nvptx::test {

/// A folder that is gone with this object.
class Folder {
public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "despina-test-XXXXXX").string();
    if (mkdtemp(name.data()))
      path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string path(const std::string &name = "") const { return (path_ / name).string(); }

  std::string write(const std::string &name, const std::string &text, bool program = false) const {
    std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
    if (program)
      std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    return file.string();
  }

private:
  std::filesystem::path path_;
};

/// Clears or sets variables and puts them back.
class Variables {
public:
  ~Variables() {
    for (auto &[name, value] : old_)
      if (value)
        setenv(name.c_str(), value->c_str(), 1);
      else
        unsetenv(name.c_str());
  }
  void set(const std::string &name, const std::string &value) {
    remember(name);
    setenv(name.c_str(), value.c_str(), 1);
  }
  void clear(const std::string &name) {
    remember(name);
    unsetenv(name.c_str());
  }
  /// Nothing that a user set reaches the search.
  void clearAll() {
    for (const char *tool :
         {"PTXAS", "PTXAS_BLACKWELL", "CUOBJDUMP", "NVDISASM", "NVJITLINK", "LIBDEVICE", "LIBCUDA"})
      for (const char *prefix : {"DESPINA_", "TRITON_"})
        clear(std::string(prefix) + tool + "_PATH");
    for (const char *name : {"CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV", "CONDA_PREFIX", "HOME", "PTXAS_OPTIONS",
                             "DISABLE_PTXAS_OPT", "TRITON_DISABLE_LINE_INFO", "DESPINA_DISABLE_LINE_INFO"})
      clear(name);
  }

private:
  void remember(const std::string &name) {
    const char *value = std::getenv(name.c_str());
    old_.try_emplace(name, value ? std::optional<std::string>(value) : std::nullopt);
  }
  std::map<std::string, std::optional<std::string>> old_;
};

/// The site-packages of the checkout's own Python environment.
inline std::vector<std::string> sitePackages() {
  std::vector<std::string> folders;
  std::error_code code;
  for (const auto &entry : std::filesystem::directory_iterator(SOURCE_FOLDER "/.venv/lib", code))
    folders.push_back((entry.path() / "site-packages").string());
  return folders;
}

} // namespace despina::nvptx::test

#endif // DESPINA_UNITTESTS_TARGET_NVPTX_TESTSUPPORT_H
