"""Controls the stand-in for CUDA's driver (unittests/Target/NVPTX/Stub/StubCUDA.cpp): two devices on which nothing
runs, and a record of the calls."""

from __future__ import annotations

import ctypes
import os
import re
import struct
import sys
import types

import numpy as np

from despina import _native


class StubCUDA:
    def __init__(self):
        self._library = ctypes.CDLL(os.environ["DESPINA_LIBCUDA_PATH"])
        self._library.stubCalls.restype = ctypes.c_char_p

    def reset(self):
        self._library.stubReset()

    def fail(self, function, code):
        """Lets a function of CUDA answer with an error from now on; 0 ends that."""
        self._library.stubFail(function.encode(), code)

    def expect_parameters(self, sizes):
        """The sizes of the parameters of the next launches, for the record."""
        self._library.stubParameters((ctypes.c_size_t * len(sizes))(*sizes), len(sizes))

    def calls(self, name=None):
        lines = self._library.stubCalls().decode(errors="replace").splitlines()
        return [line for line in lines if name is None or line.split(" ")[0] == name]

    def launches(self):
        return [Launch(line) for line in self.calls("cuLaunchKernelEx")]

    def only_launch(self):
        (launch,) = self.launches()
        return launch


class Launch:
    """One recorded launch."""

    def __init__(self, line):
        numbers = {key: value for key, value in re.findall(r"(grid|block|shared|stream|context) (\S+)", line)}
        self.grid = tuple(map(int, numbers["grid"].split(",")))
        self.block = tuple(map(int, numbers["block"].split(",")))
        self.shared, self.stream, self.device = (int(numbers[key]) for key in ("shared", "stream", "context"))
        self.parameters = [bytes.fromhex(text) for text in re.findall(r" p\d+=([0-9a-f]*)", line)]
        self.attributes = {
            int(key): tuple(map(int, v.split(","))) for key, v in re.findall(r"\[(\d+):([-\d,]+)\]", line)
        }

    def values(self, formats):
        """The parameters read as `struct` formats say."""
        return [struct.unpack("<" + f, data)[0] for f, data in zip(formats, self.parameters)]


class Tensor:
    """Memory of a device, with the methods of torch's tensors that a launch looks at."""

    def __init__(self, count, dtype, device=0):
        self.dtype, self.shape = np.dtype(dtype), (count,)
        self._memory = _native.cuda_allocate(device, max(count * self.dtype.itemsize, 1))
        self._device = device

    is_cpu, is_cuda = False, True

    def data_ptr(self):
        return self._memory.address

    def get_device(self):
        return self._device


class InterfaceArray:
    """Memory of a device, as CuPy, Numba and others show it."""

    def __init__(self, count, dtype, device=0):
        self.shape = (count,)
        dtype = np.dtype(dtype)
        self._memory = _native.cuda_allocate(device, count * dtype.itemsize)
        self.__cuda_array_interface__ = {
            "shape": (count,), "typestr": dtype.str, "data": (self._memory.address, False), "version": 3,
        }  # fmt: skip


class FakeTorch:
    """Stands in for the one function of torch that a launch calls: the current stream of a device."""

    streams = {}

    @classmethod
    def install(cls):
        module = types.ModuleType("torch._C")
        module._cuda_getCurrentRawStream = lambda device: cls.streams.get(device, 0)
        sys.modules.setdefault("torch._C", module)
