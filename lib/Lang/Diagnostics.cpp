//===- Diagnostics.cpp - What went wrong, where, and what to do -----------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "despina/Lang/Diagnostics.h"

#include "despina/Lang/Value.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Unicode.h"

#include <algorithm>

namespace despina {

const char *errorKindName(ErrorKind kind) {
  switch (kind) {
  case ErrorKind::Syntax: return "SyntaxError";
  case ErrorKind::UnsupportedConstruct: return "UnsupportedLanguageConstruct";
  case ErrorKind::CompileTimeAssertion: return "CompileTimeAssertionFailure";
  case ErrorKind::Value: return "ValueError";
  case ErrorKind::Type: return "TypeError";
  case ErrorKind::Name: return "NameError";
  case ErrorKind::Attribute: return "AttributeError";
  case ErrorKind::Index: return "IndexError";
  case ErrorKind::Key: return "KeyError";
  case ErrorKind::Assertion: return "AssertionError";
  case ErrorKind::NotImplemented: return "NotImplementedError";
  case ErrorKind::Runtime: return "RuntimeError";
  case ErrorKind::ZeroDivision: return "ZeroDivisionError";
  case ErrorKind::Overflow: return "OverflowError";
  case ErrorKind::Import: return "ImportError";
  case ErrorKind::OutOfResources: return "OutOfResources";
  case ErrorKind::Internal: return "InternalError";
  case ErrorKind::Compilation: return "CompilationError";
  }
  return "CompilationError";
}

void Diagnostics::report(Diagnostic diagnostic) {
  if (diagnostic.severity == Severity::Error)
    ++numErrors_;
  all_.push_back(std::move(diagnostic));
}

const Diagnostic *Diagnostics::firstError() const {
  auto found = std::find_if(all_.begin(), all_.end(), [](const Diagnostic &diagnostic) {
    return diagnostic.severity == Severity::Error;
  });
  return found == all_.end() ? nullptr : &*found;
}

void Diagnostics::clear() {
  all_.clear();
  numErrors_ = 0;
}

//===- The rendered form --------------------------------------------------===//

namespace {

/// A line of a terminal as we print it at most; longer source lines are cut around the range.
constexpr size_t maxExcerptBytes = 240;

struct Style {
  bool color;
  const char *bold() const { return color ? "\033[1m" : ""; }
  const char *red() const { return color ? "\033[1;31m" : ""; }
  const char *magenta() const { return color ? "\033[1;35m" : ""; }
  const char *cyan() const { return color ? "\033[1;36m" : ""; }
  const char *green() const { return color ? "\033[1;32m" : ""; }
  const char *reset() const { return color ? "\033[0m" : ""; }

