"""Calls of FlagGems' operators: torch's own samples of each operator run with its functions in ATen's place."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch.utils._python_dispatch import TorchDispatchMode

from .cases import Case, case, gradients

PACKAGE = "flag_gems"
SAMPLES = 3


def table():
    """ATen's names of the operators that FlagGems replaces."""
    import flag_gems

    result = {}
    for entry in flag_gems._FULL_CONFIG:
        if len(entry) < 3 or entry[2]():
            result[entry[0]] = entry[1]
    return result


class Replace(TorchDispatchMode):
    """Calls FlagGems' function where it has one for an operator."""

    def __init__(self, functions):
        super().__init__()
        self.functions, self.called = functions, set()

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name, overload = function._schema.name.split("::")[1], function._overloadname
        key = name if overload == "default" else f"{name}.{overload}"
        replacement = self.functions.get(key)
        if replacement is None or not function._schema.name.startswith("aten::"):
            return function(*args, **(kwargs or {}))
        self.called.add(key)
        return replacement(*args, **(kwargs or {}))


RANDOM = ("rand", "normal", "bernoulli", "uniform", "exponential", "dropout", "multinomial", "rrelu", "cauchy", "empty")


def _compared(name):
    return not any(word in name for word in RANDOM)


def _sample_case(info, dtype):
    def run(check):
        functions = table()
        called = set()
        samples = []
        for sample in info.sample_inputs(
            "cpu", dtype, requires_grad=info.supports_autograd and dtype.is_floating_point
        ):
            if len(samples) == SAMPLES:
                break
            samples.append(sample)
        for sample in samples:
            called |= _run_sample(check, info, sample, functions)
        if not called:
            raise NotReplaced
        return sorted(called)

    return Case(PACKAGE, f"{info.name}{'.' + info.variant_test_name if info.variant_test_name else ''}", run)


class NotReplaced(Exception):
    """No operator of the sample is one of FlagGems'."""


def _clone(value):
    if torch.is_tensor(value):
        return value.detach().clone().requires_grad_(value.requires_grad)
    if isinstance(value, (tuple, list)):
        return type(value)(map(_clone, value))
    return value


def _call(info, sample):
    first, args = _clone(sample.input), _clone(sample.args)
    kwargs = {name: _clone(value) for name, value in sample.kwargs.items()}
    result = info.op(first, *args, **kwargs)
    flat = [r for r in (result if isinstance(result, (tuple, list)) else [result]) if torch.is_tensor(r)]
    outputs = [r.detach().clone() for r in flat]
    loss = sum((r.float().sum() for r in flat if r.requires_grad and r.is_floating_point()), torch.zeros(()))
    grads = []
    if loss.requires_grad:
        loss.backward()
        leaves = [x for x in (first, *args, *kwargs.values()) if torch.is_tensor(x) and x.requires_grad]
        grads = [x.grad for x in leaves if x.grad is not None]
    return outputs + grads


def _run_sample(check, info, sample, functions):
    try:
        want = _call(info, sample)
    except Exception:  # noqa: BLE001 (a sample that torch itself refuses tells nothing)
        return set()
    mode = Replace(functions)
    with mode:
        got = _call(info, sample)
    if mode.called and _compared(info.name):
        check(got, want, label=info.name)
    return mode.called


def sample_cases():
    """A case for each of torch's operators with samples."""
    from torch.testing._internal.common_methods_invocations import op_db

    for info in op_db:
        if info.name.startswith(
            ("linalg", "fft", "sparse", "_refs", "masked.", "signal", "special.")
        ) and not info.name.startswith(("special.i0e", "special.i1", "special.erf", "linalg.vector_norm")):
            continue
        types = info.supported_dtypes("cpu")
        dtype = next((t for t in (torch.float32, torch.int32, torch.int64, torch.bool) if t in types), None)
        if dtype is not None:
            yield _sample_case(info, dtype)
        if (
            torch.int32 in types
            and dtype is torch.float32
            and info.name.startswith(("bitwise", "add", "sub", "mul", "div", "sum"))
        ):
            integer = _sample_case(info, torch.int32)
            integer.name += " of int32"
            yield integer


