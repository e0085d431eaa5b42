"""What users see when a kernel is wrong, as data: one Case for each message, in a module for each part of the language.

A case is the rest of a kernel that starts with

    def kernel(x_ptr, i_ptr):
        o = tl.arange(0, 16)
        x, i = tl.load(x_ptr + o), tl.load(i_ptr + o)
        f, n = tl.load(x_ptr), tl.load(i_ptr)

where `x_ptr` points to fp32 and `i_ptr` to int32: `x` and `i` are blocks, `f` and `n` scalars. A `$` stands before the
token that the caret must point at, and is no part of the text. In `before`, the text above the kernel, there is one for
each call on the way to an error.
"""

from typing import NamedTuple


class Case(NamedTuple):
    message: str
    """All that follows the caret in `str(error)`."""
    body: str
    cause: type | None = None
    """Class of `error.__cause__`."""
    kind: str = "CompilationError"
    before: str = ""
    parameters: str = "x_ptr, i_ptr"
    """Others than these two get no prelude."""


UNSUPPORTED = "UnsupportedLanguageConstruct"
