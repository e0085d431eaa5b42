"""`triton.language.extra.cuda`: functions of NVIDIA GPUs."""

from ..._builtins import functions_of as _functions_of
from . import libdevice

_functions = _functions_of("language.extra.cuda")
globals().update(_functions)
__all__ = ["libdevice", *_functions]
