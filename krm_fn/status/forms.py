"""The form of Dynamo's resources in each version of the API, as far as a status is read from them or written into them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn import results
from krm_fn.kube import identity, values
from krm_fn.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.kube.types import Resource


class Form(NamedTuple):
    """The names of one version.

    `parts` is the field of a graph with its components, in its spec and in its status. `part` is that of the counts in the status of a
    component. `name` and `type` are fields of a component, and `target` is the field of an adapter that names the component. `lists` is
    true if a component can have several workloads. `adapter_on` turns on the adapter of a component.
    """

    version: str
    parts: str
    part: str
    name: str
    type: str
    target: str
    adapter_on: str
    lists: bool


OLDER = Form("v1alpha1", "services", "service", "serviceName", "componentType", "serviceName", "scalingAdapter.enabled: true", lists=False)
NEWER = Form("v1beta1", "components", "component", "name", "type", "componentName", "scalingAdapter: {}", lists=True)


def of(resource: Resource) -> Form:
    """The form of a resource. A version that is not known has the form of the older one."""
    return NEWER if results.ref(resource).api_version == identity.V1BETA1 else OLDER


def components(spec: dict[str, Any], form: Form) -> dict[str, Any]:
    """The components of a graph by name, in the order of the spec. Any field may have any type."""
    if form.lists:
        return {name: each for each in values.objects(spec.get(form.parts)) if (name := values.text(each.get(form.name)))}
    return {str(name): each for name, each in values.mapping(spec, form.parts).items()}


def places(spec: dict[str, Any], form: Form) -> Iterator[tuple[str, tuple[str | int, ...]]]:
    """The name of each component of a graph, with its path in the spec."""
    if form.lists:
        listed = spec.get(form.parts)
        for index, each in enumerate(listed if isinstance(listed, list) else ()):
            if name := values.text(values.mapping(each).get(form.name)):
                yield name, (form.parts, index)
    else:
        yield from ((str(name), (form.parts, str(name))) for name in values.mapping(spec, form.parts))
