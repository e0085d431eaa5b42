"""Calls of flash-linear-attention's functions, modules and layers."""

from __future__ import annotations

import importlib
import inspect

import torch
import torch.nn.functional as F

from .cases import REGISTRY, Case, case, compare, gradients

PACKAGE = "fla"
B, T, H, K, V = 1, 80, 2, 32, 32


def _gate(*shape):
    return F.logsigmoid(torch.randn(*shape))


def _unit(*shape):
    return F.normalize(torch.randn(*shape), dim=-1)


# What the functions' parameters hold, by name. A function that wants another shape is told below.
INPUTS = {
    "q": lambda: _unit(B, T, H, K),
    "r": lambda: torch.randn(B, T, H, K),
    "k": lambda: _unit(B, T, H, K),
    "p": lambda: _unit(B, T, H, K),
    "v": lambda: torch.randn(B, T, H, V),
    "g": lambda: _gate(B, T, H),
    "beta": lambda: torch.rand(B, T, H),
    "s": lambda: torch.randn(B, T, H, 16),
    "w": lambda: _gate(B, T, H, K),
    "u": lambda: torch.randn(H, K),
    "a": lambda: _unit(B, T, H, K),
    "b": lambda: -_unit(B, T, H, K) * 0.5,
    "gk": lambda: _gate(B, T, H, K),
    "x": lambda: torch.randn(B, T, 64),
    "lamb": lambda: torch.rand(H, K) + 0.5,
    "level_scales": lambda: torch.rand(B, T, H, 8),
    "layer_idx": lambda: 1,
    "num_layers": lambda: 4,
    "log_alpha": lambda: _gate(B, T, H),
    "log_mu": lambda: _gate(B, T, H),
    "eta": lambda: torch.rand(B, T, H),
    "g_atk": lambda: _gate(B, T, H),
    "beta_atk": lambda: torch.rand(B, T, H),
    "delta": lambda: torch.rand(B, T, H),
    "readout": lambda: torch.rand(B, T, H),
    "q_norm_weight": lambda: torch.rand(K) + 0.5,
    "k_norm_weight": lambda: torch.rand(K) + 0.5,
    "q_norm_eps": lambda: 1e-5,
    "k_norm_eps": lambda: 1e-5,
}
_K = {"g": INPUTS["gk"]}
OTHERS = {
    "chunk_gla": _K,
    "chunk_kda": _K,
    "fused_recurrent_kda": _K,
    "chunk_precond_kda": _K | {"g_atk": INPUTS["gk"]},
    "fused_recurrent_precond_kda": _K | {"g_atk": INPUTS["gk"]},
    "fused_recurrent_hgrn": {"g": lambda: _gate(B, T, 64)},
    "parallel_wall_attn": _K,
    "chunk_rwkv7": {"w": lambda: _gate(B, T, H, K) * 0.5},
    "parallel_path_attn": {"w": INPUTS["k"]},
    "chunk_gsa": {"g": lambda: _gate(B, T, H, 16)},
    "fused_recurrent_gsa": {"g": lambda: _gate(B, T, H, 16)},
    "parallel_nsa": {
        "q": lambda: torch.randn(B, 64, 16, K),
        "k": lambda: torch.randn(B, 64, 1, K),
        "v": lambda: torch.randn(B, 64, 1, V),
        "g_cmp": lambda: torch.rand(B, 64, 16),
        "g_slc": lambda: torch.rand(B, 64, 16),
        "g_swa": lambda: torch.rand(B, 64, 16),
        "block_counts": lambda: 2,
        "block_size": lambda: 16,
    },
}
# Optional parameters that are given all the same.
GIVEN = {"g", "beta", "gk", "eta"} - {"gk"}


def _first(values):
    return values[0] if isinstance(values, (tuple, list)) else values


def _reference(module, name, **how):
    """Calls a naive implementation of the package with what it has a name for."""

    def call(**inputs):
        function = getattr(importlib.import_module(f"fla.ops.{module}.naive"), name)
        known = inspect.signature(function).parameters
        given = {how.get(n, n): x for n, x in inputs.items() if how.get(n, n) in known}
        return _first(function(**given))

    return call


