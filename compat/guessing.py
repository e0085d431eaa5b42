"""Guesses signatures of kernels that no recorded launch has: from annotations, defaults, tuning configurations, the
way parameters are used, and their names. What was guessed is counted apart."""

from __future__ import annotations

import ast
import importlib.util
import os
import re

import despina.language as tl
from despina.runtime.autotuner import Autotuner, Heuristics
from despina.runtime.jit import JITFunction, MockTensor

MEMORY = {"load", "store", "make_block_ptr", "make_tensor_descriptor", "advance"}
# The first that fits.
CONSTANTS = [
    (r"num_warps|num_stages", 4),
    (r"dtype|^ty$|_type$|out_ty|acc_ty", tl.float32),
    (r"activation|act_fn|^act$", ""),
    (r"precision", "ieee"),
    (r"reduction", "mean"),
    (r"rounding|round_mode", "rtne"),
    (r"approx", "none"),
    (r"^(has|is|use|store|save|output|with|do|need|even|compute|return|allow|enable|apply|skip|last|first|should|"
     r"add|keep|transpose|reverse|head_first|causal|inplace|safe|fuse|forward|bwd|interleaved|conj|tie|ascending|"
     r"descending|training|affine|normaliz|is_|scale_)", False),
    (r"(_is|_flag|_first|bias|causal|varlen|mask|contiguous|divisible|reverse|masked|even|_only)", False),
    (r"^(eps|epsilon)$|_eps", 1e-6),
    (r"scale|alpha|beta|gamma|momentum|^p$|drop|rate|theta|slope|cap|bound|thresh|temperature", 1.0),
    (r"group_size_m|group_m|^gm$", 8),
    (r"stride", 1),
    (r"^(num_)?(stage|step|iter|split|rank|ndim|dims?$|n_?dim)", 2),
    (r"axis|^dim$", 0),
    (r"block|tile|^b[a-z0-9]{1,3}$|chunk|padded|pow2|sub", 32),
    (r"^[a-z]$|head|dim|hidden|size|len|cols|rows|width", 64),
    (r"", 16),
]  # fmt: skip
ELEMENTS = [
    (r"cu_seq|seqlens|offsets?(_ptr)?$|indices|index|idx|ids|lens|target|label|counter|count|pos|perm|rank_|slots|"
     r"block_table|chunk_off|rows_ptr|mapping|lock|sem|num_tok|expert", "*i32"),
    (r"mask|flag|cond|bool", "*i1"),
]  # fmt: skip
FLOATS = re.compile(
    r"eps|scale|alpha|beta|gamma|^p$|drop|prob|lr|decay|slope|cap|thresh|temper|softcap|momentum|weight_sum|smooth|"
    r"theta|^value|lambda|bound|limit|delta|rate|norm|factor|ratio|mean|std|low|high|negative|coef|penalty|min_|max_val",
    re.IGNORECASE,
)


def _address_name(node):
    """The leftmost name of a sum: the pointer of `base + offsets`."""
    while isinstance(node, ast.BinOp):
        node = node.left
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if isinstance(node.func.value, ast.Name) and node.func.value.id in ("tl", "triton"):
            node = node.args[0] if node.args else node.func
        else:
            node = node.func.value
    if isinstance(node, ast.Attribute):
        return _address_name(node.value)
    return node.id if isinstance(node, ast.Name) else None


