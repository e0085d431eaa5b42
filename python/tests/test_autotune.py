"""autotune, heuristics, Config and do_bench."""

import pickle
import threading

import numpy as np
import pytest

import despina as triton
from despina.runtime.autotuner import Autotuner, Heuristics
from despina.runtime.errors import AutotunerError

from helpers import module_from

FILL = """
@triton.autotune(
    configs=[triton.Config({{"BLOCK": 16}}), triton.Config({{"BLOCK": 128}}, num_warps=2)], key=["n"]{more}
)
@triton.jit
def fill(x_ptr, n, value, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + value, mask=mask)
"""


def bench_by(times):
    """A benchmarker that runs once and reports chosen times, one after the other."""
    reported = iter(times)

    def do_bench(call, quantiles):
        call()
        time = next(reported)
        return [time, time, time]

    return do_bench


def fill(times=(2.0, 1.0), **more):
    module = module_from(FILL.format(more="".join(f", {name}={value!r}" for name, value in more.items())))
    module.fill._do_bench = bench_by(times)
    return module.fill


def grid(meta):
    return (triton.cdiv(meta["n"], meta["BLOCK"]),)


def test_the_fastest_is_chosen_and_kept():
    kernel = fill([2.0, 1.0, 1.0, 2.0], restore_value=["x_ptr"])
    x = np.zeros(100, np.float32)
    kernel[grid](x, 100, 5)
    assert kernel.best_config.kwargs["BLOCK"] == 128
    assert (x == 5).all()
    kernel[grid](x, 100, 5)  # the same key: nothing is measured, the iterator would give other times
    assert kernel.best_config.kwargs["BLOCK"] == 128 and (x == 10).all()
    y = np.zeros(50, np.float32)
    kernel[grid](y, 50, 5)
    assert kernel.best_config.kwargs["BLOCK"] == 16 and len(kernel.cache) == 2
    assert (y == 5).all()


def test_dtypes_are_part_of_the_key():
    kernel = fill([1.0, 2.0, 2.0, 1.0])
    kernel[grid](np.zeros(8, np.float32), 8, 1)
    kernel[grid](np.zeros(8, np.float64), 8, 1)
    assert [config.kwargs["BLOCK"] for config in kernel.cache.values()] == [16, 128]


def test_reset_to_zero():
    kernel = fill(reset_to_zero=["x_ptr"])
    x = np.full(10, 7, np.float32)
    kernel[grid](x, 10, 5)
    assert (x == 5).all()


def test_none_in_restore_value():
    module = module_from("""
        @triton.autotune(configs=[triton.Config({"B": 1}), triton.Config({"B": 2})], key=[], restore_value=["y_ptr"])
        @triton.jit
        def kernel(x_ptr, y_ptr, B: tl.constexpr):
            tl.store(x_ptr, B)
    """)
    x = np.zeros(1, np.int32)
    module.kernel._do_bench = bench_by([2.0, 1.0])
    module.kernel[(1,)](x, None)
    assert x[0] == 2


def test_conflicting_parameters():
    with pytest.raises(ValueError, match="Conflicting meta-parameters: BLOCK. Make sure that you don't re-define"):
        fill()[grid](np.zeros(4, np.float32), 4, 1, BLOCK=16)


def test_configs_that_do_not_compile_are_left_out():
    module = module_from("""
        @triton.autotune(configs=[triton.Config({"B": 1}), triton.Config({"B": 2})], key=[])
        @triton.jit
        def kernel(x_ptr, B: tl.constexpr):
            tl.static_assert(B > 1)
            tl.store(x_ptr, B)
    """)
    x = np.zeros(1, np.int32)
    module.kernel[(1,)](x)
    assert x[0] == 2


def test_other_exceptions_pass():
    module = module_from("""
        @triton.autotune(configs=[triton.Config({"B": 1}), triton.Config({"B": 2})], key=[])
        @triton.jit
        def kernel(x_ptr, B: tl.constexpr):
            tl.store(x_ptr, missing)
    """)
    with pytest.raises(triton.CompilationError, match="missing is not defined"):
        module.kernel[(1,)](np.zeros(1, np.int32))


def test_pruning():
    kernel = fill([1.0])
    kernel.early_config_prune = lambda configs, named, **kwargs: [c for c in configs if c.kwargs["BLOCK"] > named["n"]]
    kernel[grid](np.zeros(20, np.float32), 20, 1)
    assert kernel.best_config.kwargs["BLOCK"] == 128
    with pytest.raises(AutotunerError, match="No valid autotuner configs after pruning"):
        kernel[grid](np.zeros(200, np.float32), 200, 1)


@pytest.mark.parametrize("top_k", [1, 0.5])
def test_performance_model(top_k):
    kernel = fill([1.0])
    kernel.perf_model, kernel.configs_top_k = (lambda BLOCK, **kwargs: BLOCK), top_k
    kernel[grid](np.zeros(20, np.float32), 20, 1)
    assert kernel.best_config.kwargs["BLOCK"] == 16
    kernel.configs_top_k = 1.5
    with pytest.raises(TypeError, match="top_k must be either 1"):
        kernel[grid](np.zeros(21, np.float32), 21, 1)


