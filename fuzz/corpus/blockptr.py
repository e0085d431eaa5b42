import triton
import triton.language as tl


@triton.jit
def k(x_ptr, y_ptr, m, n, B: tl.constexpr):
    p = tl.make_block_ptr(x_ptr, (m, n), (n, 1), (0, tl.program_id(1) * B), (B, B), (1, 0))
    q = tl.make_block_ptr(base=y_ptr, shape=(m, n), strides=(n, 1), offsets=(0, 0), block_shape=(B, B), order=(1, 0))
    for i in range(0, m, B):
        v = tl.load(p, boundary_check=(0, 1), padding_option='zero')
        tl.store(q, v, boundary_check=(0, 1))
        p = tl.advance(p, (B, 0))
        q = q.advance((B, 0))
