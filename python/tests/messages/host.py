"""What Python code gets that uses the language outside of kernels, and launches that cannot be."""

from typing import Any, Callable, NamedTuple

import numpy as np

import despina as triton
import despina.language as tl
from despina._utils import canonicalize_dtype
from despina.tools.tensor_descriptor import TensorDescriptor

from helpers import module_from

NOT_IN_A_KERNEL = (
    "Did you forget to add @triton.jit ? (`_semantic` argument must be provided outside of JIT functions.)"
)
X = np.zeros(64, np.float32)
M = np.zeros((8, 8), np.float32)

kernels = module_from("""
    @triton.jit
    def kernel(x_ptr, n, BLOCK: tl.constexpr = 16):
        pass

    @triton.jit
    def nameless():
        pass
""")
kernel = kernels.kernel[(1,)]


class HostCase(NamedTuple):
    message: str
    kind: type
    call: Callable[[], Any]


def decorate_twice():
    module_from("""
        @triton.jit(do_not_specialize=["N"])
        def kernel(x_ptr, N: tl.constexpr):
            pass
    """)


def decorate_text():
    exec("import despina as triton\n@triton.jit\ndef kernel(x):\n    pass", {})


def descriptor(shape=(8, 8), strides=(8, 1), block=(8, 8), base=M, padding="zero"):
    return TensorDescriptor(base, [*shape], [*strides], [*block], padding)


CASES = [
    # Functions and types of the language.
    HostCase(NOT_IN_A_KERNEL, ValueError, lambda: tl.load(X)),
    HostCase(NOT_IN_A_KERNEL, ValueError, lambda: tl.sum(X, 0)),
    HostCase(NOT_IN_A_KERNEL, ValueError, lambda: tl.math.exp(1.0)),
    HostCase("tl.range can only be used in @triton.jit'd functions", RuntimeError, lambda: [*tl.range(0, 3)]),
    HostCase(
        "tl.static_range can only be used in @triton.jit'd functions", RuntimeError, lambda: [*tl.static_range(0, 3)],
    ),
    HostCase("Not implemented", RuntimeError, lambda: tl.float32.is_void()),
    HostCase("'float33' is no type of the language", AssertionError, lambda: tl.dtype("float33")),
    HostCase("fp32 is no integer type", AssertionError, lambda: tl.float32.get_int_max_value()),
    HostCase("0d block_type is forbidden", TypeError, lambda: tl.block_type(tl.float32, [])),
    HostCase("Shape element 1 must be a power of 2", ValueError, lambda: tl.block_type(tl.float32, [4, 3])),
    HostCase(
        "Shape element 0 must have type `constexpr[int]`, got `float`", TypeError,
        lambda: tl.block_type(tl.float32, [2.5]),
    ),
    HostCase(
        "numel (2097152) exceeds triton maximum tensor numel (1048576)", ValueError,
        lambda: tl.block_type(tl.float32, [2048, 1024]),
    ),
    HostCase("'float33'", KeyError, lambda: canonicalize_dtype("torch.float33")),
    # Definitions of kernels.
    HostCase("@jit functions should be defined in a Python file", ValueError, decorate_text),
    HostCase(
        "N marked as constexpr and listed in do_not_specialize/do_not_specialize_on_alignment. Remove constexpr "
        "designation to skip specialization.",
        triton.CompilationError, decorate_twice,
    ),
    HostCase(
        "Cannot call @triton.jit'd outside of the scope of a kernel", RuntimeError, lambda: kernels.kernel(X, 1),
    ),
    # Arguments.
    HostCase("kernel() missing 1 required argument: 'n'", TypeError, lambda: kernel(X)),
    HostCase("kernel() missing 2 required arguments: 'x_ptr', 'n'", TypeError, lambda: kernel()),
    HostCase("kernel() takes 3 positional arguments but 4 were given", TypeError, lambda: kernel(X, 1, 2, 3)),
    HostCase("nameless() takes 0 positional arguments but 1 was given", TypeError, lambda: kernels.nameless[(1,)](1)),
    HostCase("kernel() got multiple values for argument 'n'", TypeError, lambda: kernel(X, 1, n=2)),
    HostCase("'Keyword argument nope was specified but unrecognised'", KeyError, lambda: kernel(X, 1, nope=2)),
    HostCase(
        "stream option is deprecated; current stream will be used", AssertionError, lambda: kernel(X, 1, stream=0),
    ),
    HostCase(
        "device option is deprecated; current device will be used", AssertionError, lambda: kernel(X, 1, device=0),
    ),
    HostCase(
        "device_type option is deprecated; current device will be used", AssertionError,
        lambda: kernel(X, 1, device_type="cuda"),
    ),
    HostCase("failed to specialize argument of type: object", TypeError, lambda: kernel(object(), 1)),
    HostCase("failed to specialize argument of type: str", TypeError, lambda: kernel("text", 1)),
    HostCase("failed to specialize argument of type: dict", TypeError, lambda: kernel({}, 1)),
    HostCase("integer to be specialized too large to represent", OverflowError, lambda: kernel(X, 2**70)),
    HostCase("num_warps must be a power of 2, got 3", ValueError, lambda: kernel(X, 1, num_warps=3)),
    HostCase("num_stages must be a small positive number, got -1", ValueError, lambda: kernel(X, 1, num_stages=-1)),
    # Tensor descriptors.
    HostCase("rank must be between 1 and 5", AssertionError, lambda: descriptor([], [], [])),
    HostCase("block_shape must be powers of 2", AssertionError, lambda: descriptor(block=(8, 6))),
    HostCase("strides must be 16-byte aligned", AssertionError, lambda: descriptor(strides=(9, 1))),
    HostCase("shape must be positive", AssertionError, lambda: descriptor(shape=(0, 8))),
    HostCase("Last dimension must be contiguous", AssertionError, lambda: descriptor(strides=(8, 2))),
    HostCase("padding must be 'zero' or 'nan'", AssertionError, lambda: descriptor(padding="one")),
    HostCase(
        "padding 'nan' needs a floating point tensor", AssertionError,
        lambda: descriptor(base=M.astype(np.int32), padding="nan"),
    ),
]  # fmt: skip

