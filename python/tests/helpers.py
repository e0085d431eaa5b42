"""What the tests share: kernels from text, random inputs, poisoned outputs, comparisons."""

from __future__ import annotations

import functools
import importlib.util
import os
import random
import tempfile
import textwrap
from fractions import Fraction

import hypothesis
import ml_dtypes
import numpy as np
import pytest

SIGNED = ["int8", "int16", "int32", "int64"]
UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]
INTEGERS = SIGNED + UNSIGNED
FLOATS = ["float16", "bfloat16", "float32", "float64"]
NUMBERS = INTEGERS + FLOATS
ALL = ["int1"] + NUMBERS

NUMPY = {name: getattr(np, name) for name in INTEGERS + ["float16", "float32", "float64"]}
NUMPY |= {"int1": np.bool_, "bfloat16": ml_dtypes.bfloat16}
NUMPY = {name: np.dtype(kind) for name, kind in NUMPY.items()}
SIGNATURE = {name: name.replace("uint", "u").replace("int", "i") for name in INTEGERS}
SIGNATURE |= {"int1": "u1", "float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64"}

HEADER = """\
import despina as triton
import despina.language as tl


"""

# How many times more examples than usual the random tests try: large in nightly runs.
RANDOM_FACTOR = int(os.environ.get("DESPINA_RANDOM_FACTOR", "1"))

# Fills outputs before a run. Seeded for each test (conftest.py), and by Hypothesis for each example: a failure that
# depends on what was there before can be repeated.
poison = random.Random()
hypothesis.register_random(poison)

# Where kernels run: "cpu" or "cuda"; conftest.py sets it.
DEVICE = "cpu"
# Whether Python runs them (--interpret).
INTERPRETS = False

_folder = tempfile.TemporaryDirectory(prefix="despina-tests-")
_count = 0


