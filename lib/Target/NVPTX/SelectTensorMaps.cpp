//===- SelectTensorMaps.cpp - Descriptors that the hardware can follow ----===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// In: tile IR with tensor descriptors. Out: the same, where accesses through those descriptors that a tensor
// map can stand for have become ttng.tma_load, tma_store and tma_reduce. The rest stays for
// tt-rewrite-descriptors.
//
// Where all that is in a map is an argument of the kernel or a constant, the host makes it at launch: its
// recipe is in the module's attribute `ttng.tensor_maps` (TensorMaps.h). Other maps are made by each program
// (ttng.make_tensor_map), which takes about a microsecond and memory: only those that are used in a loop and
// made before it, or that only the hardware can follow. A descriptor that control flow hands on is an i64:
// the address of its map.
//
// No map can say that a tensor has no elements, so that is kept beside it: loads then start at a negative
// position, where nothing is, and nothing is written. In the address of a map it is the lowest bit. Writes
// that the hardware would do wrong (TensorMapWrites.h) go through pointers, where only the run can tell by a
// branch.
//
//===----------------------------------------------------------------------===//
#include "ArchitecturePass.h"
#include "DescriptorGroups.h"
#include "Legality.h"
#include "MemoryPasses.h"
#include "TensorMapWrites.h"
#include "TensorMaps.h"

#include "despina/Analysis/AxisInfo.h"
#include "despina/Target/NVPTX/NVPTXPipeline.h"
#include "despina/Target/NVPTX/TTNG.h"
#include "despina/Transforms/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

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
  // Of signed integers of 64 bits they are illegal instructions (seen on an H200).
  case Kind::AND:
  case Kind::OR:
  case Kind::XOR:
    return isa<IntegerType>(element) && bits >= 32 && !(bits == 64 && element.isSignedInteger());
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

/// Whether tt-rewrite-descriptors has nothing for it.
bool needsMap(Operation *user) {
  auto reduce = dyn_cast<tt::DescriptorReduceOp>(user);
  return reduce && !hasAtomic(reduce.getKind(), reduce.getDesc().getType());
}

//===----------------------------------------------------------------------===//
// What is in a map
//===----------------------------------------------------------------------===//

/// All that does not depend on arguments; none for a descriptor that no map can stand for.
std::optional<TensorMapRecipe> formOf(tt::MakeTensorDescOp desc) {
  RankedTensorType block = desc.getType().getBlockType();
  std::optional<unsigned> dataType = dataTypeOf(block.getElementType());
  if (!dataType || block.getRank() > 5)
    return std::nullopt;
  TensorMapRecipe form;
  form.elementBytes = std::max(1u, block.getElementTypeBitWidth() / 8);
  form.dataType = *dataType;
  form.nanFill = desc.getPadding() == tt::PaddingOption::PAD_NAN;
  // Floats of eight bits travel as integers, which have no NaN to fill with.
  if (form.nanFill && block.getElementTypeBitWidth() == 8)
    return std::nullopt;
  // Distances between rows are multiples of 16 bytes; only constants can be refused here.
  for (Value stride : desc.getStrides().drop_back()) {
    APInt constant;
    if (matchPattern(stride, m_ConstantInt(&constant)) &&
        constant.getSExtValue() * form.elementBytes % 16 != 0)
      return std::nullopt;
  }
  if (!matchPattern(desc.getStrides().back(), m_One()))
    return std::nullopt;
  std::optional<TensorMapBox> box = tensorMapBox(block.getShape(), form.elementBytes, ttg::numCTAs(desc));
  if (!box)
    return std::nullopt;
  form.swizzleBytes = box->swizzleBytes;
  for (int64_t extent : llvm::reverse(box->extents))
    form.box.push_back(static_cast<unsigned>(extent));
  return form;
}

/// Takes the values in; false where the host does not know one.
bool addLaunchValues(tt::MakeTensorDescOp desc, TensorMapRecipe &recipe) {
  std::optional<LaunchValue> base = launchValue(desc.getBase());
  std::optional<std::vector<LaunchValue>> extents = launchValues(desc.getShape());
  std::optional<std::vector<LaunchValue>> strides = launchValues(desc.getStrides());
  if (!base || !base->argument || !extents || !strides)
    return false;
  recipe.base = *base;
  recipe.extents = std::move(*extents);
  recipe.strides = std::move(*strides);
  return true;
}

