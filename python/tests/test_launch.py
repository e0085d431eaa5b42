"""Arguments, grids, specialisation, hooks, threads, fork and Ctrl-C."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import ml_dtypes
import numpy as np
import pytest

import despina as triton
import despina.language as tl
from despina import _native, knobs

from helpers import NUMPY, SIGNATURE, module_from, poisoned


@triton.jit
def add_one(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(x_ptr + offsets, x + 1, mask=offsets < n)


@triton.jit
def types(a, b, c, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    tl.static_assert(a.dtype == A)
    tl.static_assert(b.dtype == B)
    tl.static_assert(c.dtype == C)


def signature_of(kernel, *args, **kwargs):
    compiled = kernel.warmup(*args, grid=(1,), **kwargs)
    return compiled.src.signature, compiled.src.attrs


# Kinds of arguments.


class TorchLike:
    """What the launcher needs of a torch CPU tensor."""

    class DType:
        def __init__(self, name):
            self.name = name

        def __str__(self):
            return f"torch.{self.name}"

    is_cpu = True

    def __init__(self, array, name=None):
        self.array = array
        self.dtype = TorchLike.DType(name or array.dtype.name)

    def data_ptr(self):
        return self.array.ctypes.data


class Interface:
    """An object with `__array_interface__` and nothing else."""

    def __init__(self, array):
        self.array = array
        self.__array_interface__ = array.__array_interface__


class Capsule:
    """An object that speaks DLPack and nothing else."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **kwargs):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


@pytest.mark.parametrize("wrap", [lambda array: array, TorchLike, Interface, Capsule])
@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8"])
def test_array_like_arguments(wrap, dtype, rng):
    array = rng.integers(0, 99, 100).astype(NUMPY[dtype])
    expected = array + NUMPY[dtype].type(1)
    add_one[(2,)](wrap(array), 100, BLOCK=64)
    assert (array == expected).all()


def test_torch_like_bfloat16():
    array = np.arange(16).astype(ml_dtypes.bfloat16)
    add_one[(1,)](TorchLike(array.view(np.int16), "bfloat16"), 16, BLOCK=16)
    assert array.astype(np.float32).tolist() == [*range(1, 17)]


@pytest.mark.cpu_only("memory that the CPU cannot read")
def test_tensors_of_other_devices_are_refused():
    tensor = TorchLike(np.zeros(4, np.float32))
    tensor.is_cpu = False
    with pytest.raises(ValueError, match="Pointer argument cannot be accessed from the CPU target"):
        add_one[(1,)](tensor, 4, BLOCK=4)


def test_data_ptr_must_be_an_integer():
    class Wrong(TorchLike):
        def data_ptr(self):
            return "here"

    with pytest.raises(TypeError, match="data_ptr method of Pointer object must return 64-bit int"):
        add_one[(1,)](Wrong(np.zeros(4, np.float32)), 4, BLOCK=4)


@pytest.mark.parametrize("name", SIGNATURE)
def test_dtypes_of_arrays(name):
    assert _native.describe_argument(np.zeros(3, NUMPY[name])) == "*" + SIGNATURE[name]


@pytest.mark.parametrize(
    "value, expected",
    [
        (True, "u1"), (0, "i32"), (1, "constexpr"), (2, "i32"), (-(2**31), "i32"), (2**31, "i64"), (2**63, "u64"),
        (2**64 - 1, "u64"), (1.0, "fp32"), (None, "constexpr"), (np.int8(5), "i32"), (np.int64(1), "constexpr"),
        (np.float64(1.0), "fp32"), (np.float16(2), "fp32"), (np.bool_(True), "u1"), (tl.constexpr(5), "constexpr"),
        ((1, None), "constexpr"), (np.zeros(()), "*fp64"),
    ],
)  # fmt: skip
def test_kinds_of_scalars(value, expected):
    assert _native.describe_argument(value) == expected


