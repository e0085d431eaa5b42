//===- Diagnostics.h - What went wrong, where, and what to do ---*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// The front end reports every failure here and returns a null value; it never throws and never aborts.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LANG_DIAGNOSTICS_H
#define DESPINA_LANG_DIAGNOSTICS_H

#include "despina/Lang/Source.h"

#include <string>
#include <vector>

namespace despina {

/// The Python exception class a failure stands for. The name decides how `str(CompilationError)` reads
/// (spec triton_language 2.7) and which exception is the `__cause__`.
enum class ErrorKind : uint8_t {
  Syntax,               ///< the text is not Python (SyntaxError)
  UnsupportedConstruct, ///< UnsupportedLanguageConstruct
  CompileTimeAssertion, ///< CompileTimeAssertionFailure
  Value,                ///< ValueError
  Type,                 ///< TypeError
  Name,                 ///< NameError
  Attribute,            ///< AttributeError
  Index,                ///< IndexError
  Key,                  ///< KeyError
  Assertion,            ///< AssertionError
  NotImplemented,       ///< NotImplementedError
  Runtime,              ///< RuntimeError
  ZeroDivision,         ///< ZeroDivisionError
  Overflow,             ///< OverflowError
  Import,               ///< ImportError
  OutOfResources,       ///< a fixed limit of a target was exceeded
  Internal,             ///< a defect of Despina itself, reported instead of aborting
  Compilation,          ///< CompilationError with no finer class
};

/// The Python name of an error kind, such as "ValueError".
const char *errorKindName(ErrorKind kind);

enum class Severity : uint8_t { Error, Warning, Note };

/// One finding. `callStack` holds the call sites from the kernel inwards, outermost first: one note each.
struct Diagnostic {
  Severity severity = Severity::Error;
  ErrorKind kind = ErrorKind::Compilation;
  /// What happened, in the words of the exception (no class name, no position).
  std::string message;
  SourceRange range;
  /// True when a language builtin raised it: `str(e)` then shows `message`, otherwise `Kind('message')`.
  bool fromBuiltin = false;
  /// What the user can do, where we know it ("help: ..."). Shown in the rendered form only.
  std::string help;

  struct CallSite {
    SourceRange range;
    std::string callee;
    /// The function the call stands in; used for `pythonText`.
    SourceRange function;
  };
  std::vector<CallSite> callStack;

  /// The source text of the function the error is in, from its `def` line; used for `pythonText`.
  SourceRange function;
};

/// Collects diagnostics of one compilation. Not thread-safe: one per compilation.
class Diagnostics {
public:
  void report(Diagnostic diagnostic);
  bool hasErrors() const { return numErrors_ != 0; }
  const std::vector<Diagnostic> &all() const { return all_; }
  /// The first error, or null.
  const Diagnostic *firstError() const;
  void clear();

private:
  std::vector<Diagnostic> all_;
  unsigned numErrors_ = 0;
};

/// The form tools print: `file:line:column: error: message`, the source line, a caret under the range, the
/// help, and one note per call. Columns are printed 1-based. `color` adds ANSI colours.
std::string render(const Diagnostic &diagnostic, bool color = false);

/// The text `str(e)` shows in Python: `at LINE:COL:`, up to 12 source lines, a caret line, the message
/// (spec triton_language 2.7).
std::string pythonText(const Diagnostic &diagnostic);

/// The text of the exception that stands for one call on the way to an error: the place alone, no message.
std::string pythonText(const Diagnostic::CallSite &site);

} // namespace despina

#endif // DESPINA_LANG_DIAGNOSTICS_H