# Text that a kernel prints while it is compiled, with the line that is meant: messages of class UserWarning.
WARNINGS = [
    ("view is deprecated, please use reshape with can_reorder being true.", "y = tl.view(x, (4, 4))"),
    (
        "tl.where with a non-boolean condition is deprecated and will error out in a future triton release. Got int32",
        "y = tl.where(i, x, f)",
    ),
    (
        "Logical operators 'and' and 'or' are deprecated for non-scalar tensors; please use '&' or '|' instead",
        "y = (x > 0) and (x < 1)",
    ),
    (
        "Value 40 exceeds the maximum bitwidth (32) for type 'int32'. This may result in undefined behavior.",
        "y = i << 40",
    ),
    (
        "Value 8 exceeds the maximum bitwidth (8) for type 'uint8'. This may result in undefined behavior.",
        "y = n.to(tl.uint8) >> 8",
    ),
    (
        'If conditional called with multidimensional Tensor instead of scalar; please use "if (tensor.item())" instead',
        "if tl.arange(0, 1) > 0:\n    pass",
    ),
    ("Python's min() on blocks is deprecated; use tl.minimum", "y = min(x, f)"),
    ("Python's max() on blocks is deprecated; use tl.maximum", "y = max(1, i)"),
    (
        "Descriptor block shape must have at least 16 bytes in the last dimension, but got 2 * 4 = 8 bytes",
        "y = tl.make_tensor_descriptor(x_ptr, (8, 8), (8, 1), (1, 2))",
    ),
    ("the value that kernel `kernel` returns is ignored", "return n"),
]
