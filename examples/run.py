"""Compiles the examples for this processor, runs them, checks each against NumPy and prints a table.

    .venv/bin/python examples/run.py [--only NAME] [--seed N]

Exits with 1 when a result is wrong.
"""

from __future__ import annotations

import argparse
import os
import sys
import time

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import workloads  # noqa: E402


def examples(rng):
    """(name, function that makes the workload): made one at a time, they need much memory."""
    return [
        ("add", lambda: workloads.vector_add(98_432, rng)),
        ("add", lambda: workloads.vector_add(1 << 25, rng)),
        ("softmax", lambda: workloads.softmax(1823, 781, rng)),
        ("softmax", lambda: workloads.softmax(4096, 1024, rng)),
        ("layer_norm", lambda: workloads.layer_norm(1151, 8_191, rng)),
        ("layer_norm", lambda: workloads.layer_norm(4099, 523, rng)),
        ("matmul", lambda: workloads.matmul(515, 389, 771, rng)),
        ("matmul", lambda: workloads.matmul(1024, 1024, 1024, rng)),
        ("attention", lambda: workloads.attention(4, 1024, 64, False, rng)),
        ("attention", lambda: workloads.attention(4, 1024, 64, True, rng)),
        ("attention", lambda: workloads.attention(3, 997, 64, True, rng)),
    ]


def best_time(function, seconds=0.3):
    """The shortest of several runs."""
    best, begin = float("inf"), time.perf_counter()
    while True:
        start = time.perf_counter()
        function()
        now = time.perf_counter()
        best = min(best, now - start)
        if now - begin > seconds:
            return best


def shown(seconds):
    return f"{seconds * 1e3:9.3f} ms"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", help="run one example: add, softmax, layer_norm, matmul or attention")
    parser.add_argument("--seed", type=int, default=None, help="of the random inputs; a new one each time")
    options = parser.parse_args()
    seed = np.random.SeedSequence().entropy % 2**32 if options.seed is None else options.seed
    chosen = [make for name, make in examples(np.random.default_rng(seed)) if options.only in (None, name)]
    if not chosen:
        parser.error(f"there is no example {options.only!r}")

    print(f"Random inputs from seed {seed}. Errors are against NumPy in float64, relative where values exceed 1.\n")
    print(f"{'example':28} {'size':>14} {'largest error':>14} {'ours':>12} {'NumPy':>12} {'ratio':>7}")
    wrong = 0
    for number, make in enumerate(chosen, 1):
        if sys.stdout.isatty():
            print(f"  {number} of {len(chosen)}...", end="\r", flush=True)
        work = make()
        error = work.check()
        ours, numpy = best_time(work.ours), best_time(work.numpy)
        good = error <= work.tolerance
        wrong += not good
        verdict = "" if good else f"  WRONG: at most {work.tolerance:g} allowed"
        print(
            f"{work.name:28} {work.size:>14} {error:14.3g} {shown(ours)} {shown(numpy)} {numpy / ours:6.2f}x{verdict}",
            flush=True,
        )
    print("\nThe ratio is NumPy's time over ours." if not wrong else f"\n{wrong} of {len(chosen)} results are wrong.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
