"""`triton.language.extra`: functions of particular targets."""

from . import cuda, libdevice

__all__ = ["cuda", "libdevice"]
