"""`@jit`: functions in kernel language, and how they are launched."""

from __future__ import annotations

import ast
import hashlib
import inspect
import itertools
import os
import re
import threading
from collections import defaultdict, namedtuple
from functools import cached_property

from .. import _native, knobs
from .._utils import canonicalize_dtype, type_of_annotation
from ..backends.compiler import CPU, cuda_target
from ..compiler.compiler import ASTSource, CompiledKernel, compile_arguments
from ..compiler.errors import CompilationError
from ..language._constexpr import constexpr

__all__ = [
    "JITCallable",
    "JITFunction",
    "KernelInterface",
    "KernelParam",
    "ConstexprFunction",
    "MockTensor",
    "TensorWrapper",
    "constexpr_function",
    "jit",
    "must_use_result",
    "reinterpret",
]

JitFunctionInfo = namedtuple("JitFunctionInfo", ["module", "name", "jit_function"])

_DEF = re.compile(r"^\s*def\s+\w+\s*\(")
_identities = defaultdict(itertools.count)


def _read_source(fn):
    """(lines as in the file, number of the first one). Decorators are part of the lines."""
    try:
        lines, first = inspect.getsourcelines(fn)
    except (OSError, TypeError) as error:
        raise ValueError("@jit functions should be defined in a Python file") from error
    return lines, max(first, 1)


def _unindent(lines):
    """(text without the indentation of the first line, the width of that indentation)."""
    indent = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    if not indent:
        return "".join(lines), 0
    return "".join(line[len(indent) :] if line.startswith(indent) else line for line in lines), len(indent)


class JITCallable:
    """What `jit` and `constexpr_function` have in common: a function with source text."""

    def __init__(self, fn):
        # The text is that of the innermost function, and so is what its names mean.
        self.fn = fn = inspect.unwrap(fn)
        self.signature = inspect.signature(fn)
        self.raw_src, self.starting_line_number = _read_source(fn)
        text, self._indent = _unindent(self.raw_src)
        lines = text.splitlines(keepends=True)
        start = next((i for i, line in enumerate(lines) if _DEF.match(line)), 0)
        self._text = text
        self._src = "".join(lines[start:])
        self._name = fn.__name__
        self._module = fn.__module__
        self._fn_name = f"{fn.__module__}.{fn.__qualname__}"
        self._hash = None
        self._must_use = None
        self.__doc__ = fn.__doc__
        self.__name__ = fn.__name__
        self.__qualname__ = fn.__qualname__
        self.__globals__ = fn.__globals__
        self.__module__ = fn.__module__
        self._make_handle()

    _is_jit = True
    noinline = False

    def _make_handle(self):
        # Functions made again from the same lines (closures of a factory), or with another source, are different
        # functions.
        base = f"{self._fn_name}:{self.starting_line_number}"
        number = next(_identities[base])
        self._handle = _native.make_function(
            is_jit=self._is_jit,
            name=self._name,
            qualified_name=self._fn_name,
            source=self._text,
            path=self.fn.__code__.co_filename,
            first_line=self.starting_line_number,
            indent=self._indent,
            noinline=bool(self.noinline),
            must_use=self._must_use,
            key=f"{base}#{number}" if number else base,
            scope=self,
        )

    @property
    def src(self):
        """The source text from the `def` line, without indentation."""
        return self._src

    def _unsafe_update_src(self, new_src):
        """Replaces the source text. Compiled kernels are forgotten."""
        self._src = self._text = new_src
        self._hash = None
        self._make_handle()

    def parse(self):
        """The function's syntax tree, as Python's `ast`."""
        tree = ast.parse(self._src)
        assert isinstance(tree, ast.Module) and len(tree.body) == 1
        assert isinstance(tree.body[0], ast.FunctionDef)
        return tree

    def get_capture_scope(self):
        """Globals and closure variables by name."""
        return self.__globals__ | inspect.getclosurevars(self.fn).nonlocals

    def _global_names(self):
        """Names the function's code reads from outside."""
        names, codes = set(), [self.fn.__code__]
        while codes:
            code = codes.pop()
            names.update(code.co_names)
            names.update(code.co_freevars)
            codes.extend(constant for constant in code.co_consts if isinstance(constant, type(code)))
        return names

    @property
    def used_global_vals(self):
        """Constants outside the function that it names: (name, id of the globals) -> (value, globals)."""
        scope = self.get_capture_scope()
        return {
            (name, id(self.__globals__)): (scope[name], self.__globals__)
            for name in sorted(self._global_names())
            if isinstance(scope.get(name), constexpr)
        }

    @property
    def cache_key(self):
        """Digest of the source, of the functions it names and of the constants it reads."""
        if self._hash is None:
            self._hash = f"recursion:{self._fn_name}"
            scope = self.get_capture_scope()
            parts = [self._src, str(self.noinline)]
            for name in sorted(self._global_names()):
                value = scope.get(name)
                if isinstance(value, JITCallable):
                    parts.append(value.cache_key)
                elif isinstance(value, constexpr):
                    parts.append(f"{name}={value.value!r}")
            parts.append(str(self.starting_line_number))
            self._hash = hashlib.sha256("\0".join(parts).encode()).hexdigest()
        return self._hash

    @property
    def hash(self):
        return self.cache_key

    def __hash__(self):
        return hash(self.cache_key)

    def __eq__(self, other):
        return self is other


