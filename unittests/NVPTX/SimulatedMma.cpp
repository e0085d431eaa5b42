//===- SimulatedMma.cpp - mma.sync on simulated threads -------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Fragments as the PTX manual lays them out. With g = lane / 4, t = lane mod 4 and n elements in a word:
//
//   a, word i   row g + 8 (i mod 2),  k = n t + j + 4 n (i / 2)
//   b, word i   column g,             k = n t + j + 4 n i
//   c, d        rows g and g + 8, columns 2 t and 2 t + 1
//
// Products are added in double: what hardware rounds on the way is not simulated.
//
//===----------------------------------------------------------------------===//
#include "ThreadBlock.h"

#include "llvm/ADT/APFloat.h"

#include <cstring>

namespace despina::test {

namespace {

using Calls = llvm::MutableArrayRef<ThreadCall>;

/// A type of elements: its name in PTX, its width, and what bits mean.
struct ElementType {
  std::string name;
  unsigned bits;
  std::function<double(uint64_t)> value;
};

double floatValue(const llvm::fltSemantics &semantics, unsigned bits, uint64_t pattern) {
  llvm::APFloat number(semantics, llvm::APInt(bits, pattern));
  bool losesInfo = false;
  number.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return number.convertToDouble();
}

ElementType floatType(std::string name, unsigned bits, const llvm::fltSemantics &semantics) {
  return {std::move(name), bits,
          [bits, &semantics](uint64_t pattern) { return floatValue(semantics, bits, pattern); }};
}

const ElementType f16 = floatType("f16", 16, llvm::APFloat::IEEEhalf());
const ElementType bf16 = floatType("bf16", 16, llvm::APFloat::BFloat());
const ElementType e4m3 = floatType("e4m3", 8, llvm::APFloat::Float8E4M3FN());
const ElementType e5m2 = floatType("e5m2", 8, llvm::APFloat::Float8E5M2());
const ElementType f32 = floatType("f32", 32, llvm::APFloat::IEEEsingle());
const ElementType f64 = floatType("f64", 64, llvm::APFloat::IEEEdouble());
/// The low bits of a tf32 do not count.
const ElementType tf32 = {"tf32", 32,
                          [](uint64_t pattern) { return f32.value(pattern & ~uint64_t(0x1fff)); }};
const ElementType s8 = {"s8", 8, [](uint64_t pattern) { return double(int8_t(pattern)); }};
const ElementType u8 = {"u8", 8, [](uint64_t pattern) { return double(uint8_t(pattern)); }};
const ElementType s32 = {"s32", 32, [](uint64_t pattern) { return double(int32_t(pattern)); }};

uint64_t patternOf(const ElementType &type, double value) {
  if (type.name == "s32")
    return static_cast<uint32_t>(static_cast<int64_t>(value));
  llvm::APFloat number(value);
  bool losesInfo = false;
  if (type.bits == 16)
    number.convert(llvm::APFloat::IEEEhalf(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  else if (type.bits == 32)
    number.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return number.bitcastToAPInt().getZExtValue();
}

/// Element `index` of words in which elements follow each other.
uint64_t elementOf(llvm::ArrayRef<uint32_t> words, unsigned bits, unsigned index) {
  if (bits == 64)
    return words[2 * index] | uint64_t(words[2 * index + 1]) << 32;
  unsigned perWord = 32 / bits;
  return words[index / perWord] >> (index % perWord * bits) & (~uint32_t(0) >> (32 - bits));
}

void setElement(llvm::MutableArrayRef<uint32_t> words, unsigned bits, unsigned index, uint64_t pattern) {
  if (bits == 64) {
    words[2 * index] = static_cast<uint32_t>(pattern);
    words[2 * index + 1] = static_cast<uint32_t>(pattern >> 32);
    return;
  }
  unsigned perWord = 32 / bits, shift = index % perWord * bits;
  uint32_t mask = ~uint32_t(0) >> (32 - bits) << shift;
  words[index / perWord] =
      (words[index / perWord] & ~mask) | (static_cast<uint32_t>(pattern) << shift & mask);
}

/// One shape with its types; a warp has rows x 8 results.
struct Product {
  unsigned rows, depth;
  ElementType a, b, c;

  unsigned wordsOf(const ElementType &type, unsigned elements) const { return elements * type.bits / 32; }
  unsigned elementsOfA() const { return rows * depth / 32; }
  unsigned elementsOfB() const { return 8 * depth / 32; }
  unsigned elementsOfC() const { return rows * 8 / 32; }

  void run(BlockState &, Calls calls) const {
    std::vector<double> left(size_t(rows) * depth), right(size_t(depth) * 8);
    unsigned wordsA = wordsOf(a, elementsOfA()), wordsB = wordsOf(b, elementsOfB());
    unsigned n = std::max(1u, 32 / a.bits), halves = rows / 8;
    for (unsigned lane = 0; lane < calls.size(); ++lane) {
      unsigned g = lane / 4, t = lane % 4;
      llvm::ArrayRef<uint32_t> words = calls[lane].operands;
      for (unsigned i = 0; i < elementsOfA(); ++i) {
        unsigned word = i / n, row = g + 8 * (word % halves), k = n * t + i % n + 4 * n * (word / halves);
        left[row * depth + k] = a.value(elementOf(words, a.bits, i));
      }
      for (unsigned i = 0; i < elementsOfB(); ++i) {
        unsigned k = n * t + i % n + 4 * n * (i / n);
        right[k * 8 + g] = b.value(elementOf(words.drop_front(wordsA), b.bits, i));
      }
    }
    for (unsigned lane = 0; lane < calls.size(); ++lane)
      for (unsigned i = 0; i < elementsOfC(); ++i) {
        unsigned row = lane / 4 + 8 * (i / 2), column = lane % 4 * 2 + i % 2;
        double sum = c.value(elementOf(calls[lane].operands.drop_front(wordsA + wordsB), c.bits, i));
        for (unsigned k = 0; k < depth; ++k)
          sum += left[row * depth + k] * right[k * 8 + column];
        setElement(calls[lane].results, c.bits, i, patternOf(c, sum));
      }
  }
};

} // namespace

std::vector<ThreadOperation> matrixOperations() {
  std::vector<Product> products = {{8, 4, f64, f64, f64}};
  for (unsigned half : {1u, 2u}) {
    for (const ElementType &type : {f16, bf16})
      products.push_back({16, 8 * half, type, type, f32});
    products.push_back({16, 8 * half, f16, f16, f16});
    products.push_back({16, 4 * half, tf32, tf32, f32});
    for (const ElementType &left : {s8, u8})
      for (const ElementType &right : {s8, u8})
        products.push_back({16, 16 * half, left, right, s32});
    for (const ElementType &left : {e4m3, e5m2})
      for (const ElementType &right : {e4m3, e5m2})
        products.push_back({16, 16 * half, left, right, f32});
  }
  std::vector<ThreadOperation> operations;
  for (const Product &product : products)
    operations.push_back({"mma.sync.aligned.m" + std::to_string(product.rows) + "n8k" +
                              std::to_string(product.depth) + ".row.col." + product.c.name + "." +
                              product.a.name + "." + product.b.name + "." + product.c.name,
                          ThreadOperation::Scope::Warp,
                          [product](BlockState &state, Calls calls) { product.run(state, calls); }});
  return operations;
}

} // namespace despina::test