class Usage(ast.NodeVisitor):
    """Which names of a function are addresses."""

    def __init__(self, function, callees):
        self.pointers, self.callees = set(), callees
        self.sums = []  # (name, names that its value adds up)
        self.flags, self.dtypes, self.counts = set(), set(), set()
        self.returns = False
        self.tree = function.parse()
        self.visit(self.tree)
        self._close()

    def visit_Assign(self, node):
        self._note(node.targets[0], node.value)
        self.generic_visit(node)

    def visit_AugAssign(self, node):
        self._note(node.target, node.value, also=True)
        self.generic_visit(node)

    def visit_AnnAssign(self, node):
        if node.value is not None:
            self._note(node.target, node.value)
        self.generic_visit(node)

    def _truth(self, node):
        """Names that are asked whether they are true."""
        if isinstance(node, ast.Name):
            self.flags.add(node.id)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            self._truth(node.operand)
        elif isinstance(node, ast.BoolOp):
            for value in node.values:
                self._truth(value)

    def visit_If(self, node):
        self._truth(node.test)
        self.generic_visit(node)

    visit_IfExp = visit_If

    def visit_Return(self, node):
        self.returns |= node.value is not None
        self.generic_visit(node)

    def _note(self, target, value, also=False):
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for one, its in zip(target.elts, value.elts):
                self._note(one, its)
        elif isinstance(target, ast.Name) and (isinstance(value, (ast.BinOp, ast.Name, ast.IfExp)) or also):
            for part in (value.body, value.orelse) if isinstance(value, ast.IfExp) else (value,):
                self.sums.append((target.id, self._terms(part)))

    def _terms(self, node):
        """The name that a sum begins with: its pointer, if it has one."""
        name = _address_name(node)
        return {name} if name else set()

    def visit_Call(self, node):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in MEMORY or name.startswith("atomic_"):
            keyword = {k.arg: k.value for k in node.keywords}
            address = node.args[0] if node.args else keyword.get("pointer", keyword.get("base"))
            if address is not None:
                self._mark(address)
        typed = [k.value for k in node.keywords if k.arg == "dtype"]
        typed += node.args[:1] if name == "to" else node.args[1:2] if name in ("cast", "zeros") else []
        self.dtypes |= {n.id for n in typed if isinstance(n, ast.Name)}
        if name == "static_range":
            self.counts |= {n.id for argument in node.args for n in ast.walk(argument) if isinstance(n, ast.Name)}
        callee = self.callees.get(name)
        if callee:
            named = dict(zip(callee.names, node.args)) | {k.arg: k.value for k in node.keywords if k.arg}
            for parameter in callee.pointers & named.keys():
                self._mark(named[parameter])
        self.generic_visit(node)

    def visit_Attribute(self, node):
        if node.attr == "element_ty":
            self._mark(node.value.value if isinstance(node.value, ast.Attribute) else node.value)
        self.generic_visit(node)

    def _mark(self, address):
        names = self._terms(address) or {_address_name(address)}
        self.pointers |= {n for n in names if n}

    def _close(self):
        for _ in range(6):
            before = len(self.pointers)
            for target, terms in self.sums:
                if target in self.pointers:
                    self.pointers |= terms
            if len(self.pointers) == before:
                break


class Callee:
    flags = dtypes = counts = frozenset()
    returns = False

    def __init__(self, names, pointers):
        self.names, self.pointers = names, pointers


