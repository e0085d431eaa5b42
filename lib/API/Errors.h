//===- Errors.h - From diagnostics to errors of the API ---------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_API_ERRORS_H
#define DESPINA_API_ERRORS_H

#include "despina/Lang/Diagnostics.h"
#include "despina/despina.h"

namespace despina {

/// An error without a position.
Error plainError(std::string kind, std::string message);
/// A defect of ours, with what is needed to report it.
Error internalError(std::string message);
/// The first error of `diags`.
Error errorFrom(const Diagnostics &diags);

} // namespace despina

#endif // DESPINA_API_ERRORS_H
