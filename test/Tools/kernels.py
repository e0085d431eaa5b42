# RUN: despina kernels %s | FileCheck %s
# RUN: despina --version | FileCheck %s --check-prefix=VERSION
# RUN: not despina 2>&1 | FileCheck %s --check-prefix=USAGE
#
# VERSION: despina {{[0-9]+\.[0-9]+\.[0-9]+}}
# USAGE: A subcommand is required

import triton


@triton.jit
def second(x):
    pass


def no_kernel(x):
    pass


@triton.jit
def first(x):
    pass


# CHECK: second
# CHECK-NOT: no_kernel
# CHECK-NEXT: first
# CHECK-NOT: {{.}}
