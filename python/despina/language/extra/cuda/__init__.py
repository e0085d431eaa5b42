"""`triton.language.extra.cuda`: what only GPUs of NVIDIA have."""

from ..._builtins import functions_of as _functions_of
from . import libdevice

_FUNCTIONS = _functions_of("language.extra.cuda")
globals().update(_FUNCTIONS)

__all__ = ["libdevice", *_FUNCTIONS]