REFERENCES = {
    "chunk_gla": _reference("gla", "naive_recurrent_gla", g="gk"),
    "fused_recurrent_gla": _reference("gla", "naive_recurrent_gla"),
    "chunk_gsa": _reference("gsa", "naive_recurrent_gsa"),
    "fused_recurrent_gsa": _reference("gsa", "naive_recurrent_gsa"),
    "chunk_kda": _reference("kda", "naive_recurrent_kda"),
    "fused_recurrent_kda": _reference("kda", "naive_recurrent_kda"),
    "chunk_gated_delta_rule": _reference("gated_delta_rule", "naive_recurrent_gated_delta_rule"),
    "fused_recurrent_gated_delta_rule": _reference("gated_delta_rule", "naive_recurrent_gated_delta_rule"),
    "chunk_simple_gla": _reference("simple_gla", "naive_recurrent_simple_gla"),
    "fused_recurrent_simple_gla": _reference("simple_gla", "naive_recurrent_simple_gla"),
    "parallel_simple_gla": _reference("simple_gla", "naive_parallel_simple_gla"),
    "fused_chunk_simple_gla": _reference("simple_gla", "naive_recurrent_simple_gla"),
    "parallel_forgetting_attn": _reference("forgetting_attn", "naive_forgetting_attn"),
    "parallel_attn": _reference("attn", "naive_parallel_attn"),
    "parallel_parallax": _reference("parallax", "naive_parallax"),
    "fused_recurrent_hgrn": _reference("hgrn", "naive_recurrent_hgrn"),
    "chunk_linear_attn": _reference("linear_attn", "naive_recurrent_linear_attn"),
    "fused_recurrent_linear_attn": _reference("linear_attn", "naive_recurrent_linear_attn"),
    "parallel_wall_attn": _reference("wall_attn", "naive_wall_attn"),
}


def _inputs(name, function):
    special = OTHERS.get(name, {})
    result = {}
    for parameter in inspect.signature(function).parameters.values():
        required = parameter.default is inspect.Parameter.empty and parameter.kind is not parameter.VAR_KEYWORD
        if parameter.name in special:
            result[parameter.name] = special[parameter.name]()
        elif parameter.name in INPUTS and (required or parameter.name in GIVEN):
            result[parameter.name] = INPUTS[parameter.name]()
    return result


def _op_case(name):
    def run(check):
        import fla.ops

        function = getattr(fla.ops, name)
        torch.manual_seed(1)
        inputs = _inputs(name, function)
        reference = REFERENCES.get(name)

        def attempt(dtype):
            given = {n: x.to(dtype) if torch.is_tensor(x) and x.is_floating_point() else x for n, x in inputs.items()}
            tensors = [n for n, x in given.items() if torch.is_tensor(x)]

            def call(*values):
                result = function(**{**given, **dict(zip(tensors, values))})
                return [r for r in (result if isinstance(result, (tuple, list)) else [result]) if torch.is_tensor(r)]

            got = gradients(call, [given[n] for n in tensors])
            if reference:
                want = gradients(
                    lambda *values: reference(**{**given, **dict(zip(tensors, values))}), [given[n] for n in tensors]
                )
                outputs = len(got) - len(tensors)
                check([got[0].float(), *(g.float() for g in got[outputs:])], [w.float() for w in want], 2e-2, name)

        try:
            attempt(torch.float32)
        except AssertionError:
            inputs.update((n, x.bfloat16()) for n, x in inputs.items() if torch.is_tensor(x) and x.is_floating_point())
            attempt(torch.bfloat16)
        _with_states(function, inputs)

    return Case(PACKAGE, name, run)


