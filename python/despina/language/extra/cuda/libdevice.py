"""`triton.language.extra.cuda.libdevice`: the functions of `triton.language.extra.libdevice`."""

from .. import libdevice as _libdevice

globals().update({name: value for name, value in vars(_libdevice).items() if not name.startswith("_")})