def test_scalars_reach_the_kernel():
    types[(1,)](True, 7, 1.5, A=tl.int1, B=tl.int32, C=tl.float32)
    types[(1,)](2**40, 2**63, np.float32(2), A=tl.int64, B=tl.uint64, C=tl.float32)
    module = module_from("""
        @triton.jit
        def kernel(out_ptr, a, b, c, d, e):
            tl.store(out_ptr, a.to(tl.float64))
            tl.store(out_ptr + 1, b.to(tl.float64))
            tl.store(out_ptr + 2, c.to(tl.float64))
            tl.store(out_ptr + 3, d.to(tl.float64))
            tl.store(out_ptr + 4, e.to(tl.float64))
    """)
    out = poisoned(5, np.float64)
    module.kernel[(1,)](out, -5, 2**40 + 1, True, 0.5, np.int16(-300))
    assert out.tolist() == [-5, 2**40 + 1, 1, 0.5, -300]


def test_annotations_force_types():
    module = module_from("""
        @triton.jit
        def kernel(out_ptr, a: tl.int64, b: float, c: "fp64", d: "tl.float16", e: tl.bfloat16, f: int, g: "u8"):
            tl.static_assert(a.dtype == tl.int64)
            tl.static_assert(b.dtype == tl.float32)
            tl.static_assert(c.dtype == tl.float64)
            tl.static_assert(d.dtype == tl.float16)
            tl.static_assert(e.dtype == tl.bfloat16)
            tl.static_assert(f.dtype == tl.int32)
            tl.static_assert(g.dtype == tl.uint8)
            tl.store(out_ptr, a.to(tl.float64))
            tl.store(out_ptr + 1, c)
            tl.store(out_ptr + 2, d.to(tl.float64))
            tl.store(out_ptr + 3, e.to(tl.float64))
            tl.store(out_ptr + 4, g.to(tl.float64))
    """)
    out = poisoned(5, np.float64)
    module.kernel[(1,)](out, 1, 2, 0.1, 0.1, 0.1, 1, 200)
    half, brain = float(np.float16(0.1)), float(ml_dtypes.bfloat16(0.1))
    assert out.tolist() == [1, 0.1, half, brain, 200]
    with pytest.raises(OverflowError, match="300 is out of range for an argument of type u8"):
        module.kernel[(1,)](out, 1, 2, 0.1, 0.1, 0.1, 1, 300)


def test_every_half_precision_scalar_is_rounded_once():
    module = module_from("""
        @triton.jit
        def kernel(out_ptr, a: tl.float16, b: tl.bfloat16):
            tl.store(out_ptr, a.to(tl.float64))
            tl.store(out_ptr + 1, b.to(tl.float64))
    """)
    out = poisoned(2, np.float64)
    for value in [0.0, 1 + 2**-11, 1 + 2**-11 + 2**-40, 65519.99, 65520.0, 2**-24, 2**-25, 2**-25 * 1.5, 6.1e-5,
                  1 + 2**-8 + 2**-30, 1 + 2**-8, -3.3e38, 1e-39, float("inf"), -0.0]:  # fmt: skip
        module.kernel[(1,)](out, value, value)
        with np.errstate(over="ignore"):
            assert out[0] == float(np.float16(value)), value
        assert abs(out[1] - value) <= abs(value) * 2**-8 + 1e-40 or out[1] == float(ml_dtypes.bfloat16(value)), value


# Specialisation.


@pytest.mark.compiled_only("looks at compiled kernels")
def test_specialisation_on_one_and_on_sixteen():
    x = np.zeros(64, np.float32)
    plain = module_from("@triton.jit\ndef kernel(x_ptr, n, m):\n    pass").kernel
    signature, attrs = signature_of(plain, x, 1, 16)
    assert signature["n"] == "constexpr" and signature["m"] == "i32"
    assert (2,) in attrs and (1,) not in attrs
    before = len(plain.device_caches[0][0])
    plain[(1,)](x, 1, 32)
    plain[(1,)](x, 1, 0)
    assert len(plain.device_caches[0][0]) == before
    plain[(1,)](x, 1, 17)
    plain[(1,)](x[1:], 1, 17)
    assert len(plain.device_caches[0][0]) == before + 2


@pytest.mark.compiled_only("looks at compiled kernels")
def test_do_not_specialize():
    text = "@triton.jit(do_not_specialize={})\ndef kernel(x_ptr, n, m):\n    pass"
    for names in ('["n", "m"]', "[1, 2]"):
        kernel = module_from(text.format(names)).kernel
        x = np.zeros(64, np.float32)
        for n, m in [(1, 16), (16, 1), (3, 5), (1, 1)]:
            kernel[(1,)](x, n, m)
        assert len(kernel.device_caches[0][0]) == 1
    kernel = module_from(text.replace("specialize", "specialize_on_alignment").format('["n"]')).kernel
    for n in (16, 3, 1):
        kernel[(1,)](np.zeros(64, np.float32), n, 5)
    assert len(kernel.device_caches[0][0]) == 2


