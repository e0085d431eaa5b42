//===- SimulatedWgmma.cpp - wgmma on simulated threads --------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// wgmma as the PTX manual has it: which element of a fragment is which of the matrix, and where a descriptor
// says that elements of a matrix are. Nothing here knows of layouts. Products are added in f64 and rounded
// once; the unit is done at once, so that what a missing wait would do does not show.
//
//===----------------------------------------------------------------------===//
#include "ThreadBlock.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/bit.h"

#include <cstring>

namespace despina::test {

namespace {

using Calls = llvm::MutableArrayRef<ThreadCall>;
using Scope = ThreadOperation::Scope;

enum class Element { F16, BF16, TF32, E4M3, E5M2, S8, F32, S32 };

struct ElementInfo {
  const char *name;
  unsigned bits;
};
ElementInfo info(Element element) {
  static constexpr ElementInfo table[] = {{"f16", 16}, {"bf16", 16}, {"tf32", 32}, {"e4m3", 8},
                                          {"e5m2", 8}, {"s8", 8},    {"f32", 32},  {"s32", 32}};
  return table[static_cast<unsigned>(element)];
}

const llvm::fltSemantics &semantics(Element element) {
  switch (element) {
  case Element::F16: return llvm::APFloat::IEEEhalf();
  case Element::BF16: return llvm::APFloat::BFloat();
  case Element::E4M3: return llvm::APFloat::Float8E4M3FN();
  case Element::E5M2: return llvm::APFloat::Float8E5M2();
  default: return llvm::APFloat::IEEEsingle();
  }
}

double decode(Element element, uint64_t bits) {
  if (element == Element::S8)
    return static_cast<int8_t>(bits);
  if (element == Element::S32)
    return static_cast<int32_t>(bits);
  if (element == Element::TF32)
    bits &= ~uint64_t(0x1FFF);
  llvm::APFloat value(semantics(element), llvm::APInt(info(element).bits, bits));
  bool inexact = false;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &inexact);
  return value.convertToDouble();
}

uint64_t encode(Element element, double number) {
  if (element == Element::S32)
    return static_cast<uint32_t>(static_cast<int64_t>(number));
  llvm::APFloat value(number);
  bool inexact = false;
  value.convert(semantics(element), llvm::APFloat::rmNearestTiesToEven, &inexact);
  return value.bitcastToAPInt().getZExtValue();
}

/// Element `index` of elements packed in words of 32 bits.
uint64_t unpack(llvm::ArrayRef<uint32_t> words, unsigned bits, unsigned index) {
  if (bits == 64)
    return words[2 * index] | uint64_t(words[2 * index + 1]) << 32;
  unsigned perWord = 32 / bits;
  uint64_t mask = bits == 32 ? 0xFFFFFFFFu : (uint64_t(1) << bits) - 1;
  return words[index / perWord] >> (index % perWord * bits) & mask;
}

void pack(llvm::MutableArrayRef<uint32_t> words, unsigned bits, unsigned index, uint64_t value) {
  if (bits == 64) {
    words[2 * index] = static_cast<uint32_t>(value);
    words[2 * index + 1] = static_cast<uint32_t>(value >> 32);
    return;
  }
  unsigned perWord = 32 / bits, shift = index % perWord * bits;
  uint32_t mask = bits == 32 ? 0xFFFFFFFFu : (1u << bits) - 1;
  uint32_t &word = words[index / perWord];
  word = (word & ~(mask << shift)) | (static_cast<uint32_t>(value) & mask) << shift;
}

struct Matrix {
  unsigned columns;
  std::vector<double> values;
  Matrix(unsigned rows, unsigned columns) : columns(columns), values(size_t(rows) * columns) {}
  double &at(unsigned row, unsigned column) { return values[size_t(row) * columns + column]; }
};

/// Element `i` of a lane's fragment of A, rows by K: 8 rows, or 16 with the second register 8 rows down.
std::pair<unsigned, unsigned> placeInA(unsigned lane, unsigned i, unsigned bits, bool tall) {
  unsigned perRegister = std::max(1u, 32 / bits), index = i / perRegister, j = i % perRegister;
  unsigned down = tall ? index % 2 : 0, half = tall ? index / 2 : index;
  return {lane / 4 + 8 * down, lane % 4 * perRegister + j + half * 4 * perRegister};
}

struct Types {
  Element a, b, c;
};

/// The matrix that a descriptor names.
class DescribedMatrix {
public:
  DescribedMatrix(BlockState &state, uint64_t descriptor, unsigned bits, bool isMNContiguous)
      : state(state), start(static_cast<uint32_t>(descriptor & 0x3FFF) << 4),
        leading(static_cast<uint32_t>(descriptor >> 16 & 0x3FFF) << 4),
        stride(static_cast<uint32_t>(descriptor >> 32 & 0x3FFF) << 4),
        swizzle(std::array<unsigned, 4>{0, 128, 64, 32}[descriptor >> 62]), bytes(bits / 8),
        isMNContiguous(isMNContiguous) {}

