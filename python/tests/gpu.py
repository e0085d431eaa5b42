"""Runs the tests' kernels on a GPU, or compiles them for one: `--device cuda` and `--compile-only`.

The tests pass NumPy arrays. Under `--device cuda` each launch gets copies of them in the device's memory, where arrays
that share memory share it too, and what the kernel wrote comes back afterwards. Under `--compile-only sm_80,sm_89` each
kernel that a test compiles for the CPU is compiled for those GPUs as well, up to a cubin; what fails there fails the
test.
"""

from __future__ import annotations

import collections
import concurrent.futures
import contextlib
import copy
import ctypes
import hashlib
import io
import json
import os
import threading
import warnings

import numpy as np

from despina import _native
from despina.compiler import compiler as compiler_module
from despina.compiler.compiler import CompiledKernel
from despina.runtime import jit as jit_module
from despina.runtime._allocation import set_allocator
from despina.runtime.jit import JITFunction, TensorWrapper
from despina.tools.tensor_descriptor import TensorDescriptor

from helpers import chain_text

ALIGNMENT = 256  # of device memory; the offset of a host address in it is kept
byte_bounds = getattr(np.lib, "array_utils", np).byte_bounds  # NumPy 1 has it elsewhere


class Region:
    """The memory of a host array and of all its views, and its copy on the device."""

    def __init__(self, root, device):
        low, high = byte_bounds(root)
        self.root, self.low, self.high = root, low, high
        self.bytes = np.ctypeslib.as_array((ctypes.c_uint8 * (high - low)).from_address(low))
        self.shift = low % ALIGNMENT
        self.memory = _native.cuda_allocate(device, self.shift + max(high - low, 1))
        self.before = self.bytes.copy()
        self._staged = np.zeros(self.shift + self.before.size, np.uint8)
        self._staged[self.shift :] = self.before
        if self._staged.size:
            self.memory.copy_from(self._staged)

    def address(self, host):
        return self.memory.address + self.shift + host - self.low

    def bring_back(self):
        """What the kernel changed, and nothing else: the host may hold the rest read-only."""
        if not self.before.size:
            return
        self.memory.copy_to(self._staged)
        after = self._staged[self.shift :]
        if not np.array_equal(after, self.before):
            assert self.root.flags.writeable, "a kernel wrote to an array that is read-only"
            self.bytes[...] = after


class DeviceArray:
    """Stands for a host array in a launch."""

    is_cuda = True

    def __init__(self, address, dtype, device):
        self._address, self.dtype, self._device = address, dtype, device

    def data_ptr(self):
        return self._address

    def get_device(self):
        return self._device


