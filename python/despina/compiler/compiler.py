"""`compile`: from a function and the types of its arguments to a kernel."""

from __future__ import annotations

import hashlib
import sys
from collections import namedtuple

from .. import _native
from .._version import __version__
from ..language._constexpr import constexpr

__all__ = ["ASTSource", "CompiledKernel", "compile", "make_backend", "triton_key"]

# For each target, the public name of a stage -> the native one.
_STAGES = {
    "cpu": {
        "tt": "tt", "ttir": "tt", "source": "tt", "llvm": "llvm", "llir": "llvm", "asm": "asm", "obj": "obj",
    },
    "cuda": {
        "source": "tt", "ttir": "tt", "ttgir": "ttg", "llir": "llvm", "ptx": "ptx", "cubin": "cubin",
    },
}  # fmt: skip
# Names that are answered but not listed.
_UNLISTED = {"cpu": {}, "cuda": {"tt": "tt", "ttg": "ttg", "llvm": "llvm", "sass": "sass"}}
_BINARY = {"cpu": "obj", "cuda": "cubin"}

DEFAULT_OPTIONS = {
    "num_warps": 4,
    "num_stages": 3,
    "num_ctas": 1,
    "enable_fp_fusion": True,
    "debug": False,
    "sanitize_overflow": False,
    "maxnreg": None,
    "launch_cooperative_grid": False,
    "launch_pdl": False,
}


class ASTSource:
    """A function in kernel language with the types of its parameters.

    `signature` maps every parameter to its type ("*fp32", "i32", "constexpr"), `constexprs` names or index paths
    to the values of constants, `attrs` index paths to attributes such as `[["tt.divisibility", 16]]`.
    """

    def __init__(self, fn, signature, constexprs=None, attrs=None):
        self.fn = fn
        self.ext = "ttir"
        self.name = fn.__name__
        self.signature = dict(signature)
        self.attrs = dict(attrs or {})
        self.constants = {
            (fn.arg_names.index(key),) if isinstance(key, str) else tuple(key): value
            for key, value in (constexprs or {}).items()
        }

    @classmethod
    def _from_arguments(cls, fn, arguments):
        """From what the dispatcher says of a launch's arguments."""
        signature = {name: _signature_of(entry) for entry in arguments for name in entry[:1]}
        constants = {entry[0]: entry[2] for entry in arguments if entry[1] is None and entry[4] is None}
        attrs = {(i,): [["tt.divisibility", entry[3]]] for i, entry in enumerate(arguments) if entry[3]}
        return cls(fn, signature, constants, attrs)

    def hash(self):
        """Digest of the function and of everything it is specialised on."""
        attributes = sorted((path, str(value)) for path, value in self.attrs.items())
        constants = sorted((path, str(getattr(v, "cache_key", v))) for path, v in self.constants.items())
        key = f"{self.fn.cache_key}-{attributes}-{[*self.signature.items()]}-{constants}"
        return hashlib.sha256(key.encode()).hexdigest()

    def _arguments(self):
        """(name, type, constant, divisibility, elements) for each parameter."""
        unknown = [name for name in self.signature if name not in self.fn.arg_names]
        if unknown:
            raise ValueError(f"{self.name} has no parameter {unknown[0]!r}; it has {', '.join(self.fn.arg_names)}")
        return [self._argument(i, parameter) for i, parameter in enumerate(self.fn.params)]

    def _argument(self, index, parameter):
        name = parameter.name
        if (index,) in self.constants:
            return (name, None, self.constants[(index,)], 0, None)
        type = self.signature.get(name)
        if isinstance(type, tuple):
            return self._tuple(name, (index,), type)
        if type is not None and type != "constexpr":
            return (name, str(type), None, self._divisibility((index,)), None)
        if parameter.has_default:
            return (name, None, parameter.default, 0, None)
        raise ValueError(f"parameter {name!r} of {self.name} is neither in the signature nor a constant")

    def _tuple(self, name, path, types):
        elements = []
        for i, type in enumerate(types):
            inner = (*path, i)
            if inner in self.constants:
                elements.append((None, None, self.constants[inner], 0, None))
            elif isinstance(type, tuple):
                elements.append(self._tuple(None, inner, type))
            else:
                elements.append((None, str(type), None, self._divisibility(inner), None))
        return (name, None, types, 0, elements)

    def _divisibility(self, path):
        for attribute, value in self.attrs.get(path, []):
            if attribute == "tt.divisibility":
                return int(value)
        return 0


