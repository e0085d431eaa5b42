"""Functions that make, reshape and compute tensors (sections 1.5 to 1.7, 1.10 to 1.12)."""

from . import Case

NAN = "propagate_nan must be tl.PropagateNan.NONE or tl.PropagateNan.ALL, got "
PRECISIONS = "('tf32', 'tf32x3', 'ieee', 'bf16x3', 'bf16x6')"
SQUARE = "a = tl.zeros((16, 16), tl.float16)\n"
ADD = "@triton.jit\ndef add(a, b):\n    return a + b\n"
COMPILE_TIME = (
    "Assertion condition could not be determined at compile-time. Make sure that it depends only on `constexpr` values"
)

CASES = [
    # Programs and creation.
    Case("program_id axis must be 0, 1, or 2 but got 3", "y = $tl.program_id(3)", ValueError),
    Case("num_programs axis must be 0, 1, or 2 but got -1", "y = $tl.num_programs(axis=-1)", ValueError),
    Case("axis must be a constexpr integer, got int32", "y = $tl.program_id(n)", TypeError),
    Case("arange's arguments must be of type tl.constexpr", "y = $tl.arange(0, n)", ValueError),
    Case("arange's end argument must be greater than the start argument", "y = $tl.arange(8, 0)", ValueError),
    Case("arange's range must be a power of 2", "y = x + $tl.arange(0, 17)", ValueError),
    Case("arange must fit in int32", "y = $tl.arange(2147483648, 2147483664)", ValueError),
    Case("dtype must be specified when value is not a tensor", "y = $tl.full((16,), 1, None)", ValueError),
    Case("only accepts size-1 tensor", "y = $tl.full((16,), x, tl.float32)", AssertionError),
    # Shapes.
    Case("invalid axis 5. Expected -2 <= axis < 2", "y = $tl.expand_dims(o, 5)", ValueError),
    Case("expand_dims received duplicate axes: [0, 0]", "y = $tl.expand_dims(o, (0, 0))", ValueError),
    Case("reshape() cannot change total number of elements in tensor", "y = $tl.reshape(o, (8,))", ValueError),
    Case("tl.trans invoked with a 0- or 1-dimensional tensor", "y = $tl.trans(o)", ValueError),
    Case("ValueError('tl.trans invoked with a 0- or 1-dimensional tensor')", "y = $o.T"),
    Case("permute dims must have the same length as input shape", SQUARE + "y = $tl.permute(a, 0)", ValueError),
    Case(
        "permute dims must be a permutation of 0, 1, ..., n-1, but were [0, 0]",
        SQUARE + "y = $tl.permute(a, (0, 0))", ValueError,
    ),
    Case("join needs operands of one dtype, got fp32 and int32", "y = $tl.join(x, i)", TypeError),
    Case("split: last dimension must have size 2, got shape [16]", "y = $tl.split(x)", ValueError),
    Case("split needs a tensor with at least one dimension", "y = $tl.split(f)", ValueError),
    Case("cat needs operands of one dtype, got fp32 and int32", "y = $tl.cat(x, i)", TypeError),
    Case("cat needs blocks of one rank, got shapes [16] and []", "y = $tl.cat(x, f)", ValueError),
    Case(
        "cat needs equal extents outside of dim 0, got shapes [16, 16] and [16, 1]",
        "y = $tl.cat(o[:, None] + o[None, :], o[:, None])", ValueError,
    ),
    Case("can only unsplat single-element tensors", "y = $x.item()", AssertionError),
    Case("squeeze: dimension 0 has extent 16, not 1", "y = $tl.squeeze(o, 0)", ValueError),
    # Math.
    Case("Expected dtype ['fp32', 'fp64'] but got fp16", "y = $tl.exp(x.to(tl.float16))", ValueError),
    Case("Expected dtype ['fp32', 'fp64'] but got bf16", "y = $tl.sqrt(x.to(tl.bfloat16))", ValueError),
    Case("Expected dtype ['fp32', 'fp64'] but got int32", "y = $tl.sin(i)", ValueError),
    Case("Expected dtype ['fp32'] but got fp64", "y = $tl.sqrt_rn(x.to(tl.float64))", ValueError),
    Case("Expected dtype ['fp32'] but got int32", "y = $tl.div_rn(x, i)", ValueError),
    Case(
        "Expected dtype ['int32', 'int64', 'uint32', 'uint64'] but got int16",
        "y = $tl.umulhi(i, i.to(tl.int16))", ValueError,
    ),
    Case("both operands of fdiv must have floating scalar type", "y = $tl.fdiv(x, i)", TypeError),
    Case("Unexpected dtype pointer<fp32>", "y = $tl.abs(x_ptr)", AssertionError),
    Case("Unexpected dtype int32. Only floating point clamp is supported", "y = $tl.clamp(i, 0, 5)", TypeError),
    Case("Unexpected dtype int32. Only floating point fma is supported", "y = $tl.fma(i, i, i)", TypeError),
    Case(f"{NAN}True", "y = $tl.maximum(x, f, propagate_nan=True)", ValueError),
    Case(f"{NAN}1", "y = $tl.clamp(x, 0.0, 1.0, 1)", ValueError),
    Case(
        "invalid operands of type pointer<fp32> and triton.language.int32",
        "y = $tl.where(o < 3, x_ptr, 0)", TypeError,
    ),
    Case(
        "input arg type does not match.Expect one of [(triton.language.float32,), (triton.language.float64,)], got "
        "(triton.language.int32,)",
        "y = $libdevice.tanh(i)", ValueError, before="from despina.language.extra import libdevice\n",
    ),
    # Matrix products.
    Case("input and other must be blocks, got fp32[16] and fp32", "y = $tl.dot(x, f)", AssertionError),
    Case("Unsupported lhs dtype int32", "y = $tl.dot(i[:, None], i[None, :])", AssertionError),
    Case(
        "Both operands must be same dtype. Got fp16 and fp32",
        SQUARE + "y = $tl.dot(a, a.to(tl.float32))", AssertionError,
    ),
    Case(
        "Both inputs must have the same rank of at least 2; (lhs: [16] vs rhs: [16])",
        "y = $tl.dot(x, x)", AssertionError,
    ),
    Case(
        "input and other must have equal reduction dimensions (lhs: [16, 32] vs rhs: [16, 32])",
        "a = tl.zeros((16, 32), tl.float16)\ny = $tl.dot(a, a)", AssertionError,
    ),
    Case(
        "input and other must have equal batch dimensions (lhs: [2, 16, 16] vs rhs: [4, 16, 16])",
        "y = $tl.dot(tl.zeros((2, 16, 16), tl.float16), tl.zeros((4, 16, 16), tl.float16))", AssertionError,
    ),
    Case("only int8 supported!", "a = tl.zeros((16, 32), tl.uint8)\ny = $tl.dot(a, a.T)", AssertionError),
    Case(
        "out_dtype=bfloat16 is unsupported. Please use out_dtype=float32/float16 and cast with `.to(tl.bfloat16)`",
        SQUARE + "y = $tl.dot(a, a, out_dtype=tl.bfloat16)", ValueError,
    ),
    Case(
        "out_dtype must be float16 or float32 for operands of type fp16, got fp64",
        SQUARE + "y = $tl.dot(a, a, out_dtype=tl.float64)", ValueError,
    ),
    Case(
        "acc must have the type of the result, <[16, 16], fp32>, but has <[16, 16], int32>",
        SQUARE + "y = $tl.dot(a, a, tl.zeros((16, 16), tl.int32), out_dtype=tl.float32)", AssertionError,
    ),
    Case(
        f"input_precision must be one of {PRECISIONS}. Got fp19",
        SQUARE + "y = $tl.dot(a, a, input_precision='fp19')", ValueError,
    ),
    Case(
        "Only one of input_precision and allow_tf32 can be specified",
        SQUARE + "y = $tl.dot(a, a, input_precision='ieee', allow_tf32=False)", AssertionError,
    ),
    Case(
        "max_num_imprecise_acc (64) must be <= K (32)",
        "a = tl.zeros((16, 32), tl.float8e5)\ny = $tl.dot(a, a.T, max_num_imprecise_acc=64)", ValueError,
    ),
    # Reductions, scans.
    Case("invalid axis 1. Expected -1 <= axis < 1", "y = $tl.sum(x, axis=1)", ValueError),
    Case(
        "the combine function must return 1 value(s), but returns 2",
        "y = $tl.reduce(x, 0, two)", ValueError, before="@triton.jit\ndef two(a, b):\n    return a, b\n",
    ),
    Case(
        "the combine function must keep the type fp32, but returns int1",
        "y = $tl.reduce(x, 0, less)", TypeError, before="@triton.jit\ndef less(a, b):\n    return a < b\n",
    ),
    Case(
        "all inputs of a reduction or scan must have one shape, got [16] and [16, 1]",
        "y = $tl.reduce((x, x[:, None]), 0, add)", ValueError, before=ADD,
    ),
    Case("a scan needs an axis", "y = $tl.associative_scan(x, None, add)", ValueError, before=ADD),
    Case("invalid axis -2. Expected -1 <= axis < 1", "y = $tl.associative_scan(x, -2, add)", ValueError, before=ADD),
    Case("keep_dims must be a constexpr bool, got int32", "y = $tl.sum(x, keep_dims=n)", TypeError),
    # Picking and counting.
    Case("index must be an integer tensor", "y = $tl.gather(x, x, 0)", AssertionError),
    Case("source and index tensors must have the same rank", "y = $tl.gather(x, i[:, None], 0)", AssertionError),
    Case("gather axis 1 must be < source rank (1)", "y = $tl.gather(x, i, 1)", AssertionError),
    Case(
        "index dim 1 must match the corresponding source dim",
        SQUARE + "y = $tl.gather(a, i[:, None], 0)", AssertionError,
    ),
    Case("histogram only supports 1D input", SQUARE + "y = $tl.histogram(a, 16)", AssertionError),
    Case("histogram only supports integer input", "y = $tl.histogram(x, 16)", AssertionError),
    # Hints, assertions, printing.
    Case("values element 0 must have type `constexpr`", "y = $tl.multiple_of(i, n)", TypeError),
    Case(
        "values element 1 must have type `constexpr[int]`, got `constexpr[float]`",
        SQUARE + "y = $tl.max_contiguous(a, (1, 2.5))", TypeError,
    ),
    Case(
        "Shape of input to max_constancy does not match the length of values",
        "y = $tl.max_constancy(i, [16, 16])", ValueError,
    ),
    Case(COMPILE_TIME, "$tl.static_assert(n == 2)", NotImplementedError),
    Case("one is not two", "$tl.static_assert(1 == 2, 'one is not two')", kind="CompileTimeAssertionFailure"),
    Case(
        "the prefix of device_print must be a string literal, got fp32[16]", "$tl.device_print(x)", AssertionError,
    ),
    Case(
        "the prefix of device_print must be printable ASCII, got 'é'", "$tl.device_print('é', x)", AssertionError,
    ),
    Case(
        "pack must divide the number of elements (16), got 3",
        "y = $tl.inline_asm_elementwise('', '=r,r', [i], tl.int32, True, 3)", ValueError,
    ),
    Case(
        "inline_asm_elementwise needs at least one output",
        "y = $tl.inline_asm_elementwise('', '=r,r', [i], (), True, 1)", ValueError,
    ),
    Case(
        "tl.range and tl.static_range can only be the iterator of a `for` loop", "y = $tl.range(0, 3)", RuntimeError,
    ),
    # Arguments of functions.
    Case("arange() missing 1 required positional argument: 'end'", "y = $tl.arange(16)", TypeError),
    Case("load() missing 1 required positional argument: 'pointer'", "y = $tl.load()", TypeError),
    Case("dot() missing 2 required positional arguments: 'input' and 'other'", "y = $tl.dot()", TypeError),
    Case("load() got an unexpected keyword argument 'maks'", "y = $tl.load(x_ptr, maks=None)", TypeError),
    Case("load() got multiple values for argument 'pointer'", "y = $tl.load(x_ptr, pointer=x_ptr)", TypeError),
    Case("exp() takes 1 positional argument but 2 were given", "y = $tl.exp(x, x)", TypeError),
    Case(
        "sum() takes from 1 to 4 positional arguments but 5 were given", "y = $tl.sum(x, 0, False, None, 1)", TypeError,
    ),
    # Python's own functions.
    Case("object of type 'tensor' has no len()", "y = $len(x)", TypeError),
    Case(
        "int() argument must be a string, a bytes-like object or a real number, not 'tensor'", "y = $int(n)", TypeError,
    ),
    Case("float() argument must be a string or a real number, not 'tensor'", "y = $float(n)", TypeError),
    Case("could not convert string to float: 'x'", "y = $float('x')", ValueError),
    Case("max expected at least 1 argument, got 0", "y = $max()", TypeError),
]  # fmt: skip
