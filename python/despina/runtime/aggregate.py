"""`@aggregate`: classes whose objects kernels make, hand around and take apart."""

from __future__ import annotations

import inspect
import itertools
import typing

from .jit import JITCallable

__all__ = ["aggregate"]

_numbers = itertools.count()


class _Constructor(JITCallable):
    """An `__init__` in plain Python, which the compiler reads like a jit function."""


def _constructor(cls):
    for base in cls.__mro__[:-1]:
        init = vars(base).get("__init__")
        if init is not None and not getattr(init, "__triton_generated__", False):
            fn = init.fn if isinstance(init, JITCallable) else init
            return _Constructor(fn)
    return None


def _annotations(cls):
    """Name -> class of the fields, those of base classes first."""
    fields = {}
    for base in reversed(cls.__mro__[:-1]):
        names = inspect.get_annotations(base)
        try:
            names = inspect.get_annotations(base, eval_str=True)
        except (NameError, SyntaxError):  # A name that is only known where the class was made.
            pass
        fields.update(names)
    return {name: kind for name, kind in fields.items() if typing.get_origin(kind) is not typing.ClassVar}


def aggregate(cls):
    """Marks a class as an aggregate: its annotated names are the fields of objects that kernels make.

    `__init__` may be plain Python that assigns the fields; without one it takes them in order. Methods are functions
    with `@jit` or `@constexpr_function`.
    """
    fields = _annotations(cls)
    if not fields:
        raise ValueError(f"aggregate {cls.__name__} has no fields: annotate them, as in `x: tl.tensor`")
    described = tuple(
        (name, kind, getattr(cls, name)) if hasattr(cls, name) else (name, kind) for name, kind in fields.items()
    )
    static = tuple(
        name for base in cls.__mro__ for name, value in vars(base).items() if isinstance(value, staticmethod)
    )
    key = f"{cls.__module__}.{cls.__qualname__}#{next(_numbers)}"
    cls.__triton_aggregate__ = (key, cls.__name__, described, _constructor(cls), static)
    if _is_plain(cls):
        _add_host_constructor(cls, fields)
    return cls


def _is_plain(cls):
    return cls.__init__ is object.__init__ or getattr(cls.__init__, "__triton_generated__", False)


def _add_host_constructor(cls, fields):
    """Objects on the host, which constexpr_functions may make and read."""

    def __init__(self, *args, **kwargs):
        values = dict(zip(fields, args)) | kwargs
        for name in fields:
            if name in values:
                setattr(self, name, values.pop(name))
            elif not hasattr(type(self), name):
                raise TypeError(f"{cls.__name__}() missing a required argument: '{name}'")
        if values or len(args) > len(fields):
            raise TypeError(f"{cls.__name__}() takes the fields {', '.join(fields)}")

    __init__.__triton_generated__ = True
    cls.__init__ = __init__
