"""The sanitizer: for each fault a kernel that has it, and one that has not."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.cpu_only("the interpreter runs on the host")

KERNELS = {
    "out of bounds": """
@triton.jit
def kernel(x_ptr, out_ptr, n, GOOD: tl.constexpr):
    offsets = tl.program_id(0) * 16 + tl.arange(0, 16)
    if GOOD:
        x = tl.load(x_ptr + offsets, mask=offsets < n, other=0)
    else:
        x = tl.load(x_ptr + offsets)  # here
    tl.store(out_ptr + offsets, x, mask=offsets < n)
""",
    "never written": """
@triton.jit
def kernel(x_ptr, out_ptr, n, GOOD: tl.constexpr):
    offsets = tl.program_id(0) * 16 + tl.arange(0, 16)
    mask = offsets < n
    if GOOD:
        tl.store(out_ptr + offsets, 0.0, mask=mask)
    y = tl.load(out_ptr + offsets, mask=mask, other=0)  # here
    tl.store(out_ptr + offsets, y + tl.load(x_ptr + offsets, mask=mask, other=0), mask=mask)
""",
    "undefined value": """
@triton.jit
def kernel(x_ptr, out_ptr, n, GOOD: tl.constexpr):
    offsets = tl.program_id(0) * 16 + tl.arange(0, 16)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    if GOOD:
        x = tl.where(mask, x, 0)
    total = tl.sum(tl.reshape(x * 2, [2, 8]))
    tl.store(out_ptr + tl.program_id(0), total)  # here
""",
    "race": """
@triton.jit
def kernel(x_ptr, out_ptr, n, GOOD: tl.constexpr):
    pid = tl.program_id(0)
    if GOOD:
        tl.atomic_add(x_ptr, 1.0)
    else:
        tl.store(out_ptr, 1.0)  # here
""",
    "integer overflow": """
@triton.jit
def kernel(x_ptr, out_ptr, n, GOOD: tl.constexpr):
    big = n + 2000000000
    if GOOD:
        x = big.to(tl.int64) * 2
    else:
        x = big * 2  # here
    tl.store(out_ptr + tl.program_id(0), x)
""",
    "misaligned descriptor": """
@triton.jit
def kernel(x_ptr, out_ptr, n, GOOD: tl.constexpr):
    stride: tl.constexpr = 8 if GOOD else 7
    d = tl.make_tensor_descriptor(x_ptr, [4, 4], [stride, 1], [4, 4])  # here
    x = d.load([0, 0])
    tl.store(out_ptr + tl.program_id(0), tl.sum(x))
""",
}

SCRIPT = """
import numpy as np
import triton
import triton.language as tl

{kernel}

x = np.arange(40, dtype=np.float32)
out = np.empty(40, np.float32)
for launch in range(2):
    kernel[(3,)](x, out, 40, GOOD={good})
"""


def sanitize(tmp_path, kernel, good, **environment):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT.format(kernel=kernel, good=good))
    command = [sys.executable, "-m", "despina", "sanitize", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | environment, timeout=120)
    lines = path.read_text().splitlines()
    return done, f"{path}:{1 + next((i for i, line in enumerate(lines) if '# here' in line), -1)}: "


@pytest.mark.parametrize("kind", KERNELS)
def test_a_kernel_with_the_fault(kind, tmp_path):
    done, place = sanitize(tmp_path, KERNELS[kind], False)
    assert done.returncode == 1, done.stderr
    assert f"{place}{kind}: " in done.stderr
    assert done.stderr.startswith("kernel: 1 fault\n"), done.stderr
    assert "(program (" in done.stderr


@pytest.mark.parametrize("kind", KERNELS)
def test_a_kernel_without_the_fault(kind, tmp_path):
    done, _ = sanitize(tmp_path, KERNELS[kind], True)
    assert (done.returncode, done.stderr) == (0, "")


ORDERED = """
@triton.jit
def kernel(x_ptr, out_ptr, n, GOOD: tl.constexpr):
    tl.device_print("at")
"""


def order_of(tmp_path, order):
    done, _ = sanitize(tmp_path, ORDERED, True, DESPINA_SANITIZE_ORDER=order)
    assert done.returncode == 0, done.stderr
    return [int(line[len("pid (") :].split(",")[0]) for line in done.stdout.splitlines()[:3]]


def test_orders_of_the_grid(tmp_path):
    assert order_of(tmp_path, "reverse") == [2, 1, 0]
    orders = {tuple(order_of(tmp_path, f"random:{seed}")) for seed in range(6)}
    assert len(orders) > 1 and all(sorted(order) == [0, 1, 2] for order in orders)
    assert order_of(tmp_path, "random:1") == order_of(tmp_path, "random:1")


def test_an_unknown_order_is_an_error(tmp_path):
    done, _ = sanitize(tmp_path, ORDERED, True, DESPINA_SANITIZE_ORDER="sideways")
    assert done.returncode and "DESPINA_SANITIZE_ORDER is reverse or random:SEED" in done.stderr


def test_the_variable_alone_reports_too(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT.format(kernel=KERNELS["race"], good=False).replace("triton", "despina"))
    environment = os.environ | {"DESPINA_SANITIZE": "1"}
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, env=environment, timeout=120)
    assert done.returncode == 0
    assert ": race: tl.store writes byte 0 of `out_ptr`, which program number 0 has written too" in done.stderr
