//===- SelectTensorMaps.cpp - Descriptors that the hardware can follow ----===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// In: tile IR with tensor descriptors. Out: the same, where accesses through those descriptors that a tensor
// map can stand for have become ttng.tma_load, tma_store and tma_reduce. The rest stays for
// tt-rewrite-descriptors.
//
// A tensor map is made by the host at launch, so everything in it must be an argument of the kernel or a
// constant. The recipes are the module's attribute `ttng.tensor_maps` (TensorMaps.h).
//
//===----------------------------------------------------------------------===//
#include "TensorMaps.h"

#include "despina/Analysis/AxisInfo.h"
#include "despina/Target/NVPTX/TTNG.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace despina::nvptx {

namespace {

/// CUtensorMapDataType of cuda.h.
std::optional<unsigned> dataTypeOf(Type element) {
  if (element.isF16())
    return 6;
  if (element.isF32())
    return 7;
  if (element.isF64())
    return 8;
  if (element.isBF16())
    return 9;
  bool isSigned = element.isSignedInteger();
  switch (element.isInteger(1) ? 8 : element.getIntOrFloatBitWidth()) {
  case 8: return 0;
  case 16: return 1;
  case 32: return isSigned ? 3 : 2;
  case 64: return isSigned ? 5 : 4;
  default: return std::nullopt;
  }
}

/// What the host knows of a value.
std::optional<LaunchValue> launchValue(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return LaunchValue{std::nullopt, constant.getSExtValue()};
  if (auto extended = value.getDefiningOp<arith::ExtSIOp>())
    return launchValue(extended.getIn());
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || !isa<tt::FuncOp>(argument.getOwner()->getParentOp()))
    return std::nullopt;
  return LaunchValue{argument.getArgNumber(), 0};
}

/// Lists of a recipe go from the innermost axis outwards.
std::optional<std::vector<LaunchValue>> launchValues(ValueRange values) {
  std::vector<LaunchValue> result;
  for (Value value : llvm::reverse(values)) {
    std::optional<LaunchValue> known = launchValue(value);
    if (!known)
      return std::nullopt;
    result.push_back(*known);
  }
  return result;
}

/// Reductions that bulk copies have (PTX, cp.reduce.async.bulk.tensor), by element.
bool canReduce(tt::DescriptorReduceKind kind, Type element) {
  using Kind = tt::DescriptorReduceKind;
  unsigned bits = element.getIntOrFloatBitWidth();
  switch (kind) {
  case Kind::ADD:
    return element.isF16() || element.isBF16() || element.isF32() ||
           (isa<IntegerType>(element) && bits >= 32);
  case Kind::MIN:
  case Kind::MAX: return element.isF16() || element.isBF16() || (isa<IntegerType>(element) && bits >= 32);
  case Kind::INC:
  case Kind::DEC: return isa<IntegerType>(element) && bits == 32;
  case Kind::AND:
  case Kind::OR:
  case Kind::XOR: return isa<IntegerType>(element) && bits >= 32;
  }
  return false;
}

/// The innermost coordinate of an access; null for one that bulk copies do not have.
Value innermostOf(Operation *user, Type element) {
  if (auto load = dyn_cast<tt::DescriptorLoadOp>(user))
    return load.getIndices().back();
  if (auto store = dyn_cast<tt::DescriptorStoreOp>(user))
    return store.getIndices().back();
  auto reduce = dyn_cast<tt::DescriptorReduceOp>(user);
  return reduce && canReduce(reduce.getKind(), element) ? reduce.getIndices().back() : Value();
}

/// A copy that starts at no multiple of 16 bytes in its row is an illegal instruction (seen on an H200), so
/// the coordinate must be known to be one.
bool canAccess(Operation *user, Type element, const AxisInfoAnalysis &axisInfo) {
  constexpr int64_t alignment = 16;
  Value innermost = innermostOf(user, element);
  if (!innermost)
    return false;
  int64_t bytes = std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8);
  return axisInfo.lookup(innermost).divisorOfAll() * bytes % alignment == 0;
}

