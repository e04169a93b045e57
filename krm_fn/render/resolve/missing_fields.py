"""Reports fields that the definitions of a release do not have, so that an API server drops them.

Follows the operator's definitions in `deploy/operator/config/crd` of each release.
"""

from __future__ import annotations

from krm_fn.base import codes, results

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from krm_fn.base.results import Result
    from krm_fn.render.kinds.releases import Feature, Release
    from krm_fn.render.plan import SourcePaths

    Steps = tuple[str, ...]


_OF_GRAPH: Mapping[Feature, tuple[Steps, ...]] = {
    "priority classes": (("priorityClassName",),),
    "provider overrides": (("providerOverride",),),
    "transfer policies": (("experimental", "kvTransferPolicy"),),
}
"""The fields of a feature below the spec of a v1beta1 graph."""
_MEMORY = ("experimental", "gpuMemoryService")
_OF_COMPONENT: Mapping[Feature, tuple[Steps, ...]] = {
    "checkpoint jobs": (("experimental", "checkpoint", "job"),),
    "clients of GPU memory": ((*_MEMORY, "extraClientContainers"), (*_MEMORY, "extraClientPods")),
    "least available pods": (("minAvailable",),),
    "provider overrides": (("providerOverride",),),
    "roles": (("roles",),),
    "scaling groups of one node": (("experimental", "grove"),),
}
"""The fields of a feature in a v1beta1 component."""


def of_graph(spec: dict[str, Any], release: Release, paths: SourcePaths) -> Iterator[Result]:
    """Yields an error for each field of a v1beta1 graph that a release lacks. `spec` is the part that `paths` is of."""
    return _check(spec, _OF_GRAPH, release, paths)


def of_component(written: dict[str, Any], release: Release, paths: SourcePaths) -> Iterator[Result]:
    """Yields an error for each field of a v1beta1 component that a release lacks. `written` is the part that `paths` is of."""
    return _check(written, _OF_COMPONENT, release, paths)


def _check(written: dict[str, Any], fields: Mapping[Feature, tuple[Steps, ...]], release: Release, paths: SourcePaths) -> Iterator[Result]:
    for steps in (steps for feature in release.lacks for steps in fields.get(feature, ())):
        if _value(written, steps):
            message = f"Dynamo {release.name[1:]} does not have this field; remove it, or set behaviour to a newer release"
            yield results.error(codes.FIELD_NOT_IN_DYNAMO_0_9, message, paths.ref, paths.at(*steps))


def _value(written: Any, steps: Steps) -> Any:
    for step in steps:
        written = (written or {}).get(step)
    return written
