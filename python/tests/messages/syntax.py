"""Names, statements, expressions, branches, calls and loops (section 2)."""

from . import UNSUPPORTED, Case

GLOBAL = (
    "Cannot access global variable {} from within @jit'ed function. Triton kernels can only access global variables "
    "that are instanstiated as constexpr (`x = triton.language.constexpr(42)`). Note that this is different from "
    "annotating a variable as constexpr (`x: triton.language.constexpr = 42`), which is not supported.  Alternatively, "
    "set the envvar TRITON_ALLOW_NON_CONSTEXPR_GLOBALS=1, but we do not promise to support this forever."
)
NESTED = (
    "nested function definitions are not allowed inside a @triton.jit kernel. Move the helper function to module level "
    "and decorate it with @triton.jit."
)
IN_LOOP = "Cannot have `return` statements inside `while` or `for` statements in triton."
CONDITION = "`if` conditionals can only accept values of type {bool, int, NoneType}, not objects of type "
CARRIED = " in loop! Please make sure that the type stays consistent."
CLASS = "<class 'triton.language.core."
NODE = "unsupported AST node type: "
FORMATTED = "Cannot evaluate f-string containing non-constexpr conversion values, found conversion of type "

HALF = "@triton.jit\ndef half(a):\n    return a / 2\n"


def global_error(name):
    return "NameError(\"" + GLOBAL.format(name) + "\")"


def refused(node, body, **more):
    return Case(NODE + node, body, kind=UNSUPPORTED, **more)


