"""`triton.language.extra`: functions of particular targets."""

from . import cuda, hip, libdevice

__all__ = ["cuda", "hip", "libdevice"]
