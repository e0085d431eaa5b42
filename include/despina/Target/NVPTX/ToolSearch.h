//===- ToolSearch.h - Where NVIDIA's tools are ------------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Order of the search: the tool's own variable (DESPINA_PTXAS_PATH, then TRITON_PTXAS_PATH), the folders
// handed in (site-packages; without any, those of pythonSitePackages), CUDA_HOME, CUDA_PATH, /usr/local/cuda,
// PATH.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_TARGET_NVPTX_TOOLSEARCH_H
#define DESPINA_TARGET_NVPTX_TOOLSEARCH_H

#include <optional>
#include <string>
#include <vector>

namespace despina::nvptx {

enum class Tool {
  Ptxas,
  PtxasBlackwell, ///< ptxas for sm_100 and newer; `Ptxas` serves where its variable is not set
  Cuobjdump,
  Nvdisasm,
  NvJitLink, ///< libnvJitLink.so
  Libdevice, ///< libdevice.10.bc
};

/// What a tool is called in messages: "ptxas", "libnvJitLink".
const char *toolName(Tool tool);

/// A file that was found.
struct FoundTool {
  std::string path;
  /// An environment variable named this very file, so the user wants it and no other.
  bool fromVariable = false;
};

class ToolSearch {
public:
  /// `sitePackages`: folders that may hold the `nvidia` folder of NVIDIA's Python packages. Python says where
  /// its own are; a program without Python leaves them out. The environment is read when `find` is called.
  explicit ToolSearch(std::vector<std::string> sitePackages = {});

  /// For tests: the toolkit's usual folders instead of /usr/local/cuda.
  void setDefaultToolkits(std::vector<std::string> folders) { defaultToolkits_ = std::move(folders); }

  /// None after setting `error`: which places were looked at and what to install. A variable that names a
  /// file that cannot be used is an error too, and no other place is tried.
  std::optional<FoundTool> find(Tool tool, std::string &error) const;

private:
  std::vector<std::string> sitePackages_;
  std::vector<std::string> defaultToolkits_;
};

/// Where the Python of the user's shell has its packages, for programs without Python: VIRTUAL_ENV,
/// CONDA_PREFIX, then around the python3 of PATH. Folders that exist, best first.
std::vector<std::string> pythonSitePackages();

/// The value of DESPINA_<name>, else of TRITON_<name>, and which of the two it was. Empty values count as
/// unset.
struct TwinVariable {
  std::string name, value;
};
std::optional<TwinVariable> twinVariable(const std::string &name);

} // namespace despina::nvptx

#endif // DESPINA_TARGET_NVPTX_TOOLSEARCH_H
