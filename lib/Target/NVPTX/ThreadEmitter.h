//===- ThreadEmitter.h - From tiles to the code of one thread ---*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// One walk over a ttg kernel that writes what one thread does, in the LLVM and NVVM dialects. A tile becomes
// one SSA value per register of its layout: nothing is packed into structs, and no pattern driver runs.
// Scalars are tiles of one register. Structured control flow becomes blocks.
//
// Each family of operations has a file Emit*.cpp that adds its functions to the table; this class is the
// toolkit they share.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_TARGET_NVPTX_THREADEMITTER_H
#define DESPINA_LIB_TARGET_NVPTX_THREADEMITTER_H

#include "despina/Analysis/AxisInfo.h"
#include "despina/Analysis/LayoutConversion.h"
#include "despina/IR/TTG.h"
#include "despina/Target/NVPTX/LoweredKernel.h"
#include "despina/Target/NVPTX/NVPTXTarget.h"
#include "despina/Target/NVPTX/TTNG.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

#include <map>

namespace despina::nvptx {

class ThreadEmitter;

/// What a thread holds of a value:
///   tile      one value for each register index of the layout (copies included), in order
///   scalar    one value
///   buffer    two: the address (!llvm.ptr<3>) of its slice, and an i32 that is XORed to offsets in elements
///             (of a window; 0 else)
///   token     none
using Registers = llvm::SmallVector<mlir::Value, 4>;

/// Which function writes which operation.
class EmitterTable {
public:
  using Function = mlir::LogicalResult (*)(ThreadEmitter &, mlir::Operation *);

  /// The table with everything in it; made once.
  static const EmitterTable &get();

  /// EmitterTable::add<tt::LoadOp, emitLoad>(): emitLoad(ThreadEmitter &, tt::LoadOp) gives a LogicalResult.
  template <typename OpType, mlir::LogicalResult (*function)(ThreadEmitter &, OpType)> void add() {
    functions_[mlir::TypeID::get<OpType>()] = [](ThreadEmitter &emitter, mlir::Operation *op) {
      return function(emitter, mlir::cast<OpType>(op));
    };
  }
  Function lookup(mlir::Operation *op) const { return functions_.lookup(op->getName().getTypeID()); }

private:
  llvm::DenseMap<mlir::TypeID, Function> functions_;
};

// One of each file.
void addControlEmitters(EmitterTable &table);     // EmitControl.cpp: scf, functions, program ids, barriers
void addElementwiseEmitters(EmitterTable &table); // EmitElementwise*.cpp: arith, math, casts, inline assembly
void addMemoryEmitters(EmitterTable &table);      // EmitMemory.cpp: loads and stores
void addAtomicEmitters(EmitterTable &table);      // EmitAtomic.cpp
void addDebugEmitters(EmitterTable &table);       // EmitDebug.cpp: print, assert
void addShapeEmitters(EmitterTable &table);       // EmitShape.cpp: splat, reshape, trans, join, convert, ...
void addCombineEmitters(EmitterTable &table);     // EmitCombine*.cpp: reduce, scan, gather, histogram
void addBufferEmitters(EmitterTable &table);      // EmitBuffer.cpp: shared memory
void addAsyncCopyEmitters(EmitterTable &table);   // EmitAsyncCopy.cpp: copies into it and their groups
void addDotEmitters(EmitterTable &table);         // EmitDot*.cpp: FMA, mma.sync, wgmma
void addTensorMapEmitters(EmitterTable &table);   // EmitTensorMap.cpp: mbarriers, TMA
void addMakeTensorMapEmitters(EmitterTable &table); // EmitMakeTensorMap.cpp: maps that programs make

class ThreadEmitter {
public:
  ThreadEmitter(tt::FuncOp kernel, const NVPTXOptions &options);

  /// Writes the kernel into `output`. None after an error was reported.
  std::optional<LoweredKernel> run(mlir::ModuleOp output);

