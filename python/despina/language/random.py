"""`triton.language.random`: counter-based random numbers (Philox)."""

from . import core as _core
from ._builtins import functions_of as _functions_of

_NAMES = """pair_uniform_to_normal philox philox_impl rand rand4x randint randint4x randn randn4x
uint_to_uniform_float""".split()
globals().update({name: getattr(_core, name) for name in _NAMES if hasattr(_core, name)})
globals().update(_functions_of("language.random"))
