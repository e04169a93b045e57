"""Updates that an API server refuses or accepts because of other fields of the object. `native_kinds` has the plain rules.

Both objects are in the form that an API server stores. Each function names its source in `pkg/apis` or `pkg/registry` of Kubernetes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from krm_fn.base.results import Path
from krm_fn.kubernetes import paths, stored_objects
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import mapping, objects

_E = paths.EVERY


def _spec(resource: Resource) -> dict[str, Any]:
    return mapping(resource.get("spec"))


def config_map(old: Resource, new: Resource) -> Iterator[Path]:
    """Yields the data of an immutable ConfigMap (ValidateConfigMapUpdate)."""
    if old.get("immutable") is True:
        yield from ((name,) for name in ("immutable", "data", "binaryData") if (old.get(name) or None) != (new.get(name) or None))


def secret(old: Resource, new: Resource) -> Iterator[Path]:
    """Yields the data of an immutable Secret (ValidateSecretUpdate). `stringData` is stored as data."""
    if old.get("immutable") is True:
        yield from ((name,) for name in ("immutable", "data") if (old.get(name) or None) != (new.get(name) or None))


def persistent_volume(old: Resource, new: Resource) -> Iterator[Path]:
    """Yields a removed class of attributes (ValidatePersistentVolumeUpdate)."""
    name = "volumeAttributesClassName"
    if _spec(old).get(name) is not None and _spec(new).get(name) is None:
        yield "spec", name


def claim(old: Resource, new: Resource) -> Iterator[Path]:
    """Yields the size of a claim that shrinks: no volume can (ValidatePersistentVolumeClaimUpdate)."""
    path: Path = ("spec", "resources", "requests", "storage")
    old_size, new_size = (paths.at(resource, path) for resource in (old, new))
    if isinstance(old_size, int) and (new_size is None or (isinstance(new_size, int) and new_size < old_size)):
        yield path


def quota(old: Resource, new: Resource) -> Iterator[Path]:
    """Yields other scopes; their order has no effect (ValidateResourceQuotaUpdate)."""
    old_scopes, new_scopes = ({f"{scope}" for scope in _list(_spec(resource).get("scopes"))} for resource in (old, new))
    if old_scopes != new_scopes:
        yield "spec", "scopes"


def service_cidr(old: Resource, new: Resource) -> Iterator[Path]:
    """Yields other ranges. A second range may be added (ValidateServiceCIDRUpdate)."""
    before, after = (_list(_spec(resource).get("cidrs")) for resource in (old, new))
    if before != after and not (len(before) == 1 and len(after) == 2 and before == after[:1]):
        yield "spec", "cidrs"


def csi_node(old: Resource, new: Resource) -> Iterator[Path]:
    """Yields a driver that changes, besides its `allocatable` (ValidateCSINodeUpdate)."""
    before = {driver.get("name"): driver for driver in objects(_spec(old).get("drivers"))}
    for index, driver in enumerate(objects(_spec(new).get("drivers"))):
        known = before.get(driver.get("name"), driver)
        if {**known, "allocatable": None} != {**driver, "allocatable": None}:
            yield "spec", "drivers", index


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def definition(old: Resource, new: Resource) -> Iterator[Path]:
    """Yields the versions without one in which objects are stored (ValidateCustomResourceDefinitionStoredVersions)."""
    stored = [version.get("name") for version in objects(_spec(old).get("versions")) if version.get("storage") is True]
    names = [version.get("name") for version in objects(_spec(new).get("versions"))]
    if any(name not in names for name in stored):
        yield "spec", "versions"


_HEADLESS = "None"


def service(old: Resource, new: Resource) -> Iterator[Path]:
    """Yields fields that an API server fills in for a Service, and that stay (ValidateServiceUpdate, patchAllocatedValues).

    A field that only the new state has differs from the value that the server chose for the old state.
    """
    before, after = _spec(old), _spec(new)
    types = before.get("type"), after.get("type")
    if "ExternalName" not in types:
        old_addresses, new_addresses = _addresses(before), _addresses(after)
        if new_addresses and old_addresses[:1] != new_addresses[:1]:
            yield "spec", "clusterIP" if after.get("clusterIP") else "clusterIPs"
        families = [_list(spec.get("ipFamilies")) for spec in (before, after)]
        is_headless = old_addresses[:1] == [_HEADLESS]
        if all(families) and families[0][:1] != families[1][:1] and not is_headless:
            yield "spec", "ipFamilies"
    if types == ("LoadBalancer", "LoadBalancer") and before.get("loadBalancerClass") != after.get("loadBalancerClass"):
        yield "spec", "loadBalancerClass"
    is_local = all(spec.get("externalTrafficPolicy") == "Local" for spec in (before, after))
    port = after.get("healthCheckNodePort")
    if is_local and types == ("LoadBalancer", "LoadBalancer") and port and port != before.get("healthCheckNodePort"):
        yield "spec", "healthCheckNodePort"


def _addresses(spec: dict[str, Any]) -> list[Any]:
    return _list(spec.get("clusterIPs")) or ([spec["clusterIP"]] if spec.get("clusterIP") else [])


_TEMPLATE: Path = ("spec", "template")
_RESOURCES: tuple[Path, ...] = tuple(("spec", name, _E, "resources") for name in ("containers", "initContainers"))
_DIRECTIVES: tuple[Path, ...] = (
    ("metadata",),
    *(("spec", name) for name in ("nodeSelector", "tolerations", "schedulingGates")),
    ("spec", "affinity", "nodeAffinity"),
)


def job(old: Resource, new: Resource) -> Iterator[Path]:
    """Yields the template, and numbers of completions that cannot change (validateCompletions, validatePodTemplateUpdate).

    A suspended Job may change the scheduling and the resources of its pods. It cannot lose all its labels, because those that an API
    server adds go with them.
    """
    before, after = _spec(old), _spec(new)
    had_labels, has_labels = (bool(mapping(spec.get("template"), "metadata").get("labels")) for spec in (before, after))
    templates = [stored_objects.without_disabled(spec.get("template")) for spec in (before, after)]
    if before.get("suspend") is True:
        templates = [stored_objects.without(template, (*_DIRECTIVES, *_RESOURCES)) for template in templates]
    if templates[0] != templates[1] or (had_labels and not has_labels):
        yield _TEMPLATE
    if before.get("completions") != after.get("completions"):
        is_scaled = after.get("completionMode") == "Indexed" and after.get("completions") == after.get("parallelism")
        if not is_scaled:
            yield "spec", "completions"
    if before.get("manualSelector") is True and after.get("manualSelector") is not True:
        yield "spec", "manualSelector"


def pod(old: Resource, new: Resource) -> Iterator[Path]:
    """Yields the fields that may change in one direction only (ValidatePodUpdate)."""
    before, after = _spec(old), _spec(new)
    deadlines = before.get("activeDeadlineSeconds"), after.get("activeDeadlineSeconds")
    if deadlines[0] is not None and (deadlines[1] is None or _is_less(deadlines[0], deadlines[1])):
        yield "spec", "activeDeadlineSeconds"
    if not all(_timeless(toleration) in map(_timeless, _list(after.get("tolerations"))) for toleration in _list(before.get("tolerations"))):
        yield "spec", "tolerations"
    gates = _list(before.get("schedulingGates"))
    if not all(gate in gates for gate in _list(after.get("schedulingGates"))):
        yield "spec", "schedulingGates"
    selectors = [mapping(spec.get("nodeSelector")) for spec in (before, after)]
    if selectors[0] != (selectors[1] if not gates else {key: selectors[1].get(key) for key in selectors[0]}):
        yield "spec", "nodeSelector"
    yield from _node_affinity(*(mapping(spec.get("affinity")).get("nodeAffinity") for spec in (before, after)), is_gated=bool(gates))


def _is_less(one: Any, other: Any) -> bool:
    return isinstance(one, int) and isinstance(other, int) and one < other


def _timeless(toleration: Any) -> Any:
    return {**toleration, "tolerationSeconds": None} if isinstance(toleration, dict) else toleration


_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def _node_affinity(old: Any, new: Any, *, is_gated: bool) -> Iterator[Path]:
    """Yields the node affinity. That of a pod with scheduling gates may become stricter (validateNodeAffinityMutation)."""
    if old == new:
        return
    before, after = (objects(mapping(affinity, _REQUIRED).get("nodeSelectorTerms")) for affinity in (old, new))
    is_stricter = len(before) == len(after) and all(map(_adds_only, before, after))
    if not is_gated or (before and not is_stricter):
        yield "spec", "affinity", "nodeAffinity"


def _adds_only(old: dict[str, Any], new: dict[str, Any]) -> bool:
    """True if a term of a selector keeps its requirements, in front of new ones (validateNodeSelectorTermHasOnlyAdditions)."""
    fields = ("matchExpressions", "matchFields")
    before, after = ([_list(term.get(name)) for name in fields] for term in (old, new))
    return (any(before) or not any(after)) and all(more[: len(few)] == few for few, more in zip(before, after, strict=True))
