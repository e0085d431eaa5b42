//===- ThreadEmitter.cpp - The toolkit of the thread emitter --------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "ThreadEmitter.h"

#include "TensorMaps.h"

using namespace mlir;

namespace despina::nvptx {

const EmitterTable &EmitterTable::get() {
  static const EmitterTable table = [] {
    EmitterTable result;
    addControlEmitters(result);
    addElementwiseEmitters(result);
    addMemoryEmitters(result);
    addAtomicEmitters(result);
    addDebugEmitters(result);
    addShapeEmitters(result);
    addCombineEmitters(result);
    addBufferEmitters(result);
    addAsyncCopyEmitters(result);
    addDotEmitters(result);
    addTensorMapEmitters(result);
    addMakeTensorMapEmitters(result);
    return result;
  }();
  return table;
}

ThreadEmitter::ThreadEmitter(tt::FuncOp kernel, const NVPTXOptions &options)
    : b(kernel.getContext()), loc(kernel.getLoc()), kernel_(kernel), options_(options),
      numWarps_(ttg::numWarps(kernel)), axisInfo_(kernel) {}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

static constexpr unsigned globalSpace = 1, sharedSpace = 3;
static constexpr StringLiteral sharedName = "despina_shared";

std::optional<LoweredKernel> ThreadEmitter::run(ModuleOp output) {
  output_ = output;
  lowered_.entry = kernel_.getName().str();
  lowered_.numWarps = numWarps_;
  lowered_.numCTAs = ttg::numCTAs(kernel_);
  auto module = kernel_->getParentOfType<ModuleOp>();
  if (auto bytes = module->getAttrOfType<IntegerAttr>(ttg::sharedBytesName))
    lowered_.sharedBytes = static_cast<size_t>(bytes.getInt());
  if (auto bytes = module->getAttrOfType<IntegerAttr>(globalScratchName)) {
    lowered_.globalScratchBytes = static_cast<size_t>(bytes.getInt());
    lowered_.globalScratchAlignment = tensorMapBytes;
  }
  startFunction(output);
  if (failed(emitBlock(kernel_.getBody().front())))
    return std::nullopt;
  return std::move(lowered_);
}

void ThreadEmitter::startFunction(ModuleOp output) {
  b.setInsertionPointToEnd(output.getBody());
  auto sharedType = LLVM::LLVMArrayType::get(b.getI8Type(), 0);
  LLVM::GlobalOp::create(b, loc, sharedType, /*isConstant=*/false, LLVM::Linkage::External, sharedName,
                         /*value=*/Attribute(), /*alignment=*/1024, sharedSpace);
  SmallVector<Type> parameters;
  for (Type type : kernel_.getArgumentTypes())
    parameters.push_back(llvmType(type));
  lowered_.tensorMaps = getTensorMaps(kernel_->getParentOfType<ModuleOp>());
  parameters.append(lowered_.tensorMaps.size(), LLVM::LLVMPointerType::get(b.getContext()));
  parameters.push_back(LLVM::LLVMPointerType::get(b.getContext(), globalSpace));
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), parameters);
  function_ = LLVM::LLVMFuncOp::create(b, loc, kernel_.getName(), type);
  function_->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), b.getUnitAttr());
  function_->setAttr(NVVM::NVVMDialect::getReqntidAttrName(),
                     b.getDenseI32ArrayAttr({static_cast<int32_t>(32 * numWarps_)}));
  if (options_.maxRegisters)
    function_->setAttr(NVVM::NVVMDialect::getMaxnregAttrName(), b.getI32IntegerAttr(options_.maxRegisters));

  for (size_t i = 0; i < lowered_.tensorMaps.size(); ++i) {
    unsigned argument = static_cast<unsigned>(kernel_.getNumArguments() + i);
    function_.setArgAttr(argument, LLVM::LLVMDialect::getByValAttrName(),
                         TypeAttr::get(LLVM::LLVMArrayType::get(b.getI8Type(), tensorMapBytes)));
    function_.setArgAttr(argument, LLVM::LLVMDialect::getAlignAttrName(), b.getI64IntegerAttr(64));
    function_.setArgAttr(argument, NVVM::NVVMDialect::getGridConstantAttrName(), b.getUnitAttr());
  }
  Block *entry = function_.addEntryBlock(b);
  b.setInsertionPointToStart(entry);
  for (auto [from, to] : llvm::zip(kernel_.getArguments(), entry->getArguments()))
    set(from, {to});
  thread_ = make<NVVM::ThreadIdXOp>(b.getI32Type());
  lane_ = bitAnd(thread_, i32(31));
  Value warp = make<LLVM::LShrOp>(thread_, i32(5));
  // All lanes have the same: that tells the assembler so.
  warp_ = numWarps_ == 1 ? i32(0)
                         : make<NVVM::ShflOp>(b.getI32Type(), i32(-1), warp, i32(0), i32(31),
                                              NVVM::ShflKind::idx, UnitAttr());
  block_ = lowered_.numCTAs == 1 ? i32(0) : make<NVVM::BlockInClusterIdXOp>(b.getI32Type()).getResult();
  shared_ = make<LLVM::AddressOfOp>(LLVM::LLVMPointerType::get(b.getContext(), sharedSpace), sharedName);
  entryEnd_ = shared_.getDefiningOp();
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

