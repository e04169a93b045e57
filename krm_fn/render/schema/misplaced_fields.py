"""Fields at a wrong level: the objects where they may belong, and the path of the one place where `krm-fn check --fix` moves them."""

from __future__ import annotations

import re

from krm_fn.base import results
from krm_fn.kubernetes import paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from krm_fn.base.results import Path
    from krm_fn.render.schema.table import SchemaNode

CONTAINER, POD = "io.k8s.api.core.v1.Container", "io.k8s.api.core.v1.PodSpec"
_OF_CONTAINER, _OF_POD = "io.k8s.api.core.v1.SecurityContext", "io.k8s.api.core.v1.PodSecurityContext"
PARENTS = {
    "ComponentExperimentalV1beta1": (("the component, as", "ComponentV1beta1"),),
    "ComponentV1beta1": (
        ("experimental", "ComponentExperimentalV1beta1"),
        ("experimental.grove", "ComponentGroveV1beta1"),
        ("the container main of podTemplate, as", CONTAINER),
        ("podTemplate.spec", POD),
    ),
    "Component": (("extraPodSpec.mainContainer", "MainContainer"), ("extraPodSpec", "ExtraPodSpec")),
    "DynamoComponentDeployment": (("spec", "ComponentDeploymentSpec"),),
    "DynamoGraphDeployment": (("spec", "GraphSpec"),),
    "DynamoGraphDeploymentRequest": (("spec", "RequestSpec"),),
    "DynamoGraphDeploymentScalingAdapter": (("spec", "ScalingAdapterSpec"),),
    "DynamoComponentDeploymentV1beta1": (("spec", "ComponentDeploymentSpecV1beta1"),),
    "DynamoGraphDeploymentV1beta1": (("spec", "GraphSpecV1beta1"),),
    "DynamoGraphDeploymentRequestV1beta1": (("spec", "RequestSpecV1beta1"),),
    "DynamoGraphDeploymentScalingAdapterV1beta1": (("spec", "ScalingAdapterSpecV1beta1"),),
    "DynamoModel": (("spec", "ModelSpec"),),
    "DynamoRender": (("spec", "RenderSpec"),),
    "ExtraPodSpec": (("mainContainer", "MainContainer"), ("the service, as", "Component")),
    "GraphSpec": (("a service, as", "Component"),),
    "GraphSpecV1beta1": (("a component, as", "ComponentV1beta1"),),
    "MainContainer": (("extraPodSpec", "ExtraPodSpec"), ("the service, as", "Component")),
    "PodTemplateMetadataV1beta1": (("the podTemplate, as", "PodTemplateV1beta1"),),
    "PodTemplateV1beta1": (
        *(("metadata", "PodTemplateMetadataV1beta1"), ("spec", POD)),
        *(("the container main, as", CONTAINER), ("the component, as", "ComponentV1beta1")),
    ),
    _OF_CONTAINER: (("the securityContext of the pod, as", _OF_POD),),
    _OF_POD: (("the securityContext of the container, as", _OF_CONTAINER),),
    POD: (("a container, as", CONTAINER), ("the component, as", "ComponentV1beta1")),
}
"""By definition: the parents in which a misplaced field may belong, with the definition that has the field."""
_EVERYWHERE = ("annotations", "apiVersion", "kind", "labels", "metadata", "name", "namespace", "spec", "status", "type", "value")
"""Names that so many objects have that another object with such a field says nothing."""
_FIELDS = re.compile(r"(?:it belongs in|write) ((?:[A-Za-z]+\.)+[A-Za-z]+)")
"""The fix with fields below the object of the field."""
_GROUP = re.compile(r"(?:move|write) it below ([a-z]+)")
_ABOVE = re.compile(r"it belongs in the (?:component|service|podTemplate), as [A-Za-z]+")
_IN_MAIN = re.compile(
    r"(?:it belongs in (?:a|the) container(?: main)?(?: of podTemplate)?, as|write) ([A-Za-z]+)(?: in the container main of podTemplate)?"
)
_SECURITY = re.compile(r"it belongs in the securityContext of the (pod|container), as [A-Za-z]+")
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


def target(fix: str, root: SchemaNode, resource: Any, path: Path) -> Path:
    """Returns the path that a fix gives to the unknown field at `path` of a resource; empty for another fix, or without the one place.

    >>> from krm_fn.render.schema import table
    >>> target("move it below limits", table.node("Resources"), {"gpu": "1"}, ("gpu",))
    ('limits', 'gpu')
    """
    *parents, key = path
    nodes = _nodes(root, path)
    if len(nodes) < len(path):
        return ()
    if (level := level_of(root, path)) and fix == f"it belongs in {results.field(level)}":
        return level
    if match := _FIELDS.fullmatch(fix):
        return (*parents, *match[1].split("."))
    if match := _GROUP.fullmatch(fix):
        return (*parents, match[1], key)
    if _ABOVE.fullmatch(fix):
        return _above(nodes, path)
    if match := _SECURITY.fullmatch(fix):
        return _in_security_context(match[1], nodes, resource, path)
    match = _IN_MAIN.fullmatch(fix)
    container = _main(resource, (*parents, *_TO_CONTAINERS.get(nodes[-1].name, ()))) if match and " container" in fix else ()
    return (*container, match[1]) if match and container else ()


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
