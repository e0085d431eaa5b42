"""Code does not depend on the process that made it, nor does its size on the size of tiles."""

import os
import subprocess
import sys

import pytest

import despina as triton
from despina.backends.compiler import GPUTarget
from despina.compiler import ASTSource

from helpers import module_from

pytestmark = pytest.mark.cpu_only("the code of the CPU target")

CPU = GPUTarget("cpu", "", 1)
KERNELS = """
    @triton.jit
    def product(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
        rows = tl.program_id(0) * BM + tl.arange(0, BM)
        columns = tl.program_id(1) * BN + tl.arange(0, BN)
        total = tl.zeros((BM, BN), tl.float32)
        for start in range(0, K, BK):
            k = start + tl.arange(0, BK)
            a = tl.load(a_ptr + rows[:, None] * K + k[None, :], mask=(rows < M)[:, None] & (k < K)[None, :], other=0)
            b = tl.load(b_ptr + k[:, None] * N + columns[None, :], mask=(k < K)[:, None] & (columns < N)[None, :],
                        other=0)
            total = tl.dot(a, b, total)
        out = c_ptr + rows[:, None] * N + columns[None, :]
        tl.store(out, total, mask=(rows < M)[:, None] & (columns < N)[None, :])

    @triton.jit
    def elementwise(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
        place = tl.arange(0, BM)[:, None] * N + tl.arange(0, BN)[None, :]
        mask = (tl.arange(0, BM) < M)[:, None] & (tl.arange(0, BN) < N)[None, :]
        a, b = tl.load(a_ptr + place, mask=mask), tl.load(b_ptr + place, mask=mask)
        c = tl.exp(a - tl.max(a, axis=1, keep_dims=True)) * b + tl.where(a > b, a, tl.sqrt(b))
        tl.store(c_ptr + place, tl.cumsum(c, axis=1) / tl.sum(c, axis=0)[None, :], mask=mask)
"""
MODULE = module_from(KERNELS)


def compiled(name, tile, element="fp32"):
    signature = {f"{letter}_ptr": "*" + element for letter in "abc"} | dict.fromkeys("MNK", "i32")
    signature |= dict.fromkeys(("BM", "BN", "BK"), "constexpr")
    kernel = getattr(MODULE, name)
    return triton.compile(ASTSource(kernel, signature, dict(zip(("BM", "BN", "BK"), tile))), target=CPU)


@pytest.mark.parametrize("name", ["product", "elementwise"])
def test_large_tiles_make_no_more_code(name):
    small = compiled(name, (32, 64, 32))
    large = compiled(name, (128, 256, 64))
    for stage in ("ttir", "llir", "asm"):
        a, b = (kernel.asm[stage].count("\n") for kernel in (small, large))
        assert b <= 1.5 * a + 100, (stage, a, b)
        assert b < 12_000, (stage, b)


SCRIPT = """
import hashlib, importlib.util
import despina as triton
from despina.backends.compiler import GPUTarget
from despina.compiler import ASTSource
spec = importlib.util.spec_from_file_location("kernels", {path!r})
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
for name in ("product", "elementwise"):
    for element in ("fp32", "fp64"):
        signature = {{f"{{letter}}_ptr": "*" + element for letter in "abc"}} | dict.fromkeys("MNK", "i32")
        signature |= dict.fromkeys(("BM", "BN", "BK"), "constexpr")
        if name == "product" and element == "fp64":
            continue
        source = ASTSource(getattr(module, name), signature, {{"BM": 32, "BN": 32, "BK": 32}})
        kernel = triton.compile(source, target=GPUTarget("cpu", "", 1))
        for stage in ("ttir", "llir", "asm", "obj"):
            text = kernel.asm[stage]
            text = text.encode() if isinstance(text, str) else text
            print(name, element, stage, len(text), hashlib.sha256(text).hexdigest())
"""


def test_every_process_makes_the_same_code():
    script = SCRIPT.format(path=MODULE.__file__)
    outputs = []
    for seed in ("1", "2"):
        environment = dict(os.environ, PYTHONHASHSEED=seed)
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout.splitlines())
    assert len(outputs[0]) == 12
    assert outputs[0] == outputs[1]
