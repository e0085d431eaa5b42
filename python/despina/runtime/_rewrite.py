"""Turns the function of a kernel into one that Python runs with the language's meaning.

The function keeps its file and its lines. Literals that are assigned, operators, subscripts, calls, conditions and
loops call `despina._native.interpreter`; `print`, `breakpoint` and pdb stay as they are.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import sys
import types

from .. import _native
from ..language._constexpr import constexpr
from ..language._dtype import dtype

_native_operations = _native.interpreter
_DEBUGGING = {"print", "breakpoint"}


def unwrap(value):
    """The value of a `constexpr`; anything else as it is."""
    return value.value if isinstance(value, constexpr) else value


# What rewritten functions call, beside the native operations.


def is_same(a, b):
    """`a is b` in kernels: constants are the same when they are equal and of one type."""
    a, b = unwrap(a), unwrap(b)
    if a is b:
        return True
    if isinstance(a, dtype) and isinstance(b, dtype):
        return a == b
    return isinstance(a, (int, float, str)) and type(a) is type(b) and a == b


def unpack(value, count):
    """The elements that an assignment to `count` names keeps."""
    if not isinstance(value, tuple):
        value = tuple(value)
    if len(value) != count:
        few = len(value) < count
        raise ValueError(
            f"not enough values to unpack (expected {count}, got {len(value)})"
            if few
            else f"too many values to unpack (expected {count})"
        )
    return [_native_operations.assign(element) for element in value]


def _bounds(args, keywords):
    named = {name: keywords.get(name) for name in ("arg1", "arg2", "step")}
    lower, upper, step = (*args, *(None,) * (3 - len(args)))
    lower = named["arg1"] if lower is None else lower
    upper = named["arg2"] if upper is None else upper
    step = named["step"] if step is None else step
    if upper is None:
        lower, upper = 0, lower
    return lower, upper, 1 if step is None else step


def iterate(iterator, *args, **keywords):
    """What `for name in iterator(...)` goes over: run-time scalars, or constants of a `static_range`."""
    path = getattr(iterator, "__despina_path__", None)
    bounds = _bounds(args, keywords)
    if path == "triton.language.static_range":
        return builtins.range(*map(unwrap, bounds))
    if iterator is not builtins.range and path != "triton.language.range":
        raise RuntimeError("Only `range` and `static_range` iterators are currently supported")
    return _native_operations.range(*bounds)


def condition(function, *args, **keywords):
    """The test of a `while` that is a call: `tl.condition(test)` is its test."""
    if getattr(function, "__despina_path__", None) == "triton.language.condition":
        return args[0]
    return _native_operations.call(function, *args, **keywords)


def arm(test, value):
    """The value of the taken arm of a ternary: a run-time scalar when the condition is one."""
    return _native_operations.tensor(value) if _native_operations.is_runtime(test) else value


def stops(value, is_and):
    """True for a constant that decides an `and` or an `or` by itself."""
    if _native_operations.is_runtime(value):
        return False
    return bool(unwrap(value)) != is_and


def join(before, value, is_and):
    """One step of an `and` or an `or` whose operands so far decided nothing."""
    runtime = _native_operations.is_runtime
    if runtime(before) and runtime(value):
        return (_native_operations.op_And if is_and else _native_operations.op_Or)(before, value)
    if runtime(before) and not stops(value, is_and):
        return before
    return value


class _LanguageName:
    def __init__(self, path):
        self.__despina_path__ = path


def language_name(path):
    """A name of the language by its path."""
    known = _language_names.get(path)
    if known is None:
        root, _, rest = path.partition(".")
        known = _language_names[path] = _LanguageName(f"triton.{rest}" if root == "despina" else path)
    return known


_language_names = {}


def device_assert(*args):
    from ..language import core

    return _native_operations.call(core.device_assert, *args)


def returned(value, is_mixed):
    """What a function returns: run-time values only, when it returned under a run-time condition."""
    return _native_operations.promote(value) if is_mixed else value


_HELPERS = {
    "returned": returned,
    "is_same": is_same,
    "unpack": unpack,
    "iterate": iterate,
    "condition": condition,
    "arm": arm,
    "stops": stops,
    "join": join,
    "device_assert": device_assert,
    "language_name": language_name,
    "slice": builtins.slice,
    "tuple": builtins.tuple,
}
_PREFIX = "_despina_"


def _operation(name):
    helper = _HELPERS.get(name)
    return helper if helper is not None else getattr(_native_operations, name)


def _is_constexpr(annotation):
    """`x: tl.constexpr`, in any spelling."""
    if isinstance(annotation, ast.Name):
        return annotation.id == "constexpr"
    if isinstance(annotation, ast.Attribute):
        return annotation.attr == "constexpr"
    return (
        isinstance(annotation, ast.Constant) and isinstance(annotation.value, str) and "constexpr" in annotation.value
    )


def _is_for_debugging(statement):
    if isinstance(statement, ast.Import):
        return True
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call):
        return False
    function = call.func
    if isinstance(function, ast.Name):
        return function.id in _DEBUGGING
    return isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == "pdb"


def _has_return(statements):
    return any(isinstance(node, ast.Return) for statement in statements for node in ast.walk(statement))


def _find(node, modules):
    """What `module.name.name` stands for; None when Python does not know."""
    if isinstance(node, ast.Name):
        return modules.get(node.id)
    return getattr(_find(node.value, modules), node.attr, None)


class _Rewriter(ast.NodeTransformer):
    def __init__(self, modules):
        self.modules = modules  # what names that are modules wherever the function reads them stand for
        self.used = set()
        self.pending = set()  # names annotated as constexpr that have no value yet
        self.temporaries = 0

    # Making nodes.

    def operation(self, name):
        self.used.add(name)
        return ast.Name(_PREFIX + name, ast.Load())

    def call(self, operation, *args, keywords=()):
        return ast.Call(self.operation(operation), [*args], [*keywords])

    def temporary(self):
        self.temporaries += 1
        return f"{_PREFIX}t{self.temporaries}"

    def visit(self, node):
        new = super().visit(node)
        if isinstance(new, ast.AST) and new is not node:
            ast.copy_location(new, node)
            ast.fix_missing_locations(new)
        elif isinstance(new, list):
            for item in new:
                ast.copy_location(item, node)
                ast.fix_missing_locations(item)
        return new

    # Expressions.

    def visit_BinOp(self, node):
        return self.call("op_" + type(node.op).__name__, self.visit(node.left), self.visit(node.right))

    def visit_UnaryOp(self, node):
        operand = node.operand
        if isinstance(node.op, ast.USub) and isinstance(operand, ast.Constant) and type(operand.value) in (int, float):
            return ast.Constant(-operand.value)
        return self.call("op_" + type(node.op).__name__, self.visit(operand))

    def visit_Compare(self, node):
        left, right = self.visit(node.left), self.visit(node.comparators[0])
        op = node.ops[0]
        if isinstance(op, (ast.Is, ast.IsNot)):
            same = self.call("is_same", left, right)
            return same if isinstance(op, ast.Is) else ast.UnaryOp(ast.Not(), same)
        return self.call("op_" + type(op).__name__, left, right)

    def visit_BoolOp(self, node):
        is_and = ast.Constant(isinstance(node.op, ast.And))
        result = self.visit(node.values[0])
        for operand in node.values[1:]:
            name = self.temporary()
            test = self.call("stops", ast.NamedExpr(ast.Name(name, ast.Store()), result), is_and)
            before = ast.Name(name, ast.Load())
            result = ast.IfExp(test, before, self.call("join", before, self.visit(operand), is_and))
        return result

    def visit_IfExp(self, node):
        name = self.temporary()
        test = self.call("truth", ast.NamedExpr(ast.Name(name, ast.Store()), self.visit(node.test)))
        arms = [self.call("arm", ast.Name(name, ast.Load()), self.visit(arm)) for arm in (node.body, node.orelse)]
        return ast.IfExp(test, *arms)

    def is_module(self, node):
        """True for `tl`, `tl.math`: their attributes are Python's."""
        while isinstance(node, ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and node.id in self.modules

    def visit_Attribute(self, node):
        if self.is_module(node.value):
            return node if _find(node, self.modules) is not None else self.language_name(node)
        return self.call("attribute", self.visit(node.value), ast.Constant(node.attr))

    def language_name(self, node):
        """A name that the language has and the Python package has not, such as one of `tl.extra.cuda`."""
        names = []
        while isinstance(node, ast.Attribute):
            names.append(node.attr)
            node = node.value
        module = self.modules[node.id].__name__
        return self.call("language_name", ast.Constant(".".join([module, *reversed(names)])))

    def visit_Subscript(self, node):
        return self.call("subscript", self.visit(node.value), self.visit(node.slice))

    def visit_Slice(self, node):
        bounds = [
            ast.Constant(None) if bound is None else self.visit(bound) for bound in (node.lower, node.upper, node.step)
        ]
        return self.call("slice", *bounds)

    def visit_List(self, node):
        return ast.Tuple([self.visit(element) for element in node.elts], node.ctx)

    def visit_ListComp(self, node):
        for generator in node.generators:
            generator.iter = self.visit(generator.iter)
            generator.ifs = []
        node.elt = self.visit(node.elt)
        return self.call("tuple", node)

    def visit_NamedExpr(self, node):
        return ast.NamedExpr(node.target, self.call("assign", self.visit(node.value)))

    def arguments(self, node):
        args = [
            ast.Starred(self.visit(arg.value), ast.Load()) if isinstance(arg, ast.Starred) else self.visit(arg)
            for arg in node.args
        ]
        return args, [ast.keyword(keyword.arg, self.visit(keyword.value)) for keyword in node.keywords]

    def visit_Call(self, node):
        args, keywords = self.arguments(node)
        function = node.func
        if isinstance(function, ast.Attribute) and not self.is_module(function.value):
            args = [self.visit(function.value), ast.Constant(function.attr), *args]
            return self.call("method", *args, keywords=keywords)
        return self.call("call", self.visit(function), *args, keywords=keywords)

    # Statements.

    def visit_Import(self, node):
        return node

    def visit_Expr(self, node):
        if _is_for_debugging(node):
            return node
        node.value = self.visit(node.value)
        return node

    def assign(self, target, value):
        """Statements that assign a rewritten value."""
        if isinstance(target, ast.Name):
            if target.id in self.pending:
                self.pending.discard(target.id)
            else:
                value = self.call("assign", value)
            return [ast.Assign([target], value)]
        names, after = [], []
        for element in target.elts:
            if isinstance(element, ast.Name):
                names.append(element)
                continue
            name = self.temporary()
            names.append(ast.Name(name, ast.Store()))
            after += self.assign(element, ast.Name(name, ast.Load()))
        unpacked = self.call("unpack", value, ast.Constant(len(names)))
        return [ast.Assign([ast.Tuple(names, ast.Store())], unpacked), *after]

    def visit_Assign(self, node):
        return self.assign(node.targets[0], self.visit(node.value))

    def visit_AnnAssign(self, node):
        constant = _is_constexpr(node.annotation) and isinstance(node.target, ast.Name)
        if node.value is None:
            if constant:
                self.pending.add(node.target.id)
            return ast.Pass()
        value = self.visit(node.value)
        if constant:
            return [ast.Assign([node.target], value)]
        return self.assign(node.target, value)

    def visit_AugAssign(self, node):
        current = ast.Name(node.target.id, ast.Load())
        value = self.call("op_" + type(node.op).__name__, current, self.visit(node.value))
        return [ast.Assign([node.target], self.call("assign", value))]

    def visit_If(self, node):
        test = self.visit(node.test)
        before = []
        if _has_return([node]):
            # What a function returns under a run-time condition is a run-time value.
            name = self.temporary()
            before = [
                ast.Assign([ast.Name(name, ast.Store())], test),
                ast.Assign(
                    [ast.Name(f"{_PREFIX}mixed", ast.Store())],
                    ast.BoolOp(
                        ast.Or(),
                        [
                            ast.Name(f"{_PREFIX}mixed", ast.Load()),
                            self.call("is_runtime", ast.Name(name, ast.Load())),
                        ],
                    ),
                ),
            ]
            test = ast.Name(name, ast.Load())
        for statement in before:
            ast.copy_location(statement, node.test)
        node.test = self.call("truth", test)
        ast.copy_location(node.test, node)
        pending = set(self.pending)
        node.body = self.block(node.body)
        after_then, self.pending = self.pending, pending
        node.orelse = self.block(node.orelse)
        self.pending &= after_then
        return [*before, node]

    def block(self, statements):
        result = []
        for statement in statements:
            new = self.visit(statement)
            result += new if isinstance(new, list) else [new]
        return result

    def visit_For(self, node):
        if isinstance(node.iter, ast.Call):
            args, keywords = self.arguments(node.iter)
            node.iter = self.call("iterate", self.visit(node.iter.func), *args, keywords=keywords)
        node.body = self.block(node.body)
        return node

    def visit_While(self, node):
        test = node.test
        if isinstance(test, ast.Call):
            args, keywords = self.arguments(test)
            test = self.call("condition", self.visit(test.func), *args, keywords=keywords)
            if isinstance(node.test.func, ast.Attribute) and not self.is_module(node.test.func.value):
                test = self.visit(node.test)
        else:
            test = self.visit(test)
        node.test = self.call("truth", test)
        node.body = self.block(node.body)
        return node

    def visit_Assert(self, node):
        args = [self.visit(part) for part in (node.test, node.msg) if part is not None]
        return ast.Expr(self.call("device_assert", *args))

    def visit_Return(self, node):
        if node.value is not None:
            value = self.visit(node.value)
            if self.mixes:
                value = self.call("returned", value, ast.Name(f"{_PREFIX}mixed", ast.Load()))
            node.value = value
        return node

    def function(self, node):
        self.mixes = any(isinstance(inner, ast.If) and _has_return([inner]) for inner in ast.walk(node))
        node.decorator_list, node.returns = [], None
        arguments = node.args
        for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]:
            argument.annotation = None
        for argument in (arguments.vararg, arguments.kwarg):
            if argument:
                argument.annotation = None
        arguments.defaults, arguments.kw_defaults = [], [None] * len(arguments.kwonlyargs)
        body = self.block(node.body)
        if self.mixes:
            first = ast.Assign([ast.Name(f"{_PREFIX}mixed", ast.Store())], ast.Constant(False))
            body.insert(0, ast.copy_location(first, node))
        node.body = body
        return node


