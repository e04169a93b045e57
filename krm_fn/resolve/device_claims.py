"""The GPUs of containers that claim devices (Dynamic Resource Allocation), from the claims among the items.

Follows the operator's `internal/dra` ResolveGPUCount, which reads claims and device classes in the cluster.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from krm_fn import results
from krm_fn.kube import quantity
from krm_fn.kube.values import mapping, objects
from krm_fn.records import NamedTuple

if TYPE_CHECKING:
    from krm_fn.kube.types import Resource

_TEMPLATE, _CLAIM, _CLASS = "ResourceClaimTemplate", "ResourceClaim", "DeviceClass"
_GROUP = "resource.k8s.io"
_REFERENCES = {"resourceClaimTemplateName": _TEMPLATE, "resourceClaimName": _CLAIM}
_DRIVER = re.compile(r"(?:^|&&)\s*\(*\s*device\.driver\s*==\s*[\"']([^\"']+)[\"']")
"""A condition that all devices of a selector meet. One of several alternatives does not count."""


class Devices(NamedTuple):
    """Claims by kind, namespace and name, and device classes by name. The values are their specs, which may be broken."""

    claims: Mapping[tuple[str, str, str], dict[str, Any]] = {}
    classes: Mapping[str, dict[str, Any]] = {}


def read(resources: Iterable[tuple[str, Resource]]) -> Devices:
    """Reads claims and classes. Each resource comes with its namespace."""
    claims: dict[tuple[str, str, str], dict[str, Any]] = {}
    classes: dict[str, dict[str, Any]] = {}
    for namespace, resource in resources:
        address, spec = results.ref(resource), mapping(resource.get("spec"))
        if address.api_version.partition("/")[0] != _GROUP:
            continue
        if address.kind == _CLASS:
            classes[address.name] = spec
        else:
            claims[address.kind, namespace, address.name] = mapping(spec.get("spec")) if address.kind == _TEMPLATE else spec
    return Devices(claims, classes)


def count(devices: Devices, namespace: str, pod: Mapping[str, Any], container: Mapping[str, Any]) -> int:
    """The number of GPUs that a container claims. Raises ValueError with the reason if the items do not tell it."""
    listed = {claim.get("name"): claim for claim in pod.get("resourceClaims") or ()}
    wanted = dict.fromkeys(
        (claim.get("name"), claim.get("request") or "") for claim in (container.get("resources") or {}).get("claims") or ()
    )
    return sum(_claim(devices, namespace, listed.get(name) or {}, name, request) for name, request in wanted)


def _claim(devices: Devices, namespace: str, written: Mapping[str, Any], claim: Any, request: str) -> int:
    kind, name = next(((kind, written[field]) for field, kind in _REFERENCES.items() if written.get(field)), ("", ""))
    if not kind:
        raise ValueError(f"the pod has no claim {claim}")
    spec = devices.claims.get((kind, namespace, name))
    if spec is None:
        raise ValueError(f"the {kind} {name} is not among the items")
    requests = [each for each in objects(mapping(spec.get("devices")).get("requests")) if request in ("", each.get("name"))]
    if not requests and request:
        raise ValueError(f"the {kind} {name} has no request {request}")
    return sum(_requested(devices, each, f"{kind} {name}") for each in requests)


def _requested(devices: Devices, request: dict[str, Any], claim: str) -> int:
    """The GPUs of one request. All its alternatives must have the same number of GPUs."""
    alternatives = objects(request.get("firstAvailable")) or [mapping(request.get("exactly")) or request]
    numbers = {_number(each, claim) if _is_gpu(devices, each, claim) else 0 for each in alternatives}
    if len(numbers) > 1:
        raise ValueError(f"the alternatives in the {claim} have different numbers of GPUs")
    return numbers.pop()


def _number(request: dict[str, Any], claim: str) -> int:
    mode, number = request.get("allocationMode") or "ExactCount", request.get("count") or 1
    if mode != "ExactCount" or type(number) is not int or number < 0:
        raise ValueError(f"the {claim} has no fixed number of GPUs")
    return number


def _is_gpu(devices: Devices, request: dict[str, Any], claim: str) -> bool:
    """True if the driver in a condition is one for GPUs, otherwise if the class stands for GPUs.

    A class that is not among the items counts by its name.
    """
    name = str(request.get("deviceClassName") or "")
    known = devices.classes.get(name)
    selectors = [*objects((known or {}).get("selectors")), *objects(request.get("selectors"))]
    conditions = [str(mapping(selector.get("cel")).get("expression") or "") for selector in selectors]
    drivers = {quantity.is_gpu_device(driver) for text in conditions if "||" not in text for driver in _DRIVER.findall(text)}
    if len(drivers) > 1:
        raise ValueError(f"the {claim} asks for drivers of GPUs and of other devices")
    if drivers:
        return drivers.pop()
    extended = (known or {}).get("extendedResourceName")
    return quantity.is_gpu_resource(str(extended)) if extended else quantity.is_gpu_device(name)
