"""Finds references and selectors of generated objects whose target is not in the build under that name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.builds.mismatch import RELABELLED, RENAMED, Mismatch
from krm_fn.kube import names, paths, templates

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from krm_fn.builds.index import Build, Generated
    from krm_fn.results import Path

MATCH: Path = ("spec", "selector", "matchLabels")
_PICKER: Path = ("spec", "endpointPickerRef")
"""A picker has no Service if etcd discovers it, and so its pool refers to none."""
_REFERENCES: tuple[tuple[Path, str, str], ...] = (
    (("subjects", "*"), "name", ""),
    (("roleRef",), "name", ""),
    (_PICKER, "name", ""),
    (("spec", "rules", "*", "http", "paths", "*", "backend", "service"), "name", "Service"),
    (("spec", "http", "*", "route", "*", "destination"), "host", "Service"),
    *((place.spec, "serviceAccountName", "ServiceAccount") for place in templates.ALL),
    *(((*place.spec, "volumes", "*", "configMap"), "name", "ConfigMap") for place in templates.ALL),
    *(((*place.spec, "resourceClaims", "*"), "resourceClaimTemplateName", "ResourceClaimTemplate") for place in templates.ALL),
)
"""References of generated objects: place, key and kind. If the kind is empty, it stands beside the key, and users cannot set the field."""


_GIVEN: dict[str, Callable[[str], tuple[str, ...]]] = {
    "ServiceAccount": lambda owner: (names.discovery(owner),),
    "ConfigMap": lambda owner: (names.epp_config(owner), names.wait_for_leader(owner)),
}
"""The names of the objects of a graph, by kind."""


def missing(item: Generated, there: Build) -> Iterator[Mismatch]:
    """Yields references to objects that are not in the build.

    A user may refer to objects outside the build. A field that users can set is therefore checked only if its name is a generated name.
    """
    for place, key, fixed in _REFERENCES:
        for at, holder in paths.each(item.resource, [place]):
            kind, name = fixed or text(holder, "kind"), text(holder, key)
            if kind and kind != "ClusterRole" and (not fixed or _is_given(item, fixed, name)):
                found = absent(item, (*at, key), kind, name, there)
                yield from (each for each in found if each.truth or place != _PICKER or not _is_given(item, "Service", name))


def _is_given(item: Generated, kind: str, name: str) -> bool:
    if kind == "Service":
        return name in {names.component(item.owner, service) for service in item.services}
    if kind == "ResourceClaimTemplate":
        return name in {names.gpu_claim(names.component(item.owner, service)) for service in item.services}
    return any(is_like(name, given) for given in _GIVEN[kind](item.owner))


def unselected(item: Generated, there: Build) -> Iterator[Mismatch]:
    """Yields labels that a later layer added to a selector but not to the pods that the selector found before."""
    if any(paths.each(item.resource, [place.spec for place in templates.ALL])):
        return
    for at, selector in paths.each(item.resource, [("spec", "selector"), MATCH]):
        if not isinstance(selector, dict) or "matchLabels" in selector:
            continue
        ours = {key: value for key, value in selector.items() if key == "role" or key.startswith("nvidia.com/")}
        pods = [found for place, found in there.pods if place == item.namespace and ours and ours.items() <= found.items()]
        for key in selector if pods else ():
            if key not in ours and all(found.get(key) != selector[key] for found in pods):
                yield Mismatch(RELABELLED, (*at, key), f"{key}: {selector[key]}")


def absent(item: Generated, at: Path, kind: str, name: Any, there: Build) -> Iterator[Mismatch]:
    """Yields a mismatch if no object of that kind and name is in the namespace."""
    if name and isinstance(name, str) and name not in there.names.get((kind, item.namespace), ()):
        yield Mismatch(RENAMED, at, name, alike(name, there.generated.get((kind, item.namespace), set())))


def alike(name: str, found: set[str]) -> str:
    """The only name in `found` that is `name` with a prefix or suffix; empty if no name fits, or several do."""
    others = [other for other in found if is_like(other, name)]
    return others[0] if len(others) == 1 else ""


def is_like(name: str, other: str) -> bool:
    """True if `name` is `other`, with or without a prefix or a suffix."""
    return name.startswith(other) or name.endswith(other)


def text(holder: Any, key: str) -> str:
    """The text under a key, or an empty text if the value is not text."""
    found = holder.get(key) if isinstance(holder, dict) else None
    return found if isinstance(found, str) else ""
