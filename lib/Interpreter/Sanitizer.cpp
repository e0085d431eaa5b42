//===- Sanitizer.cpp - Faults of kernels that still give results ----------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "despina/Interpreter/Sanitizer.h"

#include <cstring>

namespace despina::interpreter {

void Sanitizer::addRegion(uint64_t begin, uint64_t end, const std::string &name, uint64_t poison) {
  for (const Region &region : regions_)
    if (region.begin == begin && region.end == end)
      return;
  Region region{begin, end, name, std::vector<bool>(end - begin, true),
                std::vector<uint32_t>(end - begin, 0)};
  for (uint64_t at = (begin + 7) & ~uint64_t(7); at + 8 <= end; at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, reinterpret_cast<const void *>(at), sizeof word);
    for (uint64_t i = 0; word == poison && i < 8; ++i)
      region.written[at - begin + i] = false;
  }
  regions_.push_back(std::move(region));
}

Sanitizer::Region *Sanitizer::find(uint64_t address, unsigned bytes, const char *operation,
                                   const char *verb) {
  const Region *nearest = nullptr;
  uint64_t distance = ~uint64_t(0);
  for (Region &region : regions_) {
    if (address >= region.begin && address < region.end && bytes <= region.end - address)
      return &region;
    uint64_t away = address < region.begin ? region.begin - address : address - region.end;
    if (away < distance) {
      distance = away;
      nearest = &region;
    }
  }
  std::string text = std::string(operation) + " " + verb + " " + std::to_string(bytes) + " bytes ";
  if (nearest)
    text += std::to_string(distance) +
            (address < nearest->begin ? " bytes before the start of `" : " bytes behind the end of `") +
            nearest->name + "`";
  else
    text += "outside of all arguments";
  report("out of bounds", std::move(text));
  return nullptr;
}

bool Sanitizer::read(uint64_t address, unsigned bytes, const char *operation) {
  Region *region = find(address, bytes, operation, "reads");
  if (!region)
    return false;
  for (uint64_t i = address - region->begin, end = i + bytes; i < end; ++i)
    if (!region->written[i]) {
      report("never written", std::string(operation) + " reads byte " +
                                  std::to_string(address - region->begin) + " of `" + region->name +
                                  "`, which nobody has written");
      region->written[i] = true; // once is enough
      break;
    }
  return true;
}

bool Sanitizer::write(uint64_t address, unsigned bytes, bool isAtomic, const char *operation) {
  Region *region = find(address, bytes, operation, "writes");
  if (!region)
    return false;
  bool races = false;
  uint32_t other = 0;
  for (uint64_t i = address - region->begin, end = i + bytes; i < end; ++i) {
    uint32_t &writer = region->writers[i];
    races |= writer != 0 && writer != program_;
    other = races && !other ? writer : other;
    region->written[i] = true;
    if (!isAtomic)
      writer = program_;
  }
  if (races)
    report("race", std::string(operation) + " writes byte " + std::to_string(address - region->begin) +
                       " of `" + region->name + "`, which program number " + std::to_string(other - 1) +
                       " has written too, without an atomic");
  return true;
}

} // namespace despina::interpreter
