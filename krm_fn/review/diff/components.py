"""Finds the component, and if possible the field, of a Dynamo resource from which a field of an object was made.

This is for objects that were not rendered from two known states, such as live objects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn import expand
from krm_fn.kube import labels, paths
from krm_fn.kube.admission import Rejection
from krm_fn.plan import GraphPlan
from krm_fn.review import pods
from krm_fn.review.diff import sides
from krm_fn.rules import field_origin

if TYPE_CHECKING:
    from collections.abc import Sequence

    from krm_fn.config import Config
    from krm_fn.kube.types import Resource
    from krm_fn.manifests.pod_builder import Pods
    from krm_fn.results import Path

_REPLICAS: Path = ("spec", "replicas")


def made(source: Resource, inputs: Sequence[Resource], config: Config) -> list[Pods]:
    """The components of a Dynamo resource; empty if it does not render, or has none."""
    others = [each for each in inputs if not sides.is_expanded(each)]
    found = expand.plans([source, *others], config)
    return list(found[0].pods) if found and isinstance(found[0].plan, GraphPlan) else []


def path(source: Resource, components: Sequence[Pods], resource: Resource, field: Path) -> Path:
    """The path in a Dynamo resource from which a field of one of its objects was made: of a field, of a component, or of the whole."""
    for template in pods.of(resource):
        holder = _holder(template.path)
        if field[: len(holder)] != holder:
            continue
        found = pods.made(template, components)
        if found is None:
            return _component(components, template.labels)
        component, pod = found
        inner = field[len(template.path) :] if field[: len(template.path)] == template.path else ()
        exact = _of_pod(component, pod.spec, inner) if inner else None
        written = exact is not None and paths.at(source, exact) is not None
        return exact if exact is not None and written else component.plan.paths.path
    here = _component(components, labels.of(resource))
    replicas = next((each.plan.at("replicas") for each in components if each.plan.paths.path == here), ())
    return replicas if field == _REPLICAS and paths.at(source, replicas) is not None else here


def _of_pod(component: Pods, spec: object, inner: Path) -> Path | None:
    try:
        return field_origin.path(component, spec, Rejection("", inner, ""))  # type: ignore[arg-type]
    except (KeyError, IndexError, TypeError):  # a live pod has containers and volumes that no render makes
        return None


def _holder(path: Path) -> Path:
    """The path of the template of a pod spec; the pod spec of a clique is below its own `spec`."""
    return path[:-2] if path[-1] == "podSpec" else path[:-1]


def _component(components: Sequence[Pods], marks: dict[str, object]) -> Path:
    """The path of the component that labels name; that of the whole resource if they name none."""
    names = (marks.get(labels.COMPONENT), marks.get(labels.SELECTOR))
    return next((each.plan.paths.path for each in components if each.plan.identity.service in names), ())