@pytest.mark.compiled_only("looks at compiled kernels")
def test_constants_of_equal_value_and_different_type():
    module = module_from("""
        @triton.jit
        def kernel(out_ptr, C: tl.constexpr):
            x = tl.load(out_ptr)
            tl.store(out_ptr, 1 if (x + C).dtype == tl.float32 else 0)
    """).kernel  # fmt: skip
    out = np.zeros(1, np.int32)
    for constant, expected in [(1, 0), (1.0, 1), (True, 0)]:
        module[(1,)](out, C=constant)
        assert out[0] == expected
    assert len(module.device_caches[0][0]) == 3


def test_globals_are_watched():
    module = module_from("""
        FACTOR = tl.constexpr(3)

        @triton.jit
        def kernel(out_ptr):
            tl.store(out_ptr, FACTOR)
    """)
    out = np.zeros(1, np.int32)
    module.kernel[(1,)](out)
    assert out[0] == 3
    module.FACTOR = tl.constexpr(3)
    module.kernel[(1,)](out)
    module.FACTOR = tl.constexpr(4)
    with pytest.raises(RuntimeError, match="Global variable FACTOR has changed since we compiled this kernel, from"):
        module.kernel[(1,)](out)


# Grids and keywords.


@pytest.mark.cpu_only("the grid function sees the arrays themselves")
def test_grid_function_sees_all_parameters():
    seen = {}
    x = np.zeros(100, np.float32)

    def grid(meta):
        seen.update(meta)
        return (triton.cdiv(meta["n"], meta["BLOCK"]),)

    add_one[grid](x, 100, BLOCK=64, num_warps=2)
    assert (x == 1).all()
    assert seen["n"] == 100 and seen["BLOCK"] == 64 and seen["x_ptr"] is x and seen["num_warps"] == 2


def test_keywords_and_defaults():
    module = module_from("""
        @triton.jit
        def kernel(out_ptr, a, b=7, C: tl.constexpr = 5):
            tl.store(out_ptr, a * 100 + b * 10 + C)
    """)
    out = np.zeros(1, np.int32)
    for kwargs, expected in [({"a": 3}, 375), ({"a": 3, "b": 2}, 325), ({"C": 1, "a": 2, "b": 4}, 241)]:
        module.kernel[(1,)](out_ptr=out, **kwargs)
        assert out[0] == expected


@pytest.mark.compiled_only("looks at compiled kernels")
def test_launch_options_are_accepted():
    x = np.zeros(64, np.float32)
    kernel = add_one[(1,)](x, 64, BLOCK=64, num_warps=8, num_stages=2, num_ctas=1, maxnreg=None, enable_fp_fusion=False)
    assert kernel.metadata.num_warps == 8 and kernel.metadata.num_stages == 2
    assert (x == 1).all()


def test_bound_kernels_can_be_kept():
    x = np.zeros(64, np.float32)
    launch = add_one[(1,)]
    for _ in range(3):
        launch(x, 64, BLOCK=64)
    assert (x == 3).all()


@pytest.mark.cpu_only("arrays go to a compiled kernel as they are")
def test_run_and_warmup():
    x = np.zeros(64, np.float32)
    compiled = add_one.warmup(x, 64, BLOCK=32, grid=(1,))
    assert (x == 0).all()
    assert add_one.run(x, 64, BLOCK=32, grid=(2,), warmup=False) is compiled
    assert (x == 1).all()
    compiled[(2, 1, 1)](x, 64, 32)
    compiled.run(2, 1, 1, 0, compiled.function, compiled.packed_metadata, None, None, None, x, 64, 32)
    assert (x == 3).all()


@pytest.mark.compiled_only("looks at compiled kernels")
def test_warmup_with_dtypes():
    signature, _ = signature_of(add_one, np.dtype("float64"), 64, BLOCK=16)
    assert signature["x_ptr"] == "*fp64"


