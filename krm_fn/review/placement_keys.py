"""Warns of topology keys that no node has: the last part of a well-known label, or a slip for one.

The scheduler compares `topologyKey` with the labels of nodes. A required rule about a label that no node has leaves the pod pending or has
no effect, and a preferred one has none. Source: `k8s.io/api/core/v1/well_known_labels.go`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from krm_fn.base import codes, results, spelling
from krm_fn.base.results import Path, Result
from krm_fn.kubernetes import paths
from krm_fn.kubernetes.paths import EVERY
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import text
from krm_fn.render import dynamo_api
from krm_fn.render.manifests import ownership
from krm_fn.review import written_pods

_KNOWN = ("kubernetes.io/hostname", "topology.kubernetes.io/region", "topology.kubernetes.io/zone")
_SHORT = {
    **dict.fromkeys(("hostname", "host", "node", "kubernetes.io/node", "kubernetes.io/host"), _KNOWN[0]),
    **dict.fromkeys(("region", "kubernetes.io/region"), _KNOWN[1]),
    **dict.fromkeys(("zone", "kubernetes.io/zone", "availability-zone"), _KNOWN[2]),
}
"""Names that people write for a well-known label, with the label."""
_TERMS: tuple[Path, ...] = tuple(
    ("affinity", side, *path)
    for side in ("podAffinity", "podAntiAffinity")
    for path in (
        ("requiredDuringSchedulingIgnoredDuringExecution", EVERY, "topologyKey"),
        ("preferredDuringSchedulingIgnoredDuringExecution", EVERY, "podAffinityTerm", "topologyKey"),
    )
)
_KEYS: tuple[Path, ...] = (*_TERMS, ("topologySpreadConstraints", EVERY, "topologyKey"))


def check(resources: Iterable[Resource]) -> Iterator[Result]:
    """Yields the warnings about each graph and component that no render has made. Fields may have wrong types."""
    for resource in resources:
        if dynamo_api.is_dynamo(resource) and not ownership.is_generated(resource):
            for path, pod in written_pods.of(resource):
                for inner, value in paths.find(pod, _KEYS):
                    key = text(value)
                    near = _SHORT.get(key) or ("" if key in _KNOWN else spelling.nearest(key, _KNOWN) if "/" in key else "")
                    if near:
                        problem = f"{key[:60]} is not the label of a node that Kubernetes sets, so this rule has no effect or no node"
                        message = f"{problem}; write {near}, or ignore {codes.UNKNOWN_TOPOLOGY_KEY} if your nodes have it"
                        at = (*path, *inner)
                        yield results.warning(codes.UNKNOWN_TOPOLOGY_KEY, message, results.ref(resource), at, current=value, proposed=near)
