"""Random programs give the same bits compiled and executed statement by statement.

Each program mixes arithmetic, shape operations, reductions, scans, loads and stores that touch the same memory,
loops and branches, so that what the compiler moves, fuses, recomputes or updates in place shows.
"""

from __future__ import annotations

import random

import eager
import numpy as np
import pytest
from helpers import RANDOM_FACTOR, module_from, on_gpu

REGION = 4096  # elements of each array that belong to one program
GRID = 3


class Generator:
    """Writes the body of one kernel."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.depth = 1
        self.count = 0
        self.tiles = {}  # name -> shape, of what can be read here

    def write(self, line):
        self.lines.append("    " * self.depth + line)

    def name(self):
        self.count += 1
        return f"t{self.count}"

    def define(self, text, shape):
        name = self.name()
        self.write(f"{name} = {text}")
        self.tiles[name] = tuple(shape)
        return name

    def pick(self, predicate=lambda shape: True):
        names = [name for name, shape in self.tiles.items() if predicate(shape)]
        return self.random.choice(names[-12:]) if names else None

    def shape(self):
        if self.random.random() < 0.3:
            return (self.random.choice([1, 2, 8, 16, 64, 256]),)
        return (self.random.choice([1, 2, 4, 16, 32]), self.random.choice([1, 2, 8, 16, 32, 64]))

    # Memory: an index that gives each element of a tile a place of its own in the program's region.

    def place(self, shape):
        size = int(np.prod(shape))
        step = self.random.choice([1, 1, 1, 2, 3]) if size * 3 < REGION else 1
        base = self.random.randrange(REGION - size * step + 1)
        if len(shape) == 1:
            inner = f"tl.arange(0, {shape[0]}) * {step}"
            if self.random.random() < 0.2:
                inner = f"({shape[0] - 1} - tl.arange(0, {shape[0]})) * {step}"
        else:
            rows, columns = shape
            row_step, column_step = (columns * step, step) if self.random.random() < 0.7 else (step, rows * step)
            inner = f"tl.arange(0, {rows})[:, None] * {row_step} + tl.arange(0, {columns})[None, :] * {column_step}"
        return f"base + {base} + {inner}"

    def mask(self, shape):
        kind = self.random.random()
        if kind < 0.4:
            return None
        axis = self.random.randrange(len(shape))
        if kind < 0.8:
            limit = self.random.randrange(-1, shape[axis] + 2)
            index = f"tl.arange(0, {shape[axis]})"
            if len(shape) == 2:
                index += "[:, None]" if axis == 0 else "[None, :]"
            return f"{index} < {limit}"
        name = self.pick(lambda other: other == shape)
        return f"({name} & 3) != 1" if name else None

    def load(self):
        shape = self.shape()
        mask = self.mask(shape)
        array = self.random.choice(["a_ptr", "b_ptr"])
        place = self.place(shape)
        if mask is None:
            self.define(f"tl.load({array} + ({place}))", shape)
        else:
            other = self.random.randrange(-5, 6)
            # Without a full-shaped pointer the result would take the mask's shape.
            self.define(f"tl.load({array} + ({place}), mask={mask}, other={other})", shape)

    def store(self):
        name = self.pick()
        if not name:
            return
        shape = self.tiles[name]
        mask = self.mask(shape)
        array = self.random.choice(["a_ptr", "b_ptr"])
        tail = f", mask={mask}" if mask else ""
        self.write(f"tl.store({array} + ({self.place(shape)}), {name}{tail})")

    # Values.

    def operand(self, shape):
        """Something that broadcasts to `shape`."""
        fits = lambda other: len(other) == len(shape) and all(x in (1, y) for x, y in zip(other, shape))  # noqa: E731
        if self.random.random() < 0.75:
            name = self.pick(fits)
            if name:
                return name
        return str(self.random.randrange(-7, 8))

    def arithmetic(self):
        x = self.pick()
        if not x:
            return
        shape = self.tiles[x]
        y = self.operand(shape)
        kind = self.random.randrange(10)
        if kind < 5:
            text = f"{x} {self.random.choice(['+', '-', '*', '&', '|', '^'])} {y}"
        elif kind == 5:
            text = f"{x} {self.random.choice(['<<', '>>'])} {self.random.randrange(0, 5)}"
        elif kind == 6:
            text = f"{x} {self.random.choice(['//', '%'])} {self.random.choice([-3, 2, 5, 16])}"
        elif kind == 7:
            text = f"tl.{self.random.choice(['minimum', 'maximum'])}({x}, {y})"
        else:
            comparison = self.random.choice(["<", "<=", "==", "!=", ">", ">="])
            text = f"tl.where({x} {comparison} {self.operand(shape)}, {x}, {y})"
        self.define(text, shape)

    def reshape(self):
        x = self.pick()
        if not x:
            return
        shape = self.tiles[x]
        size = int(np.prod(shape))
        kind = self.random.randrange(6)
        if kind == 0 and len(shape) == 2:
            self.define(f"tl.trans({x})", shape[::-1])
        elif kind == 1:
            rows = 2 ** self.random.randrange(size.bit_length())
            self.define(f"tl.reshape({x}, ({rows}, {size // rows}))", (rows, size // rows))
        elif kind == 2 and size <= 1024:
            self.define(f"tl.reshape({x}, ({size},))", (size,))
        elif kind == 3 and size <= 512:
            y = self.pick(lambda other: other == shape)
            self.define(f"tl.interleave({x}, {y})", (*shape[:-1], shape[-1] * 2))
        elif kind == 4 and len(shape) == 2 and shape[1] == 2:
            left, right = self.name(), self.name()
            self.write(f"{left}, {right} = tl.split({x})")
            self.tiles[left] = self.tiles[right] = shape[:1]
        elif kind == 5 and len(shape) == 1:
            target = self.random.choice([4, 16])
            if size * target > REGION:  # No place for it in memory.
                return
            if self.random.random() < 0.5:
                self.define(f"tl.broadcast_to({x}[:, None], ({shape[0]}, {target}))", (shape[0], target))
            else:
                self.define(f"tl.broadcast_to({x}[None, :], ({target}, {shape[0]}))", (target, shape[0]))

    def reduce(self):
        x = self.pick(lambda shape: len(shape) == 2)
        if not x:
            return
        shape = self.tiles[x]
        axis = self.random.randrange(2)
        if self.random.random() < 0.4:
            reverse = self.random.choice([True, False])
            self.define(f"tl.cumsum({x}, axis={axis}, reverse={reverse})", shape)
        else:
            function = self.random.choice(["sum", "max", "min"])
            self.define(f"tl.{function}({x}, axis={axis})", (shape[1 - axis],))

    # Control flow.

    def loop(self):
        carried = [name for name in {self.pick(), self.pick()} if name]
        if self.depth > 2 or not carried:
            return
        state = self.name()
        carried = sorted(carried)
        for index, name in enumerate(carried):
            self.write(f"{state}_{index} = {name} + 0")
        self.write(f"for i in range(0, {self.random.randrange(0, 5)}):")
        outer = dict(self.tiles)
        for index, name in enumerate(carried):
            self.tiles[f"{state}_{index}"] = self.tiles[name]
        self.depth += 1
        self.body(self.random.randrange(1, 5))
        for index, name in enumerate(carried):
            shape = self.tiles[name]
            self.write(f"{state}_{index} = {state}_{index} * 3 + {self.operand(shape)} + i")
        if self.random.random() < 0.5 and len(carried) == 2 and len({self.tiles[n] for n in carried}) == 1:
            self.write(f"{state}_0, {state}_1 = {state}_1, {state}_0")
        self.depth -= 1
        self.tiles = outer
        for index, name in enumerate(carried):
            self.tiles[f"{state}_{index}"] = outer[name]

    def branch(self):
        x = self.pick()
        if self.depth > 2 or not x:
            return
        row = f"tl.sum({x}, axis=0)" if len(self.tiles[x]) == 2 else x
        flat = self.name()
        self.write(f"{flat} = tl.sum({row}, axis=0)")
        result = self.name()
        self.write(f"{result} = {x} + 1")
        outer = dict(self.tiles)
        for head in (f"if ({flat} & 1) == 0:", "else:"):
            self.write(head)
            self.depth += 1
            self.body(self.random.randrange(1, 4))
            self.write(f"{result} = {result} * 2 + {self.operand(self.tiles[x])}")
            self.depth -= 1
            self.tiles = dict(outer)
        self.tiles[result] = outer[x]

    def body(self, statements):
        for _ in range(statements):
            step = self.random.choices(
                [self.load, self.store, self.arithmetic, self.reshape, self.reduce, self.loop, self.branch],
                [5, 4, 8, 4, 3, 1.5, 1],
            )[0]
            step()

    def program(self):
        self.write(f"base = tl.program_id(0) * {REGION}")
        self.load()
        self.body(self.random.randrange(8, 30))
        position = 0
        for name, shape in list(self.tiles.items())[-6:]:
            size = int(np.prod(shape))
            if position + size > REGION:
                break
            index = f"tl.arange(0, {shape[0]})"
            if len(shape) == 2:
                index = f"tl.arange(0, {shape[0]})[:, None] * {shape[1]} + tl.arange(0, {shape[1]})[None, :]"
            self.write(f"tl.store(out_ptr + (base + {position} + {index}), {name})")
            position += size
        return "@triton.jit\ndef kernel(a_ptr, b_ptr, out_ptr):\n" + "\n".join(self.lines) + "\n"


def with_barriers(text):
    """On a GPU the threads of a program need a barrier where one reads or overwrites what another has written."""
    lines = []
    for line in text.splitlines():
        indent = line[: len(line) - len(line.lstrip())]
        is_access = "tl.load(" in line or "tl.store(" in line
        barrier = [f"{indent}tl.debug_barrier()"] if is_access else []
        lines += [*barrier, line, *barrier]
    return "\n".join(lines) + "\n"


def check_program(text, seed, what):
    values = np.random.default_rng(seed)
    arrays = {name: values.integers(-(2**31), 2**31, REGION * GRID).astype(np.int32) for name in ("a_ptr", "b_ptr")}
    arrays["out_ptr"] = np.full(REGION * GRID, -559038737, np.int32)
    expected = {name: array.copy() for name, array in arrays.items()}
    eager.run(text, GRID, expected)
    module_from(with_barriers(text) if on_gpu() else text).kernel[(GRID,)](*arrays.values())
    for name, array in arrays.items():
        wrong = np.flatnonzero(array != expected[name])
        assert not wrong.size, f"{what}: {name} differs first at {wrong[0]}\n{text}"


@pytest.mark.parametrize("part", range(8))
def test_random_programs(part, rng):
    first = int(rng.integers(2**31)) + part * 5 * RANDOM_FACTOR
    for seed in range(first, first + 5 * RANDOM_FACTOR):
        check_program(Generator(seed).program(), seed, f"seed {seed}")


# Reduced from programs that once gave wrong results.
FOUND = {
    "an initial value was computed into the buffer of another one": """
