"""The GPUs that ResourceClaims ask for (Dynamic Resource Allocation).

Follows the operator's `internal/dra` ResolveGPUCount, which reads claims and device classes in the cluster. A build knows only those among
its items, so a render may also count a class by its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from krm_fn.base import results
from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import quantity, references
from krm_fn.kubernetes.values import mapping, objects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from krm_fn.kubernetes.types import Resource

GROUP = "resource.k8s.io"
TEMPLATE, CLAIM, CLASS = "ResourceClaimTemplate", "ResourceClaim", "DeviceClass"
_DRIVER = re.compile(r"(?:^|&&)\s*(?:\(+\s*)?device\.driver\s*==\s*[\"']([^\"']+)[\"']")
"""A condition that all devices of a selector meet. One of several alternatives does not count."""


class Devices(NamedTuple):
    """Claims by kind, namespace and name, and device classes by name. The values are their specs, which may be broken.

    `counts_by_name`: a class that is not there, or that does not show its devices, counts by its name. Otherwise it is an error.
    """

    claims: Mapping[tuple[str, str, str], dict[str, Any]] = {}
    classes: Mapping[str, dict[str, Any]] = {}
    counts_by_name: bool = True


def read(resources: Iterable[tuple[str, Resource]]) -> Devices:
    """Reads claims and classes. Each resource comes with its namespace."""
    claims: dict[tuple[str, str, str], dict[str, Any]] = {}
    classes: dict[str, dict[str, Any]] = {}
    for namespace, resource in resources:
        address = results.ref(resource)
        if address.api_version.partition("/")[0] != GROUP:
            continue
        if address.kind == CLASS:
            classes[address.name] = spec_of(CLASS, resource)
        else:
            claims[address.kind, namespace, address.name] = spec_of(address.kind, resource)
    return Devices(claims, classes)


def spec_of(kind: str, resource: Resource) -> dict[str, Any]:
    """Returns the spec of a class or a claim; for a template, the spec of its claims."""
    spec = mapping(resource.get("spec"))
    return mapping(spec.get("spec")) if kind == TEMPLATE else spec


def count(devices: Devices, namespace: str, pod: Mapping[str, Any], container: Mapping[str, Any]) -> int:
    """Counts the GPUs that a container claims. Raises ValueError with the reason if the claims and classes do not show the number."""
    listed = {claim.get("name"): claim for claim in pod.get("resourceClaims") or ()}
    wanted = dict.fromkeys(
        (claim.get("name"), claim.get("request") or "") for claim in (container.get("resources") or {}).get("claims") or ()
    )
    claims = ((*reference(listed.get(name) or {}, name), request) for name, request in wanted)
    return sum(of_claim(devices, kind, namespace, name, (request,) if request else ()) for kind, name, request in claims)


def reference(listed: Mapping[str, Any], name: Any) -> tuple[str, str]:
    """Returns the kind and the name of the object behind an entry in `spec.resourceClaims` of a pod. `name` is the name of the entry.

    Raises ValueError if the entry names no object.
    """
    for named in references.of_pod({"resourceClaims": [listed]}):
        return named.kind, named.name
    raise ValueError(f"the claim {name} names no ResourceClaim or ResourceClaimTemplate" if listed else f"the pod has no claim {name}")


def of_claim(devices: Devices, kind: str, namespace: str, name: str, requests: Iterable[str]) -> int:
    """Counts the GPUs of one claim, or of some of its requests. Raises ValueError with the reason if the number is unknown."""
    spec = devices.claims.get((kind, namespace, name))
    if spec is None:
        raise ValueError(f"the {kind} {name} is not {'among the items' if devices.counts_by_name else f'in namespace {namespace}'}")
    listed = objects(mapping(spec.get("devices")).get("requests"))
    names = set(requests)
    for missing in sorted(names - {str(request.get("name")) for request in listed}):
        raise ValueError(f"the {kind} {name} has no request {missing}")
    chosen = [request for request in listed if not names or request.get("name") in names]
    return sum(_gpus_of_request(devices, request, f"{kind} {name}") for request in chosen)


def _gpus_of_request(devices: Devices, request: dict[str, Any], claim: str) -> int:
    """The GPUs of one request. All its alternatives must have the same number of GPUs."""
    alternatives = objects(request.get("firstAvailable")) or [mapping(request.get("exactly")) or request]
    if not devices.counts_by_name and not all(alternative.get("deviceClassName") for alternative in alternatives):
        raise ValueError(f"a request of the {claim} names no device class")
    numbers = {_number(entry, claim) if _is_gpu(devices, entry, claim) else 0 for entry in alternatives}
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

    Conditions in which no driver can be found do not show what the devices are.
    """
    name = str(request.get("deviceClassName") or "")
    known = devices.classes.get(name)
    if known is None and not devices.counts_by_name:
        raise ValueError(f"the {claim} asks for the DeviceClass {name}, which does not exist")
    selectors = [*objects((known or {}).get("selectors")), *objects(request.get("selectors"))]
    conditions = [str(mapping(selector.get("cel")).get("expression") or "") for selector in selectors]
    drivers = {quantity.is_gpu_device(driver) for text in conditions if "||" not in text for driver in _DRIVER.findall(text)}
    if len(drivers) > 1:
        raise ValueError(f"the {claim} asks for drivers of GPUs and of other devices")
    if drivers:
        return drivers.pop()
    if extended := (known or {}).get("extendedResourceName"):
        return quantity.is_gpu_resource(str(extended))
    if not devices.counts_by_name and (conditions or not quantity.is_gpu_device(name)):
        fix = "set extendedResourceName in the class, or a selector device.driver == in the class or the request"
        raise ValueError(f"it is unknown if the DeviceClass {name} of the {claim} has GPUs; {fix}")
    return quantity.is_gpu_device(name)