ArrayRef<Value> ThreadEmitter::get(Value value) const {
  auto found = values_.find(value);
  return found == values_.end() ? ArrayRef<Value>() : ArrayRef<Value>(*found->second);
}

void ThreadEmitter::set(Value value, Registers registers) {
  std::unique_ptr<Registers> &held = values_[value];
  if (held)
    *held = std::move(registers);
  else
    held = std::make_unique<Registers>(std::move(registers));
}

Type ThreadEmitter::llvmType(Type type) const {
  type = getElementTypeOrSelf(type);
  if (auto pointer = dyn_cast<tt::PointerType>(type))
    return LLVM::LLVMPointerType::get(type.getContext(), pointer.getAddressSpace());
  if (isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 8)
    return IntegerType::get(type.getContext(), 8);
  if (isa<IndexType>(type))
    return IntegerType::get(type.getContext(), 32);
  return type;
}

unsigned ThreadEmitter::numRegisters(Type type) {
  if (auto tile = dyn_cast<RankedTensorType>(type))
    return static_cast<unsigned>(ttg::layoutOf(tile).inSize(LayoutDim::Register));
  return 1;
}

SmallVector<Type, 4> ThreadEmitter::registerTypes(Type type) const {
  if (isa<ttg::TokenType>(type))
    return {};
  if (isa<ttg::MemDescType>(type))
    return {LLVM::LLVMPointerType::get(type.getContext(), sharedSpace),
            IntegerType::get(type.getContext(), 32)};
  return SmallVector<Type, 4>(numRegisters(type), llvmType(type));
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

LogicalResult ThreadEmitter::emit(Operation *op) {
  EmitterTable::Function function = EmitterTable::get().lookup(op);
  if (!function)
    return op->emitOpError("is not supported on CUDA yet");
  Location outer = loc;
  loc = op->getLoc();
  LogicalResult result = function(*this, op);
  loc = outer;
  return result;
}

LogicalResult ThreadEmitter::emitBlock(Block &block) {
  for (Operation &op : block)
    if (failed(emit(&op)))
      return failure();
  return success();
}

Registers ThreadEmitter::emitRegion(Region &region, ArrayRef<Value> arguments) {
  Block &block = region.front();
  for (auto [argument, value] : llvm::zip(block.getArguments(), arguments))
    set(argument, {value});
  for (Operation &op : block.without_terminator())
    if (failed(emit(&op)))
      return {};
  Registers results;
  for (Value operand : block.getTerminator()->getOperands())
    llvm::append_range(results, get(operand));
  return results;
}

Value ThreadEmitter::constant(Type type, int64_t value) {
  if (isa<FloatType>(type))
    return make<LLVM::ConstantOp>(type, b.getFloatAttr(type, static_cast<double>(value)));
  return make<LLVM::ConstantOp>(type, b.getIntegerAttr(type, value));
}

Value ThreadEmitter::zero(Type type) { return make<LLVM::ZeroOp>(type); }

Value ThreadEmitter::bitcast(Value value, Type type) {
  if (value.getType() == type)
    return value;
  bool fromPointer = isa<LLVM::LLVMPointerType>(value.getType()),
       toPointer = isa<LLVM::LLVMPointerType>(type);
  if (fromPointer && !toPointer)
    return make<LLVM::PtrToIntOp>(type, value);
  if (toPointer && !fromPointer)
    return make<LLVM::IntToPtrOp>(type, value);
  return make<LLVM::BitcastOp>(type, value);
}

Value ThreadEmitter::isZero(Value value) {
  return make<LLVM::ICmpOp>(LLVM::ICmpPredicate::eq, value, zero(value.getType()));
}

Value ThreadEmitter::elementPointer(Value address, Type element, Value index) {
  return make<LLVM::GEPOp>(address.getType(), element, address, ArrayRef<LLVM::GEPArg>{index});
}

Value ThreadEmitter::elementPointer(Value address, Type element, int64_t index) {
  if (index == 0)
    return address;
  return make<LLVM::GEPOp>(address.getType(), element, address,
                           ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
}

LLVM::LLVMFuncOp ThreadEmitter::declare(StringRef name, LLVM::LLVMFunctionType type) {
  if (auto found = output_.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return found;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(output_.getBody());
  return LLVM::LLVMFuncOp::create(b, loc, name, type);
}

Value ThreadEmitter::call(StringRef name, Type result, ValueRange arguments) {
  Type resultType = result ? result : LLVM::LLVMVoidType::get(b.getContext());
  auto type = LLVM::LLVMFunctionType::get(resultType, SmallVector<Type>(arguments.getTypes()));
  auto op = make<LLVM::CallOp>(declare(name, type), arguments);
  return result ? op.getResult() : Value();
}

Value ThreadEmitter::stringAddress(StringRef text) {
  LLVM::GlobalOp &global = strings_[text];
  if (!global) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(output_.getBody());
    std::string bytes = text.str() + '\0';
    auto type = LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size());
    global =
        LLVM::GlobalOp::create(b, loc, type, /*isConstant=*/true, LLVM::Linkage::Internal,
                               "despina_string_" + std::to_string(strings_.size()), b.getStringAttr(bytes),
                               /*alignment=*/1, globalSpace);
  }
  Value address =
      make<LLVM::AddressOfOp>(LLVM::LLVMPointerType::get(b.getContext(), globalSpace), global.getSymName());
  return make<LLVM::AddrSpaceCastOp>(LLVM::LLVMPointerType::get(b.getContext()), address);
}

Value ThreadEmitter::inlinePTX(StringRef text, StringRef constraints, Type result, ValueRange operands,
                               bool hasSideEffects) {
  Type type = result ? result : LLVM::LLVMVoidType::get(b.getContext());
  auto op = make<LLVM::InlineAsmOp>(TypeRange{type}, operands, text, constraints, hasSideEffects,
                                    /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
                                    LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT),
                                    /*operand_attrs=*/ArrayAttr());
  return result ? op.getResult(0) : Value();
}

