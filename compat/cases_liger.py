"""Calls of liger-kernel's functions."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from .cases import case, compare, gradients

PACKAGE = "liger_kernel"


def liger(name):
    import liger_kernel.transformers.functional as functional

    return getattr(functional, name)


def rms(x, w, eps=1e-6):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * w


@case(PACKAGE, "rms_norm")
def _(check):
    for mode in ("llama", "gemma", "none"):
        offset = 1.0 if mode == "gemma" else 0.0
        for shape in ((3, 5, 64), (4, 300), (600, 512)):
            inputs = torch.randn(shape), torch.randn(shape[-1])
            compare(
                check,
                lambda x, w: liger("liger_rms_norm")(x, w, 1e-6, offset, mode, False),  # noqa: B023
                lambda x, w: rms(x, w + offset),  # noqa: B023
                inputs,
            )


@case(PACKAGE, "modulated_rms_norm")
def _(check):
    inputs = torch.randn(2, 5, 64), torch.randn(64), torch.randn(2, 64), torch.randn(2, 64)

    def reference(x, w, scale, shift):
        return rms(x, w) * (1 + scale[:, None]) + shift[:, None]

    compare(check, lambda x, w, s, t: liger("liger_modulated_rms_norm")(x, w, s, t, in_place=False), reference, inputs)


@case(PACKAGE, "fused_add_rms_norm")
def _(check):
    inputs = torch.randn(6, 64), torch.randn(6, 64), torch.randn(64)

    def reference(x, r, w):
        return rms(x + r, w), x + r

    compare(check, lambda x, r, w: liger("liger_fused_add_rms_norm")(x, r, w, 1e-6, in_place=False), reference, inputs)


@case(PACKAGE, "layer_norm")
def _(check):
    inputs = torch.randn(3, 5, 96), torch.randn(96), torch.randn(96)
    compare(
        check,
        lambda x, w, b: liger("liger_layer_norm")(x, w, b, 1e-5),
        lambda x, w, b: F.layer_norm(x, (96,), w, b, 1e-5),
        inputs,
    )


@case(PACKAGE, "group_norm")
def _(check):
    inputs = torch.randn(2, 8, 40), torch.randn(8), torch.randn(8)
    compare(
        check,
        lambda x, w, b: liger("liger_group_norm")(x, w, b, 8, 4, 1e-5),
        lambda x, w, b: F.group_norm(x, 4, w, b, 1e-5),
        inputs,
    )


@case(PACKAGE, "poly_norm")
def _(check):
    def norm(x):
        return x / torch.sqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)

    def reference(x, w, b):
        return w[0] * norm(x**3) + w[1] * norm(x**2) + w[2] * norm(x) + b

    inputs = torch.randn(6, 64), torch.randn(3), torch.randn(())
    compare(check, lambda x, w, b: liger("liger_poly_norm")(x, w, b, 1e-6, False), reference, inputs)


@case(PACKAGE, "swiglu")
def _(check):
    compare(check, liger("liger_swiglu"), lambda a, b: F.silu(a) * b, (torch.randn(3, 7, 80), torch.randn(3, 7, 80)))


@case(PACKAGE, "geglu")
def _(check):
    def reference(a, b):
        return F.gelu(a, approximate="tanh") * b

    compare(check, liger("liger_geglu"), reference, (torch.randn(3, 7, 80), torch.randn(3, 7, 80)))


@case(PACKAGE, "relu_squared")
def _(check):
    compare(check, liger("liger_relu_squared"), lambda x: F.relu(x) ** 2, (torch.randn(3, 7, 80),))


@case(PACKAGE, "softmax")
def _(check):
    for size in (80, 5000):
        compare(check, liger("liger_softmax"), lambda x: F.softmax(x, -1), (torch.randn(3, 5, size),))


@case(PACKAGE, "sparsemax")
def _(check):
    def reference(x):
        ordered, _ = torch.sort(x, -1, descending=True)
        ranks = torch.arange(1, x.shape[-1] + 1)
        sums = ordered.cumsum(-1)
        count = ((1 + ranks * ordered) > sums).sum(-1, keepdim=True)
        tau = (sums.gather(-1, count - 1) - 1) / count
        return torch.clamp(x - tau, min=0)

    compare(check, liger("liger_sparsemax"), reference, (torch.randn(5, 50),))


@case(PACKAGE, "dyt")
def _(check):
    def reference(x, alpha, gamma, beta):
        return gamma * torch.tanh(alpha * x) + beta

    inputs = torch.randn(3, 5, 64), torch.randn(1), torch.randn(64), torch.randn(64)
    compare(check, liger("liger_dyt"), reference, inputs)


def _rotate(x):
    half = x.shape[-1] // 2
    return torch.cat((-x[..., half:], x[..., :half]), -1)


@case(PACKAGE, "rope")
def _(check):
    q, k = torch.randn(2, 4, 9, 32), torch.randn(2, 2, 9, 32)
    angle = torch.randn(1, 9, 16).repeat(1, 1, 2)
    cos, sin = angle.cos(), angle.sin()

    def reference(q, k):
        return tuple(x * cos[:, None] + _rotate(x) * sin[:, None] for x in (q, k))

    compare(check, lambda q, k: liger("liger_rope")(q.clone(), k.clone(), cos, sin), reference, (q, k))


@case(PACKAGE, "qwen2vl_mrope")
def _(check):
    q, k = torch.randn(2, 4, 9, 32), torch.randn(2, 2, 9, 32)
    angle = torch.randn(3, 2, 9, 16).repeat(1, 1, 1, 2)
    cos, sin, section = angle.cos(), angle.sin(), [4, 6, 6]

    def mixed(x):
        return torch.cat([m[i % 3] for i, m in enumerate(x.split(section * 2, -1))], -1)[:, None]

    def reference(q, k):
        return tuple(x * mixed(cos) + _rotate(x) * mixed(sin) for x in (q, k))

    compare(
        check, lambda q, k: liger("liger_qwen2vl_mrope")(q.clone(), k.clone(), cos, sin, section), reference, (q, k)
    )


@case(PACKAGE, "llama4_rope")
def _(check):
    from liger_kernel.ops.llama4_rope import LigerLlama4RopeFunction

    q, k = torch.randn(2, 9, 4, 32), torch.randn(2, 9, 2, 32)
    frequencies = torch.polar(torch.ones(9, 16), torch.randn(9, 16))

    def reference(q, k):
        def turn(x):
            pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], 16, 2))
            return torch.view_as_real(pairs * frequencies[None, :, None]).flatten(3)

        return turn(q), turn(k)

    compare(check, lambda q, k: LigerLlama4RopeFunction.apply(q, k, frequencies), reference, (q, k))


@case(PACKAGE, "cross_entropy")
def _(check):
    target = torch.randint(0, 100, (12,))
    target[3] = -100
    for options in ({}, {"label_smoothing": 0.1}, {"reduction": "sum"}, {"weight": torch.rand(100) + 0.1}):
        compare(
            check,
            lambda x: liger("liger_cross_entropy")(x.clone(), target, **options),  # noqa: B023
            lambda x: F.cross_entropy(x, target, **options),  # noqa: B023
            (torch.randn(12, 100),),
        )
    for options in ({"lse_square_scale": 1e-4, "return_z_loss": True}, {"softcap": 20.0}):
        x = torch.randn(12, 100, requires_grad=True)
        result = liger("liger_cross_entropy")(x.clone(), target, **options)
        getattr(result, "loss", result).backward()


@case(PACKAGE, "fused_linear_cross_entropy")
def _(check):
    target = torch.randint(0, 100, (12,))

    def reference(x, w, b):
        return F.cross_entropy(x @ w.T + b, target)

    inputs = torch.randn(12, 32), torch.randn(100, 32), torch.randn(100)
    compare(check, lambda x, w, b: liger("liger_fused_linear_cross_entropy")(x, w, target, b), reference, inputs)


@case(PACKAGE, "kl_div")
def _(check):
    target = F.softmax(torch.randn(6, 80), -1)
    for reduction in ("batchmean", "sum", "mean", "none"):
        compare(
            check,
            lambda x: liger("liger_kl_div")(x, target, reduction=reduction),  # noqa: B023
            lambda x: F.kl_div(x, target, reduction=reduction),  # noqa: B023
            (F.log_softmax(torch.randn(6, 80), -1),),
        )
    gradients(
        lambda x: liger("liger_kl_div")(x, target.log(), reduction="batchmean", log_target=True),
        (F.log_softmax(torch.randn(6, 80), -1),),
    )


@case(PACKAGE, "jsd")
def _(check):
    target = F.log_softmax(torch.randn(6, 80), -1)

    def reference(x, beta):
        p, q = target.exp(), x.exp()
        m = beta * p + (1 - beta) * q
        loss = beta * (p * (target - m.log())) + (1 - beta) * (q * (x - m.log()))
        return loss.sum() / x.shape[0]

    for beta in (0.5, 0.1):
        compare(
            check,
            lambda x: liger("liger_jsd")(x, target, beta=beta),  # noqa: B023
            lambda x: reference(x, beta),  # noqa: B023
            (F.log_softmax(torch.randn(6, 80), -1),),
        )
    for beta in (0.0, 1.0):
        gradients(lambda x: liger("liger_jsd")(x, target, beta=beta), (F.log_softmax(torch.randn(6, 80), -1),))  # noqa: B023


@case(PACKAGE, "fused_linear_jsd")
def _(check):
    teacher, weights = torch.randn(8, 32), torch.randn(64, 32)
    gradients(
        lambda x, w: liger("liger_fused_linear_jsd")(x, w, teacher, weights), (torch.randn(8, 32), torch.randn(64, 32))
    )


@case(PACKAGE, "fused_linear_kl_div")
def _(check):
    target = F.softmax(torch.randn(8, 64), -1)

    def reference(x, w):
        return F.kl_div(F.log_softmax(x @ w.T, -1), target, reduction="batchmean")

    inputs = torch.randn(8, 32), torch.randn(64, 32)
    compare(check, lambda x, w: liger("liger_fused_linear_kl_div")(x, w, target), reference, inputs)


@case(PACKAGE, "tvd")
def _(check):
    target = F.softmax(torch.randn(6, 80), -1)

    def reference(x):
        return 0.5 * (x - target).abs().sum() / x.shape[0]

    compare(
        check,
        lambda x: liger("liger_tvd")(x, target, reduction="batchmean"),
        reference,
        (F.softmax(torch.randn(6, 80), -1),),
    )


@case(PACKAGE, "fused_ce_tvd")
def _(check):
    import inspect

    from liger_kernel.ops import fused_ce_tvd

    function = next(f for n, f in vars(fused_ce_tvd).items() if inspect.isclass(f) and n.endswith("Function"))
    target = F.softmax(torch.randn(6, 80), -1)
    gradients(lambda x: function.apply(x, target, torch.randint(0, 80, (6,))), (torch.randn(6, 80),))


@case(PACKAGE, "multi_token_attention")
def _(check):
    for sparse in (False, True):
        gradients(
            lambda s, w: liger("liger_multi_token_attention")(s, w, None, 1, 1, 1, 1, sparse),  # noqa: B023
            (torch.randn(2, 3, 16, 16), torch.randn(3, 3, 3, 3)),
        )


@case(PACKAGE, "fused_neighborhood_attention")
def _(check):
    inputs = [torch.randn(1, 2, 32, 32) for _ in range(3)]
    gradients(lambda q, k, v: liger("liger_fused_neighborhood_attention")(q, k, v, 5), inputs)


@case(PACKAGE, "attn_res")
def _(check):
    def reference(v, query, norm):
        keys = v * torch.rsqrt(v.pow(2).mean(-1, keepdim=True) + 1e-6) * norm
        weights = F.softmax((keys * query).sum(-1), 0)
        return (weights[..., None] * v).sum(0)

    compare(check, liger("liger_attn_res"), reference, (torch.randn(4, 2, 5, 64), torch.randn(64), torch.randn(64)))


@case(PACKAGE, "mhc")
def _(check):
    x = torch.randn(2, 4, 4, 32)
    outputs = 4 * 4 + 2 * 4
    coefficients = liger("liger_mhc_coeffs")(
        x, torch.randn(4 * 32, outputs), torch.randn(outputs), torch.ones(1), torch.ones(1), torch.ones(1),
        allow_fp32=True,
    )  # fmt: skip
    pre, post, res = coefficients
    gradients(liger("liger_mhc_pre"), (x, pre.detach()))
    gradients(liger("liger_mhc_post_res"), (x, torch.randn(2, 4, 32), post.detach(), res.detach()))
    gradients(
        lambda x, phi, b: liger("liger_mhc_coeffs")(
            x, phi, b, torch.ones(1), torch.ones(1), torch.ones(1), allow_fp32=True
        ),
        (x, torch.randn(4 * 32, outputs), torch.randn(outputs)),
    )


@case(PACKAGE, "grpo_loss")
def _(check):
    from liger_kernel.transformers.grpo_loss import triton_grpo_loss

    ids = torch.randint(0, 64, (2, 8))
    old = -torch.rand(2, 8)
    gradients(
        lambda x: triton_grpo_loss(x, old, old - 0.1, ids, torch.randn(2), torch.ones(2, 8, dtype=torch.int32)),
        (torch.randn(2, 9, 64),),
    )


@case(PACKAGE, "fused_moe")
def _(check):
    from liger_kernel.ops import fused_moe

    experts, tokens, hidden, inner = 4, 16, 32, 32
    function = next(v for n, v in vars(fused_moe).items() if n.startswith("Liger") and n.endswith("Function"))
    weights, index = torch.softmax(torch.randn(tokens, experts), -1).topk(2, -1)
    gradients(
        lambda x, up, down, w: function.apply(x, up, down, index, w),
        (
            torch.randn(tokens, hidden),
            torch.randn(experts, 2 * inner, hidden),
            torch.randn(experts, hidden, inner),
            weights,
        ),
    )


@case(PACKAGE, "embedding")
def _(check):
    from liger_kernel.ops.experimental.embedding import LigerEmbeddingFunction

    index = torch.randint(0, 30, (3, 5))
    compare(
        check, lambda w: LigerEmbeddingFunction.apply(w, index), lambda w: F.embedding(index, w), (torch.randn(30, 48),)
    )


@case(PACKAGE, "mm_int8int2")
def _(check):
    from liger_kernel.ops.experimental.mm_int8int2 import matmul, pack_weights

    x = torch.randint(-128, 127, (32, 1024), dtype=torch.int8)
    w = torch.randint(-1, 2, (1024, 32), dtype=torch.int8)
    packed = pack_weights(w.clone(), 2)
    check(matmul(x, packed), (x.int() @ w.int()).int())


@case(PACKAGE, "mlp")
def _(check):
    """Through tensor descriptors, whose blocks the tuner's hooks set."""
    from liger_kernel.ops.mlp import LigerMLPFunction

    def weights(*shape):
        return (torch.randn(shape) / 8).bfloat16()

    inputs = torch.randn(1, 128, 64).bfloat16(), weights(128, 64), weights(128, 64), weights(64, 128)

    def reference(x, gate, up, down):
        return F.linear(F.silu(F.linear(x, gate)) * F.linear(x, up), down)

    compare(check, LigerMLPFunction.apply, reference, inputs, 3e-2)
    with torch.no_grad():
        check(LigerMLPFunction.apply(*inputs), reference(*inputs), 3e-2)
