"""Kernels that Python runs: `@jit(interpret=True)`."""

from __future__ import annotations

import io
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from helpers import module_from

import despina as triton
from despina import InterpreterError, knobs
from despina.runtime import interpreter

pytestmark = pytest.mark.cpu_only("the interpreter runs on the host")

module = module_from(
    """
import pdb

FACTOR = tl.constexpr(3)


@triton.jit
def double(x):
    return x * 2


@triton.jit
def pick(flag, x):
    if flag:
        return 1
    return x


@triton.jit
def larger(a, b):
    if a > b:
        return a
    else:
        return b


@triton.jit
def chained(slope, offset, next_slope, next_offset):
    return slope * next_slope, offset * next_slope + next_offset


@triton.jit(interpret=True)
def shows(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    print("x =", x, x.shape, x.dtype, x + 1)
    tl.store(out_ptr + offsets, double(x) * FACTOR)


@triton.jit(interpret=True)
def stops(x_ptr, out_ptr):
    x = tl.load(x_ptr)
    y = x + 1
    breakpoint()
    tl.store(out_ptr, y)


@triton.jit(interpret=True)
def traces(x_ptr):
    import pdb
    pdb.set_trace()
    tl.store(x_ptr, 1)


@triton.jit(interpret=True)
def asserts(x_ptr, out_ptr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    tl.store(out_ptr + offsets, x + 1)
    tl.device_assert(x < 30, "too large")


@triton.jit(interpret=True)
def python_fails(out_ptr):
    pid = tl.program_id(0)
    tl.store(out_ptr + pid, pid + 1)
    print(f"{1 // (int(str(pid)[14:-1]) - 37)}")


@triton.jit(interpret=True)
def waits(out_ptr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    tl.store(out_ptr + pid, 1)
    if pid == 3:
        print("waiting", flush=True)
        i = 0
        while i < 1000000000:
            i += 1
    tl.store(out_ptr + pid, 2)


@triton.jit(interpret=True)
def beyond(x_ptr, out_ptr):
    tl.store(out_ptr, tl.load(x_ptr + 1000000000000))


@triton.jit(interpret=True)
def mismatched(x_ptr):
    x = tl.load(x_ptr + tl.arange(0, 16)) + tl.arange(0, 8)
    tl.store(x_ptr + tl.arange(0, 16), x)


@triton.jit(interpret=True)
def reduces(x_ptr, out_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.store(out_ptr, tl.reduce(x, 0, larger))
    slope, offset = tl.reduce((x, x), 0, chained)
    tl.store(out_ptr + 1, slope)
    tl.store(out_ptr + 2, offset)
    tl.store(out_ptr + 8 + tl.arange(0, BLOCK), tl.associative_scan(x, 0, larger))


@triton.jit(interpret=True)
def returns(x_ptr, out_ptr):
    x = tl.load(x_ptr)
    y = pick(x > 5, x)
    tl.static_assert(y.dtype == tl.int32)
    tl.store(out_ptr, y)


@triton.jit(interpret=True)
def strided(x_ptr, out_ptr, stride, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets * stride, tl.load(x_ptr + offsets * stride, mask=offsets < n, other=-1) * 10)
"""
)


def test_print_shows_values(capsys, rng):
    x = rng.integers(0, 100, 4).astype(np.int32)
    out = np.zeros_like(x)
    assert module.shows[(1,)](x, out, BLOCK=4) is None
    assert np.array_equal(out, x * 6)
    said = capsys.readouterr().out
    before, after = (", ".join(map(str, array)) for array in (x, x + 1))
    spaceless = said.replace(" ", "")
    assert f"x=tensor(<[4],int32>,[{before}])(4,)int32tensor(<[4],int32>,[{after}])\n".replace(" ", "") == spaceless


def test_breakpoint_sees_the_names_of_the_kernel(monkeypatch):
    seen = []

    def hook():
        frame = sys._getframe(1)
        seen.append((frame.f_code.co_name, frame.f_lineno, str(frame.f_locals["y"]), frame.f_code.co_filename))

    monkeypatch.setattr(sys, "breakpointhook", hook)
    x, out = np.array([41], np.int32), np.zeros(1, np.int32)
    module.stops[(2,)](x, out)
    assert out[0] == 42
    line = module.stops.starting_line_number + 4
    assert seen == [("stops", line, "tensor(int32, 42)", module.__file__)] * 2


def run_program(body, **options):
    """A Python process of its own that has the kernels of this file as `kernels`."""
    text = f"""
import importlib.util
import signal
import numpy as np
signal.signal(signal.SIGINT, signal.default_int_handler)  # A shell's background jobs ignore it.
spec = importlib.util.spec_from_file_location("kernels", {module.__file__!r})
kernels = importlib.util.module_from_spec(spec)
spec.loader.exec_module(kernels)
{body}
"""
    return subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True, **options)


def test_pdb_runs_inside_of_a_kernel():
    program = "x = np.zeros(1, np.int32)\nkernels.traces[(1,)](x)\nprint(x[0])"
    said, _ = run_program(program, stdin=subprocess.PIPE).communicate("p x_ptr\nc\n", timeout=60)
    assert "tensor(pointer<int32>, " in said and said.endswith("1\n")


