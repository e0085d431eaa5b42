//===- Legality.h - What LLVM can compile for an architecture ---*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// LLVM ends the process at an operation that the architecture or the version of PTX lacks, so each operation
// of a module is compared with tables before LLVM sees it.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_TARGET_NVPTX_LEGALITY_H
#define DESPINA_LIB_TARGET_NVPTX_LEGALITY_H

#include "despina/Target/NVPTX/NVPTXTarget.h"

#include "mlir/IR/BuiltinOps.h"

#include "llvm/ADT/StringRef.h"

namespace despina::nvptx {

/// What an instruction needs.
struct Requirement {
  static constexpr unsigned none = 9999; ///< an architecture that does not exist

  unsigned number = 0; ///< of the architecture: 90
  /// 'a': that chip or its family alone, in a variant with all instructions; '+': such a variant of this or
  /// any later chip; 0: this chip and all later ones.
  char variant = 0;
  unsigned ptx = 0; ///< version times 10

  bool isMetBy(const Architecture &arch) const;
  /// "sm_90a".
  std::string architectureName() const;
};

/// What an intrinsic of LLVM's NVPTX target or an operation of the NVVM dialect needs ("nvvm.ldmatrix").
Requirement requirementOfIntrinsic(llvm::StringRef name);
/// What an instruction of PTX needs ("ldmatrix.sync.aligned.m8n8.x4.shared.b16").
Requirement requirementOfInstruction(llvm::StringRef mnemonic);
/// Calls `visit` with each instruction of a piece of PTX: its mnemonic with all modifiers.
void forEachInstruction(llvm::StringRef ptx, llvm::function_ref<void(llvm::StringRef)> visit);

/// Whether LLVM compiles a module of the LLVM dialect for `arch`. The answer is the version of PTX (times 10)
/// that it needs, 0 if any will do; failure after errors at the operations that cannot be compiled. With
/// `ptxVersion` given, what needs a newer version is an error too.
mlir::FailureOr<unsigned> checkLegality(mlir::ModuleOp module, const Architecture &arch, unsigned ptxVersion);

} // namespace despina::nvptx

#endif // DESPINA_LIB_TARGET_NVPTX_LEGALITY_H
