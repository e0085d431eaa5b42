"""Attention, forward: softmax(Q K^T * scale) V without ever storing the scores (online softmax)."""

import despina as triton
import despina.language as tl


@triton.jit
def attention_kernel(q_ptr, k_ptr, v_ptr, out_ptr, stride_h, stride_s, length, scale,
                     BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, HEAD: tl.constexpr,
                     CAUSAL: tl.constexpr):  # fmt: skip
    block = tl.program_id(0)
    head = tl.program_id(1)
    q_ptr += head * stride_h
    k_ptr += head * stride_h
    v_ptr += head * stride_h
    out_ptr += head * stride_h

    rows = block * BLOCK_M + tl.arange(0, BLOCK_M)
    dims = tl.arange(0, HEAD)
    row_mask = rows[:, None] < length
    q = tl.load(q_ptr + rows[:, None] * stride_s + dims[None, :], mask=row_mask, other=0.0)

    row_max = tl.full([BLOCK_M], -float("inf"), dtype=tl.float32)
    row_sum = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, HEAD], dtype=tl.float32)
    # exp2 is cheaper than exp: the scale takes log2(e) in.
    scale *= 1.4426950408889634
    end = length
    if CAUSAL:
        end = tl.minimum((block + 1) * BLOCK_M, length)
    for start in range(0, end, BLOCK_N):
        columns = start + tl.arange(0, BLOCK_N)
        column_mask = columns < length
        k = tl.load(k_ptr + columns[None, :] * stride_s + dims[:, None], mask=column_mask[None, :], other=0.0)
        scores = tl.dot(q, k) * scale
        visible = column_mask[None, :]
        if CAUSAL:
            visible = visible & (rows[:, None] >= columns[None, :])
        scores = tl.where(visible, scores, -float("inf"))
        new_max = tl.maximum(row_max, tl.max(scores, axis=1))
        weights = tl.exp2(scores - new_max[:, None])
        correction = tl.exp2(row_max - new_max)
        row_sum = row_sum * correction + tl.sum(weights, axis=1)
        v = tl.load(v_ptr + columns[:, None] * stride_s + dims[None, :], mask=column_mask[:, None], other=0.0)
        acc = tl.dot(weights.to(v.dtype), v, acc * correction[:, None])
        row_max = new_max
    tl.store(out_ptr + rows[:, None] * stride_s + dims[None, :], acc / row_sum[:, None], mask=row_mask)
