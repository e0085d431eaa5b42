//===- Assembler.cpp - Options, choice of assembler, its log --------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "AssemblerImpl.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>

namespace despina::nvptx {
namespace {

constexpr unsigned oldestArch = 70;
/// The oldest that the assemblers of CUDA 13 know.
constexpr unsigned oldestArchOfCUDA13 = 75;
constexpr unsigned firstBlackwell = 100;
/// What the hardware has per thread.
constexpr unsigned mostRegisters = 255;

AssembleError makeError(AssembleError::Kind kind, std::string message) {
  return {kind, std::move(message), {}};
}

bool isTrue(const char *variable) {
  const char *value = std::getenv(variable);
  if (!value)
    return false;
  std::string lower(value);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower == "1" || lower == "y" || lower == "on" || lower == "yes" || lower == "true";
}

/// Sets `error` and returns false where the options make no sense.
bool checkOptions(const AssembleOptions &options, AssembleError &error) {
  if (options.optLevel > 3)
    error = makeError(AssembleError::Kind::BadOption, "the assembler's optimisation level is 0 to 3, not " +
                                                          std::to_string(options.optLevel));
  else if (options.maxRegisters > mostRegisters)
    error = makeError(AssembleError::Kind::BadOption, "maxnreg is " + std::to_string(options.maxRegisters) +
                                                          ", but a thread has at most " +
                                                          std::to_string(mostRegisters) + " registers");
  else
    return true;
  return false;
}

/// Both assemblers gave up on the architecture: what would know it.
std::string whatArchNeeds(const Architecture &arch) {
  if (arch.number < oldestArchOfCUDA13)
    return "the assemblers of CUDA 13 start at sm_" + std::to_string(oldestArchOfCUDA13) + "; for " +
           arch.name() +
           " set DESPINA_PTXAS_PATH to the ptxas of a CUDA 12 toolkit, or run where the driver " +
           "of such a GPU assembles the PTX";
  return "check the spelling of " + arch.name() +
         ", or install a newer CUDA toolkit if the GPU is newer than it";
}

struct Attempt {
  bool nvJitLink;
  std::string path;
};

/// The assemblers to try, in order. Leaves in `missing` why one was not found.
std::vector<Attempt> attemptsFor(const Architecture &arch, AssembleMethod method, const ToolSearch &tools,
                                 std::string &missing) {
  std::vector<Attempt> attempts;
  auto note = [&](const std::string &text) { missing += (missing.empty() ? "" : "; ") + text; };
  bool named = false;
  if (method != AssembleMethod::NvJitLink) {
    std::string text;
    if (std::optional<FoundTool> found =
            tools.find(arch.number >= firstBlackwell ? Tool::PtxasBlackwell : Tool::Ptxas, text)) {
      attempts.push_back({false, found->path});
      named = found->fromVariable;
    } else {
      note(text);
    }
  }
  if (method != AssembleMethod::Ptxas && !named) {
    std::string text;
    if (std::optional<FoundTool> found = tools.find(Tool::NvJitLink, text))
      attempts.insert(attempts.begin(), {true, found->path});
    else
      note(text);
  }
  return attempts;
}

/// "at `label` 12 bytes": the number before `unit` in `line`.
std::optional<size_t> numberBefore(std::string_view line, std::string_view unit) {
  size_t at = line.find(unit);
  if (at == std::string_view::npos)
    return std::nullopt;
  size_t begin = at;
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(line[begin - 1])))
    --begin;
  size_t value = 0;
  if (std::from_chars(line.data() + begin, line.data() + at, value).ec != std::errc())
    return std::nullopt;
  return value;
}

/// The text after `marker`, up to the closing quote or the end.
std::optional<std::string> nameAfter(std::string_view line, std::string_view marker) {
  size_t at = line.find(marker);
  if (at == std::string_view::npos)
    return std::nullopt;
  std::string_view rest = line.substr(at + marker.size());
  return std::string(rest.substr(0, rest.find_first_of("' \r")));
}

/// Reads the log line by line.
class LogReader {
public:
  explicit LogReader(AssembledCode &code) : code_(code) {}

  void line(std::string_view text) {
    if (text.find("warning") != std::string_view::npos)
      code_.warnings.emplace_back(text);
    // Only lines of the assembler proper: nvJitLink's linker repeats them in other words.
    if (text.rfind("info ", 0) == 0)
      return;
    if (std::optional<std::string> name = nameAfter(text, "Compiling entry function '")) {
      code_.kernels.push_back({});
      code_.kernels.back().name = *name;
    } else if (std::optional<std::string> name = nameAfter(text, "Function properties for ")) {
      // Device functions that were not inlined have properties too; they are no kernels.
      described_ = !code_.kernels.empty() && *name == code_.kernels.back().name;
    } else if (!code_.kernels.empty()) {
      properties(text, code_.kernels.back());
    }
  }

private:
  void properties(std::string_view text, KernelResources &kernel) {
    if (std::optional<size_t> stack = numberBefore(text, " bytes stack frame"); stack && described_) {
      kernel.stackBytes = *stack;
      kernel.spillStores = numberBefore(text, " bytes spill stores").value_or(0);
      kernel.spillLoads = numberBefore(text, " bytes spill loads").value_or(0);
    }
    if (std::optional<size_t> registers = numberBefore(text, " registers"); registers) {
      kernel.registers = static_cast<unsigned>(*registers);
      kernel.barriers = static_cast<unsigned>(numberBefore(text, " barriers").value_or(0));
      kernel.sharedBytes = numberBefore(text, " bytes smem").value_or(0);
    }
  }

