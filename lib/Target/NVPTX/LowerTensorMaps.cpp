//===- LowerTensorMaps.cpp - Bulk copies through buffers ------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// In: ttg IR with ttng.tma_load, tma_store and tma_reduce on tiles. Out: the same on buffers.
//
//   load    expect bytes; start copy; wait; read the buffer; its barrier is made at the start of the kernel
//   store   write the buffer; start copy; wait until it is done
//
// A tile that is loaded only to be put into a buffer of the same layout is not read: the buffer takes its
// place. Each ttng.make_tensor_map gets a place of its own in the scratch memory of a program.
//
//===----------------------------------------------------------------------===//
#include "TensorMaps.h"

#include "despina/Analysis/LayoutCluster.h"
#include "despina/Analysis/SharedBuffers.h"
#include "despina/Target/NVPTX/TTNG.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace despina::nvptx {

namespace {

unsigned bytesOf(Type element) { return ttg::memoryBits(element) / 8; }

/// A buffer that bulk copies can fill or empty; with a tile, filled with it. Blocks of a cluster share it in
/// this way, or have all of it each.
ttg::LocalAllocOp createBuffer(OpBuilder &b, Location loc, RankedTensorType tile, Value source,
                               ClusterSplit split) {
  Type element = tile.getElementType();
  unsigned bytes = bytesOf(element);
  // Selection has checked that there is one.
  TensorMapBox box =
      *tensorMapBox(tile.getShape(), bytes, ttg::numCTAs(b.getInsertionBlock()->getParentOp()));
  std::optional<LinearLayout> layout = tensorMapBuffer(tile.getShape(), bytes, box, split);
  if (!layout) {
    llvm::fill(split.split, 1);
    layout = tensorMapBuffer(tile.getShape(), bytes, box, split);
  }
  auto type = ttg::MemDescType::get(tile.getShape(), element, ttg::LayoutAttr::get(b.getContext(), *layout));
  unsigned alignment = std::max(128u, nvmmaAlignment(box.swizzleBytes));
  return ttg::LocalAllocOp::create(b, loc, type, source,
                                   b.getI32IntegerAttr(static_cast<int32_t>(alignment)));
}

/// A barrier for one arrival, made at the start of the kernel.
Value createBarrier(tt::FuncOp function, Location loc) {
  OpBuilder b = OpBuilder::atBlockBegin(&function.getBody().front());
  std::optional<LinearLayout> layout = swizzledSharedLayout({1}, {1, 1, 1, rowMajorOrder(1), {}});
  auto type = ttg::MemDescType::get({1}, b.getI64Type(), ttg::LayoutAttr::get(b.getContext(), *layout));
  auto barrier = ttg::LocalAllocOp::create(b, loc, type, Value(), IntegerAttr());
  barrier->setAttr(lastsName, b.getUnitAttr());
  ttng::InitBarrierOp::create(b, loc, barrier, 1u);
  return barrier;
}

/// Buffers that hold just this tile, in the layout that the copy makes.
void takePlaceOfCopies(ttng::TMALoadOp load, Value buffer) {
  auto type = cast<ttg::MemDescType>(buffer.getType());
  for (Operation *user : llvm::make_early_inc_range(load.getResult().getUsers())) {
    auto alloc = dyn_cast<ttg::LocalAllocOp>(user);
    if (!alloc || alloc->getBlock() != load->getBlock() || alloc.getType().getShape() != type.getShape() ||
        !alloc.getType().getLayout().getLayout().sameMap(type.getLayout().getLayout()))
      continue;
    alloc.getResult().replaceAllUsesWith(buffer);
    alloc->erase();
  }
}

/// How blocks want to share what is loaded: as the first buffer that is filled with it, else as the tile.
ClusterSplit splitOf(ttng::TMALoadOp load) {
  for (Operation *user : load.getResult().getUsers())
    if (auto alloc = dyn_cast<ttg::LocalAllocOp>(user))
      return clusterSplitOf(ttg::layoutOf(alloc.getType()));
  return clusterSplitOf(ttg::layoutOf(load.getType()));
}

void lowerLoad(ttng::TMALoadOp load) {
  OpBuilder b(load);
  Location loc = load.getLoc();
  auto tile = cast<RankedTensorType>(load.getType());
  Value barrier = createBarrier(load->getParentOfType<tt::FuncOp>(), loc);
  ttg::LocalAllocOp buffer = createBuffer(b, loc, tile, Value(), splitOf(load));
  ttng::BarrierExpectOp::create(b, loc, barrier, static_cast<uint32_t>(buffer.getType().getAllocBytes()));
  ttng::AsyncTMACopyGlobalToLocalOp::create(b, loc, load.getMap(), load.getCoords(), barrier, buffer);
  ttng::WaitBarrierOp::create(b, loc, barrier, Value(), ValueRange{buffer});
  takePlaceOfCopies(load, buffer);
  if (!load.getResult().use_empty())
    load.getResult().replaceAllUsesWith(ttg::LocalLoadOp::create(b, loc, tile, buffer, Value()));
  load->erase();
}

template <typename Op, typename MakeCopy> void lowerWrite(Op write, MakeCopy makeCopy) {
  OpBuilder b(write);
  auto tile = cast<RankedTensorType>(write.getSrc().getType());
  Value buffer = createBuffer(b, write.getLoc(), tile, write.getSrc(), clusterSplitOf(ttg::layoutOf(tile)));
  makeCopy(b, buffer);
  ttng::AsyncTMAStoreWaitOp::create(b, write.getLoc(), 0u);
  write->erase();
}

/// Copies wait at once, so a map that is made again in a loop has no copies under way.
void placeMaps(ModuleOp module) {
  int32_t count = 0;
  Builder b(module.getContext());
  module.walk([&](ttng::MakeTensorMapOp map) { map.setSlot(static_cast<uint32_t>(count++)); });
  if (count != 0)
    module->setAttr(globalScratchName, b.getI32IntegerAttr(count * static_cast<int32_t>(tensorMapBytes)));
}

} // namespace

void lowerTensorMaps(ModuleOp module) {
  placeMaps(module);
  // Collected first: a walk does not survive that what follows disappears.
  SmallVector<ttng::TMALoadOp> loads;
  module.walk([&](ttng::TMALoadOp load) { loads.push_back(load); });
  for (ttng::TMALoadOp load : loads)
    lowerLoad(load);
  module.walk([](ttng::TMAStoreOp store) {
    lowerWrite(store, [&](OpBuilder &b, Value buffer) {
      ttng::AsyncTMACopyLocalToGlobalOp::create(b, store.getLoc(), store.getMap(), store.getCoords(), buffer);
    });
  });
  module.walk([](ttng::TMAReduceOp reduce) {
    lowerWrite(reduce, [&](OpBuilder &b, Value buffer) {
      ttng::AsyncTMAReduceOp::create(b, reduce.getLoc(), reduce.getKind(), reduce.getMap(),
                                     reduce.getCoords(), buffer);
    });
  });
}

} // namespace despina::nvptx
