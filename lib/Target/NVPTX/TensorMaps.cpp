//===- TensorMaps.cpp - Boxes and recipes ---------------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "TensorMaps.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace despina::nvptx {

/// The most elements of a box along an axis (cuTensorMapEncodeTiled).
static constexpr int64_t maxBoxExtent = 256;

/// The fewest rows of a box: a swizzle repeats after so many.
static constexpr int64_t leastRows = 8, leastRowBytes = 16;

std::optional<TensorMapBox> tensorMapBox(ArrayRef<int64_t> block, unsigned elementBytes,
                                         unsigned clusterBlocks) {
  if (block.empty() || block.size() > 5)
    return std::nullopt;
  int64_t rowBytes = block.back() * elementBytes;
  if (rowBytes < leastRowBytes || elementBytes > 8)
    return std::nullopt;
  int64_t rows = 1;
  for (int64_t extent : block.drop_back())
    rows *= extent;
  TensorMapBox box;
  box.swizzleBytes = nvmmaSwizzleBytes(block.back(), rows, elementBytes * 8);
  box.extents.assign(block.begin(), block.end());
  if (box.swizzleBytes != 0)
    box.extents.back() = box.swizzleBytes / elementBytes;
  else if (block.size() > 1 && block.back() > maxBoxExtent)
    // Rows one after the other. A row that is longer than a box would not lie in one piece.
    return std::nullopt;
  for (int64_t &extent : box.extents)
    extent = std::min(extent, maxBoxExtent);
  bool isEnough =
      block.size() == 1 ? rowBytes / clusterBlocks >= leastRowBytes : rows / clusterBlocks >= leastRows;
  if (isEnough && block.front() >= clusterBlocks)
    box.extents.front() = std::min(box.extents.front(), block.front() / clusterBlocks);
  // Axes but the first one must be whole, or a box is not one piece.
  for (size_t axis = 1; axis + 1 < block.size(); ++axis)
    if (box.extents[axis] != block[axis])
      return std::nullopt;
  return tensorMapBuffer(block, elementBytes, box, {}) ? std::optional(box) : std::nullopt;
}

std::optional<LinearLayout> tensorMapBuffer(ArrayRef<int64_t> block, unsigned elementBytes,
                                            const TensorMapBox &box, const ClusterSplit &split) {
  for (auto [axis, extent] : llvm::enumerate(extentsPerBlock(block, split)))
    if (extent % box.extents[axis] || (axis > 0 && axis + 1 < block.size() && extent != block[axis]))
      return std::nullopt;
  if (box.swizzleBytes)
    return nvmmaSharedLayout(block, {box.swizzleBytes, elementBytes * 8, /*transposed=*/false, split});
  // Without a swizzle, rows are as long as boxes.
  if (block.size() > 1 && extentsPerBlock(block, split).back() != box.extents.back())
    return std::nullopt;
  return swizzledSharedLayout(block, {1, 1, 1, rowMajorOrder(block.size()), split});
}

//===----------------------------------------------------------------------===//
// Recipes as attributes
//===----------------------------------------------------------------------===//

static constexpr StringLiteral mapsName = "ttng.tensor_maps";

/// Pairs: the argument or -1, and the constant.
static Attribute asAttribute(Builder &b, ArrayRef<LaunchValue> values) {
  SmallVector<int64_t> numbers;
  for (const LaunchValue &value : values) {
    numbers.push_back(value.argument ? static_cast<int64_t>(*value.argument) : -1);
    numbers.push_back(value.constant);
  }
  return b.getDenseI64ArrayAttr(numbers);
}

static std::vector<LaunchValue> asValues(Attribute attr) {
  std::vector<LaunchValue> values;
  ArrayRef<int64_t> numbers = cast<DenseI64ArrayAttr>(attr).asArrayRef();
  for (size_t i = 0; i + 1 < numbers.size(); i += 2) {
    LaunchValue value;
    if (numbers[i] >= 0)
      value.argument = static_cast<unsigned>(numbers[i]);
    value.constant = numbers[i + 1];
    values.push_back(value);
  }
  return values;
}

void setTensorMaps(ModuleOp module, ArrayRef<TensorMapRecipe> recipes) {
  if (recipes.empty())
    return;
  Builder b(module.getContext());
  SmallVector<Attribute> maps;
  for (const TensorMapRecipe &recipe : recipes) {
    NamedAttrList fields;
    fields.set("base", asAttribute(b, recipe.base));
    fields.set("extents", asAttribute(b, recipe.extents));
    fields.set("strides", asAttribute(b, recipe.strides));
    SmallVector<int32_t> box(recipe.box.begin(), recipe.box.end());
    fields.set("box", b.getDenseI32ArrayAttr(box));
    fields.set("elementBytes", b.getI32IntegerAttr(static_cast<int32_t>(recipe.elementBytes)));
    fields.set("dataType", b.getI32IntegerAttr(static_cast<int32_t>(recipe.dataType)));
    fields.set("swizzleBytes", b.getI32IntegerAttr(static_cast<int32_t>(recipe.swizzleBytes)));
    fields.set("nanFill", b.getBoolAttr(recipe.nanFill));
    maps.push_back(fields.getDictionary(b.getContext()));
  }
  module->setAttr(mapsName, b.getArrayAttr(maps));
}

std::vector<TensorMapRecipe> getTensorMaps(ModuleOp module) {
  std::vector<TensorMapRecipe> recipes;
  auto maps = module->getAttrOfType<ArrayAttr>(mapsName);
  if (!maps)
    return recipes;
  for (DictionaryAttr fields : maps.getAsRange<DictionaryAttr>()) {
    auto number = [&](StringRef name) {
      return static_cast<unsigned>(cast<IntegerAttr>(fields.get(name)).getInt());
    };
    TensorMapRecipe recipe;
    recipe.base = asValues(fields.get("base")).front();
    recipe.extents = asValues(fields.get("extents"));
    recipe.strides = asValues(fields.get("strides"));
    for (int32_t extent : cast<DenseI32ArrayAttr>(fields.get("box")).asArrayRef())
      recipe.box.push_back(static_cast<unsigned>(extent));
    recipe.elementBytes = number("elementBytes");
    recipe.dataType = number("dataType");
    recipe.swizzleBytes = number("swizzleBytes");
    recipe.nanFill = cast<BoolAttr>(fields.get("nanFill")).getValue();
    recipes.push_back(std::move(recipe));
  }
  return recipes;
}

} // namespace despina::nvptx
