"""Compiles operations over dtypes and says what it is at, so that a crash can be named. Run by test_matrix.py."""

import sys

from helpers import ALL, INTEGERS, SIGNATURE, module_from

import despina as triton
from despina.backends.compiler import GPUTarget
from despina.compiler import ASTSource

UNARY = """tl.abs(x)|tl.exp(x)|tl.exp2(x)|tl.log(x)|tl.log2(x)|tl.sin(x)|tl.cos(x)|tl.sqrt(x)|tl.rsqrt(x)|tl.erf(x)
tl.floor(x)|tl.ceil(x)|-x|~x|not x|x.to(tl.int1)|x.to(tl.int8)|x.to(tl.uint64)|x.to(tl.float16)|x.to(tl.bfloat16)
x.to(tl.float64)|tl.sum(x, 0)|tl.max(x, 0)|tl.min(x, 0)|tl.argmax(x, 0)|tl.argmin(x, 0)|tl.cumsum(x, 0)
tl.max(x, 0, return_indices=True)[0]|tl.ravel(x)|tl.reshape(x, (4, 8))|tl.expand_dims(x, 0)|tl.zeros_like(x)
tl.split(tl.reshape(x, (16, 2)))[0]|tl.trans(tl.reshape(x, (4, 8)))|tl.cast(x, tl.float32)|tl.softmax(x)
tl.sort(x)|tl.sigmoid(x)|tl.atomic_add(x_ptr + o, x)|tl.atomic_max(x_ptr + o, x)|tl.atomic_xchg(x_ptr + o, x)
tl.atomic_and(x_ptr + o, x)|tl.atomic_cas(x_ptr + o, x, x)
tl.dot(tl.zeros((16, 16), x.dtype), tl.zeros((16, 16), x.dtype))
tl.histogram(x, 16)|tl.clamp(x, x, x)|tl.fma(x, x, x)|tl.where(x > 0, x, x)
tl.broadcast_to(tl.expand_dims(x, 0), (4, 32))
x + 1|x * 2.5|x // 3|x % 3|x << 1|x >> 1|x < 3|x == 3|x & 1|tl.full((4,), 1, x.dtype)|tl.join(x, x)|tl.cat(x, x)
tl.interleave(x, x)|tl.multiple_of(x, 16)|tl.umulhi(x, x)|tl.cdiv(x, 3)|tl.flip(x, 0)|tl.device_print("x", x)"""
UNARY = UNARY.replace("\n", "|").split("|")
BINARY = [f"x {op} y" for op in "+ - * / // % & | ^ << >> < <= > >= == !=".split()]
BINARY += ["tl.maximum(x, y)", "tl.minimum(x, y)", "tl.where(x == x, x, y)"]

TEMPLATE = """
@triton.jit
def kernel(x_ptr, y_ptr, out_ptr):
    o = tl.arange(0, 32)
    x = tl.load(x_ptr + o)
    y = tl.load(y_ptr + o)
    result = {expression}
"""
STORE = "    tl.store(out_ptr + tl.reshape(tl.arange(0, result.numel), result.shape), result)\n"


def combinations():
    for expression in UNARY:
        for dtype in ALL:
            yield expression, dtype, dtype
    for expression in BINARY:
        for a in ("int1", "int8", "uint32", "int64", "float16", "bfloat16", "float32", "float64"):
            for b in ("int8", "uint64", "bfloat16", "float64"):
                yield expression, a, b


def main(start):
    kernels = {}
    for number, (expression, a, b) in enumerate(combinations()):
        if number < start:
            continue
        print(f"at {number} {expression} of {a} and {b}", flush=True)
        if expression not in kernels:
            scalar = any(word in expression for word in ("tl.sum", "tl.max(x", "tl.min(x", "arg"))
            text = TEMPLATE.format(expression=expression)
            if "device_print" not in expression:
                text += "    tl.store(out_ptr, result)\n" if scalar else STORE
            kernels[expression] = module_from(text).kernel
        signature = {"x_ptr": "*" + SIGNATURE[a], "y_ptr": "*" + SIGNATURE[b], "out_ptr": "*fp32"}
        if a in INTEGERS and b in INTEGERS:
            signature["out_ptr"] = "*i64"
        try:
            triton.compile(ASTSource(kernels[expression], signature), target=GPUTarget("cpu", "", 1))
            print("ok", flush=True)
        except triton.CompilationError as error:
            print("refused", str(error).strip().split("\n")[-1], flush=True)
        except Exception as error:  # noqa: BLE001 (anything else is a finding)
            print("wrong", type(error).__name__, str(error).replace("\n", " ")[:300], flush=True)
    print("end", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
