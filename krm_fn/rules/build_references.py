"""References and selectors of generated objects whose target is not in the build under that name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kube import names, paths, pod_templates
from krm_fn.kube.values import mapping, text
from krm_fn.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from krm_fn.results import Path
    from krm_fn.rules.build_index import Build, BuiltObject

MOVED, RENAMED, RELABELLED = "DYN060", "DYN061", "DYN062"

MATCH_LABELS: Path = ("spec", "selector", "matchLabels")
_PICKER: Path = ("spec", "endpointPickerRef")
"""The Service of an endpoint picker. With discovery by etcd the picker has no Service, so it may be absent."""


class _Reference(NamedTuple):
    """A field with the name of another object. An empty `kind` is read beside the name; users cannot set these fields."""

    holder: Path
    key: str
    kind: str = ""


_REFERENCES = (
    _Reference(("subjects", "*"), "name"),
    _Reference(("roleRef",), "name"),
    _Reference(_PICKER, "name"),
    _Reference(("spec", "rules", "*", "http", "paths", "*", "backend", "service"), "name", "Service"),
    _Reference(("spec", "http", "*", "route", "*", "destination"), "host", "Service"),
    *(_Reference(template.spec, "serviceAccountName", "ServiceAccount") for template in pod_templates.ALL),
    *(_Reference((*template.spec, "volumes", "*", "configMap"), "name", "ConfigMap") for template in pod_templates.ALL),
    *(
        _Reference((*template.spec, "resourceClaims", "*"), "resourceClaimTemplateName", "ResourceClaimTemplate")
        for template in pod_templates.ALL
    ),
)
_GENERATED_NAMES: dict[str, Callable[[str], tuple[str, ...]]] = {
    "ServiceAccount": lambda owner: (names.discovery(owner),),
    "ConfigMap": lambda owner: (names.epp_config(owner), names.wait_for_leader(owner)),
}
"""The names of the objects of a graph, by kind."""


class Mismatch(NamedTuple):
    """A field whose value is not in the build. `expected` is the right value, or empty if it is unknown."""

    code: str
    path: Path
    value: str
    expected: str = ""


def missing(item: BuiltObject, build: Build) -> Iterator[Mismatch]:
    """Yields references to objects that are not in the build.

    A user may refer to objects outside the build. A field that users can set is therefore checked only if its name is a generated name.
    """
    for reference in _REFERENCES:
        for path, holder in paths.find(item.resource, [reference.holder]):
            fields = mapping(holder)
            kind, name = reference.kind or text(fields.get("kind")), text(fields.get(reference.key))
            if not kind or kind == "ClusterRole" or (reference.kind and not _is_generated(item, kind, name)):
                continue
            for mismatch in absent(item, (*path, reference.key), kind, name, build):
                if mismatch.expected or reference.holder != _PICKER or not _is_generated(item, "Service", name):
                    yield mismatch


def _is_generated(item: BuiltObject, kind: str, name: str) -> bool:
    """Returns true if a render gives an object of this owner the name, with or without a prefix or a suffix."""
    if kind == "Service":
        return name in {names.component(item.owner, service) for service in item.services}
    if kind == "ResourceClaimTemplate":
        return name in {names.gpu_claim(names.component(item.owner, service)) for service in item.services}
    return any(is_like(name, generated) for generated in _GENERATED_NAMES[kind](item.owner))


def unselected(item: BuiltObject, build: Build) -> Iterator[Mismatch]:
    """Yields labels that a later layer added to a selector but not to the pods that it selected before."""
    if any(paths.find(item.resource, [template.spec for template in pod_templates.ALL])):
        return
    for path, selector in paths.find(item.resource, [("spec", "selector"), MATCH_LABELS]):
        if not isinstance(selector, dict) or "matchLabels" in selector:
            continue
        ours = {key: value for key, value in selector.items() if key == "role" or key.startswith("nvidia.com/")}
        pods = [pod for namespace, pod in build.pods if namespace == item.namespace and ours and ours.items() <= pod.items()]
        for key in selector if pods else ():
            if key not in ours and all(pod.get(key) != selector[key] for pod in pods):
                yield Mismatch(RELABELLED, (*path, key), f"{key}: {selector[key]}")


def absent(item: BuiltObject, path: Path, kind: str, name: Any, build: Build) -> Iterator[Mismatch]:
    """Yields a mismatch if no object of that kind and name is in the namespace."""
    if name and isinstance(name, str) and name not in build.names.get((kind, item.namespace), ()):
        yield Mismatch(RENAMED, path, name, alike(name, build.generated.get((kind, item.namespace), set())))


def alike(name: str, candidates: set[str]) -> str:
    """Returns the only candidate that is `name` with a prefix or suffix; empty if there is none, or more than one."""
    matches = [candidate for candidate in candidates if is_like(candidate, name)]
    return matches[0] if len(matches) == 1 else ""


def is_like(name: str, other: str) -> bool:
    """Returns true if `name` is `other`, with or without a prefix or a suffix."""
    return name.startswith(other) or name.endswith(other)
