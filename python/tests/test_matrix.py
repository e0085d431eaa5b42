"""Every operation with every dtype either compiles or is refused with an error; nothing ends the process."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.cpu_only("children that compile for the CPU")

WORKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "matrix_worker.py")


@pytest.mark.compiled_only("children that compile")
def test_every_operation_with_every_dtype():
    problems, start, compiled, refused = [], 0, 0, 0
    for _ in range(20):
        done = subprocess.run([sys.executable, WORKER, str(start)], capture_output=True, text=True, timeout=600)
        lines = done.stdout.split("\n")
        at = ""
        for line in lines:
            if line.startswith("at "):
                at = line
            compiled += line == "ok"
            refused += line.startswith("refused")
            if line.startswith("wrong") or "legalize" in line or "LLVM" in line:
                problems.append(f"{at}: {line}")
        if "end" in lines:
            break
        problems.append(f"{at}: the process ended with {done.returncode}: {done.stderr[-500:]}")
        if not at:
            break
        start = int(at.split()[1]) + 1
    assert not problems, "\n".join(problems)
    assert compiled > 500 and refused > 100
