"""`triton.tools.tensor_descriptor`: tensors that kernels access block by block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .._utils import canonicalize_dtype

__all__ = ["TensorDescriptor"]

_ALIGNMENT = 16  # bytes, of addresses and of strides


def _address(base):
    if hasattr(base, "data_ptr"):
        return base.data_ptr()
    interface = getattr(base, "__cuda_array_interface__", None) or base.__array_interface__
    return interface["data"][0]


def _item_size(base):
    return base.element_size() if hasattr(base, "element_size") else base.dtype.itemsize


@dataclass
class TensorDescriptor:
    """A tensor of up to five dimensions, of which a kernel loads and stores blocks of `block_shape`.

    `shape` and `strides` count elements; the last stride is 1. What lies outside the tensor reads as zero, or as NaN
    with `padding="nan"`.
    """

    base: Any
    shape: list[int]
    strides: list[int]
    block_shape: list[int]
    padding: str = "zero"
    round_f32_to_tf32: bool = False

    def __post_init__(self):
        rank = len(self.shape)
        assert rank == len(self.strides) == len(self.block_shape), f"rank mismatch: {self}"
        assert 1 <= rank <= 5, "rank must be between 1 and 5"
        # Tensors that only stand for others have no memory.
        if type(self.base).__name__ not in ("FakeTensor", "FunctionalTensor"):
            assert _address(self.base) % _ALIGNMENT == 0, "base must be 16-byte aligned"
        for extent in self.block_shape:
            assert extent > 0 and extent & (extent - 1) == 0, "block_shape must be powers of 2"
        size = _item_size(self.base)
        for stride in self.strides[:-1]:
            assert stride * size % _ALIGNMENT == 0, "strides must be 16-byte aligned"
        for extent in self.shape:
            assert extent > 0, "shape must be positive"
        assert self.strides[-1] == 1, "Last dimension must be contiguous"
        assert self.padding in ("zero", "nan"), "padding must be 'zero' or 'nan'"
        if self.padding == "nan":
            kind = canonicalize_dtype(self.base.dtype)
            assert kind.startswith(("fp", "bf")), "padding 'nan' needs a floating point tensor"

    @staticmethod
    def from_tensor(tensor, block_shape, padding="zero", round_f32_to_tf32=False):
        """With the shape and the strides of a tensor or array."""
        if callable(getattr(tensor, "stride", None)):
            strides = [*tensor.stride()]
        else:
            strides = [stride // tensor.dtype.itemsize for stride in tensor.strides]
        return TensorDescriptor(tensor, [*tensor.shape], strides, block_shape, padding, round_f32_to_tf32)
