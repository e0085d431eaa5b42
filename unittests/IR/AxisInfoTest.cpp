//===- AxisInfoTest.cpp - Axis information against real values ------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Random programs are evaluated on numbers, and everything the analysis claims is checked on them.
//
//===----------------------------------------------------------------------===//
#include "despina/Analysis/AxisInfo.h"
#include "despina/IR/Context.h"
#include "despina/IR/TT.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"

#include "gtest/gtest.h"

#include <map>
#include <random>

using namespace mlir;
using namespace despina;

namespace {

/// A value with the numbers its elements have, in row-major order.
struct Known {
  Value value;
  std::vector<int64_t> numbers;
};

SmallVector<int64_t> extentsOf(Value value) {
  if (auto tile = dyn_cast<RankedTensorType>(value.getType()))
    return llvm::to_vector(tile.getShape());
  return {1};
}

/// The first claim about `numbers` that does not hold; empty if all do.
std::string findFalseClaim(const AxisInfo &info, ArrayRef<int64_t> shape,
                           const std::vector<int64_t> &numbers) {
  auto complain = [&](const char *what, size_t index) {
    std::string text = std::string(what) + " at element " + std::to_string(index) + ": ";
    llvm::raw_string_ostream os(text);
    info.print(os);
    return text;
  };
  for (size_t index = 0; index < numbers.size(); ++index) {
    if (info.constant && numbers[index] != *info.constant)
      return complain("constant", index);
    if (info.nonNegative && numbers[index] < 0)
      return complain("sign", index);
    size_t stride = 1;
    for (unsigned axis = shape.size(); axis-- > 0; stride *= shape[axis]) {
      int64_t position = (index / stride) % shape[axis];
      int64_t inRun = position % info.contiguity[axis], inRepeat = position % info.constancy[axis];
      if (numbers[index] != numbers[index - inRun * stride] + inRun)
        return complain("contiguity", index);
      if (numbers[index] != numbers[index - inRepeat * stride])
        return complain("constancy", index);
      if (inRun == 0 && numbers[index] % info.divisibility[axis] != 0)
        return complain("divisibility", index);
    }
  }
  return {};
}

/// Makes random index computations on i64 tiles of 2 dimensions and keeps their numbers.
class RandomProgram {
public:
  RandomProgram(MLIRContext *context, unsigned seed)
      : random_(seed), builder_(context), loc_(builder_.getUnknownLoc()), module_(ModuleOp::create(loc_)) {
    builder_.setInsertionPointToEnd(module_->getBody());
    SmallVector<Type> types(2, builder_.getI64Type());
    auto attrs =
        builder_.getDictionaryAttr(builder_.getNamedAttr("tt.divisibility", builder_.getI32IntegerAttr(16)));
    auto func = tt::FuncOp::create(builder_, loc_, "f", builder_.getFunctionType(types, {}), {},
                                   {attrs, builder_.getDictionaryAttr({})});
    Block &entry = func.getBody().emplaceBlock();
    entry.addArguments(types, {loc_, loc_});
    builder_.setInsertionPointToEnd(&entry);
    scalars_.push_back({entry.getArgument(0), {16 * pick(-8, 8)}});
    scalars_.push_back({entry.getArgument(1), {pick(-100, 100)}});
    for (int count = 0; count < 3; ++count)
      addConstant();
    for (int count = 0; count < 3; ++count)
      addRange();
    for (int count = 0; count < 2; ++count)
      addSplat();
  }

  void grow(int steps) {
    for (int step = 0; step < steps; ++step) {
      switch (pick(0, 9)) {
      case 0: addReshape(); break;
      case 1: addTrans(); break;
      case 2: addJoin(); break;
      case 3: addSelect(); break;
      case 4: addSplat(); break;
      default: addBinary();
      }
    }
    tt::ReturnOp::create(builder_, loc_);
  }

  /// Checks every claim on every value.
  void check() {
    ASSERT_TRUE(succeeded(verify(*module_)));
    AxisInfoAnalysis analysis(*module_);
    for (const auto &list : {scalars_, tiles_, others_})
      for (const Known &known : list) {
        std::string wrong =
            findFalseClaim(analysis.lookup(known.value), extentsOf(known.value), known.numbers);
        if (!wrong.empty()) {
          known.value.print(llvm::errs());
          module_->dump();
          FAIL() << wrong;
        }
        useful_ += analysis.lookup(known.value).contiguity.back() > 1;
      }
  }
  /// How many values have runs that the analysis sees.
  int useful() const { return useful_; }

private:
  static constexpr int64_t rows = 8, columns = 32;

