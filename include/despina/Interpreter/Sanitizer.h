//===- Sanitizer.h - Faults of kernels that still give results --*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// What the memory of a launch's arguments has been through: which bytes were written, and by which program.
// Findings name the fault; the host knows the line.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_INTERPRETER_SANITIZER_H
#define DESPINA_INTERPRETER_SANITIZER_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace despina::interpreter {

struct Finding {
  std::string kind, text;
};

class Sanitizer {
public:
  /// Memory of an argument. Words of `poison` in it were never written.
  void addRegion(uint64_t begin, uint64_t end, const std::string &name, uint64_t poison);
  /// Numbers the programs from 1 on.
  void setProgram(uint32_t number) { program_ = number; }

  /// One element each. False when it is out of bounds and must not be touched.
  bool read(uint64_t address, unsigned bytes, const char *operation);
  bool write(uint64_t address, unsigned bytes, bool isAtomic, const char *operation);

  void report(std::string kind, std::string text) { findings_.push_back({std::move(kind), std::move(text)}); }
  std::vector<Finding> takeFindings() { return std::exchange(findings_, {}); }
  bool hasFindings() const { return !findings_.empty(); }

private:
  struct Region {
    uint64_t begin = 0, end = 0;
    std::string name;
    std::vector<bool> written;     ///< by byte
    std::vector<uint32_t> writers; ///< by byte: the program that wrote it last, without an atomic; 0: none
  };
  Region *find(uint64_t address, unsigned bytes, const char *operation, const char *verb);

  std::vector<Region> regions_;
  std::vector<Finding> findings_;
  uint32_t program_ = 1;
};

} // namespace despina::interpreter

#endif // DESPINA_INTERPRETER_SANITIZER_H
