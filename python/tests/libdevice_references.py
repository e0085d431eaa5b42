"""What functions of math libraries should give: names, types, and references of higher precision."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np

MODES = ["rn", "rz", "rd", "ru"]


def expand(text):
    """`add_*` stands for the four rounding modes."""
    return [name for word in text.split() for name in ([word[:-1] + m for m in MODES] if word[-1] == "*" else [word])]


NAMES = expand("""
abs acos acosh add_* asin asinh atan atan2 atanh brev byte_perm cbrt ceil clz copysign cos cosh cospi cyl_bessel_i0
cyl_bessel_i1 div_* double2float_* double2int_* double2uint_* double2ll_* double2ull_* double2hiint double2loint
double_as_longlong erf erfc erfcinv erfcx erfinv exp exp10 exp2 expm1 fast_cosf fast_dividef fast_exp10f fast_expf
fast_log10f fast_log2f fast_logf fast_powf fast_sinf fast_tanf fdim ffs finitef float2int_* float2uint_* float2ll_*
float2ull_* float_as_int float_as_uint floor fma fma_* fmod hadd hiloint2double hypot ilogb int2double_rn int2float_*
int_as_float isfinited isinf isnan j0 j1 jn ldexp lgamma ll2double_* ll2float_* llrint llround log log10 log1p log2
logb longlong_as_double mul24 mulhi mul_* nearbyint nextafter norm3d norm4d normcdf normcdfinv popc pow rcbrt rcp64h
rcp_* remainder rhadd rhypot rint rnorm3d rnorm4d round rsqrt rsqrt_rn sad saturatef scalbn signbit sin sinh sinpi
sqrt sqrt_* sub_* tan tanh tgamma trunc uint2double_rn uint2float_* uint_as_float ull2double_* ull2float_* y0 y1 yn
""")


def cube_root(x):
    return mpmath.sign(x) * mpmath.cbrt(abs(x))


# Name: the function, and where to look at it.
ELEMENTARY = {
    "acos": (mpmath.acos, -1, 1),
    "acosh": (mpmath.acosh, 1, 100),
    "asin": (mpmath.asin, -1, 1),
    "asinh": (mpmath.asinh, -50, 50),
    "atan": (mpmath.atan, -50, 50),
    "atanh": (mpmath.atanh, -0.999, 0.999),
    "cbrt": (cube_root, -1000, 1000),
    "cos": (mpmath.cos, -100, 100),
    "cosh": (mpmath.cosh, -80, 80),
    "cospi": (mpmath.cospi, -30, 30),
    "cyl_bessel_i0": (lambda x: mpmath.besseli(0, x), -80, 80),
    "cyl_bessel_i1": (lambda x: mpmath.besseli(1, x), -80, 80),
    "erf": (mpmath.erf, -5, 5),
    "erfc": (mpmath.erfc, -4, 9),
    "erfcinv": (lambda x: mpmath.erfinv(1 - x), 0.001, 1.999),
    "erfcx": (lambda x: mpmath.exp(x * x) * mpmath.erfc(x), -9, 100),
    "erfinv": (mpmath.erfinv, -0.999, 0.999),
    "exp": (mpmath.exp, -80, 80),
    "exp10": (lambda x: mpmath.mpf(10) ** x, -30, 30),
    "exp2": (lambda x: mpmath.mpf(2) ** x, -100, 100),
    "expm1": (mpmath.expm1, -20, 50),
    "j0": (lambda x: mpmath.besselj(0, x), -8, 8),
    "j1": (lambda x: mpmath.besselj(1, x), -8, 8),
    "lgamma": (mpmath.loggamma, 0.1, 100),
    "log": (mpmath.log, 1e-5, 1e5),
    "log10": (mpmath.log10, 1e-5, 1e5),
    "log1p": (mpmath.log1p, -0.999, 100),
    "log2": (lambda x: mpmath.log(x, 2), 1e-5, 1e5),
    "normcdf": (mpmath.ncdf, -9, 8),
    "normcdfinv": (lambda x: mpmath.sqrt(2) * mpmath.erfinv(2 * x - 1), 0.001, 0.999),
    "rcbrt": (lambda x: 1 / cube_root(x), -1000, 1000),
    "rsqrt": (lambda x: 1 / mpmath.sqrt(x), 1e-5, 1e5),
    "sin": (mpmath.sin, -100, 100),
    "sinh": (mpmath.sinh, -80, 80),
    "sinpi": (mpmath.sinpi, -30, 30),
    "sqrt": (mpmath.sqrt, 0, 1e5),
    "tan": (mpmath.tan, -100, 100),
    "tanh": (mpmath.tanh, -10, 10),
    "tgamma": (mpmath.gamma, 0.1, 30),
    "y0": (lambda x: mpmath.bessely(0, x), 0.01, 8),
    "y1": (lambda x: mpmath.bessely(1, x), 0.01, 8),
    "fast_cosf": (mpmath.cos, -3, 3),
    "fast_exp10f": (lambda x: mpmath.mpf(10) ** x, -3, 3),
    "fast_expf": (mpmath.exp, -3, 3),
    "fast_log10f": (mpmath.log10, 2, 100),
    "fast_log2f": (lambda x: mpmath.log(x, 2), 2.5, 100),
    "fast_logf": (mpmath.log, 3, 100),
    "fast_sinf": (mpmath.sin, -3, 3),
    "fast_tanf": (mpmath.tan, -1, 1),
}


def norm(*values):
    return mpmath.sqrt(sum(x * x for x in values))


# Of several arguments: the function and the range of each argument.
SEVERAL = {
    "atan2": (mpmath.atan2, (-10, 10), (-10, 10)),
    "hypot": (norm, (-10, 10), (-10, 10)),
    "rhypot": (lambda *v: 1 / norm(*v), (-10, 10), (-10, 10)),
    "norm3d": (norm, (-10, 10), (-10, 10), (-10, 10)),
    "rnorm3d": (lambda *v: 1 / norm(*v), (-10, 10), (-10, 10), (-10, 10)),
    "pow": (lambda x, y: x**y, (0.01, 50), (-10, 10)),
    "fast_powf": (lambda x, y: x**y, (1, 4), (-2, 2)),
    "fast_dividef": (lambda x, y: x / y, (-100, 100), (1, 100)),
}


def evaluate(function, *arrays):
    """Element by element, with 30 digits, rounded to long double."""
    with mpmath.workdps(40):
        values = [function(*(mpmath.mpf(float(x)) for x in row)) for row in zip(*arrays)]
        high = [float(v) for v in values]
        return np.array([np.longdouble(h) + np.longdouble(float(v - h)) for h, v in zip(high, values)])


def is_rounding(result, exact, mode):
    """Whether a float is `exact`, a Fraction, in a rounding mode. `exact` is between the type's limits."""
    step = type(result)
    below, above = (
        Fraction(float(np.nextafter(result, step(-np.inf)))),
        Fraction(float(np.nextafter(result, step(np.inf)))),
    )
    value = Fraction(float(result))
    if mode == "rn":
        return 2 * abs(value - exact) <= above - below and (below + value) <= 2 * exact <= (value + above)
    if mode == "rz":
        mode = "rd" if exact >= 0 else "ru"
    return value <= exact < above if mode == "rd" else below < exact <= value


def rounded_integer(x, mode):
    """A float as an integer in a rounding mode."""
    return {"rn": np.rint, "rz": np.trunc, "rd": np.floor, "ru": np.ceil}[mode](x)
