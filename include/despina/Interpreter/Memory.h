//===- Memory.h - Memory that interpreted kernels reach ---------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Pointers are addresses of this process. What a program writes can be taken back until it ends, so that a
// kernel that stops half-way leaves what completed programs wrote. Addresses outside of the arguments' memory
// are reached through the system, which answers where nothing is mapped instead of ending the process.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_INTERPRETER_MEMORY_H
#define DESPINA_INTERPRETER_MEMORY_H

#include <cstdint>
#include <string>
#include <vector>

namespace despina::interpreter {

struct AccessError {
  uint64_t address = 0;
  unsigned bytes = 0;
  bool isWrite = false;
};

class Memory {
public:
  /// Memory of an argument.
  struct Region {
    uint64_t begin = 0, end = 0;
    std::string name;
  };

  void addRegion(uint64_t begin, uint64_t end, std::string name);
  const std::vector<Region> &regions() const { return regions_; }
  /// "12 bytes behind the end of `x_ptr`", or empty.
  std::string describe(uint64_t address) const;

  /// False when nothing is mapped there.
  bool read(uint64_t address, void *to, size_t bytes) const {
    if (isKnown(address, bytes)) {
      __builtin_memcpy(to, reinterpret_cast<const void *>(address), bytes);
      return true;
    }
    return readUnknown(address, to, bytes);
  }
  bool write(uint64_t address, const void *from, size_t bytes);

  /// What was written since is kept for good.
  void commit();
  /// Takes back what was written since `commit`.
  void rollBack();

private:
  bool isKnown(uint64_t address, size_t bytes) const {
    const Region &last = last_ < regions_.size() ? regions_[last_] : empty_;
    return holds(last, address, bytes) || findRegion(address, bytes);
  }
  static bool holds(const Region &region, uint64_t address, size_t bytes) {
    return address >= region.begin && address <= region.end && bytes <= region.end - address;
  }
  bool findRegion(uint64_t address, size_t bytes) const;
  static bool readUnknown(uint64_t address, void *to, size_t bytes);
  static bool writeUnknown(uint64_t address, const void *from, size_t bytes);

  struct Written {
    uint64_t address;
    size_t bytes, offset;
  };
  std::vector<Region> regions_;
  Region empty_;
  mutable size_t last_ = 0;
  std::vector<Written> written_;
  std::vector<char> overwritten_; ///< what was there before
};

} // namespace despina::interpreter

#endif // DESPINA_INTERPRETER_MEMORY_H