class ConstexprFunction(JITCallable):
    """A Python function that runs when a kernel is compiled, on the values of its `constexpr` arguments."""

    _is_jit = False

    def __get__(self, instance, owner=None):
        return self if instance is None else _BoundConstexprFunction(instance, self)

    def __call__(self, *args, _semantic=None, **kwargs):
        args = [getattr(a, "value", a) if isinstance(a, constexpr) else a for a in args]
        kwargs = {k: v.value if isinstance(v, constexpr) else v for k, v in kwargs.items()}
        return self.fn(*args, **kwargs)

    def __repr__(self):
        return f"ConstexprFunction({self._module}:{self.fn.__qualname__})"


class _BoundConstexprFunction:
    def __init__(self, instance, function):
        self.__self__, self.__func__ = instance, function

    def __call__(self, *args, **kwargs):
        return self.__func__(self.__self__, *args, **kwargs)


def constexpr_function(fn):
    """Makes a Python function callable from kernels, at compile time, on values known then."""
    return ConstexprFunction(fn)


class _UserBuiltin(JITCallable):
    """A function that its user marked as one of the language: the compiler reads it like a jit function."""


def read_builtin(fn):
    """What the compiler reads of a function with `@tl.core.builtin` or `@tl.core.extern`; one object for each."""
    if "__despina_builtin__" not in vars(fn):
        fn.__despina_builtin__ = _UserBuiltin(fn)
    return fn.__despina_builtin__


def must_use_result(x, s=True):
    """Marks a function whose result must not be dropped in a kernel. Given a text, the error ends with it."""
    if isinstance(x, str):
        return lambda fn: must_use_result(fn, x)
    if isinstance(x, JITCallable):
        x._must_use = s if isinstance(s, str) else ""
        x._make_handle()
    else:
        x._must_use_result = s
    return x


class KernelParam:
    """One parameter of a kernel."""

    def __init__(self, num, param, do_not_specialize, do_not_specialize_on_alignment):
        self.num = num
        self._param = param
        self.do_not_specialize = do_not_specialize
        self.do_not_specialize_on_alignment = do_not_specialize_on_alignment

    @cached_property
    def name(self):
        return self._param.name

    @cached_property
    def annotation(self):
        """The annotation as text, or "" where there is none."""
        annotation = self._param.annotation
        if annotation is inspect.Parameter.empty:
            return ""
        return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)

    @cached_property
    def annotation_type(self):
        """The signature form of the type that the annotation forces, or ""."""
        if self._param.annotation is inspect.Parameter.empty or self.is_constexpr:
            return ""
        return type_of_annotation(self._param.annotation)[0] or ""

    @cached_property
    def is_constexpr(self):
        annotation = self._param.annotation
        if isinstance(annotation, str):
            return "constexpr" in annotation
        # The name of a class, not where it is defined: other classes of the language stand beside constexpr.
        return "constexpr" in getattr(annotation, "__name__", "")

    @cached_property
    def is_const(self):
        if self._param.annotation is inspect.Parameter.empty or self.is_constexpr:
            return False
        return type_of_annotation(self._param.annotation)[1]

    @property
    def default(self):
        return self._param.default

    @property
    def has_default(self):
        return self._param.default is not inspect.Parameter.empty

    @property
    def is_variadic(self):
        return self._param.kind is inspect.Parameter.VAR_POSITIONAL

    def _native(self):
        """The fields that the native dispatcher reads."""
        forced = self.annotation_type
        # A forced u1 or float has nothing to specialise on.
        by_value = not self.do_not_specialize and not forced.startswith(("u1", "fp", "bf"))
        return (
            self.name,
            self.has_default,
            self.default if self.has_default else None,
            self.is_constexpr,
            self.is_const,
            by_value,
            not self.do_not_specialize_on_alignment,
            forced or None,
            self.is_variadic,
        )


