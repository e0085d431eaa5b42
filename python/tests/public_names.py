"""The public names of the language and of the package, by topic: what the conformance table lists."""

LANGUAGE = {
    "Types and objects": """
        dtype pointer_type block_type void int1 int8 int16 int32 int64 uint8 uint16 uint32 uint64 float8e4b15
        float8e4nv float8e4b8 float8e5 float8e5b16 float16 bfloat16 float32 float64 pi32_t tensor tuple slice
        constexpr constexpr_type const tensor_descriptor tensor_descriptor_type tuple_type aggregate_replace
        PropagateNan TRITON_MAX_TENSOR_NUMEL
        """,
    "Programs and creation": "program_id num_programs arange full zeros zeros_like cat cast to_tensor",
    "Shapes": """
        broadcast broadcast_to expand_dims reshape view ravel trans permute join split interleave flip squeeze
        unsqueeze
        """,
    "Matrix products": "dot dot_scaled",
    "Memory": """
        load store make_block_ptr advance make_tensor_descriptor load_tensor_descriptor store_tensor_descriptor
        """,
    "Atomics": "atomic_add atomic_and atomic_cas atomic_max atomic_min atomic_or atomic_xchg atomic_xor",
    "Element by element": """
        abs add sub mul fdiv div_rn fma floor ceil exp exp2 log log2 sin cos sqrt sqrt_rn rsqrt erf sigmoid softmax
        umulhi cdiv clamp maximum minimum where expect_zero
        """,
    "Reductions, scans, sorting": """
        reduce sum max min argmax argmin xor_sum reduce_or associative_scan cumsum cumprod histogram sort topk
        bitonic_merge gather map_elementwise
        """,
    "Random numbers": """
        philox philox_impl rand rand4x randint randint4x randn randn4x pair_uniform_to_normal uint_to_uniform_float
        """,
    "Hints, assertions, printing": """
        multiple_of max_contiguous max_constancy assume debug_barrier static_print static_assert device_print
        device_assert
        """,
    "Loops": "range static_range condition",
    "Others": "inline_asm_elementwise swizzle2d math extra target_info core standard random",
}

PACKAGE = """
    autotune cdiv CompilationError compile Config constexpr_function FutureKernel AsyncCompileMode heuristics
    InterpreterError jit JITFunction KernelInterface language MockTensor must_use_result next_power_of_2 OutOfResources
    reinterpret runtime set_allocator TensorWrapper TritonError testing tools aggregate
    """


def language_names():
    """Names of `triton.language`, in order."""
    return [name for names in LANGUAGE.values() for name in names.split()]


def topics():
    """Topic -> paths ("language.load", "autotune")."""
    paths = {topic: [f"language.{name}" for name in names.split()] for topic, names in LANGUAGE.items()}
    return paths | {"The package": PACKAGE.split()}
