"""`triton.language.extra.cuda`: functions of NVIDIA GPUs."""

from ..._builtins import functions_of as _functions_of
from . import libdevice

globals().update(_functions_of("language.extra.cuda"))

__all__ = ["libdevice", *_functions_of("language.extra.cuda")]