class KernelInterface:
    """What can be launched as `kernel[grid](*args)`."""

    def warmup(self, *args, grid, **kwargs):
        """Compiles for these arguments without launching."""
        return self.run(*map(MockTensor.wrap_dtype, args), grid=grid, warmup=True, **kwargs)

    def run(self, *args, grid, warmup, **kwargs):
        raise NotImplementedError("run not implemented")

    def __getitem__(self, grid):
        return lambda *args, **kwargs: self.run(*args, grid=grid, warmup=False, **kwargs)


# A compilation in progress, by function and key: other threads that need the same kernel wait for it.
_in_flight = {}
_in_flight_guard = threading.Lock()


def _forget_in_flight():
    global _in_flight_guard
    _in_flight.clear()
    _in_flight_guard = threading.Lock()


def _after_fork():
    _forget_in_flight()
    _native.set_main_thread(threading.main_thread().ident)


os.register_at_fork(after_in_child=_after_fork)
_native.set_main_thread(threading.main_thread().ident)


class JITFunction(JITCallable, KernelInterface):
    """A kernel, or a function that kernels call."""

    _interprets = False

    def __init__(
        self,
        fn,
        version=None,
        do_not_specialize=None,
        do_not_specialize_on_alignment=None,
        debug=None,
        noinline=None,
        repr=None,
        launch_metadata=None,
    ):
        self.noinline = bool(noinline)
        if getattr(fn, "__name__", "") == "<lambda>":
            raise ValueError("@jit functions should be defined in a Python file with `def`: a lambda is no kernel")
        super().__init__(fn)
        self.version = version
        self.do_not_specialize = do_not_specialize or []
        self.do_not_specialize_on_alignment = do_not_specialize_on_alignment or []
        self.debug = debug
        self.launch_metadata = launch_metadata
        self._repr = repr
        self.params = [
            KernelParam(
                number,
                parameter,
                number in self.do_not_specialize or parameter.name in self.do_not_specialize,
                number in self.do_not_specialize_on_alignment or parameter.name in self.do_not_specialize_on_alignment,
            )
            for number, parameter in enumerate(self.signature.parameters.values())
        ]
        for parameter in self.params:
            if parameter.is_constexpr and (parameter.do_not_specialize or parameter.do_not_specialize_on_alignment):
                raise CompilationError(
                    f"{parameter.name} marked as constexpr and listed in "
                    "do_not_specialize/do_not_specialize_on_alignment. "
                    "Remove constexpr designation to skip specialization."
                )
        self.arg_names = [parameter.name for parameter in self.params]
        self.constexprs = [parameter.num for parameter in self.params if parameter.is_constexpr]
        self.pre_run_hooks = []
        self.kernel = None
        self._kernels = {}
        self._dispatcher = _native.Dispatcher(
            self, self._name, [parameter._native() for parameter in self.params], self.pre_run_hooks, self._interprets
        )

    # Launching.

    def __getitem__(self, grid):
        if type(self) is JITFunction:
            return self._dispatcher.bind(grid)
        return super().__getitem__(grid)

    def run(self, *args, grid, warmup=False, **kwargs):
        """Launches, or with `warmup` only compiles. Returns the compiled kernel."""
        return self._dispatcher.run(grid, warmup, args, kwargs)

    def __call__(self, *args, **kwargs):
        raise RuntimeError("Cannot call @triton.jit'd outside of the scope of a kernel")

    def add_pre_run_hook(self, hook):
        """Adds a function that sees the arguments of every launch before it."""
        assert callable(hook)
        self.pre_run_hooks.append(hook)

    def create_binder(self):
        """Third-party code calls this before it reads the attributes `ASTSource`, `compile`, `CompiledKernel`."""
        from ..compiler import compiler

        self.ASTSource, self.CompiledKernel, self.compile = ASTSource, CompiledKernel, compiler.compile
        return self.ASTSource, self.CompiledKernel, self.compile

    @property
    def device_caches(self):
        """Device -> (kernels by key,): a view for tools."""
        return {0: (self._dispatcher.kernels(),)}

    def _unsafe_update_src(self, new_src):
        super()._unsafe_update_src(new_src)
        self._kernels.clear()
        self._dispatcher.clear()

    # Called by the native dispatcher.

    def _compile_specialization(self, key, arguments, options, warmup, device, capability):
        """Compiles what the dispatcher does not have yet; None when a hook vetoed. `device` -1 is the CPU."""
        requested = dict(options)
        if requested["debug"] is None:
            requested["debug"] = bool(self.debug) or knobs.runtime.debug
        hook_arguments = (key, arguments, requested, warmup, max(device, 0))
        if self._call_jit_hook(knobs.runtime.jit_cache_hook, *hook_arguments):
            return None
        kernel = self._compile_once(key, arguments, requested, cuda_target(capability) if capability else CPU)
        self._call_jit_hook(knobs.runtime.jit_post_compile_hook, *hook_arguments)
        return kernel

    def _compile_once(self, key, arguments, options, target):
        """Compiles, unless another thread is at it: then its result is taken."""
        place = (id(self), key)
        with _in_flight_guard:
            lock = _in_flight.setdefault(place, threading.Lock())
        try:
            with lock:
                kernel = self._kernels.get(key)
                if kernel is None:
                    source = ASTSource._from_arguments(self, arguments)
                    kernel = self._kernels[key] = compile_arguments(source, arguments, target, options)
        finally:
            with _in_flight_guard:
                if _in_flight.get(place) is lock:
                    del _in_flight[place]
        return kernel

    def _call_jit_hook(self, hook, key, arguments, options, warmup, device):
        if not hook:
            return False
        signature = {name: type or "constexpr" for name, type, *_ in arguments}
        description = {
            "key": key,
            "signature": signature,
            "device": device,
            "constants": {name: constant for name, type, constant, *_ in arguments if type is None},
            "num_warps": options["num_warps"],
            "num_ctas": options["num_ctas"],
            "num_stages": options["num_stages"],
            "enable_fp_fusion": options["enable_fp_fusion"],
            "launch_cooperative_grid": options["launch_cooperative_grid"],
            "extern_libs": (),
            "configs": [{(i,): [["tt.divisibility", 16]] for i, a in enumerate(arguments) if a[3]}],
            "specialization_data": None,
            "is_warmup": warmup,
        }
        shown = ", ".join(f"{name}: {type}" for name, type in signature.items())
        return hook(
            key=key,
            repr=f"{self._fn_name}[num_warps={options['num_warps']}]({shown})",
            fn=JitFunctionInfo(self._module, self._name, self),
            compile=description,
            is_manual_warmup=warmup,
            already_compiled=False,
        )

    def _launch_metadata(self, grid, kernel, bound, stream):
        """The dict that launch hooks get."""
        data = {"name": kernel.name, "function": kernel.function, "stream": stream, "grid": grid}
        if self.launch_metadata is not None:
            data.update(self.launch_metadata(grid, kernel.metadata, bound) or {})
        return LazyDict(data)

    @staticmethod
    def _call_hooks(calls, metadata, reverse):
        for hook in calls[::-1] if reverse else [*calls]:
            hook(metadata)

    def preload(self, specialization_data):
        raise NotImplementedError("preload is not supported yet")

    def repr(self, specialization):
        """Name of the kernel's symbol."""
        return self._repr(specialization) if self._repr else self._fn_name

    def __repr__(self):
        return f"JITFunction({self._module}:{self.fn.__qualname__})"


