"""`triton.language.core`: the types and functions of the language."""

from . import _builtins, _constexpr, _dtype
from ._constexpr import constexpr
from ._dtype import get_int_dtype

globals().update({name: getattr(_dtype, name) for name in _dtype.__all__})
globals().update({name: getattr(_constexpr, name) for name in _constexpr.__all__})
# The registry holds the types too: those are the classes above.
_FUNCTIONS = {name: value for name, value in _builtins.functions_of("language").items() if name not in globals()}
globals().update(_FUNCTIONS)

TRITON_BUILTIN = "__triton_builtin__"

# Default values that code written against this module names.
CONSTEXPR_0 = constexpr(0)


def builtin(fn):
    """Marks a function as one of the language."""
    setattr(fn, TRITON_BUILTIN, True)
    return fn


def is_builtin(fn):
    """True for functions of the language."""
    return getattr(fn, TRITON_BUILTIN, False)


# Functions of libraries that are not written in the language; what they call is the compiler's in any case.
extern = builtin


extern_elementwise = _builtins.functions_of("language.core")["extern_elementwise"]


def _aggregate(cls):
    """The name of `triton.aggregate` before it became public."""
    from ..runtime.aggregate import aggregate

    return aggregate(cls)


def _unwrap_if_constexpr(value):
    if isinstance(value, list):
        return [_unwrap_if_constexpr(element) for element in value]
    return value.value if isinstance(value, constexpr) else value


_unwrap_if_constexpr.__despina_path__ = "triton.language.core._unwrap_if_constexpr"


def _unwrap_shape(shape):
    return [_unwrap_if_constexpr(extent) for extent in _unwrap_if_constexpr(shape)]


__all__ = [*_dtype.__all__, *_constexpr.__all__, *_FUNCTIONS, "get_int_dtype", "builtin", "extern", "is_builtin"]
