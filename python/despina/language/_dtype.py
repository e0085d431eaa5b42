"""Element types, pointer types and block types as host objects."""

from __future__ import annotations

import enum

__all__ = ["dtype", "pointer_type", "block_type", "tuple_type", "const", "PropagateNan", "TRITON_MAX_TENSOR_NUMEL"]

TRITON_MAX_TENSOR_NUMEL = 1048576

# name: (signature form, bits, mantissa width, exponent bias); integers have no mantissa.
_FLOATS = {
    "fp8e4b15": (8, 3, 15),
    "fp8e4nv": (8, 3, 7),
    "fp8e4b8": (8, 3, 8),
    "fp8e5": (8, 2, 15),
    "fp8e5b16": (8, 2, 16),
    "fp16": (16, 10, 15),
    "bf16": (16, 7, 127),
    "fp32": (32, 23, 127),
    "fp64": (64, 52, 1023),
}
_SIGNED = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}
_UNSIGNED = {"int1": 1, "uint8": 8, "uint16": 16, "uint32": 32, "uint64": 64}

# What `repr` prints after "triton.language.".
_PUBLIC_NAMES = {
    "fp8e4b15": "float8e4b15",
    "fp8e4nv": "float8e4nv",
    "fp8e4b8": "float8e4b8",
    "fp8e5": "float8e5",
    "fp8e5b16": "float8e5b16",
    "fp16": "float16",
    "bf16": "bfloat16",
    "fp32": "float32",
    "fp64": "float64",
}


class const:
    """Annotation of a pointer parameter that the kernel only reads."""

    __despina_path__ = "triton.language.const"


class PropagateNan(enum.Enum):
    """What minimum, maximum and clamp do with a NaN."""

    NONE = 0
    ALL = 0xFFFF

    @property
    def __despina_path__(self):
        return f"triton.language.PropagateNan.{self.name}"


class dtype:
    """An element type of the language, such as `float32`."""

    __despina_path__ = "triton.language.dtype"

    SINT_TYPES = list(_SIGNED)
    UINT_TYPES = list(_UNSIGNED)
    FP_TYPES = list(_FLOATS)
    STANDARD_FP_TYPES = ["fp16", "bf16", "fp32", "fp64"]
    OTHER_TYPES = ["void"]

    class SIGNEDNESS(enum.Enum):
        SIGNED = 0
        UNSIGNED = 1

    class KIND(enum.Enum):
        BOOLEAN = 0
        INTEGRAL = 1
        FLOATING = 2

    def __init__(self, name):
        name = getattr(name, "value", name)
        assert self.is_dtype(name), f"{name!r} is no type of the language"
        self.name = name
        if name in _FLOATS:
            self.primitive_bitwidth, self.fp_mantissa_width, self.exponent_bias = _FLOATS[name]
            self.int_signedness = None
        elif name in _SIGNED:
            self.int_signedness = dtype.SIGNEDNESS.SIGNED
            self.int_bitwidth = self.primitive_bitwidth = _SIGNED[name]
        elif name in _UNSIGNED:
            self.int_signedness = dtype.SIGNEDNESS.UNSIGNED
            self.int_bitwidth = self.primitive_bitwidth = _UNSIGNED[name]
        else:
            self.primitive_bitwidth = 0
            self.int_signedness = None
        self.itemsize = (self.primitive_bitwidth + 7) // 8

    @property
    def _signature(self):
        """The form of signatures: "i32", "u1", "fp32"."""
        if self.name in _FLOATS or self.name == "void":
            return self.name
        if self.name == "int1":
            return "u1"
        return self.name.replace("uint", "u").replace("int", "i")

    @staticmethod
    def is_dtype(type_str):
        """True for the name of a type, such as "fp32"."""
        return type_str in _FLOATS or type_str in _SIGNED or type_str in _UNSIGNED or type_str == "void"

    @staticmethod
    def is_void():
        raise RuntimeError("Not implemented")

    @staticmethod
    def is_block():
        return False

    @staticmethod
    def is_ptr():
        return False

    @staticmethod
    def is_const():
        return False

    def is_fp8(self):
        return self.name.startswith("fp8")

    def is_floating(self):
        return self.name in _FLOATS

    def is_standard_floating(self):
        return self.name in dtype.STANDARD_FP_TYPES

    def is_int_signed(self):
        return self.name in _SIGNED

    def is_int_unsigned(self):
        return self.name in _UNSIGNED

    def is_int(self):
        return self.name in _SIGNED or self.name in _UNSIGNED

    def is_bool(self):
        return self.is_int1()

    def kind(self):
        """Boolean, integral or floating: the order in which kinds promote."""
        if self.is_bool():
            return dtype.KIND.BOOLEAN
        if self.is_int():
            return dtype.KIND.INTEGRAL
        return dtype.KIND.FLOATING

    def get_int_max_value(self):
        if self.is_int_signed():
            return 2 ** (self.int_bitwidth - 1) - 1
        if self.is_int_unsigned():
            return 2**self.int_bitwidth - 1
        raise AssertionError(f"{self} is no integer type")

    def get_int_min_value(self):
        if self.is_int_signed():
            return -(2 ** (self.int_bitwidth - 1))
        if self.is_int_unsigned():
            return 0
        raise AssertionError(f"{self} is no integer type")

    @property
    def scalar(self):
        return self

    @property
    def shape(self):
        return ()

    @property
    def cache_key_part(self):
        return self.name

    def mangle(self):
        return self._signature

    def codegen_name(self):
        return self.name

    def __eq__(self, other):
        other = getattr(other, "value", other)
        if type(other) is not type(self):
            return False
        return self.name == other.name

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash((self.name,))

    def __str__(self):
        return self.name

    def __repr__(self):
        return f"triton.language.{_PUBLIC_NAMES.get(self.name, self.name)}"

    def __reduce__(self):
        return type(self), (self.name,)


