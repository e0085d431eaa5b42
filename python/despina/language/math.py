"""`triton.language.math`: elementwise mathematics. The names of `libdevice` are answered here as well, as once."""

from . import core as _core
from ._builtins import functions_of as _functions_of

globals().update(_functions_of("language.extra.libdevice"))
_NAMES = "abs ceil clamp cos div_rn erf exp exp2 fdiv floor fma log log2 rsqrt sin sqrt sqrt_rn umulhi".split()
globals().update({name: getattr(_core, name) for name in _NAMES if hasattr(_core, name)})
globals().update(_functions_of("language.math"))
