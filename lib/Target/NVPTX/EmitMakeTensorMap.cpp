//===- EmitMakeTensorMap.cpp - Tensor maps that programs make -------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// A map is written field by field in shared memory (PTX, tensormap.replace), copied to its place in global
// memory, and made known to the unit that reads maps: it is behind a proxy of its own, and may remember what
// was in that place before. The first warp does all that, since its first thread starts all copies; the other
// warps go on.
//
//===----------------------------------------------------------------------===//
#include "Scratch.h"
#include "TensorMaps.h"
#include "ThreadEmitter.h"

#include "mlir/Interfaces/LoopLikeInterface.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace despina::nvptx {

namespace {

/// PTX's number of a type, from CUDA's (CUtensorMapDataType): PTX has f32.ftz among the floats.
int64_t elementTypeNumber(unsigned dataType) { return dataType < 8 ? dataType : dataType + 1; }

/// 0 to 3 for 0, 32, 64 and 128 bytes.
int64_t swizzleNumber(unsigned bytes) { return bytes == 0 ? 0 : llvm::Log2_32(bytes) - 4; }

/// Writes the fields of a map in shared memory.
class MapFields {
public:
  MapFields(ThreadEmitter &e, Value map) : e(e), map(map) {}

  void write(ttng::MakeTensorMapOp op) {
    auto rank = static_cast<unsigned>(op.getExtents().size());
    replace("global_address", "b64", "l", e.scalar(op.getBase()));
    constant("rank", rank - 1);
    Value one = e.i32(1);
    for (unsigned axis = 0; axis < rank; ++axis) {
      replaceAt("box_dim", axis, "b32", "n", e.i32(op.getBox()[axis]));
      Value extent = e.scalar(op.getExtents()[axis]);
      replaceAt("global_dim", axis, "b32", "r", e.make<LLVM::SMaxOp>(extent, one));
      replaceAt("element_stride", axis, "b32", "n", one);
    }
    for (auto [index, stride] : llvm::enumerate(op.getStrides())) {
      Value bytes = e.mul(e.scalar(stride), e.i64(op.getElementBytes()));
      replaceAt("global_stride", static_cast<unsigned>(index), "b64", "l", bytes);
    }
    constant("elemtype", elementTypeNumber(op.getDataType()));
    constant("interleave_layout", 0);
    constant("swizzle_mode", swizzleNumber(op.getSwizzleBytes()));
    constant("fill_mode", op.getNanFill());
  }

private:
  std::string instruction(StringRef field, StringRef type) {
    return ("tensormap.replace.tile." + field + ".shared::cta.b1024." + type).str();
  }
  void replace(StringRef field, StringRef type, StringRef constraint, Value value) {
    e.inlinePTX(instruction(field, type) + " [$0], $1;", ("r," + constraint + ",~{memory}").str(), Type(),
                {map, value}, true);
  }
  void replaceAt(StringRef field, unsigned axis, StringRef type, StringRef constraint, Value value) {
    e.inlinePTX(instruction(field, type) + " [$0], " + std::to_string(axis) + ", $1;",
                ("r," + constraint + ",~{memory}").str(), Type(), {map, value}, true);
  }
  void constant(StringRef field, int64_t value) { replace(field, "b32", "n", e.i32(value)); }

  ThreadEmitter &e;
  Value map;
};

LogicalResult emitMakeTensorMap(ThreadEmitter &e, ttng::MakeTensorMapOp op) {
  std::optional<int64_t> offset = ThreadEmitter::sharedOffset(op);
  if (!op.getSlot() || !offset)
    return op.emitOpError("has no place in memory; nvptx-lower-tensor-maps and allocation give it");
  auto shared = static_cast<int64_t>(llvm::alignTo(static_cast<uint64_t>(*offset), tensorMapBytes));
  Value draft = e.sharedPointer(shared);
  Value place = e.elementPointer(e.globalScratch(), e.b.getI8Type(), int64_t(*op.getSlot()) * tensorMapBytes);
  e.ifThen(e.isZero(e.warp()), [&] {
    // Fields that have no instruction are 0.
    e.make<LLVM::StoreOp>(e.i32(0), e.elementPointer(draft, e.b.getI32Type(), e.lane()));
    e.warpBarrier();
    e.ifThen(e.isZero(e.lane()), [&] {
      // Copies out of shared memory may still follow the map that was here in the iteration before.
      if (op->getParentOfType<LoopLikeOpInterface>())
        e.inlinePTX("cp.async.bulk.wait_group 0;", "~{memory}", Type(), {}, true);
      MapFields(e, draft).write(op);
    });
    e.warpBarrier();
    e.inlinePTX("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
                "[$0], [$1], 128;",
                "l,r,~{memory}", Type(), {place, draft}, true);
    e.inlinePTX("fence.proxy.tensormap::generic.acquire.gpu [$0], 128;", "l,~{memory}", Type(), {place},
                true);
  });
  e.set(op.getResult(), {place});
  return success();
}

} // namespace

void addMakeTensorMapEmitters(EmitterTable &table) { table.add<ttng::MakeTensorMapOp, emitMakeTensorMap>(); }

} // namespace despina::nvptx
