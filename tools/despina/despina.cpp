//===- despina.cpp - The command line tool --------------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//   despina compile FILE.py:KERNEL --signature "*fp32,*fp32,*fp32,i32" --const BLOCK=1024 --emit asm
//   despina kernels FILE.py
//
//===----------------------------------------------------------------------===//

#include "despina/despina.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <fstream>
#include <iostream>

namespace {

using despina::Error;
using despina::Expected;

struct CompileArguments {
  std::string source, signature, emit, output;
  std::vector<std::string> constants;
  despina::Target target;
  despina::CompileOptions options;
  bool noFusion = false, time = false;
};

int fail(const Error &error) {
  std::cerr << error.rendered;
  if (error.rendered.empty() || error.rendered.back() != '\n')
    std::cerr << '\n';
  return 1;
}

int failText(const std::string &message) {
  std::cerr << "error: " << message << '\n';
  return 1;
}

std::string trim(const std::string &text) {
  size_t begin = text.find_first_not_of(" \t"), end = text.find_last_not_of(" \t");
  return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

/// The parts between commas; those inside of brackets belong to a type ("tensordesc<fp16[64, 64]>").
std::vector<std::string> splitTypes(const std::string &text) {
  std::vector<std::string> items(1);
  int depth = 0;
  for (char c : text) {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c == ',' && depth <= 0)
      items.emplace_back();
    else
      items.back() += c;
  }
  return items;
}

/// Splits "*fp32, n=i32:16" into types, with the names that are given.
std::vector<despina::NamedType> parseSignature(const std::string &text) {
  std::vector<despina::NamedType> signature;
  if (trim(text).empty())
    return signature;
  for (const std::string &item : splitTypes(text)) {
    size_t equals = item.find('=');
    if (equals == std::string::npos)
      signature.push_back({"", trim(item)});
    else
      signature.push_back({trim(item.substr(0, equals)), trim(item.substr(equals + 1))});
  }
  return signature;
}

/// Reads a constant as Python would; what is no literal is text, and "tl.float32" a type.
despina::ConstantValue parseConstant(const std::string &text) {
  if (text == "None")
    return {};
  if (text == "True" || text == "False")
    return text == "True";
  if (text.starts_with("tl."))
    return despina::DType{text.substr(3)};
  if (text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front())
    return text.substr(1, text.size() - 2);
  // Python writes neither a leading zero nor a hexadecimal float, so only what starts like a number is one.
  if (!text.empty() && text.find_first_not_of("0123456789+-.eE") == std::string::npos) {
    char *end = nullptr;
    errno = 0;
    long long integer = std::strtoll(text.c_str(), &end, 10);
    if (*end == '\0' && errno == 0)
      return int64_t(integer);
    double real = std::strtod(text.c_str(), &end);
    if (*end == '\0')
      return real;
  }
  return text;
}

/// The kernel to compile: the one named after the last colon, or the only one of the file.
Expected<std::pair<std::string, std::string>> splitSource(const std::string &source) {
  size_t colon = source.rfind(':');
  if (colon != std::string::npos)
    return std::pair(source.substr(0, colon), source.substr(colon + 1));
  Expected<std::vector<std::string>> kernels = despina::listKernels(source);
  if (!kernels)
    return kernels.error();
  if (kernels->size() == 1)
    return std::pair(source, kernels->front());
  std::string names;
  for (const std::string &name : *kernels)
    names += (names.empty() ? "" : ", ") + name;
  Error error;
  error.rendered = "error: " + source + " holds " +
                   (kernels->empty() ? "no kernels"
                                     : std::to_string(kernels->size()) + " kernels (" + names +
                                           "): name one, as in " + source + ":" + kernels->front()) +
                   "\n";
  return error;
}

int writeOutput(const std::string &text, const std::string &path) {
  if (path.empty() || path == "-") {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return std::fflush(stdout) == 0 ? 0 : failText("cannot write to standard output");
  }
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  return file ? 0 : failText("cannot write " + path);
}

void printSummary(const despina::Kernel &kernel) {
  std::cout << kernel.name() << '(';
  const char *separator = "";
  for (const std::string &type : kernel.parameterTypes()) {
    std::cout << separator << type;
    separator = ", ";
  }
  std::cout << "), ";
  if (kernel.target().backend == "cpu") {
    std::cout << kernel.scratchBytes() << " bytes of scratch memory per thread\n";
    return;
  }
  const despina::KernelResources &resources = kernel.resources();
  std::cout << kernel.target().arch << ": " << resources.numWarps << " warps, " << resources.sharedBytes
            << " bytes of shared memory";
  if (resources.registers >= 0)
    std::cout << ", " << resources.registers << " registers, " << resources.spills << " spilled";
  std::cout << '\n';
}

void printTimes(const despina::Kernel &kernel) {
  double total = 0;
  for (const despina::StageTime &time : kernel.stageTimes()) {
    std::fprintf(stderr, "%9.3f ms  %s\n", time.seconds * 1e3, time.stage.c_str());
    total += time.seconds;
  }
  std::fprintf(stderr, "%9.3f ms  total\n", total * 1e3);
}

int compile(CompileArguments &arguments) {
  if ((arguments.emit == "obj" || arguments.emit == "cubin") && arguments.output.empty())
    return failText("stage " + arguments.emit +
                    " is binary: name a file with -o, or -o - for standard output");
  Expected<std::pair<std::string, std::string>> source = splitSource(arguments.source);
  if (!source)
    return fail(source.error());
  std::vector<despina::NamedConstant> constants;
  for (const std::string &constant : arguments.constants) {
    size_t equals = constant.find('=');
    if (equals == std::string::npos)
      return failText("--const needs NAME=VALUE, not '" + constant + "'");
    constants.emplace_back(trim(constant.substr(0, equals)),
                           parseConstant(trim(constant.substr(equals + 1))));
  }
  arguments.options.enableFPFusion = !arguments.noFusion;
  if (!arguments.emit.empty())
    arguments.options.keep = {arguments.emit};
  Expected<despina::Kernel> kernel =
      despina::compileFile(source->first, source->second, parseSignature(arguments.signature), constants,
                           arguments.target, arguments.options);
  if (!kernel)
    return fail(kernel.error());
  if (arguments.time)
    printTimes(*kernel);
  if (arguments.emit.empty()) {
    printSummary(*kernel);
    return 0;
  }
  Expected<std::string> text = kernel->text(arguments.emit);
  return text ? writeOutput(*text, arguments.output) : fail(text.error());
}

int listKernels(const std::string &path) {
  Expected<std::vector<std::string>> kernels = despina::listKernels(path);
  if (!kernels)
    return fail(kernels.error());
  for (const std::string &name : *kernels)
    std::cout << name << '\n';
  return 0;
}

void addCompileOptions(CLI::App &app, CompileArguments &arguments) {
  app.add_option("source", arguments.source, "FILE.py:KERNEL; a file with one kernel needs no name")
      ->required();
  app.add_option(
      "-s,--signature", arguments.signature,
      "Types of the runtime parameters, separated by commas, in order or as NAME=TYPE: \"*fp32,n=i32:16\"");
  app.add_option("-c,--const", arguments.constants,
                 "Value of a compile-time parameter, NAME=VALUE; may be repeated");
  app.add_option("-t,--target", arguments.target.backend, "Target to compile for: cpu or cuda")
      ->capture_default_str();
  app.add_option("--arch", arguments.target.arch,
                 "Processor of the target, such as sm_90a; this machine's when empty");
  app.add_option("-e,--emit", arguments.emit,
                 "Stage to print: tt, llvm, and asm or obj of the CPU, ttg, ptx, cubin or sass of a GPU")
      ->check(CLI::IsMember({"tt", "ttg", "llvm", "asm", "obj", "ptx", "cubin", "sass"}));
  app.add_option("-o,--output", arguments.output, "File to write the stage to");
  app.add_option("--num-warps", arguments.options.numWarps, "Warps per program")->capture_default_str();
  app.add_option("--num-stages", arguments.options.numStages, "Stages of software pipelines")
      ->capture_default_str();
  app.add_option("--num-ctas", arguments.options.numCtas, "Blocks of a cluster")->capture_default_str();
  app.add_option("--maxnreg", arguments.options.maxRegisters, "Registers per thread; 0: no limit");
  app.add_flag("--no-fp-fusion", arguments.noFusion,
               "Never make one operation of a multiplication and an addition");
  app.add_flag("--debug", arguments.options.debug, "Check device_assert");
  app.add_flag("--time", arguments.time, "Print the time of each stage to standard error");
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("Compiles kernels written in the Triton language.", "despina");
  app.set_version_flag("--version", std::string("despina ") + despina::version());
  app.require_subcommand(1);

  CompileArguments arguments;
  CLI::App *compileCommand = app.add_subcommand("compile", "Compile a kernel and print a stage of it");
  compileCommand->footer(
      "NVIDIA's tools are looked for in DESPINA_PTXAS_PATH, DESPINA_NVJITLINK_PATH and "
      "DESPINA_LIBDEVICE_PATH\n"
      "(or the same with TRITON_), then in the Python packages nvidia-cuda-nvcc, nvidia-nvjitlink and\n"
      "nvidia-nvvm of VIRTUAL_ENV, CONDA_PREFIX or the python3 of PATH, then in CUDA_HOME, CUDA_PATH,\n"
      "/usr/local/cuda and the toolkit of a PATH entry. DESPINA_DISABLE_LINE_INFO=1 leaves the lines of the\n"
      "program out of GPU code.");
  addCompileOptions(*compileCommand, arguments);
  std::string listed;
  CLI::App *kernelsCommand = app.add_subcommand("kernels", "List the kernels of a file");
  kernelsCommand->add_option("file", listed, "FILE.py")->required();

  CLI11_PARSE(app, argc, argv);
  return *compileCommand ? compile(arguments) : listKernels(listed);
}
