//===- NvJitLink.cpp - PTX to cubin in this process -----------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// The library's functions carry the version in their names (__nvJitLinkCreate_12_4); newer libraries have the
// plain names too. They are declared here, so that building needs no CUDA header.
//
//===----------------------------------------------------------------------===//

#include "AssemblerImpl.h"

#include <map>
#include <memory>
#include <mutex>

#include <dlfcn.h>

namespace despina::nvptx {
namespace {

using Handle = void *;
constexpr int inputIsPtx = 2;

/// The library's entry points.
struct Library {
  int (*create)(Handle *, uint32_t, const char **) = nullptr;
  int (*destroy)(Handle *) = nullptr;
  int (*addData)(Handle, int, const void *, size_t, const char *) = nullptr;
  int (*complete)(Handle) = nullptr;
  int (*cubinSize)(Handle, size_t *) = nullptr;
  int (*cubin)(Handle, void *) = nullptr;
  int (*errorLogSize)(Handle, size_t *) = nullptr;
  int (*errorLog)(Handle, char *) = nullptr;
  int (*infoLogSize)(Handle, size_t *) = nullptr;
  int (*infoLog)(Handle, char *) = nullptr;
  std::string name;    ///< "nvJitLink 13.0"
  std::string failure; ///< why it cannot be used
};

void *findSymbol(void *library, const std::string &name, std::string &version) {
  if (version.empty()) {
    if (void *plain = dlsym(library, name.c_str()))
      return plain;
    // 12.0 was the first; a library has the names of its own release.
    for (int major : {13, 12})
      for (int minor = 0; minor < 10; ++minor) {
        std::string candidate = "_" + std::to_string(major) + "_" + std::to_string(minor);
        if (void *found = dlsym(library, ("__" + name + candidate).c_str())) {
          version = candidate;
          return found;
        }
      }
    return nullptr;
  }
  return dlsym(library, ("__" + name + version).c_str());
}

/// Fills `library`; what is missing is named in `failure`.
void bindLibrary(void *opened, Library &library) {
  std::string version;
  auto bind = [&](auto &function, const char *name) {
    function =
        reinterpret_cast<std::remove_reference_t<decltype(function)>>(findSymbol(opened, name, version));
    if (!function && library.failure.empty())
      library.failure = std::string("it has no function ") + name;
  };
  bind(library.create, "nvJitLinkCreate");
  bind(library.destroy, "nvJitLinkDestroy");
  bind(library.addData, "nvJitLinkAddData");
  bind(library.complete, "nvJitLinkComplete");
  bind(library.cubinSize, "nvJitLinkGetLinkedCubinSize");
  bind(library.cubin, "nvJitLinkGetLinkedCubin");
  bind(library.errorLogSize, "nvJitLinkGetErrorLogSize");
  bind(library.errorLog, "nvJitLinkGetErrorLog");
  bind(library.infoLogSize, "nvJitLinkGetInfoLogSize");
  bind(library.infoLog, "nvJitLinkGetInfoLog");
  library.name = "nvJitLink";
  auto versionOf = reinterpret_cast<int (*)(unsigned *, unsigned *)>(dlsym(opened, "nvJitLinkVersion"));
  unsigned major = 0, minor = 0;
  if (versionOf && versionOf(&major, &minor) == 0)
    library.name += " " + std::to_string(major) + "." + std::to_string(minor);
  else if (!version.empty())
    library.name += " " + version.substr(1, 2) + "." + version.substr(4);
}

/// The library at `path`, opened once in a process and never closed: it may have started threads.
const Library &libraryAt(const std::string &path) {
  static std::mutex mutex;
  static auto *libraries = new std::map<std::string, std::unique_ptr<Library>>;
  std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<Library> &library = (*libraries)[path];
  if (!library) {
    library = std::make_unique<Library>();
    if (void *opened = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      bindLibrary(opened, *library);
    } else {
      const char *text = dlerror();
      library->failure = text ? text : "it cannot be opened";
    }
  }
  return *library;
}

std::string readLog(Handle handle, int (*size)(Handle, size_t *), int (*text)(Handle, char *)) {
  size_t bytes = 0;
  if (size(handle, &bytes) != 0 || bytes == 0)
    return {};
  // Whether the size counts the closing zero differs between releases.
  std::string log(bytes + 1, '\0');
  if (text(handle, log.data()) != 0)
    return {};
  log.resize(log.find('\0') == std::string::npos ? log.size() : log.find('\0'));
  return log;
}

std::vector<std::string> commandLine(const AssembleOptions &options) {
  std::vector<std::string> line = {"-arch=" + options.arch, "-Xptxas=-v"};
  // The library itself knows 0 and 3 only.
  if (options.optLevel == 0 || options.optLevel == 3)
    line.push_back("-O" + std::to_string(options.optLevel));
  else
    line.push_back("-Xptxas=-O" + std::to_string(options.optLevel));
  if (options.maxRegisters)
    line.push_back("-maxrregcount=" + std::to_string(options.maxRegisters));
  // The library's own -fma is for link-time optimisation only; PTX is assembled as if it were not there.
  if (!options.fpFusion)
    line.emplace_back("-Xptxas=--fmad=false");
  if (options.debugInfo)
    line.emplace_back("-g");
  if (options.lineInfo)
    line.emplace_back("-lineinfo");
  for (const std::string &extra : options.extra)
    line.push_back("-Xptxas=" + extra);
  return line;
}

/// One link, freed at the end.
class Link {
public:
  explicit Link(const Library &library) : library_(library) {}
  Link(const Link &) = delete;
  Link &operator=(const Link &) = delete;
  ~Link() {
    if (handle_)
      library_.destroy(&handle_);
  }

  bool run(std::string_view ptx, const AssembleOptions &options) {
    std::vector<std::string> line = commandLine(options);
    std::vector<const char *> pointers;
    pointers.reserve(line.size());
    for (const std::string &option : line)
      pointers.push_back(option.c_str());
    return library_.create(&handle_, static_cast<uint32_t>(pointers.size()), pointers.data()) == 0 &&
           library_.addData(handle_, inputIsPtx, ptx.data(), ptx.size(), "kernel") == 0 &&
           library_.complete(handle_) == 0;
  }

  bool cubin(std::string &bytes) const {
    size_t size = 0;
    if (library_.cubinSize(handle_, &size) != 0 || size == 0)
      return false;
    bytes.resize(size);
    return library_.cubin(handle_, bytes.data()) == 0;
  }

  std::string errors() const {
    return handle_ ? readLog(handle_, library_.errorLogSize, library_.errorLog) : std::string();
  }
  std::string information() const { return readLog(handle_, library_.infoLogSize, library_.infoLog); }

private:
  const Library &library_;
  Handle handle_ = nullptr;
};

} // namespace

std::optional<AssembledCode> assembleInProcess(const std::string &path, std::string_view ptx,
                                               const AssembleOptions &options, AssembleError &error) {
  const Library &library = libraryAt(path);
  if (!library.failure.empty()) {
    error = {AssembleError::Kind::NoAssembler, "cannot use " + path + ": " + library.failure, {}};
    return std::nullopt;
  }
  Link link(library);
  AssembledCode code;
  if (!link.run(ptx, options)) {
    error = sortAssemblerFailure(library.name, options.arch, link.errors());
    return std::nullopt;
  }
  if (!link.cubin(code.cubin)) {
    error = {AssembleError::Kind::Failed, library.name + " gave no cubin", link.errors()};
    return std::nullopt;
  }
  code.log = link.information();
  code.assembler = library.name;
  readAssemblerLog(code);
  return code;
}

} // namespace despina::nvptx
