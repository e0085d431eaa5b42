"""Random numbers: Philox bit for bit, and what is made of its words."""

import numpy as np
import pytest

from helpers import assert_refused, assert_same, assert_within, module_from, poisoned

KERNELS = """\
@triton.jit
def philox_impl(c_ptr, k_ptr, o_ptr, N: tl.constexpr, ROUNDS: tl.constexpr):
    at = tl.arange(0, N)
    words = tl.philox_impl(tl.load(c_ptr + at), tl.load(c_ptr + N + at), tl.load(c_ptr + 2 * N + at),
                           tl.load(c_ptr + 3 * N + at), tl.load(k_ptr + at), tl.load(k_ptr + N + at), ROUNDS)
    for i in tl.static_range(4):
        tl.store(o_ptr + i * N + at, words[i])

@triton.jit
def philox(c_ptr, seed, o_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    words = tl.philox(seed, tl.load(c_ptr + at), tl.load(c_ptr + N + at), tl.load(c_ptr + 2 * N + at),
                      tl.load(c_ptr + 3 * N + at))
    for i in tl.static_range(4):
        tl.store(o_ptr + i * N + at, words[i])

@triton.jit
def draw(seed, x_ptr, o_ptr, n, N: tl.constexpr, ROUNDS: tl.constexpr):
    at = tl.arange(0, N)
    offset = tl.load(x_ptr + at)
    tl.store(o_ptr + at, {one}(seed, offset, ROUNDS))
    words = {four}(seed, offset, n_rounds=ROUNDS)
    for i in tl.static_range(4):
        tl.store(o_ptr + (i + 1) * N + at, words[i])

@triton.jit
def uniform(x_ptr, o_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(o_ptr + at, tl.uint_to_uniform_float(tl.load(x_ptr + at)))

@triton.jit
def normal(u_ptr, o_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    first, second = tl.pair_uniform_to_normal(tl.load(u_ptr + at), tl.load(u_ptr + N + at))
    tl.store(o_ptr + at, first)
    tl.store(o_ptr + N + at, second)

@triton.jit
def one_number(seed, offset, o_ptr):
    tl.store(o_ptr, tl.random.randint(seed, offset))
    tl.store(o_ptr + 1, tl.randint(7, 3))
"""
MULTIPLIERS = {32: (0xD2511F53, 0xCD9E8D57), 64: (0xD2E7470EE14C6C93, 0xCA5A826395121157)}
WEYL = {32: (0x9E3779B9, 0xBB67AE85), 64: (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)}


def kernels(one, four):
    return module_from(KERNELS.replace("{one}", one).replace("{four}", four))


module = kernels("tl.randint", "tl.randint4x")


def reference(counter, key, bits, rounds=10):
    """Philox of one counter, in whole numbers of any size (Salmon and others, 2011)."""
    mask = 2**bits - 1
    c, k = [int(v) for v in counter], [int(v) for v in key]
    for _ in range(rounds):
        p, q = MULTIPLIERS[bits][0] * c[0], MULTIPLIERS[bits][1] * c[2]
        c = [(q >> bits) ^ c[1] ^ k[0], q & mask, (p >> bits) ^ c[3] ^ k[1], p & mask]
        k = [(k[0] + WEYL[bits][0]) & mask, (k[1] + WEYL[bits][1]) & mask]
    return c


def references(counters, keys, bits, rounds=10):
    """The same of columns of counters and keys."""
    words = [reference(c, k, bits, rounds) for c, k in zip(counters.T.tolist(), keys.T.tolist())]
    return np.array(words, dtype=f"uint{bits}").T


