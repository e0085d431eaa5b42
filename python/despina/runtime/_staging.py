"""Memory of a launch's arguments, for the interpreter: where it lies, and copies of what lies on a device."""

from __future__ import annotations

import sys


class _Copy:
    """The host's copy of a piece of a device's memory."""

    def __init__(self, begin, size):
        self.begin, self.end = begin, begin + size
        self.host = None

    def holds(self, address):
        return self.begin <= address <= self.end


class _TorchCopy(_Copy):
    def __init__(self, torch, storage, device):
        super().__init__(storage.data_ptr(), storage.nbytes())
        self.device_bytes = torch.empty(0, dtype=torch.uint8, device=device).set_(storage)
        self.host_bytes = self.device_bytes.cpu()
        self.host = self.host_bytes.data_ptr()

    def write_back(self):
        self.device_bytes.copy_(self.host_bytes)


class _CuPyCopy(_Copy):
    def __init__(self, cupy, memory):
        super().__init__(memory.ptr, memory.size)
        pointer = cupy.cuda.MemoryPointer(memory, 0)
        self.device_bytes = cupy.ndarray((memory.size,), dtype=cupy.uint8, memptr=pointer)
        self.host_bytes = cupy.asnumpy(self.device_bytes)
        self.host = self.host_bytes.ctypes.data

    def write_back(self):
        self.device_bytes.set(self.host_bytes)


def _root(array):
    """The array that owns the memory, as far as NumPy knows."""
    numpy = sys.modules["numpy"]
    while isinstance(array.base, numpy.ndarray):
        array = array.base
    return array


def _numpy_bounds(array):
    numpy = sys.modules["numpy"]
    return getattr(numpy.lib, "array_utils", numpy).byte_bounds(array)


class Staging:
    """Walks over the bound arguments. `host_regions` are (begin, end, name) of the memory that a launch may use: all of
    the arrays that own it, or with `exact` what the arguments themselves reach."""

    def __init__(self, bound, device, exact=False):
        self.host_regions, self.copies, self.exact = [], [], exact
        self.on_device = device >= 0
        for name, value in bound.items():
            self._add(name, value)

    def _add(self, name, value):
        if isinstance(value, tuple):
            for i, element in enumerate(value):
                self._add(f"{name}[{i}]", element)
            return
        # A TensorWrapper and a TensorDescriptor have what they stand for as `base`.
        numpy, torch, cupy = (sys.modules.get(module) for module in ("numpy", "torch", "cupy"))
        if numpy is not None and isinstance(value, numpy.ndarray):
            self.host_regions.append((*_numpy_bounds(value if self.exact else _root(value)), name))
        elif torch is not None and isinstance(value, torch.Tensor):
            self._add_torch(torch, name, value)
        elif cupy is not None and isinstance(value, cupy.ndarray):
            self._add_copy(name, value.data.mem.ptr, lambda: _CuPyCopy(cupy, value.data.mem))
        elif hasattr(value, "base") and (hasattr(value, "data_ptr") or hasattr(value, "block_shape")):
            self._add(name, value.base)
        elif self.on_device and hasattr(value, "data_ptr") and value.data_ptr():
            raise TypeError(
                f"the interpreter cannot copy argument `{name}` to the host: it knows the extent of tensors of torch "
                f"and CuPy, not of a {type(value).__name__}"
            )

    def _add_torch(self, torch, name, tensor):
        if tensor.device.type == "meta":
            return
        storage = tensor.untyped_storage()
        if tensor.device.type == "cpu" and self.exact:
            reach = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride())) + 1
            begin, reach = tensor.data_ptr(), reach if tensor.numel() else 0
            self.host_regions.append((begin, begin + reach * tensor.element_size(), name))
        elif tensor.device.type == "cpu":
            begin = storage.data_ptr()
            self.host_regions.append((begin, begin + storage.nbytes(), name))
        else:
            self._add_copy(name, storage.data_ptr(), lambda: _TorchCopy(torch, storage, tensor.device))

    def _add_copy(self, name, begin, make):
        if any(copy.begin == begin for copy in self.copies):
            return
        copy = make()
        self.copies.append(copy)
        self.host_regions.append((copy.host, copy.host + copy.end - copy.begin, name))

    def host_address(self, address):
        """An address in a device's memory as one in its copy; one of the host as it is."""
        for copy in self.copies:
            if copy.holds(address):
                return copy.host + address - copy.begin
        return address

    def write_back(self):
        for copy in self.copies:
            copy.write_back()
