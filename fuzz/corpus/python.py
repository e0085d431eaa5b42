from __future__ import annotations
from . import (a, b as c,)
import os.path as p, sys
match = type = 1
type X[T: int, *Ts, **P] = list[T]


class C[T](A, metaclass=B, **kw):
    x: int = 3

    @property
    async def f(self, /, a: int, b=1, *args, c, d=2, **kw) -> "r":
        async with (x as y, z): await q
        async for i in j: yield i
        return (yield), [*a, b], {1: 2, **c}, {x for x in y if z async for w in v}


match p:
    case {"a": [1, *_], **rest} | C(y=z) if lambda: y:
        pass
    case _: print(f"{x!r:>{w}}{{}}" rf'\{y=}' 'z', b"" if 0 else '', end='')
try:
    x = a < b <= c is not d not in e or not f and g
except* (A, B) as e:
    global q; nonlocal_ = 0x_ff + 0b1 + 0o7 + 1_0.0e-1 + 2j
finally:
    assert x, "y"; del x, (y[1:2, ::3, ...], z.w)
while (n := f(x, *y, z=1, **w)): break
else: raise E from None
with open(a) as f, (b): \
    x @= y if (lambda *a, k=1: k) else ~-+z ** -2
