//===- despina.h - The C++ API of Despina -----------------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Compile a kernel written in the Triton language and launch it, with no Python in the process:
//
//   auto kernel = despina::compileFile("add.py", "add_kernel",
//       {{"x_ptr", "*fp32"}, {"y_ptr", "*fp32"}, {"out_ptr", "*fp32"}, {"n", "i32"}},
//       {{"BLOCK", 1024}});
//   if (!kernel) { std::cerr << kernel.error().rendered; return 1; }
//   auto done = kernel->launch({blocks}, {x, y, out, n});
//
// Nothing here throws or ends the process: failures are values. All functions may be called from several
// threads at once.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_DESPINA_H
#define DESPINA_DESPINA_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#if defined(_WIN32)
#define DESPINA_API
#else
#define DESPINA_API __attribute__((visibility("default")))
#endif

namespace despina {

/// "0.1.0".
DESPINA_API const char *version();

/// Why something failed.
struct Error {
  /// Name of the Python exception class it corresponds to: "CompilationError",
  /// "UnsupportedLanguageConstruct", "CompileTimeAssertionFailure", "ValueError", "TypeError",
  /// "OutOfResources", "PTXASError", "RuntimeError", "OSError"...
  std::string kind;
  /// What happened, in one sentence or two.
  std::string message;
  /// Where: empty and 0 when it has no position. Line and column are 1-based.
  std::string file;
  unsigned line = 0, column = 0;
  /// For people: position, source line, caret, help, one note per call.
  std::string rendered;
  /// What Python shows as `str(e)` (without position: the message).
  std::string pythonText;
  /// For compilation errors: the exception class of the cause ("ValueError") and whether a language function
  /// raised it (then it is the `__cause__` in Python).
  std::string causeKind;
  bool hasCause = false;
  /// For "OutOfResources": of what ("shared memory", "threads"), how much is needed and how much there is.
  std::string resource;
  uint64_t required = 0, limit = 0;
  struct Note {
    std::string message, file;
    unsigned line = 0, column = 0;
    /// What Python shows as `str(e)` of the exception that stands for this call.
    std::string pythonText;
  };
  /// The calls of jit functions on the way to the error, the kernel's own first.
  std::vector<Note> notes;
};

/// A value or an Error.
template <typename T> class Expected {
public:
  /*implicit*/ Expected(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  /*implicit*/ Expected(Error error) : state_(std::in_place_index<1>, std::move(error)) {}
  explicit operator bool() const { return state_.index() == 0; }
  T &operator*() { return std::get<0>(state_); }
  const T &operator*() const { return std::get<0>(state_); }
  T *operator->() { return &std::get<0>(state_); }
  const T *operator->() const { return &std::get<0>(state_); }
  const Error &error() const { return std::get<1>(state_); }

private:
  std::variant<T, Error> state_;
};
struct Unit {};
using Result = Expected<Unit>;

/// A target to compile for. "cpu" is the host's processor, "cuda" an NVIDIA GPU.
struct Target {
  std::string backend = "cpu";
  /// "" = this machine's: its processor, or the current CUDA device. For "cpu" an LLVM CPU name. For "cuda"
  /// "sm_90a", or a bare number as the language's own tools write it: "90" is "sm_90a", "80" is "sm_80".
  std::string arch;
  int warpSize = 1;
};

struct CompileOptions {
  int numWarps = 4;
  int numStages = 3;
  int numCtas = 1;
  bool enableFPFusion = true;
  bool debug = false;
  /// With `debug`: integer additions, subtractions and products below 64 bits assert that they fit.
  bool sanitizeOverflow = false;
  /// Registers a thread may have, 0: as many as the assembler likes. "cuda" only.
  int maxRegisters = 0;
  /// All blocks of a grid run at the same time. "cuda" only.
  bool cooperativeLaunch = false;
  /// A launch may begin before the kernel before it in the stream has ended. "cuda" only.
  bool programmaticDependentLaunch = false;
  /// Keep the text of these stages for `Kernel::text`. Others are made on demand by compiling again. Stages
  /// of "cpu": "tt", "llvm", "asm", "obj" (bytes); of "cuda": "tt", "ttg", "llvm", "ptx", "cubin" (bytes),
  /// "sass".
  std::vector<std::string> keep;
  /// Folders that may hold the `nvidia` folder of NVIDIA's Python packages, where its tools are looked for
  /// too. If there are none: those of VIRTUAL_ENV, CONDA_PREFIX, and the python3 of PATH.
  std::vector<std::string> sitePackages;
};

/// A type of the language as a constant: "float32" or "fp32" stands for `tl.float32`.
struct DType {
  std::string name;
};
/// A compile-time constant of a kernel parameter; monostate is None.
using ConstantValue = std::variant<std::monostate, bool, int64_t, double, std::string, DType>;
struct NamedConstant {
  std::string name;
  ConstantValue value;
  NamedConstant(std::string n, ConstantValue v) : name(std::move(n)), value(std::move(v)) {}
  NamedConstant(std::string n, int v) : NamedConstant(std::move(n), ConstantValue(int64_t(v))) {}
  NamedConstant(std::string n, const char *v) : NamedConstant(std::move(n), ConstantValue(std::string(v))) {}
};
/// Type of a runtime parameter in signature form: "*fp32", "i32", "*fp32:16" (divisible by 16), "i32:1"
/// (always 1, hence no argument of a launch), "tensordesc<fp16[64, 64]>" (a tensor descriptor whose accesses
/// move blocks of 64x64; with ":nan" at the end NaN is read out of bounds, else 0). A descriptor takes the
/// arguments base pointer (on 16 bytes), extents, and strides in elements but the last, which is 1; the
/// strides are multiples of 16 bytes. An empty name means the next parameter that nothing else names.
struct NamedType {
  std::string name, type;
};

/// One launch argument. Pointers are host pointers on the CPU target, else those of the device.
class Argument {
public:
  enum class Kind : uint8_t { Pointer, Int, Float };
  /*implicit*/ Argument(const void *p) : kind_(Kind::Pointer), bits_(reinterpret_cast<uint64_t>(p)) {}
  template <typename T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
  /*implicit*/ Argument(T v)
      : kind_(Kind::Int), isUnsigned_(std::is_unsigned_v<T>), bits_(static_cast<uint64_t>(v)) {}
  /*implicit*/ Argument(double v) : kind_(Kind::Float), real_(v) {}
  /*implicit*/ Argument(float v) : Argument(double(v)) {}
  Kind kind() const { return kind_; }
  /// A pointer, or an integer in two's complement; `isUnsigned` tells how to read the top bit.
  uint64_t bits() const { return bits_; }
  bool isUnsigned() const { return isUnsigned_; }
  double real() const { return real_; }

private:
  Kind kind_;
  bool isUnsigned_ = false;
  uint64_t bits_ = 0;
  double real_ = 0;
};

/// Extents of the grid; a missing one is 1, a zero launches nothing.
struct Grid {
  int64_t x = 1, y = 1, z = 1;
};

/// A stage's name and the seconds it took.
struct StageTime {
  std::string stage;
  double seconds = 0;
};

/// Where and how a launch runs.
struct LaunchOptions {
  /// Of a GPU target; -1: the calling thread's current one.
  int device = -1;
  /// Of a GPU target, a CUstream; null: the device's default stream.
  void *stream = nullptr;
  /// Of a GPU target: scratch memory of the device, `globalScratchBytes` for each block of the grid, aligned
  /// to `globalScratchAlignment`; 0: the launch takes some of its own, in the order of the stream.
  uint64_t globalScratch = 0;
  /// Of the CPU target: polled on the calling thread; when it answers true the rest of the grid is dropped.
  bool (*shouldStop)(void *) = nullptr;
  void *context = nullptr;
};

/// What a kernel takes of a GPU. All 0 on the CPU target.
struct KernelResources {
  int numWarps = 0; ///< of a block; specialisation of warps may take more than was asked for
  int numCtas = 0;  ///< blocks of a cluster
  size_t sharedBytes = 0;
  size_t globalScratchBytes = 0; ///< for each block of the grid
  size_t globalScratchAlignment = 1;
  /// What the assembler says; -1 where only the driver assembles (`Kernel::load` knows then).
  int registers = -1;
  int spills = -1; ///< registers that live in memory at times
};

/// A kernel on a device.
struct DeviceKernel {
  int device = 0;
  void *module = nullptr, *function = nullptr; ///< handles of the driver
  int registers = 0, spills = 0;
  int maxThreads = 0; ///< of a block
};

struct KernelImpl;

/// A compiled kernel. Copies share it; it lives as long as any copy.
class DESPINA_API Kernel {
public:
  const std::string &name() const;
  /// What it was compiled for, with the architecture filled in.
  const Target &target() const;
  /// Runs the whole grid. Arguments stand for the runtime parameters in order. On the CPU target it returns
  /// when the grid is done; on a GPU when the kernel is queued in the stream. Errors: wrong number or kind of
  /// arguments, a negative extent, more than 2^31-1 programs; on a GPU, memory or a stream that is not the
  /// device's, and what the driver says.
  Result launch(Grid grid, std::initializer_list<Argument> args, const LaunchOptions &options = {}) const;
  Result launch(Grid grid, const Argument *args, size_t numArgs, const LaunchOptions &options = {}) const;
  /// Checks arguments and packs them for `launchPacked`.
  Expected<std::vector<uint64_t>> pack(const Argument *args, size_t numArgs) const;
  /// As `launch` with packed arguments: one 8-byte slot per runtime parameter, unchecked. False when
  /// `shouldStop` stopped it.
  Expected<bool> launchPacked(Grid grid, const uint64_t *slots, const LaunchOptions &options = {}) const;
  /// Readies the kernel for a device (-1: the current one); the first launch does it otherwise. "cuda" only.
  Expected<DeviceKernel> load(int device = -1) const;
  /// Text of a stage (`CompileOptions::keep`); "obj" and "cubin" give bytes.
  Expected<std::string> text(std::string_view stage) const;
  const KernelResources &resources() const;
  /// Signature strings of the runtime parameters, in order.
  const std::vector<std::string> &parameterTypes() const;
  /// Bytes of scratch memory one thread needs on the CPU target.
  size_t scratchBytes() const;
  const std::vector<StageTime> &stageTimes() const;
  /// Names of the language that the kernel uses, each alone ("language.arange", "cdiv") or with a type of the
  /// data it works on ("language.load:float32"), sorted.
  const std::vector<std::string> &namesUsed() const;

  explicit Kernel(std::shared_ptr<const KernelImpl> impl);
  ~Kernel();

private:
  std::shared_ptr<const KernelImpl> impl_;
};

/// Compiles `kernel` of the file `path`. Parameters missing from both lists take their defaults, or the type
/// they are annotated with.
DESPINA_API Expected<Kernel> compileFile(const std::string &path, const std::string &kernel,
                                         const std::vector<NamedType> &signature,
                                         const std::vector<NamedConstant> &constants = {},
                                         const Target &target = {}, const CompileOptions &options = {});
/// The same for source text; `path` names it in errors.
DESPINA_API Expected<Kernel> compileText(const std::string &text, const std::string &path,
                                         const std::string &kernel, const std::vector<NamedType> &signature,
                                         const std::vector<NamedConstant> &constants = {},
                                         const Target &target = {}, const CompileOptions &options = {});
/// Names of the `@jit` functions in a file.
DESPINA_API Expected<std::vector<std::string>> listKernels(const std::string &path);

} // namespace despina

#endif // DESPINA_DESPINA_H
