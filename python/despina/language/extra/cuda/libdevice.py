"""`triton.language.extra.cuda.libdevice`: the mathematics library, by its older path."""

from ..libdevice import *  # noqa: F403
