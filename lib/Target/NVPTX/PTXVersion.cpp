//===- PTXVersion.cpp - Architectures and versions of PTX -----------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// An old assembler or driver reads only old PTX, so the default is the lowest version that has all the
// instructions that we use on the architecture.
//
//===----------------------------------------------------------------------===//
#include "PTXVersion.h"

#include "llvm/ADT/STLExtras.h"

namespace despina::nvptx {

namespace {

/// An architecture that LLVM 22 knows.
struct ArchitectureEntry {
  unsigned number;
  unsigned minimum;     ///< the first version of PTX that has it
  unsigned accelerated; ///< the first that has its `a` variant; 0: there is none
  unsigned family;      ///< the first that has its `f` variant; 0: there is none
  unsigned usual;       ///< what we write unless told otherwise
};

// Why these: 7.8 has what sm_80 and its like can do; 8.4 the fp8 products of sm_89; 8.3 the tensormap
// instructions of sm_90.
constexpr ArchitectureEntry architectures[] = {
    {70, 60, 0, 0, 78},    {72, 61, 0, 0, 78},    {75, 63, 0, 0, 78},    {80, 70, 0, 0, 78},
    {86, 71, 0, 0, 78},    {87, 74, 0, 0, 78},    {88, 90, 0, 0, 90},    {89, 78, 0, 0, 84},
    {90, 78, 80, 0, 83},   {100, 86, 86, 88, 86}, {101, 86, 86, 88, 86}, {103, 88, 88, 88, 88},
    {110, 90, 90, 90, 90}, {120, 87, 87, 88, 87}, {121, 88, 88, 88, 88},
};

/// Versions that LLVM 22 can write for these architectures.
constexpr unsigned versions[] = {60, 61, 62, 63, 64, 65, 70, 71, 72, 73, 74, 75, 76,
                                 77, 78, 80, 81, 82, 83, 84, 85, 86, 87, 88, 90};

std::string dotted(unsigned version) {
  return std::to_string(version / 10) + "." + std::to_string(version % 10);
}

std::string knownArchitectures() {
  std::string names;
  for (const ArchitectureEntry &entry : architectures)
    names += (names.empty() ? "sm_" : ", sm_") + std::to_string(entry.number);
  return names;
}

/// The first version of PTX that has the architecture; 0: the variant does not exist.
unsigned minimumVersion(const ArchitectureEntry &entry, char variant) {
  if (variant == 'a')
    return entry.accelerated;
  return variant == 'f' ? entry.family : entry.minimum;
}

} // namespace

std::optional<unsigned> choosePTXVersion(const NVPTXOptions &options, unsigned needed, std::string &error) {
  const std::string name = options.arch.name();
  const auto *entry = llvm::find_if(
      architectures, [&](const ArchitectureEntry &e) { return e.number == options.arch.number; });
  if (entry == std::end(architectures)) {
    error = "code for " + name + " cannot be generated; known architectures: " + knownArchitectures();
    return std::nullopt;
  }
  unsigned minimum = minimumVersion(*entry, options.arch.variant);
  if (minimum == 0) {
    error = "there is no architecture " + name + "; use sm_" + std::to_string(entry->number);
    return std::nullopt;
  }
  if (options.ptxVersion == 0)
    return std::max({minimum, entry->usual, needed});
  if (options.ptxVersion < minimum) {
    error = "PTX " + dotted(options.ptxVersion) + " does not have " + name + "; it needs PTX " +
            dotted(minimum) + " or newer";
    return std::nullopt;
  }
  // Newer assemblers read older versions, so the newest that LLVM knows will do.
  const auto *above = llvm::upper_bound(versions, options.ptxVersion);
  return *std::prev(above);
}

} // namespace despina::nvptx