  const NVPTXOptions &options() const { return options_; }
  /// 90 for sm_90a.
  unsigned capability() const { return options_.arch.number; }
  unsigned numWarps() const { return numWarps_; }
  unsigned numCTAs() const { return lowered_.numCTAs; }
  LoweredKernel &lowered() { return lowered_; }
  const AxisInfoAnalysis &axisInfo() const { return axisInfo_; }

  /// Where code goes.
  mlir::OpBuilder b;
  /// The place of the operation that is being written.
  mlir::Location loc;

  //===--- Values -----------------------------------------------------------===//
  llvm::ArrayRef<mlir::Value> get(mlir::Value value) const;
  /// The value of a scalar.
  mlir::Value scalar(mlir::Value value) const { return get(value).front(); }
  void set(mlir::Value value, Registers registers);

  /// How an element is held: pointers as !llvm.ptr<space>, fp8 as i8, the rest as it is. For a tile, that of
  /// its elements.
  mlir::Type llvmType(mlir::Type type) const;
  /// Registers of a tile, or 1.
  static unsigned numRegisters(mlir::Type type);
  /// What the registers of a value of this type are, in order.
  llvm::SmallVector<mlir::Type, 4> registerTypes(mlir::Type type) const;

  //===--- Writing ----------------------------------------------------------===//
  mlir::LogicalResult emit(mlir::Operation *op);
  mlir::LogicalResult emitBlock(mlir::Block &block);
  /// The body of a combine region, or any region of one block without side exits, with these arguments: the
  /// operands of its terminator. Empty after an error.
  Registers emitRegion(mlir::Region &region, llvm::ArrayRef<mlir::Value> arguments);

  template <typename Op, typename... Args> Op make(Args &&...args) {
    return Op::create(b, loc, std::forward<Args>(args)...);
  }
  mlir::Value constant(mlir::Type type, int64_t value); ///< integer or float type
  mlir::Value i32(int64_t value) { return constant(b.getI32Type(), value); }
  mlir::Value i64(int64_t value) { return constant(b.getI64Type(), value); }
  mlir::Value i1(bool value) { return constant(b.getI1Type(), value); }
  /// All bits 0, of any type that registers have.
  mlir::Value zero(mlir::Type type);
  mlir::Value bitcast(mlir::Value value, mlir::Type type);
  mlir::Value add(mlir::Value lhs, mlir::Value rhs) { return make<mlir::LLVM::AddOp>(lhs, rhs); }
  mlir::Value mul(mlir::Value lhs, mlir::Value rhs) { return make<mlir::LLVM::MulOp>(lhs, rhs); }
  mlir::Value bitXor(mlir::Value lhs, mlir::Value rhs) { return make<mlir::LLVM::XOrOp>(lhs, rhs); }
  mlir::Value bitAnd(mlir::Value lhs, mlir::Value rhs) { return make<mlir::LLVM::AndOp>(lhs, rhs); }
  mlir::Value select(mlir::Value condition, mlir::Value ifTrue, mlir::Value ifFalse) {
    return make<mlir::LLVM::SelectOp>(condition, ifTrue, ifFalse);
  }
  mlir::Value isZero(mlir::Value value);
  /// address + index * sizeof(element).
  mlir::Value elementPointer(mlir::Value address, mlir::Type element, mlir::Value index);
  mlir::Value elementPointer(mlir::Value address, mlir::Type element, int64_t index);
  /// Calls an external function, which is declared on first use.
  mlir::Value call(llvm::StringRef name, mlir::Type result, mlir::ValueRange arguments);
  /// The address of a constant string with a final 0.
  mlir::Value stringAddress(llvm::StringRef text);
  /// PTX with operands $0, $1, ... (results first). No result type: none. Several results: a struct.
  mlir::Value inlinePTX(llvm::StringRef text, llvm::StringRef constraints, mlir::Type result,
                        mlir::ValueRange operands, bool hasSideEffects);
  /// Runs `body` where the condition holds; writing goes on behind it.
  void ifThen(mlir::Value condition, llvm::function_ref<void()> body);
  /// Several scalars that are chosen by a branch: `body` gives them where the condition holds, `otherwise`
  /// has their values where it does not.
  Registers ifThenElse(mlir::Value condition, llvm::function_ref<Registers()> body,
                       llvm::ArrayRef<mlir::Value> otherwise);

