"""The fields that select pods or Services by their labels, by kind, and readers of them.

The sources are the API references of Kubernetes v1.36 and of each other API. tests/kubernetes/test_references.py compares the table with
the schemas of Kubernetes.
"""

from __future__ import annotations

from krm_fn.base import results
from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import paths
from krm_fn.kubernetes.paths import EVERY
from krm_fn.kubernetes.references import name_fields
from krm_fn.kubernetes.references.name_fields import path_of
from krm_fn.kubernetes.values import mapping, objects, text, texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from krm_fn.base.results import Path
    from krm_fn.kubernetes.types import Resource

EVERYWHERE = EVERY
"""Stands for all namespaces."""


class SelectorField(NamedTuple):
    """A field with labels of pods. `path` is its path, from an object or from a pod spec.

    `is_map` is true for a field that has the labels themselves, and false for a LabelSelector. `selects` is the kind of the selected
    objects. `is_own` is true for a selector of a pod that must select this pod.
    """

    path: Path
    is_map: bool = False
    selects: str = "Pod"
    is_own: bool = False


class ObjectSelector(NamedTuple):
    """A selector in an object. `path` is its path, and `template` that of the pod spec that has it; empty outside of pods.

    `labels` has the wanted labels, and `expressions` the further requirements. `namespaces` are the names of the namespaces in which it
    selects; empty for the namespace of its object, and `EVERYWHERE` for an unknown set.
    """

    path: Path
    labels: dict[str, str]
    expressions: tuple[dict[str, Any], ...]
    namespaces: tuple[str, ...]
    field: SelectorField
    template: Path = ()


_TERM = "DuringSchedulingIgnoredDuringExecution"
_AFFINITIES = ("podAffinity", "podAntiAffinity")
OF_PODS = (
    *(SelectorField(path_of(f"affinity.{kind}.required{_TERM}[].labelSelector")) for kind in _AFFINITIES),
    *(SelectorField(path_of(f"affinity.{kind}.preferred{_TERM}[].podAffinityTerm.labelSelector")) for kind in _AFFINITIES),
    SelectorField(path_of("topologySpreadConstraints[].labelSelector"), is_own=True),
)
BY_KIND: dict[tuple[str, str], tuple[SelectorField, ...]] = {
    name_fields.SERVICE: (SelectorField(path_of("spec.selector"), is_map=True),),
    ("policy", "PodDisruptionBudget"): (SelectorField(path_of("spec.selector")),),
    ("networking.k8s.io", "NetworkPolicy"): tuple(
        SelectorField(path_of(path)) for path in ("spec.podSelector", "spec.ingress[].from[].podSelector", "spec.egress[].to[].podSelector")
    ),
    name_fields.POOL: (SelectorField(path_of("spec.selector")),),
    name_fields.OLD_POOL: (SelectorField(path_of("spec.selector"), is_map=True),),
    ("monitoring.coreos.com", "PodMonitor"): (SelectorField(path_of("spec.selector")),),
    ("monitoring.coreos.com", "ServiceMonitor"): (SelectorField(path_of("spec.selector"), selects="Service"),),
    **{
        ("security.istio.io", kind): (SelectorField(path_of("spec.selector")),)
        for kind in ("AuthorizationPolicy", "PeerAuthentication", "RequestAuthentication")
    },
    ("networking.istio.io", "Sidecar"): (SelectorField(path_of("spec.workloadSelector.labels"), is_map=True),),
    ("networking.istio.io", "EnvoyFilter"): (SelectorField(path_of("spec.workloadSelector.labels"), is_map=True),),
    ("networking.istio.io", "DestinationRule"): (
        SelectorField(path_of("spec.workloadSelector")),
        SelectorField(path_of("spec.subsets[].labels"), is_map=True),
    ),
    ("telemetry.istio.io", "Telemetry"): (SelectorField(path_of("spec.selector")),),
}
"""The fields outside of pods, by group and kind. A selector of a workload is left out: an API server compares it with its own template."""


def of(resource: Resource) -> Iterator[ObjectSelector]:
    """Yields each selector of pods or Services in an object, also those in its pods. Fields of the object may have any type."""
    ref = results.ref(resource)
    yield from _read(resource, (), BY_KIND.get((ref.api_version.rpartition("/")[0], ref.kind), ()))
    for template in name_fields.TEMPLATES.get(ref.kind, paths.POD_TEMPLATES):
        for path, spec in paths.find(resource, (template.spec,)):
            yield from _read(spec, path, OF_PODS)


def _read(value: Any, start: Path, fields: Iterable[SelectorField]) -> Iterator[ObjectSelector]:
    for field in fields:
        for path, selector in paths.find(value, (field.path,)):
            if isinstance(selector, dict):
                wanted = selector if field.is_map else mapping(selector.get("matchLabels"))
                expressions = () if field.is_map else tuple(objects(selector.get("matchExpressions")))
                namespaces = _namespaces(mapping(paths.at(value, path[:-1])))
                selected = {key: text(label) for key, label in wanted.items()}
                yield ObjectSelector((*start, *path), selected, expressions, namespaces, field, start)


def _namespaces(parent: dict[str, Any]) -> tuple[str, ...]:
    """Returns the namespaces that the fields beside a selector choose; empty for the own one."""
    named = texts(parent.get("namespaces"))
    chosen = parent.get("namespaceSelector")
    return (*named, *(texts(chosen.get("matchNames")) or (EVERYWHERE,))) if isinstance(chosen, dict) else tuple(named)