CASES = [
    # Names.
    Case("NameError('foo is not defined')", "y = $foo"),
    Case("NameError('abs is not defined')", "y = $abs(x)"),
    Case("NameError('zip is not defined')", "y = $zip(x, i)"),
    Case("NameError('sum is not defined')", "y = $sum(x)"),
    Case(global_error("LIMIT"), "y = $LIMIT", before="LIMIT = 7\n"),
    Case(global_error("ANNOTATED"), "y = x + $ANNOTATED", before="ANNOTATED: tl.constexpr = 42\n"),
    Case(global_error("TABLE"), "y = $TABLE[0]", before="TABLE = [1, 2]\n"),
    # Statements that kernels do not have.
    Case(NESTED, "$def helper(a):\n    return a", kind=UNSUPPORTED),
    refused("Import", "$import os"),
    refused("ImportFrom", "$from os import path"),
    refused("Global", "$global y"),
    refused("Try", "$try:\n    y = x\nfinally:\n    y = i"),
    refused("Raise", "$raise ValueError"),
    refused("Delete", "$del x"),
    refused("Match", "$match n:\n    case 1:\n        pass"),
    refused("ClassDef", "$class Pair:\n    pass"),
    refused("Break", "for j in range(3):\n    $break"),
    refused("Continue", "while n > 3:\n    $continue"),
    # Expressions that kernels do not have.
    refused("Lambda", "y = $lambda a: a"),
    refused("Dict", "y = ${1: 2}"),
    refused("Set", "y = ${1, 2}"),
    refused("SetComp", "y = ${a for a in (1, 2)}"),
    refused("DictComp", "y = ${a: a for a in (1, 2)}"),
    refused("GeneratorExp", "y = $(a for a in (1, 2))"),
    refused("Yield", "y = ($yield x)"),
    refused("Starred", "$*a, b = (x, i)"),
    Case("`**` in a call is not supported inside kernels", "y = tl.load(x_ptr, $**n)", kind=UNSUPPORTED),
    Case("complex numbers are not supported", "y = $2j", kind=UNSUPPORTED),
    Case("bytes are not supported", "y = $b'text'", kind=UNSUPPORTED),
    Case("simultaneous multiple comparison is not supported", "y = $1 < n < 3", kind=UNSUPPORTED),
    Case("AST comparison operator 'In' is not (currently) implemented.", "y = $n in (1, 2)", kind=UNSUPPORTED),
    Case("AST comparison operator 'NotIn' is not (currently) implemented.", "y = $n not in (1, 2)", kind=UNSUPPORTED),
    Case("ValueError('nested comprehensions are not supported')", "y = $[a for b in (x, i) for a in (b, b)]"),
    Case(
        "NotImplementedError('only tuple comprehensions are supported')", "y = [a for a in $x]",
    ),
    Case(FORMATTED + CLASS + "tensor'>", "tl.static_print(f'${n}')", kind=UNSUPPORTED),
    Case(
        "Ternary expression with dynamic condition has inconsistent types int32 and fp32",
        "y = $1 if n > 0 else 2.5", kind=UNSUPPORTED,
    ),
    Case("TypeError(\"'tensor' object is not callable\")", "y = $x(1)"),
    Case("TypeError('Value after * must be an iterable, not tensor')", "y = tl.reshape(x, $*n)"),
    Case("TypeError(\"'dtype' object is not callable\")", "y = $tl.float32(x)"),
    # Assignments.
    Case("TypeError('Simultaneous multiple assignment is not supported.')", "$y = z = x"),
    Case("NotImplementedError('Attribute assignment is not supported in triton')", "$x.shape = n"),
    Case("NotImplementedError('__setitem__ is not supported in triton')", "$x[0] = n"),
    Case("NotImplementedError('__setitem__ is not supported in triton')", "$x[0] += n"),
    Case(
        "ValueError('x is already defined. constexpr cannot be reassigned.')", "$x: tl.constexpr = 5",
    ),
    Case(
        "TypeError('`y` is annotated tl.constexpr, but its value of type int32 is only known at run time')",
        "$y: tl.constexpr = n",
    ),
    Case("NameError('y is not defined')", "$y += 1"),
    # Branches.
    Case(
        "Boolean value of Tensor with more than one value is ambiguous", "if $o > 3:\n    pass", kind=UNSUPPORTED,
    ),
    Case(CONDITION + "str", "if $'text':\n    pass", kind=UNSUPPORTED),
    Case(CONDITION + "float", "y = x if $1.5 else i", kind=UNSUPPORTED),
    Case(CONDITION + "tuple", "if $(x, i):\n    pass", kind=UNSUPPORTED),
    Case(
        "AssertionError('initial value for `y` is of type int32, but the then block redefines it as fp32')",
        "y = n\n$if n > 3:\n    y = f",
    ),
    Case(
        "AssertionError('initial value for `y` is of type <[16], fp32>, but the else block redefines it as fp32')",
        "y = x\n$if n > 3:\n    y += 1\nelse:\n    y = f",
    ),
    Case(
        "AssertionError('Mismatched type for y between then block (int32) and else block (fp32)')",
        "$if n > 3:\n    y = n\nelse:\n    y = f",
    ),
    Case("NameError('y is not defined')", "if n > 3:\n    y = x\nz = $y"),
    Case(IN_LOOP, "for j in range(n):\n    $return", kind=UNSUPPORTED),
    Case(IN_LOOP, "for j in range(n):\n    $if n > 3:\n        return", kind=UNSUPPORTED),
    Case(IN_LOOP, "while n > 3:\n    $return", kind=UNSUPPORTED),
    # Calls.
    Case(
        "TypeError(\"half() missing 1 required positional argument: 'a'\")", "y = $half()", before=HALF,
    ),
    Case("TypeError('half() takes 1 positional argument but 2 were given')", "y = $half(x, x)", before=HALF),
    Case("TypeError(\"half() got an unexpected keyword argument 'b'\")", "y = $half(x, b=x)", before=HALF),
    Case("TypeError(\"half() got multiple values for argument 'a'\")", "y = $half(x, a=x)", before=HALF),
    Case(
        "Function half is marked noinline, but was called with non-scalar argument a:<[16], fp32>",
        "y = $half(x)", kind=UNSUPPORTED, before=HALF.replace("jit", "jit(noinline=True)"),
    ),
    Case(
        "TypeError('Return type mismatch: int32 and fp32. Note all return types were: [int32, fp32]')",
        "y = $pick(n, f)",
        before="@triton.jit\ndef pick(a, b):\n    $if a > 3:\n        return a\n    return b\n",
    ),
    Case(
        "TypeError('Return type mismatch: int32 and constexpr_type[None]. Note all return types were: [int32, "
        "constexpr_type[None]]')",
        "y = $pick(n)",
        before="@triton.jit\ndef pick(a):\n    $if a > 3:\n        return a\n    return\n",
    ),
    Case(
        "function `all_of` takes `**more`, which kernels do not support",
        "y = $all_of(x)", kind=UNSUPPORTED, before="@triton.jit\ndef all_of(a, **more):\n    return a\n",
    ),
    Case(
        "The result of half is not being used.", "$half(x)", before="@triton.must_use_result\n" + HALF,
    ),
    Case(
        "The result of half is not being used. It halves.", "$half(x)",
        before="@triton.must_use_result('It halves.')\n" + HALF,
    ),
    # `with`.
    Case(
        "Cannot have `return` statements inside `with` statements in triton ",
        "$with scope():\n    return", kind=UNSUPPORTED,
    ),
    Case("`with` takes calls that make context managers", "with $x:\n    pass", kind=UNSUPPORTED),
    Case(
        "TypeError(\"'tensor' object does not support the context manager protocol\")", "with $half(x):\n    pass",
        before=HALF,
    ),
    # Loops.
    Case(
        "RuntimeError('Only `range` and `static_range` iterators are currently supported')",
        "for j in $(1, 2):\n    pass",
    ),
    Case(
        "RuntimeError('Only `range` and `static_range` iterators are currently supported')",
        "for j in $half(n):\n    pass", before=HALF,
    ),
    Case(
        "TypeError('For loop bounds and step must all be ints, are (fp32, int32, int32)')",
        "for j in $range(f, n):\n    pass",
    ),
    Case(
        "TypeError('For lower bound must be a scalar, got <[16], int32>')", "for j in $range(i, 16):\n    pass",
    ),
    Case("TypeError('For upper bound must be a scalar, got <[16], int32>')", "for j in $range(i):\n    pass"),
    Case("TypeError('For step must be a scalar, got <[16], int32>')", "for j in $range(0, 16, i):\n    pass"),
    Case("ValueError('range() arg 3 must not be zero')", "for j in $tl.range(0, 16, 0):\n    pass"),
    Case("TypeError('range expected at most 3 arguments, got 4')", "for j in $range(0, 16, 1, 1):\n    pass"),
    Case(
        "TypeError(\"range() got an unexpected keyword argument or value: 'stages'\")",
        "for j in $tl.range(0, 16, stages=3):\n    pass",
    ),
    Case(
        "AssertionError('tl.static_range needs compile-time integers, got int32')",
        "for j in $tl.static_range(n):\n    pass",
    ),
    Case(
        "tl.static_range expands at most 100000 iterations",
        "for j in $tl.static_range(1000000):\n    pass", kind=UNSUPPORTED,
    ),
    Case("the target of a `for` loop must be a plain name", "for $j, k in range(3):\n    pass", kind=UNSUPPORTED),
    Case(
        "`else` of a `for` loop is not supported", "for j in range(3):\n    pass\nelse:\n    $y = x", kind=UNSUPPORTED,
    ),
    Case(
        "`else` of a `while` loop is not supported", "while n > 3:\n    n -= 1\nelse:\n    $y = x", kind=UNSUPPORTED,
    ),
    Case(
        "AssertionError('Loop-carried variable y has initial type int32 but is re-assigned to fp32" + CARRIED + "')",
        "y = 0\n$for j in range(10):\n    y = y + 1.5",
    ),
    Case(
        "AssertionError('Loop-carried variable y has initial type fp32 but is re-assigned to <[16], fp32>" + CARRIED
        + "')",
        "y = 0.0\n$while n > 3:\n    y += x\n    n -= 1",
    ),
    Case(
        "AssertionError(\"Loop carried variable y changed type, was " + CLASS + "tensor'> but is now " + CLASS
        + "tuple'>\")",
        "y = n\n$for j in range(10):\n    y = (n, n)",
    ),
    Case(
        "AssertionError(\"Loop carried variable C changed type, was " + CLASS + "constexpr'> but is now " + CLASS
        + "tensor'>\")",
        "C: tl.constexpr = 3\n$for j in range(10):\n    C = n",
    ),
    Case(
        "AssertionError('Loop carried variable y is not a triton value')", "y = None\n$for j in range(10):\n    y = n",
    ),
    Case("NameError('y is not defined')", "for j in range(10):\n    y = x\nz = $y"),
    Case(
        "the condition of `while` must be a run-time scalar, but it is the constant constexpr_type[True]",
        "while $True:\n    pass", kind=UNSUPPORTED,
    ),
    Case(
        "Boolean value of Tensor with more than one value is ambiguous", "while $i > 3:\n    i -= 1", kind=UNSUPPORTED,
    ),
    Case(
        "`:=` in an arm of a ternary with a run-time condition is not supported",
        "y = $(z := x) if n > 3 else x", kind=UNSUPPORTED,
    ),
]  # fmt: skip
