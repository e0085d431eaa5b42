"""Turns failures of the native library into exceptions."""

from __future__ import annotations

import ast
import builtins

from .compiler import errors as compiler_errors
from .errors import TritonError
from .runtime import errors as runtime_errors

_COMPILE_CLASSES = {
    "CompilationError": compiler_errors.CompilationError,
    "UnsupportedLanguageConstruct": compiler_errors.UnsupportedLanguageConstruct,
    "CompileTimeAssertionFailure": compiler_errors.CompileTimeAssertionFailure,
}


def _builtin_exception(name, message):
    """An exception of Python's own with this class name."""
    found = getattr(builtins, name, None)
    if isinstance(found, type) and issubclass(found, Exception):
        try:
            return found(message)
        except TypeError:
            pass
    return RuntimeError(message)


def _traceback_at(file, line, column):
    """A traceback of one frame that stands on a place of a file, so that Python shows that line last."""
    tree = ast.parse("raise error")
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            node.lineno = node.end_lineno = line
            node.col_offset, node.end_col_offset = max(column - 1, 0), max(column, 1)
    code = compile(tree, file, "exec").replace(co_name="<kernel>")
    try:
        exec(code, {"error": TritonError()})  # noqa: S102
    except TritonError as error:
        return error.__traceback__.tb_next
    return None


def _standing_at(error):
    """The error, with a traceback that ends on its line."""
    error.__suppress_context__ = True
    if error.file and error.line:
        error._user_traceback = _traceback_at(error.file, error.line, error.column)
        error = error.with_traceback(error._user_traceback)
    return error


def make_error(
    kind, message, file, line, column, rendered, python_text, cause_kind, has_cause, notes, cause_exception, resource
):
    """The exception for a failure. It carries a traceback that ends on the kernel's line.

    An error inside called jit functions is a chain: one exception for each call, without a message, that stands at
    the call and has the next one as its cause; the innermost says what is wrong.
    """
    compile_class = _COMPILE_CLASSES.get(kind)
    if compile_class is None and line:
        compile_class = compiler_errors.CompilationError
    if compile_class is None:
        name, required, limit = resource
        if kind == "OutOfResources":
            if name:
                return runtime_errors.OutOfResources(required, limit, name)
            return runtime_errors.OutOfResources.from_message(message)
        if kind == "PTXASError":
            return runtime_errors.PTXASError(message)
        return _builtin_exception(kind, python_text or message)
    calls = notes
    notes = [note[:4] for note in calls]
    error = compile_class(python_text or message, file, line, column, notes, rendered, message)
    if has_cause and cause_kind not in _COMPILE_CLASSES:
        known = cause_exception is not None and str(cause_exception) == message
        error.__cause__ = cause_exception if known else _builtin_exception(cause_kind, message)
    error = _standing_at(error)
    for _, call_file, call_line, call_column, text in reversed(calls):
        caller = compiler_errors.CompilationError(text, call_file, call_line, call_column, notes, rendered)
        caller.__cause__ = error
        error = _standing_at(caller)
    return error
