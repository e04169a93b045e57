"""Findings about the conversion of a resource to the version that a release reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from krm_fn import results
from krm_fn.convert import changes, lost, preserved, versions
from krm_fn.kube import identity
from krm_fn.kube.values import mapping, name_of
from krm_fn.schema import check

if TYPE_CHECKING:
    from krm_fn.kube.types import Resource
    from krm_fn.results import Path, Result


_MISSING = "DYN022"


def of_render(resource: Resource, version: str, *, is_new: bool) -> list[Result]:
    """The findings about a resource that is rendered by a release that reads `version`.

    A field that an older release cannot read is an error. `is_new` is false for a graph that runs under a newer operator already: what
    the newer release changes is no news for it.
    """
    found = preserved.findings(resource)
    if version == "v1alpha1":
        found.extend(_unreadable(resource, each) for each in lost.fields(resource, version))
        found.extend(_unreadable_if_kept(resource))
    elif is_new:
        found.extend(changes.findings(resource))
    return found


def _unreadable(resource: Resource, field: lost.Lost) -> Result:
    fix = f"declare {field.instead}" if field.instead else "remove it"
    message = f"Dynamo 0.9 has no field for it; {fix}, or set behaviour: v1.5"
    return results.error("DYN411", message, results.ref(resource), field.path)


def _unreadable_if_kept(resource: Resource) -> Iterator[Result]:
    """Errors about kept fields of a v1alpha1 resource, which Dynamo 0.9 cannot read either."""
    newer = versions.to(versions.V1BETA1, resource)
    if newer is resource or not preserved.spec(resource):
        return
    for field in lost.fields(newer, versions.V1ALPHA1):
        message = f"it keeps {results.field(field.path)} of v1beta1, and Dynamo 0.9 has no field for it; set behaviour: v1.5"
        yield results.error("DYN411", message, results.ref(resource), ("metadata", "annotations", preserved.key(resource)))


def of_conversion(resource: Resource, version: str, converted: Resource) -> list[Result]:
    """The findings about a resource that is rewritten in `version`: what is only kept, and what other pods a newer release makes."""
    address = results.ref(resource)
    found = _of_rewrite(resource, version, converted)
    for path, instead in lost.fields(resource, version):
        fix = f"use --native, or write {instead}" if instead else "remove it if nothing needs it"
        message = f"{identity.DYNAMO_GROUP}/{version} has no field for it, and an annotation keeps it; {fix}"
        found.append(results.warning("DYN410", message, address, path))
    if preserved.size(converted) > preserved.LIMIT:
        message = "an annotation would keep more fields of the resource than an API server accepts; use --native, or remove such fields"
        found.append(results.error("DYN414", message, address, ("spec",)))
    return found


def of_native_conversion(resource: Resource, version: str, converted: Resource, missing: list[lost.Lost]) -> list[Result]:
    """The findings about a resource that is rewritten in `version` without kept fields. `missing` are fields without another form."""
    message = f"{identity.DYNAMO_GROUP}/{version} has no field for it, so the converted resource lacks it; keep it without --native"
    address = results.ref(resource)
    about = (results.warning("DYN412", message, address, field.path) for field in missing)
    return [*_of_rewrite(resource, version, converted), *about]


def _of_rewrite(resource: Resource, version: str, converted: Resource) -> list[Result]:
    found = [*preserved.findings(resource), *_refused(resource, converted)]
    return [*found, *changes.findings(resource)] if version == versions.V1BETA1 else found


def _refused(resource: Resource, converted: Resource) -> Iterator[Result]:
    """What the schema of the new version refuses, at the component that the author wrote. A patch may lack required fields."""
    is_patch = any(each.code == _MISSING for each in check.resource(resource, unknown="warning"))
    for each in check.resource(converted, unknown="warning"):
        if each.severity == "error" and not (is_patch and each.code == _MISSING):
            message = f"the converted resource would be wrong: {results.field(each.path)}: {each.message}"
            yield results.error(each.code, message, results.ref(resource), _place(converted, each.path))


def _place(converted: Resource, path: Path) -> Path:
    """The path of the component that a path leads into, in the version from which the resource was converted."""
    match path:
        case ("spec", "components", int() as place, *_):
            return ("spec", "services", name_of(mapping(converted["spec"]["components"][place])))
        case ("spec", "services", str() as name, *_):
            return ("spec", "components", [*converted["spec"]["services"]].index(name))
    return path[:1]
