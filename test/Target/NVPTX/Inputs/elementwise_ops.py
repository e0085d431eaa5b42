#!/usr/bin/env python3
"""Kernels with every element-wise operation on a type.

elementwise_ops.py TYPE prints one, in ttg. Inline assembly makes the operands, tiles of four registers, and takes
the results, so that nothing is left out.

elementwise_ops.py --compile ARCH compiles those of all types down to a cubin. The compiler runs in processes of its
own, so that an operation that ends it is a failure like any other."""

import os
import subprocess
import sys
import tempfile

LAYOUT = '#ttg.layout<"{register: (1) (256); lane: (2) (4) (8) (16) (32); warp: (64) (128); block: } -> (dim0: 512)">'
FLOATS = ["f16", "bf16", "f32", "f64", "f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ", "f8E4M3B11FNUZ"]
INTEGERS = ["i1", "i8", "i16", "i32", "i64"]
WIDTH = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "f16": 16, "bf16": 16, "f32": 32, "f64": 64}
CMPI = ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"]
CMPF = ["oeq", "one", "olt", "ole", "ogt", "oge", "ueq", "une", "ult", "ule", "ugt", "uge", "ord", "uno"]
MATH = (
    "exp exp2 log log2 log10 log1p expm1 sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh erf erfc cbrt "
    "sqrt rsqrt floor ceil trunc roundeven absf"
).split()


def width(element):
    return WIDTH.get(element, 8)


class Kernel:
    def __init__(self):
        self.lines = []
        self.count = 0

    def value(self, text):
        self.count += 1
        self.lines.append(f"    %v{self.count} = {text}")
        return f"%v{self.count}"

    def tile(self, element):
        return f"tensor<512x{element}, #tile>"

    def source(self, element):
        """An unknown tile."""
        bits = width(element)
        word = "i64" if bits == 64 else "i32"
        text, letter = ("mov.u64 $0, %clock64;", "l") if bits == 64 else ("mov.u32 $0, %clock;", "r")
        value = self.value(
            f'tt.elementwise_inline_asm "{text}" {{constraints = "={letter}", packed_element = 1 : i32, pure = false}}'
            f" -> {self.tile(word)}"
        )
        if bits < 32:
            value = self.value(f"arith.trunci {value} : {self.tile(word)} to {self.tile(f'i{bits}')}")
        if element.startswith("i"):
            return value
        return self.value(f"tt.bitcast {value} : {self.tile(f'i{bits}')} -> {self.tile(element)}")

    def sink(self, value, element):
        """Uses a tile in a way that cannot be left out."""
        letter = "l" if width(element) == 64 else "r"
        kind = "b64" if width(element) == 64 else "b32"
        self.value(
            f'tt.elementwise_inline_asm "mov.{kind} $0, $1;" {{constraints = "={letter},{letter}",'
            f" packed_element = 1 : i32, pure = false}} {value} : {self.tile(element)} ->"
            f" {self.tile('i64' if letter == 'l' else 'i32')}"
        )

    def use(self, text, element):
        self.sink(self.value(text), element)

    def text(self):
        body = "\n".join(self.lines)
        return (
            f"#tile = {LAYOUT}\n"
            'module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32,'
            ' "ttg.num-ctas" = 1 : i32} {\n'
            f"  tt.func public @kernel(%pointer: !tt.ptr<f32>) {{\n{body}\n    tt.return\n  }}\n}}"
        )