  uint64_t at(unsigned across, unsigned k) {
    uint32_t address = start + (isMNContiguous ? offsetAlongMN(across, k) : offsetAlongK(across, k));
    // 16-byte pieces of a row change places by the number of the row.
    if (swizzle)
      address ^= (address >> 7 & (swizzle / 16 - 1)) << 4;
    if (address + bytes > state.shared().size()) {
      state.error = "a descriptor reaches beyond shared memory";
      return 0;
    }
    uint64_t value = 0;
    std::memcpy(&value, state.shared().data() + address, bytes);
    return value;
  }

private:
  uint32_t offsetAlongK(unsigned across, unsigned k) const {
    uint32_t along = k * bytes;
    if (swizzle)
      return across % 8 * swizzle + across / 8 * stride + along;
    return across % 8 * 16 + across / 8 * stride + along / 16 * leading + along % 16;
  }
  uint32_t offsetAlongMN(unsigned across, unsigned k) const {
    uint32_t along = across * bytes;
    if (swizzle)
      return along % swizzle + along / swizzle * leading + k % 8 * swizzle + k / 8 * stride;
    return along % 16 + along / 16 * stride + k % 8 * 16 + k / 8 * leading;
  }

  BlockState &state;
  uint32_t start, leading, stride;
  unsigned swizzle, bytes;
  bool isMNContiguous;
};

uint64_t wide(llvm::ArrayRef<uint32_t> words) { return words[0] | uint64_t(words[1]) << 32; }

/// wgmma.mma_async. Operands: the words of d, then a descriptor or four words of a, the descriptor of b, and
/// numbers: scale-d, imm-scale-a, imm-scale-b, and for 16-bit types imm-trans-a (of a descriptor) and
/// imm-trans-b.
ThreadOperation wgmma(Types types, unsigned n, unsigned depth, bool isAInRegisters) {
  std::string name = std::string(isAInRegisters ? "registers." : "") + "wgmma.mma_async.sync.aligned.m64n" +
                     std::to_string(n) + "k" + std::to_string(depth) + "." + info(types.c).name + "." +
                     info(types.a).name + "." + info(types.b).name;
  return {name, Scope::Group, [=](BlockState &state, Calls calls) {
            unsigned bits = info(types.a).bits, sumBits = info(types.c).bits;
            unsigned wordsD = n / 2 * sumBits / 32, wordsA = isAInRegisters ? 4 : 2;
            llvm::ArrayRef<uint32_t> factors = calls[0].operands.drop_front(wordsD);
            llvm::ArrayRef<uint32_t> flags = factors.drop_front(wordsA + 2);
            bool usesD = flags[0] != 0;
            bool turnA = bits == 16 && !isAInRegisters && flags[3] != 0;
            bool turnB = bits == 16 && flags.back() != 0;
            Matrix a(64, depth), b(depth, n);
            DescribedMatrix sharedB(state, wide(factors.drop_front(wordsA)), bits, turnB);
            for (unsigned k = 0; k < depth; ++k)
              for (unsigned column = 0; column < n; ++column)
                b.at(k, column) = decode(types.b, sharedB.at(column, k));
            if (!isAInRegisters) {
              DescribedMatrix sharedA(state, wide(factors), bits, turnA);
              for (unsigned k = 0; k < depth; ++k)
                for (unsigned row = 0; row < 64; ++row)
                  a.at(row, k) = decode(types.a, sharedA.at(row, k));
            }
            for (unsigned thread = 0; isAInRegisters && thread < calls.size(); ++thread)
              for (unsigned i = 0; i < depth / 2; ++i) {
                auto [row, k] = placeInA(thread % 32, i, bits, true);
                a.at(row + 16 * (thread / 32), k) =
                    decode(types.a, unpack(calls[thread].operands.drop_front(wordsD), bits, i));
              }
            for (unsigned thread = 0; thread < calls.size(); ++thread)
              for (unsigned i = 0; i < n / 2; ++i) {
                unsigned lane = thread % 32, row = 16 * (thread / 32) + lane / 4 + 8 * (i / 2 % 2),
                         column = i / 4 * 8 + lane % 4 * 2 + i % 2;
                double total = usesD ? decode(types.c, unpack(calls[thread].operands, sumBits, i)) : 0.0;
                for (unsigned k = 0; k < depth; ++k)
                  total += a.at(row, k) * b.at(k, column);
                pack(calls[thread].results, sumBits, i, encode(types.c, total));
              }
          }};
}

struct Instruction {
  Types types;
  unsigned depth;
};

} // namespace

std::vector<ThreadOperation> groupOperations() {
  using enum Element;
  const Instruction instructions[] = {
      {{F16, F16, F32}, 16},   {{F16, F16, F16}, 16},   {{BF16, BF16, F32}, 16},
      {{TF32, TF32, F32}, 8},  {{E4M3, E4M3, F32}, 32}, {{E4M3, E5M2, F32}, 32},
      {{E5M2, E4M3, F32}, 32}, {{E5M2, E5M2, F32}, 32}, {{S8, S8, S32}, 32}};
  std::vector<ThreadOperation> all;
  for (const Instruction &each : instructions)
    for (unsigned n = 8; n <= 256; n *= 2)
      for (bool isAInRegisters : {false, true})
        all.push_back(wgmma(each.types, n, each.depth, isAInRegisters));
  return all;
}

} // namespace despina::test
