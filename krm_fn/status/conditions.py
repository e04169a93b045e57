"""Merges conditions (`metav1.Condition`), and computes the patch from the stored to the desired status."""

from __future__ import annotations

from typing import Any

from krm_fn.kube import values
from krm_fn.records import NamedTuple
from krm_fn.status import live_fields

READY, AVAILABLE, VALID = "Ready", "Available", "Valid"
RECONCILING, STALLED = "Reconciling", "Stalled"
"""Types that kstatus, and with it Flux, reads as `in progress` and `failed`. A condition that does not hold is removed."""
MESSAGE_LIMIT = 32768


class StatusCondition(NamedTuple):
    """A condition with the status True or False."""

    type: str
    status: bool
    reason: str
    message: str


def merge(stored: Any, desired: list[StatusCondition], owned: tuple[str, ...], generation: int, now: str) -> list[dict[str, Any]]:
    """Merges the desired conditions with those in `stored` that another program owns, in the order of `stored`.

    `owned` are the types that the caller writes; those that are not desired are removed. `lastTransitionTime` moves only if the status of a
    condition changes (Kubernetes' SetStatusCondition). `now` is an RFC 3339 time.
    """
    before = {entry["type"]: entry for entry in reversed(values.objects(stored)) if isinstance(entry.get("type"), str)}
    new = {condition.type: _entry(condition, before.get(condition.type, {}), generation, now) for condition in desired}
    entries = [new.pop(type_, before[type_]) for type_ in reversed(before) if type_ in new or type_ not in owned]
    return [*entries, *new.values()]


def patch(stored: dict[str, Any], desired: dict[str, Any]) -> dict[str, Any] | None:
    """Computes the JSON merge patch (RFC 7386) from the stored to the desired status; None if they are equal.

    A CRD without the field `status.observedGeneration` drops it from each write. If nothing else differs and the stored condition Ready has
    the same generation, the two count as equal, so that the field is not written again and again.
    """
    changes = _difference(stored, desired)
    if changes.keys() == {"observedGeneration"} and "observedGeneration" not in stored:
        observed = live_fields.condition(stored, READY).get("observedGeneration")
        if observed == desired["observedGeneration"]:
            return None
    return changes or None


def _entry(condition: StatusCondition, before: dict[str, Any], generation: int, now: str) -> dict[str, Any]:
    status = "True" if condition.status else "False"
    since = live_fields.transition_time(before) if before.get("status") == status else ""
    return {
        "type": condition.type,
        "status": status,
        "reason": condition.reason,
        "message": _short(condition.message),
        "lastTransitionTime": since or now,
        **({"observedGeneration": generation} if generation else {}),
    }


def _short(message: str) -> str:
    """Cuts a message at the limit of Kubernetes."""
    return message if len(message) <= MESSAGE_LIMIT else f"{message[: MESSAGE_LIMIT - 1]}…"


def _difference(stored: dict[str, Any], desired: dict[str, Any]) -> dict[str, Any]:
    changes: dict[str, Any] = {field: None for field in stored if field not in desired}
    for field, value in desired.items():
        before = stored.get(field)
        if isinstance(value, dict) and isinstance(before, dict):
            if inner := _difference(before, value):
                changes[field] = inner
        elif field not in stored or before != value:
            changes[field] = value
    return changes
