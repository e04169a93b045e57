"""Writes the quantities in a user's pod spec as an API server prints them.

The reference decodes pods into Go types and prints them again, which changes only quantities. The function does the same, so that its
pods are identical to the reference's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.kube import quantity

if TYPE_CHECKING:
    from krm_fn.kube.types import ClaimSpec, Container, EnvVar, PodSpec, Quantities, Resources, Volume


def spec(pod: PodSpec) -> PodSpec:
    """A pod spec with canonical quantities; the same object if it holds no quantities."""
    changed: PodSpec = {}
    if found := pod.get("containers"):
        changed["containers"] = [container(entry) for entry in found]
    if found := pod.get("initContainers"):
        changed["initContainers"] = [container(entry) for entry in found]
    if found := pod.get("ephemeralContainers"):
        changed["ephemeralContainers"] = [container(entry) for entry in found]
    if overhead := pod.get("overhead"):
        changed["overhead"] = _amounts(overhead)
    if resources := pod.get("resources"):
        changed["resources"] = _resources(resources)
    if volumes := pod.get("volumes"):
        changed["volumes"] = [_volume(entry) for entry in volumes]
    return {**pod, **changed} if changed else pod


def container(written: Container) -> Container:
    """A container with canonical quantities; the same object if it holds no quantities."""
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
    empty, ephemeral = volume.get("emptyDir") or {}, volume.get("ephemeral") or {}
    if empty.get("sizeLimit") is not None:
        return {**volume, "emptyDir": {**empty, "sizeLimit": quantity.canonical(empty["sizeLimit"])}}
    template = ephemeral.get("volumeClaimTemplate") or {}
    claim = template.get("spec") or {}
    if resources := claim.get("resources"):
        asked: ClaimSpec = {**claim, "resources": _resources(resources)}
        return {**volume, "ephemeral": {**ephemeral, "volumeClaimTemplate": {**template, "spec": asked}}}
    return volume


def _resources(resources: Resources) -> Resources:
    changed: Resources = {}
    if limits := resources.get("limits"):
        changed["limits"] = _amounts(limits)
    if requests := resources.get("requests"):
        changed["requests"] = _amounts(requests)
    return {**resources, **changed}


def _amounts(amounts: Quantities) -> Quantities:
    return {name: quantity.canonical(amount) for name, amount in amounts.items()}
