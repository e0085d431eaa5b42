//===- PythonPackages.cpp - Where Python has its packages -----------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "despina/Target/NVPTX/ToolSearch.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <unistd.h>

namespace fs = std::filesystem;

namespace despina::nvptx {
namespace {

/// Collects folders, each once.
class Folders {
public:
  /// What an installation of Python, or an environment, has below its root.
  void addRoot(const fs::path &root) {
    std::vector<fs::path> versions;
    std::error_code code;
    for (fs::directory_iterator it(root / "lib", code), end; !code && it != end; it.increment(code))
      if (it->path().filename().string().starts_with("python3"))
        versions.push_back(it->path());
    // Longer names first: python3.13 comes before python3.9.
    std::sort(versions.begin(), versions.end(), [](const fs::path &lhs, const fs::path &rhs) {
      size_t left = lhs.native().size(), right = rhs.native().size();
      return left != right ? left > right : lhs > rhs;
    });
    for (const fs::path &version : versions)
      for (const char *name : {"site-packages", "dist-packages"})
        add(version / name);
  }

  std::vector<std::string> take() { return std::move(found_); }

private:
  void add(const fs::path &folder) {
    std::error_code code;
    if (fs::is_directory(folder, code) && std::find(found_.begin(), found_.end(), folder) == found_.end())
      found_.push_back(folder.string());
  }

  std::vector<std::string> found_;
};

fs::path variable(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

/// The first python3 that a shell would start; empty if there is none.
fs::path pythonOnPath() {
  std::string path = variable("PATH").string();
  for (size_t begin = 0; begin <= path.size();) {
    size_t end = std::min(path.find(':', begin), path.size());
    fs::path folder = path.substr(begin, end - begin);
    if (!folder.empty() && access((folder / "python3").c_str(), X_OK) == 0)
      return folder / "python3";
    begin = end + 1;
  }
  return {};
}

} // namespace

std::vector<std::string> pythonSitePackages() {
  Folders folders;
  for (const char *name : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (fs::path root = variable(name); !root.empty())
      folders.addRoot(root);
  if (fs::path python = pythonOnPath(); !python.empty()) {
    fs::path root = python.parent_path().parent_path();
    folders.addRoot(root);
    // The program of an environment is a link to the installation, whose packages are not the environment's.
    std::error_code code;
    fs::path real = fs::canonical(python, code);
    if (code || fs::exists(root / "pyvenv.cfg", code))
      return folders.take();
    root = real.parent_path().parent_path();
    folders.addRoot(root);
    // What users and administrators install beside the system's own.
    if (fs::path home = variable("HOME"); !home.empty())
      folders.addRoot(home / ".local");
    if (root == "/usr")
      folders.addRoot("/usr/local");
  }
  return folders.take();
}

} // namespace despina::nvptx
