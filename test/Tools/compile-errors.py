# The tool prints what went wrong and ends with status 1.
#
# RUN: not despina compile %s:good --signature "*fp32" 2>&1 | FileCheck %s --check-prefix=MISSING
# MISSING: error: kernel 'good' needs a value for parameter 'BLOCK'
#
# RUN: not despina compile %s:good --signature "*fp31" --const BLOCK=4 2>&1 | FileCheck %s --check-prefix=TYPE
# TYPE: error: type '*fp31' of parameter 'x_ptr' is unknown; types are
#
# RUN: not despina compile %s:good --signature "*fp32" --const BLOCK 2>&1 | FileCheck %s --check-prefix=CONST
# CONST: error: --const needs NAME=VALUE, not 'BLOCK'
#
# RUN: not despina compile %s:good --signature "*fp32" --const BLOCK=4 --target hip 2>&1 | FileCheck %s --check-prefix=TARGET
# TARGET: error: target 'hip' is not supported yet
#
# RUN: not despina compile %s:nothing --signature "*fp32" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
# UNKNOWN: error: {{.*}}nothing
#
# RUN: not despina compile %s --signature "*fp32" 2>&1 | FileCheck %s --check-prefix=WHICH
# WHICH: error: {{.*}}compile-errors.py holds 2 kernels (good, bad): name one, as in {{.*}}compile-errors.py:good
#
# RUN: not despina compile %s:good --signature "*fp32" --const BLOCK=4 --emit obj 2>&1 | FileCheck %s --check-prefix=BINARY
# BINARY: error: stage obj is binary: name a file with -o
#
# RUN: not despina compile %s:good --signature "*fp32" --const BLOCK=4 --emit ptx 2>&1 | FileCheck %s --check-prefix=STAGE
# STAGE: ptx
#
# RUN: not despina compile %t-no-such-file.py:good 2>&1 | FileCheck %s --check-prefix=FILE
# FILE: error: {{.*}}no-such-file.py
#
# RUN: not despina compile %s:bad --signature "*fp32" 2>&1 | FileCheck %s --check-prefix=SOURCE

import triton
import triton.language as tl


@triton.jit
def good(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), 0.0)


# SOURCE: {{.*}}compile-errors.py:[[#@LINE + 5]]:{{[0-9]+}}: error: {{.*}}
# SOURCE-NEXT: {{.*}}tl.store(x_ptr, undefined_name)
# SOURCE-NEXT: {{ *\^}}
@triton.jit
def bad(x_ptr):
    tl.store(x_ptr, undefined_name)
