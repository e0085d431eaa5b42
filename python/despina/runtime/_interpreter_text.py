"""Values of interpreted kernels as text and as NumPy arrays."""

from __future__ import annotations

_NUMPY = {
    "i1": "bool", "u1": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
    "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
    "fp16": "float16", "fp32": "float32", "fp64": "float64",
}  # fmt: skip
_ML_DTYPES = {
    "bf16": "bfloat16", "fp8e4nv": "float8_e4m3fn", "fp8e5": "float8_e5m2",
    "fp8e4b8": "float8_e4m3fnuz", "fp8e5b16": "float8_e5m2fnuz",
}  # fmt: skip


def to_numpy(value):
    """The elements of a tensor. Narrow floats need ml_dtypes; without it, and for pointers, they are integers."""
    import numpy

    kind, _, scalar, shape, _ = value._describe()
    assert kind == "tensor"
    elements = value._elements()
    if scalar.startswith("*"):
        dtype = numpy.dtype("uint64")
    elif scalar in _NUMPY:
        dtype = numpy.dtype(_NUMPY[scalar])
    else:
        try:
            import ml_dtypes

            dtype = numpy.dtype(getattr(ml_dtypes, _ML_DTYPES[scalar]))
        except (ImportError, KeyError):
            dtype = numpy.dtype("uint16" if scalar == "bf16" else "uint8")
    return numpy.frombuffer(elements, dtype).reshape(shape)


def text(value):
    """`repr` of a value: its type, and the elements of a tensor."""
    kind, type, _, shape, description = value._describe()
    if kind != "tensor":
        return description
    array = to_numpy(value)
    if not shape:
        return f"tensor({type}, {array[()]})"
    import numpy

    elements = numpy.array2string(array, separator=", ", prefix="tensor(" + type + ", ")
    return f"tensor({type}, {elements})"