def test_reinterpret():
    bits = np.array([0x3F80], np.uint16)
    add_one[(1,)](triton.reinterpret(bits, tl.bfloat16), 1, BLOCK=1)
    assert bits[0] == 0x4000
    wrapped = triton.reinterpret(bits, tl.bfloat16)
    assert wrapped.shape == (1,) and triton.reinterpret(wrapped, tl.uint16) is bits


# Hooks.


@pytest.mark.compiled_only("looks at compiled kernels")
def test_pre_run_and_launch_hooks():
    module = module_from("@triton.jit\ndef kernel(x_ptr, n):\n    pass")
    x, log = np.zeros(4, np.float32), []
    module.kernel.add_pre_run_hook(lambda *args, **kwargs: log.append(("pre", args[1], kwargs)))
    enter = lambda data: log.append(("enter", data.get()["name"]))  # noqa: E731
    leave = lambda data: log.append(("exit", data.get()["name"]))  # noqa: E731
    knobs.runtime.launch_enter_hook.add(enter)
    knobs.runtime.launch_exit_hook.add(leave)
    try:
        module.kernel[(1,)](x, 5)
    finally:
        knobs.runtime.launch_enter_hook.remove(enter)
        knobs.runtime.launch_exit_hook.remove(leave)
    module.kernel[(1,)](x, 5)
    assert [entry[0] for entry in log] == ["pre", "enter", "exit", "pre"]


@pytest.mark.compiled_only("looks at compiled kernels")
def test_compile_hooks(monkeypatch):
    calls = []

    def before(**kwargs):
        calls.append(("before", kwargs["fn"].name, kwargs["compile"]["signature"]["x_ptr"]))
        return kwargs["compile"]["num_warps"] == 16

    monkeypatch.setattr(knobs.runtime, "jit_cache_hook", before)
    monkeypatch.setattr(knobs.runtime, "jit_post_compile_hook", lambda **kwargs: calls.append(("after",)))
    kernel = module_from("@triton.jit\ndef kernel(x_ptr):\n    pass").kernel
    x = np.zeros(4, np.float32)
    assert kernel[(1,)](x, num_warps=16) is None
    assert kernel[(1,)](x) is not None
    assert calls == [("before", "kernel", "*fp32"), ("before", "kernel", "*fp32"), ("after",)]


@pytest.mark.compiled_only("looks at compiled kernels")
def test_an_exception_in_a_hook_leaves_no_lock(monkeypatch):
    kernel = module_from("@triton.jit\ndef kernel(x_ptr, n):\n    pass").kernel
    x = np.zeros(4, np.float32)

    def fail(*args, **kwargs):
        raise KeyError("from the hook")

    for install in (
        lambda: monkeypatch.setattr(knobs.runtime, "jit_cache_hook", fail),
        lambda: monkeypatch.setattr(knobs.runtime, "jit_post_compile_hook", fail),
        lambda: knobs.runtime.launch_enter_hook.add(fail),
        lambda: kernel.add_pre_run_hook(fail),
    ):
        install()
        try:
            with pytest.raises(KeyError, match="from the hook"):
                kernel[(1,)](x, 5)
        finally:
            monkeypatch.undo()
            knobs.runtime.launch_enter_hook.remove(fail)
            kernel.pre_run_hooks.clear()
        done = []
        thread = threading.Thread(target=lambda: done.append(kernel[(1,)](x, 5)), daemon=True)
        thread.start()
        thread.join(20)
        assert done
        kernel._kernels.clear()
        kernel._dispatcher.clear()


# Threads, processes, signals.


def test_sixteen_threads():
    arrays = [np.zeros(10_000 + i, np.float64) for i in range(16)]
    failures = []

    def work(i):
        try:
            for _ in range(20):
                add_one[lambda meta: (triton.cdiv(meta["n"], meta["BLOCK"]),)](arrays[i], arrays[i].size, BLOCK=128)
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert all((array == 20).all() for array in arrays)


def test_threads_that_compile_the_same_kernel_share_one():
    kernel = module_from("""
        @triton.jit
        def kernel(x_ptr, N: tl.constexpr):
            tl.store(x_ptr + tl.arange(0, N), tl.zeros((N,), tl.float32))
    """).kernel
    results = []
    gate = threading.Barrier(8)

    def work():
        gate.wait()
        results.append(kernel[(1,)](np.ones(64, np.float32), N=64))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(result) for result in results}) == 1


