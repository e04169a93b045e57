"""The pods of all components before and after edits, so that an edit of one component never changes another one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from krm_fn.base import results
from krm_fn.base.results import Path, Ref, Result
from krm_fn.kubernetes import paths
from krm_fn.render import dynamo_api, expand
from krm_fn.render.expand import PlannedResource
from krm_fn.render.manifests import ownership
from krm_fn.render.plan import GraphPlan
from krm_fn.review import pods
from krm_fn.review.inputs.checked_inputs import CheckedInputs

_OF_COMPONENTS = ("services", "components")
_NO_HASH = "-"
"""Stands for the hash of all workers of a graph, which an edit of one of them changes in the pods of all."""


class PodKey(NamedTuple):
    """The input, the resource and the component of pods. The component is empty for pods of native objects."""

    part: int
    ref: Ref
    component: str


class ComponentPods(NamedTuple):
    """The pods by component, as texts, and the resources by their addresses."""

    pods: Mapping[PodKey, str]
    resources: Mapping[Ref, Any]


def of(inputs: CheckedInputs) -> ComponentPods:
    """Returns the pods of all inputs. Generated objects are left out: a render makes them again."""
    known: dict[PodKey, str] = {}
    for number, part in enumerate(inputs.parts):
        values = [value for value in part.loaded.values if not ownership.is_generated(value)]
        planned: list[PlannedResource] = []
        expand.expand(values, part.loaded.config, planned.append)
        known.update(_of_graphs(number, planned))
        for value in values:
            if not dynamo_api.is_dynamo(value) and (templates := [*pods.of(value)]):
                known[PodKey(number, results.ref(value), "")] = repr(templates)
    return ComponentPods(known, {results.ref(source.value): source.value for source in inputs.resources})


def _of_graphs(number: int, planned: Iterable[PlannedResource]) -> Iterator[tuple[PodKey, str]]:
    for resource in planned:
        for component in resource.pods if isinstance(resource.plan, GraphPlan) else ():
            identity, facts = component.plan.identity, component.plan.pod
            text = repr(([pod.spec for pod in component.roles], facts.labels, facts.annotations))
            yield PodKey(number, results.ref(resource.source), identity.service), text.replace(identity.generation or _NO_HASH, _NO_HASH)


def are_equal(before: ComponentPods, after: ComponentPods, edited: Iterable[Result]) -> bool:
    """Returns true if the pods of all components are the same, except for those at whose fields the edited findings are.

    An edit outside of the components of a graph can change all of them.
    """
    touched = {(result.ref, _component(before.resources.get(result.ref), result.path)) for result in edited if result.ref}
    return all(
        after.pods.get(key) == text
        for key, text in before.pods.items()
        if (key.ref, key.component) not in touched and (key.ref, "") not in touched
    )


def _component(resource: Any, path: Path) -> str:
    """Returns the component of a graph that has a field; empty for a field outside of components."""
    if len(path) < 3 or path[0] != "spec" or path[1] not in _OF_COMPONENTS:
        return ""
    return str(path[2]) if isinstance(path[2], str) else str(paths.at(resource, (*path[:3], "name")) or "")