def test_a_failure_names_program_line_and_operands():
    x = np.arange(64, dtype=np.int32)
    out = np.zeros(64, np.int32)
    with pytest.raises(InterpreterError) as caught:
        module.asserts[(8,)](x, out, BLOCK=8)
    text = str(caught.value)
    line = module.asserts.starting_line_number + 6
    assert "AssertionError('device-side assert: too large (element (6))')" in text
    assert "in program (3, 0, 0) of the grid (8, 1, 1)" in text
    assert f'{module.__file__}:{line}: tl.device_assert(x < 30, "too large")' in text
    assert "operands: int1[8], too large" in text
    assert isinstance(caught.value.__cause__, AssertionError)
    # Of the programs that completed everything is there, of the one that failed nothing.
    assert np.array_equal(out[:24], x[:24] + 1) and not out[24:].any()


def test_an_exception_of_python_names_the_program():
    out = np.zeros(100, np.int32)
    place = r"in program \(37, 0, 0\) of the grid \(100, 1, 1\)"
    with pytest.raises(InterpreterError, match=rf"ZeroDivisionError.*\n  {place}"):
        module.python_fails[(100,)](out)
    assert np.array_equal(out[:37], np.arange(1, 38)) and not out[37:].any()


def test_front_end_debugging_lets_exceptions_through():
    with knobs.compilation.scope():
        knobs.compilation.front_end_debugging = True
        with pytest.raises(ZeroDivisionError):
            module.python_fails[(100,)](np.zeros(100, np.int32))


def test_memory_that_is_not_there_is_an_error():
    with pytest.raises(InterpreterError, match="tl.load reads 4 bytes at 0x[0-9a-f]+, where no memory is"):
        module.beyond[(1,)](np.zeros(1, np.float32), np.zeros(1, np.float32))


def test_errors_of_the_front_end_come_first(capsys):
    with pytest.raises(triton.CompilationError, match="Cannot make_shape_compatible|incompatible"):
        module.mismatched[(1,)](np.zeros(16, np.int32))


def test_combine_functions_that_branch():
    x = np.array([3, -1, 7, 7, 0, 12, -5, 2], np.int32)
    out = np.zeros(16, np.int32)
    module.reduces[(1,)](x, out, BLOCK=8)
    slope, offset = 1, 0
    for i, value in enumerate(map(int, x)):
        slope, offset = (slope * value, offset * value + value) if i else (value, value)
    assert out[0] == 12 and out[1] == slope and out[2] == offset
    assert np.array_equal(out[8:], np.maximum.accumulate(x))


@pytest.mark.parametrize("value", [3, 9])
def test_returns_under_conditions_are_run_time_values(value):
    out = np.zeros(1, np.int32)
    module.returns[(1,)](np.array([value], np.int32), out)
    assert out[0] == (1 if value > 5 else value)


def test_views_are_written_where_they_are():
    base = np.arange(40, dtype=np.float32)
    out = np.zeros((8, 5), np.float32)
    column = out[:, 2]
    module.strided[(1,)](base[1:], column, 5, 4, BLOCK=8)
    assert np.array_equal(column[:4], base[1::5][:4] * 10) and (column[4:] == -10).all()
    assert not np.delete(out, 2, axis=1).any()


def test_threads_have_launches_of_their_own():
    failures = []

    def work(seed):
        x = np.random.default_rng(seed).integers(0, 100, 64).astype(np.int32) % 30
        out = np.zeros(64, np.int32)
        for _ in range(5):
            module.asserts[(8,)](x, out, BLOCK=8)
        if not np.array_equal(out, x + 1):
            failures.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_ctrl_c_stops_and_keeps_what_completed():
    process = run_program("""
out = np.zeros(8, np.int32)
try:
    kernels.waits[(8,)](out, BLOCK=8)
except KeyboardInterrupt as error:
    print(error)
print(list(map(int, out)))
""")
    assert process.stdout.readline() == "waiting\n"
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=60)
    assert said.splitlines() == [
        "interrupted in program (3, 0, 0) of the grid (8, 1, 1): "
        "the arguments hold what the 3 of 8 programs before it wrote, and nothing of this one",
        "[2, 2, 2, 0, 0, 0, 0, 0]",
    ]


def test_values_do_not_outlive_their_launch(monkeypatch):
    kept = []
    monkeypatch.setattr(sys, "breakpointhook", lambda: kept.append(sys._getframe(1).f_locals["x"]))
    module.stops[(1,)](np.array([41], np.int32), np.zeros(1, np.int32))
    assert str(kept[0]) == "tensor(int32, 41)"
    with pytest.raises(RuntimeError, match="a launch of a kernel that has ended"):
        kept[0] + 1


def test_a_launch_that_takes_long_shows_how_far_it_is(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(interpreter, "_PATIENCE", 0.0)
    monkeypatch.setattr(interpreter, "_REFRESH", 0.0)
    for stream, shows in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr(sys, "stderr", stream)
        module.asserts[(4,)](np.zeros(32, np.int32), np.zeros(32, np.int32), BLOCK=8)
        said = stream.getvalue()
        assert ("\rasserts: [####################....................] 2/4 programs" in said) == shows
        assert said.endswith("\r\x1b[K") == shows
