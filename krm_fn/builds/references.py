"""Where generated objects name or select others, and which of these are not there under that name.

Not its business: names of graphs and namespaces (`krm_fn.builds.statements`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.builds import index
from krm_fn.builds.mismatch import RELABELLED, RENAMED, Mismatch
from krm_fn.kube import names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.builds.index import Build, Generated
    from krm_fn.results import Path

MATCH: Path = ("spec", "selector", "matchLabels")
_REFERENCES: tuple[tuple[Path, str, str], ...] = (
    (("subjects", "*"), "name", ""),
    (("roleRef",), "name", ""),
    (("spec", "endpointPickerRef"), "name", ""),
    (("spec", "rules", "*", "http", "paths", "*", "backend", "service"), "name", "Service"),
    (("spec", "http", "*", "route", "*", "destination"), "host", "Service"),
    *((at, "serviceAccountName", "ServiceAccount") for at in index.PODS),
    *(((*at, "volumes", "*", "configMap"), "name", "ConfigMap") for at in index.PODS),
)
"""Where generated objects name others: place, key and kind. Where the kind is empty the place says it, and no user writes there."""


def missing(item: Generated, there: Build) -> Iterator[Mismatch]:
    """Names of other objects. A user may name what is not among the items, but not under a name that only the function gives."""
    for place, key, fixed in _REFERENCES:
        for at, holder in index.each(item.resource, [place]):
            kind, name = fixed or text(holder, "kind"), text(holder, key)
            if kind and kind != "ClusterRole" and (not fixed or _is_given(item, fixed, name)):
                yield from absent(item, (*at, key), kind, name, there)


def _is_given(item: Generated, kind: str, name: str) -> bool:
    if kind == "Service":
        return name in {names.component(item.owner, service) for service in item.services}
    return is_like(name, names.discovery(item.owner) if kind == "ServiceAccount" else names.epp_config(item.owner))


def unselected(item: Generated, there: Build) -> Iterator[Mismatch]:
    """A label laid over a selector has to be on the pods that were selected without it."""
    if any(index.each(item.resource, index.PODS)):
        return
    for at, selector in index.each(item.resource, [("spec", "selector"), MATCH]):
        if not isinstance(selector, dict) or "matchLabels" in selector:
            continue
        ours = {key: value for key, value in selector.items() if key == "role" or key.startswith("nvidia.com/")}
        pods = [found for place, found in there.pods if place == item.namespace and ours and ours.items() <= found.items()]
        for key in selector if pods else ():
            if key not in ours and all(found.get(key) != selector[key] for found in pods):
                yield Mismatch(RELABELLED, (*at, key), f"{key}: {selector[key]}")


def absent(item: Generated, at: Path, kind: str, name: Any, there: Build) -> Iterator[Mismatch]:
    """A mismatch where no object of that kind and name is in the namespace."""
    if name and isinstance(name, str) and name not in there.names.get((kind, item.namespace), ()):
        yield Mismatch(RENAMED, at, name, alike(name, there.generated.get((kind, item.namespace), set())))


def alike(name: str, found: set[str]) -> str:
    """What a name with a prefix or suffix laid over it is now; empty where there is none, or more than one."""
    others = [other for other in found if is_like(other, name)]
    return others[0] if len(others) == 1 else ""


def is_like(name: str, other: str) -> bool:
    """Whether a name is another one, perhaps with a prefix or suffix."""
    return name.startswith(other) or name.endswith(other)


def text(holder: Any, key: str) -> str:
    """The text under a key, empty where there is none."""
    found = holder.get(key) if isinstance(holder, dict) else None
    return found if isinstance(found, str) else ""
