//===- Legality.cpp - What LLVM can compile for an architecture -----------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "Legality.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/Intrinsics.h"

using namespace mlir;

namespace despina::nvptx {

namespace {

/// Operations and intrinsics of LLVM, without "llvm." or "llvm.intr.", that its NVPTX target compiles for all
/// types that pass isKnownType.
const llvm::StringSet<> &knownOperations() {
  static const llvm::StringSet<> known = {
      // Operations.
      "add", "addrspacecast", "alloca", "and", "ashr", "atomicrmw", "bitcast", "br", "call", "call_intrinsic",
      "cmpxchg", "cond_br", "extractelement", "extractvalue", "fadd", "fcmp", "fdiv", "fence", "fmul", "fneg",
      "fpext", "fptosi", "fptoui", "fptrunc", "freeze", "frem", "fsub", "func", "getelementptr", "icmp",
      "inline_asm", "insertelement", "insertvalue", "inttoptr", "load", "lshr", "mlir.addressof",
      "mlir.constant", "mlir.global", "mlir.poison", "mlir.undef", "mlir.zero", "module_flags", "mul", "or",
      "ptrtoint", "return", "sdiv", "select", "sext", "shl", "shufflevector", "sitofp", "srem", "store",
      "sub", "switch", "trunc", "udiv", "uitofp", "unreachable", "urem", "xor", "zext",
      // Intrinsics; those of elementary functions are device functions instead.
      "abs", "assume", "bitreverse", "bswap", "ceil", "copysign", "ctlz", "ctpop", "cttz", "debugtrap",
      "expect", "fabs", "floor", "fma", "fmuladd", "fshl", "fshr", "is.fpclass", "ldexp", "lifetime.end",
      "lifetime.start", "masked.load", "masked.store", "maximum", "maxnum", "memcpy", "memmove", "memset",
      "minimum", "minnum", "nearbyint", "rint", "round", "roundeven", "sadd.sat", "sadd.with.overflow",
      "smax", "smin", "smul.with.overflow", "sqrt", "ssub.sat", "ssub.with.overflow", "trap", "uadd.sat",
      "uadd.with.overflow", "umax", "umin", "umul.with.overflow", "usub.sat", "usub.with.overflow",
      "vector.reduce.add", "vector.reduce.and", "vector.reduce.fadd", "vector.reduce.fmax",
      "vector.reduce.fmin", "vector.reduce.fmul", "vector.reduce.mul", "vector.reduce.or",
      "vector.reduce.smax", "vector.reduce.smin", "vector.reduce.umax", "vector.reduce.umin",
      "vector.reduce.xor"};
  return known;
}

bool isKnownType(Type type) {
  if (isa<LLVM::LLVMVoidType>(type))
    return true;
  if (auto integer = dyn_cast<IntegerType>(type)) // LLVM would write parameters of other widths as they are
    return llvm::is_contained({1, 8, 16, 32, 64, 128}, static_cast<int>(integer.getWidth()));
  if (isa<FloatType>(type))
    return type.isF16() || type.isBF16() || type.isF32() || type.isF64();
  if (auto pointer = dyn_cast<LLVM::LLVMPointerType>(type)) {
    // Generic, global, shared, constant, local, parameters, shared memory of the cluster.
    constexpr unsigned spaces[] = {0, 1, 3, 4, 5, 6, 7, 101};
    return llvm::is_contained(spaces, pointer.getAddressSpace());
  }
  if (auto vector = dyn_cast<VectorType>(type))
    return !vector.isScalable() && vector.getRank() == 1 && vector.getNumElements() > 0 &&
           isKnownType(vector.getElementType());
  if (auto array = dyn_cast<LLVM::LLVMArrayType>(type))
    return isKnownType(array.getElementType());
  if (auto structure = dyn_cast<LLVM::LLVMStructType>(type))
    return !structure.isOpaque() && llvm::all_of(structure.getBody(), isKnownType);
  if (auto function = dyn_cast<LLVM::LLVMFunctionType>(type))
    return isKnownType(function.getReturnType()) && llvm::all_of(function.getParams(), isKnownType);
  return false;
}

std::string dotted(unsigned version) {
  return std::to_string(version / 10) + "." + std::to_string(version % 10);
}

std::string quoted(StringRef name) { return ("'" + name + "'").str(); }

class Checker {
public:
  Checker(const Architecture &arch, unsigned ptxVersion) : arch_(arch), ptxVersion_(ptxVersion) {}

