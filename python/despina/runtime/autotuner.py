"""`autotune` chooses the fastest of several configurations, `heuristics` computes meta-parameters."""

from __future__ import annotations

import builtins
import inspect
import threading
import time
import warnings

from .. import knobs
from ..compiler.errors import CompileTimeAssertionFailure
from .driver import driver
from .errors import AutotunerError, OutOfResources, PTXASError
from .jit import JITFunction, KernelInterface  # noqa: F401 (JITFunction: imported from here by users)

__all__ = ["Autotuner", "Config", "Heuristics", "autotune", "heuristics"]


class Config:
    """One choice of meta-parameters and launch options. `pre_hook` runs before every launch with it."""

    def __init__(self, kwargs, num_warps=4, num_stages=3, num_ctas=1, maxnreg=None, pre_hook=None, ir_override=None):
        self.kwargs = kwargs
        self.num_warps = num_warps
        self.num_ctas = num_ctas
        self.num_stages = num_stages
        self.maxnreg = maxnreg
        self.pre_hook = pre_hook
        self.ir_override = ir_override

    def __setstate__(self, state):
        self.kwargs = state.get("kwargs", {})
        self.num_warps = state.get("num_warps", 4)
        self.num_stages = state.get("num_stages", 3)
        self.num_ctas = state.get("num_ctas", 1)
        self.maxnreg = state.get("maxnreg")
        self.pre_hook = state.get("pre_hook")
        self.ir_override = state.get("ir_override")

    def all_kwargs(self):
        """Meta-parameters and launch options together."""
        options = {
            "num_warps": self.num_warps,
            "num_ctas": self.num_ctas,
            "num_stages": self.num_stages,
            "maxnreg": self.maxnreg,
            "ir_override": self.ir_override,
        }
        return {**self.kwargs, **{name: value for name, value in options.items() if value is not None}}

    def __str__(self):
        parts = [f"{name}: {value}" for name, value in self.kwargs.items()]
        parts += [f"num_warps: {self.num_warps}", f"num_ctas: {self.num_ctas}"]
        parts += [f"num_stages: {self.num_stages}", f"maxnreg: {self.maxnreg}"]
        return ", ".join(parts)

    def __repr__(self):
        return f"<triton.Config {self}>"

    def __hash__(self):
        return hash((*self.all_kwargs().items(), self.pre_hook))

    def __eq__(self, other):
        if not isinstance(other, Config):
            return NotImplemented
        mine = (*self.all_kwargs().items(), self.pre_hook)
        return mine == (*other.all_kwargs().items(), other.pre_hook)


def _zero(tensor):
    if hasattr(tensor, "zero_"):
        tensor.zero_()
    else:
        tensor[...] = 0


def _clone(tensor):
    return tensor.clone() if hasattr(tensor, "clone") else tensor.copy()


def _copy_back(tensor, saved):
    if hasattr(tensor, "copy_"):
        tensor.copy_(saved)
    else:
        tensor[...] = saved