def root_of(array):
    """The array that owns the memory, as far as NumPy knows."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


class Staging:
    """The device copies of one launch."""

    def __init__(self):
        self.device = _native.cuda_current_device()
        self.regions = []

    def _region(self, array):
        root = root_of(array)
        low, high = byte_bounds(root)
        for region in self.regions:
            if region.low <= low and high <= region.high:
                return region
            assert high <= region.low or region.high <= low, "two arrays overlap, and neither holds the other"
        self.regions.append(Region(root, self.device))
        return self.regions[-1]

    def stage(self, value):
        """The value with device arrays in place of those of the host."""
        if isinstance(value, np.ndarray):
            address = value.__array_interface__["data"][0]
            return DeviceArray(self._region(value).address(address), value.dtype, self.device)
        if isinstance(value, TensorWrapper) and isinstance(value.base, np.ndarray):
            return DeviceArray(self.stage(value.base).data_ptr(), value.dtype, self.device)
        if isinstance(value, TensorDescriptor):
            staged = copy.copy(value)
            staged.base = self.stage(value.base)
            return staged
        if isinstance(value, tuple):
            staged = [self.stage(element) for element in value]
            return type(value)(*staged) if hasattr(value, "_fields") else tuple(staged)
        return value

    def finish(self):
        if not self.regions:  # What a test does with the device's own arrays is its affair.
            return
        _native.cuda_synchronize(self.device)
        for region in self.regions:
            region.bring_back()


_is_staging = True


@contextlib.contextmanager
def without_copies():
    """Launches get NumPy arrays as those of users do."""
    global _is_staging
    _is_staging = False
    try:
        yield
    finally:
        _is_staging = True


def staged_call(call, args, kwargs):
    if not _is_staging:
        return call(*args, **kwargs)
    staging = Staging()
    args = [staging.stage(value) for value in args]
    kwargs = {name: staging.stage(value) for name, value in kwargs.items()}
    result = call(*args, **kwargs)
    staging.finish()
    return result


class Scratch:
    """Memory for a kernel, full of what was there before."""

    def __init__(self, size, stream):
        self._memory = _native.cuda_allocate(_native.cuda_current_device(), size)
        self._memory.fill_async(0xCD, stream)

    def data_ptr(self):
        return self._memory.address


def install_device(num_ctas):
    """From now on launches with NumPy arrays go to the GPU, with so many blocks per program where they do not say."""
    set_allocator(lambda size, alignment, stream: Scratch(size, stream))
    bind, run = JITFunction.__getitem__, JITFunction.run
    bind_compiled = CompiledKernel.__getitem__

    def getitem(self, grid):
        return lambda *args, **kwargs: staged_call(bind(self, grid), args, kwargs)

    def run_staged(self, *args, grid, warmup=False, **kwargs):
        if num_ctas:
            kwargs.setdefault("num_ctas", num_ctas)
        return staged_call(lambda *a, **k: run(self, *a, grid=grid, warmup=warmup, **k), args, kwargs)

    def getitem_compiled(self, grid):
        launch = bind_compiled(self, grid)
        return launch if self._on_cpu else lambda *args, **kwargs: staged_call(launch, args, kwargs)

    JITFunction.__getitem__, JITFunction.run = getitem, run_staged
    CompiledKernel.__getitem__ = getitem_compiled


def number_of(arch):
    """90 for sm_90a."""
    return int("".join(filter(str.isdigit, arch)))


def last_stage(arch):
    """How far kernels are compiled: CUDA 13 has no assembler for chips before sm_75."""
    return "cubin" if number_of(arch) >= 75 else "ptx"


class CompileOnly:
    """Compiles what the tests compile for other architectures, once for each different kernel."""

    def __init__(self, arches, num_ctas):
        self.arches, self.num_ctas = arches, num_ctas
        self.seen = {}
        self.failures = []
        self.compiled = collections.Counter()
        self.refused = {arch: collections.defaultdict(set) for arch in arches}
        self.paused = False
        self._pool = concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2)
        self._lock = threading.Lock()

    def install(self):
        compile_arguments = compiler_module.compile_arguments

        def compile_for_all(src, arguments, target, options):
            kernel = compile_arguments(src, arguments, target, options)
            if target.backend == "cpu" and not self.paused:
                self.check(src, arguments, options, kernel)
            return kernel

        compiler_module.compile_arguments = jit_module.compile_arguments = compile_for_all

    def check(self, src, arguments, options, kernel):
        """Compiles for each architecture; failures are kept for the test that runs."""
        text = kernel._kernel.text("tt") + repr(sorted(compiler_module._native_options(options).items()))
        key = hashlib.sha256(text.encode()).digest()
        with self._lock:
            if key in self.seen:
                self.failures += self.seen[key]
                return
        arguments = [compiler_module._unwrap(argument) for argument in arguments]
        # What the kernel prints and warns of was said when it was compiled for the CPU.
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = [*self._pool.map(lambda arch: self.compile(src, arguments, options, arch), self.arches)]
        failures = [failure for failure in found if failure]
        with self._lock:
            self.seen[key] = failures
            self.failures += failures

    def compile(self, src, arguments, options, arch):
        native = compiler_module._native_options(options)
        stage, rule = last_stage(arch), "type fp8e4nv not supported in this architecture"
        if self.num_ctas and native["num_ctas"] == 1:
            native["num_ctas"] = self.num_ctas
        try:
            kernel = _native.compile(src.fn._handle, arguments, native, ("cuda", arch, 32), [stage])
            text = kernel.text(stage)
            assert text[:4] == b"\x7fELF" if stage == "cubin" else ".visible .entry" in text
        except Exception as error:
            # What the language and the option allow depends on the architecture.
            rules = {rule: 89, "num_ctas > 1 needs clusters": 90}
            said = chain_text(error)
            allowed = next((text for text, first in rules.items() if number_of(arch) < first and text in said), None)
            with self._lock:
                self.refused[arch][allowed or str(error).splitlines()[0]].add(src.name)
            return None if allowed else f"{src.name} for {arch}: {type(error).__name__}: {error}"
        with self._lock:
            self.compiled[arch] += 1
        return None

    def write(self, path):
        """Adds what became of the kernels to a file that scripts/conformance reads."""
        content = {}
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                content = json.load(file)
        for arch in self.arches:
            refused = {reason: sorted(names) for reason, names in sorted(self.refused[arch].items())}
            content[arch] = {"stage": last_stage(arch), "compiled": self.compiled[arch], "refused": refused}
        with open(path, "w", encoding="utf-8") as file:
            json.dump(dict(sorted(content.items(), key=lambda item: number_of(item[0]))), file, indent=1)
            file.write("\n")

    def take_failures(self):
        with self._lock:
            failures, self.failures = self.failures, []
        return failures
