//===- ElementwiseOps.cpp - Arithmetic on tiles ---------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Integers wrap around, and what is undefined elsewhere has the value that compiled kernels give it
// (docs/numerics.md, Integers). Narrow floats compute in fp32 and are rounded.
//
//===----------------------------------------------------------------------===//
#include "Floats.h"
#include "despina/Interpreter/EagerBuilder.h"

#include <cmath>
#include <limits>

namespace despina::interpreter {

namespace {

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Whether the result of these has one stored element.
bool allUniform(std::initializer_list<const Tile *> tiles) {
  for (const Tile *tile : tiles)
    if (!tile->uniform)
      return false;
  return true;
}

/// The operand that says how many lanes there are.
const Tile &largest(std::initializer_list<const Tile *> tiles) {
  const Tile *result = *tiles.begin();
  for (const Tile *tile : tiles)
    if (tile->size > result->size)
      result = tile;
  return *result;
}

TileRef resultLike(std::initializer_list<const Tile *> tiles, const Type &element) {
  const Tile &like = largest(tiles);
  return Tile::make(element, like.shape, allUniform(tiles), like.size);
}

template <typename R, typename T, typename F> void map1(R *out, const T *x, int64_t count, F f) {
  for (int64_t i = 0; i < count; ++i)
    out[i] = f(x[i]);
}

/// The three forms are written out so that each is a loop that compilers turn into vector code.
template <typename R, typename T, typename F>
void map2(R *out, const T *x, int64_t xStep, const T *y, int64_t yStep, int64_t count, F f) {
  if (xStep && yStep) {
    for (int64_t i = 0; i < count; ++i)
      out[i] = f(x[i], y[i]);
  } else if (xStep) {
    const T b = *y;
    for (int64_t i = 0; i < count; ++i)
      out[i] = f(x[i], b);
  } else {
    const T a = *x;
    for (int64_t i = 0; i < count; ++i)
      out[i] = f(a, y[i * yStep]);
  }
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

template <typename U> using SignedOf = std::make_signed_t<U>;

template <typename U> U divideSigned(U x, U y) {
  if (y == 0)
    return x;
  if (y == U(-1))
    return U(0) - x;
  return U(SignedOf<U>(x) / SignedOf<U>(y));
}
template <typename U> U remainderSigned(U x, U y) {
  return y == 0 || y == U(-1) ? U(0) : U(SignedOf<U>(x) % SignedOf<U>(y));
}
template <typename U> U shiftRightSigned(U x, U count) {
  constexpr unsigned bits = sizeof(U) * 8;
  return U(SignedOf<U>(x) >> (count >= bits ? bits - 1 : unsigned(count)));
}
template <typename U> U highProduct(U x, U y) { return U((unsigned __int128)(x)*y >> (sizeof(U) * 8)); }

template <typename U> void integerBinary(BinaryKind kind, Tile &out, const Tile &lhs, const Tile &rhs) {
  using S = SignedOf<U>;
  constexpr unsigned bits = sizeof(U) * 8;
  auto run = [&](auto f) {
    map2(out.data<U>(), lhs.data<U>(), lhs.step(), rhs.data<U>(), rhs.step(), out.stored(), f);
  };
  switch (kind) {
  case BinaryKind::AddI: return run([](U x, U y) { return U(x + y); });
  case BinaryKind::SubI: return run([](U x, U y) { return U(x - y); });
  case BinaryKind::MulI: return run([](U x, U y) { return U(uint64_t(x) * uint64_t(y)); });
  case BinaryKind::DivSI: return run(divideSigned<U>);
  case BinaryKind::DivUI: return run([](U x, U y) { return y == 0 ? x : U(x / y); });
  case BinaryKind::RemSI: return run(remainderSigned<U>);
  case BinaryKind::RemUI: return run([](U x, U y) { return y == 0 ? U(0) : U(x % y); });
  case BinaryKind::AndI: return run([](U x, U y) { return U(x & y); });
  case BinaryKind::OrI: return run([](U x, U y) { return U(x | y); });
  case BinaryKind::XorI: return run([](U x, U y) { return U(x ^ y); });
  case BinaryKind::ShlI: return run([](U x, U y) { return y >= bits ? U(0) : U(uint64_t(x) << y); });
  case BinaryKind::ShrSI: return run(shiftRightSigned<U>);
  case BinaryKind::ShrUI: return run([](U x, U y) { return y >= bits ? U(0) : U(x >> y); });
  case BinaryKind::MinSI: return run([](U x, U y) { return S(x) < S(y) ? x : y; });
  case BinaryKind::MaxSI: return run([](U x, U y) { return S(x) > S(y) ? x : y; });
  case BinaryKind::MinUI: return run([](U x, U y) { return x < y ? x : y; });
  case BinaryKind::MaxUI: return run([](U x, U y) { return x > y ? x : y; });
  case BinaryKind::MulHiUI: return run(highProduct<U>);
  default: return;
  }
}

/// int1 holds 0 and 1 in a byte; as a signed number 1 is -1.
void boolBinary(BinaryKind kind, Tile &out, const Tile &lhs, const Tile &rhs) {
  auto run = [&](auto f) {
    map2(out.data<uint8_t>(), lhs.data<uint8_t>(), lhs.step(), rhs.data<uint8_t>(), rhs.step(), out.stored(),
         [f](uint8_t x, uint8_t y) { return uint8_t(f(x, y) & 1); });
  };
  switch (kind) {
  case BinaryKind::AddI:
  case BinaryKind::SubI:
  case BinaryKind::XorI: return run([](int x, int y) { return x ^ y; });
  case BinaryKind::MulI:
  case BinaryKind::AndI:
  case BinaryKind::MaxSI:
  case BinaryKind::MinUI: return run([](int x, int y) { return x & y; });
  case BinaryKind::OrI:
  case BinaryKind::MinSI:
  case BinaryKind::MaxUI: return run([](int x, int y) { return x | y; });
  case BinaryKind::DivSI:
  case BinaryKind::DivUI: return run([](int x, int) { return x; });
  case BinaryKind::ShlI:
  case BinaryKind::ShrUI: return run([](int x, int y) { return y ? 0 : x; });
  case BinaryKind::ShrSI: return run([](int x, int) { return x; });
  default: return run([](int, int) { return 0; });
  }
}

/// Calls `work` with an unsigned integer of the storage's width.
template <typename F> auto withInteger(Storage storage, F work) {
  switch (bytesOf(storage)) {
  case 1: return work(uint8_t());
  case 2: return work(uint16_t());
  case 4: return work(uint32_t());
  default: return work(uint64_t());
  }
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

template <typename T> T minimumNumber(T x, T y) {
  return std::isnan(x) ? y : std::isnan(y) ? x : y < x ? y : x;
}
template <typename T> T maximumNumber(T x, T y) {
  return std::isnan(x) ? y : std::isnan(y) ? x : y > x ? y : x;
}
/// -0 is less than 0 here.
template <typename T> T minimumPropagating(T x, T y) {
  if (std::isnan(x) || std::isnan(y))
    return std::numeric_limits<T>::quiet_NaN();
  return x < y || (x == y && std::signbit(x)) ? x : y;
}
template <typename T> T maximumPropagating(T x, T y) {
  if (std::isnan(x) || std::isnan(y))
    return std::numeric_limits<T>::quiet_NaN();
  return x > y || (x == y && !std::signbit(x)) ? x : y;
}

template <typename T>
void floatBinary(BinaryKind kind, T *out, int64_t count, const T *x, int64_t xStep, const T *y,
                 int64_t yStep) {
  auto run = [&](auto f) { map2(out, x, xStep, y, yStep, count, f); };
  switch (kind) {
  case BinaryKind::AddF: return run([](T a, T b) { return a + b; });
  case BinaryKind::SubF: return run([](T a, T b) { return a - b; });
  case BinaryKind::MulF: return run([](T a, T b) { return a * b; });
  case BinaryKind::DivF:
  case BinaryKind::PreciseDivF: return run([](T a, T b) { return a / b; });
  case BinaryKind::RemF: return run([](T a, T b) { return std::fmod(a, b); });
  case BinaryKind::MinNumF: return run(minimumNumber<T>);
  case BinaryKind::MaxNumF: return run(maximumNumber<T>);
  case BinaryKind::MinimumF: return run(minimumPropagating<T>);
  case BinaryKind::MaximumF: return run(maximumPropagating<T>);
  default: return;
  }
}

template <typename T> void floatUnary(UnaryKind kind, T *out, const T *x, int64_t count) {
  auto run = [&](auto f) { map1(out, x, count, f); };
  switch (kind) {
  case UnaryKind::NegF: return run([](T a) { return -a; });
  case UnaryKind::AbsF: return run([](T a) { return std::fabs(a); });
  case UnaryKind::Exp: return run([](T a) { return std::exp(a); });
  case UnaryKind::Exp2: return run([](T a) { return std::exp2(a); });
  case UnaryKind::Log: return run([](T a) { return std::log(a); });
  case UnaryKind::Log2: return run([](T a) { return std::log2(a); });
  case UnaryKind::Sin: return run([](T a) { return std::sin(a); });
  case UnaryKind::Cos: return run([](T a) { return std::cos(a); });
  case UnaryKind::Sqrt:
  case UnaryKind::PreciseSqrt: return run([](T a) { return std::sqrt(a); });
  case UnaryKind::Rsqrt: return run([](T a) { return T(1) / std::sqrt(a); });
  case UnaryKind::Erf: return run([](T a) { return std::erf(a); });
  case UnaryKind::Floor: return run([](T a) { return std::floor(a); });
  case UnaryKind::Ceil: return run([](T a) { return std::ceil(a); });
  case UnaryKind::AbsI: return;
  }
}

/// Floats of a tile as T: its own memory when it holds such, else a copy.
template <typename T> class Reals {
public:
  explicit Reals(const Tile &tile) : step_(tile.step()) {
    constexpr Storage own = sizeof(T) == 8 ? Storage::F64 : Storage::F32;
    if (tile.storage == own) {
      data_ = tile.data<T>();
    } else {
      copy_ = realsOf<T>(tile);
      data_ = copy_.data();
    }
  }
  const T *data() const { return data_; }
  int64_t step() const { return step_; }

private:
  std::vector<T> copy_;
  const T *data_;
  int64_t step_;
};

/// Calls `work` with a T to compute in and where to put the results; rounds them to the tile's type.
template <typename F> TileRef withReals(TileRef out, F work) {
  if (out->storage == Storage::F64) {
    work(out->data<double>());
    return out;
  }
  if (out->storage == Storage::F32) {
    work(out->data<float>());
    return out;
  }
  std::vector<float> values(size_t(out->stored()));
  work(values.data());
  return tileOfReals(values.data(), out->stored(), *out, out->element);
}

bool holds(CompareKind kind, const auto &x, const auto &y) {
  switch (kind) {
  case CompareKind::EQ:
  case CompareKind::OEQ: return x == y;
  case CompareKind::NE:
  case CompareKind::UNE: return x != y;
  case CompareKind::SLT:
  case CompareKind::ULT:
  case CompareKind::OLT: return x < y;
  case CompareKind::SLE:
  case CompareKind::ULE:
  case CompareKind::OLE: return x <= y;
  case CompareKind::SGT:
  case CompareKind::UGT:
  case CompareKind::OGT: return x > y;
  case CompareKind::SGE:
  case CompareKind::UGE:
  case CompareKind::OGE: return x >= y;
  }
  return false;
}

template <typename T>
void compareValues(CompareKind kind, Tile &out, const T *x, int64_t xStep, const T *y, int64_t yStep) {
  auto run = [&]<CompareKind Kind>() {
    map2(out.data<uint8_t>(), x, xStep, y, yStep, out.stored(),
         [](T a, T b) { return uint8_t(holds(Kind, a, b)); });
  };
  // One loop for each relation; which kinds share one depends on T alone.
  switch (kind) {
  case CompareKind::EQ:
  case CompareKind::OEQ: return run.template operator()<CompareKind::EQ>();
  case CompareKind::NE:
  case CompareKind::UNE: return run.template operator()<CompareKind::NE>();
  case CompareKind::SLT:
  case CompareKind::ULT:
  case CompareKind::OLT: return run.template operator()<CompareKind::SLT>();
  case CompareKind::SLE:
  case CompareKind::ULE:
  case CompareKind::OLE: return run.template operator()<CompareKind::SLE>();
  case CompareKind::SGT:
  case CompareKind::UGT:
  case CompareKind::OGT: return run.template operator()<CompareKind::SGT>();
  default: return run.template operator()<CompareKind::SGE>();
  }
}

bool isSignedCompare(CompareKind kind) {
  return kind == CompareKind::SLT || kind == CompareKind::SLE || kind == CompareKind::SGT ||
         kind == CompareKind::SGE;
}

} // namespace

//===----------------------------------------------------------------------===//
// Conversion to and from numbers
//===----------------------------------------------------------------------===//

template <typename T> std::vector<T> realsOf(const Tile &tile) {
  int64_t count = tile.stored();
  std::vector<T> values(static_cast<size_t>(count));
  switch (tile.storage) {
  case Storage::F16:
    map1(values.data(), tile.data<uint16_t>(), count, [](uint16_t x) { return T(fromHalf(x)); });
    break;
  case Storage::BF16:
    map1(values.data(), tile.data<uint16_t>(), count, [](uint16_t x) { return T(fromBFloat(x)); });
    break;
  case Storage::F32: map1(values.data(), tile.data<float>(), count, [](float x) { return T(x); }); break;
  case Storage::F64: map1(values.data(), tile.data<double>(), count, [](double x) { return T(x); }); break;
  case Storage::FP8: {
    const float *table = fp8Values(tile.element.scalarKind());
    map1(values.data(), tile.data<uint8_t>(), count, [table](uint8_t x) { return T(table[x]); });
    break;
  }
  default:
    for (int64_t i = 0; i < count; ++i)
      values[size_t(i)] = T(integerAt(tile, i));
  }
  return values;
}

template <typename T>
TileRef tileOfReals(const T *values, int64_t stored, const Tile &like, const Type &element) {
  TileRef tile = Tile::make(element, like.shape, stored == 1 && like.size > 1, like.size);
  switch (tile->storage) {
  // Also from double: to fp32 first would round twice.
  case Storage::F16:
    map1(tile->data<uint16_t>(), values, stored, [](T x) {
      return sizeof(T) == 4 ? toHalf(float(x)) : uint16_t(encodeFloat(formatOf(ScalarKind::FP16), x, false));
    });
    break;
  case Storage::BF16:
    map1(tile->data<uint16_t>(), values, stored, [](T x) {
      return sizeof(T) == 4 ? toBFloat(float(x))
                            : uint16_t(encodeFloat(formatOf(ScalarKind::BF16), x, false));
    });
    break;
  case Storage::F32: map1(tile->data<float>(), values, stored, [](T x) { return float(x); }); break;
  case Storage::F64: map1(tile->data<double>(), values, stored, [](T x) { return double(x); }); break;
  case Storage::FP8: {
    ScalarKind kind = element.scalarKind();
    map1(tile->data<uint8_t>(), values, stored, [kind](T x) { return toFP8(kind, double(x), false); });
    break;
  }
  default: break;
  }
  return tile;
}

template std::vector<float> realsOf<float>(const Tile &);
template std::vector<double> realsOf<double>(const Tile &);
template TileRef tileOfReals<float>(const float *, int64_t, const Tile &, const Type &);
template TileRef tileOfReals<double>(const double *, int64_t, const Tile &, const Type &);

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

TileRef computeBinary(BinaryKind kind, const Tile &lhs, const Tile &rhs) {
  TileRef out = resultLike({&lhs, &rhs}, lhs.element);
  if (isFloat(lhs.storage))
    return withReals(out, [&]<typename T>(T *values) {
      Reals<T> x(lhs), y(rhs);
      floatBinary(kind, values, out->stored(), x.data(), x.step(), y.data(), y.step());
    });
  if (lhs.storage == Storage::Bool)
    boolBinary(kind, *out, lhs, rhs);
  else
    withInteger(lhs.storage, [&]<typename U>(U) { integerBinary<U>(kind, *out, lhs, rhs); });
  return out;
}

TileRef computeUnary(UnaryKind kind, const Tile &x) {
  TileRef out = resultLike({&x}, x.element);
  if (isFloat(x.storage))
    return withReals(
        out, [&]<typename T>(T *values) { floatUnary(kind, values, Reals<T>(x).data(), out->stored()); });
  if (x.storage == Storage::Bool) // |-1| wraps around
    return x.view(x.element, x.shape);
  withInteger(x.storage, [&]<typename U>(U) {
    map1(out->data<U>(), x.data<U>(), out->stored(), [](U a) { return SignedOf<U>(a) < 0 ? U(0) - a : a; });
  });
  return out;
}

TileRef computeCompare(CompareKind kind, const Tile &lhs, const Tile &rhs) {
  TileRef out = resultLike({&lhs, &rhs}, ScalarKind::Int1);
  auto run = [&]<typename T>(const T *x, const T *y) {
    compareValues(kind, *out, x, lhs.step(), y, rhs.step());
  };
  if (lhs.storage == Storage::F64) {
    run(lhs.data<double>(), rhs.data<double>());
  } else if (isFloat(lhs.storage)) {
    Reals<float> x(lhs), y(rhs);
    run(x.data(), y.data());
  } else if (lhs.storage == Storage::Bool && isSignedCompare(kind)) {
    // 1 is -1.
    compareValues(kind, *out, rhs.data<uint8_t>(), rhs.step(), lhs.data<uint8_t>(), lhs.step());
  } else {
    withInteger(lhs.storage, [&]<typename U>(U) {
      using S = SignedOf<U>;
      if (isSignedCompare(kind))
        run(lhs.data<S>(), rhs.data<S>());
      else
        run(lhs.data<U>(), rhs.data<U>());
    });
  }
  return out;
}

TileRef computeSelect(const Tile &condition, const Tile &ifTrue, const Tile &ifFalse) {
  if (condition.uniform && condition.size >= std::max(ifTrue.size, ifFalse.size)) {
    const Tile &chosen = condition.data<uint8_t>()[0] ? ifTrue : ifFalse;
    return chosen.view(ifTrue.element, chosen.shape);
  }
  TileRef out = resultLike({&condition, &ifTrue, &ifFalse}, ifTrue.element);
  const uint8_t *test = condition.data<uint8_t>();
  withInteger(ifTrue.storage, [&]<typename U>(U) {
    const U *x = ifTrue.data<U>(), *y = ifFalse.data<U>();
    int64_t testStep = condition.step(), xStep = ifTrue.step(), yStep = ifFalse.step();
    U *to = out->data<U>();
    for (int64_t i = 0, count = out->stored(); i < count; ++i)
      to[i] = test[i * testStep] ? x[i * xStep] : y[i * yStep];
  });
  return out;
}

TileRef computeFMA(const Tile &x, const Tile &y, const Tile &z) {
  TileRef out = resultLike({&x, &y, &z}, x.element);
  // What is narrower than fp32 has exact products in double, where a sum of two such rounds far from its
  // ties.
  if (out->storage != Storage::F64 && out->storage != Storage::F32) {
    std::vector<double> a = realsOf<double>(x), b = realsOf<double>(y), c = realsOf<double>(z);
    std::vector<double> values(static_cast<size_t>(out->stored()));
    for (int64_t i = 0; i < out->stored(); ++i)
      values[size_t(i)] = std::fma(a[size_t(i * x.step())], b[size_t(i * y.step())], c[size_t(i * z.step())]);
    return tileOfReals(values.data(), out->stored(), *out, out->element);
  }
  return withReals(out, [&]<typename T>(T *values) {
    Reals<T> a(x), b(y), c(z);
    for (int64_t i = 0, count = out->stored(); i < count; ++i)
      values[i] = std::fma(a.data()[i * a.step()], b.data()[i * b.step()], c.data()[i * c.step()]);
  });
}

TileRef computeClamp(const Tile &x, const Tile &min, const Tile &max, bool propagateNan) {
  BinaryKind lower = propagateNan ? BinaryKind::MaximumF : BinaryKind::MaxNumF;
  BinaryKind upper = propagateNan ? BinaryKind::MinimumF : BinaryKind::MinNumF;
  TileRef raised = computeBinary(lower, x, min);
  return computeBinary(upper, *raised, max);
}

TileRef computeAddPointer(const Tile &pointer, const Tile &offset) {
  TileRef out = resultLike({&pointer, &offset}, pointer.element);
  uint64_t width = bytesOf(storageOf(pointer.element.pointee()));
  const uint64_t *base = pointer.data<uint64_t>();
  int64_t baseStep = pointer.step(), offsetStep = offset.step(), count = out->stored();
  uint64_t *to = out->data<uint64_t>();
  auto run = [&]<typename S>(const S *by) {
    for (int64_t i = 0; i < count; ++i)
      to[i] = base[i * baseStep] + uint64_t(int64_t(by[i * offsetStep])) * width;
  };
  switch (bytesOf(offset.storage)) {
  case 1: run(offset.data<int8_t>()); break;
  case 2: run(offset.data<int16_t>()); break;
  case 4: run(offset.data<int32_t>()); break;
  default: run(offset.data<int64_t>());
  }
  return out;
}

} // namespace despina::interpreter
