# Every stage of a kernel can be printed.
#
# RUN: despina compile %s:scale --signature "*fp32:16,fp32,i32" --const BLOCK=64 --emit tt | FileCheck %s --check-prefix=TT
# RUN: despina compile %s:scale --signature "*fp32,fp32,i32" --const BLOCK=64 --emit llvm | FileCheck %s --check-prefix=LLVM
# RUN: despina compile %s:scale --signature "*fp32,fp32,i32" --const BLOCK=64 --emit asm -o - | FileCheck %s --check-prefix=ASM
# RUN: despina compile %s:scale --signature "*fp32,fp32,i32" --const BLOCK=64 --emit obj -o %t.o
# RUN: llvm-nm %t.o | FileCheck %s --check-prefix=OBJ
# RUN: despina compile %s:scale --signature "n=i32, x_ptr=*fp32, factor=fp32" --const BLOCK=64 --target cpu | FileCheck %s --check-prefix=SUMMARY
# RUN: despina compile %s:scale --signature "*fp32,fp32,i32" --const BLOCK=64 --time 2>&1 | FileCheck %s --check-prefix=TIME
#
# Without a name the file's only kernel is meant.
# RUN: despina compile %s --signature "*fp32,fp32,i32" --const BLOCK=64 | FileCheck %s --check-prefix=SUMMARY

import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, factor, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(x_ptr + i, x * factor, mask=i < n)


# TT: tt.func public @scale(%{{[a-z_0-9]+}}: !tt.ptr<f32> {tt.divisibility = 16 : i32}
# TT: tt.load
# TT: tt.store
# LLVM: define {{.*}}void @{{.*}}scale
# ASM: {{.*}}scale{{.*}}:
# OBJ: T {{.*}}scale
# SUMMARY: scale(*fp32, fp32, i32), {{[0-9]+}} bytes of scratch memory per thread
# TIME: {{[0-9.]+}} ms  front end
# TIME: {{[0-9.]+}} ms  total