class Guesser:
    """Keeps what is known of the functions, and the tuners and heuristics around them."""

    def __init__(self):
        self.tuners, self.heuristics = {}, {}
        self._usage = {}
        self._install()

    def _install(self):
        guesser = self
        tuner, heuristic = Autotuner.__init__, Heuristics.__init__

        def make_tuner(self, fn, *args, **kwargs):
            tuner(self, fn, *args, **kwargs)
            guesser.tuners.setdefault(id(guesser.inner(fn)), self)

        def make_heuristics(self, fn, *args, **kwargs):
            heuristic(self, fn, *args, **kwargs)
            guesser.heuristics.setdefault(id(guesser.inner(fn)), []).append(self)

        Autotuner.__init__, Heuristics.__init__ = make_tuner, make_heuristics

    @staticmethod
    def inner(fn):
        while fn is not None and not isinstance(fn, JITFunction):
            fn = getattr(fn, "fn", None)
        return fn

    def usage(self, function, depth=0):
        known = self._usage.get(id(function))
        if known is None:
            self._usage[id(function)] = Callee(function.arg_names, set())  # ends recursion
            scope = function.get_capture_scope()
            callees = {}
            if depth < 6:
                for name in function._global_names():
                    value = self.inner(scope.get(name)) if not isinstance(scope.get(name), type) else None
                    if isinstance(value, JITFunction):
                        inner = self.usage(value, depth + 1)
                        callees[name] = Callee(value.arg_names, getattr(inner, "pointers", set()))
            try:
                known = Usage(function, callees)
            except Exception:  # noqa: BLE001 (a function that cannot be read has no usage)
                known = Callee(function.arg_names, set())
            self._usage[id(function)] = known
        return known

    def _config(self, function):
        tuner = self.tuners.get(id(function))
        if tuner is None or not tuner.configs:
            return {}, {}
        config = tuner.configs[0]
        return dict(config.kwargs), {"num_warps": config.num_warps, "num_stages": config.num_stages}

    def arguments(self, function, flavour):
        """(arguments, options) as a launch would describe them. `flavour` numbers the variants."""
        tuned, options = self._config(function)
        usage = self.usage(function)
        result, values = [], {}
        for parameter in function.params:
            name = parameter.name
            if parameter.is_constexpr or name in tuned:
                value = tuned[name] if name in tuned else self._constant(parameter, usage, flavour)
                values[name] = value
                result.append([name, None, value, 0, None])
                continue
            kind = parameter.annotation_type or self._kind(parameter, usage, flavour)
            values[name] = MockTensor("float32", [64, 64]) if kind.startswith("*") else 64
            result.append([name, kind, None, 16 if kind.startswith("*") else 0, None])
        self._apply_heuristics(function, result, values, flavour)
        return [tuple(entry) for entry in result], {**_OPTIONS, **options}

    def _apply_heuristics(self, function, result, values, flavour):
        for heuristics in self.heuristics.get(id(function), []):
            for name, compute in heuristics.values.items():
                try:
                    value = compute(values)
                except Exception:  # noqa: BLE001 (a heuristic may want more than names and shapes)
                    continue
                if isinstance(value, bool):
                    value = flavour.flag
                for entry in result:
                    if entry[0] == name:
                        entry[1:3] = [None, value]
                        values[name] = value

    @staticmethod
    def _constant(parameter, usage, flavour):
        name = parameter.name
        if name in usage.flags and not isinstance(parameter.default, (int, str)):
            return flavour.flag
        if name in usage.dtypes and not parameter.has_default:
            return tl.float32
        if name in usage.counts and not parameter.has_default:
            return 4
        if parameter.has_default and parameter.default is not None:
            default = getattr(parameter.default, "value", parameter.default)
            return flavour.flag if isinstance(default, bool) and flavour.flag else default
        if parameter.has_default:
            return None
        value = next(v for pattern, v in CONSTANTS if re.search(pattern, parameter.name, re.IGNORECASE))
        if isinstance(value, bool):
            return flavour.flag
        if value in (32, 64, 16) and not isinstance(value, float):
            return flavour.size if value == 32 else max(value, flavour.size)
        return value

    @staticmethod
    def _kind(parameter, usage, flavour):
        name = parameter.name
        pointer = name in usage.pointers or re.search(r"ptr|pointer", name, re.IGNORECASE)
        if pointer and not re.search(r"^stride|_stride", name, re.IGNORECASE):
            for pattern, kind in ELEMENTS:
                if re.search(pattern, name, re.IGNORECASE):
                    return kind
            return flavour.element
        if parameter.has_default and isinstance(parameter.default, float):
            return "fp32"
        return "fp32" if FLOATS.search(name) and not re.search(r"stride|size|dim", name, re.IGNORECASE) else "i32"


class Flavour:
    """One variant of a guess."""

    def __init__(self, flag, size, element):
        self.flag, self.size, self.element = flag, size, element


FLAVOURS = [
    Flavour(False, 32, "*fp32"),
    Flavour(False, 64, "*fp16"),
    Flavour(True, 32, "*fp32"),
    Flavour(True, 16, "*fp16"),
    Flavour(False, 16, "*i32"),
    Flavour(False, 128, "*bf16"),
    Flavour(True, 64, "*i32"),
]
_OPTIONS = {"num_warps": 4, "num_stages": 3}


# What helpers, which are no kernels themselves, are called with where nothing calls them: all operands alike.
OPERANDS = [
    "tl.full([32], 1.5, tl.float32)",
    "tl.full([32, 32], 1.5, tl.float32)",
    "tl.full([32], 3, tl.int32)",
    "tl.program_id(0)",
    "tl.program_id(0).to(tl.float32)",
    "tl.full([32, 32], 3, tl.int32)",
    "tl.full([16, 16], 1.5, tl.float16)",
]
CALLER = """\
import triton
import triton.language as tl


@triton.jit
def caller(out):
    helper({operands})
"""


def callers(function, usage, folder):
    """Kernels that call a helper with operands of several kinds."""
    for number, operand in enumerate(OPERANDS):
        values = []
        for parameter in function.params:
            if parameter.is_variadic:
                break
            if parameter.is_constexpr:
                value = Guesser._constant(parameter, usage, FLAVOURS[number % 3])
                values.append("tl.float32" if value is tl.float32 else repr(value))
            else:
                values.append("out" if parameter.name in usage.pointers else operand)
        path = os.path.join(folder, f"caller_{function.__name__}_{number}.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(CALLER.format(operands=", ".join(values)))
        spec = importlib.util.spec_from_file_location(f"caller_{number}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        module.helper = function
        yield module.caller