SLOW = """
@triton.jit
def slow(x_ptr, n):
    total = 0.0
    for i in range(n):
        total += tl.load(x_ptr) * 1.5
    tl.store(x_ptr + tl.program_id(0) % 8, total)
"""


@pytest.mark.cpu_only("a launch on the CPU returns when it is done")
def test_other_threads_run_during_a_launch():
    slow = module_from(SLOW).slow
    x = np.zeros(16, np.float32)
    slow[(1,)](x, 8)
    thread = threading.Thread(target=lambda: slow[(64,)](x, 20_000_003))
    thread.start()
    ticks, begin = 0, time.monotonic()
    while thread.is_alive() and time.monotonic() - begin < 60:
        time.sleep(0.001)
        ticks += 1
    thread.join()
    assert ticks > 5, "the launch held the GIL"


def script(text):
    """A script in a file (kernels need one) that can be run."""
    path = module_from("").__file__.replace(".py", f"_{time.monotonic_ns()}.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write("import numpy as np, despina as triton, despina.language as tl\n" + textwrap.dedent(text))
    return path


@pytest.mark.cpu_only("a launch on the CPU returns when it is done")
def test_ctrl_c_stops_a_launch():
    path = script(f"""
{textwrap.indent(SLOW, "        ")}
        import signal, time
        signal.signal(signal.SIGINT, signal.default_int_handler)  # A shell's background jobs ignore it.
        x = np.zeros(16, np.float32)
        slow[(1,)](x, 8)
        print("ready", flush=True)
        begin = time.monotonic()
        try:
            slow[(1 << 30,)](x, 100_003)
        except KeyboardInterrupt:
            slow[(1,)](x, 8)  # the pool still works
            print("stopped", time.monotonic() - begin < 30, flush=True)
    """)
    process = subprocess.Popen([sys.executable, path], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=60)[0] == "stopped True\n"
    finally:
        process.kill()
        process.wait()


@pytest.mark.cpu_only("CUDA does not survive a fork")
def test_fork():
    x = np.zeros(5000, np.float32)
    add_one[(50,)](x, 5000, BLOCK=128)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            add_one[(50,)](x, 5000, BLOCK=128)  # compiled before the fork
            add_one[(50,)](x, 5000, BLOCK=256)  # compiled in the child
            os.write(writer, b"good" if (x == 3).all() else b"bad")
            code = 0
        finally:
            os._exit(code)
    os.close(writer)
    begin = time.monotonic()
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done or time.monotonic() - begin > 60:
            break
        time.sleep(0.01)
    if not done:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert done and status == 0
    assert os.read(reader, 10) == b"good"
    os.close(reader)
    add_one[(50,)](x, 5000, BLOCK=128)
    assert (x == 2).all()


@pytest.mark.cpu_only("CUDA does not survive a fork")
def test_multiprocessing_pool():
    import multiprocessing

    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(_add_in_worker, [10, 2000]) == [10.0, 2000.0]


def _add_in_worker(n):
    x = np.zeros(n, np.float32)
    add_one[lambda meta: (triton.cdiv(n, 64),)](x, n, BLOCK=64)
    return float(x.sum())


def test_arguments_are_not_kept_alive():
    import gc
    import weakref

    class Array(np.ndarray):
        pass

    x = np.zeros(64, np.float32).view(Array)
    add_one[(1,)](x, 64, BLOCK=64)
    reference = weakref.ref(x)
    del x
    gc.collect()
    assert reference() is None


def test_kernels_are_collected():
    import gc
    import weakref

    module = module_from("@triton.jit\ndef kernel(x_ptr, n):\n    pass")
    module.kernel[(1,)](np.zeros(4, np.float32), 5)
    reference = weakref.ref(module.kernel)
    del module
    gc.collect()
    assert reference() is None


@pytest.mark.compiled_only("looks at compiled kernels")
def test_no_launch_compiles_again():
    x = np.zeros(4, np.float32)
    kernel = module_from("@triton.jit\ndef kernel(a, b, c, n, m):\n    pass").kernel
    first = kernel[(1,)](x, x, x, 3, 5)
    assert all(kernel[(1,)](x, x, x, 3, 5) is first for _ in range(1000))
    assert len(kernel.device_caches[0][0]) == 1
