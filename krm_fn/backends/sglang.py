"""SGLang. On one node it needs nothing. Follows the reference's `internal/dynamo/backend_sglang.go`."""

from __future__ import annotations

from krm_fn.backends import Backend


class SGLang(Backend):
    """SGLang workers."""

    module = "sglang"


BACKEND = SGLang()
