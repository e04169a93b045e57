"""The switches of vLLM that are numbers: it reads them with `int()` (`vllm/envs.py`), so that `true` ends the worker."""

from __future__ import annotations

import re

_SWITCHES = frozenset(
    re.findall(
        r"\w+",
        "ALLOW_CHUNKED_LOCAL_ATTN_WITH_HYBRID_KV_CACHE ALLOW_INSECURE_SERIALIZATION ALLREDUCE_USE_SYMM_MEM ASSETS_CACHE_MODEL_CLEAN "
        "BLOCKSCALE_FP8_GEMM_FLASHINFER COMPUTE_NANS_IN_LOGITS CONFIGURE_LOGGING CUSTOM_SCOPES_FOR_PROFILING DEBUG_MFU_METRICS "
        "DEBUG_WORKSPACE DEEPEPLL_NVFP4_DISPATCH DEEPEP_HIGH_THROUGHPUT_FORCE_INTRA_NODE DEEPEP_LOW_LATENCY_USE_MNNVL "
        "DISABLE_SHARED_EXPERTS_STREAM ENABLE_CUDAGRAPH_GC ENABLE_INDUCTOR_COORDINATE_DESCENT_TUNING ENABLE_INDUCTOR_MAX_AUTOTUNE "
        "ENABLE_RESPONSES_API_STORE ENABLE_V1_MULTIPROCESSING GPT_OSS_HARMONY_SYSTEM_INSTRUCTIONS HAS_FLASHINFER_CUBIN "
        "KEEP_ALIVE_ON_ENGINE_DEATH KV_EVENTS_USE_INT_BLOCK_HASHES LOG_MODEL_INSPECTION MEDIA_URL_ALLOW_REDIRECTS MLA_DISABLE "
        "MOE_USE_DEEP_GEMM NVTX_SCOPES_FOR_PROFILING ROCM_FP8_MFMA_PAGE_ATTN ROCM_FP8_PADDING ROCM_MOE_PADDING SERVER_DEV_MODE "
        "TOOL_JSON_ERROR_AUTOMATIC_RETRY USE_BYTECODE_HOOK USE_DEEP_GEMM USE_DEEP_GEMM_E8M0 USE_EXPERIMENTAL_PARSER_CONTEXT "
        "USE_FUSED_MOE_GROUPED_TOPK USE_NCCL_SYMM_MEM USE_TRITON_AWQ XLA_CHECK_RECOMPILATION XLA_USE_SPMD",
    )
)
"""The variables `VLLM_…` that `vllm/envs.py` reads with `bool(int(…))` in all of 0.14.1 to 0.33.0."""
_OF_VLLM = "VLLM_"
_WORDS = {**dict.fromkeys(("true", "yes", "on"), "1"), **dict.fromkeys(("false", "no", "off"), "0")}


def number_of(name: str, value: str) -> str:
    """Returns the number that a word means as the value of a variable of vLLM; empty for another variable, and for a number.

    >>> number_of("VLLM_USE_DEEP_GEMM", "true"), number_of("VLLM_USE_DEEP_GEMM", "1"), number_of("OTHER", "true")
    ('1', '', '')
    """
    is_switch = name.startswith(_OF_VLLM) and name.removeprefix(_OF_VLLM) in _SWITCHES
    return _WORDS.get(value.lower(), "") if is_switch else ""
