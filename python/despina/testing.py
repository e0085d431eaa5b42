"""`triton.testing`: measuring and comparing."""

from __future__ import annotations

import functools
import statistics
import time

__all__ = ["Benchmark", "Mark", "assert_close", "do_bench", "perf_report"]


def _quantile(sorted_times, q):
    """The q-quantile, linear between the two nearest."""
    if not 0 <= q <= 1:
        raise ValueError(f"Quantiles must be in the range [0, 1], got {q}")
    place = q * (len(sorted_times) - 1)
    low = int(place)
    high = min(low + 1, len(sorted_times) - 1)
    return sorted_times[low] + (place - low) * (sorted_times[high] - sorted_times[low])


def _summarize(times, quantiles, return_mode):
    if quantiles is not None:
        ordered = sorted(times)
        found = [_quantile(ordered, q) for q in quantiles]
        return found[0] if len(found) == 1 else found
    if return_mode == "all":
        return times
    modes = {"min": min, "max": max, "mean": statistics.fmean, "median": statistics.median}
    return modes[return_mode](times)


def _bench_host(fn, warmup, rep, clear):
    def timed():
        clear()
        begin = time.perf_counter()
        fn()
        return (time.perf_counter() - begin) * 1e3

    timed()
    estimate = max(statistics.fmean(timed() for _ in range(5)), 1e-6)
    for _ in range(max(1, int(warmup / estimate))):
        timed()
    return [timed() for _ in range(max(1, int(rep / estimate)))]


def _bench_device(fn, warmup, rep, clear, active):
    """Times between events on a GPU, each after its L2 cache was flushed."""
    device = active.get_device_interface()
    cache = active.get_empty_cache_for_benchmark()

    def event_pair():
        return device.Event(enable_timing=True), device.Event(enable_timing=True)

    fn()
    device.synchronize()
    begin, end = event_pair()
    begin.record()
    for _ in range(5):
        active.clear_cache(cache)
        fn()
    end.record()
    device.synchronize()
    estimate = max(begin.elapsed_time(end) / 5, 1e-6)
    for _ in range(max(1, int(warmup / estimate))):
        fn()
    pairs = [event_pair() for _ in range(max(1, int(rep / estimate)))]
    for begin, end in pairs:
        clear()
        active.clear_cache(cache)
        begin.record()
        fn()
        end.record()
    device.synchronize()
    return [begin.elapsed_time(end) for begin, end in pairs]


def do_bench(fn, warmup=25, rep=100, grad_to_none=None, quantiles=None, return_mode="mean"):
    """Milliseconds a call of `fn` takes: the mean of as many runs as fit into `rep` milliseconds.

    `quantiles` gives quantiles instead; `return_mode` is "min", "max", "mean", "median" or "all". On a GPU
    (`triton.runtime.driver.active`) events measure, with the L2 cache flushed before each run; on the CPU the caches
    are as the run before left them.
    """
    assert return_mode in ("min", "max", "mean", "median", "all")
    from .runtime.driver import driver

    def clear_gradients():
        for tensor in grad_to_none or ():
            tensor.grad = None

    active = driver.active
    if active.get_current_target().backend == "cpu":
        times = _bench_host(fn, warmup, rep, clear_gradients)
    else:
        times = _bench_device(fn, warmup, rep, clear_gradients, active)
    return _summarize(times, quantiles, return_mode)


def assert_close(x, y, atol=None, rtol=None, err_msg=""):
    """Fails unless two arrays or tensors are equal within tolerances (1e-2 absolute by default). NaNs are equal."""
    import numpy as np

    def as_array(value):
        if hasattr(value, "detach"):
            value = value.detach().cpu()
            value = value.float() if "bfloat16" in str(value.dtype) else value
        return np.asarray(value)

    x, y = as_array(x), as_array(y)
    atol = 1e-2 if atol is None else atol(x.dtype) if callable(atol) else atol
    rtol = 0.0 if rtol is None else rtol(x.dtype) if callable(rtol) else rtol
    if x.size > 1 or y.size > 1:
        np.testing.assert_allclose(x, y, atol=atol, rtol=rtol, equal_nan=True, err_msg=err_msg)
    elif not np.allclose(x, y, atol=atol, rtol=rtol, equal_nan=True):
        raise AssertionError(f"{err_msg} {x} is not close to {y} (atol={atol}, rtol={rtol})")


class Benchmark:
    """What `perf_report` varies: `x_names` over `x_vals`, one line for each value of `line_arg`."""

    def __init__(
        self,
        x_names,
        x_vals,
        line_arg,
        line_vals,
        line_names,
        plot_name,
        args,
        xlabel="",
        ylabel="",
        x_log=False,
        y_log=False,
        styles=None,
    ):
        self.x_names, self.x_vals = x_names, x_vals
        self.line_arg, self.line_vals, self.line_names = line_arg, line_vals, line_names
        self.plot_name, self.args = plot_name, args
        self.xlabel, self.ylabel, self.x_log, self.y_log, self.styles = xlabel, ylabel, x_log, y_log, styles


class Mark:
    """A function with its benchmarks; `run` measures them."""

    def __init__(self, fn, benchmarks):
        self.fn, self.benchmarks = fn, benchmarks

    def _rows(self, benchmark, **kwargs):
        for x in benchmark.x_vals:
            values = x if isinstance(x, (list, tuple)) else [x] * len(benchmark.x_names)
            if len(values) != len(benchmark.x_names):
                raise ValueError(f"Expected {len(benchmark.x_names)} values, got {values}")
            point = dict(zip(benchmark.x_names, values))
            row = [*values]
            for line in benchmark.line_vals:
                result = self.fn(**point, **{benchmark.line_arg: line}, **benchmark.args, **kwargs)
                row.append(result[0] if isinstance(result, tuple) else result)
            yield row

    def run(self, show_plots=False, print_data=False, save_path="", return_df=False, **kwargs):
        """Measures. Returns the rows (a DataFrame each where pandas is installed and `return_df` is set)."""
        several = isinstance(self.benchmarks, list)
        tables = []
        for benchmark in self.benchmarks if several else [self.benchmarks]:
            names = [f"{name} ({benchmark.ylabel})" if benchmark.ylabel else name for name in benchmark.line_names]
            table = self._table([*benchmark.x_names, *names], [*self._rows(benchmark, **kwargs)], return_df)
            if print_data:
                print(f"{benchmark.plot_name}:\n{table}")
            if save_path:
                self._save(benchmark, table, save_path)
            tables.append(table)
        if return_df:
            return tables if several else tables[0]
        return None

    @staticmethod
    def _table(columns, rows, as_frame):
        try:
            import pandas
        except ImportError:
            if as_frame:
                raise
            return "\n".join("\t".join(map(str, row)) for row in [columns, *rows])
        return pandas.DataFrame(rows, columns=columns)

    @staticmethod
    def _save(benchmark, table, folder):
        import os

        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, f"{benchmark.plot_name}.csv")
        if hasattr(table, "to_csv"):
            table.to_csv(path, index=False)
        else:
            with open(path, "w", encoding="utf-8") as file:
                file.write(str(table).replace("\t", ",") + "\n")


def perf_report(benchmarks):
    """Makes a function a performance report over one or several `Benchmark`s."""
    return functools.partial(Mark, benchmarks=benchmarks)