def _signature_of(entry):
    _, type, constant, _, elements = entry
    if elements is not None:
        return tuple(_signature_of(element) for element in elements)
    return "constexpr" if type is None else type


class _Stages(dict):
    """The texts of a kernel's stages, made when they are asked for."""

    def __init__(self, kernel, backend):
        super().__init__()
        self._owner = kernel
        self._listed = _STAGES[backend]
        self._known = {**self._listed, **_UNLISTED[backend]}

    def __missing__(self, stage):
        if stage not in self._known:
            raise KeyError(f"Unknown key: '{stage}'")
        text = self[stage] = self._owner._stage_text(self._known[stage])
        return text

    def __contains__(self, stage):
        return stage in self._known

    def keys(self):
        return self._listed.keys()

    def __iter__(self):
        return iter(self._listed)

    def __len__(self):
        return len(self._listed)

    def get(self, stage, default=None):
        return self[stage] if stage in self._known else default

    def items(self):
        return [(stage, self[stage]) for stage in self._listed]

    def values(self):
        return [self[stage] for stage in self._listed]

    def __reduce__(self):
        return dict, (dict(self.items()),)


class CompiledKernel:
    """A kernel for one set of argument types.

    `asm` holds the text of each stage: "ttir", "llir"; of the CPU also "asm" and the bytes of "obj", of a GPU
    "ttgir", "ptx", "sass" and the bytes of "cubin".
    """

    launch_enter_hook = None
    launch_exit_hook = None

    def __init__(self, src, kernel, arguments, target, options):
        self.src = src
        self._kernel = kernel
        self._arguments = arguments
        self._target = target
        self._options = options
        self.name = kernel.name
        self.asm = _Stages(self, target.backend)
        self.metadata_group = {}
        self._loaded = None
        self._hash = None
        self._metadata = None

    # What the kernel takes. The assembler knows the first two; where only the driver assembles, and for the
    # others, the kernel is loaded on the current device.

    @property
    def n_regs(self):
        """Registers of a thread."""
        return self._resource("n_regs", 2)

    @property
    def n_spills(self):
        """Registers that live in memory at times."""
        return self._resource("n_spills", 3)

    @property
    def n_max_threads(self):
        """Threads that a block may have."""
        return 1 if self._on_cpu else self._load()[4]

    @property
    def module(self):
        return None if self._on_cpu else self._load()[0]

    @property
    def function(self):
        return self.name if self._on_cpu else self._load()[1]

    @property
    def _on_cpu(self):
        return self._target.backend == "cpu"

    def _resource(self, name, place):
        if self._on_cpu:
            return 0
        known = self._kernel.resources[name]
        return known if known >= 0 else self._load()[place]

    def _load(self):
        if self._loaded is None:
            self._loaded = self._kernel.load()
        return self._loaded

    def _init_handles(self):
        """Readies the kernel for the current device; a launch does so too."""
        if not self._on_cpu:
            self._load()

    @property
    def hash(self):
        """Digest of the source, the target and the options."""
        if self._hash is None:
            options = sorted((name, str(value)) for name, value in self._options.items())
            text = f"{triton_key()}-{self.src.hash()}-{self._target}-{options}"
            self._hash = hashlib.sha256(text.encode()).hexdigest()
        return self._hash

    @property
    def metadata(self):
        """A named tuple of what the kernel was compiled for and what it needs."""
        if self._metadata is None:
            resources = self._kernel.resources
            fields = {
                "name": self.name,
                "hash": self.hash,
                "target": self._target,
                "shared": resources["shared"],
                "tmem_size": 0,
                "global_scratch_size": resources["global_scratch_size"],
                "global_scratch_align": resources["global_scratch_align"],
                "profile_scratch_size": 0,
                "profile_scratch_align": 1,
                "tensordesc_meta": None,
                "triton_version": __version__,
                "cluster_dims": (max(resources["num_ctas"], 1), 1, 1),
                **self._options,
            }
            fields["num_warps"] = max(resources["num_warps"], self._options["num_warps"])
            self._metadata = namedtuple("KernelMetadata", sorted(fields))(**fields)
        return self._metadata

    @property
    def packed_metadata(self):
        return (self.metadata.num_warps, self.metadata.num_ctas, self.metadata.shared)

    @property
    def kernel(self):
        """The machine code."""
        return self.asm[_BINARY[self._target.backend]]

    @property
    def stage_times(self):
        """(stage, seconds) for each stage of the compilation."""
        return self._kernel.stage_times

    def _stage_text(self, stage):
        """The text of a stage. It is made by compiling once more when it was not kept."""
        return self._kernel.text(stage)

    def launch_metadata(self, grid, stream, *args):
        return None

    def run(
        self, gridX, gridY, gridZ, stream, function, packed_metadata, launch_metadata, enter_hook, exit_hook, *args
    ):
        """Launches with all arguments in the order of the parameters, constants included."""
        if enter_hook:
            enter_hook(launch_metadata)
        self._kernel.launch((gridX, gridY, gridZ), self._runtime_values(args), stream=stream)
        if exit_hook:
            exit_hook(launch_metadata)

    def __getitem__(self, grid):
        def launch(*args, stream=None):
            self._kernel.launch(grid, self._runtime_values(args), stream=stream)

        return launch

    def _runtime_values(self, args):
        if len(args) != len(self._arguments):
            # The older convention, which launchers of libraries still follow, leaves out what is marked constexpr.
            given = iter(args)
            marked = [parameter.is_constexpr for parameter in self.src.fn.params]
            if len(args) == marked.count(False):
                args = [None if constant else next(given) for constant in marked]
        if len(args) != len(self._arguments):
            names = ", ".join(argument[0] for argument in self._arguments)
            raise TypeError(
                f"{self.name} takes {len(self._arguments)} arguments ({names}, constants included) "
                f"but {len(args)} were given"
            )
        values = []
        for argument, value in zip(self._arguments, args):
            _append_runtime(argument, value, values)
        return tuple(values)


