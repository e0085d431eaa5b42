//===- TileKernel.cpp - Emits tile IR and runs it on the host -------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "TileKernel.h"

#include "Scratch.h"
#include "ThreadData.h"
#include "ThreadEmitter.h"
#include "TileIndex.h"

#include "despina/IR/Context.h"
#include "despina/Target/NVPTX/NVPTXPipeline.h"
#include "despina/Target/NVPTX/PTXEmit.h"
#include "despina/Transforms/AllocateSharedMemory.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;

namespace despina::test {

namespace {

/// The value in memory: i1 as a byte, pointers as 64 bits.
unsigned memoryWidth(Type type) { return ttg::memoryBits(getElementTypeOrSelf(type)); }

Value elementAddress(nvptx::ThreadEmitter &e, Value base, unsigned width, Value index) {
  Value wide = e.make<LLVM::ZExtOp>(e.b.getI64Type(), index);
  return e.elementPointer(base, e.b.getIntegerType(width), wide);
}

LogicalResult emitInput(nvptx::ThreadEmitter &e, UnrealizedConversionCastOp op) {
  Type type = op.getResult(0).getType();
  Value base = e.scalar(op.getOperand(0));
  unsigned width = memoryWidth(type);
  nvptx::Registers indices(1, e.i32(0)), registers;
  if (ttg::hasLayout(type)) {
    const LinearLayout &layout = ttg::layoutOf(type);
    SmallVector<uint64_t> weights;
    for (unsigned bit = 0; bit < layout.totalOutBits(); ++bit)
      weights.push_back(uint64_t(1) << bit);
    indices = nvptx::placeValues(e, nvptx::placeTerms(layout, weights), layout.inSize(LayoutDim::Register));
  }
  for (Value index : indices) {
    Value address = elementAddress(e, base, width, index);
    Value bits = e.make<LLVM::LoadOp>(e.b.getIntegerType(width), address);
    registers.push_back(nvptx::fromBits(e, bits, e.llvmType(type)));
  }
  e.set(op.getResult(0), std::move(registers));
  return success();
}

LogicalResult emitOutput(nvptx::ThreadEmitter &e, UnrealizedConversionCastOp op) {
  Value base = e.scalar(op.getOperand(1));
  ArrayRef<Value> registers = e.get(op.getOperand(0));
  unsigned width = memoryWidth(op.getOperand(0).getType());
  // In the order of the layout's inputs: registers lowest.
  Value thread = e.add(e.mul(e.block(), e.i32(32 * e.numWarps())), e.thread());
  Value first = e.mul(thread, e.i32(registers.size()));
  for (auto [i, value] : llvm::enumerate(registers)) {
    Value address = elementAddress(e, base, width, e.add(first, e.i32(i)));
    e.make<LLVM::StoreOp>(nvptx::toBits(e, value), address);
  }
  e.set(op.getResult(0), {e.i1(true)});
  return success();
}

LogicalResult emitPort(nvptx::ThreadEmitter &e, UnrealizedConversionCastOp op) {
  return op.getNumOperands() == 1 ? emitInput(e, op) : emitOutput(e, op);
}

/// The ports are of this program only.
void addPorts() {
  static const bool added = [] {
    const_cast<nvptx::EmitterTable &>(nvptx::EmitterTable::get()).add<UnrealizedConversionCastOp, emitPort>();
    return true;
  }();
  (void)added;
}

std::string moduleText(const std::string &parameters, const std::string &body,
                       const TileKernelOptions &options) {
  std::string arguments;
  SmallVector<StringRef> types;
  StringRef(parameters).split(types, ';', -1, /*KeepEmpty=*/false);
  llvm::erase_if(types, [](StringRef type) { return type.trim().empty(); });
  for (auto [i, type] : llvm::enumerate(types))
    arguments += (i ? ", %p" : "%p") + std::to_string(i) + ": " + type.trim().str();
  return "module attributes {\"ttg.num-warps\" = " + std::to_string(options.numWarps) +
         " : i32, \"ttg.num-ctas\" = " + std::to_string(options.numCTAs) +
         " : i32, \"ttg.threads-per-warp\" = 32 : i32} {\n"
         "tt.func public @kernel(" +
         arguments + ") {\n" + body + "\n  tt.return\n}\n}\n";
}

} // namespace

static std::unique_ptr<MLIRContext> makeContext() {
  addPorts();
  std::unique_ptr<MLIRContext> context = createContext();
  DialectRegistry registry;
  nvptx::registerLoweringDialects(registry);
  nvptx::registerTranslations(registry);
  context->appendDialectRegistry(registry);
  context->loadAllAvailableDialects();
  return context;
}

static nvptx::NVPTXOptions targetOptions(const TileKernelOptions &options) {
  nvptx::NVPTXOptions target;
  target.arch.number = options.capability;
  target.numWarps = options.numWarps;
  target.numCTAs = options.numCTAs;
  return target;
}

static bool simulate(ModuleOp code, const std::optional<nvptx::LoweredKernel> &lowered,
                     const std::string &text, std::array<unsigned, 3> grid,
                     llvm::ArrayRef<SimulatedArgument> arguments) {
  EXPECT_TRUE(lowered && succeeded(verify(code))) << text;
  if (!lowered)
    return false;
  std::string error;
  std::unique_ptr<SimulatedKernel> simulated = SimulatedKernel::load(code, *lowered, error);
  EXPECT_TRUE(simulated) << error << "\n" << text;
  if (!simulated)
    return false;
  error = simulated->launch(grid, arguments, static_cast<unsigned>(text.size()));
  EXPECT_EQ(error, "") << text;
  return error.empty();
}

bool runTileKernel(const std::string &parameters, const std::string &body,
                   llvm::ArrayRef<SimulatedArgument> arguments, const TileKernelOptions &options) {
  std::unique_ptr<MLIRContext> context = makeContext();
  std::string text = moduleText(parameters, body, options);
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(text, ParserConfig(context.get(), /*verifyAfterParse=*/false));
  EXPECT_TRUE(module) << text;
  if (!module)
    return false;
  if (options.passes) {
    PassManager manager(context.get());
    options.passes(manager);
    bool ran = succeeded(manager.run(*module));
    EXPECT_TRUE(ran) << text;
    if (!ran)
      return false;
  }
  auto scratchBytes = [&](Operation *op) { return nvptx::scratchBytes(op, options.capability); };
  allocateSharedMemory(*module, scratchBytes);
  insertBarriers(*module, scratchBytes);
  OwningOpRef<ModuleOp> output = ModuleOp::create(module->getLoc());
  auto kernel = *module->getOps<tt::FuncOp>().begin();
  nvptx::NVPTXOptions target = targetOptions(options);
  auto lowered = nvptx::ThreadEmitter(kernel, target).run(*output);
  return simulate(*output, lowered, text, {1, 1, 1}, arguments);
}

bool runKernel(const std::string &text, std::array<unsigned, 3> grid,
               llvm::ArrayRef<SimulatedArgument> arguments, const TileKernelOptions &options) {
  std::unique_ptr<MLIRContext> context = makeContext();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, context.get());
  EXPECT_TRUE(module) << text;
  if (!module)
    return false;
  auto lowered = nvptx::lowerToLLVMDialect(*module, targetOptions(options));
  EXPECT_TRUE(!lowered || lowered->globalScratchBytes == options.globalScratchBytes) << text;
  return simulate(*module, lowered, text, grid, arguments);
}

std::string shapeText(const LinearLayout &layout) {
  std::string text;
  for (unsigned axis = 0; axis < layout.outs().size(); ++axis)
    text += (axis ? "x" : "") + std::to_string(layout.outSize(tensorDim(axis)));
  return text;
}

std::string tileType(const LinearLayout &layout, const std::string &element) {
  return "tensor<" + shapeText(layout) + "x" + element + ", #ttg.layout<\"" + layout.toString() + "\">>";
}

} // namespace despina::test
