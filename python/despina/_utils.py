"""Small helpers that third-party code imports too."""

from __future__ import annotations

_CANONICAL = {
    "bool": "u1", "int1": "u1", "uint1": "u1", "i1": "u1", "u1": "u1",
    "float8_e4m3fn": "fp8e4nv", "e4m3": "fp8e4nv", "e4m3fn": "fp8e4nv", "float8e4nv": "fp8e4nv",
    "float8_e4m3fnuz": "fp8e4b8", "float8e4b8": "fp8e4b8",
    "float8_e5m2": "fp8e5", "float8e5": "fp8e5",
    "float8_e5m2fnuz": "fp8e5b16", "float8e5b16": "fp8e5b16",
    "float8e4b15": "fp8e4b15",
    "half": "fp16", "float16": "fp16", "bfloat16": "bf16",
    "float": "fp32", "float32": "fp32", "double": "fp64", "float64": "fp64",
    "int8": "i8", "int16": "i16", "int": "i32", "int32": "i32", "int64": "i64",
    "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64", "void": "void",
}  # fmt: skip
for _signature in [*_CANONICAL.values()]:
    _CANONICAL[_signature] = _signature


def canonicalize_dtype(dtype):
    """The signature form of a dtype of any library: "torch.float16" and np.dtype("float16") give "fp16"."""
    return _CANONICAL[str(dtype).split(".")[-1]]


def type_of_annotation(annotation):
    """(signature form of the type that an annotation forces, or None; whether it marks a const pointer)."""
    python_types = {int: "i32", float: "fp32", bool: "u1"}
    if isinstance(annotation, type) and annotation in python_types:
        return python_types[annotation], False
    if getattr(annotation, "__despina_path__", None) == "triton.language.const":
        return None, True
    text = annotation if isinstance(annotation, str) else str(annotation)
    is_const = "const" in text and "constexpr" not in text
    text = text.strip().split(".")[-1]
    if text.startswith("*"):
        # An address given as an integer becomes a pointer.
        star = "*k" if text.startswith("*k") else "*"
        pointee = _CANONICAL.get(text[len(star) :])
        return (f"{star}{pointee}" if pointee else None), star == "*k"
    if text in ("int", "float", "bool"):
        return {"int": "i32", "float": "fp32", "bool": "u1"}[text], is_const
    signature = _CANONICAL.get(text)
    return (None if signature == "void" else signature), is_const
