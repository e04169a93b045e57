"""Fields at a wrong level: the objects where they may belong, and the path of the one location where `krm-fn check --fix` moves them."""

from __future__ import annotations

from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal, TypeAlias

    from krm_fn.base.results import Path
    from krm_fn.render.schema.table import SchemaNode

Start: TypeAlias = 'Literal["resource", "object", "above", "main", "pod", "container"]'


class Destination(NamedTuple):
    """Where a misplaced field belongs: the fields `steps` below one object.

    This is the resource, the object of the field, the nearest object above it that has such a field, the container `main`, or the
    securityContext of the pod or of a container.
    """

    start: Start
    steps: Path


class Parent(NamedTuple):
    """An object in which a misplaced field may belong, with its definition. `name` is that of a message.

    An object above has a `start`. Without one, the name is that of the fields that lead to it, or there are several such objects.
    """

    name: str
    definition: str
    start: Start | None = None

    def text(self, key: str) -> str:
        """Returns the fix of the field `key`."""
        return f"it belongs in {self.name}, as {key}" if " " in self.name else f"it belongs in {self.name}.{key}"

    def destination(self, key: str) -> Destination | None:
        """Returns where the field `key` belongs; None if there are several such objects."""
        if self.start:
            return Destination(self.start, (key,))
        return None if " " in self.name else Destination("object", (*self.name.split("."), key))


CONTAINER, POD = "io.k8s.api.core.v1.Container", "io.k8s.api.core.v1.PodSpec"
_OF_CONTAINER, _OF_POD = "io.k8s.api.core.v1.SecurityContext", "io.k8s.api.core.v1.PodSecurityContext"
_COMPONENT = Parent("the component", "ComponentV1beta1", "above")
_SERVICE = Parent("the service", "Component", "above")
PARENTS = {
    "ComponentExperimentalV1beta1": (_COMPONENT,),
    "ComponentV1beta1": (
        Parent("experimental", "ComponentExperimentalV1beta1"),
        Parent("experimental.grove", "ComponentGroveV1beta1"),
        Parent("the container main of podTemplate", CONTAINER, "main"),
        Parent("podTemplate.spec", POD),
    ),
    "Component": (Parent("extraPodSpec.mainContainer", "MainContainer"), Parent("extraPodSpec", "ExtraPodSpec")),
    "DynamoComponentDeployment": (Parent("spec", "ComponentDeploymentSpec"),),
    "DynamoGraphDeployment": (Parent("spec", "GraphSpec"),),
    "DynamoGraphDeploymentRequest": (Parent("spec", "RequestSpec"),),
    "DynamoGraphDeploymentScalingAdapter": (Parent("spec", "ScalingAdapterSpec"),),
    "DynamoComponentDeploymentV1beta1": (Parent("spec", "ComponentDeploymentSpecV1beta1"),),
    "DynamoGraphDeploymentV1beta1": (Parent("spec", "GraphSpecV1beta1"),),
    "DynamoGraphDeploymentRequestV1beta1": (Parent("spec", "RequestSpecV1beta1"),),
    "DynamoGraphDeploymentScalingAdapterV1beta1": (Parent("spec", "ScalingAdapterSpecV1beta1"),),
    "DynamoModel": (Parent("spec", "ModelSpec"),),
    "DynamoRender": (Parent("spec", "RenderSpec"),),
    "ExtraPodSpec": (Parent("mainContainer", "MainContainer"), _SERVICE),
    "GraphSpec": (Parent("a service", "Component"),),
    "GraphSpecV1beta1": (Parent("a component", "ComponentV1beta1"),),
    "MainContainer": (Parent("extraPodSpec", "ExtraPodSpec", "above"), _SERVICE),
    "PodTemplateMetadataV1beta1": (Parent("the podTemplate", "PodTemplateV1beta1", "above"),),
    "PodTemplateV1beta1": (
        Parent("metadata", "PodTemplateMetadataV1beta1"),
        Parent("spec", POD),
        Parent("the container main", CONTAINER, "main"),
        _COMPONENT,
    ),
    _OF_CONTAINER: (Parent("the securityContext of the pod", _OF_POD, "pod"),),
    _OF_POD: (Parent("the securityContext of the container", _OF_CONTAINER, "container"),),
    POD: (Parent("a container", CONTAINER, "main"), _COMPONENT),
}
"""By definition: the parents in which a misplaced field may belong."""
_EVERYWHERE = ("annotations", "apiVersion", "kind", "labels", "metadata", "name", "namespace", "spec", "status", "type", "value")
"""Names that so many objects have that another object with such a field says nothing."""
_TO_CONTAINERS = {"ComponentV1beta1": ("podTemplate", "spec"), "PodTemplateV1beta1": ("spec",)}
"""The fields from an object to the spec of its pod."""


