//===- SimulatedCopies.cpp - cp.async on simulated threads ----------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "ThreadBlock.h"

#include <algorithm>

namespace despina::test {

void AsyncCopies::Copy::run() const {
  std::copy_n(from, read, to);
  std::fill(to + read, to + bytes, uint8_t(0));
}

void AsyncCopies::start(uint8_t *to, const uint8_t *from, unsigned bytes, unsigned read) {
  Copy copy{to, from, bytes, read};
  isDoneAtOnce = !isDoneAtOnce;
  if (isDoneAtOnce)
    copy.run();
  else
    groups.back().push_back(copy);
}

void AsyncCopies::wait(size_t pending) {
  size_t done = groups.size() - 1 - std::min(pending, groups.size() - 1);
  for (size_t i = 0; i < done; ++i)
    for (const Copy &copy : groups[i])
      copy.run();
  groups.erase(groups.begin(), groups.begin() + static_cast<std::ptrdiff_t>(done));
}

namespace {

using Calls = llvm::MutableArrayRef<ThreadCall>;

uint8_t *pointerIn(const ThreadCall &call, unsigned word) {
  return reinterpret_cast<uint8_t *>(call.operands[word] | uint64_t(call.operands[word + 1]) << 32);
}

/// Operands: where to, where from, bytes, bytes that are read.
void copy(BlockState &state, Calls calls) {
  const ThreadCall &call = calls.front();
  uint8_t *to = pointerIn(call, 0), *from = pointerIn(call, 2);
  uint32_t bytes = call.operands[4], read = call.operands[5];
  bool isAligned =
      reinterpret_cast<uint64_t>(to) % bytes == 0 && reinterpret_cast<uint64_t>(from) % bytes == 0;
  bool isShared = to >= state.shared().data() && to + bytes <= state.shared().data() + state.shared().size();
  if (!isAligned || !isShared || (bytes != 4 && bytes != 8 && bytes != 16) || read > bytes)
    state.error = "a copy is unaligned, of a size that there is not, or outside of shared memory";
  else
    state.copies[call.thread].start(to, from, bytes, read);
}

} // namespace

std::vector<ThreadOperation> copyOperations() {
  using enum ThreadOperation::Scope;
  return {{"cp.async.ca.*", Thread, copy},
          {"cp.async.cg.*", Thread, copy},
          {"cp.async.commit_group", Thread,
           [](BlockState &state, Calls calls) { state.copies[calls[0].thread].commit(); }},
          {"cp.async.wait_group", Thread,
           [](BlockState &state, Calls calls) { state.copies[calls[0].thread].wait(calls[0].operands[0]); }}};
}

} // namespace despina::test