class LazyDict:
    """What launch hooks get: `get()` gives the dict."""

    def __init__(self, data):
        self.data = data

    def get(self):
        return self.data


def _function_class(interpret):
    if interpret is None:
        interpret = knobs.runtime.interpret or knobs.runtime.sanitize
    if not interpret:
        return JITFunction
    from .interpreter import InterpretedFunction

    return InterpretedFunction


def jit(
    fn=None,
    *,
    version=None,
    repr=None,
    launch_metadata=None,
    do_not_specialize=None,
    do_not_specialize_on_alignment=None,
    debug=None,
    noinline=None,
    interpret=None,
):
    """Makes a kernel of a function. Its body is compiled for each kind of arguments when it is first launched.

    `do_not_specialize` names parameters whose values (1, multiples of 16) make no kernel of their own;
    `do_not_specialize_on_alignment` those where only multiples of 16 do not. `debug` turns device assertions on,
    `noinline` keeps the function a function where kernels call it. With `interpret` Python runs the kernel, operation
    by operation; TRITON_INTERPRET=1 says so for all functions that are decorated while it is set.
    """

    def decorator(fn):
        assert callable(fn)
        return _function_class(interpret)(
            fn,
            version=version,
            do_not_specialize=do_not_specialize,
            do_not_specialize_on_alignment=do_not_specialize_on_alignment,
            debug=debug,
            noinline=noinline,
            repr=repr,
            launch_metadata=launch_metadata,
        )

    return decorator if fn is None else decorator(fn)