def level_of(root: SchemaNode, path: Path) -> Path:
    """Returns the path of the field with the name of an unknown field, at `path` of a resource, above it or one level below its object.

    Empty without such a field, if several are below, and for names that most objects have.
    """
    *parents, key = path
    nodes = _nodes(root, path)
    if len(nodes) < len(path) or key in _EVERYWHERE:
        return ()
    fields = nodes[-1].schema.get("properties", ())
    below = [name for name in fields if key in ((nodes[-1].field(name) or root).schema.get("properties", ()))]
    return (*parents, below[0], key) if len(below) == 1 else _above(nodes, path)


def _nodes(root: SchemaNode, path: Path) -> list[SchemaNode]:
    """Returns the nodes from the root to the object of a field. Fewer than the steps of its path if one is not in the schema."""
    nodes = [root]
    for step in path[:-1]:
        inner = nodes[-1].item if isinstance(step, int) else nodes[-1].field(str(step)) or nodes[-1].entry
        if inner is None:
            break
        nodes.append(inner)
    return nodes


def _above(nodes: list[SchemaNode], path: Path) -> Path:
    """Returns the path of the nearest field above the object of an unknown one, with its name; empty without one."""
    above = (number for number in range(len(path) - 2, 0, -1) if path[-1] in nodes[number].schema.get("properties", ()))
    number = next(above, None)
    return () if number is None else (*path[:number], path[-1])


def target(destination: Destination, root: SchemaNode, resource: Any, path: Path) -> Path:
    """Returns the path to which the unknown field at `path` of a resource moves; empty if the resource does not have the one location.

    >>> from krm_fn.render.schema import table
    >>> target(Destination("object", ("limits", "gpu")), table.node("Resources"), {"gpu": "1"}, ("gpu",))
    ('limits', 'gpu')
    """
    nodes = _nodes(root, path)
    if len(nodes) < len(path):
        return ()
    if destination.start == "resource":
        return destination.steps
    if destination.start == "object":
        return (*path[:-1], *destination.steps)
    if destination.start == "above":
        return _above(nodes, path)
    if destination.start == "main":
        container = _main(resource, (*path[:-1], *_TO_CONTAINERS.get(nodes[-1].name, ())))
        return (*container, *destination.steps) if container else ()
    return _in_security_context(destination.start, nodes, resource, path)


def _main(resource: Any, pod: Path) -> Path:
    """Returns the path of the container main of a pod, or of its only container; empty without one."""
    containers = paths.at(resource, (*pod, "containers"))
    names = [entry.get("name") if isinstance(entry, dict) else None for entry in containers] if isinstance(containers, list) else []
    index = names.index("main") if names.count("main") == 1 else 0 if len(names) == 1 else None
    return () if index is None else (*pod, "containers", index)


def _in_security_context(owner: str, nodes: list[SchemaNode], resource: Any, path: Path) -> Path:
    """Returns the path of a field of the securityContext of a container in that of its pod, or the other way round."""
    pods = [
        number
        for number, node in enumerate(nodes)
        if node.name in (POD, "ExtraPodSpec") and "containers" in node.schema.get("properties", ())
    ]
    if not pods:
        return ()
    pod = path[: pods[-1]]
    container = (*pod, "mainContainer") if nodes[pods[-1]].name == "ExtraPodSpec" else _main(resource, pod)
    level = pod if owner == "pod" else container
    return (*level, "securityContext", path[-1]) if level else ()
