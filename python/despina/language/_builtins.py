"""The functions of the language as Python objects, made from the compiler's registry.

They carry signatures and docstrings for people and editors. Their meaning is in the compiler: called outside a
kernel they raise.
"""

from __future__ import annotations

import functools

from .. import _native
from . import _constexpr, _dtype

_OUTSIDE = "Did you forget to add @triton.jit ? (`_semantic` argument must be provided outside of JIT functions.)"


def _callable(described, doc, module, path):
    """A function that refuses every call, with the name and signature of another."""

    @functools.wraps(described)
    def function(*args, **kwargs):
        raise ValueError(_OUTSIDE)

    function.__doc__ = doc
    function.__module__ = module
    function.__triton_builtin__ = True
    function.__despina_path__ = path
    return function


def _parameters(signature):
    """The text between the parentheses with `_semantic=None` added, as keyword where the function is variadic."""
    inner = signature.strip()[1:-1].strip()
    if "**" in inner:
        before, _, after = inner.rpartition("**")
        return f"{before}_semantic=None, **{after}"
    return f"{inner}, _semantic=None" if inner else "_semantic=None"


def _namespace():
    """What default values in signatures may name."""
    names = {name: getattr(_dtype, name) for name in _dtype.__all__}
    return names | {"constexpr": _constexpr.constexpr}


def _define(entries, module):
    """Makes one function for each (name, signature, doc, path), all in one compilation."""
    lines = []
    for name, signature, _, _ in entries:
        lines.append(f"def {name}({_parameters(signature)}): pass")
    namespace = _namespace()
    try:
        exec(compile("\n".join(lines), f"<{module}>", "exec"), namespace)  # noqa: S102
    except (SyntaxError, NameError):
        # A default that Python cannot read here must not cost the whole module.
        for name, signature, _, _ in entries:
            try:
                exec(f"def {name}({_parameters(signature)}): pass", namespace)  # noqa: S102
            except (SyntaxError, NameError):
                exec(f"def {name}(*args, _semantic=None, **kwargs): pass", namespace)  # noqa: S102
    return {name: _callable(namespace[name], doc, module, path) for name, _, doc, path in entries}


def _collect():
    """Per module path ("language", "language.math", ""): name, signature, doc and path of its functions."""
    modules = {}
    for path, signature, doc, _, supported in _native.builtin_docs():
        module, _, name = path.rpartition(".")
        if not supported:
            doc = f"{doc} Not supported yet.".strip()
        if name.isidentifier():
            modules.setdefault(module, []).append((name, signature, doc, f"triton.{path}"))
    return modules


_MODULES = _collect()


def functions_of(module):
    """The functions of a module of the language: name -> function."""
    return _define(_MODULES.get(module, []), f"despina.{module}".rstrip("."))
