"""Tensor descriptors that the host makes."""

import ml_dtypes
import numpy as np
import pytest

from despina import _native
from despina.tools.tensor_descriptor import TensorDescriptor


def aligned(shape, dtype):
    """An array whose address is a multiple of 16."""
    raw = np.zeros(int(np.prod(shape)) * np.dtype(dtype).itemsize + 16, np.uint8)
    shift = -raw.ctypes.data % 16
    return raw[shift : raw.size - 16 + shift].view(dtype).reshape(shape)


def test_from_tensor():
    array = aligned((6, 4, 64), np.float16)
    descriptor = TensorDescriptor.from_tensor(array[::2], [1, 2, 32])
    assert descriptor.base is not None and descriptor.padding == "zero"
    assert (descriptor.shape, descriptor.strides) == ([3, 4, 64], [512, 64, 1])
    assert descriptor.block_shape == [1, 2, 32]
    descriptor.block_shape = [1, 4, 16]
    assert _native.describe_argument(descriptor) == "tensordesc<fp16[1, 4, 16]>"


@pytest.mark.parametrize(
    "dtype, text",
    [(np.float32, "fp32"), (np.int8, "i8"), (ml_dtypes.bfloat16, "bf16"), (ml_dtypes.float8_e5m2, "fp8e5")],
)
def test_signatures(dtype, text):
    array = aligned((64, 64), dtype)
    assert _native.describe_argument(TensorDescriptor.from_tensor(array, [16, 32])) == f"tensordesc<{text}[16, 32]>"
    if text.startswith(("fp", "bf")):
        padded = TensorDescriptor.from_tensor(array, [16, 32], padding="nan")
        assert _native.describe_argument(padded) == f"tensordesc<{text}[16, 32]>:nan"


def test_what_no_descriptor_can_be():
    array = aligned((8, 64), np.float32)

    def refused(text, base=array, shape=(8, 64), strides=(64, 1), block=(8, 16), padding="zero"):
        with pytest.raises(AssertionError, match=text):
            TensorDescriptor(base, [*shape], [*strides], [*block], padding)

    refused("rank mismatch", block=(16,))
    refused("rank must be between 1 and 5", shape=(), strides=(), block=())
    refused("base must be 16-byte aligned", base=array.reshape(-1)[1:])
    refused("block_shape must be powers of 2", block=(8, 24))
    refused("strides must be 16-byte aligned", strides=(63, 1))
    refused("shape must be positive", shape=(0, 64))
    refused("Last dimension must be contiguous", strides=(64, 2))
    refused("padding must be 'zero' or 'nan'", padding="one")
    refused("padding 'nan' needs a floating point tensor", base=aligned((8, 64), np.int32), padding="nan")


def test_descriptors_that_were_changed_badly():
    descriptor = TensorDescriptor.from_tensor(aligned((8, 64), np.float32), [8, 16])
    descriptor.shape = [8]
    with pytest.raises(ValueError, match="rank mismatch: shape of a tensor descriptor has too few elements"):
        _native.describe_argument(descriptor)
    descriptor.shape, descriptor.block_shape = [8, 64], [1] * 6
    with pytest.raises(ValueError, match="one to five dimensions"):
        _native.describe_argument(descriptor)
    descriptor.block_shape, descriptor.strides = [8, 16], [63, 1]
    with pytest.raises(ValueError, match="strides of a tensor descriptor must be 16-byte aligned"):
        _native.describe_argument(descriptor)
    descriptor.strides, descriptor.base = [64, 1], 5
    with pytest.raises(TypeError, match="its base is no tensor"):
        _native.describe_argument(descriptor)
