"""The pod templates in objects, and the plan of the component that each of them belongs to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from krm_fn.base import results
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Path
from krm_fn.kubernetes import paths
from krm_fn.kubernetes.paths import TemplatePath
from krm_fn.kubernetes.references import name_fields
from krm_fn.kubernetes.types import Resource
from krm_fn.render import labels
from krm_fn.render.manifests.pod_builder import Pod, Pods


class Template(NamedTuple):
    """One pod template. `path` is the path of its pod spec in its object; `labels` and `annotations` are those of its pods."""

    path: Path
    spec: dict[str, Any]
    labels: dict[str, Any]
    annotations: dict[str, Any]

    @property
    def service(self) -> str:
        """The service of the graph whose pods these are; empty if it is unknown."""
        name = self.labels.get(labels.COMPONENT)
        return name if isinstance(name, str) else ""


def of(resource: Resource) -> Iterator[Template]:
    """Yields the pod templates of a workload object, or the pod itself. Fields of the object may have any type."""
    for template_path in name_fields.TEMPLATES.get(results.ref(resource).kind, paths.POD_TEMPLATES):
        for path, spec in paths.find(resource, [template_path.spec]):
            if isinstance(spec, dict):
                holder = {"metadata": _metadata(resource, template_path, path)}
                yield Template(path, spec, labels.of(holder), labels.annotations(holder))


def _metadata(resource: Resource, template_path: TemplatePath, path: Path) -> Any:
    """Returns the metadata of the pods. Its path has the same indexes as the path of their spec."""
    start = (*(index if step == paths.EVERY else step for step, index in zip(template_path.metadata, path, strict=False)),)
    metadata: Any = resource
    for step in (*start, *template_path.metadata[len(start) :]):
        holder = dict(enumerate(metadata)) if isinstance(metadata, list) else metadata
        metadata = holder.get(step) if isinstance(holder, dict) else None
    return metadata


def component_of(template: Template, components: Sequence[Pods]) -> tuple[Pods, Pod] | None:
    """Returns the component, and the pod of one of its roles, from which a rendered template was made.

    None if no pod has these containers.
    """
    containers = template.spec.get("containers") or []
    named = [component for component in components if component.plan.identity.service == template.service]
    for component in named or components:
        for pod in component.roles:
            rendered: list[Any] = [*pod.spec["containers"]]
            if rendered == containers[: len(rendered)]:
                return component, pod
    return None
