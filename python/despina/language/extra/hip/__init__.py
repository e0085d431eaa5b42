"""`triton.language.extra.hip`: there is no target of AMD, but kernels name its library."""

from . import libdevice

__all__ = ["libdevice"]