def _append_runtime(argument, value, values):
    if argument[4] is not None:
        for element, inner in zip(argument[4], value):
            _append_runtime(element, inner, values)
    elif argument[1] is not None and argument[1].startswith("tensordesc"):
        values += [value.base, *value.shape, *value.strides[:-1]]
    elif argument[1] is not None:
        values.append(value)


def triton_key():
    """Identifies this version of the compiler in cache keys."""
    return f"despina-{__version__}-{_native.version()}"


class _Backend:
    def __init__(self, target):
        self.target = target
        self.binary_ext = _BINARY.get(target.backend, "obj")

    def hash(self):
        return f"{self.target.backend}-{self.target.arch}-{__version__}"


def make_backend(target):
    """What third-party code asks for the hash of a target's compiler."""
    return _Backend(target)


def _native_options(options):
    native = {name: options.get(name, default) for name, default in DEFAULT_OPTIONS.items()}
    for name in ("debug", "sanitize_overflow", "launch_cooperative_grid", "launch_pdl"):
        native[name] = bool(native[name])
    # Where NVIDIA's Python packages may have their tools.
    native["site_packages"] = [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
    return native


def compile_arguments(src, arguments, target, options):
    """Compiles for arguments as the dispatcher describes them."""
    arguments = [_unwrap(argument) for argument in arguments]
    kernel = _native.compile(src.fn._handle, arguments, _native_options(options), target._native(), [])
    return CompiledKernel(src, kernel, arguments, target, {**DEFAULT_OPTIONS, **options})


def _unwrap(argument):
    name, type, constant, divisibility, elements = argument
    if isinstance(constant, constexpr):
        constant = constant.value
    return (name, type, constant, divisibility, elements)


def compile(src, target=None, options=None, _env_vars=None):
    """Compiles an `ASTSource` for a target (that of `triton.runtime.driver.active` when none is given)."""
    if not isinstance(src, ASTSource):
        raise NotImplementedError(
            f"compile takes an ASTSource; compiling a file of intermediate code ({src!r}) is not supported yet"
        )
    if target is None:
        from ..runtime.driver import driver

        target = driver.active.get_current_target()
    return compile_arguments(src, src._arguments(), target, options or {})
