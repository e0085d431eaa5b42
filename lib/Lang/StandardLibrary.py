# The part of the language's library that is written in the language itself. It is embedded in the C++ library and
# parsed once, when a kernel first uses one of these functions.


@jit
def sigmoid(x):
    return 1 / (1 + exp(-x))


@jit
def softmax(x, dim: constexpr = None, keep_dims: constexpr = False, ieee_rounding: constexpr = False):
    if dim is None:
        axis: constexpr = 0
    else:
        axis: constexpr = dim
    shifted = x - max(x, axis, keep_dims=True)
    numerator = exp(shifted)
    denominator = sum(numerator, axis, keep_dims=True)
    return fdiv(numerator, denominator, ieee_rounding)


@jit
def swizzle2d(i, j, size_i, size_j, size_g):
    # Programs of one group of `size_g` rows follow each other column by column; the last group may be shorter.
    linear = i * size_j + j
    per_group = size_g * size_j
    group = linear // per_group
    first = group * size_g
    rows = minimum(size_i - first, size_g)
    inside = linear % per_group
    return first + inside % rows, inside // rows


# Sorting: networks over integers that have the order of the values. Positions are those of all elements, row by row;
# a pair of elements that are compared differs in one bit of the position, a stage in the order of its blocks.


@jit
def _check_minor(x, dim: constexpr):
    static_assert(len(x.shape) > 0, "only blocks of at least one dimension can be sorted")
    static_assert(dim is None or dim == -1 or dim == len(x.shape) - 1, "only minor dimension is currently supported")


@jit
def _float_key(x, number, integer: constexpr, sign: constexpr):
    # Negative numbers are smaller the larger their bits are: all but the sign is turned. NaN is the largest of all.
    bits = where(number == number, x.to(integer, bitcast=True), sign)
    return where(bits < 0, bits ^ sign, bits)


@jit
def _sort_key(x):
    if x.dtype.is_int1():
        return x.to(int8)
    elif x.dtype.is_int():
        return x
    elif x.dtype.primitive_bitwidth == 64:
        return _float_key(x, x, int64, 0x7FFFFFFFFFFFFFFF)
    elif x.dtype.primitive_bitwidth == 32:
        return _float_key(x, x, int32, 0x7FFFFFFF)
    elif x.dtype.is_fp8e5():
        # A conversion back would lose infinities.
        return _float_key(x, x.to(float16), int8, 0x7F)
    elif x.dtype.is_fp8():
        return _sort_key(x.to(float16))
    else:
        return _float_key(x, x, int16, 0x7FFF)


@jit
def _float_value(key, dtype: constexpr, sign: constexpr):
    return where(key < 0, key ^ sign, key).to(dtype, bitcast=True)


@jit
def _from_sort_key(key, dtype: constexpr):
    if dtype.is_int1():
        return key != 0
    elif dtype.is_int():
        return key
    elif dtype.primitive_bitwidth == 64:
        return _float_value(key, dtype, 0x7FFFFFFFFFFFFFFF)
    elif dtype.primitive_bitwidth == 32:
        return _float_value(key, dtype, 0x7FFFFFFF)
    elif dtype.is_fp8e5():
        return _float_value(key, dtype, 0x7F)
    elif dtype.is_fp8():
        return _float_value(key, float16, 0x7FFF).to(dtype)
    else:
        return _float_value(key, dtype, 0x7FFF)


@jit
def _exchange(x, bit: constexpr, order_bit: constexpr, descending: constexpr):
    # Each pair that differs in `bit` is put in order; blocks whose `order_bit` is set have the opposite order.
    pairs: constexpr = x.numel >> (bit + 1)
    a, b = split(trans(reshape(x, [pairs, 2, 1 << bit]), 0, 2, 1))
    if descending:
        first = maximum(a, b)
        second = minimum(a, b)
    else:
        first = minimum(a, b)
        second = maximum(a, b)
    if order_bit is not None:
        turned = ((arange(0, pairs)[:, None] >> (order_bit - bit - 1)) & 1) != 0
        both = join(where(turned, second, first), where(turned, first, second))
    else:
        both = join(first, second)
    return trans(both, 0, 2, 1)