def _with_states(function, inputs):
    """Once more with the state given back, and with sequences of several lengths: these are other kernels."""
    known = inspect.signature(function).parameters
    if "output_final_state" in known:
        gradients(lambda: function(**inputs, output_final_state=True), [])
    if "cu_seqlens" in known:
        length = next(x.shape[1] for x in inputs.values() if torch.is_tensor(x) and x.ndim > 2)
        offsets = torch.tensor([0, 24, length])
        tensors = {n: x for n, x in inputs.items() if torch.is_tensor(x)}

        def call(*values):
            return _first(function(**{**inputs, **dict(zip(tensors, values))}, cu_seqlens=offsets))

        gradients(call, list(tensors.values()))


def add_op_cases():
    import fla.ops

    for name in sorted(vars(fla.ops)):
        function = getattr(fla.ops, name)
        if inspect.isfunction(function) and not name.startswith("_"):
            REGISTRY.append(_op_case(name))


def _module(name, *args, **kwargs):
    return getattr(importlib.import_module("fla.modules"), name)(*args, **kwargs)


def _module_gradients(module, *inputs):
    def call(*values):
        result = module(*values)
        return _first(result)

    return gradients(call, inputs)


@case(PACKAGE, "modules.norms")
def _(check):
    x = torch.randn(2, 20, 64)
    rms, layer = _module("RMSNorm", 64), _module("LayerNorm", 64)
    check(
        _module_gradients(rms, x),
        gradients(lambda x: x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + rms.eps), (x,)),
    )
    check(_module_gradients(layer, x), gradients(lambda x: F.layer_norm(x, (64,), eps=layer.eps), (x,)))
    for residual in (None, torch.randn(2, 20, 64)):
        for prenorm in (False, True):
            gradients(lambda x: rms(x, residual=residual, prenorm=prenorm), (x,))  # noqa: B023
    group = _module("GroupNorm", 4, 64)
    gradients(lambda x: group(x), (x,))
    for name in ("FusedRMSNormGated", "FusedLayerNormGated", "FusedRMSNormSwishGate", "FusedLayerNormSwishGate"):
        module = _module(name, 64)
        gradients(lambda x, g: module(x, g), (x, torch.randn(2, 20, 64)))  # noqa: B023
    for name in ("RMSNormLinear", "LayerNormLinear"):
        module = _module(name, 64)
        gradients(lambda x, w: module(x, w, None), (x, torch.randn(32, 64)))  # noqa: B023
    wide = _module("RMSNorm", 1024)
    gradients(lambda x: wide(x), (torch.randn(2, 20, 1024),))


@case(PACKAGE, "modules.l2norm")
def _(check):
    from fla.modules.l2norm import l2norm

    compare(
        check,
        lambda x: l2norm(x),
        lambda x: x * torch.rsqrt(x.pow(2).sum(-1, keepdim=True) + 1e-6),
        (torch.randn(3, 9, 2, 32),),
    )
    gradients(lambda x: l2norm(x), (torch.randn(3, 9, 1024),))


@case(PACKAGE, "modules.activations")
def _(check):
    from fla.modules import activations as a

    x, y = torch.randn(4, 9, 64), torch.randn(4, 9, 64)
    compare(check, a.swish, F.silu, (x,))
    compare(check, a.logsigmoid, F.logsigmoid, (x,))
    compare(check, a.sigmoid, torch.sigmoid, (x,))
    compare(check, a.swiglu, lambda x, y: F.silu(x) * y, (x, y))
    compare(
        check,
        a.swiglu_linear,
        lambda x, y, w, b: F.linear(F.silu(x) * y, w, b),
        (x, y, torch.randn(32, 64), torch.randn(32)),
    )
    others = {"sqrelu": 1, "fast_gelu_impl": 1, "bias_gelu_impl": 2, "powglu": 2, "powglu_linear": 4}
    for name, count in others.items():
        if hasattr(a, name):
            second = torch.randn(64) if name == "bias_gelu_impl" else y
            gradients(getattr(a, name), (x, second, torch.randn(32, 64), torch.randn(32))[:count])


