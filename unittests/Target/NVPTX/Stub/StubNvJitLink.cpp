//===- StubNvJitLink.cpp - An nvJitLink 12.3 with versioned names only ----===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// The "cubin" is the list of options followed by the input. An input that starts with "refuse" is refused.
//
//===----------------------------------------------------------------------===//

#include <cstdint>
#include <cstring>
#include <string>

namespace {
struct Link {
  std::string cubin, errors;
};
Link *linkOf(void *handle) { return static_cast<Link *>(handle); }
} // namespace

extern "C" {
int __nvJitLinkCreate_12_3(void **handle, uint32_t count, const char **options) {
  auto *link = new Link;
  for (uint32_t i = 0; i < count; ++i)
    link->cubin += std::string(options[i]) + "\n";
  *handle = link;
  if (link->cubin.find("sm_70") == std::string::npos)
    return 0;
  link->errors = "ERROR NVJITLINK_ERROR_UNSUPPORTED_ARCH: unsupported architecture (compute_70)\n";
  return 17;
}
int __nvJitLinkDestroy_12_3(void **handle) {
  delete linkOf(*handle);
  *handle = nullptr;
  return 0;
}
int __nvJitLinkAddData_12_3(void *handle, int type, const void *data, size_t size, const char *) {
  std::string text(static_cast<const char *>(data), size);
  linkOf(handle)->cubin += "type " + std::to_string(type) + "\n" + text;
  if (text.rfind("refuse", 0) != 0)
    return 0;
  linkOf(handle)->errors = "input, line 1; error   : " + text.substr(7) + "\n";
  return 4;
}
int __nvJitLinkComplete_12_3(void *) { return 0; }
int __nvJitLinkGetLinkedCubinSize_12_3(void *handle, size_t *size) {
  *size = linkOf(handle)->cubin.size();
  return 0;
}
int __nvJitLinkGetLinkedCubin_12_3(void *handle, void *cubin) {
  std::memcpy(cubin, linkOf(handle)->cubin.data(), linkOf(handle)->cubin.size());
  return 0;
}
int __nvJitLinkGetErrorLogSize_12_3(void *handle, size_t *size) {
  *size = linkOf(handle)->errors.size() + 1;
  return 0;
}
int __nvJitLinkGetErrorLog_12_3(void *handle, char *log) {
  std::strcpy(log, linkOf(handle)->errors.c_str());
  return 0;
}
int __nvJitLinkGetInfoLogSize_12_3(void *, size_t *size) {
  *size = 0;
  return 0;
}
int __nvJitLinkGetInfoLog_12_3(void *, char *) { return 0; }
} // extern "C"
