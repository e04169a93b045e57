"""The pod templates in objects, and the plan of the component that each of them belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn import results
from krm_fn.kube import labels, paths, pod_templates
from krm_fn.kube.pod_templates import TemplatePath
from krm_fn.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.kube.types import Resource
    from krm_fn.manifests.pod_builder import Pod, Pods
    from krm_fn.results import Path

_POD = TemplatePath(("metadata",), ("spec",))
_PLACES = {
    "Pod": (_POD,),
    "PodTemplate": (TemplatePath(("template", "metadata"), ("template", "spec")),),
    "CronJob": (
        TemplatePath(("spec", "jobTemplate", "spec", "template", "metadata"), ("spec", "jobTemplate", "spec", "template", "spec")),
    ),
}


class Template(NamedTuple):
    """One pod template. `path` is the path of its pod spec in its object; `labels` and `annotations` are those of its pods."""

    path: Path
    spec: dict[str, Any]
    labels: dict[str, Any]
    annotations: dict[str, Any]

    @property
    def service(self) -> str:
        """The service of the graph whose pods these are; empty if it is unknown."""
        found = self.labels.get(labels.COMPONENT)
        return found if isinstance(found, str) else ""


def of(resource: Resource) -> Iterator[Template]:
    """The pod templates of a workload object, or the pod itself. Fields of the object may have any type."""
    for place in _PLACES.get(results.ref(resource).kind, pod_templates.ALL):
        for path, spec in paths.find(resource, [place.spec]):
            if isinstance(spec, dict):
                holder = {"metadata": _metadata(resource, place, path)}
                yield Template(path, spec, labels.of(holder), labels.annotations(holder))


def _metadata(resource: Resource, place: TemplatePath, path: Path) -> Any:
    """The metadata of the pods. Its path has the same indexes as the path of their spec."""
    at = (*(step if wanted == paths.EVERY else wanted for wanted, step in zip(place.metadata, path, strict=False)),)
    metadata: Any = resource
    for step in (*at, *place.metadata[len(at) :]):
        holder = dict(enumerate(metadata)) if isinstance(metadata, list) else metadata
        metadata = holder.get(step) if isinstance(holder, dict) else None
    return metadata


def made(template: Template, pods: Sequence[Pods]) -> tuple[Pods, Pod] | None:
    """The component, and the pod of one of its roles, from which a rendered template was made. None if no pod has these containers."""
    containers = template.spec.get("containers") or []
    named = [each for each in pods if each.plan.identity.service == template.service]
    for component in named or pods:
        for pod in component.roles:
            own: list[Any] = [*pod.spec["containers"]]
            if own == containers[: len(own)]:
                return component, pod
    return None