class Autotuner(KernelInterface):
    """Launches a kernel with the fastest of its configurations, which it finds for each tuning key."""

    def __init__(
        self,
        fn,
        arg_names,
        configs,
        key,
        reset_to_zero,
        restore_value,
        pre_hook=None,
        post_hook=None,
        prune_configs_by=None,
        warmup=None,
        rep=None,
        use_cuda_graph=False,
        do_bench=None,
        cache_results=False,
    ):
        self.configs = configs or [Config({}, num_warps=4, num_stages=3, num_ctas=1)]
        self.keys = key
        self.cache = {}
        self.arg_names = arg_names
        self.cache_results = cache_results
        self.reset_to_zero = list(reset_to_zero or [])
        self.restore_value = list(restore_value or [])
        self.restore_copies = {}
        self.user_defined_pre_hook = pre_hook is not None
        self.user_defined_post_hook = post_hook is not None
        self.pre_hook = pre_hook or self._reset_and_save
        self.post_hook = post_hook or self._restore
        self.perf_model = None
        self.configs_top_k = 1.0
        self.early_config_prune = None
        if prune_configs_by:
            self.perf_model = prune_configs_by.get("perf_model", self.perf_model)
            self.configs_top_k = prune_configs_by.get("top_k", self.configs_top_k)
            self.early_config_prune = prune_configs_by.get("early_config_prune", self.early_config_prune)
        self.fn = fn
        self.base_fn = fn
        while not inspect.isfunction(self.base_fn):
            self.base_fn = self.base_fn.fn
        self.__name__ = self.base_fn.__name__
        self.__doc__ = self.base_fn.__doc__
        self.num_warmups, self.num_reps = warmup, rep
        self.use_cuda_graph = use_cuda_graph
        if warmup is not None or rep is not None or use_cuda_graph:
            warnings.warn(
                "warmup, rep, and use_cuda_graph parameters are deprecated. See the do_bench parameter.",
                DeprecationWarning,
                stacklevel=3,
            )
        self._do_bench = do_bench
        self.nargs = None
        self.best_config = None
        self.bench_time = None
        self.configs_timings = {}
        self._tuning = threading.RLock()

    @property
    def do_bench(self):
        """Measures a call: `do_bench(call, quantiles)`."""
        if self._do_bench is not None:
            return self._do_bench
        do_bench = driver.active.get_benchmarker()
        times = {"warmup": self.num_warmups, "rep": self.num_reps}
        given = {name: value for name, value in times.items() if value is not None}
        return lambda call, quantiles: do_bench(call, quantiles=quantiles, **given)

    # The default hooks: what a kernel changes is put back between the measurements.

    def _reset_and_save(self, arguments, reset_only=False):
        for name in self.reset_to_zero:
            if arguments.get(name) is not None:
                _zero(arguments[name])
        if not reset_only:
            kept = [name for name in self.restore_value if arguments.get(name) is not None]
            self.restore_copies = {name: _clone(arguments[name]) for name in kept}

    def _restore(self, arguments, exception=None):
        for name, saved in self.restore_copies.items():
            _copy_back(arguments[name], saved)
        self.restore_copies = {}

    def _bench(self, *args, config, **meta):
        conflicts = meta.keys() & config.kwargs.keys()
        if conflicts:
            raise ValueError(
                f"Conflicting meta-parameters: {', '.join(sorted(conflicts))}."
                " Make sure that you don't re-define auto-tuned symbols."
            )
        current = {**meta, **config.all_kwargs()}
        arguments = {**dict(zip(self.arg_names, args)), **current}

        def kernel_call():
            if config.pre_hook:
                config.pre_hook(arguments)
            self.pre_hook(arguments)
            try:
                self.fn.run(*args, **current)
            except Exception as error:
                try:
                    self.post_hook(arguments, exception=error)
                finally:
                    raise
            self.post_hook(arguments, exception=None)

        try:
            return self.do_bench(kernel_call, quantiles=(0.5, 0.2, 0.8))
        except (OutOfResources, CompileTimeAssertionFailure, PTXASError):
            return [float("inf"), float("inf"), float("inf")]

    def prune_configs(self, kwargs, nargs=None):
        """The configurations worth measuring for these arguments."""
        nargs = self.nargs if nargs is None else nargs
        pruned = self.configs
        if self.early_config_prune:
            pruned = self.early_config_prune(self.configs, nargs, **kwargs)
            if not pruned:
                raise AutotunerError(
                    "No valid autotuner configs after pruning. `early_config_prune` should return at least one config."
                )
        if self.perf_model:
            top_k = self.configs_top_k
            if isinstance(top_k, float) and top_k <= 1.0:
                top_k = int(len(self.configs) * top_k)
            elif not isinstance(top_k, int):
                raise TypeError("Error while pruning configs, top_k must be either 1) a float <= 1.0 or 2) an int")
            if len(pruned) > top_k:
                times = {config: self.perf_model(**{**nargs, **kwargs, **config.all_kwargs()}) for config in pruned}
                pruned = sorted(times, key=times.get)[:top_k]
        return pruned

    def _tuning_key(self, arguments):
        key = [arguments[name] for name in self.keys if name in arguments]
        key += [str(value.dtype) for value in arguments.values() if hasattr(value, "dtype")]
        return tuple(key)

    def _tune(self, key, args, kwargs, nargs):
        """Measures the configurations for a key, unless another thread just has."""
        with self._tuning:
            if key in self.cache:
                return self.cache[key]
            pruned = self.prune_configs(kwargs, nargs)
            begin = time.time()
            timings = {config: self._bench(*args, config=config, **kwargs) for config in pruned}
            self.bench_time = time.time() - begin
            config = self.cache[key] = builtins.min(timings, key=timings.get)
            self.configs_timings = timings
            arguments = {**nargs, **kwargs, **config.all_kwargs()}
            if self.user_defined_pre_hook:
                # The signature of a user's hook may lack `reset_only`.
                if "reset_only" in inspect.signature(self.pre_hook).parameters:
                    self.pre_hook(arguments, reset_only=True)
            else:
                self.pre_hook(arguments, reset_only=True)
            if knobs.autotuning.print:
                print(
                    f"Triton autotuning for function {self.base_fn.__name__},\nwith key as {key},\n"
                    f"finished after {self.bench_time:.2f}s,\nbest config selected: {config};"
                )
            return config

    def run(self, *args, **kwargs):
        """Launches with the best configuration, which is found first where it is not known."""
        nargs = self.nargs = dict(zip(self.arg_names, args))
        config = self.configs[0]
        if len(self.configs) > 1:
            arguments = {n: v for n, v in {**nargs, **kwargs}.items() if n in self.arg_names}
            key = self._tuning_key(arguments)
            config = self.cache.get(key) or self._tune(key, args, kwargs, nargs)
        self.best_config = config
        if config.pre_hook is not None:
            config.pre_hook({**nargs, **kwargs, **config.all_kwargs()})
        return self.fn.run(*args, **kwargs, **config.all_kwargs())

    def warmup(self, *args, **kwargs):
        """Compiles every configuration without launching."""
        nargs = self.nargs = dict(zip(self.arg_names, args))
        return [self.fn.warmup(*args, **kwargs, **config.all_kwargs()) for config in self.prune_configs(kwargs, nargs)]