std::optional<TensorMapRecipe> recipeOf(tt::MakeTensorDescOp desc) {
  RankedTensorType block = desc.getType().getBlockType();
  std::optional<unsigned> dataType = dataTypeOf(block.getElementType());
  std::optional<LaunchValue> base = launchValue(desc.getBase());
  std::optional<std::vector<LaunchValue>> extents = launchValues(desc.getShape());
  std::optional<std::vector<LaunchValue>> strides = launchValues(desc.getStrides());
  if (!dataType || !base || !base->argument || !extents || !strides || block.getRank() > 5)
    return std::nullopt;
  TensorMapRecipe recipe;
  recipe.base = *base;
  recipe.extents = std::move(*extents);
  recipe.strides = std::move(*strides);
  recipe.elementBytes = std::max(1u, block.getElementTypeBitWidth() / 8);
  recipe.dataType = *dataType;
  recipe.nanFill = desc.getPadding() == tt::PaddingOption::PAD_NAN;
  // Floats of eight bits travel as integers, which have no NaN to fill with.
  if (recipe.nanFill && block.getElementTypeBitWidth() == 8)
    return std::nullopt;
  // Distances between rows are multiples of 16 bytes; only constants can be refused here.
  for (size_t axis = 1; axis < recipe.strides.size(); ++axis)
    if (!recipe.strides[axis].argument && recipe.strides[axis].constant * recipe.elementBytes % 16 != 0)
      return std::nullopt;
  if (recipe.strides[0].argument || recipe.strides[0].constant != 1)
    return std::nullopt;
  std::optional<TensorMapBox> box = tensorMapBox(block.getShape(), recipe.elementBytes, ttg::numCTAs(desc));
  if (!box)
    return std::nullopt;
  recipe.swizzleBytes = box->swizzleBytes;
  for (int64_t extent : llvm::reverse(box->extents))
    recipe.box.push_back(static_cast<unsigned>(extent));
  return recipe;
}

void rewriteUser(Operation *user, Value map) {
  OpBuilder b(user);
  Location loc = user->getLoc();
  if (auto load = dyn_cast<tt::DescriptorLoadOp>(user)) {
    auto value = ttng::TMALoadOp::create(b, loc, load.getType(), map, load.getIndices());
    load.getResult().replaceAllUsesWith(value.getResult());
  } else if (auto store = dyn_cast<tt::DescriptorStoreOp>(user)) {
    ttng::TMAStoreOp::create(b, loc, map, store.getIndices(), store.getSrc());
  } else {
    auto reduce = cast<tt::DescriptorReduceOp>(user);
    ttng::TMAReduceOp::create(b, loc, reduce.getKind(), map, reduce.getIndices(), reduce.getSrc());
  }
  user->erase();
}

} // namespace

void selectTensorMaps(ModuleOp module) {
  std::vector<TensorMapRecipe> recipes;
  AxisInfoAnalysis axisInfo(module);
  // Collected first: a walk does not survive that what follows disappears.
  SmallVector<tt::MakeTensorDescOp> descriptors;
  module.walk([&](tt::MakeTensorDescOp desc) { descriptors.push_back(desc); });
  for (tt::MakeTensorDescOp desc : descriptors) {
    Type element = desc.getType().getBlockType().getElementType();
    SmallVector<Operation *> users;
    for (Operation *user : desc->getUsers())
      if (canAccess(user, element, axisInfo))
        users.push_back(user);
    std::optional<TensorMapRecipe> recipe = users.empty() ? std::nullopt : recipeOf(desc);
    if (!recipe)
      continue;
    OpBuilder b(desc);
    auto pointer = tt::PointerType::get(b.getI8Type());
    Value map =
        ttng::TensorMapArgumentOp::create(b, desc.getLoc(), pointer, static_cast<uint32_t>(recipes.size()));
    recipes.push_back(std::move(*recipe));
    for (Operation *user : users)
      rewriteUser(user, map);
    if (desc->use_empty())
      desc->erase();
  }
  setTensorMaps(module, recipes);
}

} // namespace despina::nvptx
