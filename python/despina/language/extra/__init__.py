"""`triton.language.extra`: functions of particular targets."""

from . import libdevice

__all__ = ["libdevice"]