class MockTensor:
    """Stands for a tensor of a dtype where a kernel is only compiled."""

    @staticmethod
    def wrap_dtype(arg):
        """A dtype of torch or NumPy becomes a tensor of that type; anything else stays."""
        kind = type(arg)
        if (kind.__module__, kind.__name__) == ("torch", "dtype") or kind.__module__ == "numpy.dtypes":
            return MockTensor(arg)
        return arg

    def __init__(self, dtype, shape=None):
        self.dtype = dtype
        self.shape = [1] if shape is None else shape

    def stride(self):
        strides = [1]
        for size in self.shape[1:]:
            strides.append(strides[-1] * size)
        return (*reversed(strides),)

    @staticmethod
    def data_ptr():
        return 0

    @staticmethod
    def ptr_range():
        return 0


class TensorWrapper:
    """A tensor under another element type."""

    def __init__(self, base, dtype):
        self.dtype = dtype
        self.base = base
        self.data = getattr(base, "data", None)
        self.device = getattr(base, "device", "cpu")
        self.shape = base.shape

    def data_ptr(self):
        if hasattr(self.base, "data_ptr"):
            return self.base.data_ptr()
        if hasattr(self.base, "__cuda_array_interface__"):
            return self.base.__cuda_array_interface__["data"][0]
        return self.base.ctypes.data

    @property
    def is_cpu(self):
        """None where the wrapped object does not tell."""
        return getattr(self.base, "is_cpu", None if hasattr(self.base, "__cuda_array_interface__") else True)

    @property
    def is_cuda(self):
        return getattr(self.base, "is_cuda", False)

    def get_device(self):
        """The number of the tensor's CUDA device, or -1."""
        return self.base.get_device() if hasattr(self.base, "get_device") else -1

    def stride(self, *args):
        if hasattr(self.base, "stride"):
            return self.base.stride(*args)
        strides = tuple(size // self.base.itemsize for size in self.base.strides)
        return strides[args[0]] if args else strides

    def element_size(self):
        return self.base.element_size() if hasattr(self.base, "element_size") else self.base.itemsize

    def cpu(self):
        return TensorWrapper(self.base.cpu() if hasattr(self.base, "cpu") else self.base, self.dtype)

    def clone(self):
        return TensorWrapper(self.base.clone() if hasattr(self.base, "clone") else self.base.copy(), self.dtype)

    def copy_(self, other):
        if hasattr(self.base, "copy_"):
            self.base.copy_(other.base)
        else:
            self.base[...] = other.base

    def to(self, device):
        return TensorWrapper(self.base.to(device) if hasattr(self.base, "to") else self.base, self.dtype)

    def new_empty(self, sizes):
        if hasattr(self.base, "new_empty"):
            return TensorWrapper(self.base.new_empty(sizes), self.dtype)
        import numpy

        return TensorWrapper(numpy.empty(sizes, self.base.dtype), self.dtype)

    def __str__(self):
        return f"TensorWrapper[{self.dtype}]({self.base})"


def reinterpret(tensor, dtype):
    """The same memory under another element type of the same width."""
    if isinstance(tensor, TensorWrapper):
        same = canonicalize_dtype(dtype) == canonicalize_dtype(tensor.base.dtype)
        return tensor.base if same else TensorWrapper(tensor.base, dtype)
    if any(hasattr(tensor, name) for name in ("data_ptr", "__array_interface__", "__cuda_array_interface__")):
        return TensorWrapper(tensor, dtype)
    raise TypeError(f"Cannot reinterpret a {type(tensor)}.")