class pointer_type(dtype):
    """A pointer to elements of one type."""

    __despina_path__ = "triton.language.pointer_type"

    def __init__(self, element_ty, address_space=1, const=False):
        element_ty = getattr(element_ty, "value", element_ty)
        if not isinstance(element_ty, dtype):
            raise TypeError(f"element_ty has type `{type(element_ty).__name__}`; expected `dtype`.")
        self.element_ty = element_ty
        self.address_space = address_space
        self.const = const
        self.name = f"const_pointer<{element_ty}>" if const else f"pointer<{element_ty}>"
        self.primitive_bitwidth = 64
        self.itemsize = 8
        self.int_signedness = None

    @property
    def _signature(self):
        return ("*k" if self.const else "*") + self.element_ty._signature

    def is_ptr(self):
        return True

    def is_const(self):
        return self.const

    def kind(self):
        raise AssertionError(f"a {self} is neither a boolean, an integer nor a float")

    def __eq__(self, other):
        other = getattr(other, "value", other)
        return (
            isinstance(other, pointer_type)
            and self.element_ty == other.element_ty
            and self.address_space == other.address_space
            and self.const == other.const
        )

    def __hash__(self):
        return hash((self.name, self.address_space))

    def __repr__(self):
        return f"triton.language.pointer_type({self.element_ty!r}, {self.address_space}, {self.const})"

    def __reduce__(self):
        return pointer_type, (self.element_ty, self.address_space, self.const)


class tuple_type:
    """The type of a tuple: those of its elements, and their names in a named tuple."""

    __despina_path__ = "triton.language.tuple_type"

    def __init__(self, types, fields=None):
        self.types = list(types)
        self.fields = list(fields) if fields else None
        names = [f"{field}:{kind}" for field, kind in zip(self.fields, self.types)] if self.fields else self.types
        self.name = "[" + ",".join(map(str, names)) + "]"

    def __str__(self):
        return self.name

    def __repr__(self):
        return f"triton.language.tuple_type({self.types!r}, {self.fields!r})"

    def __iter__(self):
        return iter(self.types)

    def __getitem__(self, index):
        return self.types[getattr(index, "value", index)]

    def __eq__(self, other):
        return isinstance(other, tuple_type) and self.types == other.types and self.fields == other.fields

    def __hash__(self):
        return hash(self.name)