@jit
def _merge_blocks(x, log_block: constexpr, order_bit: constexpr, descending: constexpr):
    # Blocks of 2^log_block elements that rise and then fall, or fall and then rise, become sorted.
    for step in static_range(log_block):
        x = _exchange(x, log_block - 1 - step, order_bit, descending)
    return x


@jit
def _sort_blocks(x, log_block: constexpr, descending: constexpr):
    # Every second block is sorted in the opposite order, so that two of them merge.
    for stage in static_range(1, log_block + 1):
        x = _merge_blocks(x, stage, stage, descending)
    return x


@jit
def _log2(n: constexpr):
    if n <= 1:
        return 0
    else:
        return 1 + _log2(n // 2)


@jit
def sort(x, dim: constexpr = None, descending: constexpr = False):
    _check_minor(x, dim)
    log_n: constexpr = _log2(x.shape[-1])
    key = _sort_key(x)
    if log_n > 0:
        key = _sort_blocks(key, log_n - 1, descending)
        key = _merge_blocks(key, log_n, None, descending)
    return _from_sort_key(reshape(key, x.shape), x.dtype)


@jit
def bitonic_merge(x, dim: constexpr = None, descending: constexpr = False):
    _check_minor(x, dim)
    key = _merge_blocks(_sort_key(x), _log2(x.shape[-1]), None, descending)
    return _from_sort_key(reshape(key, x.shape), x.dtype)


@jit
def _smaller(x, y):
    return minimum(x, y)


@jit
def _larger(x, y):
    return maximum(x, y)


@jit
def topk(x, k: constexpr, dim: constexpr = None, descending: constexpr = True):
    _check_minor(x, dim)
    static_assert(k > 0 and k & (k - 1) == 0, "k must be a power of 2")
    static_assert(k <= x.shape[-1], "k must not exceed the extent of the last dimension")
    log_k: constexpr = _log2(k)
    halvings: constexpr = _log2(x.shape[-1]) - log_k
    if halvings == 0:
        return sort(x, dim, descending)
    else:
        # Of a rising and a falling block, the better of each two elements are the better half.
        key = _sort_blocks(_sort_key(x), log_k, descending)
        for halving in static_range(halvings):
            key = reshape(key, [key.numel >> (log_k + 1), 2, k])
            key = reduce(key, 1, _larger if descending else _smaller)
            key = _merge_blocks(key, log_k, None if halving == halvings - 1 else log_k, descending)
        return _from_sort_key(reshape(key, x.shape[:-1] + [k]), x.dtype)


@jit
def flip(x, dim: constexpr = None):
    static_assert(dim is not None, "flip needs `dim`, the dimension to reverse")
    rank: constexpr = len(x.shape)
    static_assert(dim >= -rank and dim < rank, "flip has a `dim` that the block does not have")
    axis: constexpr = dim + rank if dim < 0 else dim
    index = x.shape[axis] - 1 - arange(0, x.shape[axis])
    for i in static_range(rank):
        if i < axis:
            index = expand_dims(index, 0)
        if i > axis:
            index = expand_dims(index, -1)
    return gather(x, broadcast_to(index, x.shape), axis)


@jit
def expect_zero(x, mask):
    device_assert((x == 0) | (mask == 0), "expect_zero: not zero")
    return x


# Random numbers: Philox, which turns a counter and a key into as many random words as the counter has.


@jit
def philox_impl(c0, c1, c2, c3, k0, k1, n_rounds: constexpr = 10):
    static_assert(c0.dtype == uint32 or c0.dtype == uint64, "philox_impl needs counters of uint32 or uint64")
    if c0.dtype == uint32:
        factor0: constexpr = 0xD2511F53
        factor1: constexpr = 0xCD9E8D57
        step0: constexpr = 0x9E3779B9
        step1: constexpr = 0xBB67AE85
    else:
        factor0: constexpr = 0xD2E7470EE14C6C93
        factor1: constexpr = 0xCA5A826395121157
        step0: constexpr = 0x9E3779B97F4A7C15
        step1: constexpr = 0xBB67AE8584CAA73B
    for _ in static_range(n_rounds):
        a = c0
        b = c2
        c0 = umulhi(b, factor1) ^ c1 ^ k0
        c2 = umulhi(a, factor0) ^ c3 ^ k1
        c1 = b * factor1
        c3 = a * factor0
        k0 = k0 + step0
        k1 = k1 + step1
    return c0, c1, c2, c3


@jit
def philox(seed, c0, c1, c2, c3, n_rounds: constexpr = 10):
    key = to_tensor(seed).to(uint64)
    x0 = to_tensor(c0)
    x1 = to_tensor(c1)
    x2 = to_tensor(c2)
    x3 = to_tensor(c3)
    width: constexpr = x0.dtype.primitive_bitwidth
    static_assert(width == 32 or width == 64, "philox needs counters of 32 or 64 bits")
    if width == 32:
        word: constexpr = uint32
        k0 = (key & 0xFFFFFFFF).to(uint32)
        k1 = (key >> 32).to(uint32)
    else:
        word: constexpr = uint64
        k0 = key
        k1 = full((), 0, uint64)
    return philox_impl(
        x0.to(word, bitcast=True),
        x1.to(word, bitcast=True),
        x2.to(word, bitcast=True),
        x3.to(word, bitcast=True),
        k0,
        k1,
        n_rounds,
    )


@jit
def randint4x(seed, offset, n_rounds: constexpr = 10):
    counter = to_tensor(offset)
    low = counter.to(uint32)
    zero = low * 0
    if counter.dtype.primitive_bitwidth > 32:
        return philox(seed, low, (counter >> 32).to(uint32), zero, zero, n_rounds)
    else:
        return philox(seed, low, zero, zero, zero, n_rounds)


@jit
def randint(seed, offset, n_rounds: constexpr = 10):
    first, _, _, _ = randint4x(seed, offset, n_rounds)
    return first


@jit
def uint_to_uniform_float(x):
    width: constexpr = x.dtype.primitive_bitwidth
    static_assert(x.dtype.is_int() and (width == 32 or width == 64), "uint_to_uniform_float needs 32 or 64 bits")
    if width == 32:
        signed = x.to(int32, bitcast=True)
        scale: constexpr = 4.6566127342e-10
    else:
        signed = x.to(int64, bitcast=True)
        scale: constexpr = 1.0842020432385337e-19
    # The factor is a little less than 2 to -31 or -63, so that 1 is not reached.
    return where(signed < 0, -signed - 1, signed) * scale


@jit
def rand(seed, offset, n_rounds: constexpr = 10):
    return uint_to_uniform_float(randint(seed, offset, n_rounds))


@jit
def rand4x(seed, offset, n_rounds: constexpr = 10):
    w0, w1, w2, w3 = randint4x(seed, offset, n_rounds)
    return uint_to_uniform_float(w0), uint_to_uniform_float(w1), uint_to_uniform_float(w2), uint_to_uniform_float(w3)


@jit
def pair_uniform_to_normal(u1, u2):
    # Box and Muller.
    radius = sqrt(-2.0 * log(maximum(1.0e-7, u1)))
    angle = 6.283185307179586 * u2
    return radius * cos(angle), radius * sin(angle)


@jit
def randn(seed, offset, n_rounds: constexpr = 10):
    w0, w1, _, _ = randint4x(seed, offset, n_rounds)
    first, _ = pair_uniform_to_normal(uint_to_uniform_float(w0), uint_to_uniform_float(w1))
    return first


@jit
def randn4x(seed, offset, n_rounds: constexpr = 10):
    w0, w1, w2, w3 = randint4x(seed, offset, n_rounds)
    n0, n1 = pair_uniform_to_normal(uint_to_uniform_float(w0), uint_to_uniform_float(w1))
    n2, n3 = pair_uniform_to_normal(uint_to_uniform_float(w2), uint_to_uniform_float(w3))
    return n0, n1, n2, n3