def autotune(
    configs,
    key,
    prune_configs_by=None,
    reset_to_zero=None,
    restore_value=None,
    pre_hook=None,
    post_hook=None,
    warmup=None,
    rep=None,
    use_cuda_graph=False,
    do_bench=None,
    cache_results=False,
):
    """Measures a kernel's configurations and launches with the fastest.

    A change in the value of an argument that `key` names, or in a dtype, measures again. Arguments named by
    `reset_to_zero` are zeroed before, and those named by `restore_value` put back after, each measured run.
    """

    def decorator(fn):
        return Autotuner(
            fn,
            fn.arg_names,
            configs,
            key,
            reset_to_zero,
            restore_value,
            pre_hook=pre_hook,
            post_hook=post_hook,
            prune_configs_by=prune_configs_by,
            warmup=warmup,
            rep=rep,
            use_cuda_graph=use_cuda_graph,
            do_bench=do_bench,
            cache_results=cache_results,
        )

    return decorator


class Heuristics(KernelInterface):
    """Launches a kernel with meta-parameters computed from its arguments."""

    def __init__(self, fn, arg_names, values):
        self.fn = fn
        self.values = values
        self.arg_names = arg_names
        self.__name__ = getattr(fn, "__name__", None)
        self.__doc__ = getattr(fn, "__doc__", None)

    def run(self, *args, **kwargs):
        for name, function in self.values.items():
            kwargs[name] = function({**dict(zip(self.arg_names, args)), **kwargs})
        return self.fn.run(*args, **kwargs)


def heuristics(values):
    """Computes meta-parameters: `values` maps names to functions of the dict of arguments, called in order."""

    def decorator(fn):
        return Heuristics(fn, fn.arg_names, values)

    return decorator