@triton.jit
def kernel(a_ptr, b_ptr, out_ptr):
    base = tl.program_id(0) * 4096
    x = tl.load(b_ptr + (base + 2213 + tl.arange(0, 16) * 3))
    y = tl.where(x <= -1, x, 3)
    product = x * y
    tl.store(a_ptr + (base + 2566 + (15 - tl.arange(0, 16)) * 1), x, mask=tl.arange(0, 16) < 10)
    mixed = product ^ x
    total = tl.sum(y, axis=0)
    z = y + 1
    if (total & 1) == 0:
        z = z * 2 + y
    first = mixed + 0
    second = product + 0
    for i in range(0, 2):
        first, second = second, first
    tl.store(out_ptr + (base + 80 + tl.arange(0, 16)), first)
    tl.store(out_ptr + (base + 180 + tl.arange(0, 16)), z)
""",
    "the target of an inner loop was read in the outer loop over the same name": """
@triton.jit
def kernel(a_ptr, b_ptr, out_ptr):
    base = tl.program_id(0) * 4096
    x = tl.load(a_ptr + (base + tl.arange(0, 16)))
    y = x + 0
    for i in range(0, 3):
        for i in range(0, 4):
            y = y * 3 + i
        x = x * 5 + i
    tl.store(out_ptr + (base + tl.arange(0, 16)), x + y)
""",
    "the target of an inner loop was read in the next iteration of the outer loop": """
@triton.jit
def kernel(a_ptr, b_ptr, out_ptr):
    base = tl.program_id(0) * 4096
    x = tl.load(a_ptr + (base + tl.arange(0, 16)))
    i = tl.program_id(0) + 7
    for k in range(0, 3):
        x = x * 5 + i
        for i in range(0, 2):
            x = x ^ 3
    tl.store(out_ptr + (base + tl.arange(0, 16)), x + i)
""",
}


@pytest.mark.parametrize("what", FOUND)
def test_programs_found_before(what):
    check_program(FOUND[what].lstrip(), 1, what)
