import glob
import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import pytest

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, FOLDER)
import helpers  # noqa: E402

SEED = pytest.StashKey[int]()
STUB = os.path.join(FOLDER, "..", "..", "unittests", "Target", "NVPTX", "Stub", "StubCUDA.cpp")


def pytest_addoption(parser):
    parser.addoption("--device", choices=["cpu", "cuda"], default="cpu", help="where the kernels of the tests run")
    parser.addoption("--interpret", action="store_true", help="Python runs the kernels of the tests")
    parser.addoption(
        "--compile-only", metavar="ARCHES", help="compile each kernel for these GPUs too: sm_80,sm_89,sm_90a"
    )
    parser.addoption(
        "--compile-results", metavar="FILE", help="add what --compile-only made to a file, for scripts/conformance"
    )
    parser.addoption("--num-ctas", type=int, help="blocks per program on GPUs, where a test does not say")
    parser.addoption("--results", metavar="FILE", help="write what became of each test, for scripts/conformance")


def pytest_configure(config):
    config.addinivalue_line("markers", "cpu_only(reason): the test is about the CPU target, or about Python alone")
    config.addinivalue_line("markers", "cuda_only: the test needs a GPU")
    config.addinivalue_line("markers", "compiled_only(reason): the test looks at compiled kernels")
    config.addinivalue_line("markers", "compiles_once(reason): --compile-only leaves the test alone")
    config.addinivalue_line("markers", "needs_torch: the test is about torch")
    config.addinivalue_line("markers", "needs_two_gpus: the test is about two devices")
    config.addinivalue_line("markers", "stub_cuda: the test needs the stand-in for CUDA's driver, hence no GPU")
    config.addinivalue_line("markers", "not_conformance(reason): says nothing of whether the names it uses work")
    if config.getoption("--device") == "cuda":
        start_on_gpu(config.getoption("--num-ctas"))
    else:
        os.environ["TRITON_DEFAULT_BACKEND"] = "cpu"
        os.environ["DESPINA_LIBCUDA_PATH"] = build_stub()
    if config.getoption("--interpret"):
        os.environ["TRITON_INTERPRET"] = "1"
        helpers.INTERPRETS = True
    if config.getoption("--results"):
        config.pluginmanager.register(Results(config.getoption("--results")))
    if config.getoption("--compile-only"):
        start_compile_only(config, config.getoption("--compile-only").split(","))


class Results:
    """What became of each test: passed or failed. Others do not count. And which names those that passed used."""

    def __init__(self, path):
        import touched

        self.path, self.tests = path, {}
        self.touched = touched.Touched()
        self.touched.install()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item):
        self.touched.start()
        result = yield
        if not item.get_closest_marker("not_conformance"):
            self.touched.keep()
        return result

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.tests[report.nodeid] = "failed"
        elif report.passed and report.when == "call":
            self.tests.setdefault(report.nodeid, "passed")

    def pytest_sessionfinish(self):
        with open(self.path, "w", encoding="utf-8") as file:
            names = self.touched.names()
            content = {"machine": machine(), "names": names, "tests": dict(sorted(self.tests.items()))}
            json.dump(content, file, indent=0)
            file.write("\n")


def machine():
    """The GPU or the processor that the tests ran on."""
    if helpers.on_gpu():
        command = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
        return "an " + subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[0]
    return platform.processor() or platform.machine()


def gpu_count():
    from despina import _native

    return _native.cuda_device_count()


def start_on_gpu(num_ctas):
    import gpu

    helpers.DEVICE = "cuda"
    if not gpu_count():
        raise pytest.UsageError("--device cuda: there is no GPU")
    # The tests that say nothing of it mean the CPU's precision of fp32 products; others ask for tf32.
    os.environ.setdefault("TRITON_F32_DEFAULT", "ieee")
    gpu.install_device(num_ctas)


def start_compile_only(config, arches):
    import gpu

    if not shutil.which("ptxas") and not os.path.exists("/usr/local/cuda/bin/ptxas"):
        # NVIDIA's Python packages, which scripts/setup installs where there is no toolkit.
        if not any(glob.glob(os.path.join(path, "nvidia", "*", "bin", "ptxas")) for path in sys.path):
            raise pytest.UsageError("--compile-only: there is no ptxas; run scripts/setup")
    config.compile_only = gpu.CompileOnly(arches, config.getoption("--num-ctas"))
    config.compile_only.install()


def build_stub():
    """The stand-in for CUDA's driver, as a library; made anew when its source changes."""
    folder = os.path.join(tempfile.gettempdir(), f"despina-stub-cuda-{os.getuid()}")
    library = os.path.join(folder, "libcuda.so.1")
    if not os.path.exists(library) or os.path.getmtime(library) < os.path.getmtime(STUB):
        compiler = next(filter(shutil.which, ("c++", "g++", "clang++-22", "clang++")), None)
        if not compiler:
            raise pytest.UsageError("the tests of launches need a C++ compiler for their stand-in of CUDA's driver")
        os.makedirs(folder, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as work:
            made = os.path.join(work, "stub.so")
            subprocess.run([compiler, "-std=c++17", "-O1", "-shared", "-fPIC", STUB, "-o", made], check=True)
            os.replace(made, library)
    return library


def pytest_collection_modifyitems(config, items):
    """Tests that are about another device are not part of the run."""
    unwanted = {"cpu": ["cuda_only"], "cuda": ["cpu_only", "stub_cuda"]}[config.getoption("--device")]
    if config.getoption("--interpret"):
        unwanted += ["compiled_only", "stub_cuda"]
    if not importlib.util.find_spec("torch"):
        unwanted.append("needs_torch")
    if config.getoption("--device") == "cuda" and gpu_count() < 2:
        unwanted.append("needs_two_gpus")
    dropped = [item for item in items if any(item.get_closest_marker(name) for name in unwanted)]
    config.hook.pytest_deselected(items=dropped)
    items[:] = [item for item in items if item not in dropped]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """A kernel that a test compiles must compile for the GPUs of --compile-only too."""
    checker = getattr(item.config, "compile_only", None)
    if checker is None:
        return (yield)
    checker.paused = any(item.get_closest_marker(name) for name in ("cpu_only", "compiles_once"))
    checker.take_failures()
    result = yield
    failures = checker.take_failures()
    if failures:
        pytest.fail("does not compile for a GPU:\n" + "\n".join(failures), pytrace=False)
    return result


def pytest_terminal_summary(terminalreporter, config):
    checker = getattr(config, "compile_only", None)
    if checker:
        terminalreporter.write_line(
            f"{len(checker.seen)} different kernels, compiled: "
            + ", ".join(f"{checker.compiled[arch]} for {arch}" for arch in checker.arches)
        )
        if config.getoption("--compile-results"):
            checker.write(config.getoption("--compile-results"))


def pytest_runtest_setup(item):
    """Each test draws from a seed of its own, new for each run unless DESPINA_TEST_SEED gives it."""
    given = os.environ.get("DESPINA_TEST_SEED")
    seed = int(given) if given else int(np.random.SeedSequence().entropy % 2**32)
    item.stash[SEED] = seed
    item.add_report_section("setup", "seed", f"To draw the same numbers again: DESPINA_TEST_SEED={seed}")
    helpers.poison.seed(seed)


@pytest.fixture
def rng(request):
    """Random numbers, new ones for each run; the seed is printed with a failure."""
    return np.random.default_rng(request.node.stash[SEED])