  AssembledCode &code_;
  bool described_ = false;
};

} // namespace

std::optional<Architecture> Architecture::parse(std::string_view text, std::string &error) {
  Architecture arch;
  std::string_view digits = text.rfind("sm_", 0) == 0 ? text.substr(3) : std::string_view();
  if (!digits.empty() && (digits.back() == 'a' || digits.back() == 'f')) {
    arch.variant = digits.back();
    digits.remove_suffix(1);
  }
  auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), arch.number);
  if (digits.empty() || digits.size() > 4 || code != std::errc() || end != digits.data() + digits.size()) {
    error = "'" + std::string(text) + "' is no NVIDIA architecture; write it as sm_80 or sm_90a";
    return std::nullopt;
  }
  if (arch.number < oldestArch) {
    error = std::string(text) + " is too old: kernels are compiled for sm_" + std::to_string(oldestArch) +
            " (Volta) and newer";
    return std::nullopt;
  }
  return arch;
}

Architecture Architecture::ofDevice(int major, int minor) {
  Architecture arch;
  arch.number = static_cast<unsigned>(major * 10 + minor);
  arch.variant = major >= 9 ? 'a' : char(0);
  return arch;
}

std::string Architecture::name() const {
  std::string text = "sm_" + std::to_string(number);
  if (variant)
    text += variant;
  return text;
}

void applyAssemblerEnvironment(AssembleOptions &options) {
  if (isTrue("DISABLE_PTXAS_OPT")) {
    options.optLevel = 0;
    options.debugInfo = true;
  }
  if (isTrue("TRITON_DISABLE_LINE_INFO") || isTrue("DESPINA_DISABLE_LINE_INFO"))
    options.lineInfo = false;
  const char *text = std::getenv("PTXAS_OPTIONS");
  std::string_view rest = text ? text : "";
  while (true) {
    size_t begin = rest.find_first_not_of(" \t\n");
    if (begin == std::string_view::npos)
      return;
    rest.remove_prefix(begin);
    size_t end = std::min(rest.find_first_of(" \t\n"), rest.size());
    options.extra.emplace_back(rest.substr(0, end));
    rest.remove_prefix(end);
  }
}

const KernelResources *AssembledCode::kernel(std::string_view name) const {
  auto it =
      std::find_if(kernels.begin(), kernels.end(), [&](const auto &kernel) { return kernel.name == name; });
  return it == kernels.end() ? nullptr : &*it;
}

void readAssemblerLog(AssembledCode &code) {
  LogReader reader(code);
  std::string_view rest = code.log;
  while (!rest.empty()) {
    size_t end = std::min(rest.find('\n'), rest.size());
    reader.line(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

AssembleError sortAssemblerFailure(const std::string &assembler, const std::string &arch, std::string log) {
  auto says = [&](std::string_view text) { return log.find(text) != std::string::npos; };
  AssembleError error;
  if (says("for option 'gpu-name'") || says("UNSUPPORTED_ARCH") || says("UNRECOGNIZED_ARCH")) {
    error.kind = AssembleError::Kind::UnsupportedArch;
    error.message = assembler + " does not assemble for " + arch;
  } else if (says("Unsupported .version")) {
    error.kind = AssembleError::Kind::BadPtx;
    error.message = assembler + " is too old for this PTX version; install a newer CUDA toolkit or choose a "
                                "lower PTX version";
  } else if (says("nknown option") || says("UNRECOGNIZED_OPTION") || says("unsupported value")) {
    error.kind = AssembleError::Kind::BadOption;
    error.message = assembler + " does not take one of its options";
  } else {
    error.kind = AssembleError::Kind::BadPtx;
    error.message = assembler + " does not accept the PTX";
  }
  while (!log.empty() && std::isspace(static_cast<unsigned char>(log.back())))
    log.pop_back();
  if (!log.empty())
    error.message += ":\n" + log;
  error.log = std::move(log);
  return error;
}

std::optional<AssembledCode> assemble(std::string_view ptx, const AssembleOptions &options,
                                      const ToolSearch &tools, AssembleError &error) {
  std::string text;
  std::optional<Architecture> arch = Architecture::parse(options.arch, text);
  if (!arch) {
    error = makeError(AssembleError::Kind::UnsupportedArch, text);
    return std::nullopt;
  }
  if (!checkOptions(options, error))
    return std::nullopt;
  std::string missing;
  std::vector<Attempt> attempts = attemptsFor(*arch, options.method, tools, missing);
  if (attempts.empty()) {
    error = makeError(AssembleError::Kind::NoAssembler, "no assembler for PTX: " + missing);
    return std::nullopt;
  }
  std::string refusals;
  for (const Attempt &attempt : attempts) {
    std::optional<AssembledCode> code = attempt.nvJitLink
                                            ? assembleInProcess(attempt.path, ptx, options, error)
                                            : assembleByProgram(attempt.path, ptx, options, error);
    if (code)
      return code;
    // Another assembler may be newer or older than this one, or be able to start; PTX that one calls wrong is
    // wrong for all.
    bool otherVersion = error.log.find("Unsupported .version") != std::string::npos;
    if (error.kind == AssembleError::Kind::BadOption ||
        (error.kind == AssembleError::Kind::BadPtx && !otherVersion))
      return std::nullopt;
    refusals += (refusals.empty() ? "" : "\n") + error.message;
  }
  error.message = refusals;
  if (error.kind == AssembleError::Kind::UnsupportedArch)
    error.message += "\n" + whatArchNeeds(*arch);
  return std::nullopt;
}

} // namespace despina::nvptx