  int64_t pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }
  RankedTensorType tileType(int64_t first = rows, int64_t second = columns) {
    return RankedTensorType::get({first, second}, builder_.getI64Type());
  }
  const Known &any(const std::vector<Known> &list) { return list[pick(0, list.size() - 1)]; }

  void addConstant() {
    int64_t number = pick(0, 1) ? int64_t(1) << pick(0, 6) : pick(-40, 40);
    scalars_.push_back({arith::ConstantIntOp::create(builder_, loc_, number, 64), {number}});
  }
  void addSplat() {
    const Known &scalar = any(scalars_);
    std::vector<int64_t> numbers(rows * columns, scalar.numbers[0]);
    tiles_.push_back({tt::SplatOp::create(builder_, loc_, tileType(), scalar.value), numbers});
  }
  /// A range along one of the axes, repeated along the other.
  void addRange() {
    bool alongColumns = pick(0, 2) != 0;
    int64_t extent = alongColumns ? columns : rows, start = pick(0, 1) ? 16 * pick(-3, 2) : pick(-40, 20);
    Value range = tt::MakeRangeOp::create(builder_, loc_, start, start + extent);
    range =
        arith::ExtSIOp::create(builder_, loc_, RankedTensorType::get({extent}, builder_.getI64Type()), range);
    Value expanded = tt::ExpandDimsOp::create(builder_, loc_, range, alongColumns ? 0 : 1);
    Value tile = tt::BroadcastOp::create(builder_, loc_, tileType(), expanded);
    std::vector<int64_t> numbers;
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < columns; ++column)
        numbers.push_back(start + (alongColumns ? column : row));
    tiles_.push_back({tile, numbers});
  }
  /// Two tiles joined along a new axis and taken apart again.
  void addJoin() {
    const Known lhs = any(tiles_), rhs = any(tiles_);
    Value joined = tt::JoinOp::create(builder_, loc_, lhs.value, rhs.value);
    std::vector<int64_t> numbers;
    for (size_t i = 0; i < lhs.numbers.size(); ++i)
      numbers.insert(numbers.end(), {lhs.numbers[i], rhs.numbers[i]});
    others_.push_back({joined, numbers});
    auto halves = tt::SplitOp::create(builder_, loc_, joined);
    tiles_.push_back({halves.getOutLHS(), lhs.numbers});
    tiles_.push_back({halves.getOutRHS(), rhs.numbers});
  }
  void addReshape() {
    const Known source = any(tiles_);
    Value narrow =
        tt::ReshapeOp::create(builder_, loc_, tileType(rows * 4, columns / 4), source.value, false);
    others_.push_back({narrow, source.numbers});
    Value back = tt::ReshapeOp::create(builder_, loc_, tileType(), narrow, false);
    tiles_.push_back({back, source.numbers});
  }
  void addTrans() {
    const Known source = any(tiles_);
    Value turned = tt::TransOp::create(builder_, loc_, source.value, ArrayRef<int32_t>{1, 0});
    std::vector<int64_t> numbers(rows * columns);
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < columns; ++column)
        numbers[column * rows + row] = source.numbers[row * columns + column];
    others_.push_back({turned, numbers});
    Value back = tt::ReshapeOp::create(builder_, loc_, tileType(), turned, false);
    tiles_.push_back({back, numbers});
  }
  void addSelect() {
    const Known lhs = any(tiles_), rhs = any(tiles_), x = any(tiles_), y = any(tiles_);
    auto predicate = static_cast<arith::CmpIPredicate>(pick(0, 9));
    Value condition = arith::CmpIOp::create(builder_, loc_, predicate, lhs.value, rhs.value);
    Value selected = arith::SelectOp::create(builder_, loc_, condition, x.value, y.value);
    std::vector<int64_t> bits, numbers;
    for (size_t i = 0; i < lhs.numbers.size(); ++i) {
      bits.push_back(arith::applyCmpPredicate(predicate, APInt(64, lhs.numbers[i], true),
                                              APInt(64, rhs.numbers[i], true)));
      numbers.push_back(bits.back() ? x.numbers[i] : y.numbers[i]);
    }
    others_.push_back({condition, bits});
    keep(selected, numbers);
  }

  template <typename Op>
  void addOp(const Known &lhs, const Known &rhs, int64_t (*compute)(int64_t, int64_t)) {
    std::vector<int64_t> numbers;
    for (size_t i = 0; i < lhs.numbers.size(); ++i)
      numbers.push_back(compute(lhs.numbers[i], rhs.numbers[i]));
    keep(Op::create(builder_, loc_, lhs.value, rhs.value), numbers);
  }
  /// Large numbers are left out, so that nothing overflows: that is the analysis's stated assumption.
  void keep(Value value, const std::vector<int64_t> &numbers) {
    if (llvm::all_of(numbers, [](int64_t number) { return std::abs(number) < (int64_t(1) << 24); }))
      tiles_.push_back({value, numbers});
    else
      value.getDefiningOp()->erase();
  }
  void addBinary() {
    // Mostly one number on the right: that is where runs survive.
    if (pick(0, 2) != 0)
      addSplat();
    const Known lhs = any(tiles_), rhs = pick(0, 1) ? tiles_.back() : any(tiles_);
    auto all = [&](auto holds) { return llvm::all_of(rhs.numbers, holds); };
    // Division by a negative number is outside the stated assumption.
    bool positive = all([](int64_t number) { return number > 0; });
    bool shift = all([](int64_t number) { return number >= 0 && number < 16; });
    switch (pick(0, 12)) {
    case 0: return addOp<arith::SubIOp>(lhs, rhs, [](int64_t x, int64_t y) { return x - y; });
    case 1: return addOp<arith::MulIOp>(lhs, rhs, [](int64_t x, int64_t y) { return x * y; });
    case 2:
      if (positive)
        addOp<arith::DivSIOp>(lhs, rhs, [](int64_t x, int64_t y) { return x / y; });
      return;
    case 3:
      if (positive)
        addOp<arith::RemSIOp>(lhs, rhs, [](int64_t x, int64_t y) { return x % y; });
      return;
    case 4:
      if (shift)
        addOp<arith::ShLIOp>(lhs, rhs, [](int64_t x, int64_t y) { return int64_t(uint64_t(x) << y); });
      return;
    case 5:
      if (shift)
        addOp<arith::ShRSIOp>(lhs, rhs, [](int64_t x, int64_t y) { return x >> y; });
      return;
    case 6: return addOp<arith::AndIOp>(lhs, rhs, [](int64_t x, int64_t y) { return x & y; });
    case 7: return addOp<arith::OrIOp>(lhs, rhs, [](int64_t x, int64_t y) { return x | y; });
    case 8: return addOp<arith::XOrIOp>(lhs, rhs, [](int64_t x, int64_t y) { return x ^ y; });
    case 9: return addOp<arith::MinSIOp>(lhs, rhs, [](int64_t x, int64_t y) { return std::min(x, y); });
    case 10: return addOp<arith::MaxSIOp>(lhs, rhs, [](int64_t x, int64_t y) { return std::max(x, y); });
    default: return addOp<arith::AddIOp>(lhs, rhs, [](int64_t x, int64_t y) { return x + y; });
    }
  }

  std::mt19937 random_;
  OpBuilder builder_;
  Location loc_;
  OwningOpRef<ModuleOp> module_;
  std::vector<Known> scalars_, tiles_, others_;
  int useful_ = 0;
};

