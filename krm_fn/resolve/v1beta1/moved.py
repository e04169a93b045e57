"""Where the author of a v1beta1 resource wrote the mounts of a component that is read as v1alpha1.

A v1alpha1 service lists the mounts of claims itself, with that of the compilation cache first; its main container has the other mounts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.plan.address import filled
from krm_fn.resolve.v1beta1 import fields

if TYPE_CHECKING:
    from krm_fn.kube.types import Resource
    from krm_fn.plan import Address, Book
    from krm_fn.plan.address import Field
    from krm_fn.results import Path

_OF_CACHE: dict[str, Field] = {"mount": "cache", "mount.cache": "cache", "mount.name": "cache.claim", "mount.path": "cache.path"}


def book(resource: Resource, converted: Resource) -> Book:
    """The addresses of a v1beta1 resource that is read as v1alpha1. `converted` is the resource in that version."""
    plain, spec, older = fields.book(resource), resource.get("spec") or {}, converted.get("spec") or {}

    def component(name: str) -> Address:
        listed = spec.get("components") or ()
        written = next((each for each in listed if each.get("name") == name), spec)
        service = (older.get("services") or {}).get(name) or older
        address = plain.component(name)
        return address._replace(moved=lambda field, rest: _moved(address, _mounts(written), service, (field, rest)))

    return plain._replace(component=component)


def _mounts(component: dict[str, Any]) -> list[dict[str, Any]]:
    """The mounts of the main container as its author wrote them."""
    containers = ((component.get("podTemplate") or {}).get("spec") or {}).get("containers") or ()
    return [mount for each in containers if each.get("name") == fields.MAIN for mount in each.get("volumeMounts") or ()]


def _moved(address: Address, mounts: list[dict[str, Any]], service: dict[str, Any], at: tuple[Field, Path]) -> Path | None:
    """The path below a component of the mount of a claim, or of a mount of the main container."""
    field, rest = at
    main = (service.get("extraPodSpec") or {}).get("mainContainer") or {}
    match field, rest:
        case "mount" | "mount.cache" | "mount.name" | "mount.path", (int(index), *below):
            mount = (service.get("volumeMounts") or [])[index]
            if mount.get("useAsCompilationCache"):
                return address.fields[_OF_CACHE[field]]
            place = _place(mounts, mount.get("name"), mount.get("mountPoint"), index)
            return filled(address.fields[field], (place, *below))
        case "main", ("volumeMounts", int(index), *below):
            mount = (main.get("volumeMounts") or [])[index]
            place = _place(mounts, mount.get("name"), mount.get("mountPath"), index)
            return (*address.fields["main"], "volumeMounts", place, *below)
    return None


def _place(mounts: list[dict[str, Any]], name: Any, path: Any, default: int) -> int:
    """The index of the mount of a volume at a path, or `default` if there is none."""
    found = (
        index for index, mount in enumerate(mounts) if mount.get("name") == name and (mount.get("mountPath") or None) == (path or None)
    )
    return next(found, default)