  LogicalResult check(Operation *op) {
    if (isa<ModuleOp>(op) && !op->getParentOp())
      return success();
    if (failed(checkTypes(op)))
      return failure();
    if (isa<NVVM::NVVMDialect>(op->getDialect()))
      return checkNVVM(op);
    if (!isa<LLVM::LLVMDialect>(op->getDialect()))
      return op->emitOpError("is not an operation of the LLVM dialect, so no PTX can be made of it");
    StringRef name = op->getName().getStringRef();
    if (auto call = dyn_cast<LLVM::CallIntrinsicOp>(op))
      return checkIntrinsic(op, call.getIntrin());
    name.consume_front("llvm.");
    name.consume_front("intr.");
    if (!knownOperations().contains(name))
      return op->emitOpError("is not supported on the NVIDIA target");
    return checkLLVM(op);
  }

  unsigned neededPTX() const { return neededPTX_; }

private:
  LogicalResult checkTypes(Operation *op) {
    for (TypeRange types : {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
      for (Type type : types)
        if (!isKnownType(type))
          return op->emitOpError("on ") << type << " is not supported on the NVIDIA target";
    return success();
  }

  LogicalResult require(Operation *op, const Twine &what, const Requirement &needs) {
    if (needs.number == Requirement::none)
      return op->emitError() << what << " is not supported on the NVIDIA target";
    if (!needs.isMetBy(arch_))
      return op->emitError() << what << " needs " << needs.architectureName()
                             << (needs.variant ? "" : " or newer") << "; the kernel is compiled for "
                             << arch_.name();
    if (ptxVersion_ != 0 && needs.ptx > ptxVersion_)
      return op->emitError() << what << " needs PTX " << dotted(needs.ptx) << " or newer; PTX "
                             << dotted(ptxVersion_) << " is asked for";
    neededPTX_ = std::max(neededPTX_, needs.ptx);
    return success();
  }

  LogicalResult checkText(Operation *op, StringRef text) {
    LogicalResult result = success();
    forEachInstruction(text, [&](StringRef mnemonic) {
      if (succeeded(result))
        result = require(op, quoted(mnemonic), requirementOfInstruction(mnemonic));
    });
    return result;
  }

  LogicalResult checkIntrinsic(Operation *op, StringRef name) {
    StringRef plain = name;
    if (!plain.consume_front("llvm.") || llvm::Intrinsic::lookupIntrinsicID(name) == 0)
      return op->emitError() << "LLVM has no intrinsic '" << name << "'";
    if (plain.starts_with("nvvm."))
      return require(op, quoted(name), requirementOfIntrinsic(plain));
    // The name may end in types: "fma.f32".
    for (StringRef base = plain; !base.empty(); base = base.rsplit('.').first) {
      if (knownOperations().contains(base))
        return success();
      if (!base.contains('.'))
        break;
    }
    return op->emitError() << "'" << name << "' is not supported on the NVIDIA target";
  }

  LogicalResult checkNVVM(Operation *op) {
    StringRef name = op->getName().getStringRef();
    if (auto product = dyn_cast<NVVM::MmaOp>(op))
      return checkProduct(product);
    if (auto ptx = dyn_cast<NVVM::InlinePtxOp>(op))
      return checkText(op, ptx.getPtxCode());
    if (auto needs = dyn_cast<NVVM::RequiresSMInterface>(op)) {
      const NVVM::NVVMCheckSMVersion version = needs.getRequiredMinSMVersion();
      const unsigned number = version.smVersionList.empty() ? 0 : version.smVersionList[0];
      if (failed(require(op, quoted(name), {number, version.archAccelerated ? 'a' : char(0), 0})))
        return failure();
    }
    if (isa<NVVM::ReduxOp>(op) && op->getResult(0).getType().isF32())
      return require(op, quoted(name), requirementOfIntrinsic("nvvm.redux.sync.fmin"));
    return require(op, quoted(name), requirementOfIntrinsic(name));
  }

  LogicalResult checkProduct(NVVM::MmaOp product) {
    NVVM::MMAShapeAttr shape = product.getShape();
    std::string name = "nvvm.mma.m" + std::to_string(shape.getM()) + "n" + std::to_string(shape.getN()) +
                       "k" + std::to_string(shape.getK());
    for (std::optional<NVVM::MMATypes> type :
         {product.getMultiplicandAPtxType(), product.getMultiplicandBPtxType()})
      if (type)
        name += "." + NVVM::stringifyEnum(*type).str();
    return require(product, quoted(name), requirementOfIntrinsic(name));
  }

  LogicalResult checkLLVM(Operation *op) {
    if (auto text = dyn_cast<LLVM::InlineAsmOp>(op))
      return checkText(op, text.getAsmString());
    if (auto function = dyn_cast<LLVM::LLVMFuncOp>(op))
      return checkFunction(function);
    if (auto global = dyn_cast<LLVM::GlobalOp>(op))
      return checkGlobal(global);
    if (auto atomic = dyn_cast<LLVM::AtomicRMWOp>(op))
      return checkScope(op, atomic.getSyncscope(), atomic.getVal().getType());
    if (auto atomic = dyn_cast<LLVM::AtomicCmpXchgOp>(op))
      return checkScope(op, atomic.getSyncscope(), atomic.getVal().getType());
    if (auto fence = dyn_cast<LLVM::FenceOp>(op))
      return checkScope(op, fence.getSyncscope(), IntegerType::get(op->getContext(), 32));
    if (auto load = dyn_cast<LLVM::LoadOp>(op);
        load && load.getOrdering() != LLVM::AtomicOrdering::not_atomic)
      return checkScope(op, load.getSyncscope(), load.getType());
    if (auto store = dyn_cast<LLVM::StoreOp>(op);
        store && store.getOrdering() != LLVM::AtomicOrdering::not_atomic)
      return checkScope(op, store.getSyncscope(), store.getValue().getType());
    if (isa<LLVM::SIToFPOp, LLVM::UIToFPOp, LLVM::FPToSIOp, LLVM::FPToUIOp>(op))
      return checkConversion(op);
    if (isa<LLVM::ByteSwapOp>(op) && isa<VectorType>(op->getResult(0).getType()))
      return op->emitOpError("on vectors is not supported on the NVIDIA target");
    if (isa<LLVM::AllocaOp>(op) && !isConstantCount(op->getOperand(0)))
      return require(op, "an alloca of a size known at run time", {70, 0, 73});
    return success();
  }

  /// Wider integers would need functions of a run-time library.
  static LogicalResult checkConversion(Operation *op) {
    for (Type type : {op->getOperand(0).getType(), op->getResult(0).getType()})
      if (auto integer = dyn_cast<IntegerType>(getElementTypeOrSelf(type));
          integer && integer.getWidth() > 64)
        return op->emitOpError("on ") << type << " is not supported on the NVIDIA target";
    return success();
  }

  static bool isConstantCount(Value count) { return count.getDefiningOp<LLVM::ConstantOp>() != nullptr; }

  LogicalResult checkScope(Operation *op, std::optional<StringRef> scope, Type type) {
    if (scope && !llvm::is_contained({"", "singlethread", "block", "cluster", "device"}, *scope))
      return op->emitOpError("has the unknown synchronization scope '")
             << *scope << "'; those of the NVIDIA target are '' (system), 'device', 'cluster' and 'block'";
    if (scope == StringRef("cluster") && failed(require(op, "the scope of a cluster", {90, 0, 78})))
      return failure();
    if (isa<VectorType, LLVM::LLVMStructType, LLVM::LLVMArrayType>(type) || type.isInteger(1))
      return op->emitOpError("on ") << type << " is not supported on the NVIDIA target";
    if (type.isInteger(128))
      return require(op, "an atomic operation on 128 bits", {90, 0, 84});
    return success();
  }

  LogicalResult checkFunction(LLVM::LLVMFuncOp function) {
    if (!isKnownType(function.getFunctionType()))
      return function.emitOpError("has the type ")
             << function.getFunctionType() << ", which is not supported on the NVIDIA target";
    if (!function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()))
      return success();
    if (!isa<LLVM::LLVMVoidType>(function.getFunctionType().getReturnType()))
      return function.emitOpError("is a kernel, so it cannot return a value");
    if (function.isVarArg())
      return function.emitOpError("is a kernel, so it cannot have variable arguments");
    if (function->hasAttr("nvvm.cluster_dim") || function->hasAttr("nvvm.cluster_max_blocks"))
      if (failed(require(function, "a size of clusters", {90, 0, 78})))
        return failure();
    return checkParameters(function);
  }

  /// The bytes of a kernel's parameters, each at its alignment; a structure passed by value is one itself.
  static uint64_t parameterBytes(LLVM::LLVMFuncOp function) {
    const DataLayout layout = DataLayout::closest(function);
    uint64_t bytes = 0;
    for (auto [i, type] : llvm::enumerate(function.getFunctionType().getParams())) {
      const unsigned index = static_cast<unsigned>(i);
      auto byValue = function.getArgAttrOfType<TypeAttr>(index, LLVM::LLVMDialect::getByValAttrName());
      auto align = function.getArgAttrOfType<IntegerAttr>(index, LLVM::LLVMDialect::getAlignAttrName());
      const Type stored = byValue ? byValue.getValue() : type;
      const uint64_t alignment =
          byValue && align ? align.getValue().getZExtValue() : layout.getTypeABIAlignment(stored);
      bytes =
          llvm::alignTo(bytes, std::max<uint64_t>(alignment, 1)) + layout.getTypeSize(stored).getFixedValue();
    }
    return bytes;
  }

  LogicalResult checkParameters(LLVM::LLVMFuncOp function) {
    constexpr uint64_t usual = 4352, most = 32764;
    const uint64_t bytes = parameterBytes(function);
    if (bytes > most)
      return function.emitError() << "the arguments of the kernel take " << bytes
                                  << " bytes, but a launch can pass " << most
                                  << " at most: pass fewer, or a pointer to an array of them";
    if (bytes > usual)
      return require(function, "a kernel with over " + Twine(usual) + " bytes of arguments", {70, 0, 81});
    return success();
  }

  LogicalResult checkGlobal(LLVM::GlobalOp global) {
    if (!isKnownType(global.getGlobalType()))
      return global.emitOpError("of type ")
             << global.getGlobalType() << " is not supported on the NVIDIA target";
    if (global.getThreadLocal_())
      return global.emitOpError("cannot be thread-local on the NVIDIA target");
    const bool hasValue = global.getValueAttr() || !global.getInitializerRegion().empty();
    constexpr unsigned shared = 3;
    if (global.getAddrSpace() == shared && hasValue && !isUndefined(global))
      return global.emitOpError("lies in shared memory, which cannot be initialized");
    return success();
  }

  static bool isUndefined(LLVM::GlobalOp global) {
    Region &region = global.getInitializerRegion();
    return !region.empty() &&
           isa<LLVM::UndefOp, LLVM::PoisonOp>(region.front().getTerminator()->getOperand(0).getDefiningOp());
  }

  const Architecture &arch_;
  unsigned ptxVersion_;
  unsigned neededPTX_ = 0;
};

} // namespace

FailureOr<unsigned> checkLegality(ModuleOp module, const Architecture &arch, unsigned ptxVersion) {
  Checker checker(arch, ptxVersion);
  bool legal = true;
  module.walk([&](Operation *op) { legal &= succeeded(checker.check(op)); });
  if (!legal)
    return failure();
  return checker.neededPTX();
}

} // namespace despina::nvptx