SmallVector<Value> innermostFirst(ValueRange values) {
  SmallVector<Value> result(values);
  std::reverse(result.begin(), result.end());
  return result;
}

Value makeMap(OpBuilder &b, tt::MakeTensorDescOp desc, const TensorMapRecipe &form) {
  SmallVector<int32_t> box(form.box.begin(), form.box.end());
  auto number = [&](unsigned value) { return b.getI32IntegerAttr(static_cast<int32_t>(value)); };
  return ttng::MakeTensorMapOp::create(
      b, desc.getLoc(), tt::PointerType::get(b.getI8Type()), desc.getBase(), innermostFirst(desc.getShape()),
      innermostFirst(desc.getStrides().drop_back()), b.getDenseI32ArrayAttr(box), number(form.elementBytes),
      number(form.dataType), number(form.swizzleBytes), form.nanFill ? b.getUnitAttr() : UnitAttr(),
      /*slot=*/IntegerAttr());
}

/// Whether the tensor has no elements; null where constants say that it has some.
Value isEmpty(OpBuilder &b, tt::MakeTensorDescOp desc) {
  Location loc = desc.getLoc();
  Value result;
  for (Value extent : desc.getShape()) {
    APInt constant;
    if (matchPattern(extent, m_ConstantInt(&constant)) && constant.isStrictlyPositive())
      continue;
    Value zero = arith::ConstantIntOp::create(b, loc, 0, 32);
    Value none = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, extent, zero);
    result = result ? Value(arith::OrIOp::create(b, loc, result, none)) : none;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

unsigned loopsAround(Value value) {
  unsigned count = 0;
  for (Operation *op = value.getParentRegion()->getParentOp(); op; op = op->getParentOp())
    count += isa<LoopLikeOpInterface>(op);
  return count;
}

/// The coordinates of a load, outside of the tensor where it is empty. One axis is enough: that whose
/// coordinate changes least.
SmallVector<Value> coordinates(OpBuilder &b, Location loc, ValueRange indices, Value empty) {
  constexpr int64_t outside = -(int64_t(1) << 30);
  SmallVector<Value> coords(indices);
  if (!empty)
    return coords;
  auto *axis =
      llvm::min_element(coords, [](Value lhs, Value rhs) { return loopsAround(lhs) < loopsAround(rhs); });
  *axis = arith::SelectOp::create(b, loc, empty, arith::ConstantIntOp::create(b, loc, outside, 32), *axis);
  return coords;
}

/// Stores or reduces at an access's own indices.
void createWrite(OpBuilder &b, Operation *user, Value map) {
  Location loc = user->getLoc();
  if (auto store = dyn_cast<tt::DescriptorStoreOp>(user)) {
    ttng::TMAStoreOp::create(b, loc, map, store.getIndices(), store.getSrc());
    return;
  }
  auto reduce = cast<tt::DescriptorReduceOp>(user);
  ttng::TMAReduceOp::create(b, loc, reduce.getKind(), map, reduce.getIndices(), reduce.getSrc());
}

ValueRange writtenIndices(Operation *user) {
  if (auto store = dyn_cast<tt::DescriptorStoreOp>(user))
    return store.getIndices();
  return cast<tt::DescriptorReduceOp>(user).getIndices();
}

/// Writes through the map where the condition holds, and through pointers elsewhere, if there is a way.
void rewriteWrite(Operation *user, Value map, Value condition, bool hasOtherWay) {
  OpBuilder b(user);
  if (condition) {
    auto branch = scf::IfOp::create(b, user->getLoc(), condition, /*withElseRegion=*/hasOtherWay);
    if (hasOtherWay)
      branch.getElseBodyBuilder().clone(*user);
    b = branch.getThenBodyBuilder();
  }
  createWrite(b, user, map);
  user->erase();
}

void rewriteLoad(tt::DescriptorLoadOp load, Value map, Value empty) {
  OpBuilder b(load);
  Location loc = load.getLoc();
  auto value =
      ttng::TMALoadOp::create(b, loc, load.getType(), map, coordinates(b, loc, load.getIndices(), empty));
  load.getResult().replaceAllUsesWith(value.getResult());
  load.erase();
}

Value inverted(OpBuilder &b, Location loc, Value flag) {
  return arith::XOrIOp::create(b, loc, flag, arith::ConstantIntOp::create(b, loc, 1, 1));
}

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

class Selection {
public:
  Selection(ModuleOp module, bool programsMakeMaps)
      : module_(module), programsMakeMaps_(programsMakeMaps), axisInfo_(module) {}

  void run() {
    for (DescriptorGroup &group : findDescriptorGroups(module_))
      select(group);
    setTensorMaps(module_, recipes_);
  }

private:
  /// What a maker becomes.
  struct Plan {
    tt::MakeTensorDescOp maker;
    TensorMapRecipe recipe;
    bool byHost = false;
  };

  void select(DescriptorGroup &group) {
    if (group.makers.empty())
      return;
    SmallVector<Operation *> users = usersOf(group);
    if (users.empty())
      return;
    SmallVector<Plan> plans;
    for (tt::MakeTensorDescOp maker : group.makers) {
      std::optional<TensorMapRecipe> form = formOf(maker);
      if (!form)
        return;
      bool byHost = addLaunchValues(maker, *form);
      if (!byHost && !(programsMakeMaps_ && isWorthMaking(maker, users)))
        return;
      plans.push_back({maker, std::move(*form), byHost});
    }
    if (group.isHandedOn())
      return rewriteGroup(group, plans, users);
    rewriteOne(plans.front(), users);
  }

  /// Those that can go through a map. A descriptor that is handed on has one form, so all must.
  SmallVector<Operation *> usersOf(DescriptorGroup &group) {
    Type element = group.makers.front().getType().getBlockType().getElementType();
    SmallVector<Operation *> users;
    for (Operation *user : group.users)
      if (canAccess(user, element, axisInfo_))
        users.push_back(user);
    if (group.isHandedOn() &&
        (!group.isClosed || users.size() != group.users.size() || group.outlivesIteration() ||
         !llvm::all_of(users, [&](Operation *user) { return isSafeForAll(user, group); })))
      users.clear();
    return users;
  }

  /// Of a descriptor that is handed on nothing but the map is left, so its writes have no other way.
  bool isSafeForAll(Operation *user, DescriptorGroup &group) const {
    return isa<tt::DescriptorLoadOp>(user) || needsMap(user) ||
           llvm::all_of(group.makers, [&](tt::MakeTensorDescOp maker) {
             return isAlwaysWritable(writtenIndices(user), maker, axisInfo_);
           });
  }

  static bool isWorthMaking(tt::MakeTensorDescOp maker, ArrayRef<Operation *> users) {
    return llvm::any_of(users, [&](Operation *user) {
      auto loop = user->getParentOfType<LoopLikeOpInterface>();
      return needsMap(user) || (loop && !loop->isProperAncestor(maker));
    });
  }

  Value createMap(OpBuilder &b, Plan &plan) {
    if (!plan.byHost)
      return makeMap(b, plan.maker, plan.recipe);
    auto index = static_cast<uint32_t>(recipes_.size());
    recipes_.push_back(std::move(plan.recipe));
    return ttng::TensorMapArgumentOp::create(b, plan.maker.getLoc(), tt::PointerType::get(b.getI8Type()),
                                             index);
  }

  void rewriteOne(Plan &plan, ArrayRef<Operation *> users) {
    OpBuilder b(plan.maker);
    Value map = createMap(b, plan), empty = isEmpty(b, plan.maker);
    for (Operation *user : users)
      if (auto load = dyn_cast<tt::DescriptorLoadOp>(user))
        rewriteLoad(load, map, empty);
      else
        rewriteWriteOf(plan.maker, user, map, empty);
    if (plan.maker->use_empty())
      plan.maker->erase();
  }

  /// Where only the hardware can reduce, a position before the tensor stays an illegal instruction.
  void rewriteWriteOf(tt::MakeTensorDescOp maker, Operation *user, Value map, Value empty) {
    OpBuilder b(user);
    Location loc = user->getLoc();
    bool hasOtherWay = !needsMap(user);
    if (!hasOtherWay)
      cast<tt::DescriptorReduceOp>(user).getSrcMutable().assign(
          maskedBeyondRow(b, cast<tt::DescriptorReduceOp>(user), maker, axisInfo_));
    Value edges = hasOtherWay ? isWritable(b, loc, writtenIndices(user), maker, axisInfo_) : Value();
    Value condition = edges;
    if (empty) {
      Value some = inverted(b, loc, empty);
      condition = edges ? Value(arith::AndIOp::create(b, loc, some, edges)) : some;
    }
    rewriteWrite(user, map, condition, /*hasOtherWay=*/static_cast<bool>(edges));
  }

  void rewriteGroup(DescriptorGroup &group, MutableArrayRef<Plan> plans, ArrayRef<Operation *> users) {
    bool mayBeEmpty = false;
    for (Value value : group.values)
      value.setType(IntegerType::get(module_.getContext(), 64));
    for (Plan &plan : plans) {
      OpBuilder b(plan.maker);
      Location loc = plan.maker.getLoc();
      Value handle = tt::PtrToIntOp::create(b, loc, b.getI64Type(), createMap(b, plan));
      if (Value empty = isEmpty(b, plan.maker)) {
        mayBeEmpty = true;
        handle = arith::OrIOp::create(b, loc, handle, arith::ExtUIOp::create(b, loc, b.getI64Type(), empty));
      }
      plan.maker->getResult(0).replaceAllUsesWith(handle);
      plan.maker->erase();
    }
    for (Operation *user : users)
      rewriteThroughHandle(user, mayBeEmpty);
  }

  static void rewriteThroughHandle(Operation *user, bool mayBeEmpty) {
    OpBuilder b(user);
    Location loc = user->getLoc();
    Value address = user->getOperand(0), empty;
    if (mayBeEmpty) {
      Value one = arith::ConstantIntOp::create(b, loc, 1, 64);
      Value lowest = arith::AndIOp::create(b, loc, address, one);
      address = arith::XOrIOp::create(b, loc, address, lowest);
      empty = arith::TruncIOp::create(b, loc, b.getI1Type(), lowest);
    }
    Value map = tt::IntToPtrOp::create(b, loc, tt::PointerType::get(b.getI8Type()), address);
    if (auto load = dyn_cast<tt::DescriptorLoadOp>(user))
      return rewriteLoad(load, map, empty);
    rewriteWrite(user, map, empty ? inverted(b, loc, empty) : Value(), /*hasOtherWay=*/false);
  }

  ModuleOp module_;
  bool programsMakeMaps_;
  AxisInfoAnalysis axisInfo_;
  std::vector<TensorMapRecipe> recipes_;
};

/// Descriptors that are the same in each iteration are made before the loop, with all that leads to them.
void moveOutOfLoops(ModuleOp module) {
  DenseSet<Operation *> loops;
  module.walk([&](tt::MakeTensorDescOp desc) {
    for (Operation *op = desc->getParentOp(); op; op = op->getParentOp())
      if (isa<LoopLikeOpInterface>(op) && !op->hasAttr("tt.disable_licm"))
        loops.insert(op);
  });
  if (loops.empty())
    return;
  // Inner loops first, so that code climbs as far as it may.
  module.walk([&](LoopLikeOpInterface loop) {
    if (loops.contains(loop))
      moveLoopInvariantCode(loop);
  });
}

class SelectTensorMapsPass : public ArchitecturePass<SelectTensorMapsPass, ModuleOp> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SelectTensorMapsPass)
  using ArchitecturePass::ArchitecturePass;
  StringRef getArgument() const final { return "nvptx-select-tensor-maps"; }
  StringRef getDescription() const final { return "Descriptors that a tensor map can stand for"; }
  void getDependentDialects(DialectRegistry &registry) const final { registerLoweringDialects(registry); }

  LogicalResult run(ModuleOp module, const Architecture &arch) {
    moveOutOfLoops(module);
    Selection(module, requirementOfInstruction("tensormap.replace").isMetBy(arch)).run();
    return success();
  }
};

} // namespace

std::unique_ptr<Pass> createSelectTensorMaps(const Architecture &arch) {
  return std::make_unique<SelectTensorMapsPass>(arch);
}

} // namespace despina::nvptx