def _shift_columns(tree, indent):
    for node in ast.walk(tree):
        if hasattr(node, "col_offset"):
            node.col_offset += indent
            node.end_col_offset += indent


def _assigned(tree):
    names = {argument.arg for argument in ast.walk(tree) if isinstance(argument, ast.arg)}
    return names | {
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def _module_names(fn, tree):
    """Free names of the function that stand for modules, with the modules."""
    scope = dict(fn.fn.__globals__)
    for name, cell in zip(fn.fn.__code__.co_freevars, fn.fn.__closure__ or ()):
        try:
            scope[name] = cell.cell_contents
        except ValueError:
            pass
    assigned = _assigned(tree)
    return {
        name: value for name, value in scope.items() if isinstance(value, types.ModuleType) and name not in assigned
    }


@contextlib.contextmanager
def _deep_recursion():
    """The parser admits trees 1,000 deep, and visitors take a few calls a level."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 10_000))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


@_deep_recursion()
def _rewrite(fn):
    tree = ast.parse(fn._text).body
    node = next(statement for statement in tree if isinstance(statement, ast.FunctionDef))
    ast.increment_lineno(node, fn.starting_line_number - 1)
    _shift_columns(node, fn._indent)
    rewriter = _Rewriter(_module_names(fn, node))
    node = rewriter.function(node)
    original = fn.fn
    cells = dict(zip(original.__code__.co_freevars, original.__closure__ or ()))
    outer_names = [*(_PREFIX + name for name in sorted(rewriter.used)), *cells]
    # Under its own name the function would be a variable of the outer one, where it calls itself.
    node.name = f"{_PREFIX}function"
    outer = ast.FunctionDef(
        name=f"{_PREFIX}outer",
        args=ast.arguments([], [ast.arg(name) for name in outer_names], None, [], [], None, []),
        body=[node, ast.Return(ast.Name(node.name, ast.Load()))],
        decorator_list=[],
        type_params=[],
    )
    module = ast.fix_missing_locations(ast.Module([ast.copy_location(outer, node)], []))
    code = compile(module, original.__code__.co_filename, "exec", dont_inherit=True)
    outer_code = next(constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    inner = next(constant for constant in outer_code.co_consts if isinstance(constant, types.CodeType))
    inner = inner.replace(co_name=original.__name__)
    if hasattr(inner, "co_qualname"):
        inner = inner.replace(co_qualname=original.__qualname__)
    cells |= {_PREFIX + name: types.CellType(_operation(name)) for name in rewriter.used}
    closure = tuple(cells[name] for name in inner.co_freevars)
    made = types.FunctionType(inner, original.__globals__, original.__name__, original.__defaults__, closure)
    made.__kwdefaults__ = original.__kwdefaults__
    made.__qualname__ = original.__qualname__
    return made


def rewritten(fn):
    """The function that stands for a jit function in the interpreter."""
    known = fn.__dict__.get("_rewritten")
    if known is None or known[0] is not fn._handle:
        known = fn.__dict__["_rewritten"] = (fn._handle, _rewrite(fn))
    return known[1]
