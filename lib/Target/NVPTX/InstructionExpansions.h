//===- InstructionExpansions.h - Library calls as instructions --*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_TARGET_NVPTX_INSTRUCTIONEXPANSIONS_H
#define DESPINA_LIB_TARGET_NVPTX_INSTRUCTIONEXPANSIONS_H

namespace llvm {
class Function;
}

namespace despina::nvptx {

/// Gives the declaration of a function of libdevice its body where that is an instruction or a few:
/// arithmetic and conversions in each rounding mode, bits, the fast functions. False, and nothing done, for
/// the others.
bool expandByInstructions(llvm::Function &function);

} // namespace despina::nvptx

#endif // DESPINA_LIB_TARGET_NVPTX_INSTRUCTIONEXPANSIONS_H
