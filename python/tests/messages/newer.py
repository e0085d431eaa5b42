"""Aggregates, scaled products, sorting, random numbers, functions of elements (sections 1.7, 1.10, 1.11, 1.13)."""

from . import UNSUPPORTED, Case

CLASS = """\
@triton.aggregate
class Pair:
    first: tl.tensor
    second: tl.constexpr

    def __init__(self, first, second):
        self.first = first
        {}

"""
PAIR = CLASS.format("self.second = second")
PLAIN = "@triton.aggregate\nclass Pair:\n    first: tl.tensor\n    second: tl.constexpr = 3\n\n"
TENSOR, CONSTANT = "<class 'triton.language.core.tensor'>", "<class 'triton.language.core.constexpr'>"
SCALED = """\
a = tl.zeros((16, 32), tl.uint8)
b = tl.zeros((32, 16), tl.uint8)
s = tl.full((16, 1), 127, tl.uint8)
"""
MINOR = "only minor dimension is currently supported"


def function(returned, parameters="a"):
    return f"@triton.jit\ndef apply({parameters}):\n    return {returned}\n"


def failed(message, body, **more):
    """An assertion of the library, which is written in the language."""
    return Case(message, body, kind="CompileTimeAssertionFailure", **more)


CASES = [
    # Aggregates.
    Case("AttributeError(\"'Pair' object has no attribute 'third'\")", "y = $Pair(x, 1).third", before=PAIR),
    Case(
        "AttributeError(\"Pair has no attribute 'third'\")", "y = $Pair(x, 1)",
        before=CLASS.format("$self.third = second"),
    ),
    Case(
        "AttributeError(\"constructor for Pair did not initialize attribute 'second'\")", "y = $Pair(x, 1)",
        before=CLASS.format("pass"),
    ),
    Case(
        f"TypeError(\"Expected {CONSTANT} for attribute 'second', got {TENSOR}\")", "y = $Pair(x, n)", before=PLAIN,
    ),
    Case(
        f"TypeError(\"Expected {TENSOR} for attribute 'first', got {CONSTANT}\")", "y = $Pair(None, 1)", before=PLAIN,
    ),
    Case(
        "AttributeError(\"cannot assign to field 'first' on immutable aggregate Pair; use aggregate_replace() to "
        "construct a modified copy\")",
        "y = Pair(x, 1)\n$y.first = i", before=PAIR,
    ),
    Case(
        "AttributeError(\"Pair has no attribute 'third'\")",
        "y = Pair(x, 1)\ny = $tl.aggregate_replace(y, third=i)", before=PAIR,
    ),
    Case(
        "TypeError('aggregate_replace() takes one aggregate and the changes to it as keyword arguments')",
        "y = $tl.aggregate_replace(x, first=i)",
    ),
    Case("TypeError(\"Pair() missing a required argument: 'first'\")", "y = $Pair()", before=PLAIN),
    Case("TypeError(\"Pair() got an unexpected keyword argument 'third'\")", "y = $Pair(x, third=1)", before=PLAIN),
    Case("TypeError(\"Pair() got multiple values for argument 'first'\")", "y = $Pair(x, first=x)", before=PLAIN),
    Case("TypeError('Pair() takes 2 fields but 3 were given')", "y = $Pair(x, 1, 2)", before=PLAIN),
    Case(
        "a constructor cannot assign fields inside a loop", "y = $Pair(x, n)", kind=UNSUPPORTED,
        before="@triton.aggregate\nclass Pair:\n    first: tl.tensor\n\n    def __init__(self, first, n):\n"
        "        for j in range(n):\n            $self.first = first\n\n",
    ),
    # Scaled products.
    Case(
        "lhs_scale must be a tensor of shape [..., 16, 1]. Got [1, 16]",
        SCALED + "y = $tl.dot_scaled(a, tl.trans(s), 'e4m3', b, s, 'e4m3')", AssertionError,
    ),
    Case(
        "Operands must have the same scale factor; (lhs: 16 vs rhs: 32)",
        SCALED + "t = tl.full((16, 2), 1.0, tl.float8e4nv)\ny = $tl.dot_scaled(a, t, 'e4m3', b, s, 'e4m3')",
        AssertionError,
    ),
    Case(
        "NYI: lhs_format e3m2; the formats are e2m1, e4m3, e5m2, bf16 and fp16",
        SCALED + "y = $tl.dot_scaled(a, s, 'e3m2', b, s, 'e4m3')", AssertionError,
    ),
    Case(
        "e2m1 format must be packed as uint8. Got fp32",
        SCALED + "y = $tl.dot_scaled(a.to(tl.float32), s, 'e2m1', b, s, 'e4m3')", AssertionError,
    ),
    Case(
        "only mxfp4 inputs can be packed along a dimension different than K",
        SCALED + "y = $tl.dot_scaled(a, s, 'e4m3', b, s, 'e4m3', lhs_k_pack=False)", AssertionError,
    ),
    Case(
        "Only float32 is supported for out_dtype at the moment. Got fp16",
        SCALED + "y = $tl.dot_scaled(a, s, 'e4m3', b, s, 'e4m3', out_dtype=tl.float16)", AssertionError,
    ),
    # Sorting.
    failed(MINOR, "y = $tl.sort(tl.zeros((4, 4), tl.float32), dim=0)"),
    failed(MINOR, "y = $tl.topk(tl.zeros((4, 4), tl.float32), 2, dim=0)"),
    failed(MINOR, "y = $tl.bitonic_merge(tl.zeros((4, 4), tl.float32), dim=0)"),
    failed("only blocks of at least one dimension can be sorted", "y = $tl.sort(f)"),
    failed("k must be a power of 2", "y = $tl.topk(x, 3)"),
    failed("k must not exceed the extent of the last dimension", "y = $tl.topk(x, 32)"),
    failed("flip needs `dim`, the dimension to reverse", "y = $tl.flip(x)"),
    failed("flip has a `dim` that the block does not have", "y = $tl.flip(x, 1)"),
    # Random numbers.
    failed("philox_impl needs counters of uint32 or uint64", "y = $tl.philox_impl(o, o, o, o, 1, 2)"),
    failed("uint_to_uniform_float needs 32 or 64 bits", "y = $tl.uint_to_uniform_float(o.to(tl.int16))"),
    # Functions of elements.
    Case(
        "map_elementwise needs at least one tensor",
        "y = $tl.map_elementwise(apply)", ValueError, before=function("a"),
    ),
    Case(
        "the function of map_elementwise must return scalars, but returns <[16], fp32>",
        "y = $tl.map_elementwise(apply, x)", TypeError, before=function("a + tl.zeros((16,), tl.float32)"),
    ),
    Case(
        "the function of map_elementwise must return a multiple of pack (2) values, but returns 1",
        "y = $tl.map_elementwise(apply, x, pack=2)", ValueError, before=function("a + b", "a, b"),
    ),
    Case(
        "pack must be a power of 2 that divides the number of elements (16), got 3",
        "y = $tl.map_elementwise(apply, x, pack=3)", ValueError, before=function("a", "a, b, c"),
    ),
]  # fmt: skip
