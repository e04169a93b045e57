"""Writes the quantities in a user's pod spec as an API server prints them.

The operator decodes pods into Go types and prints them again, which changes only quantities. The function does the same, so that its
pods are identical to the operator's.
"""

from __future__ import annotations

from krm_fn.kubernetes import quantity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from krm_fn.kubernetes.native_types import Container, EnvVar, PersistentVolumeClaimSpec, PodSpec, ResourceRequirements, Volume
    from krm_fn.kubernetes.types import Quantities


def spec(pod: PodSpec) -> PodSpec:
    """Returns a pod spec with canonical quantities; the same object if it holds no quantities."""
    changed: PodSpec = {}
    if containers := pod.get("containers"):
        changed["containers"] = [container(entry) for entry in containers]
    if init_containers := pod.get("initContainers"):
        changed["initContainers"] = [container(entry) for entry in init_containers]
    if ephemeral_containers := pod.get("ephemeralContainers"):
        changed["ephemeralContainers"] = [container(entry) for entry in ephemeral_containers]
    if overhead := pod.get("overhead"):
        changed["overhead"] = _amounts(overhead)
    if resources := pod.get("resources"):
        changed["resources"] = _resources(resources)
    if volumes := pod.get("volumes"):
        changed["volumes"] = [_volume(entry) for entry in volumes]
    return {**pod, **changed} if changed else pod


def container(written: Container) -> Container:
    """Returns a container with canonical quantities; the same object if it holds no quantities.

    Rule pod.quantities: see `krm_fn.kubernetes.quantity`.
    """
    changed: Container = {}
    if resources := written.get("resources"):
        changed["resources"] = _resources(resources)
    if variables := written.get("env"):
        changed["env"] = [_variable(entry) for entry in variables]
    return {**written, **changed} if changed else written


def _variable(variable: EnvVar) -> EnvVar:
    source = variable.get("valueFrom") or {}
    field = source.get("resourceFieldRef") or {}
    if field.get("divisor") is None:
        return variable
    return {**variable, "valueFrom": {**source, "resourceFieldRef": {**field, "divisor": quantity.canonical(field["divisor"])}}}


def _volume(volume: Volume) -> Volume:
    """Returns a volume with canonical quantities.

    Rule pod.quantities: see `krm_fn.kubernetes.quantity`.
    """
    empty, ephemeral = volume.get("emptyDir") or {}, volume.get("ephemeral") or {}
    if empty.get("sizeLimit") is not None:
        return {**volume, "emptyDir": {**empty, "sizeLimit": quantity.canonical(empty["sizeLimit"])}}
    template = ephemeral.get("volumeClaimTemplate") or {}
    claim = template.get("spec") or {}
    if resources := claim.get("resources"):
        claim_spec: PersistentVolumeClaimSpec = {**claim, "resources": _resources(resources)}
        return {**volume, "ephemeral": {**ephemeral, "volumeClaimTemplate": {**template, "spec": claim_spec}}}
    return volume


def _resources(resources: ResourceRequirements) -> ResourceRequirements:
    """Returns the resources of a container or a claim with canonical quantities.

    Rule pod.quantities: see `krm_fn.kubernetes.quantity`.
    """
    changed: ResourceRequirements = {}
    if limits := resources.get("limits"):
        changed["limits"] = _amounts(limits)
    if requests := resources.get("requests"):
        changed["requests"] = _amounts(requests)
    return {**resources, **changed}


def _amounts(amounts: Quantities) -> Quantities:
    return {name: quantity.canonical(amount) for name, amount in amounts.items()}