def test_hooks_of_configs_and_of_the_tuner():
    log = []
    module = module_from(FILL.format(more=""))
    tuner = module.fill
    tuner.configs[0].pre_hook = lambda args: log.append(("config", args["BLOCK"]))
    tuner.pre_hook = lambda args, reset_only=False: log.append(("pre", reset_only))
    tuner.post_hook = lambda args, exception: log.append(("post", exception))
    tuner._do_bench = bench_by([1.0, 2.0])
    tuner[grid](np.zeros(4, np.float32), 4, 1)
    assert log == [
        ("config", 16), ("pre", False), ("post", None), ("pre", False), ("post", None), ("pre", True), ("config", 16),
    ]  # fmt: skip


def test_threads_tune_at_once():
    module = module_from(FILL.format(more=""))
    module.fill._do_bench = lambda call, quantiles: (call(), [1.0, 1.0, 1.0])[1]
    failures = []

    def work(n):
        try:
            x = np.zeros(n, np.float32)
            module.fill[grid](x, n, 1)
            x[:] = 0
            module.fill[grid](x, n, 1)
            assert (x == 1).all()
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in (10, 20, 30, 10, 20, 30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


@pytest.mark.compiled_only("measures compiled kernels")
def test_measuring_for_real():
    module = module_from("""
        @triton.autotune(configs=[triton.Config({"COUNT": 2_000_000}), triton.Config({"COUNT": 10})], key=[])
        @triton.jit
        def spin(x_ptr, COUNT: tl.constexpr):
            total = tl.load(x_ptr)
            for _ in range(COUNT):
                total = total * 1.5 + 1.0
            tl.store(x_ptr + 1, total)
    """)
    module.spin._do_bench = lambda call, quantiles: triton.testing.do_bench(call, 1, 5, quantiles=quantiles)
    module.spin[(4,)](np.zeros(2, np.float32))
    assert module.spin.best_config.kwargs["COUNT"] == 10


def test_heuristics():
    module = module_from("""
        @triton.heuristics({
            "EVEN": lambda args: args["n"] % args["BLOCK"] == 0,
            "BOTH": lambda args: args["EVEN"] and args["y_ptr"] is not None,
        })
        @triton.jit
        def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr, EVEN: tl.constexpr, BOTH: tl.constexpr):
            tl.store(x_ptr, EVEN)
            tl.store(x_ptr + 1, BOTH)
    """)
    x = np.zeros(2, np.int32)
    module.kernel[(1,)](x, x, 32, BLOCK=16)
    assert x.tolist() == [1, 1]
    module.kernel[(1,)](x, None, 32, BLOCK=16)
    assert x.tolist() == [1, 0]
    module.kernel[(1,)](x, x, 33, BLOCK=16)
    assert x.tolist() == [0, 0]


def test_nesting():
    module = module_from("""
        @triton.autotune(configs=[triton.Config({"BLOCK": 8}), triton.Config({"BLOCK": 32})], key=["n"])
        @triton.heuristics({"TWICE": lambda args: args["BLOCK"] * 2})
        @triton.jit
        def kernel(x_ptr, n, BLOCK: tl.constexpr, TWICE: tl.constexpr):
            tl.store(x_ptr, TWICE)
    """)
    assert isinstance(module.kernel, Autotuner) and isinstance(module.kernel.fn, Heuristics)
    module.kernel._do_bench = bench_by([2.0, 1.0])
    x = np.zeros(1, np.int32)
    module.kernel[(1,)](x, 5)
    assert x[0] == 64
    assert module.kernel.base_fn.__name__ == "kernel"


def test_config():
    config = triton.Config({"BLOCK": 128}, num_warps=8)
    assert str(config) == "BLOCK: 128, num_warps: 8, num_ctas: 1, num_stages: 3, maxnreg: None"
    assert config.all_kwargs() == {"BLOCK": 128, "num_warps": 8, "num_ctas": 1, "num_stages": 3}
    again = pickle.loads(pickle.dumps(config))
    assert again == config and hash(again) == hash(config)
    assert triton.Config({"BLOCK": 128}) != config


def test_do_bench():
    calls = []
    milliseconds = triton.testing.do_bench(lambda: calls.append(1), warmup=1, rep=2)
    assert milliseconds > 0 and len(calls) > 6
    low, high = triton.testing.do_bench(lambda: None, warmup=1, rep=1, quantiles=[0.2, 0.8])
    assert low <= high
    assert len(triton.testing.do_bench(lambda: None, warmup=1, rep=1, return_mode="all")) > 1


def test_assert_close():
    triton.testing.assert_close(np.array([1.0, np.nan]), np.array([1.005, np.nan]))
    with pytest.raises(AssertionError):
        triton.testing.assert_close(np.array([1.0, 2.0]), np.array([1.5, 2.0]))


def test_perf_report(capsys, tmp_path):
    @triton.testing.perf_report(
        triton.testing.Benchmark(["n"], [1, 2], "provider", ["a", "b"], ["A", "B"], "plot", {"scale": 10})
    )
    def report(n, provider, scale):
        return n * scale + (provider == "b")

    report.run(print_data=True, save_path=str(tmp_path))
    out = capsys.readouterr().out
    assert "plot" in out and "21" in out
    assert (tmp_path / "plot.csv").exists()
