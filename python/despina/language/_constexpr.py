"""`constexpr`: a value known when a kernel is compiled."""

from __future__ import annotations

import operator

__all__ = ["constexpr", "constexpr_type", "tensor", "tuple", "slice", "range", "static_range", "condition"]


def _unwrap(value):
    return value.value if isinstance(value, constexpr) else value


class constexpr_type:
    """The type of a `constexpr`."""

    __despina_path__ = "triton.language.constexpr_type"

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return isinstance(other, constexpr_type) and self.value == other.value

    def __hash__(self):
        return hash(self.value)

    def __repr__(self):
        return f"constexpr_type[{self.value}]"


class constexpr:
    """Wraps a value that is known when a kernel is compiled. As an annotation it marks such a parameter.

    Arithmetic and comparisons follow Python and give a `constexpr` again.
    """

    __despina_path__ = "triton.language.constexpr"

    def __init__(self, value):
        while isinstance(value, constexpr):
            value = value.value
        self.value = value

    @property
    def type(self):
        return constexpr_type(self.value)

    def __repr__(self):
        return f"constexpr[{self.value}]"

    def __hash__(self):
        return hash((self.value, type(self.value)))

    def __bool__(self):
        return bool(self.value)

    def __index__(self):
        return operator.index(self.value)

    def __int__(self):
        return int(self.value)

    def __float__(self):
        return float(self.value)

    def __len__(self):
        return len(self.value)

    def __iter__(self):
        return iter(self.value)

    def __call__(self, *args, **kwargs):
        return self.value(*args, **kwargs)

    def __getitem__(self, index):
        return constexpr(self.value[_unwrap(index)])

    def __pow__(self, other):
        return constexpr(self.value ** _unwrap(other))

    def __rpow__(self, other):
        return constexpr(_unwrap(other) ** self.value)

    def logical_and(self, other):
        return constexpr(self.value and _unwrap(other))

    def logical_or(self, other):
        return constexpr(self.value or _unwrap(other))

    def __not__(self):
        return constexpr(not self.value)


def _binary(function):
    def forward(self, other):
        return constexpr(function(self.value, _unwrap(other)))

    return forward


def _reflected(function):
    def reflected(self, other):
        return constexpr(function(_unwrap(other), self.value))

    return reflected


def _unary(function):
    def forward(self):
        return constexpr(function(self.value))

    return forward


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "and_", "or_", "xor", "lshift", "rshift"):
    _dunder = _name.strip("_")
    setattr(constexpr, f"__{_dunder}__", _binary(getattr(operator, _name)))
    setattr(constexpr, f"__r{_dunder}__", _reflected(getattr(operator, _name)))
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(constexpr, f"__{_name}__", _binary(getattr(operator, _name)))
for _name in ("neg", "pos", "invert"):
    setattr(constexpr, f"__{_name}__", _unary(getattr(operator, _name)))


class tensor:
    """A block of elements, or one element, inside a kernel. Only kernels make tensors."""

    __despina_path__ = "triton.language.tensor"

    def __init__(self, *args, **kwargs):
        raise RuntimeError("tensors exist only inside @triton.jit functions")


class tuple:  # noqa: A001 (the language's name)
    """A tuple of kernel values, as it looks from the host."""

    __despina_path__ = "triton.language.tuple"

    def __init__(self, args, type=None):
        self.values = list(args)

    def __getitem__(self, index):
        index = _unwrap(index)
        return tuple(self.values[index]) if isinstance(index, type(_ANY_SLICE)) else self.values[index]

    def __len__(self):
        return len(self.values)

    def __iter__(self):
        return iter(self.values)

    def __eq__(self, other):
        return isinstance(other, tuple) and self.values == other.values

    def __hash__(self):
        return hash((*self.values,))

    def __repr__(self):
        return f"({', '.join(map(repr, self.values))})"


_ANY_SLICE = slice(None)


class slice:  # noqa: A001 (the language's name)
    """A slice with bounds known at compile time."""

    __despina_path__ = "triton.language.slice"

    def __init__(self, start, stop=None, step=None):
        self.start, self.stop, self.step = start, stop, step


class _Iterator:
    def __iter__(self):
        raise RuntimeError(f"tl.{type(self).__name__} can only be used in @triton.jit'd functions")

    def __next__(self):
        raise RuntimeError(f"tl.{type(self).__name__} can only be used in @triton.jit'd functions")


class range(_Iterator):  # noqa: A001 (the language's name)
    """Iterates like Python's range, in a loop that the compiler keeps. The keywords are hints."""

    __despina_path__ = "triton.language.range"

    def __init__(
        self,
        arg1,
        arg2=None,
        step=None,
        num_stages=None,
        loop_unroll_factor=None,
        disallow_acc_multi_buffer=False,
        flatten=False,
        warp_specialize=False,
        disable_licm=False,
    ):
        self.start, self.end = (0, arg1) if arg2 is None else (arg1, arg2)
        self.step = 1 if step is None else step
        self.num_stages = num_stages
        self.loop_unroll_factor = loop_unroll_factor
        self.disallow_acc_multi_buffer = disallow_acc_multi_buffer
        self.flatten = flatten
        self.warp_specialize = warp_specialize
        self.disable_licm = disable_licm


class static_range(_Iterator):
    """Iterates over compile-time bounds; the body is repeated at compile time."""

    __despina_path__ = "triton.language.static_range"

    def __init__(self, arg1, arg2=None, step=None):
        self.start, self.end = (0, arg1) if arg2 is None else (arg1, arg2)
        self.step = 1 if step is None else step


class condition(_Iterator):
    """The condition of a `while` loop, with hints."""

    __despina_path__ = "triton.language.condition"

    def __init__(self, arg1, disable_licm=False):
        self.condition, self.disable_licm = arg1, disable_licm
