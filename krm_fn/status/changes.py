"""The difference between a stored status and the status that a resource should have."""

from __future__ import annotations

from typing import Any

from krm_fn.status import conditions, fields


def patch(live: dict[str, Any], desired: dict[str, Any]) -> dict[str, Any] | None:
    """The JSON merge patch (RFC 7386) that turns `live` into `desired`; None if they are equal.

    A CRD without the field `status.observedGeneration` drops it from each write. If nothing else differs and the live condition Ready
    tells the same generation, the two count as equal, so that the field is not written again and again.
    """
    found = _difference(live, desired)
    if found.keys() == {"observedGeneration"} and "observedGeneration" not in live:
        told = fields.condition(live, conditions.READY).get("observedGeneration")
        if told == desired["observedGeneration"]:
            return None
    return found or None


def _difference(live: dict[str, Any], desired: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {key: None for key in live if key not in desired}
    for key, value in desired.items():
        before = live.get(key)
        if isinstance(value, dict) and isinstance(before, dict):
            if inner := _difference(before, value):
                found[key] = inner
        elif key not in live or before != value:
            found[key] = value
    return found
