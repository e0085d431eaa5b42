//===- Errors.cpp - From diagnostics to errors of the API -----------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "Errors.h"

namespace despina {

namespace {

/// The class Python raises for a failure inside a kernel.
const char *compilationKind(ErrorKind kind) {
  switch (kind) {
  case ErrorKind::UnsupportedConstruct:
  case ErrorKind::CompileTimeAssertion:
  case ErrorKind::OutOfResources: return errorKindName(kind);
  default: return "CompilationError";
  }
}

Error::Note noteAt(std::string message, SourceRange range) {
  Error::Note note;
  note.message = std::move(message);
  if (range) {
    LineColumn position = range.file->lineColumn(range.begin);
    note.file = range.file->path();
    note.line = position.line;
    note.column = position.column + 1;
  }
  return note;
}

Error::Note callNote(const Diagnostic::CallSite &site) {
  Error::Note note = noteAt("in the call of '" + site.callee + "'", site.range);
  note.pythonText = pythonText(site);
  return note;
}

} // namespace

Error plainError(std::string kind, std::string message) {
  Error error;
  error.kind = std::move(kind);
  error.message = std::move(message);
  error.rendered = "error: " + error.message + "\n";
  error.pythonText = error.message;
  return error;
}

Error internalError(std::string message) {
  return plainError("RuntimeError",
                    "internal error of Despina, please report it with the kernel's source: " + message);
}

Error errorFrom(const Diagnostics &diags) {
  const Diagnostic *diagnostic = diags.firstError();
  if (!diagnostic)
    return internalError("compilation failed without a diagnostic");
  // Outside a kernel (a file that cannot be read) the class stands for itself.
  bool inKernel = static_cast<bool>(diagnostic->range);
  Error error;
  error.kind = inKernel ? compilationKind(diagnostic->kind) : errorKindName(diagnostic->kind);
  error.message = diagnostic->message;
  error.rendered = render(*diagnostic);
  error.causeKind = errorKindName(diagnostic->kind);
  error.hasCause = diagnostic->fromBuiltin;
  error.pythonText = inKernel ? pythonText(*diagnostic) : diagnostic->message;
  if (inKernel) {
    Error::Note at = noteAt({}, diagnostic->range);
    error.file = at.file;
    error.line = at.line;
    error.column = at.column;
  }
  for (const Diagnostic::CallSite &site : diagnostic->callStack)
    error.notes.push_back(callNote(site));
  return error;
}

} // namespace despina
