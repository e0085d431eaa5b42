"""Despina: a compiler for the Triton language. `import despina as triton` is what a kernel file changes."""

from . import knobs, language
from ._raise import make_error as _make_error
from ._version import __version__
from .errors import TritonError
from .runtime import jit as _jit_module
from .runtime._allocation import allocate_scratch as _allocate_scratch, set_allocator
from .runtime.jit import (
    JITFunction,
    KernelInterface,
    MockTensor,
    TensorWrapper,
    constexpr_function,
    jit,
    must_use_result,
    reinterpret,
)
from .runtime.aggregate import aggregate
from .runtime.autotuner import Autotuner, Config, Heuristics, autotune, heuristics
from .runtime.driver import active_device as _active_device
from .runtime.errors import InterpreterError, OutOfResources
from . import backends, compiler, errors, runtime, testing, tools
from .compiler import CompilationError, compile
from .tools.tensor_descriptor import TensorDescriptor
from . import _native
from .language import _dtype, _constexpr

_native.register_package(
    {
        "constexpr": _constexpr.constexpr,
        "dtype": _dtype.dtype,
        "tensor_descriptor": TensorDescriptor,
        "jit_callable": _jit_module.JITCallable,
        "dtype_from_signature": _dtype.from_signature,
        "make_error": _make_error,
        "read_builtin": _jit_module.read_builtin,
        "allow_globals": lambda: knobs.compilation.allow_non_constexpr_globals,
        "enter_hooks": knobs._enter_hooks.calls,
        "exit_hooks": knobs._exit_hooks.calls,
        "active_device": _active_device,
        "allocate_scratch": _allocate_scratch,
    }
)


@constexpr_function
def cdiv(x, y):
    """x divided by y, rounded up, for numbers that are not negative."""
    return (x + y - 1) // y


@constexpr_function
def next_power_of_2(n):
    """The smallest power of two that is not smaller than n."""
    n -= 1
    n |= n >> 1
    n |= n >> 2
    n |= n >> 4
    n |= n >> 8
    n |= n >> 16
    n |= n >> 32
    n += 1
    return n


cdiv.__despina_path__ = "triton.cdiv"
next_power_of_2.__despina_path__ = "triton.next_power_of_2"

__all__ = [
    "Autotuner",
    "CompilationError",
    "Config",
    "Heuristics",
    "InterpreterError",
    "JITFunction",
    "KernelInterface",
    "MockTensor",
    "OutOfResources",
    "TensorWrapper",
    "TritonError",
    "__version__",
    "aggregate",
    "autotune",
    "backends",
    "cdiv",
    "compile",
    "compiler",
    "constexpr_function",
    "errors",
    "heuristics",
    "jit",
    "knobs",
    "language",
    "must_use_result",
    "next_power_of_2",
    "reinterpret",
    "runtime",
    "set_allocator",
    "testing",
    "tools",
]
