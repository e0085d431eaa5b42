//===- Signature.h - Which parameters are types, which constants *- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_API_SIGNATURE_H
#define DESPINA_API_SIGNATURE_H

#include "despina/Lang/CodeGen.h"
#include "despina/Lang/ModuleLoader.h"
#include "despina/despina.h"

namespace despina {

/// A parameter's specialisation in text form: "*fp32:16".
struct SpecialisedType {
  Type type;
  int64_t divisibility = 0;
  bool isOne = false;
  bool padsNaN = false; ///< descriptors
};
/// "tensordesc<fp16[64, 64]>", with ":nan" where reads out of bounds give NaN instead of zero.
struct DescriptorType {
  Type type;
  bool padsNaN = false;
};
/// None for any other text.
std::optional<DescriptorType> parseDescriptorType(llvm::StringRef text);

/// Parses "TYPE", "TYPE:16" or "TYPE:1"; `parameter` is named in the error.
Expected<SpecialisedType> parseSpecialisedType(const std::string &text, const std::string &parameter);

/// The arguments of a kernel read from a file, in the order of its parameters.
Expected<std::vector<KernelArgument>> bindSignature(const LoadedKernel &kernel,
                                                    const std::vector<NamedType> &signature,
                                                    const std::vector<NamedConstant> &constants);

} // namespace despina

#endif // DESPINA_API_SIGNATURE_H
