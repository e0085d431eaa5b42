"""Types, literals, promotion, operators and casts (sections 1.2 to 1.4 of the language)."""

from . import UNSUPPORTED, Case

SIGNEDNESS = (
    "because they have different signedness;this is unlikely to result in a useful answer. Cast them to the same "
    "signedness."
)

CASES = [
    # Types and shapes.
    Case(
        "Shape element 1 must have type `constexpr[int]`, got `constexpr[float]`",
        "y = $tl.zeros((16, 2.5), tl.float32)", TypeError,
    ),
    Case("Shape element 0 must have type `constexpr[int]`, got `int32`", "y = $tl.zeros((n,), tl.float32)", TypeError),
    Case("Shape element 0 must be a power of 2", "y = $tl.zeros((3, 4), tl.float32)", ValueError),
    Case(
        "numel (2097152) exceeds triton maximum tensor numel (1048576)",
        "y = $tl.zeros((2048, 1024), tl.float32)", ValueError,
    ),
    Case("0d block_type is forbidden", "y: tl.constexpr = $tl.block_type(tl.float32, ())", TypeError),
    Case("float33 is not the name of a dtype", "y: tl.constexpr = $tl.dtype('float33')", AssertionError),
    Case("fp32 is not an integer type", "y: tl.constexpr = $tl.float32.get_int_max_value()", AssertionError),
    Case("dtype must be a dtype, got 'float32'", "y = $tl.zeros((16,), 'float32')", TypeError),
    Case(
        "this type cannot be constructed in a kernel",
        "y = $tl.tensor(x, tl.float32)", TypeError,
    ),
    Case("AttributeError(\"'tensor' object has no attribute 'reduce_max'\")", "y = $x.reduce_max()"),
    Case("AttributeError(\"'dtype' object has no attribute 'width'\")", "y = $tl.float32.width"),
    Case("AttributeError(\"module 'triton.language' has no attribute 'foo'\")", "y = $tl.foo(x)"),
    # Literals.
    Case(
        "ValueError('Nonrepresentable integer 340282366920938463463374607431768211456.')",
        "y = $x + 340282366920938463463374607431768211456",
    ),
    Case("TypeError(\"cannot convert text of type <class 'str'> to tensor\")", "$y = 'text'"),
    Case("cannot convert None of type <class 'NoneType'> to tensor", "y = $tl.exp(None)", TypeError),
    # Promotion.
    Case(
        "TypeError('unexpected type fp8e5 and int32')",
        "y = $x.to(tl.float8e5) + i",
    ),
    Case(f"TypeError('Cannot use /, #, or % with int32 and uint32 {SIGNEDNESS}')", "y = $i / i.to(tl.uint32)"),
    Case(f"TypeError('Cannot use /, #, or % with int32 and uint32 {SIGNEDNESS}')", "y = $i // i.to(tl.uint32)"),
    Case(f"TypeError('Cannot use /, #, or % with uint8 and int64 {SIGNEDNESS}')",
         "y = $i.to(tl.uint8) % i.to(tl.int64)"),
    Case(
        "ValueError('Cannot perform a binary operation between an unsigned tensor and a negative scalar. Perform a "
        "explicit cast on one of them.')",
        "y = $i.to(tl.uint32) + (-1)",
    ),
    Case("ValueError('Scalar 1000 is out of range for type int8')", "y = $i.to(tl.int8) + 1000"),
    Case("ValueError('Scalar 65536 is out of range for type uint16')", "y = $65536 & i.to(tl.uint16)"),
    Case("TypeError('cannot add pointers together')", "y = $x_ptr + x_ptr"),
    Case(
        "TypeError('invalid operands of type pointer<fp32> and triton.language.float32')",
        "y = $x_ptr + 1.5",
    ),
    Case(
        "TypeError('invalid operands of type pointer<fp32> and triton.language.float32')",
        "y = $x_ptr - f",
    ),
    Case("TypeError('invalid operands of type pointer<int32> and triton.language.int32')", "y = $3 - i_ptr"),
    Case("TypeError('invalid operands of type pointer<fp32> and pointer<int32>')", "y = $x_ptr < i_ptr"),
    Case("TypeError('invalid operands of type pointer<fp32> and pointer<fp32>')", "y = $x_ptr == x_ptr"),
    Case("TypeError('invalid operands of type pointer<fp32> and triton.language.int32')", "y = $x_ptr * 2"),
    Case("TypeError('unexpected type fp32')", "y = $x // 2"),
    Case("TypeError('invalid operands of type triton.language.float32 and triton.language.int32')", "y = $x & 1"),
    Case("TypeError('invalid operands of type triton.language.int32 and triton.language.float32')", "y = $i << x"),
    Case("ValueError('wrong type argument to unary invert (triton.language.float32)')", "y = $~x"),
    Case("ValueError('wrong type argument to unary minus (pointer<fp32>)')", "y = $-x_ptr"),
    Case("AttributeError(\"'tensor' object has no attribute '__pow__'\")", "y = $x ** 2"),
    Case("AST binary operator 'MatMult' is not (currently) implemented.", "y = $x @ x", kind=UNSUPPORTED),
    Case(
        "AST unary operator '__neg__' is not (currently) implemented on type tuple", "y = $-(x, x)", kind=UNSUPPORTED,
    ),
    Case("TypeError(\"unsupported operand type(s) for -: 'tuple' and 'tuple'\")", "y = $(x, x) - (x, x)"),
    Case("TypeError(\"bad operand type for unary -: 'str'\")", "y: tl.constexpr = $-'text'"),
    Case("TypeError('can only concatenate str (not \"int\") to str')", "y: tl.constexpr = $'text' + 1"),
    Case("ZeroDivisionError('integer modulo by zero')", "y: tl.constexpr = $1 % 0"),
    Case("ValueError('negative shift count')", "y: tl.constexpr = $1 << -1"),
    Case("TypeError(\"'<' not supported between instances of 'int' and 'str'\")", "y: tl.constexpr = $1 < 'a'"),
    # Logic.
    Case("ValueError('Cannot bitcast data-type of size 32 to data-type of size 1')", "y = $n and f"),
    Case("ValueError('Cannot bitcast data-type of size 16 to data-type of size 1')", "y = $not n.to(tl.int16)"),
    # Broadcasting.
    Case(
        "ValueError('Cannot make_shape_compatible: incompatible dimensions at index 0: 16 and 32')",
        "y = $o + tl.arange(0, 32)",
    ),
    Case(
        "ValueError('Cannot make_shape_compatible: incompatible dimensions at index 1: 16 and 32')",
        "y = $o[:, None] * o[None, :] - tl.arange(0, 32)[None, :]",
    ),
    Case(
        "Cannot broadcast, rank mismatch: [16], [16, 16]",
        "y = $tl.broadcast_to(o, (16, 16))", ValueError,
    ),
    Case(
        "Cannot broadcast, the expanded size of the tensor (32) must match the existing size (16) at non-singleton "
        "dimension 0: [16], [32]",
        "y = $tl.broadcast_to(o, 32)", ValueError,
    ),
    Case(
        "ValueError('numel (4194304) exceeds triton maximum tensor numel (1048576)')",
        "y = $tl.arange(0, 2048)[:, None] + tl.arange(0, 2048)[None, :]",
    ),
    # Indices.
    Case("ValueError('unsupported tensor index: constexpr[3]')", "y = $o[3]"),
    Case("ValueError('unsupported tensor index: int32[16]')", "y = $x[o]"),
    Case("ValueError('unsupported tensor index: slice(0, 8, None)')", "y = $x[0:8]"),
    Case("IndexError('tuple index out of range')", "y = $(x, i)[2]"),
    Case("TypeError('tuple indices must be integers or slices, not tensor')", "y = $(x, i)[n]"),
    Case("TypeError(\"'dtype' object is not subscriptable\")", "y = $tl.float32[0]"),
    # Casts.
    Case("Cannot bitcast data-type of size 32 to data-type of size 8", "y = $x.to(tl.int8, bitcast=True)", ValueError),
    Case(
        "Invalid rounding mode: up. Supported rounding modes are 'rtne' and 'rtz'.",
        "y = $x.to(tl.float16, fp_downcast_rounding='up')", ValueError,
    ),
    Case(
        "fp_downcast_rounding should be set only for truncating fp conversions. Source scalar type is fp32 and "
        "destination type is fp64",
        "y = $x.to(tl.float64, fp_downcast_rounding='rtz')", ValueError,
    ),
    Case(
        "fp_downcast_rounding should be set only for truncating fp conversions. Source scalar type is int32 and "
        "destination type is fp32",
        "y = $tl.cast(i, tl.float32, fp_downcast_rounding='rtne')", ValueError,
    ),
    Case("cannot cast int32[16] to <[16], fp8e5>", "y = $i.to(tl.float8e5)", AssertionError),
    Case("cannot cast fp8e5[16] to <[16], int32>", "y = $x.to(tl.float8e5).to(tl.int32)", AssertionError),
    Case("cannot cast pointer<fp32> to int32", "y = $x_ptr.to(tl.int32)", AssertionError),
    Case("cannot cast fp32 to pointer<fp32>", "y = $f.to(tl.pointer_type(tl.float32))", AssertionError),
    Case("cannot cast fp32 to void", "y = $f.to(tl.void)", AssertionError),
    # Constants, tuples.
    Case("constexpr needs a value known at compile time, got int32", "y = $tl.constexpr(n)", TypeError),
    Case("TypeError('cannot unpack non-iterable tensor object')", "$a, b = x"),
    Case("ValueError('not enough values to unpack (expected 3, got 2)')", "$a, b, c = (x, i)"),
    Case("ValueError('too many values to unpack (expected 2)')", "$a, b = (x, i, o)"),
    Case("AttributeError(\"'tuple' object has no attribute 'left'\")", "y = $(x, i).left"),
    Case("TypeError('cannot compare tuples of run-time values at compile time')", "y = $(x, i) == (i, x)"),
]  # fmt: skip