def add_integer(kernel, element):
    tile = kernel.tile(element)
    x, y = kernel.source(element), kernel.source(element)
    for name in "addi subi muli divsi divui remsi remui andi ori xori shli shrsi shrui minsi maxsi minui maxui".split():
        kernel.use(f"arith.{name} {x}, {y} : {tile}", element)
    for predicate in CMPI:
        kernel.use(f"arith.cmpi {predicate}, {x}, {y} : {tile}", "i1")
    kernel.use(f"math.absi {x} : {tile}", element)
    kernel.use(f"tt.mulhiui {x}, {y} : {tile}", element)
    condition = kernel.source("i1")
    kernel.use(f"arith.select {condition}, {x}, {y} : {kernel.tile('i1')}, {tile}", element)
    for to in INTEGERS:
        if width(to) > width(element):
            kernel.use(f"arith.extsi {x} : {tile} to {kernel.tile(to)}", to)
            kernel.use(f"arith.extui {x} : {tile} to {kernel.tile(to)}", to)
        if width(to) < width(element):
            kernel.use(f"arith.trunci {x} : {tile} to {kernel.tile(to)}", to)
    for to in FLOATS[:4]:
        kernel.use(f"arith.sitofp {x} : {tile} to {kernel.tile(to)}", to)
        kernel.use(f"arith.uitofp {x} : {tile} to {kernel.tile(to)}", to)
    for name in ("mulsi_extended", "mului_extended"):
        low = f"%{name}"
        kernel.lines.append(f"    {low}:2 = arith.{name} {x}, {y} : {tile}")
        kernel.sink(f"{low}#0", element)
        kernel.sink(f"{low}#1", element)
    kernel.lines.append(f"    %sum:2 = arith.addui_extended {x}, {y} : {tile}, {kernel.tile('i1')}")
    kernel.sink("%sum#0", element)
    kernel.sink("%sum#1", "i1")
    if element == "i64":
        pointers = kernel.tile("!tt.ptr<f16>")
        pointer = kernel.value(f"tt.int_to_ptr {x} : {tile} -> {pointers}")
        moved = kernel.value(f"tt.addptr {pointer}, {y} : {pointers}, {tile}")
        kernel.use(f"tt.ptr_to_int {moved} : {pointers} -> {tile}", element)


def add_float(kernel, element):
    tile = kernel.tile(element)
    x, y, z = (kernel.source(element) for _ in range(3))
    for name in "addf subf mulf divf remf minnumf maxnumf minimumf maximumf".split():
        kernel.use(f"arith.{name} {x}, {y} : {tile}", element)
    kernel.use(f"arith.negf {x} : {tile}", element)
    for predicate in CMPF:
        kernel.use(f"arith.cmpf {predicate}, {x}, {y} : {tile}", "i1")
    for name in MATH:
        kernel.use(f"math.{name} {x} : {tile}", element)
    for name in ("powf", "atan2", "copysign"):
        kernel.use(f"math.{name} {x}, {y} : {tile}", element)
    kernel.use(f"math.fma {x}, {y}, {z} : {tile}", element)
    for nan in ("none", "all"):
        kernel.use(f"tt.clampf {x}, {y}, {z}, propagateNan = {nan} : {tile}", element)
    kernel.use(f"tt.precise_sqrt {x} : {tile}", element)
    kernel.use(f"tt.precise_divf {x}, {y} : {tile}", element)
    condition = kernel.source("i1")
    kernel.use(f"arith.select {condition}, {x}, {y} : {kernel.tile('i1')}, {tile}", element)
    for to in INTEGERS[1:]:
        kernel.use(f"arith.fptosi {x} : {tile} to {kernel.tile(to)}", to)
        kernel.use(f"arith.fptoui {x} : {tile} to {kernel.tile(to)}", to)
    for to in FLOATS:
        if to == element:
            continue
        kernel.use(f"tt.fp_to_fp {x}, rounding = rtne : {tile} -> {kernel.tile(to)}", to)
        kernel.use(f"tt.fp_to_fp {x}, rounding = rtz : {tile} -> {kernel.tile(to)}", to)
        if width(to) > width(element):
            kernel.use(f"arith.extf {x} : {tile} to {kernel.tile(to)}", to)
        if width(to) < width(element):
            kernel.use(f"arith.truncf {x} : {tile} to {kernel.tile(to)}", to)


def kernel_text(element):
    kernel = Kernel()
    (add_integer if element in INTEGERS else add_float)(kernel, element)
    return kernel.text()


def compile_to_cubin(element, arch, folder):
    """What went wrong, or nothing."""
    cubin = os.path.join(folder, f"{element}.cubin")
    text = kernel_text(element)
    for command in (
        ["despina-opt", f"--nvptx-emit-threads=arch={arch}"],
        ["despina-ptx", "-", f"--arch={arch}", "--cubin", "-o", cubin],
    ):
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return f"{' '.join(command)} on {element}: exit status {done.returncode}\n{done.stderr[:2000]}"
        text = done.stdout
    return "" if os.path.getsize(cubin) > 0 else f"{element}: the cubin is empty"


def main():
    if sys.argv[1] != "--compile":
        print(kernel_text(sys.argv[1]))
        return
    with tempfile.TemporaryDirectory() as folder:
        problems = [compile_to_cubin(element, sys.argv[2], folder) for element in INTEGERS + FLOATS]
    problems = [problem for problem in problems if problem]
    print("\n".join(problems))
    sys.exit(1 if problems else 0)


main()
