"""The functions of the language as Python objects, made from the compiler's registry.

They carry signatures and docstrings for people and editors. Their meaning is in the compiler: called outside a
kernel they raise.
"""

from __future__ import annotations

import functools

from .. import _native
from . import _constexpr, _dtype

_OUTSIDE = "Did you forget to add @triton.jit ? (`_semantic` argument must be provided outside of JIT functions.)"

# Names that the language knows and this version does not compile yet; a kernel that uses one gets an error
# that says so. (The registry may hold some of them already: then the registry's entry is used.)
_KNOWN_NAMES = """
abs add advance arange argmax argmin assume associative_scan atomic_add atomic_and atomic_cas atomic_max
atomic_min atomic_or atomic_xchg atomic_xor bitonic_merge broadcast broadcast_to cast cat cdiv ceil clamp cos
cumprod cumsum debug_barrier device_assert device_print div_rn dot dot_scaled erf exp exp2 expand_dims
expect_zero fdiv flip floor fma full gather histogram inline_asm_elementwise interleave join load
load_tensor_descriptor log log2 make_block_ptr make_tensor_descriptor map_elementwise max max_constancy
max_contiguous maximum min minimum mul multiple_of num_programs pair_uniform_to_normal permute philox
philox_impl program_id rand rand4x randint randint4x randn randn4x ravel reduce reduce_or reshape rsqrt sigmoid
sin softmax sort split sqrt sqrt_rn squeeze static_assert static_print store store_tensor_descriptor sub sum
swizzle2d to_tensor topk trans uint_to_uniform_float umulhi unsqueeze view where xor_sum zeros zeros_like
""".split()


def _callable(described, doc, module, path):
    """A function that refuses every call, with the name and signature of another."""

    @functools.wraps(described)
    def function(*args, **kwargs):
        raise ValueError(_OUTSIDE)

    function.__doc__ = doc
    function.__module__ = module
    function.__triton_builtin__ = True
    function.__despina_path__ = path
    return function


def _parameters(signature):
    """The text between the parentheses with `_semantic=None` added, as keyword where the function is variadic."""
    inner = signature.strip()[1:-1].strip()
    if "**" in inner:
        before, _, after = inner.rpartition("**")
        return f"{before}_semantic=None, **{after}"
    return f"{inner}, _semantic=None" if inner else "_semantic=None"


def _namespace():
    """What default values in signatures may name."""
    names = {name: getattr(_dtype, name) for name in _dtype.__all__}
    return names | {"constexpr": _constexpr.constexpr}


def _define(entries, module):
    """Makes one function for each (name, signature, doc, path), all in one compilation."""
    lines = []
    for name, signature, _, _ in entries:
        lines.append(f"def {name}({_parameters(signature)}): pass")
    namespace = _namespace()
    try:
        exec(compile("\n".join(lines), f"<{module}>", "exec"), namespace)  # noqa: S102
    except (SyntaxError, NameError):
        # A default that Python cannot read here must not cost the whole module.
        for name, signature, _, _ in entries:
            try:
                exec(f"def {name}({_parameters(signature)}): pass", namespace)  # noqa: S102
            except (SyntaxError, NameError):
                exec(f"def {name}(*args, _semantic=None, **kwargs): pass", namespace)  # noqa: S102
    return {name: _callable(namespace[name], doc, module, path) for name, _, doc, path in entries}


def _collect():
    """Per module path ("language", "language.math", ""): the entries of its functions."""
    modules = {}
    for path, signature, doc, is_member, supported in _native.builtin_docs():
        module, _, name = path.rpartition(".")
        if not supported:
            doc = f"{doc} Not supported yet.".strip()
        if name.isidentifier():
            modules.setdefault(module, []).append((name, signature, doc, f"triton.{path}", is_member, supported))
    return modules


_MODULES = _collect()


def functions_of(module):
    """The functions of a module of the language: name -> function."""
    entries = [entry[:4] for entry in _MODULES.get(module, [])]
    if module == "language":
        present = {entry[0] for entry in entries}
        entries += [
            (name, "(*args, **kwargs)", "Not supported yet.", f"triton.language.{name}")
            for name in _KNOWN_NAMES
            if name not in present
        ]
    return _define(entries, f"despina.{module}".rstrip("."))


def supported(path):
    """Whether this version compiles the function with this path ("language.load")."""
    module, _, name = path.rpartition(".")
    return any(entry[0] == name and entry[5] for entry in _MODULES.get(module, []))
