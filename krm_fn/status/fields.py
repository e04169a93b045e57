"""Reads fields of live objects. Missing and absurd values become neutral values, so that no reader raises."""

from __future__ import annotations

from sys import intern
from typing import TYPE_CHECKING, Any

from krm_fn.kube import labels, values

if TYPE_CHECKING:
    from krm_fn.kube.types import Resource

LIMIT = 2**31 - 1
"""The largest number of replicas that Kubernetes knows."""


def shared(value: Any) -> str:
    """A text that many objects have; it is in memory once."""
    return intern(values.text(value))


def number(value: Any) -> int | None:
    """A whole number from 0; None for any other value."""
    return value if type(value) is int and value >= 0 else None


def count(value: Any) -> int:
    """A number of replicas from 0 to `LIMIT`; 0 for any other value."""
    return min(number(value) or 0, LIMIT)


def replicas(spec: dict[str, Any]) -> int:
    """`spec.replicas`; 1 if it is missing or absurd."""
    found = number(spec.get("replicas"))
    return 1 if found is None else min(found, LIMIT)


def label(resource: Resource, key: str) -> str:
    """The value of a label; empty if the object has no such label."""
    return shared(labels.of(resource).get(key))


def condition(status: dict[str, Any], name: str) -> dict[str, Any]:
    """The condition of a type; empty if the status has none."""
    return next((each for each in values.objects(status.get("conditions")) if each.get("type") == name), {})


def since(condition: dict[str, Any]) -> str:
    """The time of the last transition of a condition."""
    return values.text(condition.get("lastTransitionTime"))
