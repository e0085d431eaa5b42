"""The interpreter against the CPU target: type and value of every name that a kernel assigns.

A kernel's text gets a call after each assignment that keeps the value in memory. In the compiled text that function
prints the type when it is compiled, in the interpreted one a print hands over the value itself.
"""

from __future__ import annotations

import ast
import builtins
import re

import numpy as np
import pytest
from helpers import HEADER, RANDOM_FACTOR, assert_within, module_from
from test_random_programs import FOUND, REGION, Generator

pytestmark = pytest.mark.cpu_only("the two run on the host")

SLOT = 4096  # elements of the trace for each assignment

RECORD = """
@triton.jit
def record(trace_ptr, k: tl.constexpr, x):
    {show}
    if x.dtype.is_floating():
        wide = x.to(tl.float32).to(tl.float64).to(tl.int64, bitcast=True)
    elif x.dtype.is_ptr():
        wide = x.to(tl.int64)
    else:
        wide = x.to(tl.int64)
    if x.numel == 1:
        tl.store(trace_ptr + k * 4096, wide if x.shape == () else tl.sum(wide))
    else:
        tl.store(trace_ptr + (k * 4096 + tl.arange(0, x.numel)), tl.reshape(wide, [x.numel]))
"""


def assigned_names(statement):
    if isinstance(statement, ast.AugAssign):
        return [statement.target.id]
    if isinstance(statement, ast.Assign):
        return [node.id for node in ast.walk(statement.targets[0]) if isinstance(node, ast.Name)]
    return []


def instrument(text):
    """The text with a call of `record` after each assignment of the kernel, and how many there are."""
    kernel = next(node for node in ast.parse(text).body if getattr(node, "name", None) == "kernel")
    after = {}
    count = 0
    for statement in ast.walk(kernel):
        for name in assigned_names(statement):
            indent = " " * statement.col_offset
            after.setdefault(statement.end_lineno, []).append(f"{indent}record(trace_ptr, {count}, {name})")
            count += 1
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        lines += [line, *after.get(number, [])]
    text = "\n".join(lines)
    return text.replace("def kernel(", "def kernel(trace_ptr, ", 1), count


def compiled(text, grid, arguments, capfd):
    kernel = module_from(RECORD.format(show='tl.static_print("trace", k, x.type)') + text, HEADER).kernel
    capfd.readouterr()
    kernel[grid](*arguments)
    return {int(k): type for k, type in re.findall(r"^trace (\d+) (.*)$", capfd.readouterr().out, re.MULTILINE)}


def interpreted(text, grid, arguments, monkeypatch):
    text = RECORD.format(show="print(k, x)") + text
    kernel = module_from(
        text.replace("@triton.jit\ndef kernel", "@triton.jit(interpret=True)\ndef kernel"), HEADER
    ).kernel
    types = {}

    def take(k, value):
        kind, type, *_ = value._describe()
        assert kind == "tensor"
        assert types.setdefault(k, type) == type

    with monkeypatch.context() as patch:
        patch.setattr(builtins, "print", take)
        kernel[grid](*arguments)
    return types


def check(text, grid, arrays, numbers, capfd, monkeypatch):
    """`numbers` are arguments behind the arrays."""
    text, count = instrument(text)
    results = []
    for run, tool in ((compiled, capfd), (interpreted, monkeypatch)):
        trace = np.zeros((count, SLOT), np.int64)
        copies = [array.copy() for array in arrays]
        # Addresses are no results: each run has its own arrays.
        types = run(text, grid, [trace.reshape(-1), *copies, *numbers], tool)
        results.append((types, trace, copies))
    (types, trace, copies), (own_types, own_trace, own_copies) = results
    # Names of arms that no program took have a type only when they are compiled.
    assert own_types.items() <= types.items(), text
    for k, type in own_types.items():
        if "fp" in type or "bf" in type:
            a, b = trace[k].view(np.float64), own_trace[k].view(np.float64)
            bound = 2**-8 if "fp8" in type or "bf16" in type else 2**-10 if "fp16" in type else 2**-18
            with np.errstate(all="ignore"):
                near = (a == b) | (np.abs(a - b) <= bound * np.abs(a) + 1e-6) | (np.isnan(a) & np.isnan(b))
            assert near.all(), f"{k}: {type}\n{text}"
        elif "pointer" not in type:
            assert np.array_equal(trace[k], own_trace[k]), f"{k}: {type}\n{text}"
    for a, b in zip(copies, own_copies):
        if a.dtype.kind == "f":
            assert_within(b, a.astype(np.float64), 1e-5 * np.abs(a) + 1e-6)
        else:
            assert np.array_equal(a, b), text
    return own_types