def gems():
    import flag_gems

    return flag_gems


@case(PACKAGE, "fused activations")
def _(check):
    g = gems()
    x, y = torch.randn(4, 64), torch.randn(4, 64)
    check(g.silu_and_mul(x, y), F.silu(x) * y)
    check(g.gelu_and_mul(x, y), F.gelu(x) * y)
    both = torch.cat((x, y), -1)
    for name in ("geglu", "reglu", "swiglu"):
        getattr(g, name)(both, None) if name != "swiglu" else g.swiglu(both)
    for name in ("dgeglu", "dreglu"):
        getattr(g, name)(x, both, None)
    g.dswiglu(x, both, None)


@case(PACKAGE, "skip_layer_norm")
def _(check):
    g = gems()
    x, r, w, b = torch.randn(4, 64), torch.randn(4, 64), torch.randn(64), torch.randn(64)
    check(g.skip_layer_norm(x, r, (64,), w, b), F.layer_norm(x + r, (64,), w, b))
    want = x + r
    got, _ = g.fused_add_rms_norm(x.clone(), r.clone(), (64,), w, 1e-6)
    check(got, want * torch.rsqrt(want.pow(2).mean(-1, keepdim=True) + 1e-6) * w)


@case(PACKAGE, "instance_norm")
def _(check):
    x = torch.randn(2, 3, 8, 8)
    gradients(lambda x, w, b: gems().instance_norm(x, w, b, use_input_stats=True), (x, torch.randn(3), torch.randn(3)))


@case(PACKAGE, "cross_entropy_loss")
def _(check):
    target = torch.randint(0, 50, (8,))
    for options in ({}, {"label_smoothing": 0.1}, {"reduction": "sum"}, {"reduction": "none"}):
        want = gradients(lambda x: F.cross_entropy(x, target, **options), (torch.randn(8, 50).clone(),))  # noqa: B023
        assert want
    x = torch.randn(8, 50)
    check(
        gradients(lambda x: gems().cross_entropy_loss(x, target), (x,)),
        gradients(lambda x: F.cross_entropy(x, target), (x,)),
    )
    soft = F.softmax(torch.randn(8, 50), -1)
    gradients(lambda x: gems().cross_entropy_loss(x, soft), (x,))


@case(PACKAGE, "apply_rotary_pos_emb")
def _(check):
    q, k = torch.randn(2, 5, 4, 32), torch.randn(2, 5, 2, 32)
    cos, sin = torch.randn(16, 16), torch.randn(16, 16)
    for interleaved in (False, True):
        gems().apply_rotary_pos_emb(q, k, cos, sin, rotary_interleaved=interleaved)
        positions = torch.arange(5)[None].repeat(2, 1)
        gems().apply_rotary_pos_emb(q, k, cos, sin, position_ids=positions, rotary_interleaved=interleaved)


@case(PACKAGE, "outer, weight_norm, bincount")
def _(check):
    g = gems()
    check(
        gradients(g.outer, (torch.randn(20), torch.randn(30))),
        gradients(torch.outer, (torch.randn(20), torch.randn(30))) * 0,
    )
    gradients(lambda v, w: g.weight_norm(v, w, 0), (torch.randn(8, 16), torch.randn(8, 1)))
    x = torch.randint(0, 9, (40,))
    check(g.bincount(x), torch.bincount(x))


@case(PACKAGE, "scaled_dot_product_attention")
def _(check):
    for causal in (False, True):
        q, k, v = (torch.randn(1, 2, 64, 64, dtype=torch.float16) for _ in range(3))
        got = gems().ops.scaled_dot_product_attention(q, k, v, is_causal=causal)
        check(got.float(), F.scaled_dot_product_attention(q.float(), k.float(), v.float(), is_causal=causal), 1e-2)