# The known answers that come with Random123.
KNOWN = {
    32: [
        ("0 0 0 0", "0 0", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
    ],
    64: [
        ("0 0 0 0", "0 0", "16554d9eca36314c db20fe9d672d0fdc d7e772cee186176b 7e68b68aec7ba23b"),
        (
            "ffffffffffffffff ffffffffffffffff ffffffffffffffff ffffffffffffffff",
            "ffffffffffffffff ffffffffffffffff",
            "87b092c3013fe90b 438c3c67be8d0224 9cc7d7c69cd777b6 a09caebf594f0ba0",
        ),
        (
            "243f6a8885a308d3 13198a2e03707344 a4093822299f31d0 082efa98ec4e6c89",
            "452821e638d01377 be5466cf34e90c6c",
            "a528f45403e61d95 38c72dbd566e9788 a5a1610e72fd18b5 57bd43b5e52b7fe6",
        ),
    ],
}


@pytest.mark.parametrize("bits", [32, 64])
def test_known_answers(bits):
    def columns(which):
        rows = [[int(word, 16) for word in entry[which].split()] for entry in [*KNOWN[bits], KNOWN[bits][0]]]
        return np.array(rows, dtype=f"uint{bits}").T.copy()

    counters, keys, expected = columns(0), columns(1), columns(2)
    out = poisoned(counters.shape, counters.dtype)
    module.philox_impl[(1,)](counters, keys, out, 4, 10)
    assert_same(out, expected)
    assert_same(references(counters, keys, bits), expected)


@pytest.mark.parametrize("rounds", [1, 7, 10])
@pytest.mark.parametrize("bits", [32, 64])
def test_philox_impl(bits, rounds, rng):
    counters = rng.integers(0, 2**bits, (4, 64), dtype=f"uint{bits}")
    keys = rng.integers(0, 2**bits, (2, 64), dtype=f"uint{bits}")
    out = poisoned(counters.shape, counters.dtype)
    module.philox_impl[(1,)](counters, keys, out, 64, rounds)
    assert_same(out, references(counters, keys, bits, rounds))


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64"])
def test_philox(dtype, rng):
    bits = np.dtype(dtype).itemsize * 8
    info = np.iinfo(dtype)
    counters = rng.integers(info.min, info.max, (4, 32), dtype=dtype, endpoint=True)
    seed = int(rng.integers(-(2**63), 2**63))
    out = poisoned(counters.shape, f"uint{bits}")
    module.philox[(1,)](counters, seed, out, 32)
    key = [seed % 2**32, seed % 2**64 >> 32] if bits == 32 else [seed % 2**64, 0]
    keys = np.array([key] * 32, dtype=f"uint{bits}").T
    assert_same(out, references(counters.view(f"uint{bits}"), keys, bits))


def words(seed, offsets, rounds=10):
    """What `randint4x` gives."""
    offsets = [int(v) % 2**64 if offsets.dtype.itemsize == 8 else int(v) % 2**32 for v in offsets]
    counters = np.array([[v % 2**32, v >> 32, 0, 0] for v in offsets], dtype=np.uint32).T
    keys = np.array([[seed % 2**32, seed % 2**64 >> 32]] * len(offsets), dtype=np.uint32).T
    return references(counters, keys, 32, rounds)


def drawn(module, seed, offsets, dtype, rounds=10):
    out = poisoned((5, offsets.size), dtype)
    module.draw[(1,)](seed, offsets, out, offsets.size, offsets.size, rounds)
    assert_same(out[0], out[1])
    return out[1:]


@pytest.mark.parametrize("rounds", [4, 10])
@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64"])
@pytest.mark.parametrize("wide_seed", [False, True])
def test_randint(dtype, rounds, wide_seed, rng):
    info = np.iinfo(dtype)
    offsets = rng.integers(info.min, info.max, 64, dtype=dtype, endpoint=True)
    seed = int(rng.integers(2**40, 2**63)) if wide_seed else int(rng.integers(-(2**31), 2**31))
    assert_same(drawn(module, seed, offsets, np.uint32, rounds), words(seed, offsets, rounds))


def uniform(x):
    """[0, 1) of random words: 31 or 63 of their bits."""
    signed = x.view(f"int{x.dtype.itemsize * 8}")
    scale = np.float32(4.6566127342e-10 if x.dtype.itemsize == 4 else 1.0842020432385337e-19)
    return np.where(signed < 0, -signed - 1, signed).astype(np.float32) * scale


def test_rand(rng):
    offsets = rng.integers(0, 2**31, 256, dtype=np.int32)
    result = drawn(kernels("tl.rand", "tl.rand4x"), 12345, offsets, np.float32)
    assert_same(result, uniform(words(12345, offsets)))
    assert (result >= 0).all() and (result < 1).all()


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64"])
def test_uint_to_uniform_float(dtype, rng):
    info = np.iinfo(dtype)
    x = rng.integers(info.min, info.max, 256, dtype=dtype, endpoint=True)
    x[:4] = info.min, info.max, 0, info.max // 2
    out = poisoned(256, np.float32)
    module.uniform[(1,)](x, out, 256)
    assert_same(out, uniform(x))
    assert (out >= 0).all() and (out < 1).all()


def normals(u1, u2):
    u1, u2 = np.maximum(u1.astype(np.float64), np.float64(np.float32(1e-7))), u2.astype(np.float64)
    radius, angle = np.sqrt(-2 * np.log(u1)), 2 * np.pi * u2
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)])


def normal_bound(u1):
    """The angle is off by its own rounding, the logarithm near 1 by a unit of what is taken from 1."""
    radius = normals(u1, np.zeros_like(u1))[0]
    return radius * 4e-6 + 2e-6 + 1e-6 / np.maximum(radius, 1e-3)


def test_pair_uniform_to_normal(rng):
    u = rng.random((2, 256)).astype(np.float32)
    u[0, :2] = 0, 1e-9
    out = poisoned((2, 256), np.float32)
    module.normal[(1,)](u, out, 256)
    assert_within(out, normals(*u), normal_bound(u[0]))


def test_randn(rng):
    offsets = rng.integers(0, 2**62, 256, dtype=np.int64)
    result = drawn(kernels("tl.randn", "tl.randn4x"), 99, offsets, np.float32)
    u = uniform(words(99, offsets))
    expected = np.concatenate([normals(u[0], u[1]), normals(u[2], u[3])])
    bound = np.stack([normal_bound(u[0])] * 2 + [normal_bound(u[2])] * 2)
    assert_within(result, expected, bound)


def test_one_number():
    out = poisoned(2, np.uint32)
    module.one_number[(1,)](11, 2**35 + 1, out)
    expected = [words(11, np.array([2**35 + 1]))[0, 0], words(7, np.array([3], np.int32))[0, 0]]
    assert_same(out, np.array(expected))


@pytest.mark.parametrize(
    "call, said",
    [
        ("tl.philox_impl(x.to(tl.int32), x, x, x, x, x)", "philox_impl needs counters of uint32 or uint64"),
        ("tl.philox(1, x.to(tl.int16), x, x, x)", "philox needs counters of 32 or 64 bits"),
        ("tl.uint_to_uniform_float(x.to(tl.float32))", "uint_to_uniform_float needs 32 or 64 bits"),
    ],
)
@pytest.mark.cpu_only("what the front end refuses")
def test_refusals(call, said):
    module = module_from(f"@triton.jit\ndef kernel():\n    x = tl.zeros((16,), tl.uint32)\n    y = {call}\n")
    assert_refused(module.kernel, said)
