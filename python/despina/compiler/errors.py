"""What compiling a kernel raises."""

from __future__ import annotations

from ..errors import TritonError

__all__ = ["CompilationError", "CompileTimeAssertionFailure", "UnsupportedLanguageConstruct"]


class CompilationError(TritonError):
    """A kernel does not compile.

    `str(e)` shows the place in the kernel and the reason. `file`, `line` and `column` (1-based) say where it is,
    `notes` holds one (message, file, line, column) for each call on the way there, and `rendered` is the whole
    report with the source line and a caret. When the reason lies in a jit function that the kernel calls, `str(e)`
    shows the call alone and `__cause__` is the CompilationError inside the function; `rendered` shows everything.
    """

    def __init__(self, text, file="", line=0, column=0, notes=(), rendered="", error_message=None):
        super().__init__(text)
        self.message = text
        self.error_message = error_message
        self.file = file
        self.line = line
        self.column = column
        self.notes = list(notes)
        self.rendered = rendered
        self._user_traceback = None

    def __str__(self):
        return self.message

    def __reduce__(self):
        fields = (self.message, self.file, self.line, self.column, self.notes, self.rendered, self.error_message)
        cause = self.__cause__
        kept = isinstance(cause, CompilationError) or type(cause).__module__ == "builtins"
        return type(self), fields, {"__cause__": cause} if cause is not None and kept else None


class CompileTimeAssertionFailure(CompilationError):
    """A `static_assert` failed."""


class UnsupportedLanguageConstruct(CompilationError):
    """The kernel uses a construct of Python that the language does not have."""
