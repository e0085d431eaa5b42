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
