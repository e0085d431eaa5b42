"""Names and conventions that libraries of kernels rely on: import paths, cache managers, knobs, launching."""

import importlib
import os
import subprocess
import sys

import numpy as np
import pytest

import despina as triton
import despina.language as tl
from despina import knobs
from despina.backends.compiler import GPUTarget
from despina.compiler import ASTSource
from despina.runtime import cache
from despina.runtime.driver import driver

pytestmark = pytest.mark.cpu_only("the package's names")


@triton.jit
def copy_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)


@pytest.mark.parametrize("module", ["extra.libdevice", "extra.cuda.libdevice", "math"])
def test_paths_of_libdevice(module):
    found = importlib.import_module(f"despina.language.{module}")
    assert found.tanh.__despina_path__ == "triton.language.extra.libdevice.tanh"
    assert found.exp is not None


def test_core_has_the_constant_that_defaults_name():
    assert tl.core.CONSTEXPR_0.value == 0


def test_the_module_of_the_driver_answers_like_the_driver():
    # `import triton.runtime.driver` leaves the module where the package had the object.
    module = sys.modules["despina.runtime.driver"]
    assert module.active is driver.active and module.default is driver.default
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        module.nothing  # noqa: B018


def test_importing_the_module_of_the_driver_by_its_alias():
    code = (
        "import triton.runtime.driver, triton\n"
        "assert triton.runtime.driver.active.get_current_target().backend in ('cpu', 'cuda')\n"
        "from triton.runtime import driver\n"
        "driver.active.get_current_device()\n"
    )
    environment = {**os.environ, "DESPINA_AS_TRITON": "1", "TRITON_DEFAULT_BACKEND": "cpu"}
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


@triton.jit
def annotated_kernel(x_ptr: tl.tensor, pair: tl.tuple, n: tl.int64, text: "constexpr", BLOCK: tl.constexpr):  # noqa: F821
    tl.store(x_ptr + tl.arange(0, BLOCK), pair[0] + pair[1] + n)


def test_annotations_with_classes_of_the_language():
    """Only constexpr makes constants: libraries annotate pointers with `tl.tensor`."""
    assert [parameter.is_constexpr for parameter in annotated_kernel.params] == [False, False, False, True, True]
    x = np.zeros(4, np.int64)
    annotated_kernel[(1,)](x, (3, 4), 5, "words", BLOCK=4)
    assert (x == 12).all()


def test_launching_a_compiled_kernel_without_its_constants():
    """What is marked constexpr may be left out, as it once was."""
    source = ASTSource(copy_kernel, {"x_ptr": "*fp32", "y_ptr": "*fp32", "n": "i32"}, {"BLOCK": 16})
    kernel = triton.compile(source, target=GPUTarget("cpu", "", 1))
    x = np.random.default_rng().standard_normal(16).astype(np.float32)
    for args in ((16,), (16, 16)):
        y = np.full(16, np.nan, np.float32)
        kernel[(1,)](x, y, *args)
        assert (x == y).all()
    with pytest.raises(TypeError, match="takes 4 arguments"):
        kernel[(1,)](x, y)


@triton.jit
def steps_kernel(out_ptr, N: tl.constexpr):
    steps: tl.constexpr = tl.standard._log2(N)
    tl.store(out_ptr, steps)


def test_steps_of_sorting_networks():
    out = np.zeros(1, np.int32)
    for n in (1, 2, 64, 1 << 20):
        steps_kernel[(1,)](out, N=n)
        assert out[0] == tl.standard._log2(n) == n.bit_length() - 1


@triton.jit
def tanh_kernel(x_ptr):
    tl.store(x_ptr, tl.math.tanh(tl.load(x_ptr)))


def test_names_of_libdevice_in_math():
    kernel = triton.compile(ASTSource(tanh_kernel, {"x_ptr": "*fp32"}), target=GPUTarget("cuda", 90, 32))
    assert "tanhf" in kernel.asm["ttir"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    return tmp_path


def test_files_by_key(folder):
    manager = cache.get_cache_manager("key")
    assert manager.get_file("a.txt") is None and not manager.has_file("a.txt")
    path = manager.put("text", "a.txt", binary=False)
    assert path == str(folder / "key" / "a.txt") == manager.get_file("a.txt")
    binary = manager.put(b"\x00\xff", "b.bin")
    assert (folder / "key" / "b.bin").read_bytes() == b"\x00\xff"
    assert (folder / "key" / "a.txt").read_text() == "text"
    manager.put("newer", "a.txt")
    assert (folder / "key" / "a.txt").read_text() == "newer"
    assert cache.get_cache_manager("other").get_file("a.txt") is None
    assert sorted(os.listdir(folder / "key")) == ["a.txt", "b.bin"], "temporary files stayed"
    assert binary.endswith("b.bin")


def test_a_group_is_whole_or_missing(folder):
    manager = cache.FileCacheManager("key")
    assert manager.get_group("f") is None
    group = {name: manager.put(name, name) for name in ("f.ttir", "f.ptx")}
    manager.put_group("f", group)
    assert manager.get_group("f") == group
    os.remove(group["f.ptx"])
    assert manager.get_group("f") is None
    manager.put("no JSON", "__grp__f")
    assert manager.get_group("f") is None


class CountingManager(cache.FileCacheManager):
    """A manager that `TRITON_CACHE_MANAGER` names."""


class DictBackend(cache.RemoteCacheBackend):
    """A remote store in memory."""

    files = {}

    def __init__(self, key):
        self.key = key

    def get(self, filenames):
        return {name: self.files[self.key, name] for name in filenames if (self.key, name) in self.files}

    def put(self, filename, data):
        self.files[self.key, filename] = data


def test_managers_named_by_the_environment(folder, monkeypatch):
    monkeypatch.setenv("TRITON_CACHE_MANAGER", f"{__name__}:CountingManager")
    assert type(cache.get_cache_manager("key")).__name__ == "CountingManager"
    monkeypatch.setenv("TRITON_CACHE_MANAGER", "despina.runtime.cache:RemoteCacheManager")
    with pytest.raises(RuntimeError, match="names no class"):
        cache.get_cache_manager("key")
    monkeypatch.setenv("TRITON_REMOTE_CACHE_BACKEND", f"{__name__}:DictBackend")
    manager = cache.get_cache_manager("key")
    assert manager.get_file("x") is None and manager.get_group("g") is None
    manager.put_group("g", {"x": manager.put(b"data", "x")})
    (found,) = cache.get_cache_manager("key").get_group("g").values()
    with open(found, "rb") as file:
        assert file.read() == b"data"
    monkeypatch.setenv("TRITON_CACHE_MANAGER", "nothing")
    with pytest.raises(RuntimeError, match="write it as module:Class"):
        cache.get_cache_manager("key")


def test_knobs_of_folders(monkeypatch):
    monkeypatch.delenv("TRITON_CACHE_DIR", raising=False)
    monkeypatch.setenv("TRITON_HOME", "/somewhere")
    assert knobs.cache.dir == "/somewhere/.triton/cache" and knobs.cache.dump_dir == "/somewhere/.triton/dump"
    monkeypatch.setenv("TRITON_CACHE_DIR", "/else")
    assert knobs.cache.dir == "/else"
    with knobs.cache.scope():
        knobs.cache.dir = "/mine"
        assert knobs.cache.dir == "/mine"
    assert knobs.cache.dir == "/else"
