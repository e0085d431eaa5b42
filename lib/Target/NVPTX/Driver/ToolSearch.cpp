//===- ToolSearch.cpp - Where NVIDIA's tools are --------------------------===//
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

struct ToolFacts {
  const char *name;
  const char *variable;             ///< without its DESPINA_ or TRITON_
  std::vector<const char *> files;  ///< best first
  std::vector<const char *> places; ///< below a toolkit's folder
  bool program;
  const char *package; ///< of PyPI
};

ToolFacts factsOf(Tool tool) {
  switch (tool) {
  case Tool::Ptxas: return {"ptxas", "PTXAS_PATH", {"ptxas"}, {"bin"}, true, "nvidia-cuda-nvcc"};
  case Tool::PtxasBlackwell:
    return {"ptxas", "PTXAS_BLACKWELL_PATH", {"ptxas-blackwell", "ptxas"}, {"bin"}, true, "nvidia-cuda-nvcc"};
  case Tool::Cuobjdump:
    return {"cuobjdump", "CUOBJDUMP_PATH", {"cuobjdump"}, {"bin"}, true, "nvidia-cuda-cuobjdump"};
  case Tool::Nvdisasm:
    return {"nvdisasm", "NVDISASM_PATH", {"nvdisasm"}, {"bin"}, true, "nvidia-cuda-nvdisasm"};
  case Tool::NvJitLink:
    return {"libnvJitLink",
            "NVJITLINK_PATH",
            {"libnvJitLink.so.13", "libnvJitLink.so.12", "libnvJitLink.so"},
            {"lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"},
            false,
            "nvidia-nvjitlink"};
  case Tool::Libdevice:
    return {"libdevice.10.bc", "LIBDEVICE_PATH", {"libdevice.10.bc"}, {"nvvm/libdevice"}, false,
            "nvidia-nvvm"};
  }
  return {"", "", {}, {}, false, ""};
}

bool isUsable(const fs::path &path, bool program) {
  std::error_code code;
  return fs::is_regular_file(path, code) && access(path.c_str(), program ? X_OK : R_OK) == 0;
}

/// The toolkit-like folders of NVIDIA's Python packages: site-packages/nvidia/cu13, .../nvidia/cuda_nvcc, ...
std::vector<fs::path> wheelFolders(const std::string &sitePackages) {
  std::vector<fs::path> folders;
  std::error_code code;
  for (fs::directory_iterator it(fs::path(sitePackages) / "nvidia", code), end; !code && it != end;
       it.increment(code))
    if (it->is_directory(code))
      folders.push_back(it->path());
  // The folder's own order is arbitrary; newest first, so that cu13 comes before cu12.
  std::sort(folders.begin(), folders.end(), std::greater<>());
  return folders;
}

std::optional<std::string> environment(const char *name) {
  const char *value = std::getenv(name);
  if (!value || !*value)
    return std::nullopt;
  return std::string(value);
}

/// The folder's file, or the file itself where a variable names one.
std::optional<std::string> fromVariable(const std::string &value, const ToolFacts &facts) {
  if (isUsable(value, facts.program))
    return value;
  for (const char *file : facts.files)
    if (fs::path inside = fs::path(value) / file; isUsable(inside, facts.program))
      return inside.string();
  return std::nullopt;
}

/// One search: remembers the places it was shown.
class Lookup {
public:
  explicit Lookup(const ToolFacts &facts) : facts_(facts) {}

  bool tryFolder(const fs::path &folder) {
    for (const char *file : facts_.files)
      if (isUsable(folder / file, facts_.program)) {
        found_ = (folder / file).string();
        return true;
      }
    return false;
  }

  bool tryToolkit(const fs::path &root) {
    return std::any_of(facts_.places.begin(), facts_.places.end(),
                       [&](const char *place) { return tryFolder(root / place); });
  }

  bool tryWheels(const std::string &sitePackages) {
    looked_.push_back(sitePackages + "/nvidia/*");
    std::vector<fs::path> folders = wheelFolders(sitePackages);
    return std::any_of(folders.begin(), folders.end(),
                       [&](const fs::path &root) { return tryToolkit(root); });
  }

  bool tryVariable(const char *name) {
    std::optional<std::string> root = environment(name);
    looked_.push_back(std::string(name) + (root ? " (" + *root + ")" : " (not set)"));
    return root && tryToolkit(*root);
  }

  bool tryDefault(const std::string &root) {
    looked_.push_back(root);
    return tryToolkit(root);
  }

  bool tryPath() {
    looked_.push_back("PATH");
    std::string path = environment("PATH").value_or("");
    for (size_t begin = 0; begin <= path.size();) {
      size_t end = std::min(path.find(':', begin), path.size());
      fs::path folder = path.substr(begin, end - begin);
      // The library and the bitcode lie beside the folder of the programs.
      if (!folder.empty() && (facts_.program ? tryFolder(folder) : tryToolkit(folder.parent_path())))
        return true;
      begin = end + 1;
    }
    return false;
  }

  const std::string &found() const { return found_; }

  std::string notFound() const {
    std::string message = std::string("cannot find ") + facts_.name + "; looked in DESPINA_" +
                          facts_.variable + " and TRITON_" + facts_.variable + " (not set)";
    for (const std::string &place : looked_)
      message += ", " + place;
    return message + ". Install the CUDA toolkit, or `pip install " + facts_.package + "`, or set DESPINA_" +
           facts_.variable + " to the file";
  }

private:
  const ToolFacts &facts_;
  std::vector<std::string> looked_;
  std::string found_;
};

} // namespace

const char *toolName(Tool tool) { return factsOf(tool).name; }

std::optional<TwinVariable> twinVariable(const std::string &name) {
  for (const char *prefix : {"DESPINA_", "TRITON_"})
    if (std::optional<std::string> value = environment((prefix + name).c_str()))
      return TwinVariable{prefix + name, *value};
  return std::nullopt;
}

ToolSearch::ToolSearch(std::vector<std::string> sitePackages)
    : sitePackages_(std::move(sitePackages)), defaultToolkits_{"/usr/local/cuda"} {}

std::optional<FoundTool> ToolSearch::find(Tool tool, std::string &error) const {
  ToolFacts facts = factsOf(tool);
  if (std::optional<TwinVariable> variable = twinVariable(facts.variable)) {
    if (std::optional<std::string> path = fromVariable(variable->value, facts))
      return FoundTool{*path, true};
    error = variable->name + " is '" + variable->value + "', but there is no " +
            (facts.program ? "program " : "file ") + facts.name +
            (facts.program ? " that may be run" : " that may be read") + "; set it to the file or unset it";
    return std::nullopt;
  }
  if (tool == Tool::PtxasBlackwell)
    return find(Tool::Ptxas, error);
  Lookup lookup(facts);
  std::vector<std::string> packages = sitePackages_.empty() ? pythonSitePackages() : sitePackages_;
  auto wheels = [&](const std::string &folder) { return lookup.tryWheels(folder); };
  auto toolkit = [&](const std::string &folder) { return lookup.tryDefault(folder); };
  if (std::any_of(packages.begin(), packages.end(), wheels) || lookup.tryVariable("CUDA_HOME") ||
      lookup.tryVariable("CUDA_PATH") ||
      std::any_of(defaultToolkits_.begin(), defaultToolkits_.end(), toolkit) || lookup.tryPath())
    return FoundTool{lookup.found(), false};
  error = lookup.notFound();
  return std::nullopt;
}

} // namespace despina::nvptx