void ThreadEmitter::ifThen(Value condition, function_ref<void()> body) {
  (void)ifThenElse(condition,
                   [&] {
                     body();
                     return Registers();
                   },
                   {});
}

Registers ThreadEmitter::ifThenElse(Value condition, function_ref<Registers()> body,
                                    ArrayRef<Value> otherwise) {
  Region *region = b.getBlock()->getParent();
  Block *before = b.getBlock();
  Block *then = b.createBlock(region, std::next(before->getIterator()));
  Registers values = body();
  Block *last = b.getBlock();
  Block *after = b.createBlock(region, std::next(last->getIterator()));
  Registers results;
  for (Value value : otherwise)
    results.push_back(after->addArgument(value.getType(), loc));
  b.setInsertionPointToEnd(before);
  make<LLVM::CondBrOp>(condition, then, ValueRange(), after, ValueRange(otherwise));
  b.setInsertionPointToEnd(last);
  make<LLVM::BrOp>(values, after);
  b.setInsertionPointToEnd(after);
  return results;
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

Value ThreadEmitter::place(const ThreadTerms &terms) {
  std::vector<uint64_t> key(terms.lane.begin(), terms.lane.end());
  key.push_back(~uint64_t(0));
  key.insert(key.end(), terms.warp.begin(), terms.warp.end());
  key.push_back(~uint64_t(0));
  key.insert(key.end(), terms.block.begin(), terms.block.end());
  Value &result = places_[key];
  if (result)
    return result;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfter(entryEnd_);
  auto addTerms = [&](ArrayRef<uint64_t> ofBits, Value index) {
    for (auto [bit, term] : llvm::enumerate(ofBits)) {
      if (term == 0)
        continue;
      // Terms that are powers of two cost a shift and an AND; the others a select more.
      Value isSet = bitAnd(make<LLVM::LShrOp>(index, i32(bit)), i32(1));
      Value part = mul(isSet, i32(term));
      result = result ? bitXor(result, part) : part;
    }
  };
  addTerms(terms.lane, lane_);
  addTerms(terms.warp, warp_);
  addTerms(terms.block, block_);
  if (!result)
    result = i32(0);
  entryEnd_ = result.getDefiningOp();
  return result;
}

Value ThreadEmitter::once(StringRef key, function_ref<Value()> make) {
  Value &result = once_[key];
  if (result)
    return result;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfter(entryEnd_);
  result = make();
  entryEnd_ = result.getDefiningOp();
  return result;
}

Value ThreadEmitter::isCanonical(uint64_t laneMask, uint64_t warpMask, uint64_t blockMask) {
  Value bits;
  auto addBits = [&](uint64_t mask, Value index) {
    if (mask == 0)
      return;
    Value masked = bitAnd(index, i32(mask));
    bits = bits ? make<LLVM::OrOp>(bits, masked).getResult() : masked;
  };
  // Bits above those that there are do not count.
  addBits(laneMask & 31, lane_);
  addBits(warpMask & (numWarps_ - 1), warp_);
  addBits(blockMask & (lowered_.numCTAs - 1), block_);
  return bits ? isZero(bits) : Value();
}

void ThreadEmitter::barrier() { make<NVVM::BarrierOp>(); }
void ThreadEmitter::warpBarrier() { make<NVVM::SyncWarpOp>(i32(-1)); }

void ThreadEmitter::clusterBarrier() {
  // Without more said, the first releases and the second acquires.
  make<NVVM::ClusterArriveOp>(b.getUnitAttr());
  make<NVVM::ClusterWaitOp>(b.getUnitAttr());
}

Value ThreadEmitter::tensorMap(unsigned index) {
  return function_.getArgument(kernel_.getNumArguments() + index);
}

Value ThreadEmitter::globalScratch() {
  return once("global scratch", [&] {
    // Blocks of the grid in the order x, y, z.
    Type i32Type = b.getI32Type();
    Value row = add(mul(make<NVVM::BlockIdZOp>(i32Type), make<NVVM::GridDimYOp>(i32Type)),
                    make<NVVM::BlockIdYOp>(i32Type));
    auto wide = [&](Value value) -> Value { return make<LLVM::ZExtOp>(b.getI64Type(), value); };
    Value index =
        add(mul(wide(row), wide(make<NVVM::GridDimXOp>(i32Type))), wide(make<NVVM::BlockIdXOp>(i32Type)));
    Value bytes = mul(index, i64(static_cast<int64_t>(lowered_.globalScratchBytes)));
    return elementPointer(function_.getArguments().back(), b.getI8Type(), bytes);
  });
}

Value ThreadEmitter::entryVariable(Type type, int64_t start) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfter(entryEnd_);
  Value address = make<LLVM::AllocaOp>(LLVM::LLVMPointerType::get(b.getContext()), type, i32(1));
  entryEnd_ = make<LLVM::StoreOp>(constant(type, start), address);
  return address;
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

Value ThreadEmitter::sharedPointer(int64_t byteOffset) {
  return elementPointer(shared_, b.getI8Type(), byteOffset);
}

Value ThreadEmitter::inBlock(Value address, Value block) {
  auto type =
      LLVM::LLVMPointerType::get(b.getContext(), static_cast<unsigned>(NVVM::NVVMMemorySpace::SharedCluster));
  return make<NVVM::MapaOp>(type, address, block);
}

std::optional<int64_t> ThreadEmitter::sharedOffset(Operation *op) {
  auto offset = op->getAttrOfType<IntegerAttr>(ttg::offsetName);
  return offset ? std::optional(offset.getInt()) : std::nullopt;
}

} // namespace despina::nvptx