@case(PACKAGE, "modules.short_convolution")
def _(check):
    for activation in (None, "silu"):
        for bias in (False, True):
            module = _module("ShortConvolution", 64, 4, bias=bias, activation=activation, backend="triton")

            def reference(x):
                y = F.conv1d(x.transpose(1, 2), module.weight, module.bias, padding=3, groups=64)[..., : x.shape[1]]  # noqa: B023
                return F.silu(y).transpose(1, 2) if activation else y.transpose(1, 2)  # noqa: B023

            compare(check, lambda x: module(x)[0], reference, (torch.randn(2, 40, 64),))  # noqa: B023
    module(torch.randn(2, 40, 64), output_final_state=True)
    module(torch.randn(1, 40, 64), cu_seqlens=torch.tensor([0, 12, 40]))
    cache = torch.randn(2, 64, 4)
    module.step(torch.randn(2, 1, 64), None, cache)


@case(PACKAGE, "modules.rotary")
def _(check):
    module = _module("RotaryEmbedding", 32)
    q, k = torch.randn(2, 20, 2, 32), torch.randn(2, 20, 2, 32)
    gradients(lambda q, k: module(q, k), (q, k))
    module(q[:1], k[:1], cu_seqlens=torch.tensor([0, 8, 20]), max_seqlen=20)
    module(q, k, seqlen_offset=3)


@case(PACKAGE, "modules.losses")
def _(check):
    target = torch.randint(0, 100, (2, 12))
    loss = _module("FusedCrossEntropyLoss")
    compare(
        check,
        lambda x: loss(x, target.view(-1)),
        lambda x: F.cross_entropy(x, target.view(-1)),
        (torch.randn(24, 100),),
    )
    linear = _module("FusedLinearCrossEntropyLoss", num_chunks=2)
    compare(
        check,
        lambda x, w, b: linear(x, target, w, b),
        lambda x, w, b: F.cross_entropy(F.linear(x, w, b).view(-1, 100), target.view(-1)),
        (torch.randn(2, 12, 32), torch.randn(100, 32), torch.randn(100)),
    )
    kl = _module("FusedKLDivLoss")
    teacher, weights = torch.randn(24, 32), torch.randn(100, 32)
    gradients(lambda x, w: kl(x, teacher, w, weights), (torch.randn(24, 32), torch.randn(100, 32)))


@case(PACKAGE, "modules.token_shift")
def _(check):
    from fla.modules.token_shift import token_shift

    def reference(x):
        return F.pad(x, (0, 0, 1, -1)) - x

    compare(check, token_shift, reference, (torch.randn(2, 20, 64),))
    gradients(lambda x: token_shift(x, torch.tensor([0, 8, 20])), (torch.randn(1, 20, 64),))


@case(PACKAGE, "modules.bitlinear")
def _(check):
    gradients(_module("FusedBitLinear", 64, 32), (torch.randn(2, 9, 64),))


@case(PACKAGE, "modules.gated_mlp")
def _(check):
    gradients(_module("GatedMLP", 64), (torch.randn(2, 9, 64),))


@case(PACKAGE, "modules.grpo")
def _(check):
    from fla.modules.grpo import fused_grpo_loss

    ids = torch.randint(0, 64, (2, 14))
    gradients(
        lambda x: fused_grpo_loss(x, torch.randn(2, 9).float(), ids[:, :9], torch.randn(2)),
        (torch.randn(2, 10, 64),),
    )


def _utils():
    return importlib.import_module("fla.ops.utils")


@case(PACKAGE, "utils.cumsum")
def _(check):
    u = _utils()
    x = torch.randn(2, 128, 3)
    for reverse in (False, True):

        def scan(x, dim):
            return x.flip(dim).cumsum(dim).flip(dim) if reverse else x.cumsum(dim)  # noqa: B023

        check(u.chunk_global_cumsum(x, reverse=reverse), scan(x, 1))
        check(u.chunk_local_cumsum(x, 32, reverse=reverse), scan(x.view(2, 4, 32, 3), 2).view(2, 128, 3))
        y = torch.randn(2, 128, 3, 16)
        check(u.chunk_global_cumsum(y, reverse=reverse), scan(y, 1))
        check(u.chunk_local_cumsum(y, 32, reverse=reverse), scan(y.view(2, 4, 32, 3, 16), 2).view(2, 128, 3, 16))
    offsets = torch.tensor([0, 50, 128])
    u.chunk_global_cumsum(x[:1], cu_seqlens=offsets)
    u.chunk_local_cumsum(x[:1], 32, cu_seqlens=offsets)


