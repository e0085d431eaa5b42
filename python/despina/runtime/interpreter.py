"""Kernels that Python runs: `TRITON_INTERPRET=1` and `@jit(interpret=True)`.

The front end checks the kernel for the arguments first, so that errors are those of a compilation. Then the function
runs once for each program, one after the other, and every operation computes at once. What a program writes stays when
the program has ended; one that stops half-way leaves nothing.
"""

from __future__ import annotations

import bdb
import itertools
import linecache
import sys
import time

from .. import _native, knobs
from ..compiler.compiler import _unwrap
from ._rewrite import rewritten
from ._staging import Staging
from . import sanitizer
from .errors import InterpreterError
from .jit import JITFunction

__all__ = ["InterpretedFunction", "InterpreterError"]

# After how many seconds of a launch a terminal shows how far it is, and how often after that.
_PATIENCE, _REFRESH = 2.0, 0.2


def _call_function(fn, args, kwargs):
    """A call of one jit function by another."""
    return rewritten(fn)(*args, **kwargs)


def _slots_of(type):
    """How many slots a runtime argument takes: a descriptor's are its address, extents, and strides but the last."""
    return 2 * (type.count(",", 0, type.index("]")) + 1) if type.startswith("tensordesc") else 1


def _argument(session, entry, slots, staging):
    """The value of a parameter inside the kernel."""
    _, type, constant, _, elements = entry
    if elements is not None:
        values = [_argument(session, element, slots, staging) for element in elements]
        return getattr(constant.__class__, "_make", tuple)(values)
    if type is None:
        return constant
    leaves = list(itertools.islice(slots, _slots_of(type)))
    if type.startswith(("*", "tensordesc")):
        leaves[0] = staging.host_address(leaves[0])
    return session.descriptor(type, leaves) if type.startswith("tensordesc") else session.scalar(type, leaves[0])


class _Progress:
    """Shows on a terminal how many programs have run, for launches that take long."""

    def __init__(self, name, total):
        self.name, self.total = name, total
        self.next = time.monotonic() + _PATIENCE
        self.shown = False

    def step(self, done):
        now = time.monotonic()
        if now < self.next:
            return
        if not sys.stderr.isatty():
            self.next = float("inf")
            return
        self.next = now + _REFRESH
        self.shown = True
        filled = 40 * done // self.total
        bar = "#" * filled + "." * (40 - filled)
        sys.stderr.write(f"\r{self.name}: [{bar}] {done}/{self.total} programs")
        sys.stderr.flush()

    def finish(self):
        if self.shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def _kernel_frame(traceback):
    """(file, line) of the innermost frame that is a kernel's."""
    found = None
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if any(name.startswith("_despina_") for name in code.co_freevars):
            found = code.co_filename, traceback.tb_lineno
        traceback = traceback.tb_next
    return found


def _describe(error, program, grid):
    """What a person wants to know of an exception inside a kernel."""
    lines = [repr(error), f"  in program {program} of the grid {grid}"]
    place = _kernel_frame(error.__traceback__)
    if place:
        lines.append(f"  at {place[0]}:{place[1]}: {linecache.getline(*place).strip()}")
    operands = getattr(error, "_operands", None)
    if operands:
        lines.append(f"  operands: {operands}")
    return "\n".join(lines)


def _left(done, total):
    return f"the arguments hold what the {done} of {total} programs before it wrote, and nothing of this one"


class _Launch:
    """One run of a grid."""

    def __init__(self, fn, grid):
        self.fn, self.grid = fn, grid
        self.total = grid[0] * grid[1] * grid[2]
        self.program = (0, 0, 0)
        self.sanitizes = sanitizer.is_on()
        self.session = _native.Session(_call_function, sanitizer.reporter(fn, self) if self.sanitizes else None)
        self.done = 0

    def programs(self):
        programs = itertools.product(*map(range, self.grid))
        return sanitizer.in_order(programs) if self.sanitizes else programs

    def run(self, arguments, slots, staging):
        session, function, progress = self.session, rewritten(self.fn), _Progress(self.fn.__name__, self.total)
        for begin, end, name in staging.host_regions:
            session.add_memory(begin, end, name, sanitizer.NEVER_WRITTEN)
        session.begin()
        try:
            slots = iter(slots)
            values, variadic = [], ()
            for parameter, entry in zip(self.fn.params, arguments):
                value = _argument(session, entry, slots, staging)
                if parameter.is_variadic:
                    variadic = value
                else:
                    values.append(value)
            for program in self.programs():
                self.program = program
                session.set_program(program, self.grid)
                function(*values, *variadic)
                session.commit()
                self.done += 1
                progress.step(self.done)
        except BaseException:
            session.roll_back()
            raise
        finally:
            session.end()
            progress.finish()
            staging.write_back()

    def guarded(self, arguments, slots, staging):
        """As `run`, with exceptions that say where."""
        try:
            self.run(arguments, slots, staging)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(
                f"interrupted in program {self.program} of the grid {self.grid}: {_left(self.done, self.total)}"
            ) from None
        except (InterpreterError, bdb.BdbQuit):
            raise
        except Exception as error:
            if knobs.compilation.front_end_debugging:
                raise
            text = f"{_describe(error, self.program, self.grid)}\n  {_left(self.done, self.total)}"
            raise InterpreterError(text) from error


class InterpretedFunction(JITFunction):
    """A kernel that Python runs instead of a compiler."""

    _interprets = True

    def __init__(self, fn, **options):
        super().__init__(fn, **options)
        self._checked = {}

    def __getitem__(self, grid):
        return self._dispatcher.bind(grid)

    def _unsafe_update_src(self, new_src):
        super()._unsafe_update_src(new_src)
        self._checked.clear()

    def _check(self, key, arguments):
        """The errors of a compilation for such arguments, and of constants that changed since."""
        used = self._checked.get(key)
        if used is None:
            used = self._checked[key] = _native.check(self._handle, [_unwrap(entry) for entry in arguments])
            return
        for container, name, value in used:
            now = container.get(name) if isinstance(container, dict) else container.cell_contents
            if now is not value and (type(now) is not type(value) or now != value):
                raise RuntimeError(
                    f"Global variable {name} has changed since we compiled this kernel, from {value} to {now}"
                )

    def _interpret(self, key, arguments, slots, grid, bound, device):
        """Called by the native dispatcher for each launch and warm-up."""
        self._check(key, arguments)
        if grid is None or 0 in grid:
            return None
        _Launch(self, grid).guarded(arguments, slots, Staging(bound, device, exact=sanitizer.is_on()))
        return None