TEST(AxisInfoTest, EveryClaimHolds) {
  auto context = createContext();
  int useful = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    RandomProgram program(context.get(), seed);
    program.grow(30);
    program.check();
    if (HasFatalFailure())
      FAIL() << "seed " << seed;
    useful += program.useful();
  }
  // An analysis that claims nothing would pass too.
  EXPECT_GT(useful, 1000);
}

TEST(AxisInfoTest, JoinKeepsWhatBothSay) {
  auto context = createContext();
  Type type = RankedTensorType::get({32}, IntegerType::get(context.get(), 32));
  AxisInfo runs = AxisInfo::unknown(type);
  runs.contiguity = {16};
  runs.divisibility = {32};
  runs.nonNegative = true;
  AxisInfo shorter = AxisInfo::unknown(type);
  shorter.contiguity = {4};
  shorter.divisibility = {64};
  AxisInfo joined = AxisInfo::join(runs, shorter);
  EXPECT_EQ(joined.contiguity[0], 4);
  // The runs of 4 inside those of 16 start at multiples of 4 only.
  EXPECT_EQ(joined.divisibility[0], 4);
  EXPECT_FALSE(joined.nonNegative);
  EXPECT_EQ(AxisInfo::join(joined, AxisInfo()), joined);
  EXPECT_EQ(AxisInfo::join(AxisInfo(), joined), joined);
  AxisInfo seven = AxisInfo::ofConstant(type, 7), eight = AxisInfo::ofConstant(type, 8);
  EXPECT_EQ(AxisInfo::join(seven, seven), seven);
  EXPECT_FALSE(AxisInfo::join(seven, eight).constant);
  EXPECT_EQ(AxisInfo::join(seven, eight).constancy[0], 32);
}

} // namespace
