"""`triton.language.standard`: functions of the language written in the language."""

from . import core as _core
from ._builtins import functions_of as _functions_of

_NAMES = """argmax argmin bitonic_merge cdiv cumprod cumsum flip interleave max min ravel reduce_or sigmoid softmax
sort squeeze sum swizzle2d topk unsqueeze xor_sum zeros zeros_like""".split()
globals().update({name: getattr(_core, name) for name in _NAMES if hasattr(_core, name)})
globals().update(_functions_of("language.standard"))


def _log2(i):
    """Base-2 logarithm of a power of two; sorting networks of libraries count their steps with it."""
    return int(getattr(i, "value", i)).bit_length() - 1


_log2.__despina_path__ = "triton.language.standard._log2"
