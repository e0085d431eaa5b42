"""`triton.language`, usually imported as `tl`: what kernels are written in."""

from . import core, math, random, standard  # noqa: F401 (submodules that `tl.` reaches)
from .core import *  # noqa: F403
from .core import __all__ as _core_all

_SUBMODULES = ["core", "math", "random", "standard", "extra", "target_info"]


def __getattr__(name):
    # `target_info` needs the runtime, which needs this module: it is loaded when it is asked for.
    if name in ("extra", "target_info"):
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


# What can be reached as an attribute and does not come with `from triton.language import *`.
_HIDDEN = {"builtin", "extern", "is_builtin", "get_int_dtype", "tuple_type", "aggregate_replace"}
__all__ = [name for name in _core_all if name not in _HIDDEN] + _SUBMODULES
