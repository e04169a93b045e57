"""vLLM. Follows the reference's `internal/dynamo/backend_vllm.go`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.backends import Backend

if TYPE_CHECKING:
    from krm_fn.kube.types import Container
    from krm_fn.plan import RolePlan


class VLLM(Backend):
    """vLLM workers: the compilation cache is found through an environment variable."""

    module = "vllm"
    cache_dir = "/root/.cache/vllm"

    def container(self, container: Container, role: RolePlan) -> Container:
        """The cache variable stands last, unsorted, and only for a path the user wrote, as in the reference (UpdateContainer)."""
        cache = next((mount for mount in role.component.mounts if mount.cache), None)
        if cache is None or not cache.path:
            return container
        return {**container, "env": [*container["env"], {"name": "VLLM_CACHE_ROOT", "value": cache.path}]}


BACKEND = VLLM()