  //===--- Threads ----------------------------------------------------------===//
  mlir::Value thread() const { return thread_; } ///< i32, in the block
  mlir::Value lane() const { return lane_; }     ///< i32, in the warp
  mlir::Value warp() const { return warp_; }     ///< i32, in the block
  mlir::Value block() const { return block_; }   ///< i32, in the cluster
  /// The XOR of the terms of where the thread is, i32. Computed once, in the entry block.
  mlir::Value place(const ThreadTerms &terms);
  /// A value that is the same in the whole kernel: made in the entry block when it is first asked for. `make`
  /// uses nothing but values of this kind, and its last operation gives the value.
  mlir::Value once(llvm::StringRef key, llvm::function_ref<mlir::Value()> make);
  /// Whether bits (masks) of the lane, warp and block are all 0; null if no bit is asked for. With
  /// freeVariableMask of a layout: whether this thread is the one that acts for all that hold copies.
  mlir::Value isCanonical(uint64_t laneMask, uint64_t warpMask, uint64_t blockMask = 0);
  void barrier(); ///< of the block
  void warpBarrier();
  /// Of all blocks of the cluster; what any thread did before it is seen by all after it.
  void clusterBarrier();
  /// Of all threads that run the program.
  void programBarrier() { numCTAs() > 1 ? clusterBarrier() : barrier(); }

  /// The address (generic) of a tensor map among the kernel's parameters.
  mlir::Value tensorMap(unsigned index);
  /// !llvm.ptr<1> to the program's part of the global scratch memory.
  mlir::Value globalScratch();
  /// The address of a variable of the thread, set once where the kernel starts.
  mlir::Value entryVariable(mlir::Type type, int64_t start);

  //===--- Shared memory ----------------------------------------------------===//
  /// !llvm.ptr<3> to the block's dynamic shared memory, plus a constant in bytes.
  mlir::Value sharedPointer(int64_t byteOffset);
  /// The same place in the shared memory of another block of the cluster, whose number is an i32
  /// (!llvm.ptr<7>). A cluster barrier goes before what is read there, and one after it: a block must neither
  /// end nor write anew while others read.
  mlir::Value inBlock(mlir::Value address, mlir::Value block);
  /// What allocation gave an operation; none for one that needs no memory.
  static std::optional<int64_t> sharedOffset(mlir::Operation *op);

private:
  void startFunction(mlir::ModuleOp output);
  mlir::LLVM::LLVMFuncOp declare(llvm::StringRef name, mlir::LLVM::LLVMFunctionType type);

  tt::FuncOp kernel_;
  const NVPTXOptions &options_;
  unsigned numWarps_;
  AxisInfoAnalysis axisInfo_;
  LoweredKernel lowered_;
  mlir::ModuleOp output_;
  mlir::LLVM::LLVMFuncOp function_;
  /// On the heap, so that what `get` has answered stays valid.
  llvm::DenseMap<mlir::Value, std::unique_ptr<Registers>> values_;
  llvm::StringMap<mlir::LLVM::GlobalOp> strings_;
  mlir::Value thread_, lane_, warp_, block_, shared_;
  /// The last operation of what is computed once for the thread; more of that goes behind it.
  mlir::Operation *entryEnd_ = nullptr;
  std::map<std::vector<uint64_t>, mlir::Value> places_;
  llvm::StringMap<mlir::Value> once_;
};

/// Replaces the module's one kernel (ttg, with shared memory laid out) by the code of a thread. None after
/// reporting.
std::optional<LoweredKernel> emitThreads(mlir::ModuleOp module, const NVPTXOptions &options);

} // namespace despina::nvptx

#endif // DESPINA_LIB_TARGET_NVPTX_THREADEMITTER_H
