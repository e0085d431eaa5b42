# Accesses through descriptors are bulk copies where the hardware has them, and plain ones elsewhere.
#
# RUN: despina compile %s:copy -t cuda --arch sm_90a -s "*fp16:16,*fp16:16,i32,i32:16,i32:16" -c ROWS=32 COLUMNS=64 -e ptx | FileCheck %s --check-prefix=BULK
# RUN: despina compile %s:copy -t cuda --arch sm_80 -s "*fp16:16,*fp16:16,i32,i32:16,i32:16" -c ROWS=32 COLUMNS=64 -e ptx | FileCheck %s --check-prefix=PLAIN
#
# A row of 64 halves is a box of 128 bytes, 32 rows are 4096 bytes. The maps are parameters, the one that is read
# and the one that is written.
# BULK: .visible .entry copy(
# BULK: .param .align 64 .b8 [[FROM:copy_param_[0-9]+]][128],
# BULK-NEXT: .param .align 64 .b8 [[TO:copy_param_[0-9]+]][128],
# BULK-DAG: mov.b64 %[[T:rd[0-9]+]], [[TO]];
# BULK-DAG: cvta.param.u64 %[[TOMAP:rd[0-9]+]], %[[T]];
# BULK-DAG: mov.b64 %[[F:rd[0-9]+]], [[FROM]];
# BULK-DAG: cvta.param.u64 %[[FROMMAP:rd[0-9]+]], %[[F]];
# BULK: mbarrier.init.shared::cta.b64
# BULK-NOT: {{(ld|st)}}.global
# BULK-DAG: cp.async.bulk.wait_group 0;
# BULK-DAG: mbarrier.arrive.expect_tx.shared::cta.b64 _, [%{{.*}}], 4096;
# BULK-DAG: cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%{{.*}}], [%[[FROMMAP]],
# BULK: mbarrier.try_wait.parity
# BULK: ld.shared
# BULK: bar.sync
# BULK: st.shared
# BULK: fence.proxy.async.shared::cta;
# BULK: bar.sync
# BULK: cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%[[TOMAP]],
# BULK: cp.async.bulk.commit_group;
# BULK-NOT: {{(ld|st)}}.global
#
# PLAIN-NOT: bulk
# PLAIN-NOT: mbarrier
# PLAIN-NOT: .b8 copy_param
# PLAIN: ld.global
# PLAIN: st.global
#
# Atomic addition in the unit that copies; a block that may start anywhere is read by threads.
# RUN: despina compile %s:accumulate -t cuda --arch sm_90a -s "*fp32:16,*fp32:16,i32:16" -c BLOCK=128 -e ptx | FileCheck %s --check-prefix=REDUCE
# RUN: despina compile %s:accumulate -t cuda --arch sm_89 -s "*fp32:16,*fp32:16,i32:16" -c BLOCK=128 -e ptx | FileCheck %s --check-prefix=ATOMIC
# REDUCE-NOT: cp.async.bulk.tensor
# REDUCE: ld.global
# REDUCE: cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group
# REDUCE-NOT: {{(red|atom)}}.global
# ATOMIC-NOT: bulk
# ATOMIC: {{(red|atom)}}.{{.*}}add.f32
# ATOMIC-NOT: bulk
#
# Tensors that begin where the program says: it makes two maps for itself, 128 bytes each. Loads and stores go through
# them. What is plainly stored first takes a fence. An architecture without its `a` has no such maps.
# RUN: despina compile %s:batched -t cuda --arch sm_90a -s "*fp16:16,*fp16:16,i32,i32:16,i32:16" -c ROWS=32 COLUMNS=64 -e ptx | FileCheck %s --check-prefix=OWN
# RUN: despina compile %s:batched -t cuda --arch sm_90 -s "*fp16:16,*fp16:16,i32,i32:16,i32:16" -c ROWS=32 COLUMNS=64 -e ptx | FileCheck %s --check-prefix=PLAIN
# RUN: despina compile %s:batched -t cuda --arch sm_90a -s "*fp16:16,*fp16:16,i32,i32:16,i32:16" -c ROWS=32 COLUMNS=64 -e cubin -o %t.batched.cubin
# OWN: .version 8.5
# OWN: .visible .entry batched(
# OWN-NOT: .b8 batched_param
# OWN: st.global
# OWN: tensormap.replace.tile.global_address
# OWN: tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%[[FROM:rd[0-9]+]]], [%{{r[0-9]+}}], 128;
# OWN: fence.proxy.tensormap::generic.acquire.gpu [%[[FROM]]], 128;
# OWN: tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%[[TO:rd[0-9]+]]], [%{{r[0-9]+}}], 128;
# OWN: fence.proxy.tensormap::generic.acquire.gpu [%[[TO]]], 128;
# OWN: fence.proxy.async.global;
# OWN-NEXT: // end inline asm
# OWN-NEXT: bar.sync 0;
# OWN: cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%{{r[0-9]+}}], [%[[FROM]],
# OWN: cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%[[TO]],
#
# Two blocks copy half of the rows each, and write them.
# RUN: despina compile %s:copy -t cuda --arch sm_90a --num-ctas 2 -s "*fp16:16,*fp16:16,i32,i32:16,i32:16" -c ROWS=32 COLUMNS=64 -e ptx | FileCheck %s --check-prefix=CLUSTER
# RUN: despina compile %s:copy -t cuda --arch sm_90a --num-ctas 2 -s "*fp16:16,*fp16:16,i32,i32:16,i32:16" -c ROWS=32 COLUMNS=64 -e cubin -o %t.cluster.cubin
# CLUSTER: %cluster_ctaid.x
# CLUSTER-NOT: {{(ld|st)}}.global
# CLUSTER-DAG: mbarrier.arrive.expect_tx.shared::cta.b64 _, [%{{.*}}], 2048;
# CLUSTER: cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes
# CLUSTER-NOT: barrier.cluster
# CLUSTER: cp.async.bulk.tensor.2d.global.shared::cta.bulk_group
# CLUSTER-NOT: {{(ld|st)}}.global
#
# A row that may end inside of 16 bytes: what the hardware would write beyond it decides which way a block goes.
# RUN: despina compile %s:copy -t cuda --arch sm_90a -s "*fp16:16,*fp16:16,i32,i32,i32:16" -c ROWS=32 COLUMNS=64 -e ptx | FileCheck %s --check-prefix=EDGE
# RUN: despina compile %s:copy -t cuda --arch sm_90a -s "*fp16:16,*fp16:16,i32,i32,i32:16" -c ROWS=32 COLUMNS=64 -e cubin -o %t.edge.cubin
# EDGE-NOT: ld.global
# EDGE-DAG: cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes
# EDGE-DAG: cp.async.bulk.tensor.2d.global.shared::cta.bulk_group
# EDGE-DAG: st.global
#
# Both end in a cubin.
# RUN: despina compile %s:copy -t cuda --arch sm_90a -s "*fp16:16,*fp16:16,i32,i32:16,i32:16" -c ROWS=32 COLUMNS=64 -e cubin -o %t.copy.cubin
# RUN: despina compile %s:accumulate -t cuda --arch sm_90a -s "*fp32:16,*fp32:16,i32:16" -c BLOCK=128 -e cubin -o %t.accumulate.cubin

