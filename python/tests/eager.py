"""A stand-in for `tl` on NumPy int32 arrays: random programs run under it as plain Python, statement by statement."""

from __future__ import annotations

import numpy as np


class Tile(np.ndarray):
    """int32 or bool values with the language's rules where NumPy's differ: `//` and `%` cut towards zero."""

    def __floordiv__(self, other):
        a, b = np.broadcast_arrays(self.astype(np.int64), np.asarray(other, dtype=np.int64))
        return tile((np.abs(a) // np.abs(b)) * np.sign(a) * np.sign(b))

    def __mod__(self, other):
        return tile(self.astype(np.int64) - (self // other).astype(np.int64) * np.asarray(other, dtype=np.int64))

    def __bool__(self):
        return bool(self.item())


def tile(values):
    array = np.asarray(values)
    if array.dtype != np.bool_:
        array = array.astype(np.int32)
    return array.view(Tile)


class Pointer:
    """Offsets into a flat array."""

    def __init__(self, array, offsets=0):
        self.array = array
        self.offsets = np.asarray(offsets, dtype=np.int64)

    def __add__(self, offsets):
        return Pointer(self.array, self.offsets + np.asarray(offsets, dtype=np.int64))


class Language:
    """The functions that random programs use."""

    def __init__(self, program):
        self.program = program

    def program_id(self, axis):
        return tile(self.program)

    def arange(self, start, end):
        return tile(np.arange(start, end))

    def full(self, shape, value, dtype):
        return tile(np.full(shape, value))

    int32 = np.int32

    def load(self, pointer, mask=None, other=0):
        if mask is None:
            return tile(pointer.array[pointer.offsets])
        offsets, mask, other = np.broadcast_arrays(pointer.offsets, mask, other)
        result = np.array(other, dtype=np.int32)
        result[mask] = pointer.array[offsets[mask]]
        return tile(result)

    def store(self, pointer, value, mask=True):
        offsets, mask = np.broadcast_arrays(pointer.offsets, mask)
        pointer.array[offsets[mask]] = np.broadcast_to(value, offsets.shape)[mask]

    def where(self, condition, x, y):
        return tile(np.where(condition, x, y))

    def minimum(self, x, y):
        return tile(np.minimum(x, y))

    def maximum(self, x, y):
        return tile(np.maximum(x, y))

    def trans(self, x):
        return tile(np.asarray(x).T)

    def reshape(self, x, shape):
        return tile(np.asarray(x).reshape(shape))

    def join(self, x, y):
        return tile(np.stack([x, y], axis=-1))

    def split(self, x):
        return tile(x[..., 0]), tile(x[..., 1])

    def interleave(self, x, y):
        joined = np.stack([x, y], axis=-1)
        return tile(joined.reshape(*joined.shape[:-2], -1))

    def cat(self, x, y, can_reorder=False):
        return tile(np.concatenate([x, y]))

    def broadcast_to(self, x, shape):
        return tile(np.broadcast_to(x, shape))

    def sum(self, x, axis=None):
        return tile(np.sum(np.asarray(x), axis=axis, dtype=np.int32))

    def max(self, x, axis=None):
        return tile(np.max(np.asarray(x), axis=axis))

    def min(self, x, axis=None):
        return tile(np.min(np.asarray(x), axis=axis))

    def cumsum(self, x, axis=0, reverse=False):
        array = np.asarray(x)
        if reverse:
            array = np.flip(array, axis)
        result = np.cumsum(array, axis=axis, dtype=np.int32)
        return tile(np.flip(result, axis) if reverse else result)


def run(text, grid, arrays):
    """Runs the function `kernel` of a program's text for every program, on arrays by parameter name."""
    lines = text.splitlines()
    body = "\n".join(line for line in lines if not line.startswith("@"))
    for program in range(grid):
        scope = {"tl": Language(program)}
        exec(body, scope)
        with np.errstate(all="ignore"):
            scope["kernel"](**{name: Pointer(array) for name, array in arrays.items()})
