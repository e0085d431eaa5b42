"""What only GPUs demand: cases that are compiled for one, whose compute capability is their last field."""

import despina as triton

from . import Case

SMALL = "Input shapes should have M >= {}, N >= {} and K >= {}"
FLOAT8 = "type {} not supported in this architecture. The supported fp8 dtypes are ('fp8e4b15', 'fp8e4nv', 'fp8e5')"
TRANSPOSED = "y = $tl.dot(a, a.T)"

CASES = [
    (
        Case(
            "type fp8e4nv not supported in this architecture. The supported fp8 dtypes are ('fp8e4b15', 'fp8e5')",
            "y = $x.to(tl.float8e4nv)", ValueError,
        ), 80,
    ),
    (Case(FLOAT8.format("fp8e4b8"), "y = $tl.zeros((16,), tl.float8e4b8)", ValueError), 90),
    (Case(FLOAT8.format("fp8e5b16"), "y = $x.to(tl.float8e5b16)", ValueError), 90),
    (Case(SMALL.format(1, 1, 16), "a = tl.zeros((16, 8), tl.float16)\n" + TRANSPOSED, AssertionError), 80),
    (Case(SMALL.format(1, 1, 32), "a = tl.zeros((16, 16), tl.int8)\n" + TRANSPOSED, AssertionError), 90),
    (Case(SMALL.format(1, 1, 8), "a = tl.zeros((16, 4), tl.float32)\n" + TRANSPOSED, AssertionError), 90),
    (Case(SMALL.format(1, 1, 4), "a = tl.zeros((16, 2), tl.float64)\n" + TRANSPOSED, AssertionError), 90),
]  # fmt: skip

# Options: (text, class, capability, options).
OPTIONS = [
    ("num_ctas > 1 needs clusters, which sm_90 brought: set num_ctas=1 for sm_80", ValueError, 80, {"num_ctas": 2}),
    ("num_ctas must be a power of 2 up to 16, not 3", ValueError, 90, {"num_ctas": 3}),
    (
        "out of resource: threads, Required: 2048, Hardware limit: 1024. Reducing block sizes or `num_stages` may "
        "help.",
        triton.OutOfResources, 90, {"num_warps": 64},
    ),
    ("maxnreg must be between 1 and 255, or 0 for no limit, not 1000", ValueError, 90, {"maxnreg": 1000}),
]  # fmt: skip
