"""Where the author of a v1alpha1 resource wrote the fields of containers that its conversion to v1beta1 makes.

The main container of v1beta1 holds the fields of a service and those of its `mainContainer` (`krm_fn.convert.pod_templates`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.resolve.v1alpha1 import fields

if TYPE_CHECKING:
    from collections.abc import Mapping

    from krm_fn.kube.types import Resource
    from krm_fn.plan import Address, Book
    from krm_fn.plan.address import Field
    from krm_fn.results import Path

_MAIN: Path = ("extraPodSpec", "mainContainer")
_CONTAINERS: Path = ("extraPodSpec", "containers")
_OF_MOUNT = {"mountPath": "mountPoint"}
_AMOUNTS = ("cpu", "memory")


def book(resource: Resource, inherited: Mapping[str, Path]) -> Book:
    """The addresses of a v1alpha1 resource that is read as v1beta1. `inherited` is as in `Address`."""
    plain, spec = fields.book(resource), resource.get("spec") or {}

    def component(name: str) -> Address:
        service = (spec.get("services") or {}).get(name) or {} if "services" in spec else spec
        address = plain.component(name)
        return address._replace(sidecars=_sidecars(service), moved=lambda *field: _moved(service, *field), inherited=inherited)

    return plain._replace(component=component)


def _sidecars(service: dict[str, Any]) -> tuple[Path, ...]:
    """The paths of the containers beside the main one: those of the pod without a container `main`, then the frontend."""
    listed = (service.get("extraPodSpec") or {}).get("containers") or ()
    own: list[Path] = [(*_CONTAINERS, index) for index, container in enumerate(listed) if container.get("name") != "main"]
    return (*own, *([("frontendSidecar",)] if service.get("frontendSidecar") is not None else ()))


def _moved(service: dict[str, Any], field: Field, rest: Path) -> Path | None:
    """The path below a service of a field of its main container, if the field is not in `mainContainer`."""
    if field != "main":
        return None
    main = (service.get("extraPodSpec") or {}).get("mainContainer") or {}
    match rest:
        case ("livenessProbe" | "readinessProbe" as name, *_) if main.get(name) is None and service.get(name) is not None:
            return rest
        case ("envFrom", *_) if not main.get("envFrom") and service.get("envFromSecret"):
            return ("envFromSecret",)
        case ("resources", *below) if service.get("resources") is not None:
            return _of_resources(service["resources"], main.get("resources") or {}, tuple(below))
        case ("volumeMounts", int(index), *below) if index >= (first := len(main.get("volumeMounts") or ())):
            return ("volumeMounts", index - first, *(_OF_MOUNT.get(str(step), step) for step in below))
    return None


def _of_resources(written: dict[str, Any], main: dict[str, Any], below: Path) -> Path:
    """The path of resources: those of the main container if it names them, otherwise those of the service in its own words."""
    match below:
        case () if not main:
            return ("resources",)
        case (str(side), str(name), *_) if name not in (main.get(side) or {}):
            amounts = written.get(side) or {}
            if name in _AMOUNTS:
                return ("resources", side, name)
            return ("resources", side, "custom", name) if name in (amounts.get("custom") or {}) else ("resources", side, "gpu")
        case ("claims", *_) if not main.get("claims"):
            return ("resources", *below)
    return (*_MAIN, "resources", *below)
