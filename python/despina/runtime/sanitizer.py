"""Faults of kernels that still give results: `DESPINA_SANITIZE=1` and `python -m despina sanitize script.py`.

Kernels are interpreted, and each fault is reported with the kernel's line and a program in which it happened.
"""

from __future__ import annotations

import atexit
import linecache
import random
import sys

from .. import knobs

# Memory that holds this word was never written: fresh arrays are filled with it under `despina sanitize`.
NEVER_WRITTEN = 0x9EB1_55ED_C0DE_A11D


class Report:
    """The faults of one kernel: what happened first in each line, and how often it happened."""

    def __init__(self, name):
        self.name = name
        self.faults = {}

    def add(self, file, line, kind, text, program):
        fault = self.faults.setdefault((file, line, kind), [text, program, 0])
        fault[2] += 1

    def text(self):
        lines = [f"{self.name}: {len(self.faults)} fault{'s' if len(self.faults) > 1 else ''}"]
        for (file, line, kind), (text, program, count) in sorted(self.faults.items()):
            more = f", and {count - 1} more" if count > 1 else ""
            lines.append(f"{file}:{line}: {kind}: {text} (program {program}{more})")
            source = linecache.getline(file, line).strip()
            if source:
                lines.append(f"    {source}")
        return "\n".join(lines) + "\n"


# All reports of this process by kernel, in the order of their first fault.
reports = {}


def is_on():
    """Whether kernels that are decorated now are looked after."""
    return knobs.runtime.sanitize


def _print_at_exit():
    for report in reports.values():
        sys.stderr.write(report.text())


def reporter(fn, launch):
    """What the session of a launch calls for each fault."""

    def report(kind, text):
        frame = sys._getframe(1)
        place = None
        # The kernel's own line, also when a function that it calls is at fault: the innermost frame names that one.
        while frame is not None and place is None:
            if any(name.startswith("_despina_") for name in frame.f_code.co_freevars):
                place = frame.f_code.co_filename, frame.f_lineno
            frame = frame.f_back
        file, line = place or (fn.fn.__code__.co_filename, fn.starting_line_number)
        if not reports:
            atexit.register(_print_at_exit)
        reports.setdefault(fn, Report(fn.__name__)).add(file, line, kind, text, launch.program)

    return report


def in_order(programs):
    """The programs in the order that DESPINA_SANITIZE_ORDER names: as they are, `reverse`, or `random:SEED`."""
    order = knobs.runtime.sanitize_order
    if not order:
        return programs
    programs = list(programs)
    if order == "reverse":
        return programs[::-1]
    kind, _, seed = order.partition(":")
    if kind != "random" or not seed.isdigit():
        raise ValueError(f"DESPINA_SANITIZE_ORDER is reverse or random:SEED, with a number as seed; got {order!r}")
    random.Random(int(seed)).shuffle(programs)
    return programs


def _fill(array):
    """Marks the memory of a fresh NumPy array as never written."""
    import numpy

    if array.flags.c_contiguous and not array.dtype.hasobject and array.nbytes >= 8:
        words = array.reshape(-1).view(numpy.uint8)[: array.nbytes // 8 * 8].view(numpy.uint64)
        words[:] = NEVER_WRITTEN
    return array


def _fill_tensor(tensor):
    if tensor.device.type == "cpu" and tensor.is_contiguous() and tensor.nbytes >= 8:
        _fill(tensor.view(-1).view(sys.modules["torch"].uint8).numpy())
    return tensor


def _wrap(module, name, fill):
    original = getattr(module, name)

    def fresh(*args, **kwargs):
        return fill(original(*args, **kwargs))

    setattr(module, name, fresh)


def mark_fresh_arrays():
    """From now on `empty` and `empty_like` of NumPy and torch give memory that counts as never written."""
    import importlib.util

    import numpy

    for name in ("empty", "empty_like"):
        _wrap(numpy, name, _fill)
    if importlib.util.find_spec("torch"):
        import torch

        for name in ("empty", "empty_like"):
            _wrap(torch, name, _fill_tensor)
