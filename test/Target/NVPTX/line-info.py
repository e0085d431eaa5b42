"""PTX tells which line of which file its instructions come from."""
# RUN: despina compile %s:kernel -t cuda --arch sm_90a -s "*fp32:16,*fp32:16,i32" -e ptx -o %t.ptx
# RUN: FileCheck %s < %t.ptx
# RUN: despina compile %s:kernel -t cuda --arch sm_90a -s "*fp32:16,*fp32:16,i32" -e cubin -o %t.cubin
# RUN: llvm-readelf -S %t.cubin | FileCheck %s --check-prefix=LINES
# RUN: env TRITON_DISABLE_LINE_INFO=1 despina compile %s:kernel -t cuda --arch sm_90a -s "*fp32:16,*fp32:16,i32" -e ptx -o %t.ptx
# RUN: FileCheck %s --check-prefix=NONE < %t.ptx
# RUN: env DESPINA_DISABLE_LINE_INFO=1 despina compile %s:kernel -t cuda --arch sm_90a -s "*fp32:16,*fp32:16,i32" -e cubin -o %t.cubin
# RUN: llvm-readelf -S %t.cubin | FileCheck %s --check-prefix=NONE

# NONE-NOT: {{\.loc|\.file|debug_line}}
# LINES: .debug_line

import triton
import triton.language as tl

from Inputs.line_info_helpers import shifted

# Assemblers take line tables, but optimise nothing of what is marked for debuggers.
# CHECK: .target sm_90a{{$}}
# CHECK-NOT: .section
# CHECK: .visible .entry kernel


@triton.jit
def doubled(x):
    return x + x  # CHECK-DAG: .loc [[HERE:[0-9]+]] [[@LINE]] {{[0-9]+}}


@triton.jit
def kernel(x_ptr, y_ptr, factor):
    offsets = tl.arange(0, 128)  # the thread's index itself has no line
    x = tl.load(x_ptr + offsets)  # CHECK-DAG: .loc [[HERE]] [[@LINE]] {{[0-9]+}}
    y = doubled(shifted(x, factor.to(tl.float32)))  # CHECK-DAG: .loc [[HERE]] [[@LINE]] {{[0-9]+}}
    tl.store(y_ptr + offsets, y)  # CHECK-DAG: .loc [[HERE]] [[@LINE]] {{[0-9]+}}


# CHECK-DAG: .loc [[OTHER:[0-9]+]] 8 {{[0-9]+}}
# CHECK-DAG: .file [[HERE]] "{{.*}}/test/Target/NVPTX/line-info.py"
# CHECK-DAG: .file [[OTHER]] "{{.*}}/test/Target/NVPTX/Inputs/line_info_helpers.py"
