"""Reads fields of live objects. Missing and invalid values become neutral values, so no reader raises."""

from __future__ import annotations

import re
from sys import intern
from typing import Any

from krm_fn.kubernetes import values
from krm_fn.kubernetes.types import Resource
from krm_fn.render import labels

MAX_REPLICAS = 2**31 - 1
"""The largest replica count that Kubernetes accepts."""
_TIME = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.\d+)?Z")


def intern_text(value: Any) -> str:
    """Returns a text that many objects have. Memory holds it once."""
    return intern(values.text(value))


def whole_number(value: Any) -> int | None:
    """Returns a whole number from 0; None for any other value."""
    return value if type(value) is int and value >= 0 else None


def count(value: Any) -> int:
    """Returns a replica count from 0 to `MAX_REPLICAS`; 0 for any other value."""
    return min(whole_number(value) or 0, MAX_REPLICAS)


def desired_replicas(spec: dict[str, Any]) -> int:
    """Reads `spec.replicas`; 1 if it is missing or invalid."""
    replicas = whole_number(spec.get("replicas"))
    return 1 if replicas is None else min(replicas, MAX_REPLICAS)


def label(resource: Resource, key: str) -> str:
    """Reads the value of a label; empty if the object has no such label."""
    return intern_text(labels.of(resource).get(key))


def seconds(text: str) -> int | None:
    """Converts an RFC 3339 time in UTC to seconds since 1970; None for any other text.

    >>> seconds("1970-01-02T00:00:01Z"), seconds("2026-02-03T10:00:00Z"), seconds("yesterday")
    (86401, 1770112800, None)
    """
    match = _TIME.fullmatch(text)
    if not match:
        return None
    year, month, day, hour, minute, second = (int(digits) for digits in match.groups())
    years = year - (month < 3)  # a year that begins in March ends with the leap day
    days = 365 * years + years // 4 - years // 100 + years // 400 + (153 * ((month - 3) % 12) + 2) // 5 + day - 1 - 719468
    return ((days * 24 + hour) * 60 + minute) * 60 + second
