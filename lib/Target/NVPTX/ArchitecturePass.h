//===- ArchitecturePass.h - Passes that depend on the chip ------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_TARGET_NVPTX_ARCHITECTUREPASS_H
#define DESPINA_LIB_TARGET_NVPTX_ARCHITECTUREPASS_H

#include "despina/IR/TT.h"
#include "despina/Target/NVPTX/NVPTXTarget.h"

#include "mlir/Pass/Pass.h"

namespace despina::nvptx {

/// A pass on functions, or on what `Root` is, with an option `arch`. Derived classes have
/// `run(Root, const Architecture &)`, which gives a LogicalResult.
template <typename Derived, typename Root = tt::FuncOp>
class ArchitecturePass : public mlir::PassWrapper<Derived, mlir::OperationPass<Root>> {
public:
  explicit ArchitecturePass(const Architecture &arch) { name_ = arch.name(); }
  ArchitecturePass(const ArchitecturePass &other)
      : mlir::PassWrapper<Derived, mlir::OperationPass<Root>>(other) {
    name_ = other.name_.getValue();
  }

  void runOnOperation() final {
    Root root = this->getOperation();
    std::string error;
    std::optional<Architecture> arch = Architecture::parse(name_.getValue(), error);
    if (!arch)
      root.emitError(error);
    if (!arch || mlir::failed(static_cast<Derived *>(this)->run(root, *arch)))
      this->signalPassFailure();
  }

private:
  mlir::Pass::Option<std::string> name_{*this, "arch", llvm::cl::desc("Architecture"),
                                        llvm::cl::init("sm_90a")};
};

} // namespace despina::nvptx

#endif // DESPINA_LIB_TARGET_NVPTX_ARCHITECTUREPASS_H
