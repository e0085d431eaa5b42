//===- LineInfo.cpp - Lines of the program in the code --------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// A kernel is one subprogram for LLVM. What was inlined into it stands in the line where it is written, which
// may be in another file: LLVM's code generator for PTX writes neither scopes nor calls, so that there are
// none keeps translation and optimiser fast.
//
//===----------------------------------------------------------------------===//
#include "LineInfo.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace despina::nvptx {

namespace {

/// Where an operation is written: of calls, the innermost one. Null if that is no file.
FileLineColLoc positionOf(Location location) {
  if (auto call = dyn_cast<CallSiteLoc>(location))
    return positionOf(call.getCallee());
  if (auto named = dyn_cast<NameLoc>(location))
    return positionOf(named.getChildLoc());
  if (auto fused = dyn_cast<FusedLoc>(location)) {
    for (Location part : fused.getLocations())
      if (FileLineColLoc found = positionOf(part))
        return found;
    return {};
  }
  return dyn_cast<FileLineColLoc>(location);
}

/// The locations of one function.
class FunctionLines {
public:
  explicit FunctionLines(LLVM::LLVMFuncOp function) : function_(function), context_(function.getContext()) {}

  void run() {
    FileLineColLoc start = positionOf(function_.getLoc());
    if (!start)
      return;
    home_ = start.getFilename();
    subprogram_ = makeSubprogram(start);
    function_->setLoc(FusedLoc::get({start}, subprogram_, context_));
    function_.getBody().walk([&](Operation *op) { op->setLoc(locationOf(op->getLoc())); });
  }

private:
  LLVM::DIFileAttr fileOf(StringAttr path) {
    return LLVM::DIFileAttr::get(context_, llvm::sys::path::filename(path),
                                 llvm::sys::path::parent_path(path));
  }

  LLVM::DISubprogramAttr makeSubprogram(FileLineColLoc start) {
    LLVM::DIFileAttr file = fileOf(start.getFilename());
    auto unit =
        LLVM::DICompileUnitAttr::get(DistinctAttr::create(UnitAttr::get(context_)),
                                     llvm::dwarf::DW_LANG_Python, file, StringAttr::get(context_, "despina"),
                                     /*isOptimized=*/true, LLVM::DIEmissionKind::DebugDirectivesOnly);
    auto flags = LLVM::DISubprogramFlags::Definition | LLVM::DISubprogramFlags::Optimized;
    return LLVM::DISubprogramAttr::get(context_, DistinctAttr::create(UnitAttr::get(context_)), unit, file,
                                       function_.getNameAttr(), function_.getNameAttr(), file,
                                       start.getLine(), start.getLine(), flags,
                                       LLVM::DISubroutineTypeAttr::get(context_, {}), {}, {});
  }

  Location locationOf(Location location) {
    // Operations in a row mostly come from one.
    if (location == last_.first)
      return *last_.second;
    auto [known, isNew] = known_.try_emplace(location, location);
    if (isNew)
      known->second = makeLocation(location);
    last_ = {location, known->second};
    return known->second;
  }

  Location makeLocation(Location location) {
    FileLineColLoc position = positionOf(location);
    if (!position)
      return UnknownLoc::get(context_);
    if (position.getFilename() == home_)
      return position;
    auto scope = LLVM::DILexicalBlockFileAttr::get(subprogram_, fileOf(position.getFilename()),
                                                   /*discriminator=*/0);
    return FusedLoc::get({position}, scope, context_);
  }

  LLVM::LLVMFuncOp function_;
  MLIRContext *context_;
  StringAttr home_;
  LLVM::DISubprogramAttr subprogram_;
  llvm::DenseMap<Location, Location> known_;
  std::pair<std::optional<Location>, std::optional<Location>> last_;
};

} // namespace

void addLineInfo(ModuleOp module) {
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (!function.isExternal())
      FunctionLines(function).run();
}

} // namespace despina::nvptx
