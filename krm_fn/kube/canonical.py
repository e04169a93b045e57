"""Pod specs that users wrote, with quantities as an API server prints them.

Not its business: defaults. The reference decodes pods into Go types and prints them again, which leaves everything but quantities as it was
written; pods stay identical only if the function does the same.
"""

from __future__ import annotations

from typing import Any

from krm_fn.kube import quantity
from krm_fn.kube.types import Container, PodSpec

_CONTAINERS = ("containers", "initContainers", "ephemeralContainers")


def spec(pod: PodSpec) -> PodSpec:
    """A pod spec with canonical quantities; the same object where it has none."""
    changed: PodSpec = {}
    for key in _CONTAINERS:
        if pod.get(key):
            changed[key] = [container(entry) for entry in pod[key]]
    if pod.get("overhead"):
        changed["overhead"] = _amounts(pod["overhead"])
    if pod.get("resources"):
        changed["resources"] = _resources(pod["resources"])
    if pod.get("volumes"):
        changed["volumes"] = [_volume(entry) for entry in pod["volumes"]]
    return {**pod, **changed} if changed else pod


def container(written: Container) -> Container:
    """A container with canonical quantities."""
    changed: Container = {}
    if written.get("resources"):
        changed["resources"] = _resources(written["resources"])
    if written.get("env"):
        changed["env"] = [_variable(entry) for entry in written["env"]]
    return {**written, **changed} if changed else written


def _variable(variable: dict[str, Any]) -> dict[str, Any]:
    source = variable.get("valueFrom") or {}
    field = source.get("resourceFieldRef") or {}
    if field.get("divisor") is None:
        return variable
    return {**variable, "valueFrom": {**source, "resourceFieldRef": {**field, "divisor": quantity.canonical(field["divisor"])}}}


def _volume(volume: dict[str, Any]) -> dict[str, Any]:
    empty, ephemeral = volume.get("emptyDir") or {}, volume.get("ephemeral") or {}
    if empty.get("sizeLimit") is not None:
        return {**volume, "emptyDir": {**empty, "sizeLimit": quantity.canonical(empty["sizeLimit"])}}
    template = ephemeral.get("volumeClaimTemplate") or {}
    claim = template.get("spec") or {}
    if claim.get("resources"):
        claim = {**claim, "resources": _resources(claim["resources"])}
        return {**volume, "ephemeral": {**ephemeral, "volumeClaimTemplate": {**template, "spec": claim}}}
    return volume


def _resources(resources: dict[str, Any]) -> dict[str, Any]:
    changed = {side: _amounts(resources[side]) for side in ("limits", "requests") if resources.get(side)}
    return {**resources, **changed}


def _amounts(amounts: dict[str, Any]) -> dict[str, str]:
    return {name: quantity.canonical(amount) for name, amount in amounts.items()}