PROGRAMS = {
    "promotion": """
@triton.jit
def kernel(x_ptr, out_ptr, n):
    offsets = tl.arange(0, 64)
    x = tl.load(x_ptr + offsets)
    one = 1
    a = x + 1
    b = x + 1.5
    c = x.to(tl.int8) + 100
    d = c * 2
    e = x.to(tl.uint32) + x
    f = x.to(tl.float16) * 0.1
    g = f.to(tl.bfloat16) + f
    h = x > 3
    i = h & (x < 9)
    j = ~i
    k = -x
    l = x // 3
    m = x % 3
    o = x / 3
    p = x << 2
    q = (x.to(tl.uint16) >> 1) + n
    r = n * 2.0
    s = n / 2
    t = tl.where(h, x, f)
    u = tl.minimum(x, 3) + tl.maximum(f, 0)
    v = f.to(tl.float8e5)
    w = v.to(tl.float32)
    y = not h
    z = h and (x > n)
    tl.store(out_ptr + offsets, a + l)
""",
    "control flow": """
@triton.jit
def pick(flag, x):
    if flag:
        return 1
    return x


@triton.jit
def pair(x, BY: tl.constexpr):
    return x * BY, x + 0.5


@triton.jit
def kernel(x_ptr, out_ptr, n):
    x = tl.load(x_ptr)
    y = 0
    if x > 3:
        y = x * 2
        inside = y + 1
    else:
        y = x - 1
        inside = y
    z = inside + 1
    total = 0
    half = 0.5
    for i in range(0, n):
        total += i * x
        half = half * 1.25
    last = total
    for i in tl.static_range(3):
        last = last + i
    k = n
    while k > 0:
        k -= 3
    chosen = x if x > 5 else 1
    picked = pick(x > 2, x)
    first, second = pair(x, 3)
    for j in range(10, 0, -3):
        first += j
    wide = tl.cast(5, tl.int64)
    for w in range(wide, n):
        wide = wide + w
    both = x > 1 and n > 1
    either = x > 100 or n > 100
    none = None is None and x > 2
    tl.store(out_ptr, z + last + k + chosen + picked + first)
""",
    "tiles": """
@triton.jit
def larger(a, b):
    return tl.where(a > b, a, b)


@triton.jit
def kernel(x_ptr, out_ptr, n):
    rows = tl.arange(0, 8)
    columns = tl.arange(0, 16)
    x = tl.load(x_ptr + rows[:, None] * 16 + columns[None, :])
    sums = tl.sum(x, axis=0)
    most = tl.max(x, axis=1)
    where = tl.argmax(x, axis=1)
    least, at = tl.min(x, axis=0, return_indices=True)
    folded = tl.reduce(x, 1, larger)
    running = tl.cumsum(x, axis=1)
    scanned = tl.associative_scan(x, 0, larger, reverse=True)
    turned = tl.trans(x)
    flat = tl.reshape(x, [128])
    wide = x.to(tl.float32)
    soft = tl.softmax(wide, 1)
    squashed = tl.sigmoid(wide)
    product = tl.dot(wide, tl.trans(wide))
    joined = tl.join(sums, sums + 1)
    a, b = tl.split(joined)
    both = tl.interleave(sums, a)
    counted = tl.histogram(tl.ravel(x) % 8, 8)
    picked = tl.gather(x, (x % 8).to(tl.int32), 0)
    e = tl.exp(wide * 0.01)
    root = tl.sqrt(tl.abs(wide))
    f = tl.fma(wide, wide, wide)
    c = tl.clamp(wide, -2.0, 2.0)
    v = tl.zeros([4], tl.float16) + 1
    u = tl.full((2, 2), 3, tl.int8)
    expanded = most[:, None] + sums[None, :]
    tl.store(out_ptr + rows, most + where)
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name, rng, capfd, monkeypatch):
    x = rng.integers(-100, 100, 128).astype(np.int32)
    types = check(PROGRAMS[name].lstrip(), (1,), [x, np.zeros(128, np.int32)], (7,), capfd, monkeypatch)
    assert len(types) > 15


def check_random(text, seed, capfd, monkeypatch):
    values = np.random.default_rng(seed)
    arrays = [values.integers(-(2**31), 2**31, REGION).astype(np.int32) for _ in range(2)]
    check(text, (1,), [*arrays, np.full(REGION, 7, np.int32)], (), capfd, monkeypatch)


@pytest.mark.parametrize("part", range(4))
def test_random_programs(part, rng, capfd, monkeypatch):
    first = int(rng.integers(2**31)) + part * 3 * RANDOM_FACTOR
    for seed in range(first, first + 3 * RANDOM_FACTOR):
        check_random(Generator(seed).program(), seed, capfd, monkeypatch)


@pytest.mark.parametrize("what", FOUND)
def test_programs_found_before(what, capfd, monkeypatch):
    check_random(FOUND[what].lstrip(), 1, capfd, monkeypatch)
