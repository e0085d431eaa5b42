"""What README.md shows works as it stands there."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

pytestmark = pytest.mark.cpu_only("what the documents say")

ROOT = pathlib.Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()


def blocks(language):
    """The text of each block in the language; "" stands for blocks that name none."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    return [text for name, text in found if name == language]


def run(*command):
    # As from a checkout, whatever the tests themselves were given.
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    done = subprocess.run(command, cwd=ROOT, env=environment, text=True, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_kernel(tmp_path):
    [kernel] = [block for block in blocks("python") if "@triton.jit" in block]
    (tmp_path / "kernel.py").write_text(kernel)
    run(sys.executable, str(tmp_path / "kernel.py"))
    # With no line changed but the imports.
    unchanged = kernel.replace("import despina as triton", "import triton").replace(
        "import despina.language as tl", "import triton.language as tl"
    )
    assert "despina" not in unchanged
    (tmp_path / "unchanged.py").write_text(unchanged)
    run(sys.executable, "-m", "despina", "run", str(tmp_path / "unchanged.py"))


@pytest.mark.compiled_only("runs no kernel of Python")
def test_the_cpp_program(tmp_path):
    [program] = [block for block in blocks("cpp") if "int main" in block]
    (tmp_path / "program.cpp").write_text(program)
    library = ROOT / "build" / "lib"
    run(
        "clang++-22",
        "-std=c++20",
        "-I",
        str(ROOT / "include"),
        str(tmp_path / "program.cpp"),
        "-o",
        str(tmp_path / "program"),
        "-L",
        str(library),
        f"-Wl,-rpath,{library}",
        "-ldespina",
    )
    assert run(str(tmp_path / "program")) == "3\n"


def test_the_cpp_function_for_a_gpu(tmp_path):
    [function] = [block for block in blocks("cpp") if "int main" not in block]
    (tmp_path / "function.cpp").write_text("#include <vector>\n" + function)
    include, source = str(ROOT / "include"), str(tmp_path / "function.cpp")
    run("clang++-22", "-std=c++20", "-Wall", "-Werror", "-fsyntax-only", "-I", include, source)


@pytest.mark.compiled_only("runs no kernel of Python")
def test_the_tools():
    [block] = [block for block in blocks("") if "build/bin/despina compile" in block]
    commands = [re.sub(r"\s+#.*", "", line) for line in block.replace("\\\n", " ").splitlines() if line.strip()]
    assert len(commands) == 3
    outputs = [run("bash", "-c", command) for command in commands]
    assert "tt.func public @add_kernel" in outputs[0]
    assert "--tt-combine" in outputs[1]
    assert ".visible .entry add_kernel(" in outputs[2]