import triton
import triton.language as tl


@triton.jit
def copy(x, o, rows, columns, stride, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    source = tl.make_tensor_descriptor(x, shape=[rows, columns], strides=[stride, 1], block_shape=[ROWS, COLUMNS])
    target = tl.make_tensor_descriptor(o, shape=[rows, columns], strides=[stride, 1], block_shape=[ROWS, COLUMNS])
    row = tl.program_id(0) * ROWS
    for column in range(0, columns, COLUMNS):
        target.store([row, column], source.load([row, column]) * 2)


@triton.jit
def accumulate(x, o, n, BLOCK: tl.constexpr):
    source = tl.make_tensor_descriptor(x, shape=[n], strides=[1], block_shape=[BLOCK])
    target = tl.make_tensor_descriptor(o, shape=[n], strides=[1], block_shape=[BLOCK])
    i = tl.program_id(0)
    target.atomic_add([i * BLOCK], source.load([i]))


@triton.jit
def batched(x, o, rows, columns, stride, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    first = tl.program_id(0) * rows * stride
    tl.store(x + first, 0.0)
    source = tl.make_tensor_descriptor(x + first, [rows, columns], [stride, 1], [ROWS, COLUMNS])
    target = tl.make_tensor_descriptor(o + first, [rows, columns], [stride, 1], [ROWS, COLUMNS])
    for row in range(0, rows, ROWS):
        target.store([row, 0], source.load([row, 0]) * 2)
