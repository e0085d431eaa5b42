import triton
import triton.language as tl


@triton.autotune(configs=[triton.Config({'B': b}, num_warps=w) for b in (16, 32) for w in [4]], key=['n'])
@triton.heuristics({'EVEN': lambda args: args['n'] % args['B'] == 0})
@triton.jit
def k(x_ptr, n, EVEN: tl.constexpr, B: tl.constexpr):
    o = tl.program_id(axis=0) * B + tl.arange(0, B)
    tl.multiple_of(o, B)
    o = tl.max_contiguous(tl.multiple_of(o, B), B)
    if EVEN:
        x = tl.load(x_ptr + o, cache_modifier='.cg', eviction_policy='evict_first')
    else:
        x = tl.load(x_ptr + o, mask=o < n)
    tl.assume(n > 0)
    tl.debug_barrier()
    tl.device_print('x', x)
    tl.device_assert(o < n, 'late')
    tl.store(x_ptr + o, tl.clamp(x, -1.0, 1.0) + tl.fma(x, x, x) + tl.rsqrt(x) + tl.math.erf(x))