  const char *of(Severity severity) const {
    return severity == Severity::Error ? red() : severity == Severity::Warning ? magenta() : cyan();
  }
};

const char *severityName(Severity severity) {
  return severity == Severity::Error ? "error" : severity == Severity::Warning ? "warning" : "note";
}

bool isContinuationByte(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// Source text made printable, with the terminal columns of one range of it.
class Excerpt {
public:
  /// `begin` and `end` are bytes of `line`.
  Excerpt(llvm::StringRef line, size_t begin, size_t end) : line_(line) {
    size_t first = 0, last = line.size();
    if (line.size() > maxExcerptBytes) {
      first = begin > maxExcerptBytes / 3 ? begin - maxExcerptBytes / 3 : 0;
      while (first > 0 && isContinuationByte(line[first]))
        --first;
      last = std::min(line.size(), first + maxExcerptBytes);
      while (last < line.size() && isContinuationByte(line[last]))
        ++last;
    }
    if (first > 0)
      append("...", 3);
    for (size_t at = first; at < last;) {
      if (at <= begin)
        caretColumn_ = width_;
      at = appendCharacter(at, last);
      if (at <= end)
        endColumn_ = width_;
    }
    if (begin >= last)
      caretColumn_ = width_;
    if (last < line.size())
      append("...", 3);
  }

  const std::string &text() const { return text_; }
  std::string underline() const {
    std::string result(caretColumn_, ' ');
    result += '^';
    if (endColumn_ > caretColumn_ + 1)
      result.append(endColumn_ - caretColumn_ - 1, '~');
    return result;
  }

private:
  void append(llvm::StringRef text, size_t width) {
    text_ += text;
    width_ += width;
  }

  /// Appends the character at `at` and returns where the next one begins.
  size_t appendCharacter(size_t at, size_t last) {
    char c = line_[at];
    if (c == '\t') {
      size_t blanks = 8 - width_ % 8;
      append(std::string(blanks, ' '), blanks);
      return at + 1;
    }
    if (static_cast<unsigned char>(c) < 0x80) {
      // Control characters would confuse the terminal.
      append(llvm::isPrint(c) ? llvm::StringRef(&c, 1) : "?", 1);
      return at + 1;
    }
    size_t next = at + 1;
    while (next < last && isContinuationByte(line_[next]))
      ++next;
    llvm::StringRef character = line_.slice(at, next);
    int width = llvm::sys::unicode::columnWidthUTF8(character);
    if (width < 0)
      append("?", 1);
    else
      append(character, static_cast<size_t>(width));
    return next;
  }

  llvm::StringRef line_;
  std::string text_;
  size_t width_ = 0, caretColumn_ = 0, endColumn_ = 0;
};

/// `file:line:column: `, the severity, the message, the source line and its underline.
void renderFinding(std::string &out, const Style &style, Severity severity, const SourceRange &range,
                   llvm::StringRef message) {
  out += style.bold();
  if (range) {
    LineColumn at = range.file->lineColumn(range.begin);
    out += range.file->path() + ":" + std::to_string(at.line) + ":" + std::to_string(at.column + 1) + ": ";
  }
  out += style.of(severity);
  out += severityName(severity);
  out += ": ";
  out += style.reset();
  out += style.bold();
  out += message;
  out += style.reset();
  out += '\n';
  if (!range)
    return;
  LineColumn local = range.file->localLineColumn(range.begin);
  llvm::StringRef line = range.file->line(local.line);
  size_t length = range.end > range.begin ? range.end - range.begin : 0;
  Excerpt excerpt(line, std::min<size_t>(local.column, line.size()),
                  std::min<size_t>(local.column + length, line.size()));
  out += excerpt.text();
  out += '\n';
  out += style.green();
  out += excerpt.underline();
  out += style.reset();
  out += '\n';
}

} // namespace

std::string render(const Diagnostic &diagnostic, bool color) {
  Style style{color};
  std::string out;
  renderFinding(out, style, diagnostic.severity, diagnostic.range, diagnostic.message);
  if (!diagnostic.help.empty())
    out += std::string(style.bold()) + "help: " + style.reset() + diagnostic.help + "\n";
  // The innermost call first: that is the way a reader walks from the error to the kernel.
  for (auto site = diagnostic.callStack.rbegin(); site != diagnostic.callStack.rend(); ++site)
    renderFinding(out, style, Severity::Note, site->range, "in the call of '" + site->callee + "' here");
  return out;
}

//===- The form Python shows ----------------------------------------------===//

namespace {

/// At most `size` bytes of the line from `begin`, whole characters.
llvm::StringRef window(llvm::StringRef line, size_t begin, size_t size) {
  begin = std::min(begin, line.size());
  while (begin < line.size() && begin > 0 && isContinuationByte(line[begin]))
    ++begin;
  size_t end = std::min(line.size(), begin + size);
  while (end < line.size() && isContinuationByte(line[end]))
    ++end;
  return line.slice(begin, end);
}

/// `at LINE:COL:` and the source lines, relative to the function when it is known.
std::string pythonPosition(const SourceRange &range, const SourceRange &function) {
  constexpr uint32_t maxLines = 12, maxLineBytes = 1000;
  const SourceFile &file = *range.file;
  LineColumn at = file.localLineColumn(range.begin);
  uint32_t firstLine = 1, indent = 0;
  if (function && function.file == range.file && function.begin <= range.begin) {
    LineColumn start = file.localLineColumn(function.begin);
    firstLine = start.line;
    indent = start.column;
  }
  uint32_t column = at.column > indent ? at.column - indent : 0;
  std::string text = "at " + std::to_string(at.line - firstLine + 1) + ":" + std::to_string(column) + ":\n";
  // All lines lose the same number of leading bytes where a machine-made one is very long.
  uint32_t cut = column >= maxLineBytes ? column - maxLineBytes / 2 : 0;
  uint32_t shown = std::max(firstLine, at.line >= maxLines ? at.line - maxLines + 1 : 1);
  for (uint32_t line = shown; line <= at.line; ++line) {
    llvm::StringRef source = file.line(line);
    size_t blanks = std::min<size_t>(indent, source.find_first_not_of(" \t"));
    text += window(source.drop_front(std::min(blanks, source.size())), cut, maxLineBytes).str() + "\n";
  }
  return text + std::string(column - cut, ' ') + "^";
}

/// The message as Python's exception shows it.
std::string pythonMessage(const Diagnostic &diagnostic) {
  switch (diagnostic.kind) {
  case ErrorKind::Syntax:
  case ErrorKind::UnsupportedConstruct:
  case ErrorKind::CompileTimeAssertion:
  case ErrorKind::OutOfResources:
  case ErrorKind::Internal:
  case ErrorKind::Compilation: return diagnostic.message;
  default: break;
  }
  if (diagnostic.fromBuiltin)
    return diagnostic.message;
  std::string argument = diagnostic.message.empty() ? "" : Constant(diagnostic.message).repr();
  return std::string(errorKindName(diagnostic.kind)) + "(" + argument + ")";
}

} // namespace

std::string pythonText(const Diagnostic &diagnostic) {
  std::string message = pythonMessage(diagnostic);
  if (!diagnostic.range)
    return message;
  std::string text = pythonPosition(diagnostic.range, diagnostic.function);
  return message.empty() ? text : text + "\n" + message;
}

std::string pythonText(const Diagnostic::CallSite &site) {
  return site.range ? pythonPosition(site.range, site.function) : std::string();
}

} // namespace despina