@case(PACKAGE, "flash_attention_forward")
def _(check):
    q, k, v = (torch.randn(1, 64, 2, 64, dtype=torch.float16) for _ in range(3))
    got = gems().ops.flash_attention_forward(q, k, v, None, None, 64, 64, 0.0, False, False, scale=0.125)[0]
    want = F.scaled_dot_product_attention(*(x.float().transpose(1, 2) for x in (q, k, v))).transpose(1, 2)
    check(got.float(), want, 1e-2)


@case(PACKAGE, "moe_align_block_size")
def _(check):
    g = gems()
    ids = torch.randint(0, 4, (16, 2), dtype=torch.int32)
    size = ids.numel() + 4 * 15
    sorted_ids = torch.empty(size, dtype=torch.int32)
    experts = torch.empty((size + 15) // 16, dtype=torch.int32)
    g.moe_align_block_size_triton(ids, 4, 16, sorted_ids, experts, torch.empty(1, dtype=torch.int32))


@case(PACKAGE, "topk_softmax")
def _(check):
    scores = torch.randn(16, 8)
    weights, ids = torch.empty(16, 2), torch.empty(16, 2, dtype=torch.int32)
    tokens = torch.empty(16, 2, dtype=torch.int32)
    gems().topk_softmax(weights, ids, tokens, scores)
    want = F.softmax(scores, -1).topk(2, -1)
    check(weights, want.values)
    check(ids, want.indices.int())


@case(PACKAGE, "reshape_and_cache")
def _(check):
    g = gems()
    key, value = torch.randn(6, 2, 32), torch.randn(6, 2, 32)
    slots = torch.randperm(16)[:6]
    caches = torch.zeros(4, 4, 2, 32), torch.zeros(4, 4, 2, 32)
    g.reshape_and_cache_flash(key, value, *caches, slots, "auto", torch.ones(1), torch.ones(1))
    check(caches[0].view(16, 2, 32)[slots], key)
    g.reshape_and_cache(
        key, value, torch.zeros(4, 2, 4, 4, 8), torch.zeros(4, 2, 32, 4), slots, "auto", torch.ones(1), torch.ones(1)
    )
    g.concat_and_cache_mla(torch.randn(6, 64), torch.randn(6, 32), torch.zeros(4, 4, 96), slots, "auto", torch.ones(1))


@case(PACKAGE, "fused_experts_impl")
def _(check):
    tokens, hidden, inner, experts = 8, 64, 32, 4
    weights, ids = torch.softmax(torch.randn(tokens, experts), -1).topk(2, -1)
    x = torch.randn(tokens, hidden, dtype=torch.bfloat16)
    up = torch.randn(experts, 2 * inner, hidden, dtype=torch.bfloat16) / 8
    down = torch.randn(experts, hidden, inner, dtype=torch.bfloat16) / 8
    gems().fused_experts_impl(x, up, down, weights, ids.int())


@case(PACKAGE, "chunk_gated_delta_rule_fwd")
def _(check):
    q, k = (F.normalize(torch.randn(1, 64, 2, 32), dim=-1) for _ in range(2))
    v, g, beta = torch.randn(1, 64, 2, 32), F.logsigmoid(torch.randn(1, 64, 2)), torch.rand(1, 64, 2)
    gems().chunk_gated_delta_rule_fwd(q, k, v, g, beta, 0.2, torch.zeros(1, 2, 32, 32), True)


@case(PACKAGE, "quantised matmul")
def _(check):
    ops = gems().ops
    x = torch.randn(32, 128)
    ops.per_token_group_quant_fp8(x, 128)


@case(PACKAGE, "mm variants")
def _(check):
    from flag_gems.ops import mm_streamk

    a, b = torch.randn(64, 64), torch.randn(64, 64)
    got = torch.empty(64, 64)
    mm_streamk.streamk_mm(a, b, got, 64, 64, 64, sm_count=4)
    check(got, a @ b)


@case(PACKAGE, "vendors' experiments")
def _(check):
    from flag_gems import experimental_ops

    x = torch.rand(4, 32)
    for name in dir(experimental_ops):
        function = getattr(experimental_ops, name)
        if callable(function) and not name.startswith("_") and hasattr(torch, name):
            try:
                check(function(x), getattr(torch, name)(x), label=name)
            except TypeError:
                continue
