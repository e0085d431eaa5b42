//===- Memory.cpp - Memory that interpreted kernels reach -----------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "despina/Interpreter/Memory.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/uio.h>
#include <unistd.h>

namespace despina::interpreter {

void Memory::addRegion(uint64_t begin, uint64_t end, std::string name) {
  regions_.push_back({begin, end, std::move(name)});
}

std::string Memory::describe(uint64_t address) const {
  const Region *nearest = nullptr;
  uint64_t distance = 1 << 30; // what is further away has nothing to do with the argument
  for (const Region &region : regions_) {
    uint64_t away = address < region.begin  ? region.begin - address
                    : address >= region.end ? address - region.end
                                            : 0;
    if (away < distance) {
      distance = away;
      nearest = &region;
    }
  }
  if (!nearest)
    return {};
  bool isBefore = address < nearest->begin;
  return std::to_string(distance) +
         (isBefore ? " bytes before the start of `" : " bytes behind the end of `") + nearest->name + "`";
}

bool Memory::findRegion(uint64_t address, size_t bytes) const {
  for (size_t i = 0; i < regions_.size(); ++i)
    if (holds(regions_[i], address, bytes)) {
      last_ = i;
      return true;
    }
  return false;
}

/// True when the system cannot do such copies at all: then nothing can be told of the address.
static bool isUnavailable() { return errno == ENOSYS || errno == EPERM; }

bool Memory::readUnknown(uint64_t address, void *to, size_t bytes) {
  iovec local{to, bytes}, remote{reinterpret_cast<void *>(address), bytes};
  if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == ssize_t(bytes))
    return true;
  if (!isUnavailable())
    return false;
  std::memcpy(to, reinterpret_cast<const void *>(address), bytes);
  return true;
}

bool Memory::writeUnknown(uint64_t address, const void *from, size_t bytes) {
  iovec local{const_cast<void *>(from), bytes}, remote{reinterpret_cast<void *>(address), bytes};
  if (process_vm_writev(getpid(), &local, 1, &remote, 1, 0) == ssize_t(bytes))
    return true;
  if (!isUnavailable())
    return false;
  std::memcpy(reinterpret_cast<void *>(address), from, bytes);
  return true;
}

bool Memory::write(uint64_t address, const void *from, size_t bytes) {
  size_t offset = overwritten_.size();
  overwritten_.resize(offset + bytes);
  bool known = isKnown(address, bytes);
  if (!read(address, overwritten_.data() + offset, bytes)) {
    overwritten_.resize(offset);
    return false;
  }
  written_.push_back({address, bytes, offset});
  if (!known)
    return writeUnknown(address, from, bytes);
  std::memcpy(reinterpret_cast<void *>(address), from, bytes);
  return true;
}

void Memory::commit() {
  written_.clear();
  overwritten_.clear();
}

void Memory::rollBack() {
  for (auto it = written_.rbegin(); it != written_.rend(); ++it) {
    const char *before = overwritten_.data() + it->offset;
    if (isKnown(it->address, it->bytes))
      std::memcpy(reinterpret_cast<void *>(it->address), before, it->bytes);
    else
      writeUnknown(it->address, before, it->bytes);
  }
  commit();
}

} // namespace despina::interpreter
