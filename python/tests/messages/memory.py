"""Loads, stores, block pointers, tensor descriptors and atomics (sections 1.8 and 1.9)."""

from . import Case

BLOCK = "p = tl.make_block_ptr(x_ptr, (64,), (1,), (0,), (16,), (0,))\n"
INTEGERS = "p = tl.make_block_ptr(i_ptr, (64,), (1,), (0,), (16,), (0,))\n"
DESCRIPTOR = "d = tl.make_tensor_descriptor(x_ptr, (8, 8), (8, 1), (1, 8))\n"
PLAIN = "is not supported for loading a tensor of pointers or loading a scalar"
NARROW = (
    "Tensor descriptors only support 32 bit offsets, add a `.to(tl.int32)` or use regular indexing for 64 bit support"
)
CAST = "cast the operand, or use tl.full((), value, dtype)"

CASES = [
    # Loads and stores.
    Case(
        "Mask argument cannot be block type if pointer argument is not a block",
        "y = $tl.load(x_ptr, mask=o < 3)", ValueError,
    ),
    Case(
        "Other argument cannot be block type if pointer argument is not a block",
        "y = $tl.load(x_ptr, mask=True, other=x)", ValueError,
    ),
    Case("`other` cannot be provided without `mask`", "y = $tl.load(x_ptr + o, other=0)", ValueError),
    Case("Unsupported ptr type int in `tl.load`", "y = $tl.load(5)", ValueError),
    Case("Unsupported ptr type <[16], fp32> in `tl.load`", "y = $tl.load(x)", ValueError),
    Case("Unsupported ptr type triton.language.int32 in `tl.store`", "$tl.store(n, 1)", ValueError),
    Case(
        f"`padding_option` or `boundary_check` argument {PLAIN}",
        "y = $tl.load(x_ptr + o, boundary_check=(0,))", ValueError,
    ),
    Case(
        "`boundary_check` argument is not supported for storing a tensor of pointers or storing a scalar",
        "$tl.store(x_ptr + o, x, boundary_check=(0,))", ValueError,
    ),
    Case("Cache modifier .wb not supported", "y = $tl.load(x_ptr + o, cache_modifier='.wb')", ValueError),
    Case("Cache modifier .ca not supported", "$tl.store(x_ptr + o, x, cache_modifier='.ca')", ValueError),
    Case("Eviction policy soon not supported", "y = $tl.load(x_ptr + o, eviction_policy='soon')", ValueError),
    Case("Mask must have boolean scalar type", "y = $tl.load(x_ptr + o, mask=i)", ValueError),
    Case("Mask must have boolean scalar type", "$tl.store(x_ptr + o, x, mask=i)", ValueError),
    Case(
        "Value argument cannot be block type if pointer argument is not a block", "$tl.store(x_ptr, o)", ValueError,
    ),
    Case(
        "Mask argument cannot be block type if pointer argument is not a block",
        "$tl.store(x_ptr, 1.0, mask=o < 3)", ValueError,
    ),
    Case(
        "Expected pointer argument to have shape [16, 16] but got [16, 1]",
        "$tl.store(x_ptr + o[:, None], o[:, None] + o[None, :])", ValueError,
    ),
    Case("Cannot store to a constant pointer", "$tl.store(p, 1.0)", ValueError, parameters="p: tl.const, i_ptr"),
    Case(
        "Cannot store to a constant pointer", "$tl.atomic_add(p, 1.0)", ValueError, parameters="p: tl.const, i_ptr",
    ),
    Case("cache_modifier must be a constexpr string, got 5", "y = $tl.load(x_ptr, cache_modifier=5)", TypeError),
    # Block pointers.
    Case(
        "Expected `base` to be a pointer type (but not a block pointer type or others)",
        "p = $tl.make_block_ptr(x_ptr + o, (64,), (1,), (0,), (16,), (0,))", ValueError,
    ),
    Case(
        "Expected shape/strides/offsets/block_shape to have the same length",
        "p = $tl.make_block_ptr(x_ptr, (64, 64), (1,), (0,), (16,), (0,))", ValueError,
    ),
    Case(
        "Expected `offsets` to be integer scalars, got fp32",
        "p = $tl.make_block_ptr(x_ptr, (64,), (1,), (f,), (16,), (0,))", ValueError,
    ),
    Case(
        "Expected a permutation of (0, 1, ..., len(order)-1) in order",
        "p = $tl.make_block_ptr(x_ptr, (64,), (1,), (0,), (16,), (1,))", ValueError,
    ),
    Case(
        "`mask` and `other` arguments cannot be specified for loading block pointers",
        BLOCK + "y = $tl.load(p, mask=o < 3)", ValueError,
    ),
    Case(
        "`mask` argument cannot be specified for storing to block pointers",
        BLOCK + "$tl.store(p, x, mask=o < 3)", ValueError,
    ),
    Case("Padding option one not supported", BLOCK + "y = $tl.load(p, padding_option='one')", ValueError),
    Case(
        "Padding option `nan` is not supported for integer block pointers",
        INTEGERS + "y = $tl.load(p, boundary_check=(0,), padding_option='nan')", ValueError,
    ),
    Case(
        "boundary_check must be in range [0, 1), got 1", BLOCK + "y = $tl.load(p, boundary_check=(1,))", ValueError,
    ),
    Case(
        "Duplicate dimension in `boundary_check`", BLOCK + "y = $tl.load(p, boundary_check=(0, 0))", ValueError,
    ),
    Case(
        "The result of tl.advance is not being used. Note that tl.advance does not have any side effects. To use its "
        "result, you need to assign the result of tl.advance to a variable.",
        BLOCK + "$tl.advance(p, (16,))",
    ),
    # Tensor descriptors.
    Case(
        "Expected 1 <= ndim <= 5 but got 6 dimensions",
        "d = $tl.make_tensor_descriptor(x_ptr, [1] * 6, [1] * 6, [1] * 6)", ValueError,
    ),
    Case(
        "Expected 2 strides but got 1",
        "d = $tl.make_tensor_descriptor(x_ptr, (8, 8), (1,), (8, 8))", ValueError,
    ),
    Case(
        "Expected block_shape to have 2 dimensions but got 1",
        "d = $tl.make_tensor_descriptor(x_ptr, (8, 8), (8, 1), (8,))", ValueError,
    ),
    Case(
        "Tensor descriptor last dim must be 1 but got 8",
        "d = $tl.make_tensor_descriptor(x_ptr, (8, 8), (1, 8), (8, 8))", ValueError,
    ),
    Case(
        "Expected `base` to be a pointer to numbers, got <[16], fp32>",
        "d = $tl.make_tensor_descriptor(x, (8, 8), (8, 1), (8, 8))", ValueError,
    ),
    Case(
        "Padding option `nan` is not supported for integer blocks",
        "d = $tl.make_tensor_descriptor(i_ptr, (8, 8), (8, 1), (8, 8), padding_option='nan')", ValueError,
    ),
    Case(NARROW, DESCRIPTOR + "y = $d.load([n.to(tl.int64), 0])", AssertionError),
    Case("expected 2 offsets, but got 1", DESCRIPTOR + "y = $d.load([n])", AssertionError),
    Case(
        "expected a block of shape [1, 8], but got fp32[16]", DESCRIPTOR + "$d.store([0, 0], x)", AssertionError,
    ),
    Case(
        "Expected a tensor descriptor, got pointer<fp32>", "y = $tl.load_tensor_descriptor(x_ptr, [0])", TypeError,
    ),
    Case(
        "Unsupported dtype", DESCRIPTOR + "$d.atomic_xor([0, 0], tl.zeros((1, 8), tl.float32))", AssertionError,
    ),
    Case(
        "descriptor must be 2D, but got [16]",
        "d = tl.make_tensor_descriptor(x_ptr, (64,), (1,), (16,))\ny = $d.gather(o, 0)", AssertionError,
    ),
    Case(
        "descriptor block must have 1 row, but got [8, 8]",
        "d = tl.make_tensor_descriptor(x_ptr, (8, 8), (8, 1), (8, 8))\ny = $d.gather(o, 0)", AssertionError,
    ),
    Case("x offsets must be 1D, but got [16, 1]", DESCRIPTOR + "y = $d.gather(o[:, None], 0)", AssertionError),
    Case(
        "x offsets must be int32 or int16, but got int64",
        DESCRIPTOR + "y = $d.gather(o.to(tl.int64), 0)", AssertionError,
    ),
    Case(
        "descriptor gather must have at least 8 rows, but got [4]",
        DESCRIPTOR + "y = $d.gather(tl.arange(0, 4), 0)", AssertionError,
    ),
    Case(
        "descriptor scatter of fp32 must have at least 8 columns, but got 4",
        "d = tl.make_tensor_descriptor(x_ptr, (8, 8), (8, 1), (1, 4))\n"
        "$d.scatter(tl.zeros((16, 4), tl.float32), o, 0)", AssertionError,
    ),
    # Atomics.
    Case("Memory semantic strong not supported", "y = $tl.atomic_add(x_ptr + o, x, sem='strong')", ValueError),
    Case("Memory semantic world not supported", "y = $tl.atomic_add(x_ptr + o, x, scope='world')", ValueError),
    Case(
        "atomic_add does not support int8",
        "y = $tl.atomic_add(i_ptr.to(tl.pointer_type(tl.int8)), 1)", ValueError,
    ),
    Case(
        "atomic_xchg does not support uint16",
        "y = $tl.atomic_xchg(i_ptr.to(tl.pointer_type(tl.uint16)), 1)", ValueError,
    ),
    Case(
        "atomic_max does not support fp16",
        "y = $tl.atomic_max(i_ptr.to(tl.pointer_type(tl.float16)), 1.0)", ValueError,
    ),
    Case("atomic_and does not support fp32", "y = $tl.atomic_and(x_ptr, 1)", ValueError),
    Case(
        "Pointer argument of atomic_or is triton.language.int32, not a pointer",
        "y = $tl.atomic_or(n, 1)", ValueError,
    ),
    Case("Mask must have boolean scalar type", "y = $tl.atomic_add(x_ptr + o, x, mask=i)", ValueError),
    Case(
        "Value argument cannot be block type if pointer argument is not a block",
        "y = $tl.atomic_add(x_ptr, x)", ValueError,
    ),
    Case(
        "Expected pointer argument to have shape [16, 16] but got [16, 1]",
        "y = $tl.atomic_add(x_ptr + o[:, None], o[:, None] + o[None, :])", ValueError,
    ),
    Case(
        "atomic_cas only supports elements with width {16, 32, 64}",
        "y = $tl.atomic_cas(i_ptr.to(tl.pointer_type(tl.int8)), 0, 1)", ValueError,
    ),
    Case(
        "atomic_cas does not convert: `cmp` and `val` must have the pointer's element type fp32, got int32",
        "y = $tl.atomic_cas(x_ptr, 0, 1)", ValueError,
    ),
    Case(
        "atomic_cas does not broadcast: `cmp` and `val` must have the pointer's shape [16], got []",
        "y = $tl.atomic_cas(i_ptr + o, 0, 1)", ValueError,
    ),
]  # fmt: skip
