"""TensorRT-LLM. On one node it needs nothing. Follows the reference's `internal/dynamo/backend_trtllm.go`."""

from __future__ import annotations

from krm_fn.backends import Backend


class TensorRTLLM(Backend):
    """TensorRT-LLM workers."""

    module = "trtllm"


BACKEND = TensorRTLLM()