@case(PACKAGE, "utils.pooling, softmax, logsumexp, matmul")
def _(check):
    u = _utils()
    for name, arguments in {
        "mean_pooling": (torch.randn(1, 128, 2, 32), 32),
        "softmax_fwd": (torch.randn(64, 100),),
        "logsumexp_fwd": (torch.randn(64, 100),),
        "matmul": (torch.randn(64, 64), torch.randn(64, 64)),
        "addmm": (torch.randn(64, 64), torch.randn(64, 64), torch.randn(64, 64)),
        "solve_tril": (torch.tril(torch.randn(1, 64, 2, 64), -1),),
    }.items():
        if hasattr(u, name):
            getattr(u, name)(*arguments)
    check(u.logsumexp_fwd(torch.ones(8, 100)), torch.logsumexp(torch.ones(8, 100), -1))


@case(PACKAGE, "utils.pack")
def _(check):
    u = _utils()
    x = torch.randn(3, 10, 32)
    offsets = torch.tensor([0, 4, 14, 20])
    packed = u.pack_sequence(x, offsets, padding_side="left")
    u.unpack_sequence(packed, offsets, padding_side="left", desired_shape=x.shape)


LAYERS = {
    name: {}
    for name in (
        "ABCAttention", "Attention", "BasedLinearAttention", "BitAttention", "Comba", "DeltaFormerAttention",
        "DeltaNet", "ForgettingAttention", "GatedDeltaNet",
        "GatedDeltaNet2", "GatedDeltaProduct", "GatedLinearAttention",
        "GatedSlotAttention", "HGRNAttention", "HGRN2Attention", "KimiDeltaAttention", "LightNetAttention",
        "LinearAttention", "LogLinearMamba2", "Mamba", "Mamba2", "MesaNet", "MoBA", "MomAttention", "MomentumDeltaNet",
        "MultiScaleRetention", "MultiheadLatentAttention", "NativeSparseAttention", "PaTHAttention", "Parallax",
        "PrecondGatedDeltaNet", "PrecondKDA", "Raven", "ReBasedLinearAttention", "RodimusAttention", "RWKV6Attention",
        "RWKV7Attention", "SimpleGatedLinearAttention", "StickBreakingAttention", "WallAttention",
        "CyclicFlowAttention",
    )
}  # fmt: skip


def _layer_case(name):
    def run(check):
        import fla.layers

        if not hasattr(fla.layers, name):
            raise AttributeError(f"fla.layers has no {name}")
        cls = getattr(fla.layers, name)
        known = inspect.signature(cls.__init__).parameters
        wanted = {
            "hidden_size": 64, "num_heads": 2, "head_dim": 32, "layer_idx": 0, "expand_k": 1.0, "expand_v": 1.0,
            "num_slots": 16,
            "expand_ratio": 32, "value_dim": 64, "state_size": 32, "num_kv_heads": 2, "mode": None,
            "num_hidden_layers": 2,
        }  # fmt: skip
        given = {n: x for n, x in wanted.items() if n in known and x is not None}
        torch.manual_seed(2)
        for mode in ("chunk", "fused_recurrent", "parallel") if "mode" in known else (None,):
            try:
                layer = cls(**given, **({"mode": mode} if mode else {}))
            except AssertionError:
                continue
            gradients(lambda x: _first(layer(x)), (torch.randn(1, 72, 64),))  # noqa: B023

    return Case(PACKAGE, f"layers.{name}", run)


def add_layer_cases():
    for name in LAYERS:
        REGISTRY.append(_layer_case(name))
