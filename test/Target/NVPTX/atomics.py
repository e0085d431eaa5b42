# Atomic operations of a kernel: reductions where nobody uses the old value, and what returns it where someone does.
#
# RUN: despina compile %s:histogram -t cuda --arch sm_80 -s "*i32:16,*i32:16,i32:16" -c BLOCK=256 -e ptx | FileCheck %s
# RUN: despina compile %s:histogram -t cuda --arch sm_89 -s "*i32:16,*i32:16,i32:16" -c BLOCK=256 -e ptx | FileCheck %s
# RUN: despina compile %s:histogram -t cuda --arch sm_90a -s "*i32:16,*i32:16,i32:16" -c BLOCK=256 -e ptx | FileCheck %s
# CHECK: .visible .entry histogram(
# CHECK: ld.global.v2.b32
# CHECK-NOT: atom.
# CHECK-COUNT-2: red.relaxed.gpu.global.add.{{[su]}}32
# CHECK-NOT: {{(red|atom)\.}}
# CHECK: ret;
#
# A ticket: one thread takes it, all get it. A lock: an exchange, and a comparison before.
# RUN: despina compile %s:ticket -t cuda --arch sm_80 -s "*i32:16,*i32:16,*fp32:16" -e ptx | FileCheck %s --check-prefix=TICKET
# RUN: despina compile %s:ticket -t cuda --arch sm_89 -s "*i32:16,*i32:16,*fp32:16" -e ptx | FileCheck %s --check-prefix=TICKET
# RUN: despina compile %s:ticket -t cuda --arch sm_90a -s "*i32:16,*i32:16,*fp32:16" -e ptx | FileCheck %s --check-prefix=TICKET
# TICKET: .visible .entry ticket(
# TICKET: atom.acq_rel.gpu.global.add.{{[su]}}32
# TICKET: atom.acquire.gpu.global.cas.b32
# TICKET: red.relaxed.gpu.global.add.f32
# TICKET: {{(atom|red)}}.release.gpu.global.
# TICKET: ret;
#
# RUN: despina compile %s:histogram -t cuda --arch sm_80 -s "*i32:16,*i32:16,i32:16" -c BLOCK=256 -e cubin -o %t.80.cubin
# RUN: despina compile %s:ticket -t cuda --arch sm_89 -s "*i32:16,*i32:16,*fp32:16" -e cubin -o %t.89.cubin
# RUN: despina compile %s:ticket -t cuda --arch sm_90a -s "*i32:16,*i32:16,*fp32:16" -e cubin -o %t.90.cubin

import triton
import triton.language as tl


@triton.jit
def histogram(values, counts, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    value = tl.load(values + i, mask=mask)
    tl.atomic_add(counts + value, 1, mask=mask, sem="relaxed")


@triton.jit
def ticket(counter, lock, total):
    mine = tl.atomic_add(counter, 1)
    while tl.atomic_cas(lock, 0, 1, sem="acquire") == 1:
        pass
    tl.atomic_add(total, mine.to(tl.float32), sem="relaxed")
    tl.atomic_xchg(lock, 0, sem="release")
