"""Names for the fields that a user can write, the same for all API versions.

The reader of a version maps each name to a path (`krm_fn.resolve.v1alpha1.fields`). `*` in a path stands for an index of a list.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from krm_fn.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from krm_fn.results import Path, Ref

Field = Literal[
    "component",
    "annotations",
    "cache",
    "cache.claim",
    "cache.path",
    "checkpoint",
    "checkpoint.job",
    "containers",
    "failover",
    "frontend_sidecar",
    "gpu_memory",
    "gpu_memory.client_pods",
    "gpu_memory.clients",
    "gpu_memory.mode",
    "grouped",
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
    "min_available",
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
    "provider_override",
    "readiness",
    "replicas",
    "resources",
    "role_override",
    "runtime_version",
    "scaling_adapter",
    "shared_memory",
    "shared_memory.size",
    "sub_type",
    "topology",
    "type",
]
Remedy = Literal["scaling_adapter.off", "scaling_adapter.on", "shared_memory.off"]
GraphField = Literal[
    "adapter.component",
    "annotations",
    "backend",
    "claim.access_mode",
    "claim.create",
    "claim.name",
    "claim.size",
    "claim.storage_class",
    "components",
    "labels",
    "kv_transfer",
    "kv_transfer.label",
    "kv_transfer.topology",
    "kv_transfer.weight",
    "priority_class",
    "provider_override",
    "restart",
    "restart.order",
    "restart.strategy",
    "topology",
    "topology.domain",
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


class Address(NamedTuple):
    """Where the author of a resource wrote one component.

    `path` is the component's path in the resource; `fields` holds the path of each fact below that. `sidecars` holds the path of each
    container beside the main one, below the component. `moved` finds fields that a conversion moved: it takes the arguments of `at`, and
    returns the path below the component, or None for other fields. `inherited` holds the paths in the resource of the annotations that the
    component has from its graph. `remedies` holds the ends of messages that say how to turn a feature on or off.
    """

    path: Path
    fields: Mapping[Field, Path]
    remedies: Mapping[Remedy, str]
    sidecars: tuple[Path, ...] = ()
    moved: Callable[[Field, Path], Path | None] | None = None
    inherited: Mapping[str, Path] = {}

    def at(self, field: Field, *rest: str | int) -> Path:
        """The path of a field in the resource. The steps of `rest` are used as in `filled`."""
        moved = self.moved(field, rest) if self.moved else None
        return (*self.path, *(filled(self.fields[field], rest) if moved is None else moved))


class Book(NamedTuple):
    """The address of a resource, and paths in it, in the API version in which its author wrote it, whatever version is read.

    `component` returns the address of a component by its name.
    """

    ref: Ref
    component: Callable[[str], Address]
    graph: Mapping[GraphField, Path]

    def at(self, field: GraphField, *rest: str | int) -> Path:
        """The path of a field of a graph. The steps of `rest` are used as in `filled`."""
        return filled(self.graph[field], rest)


class RequestBook(NamedTuple):
    """The address of a request, and paths in it, in the API version in which its author wrote it."""

    ref: Ref
    fields: Mapping[RequestField, Path]


def filled(pattern: Path, rest: tuple[str | int, ...]) -> Path:
    """A path of that map. The steps of `rest` replace its `*` in order; further steps are appended.

    >>> filled(("mounts", "*", "name"), (2,)), filled(("pod",), ("volumes", 0))
    (('mounts', 2, 'name'), ('pod', 'volumes', 0))
    """
    steps = iter(rest)
    return (*(next(steps) if step == "*" else step for step in pattern), *steps)
