"""Measures throughput, compile time, launch time and memory on this processor.

    .venv/bin/python bench/run.py [--quick] [--no-file]

Throughput is given as ratios to NumPy, measured in the same process, alternating. Prints a table with the target
beside each figure and writes bench/results/DATE-cpu.json with a description of the machine. Targets that are
missed are marked, and do not change the exit status: times depend on the machine.
"""

from __future__ import annotations

import argparse
import ctypes
import datetime
import json
import os
import platform
import statistics
import subprocess
import sys
import time

import numpy as np

import despina as triton
import despina.language as tl

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(FOLDER, "..", "examples"))
import workloads  # noqa: E402


@triton.jit
def empty(a, b, c, n, m):
    pass


@triton.jit
def empty_with_constant(a, b, c, n, BLOCK: tl.constexpr):
    pass


def progress(text):
    if sys.stderr.isatty():
        print(f"\r\033[K{text}...", end="", file=sys.stderr, flush=True)


def openblas():
    """(kernel, threads) of the OpenBLAS that NumPy has loaded, as it says itself; None where there is none."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        paths = {
            line.split()[-1] for line in maps if "openblas" in line.lower() and line.rstrip().endswith(("so", "0"))
        }
    for path in paths:
        library = ctypes.CDLL(path)
        for prefix in ("scipy_", ""):
            for suffix in ("64_", ""):
                name = getattr(library, f"{prefix}openblas_get_corename{suffix}", None)
                threads = getattr(library, f"{prefix}openblas_get_num_threads{suffix}", None)
                if name and threads:
                    name.restype = ctypes.c_char_p
                    return name().decode(), threads()
    return None


def machine():
    """What the figures were measured on."""
    model = "unknown"
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        for line in info:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    blas = openblas()
    return {
        "processor": model,
        "cores": len(os.sched_getaffinity(0)),
        "system": platform.platform(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "openblas_kernel": blas[0] if blas else None,
        "openblas_threads": blas[1] if blas else None,
        "despina": triton.__version__,
    }


def compare(work, seconds):
    """Best times of both sides, alternating so that neither has a quieter machine."""
    error = work.check()
    if error > work.tolerance:
        raise SystemExit(f"{work.name} {work.size} is wrong: error {error:g}, allowed {work.tolerance:g}")
    ours, numpy = [], []
    begin = time.perf_counter()
    while len(ours) < 3 or time.perf_counter() - begin < seconds:
        for function, times in ((work.ours, ours), (work.numpy, numpy)):
            start = time.perf_counter()
            function()
            times.append(time.perf_counter() - start)
    return {
        "ours_ms": min(ours) * 1e3,
        "numpy_ms": min(numpy) * 1e3,
        "ratio": min(numpy) / min(ours),
        "runs": len(ours),
    }


def throughput(seconds):
    rng = np.random.default_rng()
    cases = [
        ("vector add 2^25 fp32 / np.add(out=)", lambda: workloads.vector_add(1 << 25, rng), 0.9),
        ("softmax 4096x1024 / NumPy in place", lambda: workloads.softmax(4096, 1024, rng), 3.0),
        ("layer norm 4096x1024 / NumPy", lambda: workloads.layer_norm(4096, 1024, rng), None),
        ("matmul 1024^3 fp32 / OpenBLAS", lambda: workloads.matmul(1024, 1024, 1024, rng, "", False), 0.5),
        ("attention 4x1024x64 / NumPy", lambda: workloads.attention(4, 1024, 64, False, rng), 3.0),
        ("attention causal 4x1024x64 / NumPy", lambda: workloads.attention(4, 1024, 64, True, rng), None),
    ]
    for name, make, target in cases:
        progress(name)
        result = compare(make(), seconds)
        yield {"name": name, "value": result["ratio"], "unit": "x", "target": target, "at_least": True, **result}


def cold(name, runs):
    """Medians over fresh processes."""
    results = []
    for _ in range(runs):
        done = subprocess.run(
            [sys.executable, os.path.join(FOLDER, "cold.py"), name], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise SystemExit(f"compiling {name} failed:\n{done.stderr}")
        results.append(json.loads(done.stdout))
    stages = {}
    for result in results:
        for stage, milliseconds in result["stages_ms"]:
            stages.setdefault(stage, []).append(milliseconds)
    return {
        "total_ms": statistics.median(result["total_ms"] for result in results),
        "stages_ms": {stage: statistics.median(times) for stage, times in stages.items()},
        "peak_mib": max(result["peak_mib"] for result in results),
        "before_mib": min(result["before_mib"] for result in results),
    }


def compile_times(runs):
    for name, shown, target, front_target in (("add", "vector add", 60, 3), ("attention", "attention", 600, 10)):
        progress(f"cold compile of {shown}")
        result = cold(name, runs)
        yield {"name": f"cold compile, {shown}", "value": result["total_ms"], "unit": "ms", "target": target, **result}
        for stage, milliseconds in result["stages_ms"].items():
            is_front = stage.replace(" ", "").replace("-", "").lower() in ("frontend", "front", "parse", "codegen")
            yield {
                "name": f"    {stage}",
                "value": milliseconds,
                "unit": "ms",
                "target": front_target if is_front else None,
            }
        if name == "attention":
            yield {"name": "peak memory, attention", "value": result["peak_mib"], "unit": "MiB", "target": 400}
            added = result["peak_mib"] - result["before_mib"]
            yield {"name": "    of which compiling", "value": added, "unit": "MiB", "target": None}


def microseconds(function, batches=51, calls=4000):
    times = []
    for _ in range(batches):
        begin = time.perf_counter()
        for _ in range(calls):
            function()
        times.append((time.perf_counter() - begin) / calls * 1e6)
    return statistics.median(times)


def launches():
    progress("launch")
    x = np.zeros(64, np.float32)
    bound = empty[(1,)]
    empty[(1,)](x, x, x, 7, 9)
    empty_with_constant[(1,)](x, x, x, 7, BLOCK=64)
    cases = [
        ("launch from Python, 5 arguments", lambda: empty[(1,)](x, x, x, 7, 9), 10),
        ("    with a constexpr keyword", lambda: empty_with_constant[(1,)](x, x, x, 7, BLOCK=64), 10),
        ("    kernel[grid] kept", lambda: bound(x, x, x, 7, 9), 10),
    ]
    for name, function, target in cases:
        yield {"name": name, "value": microseconds(function), "unit": "us", "target": target}
    program = os.path.join(FOLDER, "..", "build", "bin", "despina-bench-launch")
    if os.path.exists(program):
        done = subprocess.run([program], capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"despina-bench-launch failed:\n{done.stderr}")
        yield {"name": "launch from C++, 5 arguments", "value": float(done.stdout), "unit": "us", "target": 3}
    else:
        print("There is no build/bin/despina-bench-launch: the launch from C++ is not measured.", file=sys.stderr)


def verdict(row):
    if row["target"] is None:
        return ""
    good = row["value"] >= row["target"] if row.get("at_least") else row["value"] <= row["target"]
    return "ok" if good else "MISSED"


def show(row):
    target = ""
    if row["target"] is not None:
        target = ("at least " if row.get("at_least") else "at most ") + f"{row['target']:g} {row['unit']}"
    detail = f"{row['ours_ms']:.2f} ms against {row['numpy_ms']:.2f} ms" if "ours_ms" in row else ""
    progress("")
    print(f"{row['name']:38} {row['value']:10.2f} {row['unit']:4} {target:16} {verdict(row):7} {detail}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    parser.add_argument("--no-file", action="store_true", help="only print")
    options = parser.parse_args()
    if os.environ.get("OPENBLAS_CORETYPE"):
        raise SystemExit("OPENBLAS_CORETYPE is set: NumPy would not use this processor's kernel. Unset it.")
    description = machine()
    print(", ".join(f"{name}: {value}" for name, value in description.items()), end="\n\n")
    rows = []
    for part in (
        throughput(0.5 if options.quick else 3.0),
        compile_times(3 if options.quick else 9),
        launches(),
    ):
        for row in part:
            rows.append(row)
            show(row)
    if not options.no_file:
        folder = os.path.join(FOLDER, "results")
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, f"{datetime.date.today().isoformat()}-cpu.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"machine": description, "results": rows}, file, indent=1)
            file.write("\n")
        print(f"\nWritten to {os.path.relpath(path)}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
