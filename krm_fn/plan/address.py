"""Names for the fields that a user can write, the same for all API versions.

The reader of a version maps each name to a path (`krm_fn.resolve.v1alpha1.fields`). `*` in a path stands for an index of a list.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from krm_fn.results import Path

Field = Literal[
    "component",
    "annotations",
    "variables",
    "gpus",
    "gpus.request",
    "ingress",
    "ingress.annotations",
    "ingress.class",
    "ingress.gateway",
    "ingress.host",
    "ingress.labels",
    "ingress.suffix",
    "ingress.tls",
    "ingress.virtual_service",
    "labels",
    "liveness",
    "main",
    "model",
    "mount",
    "mount.cache",
    "mount.name",
    "mount.path",
    "nodes",
    "picker",
    "picker.config",
    "picker.reference",
    "pod",
    "pod.annotations",
    "pod.labels",
    "readiness",
    "replicas",
    "resources",
    "scaling_adapter",
    "shared_memory",
    "shared_memory.off",
    "shared_memory.size",
    "sub_type",
    "type",
]
GraphField = Literal[
    "claim.access_mode",
    "claim.create",
    "claim.name",
    "claim.size",
    "claim.storage_class",
    "components",
    "restart",
    "restart.order",
    "restart.strategy",
]
RequestField = Literal[
    "base.key",
    "base.name",
    "cache",
    "cache.claim",
    "cache.path",
    "gpu_discovery",
    "image",
    "output_claim",
    "overrides.annotations",
    "overrides.labels",
    "overrides.name",
    "overrides.namespace",
    "profiling",
    "resources",
    "settings",
    "tolerations",
]


def filled(pattern: Path, rest: tuple[str | int, ...]) -> Path:
    """A path of that map. The steps of `rest` replace its `*` in order; further steps are appended.

    >>> filled(("mounts", "*", "name"), (2,)), filled(("pod",), ("volumes", 0))
    (('mounts', 2, 'name'), ('pod', 'volumes', 0))
    """
    steps = iter(rest)
    return (*(next(steps) if step == "*" else step for step in pattern), *steps)
