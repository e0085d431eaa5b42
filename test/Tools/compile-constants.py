# Constants on the command line are read as Python reads them.
#
# RUN: despina compile %s --const A=1 --const B=-2.5 --const C=True --const D=None --const E=text --const "F='1'" --const G=tl.float32 --const H=1e3 | FileCheck %s

import triton
import triton.language as tl


@triton.jit
def show(A: tl.constexpr, B: tl.constexpr, C: tl.constexpr, D: tl.constexpr, E: tl.constexpr, F: tl.constexpr,
         G: tl.constexpr, H: tl.constexpr):
    tl.static_print("int", A + 1, "float", B * 2, "bool", C, "none", D is None, "text", E, "quoted", F + F)
    tl.static_print("type", G, "exponent", H)


# CHECK: int 2 float -5.0 bool True none True text text quoted 11
# CHECK: type fp32 exponent 1000.0