class block_type(dtype):
    """A block of elements: a shape of powers of two and an element type."""

    __despina_path__ = "triton.language.block_type"

    def __init__(self, element_ty, shape):
        self.element_ty = getattr(element_ty, "value", element_ty)
        if not shape:
            raise TypeError("0d block_type is forbidden")
        extents = [getattr(extent, "value", extent) for extent in shape]
        numel = 1
        for i, extent in enumerate(extents):
            if not isinstance(extent, int):
                raise TypeError(f"Shape element {i} must have type `constexpr[int]`, got `{type(extent).__name__}`")
            if extent <= 0 or extent & (extent - 1):
                raise ValueError(f"Shape element {i} must be a power of 2")
            numel *= extent
        if numel > TRITON_MAX_TENSOR_NUMEL:
            raise ValueError(f"numel ({numel}) exceeds triton maximum tensor numel ({TRITON_MAX_TENSOR_NUMEL})")
        self.shape_ = tuple(extents)
        self.numel = numel
        self.name = f"<{extents}, {self.element_ty}>"
        self.primitive_bitwidth = self.element_ty.primitive_bitwidth
        self.itemsize = self.element_ty.itemsize
        self.int_signedness = None

    @property
    def shape(self):
        return self.shape_

    @property
    def scalar(self):
        return self.element_ty

    @property
    def nbytes(self):
        return self.numel * (self.element_ty.primitive_bitwidth // 8)

    @property
    def _signature(self):
        return None

    def is_block(self):
        return True

    def is_int(self):
        return self.element_ty.is_int()

    def is_floating(self):
        return self.element_ty.is_floating()

    def get_block_shapes(self):
        return self.shape_

    def with_element_ty(self, scalar_ty):
        return block_type(scalar_ty, self.shape_)

    def mangle(self):
        return self.element_ty.mangle() + "S" + "_".join(map(str, self.shape_)) + "S"

    def __eq__(self, other):
        return isinstance(other, block_type) and self.element_ty == other.element_ty and self.shape_ == other.shape_

    def __hash__(self):
        return hash((self.name,))

    def __repr__(self):
        return f"triton.language.block_type({self.element_ty!r}, {list(self.shape_)})"

    def __reduce__(self):
        return block_type, (self.element_ty, self.shape_)


def _add_tests():
    """`is_fp32()`, `is_int8()`, `is_fp8e4nv()`... answer whether it is that type."""
    for name in (*_FLOATS, *_SIGNED, *_UNSIGNED):

        def test(self, name=name):
            return self.name == name

        test.__name__ = f"is_{name}"
        test.__doc__ = f"True for {name}."
        setattr(dtype, test.__name__, test)


_add_tests()

void = dtype("void")
SCALARS = {_PUBLIC_NAMES.get(name, name): dtype(name) for name in (*_UNSIGNED, *_SIGNED, *_FLOATS)}
globals().update(SCALARS)
_BY_SIGNATURE = {scalar._signature: scalar for scalar in SCALARS.values()} | {"i1": SCALARS["int1"], "void": void}
__all__ += ["void", *SCALARS]


def from_signature(text):
    """The type that a signature string such as "*fp32" or "i64" stands for."""
    if text.startswith("*k"):
        return pointer_type(from_signature(text[2:]), const=True)
    if text.startswith("*"):
        return pointer_type(from_signature(text[1:]))
    try:
        return _BY_SIGNATURE[text]
    except KeyError:
        raise ValueError(f"{text!r} is no type signature") from None


pi32_t = pointer_type(SCALARS["int32"])
__all__.append("pi32_t")


def get_int_dtype(bitwidth, signed):
    """The integer type of a width and signedness."""
    bitwidth = getattr(bitwidth, "value", bitwidth)
    signed = getattr(signed, "value", signed)
    if bitwidth == 1:
        return SCALARS["int1"]
    name = f"int{bitwidth}" if signed else f"uint{bitwidth}"
    if name not in SCALARS:
        raise ValueError(f"Unsupported bitwidth {bitwidth} and signedness {signed}")
    return SCALARS[name]


get_int_dtype.__despina_path__ = "triton.language.core.get_int_dtype"