def module_from(text, header=HEADER):
    """A module made of kernel text, in a file of its own (the compiler reads sources from files)."""
    global _count
    _count += 1
    name = f"despina_test_kernels_{os.getpid()}_{_count}"
    path = os.path.join(_folder.name, name + ".py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(header + textwrap.dedent(text))
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@functools.lru_cache(maxsize=None)
def pointwise(expression, inputs, before=""):
    """A kernel `out[i] = expression` of the inputs x, y, z at i, masked at the end."""
    names = "xyz"[:inputs]
    pointers = "".join(f"{name}_ptr, " for name in names)
    loads = "\n".join(f"    {name} = tl.load({name}_ptr + offsets, mask=mask)" for name in names)
    text = f"""\
{before}
@triton.jit
def kernel({pointers}out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
{loads}
    tl.store(out_ptr + offsets, {expression}, mask=mask)
"""
    return module_from(text).kernel


def run_pointwise(expression, inputs, out_dtype, block=64, before=""):
    """Runs `pointwise` over arrays; checks that nothing beyond the end was written."""
    n = inputs[0].size
    slack = 37
    out = poisoned(n + slack, NUMPY[out_dtype])
    tail = out[n:].copy()
    kernel = pointwise(expression, len(inputs), before)
    kernel[(-(-n // block),)](*inputs, out, n, BLOCK=block)
    assert out[n:].tobytes() == tail.tobytes(), "masked-off lanes were written"
    return out[:n]


def poisoned(shape, dtype):
    """An array full of bytes that no correct result is likely to be."""
    dtype = np.dtype(dtype)
    size = int(np.prod(shape))
    raw = np.frombuffer(poison.randbytes(size * dtype.itemsize), np.uint8) % 254 + 1
    if dtype == np.bool_:
        raw %= 2
    return raw.view(dtype).reshape(shape)


def random_values(rng, shape, name, low=None, high=None):
    """Random values of a dtype: integers over their whole range, floats around zero, unless bounds are given."""
    dtype = NUMPY[name]
    if name == "int1":
        return rng.integers(0, 2, shape).astype(np.bool_)
    if name in INTEGERS:
        info = np.iinfo(dtype)
        low = info.min if low is None else max(low, info.min)
        high = info.max if high is None else min(high, info.max)
        return rng.integers(low, high, shape, dtype=dtype, endpoint=True)
    if low is None:
        return (rng.standard_normal(shape) * 8).astype(dtype)
    return rng.uniform(low, high, shape).astype(dtype)


def wide(array):
    """The same values in the precision of references."""
    return array.astype(np.float64) if array.dtype.kind not in "iub" else array


def ulps(result, reference):
    """Distances from a wide reference in units of the last place of the result's type."""
    result = np.asarray(result)
    with np.errstate(all="ignore"):
        rounded = wide(reference.astype(result.dtype))
    limits = ml_dtypes.finfo(result.dtype)
    # frexp is exact where a logarithm may be off by one next to a power of two.
    _, exponent = np.frexp(np.minimum(np.abs(rounded), float(limits.max)))
    step = np.exp2(np.maximum(exponent - 1, float(limits.minexp)) - limits.nmant)
    with np.errstate(all="ignore"):
        distance = np.abs(wide(result) - reference) / step
    same = (wide(result) == rounded) | (np.isnan(wide(result)) & np.isnan(reference))
    return np.where(same, 0.0, np.where(np.isnan(distance), np.inf, distance))


def on_gpu():
    return DEVICE == "cuda"


def exp_limit(x, cpu):
    """ULP that an exponential of fp32 may be off. A GPU has 2 to a power, of an argument that is rounded first: the
    error grows with it (docs/numerics.md)."""
    if not on_gpu() or x.dtype != np.float32:
        return cpu
    return cpu + 1.5 * np.abs(wide(x))


def assert_ulps(result, reference, limit):
    """The limit is a number, or one for each element."""
    distance = ulps(result, reference)
    excess = distance - limit
    worst = int(np.argmax(excess)) if distance.size else 0
    assert distance.size == 0 or excess.flat[worst] <= 0, (
        f"{distance.flat[worst]} ULP at {worst}: got {result.flat[worst]}, expected {reference.flat[worst]}"
    )


def assert_within(result, reference, bound):
    """No further from a wide reference than a bound that holds for all inputs, not only for likely ones."""
    distance = np.abs(wide(result) - reference)
    wrong = ~(distance <= bound)  # A NaN is wrong.
    if wrong.any():
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise AssertionError(
            f"{wrong.sum()} differ by too much; first at {at}: got {result[at]}, expected {reference[at]} "
            f"within {np.broadcast_to(bound, reference.shape)[at]}"
        )


def assert_fused(result, x, y, z):
    """`result` is x * y + z with one rounding: exact arithmetic says so, for no wider type holds every such sum."""
    assert np.isfinite(result).all()
    for got, spacing, *numbers in zip(*(a.tolist() for a in (result, np.spacing(np.abs(result)), x, y, z))):
        a, b, c = map(Fraction, numbers)
        assert abs(Fraction(got) - (a * b + c)) <= Fraction(spacing) / 2, (got, *numbers)


def assert_softmax(result, x, axis):
    """Softmax in the type of `x`, to the accuracy that its steps can have."""
    distance = x.astype(np.longdouble)
    distance = distance - distance.max(axis=axis, keepdims=True)
    exps = np.exp(distance)
    expected = exps / exps.sum(axis=axis, keepdims=True)
    # Half a unit of the difference's last place is an error of that size, times the difference, of its exponential.
    assert_within(result, expected, expected * np.finfo(x.dtype).eps * (np.abs(distance) / 2 + 20))


class RawPointer:
    """An object that knows its address and its type, but not where that is."""

    dtype = "fp32"

    def __init__(self, address):
        self._address = address

    def data_ptr(self):
        return self._address


# What `descriptor.atomic_KIND` does to an element, and for which types the language has it.
DESCRIPTOR_REDUCTIONS = {
    "add": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}  # fmt: skip
DESCRIPTOR_REDUCTION_TYPES = [
    (kind, dtype)
    for kind in ("min", "max", "and", "or", "xor")
    for dtype in ("int32", "uint32", "int64", "uint64")
] + [("add", dtype) for dtype in ("int32", "uint32", "uint64", "float32", "float16", "bfloat16")]


def assert_refused(kernel, said):
    """The kernel, which takes no arguments, does not compile, and says why."""
    from despina import CompilationError  # conftest.py has its say before the package is loaded

    with pytest.raises(CompilationError) as caught:
        kernel[(1,)]()
    assert said in chain_text(caught.value)


def chain_text(error):
    """What an error and those that led to it say: an error in a called function has its place in the caller first."""
    text = ""
    while error is not None:
        text += f"{error}\n"
        error = error.__cause__
    return text


def assert_same(result, expected):
    """Bit for bit, except that any NaN equals any other."""
    assert result.dtype == expected.dtype, (result.dtype, expected.dtype)
    assert result.shape == expected.shape, (result.shape, expected.shape)
    equal = result == expected
    if result.dtype.kind not in "iub":
        equal |= np.isnan(wide(result)) & np.isnan(wide(expected))
    if not equal.all():
        at = tuple(int(i) for i in np.argwhere(~equal)[0])
        raise AssertionError(f"{(~equal).sum()} differ; first at {at}: got {result[at]}, expected {expected[at]}")


def rounded(reference, name):
    """A wide reference as the result type holds it."""
    with np.errstate(all="ignore"):
        return np.asarray(reference).astype(NUMPY[name])
